"""Reads lines of JSON, and adds lines to a file that one process at a time writes to.

A line is written at once and forced to the disk, so that a killed process loses nothing. A last
line that is not complete does not count.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

from nyssa.errors import ArgumentError, InputOutputError
from nyssa.read.mapping import Closable

__all__ = ["JsonLines", "parsed"]

Said = TypeVar("Said")


def parsed(
    file: BinaryIO, path: Path, parse: Callable[[bytes], Said], what: str
) -> tuple[list[Said], int]:
    """Return what the complete lines of a file say, and the number of their bytes.

    Parameters
    ----------
    file, path
        The file, open to read, and its path for messages.
    parse
        Returns what a line says. A `ValueError`, `TypeError`, `LookupError` or `AttributeError`
        means that the line is no such line.
    what
        What a line is, such as ``"a round of a study"``, for messages.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) with the number of the first line that cannot be parsed.
    """
    items, size = [], 0
    file.seek(0)
    for number, line in enumerate(file, 1):
        if not line.endswith(b"\n"):
            break
        try:
            items.append(parse(line))
        except (ValueError, TypeError, LookupError, AttributeError):
            raise ArgumentError(f"line {number} of {path} is not {what}") from None
        size += len(line)
    return items, size


class JsonLines(Closable):
    """A file with lines of JSON, open to read and to add lines.

    Parameters
    ----------
    path
        The file. It is made if it does not exist, with its folder.
    version
        The version that each line states.
    of
        What the lines are of, such as ``"a campaign"``, for messages.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if another process writes to the file.
    """

    def __init__(self, path: Path, version: int, of: str) -> None:
        self.path, self._version = path, version
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: BinaryIO = path.open("ab+")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._file.close()
            message = f"{path} is the journal of {of} that is still running: wait until it ends"
            raise ArgumentError(message) from None

    def read(self, parse: Callable[[bytes], Said], what: str) -> list[Said]:
        """Return what the complete lines say, as `parsed` does. Lines are then added after them.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) with the number of the first line that cannot be parsed. The file is
            then closed.
        """
        try:
            items, size = parsed(self._file, self.path, parse, what)
        except ArgumentError:
            self.close()
            raise
        self._file.truncate(size)
        self._file.seek(0, os.SEEK_END)
        return items

    def add(self, lines: Iterable[dict[str, Any]]) -> None:
        """Add lines. They are on the disk when this returns.

        Raises
        ------
        nyssa.errors.InputOutputError
            (an `OSError`) if they cannot be written.
        """
        versioned = (json.dumps({"version": self._version, **line}) for line in lines)
        content = b"".join(line.encode() + b"\n" for line in versioned)
        try:
            while content:
                content = content[os.write(self._file.fileno(), content) :]
            os.fsync(self._file.fileno())
        except OSError as error:
            message = (
                f"cannot write to the journal {self.path}: {error.strerror}; correct this, and "
                f"run the same command again to continue"
            )
            raise InputOutputError(message) from None

    def close(self) -> None:
        """Close the file, so that another process can write to it."""
        self._file.close()
