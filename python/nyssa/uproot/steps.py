"""Steps of files that are opened when they are read, in another process perhaps."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import awkward as ak
import numpy as np
from typing_extensions import Self

from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute_file, version
from nyssa.interop.projected import leaves
from nyssa.read.file import split
from nyssa.uproot.locations import plain
from nyssa.uproot.many import tree_of
from nyssa.uproot.nodes import Nodes

__all__ = ["Reader", "Step", "place_of", "ranges_of", "version_of"]

OPEN = 32
"""Number of trees that a process keeps open."""


class Step(NamedTuple):
    """A range of entries of a tree or RNTuple in a file."""

    path: str
    """The path or URL of the file."""
    name: str | None
    """The path of the object in it; `None` for the only one."""
    start: int
    """The first entry, or the number of the step among `parts` steps."""
    stop: int
    """The entry after the last one; 0 with `parts`."""
    parts: int | None = None
    """Into how many steps of one size the file is divided, which is not opened before."""
    version: str = ""
    """What tells the version of the file that was opened to make it; else empty."""

    def opened(self) -> Nodes[Any]:
        """Return the tree, which stays open for a while.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when the file was written again since, or does not have the entries.
        """
        now = version_of(self.path)
        if self.version not in ("", now):
            raise ArgumentError(f"{self.path} was written again: make the collection again")
        tree = _opened(self.path, self.name, now)
        if self.parts is None and not 0 <= self.start <= self.stop <= tree.num_entries:
            raise ArgumentError(
                f"{self.path}: {tree.object_path} has {tree.num_entries} entries, "
                f"not entries {self.start} to {self.stop}"
            )
        return tree

    def entries(self, tree: Nodes[Any]) -> tuple[int, int]:
        """Return the range of entries in the tree."""
        if self.parts is None:
            return self.start, self.stop
        size = -(-tree.num_entries // self.parts)
        return (
            min(self.start * size, tree.num_entries),
            min((self.start + 1) * size, tree.num_entries),
        )


@lru_cache(OPEN)
def _opened(path: str, name: str | None, version: str) -> Nodes[Any]:
    del version  # A file that was written again is opened anew.
    tree = tree_of({path: name}, None, allow_missing=False)
    assert tree is not None  # Only `allow_missing` has none.
    return tree


def version_of(path: str) -> str:
    """Return what tells the version of a file, on all machines."""
    return "" if "::" in path else version(path, anywhere=True)


def place_of(file: Any, name: str | None) -> tuple[str, str | None]:
    """Return the path of a file, for all working directories, and the name of the object in it."""
    if isinstance(file, Nodes):
        above, _, below = file.object_path.strip("/").partition(":")
        return absolute_file(file.file_path), f"{above}/{below}" if below else above
    path = plain(os.fspath(file) if isinstance(file, os.PathLike) else file)
    if not isinstance(path, str):
        raise ArgumentError("Dask opens files by their paths, not file objects")
    if "::" in path:
        return path, name
    inner = None
    if name is None and not isinstance(file, os.PathLike):
        path, inner = split(path)
    return absolute_file(path), name or inner


def ranges_of(steps: Any) -> list[tuple[int, int]]:
    """Return steps as pairs; uproot also takes the ends of adjacent ones."""
    listed = list(steps)
    if listed and isinstance(listed[0], (int, np.integer)):
        return [(int(first), int(second)) for first, second in pairwise(listed)]
    return [(int(start), int(stop)) for start, stop in listed]


class Reader:
    """Reads columns of steps as awkward arrays of a form.

    `whole` is the form of all columns, and `form` the form of the columns that are read.
    Branches are read whole, fields of RNTuples (`nested`) by their members.
    """

    def __init__(
        self,
        form: ak.forms.Form,
        whole: ak.forms.Form,
        add_doc: bool | Mapping[str, str],
        *,
        nested: bool,
    ) -> None:
        self.form, self._whole, self._add_doc, self._nested = form, whole, add_doc, nested

    def read(self, step: Step) -> ak.Array:
        """Return the arrays of a step."""
        tree = step.opened()
        start, stop = step.entries(tree)
        # A branch that is given instead of a tree has no names below.
        names = self._names() if len(tree) else None
        return tree.arrays(names, entry_start=start, entry_stop=stop, ak_add_doc=self._add_doc)

    def _names(self) -> list[str]:
        if not self._nested:
            return list(self.form.fields)
        below = [".".join(path) for path in leaves(self.form)]
        empty = (name for name in self.form.fields if not any(leaves(self.form.content(name))))
        return [*below, *empty]

    def project_columns(self, columns: Iterable[str]) -> Self:
        """Return the reader of some columns."""
        whole = self._whole
        # An array has its length only if it has a column.
        chosen = whole.select_columns(sorted(columns) or [".".join(next(leaves(whole)))])
        names = [name for name in whole.fields if name in chosen.fields]
        contents = [(chosen if self._nested else whole).content(name) for name in names]
        projected = copy.copy(self)
        projected.form = ak.forms.RecordForm(contents, names, parameters=whole.parameters)
        return projected
