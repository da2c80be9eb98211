"""Runs the tasks of a campaign on `dask.distributed`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nyssa.campaign.journal import Journal, Record
from nyssa.campaign.plan import Task
from nyssa.campaign.task import Job, run_task
from nyssa.errors import ArgumentError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Progress", "connect", "run"]

#: Seconds between two lines of progress where the output is no terminal.
HEARTBEAT = 30.0
#: Number of tasks that are given to the scheduler ahead, for each thread of its workers.
AHEAD = 4


@contextmanager
def connect(
    scheduler: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    cluster_options: Mapping[str, Any] | None = None,
) -> Iterator[Client]:
    """Connect to workers, and start them if no scheduler is named.

    Parameters
    ----------
    scheduler
        Address of a scheduler that runs, such as ``"tcp://node1:8786"``.
    workers
        Number of worker processes to start. The default is the number of cores on this machine, and
        one job of a batch system.
    cluster
        A batch system of `dask_jobqueue`: ``"slurm"``, ``"htcondor"``, ``"pbs"``, ``"lsf"``,
        ``"sge"`` or ``"oar"``. The configuration file of dask says what a job needs.
    cluster_options
        Keyword arguments of the class of the cluster.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if a package is missing, or the batch system is not known.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        message = "a campaign runs on dask.distributed: pip install 'nyssa[dask]'"
        raise ArgumentError(message) from None
    options = dict(cluster_options or {})
    if scheduler is not None:
        with Client(scheduler) as client:  # type: ignore[no-untyped-call]
            yield client
    elif cluster is not None:
        with _batch_system(cluster)(**options) as jobs:
            jobs.scale(workers or 1)
            with Client(jobs) as client:  # type: ignore[no-untyped-call]
                yield client
    else:
        # One task at a time in each process, so that its CPU time and memory are its own.
        started = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with (
            LocalCluster(**{**started, **options}) as processes,  # type: ignore[no-untyped-call]
            Client(processes) as client,  # type: ignore[no-untyped-call]
        ):
            yield client


def _batch_system(name: str) -> Any:
    try:
        import dask_jobqueue
    except ImportError:
        message = f"jobs of {name} need dask-jobqueue: pip install dask-jobqueue"
        raise ArgumentError(message) from None
    classes = {
        one.removesuffix("Cluster").lower(): one
        for one in dir(dask_jobqueue)
        if one.endswith("Cluster")
    }
    if name.lower() not in classes:
        known = ", ".join(sorted(classes))
        raise ArgumentError(f"dask-jobqueue does not know the batch system {name!r}, only {known}")
    return getattr(dask_jobqueue, classes[name.lower()])


class Progress:
    """Shows on stderr how far a campaign is: one line that changes, or a line now and then."""

    def __init__(self, tasks: Sequence[Task], *, quiet: bool = False) -> None:
        self.total, self.bytes = len(tasks), sum(one.bytes for one in tasks)
        self.done = self.failed = self.read = 0
        self.start = self._last = time.monotonic()
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()

    def add(self, record: Record) -> None:
        """Count a task that ended."""
        self.done += 1
        self.failed += not record.is_complete
        self.read += record.bytes_in
        if not record.is_complete and not self._quiet:
            self._end_line()
            sys.stderr.write(f"failed: {record.output}: {record.error}\n")
        self.show(end=self.done == self.total)

    def show(self, *, end: bool = False) -> None:
        """Show the state, if it is time to do so."""
        now = time.monotonic()
        if self._quiet or not (end or self._terminal or now - self._last >= HEARTBEAT):
            return
        self._last = now
        seconds = now - self.start
        rate = self.read / max(seconds, 1e-9)
        left = (self.bytes - self.read) / rate if rate > 0 else 0.0
        line = (
            f"{self.done}/{self.total} done, {self.failed} failed, {rate / 1e6:.1f} MB/s, "
            f"about {left:.0f} s left"
        )
        sys.stderr.write(f"\r\x1b[K{line}" if self._terminal else f"{line}\n")
        if end:
            self._end_line()
        sys.stderr.flush()

    def _end_line(self) -> None:
        if self._terminal:
            sys.stderr.write("\n")


def run(
    client: Client,
    tasks: Sequence[Task],
    job: Job,
    journal: Journal,
    *,
    retries: int,
    progress: Callable[[Record], object],
) -> None:
    """Run tasks on the workers of a client, and write each result into the journal at once.

    A task that fails for a reason that may pass is tried again, `retries` times at most. A task
    whose worker dies is tried by the scheduler on other workers.
    """
    from distributed import as_completed

    # An output that a campaign made with other options, or of other inputs, is replaced.
    ours = {name for name, record in journal.records.items() if record.is_complete}
    waiting = list(reversed(tasks))
    by_future: dict[object, tuple[Task, int]] = {}
    completed = as_completed()  # type: ignore[no-untyped-call]

    def submit(task: Task, attempt: int) -> None:
        key = f"nyssa-{job.name}-{task.output}-{attempt}"
        future = client.submit(
            run_task, task, job, replace=task.output in ours, pure=False, key=key
        )
        by_future[future.key] = task, attempt
        completed.add(future)  # type: ignore[no-untyped-call]

    def fill() -> None:
        threads = sum(client.nthreads().values()) or 1  # type: ignore[no-untyped-call]
        while waiting and len(by_future) < AHEAD * threads:
            submit(waiting.pop(), 1)

    fill()
    for future in completed:
        task, attempt = by_future.pop(future.key)
        record = _result(future, task, job)
        record.attempts = attempt
        if record.notes == ["may pass"] and attempt <= retries:
            submit(task, attempt + 1)
        else:
            journal.add(record)
            progress(record)
        future.release()
        fill()


def _result(future: Any, task: Task, job: Job) -> Record:
    """Return the record of a task; one whose worker died or that was cancelled has failed."""
    try:
        record: Record = future.result()
    # A task can end with any error of the engine: a worker that was killed, a lost scheduler.
    except Exception as error:  # noqa: BLE001
        record = Record.of(task, job.key, "failed")
        record.error = f"{type(error).__name__}: {error}"
    return record
