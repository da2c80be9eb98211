"""Knows the files that this process writes, and completes one before it is opened to be read."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakValueDictionary

__all__ = ["add", "complete"]


class Unfinished(Protocol):
    """A file that is written."""

    def complete(self) -> None:
        """Write what there is, so that it can be read."""


_FILES: WeakValueDictionary[tuple[int, str], Unfinished] = WeakValueDictionary()


def add(path: object, file: Unfinished) -> None:
    """Remember a file that is written to a local path."""
    if isinstance(path, (str, os.PathLike)):
        _FILES[_key(path)] = file


def complete(path: object) -> None:
    """Complete the file, if this process writes one to the path."""
    if _FILES and isinstance(path, (str, os.PathLike)):
        file = _FILES.get(_key(path))
        if file is not None:
            file.complete()


def _key(path: str | os.PathLike[str]) -> tuple[int, str]:
    # A child of `fork` does not write the files of its parent.
    return os.getpid(), os.path.realpath(path)
