"""The report of what was opened and read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from nyssa.show.report import Report
from nyssa.show.table import Table, size

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
        read, readv = self.bytes_read + self.hit_bytes_read, self.bytes_readv + self.hit_bytes_readv
        hits = self.hit_bytes_read + self.hit_bytes_readv
        rate, peak = size(int(self.bytes_per_second)), size(int(self.peak_bytes_per_second))
        rows = {
            "cache combined hit rate": _percent(hits, read + readv),
            "cache read     hit rate": _percent(self.hit_bytes_read, read),
            "cache readv    hit rate": _percent(self.hit_bytes_readv, readv),
            "total bytes    read": str(read),
            "total bytes    readv": str(readv),
            "bytes from     cache": str(hits),
            "bytes from     origin": str(self.bytes_read + self.bytes_readv),
            "bytes over-read": str(self.over_read_bytes),
            "total iops     read": str(self.iops_read),
            "total iops     readv": str(self.iops_readv),
            "total iops     readvread": str(self.iops_readvread),
            "round trips": str(self.round_trips),
            "open files     read": str(self.open_files),
            "open unique f. read": str(self.open_unique_files),
            "total unique files bytes": str(self.unique_files_bytes),
            "total unique files size": size(self.unique_files_bytes),
            "percentage dataset read": _percent(read + readv, self.unique_files_bytes),
            "time of requests": f"{self.busy_seconds:.2f} s",
            "app real time": f"{self.seconds:.2f} s",
            "app readrate": f"{rate}/s [ peak (1s) {peak}/s ]",
        }
        yield from (f"{label:<24} : {value}" for label, value in rows.items())


def _percent(part: int, total: int) -> str:
    return f"{100 * part / total:.2f} %" if total else "-"
