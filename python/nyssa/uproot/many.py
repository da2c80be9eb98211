"""Reads many files, by uproot's names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

import awkward as ak
import numpy as np
from typing_extensions import Unpack

from nyssa import _core
from nyssa._core import printable
from nyssa.arguments.checks import checked
from nyssa.arguments.options import AwkwardName, NumpyArrays, NumpyName, PandasName
from nyssa.arrays import libraries
from nyssa.errors import ArgumentError, FileMissingError, NotFoundError
from nyssa.read.columns import Names
from nyssa.uproot import tables
from nyssa.uproot.file import ReadOnlyDirectory
from nyssa.uproot.nodes import Expressions, Nodes
from nyssa.uproot.options import SelectionOptions, StepOptions
from nyssa.uproot.reading import open
from nyssa.uproot.report import Report

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "ManyFiles",
    "concatenate",
    "files_of",
    "iterate",
    "num_entries",
    "opened_trees",
    "tree_of",
]

ManyFiles: TypeAlias = (
    "str | os.PathLike[str] | Nodes[Any] | Mapping[Any, str | None] | Iterable[Any]"
)
"""A path, glob, open dataset, dict from paths to names of objects, or a list of these."""


@overload
def iterate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: AwkwardName = "ak",
    how: None = None,
    report: Literal[False] = False,
    allow_missing: bool = False,
    **options: Unpack[StepOptions],
) -> Iterator[ak.Array]: ...


@overload
def iterate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: AwkwardName = "ak",
    how: None = None,
    report: Literal[True],
    allow_missing: bool = False,
    **options: Unpack[StepOptions],
) -> Iterator[tuple[ak.Array, Report]]: ...


@overload
def iterate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: NumpyName,
    how: None = None,
    report: Literal[False] = False,
    allow_missing: bool = False,
    **options: Unpack[StepOptions],
) -> Iterator[NumpyArrays]: ...


@overload
def iterate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: str = "ak",
    how: Any = None,
    report: bool = False,
    allow_missing: bool = False,
    **options: Unpack[StepOptions],
) -> Iterator[Any]: ...


@checked
def iterate(
    files: ManyFiles,
    expressions: Expressions = None,
    cut: str | None = None,
    *,
    step_size: int | str = "100 MB",
    report: bool = False,
    allow_missing: bool = False,
    **options: Any,
) -> Iterator[Any]:
    """Read the trees or RNTuples of many files in steps, as ``TTree.iterate`` does.

    `files` are a path, glob, list of these, dict from paths to names of objects, or open datasets.
    With `allow_missing`, files without the object are left out.
    """
    offset = 0
    for source in opened_trees(files, allow_missing):
        steps = source.iterate(expressions, cut, step_size=step_size, report=True, **options)
        for arrays, where in steps:
            here: Report = where.to_global(offset)
            if libraries.is_pandas(options.get("library", "ak")):
                _renumber(arrays, offset)
            yield (arrays, here) if report else arrays
        offset += source.num_entries


@overload
def concatenate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: AwkwardName = "ak",
    how: None = None,
    allow_missing: bool = False,
    **options: Unpack[SelectionOptions],
) -> ak.Array: ...


@overload
def concatenate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: NumpyName,
    how: None = None,
    allow_missing: bool = False,
    **options: Unpack[SelectionOptions],
) -> NumpyArrays: ...


@overload
def concatenate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: PandasName,
    how: None = None,
    allow_missing: bool = False,
    **options: Unpack[SelectionOptions],
) -> pd.DataFrame: ...


@overload
def concatenate(
    files: ManyFiles,
    expressions: Names = None,
    cut: str | None = None,
    *,
    library: str = "ak",
    how: Any = None,
    allow_missing: bool = False,
    **options: Unpack[SelectionOptions],
) -> Any: ...


@checked
def concatenate(
    files: ManyFiles,
    expressions: Expressions = None,
    cut: str | None = None,
    *,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    allow_missing: bool = False,
    library: str = "ak",
    how: Any = None,
    **options: Any,
) -> Any:
    """Read the trees or RNTuples of many files into one result; see `iterate`.

    `entry_start` and `entry_stop` count over all files.
    """
    parts: list[Any] = []
    offset = 0
    for source in opened_trees(files, allow_missing):
        length = source.num_entries
        start = 0 if entry_start is None else min(max(entry_start - offset, 0), length)
        stop = length if entry_stop is None else min(max(entry_stop - offset, 0), length)
        try:
            arrays = source.arrays(
                expressions,
                cut,
                entry_start=start,
                entry_stop=max(start, stop),
                library=library,
                how=how,
                **options,
            )
        except NotFoundError:
            if not allow_missing:
                raise
        else:
            if libraries.is_pandas(library):
                _renumber(arrays, offset)
            parts.append(arrays)
        offset += length
    if not parts:
        return tables.nothing(library, how, range(0))
    return _joined(parts, libraries.canonical(library))


@checked
def num_entries(paths: ManyFiles) -> Iterator[tuple[str, str, int]]:
    """Iterate over path, name of the object, and number of entries of each file."""
    for source in opened_trees(paths, False):
        yield source.file_path, source.object_path.strip("/").partition(";")[0], source.num_entries


def opened_trees(files: ManyFiles, allow_missing: bool) -> Iterator[Nodes[Any]]:
    """Iterate over the trees, RNTuples or branches of files, which are opened one by one.

    With `allow_missing`, files without the object are left out, as in uproot.
    """
    for file, name in files_of(files):
        tree = tree_of(file, name, allow_missing)
        if tree is not None:
            yield tree


def tree_of(file: Any, name: str | None, allow_missing: bool) -> Nodes[Any] | None:
    """Open a file and return the object of this name, or else its only tree or RNTuple.

    With `allow_missing`, it returns `None` for a file without the object.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when no name is given and the file has not one tree or RNTuple.
    nyssa.NotFoundError
        (a `KeyError`) when the file does not have the object.
    """
    if isinstance(file, Nodes):
        return file
    try:
        opened = open(file)
        if not isinstance(opened, ReadOnlyDirectory):
            return cast("Nodes[Any]", opened)
        if name is None:
            names = opened.directory.datasets()
            if allow_missing and not names:
                return None
            if len(names) != 1:
                raise ArgumentError(f"{opened.file_path} has not one dataset: give its name")
            [name] = names
        return cast("Nodes[Any]", opened[name])
    except NotFoundError:
        if not allow_missing:
            raise
        return None


def files_of(files: ManyFiles) -> list[tuple[Any, Any]]:
    """Return files, and what is given for them: the name of an object, or `None`.

    As in uproot, a glob among several may match nothing.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) when there are no files at all.
    """
    found = list(_named(files))
    if not found:
        raise FileMissingError(f"no file matches {printable(str(files))}")
    return found


def _named(files: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(files, Nodes):
        yield files, None
    elif isinstance(files, Mapping):
        for path, given in files.items():
            yield from ((item, given) for item in _expanded(path))
    elif isinstance(files, (str, os.PathLike)):
        yield from ((item, None) for item in _expanded(files))
    else:
        for file in files:
            yield from _named(file)


def _expanded(path: Any) -> list[Any]:
    return list(_core.files(path)) if isinstance(path, str) else [path]


def _renumber(arrays: Any, offset: int) -> None:
    """Count the rows of pandas over all files."""
    columns = arrays.values() if isinstance(arrays, dict) else arrays
    for column in columns if isinstance(arrays, (dict, tuple, list)) else [arrays]:
        column.index = column.index + offset


def _joined(arrays: list[Any], library: str) -> Any:
    first = arrays[0]
    if isinstance(first, (tuple, list)):
        return type(first)(_joined(list(parts), library) for parts in zip(*arrays, strict=True))
    if isinstance(first, dict):
        # NumPy arrays, or pandas columns with how=dict.
        return {name: _joined([item[name] for item in arrays], library) for name in first}
    if libraries.is_pandas(library):
        return libraries.optional("pandas").concat(arrays)
    return np.concatenate(arrays) if isinstance(first, np.ndarray) else ak.concatenate(arrays)
