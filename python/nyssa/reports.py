"""The reports of `nyssa.verify`, `nyssa.diff`, `nyssa.inspect`, `nyssa.digest` and the jobs.

The reports of `nyssa.verify`, `nyssa.diff`, `nyssa.inspect` and `nyssa.io_stats` are dataclasses.
They print as tables, and `Report.to_dict` gives what the command line prints with ``--json``. The
reports of `nyssa.digest`, `nyssa.monitor`, `nyssa.convert`, `nyssa.rewrite` and `nyssa.merge` are
dicts, which can be saved as JSON.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from functools import cache
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from typing_extensions import TypedDict

from nyssa._job_reports import (
    ColumnReport,
    ConvertedBranch,
    ConvertReport,
    MergedInput,
    MergeReport,
    ProcessUsage,
    RenamedBranch,
    RewriteReport,
    RewrittenField,
    SkippedBranch,
    StreamerFieldReport,
    Trial,
)
from nyssa._monitor import MonitorSummary
from nyssa._table import Table, count, html, ratio, share, size, text

__all__ = [
    "Checksums",
    "ColumnDigest",
    "ColumnPart",
    "ColumnReport",
    "ComparedColumn",
    "ConvertReport",
    "ConvertedBranch",
    "DiffReport",
    "Difference",
    "DigestComparison",
    "DigestDifference",
    "DigestReport",
    "Distribution",
    "Incomparable",
    "InspectReport",
    "IoStats",
    "MergeReport",
    "MergedInput",
    "MonitorSummary",
    "Part",
    "Problem",
    "ProcessUsage",
    "RenamedBranch",
    "Report",
    "RewriteReport",
    "RewrittenField",
    "SkippedBranch",
    "StreamerFieldReport",
    "Trial",
    "Undigested",
    "VerifiedDataset",
    "VerifiedObjects",
    "VerifyReport",
]

R = TypeVar("R", bound="Report")


@dataclass(frozen=True, repr=False)
class Report:
    """The base of all reports that are dataclasses."""

    # JSON has no narrower type than `Any`.
    def to_dict(self) -> dict[str, Any]:
        """Return the report as the command line prints it with ``--json``."""
        return asdict(self)

    # JSON has no narrower type than `Any`.
    @classmethod
    def _of(cls: type[R], values: Mapping[str, Any]) -> R:
        """Return the report with the values that the core gives."""
        report: R = _made(cls, values)
        return report

    def _parts(self) -> Iterator[str | Table]:
        """Return the lines and tables that people see."""
        raise NotImplementedError

    def __str__(self) -> str:
        """Return the report as text: lines and tables."""
        return text(self._parts())

    def __repr__(self) -> str:
        """Return the same, so that shells show the report."""
        return str(self)

    def _repr_html_(self) -> str:
        """Return the report as HTML, for notebooks."""
        return html(self._parts())


def _made(kind: Any, value: Any) -> Any:
    """Return a JSON value as a value of `kind`, the type of a field of a report."""
    if value is not None and isinstance(kind, types.UnionType):
        kind = next(one for one in get_args(kind) if one is not types.NoneType)
    if get_origin(kind) is list:
        (item,) = get_args(kind)
        return [_made(item, one) for one in value]
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind)
        named = {one.name: _made(hints[one.name], value.get(one.name)) for one in fields(kind)}
        return kind(**named)
    return value


@cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@dataclass(frozen=True)
class Problem:
    """One broken rule, and its place as far as the place is known."""

    kind: str
    """Kind of the error, such as ``"Checksum"``."""
    message: str
    """What is wrong."""
    object: str | None
    """Path and cycle of the object in the file."""
    field: str | None
    """Path of the field, or name of the branch."""
    column: int | None
    """Number of the physical column."""
    cluster: int | None
    """Number of the cluster."""
    page: int | None
    """Number of the page within its column and cluster."""
    basket: int | None
    """Number of the basket within its branch."""
    entry: int | None
    """Number of the entry."""
    offset: int | None
    """Offset in the file, in bytes."""

    @property
    def place(self) -> str:
        """The place in words."""
        numbers = {
            "column": self.column,
            "cluster": self.cluster,
            "page": self.page,
            "basket": self.basket,
            "entry": self.entry,
            "byte": self.offset,
        }
        known = [f"{name} {number}" for name, number in numbers.items() if number is not None]
        return ", ".join([one for one in (self.object, self.field) if one] + known)


@dataclass(frozen=True)
class VerifiedObjects:
    """The objects of a file that are no datasets."""

    decoded: int
    """Number of objects that were decoded, with all their members."""
    undecoded: list[str]
    """Objects whose bytes were checked but not decoded, and why."""


@dataclass(frozen=True)
class Checksums:
    """How many pages and baskets have a checksum."""

    present: int
    """Pages and baskets with a checksum."""
    absent: int
    """Pages and baskets without a checksum: a changed value in them may remain unseen."""


@dataclass(frozen=True)
class VerifiedDataset:
    """A TTree or RNTuple that was checked."""

    path: str
    """Path in the file. The path of an attribute set starts with the path of its RNTuple."""
    cycle: int
    """Cycle of the key."""
    # Python does not allow the name `class`; see `VerifyReport.to_dict`.
    class_name: str
    """C++ class of the object."""
    entries: int
    """Number of entries."""
    parts: int
    """Number of pages or baskets."""
    decoded: int
    """Pages or baskets that were decoded into values."""
    checksummed: int
    """Pages or baskets that have a checksum."""
    bytes: int
    """Bytes of pages or baskets on storage."""
    unreadable: list[str]
    """Fields or branches that nyssa cannot read as values. Their bytes were checked."""


@dataclass(frozen=True, repr=False)
class VerifyReport(Report):
    """What `nyssa.verify` has checked, and what is wrong."""

    file: str
    """Path or URL of the file."""
    sound: bool | None
    """`True` if nothing is wrong, everything was checked, and all pages and baskets have checksums.
    `None` if only checksums are missing. Otherwise `False`."""
    keys: int
    """Number of keys whose records were checked."""
    objects: VerifiedObjects
    """Objects that are no datasets."""
    checksums: Checksums
    """How many pages and baskets have a checksum."""
    datasets: list[VerifiedDataset]
    """The datasets that were checked."""
    problems: list[Problem]
    """What is wrong."""
    unchecked: list[str]
    """What could not be checked, and why."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as ``nyssa verify --json`` prints it."""
        values = asdict(self)
        for one in values["datasets"]:
            one["class"] = one.pop("class_name")
        return values

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> VerifyReport:
        datasets = [{**one, "class_name": one["class"]} for one in values["datasets"]]
        return super()._of({**values, "datasets": datasets})

    def _parts(self) -> Iterator[str | Table]:
        numbers = [">entries", ">parts", ">decoded", ">checksums", ">size", ">unreadable"]
        rows = [
            (
                f"{one.path};{one.cycle}",
                one.class_name,
                *map(count, (one.entries, one.parts, one.decoded, one.checksummed)),
                size(one.bytes),
                count(len(one.unreadable)),
            )
            for one in self.datasets
        ]
        yield Table(["name", "class", *numbers], rows)
        for problem in self.problems:
            place = f" ({problem.place})" if problem.place else ""
            yield f"problem: {problem.message}{place}"
        yield from (f"not checked: {one}" for one in self.unchecked)
        yield from (f"not decoded: {one}" for one in self.objects.undecoded)
        keys = _counted(self.keys, "key")
        if self.problems:
            yield f"damaged: {_counted(len(self.problems), 'problem')} in {keys} of {self.file}"
        elif self.unchecked:
            yield f"no problem found in what was checked: {keys}"
        elif self.checksums.absent:
            absent, parts = self.checksums.absent, self.checksums.absent + self.checksums.present
            yield f"no problem found: {keys} checked"
            yield (
                f"note: {count(absent)} of {count(parts)} pages and baskets have no checksum: a "
                "changed value in them may go unseen"
            )
        else:
            yield f"sound: {keys} checked"


