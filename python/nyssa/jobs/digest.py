"""Computes digests, each of which is one number for all values of a column."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import cast, overload

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, nothing_matches
from nyssa.arguments.sizes import entry_range
from nyssa.jobs import job
from nyssa.jobs.check_reports import DigestComparison, DigestReport
from nyssa.jobs.shown import shown
from nyssa.read.dataset import Dataset
from nyssa.read.file import open as open_file
from nyssa.read.file import open_dataset, split

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
) -> DigestReport | list[DigestReport]: ...


@overload
def digest(
    source: str | os.PathLike[str] | Dataset,
    *,
    compare: Mapping[str, object] | Sequence[Mapping[str, object]],
    filter_name: NameFilter = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
) -> DigestComparison | list[DigestComparison]: ...


@checked
def digest(
    source: str | os.PathLike[str] | Dataset,
    *,
    compare: Mapping[str, object] | Sequence[Mapping[str, object]] | None = None,
    filter_name: NameFilter = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
) -> DigestReport | list[DigestReport] | DigestComparison | list[DigestComparison]:
    """Hash the values of every column of a TTree or RNTuple, or of all in a file.

    The digest of a column depends only on its values, and not on compression, baskets, clusters or
    threads. A TTree, the RNTuple made from it, and copies in other files have the same digests.
    `convert` reports the digests of the branches that it read.

    >>> report = nyssa.convert("events.root:Events", "ntuple.root")
    >>> nyssa.digest("ntuple.root:Events", compare=report)["equal"]
    True

    Parameters
    ----------
    source
        A dataset, a file, or ``"file.root:Events"``. If a file has several datasets, each is
        hashed.
    compare
        A report of `convert` or of this function, or a list of reports, which has one for each
        dataset. The digests are compared with the digests of the columns.
    filter_name
        Which columns are hashed, as in `Dataset.arrays`. The default is all columns, or with
        `compare` the columns of the report.
    entry_start, entry_stop
        Range of entries. The default is all entries, or with `compare` the entries of the report.
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
        this is not so, and ``"extra"`` the columns that the report does not have. For a file with
        several datasets: a list in their order.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if `compare` is not a report with digests, or reports on another dataset.
    """
    report = None if compare is None else json.dumps(compare)

    def hashed(dataset: Dataset, names: list[str] | None) -> DigestReport | DigestComparison:
        entries = None
        if entry_start is not None or entry_stop is not None:
            entries = entry_range(entry_start, entry_stop, dataset.num_entries)
        result: DigestReport | DigestComparison = job.run(
            lambda show: _core.digest(dataset._core, names, entries, report, threads, show),
            progress,
            "hashed",
        )
        return shown(result) if report is None else result

    datasets = _datasets(source)
    names = [
        None if filter_name is None else each.keys(filter_name=filter_name) for each in datasets
    ]
    if all(of_each == [] for of_each in names):
        columns = [name for each in datasets for name in each.keys()]
        raise nothing_matches("filter_name", filter_name, columns, datasets[0]._where())
    if len(datasets) == 1:
        return hashed(datasets[0], names[0])
    pairs = zip(datasets, names, strict=True)
    digests = [hashed(each, of_each) for each, of_each in pairs if of_each != []]
    return cast("list[DigestReport] | list[DigestComparison]", digests)


def _datasets(source: str | os.PathLike[str] | Dataset) -> list[Dataset]:
    """Return all datasets of a file, or the dataset that is given or named."""
    if isinstance(source, Dataset) or split(source)[1] is not None:
        return [open_dataset(source)]
    opened = open_file(source)
    if isinstance(opened, Dataset):
        return [opened]
    return [opened[path] for path in opened.datasets()] or [open_dataset(source)]
