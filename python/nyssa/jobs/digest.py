"""Computes digests, each of which is one number for all values of a column."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from typing import overload

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, nothing_matches
from nyssa.arguments.sizes import entry_range
from nyssa.jobs import job
from nyssa.jobs.check_reports import DigestComparison, DigestReport
from nyssa.read.dataset import Dataset
from nyssa.read.file import open_dataset

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


@checked
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

    The digest of a column depends only on its values, and not on compression, baskets, clusters or
    threads. A TTree, the RNTuple made from it, and copies in other files have the same digests.
    `convert` reports the digests of the branches that it read.

    >>> report = nyssa.convert("tree.root:Events", "out.root")
    >>> assert nyssa.digest("out.root", compare=report)["equal"]

    Parameters
    ----------
    source
        A dataset, a file that has one dataset, or ``"file.root:Events"``.
    compare
        A report of `convert` or of this function. Its digests are compared with those of the
        columns.
    filter_name
        Which columns are hashed, as in `Dataset.arrays`. The default is all columns, or with
        `compare` those of the report.
    entry_start, entry_stop
        Range of entries. The default is all entries, or with `compare` those of the report.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the work that is
        done and the total.

    Returns
    -------
    DigestReport or DigestComparison
        Without `compare`, the ``"digests"``: name, C++ type and digest (32 hexadecimal digits) of
        each column. ``"undigested"`` lists columns without digest, with the reason, and ``"hash"``
        names the hash function. With `compare`, ``"equal"`` says whether all digests of the report
        were found; ``"different"``, ``"missing"`` and ``"undigested"`` list the columns for which
        this is not so, and ``"extra"`` those that the report does not have.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if `compare` is not a report with digests, or is that of another dataset.
    """
    dataset = open_dataset(source)
    entries = None
    if entry_start is not None or entry_stop is not None:
        entries = entry_range(entry_start, entry_stop, dataset.num_entries)
    report = None if compare is None else json.dumps(compare)
    names = None if filter_name is None else dataset.keys(filter_name=filter_name)
    if names == []:
        raise nothing_matches("filter_name", filter_name, dataset.keys(), dataset._where())
    result: DigestReport | DigestComparison = job.run(
        lambda show: _core.digest(dataset._core, names, entries, report, threads, show),
        progress,
        "hashed",
    )
    return result
