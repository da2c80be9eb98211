"""The journal of a campaign: a file of JSON lines that says what was done.

Each line is one record. A record is written at once and forced to the disk, so that a killed
campaign loses nothing. A last line that is not complete is ignored and cut off.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from typing_extensions import Self

from nyssa.campaign.plan import Task
from nyssa.errors import ArgumentError

__all__ = ["Journal", "Record"]


@dataclass
class Record:
    """The result of one task. Sizes are in bytes, times in seconds."""

    output: str
    state: str
    """``"done"``: the output was made; ``"found"``: a correct output was there already;
    ``"failed"``."""
    inputs: list[tuple[str, int]]
    """The inputs and their sizes."""
    job: str
    """The job and its options."""
    dataset: str = ""
    error: str = ""
    """Why the task failed."""
    attempts: int = 1
    begin: float = 0.0
    """Time at which the work began, in seconds since 1970."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    threads: int = 1
    host: str = ""
    process: int = 0
    entries: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    verified: bool = False
    """Whether every value was read back and compared."""
    adler32: str | None = None
    """Checksum of the output as Rucio shows it; `None` for outputs that are URLs."""
    notes: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, task: Task, job: str, state: str) -> Self:
        """Return the record of a task, before anything is known of its work."""
        inputs = [(one.url, one.size) for one in task.inputs]
        return cls(task.output, state, inputs, job, task.dataset, bytes_in=task.bytes)

    @property
    def is_complete(self) -> bool:
        """Whether the output is there."""
        return self.state in ("done", "found")

    def is_of(self, task: Task, job: str) -> bool:
        """Tell whether this is the result of the same inputs and the same job."""
        inputs = [tuple(one) for one in self.inputs]
        return self.job == job and inputs == [(one.url, one.size) for one in task.inputs]


class Journal:
    """The records of a campaign. Only one process at a time can write to it.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if another campaign uses the journal, or the file is no journal.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = path.open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            message = f"{path} is the journal of a campaign that runs: wait for its end"
            raise ArgumentError(message) from None
        self.records = self._read()

    def _read(self) -> dict[str, Record]:
        """Return the last record of each output. A torn last line is cut off."""
        self._file.seek(0)
        complete, found = 0, {}
        for number, line in enumerate(self._file, 1):
            try:
                values: dict[str, Any] = json.loads(line)
                record = Record(**values)
            except (ValueError, TypeError):
                if line.endswith(b"\n"):
                    self._file.close()
                    message = f"line {number} of {self.path} is no record of a campaign"
                    raise ArgumentError(message) from None
                break
            if not line.endswith(b"\n"):
                break
            complete += len(line)
            found[record.output] = record
        self._file.truncate(complete)
        self._file.seek(0, os.SEEK_END)
        return found

    def add(self, record: Record) -> None:
        """Add a record. It is on the disk when this returns."""
        self._file.write(json.dumps(asdict(record)).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        self.records[record.output] = record

    def close(self) -> None:
        """Close the file, so that another campaign can use it."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
