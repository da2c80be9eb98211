"""Converts, rewrites and merges whole datasets on many processes and machines.

>>> from nyssa import campaign
>>> report = campaign.convert("root://server//store/run3/*.root", "/data/run3", workers=8)
>>> print(report)

A campaign makes one output of each input, or of inputs that together have a wanted size. Its
journal says what was done, so that the same call does only what is missing. The workers come
from `dask.distributed` (``pip install distributed``): they are processes on this machine, of a
scheduler that runs, or of a batch system.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.sizes import bytes_of
from nyssa.campaign.check import CampaignCheck, verify
from nyssa.campaign.engine import run
from nyssa.campaign.estimate import estimate
from nyssa.campaign.journal import (
    JOURNAL,
    Begin,
    Entries,
    Journal,
    Record,
    journal_of,
    read,
)
from nyssa.campaign.keywords import ConvertCampaign, MergeCampaign, RewriteCampaign
from nyssa.campaign.plan import Input, Inputs, Task, ask_each, find_inputs, make_tasks
from nyssa.campaign.progress import Progress
from nyssa.campaign.report import CampaignReport, draw, summary
from nyssa.campaign.status import CampaignStatus, status
from nyssa.campaign.task import Job, JobName, check_options
from nyssa.campaign.workers import connect
from nyssa.errors import ArgumentError, OutputExistsError

if TYPE_CHECKING:
    from distributed import Client

__all__ = [
    "JOURNAL",
    "Campaign",
    "CampaignCheck",
    "CampaignReport",
    "CampaignStatus",
    "Input",
    "Inputs",
    "Job",
    "Record",
    "Task",
    "convert",
    "merge",
    "rewrite",
    "status",
    "verify",
]


class Campaign:
    """The tasks of a campaign, and its journal.

    Parameters
    ----------
    job
        The job of the campaign, with its options.
    inputs
        See `nyssa.campaign.Inputs`.
    destination
        Folder or URL of the outputs.
    target_size
        Size of an output, in bytes or as text such as ``"2 GB"``. Inputs are put together until
        their output has about this size: a part of the first input is converted to find how much
        smaller outputs are, and the journal keeps the result for later runs. A merge counts the
        sizes of its inputs. The default makes one output of each input.
    condense
        Largest number of inputs of one output.
    journal
        File of the journal. The default is ``nyssa-campaign.jsonl`` in the destination, if that is
        a local folder.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for options of the job that are wrong, and for inputs, a destination or a
        journal that cannot be used.
    """

    def __init__(
        self,
        job: Job,
        inputs: Inputs,
        destination: str,
        *,
        target_size: int | str | None = None,
        condense: int | None = None,
        journal: str | Path | None = None,
    ) -> None:
        self.job = job
        check_options(job)
        target = None if target_size is None else bytes_of(target_size, "target_size")
        if condense is not None and condense < 1:
            raise ArgumentError(f"condense must be a positive number of inputs, not {condense}")
        if job.options.get("profile") and (target, condense) != (None, None):
            raise ArgumentError(
                "a profile is for outputs of one input each, since a merge takes none: leave out "
                "target_size and condense, or give the options that the profile states"
            )
        place = _core.absolute(destination)
        if _core.shown(place) != place:
            raise ArgumentError(
                "the journal of a campaign has the names of its outputs, and no secrets: give "
                f"the credentials of {_core.shown(place)} by the environment, not in the URL"
            )
        self.journal = journal_of(place, journal)
        known = self._entries()
        files = find_inputs(inputs, place, known.records)
        self.scale = 1.0 if target is None else self._scale(files, known.last)
        self.tasks = make_tasks(files, place, target, condense, self.scale)

    def _scale(self, files: Iterable[Input], last: Begin | None) -> float:
        """Return the bytes of an output per byte of its inputs; later runs use the same value."""
        if last is not None and last.run == self.job.key:
            return last.scale
        sample = estimate(files, self.job)
        return 1.0 if sample is None else sample.scale

    def missing(self, records: Mapping[str, Record]) -> list[Task]:
        """Return the tasks that are not complete.

        A task is complete if the journal has it with the same inputs and the same job, it was
        verified if this job verifies, and the output has the size that it had then.
        """

        def is_recorded(task: Task) -> bool:
            record = records.get(task.output)
            if record is None or not record.is_complete:
                return False
            is_checked = record.verified or not self.job.verifies
            return is_checked and record.is_of(task, self.job.key)

        recorded = [task.output for task in self.tasks if is_recorded(task)]
        sizes = dict(zip(recorded, ask_each(_core.size, recorded), strict=True))
        complete = {name for name, size in sizes.items() if size == records[name].output_bytes}
        return [task for task in self.tasks if task.output not in complete]

    def check(self, tasks: Iterable[Task], records: Mapping[str, Record]) -> None:
        """Raise an error if tasks would replace outputs of another job or of other inputs.

        Raises
        ------
        nyssa.errors.OutputExistsError
            (a `FileExistsError`) with the first of them, unless the job replaces all outputs.
        """
        made = {name: item for name, item in records.items() if item.was_made}
        others = [
            task.output
            for task in tasks
            if task.output in made and not made[task.output].may_be_replaced(task, self.job.key)
        ]
        if self.job.force:
            return
        there = [
            name for name, size in zip(others, ask_each(_core.size, others), strict=True) if size
        ]
        if there:
            raise OutputExistsError(
                f"{there[0]} was made with other options or of other inputs "
                f"({made[there[0]].job}), and so were {len(there) - 1} more outputs: name another "
                f"folder, or replace them (--force)"
            )

    def records(self) -> dict[str, Record]:
        """Return the records of the journal, by output; none if there is no journal."""
        return self._entries().records

    def _entries(self) -> Entries:
        if not self.journal.exists():
            return Entries()
        with self.journal.open("rb") as file:
            return read(file, self.journal)

    def run(
        self,
        client: Client,
        *,
        retries: int = 2,
        quiet: bool = False,
        plot: str | Path | None = None,
    ) -> CampaignReport:
        """Do what is missing, on the workers of a client.

        Parameters
        ----------
        client
            The client of a scheduler.
        retries
            How often a task is tried again that failed for a reason that may pass.
        quiet
            Show no progress on stderr.
        plot
            File of a plot: what each process did when, and the rates. It needs matplotlib.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) if another campaign uses the journal.
        nyssa.errors.OutputExistsError
            (a `FileExistsError`) if outputs were made with other options or of other inputs.
        """
        start = time.monotonic()
        with Journal(self.journal) as journal:
            tasks = self.missing(journal.records)
            self.check(tasks, journal.records)
            bytes_ = sum(task.bytes for task in tasks)
            numbers = (len(self.tasks), len(tasks), bytes_)
            started = Begin(self.job.key, time.time(), *numbers, self.scale)
            journal.begin(started)
            progress = Progress(tasks, quiet=quiet)
            run(client, tasks, self.job, journal, retries=retries, progress=progress)
            wanted = {task.output for task in self.tasks}
            records = [item for name, item in journal.records.items() if name in wanted]
        if plot is not None:
            draw(records, Path(plot))
        return summary(records, {task.output for task in tasks}, time.monotonic() - start)


def convert(inputs: Inputs, destination: str, **options: Unpack[ConvertCampaign]) -> CampaignReport:
    """Convert the TTrees of many files to RNTuples.

    Parameters
    ----------
    inputs, destination
        See `Campaign`.
    **options
        The parameters `target_size`, `condense` and `journal` of `Campaign`; `retries`, `quiet` and
        `plot` of `Campaign.run`; `scheduler`, `workers`, `cluster` and `cluster_options` of
        `nyssa.campaign.workers.connect`, or a `client`; `cluster_size`, `threads` (of one task, 1
        by default), `per_node`, `per_server` and `force` of `Job`. All others are options of
        `nyssa.convert`; `verify` is true by default.

    Returns
    -------
    CampaignReport
        What was done, the rates, and what failed. A file that fails does not stop the others.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for inputs, a destination or a journal that cannot be used, and if
        `dask.distributed` is not installed.
    """
    return _run("convert", inputs, destination, dict(options))


def rewrite(inputs: Inputs, destination: str, **options: Unpack[RewriteCampaign]) -> CampaignReport:
    """Rewrite the datasets of many files; as `convert`, with the options of `nyssa.rewrite`."""
    return _run("rewrite", inputs, destination, dict(options))


def merge(inputs: Inputs, destination: str, **options: Unpack[MergeCampaign]) -> CampaignReport:
    """Merge many files into fewer; as `convert`, with the options of `nyssa.merge`.

    `target_size` or `condense` must be given.
    """
    if options.get("target_size") is None and options.get("condense") is None:
        raise ArgumentError("a merge needs the size of its outputs: give target_size or condense")
    return _run("merge", inputs, destination, dict(options))


def _run(
    name: JobName, inputs: Inputs, destination: str, options: dict[str, Any]
) -> CampaignReport:
    def taken(*names: str) -> dict[str, Any]:
        return {name: options.pop(name) for name in names if name in options}

    client = options.pop("client", None)
    planned = taken("target_size", "condense", "journal")
    running = taken("retries", "quiet", "plot")
    place = taken("scheduler", "workers", "cluster", "cluster_options")
    settings = taken("cluster_size", "threads", "per_node", "per_server", "force")
    job = Job(name, {"verify": True, **options}, **settings)
    campaign = Campaign(job, inputs, destination, **planned)
    if client is not None:
        return campaign.run(client, **running)
    with connect(**place) as started:
        return campaign.run(started, **running)
