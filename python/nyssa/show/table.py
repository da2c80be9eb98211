"""Makes tables for people, as text and as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Parts", "Table", "count", "html", "ratio", "share", "size", "text"]


@dataclass(frozen=True)
class Table:
    """A table with a line above it; a ``>`` before a name aligns its column to the right."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def text(self) -> str:
        """Return the table as lines of text."""
        names = [name.removeprefix(">") for name in self.header]
        rows = [[_printable(cell) for cell in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = []
        for row in (names, *rows):
            cells = zip(self.header, row, widths, strict=True)
            padded = [c.rjust(w) if n.startswith(">") else c.ljust(w) for n, c, w in cells]
            lines.append("  ".join(padded).rstrip())
        return "\n".join(lines)

    def html(self) -> str:
        """Return the table as HTML."""
        align = ["right" if name.startswith(">") else "left" for name in self.header]
        names = [name.removeprefix(">") for name in self.header]

        def line(tag: str, cells: Sequence[str]) -> str:
            pairs = zip(align, cells, strict=True)
            shown = ((to, escape(_printable(cell))) for to, cell in pairs)
            inner = (f'<{tag} style="text-align: {to}">{cell}</{tag}>' for to, cell in shown)
            return f"<tr>{''.join(inner)}</tr>"

        rows = "".join(line("td", row) for row in self.rows)
        return f"<table><thead>{line('th', names)}</thead><tbody>{rows}</tbody></table>"


class Parts:
    """The base of objects that shells and notebooks show as lines and tables."""

    def _parts(self) -> Iterator[str | Table]:
        """Return the lines and tables that people see."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the lines and tables as text."""
        return text(self._parts())

    def __repr__(self) -> str:
        """Return the text, so that shells show it."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the lines and tables as HTML, for notebooks."""
        return html(self._parts())


def text(parts: Iterable[str | Table]) -> str:
    """Return lines and tables as text; a table without rows is left out."""
    shown = [_printable(item) if isinstance(item, str) else item.text() for item in _filled(parts)]
    return "\n".join(shown)


def html(parts: Iterable[str | Table]) -> str:
    """Return lines and tables as HTML; a table without rows is left out."""
    return "".join(_line(item) if isinstance(item, str) else item.html() for item in _filled(parts))


def _line(line: str) -> str:
    return f"<div>{escape(_printable(line))}</div>"


def _filled(parts: Iterable[str | Table]) -> list[str | Table]:
    return [part for part in parts if isinstance(part, str) or part.rows]


def _printable(cell: str) -> str:
    from nyssa._core import printable

    return printable(cell)


def count(number: int) -> str:
    """Return ``1,234,567``."""
    return f"{number:,}"


def counted(number: int, thing: str) -> str:
    """Return a number with the name of the things, such as ``1 entry`` or ``2 entries``."""
    # Only after letters that are no vowels the y changes: keys, entries.
    changes = thing.endswith("y") and thing[-2] not in "aeiou"
    many = f"{thing[:-1]}ies" if changes else f"{thing}s"
    return f"{count(number)} {thing if number == 1 else many}"


def size(number: int) -> str:
    """Return a size in bytes as ``1.23 MB``, in decimal units."""
    if number < 1000:
        return f"{number} B"
    value, unit = number / 1e3, 0
    units = ["kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 999.5 and unit + 1 < len(units):
        value, unit = value / 1e3, unit + 1
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {units[unit]}"


def share(part: int, total: int) -> str:
    """Return the percentage that a part is of the total."""
    return f"{100 * part / total:.1f}%" if total else "-"


def ratio(uncompressed: int, stored: int) -> str:
    """Return how many times smaller data are on storage."""
    return f"{uncompressed / stored:.2f}" if stored else "-"
