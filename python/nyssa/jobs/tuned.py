"""Defines the parts of the report of `nyssa.tune`."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "BasketReport",
    "ExpectedStorage",
    "LargerBaskets",
    "TuneCurve",
    "TuneCurvePoint",
    "TuneReason",
    "TunedSample",
    "TunedSettings",
    "TunedTrial",
]


@dataclass(frozen=True)
class TunedSettings:
    """Options of an output that were tried."""

    compression: str
    """The compression algorithm and level, such as ``"zstd:5"``."""
    effort: str
    """The effort: ``"auto"`` or ``"full"``."""
    encoding: str
    """The way in which column types are chosen: ``"default"`` or ``"auto"``."""
    cluster_size: int
    """The stored size of a cluster in bytes."""
    page_size: int
    """The largest size of a page before compression, in bytes."""
    streamer: str | None
    """The option ``streamer`` of `convert`: ``"auto"``, or `None` for columns."""


@dataclass(frozen=True)
class ExpectedStorage:
    """What a whole dataset is expected to take. Times hold for this machine."""

    bytes: int
    """The bytes of a file with the RNTuple, and without other objects."""
    bytes_error: int
    """The standard error of the bytes; 0 if all entries were written."""
    clusters: int
    """The number of clusters."""
    write_seconds: float
    """The wall-clock time in seconds to convert or rewrite, with reading of the input."""
    write_cpu_seconds: float
    """The CPU time in seconds of the same."""
    read_seconds: float
    """The time in seconds to read the columns that count, with the time of the link."""
    memory: int
    """The most resident memory in bytes of the process that converts or rewrites."""
    writer_memory: int
    """The most memory in bytes of a writer that is filled with these columns."""


@dataclass(frozen=True)
class TuneReason:
    """The reason of one recommended option."""

    option: str
    """The name of the option."""
    value: str
    """The recommended value."""
    reason: str
    """The reason."""


@dataclass(frozen=True)
class TunedTrial(ExpectedStorage, TunedSettings):
    """One trial, and what the whole dataset is expected to take."""

    pareto: bool
    """Whether no other trial is better in size, times and memory."""
    recommended: bool
    """Whether these options are recommended."""


@dataclass(frozen=True)
class TuneCurvePoint(ExpectedStorage):
    """One value of an option, and what the whole dataset is expected to take."""

    value: int
    """The value."""
    recommended: bool
    """Whether this value is recommended."""


@dataclass(frozen=True)
class TuneCurve:
    """What changes with one option while the others stay."""

    option: str
    """The name of the option: ``"cluster_size"``, ``"page_size"`` or ``"threads"``."""
    points: list[TuneCurvePoint]
    """The values that were tried, smallest first."""


@dataclass(frozen=True)
class TunedSample:
    """The entries that were written in the trials of one stage."""

    stage: str
    """What the sample was for."""
    ranges: int
    """The number of ranges of entries."""
    entries: int
    """The number of entries."""
    trials: int
    """The number of trials."""


@dataclass(frozen=True)
class LargerBaskets:
    """What baskets would take that are larger by a factor."""

    factor: int
    """The factor."""
    mean_uncompressed_bytes: int
    """The bytes of a basket before compression, on average."""
    share: float
    """The bytes of all baskets, as a share of today's bytes with the same codec."""
    read_share: float
    """The time to decompress all baskets, as a share of the time for today's baskets."""
    auto_flush: int
    """The AutoFlush that they need: the entries of a cluster that has such baskets."""
    memory: int
    """The memory in bytes of one open basket of each branch, which a writer needs."""


@dataclass(frozen=True)
class BasketReport:
    """What the sizes of the baskets of a TTree cost."""

    baskets: int
    """The number of baskets."""
    clusters: int
    """The number of clusters, which AutoFlush makes."""
    cluster_entries: int
    """The median number of entries of a cluster."""
    per_cluster: float
    """The number of baskets of a branch in a cluster, on average."""
    ended_by: str
    """What ends most baskets: ``"AutoFlush"`` or ``"basket size"``."""
    cluster_bytes: int
    """The bytes of the baskets of a cluster on storage, on average."""
    mean_bytes: int
    """The bytes of a basket on storage, on average."""
    mean_uncompressed_bytes: int
    """The bytes of a basket before compression, on average."""
    memory: int
    """The memory in bytes of one open basket of each branch, which a writer needs."""
    sampled: int
    """The number of baskets that were compressed again."""
    compression: str
    """The algorithm and level by which they were compressed."""
    larger: list[LargerBaskets]
    """What larger baskets would take, for some factors."""
