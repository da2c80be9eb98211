"""Reads with `skip_unreadable`: leaves out columns that cannot be read, and warns of each."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from nyssa import _core
from nyssa.arrays import libraries
from nyssa.errors import UnreadableWarning, UnsupportedError

__all__ = ["column", "lazy", "table", "take", "warn"]

LeftOut = list[tuple[str, str]]
"""The columns or members that cannot be read, each with the reason."""


def table(
    dataset: _core.Dataset,
    names: Sequence[str],
    library: str,
    start: int,
    stop: int,
    threads: int | None,
) -> Any:
    """Read a range of entries as a table, and warn of the parts that are left out."""
    buffers = libraries.takes_buffers(library)
    _, read, columns, left_out = dataset.read_skip_unreadable(names, start, stop, threads, buffers)
    warn(left_out)
    return libraries.table(library, read, columns, start, stop)


def take(
    dataset: _core.Dataset,
    names: Sequence[str],
    library: str,
    indices: Sequence[int],
    threads: int | None,
) -> Any:
    """Read entries in any order as a table, and warn of the parts that are left out."""
    buffers = libraries.takes_buffers(library)
    _, read, columns, left_out = dataset.take_skip_unreadable(names, indices, threads, buffers)
    warn(left_out)
    return libraries.table(library, read, columns, 0, len(indices))


def column(
    dataset: _core.Dataset, name: str, library: str, start: int, stop: int, threads: int | None
) -> Any:
    """Read one column; raise `UnsupportedError` when nothing of it can be read."""
    buffers = libraries.takes_buffers(library)
    _, _, columns, left_out = dataset.read_skip_unreadable([name], start, stop, threads, buffers)
    if not columns:
        raise UnsupportedError("; ".join(f"{part}: {reason}" for part, reason in left_out))
    warn(left_out)
    return libraries.column(library, columns[0], start, stop)


def lazy(
    dataset: _core.Dataset, names: Sequence[str], start: int, stop: int, threads: int | None
) -> Any:
    """Make a lazy table, without the columns that are known to be unreadable."""
    from nyssa.arrays import lazy_arrays

    known, read, _, left_out = dataset.read_skip_unreadable(names, start, start, threads)
    warn(left_out)
    return lazy_arrays.record(known, read, start, stop, threads)


def warn(left_out: LeftOut) -> None:
    """Warn the caller of nyssa of each column that is left out, with the reason."""
    for name, reason in left_out:
        message = f"{name} is left out: {reason}"
        warnings.warn(message, UnreadableWarning, stacklevel=callers_level())


def callers_level() -> int:
    """Return the stack level, from the calling function, of the first function outside nyssa."""
    here = os.path.dirname(os.path.dirname(__file__)) + os.sep
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    return level
