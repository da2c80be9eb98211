"""Makes the report of a study: medians of the rounds, with the least and the most."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from nyssa.show.report import Report
from nyssa.show.table import Table, counted, size
from nyssa.studies.grid import Trial, text
from nyssa.studies.journal import Round
from nyssa.studies.plot import plot_rows

__all__ = ["QUANTITIES", "Spread", "StudyReport", "StudyRow", "rows_of"]


@dataclass(frozen=True)
class Quantity:
    """A time or a size of memory that is measured."""

    name: str
    """Its name in JSON and CSV. Names of times end with ``_seconds``."""
    head: str
    """The head of its column."""
    shown: bool = True
    """Whether the table for people has it."""

    @property
    def is_time(self) -> bool:
        """Whether it is in seconds, and not in bytes."""
        return self.name.endswith("_seconds")


#: What is measured, in the order of tables.
QUANTITIES = (
    Quantity("write_seconds", "write"),
    Quantity("write_cpu_seconds", "write, CPU"),
    Quantity("write_memory", "memory"),
    Quantity("write_memory_before", "memory before", shown=False),
    Quantity("read_seconds", "read"),
    Quantity("read_cpu_seconds", "read, CPU", shown=False),
    Quantity("read_memory", "memory to read", shown=False),
    Quantity("read_memory_before", "memory before reading", shown=False),
    Quantity("columns_seconds", "columns"),
    Quantity("columns_cpu_seconds", "columns, CPU", shown=False),
    Quantity("columns_memory", "memory of columns", shown=False),
    Quantity("columns_memory_before", "memory before columns", shown=False),
    Quantity("link_seconds", "link"),
)


@dataclass(frozen=True)
class Spread:
    """What the rounds measured of one quantity."""

    median: float
    least: float
    most: float


@dataclass(frozen=True)
class StudyRow:
    """One combination of options, at a number of threads."""

    writer: str
    """The program that wrote the output: ``"nyssa"`` or ``"ROOT"``."""
    # The type of a value depends on its option.
    options: dict[str, Any]
    """The options that vary; `None` is the default of the job."""
    threads: int
    """The number of threads that wrote and read."""
    rounds: int
    """The number of rounds that measured everything."""
    error: str | None
    """The reason why a round failed."""
    verified: str | None
    """How the values of the output and of the input were compared."""
    entries: int
    """The number of entries of the output."""
    bytes: int
    """The size of the output file."""
    measured: dict[str, Spread]
    """The times in seconds and the sizes of memory in bytes, by name."""
    notes: list[str]
    """What was left out of the output or changed, and why."""


@dataclass(frozen=True, repr=False)
class StudyReport(Report):
    """What each combination of options costs. `nyssa.study` returns it.

    Sizes are in bytes, times in seconds; ``docs/study.md`` describes the values.
    """

    input: str
    """The path or URL of the input, with the path of the dataset."""
    format: str
    """The format of the dataset: ``"TTree"`` or ``"RNTuple"``."""
    to: str
    """The format of the outputs."""
    job: str
    """The job that wrote them: ``"convert"`` or ``"rewrite"``."""
    entries: int
    """The number of entries of the dataset."""
    input_bytes: int
    """The size of the input file."""
    columns: list[str]
    """The globs of the columns of the analysis."""
    link_latency: float | None
    """The round trip of the link, in seconds."""
    link_bandwidth: int | None
    """The bandwidth of the link, in bytes per second."""
    cache: str
    """Whether local files were in the cache of the system: ``"warm"``, or ``"cold"`` if the system
    was asked to forget them before each measurement."""
    host: str
    """The name of the machine."""
    rows: list[StudyRow]
    """The trials, in the order of the options."""

    @property
    def failed(self) -> list[StudyRow]:
        """Return the trials of which a round failed."""
        return [row for row in self.rows if row.error is not None]

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a table with a line for each trial; a file that is there is replaced.

        Each option that varies is a column, and each quantity three: its median, and with the
        endings ``_least`` and ``_most`` the least and the most of the rounds.
        """
        with Path(path).open("w", encoding="utf-8", newline="") as file:
            lines = csv.writer(file, lineterminator="\n")
            lines.writerow(self._csv_header())
            lines.writerows(map(_csv_line, self.rows))

    def _csv_header(self) -> list[str]:
        spread = [
            f"{quantity.name}{end}" for quantity in QUANTITIES for end in ("", "_least", "_most")
        ]
        names = list(self.rows[0].options) if self.rows else []
        return ["writer", *names, *_CSV, *spread, "error", "notes"]

    def plot(self, image: str | os.PathLike[str]) -> None:
        """Draw what the table shows: each trial as a point with a line from the least to the most.

        Parameters
        ----------
        image
            The file to write. Its ending says its kind: ``.png``, ``.pdf``, ``.svg``. A file that
            is there is replaced.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) if matplotlib is not installed, or for a kind that it does not know.
        """
        done = [row for row in self.rows if row.rounds]
        labels = [", ".join(cells) for cells in map(self._named, done)]
        panels = [("size of the file [MB]", [(item.bytes / 1e6,) * 3 for item in done])]
        for what in QUANTITIES:
            spreads = [item.measured[what.name] for item in done if what.name in item.measured]
            if spreads and what.shown:
                unit, scale = ("s", 1.0) if what.is_time else ("MB", 1e6)
                values = [(it.median / scale, it.least / scale, it.most / scale) for it in spreads]
                panels.append((f"{what.head} [{unit}]", values))
        plot_rows(labels, panels, image)

    def _varying(self) -> list[str]:
        """Return the options with several values."""
        names = list(self.rows[0].options) if self.rows else []
        return [name for name in names if len({text(row.options[name]) for row in self.rows}) > 1]

    def _named(self, row: StudyRow) -> list[str]:
        """Return what tells a row from others."""
        cells = [text(row.options[name]) for name in self._varying()]
        if len({item.writer for item in self.rows}) > 1:
            cells.append(row.writer)
        if len({item.threads for item in self.rows}) > 1:
            cells.append(counted(row.threads, "thread"))
        return cells

    def _parts(self) -> Iterator[str | Table]:
        yield (
            f"{self.format} {self.input}, {counted(self.entries, 'entry')}, "
            f"{size(self.input_bytes)}; {self.job} to {self.to} on {self.host}"
        )
        rounds = min((item.rounds for item in self.rows), default=0)
        medians = f"medians of {rounds} rounds (least–most)" if rounds > 1 else "one round"
        yield (
            f"{medians}; the files are "
            + ("in the cache of the system" if self.cache == "warm" else "not in its cache")
        )
        yield from self._conditions()
        names = self._varying()
        several = len({item.writer for item in self.rows}) > 1
        shown = [
            quantity
            for quantity in QUANTITIES
            if quantity.shown and any(quantity.name in row.measured for row in self.rows)
        ]
        heads = [*names, *(["writer"] if several else []), ">threads", ">size"]
        heads += [f">{item.head}" for item in shown]
        rows = [
            [
                *(text(row.options[name]) for name in names),
                *([row.writer] if several else []),
                *(str(row.threads), size(row.bytes), *(_cell(row, item) for item in shown)),
            ]
            for row in self.rows
            if row.rounds
        ]
        yield Table(heads, rows)
        yield from self._remarks()

    def _conditions(self) -> Iterator[str]:
        """Iterate over the facts that are equal in all trials."""
        fixed = [name for name in self.rows[0].options if name not in self._varying()]
        if fixed:
            values = (f"{name}={text(self.rows[0].options[name])}" for name in fixed)
            yield f"all with {', '.join(values)}"
        if self.columns:
            yield f"columns: {', '.join(self.columns)}"
        if self.link_latency is not None:
            bandwidth = f", {size(self.link_bandwidth)}/s" if self.link_bandwidth else ""
            what = "these columns" if self.columns else "all columns"
            yield f"link: {what} with a round trip of {1e3 * self.link_latency:g} ms{bandwidth}"

    def _remarks(self) -> Iterator[str]:
        """Iterate over checks, notes and failures."""
        ways = sorted({row.verified for row in self.rows if row.verified})
        if ways:
            yield f"compared with the input: {'; '.join(ways)}"
        notes = dict.fromkeys(note for row in self.rows for note in row.notes)
        yield from (f"note: {note}" for note in notes)
        for item in self.failed:
            reason = " ".join((item.error or "").split())
            yield f"failed: {', '.join(self._named(item)) or self.job}: {reason}"


