"""Checks the outputs of a campaign against its journal."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nyssa import _core
from nyssa.campaign.journal import Journal, Record, journal_to_read, open_to_read
from nyssa.campaign.report import BadData, bad_data, lines_of_bad
from nyssa.campaign.task import adler32
from nyssa.campaign.workers import connect
from nyssa.errors import ChecksumError, FormatError, NyssaError
from nyssa.jobs.verify import verify as verify_file
from nyssa.show.report import Report
from nyssa.show.table import Table, count, counted, size

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["CampaignCheck", "OutputProblem", "verify"]


@dataclass(frozen=True)
class OutputProblem:
    """An output that differs from what the journal says."""

    output: str
    problem: str
    is_damaged: bool
    """Whether the next run makes it again. If not, the output could not be read for a reason that
    may pass."""


@dataclass(frozen=True, repr=False)
class CampaignCheck(Report):
    """What a check of the outputs of a campaign has found. Sizes are in bytes."""

    checked: int
    """The number of outputs that were checked: those that the journal has as complete."""
    bytes: int
    problems: list[OutputProblem]
    unknown: list[str]
    """ROOT files in the folder of the outputs that the journal does not have."""
    missing: list[str]
    """Outputs that failed, or that an earlier check found damaged."""
    remaining: int
    """The number of outputs that the last run did not come to."""
    bad: list[BadData]
    """What is missing or damaged in the inputs of the outputs, and was left out."""

    @property
    def sound(self) -> bool:
        """Whether all outputs are there, and are what the journal says."""
        return not (self.problems or self.missing or self.remaining)

    def _parts(self) -> Iterator[str | Table]:
        for problem in self.problems:
            yield f"{problem.output}: {problem.problem}"
        for name in self.missing:
            yield f"missing: {name}"
        if self.remaining:
            outputs = counted(self.remaining, "output")
            yield f"not made: {outputs}, because the campaign was stopped"
        for name in self.unknown:
            yield f"not in the journal: {name}"
        yield from lines_of_bad(self.bad)
        yield (
            f"{counted(self.checked, 'output')} of {size(self.bytes)} checked, "
            f"{count(len(self.problems))} with problems"
        )
        if self.missing or self.remaining or any(problem.is_damaged for problem in self.problems):
            yield "run the same campaign again to make these outputs"


def verify(
    destination: str,
    *,
    journal: str | Path | None = None,
    quick: bool = False,
    client: Client | None = None,
    **place: Any,
) -> CampaignCheck:
    """Check that the outputs of a campaign are what its journal says.

    The size and the Adler-32 checksum of each output are compared, and `nyssa.verify` reads it.
    The journal then has outputs with problems as damaged, so that the next run of the campaign
    makes them again.

    Parameters
    ----------
    destination
        Folder or URL of the outputs.
    journal
        File of the journal; needed for outputs at a URL.
    quick
        Compare only the sizes.
    client
        The client of a scheduler. Without it, workers are started.
    **place
        `scheduler`, `workers`, `cluster` and `cluster_options` of
        `nyssa.campaign.workers.connect`.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if there is no journal.
    nyssa.ArgumentError
        (a `ValueError`) if the file is no journal, or a campaign uses it.
    """
    path = journal_to_read(destination, journal)
    open_to_read(path).close()
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(Journal(path))
        records = [record for record in opened.records.values() if record.is_complete]
        if quick:
            checked = [_check(record, quick=True) for record in records]
        else:
            running = client if client is not None else stack.enter_context(connect(**place))
            futures = running.map(_check, records, pure=False, batch_size=1000)
            checked = running.gather(futures)  # type: ignore[no-untyped-call]
        problems = [item for item in checked if item is not None]
        damaged = {problem.output: problem.problem for problem in problems if problem.is_damaged}
        opened.add(
            *(
                dataclasses.replace(record, state="damaged", error=damaged[record.output])
                for record in records
                if record.output in damaged
            )
        )
        known = set(opened.records)
        made = {record.output for record in records}
        missing = sorted(known - made)
        remaining = opened.remaining
    folder = _core.absolute(destination)
    unknown = _unknown(Path(folder), known) if "://" not in folder else []
    bytes_ = sum(record.output_bytes for record in records)
    return CampaignCheck(
        checked=len(records),
        bytes=bytes_,
        problems=problems,
        unknown=unknown,
        missing=missing,
        remaining=remaining,
        bad=bad_data(records),
    )


def _check(record: Record, *, quick: bool = False) -> OutputProblem | None:
    """Return the problem of an output, if it has one."""
    try:
        problem = _problem(record, quick=quick)
    except (NyssaError, OSError) as error:
        is_damaged = isinstance(error, (FormatError, ChecksumError))
        message = f"it cannot be read: {type(error).__name__}: {error}"
        return OutputProblem(record.output, message, is_damaged)
    return None if problem is None else OutputProblem(record.output, problem, is_damaged=True)


def _problem(record: Record, *, quick: bool) -> str | None:
    size_ = _core.size(record.output)
    if size_ is None:
        return "it does not exist"
    if size_ != record.output_bytes:
        return f"it has {size_} bytes, but {record.output_bytes} in the journal"
    if quick:
        return None
    checksum = adler32(record.output)
    if record.adler32 is not None and checksum != record.adler32:
        return f"its Adler-32 checksum is {checksum}, but {record.adler32} in the journal"
    problems = verify_file(record.output, threads=1).problems
    if not problems:
        return None
    return f"{counted(len(problems), 'problem')}; the first: {problems[0].message}"


def _unknown(folder: Path, known: set[str]) -> list[str]:
    """Return the ROOT files in a folder that the journal does not have."""
    files = (_core.absolute(str(item)) for item in sorted(folder.rglob("*.root")))
    return [item for item in files if item not in known]
