"""`NodeMapping`: the branches or fields below a dataset, or below a part of one, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from typing_extensions import Unpack

from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, matcher, not_found
from nyssa.read.mapping import Closable
from nyssa.uproot.index import Index
from nyssa.uproot.options import NodeFilter, NodeFilters

if TYPE_CHECKING:
    from nyssa.uproot.file import ReadOnlyFile
    from nyssa.uproot.node import Node
    from nyssa.uproot.root import Root

__all__ = ["NodeMapping"]

N = TypeVar("N", bound="Node[Any]")
"""`TBranch` or `RField`."""


class NodeMapping(Closable, Mapping[Any, Any], Generic[N]):
    """What is below a dataset or a part of one: branches or fields by their names."""

    _root: Root[N]
    _path: str

    @property
    def _index(self) -> Index:
        return self._root._names

    def _node(self, path: str) -> N:
        node = self._root._made.get(path)
        if node is None:
            node = self._root._made[path] = self._root._kind(self._root, path)
        return node

    @property
    def object_path(self) -> str:
        """Return the path of the object in its file."""
        raise NotImplementedError

    @property
    def tree(self) -> Root[N]:
        """Return the whole TTree or RNTuple."""
        return self._root

    @property
    def file(self) -> ReadOnlyFile:
        """Return the file."""
        return self._root._file

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file."""
        return self._root.dataset.file_path

    @property
    def num_entries(self) -> int:
        """Return the number of entries."""
        return self._root.dataset.num_entries

    def _children(self) -> list[N]:
        return [self._node(path) for path in self._index.below[self._path]]

    def _walk(
        self,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        filter_node: NodeFilter = None,
        recursive: bool = True,
    ) -> Iterator[N]:
        by_name, by_type = matcher(filter_name), matcher(filter_typename)
        paths = self._index.deep(self._path) if recursive else self._index.below[self._path]
        for path in paths:
            relative, name = self._relative(path), self._index.names[path]
            if not (by_name(name) or by_name(relative) or by_name(f"/{relative}")):
                continue
            node = self._node(path)
            if not by_type(node.typename):
                continue
            chosen = True if filter_node is None else filter_node(node)
            if chosen is None or chosen is False:
                continue
            yield chosen if isinstance(chosen, type(node)) else node

    def _relative(self, path: str) -> str:
        shown = self._index.shown[path]
        return shown[len(self._index.shown[self._path]) + 1 :] if self._path else shown

    @checked
    def iteritems(
        self,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        filter_branch: NodeFilter = None,
        filter_field: NodeFilter = None,
        recursive: bool = True,
        full_paths: bool = True,
        ignore_duplicates: bool = False,
    ) -> Iterator[tuple[str, N]]:
        """Iterate over pairs of name and branch (or field); see `keys`."""
        chosen = filter_branch or filter_field
        seen: set[str] = set()
        for node in self._walk(filter_name, filter_typename, chosen, recursive):
            name = self._relative(node._path) if full_paths else node.name
            if not (ignore_duplicates and name in seen):
                yield name, node
            seen.add(name)

    def keys(self, **filters: Unpack[NodeFilters]) -> list[str]:  # type: ignore[override]
        """Return the names of the branches (or fields), with those below them.

        `filter_name`, `filter_typename` are globs, ``/regular expressions/``, lists of these, or
        functions, `filter_branch` (or `filter_field`) is a function of the branch. With
        ``full_paths=False`` names are without those above them, with ``recursive=False`` only the
        first level is listed.
        """
        return [name for name, _ in self.iteritems(**filters)]

    def values(self, **filters: Unpack[NodeFilters]) -> list[N]:  # type: ignore[override]
        """Return the branches (or fields); see `keys`."""
        return [node for _, node in self.iteritems(**filters)]

    def items(  # type: ignore[override]
        self, **filters: Unpack[NodeFilters]
    ) -> list[tuple[str, N]]:
        """Return pairs of name and branch (or field); see `keys`."""
        return list(self.iteritems(**filters))

    def iterkeys(self, **filters: Unpack[NodeFilters]) -> Iterator[str]:
        """Iterate over the names; see `keys`."""
        return (name for name, _ in self.iteritems(**filters))

    def itervalues(self, **filters: Unpack[NodeFilters]) -> Iterator[N]:
        """Iterate over the branches (or fields); see `keys`."""
        return (node for _, node in self.iteritems(**filters))

    def itertypenames(self, **filters: Unpack[NodeFilters]) -> Iterator[tuple[str, str]]:
        """Iterate over pairs of name and C++ type; see `keys`."""
        return ((name, node.typename) for name, node in self.iteritems(**filters))

    def typenames(self, **filters: Unpack[NodeFilters]) -> dict[str, str]:
        """Return the C++ type of each branch (or field); see `keys`."""
        return dict(self.itertypenames(**filters))

    def _find(self, where: str) -> str | None:
        """Return the path in the dataset of a name, as uproot finds it."""
        stripped = where.strip("/") if self._index.separator == "/" else where
        above = self._index.shown[self._path]
        full = f"{above}{self._index.separator}{stripped}" if above else stripped
        if full in self._index.paths:
            return self._index.paths[full]
        if where.startswith("/") or self._index.separator in stripped:
            return None
        deep = self._index.deep(self._path)
        return next((path for path in deep if self._index.names[path] == stripped), None)

    @checked
    def __getitem__(self, where: str | int) -> N:
        """Return the branch (or field) of a path, a name at any depth, or a number."""
        if isinstance(where, (int, np.integer)):
            return self._children()[where]
        path = self._find(where)
        if path is None:
            raise not_found(where, self.keys(), repr(self))
        return self._node(path)

    def __iter__(self) -> Iterator[N]:
        """Iterate over the branches (or fields) of the first level, as in uproot."""
        return iter(self._children())

    def __len__(self) -> int:
        """Return the number of branches (or fields) of the first level."""
        return len(self._index.below[self._path])

    def __bool__(self) -> bool:
        """Return true, also if there is nothing below."""
        return True

    def __contains__(self, where: object) -> bool:
        """Return whether there is a branch (or field) of this name."""
        return isinstance(where, str) and self._find(where) is not None

    def __eq__(self, other: object) -> bool:
        """Compare what it stands for."""
        if not isinstance(other, NodeMapping):
            return False
        return self._path == other._path and self._root is other._root

    def __hash__(self) -> int:
        """Hash by identity of the dataset."""
        return hash((id(self._root), self._path))

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names that a notebook offers after ``[``."""
        return self.keys()

    def close(self) -> None:
        """Close the file."""
        self._root.dataset.close()
