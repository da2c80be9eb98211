"""Reports the progress of a campaign, from its journal alone."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from nyssa.campaign.journal import is_used, read_of
from nyssa.campaign.report import (
    BadData,
    DatasetTotals,
    FailedTask,
    bad_data,
    dataset_totals,
    failed_tasks,
    lines_of_bad,
    table_of_datasets,
)
from nyssa.show.report import Report
from nyssa.show.table import Table, count, counted, size

__all__ = ["CampaignStatus", "LastRun", "status"]


@dataclass(frozen=True)
class LastRun:
    """The last run of a campaign. Sizes are in bytes, times in seconds."""

    job: str
    """The name of the job, with its options."""
    begin: float
    """The time at which it began, in seconds since 1970."""
    tasks: int
    """All outputs of the campaign."""
    missing: int
    """The number of outputs that were not complete when it began."""
    ended: int
    """The number of tasks that have ended since, also those that failed."""
    remaining: int
    """The number of tasks that have not ended."""
    seconds: float
    """Time from its begin until now, or until the end of its last task if it does not run."""
    rate: float
    """The rate of bytes of inputs per second."""
    seconds_left: float | None
    """The estimate of the time until its end; `None` if it does not run or nothing has ended."""


@dataclass(frozen=True, repr=False)
class CampaignStatus(Report):
    """What the journal of a campaign says."""

    journal: str
    running: bool
    """Whether a campaign uses the journal now."""
    complete: int
    """The number of outputs that are complete."""
    verified: int
    """The number of complete outputs of which every value was compared with the inputs."""
    bytes_out: int
    """The size of the complete outputs in bytes."""
    datasets: list[DatasetTotals]
    failed: list[FailedTask]
    """The outputs that could not be made."""
    damaged: list[FailedTask]
    """The outputs that were found damaged after they were made.

    The next run makes them again.
    """
    bad: list[BadData]
    """What is missing or damaged in the inputs of complete outputs, and was left out."""
    last_run: LastRun | None

    @property
    def is_complete(self) -> bool:
        """Whether nothing failed, nothing is damaged and nothing is left to do."""
        remaining = 0 if self.last_run is None else self.last_run.remaining
        return not (self.failed or self.damaged or remaining)

    def _parts(self) -> Iterator[str | Table]:
        yield table_of_datasets(self.datasets)
        for what, tasks in (("failed", self.failed), ("damaged", self.damaged)):
            for task in tasks:
                yield f"{what}: {task.output} ({', '.join(task.inputs)}): {task.error}"
        yield from lines_of_bad(self.bad)
        if self.last_run is not None:
            yield from _lines(self.last_run, self.running)
        yield (
            f"{count(self.complete)} complete ({size(self.bytes_out)}), "
            f"{count(len(self.failed))} failed, {count(len(self.damaged))} damaged"
        )


def _lines(run: LastRun, running: bool) -> Iterator[str]:
    begin = datetime.fromtimestamp(run.begin).astimezone().isoformat(" ", "seconds")
    yield (
        f"{'runs since' if running else 'last run:'} {begin}: {run.job}, "
        f"{count(run.missing)} of {counted(run.tasks, 'output')} to make"
    )
    left = "" if run.seconds_left is None else f", about {run.seconds_left:.0f} s left"
    yield (
        f"{count(run.ended)} ended in {run.seconds:.0f} s ({run.rate / 1e6:.1f} MB/s), "
        f"{count(run.remaining)} remain{left}"
    )
    if run.remaining and not running:
        yield "it was stopped; run the same command again to continue"


def status(destination: str, *, journal: str | Path | None = None) -> CampaignStatus:
    """Return the progress of a campaign. It may run at the same time.

    Parameters
    ----------
    destination
        Folder or URL of the outputs.
    journal
        File of the journal; needed for outputs at a URL.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if there is no journal.
    nyssa.ArgumentError
        (a `ValueError`) if the file is no journal.
    """
    path, entries = read_of(destination, journal)
    running = is_used(path)
    records = list(entries.records.values())
    complete = [record for record in records if record.is_complete]
    last = None
    if entries.last is not None:
        begun, ended = entries.last, entries.ended
        last_end = max((item.begin + item.seconds for item in ended), default=begun.begin)
        seconds = (time.time() if running else last_end) - begun.begin
        bytes_ = sum(item.input_bytes for item in ended)
        rate = bytes_ / seconds if seconds > 0 else 0.0
        last = LastRun(
            job=begun.run,
            begin=begun.begin,
            tasks=begun.tasks,
            missing=begun.missing,
            ended=len(ended),
            remaining=entries.remaining,
            seconds=max(seconds, 0.0),
            rate=rate,
            seconds_left=(begun.bytes - bytes_) / rate if running and rate > 0 else None,
        )
    return CampaignStatus(
        journal=str(path),
        running=running,
        complete=len(complete),
        verified=sum(item.verified for item in complete),
        bytes_out=sum(item.output_bytes for item in complete),
        datasets=dataset_totals(complete),
        failed=failed_tasks(record for record in records if record.state == "failed"),
        damaged=failed_tasks(record for record in records if record.state == "damaged"),
        bad=bad_data(complete),
        last_run=last,
    )
