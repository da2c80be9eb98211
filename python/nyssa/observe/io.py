"""The counters and recordings of what the process opens and reads."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.observe.io_stats import IoStats

__all__ = ["io_stats", "record"]


def io_stats() -> IoStats:
    """Return what this process has opened and read, in all threads.

    A child of `fork` begins with zero. `Dataset.io_stats` counts for one dataset.

    >>> before = nyssa.io_stats().bytes_read
    >>> arrays = nyssa.open("events.root:Events").arrays(["MET_pt"])
    >>> nyssa.io_stats().bytes_read > before
    True
    """
    return IoStats._of(json.loads(_core.io_stats()))


@contextmanager
@checked
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Record all opens and reads of this process in a file, while the ``with`` block runs.

    Each line of the file is a JSON object; ``docs/io.md`` describes them. ``nyssa trace show``
    shows what happened, ``nyssa trace replay`` repeats it, on another machine too. A child of
    `fork` is not recorded.

    >>> with nyssa.record("trace.jsonl"):
    ...     arrays = nyssa.open("events.root:Events").arrays(["MET_pt"])

    Parameters
    ----------
    path
        The file. A file that is there is replaced.

    Raises
    ------
    OSError
        When the file cannot be written, or when the process records already.
    """
    recording = _core.record(os.fspath(path))
    try:
        yield
    finally:
        recording.finish()
