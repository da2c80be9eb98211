"""Defines the reports of `verify`, `diff` and `digest`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from typing_extensions import TypedDict

from nyssa.show.report import Report
from nyssa.show.table import Table, count, counted, size

__all__ = [
    "Checksums",
    "ColumnDigest",
    "ComparedColumn",
    "DatasetDiff",
    "DiffReport",
    "Difference",
    "DigestComparison",
    "DigestDifference",
    "DigestReport",
    "FileDiffReport",
    "Incomparable",
    "Problem",
    "Undigested",
    "VerifiedDataset",
    "VerifiedObjects",
    "VerifyReport",
]


@dataclass(frozen=True)
class Problem:
    """One broken rule, and its place as far as that is known."""

    kind: str
    """The kind of the error, such as ``"Checksum"``."""
    message: str
    """What is wrong."""
    object: str | None
    """The path and cycle of the object in the file."""
    field: str | None
    """The path of the field, or name of the branch."""
    column: int | None
    """The number of the physical column."""
    cluster: int | None
    """The number of the cluster."""
    page: int | None
    """The number of the page within its column and cluster."""
    basket: int | None
    """The number of the basket within its branch."""
    entry: int | None
    """The number of the entry."""
    offset: int | None
    """The offset in the file, in bytes."""

    @property
    def place(self) -> str:
        """Return the place in words."""
        numbers = {
            "column": self.column,
            "cluster": self.cluster,
            "page": self.page,
            "basket": self.basket,
            "entry": self.entry,
            "byte": self.offset,
        }
        known = [f"{name} {number}" for name, number in numbers.items() if number is not None]
        return ", ".join([item for item in (self.object, self.field) if item] + known)


@dataclass(frozen=True)
class VerifiedObjects:
    """The objects of a file that are no datasets."""

    decoded: int
    """The number of objects that were decoded, with all their members."""
    undecoded: list[str]
    """The objects whose bytes were checked but not decoded, and why."""


@dataclass(frozen=True)
class Checksums:
    """How many pages and baskets have a checksum."""

    present: int
    """The number of pages and baskets with a checksum."""
    absent: int
    """Pages and baskets without a checksum: a changed value in them may remain unseen."""


@dataclass(frozen=True)
class VerifiedDataset:
    """A dataset that was checked."""

    path: str
    """The path in the file. The path of an attribute set starts with the path of its RNTuple."""
    cycle: int
    """The cycle of the key. It is 0 for a table, which has none."""
    # Python does not allow the name `class`; see `VerifyReport.to_dict`.
    class_name: str
    """The C++ class of the object, or the format of a table: ``"Parquet"`` or ``"Arrow"``."""
    entries: int
    """The number of entries."""
    parts: int
    """The number of pages, baskets or record batches."""
    decoded: int
    """The number of pages or baskets that were decoded into values."""
    checksummed: int
    """The number of pages or baskets that have a checksum."""
    bytes: int
    """The number of bytes of pages or baskets on storage."""
    unreadable: list[str]
    """The fields or branches that nyssa cannot read as values. Their bytes were checked."""


@dataclass(frozen=True, repr=False)
class VerifyReport(Report):
    """What `nyssa.verify` has checked, and what is wrong."""

    file: str
    """The path or URL of the file."""
    sound: bool | None
    """`True` if nothing is wrong, everything was checked and decoded, and all pages and baskets
    have checksums. `None` if only checksums are missing. Otherwise `False`.
    """
    keys: int
    """The number of keys whose records were checked."""
    objects: VerifiedObjects
    """The objects that are no datasets."""
    checksums: Checksums
    """How many pages and baskets have a checksum."""
    datasets: list[VerifiedDataset]
    """The datasets that were checked."""
    problems: list[Problem]
    """What is wrong."""
    unchecked: list[str]
    """What could not be checked, and why."""
    notes: list[str]
    """Remarks on a sound file, such as keys that are not listed or were renamed."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as ``nyssa verify --json`` prints it."""
        values = asdict(self)
        for value in values["datasets"]:
            value["class"] = value.pop("class_name")
        return values

    @property
    def _parts_word(self) -> str:
        first = self.datasets[0].class_name if self.datasets else ""
        return {"Parquet": "pages", "Arrow": "record batches"}.get(first, "pages and baskets")

    @classmethod
    def _of(cls, values: Mapping[str, Any]) -> VerifyReport:
        datasets = [{**value, "class_name": value["class"]} for value in values["datasets"]]
        return super()._of({**values, "datasets": datasets})

    def _parts(self) -> Iterator[str | Table]:
        numbers = [">entries", ">parts", ">decoded", ">checksums", ">size", ">unreadable"]
        rows = [
            (
                _with_cycle(dataset),
                dataset.class_name,
                *map(count, (dataset.entries, dataset.parts, dataset.decoded, dataset.checksummed)),
                size(dataset.bytes),
                count(len(dataset.unreadable)),
            )
            for dataset in self.datasets
        ]
        yield Table(["name", "class", *numbers], rows)
        for problem in self.problems:
            place = f" ({problem.place})" if problem.place else ""
            yield f"problem: {problem.message}{place}"
        yield from (f"not checked: {item}" for item in self.unchecked)
        undecoded = [
            *self.objects.undecoded,
            *(
                f"{_with_cycle(dataset)}: {why}"
                for dataset in self.datasets
                for why in dataset.unreadable
            ),
        ]
        yield from (f"not decoded: {item}" for item in undecoded)
        yield from (f"note: {note}" for note in self.notes)
        keys = counted(self.keys, "key")
        if self.datasets and not self.keys:
            keys = f"{count(self.datasets[0].parts)} {self._parts_word}"
        if self.problems:
            yield f"damaged: {counted(len(self.problems), 'problem')} in {keys} of {self.file}"
        elif self.unchecked or undecoded:
            yield f"no problem found in what was checked: {keys}"
        elif self.checksums.absent:
            absent, parts = self.checksums.absent, self.checksums.absent + self.checksums.present
            yield f"no problem found: {keys} checked"
            yield (
                f"note: {count(absent)} of {count(parts)} {self._parts_word} have no checksum, "
                f"so damage to their values may stay unseen"
            )
        else:
            yield f"sound: {keys} checked"


