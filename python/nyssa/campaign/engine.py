"""Runs the tasks of a campaign on `dask.distributed`."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from nyssa.campaign.journal import Journal, Record
from nyssa.campaign.plan import Task
from nyssa.campaign.progress import Progress
from nyssa.campaign.task import Job, run_tasks
from nyssa.errors import InputOutputError

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["run"]

#: Number of batches that are given to the scheduler ahead, for each thread of its workers.
AHEAD = 4
#: Small inputs are done in batches, since each call of a worker takes milliseconds: this many
#: tasks at most, with this many bytes. There are this many batches or more for each thread.
BATCH_TASKS, BATCH_BYTES, BATCHES = 16, 4_000_000, 8
#: A call whose result is lost this many times has failed.
LOST = 10
#: Seconds between two questions for the number of workers.
ASK_WORKERS = 2.0
#: Seconds between two looks at what has ended.
WAIT = 0.1


@dataclass
class Batch:
    """The tasks that one worker does in one call, one after the other."""

    tasks: list[Task]
    attempt: int = 1
    avoid: list[str] = field(default_factory=list)
    """The addresses of workers on which these tasks have failed."""
    lost: int = 0
    """How often the result was lost."""
    place: list[str] = field(default_factory=list)
    """The addresses of the only workers that may do it; if the list is empty, all may."""
    future: Any = None

    @property
    def servers(self) -> frozenset[str]:
        """Return the servers that the inputs are on; all tasks of a batch have the same servers."""
        return self.tasks[0].servers


def run(
    client: Client,
    tasks: Sequence[Task],
    job: Job,
    journal: Journal,
    *,
    retries: int,
    progress: Progress,
) -> None:
    """Run tasks on the workers of a client, and write the results into the journal at once.

    A task that fails for a reason that may pass is tried again, `retries` times at most and on
    another worker if there is one. A task whose worker dies is tried by the scheduler on other
    workers. If the connection to the scheduler is lost, the client connects again, and tasks
    without a result are given to the scheduler once more.

    Raises
    ------
    nyssa.errors.InputOutputError
        (an `OSError`) if the scheduler is lost and does not come back.
    """
    _Run(client, job, journal, retries, progress).all(tasks)


class _Run:
    def __init__(
        self, client: Client, job: Job, journal: Journal, retries: int, progress: Progress
    ) -> None:
        from distributed import as_completed

        self.client, self.job, self.journal = client, job, journal
        self.retries, self.progress = retries, progress
        # An output that a campaign made with other options, or of other inputs, is replaced.
        self.ours = frozenset(name for name, item in journal.records.items() if item.was_made)
        self.workers = _Workers(client)
        self.waiting: dict[frozenset[str], list[Batch]] = {}
        self.running: dict[object, Batch] = {}
        self.on_server: Counter[str] = Counter()
        self.completed = as_completed()  # type: ignore[no-untyped-call]
        self.numbers = count(1)

    def all(self, tasks: Sequence[Task]) -> None:
        """Run all tasks."""
        for item in reversed(list(batches(tasks, self.workers.threads()))):
            self.wait(item)
        while True:
            while len(self.running) < AHEAD * (self.workers.threads() or 1):
                batch = self.next()
                if batch is None:
                    break
                self.submit(batch)
            if not self.running:
                break
            self.take(self.ended())

    def wait(self, batch: Batch) -> None:
        """Let a batch wait until it can run."""
        self.waiting.setdefault(batch.servers, []).append(batch)

    def next(self) -> Batch | None:
        """Return a batch whose servers have fewer tasks than they may have, if there is one."""
        most = self.job.per_server
        for servers, waiting in self.waiting.items():
            if waiting and (
                most is None or all(self.on_server[server] < most for server in servers)
            ):
                return waiting.pop()
        return None

    def submit(self, batch: Batch) -> None:
        """Give a batch to the scheduler."""
        # The name of a call is new each time: a scheduler remembers names for a while.
        name = f"nyssa-{self.job.name}-{batch.tasks[0].output}-{next(self.numbers)}"
        others = [address for address in self.workers.addresses() if address not in batch.avoid]
        batch.place = others if batch.avoid else []
        replaced = self.ours & {task.output for task in batch.tasks}
        batch.future = self.client.submit(
            run_tasks,
            batch.tasks,
            self.job,
            replaced,
            pure=False,
            key=name,
            workers=batch.place or None,
        )
        self.running[batch.future.key] = batch
        self.on_server.update(batch.servers)
        self.completed.add(batch.future)  # type: ignore[no-untyped-call]

    def ended(self) -> list[Any]:
        """Wait until calls have ended, and return their futures."""
        while not self.completed.has_ready():  # type: ignore[no-untyped-call]
            with self.completed.thread_condition:
                self.completed.thread_condition.wait(WAIT)
            self.progress.wait(self.workers.threads())
            self.free()
        return list(self.completed.next_batch(block=False))  # type: ignore[no-untyped-call]

    def free(self) -> None:
        """Take calls back that wait for workers which are gone."""
        there = set(self.workers.addresses())
        for batch in self.running.values():
            if batch.place and there.isdisjoint(batch.place):
                batch.future.cancel()

    def take(self, futures: Sequence[Any]) -> None:
        """Write the results of calls into the journal; give those that have none again."""
        finished = [item for item in futures if item.status == "finished"]
        results = self.results(finished)
        final: list[Record] = []
        lost = False
        for future in futures:
            batch = self.running.pop(future.key)
            self.on_server.subtract(batch.servers)
            if future.key in results:
                final += self.judged(batch, results[future.key], future)
            elif future.status == "error":
                final += self.broken(batch, future)
            elif batch.lost < LOST:
                batch.lost += 1
                self.wait(batch)
                lost = True
            else:
                final += self.broken(batch, future)
        self.journal.add(*final)
        for record in final:
            self.progress.add(record)
        for future in futures:
            future.release()
        if lost:
            self.find_scheduler()

    def results(self, futures: Sequence[Any]) -> dict[object, list[Record]]:
        """Return the records by the names of the calls; those that were lost are left out."""
        if not futures:
            return {}
        try:
            gathered: list[list[Record]] = self.client.gather(futures)  # type: ignore[no-untyped-call]
            return {item.key: of for item, of in zip(futures, gathered, strict=True)}
        # Whatever the engine says, the result is lost if its worker or the scheduler is.
        except Exception:  # noqa: BLE001
            if len(futures) == 1:
                return {}
            each = (self.results([future]) for future in futures)
            return {key: of for item in each for key, of in item.items()}

    def judged(self, batch: Batch, records: list[Record], future: Any) -> Iterator[Record]:
        """Return the records of a batch, except of tasks that are tried again."""
        for task, record in zip(batch.tasks, records, strict=True):
            record.attempts = batch.attempt
            if record.notes == ["may pass"] and batch.attempt <= self.retries:
                avoid = [*batch.avoid, *self.workers.of(future)]
                self.wait(Batch([task], batch.attempt + 1, avoid))
            else:
                yield record

    def broken(self, batch: Batch, future: Any) -> Iterator[Record]:
        """Return the record of a task whose worker died; the tasks of a batch are tried alone."""
        if len(batch.tasks) > 1:
            for task in batch.tasks:
                self.wait(Batch([task], batch.attempt))
            return
        record = Record.of(batch.tasks[0], self.job.key, "failed")
        record.error, record.attempts = "the worker returned no result", batch.attempt
        if future.status == "error":
            error = future.exception()
            record.error = f"{type(error).__name__}: {error}"
        yield record

    def find_scheduler(self) -> None:
        """Wait until the client has found its scheduler again, which it tries for a while."""
        where = getattr(self.client.scheduler, "address", None) or "of this campaign"
        while self.client.status == "connecting":
            time.sleep(WAIT)
        if self.client.status != "running":
            raise InputOutputError(
                f"the Dask scheduler {where} was lost and did not come back; run the same "
                f"command again to continue"
            )


class _Workers:
    """The workers of a client, as the scheduler last named them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._threads: dict[str, int] = {}
        self._asked = float("-inf")

    def threads(self) -> int:
        """Return the number of threads of all workers."""
        if time.monotonic() - self._asked > ASK_WORKERS:
            # If the scheduler cannot be reached now, what it said before is good enough.
            with contextlib.suppress(Exception):
                self._threads = self._client.nthreads()  # type: ignore[no-untyped-call]
            self._asked = time.monotonic()
        return sum(self._threads.values())

    def addresses(self) -> list[str]:
        """Return the addresses of all workers."""
        return list(self._threads)

    def of(self, future: Any) -> list[str]:
        """Return the addresses of the workers that have the result of a call."""
        try:
            return list(self._client.who_has([future]).get(future.key, ()))  # type: ignore[no-untyped-call]
        except Exception:  # noqa: BLE001
            return []


def batches(tasks: Sequence[Task], threads: int) -> Iterator[Batch]:
    """Put small tasks that follow each other together."""
    most = max(1, min(BATCH_TASKS, len(tasks) // (BATCHES * max(threads, 1))))
    group: list[Task] = []
    for task in tasks:
        bytes_ = sum(item.bytes for item in group) + task.bytes
        if group and (
            len(group) == most or bytes_ > BATCH_BYTES or task.servers != group[0].servers
        ):
            yield Batch(group)
            group = []
        group.append(task)
    if group:
        yield Batch(group)
