"""Models a campaign on many nodes: its rate, and what limits it.

Each process does one task after the other. A task needs the CPU of its process, the network of its
node, the bandwidth and the requests of storage servers, and the scheduler. This is a closed network
of queues, and mean-value analysis gives its rate: a task that comes to a resource finds there what
it would find, on average, with one process less (Reiser and Lavenberg 1980).
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nyssa.campaign.journal import Record, read_of
from nyssa.errors import ArgumentError
from nyssa.observe.trace import TraceSummary, trace_summary
from nyssa.show.plot import new_figure
from nyssa.show.report import Report
from nyssa.show.table import Table, count

__all__ = ["Point", "ScalingReport", "Site", "Work", "draw", "measured", "recorded", "scaling"]

#: CPU time of the scheduler for one task in seconds, measured with 2,000 small files.
SCHEDULER = 0.0015
#: A resource is called the limit if it is used for this part of the time; otherwise the CPUs are.
BUSY = 0.8


@dataclass(frozen=True)
class Work:
    """What one task needs on average. Sizes are in bytes, times in seconds."""

    bytes_in: float
    """Size of its inputs; rates count these bytes."""
    cpu_seconds: float
    """The CPU time of its process."""
    bytes_moved: float
    """The number of bytes that go between the node and the storage, in both directions."""
    requests: float = 0.0
    """The number of requests to the storage."""
    round_trips: float | None = None
    """How often it waits for an answer, where it has several requests under way at the same time.
    The default is each request on its own."""
    seconds: tuple[float, ...] = ()
    """The times of measured tasks, for the end, when some processes have no more task."""


@dataclass(frozen=True)
class Site:
    """The nodes and the storage of a site. Rates are in bytes per second; `None` has no limit."""

    processes: int = 32
    """The number of processes on a node."""
    cores: int | None = None
    """The number of cores of a node. The default is one for each process."""
    node_bandwidth: float | None = None
    servers: int = 1
    server_bandwidth: float | None = None
    server_iops: float | None = None
    """The number of requests that a server answers in a second."""
    round_trip: float = 0.0
    """The time between a request and its answer when nothing else happens, in seconds."""
    overlap: float = 0.0
    """Part of the time for CPU or storage, whichever is shorter, in which a process does both."""
    scheduler_seconds: float = SCHEDULER


@dataclass(frozen=True)
class Point:
    """What is expected of a number of nodes. Rates are in bytes of inputs per second."""

    nodes: int
    processes: int
    tasks_per_second: float
    rate: float
    node_rate: float
    process_rate: float
    efficiency: float
    """The rate of a process, divided by that on one node."""
    used: dict[str, float]
    """The part of the time in which each resource is used, from 0 to 1."""
    limit: str
    """What limits the rate: ``"CPU"``, ``"node network"``, ``"server bandwidth"``, ``"server
    IOPS"``, ``"round trips"`` or ``"scheduler"``."""
    seconds: float | None
    """The time of the campaign, with its end; `None` if the number of files is not known."""


@dataclass(frozen=True, repr=False)
class ScalingReport(Report):
    """The expected rates of a campaign by number of nodes."""

    work: Work
    site: Site
    points: list[Point]

    def _parts(self) -> Iterator[str | Table]:
        work = self.work
        yield (
            f"a task: {work.bytes_in / 1e6:.1f} MB of inputs, {work.cpu_seconds:.2f} s of CPU, "
            f"{work.bytes_moved / 1e6:.1f} MB moved, {work.requests:.0f} requests"
        )
        resources = list(self.points[0].used) if self.points else []
        end = [">time"] if any(point.seconds is not None for point in self.points) else []
        yield Table(
            [
                *(">nodes", ">processes", ">tasks/s", ">MB/s", ">of a node", ">of a process"),
                *(">efficiency", *(f">{resource}" for resource in resources), "limit", *end),
            ],
            [
                (
                    count(point.nodes),
                    count(point.processes),
                    f"{point.tasks_per_second:.3g}",
                    f"{point.rate / 1e6:,.1f}",
                    f"{point.node_rate / 1e6:,.1f}",
                    f"{point.process_rate / 1e6:.2f}",
                    f"{point.efficiency:.1%}",
                    *(f"{point.used[name]:.0%}" for name in resources),
                    point.limit,
                    *([f"{point.seconds:,.0f} s"] if point.seconds is not None else []),
                )
                for point in self.points
            ],
        )


