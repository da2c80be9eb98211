"""Holds what a study measured: tables for pages, and the ratios that their sentences state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

#: The quantities of tables: name in the JSON of studies, head, and the unit.
QUANTITIES = (
    ("bytes", "size, MB", 1e6),
    ("write_seconds", "write, s", 1),
    ("write_cpu_seconds", "write, CPU s", 1),
    ("write_memory_above", "memory, MB", 1e6),
    ("read_seconds", "read, s", 1),
    ("columns_seconds", "columns, s", 1),
    ("link_seconds", "link, s", 1),
)


@dataclass
class Rows:
    """The trials of one command."""

    rows: list[Row]

    def __post_init__(self) -> None:
        """Add the memory of writing above what the process had before."""
        for row in self.rows:
            measured = row["measured"]
            before = measured.get("write_memory_before")
            if before:
                above = {key: most - before[key] for key, most in measured["write_memory"].items()}
                measured["write_memory_above"] = above

    def where(self, **wanted: Any) -> Rows:
        """Return the rows with these values of options, writer and threads."""
        return Rows([one for one in self.rows if self._has(one, wanted)])

    @staticmethod
    def _has(row: Row, wanted: Row) -> bool:
        known = {**row["options"], "writer": row["writer"], "threads": row["threads"]}
        return all(known[name] == value for name, value in wanted.items())

    def of(self, quantity: str, **wanted: Any) -> float:
        """Return a quantity of the one row with these values."""
        [row] = self.where(**wanted).rows
        return median(row, quantity)

    def ratios(self, quantity: str, above: Row, below: Row) -> list[float]:
        """Return quantities of some rows, each divided by the row that is otherwise equal."""
        found = []
        for row in self.where(**above).rows:
            same = {**row["options"], "writer": row["writer"], "threads": row["threads"], **below}
            found.append(median(row, quantity) / self.of(quantity, **same))
        return found

    def table(self) -> list[str]:
        """Return the table of all rows."""
        first = self.rows[0]
        options = [
            name
            for name in first["options"]
            if len({str(one["options"][name]) for one in self.rows}) > 1
        ]
        known = [one for one in QUANTITIES if one[0] in {"bytes", *first["measured"]}]
        heads = [*options, "writer", "threads", *(head for _, head, _ in known)]
        lines = [
            [
                *(shown(row["options"][name]) for name in options),
                row["writer"],
                str(row["threads"]),
                *(cell(row, name, scale) for name, _, scale in known),
            ]
            for row in self.rows
        ]
        return table(heads, lines, len(options) + 1)


def median(row: Row, quantity: str) -> float:
    """Return the size of the output, or the median of what the rounds measured."""
    found: float = row["bytes"] if quantity == "bytes" else row["measured"][quantity]["median"]
    return found


def cell(row: Row, quantity: str, scale: float) -> str:
    """Return the median, and the least and the most if there are several rounds."""
    shown = f"{median(row, quantity) / scale:.3g}"
    if quantity == "bytes" or row["rounds"] == 1:
        return shown
    spread = row["measured"][quantity]
    return f"{shown} ({spread['least'] / scale:.3g}–{spread['most'] / scale:.3g})"


def shown(value: object) -> str:
    """Return the value of an option."""
    if value is None:
        return "unset"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def table(heads: Sequence[str], lines: Iterable[Sequence[str]], texts: int) -> list[str]:
    """Return the lines of a table, whose first columns are texts and the others numbers."""
    rule = ["---"] * texts + ["---:"] * (len(heads) - texts)
    return [f"| {' | '.join(one)} |" for one in (heads, rule, *lines)]


def span(ratios: Sequence[float]) -> str:
    """Return the least and the most of ratios."""
    least, most = f"{min(ratios):.2f}", f"{max(ratios):.2f}"
    return least if least == most else f"{least} to {most}"


def beside_root(rows: Rows) -> str:
    """Return a sentence that compares the outputs of nyssa with those of ROOT."""

    def ratio(quantity: str, **wanted: Any) -> str:
        chosen = {"writer": "nyssa", **wanted}
        return span(rows.ratios(quantity, chosen, {"writer": "ROOT"}))

    return (
        f"nyssa, divided by ROOT with the same options: size {ratio('bytes')}, "
        f"time to write {ratio('write_seconds', threads=1)} with one thread, "
        f"memory {ratio('write_memory_above', threads=1)}."
    )
