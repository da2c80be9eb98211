"""Shows the reports of jobs, which are dicts, as small tables in shells and notebooks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from nyssa.show.table import Parts, Table, count, counted, ratio, size

__all__ = ["ShownDigests", "ShownReport", "ShownReports", "shown", "table_of_files"]

_T = TypeVar("_T")
#: The number of notes and names that are shown; the others are counted.
_LINES = 5
#: The number of rows of a table that are shown.
_ROWS = 20


# Reports are JSON, which has no narrower type than `Any`.
class _Shown(Parts, dict[str, Any]):
    """A report that is a dict, and is shown as a table. ``dict(report)`` shows all items."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how pickle makes it again."""
        return type(self), (dict(self),)


class ShownReport(_Shown):
    """The report of a job with an output."""

    def _parts(self) -> Iterator[str | Table]:
        yield _table([self])
        yield from _remarks(self)
        yield f"a dict of {counted(len(self), 'item')}, which dict(report) shows"


class ShownDigests(_Shown):
    """The digests of a dataset."""

    def _parts(self) -> Iterator[str | Table]:
        digests = self["digests"]
        yield f"{self['object']} of {self['file']}, {counted(self['entries'], 'entry')}"
        rows = [[item["name"], item["type_name"], item["digest"]] for item in digests[:_ROWS]]
        yield Table(["column", "C++ type", "digest"], rows)
        yield from _more(len(digests) - _ROWS, "digests")
        without = [
            f"without digest: {item['name']} ({item['reason']})" for item in self["undigested"]
        ]
        yield from without[:_LINES]
        yield from _more(len(without) - _LINES, "columns without digest")
        yield f"{self['hash']}; a dict of {counted(len(self), 'item')}, which dict(report) shows"


class ShownReports(Parts, list[ShownReport]):
    """The reports of a job on several datasets: a list, which is shown as a table."""

    def _parts(self) -> Iterator[str | Table]:
        yield _table(self[:_ROWS])
        yield from _more(len(self) - _ROWS, "reports")
        for report in self[:_ROWS]:
            yield from _remarks(report, f"{report.get('output')}: ")
        yield f"a list of {counted(len(self), 'dict')}"


def shown(report: _T) -> _T:
    """Return a report, or a list of reports, as an object that is shown as a table."""
    made: Any = report
    if isinstance(report, dict) and "digests" in report:
        made = ShownDigests(report)
    elif isinstance(report, dict):
        made = ShownReport(report)
    elif isinstance(report, list):
        made = ShownReports(map(ShownReport, report))
    return made  # type: ignore[no-any-return]


def _table(reports: list[Any]) -> Table:
    """Return a table with a row for each output."""
    header = ["output", "dataset", ">entries", ">clusters", ">input", ">output size", ">ratio"]
    rows = []
    for report in reports:
        before, after = _input_bytes(report), report.get("output_bytes", 0)
        row = [report.get("output", ""), _dataset(report)]
        row += [count(report.get("entries", 0)), count(report.get("clusters", 0))]
        row += ["-" if before is None else size(before), size(after)]
        row += ["-" if before is None else ratio(before, after), f"{report.get('seconds', 0):.2f}"]
        rows.append([*row, "yes" if report.get("verified") else "no"])
    return Table([*header, ">seconds", "verified"], rows)


def _dataset(report: Mapping[str, Any]) -> str:
    """Return the path of the dataset in the output, or how many there are."""
    name = report.get("tree") if report.get("to") == "ttree" else report.get("ntuple")
    parts = [*report.get("ntuples", ()), *report.get("trees", ())]
    return str(name or (counted(len(parts), "dataset") if parts else ""))


def _input_bytes(report: Mapping[str, Any]) -> int | None:
    """Return the size of the input; reports of merges do not have it."""
    value = report.get("input_bytes")
    return value if isinstance(value, int) else None


def _remarks(report: Mapping[str, Any], about: str = "") -> Iterator[str]:
    """Return lines on what is not in the output, and on what is different there."""
    skipped = [f"{item['branch']} ({item['reason']})" for item in report.get("skipped", ())]
    renamed = [f"{item['branch']} -> {item['field']}" for item in report.get("renamed", ())]
    bad = [f"{item['file']} ({item['error']})" for item in report.get("bad", ())]
    lists = {
        "skipped": skipped,
        "bad inputs": bad,
        "renamed": renamed,
        "fields left out": report.get("dropped", ()),
        "objects left out": report.get("left_out", ()),
        "note": report.get("notes", ()),
    }
    for title, items in lists.items():
        for item in items[:_LINES]:
            yield f"{about}{title}: {item}"
        yield from _more(len(items) - _LINES, title)


def _more(others: int, what: str) -> Iterator[str]:
    if others > 0:
        yield f"and {count(others)} more: {what}"


def table_of_files(files: list[Any], total: Mapping[str, Any]) -> Iterator[str | Table]:
    """Return what is shown of the results of many files, and of their sums."""
    header = ["input", "output", "state", ">entries", ">input size", ">output size", ">seconds"]
    rows = [
        [
            item["input"],
            item["output"],
            item["state"],
            count(item["entries"]),
            size(item["input_bytes"]),
            size(item["output_bytes"]),
            f"{item['seconds']:.2f}",
        ]
        for item in files[:_ROWS]
    ]
    yield Table(header, rows)
    yield from _more(len(files) - _ROWS, "files")
    failed = [f"{item['input']}: {item['error']}" for item in files if item["error"]]
    yield from failed[:_LINES]
    yield from _more(len(failed) - _LINES, "failed")
    yield (
        f"{count(total['converted'])} converted, {count(total['found'])} found, "
        f"{count(total['failed'])} failed: {counted(total['entries'], 'entry')}, "
        f"{size(total['input_bytes'])} -> {size(total['output_bytes'])}"
    )