def measured(destination: str, *, journal: str | Path | None = None, remote: bool = True) -> Work:
    """Return what the tasks of a campaign needed, from its journal.

    Parameters
    ----------
    destination
        Folder or URL of the outputs.
    journal
        File of the journal; needed for outputs at a URL.
    remote
        Whether the outputs go to the storage, too. If not, they are on the disks of the nodes, and
        what was read to verify them does not come from the storage.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if there is no journal.
    nyssa.ArgumentError
        (a `ValueError`) if the file is no journal, no task of it made an output, or it has no CPU
        times.
    """
    path, entries = read_of(destination, journal)
    records = [record for record in entries.records.values() if record.state == "done"]
    if not records:
        raise ArgumentError(f"no task of {path} made an output, so the rate is not known")
    timed = [record for record in records if record.cpu_seconds > 0]
    if not timed:
        raise ArgumentError(
            f"{path} has no CPU times, because an earlier build wrote it: run a part of the work "
            "again, or give the rate of a process (--process-rate)"
        )
    return work_of(timed, remote=remote)


def work_of(records: Sequence[Record], *, remote: bool = True) -> Work:
    """Return what tasks needed on average; see `measured`."""
    number = len(records)
    written = [
        record.output_bytes if remote else -record.output_bytes * record.verified
        for record in records
    ]
    moved = sum(record.bytes_read for record in records) + sum(written)
    return Work(
        bytes_in=sum(record.input_bytes for record in records) / number,
        cpu_seconds=sum(record.cpu_seconds for record in records) / number,
        bytes_moved=max(moved, 0) / number,
        requests=sum(record.requests for record in records) / number,
        seconds=tuple(record.seconds for record in records),
    )


def recorded(traces: Sequence[str | Path]) -> Work:
    """Return what jobs needed on average, from recordings of their reads (``--record``).

    A recording shows one task: a process that reads with one thread. What it writes is not
    counted. Where a recording has no CPU time, as from XrdCl, this is the time in which no
    request was under way.

    Raises
    ------
    OSError
        When a file cannot be read, or is no recording.
    """
    summaries = [trace_summary(trace) for trace in traces]

    def mean(value: Callable[[TraceSummary], float]) -> float:
        return sum(map(value, summaries)) / len(summaries)

    def cpu(summary: TraceSummary) -> float:
        idle = summary.runtime - summary.busy_seconds
        return idle if summary.cpu_seconds is None else summary.cpu_seconds

    return Work(
        # The client of XRootD does not tell the sizes of all files.
        bytes_in=mean(lambda item: item.datasize or item.distinct_bytes),
        cpu_seconds=mean(cpu),
        bytes_moved=mean(lambda item: item.bytes_open + item.bytes_read + item.bytes_readv),
        requests=mean(lambda item: item.opens + item.iops_read + item.iops_readv),
        round_trips=mean(lambda item: item.busy_periods),
        seconds=tuple(item.runtime for item in summaries),
    )


def scaling(work: Work, site: Site, nodes: Iterable[int], *, files: int = 0) -> ScalingReport:
    """Return the expected rates of numbers of nodes.

    Parameters
    ----------
    work
        What a task needs.
    site
        Nodes and storage.
    nodes
        The numbers of nodes.
    files
        Number of tasks of the campaign, for its time; 0 if it is not known.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for numbers that are not positive.
    """
    numbers = list(nodes)
    if min([*numbers, site.processes, site.servers], default=0) < 1:
        raise ArgumentError("the numbers of nodes, processes and servers must be positive")
    if work.cpu_seconds <= 0 or work.bytes_in <= 0:
        raise ArgumentError("the bytes of the inputs and the CPU time of a task must be positive")
    alone = _point(work, site, 1, 1.0, files)
    return ScalingReport(
        work, site, [_point(work, site, number, alone.process_rate, files) for number in numbers]
    )


