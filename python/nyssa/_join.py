"""Columns of several datasets side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from nyssa import _core
from nyssa._chain import Files, chain
from nyssa.dataset import Dataset
from nyssa.errors import ArgumentError

__all__ = ["join"]


def join(
    left: Files,
    right: Files | Sequence[Dataset],
    on: str | Iterable[str] | None = None,
    *,
    prefix: str | Sequence[str] = "",
    threads: int | None = None,
) -> Dataset:
    """Return the entries of `left` with the columns of other datasets beside its own.

    >>> nyssa.join("events.root:Events", "weights.root:Weights", on=["run", "event"])

    With `on`, each entry has the values of the right entry with the same key, in whatever order
    those are: of the first one where several have it, and nulls where none has, as ROOT's
    RNTupleProcessor joins. Without, entries of the same number belong together (friends), and all
    datasets must have as many.

    The key columns of the right datasets are read at once and kept in an index: 8 bytes an entry
    and key column, and 8 to 16 more an entry. All else is read when it is asked for; right entries
    that lie far apart cost many reads.

    Parameters
    ----------
    left
        A dataset, or files as for `chain`.
    right
        A dataset, files as for `chain` (one dataset), or a list of datasets.
    on
        Names of the key columns, integers in all datasets; default by entry number.
    prefix
        Put before the names of the right columns; one for all or one for each dataset.
    threads
        As in `Dataset.arrays`.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) when a dataset has no such key column.
    nyssa.UnsupportedError
        (a `NotImplementedError`) when a key is not an integer.
    nyssa.ArgumentError
        (a `ValueError`) when two columns have the same name, or datasets that are joined by entry
        number differ in length.
    """
    datasets = _datasets(right)
    prefixes = [prefix] * len(datasets) if isinstance(prefix, str) else list(prefix)
    if len(prefixes) != len(datasets):
        raise ArgumentError(f"{len(prefixes)} prefixes are given for {len(datasets)} datasets")
    keys = [] if on is None else [on] if isinstance(on, str) else list(on)
    if on is not None and not keys:
        raise ArgumentError("on= names no column; leave it out to join by entry number")
    first = _one(left)
    rights = [(one._core, name) for one, name in zip(datasets, prefixes, strict=True)]
    core = _core.join(first._core, rights, keys, threads)
    recipe = (partial(join, prefix=prefixes), (first, datasets, keys or None))
    return Dataset(core, recipe)


def _one(source: Files) -> Dataset:
    return source if isinstance(source, Dataset) else chain(source)


def _datasets(right: Files | Sequence[Dataset]) -> list[Dataset]:
    if isinstance(right, Sequence) and not isinstance(right, str):
        datasets = [one for one in right if isinstance(one, Dataset)]
        if datasets and len(datasets) == len(right):
            return datasets
    return [_one(right)]
