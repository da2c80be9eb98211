"""Adds lines of JSON to a file that one process at a time writes to.

A line is written at once and forced to the disk, so that a killed process loses nothing.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from nyssa.errors import ArgumentError, InputOutputError
from nyssa.read.mapping import Closable

__all__ = ["JsonLines"]


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
        self.file: BinaryIO = path.open("ab+")
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.file.close()
            message = f"{path} is the journal of {of} that is still running: wait until it ends"
            raise ArgumentError(message) from None

    def cut(self, complete: int) -> None:
        """Keep so many bytes, which hold complete lines, and add lines after them."""
        self.file.truncate(complete)
        self.file.seek(0, os.SEEK_END)

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
                content = content[os.write(self.file.fileno(), content) :]
            os.fsync(self.file.fileno())
        except OSError as error:
            message = (
                f"cannot write to the journal {self.path}: {error.strerror}; correct this, and "
                f"run the same command again to continue"
            )
            raise InputOutputError(message) from None

    def close(self) -> None:
        """Close the file, so that another process can write to it."""
        self.file.close()
