"""Makes the report of a campaign."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nyssa.campaign.journal import Record
from nyssa.show.plot import new_figure
from nyssa.show.report import Report
from nyssa.show.table import Table, count, counted, share, size

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
class BadData:
    """What of the inputs of an output is missing or damaged, and was left out."""

    output: str
    text: str


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
    bad: list[BadData]
    """What is missing or damaged in the inputs, and was left out: of all outputs of the campaign,
    also of outputs that were complete before this run."""

    def _parts(self) -> Iterator[str | Table]:
        yield table_of_datasets(self.datasets)
        header = [">tasks", ">time", ">read", ">written", ">CPU efficiency"]
        for title, rates in (("node", self.nodes), ("process", self.processes)):
            yield Table(
                [title, *header],
                [
                    (
                        rate.name,
                        count(rate.tasks),
                        f"{rate.seconds:.1f} s",
                        f"{rate.read_rate / 1e6:.1f} MB/s",
                        f"{rate.write_rate / 1e6:.1f} MB/s",
                        f"{rate.cpu_efficiency:.0%}",
                    )
                    for rate in rates
                ],
            )
        for slow in self.stragglers:
            yield (
                f"slow: {slow.output} took {slow.seconds:.1f} s on {slow.host}, "
                f"{slow.times_slower:.1f} times longer for each byte than the median"
            )
        for note in self.notes:
            yield f"{note.text} ({counted(note.outputs, 'output')})"
        for failed in self.failed:
            yield f"failed: {failed.output} ({', '.join(failed.inputs)}): {failed.error}"
        yield from lines_of_bad(self.bad)
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
    complete = [item for item in everything if item.is_complete]
    new = [item for item in complete if item.output in made]
    worked = [item for item in new if item.state == "done"]
    return CampaignReport(
        done=len(worked),
        found=len(complete) - len(worked),
        seconds=seconds,
        read_rate=sum(item.input_bytes for item in worked) / max(seconds, 1e-9),
        verified=sum(item.verified for item in complete),
        datasets=dataset_totals(complete),
        nodes=[_rate(name, of, span=True) for name, of in _by(worked, lambda item: item.host)],
        processes=[
            _rate(name, of, span=False)
            for name, of in _by(worked, lambda item: f"{item.host} {item.process}")
        ],
        stragglers=list(_stragglers(worked)),
        failed=failed_tasks(item for item in everything if not item.is_complete),
        notes=_notes(worked),
        bad=bad_data(complete),
    )


def _notes(records: Iterable[Record]) -> list[CampaignNote]:
    """Return the notes, except notes on data that are reported as missing or damaged."""
    counted = Counter(
        note
        for record in records
        for note in record.notes
        if not any(note.endswith(text) for text in record.bad)
    )
    return [CampaignNote(*item) for item in counted.items()]


def _by(records: Iterable[Record], key: Callable[[Record], str]) -> list[tuple[str, list[Record]]]:
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(key(record), []).append(record)
    return sorted(groups.items())


def bad_data(records: Iterable[Record]) -> list[BadData]:
    """Return what is missing or damaged in the inputs of outputs, and was left out."""
    return [BadData(record.output, text) for record in records for text in record.bad]


def lines_of_bad(bad: Sequence[BadData]) -> Iterator[str]:
    """Say what was left out of which output, and of how many."""
    for item in bad:
        yield f"left out of {item.output}: {item.text}"
    if bad:
        outputs = len({item.output for item in bad})
        yield f"missing or damaged data of inputs are left out of {counted(outputs, 'output')}"


def failed_tasks(records: Iterable[Record]) -> list[FailedTask]:
    """Return what is reported of tasks that failed."""
    return [
        FailedTask(
            record.output,
            [str(url) for url, *_ in record.inputs],
            record.error or "",
            record.attempts,
        )
        for record in records
    ]


def dataset_totals(records: Iterable[Record]) -> list[DatasetTotals]:
    """Return the sums over the records of each dataset."""
    return [
        DatasetTotals(
            dataset=name,
            outputs=len(of),
            entries=sum(item.entries for item in of),
            bytes_in=sum(item.input_bytes for item in of),
            bytes_out=sum(item.output_bytes for item in of),
        )
        for name, of in _by(records, lambda item: item.dataset)
    ]


def table_of_datasets(datasets: Iterable[DatasetTotals]) -> Table:
    """Return the sizes before and after by dataset."""
    return Table(
        ["dataset", ">outputs", ">entries", ">before", ">after", ">after/before"],
        [
            (
                dataset.dataset or "-",
                *map(count, (dataset.outputs, dataset.entries)),
                size(dataset.bytes_in),
                size(dataset.bytes_out),
                share(dataset.bytes_out, dataset.bytes_in),
            )
            for dataset in datasets
        ],
    )


def _rate(name: str, records: list[Record], *, span: bool) -> ProcessRate:
    worked = sum(record.seconds for record in records)
    first = min(record.begin for record in records)
    seconds = max(record.begin + record.seconds for record in records) - first if span else worked
    seconds = max(seconds, 1e-9)
    available = sum(record.seconds * record.threads for record in records)
    return ProcessRate(
        name=name,
        tasks=len(records),
        seconds=seconds,
        read_rate=sum(record.input_bytes for record in records) / seconds,
        write_rate=sum(record.output_bytes for record in records) / seconds,
        cpu_efficiency=sum(record.cpu_seconds for record in records) / max(available, 1e-9),
    )


def _stragglers(records: list[Record]) -> Iterator[Straggler]:
    times = {record.output: record.seconds / max(record.input_bytes, 1) for record in records}
    if not times:
        return
    median = statistics.median(times.values())
    for record in records:
        slower = times[record.output] / max(median, 1e-30)
        if slower > SLOW and record.seconds > SHORT:
            yield Straggler(record.output, record.host, record.seconds, slower)


def draw(records: Iterable[Record], path: Path) -> None:
    """Draw when each process worked on which task, and the rates of the tasks.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed.
    """
    tasks = [record for record in records if record.state == "done"]
    start = min((task.begin for task in tasks), default=0.0)
    figure = new_figure(10, 6)
    above, below = figure.subplots(2, 1, height_ratios=[3, 1])
    processes = [name for name, _ in _by(tasks, lambda item: f"{item.host} {item.process}")]
    for row, (_, of) in enumerate(_by(tasks, lambda item: f"{item.host} {item.process}")):
        spans = [(item.begin - start, item.seconds) for item in of]
        above.broken_barh(spans, (row - 0.4, 0.8), edgecolor="white")
    above.set_yticks(range(len(processes)), processes)
    above.set_xlabel("time since the first task [s]")
    above.set_ylabel("process")
    rates = [task.input_bytes / max(task.seconds, 1e-9) / 1e6 for task in tasks]
    below.hist(rates, bins=40)
    below.set_xlabel("bytes of the inputs of a task / its time [MB/s]")
    below.set_ylabel("tasks")
    figure.savefig(path)
