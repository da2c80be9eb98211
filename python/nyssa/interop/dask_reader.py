"""Reads partitions for dask-awkward, which tells which columns it needs."""

from __future__ import annotations

from collections.abc import Iterator

import awkward as ak
from dask_awkward.lib.io.columnar import ColumnProjectionMixin

from nyssa.read.partitions import Partition, opened

__all__ = ["ReadPartition"]


class ReadPartition(ColumnProjectionMixin):  # type: ignore[misc]
    """Reads the columns of `form`, which is a part of the form of the `whole` dataset."""

    behavior = None
    attrs = None
    use_optimization = True

    def __init__(self, form: ak.forms.Form, whole: ak.forms.Form, threads: int) -> None:
        self.form = form
        self._whole, self._threads = whole, threads
        used = set(leaves(form))
        # Top-level columns are selected by their names. These are the unused members of records.
        gone = (path for path in leaves(whole) if len(path) > 1 and path not in used)
        self._gone = tuple(".".join(path) for path in gone)

    def __call__(self, partition: Partition) -> ak.Array:
        """Return the arrays of a partition."""
        return opened(partition, self._gone).arrays(
            list(self.form.fields),
            entry_start=partition.start,
            entry_stop=partition.stop,
            threads=self._threads,
        )

    def project_columns(self, columns: frozenset[str]) -> ReadPartition:
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
        return ReadPartition(ak.forms.RecordForm(contents, names), whole, self._threads)


def leaves(form: ak.forms.Form, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Return the paths of the columns and members that have no members themselves."""
    if isinstance(form, ak.forms.RecordForm) and not form.is_tuple:
        for name in form.fields:
            yield from leaves(form.content(name), (*path, name))
    elif isinstance(form, ak.forms.RecordForm | ak.forms.UnionForm) or not hasattr(form, "content"):
        yield path
    else:
        yield from leaves(form.content, path)