@dataclass(frozen=True)
class Difference:
    """The first value of a column that differs."""

    entry: int
    """The number of the entry."""
    item: str
    """Which item of a nested entry, such as ``"[3]"``. It is empty for the entry itself."""
    a: str
    """The value in a."""
    b: str
    """The value in b."""


@dataclass(frozen=True)
class ComparedColumn:
    """A column that was compared."""

    name: str
    """The name in a."""
    name_b: str
    """The name in b."""
    type_a: str
    """The Arrow type in a."""
    type_b: str
    """The Arrow type in b.

    If its integers have another width than in a, the values are compared.
    """
    different_entries: int
    """The number of entries that differ."""
    first: Difference | None
    """The first entry that differs."""


@dataclass(frozen=True)
class Incomparable:
    """A column that both datasets have, but that cannot be compared."""

    name: str
    """The name in a."""
    reason: str
    """The reason."""


@dataclass(frozen=True, repr=False)
class DiffReport(Report):
    """How two datasets, called a and b, differ. `nyssa.diff` returns it."""

    a: str
    """The name of a: its file, or file and path."""
    b: str
    """The name of b: its file, or file and path."""
    equal: bool
    """Whether there is no difference, and every requested comparison was made."""
    entries_a: int
    """The number of entries of a."""
    entries_b: int
    """The number of entries of b."""
    compared_entries: int
    """The number of entries that were compared."""
    only_in_a: list[str]
    """The columns that only a has."""
    only_in_b: list[str]
    """The columns that only b has."""
    incomparable: list[Incomparable]
    """The columns that both have and that cannot be compared."""
    compared: list[ComparedColumn]
    """The columns that were compared."""

    @property
    def different(self) -> list[ComparedColumn]:
        """Return the columns whose values differ."""
        return [item for item in self.compared if item.different_entries]

    def _parts(self) -> Iterator[str | Table]:
        if self.entries_a != self.entries_b:
            yield f"entries: {count(self.entries_a)} in a, {count(self.entries_b)} in b"
        for side, names in (("a", self.only_in_a), ("b", self.only_in_b)):
            if names:
                yield f"only in {side}: {', '.join(names)}"
        yield from (f"cannot compare {item.name}: {item.reason}" for item in self.incomparable)
        rows = [
            (
                item.name,
                count(item.different_entries),
                str(item.first.entry),
                item.first.item,
                item.first.a,
                item.first.b,
            )
            for item in self.different
            if item.first is not None
        ]
        yield Table(["column", ">different", ">first", "item", "in a", "in b"], rows)
        columns = counted(len(self.compared), "column")
        word = "equal:" if self.equal else f"different: {count(len(self.different))} of"
        yield f"{word} {columns}, {counted(self.compared_entries, 'entry')} compared"


@dataclass(frozen=True, repr=False)
class DatasetDiff(DiffReport):
    """How the datasets at one path of two files differ."""

    path: str
    """The path in both files."""


@dataclass(frozen=True, repr=False)
class FileDiffReport(Report):
    """How two whole files, called a and b, differ. `nyssa.diff` returns it for several datasets."""

    a: str
    """The name of a."""
    b: str
    """The name of b."""
    equal: bool
    """Whether there is no difference, and every requested comparison was made."""
    only_in_a: list[str]
    """The datasets and other objects that only a has, each with its class."""
    only_in_b: list[str]
    """The datasets and other objects that only b has, each with its class."""
    different: list[str]
    """The other objects that both have and that differ, each with the difference."""
    compared_objects: int
    """The number of other objects that were compared; none if a or b is several files."""
    datasets: list[DatasetDiff]
    """The datasets that were compared."""

    def _parts(self) -> Iterator[str | Table]:
        for dataset in self.datasets:
            yield f"{dataset.path}:"
            yield from dataset._parts()
        for side, names in (("a", self.only_in_a), ("b", self.only_in_b)):
            if names:
                yield f"only in {side}: {', '.join(names)}"
        yield from (f"different: {item}" for item in self.different)
        datasets = counted(len(self.datasets), "dataset")
        objects = counted(self.compared_objects, "other object")
        yield f"{'equal' if self.equal else 'different'}: {datasets}, {objects} compared"


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
    """A column whose digest differs from the report."""

    name: str
    expected: str
    found: str


class DigestComparison(TypedDict):
    """The comparison of the digests of a dataset with a report; see `nyssa.digest`."""

    equal: bool
    entries: int
    compared: int
    different: list[DigestDifference]
    missing: list[str]
    extra: list[str]
    undigested: list[Undigested]


def _with_cycle(dataset: VerifiedDataset) -> str:
    return f"{dataset.path};{dataset.cycle}" if dataset.cycle else dataset.path
