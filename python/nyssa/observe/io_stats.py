"""The report of what was opened and read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from nyssa import _core
from nyssa.show.report import Report
from nyssa.show.table import Table

__all__ = ["IoStats"]


@dataclass(frozen=True, repr=False)
class IoStats(Report):
    """What was opened and read. `nyssa.io_stats` and `nyssa.Dataset.io_stats` return it.

    The names are those that JCache prints, see ``docs/io.md``. A *read* is a request for one range
    of bytes, a *readv* a request for several. Sizes are in bytes, times in seconds.
    """

    open_files: int
    """The number of times that a file was opened."""
    open_unique_files: int
    """The number of different files."""
    unique_files_bytes: int
    """The sum of the sizes of the different files."""
    iops_read: int
    """The number of reads."""
    iops_readv: int
    """The number of readvs."""
    iops_readvread: int
    """The number of ranges in the readvs."""
    bytes_read: int
    """The bytes that reads brought from the origin: a server, or the disk."""
    bytes_readv: int
    """The bytes that vector reads brought from the origin."""
    hit_bytes_read: int
    """The bytes of reads that a cache had."""
    hit_bytes_readv: int
    """The bytes of vector reads that a cache had."""
    over_read_bytes: int
    """The bytes between wanted ranges that were read because that is faster than to skip
    them.
    """
    round_trips: int
    """Length of the longest chain of opens and requests that followed each other."""
    busy_seconds: float
    """The time in which at least one open or request was under way."""
    request_seconds: float
    """Sum of the times of all opens and requests."""
    seconds: float
    """Time since the counting began: since the process started to read, or the file was opened."""
    bytes_per_second: float
    """All bytes divided by `seconds`."""
    peak_bytes_per_second: float
    """The largest number of bytes that came within one second."""
    hit_rate: float | None
    """Part of all bytes that a cache had, from 0 to 1. It is `None` if no byte was read."""

    def _parts(self) -> Iterator[str | Table]:
        yield from _core.io_stats_lines(json.dumps(self.to_dict()))
