"""Keeps the rounds of a study in a file of JSON lines, so that a study can be continued."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from nyssa.campaign.lines import JsonLines
from nyssa.read.mapping import Closable

__all__ = ["JOURNAL", "Round", "RoundJournal"]

#: Name of the journal in the folder of a study.
JOURNAL = "nyssa-study.jsonl"
#: The version of its lines.
VERSION = 1


@dataclass
class Round:
    """What one round of one trial measured. Sizes are in bytes, times in seconds."""

    study: str
    """The input, the machine and the measurements: rounds of other studies do not count."""
    trial: str
    """The writer and its job, with all options."""
    threads: int
    round: int
    """The number of the round, from 0."""
    output: str
    """The trial as text for people."""
    begin: float = 0.0
    """The time at which the round began, in seconds since 1970."""
    error: str | None = None
    """The reason why the round failed."""
    verified: str = ""
    """How the values of this combination and of the input were compared."""
    adler32: str | None = None
    """The checksum of the output."""
    entries: int = 0
    input_bytes: int = 0
    output_bytes: int = 0
    measured: dict[str, float] = field(default_factory=dict)
    """The times and sizes that were measured, by name."""
    notes: list[str] = field(default_factory=list)
    """What was left out of the output or changed, and why."""

    @property
    def is_complete(self) -> bool:
        """Whether everything was measured."""
        return self.error is None


class RoundJournal(Closable):
    """The file with the rounds of studies. Only one process at a time can write to it.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if another study uses the journal, or the file is no journal.
    """

    def __init__(self, path: Path) -> None:
        self._lines = JsonLines(path, VERSION, "a study")
        self.rounds: list[Round] = self._lines.read(_parse, "a round of a study")

    def add(self, added: Round) -> None:
        """Add a round. It is on the disk when this returns."""
        self._lines.add([asdict(added)])
        self.rounds.append(added)

    def close(self) -> None:
        """Close the file, so that another study can use it."""
        self._lines.close()


def _parse(line: bytes) -> Round:
    """Return the round of a line. Unknown members are ignored.

    Raises
    ------
    ValueError, TypeError, LookupError
        if it is not the line of a round, or of a later version.
    """
    values: dict[str, Any] = json.loads(line)
    if values["version"] > VERSION:
        raise ValueError
    return Round(**{item.name: values[item.name] for item in fields(Round) if item.name in values})
