"""Reading several files as if they were one."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from nyssa import _core, _library
from nyssa._filter import NameFilter
from nyssa.dataset import DEFAULT_STEP, Dataset, Names
from nyssa.errors import ArgumentError, FileMissingError
from nyssa.file import open_dataset

__all__ = ["concatenate", "iterate"]

One = str | os.PathLike[str] | Dataset
Files = One | Iterable[One] | Mapping[str, str]


def iterate(
    files: Files,
    names: Names = None,
    *,
    step_size: int | str = DEFAULT_STEP,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    library: str = "ak",
    report: bool = False,
    threads: int | None = None,
) -> Iterator[Any]:
    """Read the same columns of many files in steps.

    `files` is a path, glob (``"data/*.root:Events"``), dataset, a list of those, or a dict from
    paths to names of objects; the name may be left out where a file has one dataset only. Steps do
    not cross files. With ``report=True`` each step is a pair
    ``(arrays, (file, start, stop))``. See `Dataset.iterate` for the other parameters.
    """
    _library.canonical(library)
    sources = _expand(files)

    def steps() -> Iterator[Any]:
        for source in sources:
            dataset = open_dataset(source)
            for arrays, (start, stop) in dataset.iterate(
                names,
                step_size=step_size,
                filter_name=filter_name,
                filter_typename=filter_typename,
                library=library,
                report=True,
                threads=threads,
            ):
                yield (arrays, (dataset.file_path, start, stop)) if report else arrays

    return steps()


def concatenate(
    files: Files,
    names: Names = None,
    *,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    library: str = "ak",
    threads: int | None = None,
) -> Any:
    """Read the same columns of many files into one table.

    `files` as in `iterate`; the other parameters and the result as in `Dataset.arrays`.
    """
    library = _library.canonical(library)
    parts = [
        open_dataset(source).arrays(
            names,
            filter_name=filter_name,
            filter_typename=filter_typename,
            library=library,
            threads=threads,
        )
        for source in _expand(files)
    ]
    return parts[0] if len(parts) == 1 else _library.concatenate(library, parts)


def _expand(files: Files) -> list[One]:
    if isinstance(files, (str, os.PathLike, Dataset)):
        sources = _glob(files)
    elif isinstance(files, Mapping):
        sources = [one for path, name in files.items() for one in _glob(f"{path}:{name}")]
    else:
        sources = [one for source in files for one in _glob(source)]
    if not sources:
        raise ArgumentError("no files given")
    return sources


def _glob(source: One) -> list[One]:
    if not isinstance(source, str):
        return [source]
    path, inner = _core.split_path(source)
    if not glob.has_magic(path) or os.path.exists(path):
        return [source]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise FileMissingError(f"no file matches {path}")
    return [f"{one}:{inner}" if inner else one for one in found]
