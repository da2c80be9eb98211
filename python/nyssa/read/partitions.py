"""Divides files into partitions, which tasks on many machines read."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, NamedTuple, cast

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arrays.groups import How
from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute, version
from nyssa.read.chain import Files, expand
from nyssa.read.columns import Names
from nyssa.read.dataset import Dataset
from nyssa.read.file import open_dataset
from nyssa.read.reading import DEFAULT_STEP

__all__ = ["Partition", "partitions"]

#: Number of threads that open files to find their partitions. They wait for answers of servers.
OPENING = 16
#: Number of datasets that a process keeps open.
OPEN = 32


class _Range(NamedTuple):
    """What the tuple of a partition has."""

    url: str
    """The path or URL of the file."""
    path: str
    """The path of the dataset in the file."""
    start: int
    """The first entry."""
    stop: int
    """The entry after the last one."""


class Partition(_Range):
    """A range of entries of a file, which a task reads: a tuple ``(url, path, start, stop)``."""

    version: str = ""
    """What tells the version of the file when the partition was made, or an empty text."""

    def __repr__(self) -> str:
        """Show the URL without its secrets: schedulers write arguments into their logs."""
        url = _core.shown(self.url)
        return f"Partition({url!r}, {self.path!r}, {self.start}, {self.stop})"

    def arrays(
        self,
        names: Names = None,
        *,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        how: How | None = None,
        filter_name: NameFilter = None,
        library: str = "ak",
        threads: int | None = 1,
    ) -> Any:
        """Return the arrays of this range, as `Dataset.arrays` does, with its parameters.

        The process keeps the file open, for other partitions of it.
        """
        return opened(self).arrays(
            names,
            cut=cut,
            aliases=aliases,
            how=how,
            filter_name=filter_name,
            entry_start=self.start,
            entry_stop=self.stop,
            library=library,
            threads=threads,
        )


def opened(partition: Partition, without: tuple[str, ...] = ()) -> Dataset:
    """Return the dataset of a partition, without some members of its records.

    It stays open for a while. A file that was written again is opened anew.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if the file is another one than when the partition was made.
    """
    url, path, _, stop = partition
    now = version(url)
    dataset = _opened(url, path, without, now)
    again = "make the partitions again"
    if dataset.num_entries < stop:
        raise ArgumentError(
            f"{_core.shown(url)} was written again: {path} has {dataset.num_entries} entries, and "
            f"the partition ends at {stop}; {again}"
        )
    now = now if "://" in url else version(url, anywhere=True)
    if partition.version not in ("", now):
        raise ArgumentError(f"{_core.shown(url)} was written again; {again}")
    return dataset


def _partitions_of(source: str, step_size: int | str) -> list[Partition]:
    url = absolute(_core.split_path(source)[0])
    # The version is found before the entries, so that a change between them is an error.
    now = version(url, anywhere=True)
    dataset = open_dataset(source)
    ranges = dataset.partitions(step_size=step_size, threads=1)
    parts = [Partition(url, dataset.object_path, start, stop) for start, stop in ranges]
    for item in parts:
        item.version = now
    return parts


@lru_cache(OPEN)
def _opened(url: str, path: str, without: tuple[str, ...], version: str) -> Dataset:  # noqa: ARG001
    dataset = open_dataset(f"{url}:{path}")
    if without:
        dataset._core = dataset._core.without(without)
    return dataset


@checked
def partitions(files: Files, *, step_size: int | str = DEFAULT_STEP) -> list[Partition]:
    """Return partitions of files for tasks on many machines.

    >>> parts = nyssa.partitions("run1/*.root:Events", step_size=10_000)
    >>> len(parts), parts[0].start, parts[0].stop
    (4, 0, 10000)
    >>> int(parts[0].arrays(["nJet"], library="np")["nJet"].sum())
    35212

    Each partition is a tuple ``(url, path, start, stop)``; `Partition.arrays` reads it. A partition
    of a file that was written again since is refused. dask names a task by the tuple: give
    ``pure=False`` to ``client.map`` if the client still holds results of the older file.

    Parameters
    ----------
    files
        Files as for `chain`, without datasets that are open.
    step_size
        Size of a partition, as in `Dataset.partitions`.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) if a glob, folder or list has no files.
    """
    sources = expand(files)
    if any(isinstance(source, Dataset) for source in sources):
        raise ArgumentError("partitions need files: give paths, not open datasets")

    with ThreadPoolExecutor(OPENING) as threads:
        paths = [os.fspath(cast("str", source)) for source in sources]
        of_files = threads.map(_partitions_of, paths, itertools.repeat(step_size))
        return [partition for each in of_files for partition in each]
