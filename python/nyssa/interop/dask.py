"""Makes collections of dask-awkward of datasets, and files of the partitions of collections."""

from __future__ import annotations

import os
import posixpath
from typing import TYPE_CHECKING, Any

import awkward as ak

from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arguments.sizes import threads_of
from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute
from nyssa.interop.projected import form_of
from nyssa.jobs.merge import merge
from nyssa.read.chain import Files
from nyssa.read.partitions import Partition, partitions
from nyssa.read.reading import DEFAULT_STEP
from nyssa.write.recreate import recreate

if TYPE_CHECKING:
    import dask_awkward

__all__ = ["dask", "dask_write"]


@checked
def dask(
    files: Files,
    *,
    step_size: int | str = DEFAULT_STEP,
    schema: str | None = None,
    filter_name: NameFilter = None,
    threads: int | None = 1,
) -> dask_awkward.Array:
    """Return files as a collection of dask-awkward, which reads only the columns that are used.

    >>> events = nyssa.dask("run1/*.root:Events", step_size="100 MB")
    >>> len(events.Jet_pt[events.nMuon > 1].compute())
    13526

    The files are opened once to find their partitions, and once more with ``schema="union"``.

    Parameters
    ----------
    files
        Files as for `chain`, without datasets that are open.
    step_size
        Size of a partition, as in `Dataset.partitions`.
    schema
        `None`: all files have the columns of the first one. ``"union"``: the columns of any file,
        as in `chain`; what a file does not have is null.
    filter_name
        Which columns there are, as in `Dataset.arrays`.
    threads
        Number of threads that read a partition.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if dask-awkward is not installed. `partitions` work without it.
    nyssa.NotFoundError
        (a `KeyError`) if a glob, folder or list has no files.
    """
    parts = partitions(files, step_size=step_size)
    return of_partitions(parts, schema=schema, filter_name=filter_name, threads=threads)


def of_partitions(
    parts: list[Partition],
    *,
    schema: str | None = None,
    filter_name: NameFilter = None,
    threads: int | None = 1,
) -> dask_awkward.Array:
    """Return partitions as a collection of dask-awkward; see `dask`."""
    try:
        import dask_awkward
        from dask.base import tokenize

        from nyssa.interop.dask_reader import ReadPartition
    except ImportError:
        message = (
            "nyssa.dask needs dask-awkward: pip install dask-awkward; without it, "
            "client.map reads what nyssa.partitions returns"
        )
        raise ArgumentError(message) from None
    if not parts:
        raise ArgumentError("the files have no entries")
    workers = threads_of(threads) or 1
    places = dict.fromkeys(f"{item.url}:{item.path}" for item in parts)
    form, union = form_of([*places], schema, filter_name)
    reader = ReadPartition(form, form, workers, union=union)
    # dask takes two collections with one name for one. The versions of the files are in no tuple.
    token = tokenize(reader, parts, [item.version for item in parts])
    return dask_awkward.from_map(
        reader, parts, label="nyssa", token=token, divisions=_divisions(parts)
    )


def _divisions(parts: list[Partition]) -> tuple[int, ...]:
    ends = [0]
    for item in parts:
        ends.append(ends[-1] + item.stop - item.start)
    return tuple(ends)


@checked
def dask_write(
    collection: dask_awkward.Array,
    destination: str | os.PathLike[str],
    name: str = "Events",
    *,
    compute: bool = True,
    **options: Any,
) -> Any:
    """Write a collection of dask-awkward as RNTuples: each partition a file, or all one file.

    Parameters
    ----------
    collection
        An array of records.
    destination
        A folder or URL of a folder: the partitions become ``part-00000.root`` and so on. If it ends
        in ``.root``, the partitions are merged into this file; those files are then temporary, and
        lie in a folder beside it that all workers must reach.
    name
        Path of the RNTuple in the files.
    compute
        Whether the files are written now. Otherwise a `dask.delayed` object is returned.
    **options
        As in `nyssa.recreate`.

    Returns
    -------
    list of str
        The files, in the order of the partitions.
    """
    from dask.delayed import delayed

    target = absolute(os.fspath(destination))
    whole = target.endswith(".root")
    folder = f"{target}.parts" if whole else target
    if "://" not in folder:
        os.makedirs(folder, exist_ok=True)
    write = delayed(_write)
    parts = collection.to_delayed()
    files = [
        write(part, posixpath.join(folder, f"part-{number:05}.root"), name, options)
        for number, part in enumerate(parts)
    ]
    written = delayed(_merged if whole else list)(files, *([target] if whole else []))
    return written.compute() if compute else written


def _write(array: ak.Array, path: str, name: str, options: dict[str, Any]) -> str:
    with recreate(path, **{"force": True, **options}) as file:
        file[name] = array
    return path


def _merged(files: list[str], target: str) -> list[str]:
    merge(files, target, force=True)
    for file in files:
        os.unlink(file)
    os.rmdir(f"{target}.parts")
    return [target]
