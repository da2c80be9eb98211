"""Makes the report of a campaign."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from nyssa.campaign.journal import Record
from nyssa.show.plot import new_figure
from nyssa.show.report import Report
from nyssa.show.table import Table, count, share, size

#: A task is a straggler if each of its bytes took this many times longer than the median.
SLOW = 3.0
#: Tasks that take less time than this, in seconds, are no stragglers.
SHORT = 1.0


@dataclass(frozen=True)
class DatasetTotals:
    """Sums over the outputs of one dataset."""

    dataset: str
    outputs: int
    entries: int
    bytes_in: int
    bytes_out: int


@dataclass(frozen=True)
class ProcessRate:
    """What one process, or all processes of one node, have done."""

    name: str
    """The name of the node, with the number of the process where it is one process."""
    tasks: int
    seconds: float
    """The time of work; for a node, the time from its first task to its last."""
    read_rate: float
    """The rate of bytes of inputs per second."""
    write_rate: float
    """The rate of bytes of outputs per second."""
    cpu_efficiency: float
    """The CPU time divided by the time in which the tasks worked and by their threads."""


@dataclass(frozen=True)
class FailedTask:
    """An output that could not be made."""

    output: str
    inputs: list[str]
    error: str
    attempts: int


@dataclass(frozen=True)
class CampaignNote:
    """What was left out of outputs or changed, and why."""

    text: str
    outputs: int
    """The number of outputs with this note."""


@dataclass(frozen=True)
class Straggler:
    """A task that was much slower than the others."""

    output: str
    host: str
    seconds: float
    times_slower: float
    """The time for each byte, divided by the median of all tasks."""


@dataclass(frozen=True, repr=False)
class CampaignReport(Report):
    """What a campaign has done. Sizes are in bytes, times in seconds."""

    done: int
    """The number of outputs that were made in this run."""
    found: int
    """The number of outputs that were complete before this run."""
    seconds: float
    """The time of this run."""
    read_rate: float
    """The rate of bytes of inputs per second, of this run as a whole."""
    verified: int
    """The number of outputs of which every value was compared with the inputs."""
    datasets: list[DatasetTotals]
    nodes: list[ProcessRate]
    processes: list[ProcessRate]
    stragglers: list[Straggler]
    failed: list[FailedTask]
    notes: list[CampaignNote]

    def _parts(self) -> Iterator[str | Table]:
        yield table_of_datasets(self.datasets)
        header = [">tasks", ">time", ">read", ">written", ">CPU efficiency"]
        for title, rates in (("node", self.nodes), ("process", self.processes)):
            yield Table(
                [title, *header],
                [
                    (
                        one.name,
                        count(one.tasks),
                        f"{one.seconds:.1f} s",
                        f"{one.read_rate / 1e6:.1f} MB/s",
                        f"{one.write_rate / 1e6:.1f} MB/s",
                        f"{one.cpu_efficiency:.0%}",
                    )
                    for one in rates
                ],
            )
        for slow in self.stragglers:
            yield (
                f"slow: {slow.output} took {slow.seconds:.1f} s on {slow.host}, "
                f"{slow.times_slower:.1f} times longer for each byte than the median"
            )
        for note in self.notes:
            yield f"{note.text} ({count(note.outputs)} outputs)"
        for failed in self.failed:
            yield f"failed: {failed.output} ({', '.join(failed.inputs)}): {failed.error}"
        yield (
            f"{count(self.done)} made, {count(self.found)} complete before, "
            f"{count(len(self.failed))} failed in {self.seconds:.1f} s "
            f"({self.read_rate / 1e6:.1f} MB/s)"
        )


def summary(records: Iterable[Record], made: set[str], seconds: float) -> CampaignReport:
    """Return the report of a campaign.

    Parameters
    ----------
    records
        The last record of each output of the campaign.
    made
        The outputs of this run; the others were complete before.
    seconds
        The time of this run.
    """
    everything = list(records)
    complete = [one for one in everything if one.is_complete]
    new = [one for one in complete if one.output in made]
    worked = [one for one in new if one.state == "done"]
    return CampaignReport(
        done=len(worked),
        found=len(complete) - len(worked),
        seconds=seconds,
        read_rate=sum(one.input_bytes for one in worked) / max(seconds, 1e-9),
        verified=sum(one.verified for one in complete),
        datasets=dataset_totals(complete),
        nodes=[_rate(name, of, span=True) for name, of in _by(worked, lambda one: one.host)],
        processes=[
            _rate(name, of, span=False)
            for name, of in _by(worked, lambda one: f"{one.host} {one.process}")
        ],
        stragglers=list(_stragglers(worked)),
        failed=failed_tasks(one for one in everything if not one.is_complete),
        notes=_notes(worked),
    )


def _notes(records: Iterable[Record]) -> list[CampaignNote]:
    counted = Counter(note for one in records for note in one.notes)
    return [CampaignNote(*one) for one in counted.items()]


def _by(records: Iterable[Record], key: Callable[[Record], str]) -> list[tuple[str, list[Record]]]:
    groups: dict[str, list[Record]] = {}
    for one in records:
        groups.setdefault(key(one), []).append(one)
    return sorted(groups.items())


def failed_tasks(records: Iterable[Record]) -> list[FailedTask]:
    """Return what is reported of tasks that failed."""
    return [
        FailedTask(one.output, [str(url) for url, *_ in one.inputs], one.error or "", one.attempts)
        for one in records
    ]


def dataset_totals(records: Iterable[Record]) -> list[DatasetTotals]:
    """Return the sums over the records of each dataset."""
    return [
        DatasetTotals(
            dataset=name,
            outputs=len(of),
            entries=sum(one.entries for one in of),
            bytes_in=sum(one.input_bytes for one in of),
            bytes_out=sum(one.output_bytes for one in of),
        )
        for name, of in _by(records, lambda one: one.dataset)
    ]


def table_of_datasets(datasets: Iterable[DatasetTotals]) -> Table:
    """Return the sizes before and after by dataset."""
    return Table(
        ["dataset", ">outputs", ">entries", ">before", ">after", ">ratio"],
        [
            (
                one.dataset or "-",
                *map(count, (one.outputs, one.entries)),
                size(one.bytes_in),
                size(one.bytes_out),
                share(one.bytes_out, one.bytes_in),
            )
            for one in datasets
        ],
    )


def _rate(name: str, records: list[Record], *, span: bool) -> ProcessRate:
    worked = sum(one.seconds for one in records)
    first = min(one.begin for one in records)
    seconds = max(one.begin + one.seconds for one in records) - first if span else worked
    seconds = max(seconds, 1e-9)
    available = sum(one.seconds * one.threads for one in records)
    return ProcessRate(
        name=name,
        tasks=len(records),
        seconds=seconds,
        read_rate=sum(one.input_bytes for one in records) / seconds,
        write_rate=sum(one.output_bytes for one in records) / seconds,
        cpu_efficiency=sum(one.cpu_seconds for one in records) / max(available, 1e-9),
    )


def _stragglers(records: list[Record]) -> Iterator[Straggler]:
    times = {one.output: one.seconds / max(one.input_bytes, 1) for one in records}
    if not times:
        return
    median = statistics.median(times.values())
    for one in records:
        slower = times[one.output] / max(median, 1e-30)
        if slower > SLOW and one.seconds > SHORT:
            yield Straggler(one.output, one.host, one.seconds, slower)


def draw(records: Iterable[Record], path: Path) -> None:
    """Draw when each process worked on which task, and the rates of the tasks.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed.
    """
    tasks = [one for one in records if one.state == "done"]
    start = min((one.begin for one in tasks), default=0.0)
    figure = new_figure(10, 6)
    above, below = figure.subplots(2, 1, height_ratios=[3, 1])
    processes = [name for name, _ in _by(tasks, lambda one: f"{one.host} {one.process}")]
    for row, (_, of) in enumerate(_by(tasks, lambda one: f"{one.host} {one.process}")):
        spans = [(one.begin - start, one.seconds) for one in of]
        above.broken_barh(spans, (row - 0.4, 0.8), edgecolor="white")
    above.set_yticks(range(len(processes)), processes)
    above.set_xlabel("time since the first task [s]")
    above.set_ylabel("process")
    rates = [one.input_bytes / max(one.seconds, 1e-9) / 1e6 for one in tasks]
    below.hist(rates, bins=40)
    below.set_xlabel("bytes of the inputs of a task / its time [MB/s]")
    below.set_ylabel("tasks")
    figure.savefig(path)
