"""Reads and writes the journal of a campaign: a file with a JSON line for each task.

Each line is the record of a task, or the begin of a run; ``docs/campaign.md`` describes them. A
line is written at once and forced to the disk, so that a killed campaign loses nothing. A last line
that is not complete is ignored and cut off. ``nyssa convert --into`` writes into the same file.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from typing_extensions import Self

from nyssa import _core
from nyssa.campaign.lines import JsonLines, parsed
from nyssa.campaign.plan import Task
from nyssa.errors import ArgumentError, FileMissingError
from nyssa.read.mapping import Closable

#: Name of the journal in a local folder of outputs.
JOURNAL = "nyssa-campaign.jsonl"
#: Name of the journals of ``nyssa convert --into`` of earlier builds.
CONVERT_JOURNAL = "nyssa-convert.jsonl"
#: The version of the lines. Lines without a version are of version 1.
VERSION = 2
#: What a line is, for messages.
_LINE = "a record of a campaign"


@dataclass
class Record:
    """The result of one task. Sizes are in bytes, times in seconds."""

    output: str
    state: str
    """``"done"``: the output was made; ``"found"``: a correct output was there already;
    ``"failed"``; ``"damaged"``: the output was made, and a check found it damaged later."""
    inputs: Sequence[Sequence[str | int | None]]
    """The inputs (absolute paths, or URLs without secrets), with their sizes and versions.

    If the query of a URL chooses the data, a digest of the query follows.
    """
    job: str
    """The name of the job, with its options."""
    dataset: str = ""
    error: str | None = None
    """The reason why the task failed."""
    attempts: int = 1
    begin: float = 0.0
    """The time at which the work began, in seconds since 1970."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    threads: int = 1
    host: str = ""
    process: int = 0
    entries: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    bytes_read: int = 0
    """The number of bytes read from disks and servers, with those read to verify."""
    requests: int = 0
    """The number of reads and readvs that brought them."""
    verified: bool = False
    """Whether every value was read back and compared."""
    adler32: str | None = None
    """The checksum of the output as Rucio shows it; `None` for outputs that are URLs."""
    notes: list[str] = field(default_factory=list)
    """What was left out of the output or changed, and why."""
    bad: list[str] = field(default_factory=list)
    """What of the inputs is missing or damaged and was left out, and why; also in `notes`."""

    @classmethod
    def of(cls, task: Task, job: str, state: str) -> Self:
        """Return the record of a task, before anything is known of its work."""
        return cls(task.output, state, _shown(task), job, task.dataset, input_bytes=task.bytes)

    @property
    def is_complete(self) -> bool:
        """Whether the output is there."""
        return self.state in ("done", "found")

    @property
    def was_made(self) -> bool:
        """Whether the campaign made the output, even if it is damaged today."""
        return self.is_complete or self.state == "damaged"

    def is_of(self, task: Task, job: str) -> bool:
        """Return whether this is the result of the same inputs and the same job."""
        inputs = _shown(task)
        known = [tuple(item) for item in self.inputs]
        # Older journals have no versions, and no digests of queries.
        old = known == [item[:2] for item in inputs if len(item) == 3]
        same = _identity(self.inputs, job, False) == _identity(inputs, job, False)
        return self.job == job and (old or same)

    def may_be_replaced(self, task: Task, job: str) -> bool:
        """Return whether the output is an older one of the same job, of some of the same inputs."""
        known = {(_place(str(item[0])), *item[3:]) for item in self.inputs}
        return self.job == job and any((item[0], *item[3:]) in known for item in _shown(task))


def _shown(task: Task) -> list[tuple[str | int | None, ...]]:
    """Return the inputs of a task, with sizes and versions. A journal has no secrets of URLs."""
    return [(_place(item.url), item.size, item.version, *_query(item.url)) for item in task.inputs]


def _place(url: str) -> str:
    """Return a name that is the same in every folder, without secrets."""
    return _core.shown(url if "://" in url else _core.absolute(url))


def identity_of(task: Task, job: str, verified: bool) -> bytes:
    """Return the identity (UUID) of the output that a job makes of the inputs of a task.

    An output that was verified has another identity: verified outputs alone appear with it.
    """
    return _identity(_shown(task), job, verified)


def _identity(inputs: Sequence[Sequence[Any]], job: str, verified: bool) -> bytes:
    return _core.identity_of([(*item, *(None,) * 4)[:4] for item in inputs], job, verified)


def _query(url: str) -> list[str]:
    """Return a digest of the query of a URL, if it chooses the data."""
    digest = _core.query_digest(_core.split_path(url)[0])
    return [] if digest is None else [digest]


@dataclass
class Begin:
    """The begin of a run of a campaign."""

    run: str
    """The name of the job, with its options."""
    begin: float
    """The time in seconds since 1970."""
    tasks: int
    """Number of all outputs of the campaign."""
    missing: int
    """The number of the outputs that were not complete."""
    bytes: int
    """The size of the inputs of these."""
    scale: float = 1.0
    """The bytes of an output for each byte of its inputs, by which inputs were put together."""


