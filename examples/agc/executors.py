"""Runs the analysis of all parts of all samples: with threads, processes or Dask."""

from __future__ import annotations

import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import NamedTuple

import nyssa
from agc.analysis import COLUMNS, Histograms, add_pseudodata, analyse
from agc.samples import Sample

#: Seconds in which processes must have started.
START = 120
#: The folder of this package.
PACKAGE = Path(__file__).parent


class Part(NamedTuple):
    """A range of entries of a file of a sample: the work of one task."""

    sample: Sample
    entries: nyssa.Partition


class Use(NamedTuple):
    """The resources that a process has used since it was started."""

    process: tuple[str, int]
    """The host and the number of the process."""
    cpu: float
    """The CPU time in seconds."""
    io: dict[str, float]
    """The counters of reads, as `nyssa.io_stats` has them."""


class Result(NamedTuple):
    """The result of a task."""

    histograms: Histograms
    reading: float
    """Wall time of reading the arrays in seconds."""
    before: Use
    after: Use


@dataclass
class Outcome:
    """The histograms of all samples, and the resources that they took."""

    histograms: Histograms = field(default_factory=dict)
    reading: float = 0.0
    """Sum of the wall times in which tasks read."""
    seconds: float = 0.0
    """The wall time, with the time to open the files and without the time to start workers."""
    uses: dict[tuple[str, int], tuple[Use, Use]] = field(default_factory=dict)
    """What each process had used before its first task, and after its last one."""

    def add(self, result: Result) -> None:
        """Add the result of a task."""
        self.reading += result.reading
        for name, one in result.histograms.items():
            self.histograms[name] = self.histograms[name] + one if name in self.histograms else one
        before, after = self.uses.get(result.before.process, (result.before, result.after))
        self.uses[result.before.process] = (
            min(before, result.before, key=lambda use: use.cpu),
            max(after, result.after, key=lambda use: use.cpu),
        )

    @property
    def cpu(self) -> float:
        """CPU time of all processes in seconds."""
        return sum(after.cpu - before.cpu for before, after in self.uses.values())

    def io(self, *names: str) -> int:
        """Return the sum of some counters of reads of all processes."""
        uses = self.uses.values()
        return sum(
            int(after.io[name] - before.io[name]) for before, after in uses for name in names
        )


def used() -> Use:
    """Return the resources that this process has used since it was started."""
    return Use((socket.gethostname(), os.getpid()), time.process_time(), nyssa.io_stats().to_dict())


def analyse_part(part: Part) -> Result:
    """Read one part and return its histograms."""
    start, before = time.perf_counter(), used()
    events = part.entries.arrays(COLUMNS)
    reading = time.perf_counter() - start
    return Result(analyse(events, part.sample), reading, before, used())


#: Calls `analyse_part` on each part, in any order.
Map = Callable[[list[Part]], Iterable[Result]]


@contextmanager
def threads(workers: int) -> Iterator[Map]:
    """Start threads of this process."""
    with ThreadPoolExecutor(workers) as pool:
        yield lambda parts: pool.map(analyse_part, parts)


@contextmanager
def processes(workers: int) -> Iterator[Map]:
    """Start processes on this machine."""
    context = get_context("spawn")
    ready = context.Barrier(workers + 1)
    with ProcessPoolExecutor(workers, context, initializer=_wait, initargs=(ready,)) as pool:
        # Each task starts one process, since none is ready before all are.
        for _ in range(workers):
            pool.submit(used)
        ready.wait(START)
        yield lambda parts: pool.map(analyse_part, parts)


def _wait(ready: Barrier) -> None:
    ready.wait(START)


@contextmanager
def dask(workers: int, address: str | None = None) -> Iterator[Map]:
    """Start processes of Dask on this machine, or use the workers of a scheduler that runs."""
    import distributed

    with ExitStack() as stack:
        if address is None:
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, dashboard_address=":0"
            )
            client = stack.enter_context(distributed.Client(stack.enter_context(cluster)))
        else:
            client = stack.enter_context(distributed.Client(address))
            # The scheduler and workers on other machines do not have this package.
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            archive = Path(folder) / "agc"
            client.upload_file(shutil.make_archive(str(archive), "zip", PACKAGE.parent, "agc"))
        client.run(used)

        def run(parts: list[Part]) -> Iterator[Result]:
            futures = client.map(analyse_part, parts, pure=False)
            for _, result in distributed.as_completed(futures, with_results=True):
                yield result

        yield run


def run(samples: list[Sample], workers: Map, step_size: int | str) -> Outcome:
    """Analyse all samples.

    Parameters
    ----------
    samples
        The samples.
    workers
        What `threads`, `processes` or `dask` started.
    step_size
        Size of a part in entries, or in bytes as a string (``"100 MB"``).
    """
    outcome = Outcome()
    start, before = time.perf_counter(), used()
    parts = [
        Part(sample, entries)
        for sample in samples
        for entries in nyssa.partitions(sample.files, step_size=step_size)
    ]
    for result in workers(parts):
        outcome.add(result)
    add_pseudodata(outcome.histograms)
    outcome.seconds = time.perf_counter() - start
    outcome.add(Result({}, 0.0, before, used()))
    return outcome
