"""Makes the report of a recording."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.show.report import Report
from nyssa.show.table import Table, count, share, size

__all__ = ["TraceFile", "TraceProfile", "TraceSizes", "TraceSummary", "trace_summary"]


@dataclass(frozen=True)
class TraceProfile:
    """Rates over time, in bins of equal width."""

    seconds: float
    """The width of a bin."""
    bytes_per_second: list[float]
    """Bytes per second; the bytes of a request count evenly from its begin to its end."""
    iops: list[float]
    """Requests that began, per second."""


@dataclass(frozen=True)
class TraceSizes:
    """Requests and ranges of at least `bytes` bytes, and of less than twice as many."""

    bytes: int
    """A power of two, or 0."""
    requests: int
    ranges: int


@dataclass(frozen=True)
class TraceFile:
    """What was read of one file."""

    name: str
    """The path or URL."""
    size: int
    opens: int
    requests: int
    ranges: int
    bytes: int
    """The number of bytes that were read."""
    distinct_bytes: int
    """The number of bytes that were read at least once."""
    span: int
    """The number of bytes from the first that was read to the last."""
    synchronicity: float


@dataclass(frozen=True, repr=False)
class TraceSummary(Report):
    """What a recording shows. `nyssa.trace_summary` returns it.

    Sizes are in bytes, times in seconds. ``docs/io.md`` describes the values.
    """

    runtime: float
    cpu_seconds: float | None
    opens: int
    files: int
    datasize: int
    iops_read: int
    iops_readv: int
    iops_readvread: int
    bytes_read: int
    bytes_readv: int
    bytes_open: int
    distinct_bytes: int
    over_read_bytes: int | None
    sparseness: float
    synchronicity: float
    errors: int
    in_flight: int
    open_seconds: float
    request_seconds: float
    busy_seconds: float
    busy_periods: int
    wait_seconds: float
    profile: TraceProfile
    sizes: list[TraceSizes]
    by_file: list[TraceFile]

    def _parts(self) -> Iterator[str | Table]:
        for name, value in self.to_dict().items():
            if isinstance(value, int | float):
                yield f"{name:<16} : {f'{value:.6g}' if isinstance(value, float) else value}"
        header = [">size from", ">requests", ">ranges"]
        yield Table(
            header,
            [(size(item.bytes), count(item.requests), count(item.ranges)) for item in self.sizes],
        )
        header = ["file", ">opens", ">requests", ">ranges", ">read", ">of it", ">sync"]
        rows = [
            (
                item.name,
                *map(count, (item.opens, item.requests, item.ranges)),
                size(item.bytes),
                share(item.distinct_bytes, item.size),
                f"{item.synchronicity:.1f}%",
            )
            for item in self.by_file
        ]
        yield Table(header, rows)


@checked
def trace_summary(path: str | os.PathLike[str]) -> TraceSummary:
    """Return what a recording of reads shows, as ``nyssa trace show`` does.

    >>> with nyssa.record("trace.jsonl"):
    ...     arrays = nyssa.open("events.root:Events").arrays(["MET_pt"])
    >>> nyssa.trace_summary("trace.jsonl").by_file[0].name
    'events.root'

    Parameters
    ----------
    path
        A file that `nyssa.record` or ``--record`` wrote, or that the recorder plug-in of XRootD's
        client wrote (CSV).

    Raises
    ------
    OSError
        When the file cannot be read, or is no recording.
    """
    summary, _ = _core.trace_summary(os.fspath(path))
    return TraceSummary._of(json.loads(summary))