@dataclass
class _Resource:
    """A resource that tasks share: a number of equal stations, such as the cores of a node."""

    name: str
    demand: float
    """The time that a task needs in all stations together."""
    stations: int = 1
    capacity: int = 1
    """The number of tasks that a station can serve at the same time."""
    of_nodes: bool = False
    """Whether each node has a station of its own, which only its processes use."""
    waiting: float = 0.0
    """The number of tasks at one station, on average."""
    residence: float = 0.0
    """The time that a task spends in all stations together."""

    def arrive(self, processes: int) -> None:
        """Compute the residence of a task, where so many processes have one, with this."""
        waiting = self.waiting
        if self.of_nodes:
            # The processes are spread evenly, so fewer of the others are on the node of this one.
            waiting *= max(processes - self.stations, 0) / max(processes - 1, 1)
        self.residence = self.demand * max(1.0, (1 + waiting) / self.capacity)

    def settle(self, tasks_per_second: float) -> None:
        """Compute the number of tasks at a station."""
        self.waiting = tasks_per_second * self.residence / self.stations

    def used(self, tasks_per_second: float) -> float:
        """Return the part of the time in which a station is used."""
        return tasks_per_second * self.demand / self.stations / self.capacity


def _resources(work: Work, site: Site, nodes: int) -> tuple[_Resource, list[_Resource]]:
    """Return the CPUs, and what tasks need besides."""

    def by(bandwidth: float | None, amount: float) -> float:
        return amount / bandwidth if bandwidth else 0.0

    cpu = _Resource("CPU", work.cpu_seconds, nodes, site.cores or site.processes, of_nodes=True)
    moved = work.bytes_moved
    return cpu, [
        _Resource("node network", by(site.node_bandwidth, moved), nodes, of_nodes=True),
        _Resource("server bandwidth", by(site.server_bandwidth, moved), site.servers),
        _Resource("server IOPS", by(site.server_iops, work.requests), site.servers),
        _Resource("scheduler", site.scheduler_seconds),
    ]


def _point(work: Work, site: Site, nodes: int, alone: float, files: int) -> Point:
    cpu, shared = _resources(work, site, nodes)
    waits = work.requests if work.round_trips is None else work.round_trips
    trips = waits * site.round_trip
    processes = nodes * site.processes
    cycle = throughput = 0.0
    for number in range(1, processes + 1):
        for item in (cpu, *shared):
            item.arrive(number)
        other = sum(item.residence for item in shared) + trips
        both = site.overlap * min(cpu.residence, other)
        cycle = cpu.residence + other - both
        throughput = number / cycle
        for item in (cpu, *shared):
            item.settle(throughput)
    rate = throughput * work.bytes_in
    used = {item.name: item.used(throughput) for item in (cpu, *shared) if item.demand > 0}
    busiest = max(shared, key=lambda item: used.get(item.name, 0.0))
    idle = ["CPU", "round trips"][trips > cpu.residence]
    limit = busiest.name if used.get(busiest.name, 0.0) > BUSY else idle
    return Point(
        nodes=nodes,
        processes=processes,
        tasks_per_second=throughput,
        rate=rate,
        node_rate=rate / nodes,
        process_rate=rate / processes,
        efficiency=rate / processes / alone,
        used=used,
        limit=limit,
        seconds=campaign_seconds(work, processes, cycle, files) if files else None,
    )


def campaign_seconds(work: Work, processes: int, cycle: float, files: int) -> float:
    """Return the time until the last of all tasks has ended.

    Each process takes the next task when it is free. The times of tasks vary as the measured ones,
    with `cycle` as their mean.
    """
    times = work.seconds or (1.0,)
    mean = sum(times) / len(times)
    free = [0.0] * min(processes, files)
    for time in itertools.islice(itertools.cycle(times), files):
        heapq.heapreplace(free, free[0] + time / mean * cycle)
    return max(free)


def draw(report: ScalingReport, path: Path) -> None:
    """Draw the rate against the number of nodes.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed.
    """
    figure = new_figure(8, 5)
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=[2, 1])
    nodes = [point.nodes for point in report.points]
    alone = scaling(report.work, report.site, [1]).points[0].node_rate
    above.plot(nodes, [point.rate / 1e9 for point in report.points], "o-", label="expected")
    above.plot(nodes, [alone * node / 1e9 for node in nodes], "--", label="as one node")
    above.set_ylabel("inputs [GB/s]")
    above.legend()
    for name in report.points[0].used:
        below.plot(nodes, [point.used[name] for point in report.points], label=name)
    below.set_xlabel("nodes")
    below.set_ylabel("used")
    below.legend(fontsize="small")
    figure.savefig(path)


def work_at(rate: float, bytes_in: float, *, output: float = 0.6) -> Work:
    """Return the work of tasks of which a process does `rate` bytes of inputs per second.

    The size of an output is the size of its inputs times `output`.
    """
    return Work(bytes_in, bytes_in / rate, bytes_in * (1 + output))
