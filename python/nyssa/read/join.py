"""Joins the columns of several datasets into one dataset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.errors import ArgumentError
from nyssa.read.chain import Files, chain
from nyssa.read.dataset import Dataset

__all__ = ["join"]


@checked
def join(
    left: Files,
    right: Files | Sequence[Dataset],
    on: str | Iterable[str] | None = None,
    *,
    prefix: str | Sequence[str] = "",
    threads: int | None = None,
) -> Dataset:
    """Return a dataset with the entries and columns of `left` and the columns of other datasets.

    >>> with nyssa.recreate("weights.root") as file:
    ...     file["Weights"] = {"event": np.arange(20_000), "weight": np.full(20_000, 0.5)}
    >>> joined = nyssa.join("events.root:Events", "weights.root:Weights", on="event")
    >>> joined.arrays(["event", "weight"], entry_stop=2).to_list()
    [{'event': 0, 'weight': 0.5}, {'event': 1, 'weight': 0.5}]

    With `on`, each entry gets the values of the right entry with the same key, in any order. If
    several right entries have the key, it is the first one; if none has, the values are null. The
    RNTupleProcessor of ROOT joins in the same way. Without `on`, entries with the same number
    belong together (friends), and all datasets must have the same number of entries.

    The key columns of the right datasets are read at once and stay in memory as an index: 8 bytes
    for each entry and key column, and 8 to 16 more for each entry. All other columns are read when
    they are needed; right entries that lie far apart need many reads.

    Parameters
    ----------
    left
        A dataset, or files as for `chain`.
    right
        A dataset, files as for `chain` (one dataset), or a list of datasets.
    on
        Names of the key columns, which must be integers in all datasets; default: join by entry
        number.
    prefix
        Prefix of the names of the right columns, one for all datasets or one for each.
    threads
        As in `Dataset.arrays`.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) when a dataset lacks a key column.
    nyssa.UnsupportedError
        (a `NotImplementedError`) when a key column is not of integers.
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
    first = _as_dataset(left)
    rights = [(item._core, name) for item, name in zip(datasets, prefixes, strict=True)]
    core = _core.join(first._core, rights, keys, threads)
    recipe = (partial(join, prefix=prefixes), (first, datasets, keys or None))
    return Dataset(core, recipe)


def _as_dataset(source: Files) -> Dataset:
    return source if isinstance(source, Dataset) else chain(source)


def _datasets(right: Files | Sequence[Dataset]) -> list[Dataset]:
    if isinstance(right, Sequence) and not isinstance(right, str):
        datasets = [item for item in right if isinstance(item, Dataset)]
        if datasets and len(datasets) == len(right):
            return datasets
    return [_as_dataset(right)]