@dataclass(frozen=True)
class Difference:
    """The first value of a column that differs."""

    entry: int
    """Number of the entry."""
    item: str
    """Which item of a nested entry, such as ``"[3]"``. It is empty for the entry itself."""
    a: str
    """Value in a."""
    b: str
    """Value in b."""


@dataclass(frozen=True)
class ComparedColumn:
    """A column that was compared."""

    name: str
    """Name in a."""
    name_b: str
    """Name in b."""
    type_a: str
    """Arrow type in a."""
    type_b: str
    """Arrow type in b. If its integers have another width than in a, the values are compared."""
    different_entries: int
    """Number of entries that differ."""
    first: Difference | None
    """The first entry that differs."""


@dataclass(frozen=True)
class Incomparable:
    """A column that both datasets have, but that cannot be compared."""

    name: str
    """Name in a."""
    reason: str
    """The reason."""


@dataclass(frozen=True, repr=False)
class DiffReport(Report):
    """How two datasets, called a and b, differ. `nyssa.diff` returns it."""

    a: str
    """Name of a: its file, or file and path."""
    b: str
    """Name of b: its file, or file and path."""
    equal: bool
    """Whether nothing is different and everything that was asked for was compared."""
    entries_a: int
    """Number of entries of a."""
    entries_b: int
    """Number of entries of b."""
    compared_entries: int
    """Number of entries that were compared."""
    only_in_a: list[str]
    """Columns that only a has."""
    only_in_b: list[str]
    """Columns that only b has."""
    incomparable: list[Incomparable]
    """Columns that both have and that cannot be compared."""
    compared: list[ComparedColumn]
    """Columns that were compared."""

    @property
    def different(self) -> list[ComparedColumn]:
        """The columns whose values differ."""
        return [one for one in self.compared if one.different_entries]

    def _parts(self) -> Iterator[str | Table]:
        if self.entries_a != self.entries_b:
            yield f"entries: {count(self.entries_a)} in a, {count(self.entries_b)} in b"
        for side, names in (("a", self.only_in_a), ("b", self.only_in_b)):
            if names:
                yield f"only in {side}: {', '.join(names)}"
        yield from (f"cannot compare {one.name}: {one.reason}" for one in self.incomparable)
        rows = [
            (
                one.name,
                count(one.different_entries),
                str(one.first.entry),
                one.first.item,
                one.first.a,
                one.first.b,
            )
            for one in self.different
            if one.first is not None
        ]
        yield Table(["column", ">different", ">first", "item", "in a", "in b"], rows)
        columns = _counted(len(self.compared), "column")
        word = "equal:" if self.equal else f"different: {count(len(self.different))} of"
        yield f"{word} {columns}, {count(self.compared_entries)} entries compared"


