"""Reads many files as collections of Dask, by uproot's names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import Unpack

from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arrays import libraries
from nyssa.errors import ArgumentError, NotFoundError
from nyssa.files.reopen import absolute, version
from nyssa.read.partitions import Partition
from nyssa.uproot.many import ManyFiles, opened_trees
from nyssa.uproot.nodes import Nodes
from nyssa.uproot.options import IgnoredOptions, NodeFilter, accepted
from nyssa.uproot.reading import open

if TYPE_CHECKING:
    from nyssa.uproot.root import Root

__all__ = ["dask", "dask_write"]

_UNUSED = ("open_files", "form_mapping", "custom_classes", "known_base_form", "interp_options")
"""Options of uproot's `dask` that have no effect here."""


@checked
def dask(
    files: ManyFiles,
    *,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    filter_branch: NodeFilter = None,
    recursive: bool = True,
    full_paths: bool = False,
    step_size: int | str | None = None,
    steps_per_file: int | None = None,
    library: str = "ak",
    ak_add_doc: bool | Mapping[str, str] = False,
    allow_missing: bool = False,
    allow_read_errors_with_report: Any = False,
    **options: Any,
) -> Any:
    """Return the branches of files as a dask-awkward array, or a dict of Dask arrays.

    `files` are as in `iterate`; a dict may have ``{"object_path": name, "steps": [[0, 100], ...]}``
    for a file. The files are opened at once, also with ``open_files=False``.

    Raises
    ------
    NotImplementedError
        for ``library="pd"`` and for reports of errors, which nyssa does not have.
    """
    accepted({name: item for name, item in options.items() if name not in _UNUSED})
    if allow_read_errors_with_report:
        raise NotImplementedError("nyssa reads all partitions or raises an error")
    if step_size is not None and steps_per_file is not None:
        raise TypeError("only 'step_size' or 'steps_per_file' should be set, but not both")
    name = libraries.canonical(library)
    if name not in ("ak", "np"):
        raise NotImplementedError(f"there is no Dask collection for library={library!r}")
    filters: dict[str, Any] = {
        "filter_name": filter_name,
        "filter_typename": filter_typename,
        "filter_branch": filter_branch,
        "recursive": recursive,
    }
    trees: list[tuple[Root[Any], list[tuple[int, int]]]] = []
    for source, steps in _with_steps(files, allow_missing):
        tree = source.tree
        trees.append((tree, steps or _steps(tree, step_size, steps_per_file)))
    if not trees:
        raise ArgumentError("there are no files")
    columns = [_leaves(tree, filters, full_paths) for tree, _ in trees]
    common = [column for column in columns[0] if all(column in other for other in columns)]
    if not common:
        raise NotFoundError("the files have no branches in common")
    parts = [part for tree, steps in trees for part in _partitions(tree, steps)]
    if name == "np":
        return {column: _of_numpy(trees[0][0], column, parts) for column in common}
    from nyssa.interop.dask import of_partitions

    made = of_partitions(parts, filter_name=sorted({column.split("/")[0] for column in common}))
    return made if not ak_add_doc else _documented(made, trees[0][0], ak_add_doc)


def _documented(collection: Any, tree: Any, ak_add_doc: Any) -> Any:
    """Return a collection whose partitions have the titles as documentation."""
    requested = [(name, tree[name]._path) for name in collection.fields]

    def documented(array: Any) -> Any:
        return tree._documented(array, requested, ak_add_doc)

    return collection.map_partitions(documented)


def _with_steps(files: Any, allow_missing: bool) -> Any:
    """Iterate over trees and the steps that are given for them."""
    if isinstance(files, Mapping):
        for path, given in files.items():
            name, steps = given, None
            if isinstance(given, Mapping):
                name, steps = given.get("object_path"), given.get("steps")
                steps = _ranges(steps)
            for tree in opened_trees({path: name}, allow_missing):
                yield tree, steps
    elif isinstance(files, (list, tuple)):
        for item in files:
            yield from _with_steps(item, allow_missing)
    else:
        yield from ((tree, None) for tree in opened_trees(files, allow_missing))


def _ranges(steps: Any) -> list[tuple[int, int]] | None:
    """Return steps as pairs; uproot also takes the ends of adjacent ones."""
    if steps is None:
        return None
    listed = list(steps)
    if listed and isinstance(listed[0], (int, np.integer)):
        return [(int(a), int(b)) for a, b in pairwise(listed)]
    return [(int(start), int(stop)) for start, stop in listed]


def _steps(
    tree: Nodes[Any], step_size: int | str | None, steps_per_file: int | None
) -> list[tuple[int, int]]:
    entries = tree.num_entries
    if steps_per_file is not None:
        size = -(-entries // steps_per_file)
    elif isinstance(step_size, (int, np.integer)):
        size = int(step_size)
    else:
        size = tree.num_entries_for("100 MB" if step_size is None else step_size)
    starts = range(0, entries, max(size, 1))
    return [(start, min(start + size, entries)) for start in starts] or [(0, 0)]


def _leaves(tree: Any, filters: Mapping[str, Any], full_paths: bool) -> dict[str, str]:
    """Return the names of the branches to read, and their types."""
    return {
        name: node.typename
        for name, node in tree.iteritems(full_paths=full_paths, **filters)
        if not len(node)
    }


def _partitions(tree: Any, steps: list[tuple[int, int]]) -> list[Partition]:
    url = absolute(os.fspath(tree.file_path))
    now = version(url, anywhere=True)
    parts = [Partition(url, tree.dataset.object_path, start, stop) for start, stop in steps]
    for item in parts:
        item.version = now
    return parts


def _of_numpy(tree: Any, column: str, parts: list[Partition]) -> Any:
    """Return the Dask array of a branch; each partition is a chunk."""
    array = libraries.optional("dask.array")
    delayed = libraries.optional("dask").delayed(_chunk)
    sample = tree[column].array(entry_stop=0, library="np")
    chunks = [
        array.from_delayed(
            delayed(part, column), (part.stop - part.start, *sample.shape[1:]), sample.dtype
        )
        for part in parts
    ]
    return array.concatenate(chunks)


def _chunk(part: Partition, column: str) -> Any:
    tree = open(f"{part.url}:{part.path}")
    return tree[column].array(entry_start=part.start, entry_stop=part.stop, library="np")


def dask_write(
    array: Any,
    destination: str,
    prefix: str | None = None,
    compute: bool = True,
    tree_name: str = "tree",
    **options: Unpack[IgnoredOptions],
) -> Any:
    """Write a collection of dask-awkward as TTrees: each partition a file ``part0.root`` etc.

    As in uproot, the files are in the folder `destination`, and `prefix` is before their names.
    """
    accepted(options)
    delayed = libraries.optional("dask").delayed
    os.makedirs(destination, exist_ok=True)
    start = "" if prefix is None else f"{prefix}-"
    files = [
        delayed(_write)(part, os.path.join(destination, f"{start}part{number}.root"), tree_name)
        for number, part in enumerate(array.to_delayed())
    ]
    written = delayed(_nothing)(files)
    return written.compute() if compute else written


def _write(array: Any, path: str, tree_name: str) -> str:
    from nyssa.uproot.writing import recreate

    with recreate(path) as file:
        file.mktree(tree_name, {name: array[name] for name in array.fields})
    return path


def _nothing(files: list[str]) -> None:
    del files
