"""Reads only some columns and members of the partitions of files, for libraries that delay."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import awkward as ak
import numpy as np
from typing_extensions import Self

from nyssa.arguments.names import NameFilter
from nyssa.errors import ArgumentError
from nyssa.read.chain import chain
from nyssa.read.dataset import Dataset
from nyssa.read.file import open_dataset
from nyssa.read.partitions import Partition, opened

__all__ = ["PartitionReader", "form_of", "leaves"]

#: Number of files that a process keeps open with the types of several files.
OPEN = 32


class PartitionReader:
    """Reads the columns of `form`, which is a part of the form of the `whole` dataset.

    With `union`, the whole dataset is the union of files: numbers are widened to its types, and
    what a file does not have is null.
    """

    def __init__(
        self, form: ak.forms.Form, whole: ak.forms.Form, threads: int, *, union: bool = False
    ) -> None:
        self.form = form
        self._whole, self._threads, self._union = whole, threads, union
        used = set(leaves(form))
        # Top-level columns are selected by their names. These are the unused members of records.
        gone = (path for path in leaves(whole) if len(path) > 1 and path not in used)
        self._gone = tuple(".".join(path) for path in gone)

    def __call__(self, partition: Partition) -> ak.Array:
        """Return the arrays of a partition."""
        names, count = list(self.form.fields), partition.stop - partition.start
        if not self._union:
            return self._read(opened(partition, self._gone), names, partition)
        file = opened(partition)
        present = [name for name in names if name in file]
        columns: dict[str, ak.contents.Content] = {}
        if present:
            types = tuple((name, str(self._whole.content(name).type)) for name in present)
            dataset = _widened(partition[:2], types, self._gone, partition.version)
            arrays = self._read(dataset, present, partition)
            columns = {name: arrays[name].layout for name in present}
        contents = [
            columns[name] if name in columns else nulls(self.form.content(name), count)
            for name in names
        ]
        return ak.Array(ak.contents.RecordArray(contents, names, length=count))

    def _read(self, dataset: Dataset, names: list[str], partition: Partition) -> ak.Array:
        start, stop = partition.start, partition.stop
        return dataset.arrays(names, entry_start=start, entry_stop=stop, threads=self._threads)

    def project_columns(self, columns: Iterable[str]) -> Self:
        """Return the reader of some columns: names, and paths of members.

        Records without members are always read. They are nearly free, and awkward has no path for
        them.
        """
        whole = self._whole
        # An array has its length only if it has a column.
        chosen = whole.select_columns(sorted(columns) or [".".join(next(leaves(whole)))])
        empty = {name for name in whole.fields if not list(leaves(whole.content(name)))}
        names = [name for name in whole.fields if name in empty or name in chosen.fields]
        contents = [(whole if name in empty else chosen).content(name) for name in names]
        form = ak.forms.RecordForm(contents, names)
        return type(self)(form, whole, self._threads, union=self._union)


def form_of(
    files: Sequence[str], schema: str | None, filter_name: NameFilter
) -> tuple[ak.forms.Form, bool]:
    """Return the form of files, and whether it is their union."""
    if schema not in (None, "union"):
        raise ArgumentError(f"schema is None or 'union', not {schema!r}")
    if schema == "union":
        return chain(files, schema="union").form(filter_name=filter_name), True
    return open_dataset(files[0]).form(filter_name=filter_name), False


@lru_cache(OPEN)
def _widened(
    place: tuple[str, str],
    types: tuple[tuple[str, str], ...],
    without: tuple[str, ...],
    version: str,  # noqa: ARG001
) -> Dataset:
    """Return a file with the types of several files; it stays open for a while."""
    dataset = chain([":".join(place)], schema=dict(types), missing="null")
    if without:
        dataset._core = dataset._core.without(without)
    return dataset


def nulls(form: ak.forms.Form, count: int) -> ak.contents.Content:
    """Return missing values of a type."""
    nothing = (form.content if form.is_option else form).length_zero_array(highlevel=False)
    return ak.contents.IndexedOptionArray(ak.index.Index64(np.full(count, -1)), nothing)


def leaves(form: ak.forms.Form, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return the paths of the columns and members that have no members themselves."""
    if isinstance(form, ak.forms.RecordForm) and not form.is_tuple:
        for name in form.fields:
            yield from leaves(form.content(name), (*path, name))
    elif isinstance(form, ak.forms.RecordForm | ak.forms.UnionForm) or not hasattr(form, "content"):
        yield path
    else:
        yield from leaves(form.content, path)