@dataclass(frozen=True)
class Part:
    """A part of the data of a dataset."""

    name: str
    """Name of a field, a branch, a column type, or a compression."""
    type_name: str
    """C++ type of a field or branch. It is empty for other parts."""
    pages: int
    """Number of pages or baskets."""
    elements: int
    """Number of elements; for a branch, number of entries."""
    stored_bytes: int
    """Bytes on storage."""
    uncompressed_bytes: int
    """Bytes before compression."""


@dataclass(frozen=True)
class ColumnPart:
    """A physical column of an RNTuple."""

    id: int
    """Number of the column."""
    field: str
    """Path of its field."""
    column_type: str
    """Type of the column, such as ``"SplitReal32"``."""
    bits: int
    """Bits of an element before compression."""
    codecs: list[str]
    """Algorithms that compress its pages."""
    part: Part
    """Sizes of the column."""


@dataclass(frozen=True)
class Distribution:
    """How some numbers are distributed."""

    count: int
    """How many numbers there are."""
    total: int
    """Their sum."""
    min: int
    """The smallest number, or 0 if there are none."""
    median: int
    """The number in the middle; of two such numbers, the lower one."""
    max: int
    """The largest number."""


@dataclass(frozen=True, repr=False)
class InspectReport(Report):
    """How many bytes the parts of a dataset have. `nyssa.inspect` returns it."""

    file: str
    """Path or URL of the file."""
    name: str
    """Path of the dataset in the file."""
    format: str
    """``"TTree"`` or ``"RNTuple"``."""
    entries: int
    """Number of entries."""
    file_bytes: int
    """Bytes of the whole file."""
    stored_bytes: int
    """Bytes of pages (with checksums) or baskets (with keys) on storage."""
    uncompressed_bytes: int
    """Bytes of the pages or baskets before compression."""
    metadata_bytes: int
    """Stored bytes of the metadata of an RNTuple: header, footer and page lists."""
    cluster_groups: int | None
    """Number of cluster groups; `None` for a TTree."""
    attribute_sets: list[str] | None
    """Names of the attribute sets; `None` for a TTree."""
    late_fields: list[str] | None
    """Paths of fields that were added after entries were written; `None` for a TTree."""
    fields: list[Part]
    """Fields or branches, in the order of the schema."""
    columns: list[ColumnPart]
    """Physical columns of an RNTuple."""
    encodings: list[Part]
    """Sums for each column type of an RNTuple, largest first."""
    compressions: list[Part]
    """Sums for each compression algorithm that the data themselves show, largest first."""
    settings: list[Part]
    """Sums for each compression setting that the writer of an RNTuple noted, largest first."""
    pages: Distribution
    """Stored sizes of pages or baskets."""
    clusters: Distribution
    """Stored sizes of clusters."""
    cluster_entries: Distribution
    """Numbers of entries of clusters."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as ``nyssa inspect --json`` prints it."""
        values = asdict(self)
        if self.cluster_groups is None:
            for name in ("cluster_groups", "attribute_sets", "late_fields"):
                del values[name]
        return values

    def _parts(self) -> Iterator[str | Table]:
        stored, before = self.stored_bytes, self.uncompressed_bytes
        yield (
            f"{self.format} {self.name}, {count(self.entries)} entries, {size(stored)} on storage, "
            f"{size(before)} uncompressed, ratio {ratio(before, stored)}"
        )
        ntuple = self.format == "RNTuple"
        name = "field" if ntuple else "branch"
        numbers = [
            *([">pages", ">elements"] if ntuple else [">baskets", ">entries"]),
            *(">stored", ">share", ">uncompressed", ">ratio"),
        ]
        largest = sorted(self.fields, key=lambda part: -part.stored_bytes)
        rows = [(one.name, one.type_name, *self._numbers(one)) for one in largest]
        yield Table([name, "type", *numbers], rows)
        groups = {
            "encoding": self.encodings,
            "compression": self.compressions,
            "noted by the writer": self.settings,
        }
        for what, parts in groups.items():
            if parts:
                yield ""
                yield Table([what, *numbers], [(one.name, *self._numbers(one)) for one in parts])

    def _numbers(self, part: Part) -> tuple[str, ...]:
        return (
            count(part.pages),
            count(part.elements),
            size(part.stored_bytes),
            share(part.stored_bytes, self.stored_bytes),
            size(part.uncompressed_bytes),
            ratio(part.uncompressed_bytes, part.stored_bytes),
        )


