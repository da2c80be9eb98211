"""Reads many files as collections of Dask, by uproot's names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

import awkward as ak
import numpy as np
from typing_extensions import Unpack

from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arrays import libraries
from nyssa.errors import ArgumentError
from nyssa.uproot.many import ManyFiles, files_of, tree_of
from nyssa.uproot.options import IgnoredOptions, NodeFilter, accepted
from nyssa.uproot.steps import Step, place_of, ranges_of, version_of

__all__ = ["dask", "dask_write"]


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
    open_files: bool = True,
    allow_read_errors_with_report: bool | tuple[type[BaseException], ...] = False,
    known_base_form: ak.forms.Form | None = None,
    form_mapping: None = None,
    custom_classes: None = None,
    **options: Any,
) -> Any:
    """Return the branches of files as a dask-awkward array, or a dict of Dask arrays.

    `files` are as in `iterate`; a dict may have ``{"object_path": name, "steps": [[0, 100], ...]}``
    for a file. With ``open_files=False``, only the first file is opened before the arrays are
    computed, and no file with a `known_base_form`. With `allow_read_errors_with_report` the result
    is a pair of a collection, which has no entries of steps that raised `OSError` or one of these
    errors, and a collection of reports, one for each step.

    Raises
    ------
    NotImplementedError
        for ``library="pd"``, and for `form_mapping` and `custom_classes`: nyssa reads as the files
        say.
    """
    accepted(options)
    if form_mapping is not None or custom_classes is not None:
        raise NotImplementedError("form_mapping and custom_classes: nyssa reads as the files say")
    name = libraries.canonical(library)
    if name not in ("ak", "np"):
        raise NotImplementedError(f"there is no Dask collection for library={library!r}")
    if step_size is not None and steps_per_file is not None:
        raise TypeError("only 'step_size' or 'steps_per_file' should be set, but not both")
    if step_size is not None and not open_files:
        raise TypeError("'step_size' needs open_files=True; set 'steps_per_file'")
    if known_base_form is not None and open_files:
        raise TypeError("known_base_form needs open_files=False")
    filters = {
        "filter_name": filter_name,
        "filter_typename": filter_typename,
        "filter_branch": filter_branch,
        "recursive": recursive,
    }
    given = _with_steps(files, step_size is not None or steps_per_file is not None)
    if open_files:
        trees, steps = _of_open_files(given, step_size, steps_per_file or 1, allow_missing)
    else:
        trees, steps = [], _of_closed_files(given, steps_per_file or 1)
        if known_base_form is None or name == "np":
            trees = [tree_of(*given[0][:2], allow_missing=False)]
    allowed = allow_read_errors_with_report
    if not trees:
        return _of_awkward(known_base_form, steps, ak_add_doc, False, allowed)
    first, *others = (_columns(tree, filters, full_paths) for tree in trees)
    common = [column for column in first if all(column in other for other in others)]
    if not common:
        raise ArgumentError("the files have no branches in common")
    if name == "np":
        return _of_numpy(trees[0], common, steps)
    form = _form(trees[0], common, ak_add_doc)
    return _of_awkward(form, steps, ak_add_doc, not trees[0]._is_tree, allowed)


def _with_steps(files: Any, sizes: bool) -> list[tuple[Any, str | None, Any]]:
    """Return files, names of objects in them, and the steps that are given for them, or `None`."""
    listed: list[tuple[Any, str | None, Any]] = []
    for file, given in files_of(files):
        name, steps = given, None
        if isinstance(given, Mapping):
            name, steps = given.get("object_path"), given.get("steps")
        listed.append((file, name, None if steps is None else ranges_of(steps)))
    stated = sum(steps is not None for _, _, steps in listed)
    if stated and sizes:
        raise TypeError("steps of files do not go together with 'step_size' or 'steps_per_file'")
    if stated not in (0, len(listed)):
        raise TypeError("some files have steps, and some have none: give all or none of them")
    return listed


def _of_open_files(
    given: list[tuple[Any, str | None, Any]],
    step_size: int | str | None,
    steps_per_file: int,
    allow_missing: bool,
) -> tuple[list[Any], list[Step]]:
    """Return the trees of files, and their steps. As in uproot, all files have one size of step."""
    found = [
        (tree, steps)
        for file, name, steps in given
        if (tree := tree_of(file, name, allow_missing)) is not None
    ]
    if not found:
        raise ArgumentError("no file has the object")
    trees = [tree for tree, _ in found]
    if step_size is None:
        entries = sum(tree.num_entries for tree in trees)
        size = -(-entries // (len(trees) * steps_per_file))
    elif isinstance(step_size, (int, np.integer)):
        size = int(step_size)
    else:
        size = round(sum(tree.num_entries_for(step_size) for tree in trees) / len(trees))
    made: list[Step] = []
    for tree, steps in found:
        entries = tree.num_entries
        path, name = place_of(tree, None)
        if steps is None:
            starts = range(0, entries, max(size, 1))
            steps = [(start, min(start + size, entries)) for start in starts]
        now = version_of(path)
        made += [Step(path, name, start, stop, None, now) for start, stop in steps if start != stop]
    return trees, made or [Step(path, name, 0, 0, None, now)]


def _of_closed_files(given: list[tuple[Any, str | None, Any]], steps_per_file: int) -> list[Step]:
    made = []
    for file, name, steps in given:
        path, inner = place_of(file, name)
        if steps is None:
            numbers = range(steps_per_file)
            made += [Step(path, inner, number, 0, steps_per_file) for number in numbers]
        else:
            made += [Step(path, inner, start, stop) for start, stop in steps]
    return made


def _columns(tree: Any, filters: Mapping[str, Any], full_paths: bool) -> dict[str, None]:
    """Return the names of the branches to read, or the paths of the fields of an RNTuple.

    A field that is chosen has all that is below it.
    """
    if not len(tree) and tree is not tree.tree:
        return {tree.name: None}
    nested = not tree._is_tree
    chosen = tree.iteritems(full_paths=full_paths or nested, ignore_duplicates=True, **filters)
    columns: dict[str, None] = {}
    for name, node in chosen:
        if not len(node):
            columns[name] = None
        elif nested:
            below = node.iteritems()
            columns |= {f"{name}.{path}": None for path, item in below if not len(item)}
    return columns


def _form(tree: Any, names: list[str], ak_add_doc: Any) -> ak.forms.Form:
    """Return the form of the arrays."""
    chosen = names if len(tree) else None
    return tree.arrays(chosen, entry_stop=0, ak_add_doc=ak_add_doc).layout.form


def _of_awkward(
    form: ak.forms.Form, steps: list[Step], ak_add_doc: Any, nested: bool, allowed: Any
) -> Any:
    """Return the collection of dask-awkward, or with errors that are allowed a pair; see `dask`."""
    dask_awkward = libraries.optional("dask_awkward")
    from dask.base import tokenize

    from nyssa.uproot.dask_reader import StepReader

    reader = StepReader(form, form, ak_add_doc, nested=nested)
    divisions = None
    if allowed:
        reader.allowed = allowed if isinstance(allowed, tuple) else (OSError,)
    elif all(step.parts is None for step in steps):
        divisions = (0, *accumulate(step.stop - step.start for step in steps))
    token = tokenize(repr(form), str(ak_add_doc), repr(allowed), steps)
    return dask_awkward.from_map(
        reader, steps, label="from-uproot", token=token, divisions=divisions
    )


def _of_numpy(tree: Any, columns: list[str], steps: list[Step]) -> dict[str, Any]:
    """Return the Dask arrays of branches; each step is a chunk."""
    array = libraries.optional("dask.array")
    delayed = libraries.optional("dask").delayed(_chunk)
    made = {}
    for name in columns:
        sample = (tree[name] if len(tree) else tree).array(entry_stop=0, library="np")
        chunks = []
        for step in steps:
            length = step.stop - step.start if step.parts is None else np.nan
            shape = (length, *sample.shape[1:])
            chunks.append(array.from_delayed(delayed(step, name), shape, sample.dtype))
        made[name] = array.concatenate(chunks, allow_unknown_chunksizes=True)
    return made


def _chunk(step: Step, name: str) -> Any:
    tree = step.opened()
    start, stop = step.entries(tree)
    node: Any = tree[name] if len(tree) else tree
    return node.array(entry_start=start, entry_stop=stop, library="np")


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
