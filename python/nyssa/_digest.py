"""One number for the values of each column."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import overload

from nyssa import _core, _job
from nyssa._filter import NameFilter
from nyssa._steps import entry_range
from nyssa.dataset import Dataset
from nyssa.file import open_dataset
from nyssa.reports import DigestComparison, DigestReport

__all__ = ["digest"]


@overload
def digest(
    source: str | os.PathLike[str] | Dataset,
    *,
    compare: None = None,
    filter_name: NameFilter = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
) -> DigestReport: ...


@overload
def digest(
    source: str | os.PathLike[str] | Dataset,
    *,
    compare: Mapping[str, object],
    filter_name: NameFilter = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
) -> DigestComparison: ...


def digest(
    source: str | os.PathLike[str] | Dataset,
    *,
    compare: Mapping[str, object] | None = None,
    filter_name: NameFilter = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
) -> DigestReport | DigestComparison:
    """Hash the values of every column of a TTree or RNTuple.

    The digest of a column depends on its values alone, not on compression, baskets, clusters or
    threads: it is the same for a TTree, the RNTuple made of it, and copies in other files.
    `convert` reports the digests of what it read.

    >>> report = nyssa.convert("tree.root:Events", "out.root")
    >>> assert nyssa.digest("out.root", compare=report)["equal"]

    Parameters
    ----------
    source
        A dataset, a file with one, or ``"file.root:Events"``.
    compare
        A report of `convert` or of this function, whose digests the columns should have.
    filter_name
        Which columns are hashed, as in `Dataset.arrays`; with `compare` those of the report.
    entry_start, entry_stop
        Range of entries; default all, or those of the report.
    threads
        As in `Dataset.arrays`.
    progress
        `True` shows a line on stderr; a function is called with what is done and the total.

    Returns
    -------
    dict
        ``"digests"``, each with name, C++ type and digest (32 hexadecimal digits), ``"undigested"``
        columns with the reason, ``"entries"``, and ``"hash"``, what the digests are. With
        `compare`: ``"equal"``, and the columns that are ``"different"``, ``"missing"``, or
        ``"undigested"``; ``"extra"`` ones are not in the report.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when `compare` is no report with digests, or one of another dataset.
    """
    dataset = open_dataset(source)
    entries = None
    if entry_start is not None or entry_stop is not None:
        entries = entry_range(entry_start, entry_stop, dataset.num_entries)
    report = None if compare is None else json.dumps(compare)
    names = None if filter_name is None else dataset.keys(filter_name=filter_name)
    result: DigestReport | DigestComparison = _job.run(
        lambda show: _core.digest(dataset._core, names, entries, report, threads, show),
        progress,
        "hashed",
    )
    return result
