"""Defines `SkimReport`, the report of a skim, and `CutFlow`, the entries that pass its cuts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from nyssa.show.table import Parts, Table, count, counted, share

if TYPE_CHECKING:
    import hist

__all__ = ["Cut", "CutFlow", "SkimReport"]


class Cut(NamedTuple):
    """A cut, and the number of entries that pass it and all cuts before it."""

    name: str
    cut: str
    entries: int


class CutFlow(Parts, Sequence[Cut]):
    """The entries that are left after each cut of a skim. The first row has all entries.

    It prints as a table.
    """

    def __init__(self, rows: Sequence[Cut]) -> None:
        self._rows = list(rows)

    def __len__(self) -> int:
        return len(self._rows)

    # A slice is a list, as of any sequence: `Any`.
    def __getitem__(self, index: Any) -> Any:
        return self._rows[index]

    def __iter__(self) -> Iterator[Cut]:
        return iter(self._rows)

    def to_dict(self) -> dict[str, int]:
        """Return the number of entries by the name of the cut."""
        return {row.name: row.entries for row in self._rows}

    def to_hist(self) -> hist.Hist[Any]:
        """Return a ``hist.Hist`` with a bin of each cut. `ImportError` when hist is not installed.

        >>> nyssa.skim("events.root", "out.root", cut="nJet > 1").cutflow.to_hist().values()
        """
        library = import_module("hist")
        names = [row.name for row in self._rows]
        axis = library.axis.StrCategory(names, name="cut", label="cut")
        filled = library.Hist(axis, storage=library.storage.Double())
        filled.view()[:] = [row.entries for row in self._rows]
        made: hist.Hist[Any] = filled
        return made

    def _parts(self) -> Iterator[str | Table]:
        rows: list[list[str]] = []
        first = before = self._rows[0].entries
        for row in self._rows:
            shares = (share(row.entries, first), share(row.entries, before))
            rows.append([row.name, count(row.entries), *shares])
            before = row.entries
        yield Table(["cut", ">entries", ">of all", ">of the last"], rows)


class SkimReport(Parts, dict[str, Any]):
    """The report of a skim, as ``nyssa skim --json`` prints it.

    ``"entries"`` of ``"input_entries"`` were written, in the ``"columns"``. ``"skipped"`` are
    columns that were left out, and ``"left_out"`` other objects of the first file. It prints as a
    table.
    """

    @property
    def cutflow(self) -> CutFlow:
        """Return the entries after each cut."""
        rows: list[Mapping[str, Any]] = self["cut_flow"]
        first = Cut("all entries", "", self["input_entries"])
        return CutFlow([first, *(Cut(row["name"], row["cut"], row["entries"]) for row in rows)])

    def _parts(self) -> Iterator[str | Table]:
        written = f"{self['output']}:{self['ntuple']} ({self['format']})"
        entries = f"{count(self['entries'])} of {counted(self['input_entries'], 'entry')}"
        yield f"{written}: {entries}, {counted(len(self['columns']), 'column')}"
        yield from self.cutflow._parts()
        yield from (f"left out {item['name']}: {item['reason']}" for item in self["skipped"])
        if self["left_out"]:
            yield f"not copied: {', '.join(self['left_out'])}"
        yield from (f"note: {note}" for note in self["notes"])

    def __repr__(self) -> str:
        return f"<SkimReport {self}>"
