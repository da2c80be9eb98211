"""Checks files, compares datasets, and shows where the bytes of a dataset are."""

from __future__ import annotations

import os
from collections.abc import Mapping

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arguments.sizes import threads_of
from nyssa.errors import ArgumentError, NotFoundError
from nyssa.jobs import job
from nyssa.jobs.check_reports import DiffReport, FileDiffReport, VerifyReport
from nyssa.jobs.inspect_report import InspectReport
from nyssa.read.chain import Files, chain, expand
from nyssa.read.dataset import Dataset
from nyssa.read.file import open as open_file
from nyssa.read.file import open_dataset, split
from nyssa.read.rntuple import RNTuple
from nyssa.read.tables import TableFile
from nyssa.read.ttree import TTree

__all__ = ["diff", "inspect", "verify"]


@checked
def verify(
    source: str | os.PathLike[str],
    *,
    threads: int | None = None,
    progress: job.Progress | bool = False,
) -> VerifyReport:
    """Check every checksum and every rule of a file.

    Every page of every RNTuple, every basket of every TTree and every other object is read and
    decoded; so is every page of a Parquet file, and every record batch of an Arrow IPC file. The
    report lists all problems with their places. Damage does not raise an exception.

    >>> report = nyssa.verify("events.root")
    >>> report.problems
    []

    Parameters
    ----------
    source
        A file, or ``"file.root:Events"`` for one object.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the work that is
        done and the total, for one dataset after the other.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if the file does not exist.
    nyssa.NotFoundError
        (a `KeyError`) if the object is not in the file.
    """
    path, inner = split(source)
    workers = threads_of(threads)
    report = job.run(lambda show: _core.verify(path, inner, workers, show), progress, "verified")
    return VerifyReport._of(report)


@checked
def diff(
    a: Files,
    b: Files,
    *,
    filter_name: NameFilter = None,
    only_common: bool = False,
    threads: int | None = None,
    progress: job.Progress | bool = False,
) -> DiffReport | FileDiffReport:
    """Compare two datasets, TTrees, RNTuples or tables, or two whole files, value by value.

    Columns are matched by name; the columns of a converted file are matched with the branches that
    they were made from. Floats are compared bit by bit. Several files are compared as one dataset
    with the columns of all files. In a file that lacks a column, its values are zero or empty.

    >>> _ = nyssa.convert("events.root:Events", "ntuple.root")
    >>> nyssa.diff("events.root:Events", "ntuple.root:Events").equal
    True

    If a file has several datasets and no path is named, each dataset is compared with the dataset
    at its path in the other file. Datasets and other objects that only one file has are
    differences, and so are other objects whose class or whose stored bytes (before compression)
    differ. The result is then a `nyssa.reports.FileDiffReport`.

    Parameters
    ----------
    a, b
        A dataset, or files as for `chain`.
    filter_name
        Which columns are compared, as in `Dataset.arrays`.
    only_common
        Whether only the columns, datasets and objects of both sides count. Otherwise one that only
        one side has is a difference.
    threads, progress
        As in `verify`.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) if `filter_name` matches none of the columns.
    nyssa.ArgumentError
        (a `ValueError`) if, with `only_common`, there is no column to compare.
    """
    workers = threads_of(threads)
    in_a, in_b = _whole(a), _whole(b)
    if in_a and in_b:
        selected = _names([*in_a, *in_b], filter_name)
        of_files = job.run(
            lambda show: _core.diff_files(in_a, in_b, selected, only_common, workers, show),
            progress,
            "compared",
        )
        if of_files is not None:
            sides = {"a": _shown(a, in_a), "b": _shown(b, in_b)}
            of_each = [{**sides, **item} for item in of_files.pop("datasets")]
            return FileDiffReport._of({**sides, **of_files, "datasets": of_each})
    left, right = _as_dataset(a, workers), _as_dataset(b, workers)
    named = None
    if filter_name is not None:
        pairs = [*left.keys(filter_name=filter_name), *right.keys(filter_name=filter_name)]
        named = list(dict.fromkeys(pairs))
        if not named:
            columns = len(left) + len(right)
            raise NotFoundError(
                f"filter_name matches none of the {columns} columns of {left!r} and {right!r}"
            )
    report = job.run(
        lambda show: _core.diff(left._core, right._core, named, only_common, workers, show),
        progress,
        "compared",
    )
    return DiffReport._of({"a": _name(a, left), "b": _name(b, right), **report})


def _whole(files: Files) -> list[str] | None:
    """Return the names of whole files; `None` for datasets and paths in files."""
    if isinstance(files, (Dataset, Mapping)):
        return None
    names = []
    for item in expand(files):
        if isinstance(item, Dataset) or split(item)[1] is not None:
            return None
        names.append(os.fspath(item))
    return names


def _shown(files: Files, names: list[str]) -> str:
    """Return the name of one side of a comparison of whole files."""
    given = os.fspath(files) if isinstance(files, (str, os.PathLike)) else ", ".join(names)
    return _core.shown(given)


def _names(files: list[str], filter_name: NameFilter) -> list[str] | None:
    """Return the columns of whole files that match a filter."""
    if filter_name is None:
        return None
    datasets: list[Dataset] = []
    for name in files:
        opened = open_file(name)
        is_dataset = isinstance(opened, Dataset)
        datasets += [opened] if is_dataset else [opened[path] for path in opened.datasets()]
    return [
        *dict.fromkeys(n for dataset in datasets for n in dataset.keys(filter_name=filter_name))
    ]


def _as_dataset(files: Files, threads: int | None) -> Dataset:
    sources = expand(files)
    if len(sources) == 1:
        return open_dataset(sources[0])
    return chain(sources, schema="union", missing="default", threads=threads)


def _name(files: Files, dataset: Dataset) -> str:
    if isinstance(files, (str, os.PathLike)):
        return _core.shown(os.fspath(files))
    return f"{dataset.file_path}:{dataset.object_path}"


@checked
def inspect(source: str | os.PathLike[str] | TTree | RNTuple | TableFile) -> InspectReport:
    """Return how many bytes the parts of a dataset have, stored and before compression.

    The sums are given by field, branch or column, by encoding, and by compression. Only the first
    bytes of each page or basket are read, and nothing is decompressed.

    >>> report = nyssa.inspect("events.root:Events")
    >>> report.format, report.entries
    ('TTree', 20000)
    >>> report.stored_bytes < report.uncompressed_bytes
    True

    Parameters
    ----------
    source
        A dataset of one file, a file that has one dataset, or ``"file.root:Events"``.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if the file has several datasets and none is named.
    """
    if isinstance(source, Dataset):
        if not isinstance(source, (TTree, RNTuple, TableFile)):
            raise ArgumentError(f"inspect takes a dataset of one file, not {source!r}")
        where: tuple[str, str | None] = source._core.location, source._core.name
    else:
        where = split(source)
    path, inner = where
    report = InspectReport._of(job.run(lambda _: _core.inspect(path, inner), False, "inspected"))
    # The report shows no secrets of a URL, but its page reads the file again.
    object.__setattr__(report, "_location", path)
    return report