_CSV = ("threads", "rounds", "verified", "entries", "bytes")


def _csv_line(row: StudyRow) -> list[object]:
    cells: list[object] = [row.writer, *(text(value) for value in row.options.values())]
    cells += [getattr(row, name) for name in _CSV]
    for what in QUANTITIES:
        measured = row.measured.get(what.name)
        cells += (
            ["", "", ""] if measured is None else [measured.median, measured.least, measured.most]
        )
    return [*cells, row.error or "", "; ".join(row.notes)]


def _cell(row: StudyRow, what: Quantity) -> str:
    """Return the median, and the least and the most if there are several rounds."""
    measured = row.measured.get(what.name)
    if measured is None:
        return "-"
    if what.is_time:
        shown, ends = f"{measured.median:.3f} s", (f"{measured.least:.3f}", f"{measured.most:.3f}")
    else:
        shown, ends = (
            size(int(measured.median)),
            (size(int(measured.least)), size(int(measured.most))),
        )
    return shown if row.rounds < 2 else f"{shown} ({'–'.join(ends)})"


def rows_of(trials: Sequence[Trial], rounds: Sequence[Round]) -> list[StudyRow]:
    """Return the row of each trial."""
    of: dict[tuple[str, int], list[Round]] = {}
    for item in rounds:
        of.setdefault((item.trial, item.threads), []).append(item)
    verified = {item.trial: item.verified for item in rounds if item.verified}
    return [
        _row(trial, of[trial.combination, trial.job.threads], verified.get(trial.combination))
        for trial in trials
    ]


def _row(trial: Trial, rounds: Sequence[Round], verified: str | None) -> StudyRow:
    done = [item for item in rounds if item.is_complete]
    names = done[0].measured if done else {}
    values = {name: [item.measured[name] for item in done] for name in names}
    return StudyRow(
        writer=trial.writer,
        options=dict(trial.options),
        threads=trial.job.threads,
        rounds=len(done),
        error=next((item.error for item in rounds if item.error is not None), None),
        verified=verified,
        entries=done[0].entries if done else 0,
        bytes=done[0].output_bytes if done else 0,
        measured={name: Spread(median(of), min(of), max(of)) for name, of in values.items()},
        notes=list(dict.fromkeys(note for item in done for note in item.notes)),
    )
