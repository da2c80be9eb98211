"""Defines the report of `inspect`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar

from nyssa import _core
from nyssa.show.report import Report
from nyssa.show.table import Table, count, counted, ratio, share, size

__all__ = ["ClusterPart", "ColumnPart", "Distribution", "InspectReport", "Part"]

# What the parts of a format are called: a column, a stored part, and what is counted in it.
WORDS = {
    "RNTuple": ("field", "pages", "elements"),
    "TTree": ("branch", "baskets", "entries"),
    "Parquet": ("column", "pages", "values"),
    "Arrow": ("column", "batches", "entries"),
}


@dataclass(frozen=True)
class Part:
    """A part of the data of a dataset."""

    name: str
    """The name of a field, a branch, a column type, or a compression."""
    type_name: str
    """The C++ type of a field or branch. It is empty for other parts."""
    pages: int
    """The number of pages or baskets."""
    elements: int
    """The number of elements; for a branch, number of entries."""
    stored_bytes: int
    """The number of bytes on storage."""
    uncompressed_bytes: int
    """The number of bytes before compression."""


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


@dataclass(frozen=True)
class ColumnPart:
    """A physical column of an RNTuple."""

    id: int
    """The number of the column."""
    field: str
    """The path of its field."""
    column_type: str
    """The type of the column, such as ``"SplitReal32"``."""
    bits: int
    """The number of bits of an element before compression."""
    codecs: list[str]
    """The algorithms that compress its pages."""
    pages: Distribution
    """The stored sizes of its pages."""
    part: Part
    """The sizes of the column."""


@dataclass(frozen=True)
class ClusterPart:
    """A cluster of a dataset."""

    first_entry: int
    """The first entry."""
    entries: int
    """The number of entries."""
    part: Part
    """The sizes of its pages, or of the baskets that begin in it. It has no name."""


@dataclass(frozen=True, repr=False)
class InspectReport(Report):
    """How many bytes the parts of a dataset have. `nyssa.inspect` returns it."""

    _location: ClassVar[str | None] = None
    file: str
    """The path or URL of the file."""
    name: str
    """The path of the dataset in the file."""
    format: str
    """The format: ``"TTree"``, ``"RNTuple"``, ``"Parquet"`` or ``"Arrow"``."""
    entries: int
    """The number of entries."""
    file_bytes: int
    """The number of bytes of the whole file."""
    stored_bytes: int
    """The number of bytes of pages (with checksums) or baskets (with keys) on storage."""
    uncompressed_bytes: int
    """The number of bytes of the pages or baskets before compression."""
    metadata_bytes: int
    """The number of stored bytes of the metadata of an RNTuple: header, footer and page lists."""
    cluster_groups: int | None
    """The number of cluster groups; `None` for a TTree."""
    attribute_sets: list[str] | None
    """The names of the attribute sets; `None` for a TTree."""
    late_fields: list[str] | None
    """The paths of fields that were added after entries were written; `None` for a TTree."""
    fields: list[Part]
    """The fields or branches, in the order of the schema."""
    columns: list[ColumnPart]
    """The physical columns of an RNTuple."""
    encodings: list[Part]
    """Sums for each column type of an RNTuple, largest first."""
    compressions: list[Part]
    """Sums for each compression algorithm that the data themselves show, largest first."""
    settings: list[Part]
    """Sums for each compression setting that the writer of an RNTuple noted, largest first."""
    pages: Distribution
    """The stored sizes of pages or baskets."""
    clusters: Distribution
    """The stored sizes of clusters. A basket counts to the cluster with its first entry."""
    cluster_entries: Distribution
    """Numbers of entries of clusters."""
    cluster_parts: list[ClusterPart]
    """The clusters, in the order of their entries."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as ``nyssa inspect --json`` prints it."""
        values = asdict(self)
        if self.cluster_groups is None:
            for name in ("cluster_groups", "attribute_sets", "late_fields"):
                del values[name]
        return values

    def to_html(self, path: str | os.PathLike[str], *, fields: Iterable[str] = ()) -> None:
        """Write a page that any browser shows without a network, as ``nyssa inspect --html`` does.

        It shows the bytes by field, where pages or baskets lie in the file, and what reading some
        fields touches. The metadata of the file are read again for it.

        Parameters
        ----------
        path
            The file to write.
        fields
            Names or globs of the fields that are chosen at first.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when a glob matches no field.
        """
        page = _core.inspect_page(self._location or self.file, self.name, list(fields))
        Path(path).write_text(page, encoding="utf-8")

    def _parts(self) -> Iterator[str | Table]:
        stored, before = self.stored_bytes, self.uncompressed_bytes
        yield (
            f"{self.format} {self.name}, {counted(self.entries, 'entry')}, "
            f"{size(stored)} on storage, {size(before)} uncompressed, ratio {ratio(before, stored)}"
        )
        name, *counts = WORDS[self.format]
        numbers = [
            *(f">{word}" for word in counts),
            *(">stored", ">share", ">uncompressed", ">ratio"),
        ]
        largest = sorted(self.fields, key=lambda part: -part.stored_bytes)
        rows = [(item.name, item.type_name, *self._numbers(item)) for item in largest]
        yield Table([name, "type", *numbers], rows)
        groups = {
            "encoding": self.encodings,
            "compression": self.compressions,
            "noted by the writer": self.settings,
        }
        for what, parts in groups.items():
            if parts:
                yield ""
                yield Table([what, *numbers], [(item.name, *self._numbers(item)) for item in parts])

    def _numbers(self, part: Part) -> tuple[str, ...]:
        return (
            count(part.pages),
            count(part.elements),
            size(part.stored_bytes),
            share(part.stored_bytes, self.stored_bytes),
            size(part.uncompressed_bytes),
            ratio(part.uncompressed_bytes, part.stored_bytes),
        )