class ColumnDigest(TypedDict):
    """The digest of one column."""

    name: str
    type_name: str
    digest: str


class Undigested(TypedDict):
    """A column without a digest, and the reason."""

    name: str
    reason: str


class DigestReport(TypedDict):
    """The digests of a dataset. `nyssa.digest` returns it."""

    hash: str
    file: str
    object: str
    first_entry: int
    entries: int
    digests: list[ColumnDigest]
    undigested: list[Undigested]


class DigestDifference(TypedDict):
    """A column whose digest is not that of the report."""

    name: str
    expected: str
    found: str


class DigestComparison(TypedDict):
    """How the digests of a dataset compare with those of a report; see `nyssa.digest`."""

    equal: bool
    entries: int
    compared: int
    different: list[DigestDifference]
    missing: list[str]
    extra: list[str]
    undigested: list[Undigested]


def _counted(number: int, thing: str) -> str:
    return f"{count(number)} {thing}{'' if number == 1 else 's'}"


@dataclass(frozen=True, repr=False)
class IoStats(Report):
    """What was opened and read. `nyssa.io_stats` and `nyssa.Dataset.io_stats` return it.

    The names are those that JCache prints, see ``docs/io.md``. A *read* is a request for one range
    of bytes, a *readv* a request for several. Sizes are in bytes, times in seconds.
    """

    open_files: int
    """Number of times that a file was opened."""
    open_unique_files: int
    """Number of different files."""
    unique_files_bytes: int
    """Sum of the sizes of the different files."""
    iops_read: int
    """Number of reads."""
    iops_readv: int
    """Number of readvs."""
    iops_readvread: int
    """Number of ranges in the readvs."""
    bytes_read: int
    """Bytes that reads brought from the origin: a server, or the disk."""
    bytes_readv: int
    """Bytes that readvs brought from the origin."""
    hit_bytes_read: int
    """Bytes of reads that a cache had."""
    hit_bytes_readv: int
    """Bytes of readvs that a cache had."""
    over_read_bytes: int
    """Bytes between wanted ranges that were read because that is faster than to skip them."""
    round_trips: int
    """Length of the longest chain of opens and requests that followed each other."""
    busy_seconds: float
    """Time in which at least one open or request was under way."""
    request_seconds: float
    """Sum of the times of all opens and requests."""
    seconds: float
    """Time since the counting began: since the process started to read, or the file was opened."""
    bytes_per_second: float
    """All bytes divided by `seconds`."""
    peak_bytes_per_second: float
    """Largest number of bytes that came within one second."""
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