@dataclass
class Entries:
    """What a journal says."""

    records: dict[str, Record] = field(default_factory=dict)
    """The last record of each output."""
    last: Begin | None = None
    """The begin of the last run."""
    ended: list[Record] = field(default_factory=list)
    """The records since then, in their order."""

    @property
    def remaining(self) -> int:
        """The number of tasks of the last run that have not ended."""
        return 0 if self.last is None else max(self.last.missing - len(self.ended), 0)


class Journal(Closable):
    """The file with the records of a campaign. Only one process at a time can write to it.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if another campaign uses the journal, or the file is no journal.
    """

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path, VERSION, "a campaign")
        entries = _entries(self._lines.read(partial(_parse, folder=path.parent), _LINE))
        self.records, self.remaining = entries.records, entries.remaining

    def begin(self, begin: Begin) -> None:
        """Add the begin of a run."""
        self._lines.add([asdict(begin)])

    def add(self, *records: Record) -> None:
        """Add records. They are on the disk when this returns."""
        if records:
            self._lines.add(map(asdict, records))
        for record in records:
            self.records[record.output] = record

    def close(self) -> None:
        """Close the file, so that another campaign can use it."""
        self._lines.close()


def journal_of(destination: str, journal: str | Path | None) -> Path:
    """Return the file of the journal of a campaign with outputs in `destination`.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if the outputs are at a URL and no file is given.
    """
    if journal is not None:
        return Path(journal)
    place = _core.absolute(destination)
    if "://" in place:
        raise ArgumentError("outputs at a URL need a local journal: give its file as journal")
    return Path(place) / JOURNAL


def journal_to_read(destination: str, journal: str | Path | None) -> Path:
    """Return the journal in `destination`, or else the one of an earlier ``nyssa convert --into``.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if the outputs are at a URL and no file is given.
    """
    path = journal_of(destination, journal)
    other = path.with_name(CONVERT_JOURNAL)
    return other if journal is None and not path.exists() and other.exists() else path


def _parse(line: bytes, folder: Path) -> tuple[Begin | Record, bool] | None:
    """Return what a line of a journal in `folder` says, and whether a campaign wrote it.

    Unknown members are ignored.

    `nyssa convert` begins a new line after one that was cut, which says nothing.

    Raises
    ------
    ValueError, TypeError, LookupError, AttributeError
        if it is not a line of a journal, or of a later version.
    """
    if line.startswith(b"{") and not line.endswith(b"}\n"):
        return None
    values: dict[str, Any] = json.loads(line)
    version = values.get("version", 1)
    if version > VERSION:
        raise ValueError
    if version == 1:
        old = {"bytes_in": "input_bytes", "bytes_out": "output_bytes"}
        values = {old.get(name, name): value for name, value in values.items()}
    kind = Begin if "run" in values else Record
    is_of_campaign = "input" not in values
    if not is_of_campaign:
        values = _of_convert(values, folder)
    known = {item.name: values[item.name] for item in fields(kind) if item.name in values}
    return kind(**known), is_of_campaign


def _of_convert(line: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Complete a line of ``nyssa convert --into``."""
    # The path of an output begins in the folder where the command ran.
    output = line["output"]
    if "://" not in output:
        output = _core.absolute(str(folder / Path(output).name))
    inputs = [[line["input"], line["input_bytes"], line["input_version"]]]
    # Lines of version 1 have a hash of the options.
    job = f"convert({line.get('options')})"
    return {"inputs": inputs, "job": job, **line, "output": output}


def read(file: BinaryIO, path: Path) -> Entries:
    """Return what a journal says. A torn last line is left out.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if the file is no journal.
    """
    lines, _ = parsed(file, path, partial(_parse, folder=path.parent), _LINE)
    return _entries(lines)


def _entries(lines: Iterable[tuple[Begin | Record, bool] | None]) -> Entries:
    """Return what the lines of a journal say together."""
    entries = Entries()
    for line in lines:
        if line is None:
            continue
        entry, is_of_campaign = line
        if isinstance(entry, Begin):
            entries.last, entries.ended = entry, []
        else:
            entries.records[entry.output] = entry
            # A check adds outputs that it found damaged after the run.
            entries.ended += [entry] if is_of_campaign and entry.state != "damaged" else []
    return entries


def open_to_read(path: Path) -> BinaryIO:
    """Open a journal, also while a campaign writes to it.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if there is no journal.
    """
    try:
        return path.open("rb")
    except FileNotFoundError:
        message = f"there is no journal of a campaign at {path}"
        raise FileMissingError(message) from None


def read_of(destination: str, journal: str | Path | None = None) -> tuple[Path, Entries]:
    """Return the file of the journal of a campaign, and what it says; also while it runs.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if there is no journal.
    nyssa.ArgumentError
        (a `ValueError`) if the file is no journal, or none is given for outputs at a URL.
    """
    path = journal_to_read(destination, journal)
    with open_to_read(path) as file:
        return path, read(file, path)


def is_used(path: Path) -> bool:
    """Return whether a campaign that runs uses a journal."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        return False
