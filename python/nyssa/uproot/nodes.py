"""`Nodes`: what trees, branches, RNTuples and fields have in common, by uproot's names."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, Literal, TextIO, TypeVar, overload

import awkward as ak
import numpy as np
from typing_extensions import Unpack

from nyssa._core import printable
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, matcher, names_of, not_found
from nyssa.arguments.options import AwkwardName, NumpyArray, NumpyArrays, NumpyName, PandasName
from nyssa.arguments.sizes import bytes_of
from nyssa.arrays import libraries
from nyssa.errors import ArgumentError
from nyssa.read.columns import Names
from nyssa.read.mapping import Closable
from nyssa.uproot import tables, values
from nyssa.uproot.index import Index
from nyssa.uproot.options import (
    IgnoredOptions,
    NodeFilter,
    NodeFilters,
    SelectionOptions,
    StepOptions,
    accepted,
    clipped,
)
from nyssa.uproot.report import Report

if TYPE_CHECKING:
    import pandas as pd

    from nyssa.uproot.file import ReadOnlyFile
    from nyssa.uproot.node import Node
    from nyssa.uproot.root import Root

__all__ = ["Nodes"]

N = TypeVar("N", bound="Node[Any]")
"""`TBranch` or `RField`."""


class Nodes(Closable, Mapping[Any, Any], Generic[N]):
    """A dataset, or a part of one, with branches or fields below it.

    The data are read by nyssa. Options of uproot that say how it reads (executors, caches,
    interpretations) are accepted and have no effect.
    """

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
        return path[len(self._path) + 1 :] if self._path else path

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
        del ignore_duplicates  # nyssa gives branches of equal names different paths.
        chosen = filter_branch or filter_field
        for node in self._walk(filter_name, filter_typename, chosen, recursive):
            yield (self._relative(node._path) if full_paths else node.name), node

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
        full = f"{self._path}{self._index.separator}{stripped}" if self._path else stripped
        if full in self._index.items:
            return full
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
        if not isinstance(other, Nodes):
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

    def _leaves(
        self, filter_name: NameFilter, filter_typename: NameFilter, filter_node: NodeFilter
    ) -> list[N]:
        """Return what `arrays` reads without names: all that can be read and has nothing below."""
        nodes = self._walk(filter_name, filter_typename, filter_node)
        return [
            node
            for node in nodes
            if not len(node) and node._root.dataset[node._path].reason is None
        ]

    def _requested(
        self,
        expressions: Names,
        filter_name: NameFilter,
        filter_typename: NameFilter,
        node: NodeFilter,
    ) -> list[tuple[str, str]]:
        """Return the name in the result and the column or expression of each column to read."""
        if expressions is None:
            leaves = self._leaves(filter_name, filter_typename, node)
            if not leaves and self._path and not len(self):
                return [(self._index.names[self._path], self._path)]
            return list({leaf.name: leaf._path for leaf in leaves}.items())
        return [(name, self._find(name) or name) for name in names_of(expressions) or ()]

    @overload
    def arrays(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: AwkwardName = "ak",
        how: None = None,
        **options: Unpack[SelectionOptions],
    ) -> ak.Array: ...

    @overload
    def arrays(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: NumpyName,
        how: None = None,
        **options: Unpack[SelectionOptions],
    ) -> NumpyArrays: ...

    @overload
    def arrays(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: PandasName,
        how: None = None,
        **options: Unpack[SelectionOptions],
    ) -> pd.DataFrame: ...

    # The library or the form is only known at run time, hence `Any`.
    @overload
    def arrays(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: str = "ak",
        how: Any = None,
        **options: Unpack[SelectionOptions],
    ) -> Any: ...

    @checked
    def arrays(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        filter_branch: NodeFilter = None,
        filter_field: NodeFilter = None,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: str = "ak",
        ak_add_doc: bool | Mapping[str, str] = False,
        how: Any = None,
        virtual: bool = False,
        **options: Unpack[IgnoredOptions],
    ) -> Any:
        """Read branches (or fields), as `nyssa.Dataset.arrays` does.

        The names in the result are those that were requested. With `ak_add_doc`, awkward arrays
        have the titles as documentation.
        """
        accepted(options)
        if how is not None and not isinstance(how, (str, type)):
            raise ArgumentError(f"how is tuple, list, dict or a text, not {type(how).__name__}")
        requested = self._requested(
            expressions, filter_name, filter_typename, filter_branch or filter_field
        )
        start, stop = clipped(entry_start, entry_stop, self.num_entries)
        if not requested:
            return tables.nothing(library, how, range(0) if self._is_tree else range(start, stop))
        given = dict(aliases or {})
        lazily: dict[str, Any] = {"lazy": True} if virtual and library == "ak" else {}
        table = self._root.dataset.arrays(
            list(dict.fromkeys(column for _, column in requested)),
            cut=cut,
            aliases=given,
            entry_start=start,
            entry_stop=stop,
            library=library,
            **lazily,
        )
        if cut is not None and libraries.canonical(library) == "pd":
            table.index = start + np.flatnonzero(self._passing(cut, given, start, stop))
        return self._finished(table, requested, library, how, ak_add_doc)

    @property
    def _is_tree(self) -> bool:
        """Whether a selection of no columns has no entries, as it has for a TTree of uproot."""
        return self._root.dataset._core.format == "TTree"

    def _passing(self, cut: str, aliases: Mapping[str, str], start: int, stop: int) -> NumpyArray:
        """Return which entries pass a cut."""
        columns = self._root.dataset.arrays(
            [cut], aliases=aliases, entry_start=start, entry_stop=stop, library="np"
        )
        return columns[cut]

    def _finished(
        self, table: Any, requested: list[tuple[str, str]], library: str, how: Any, add_doc: Any
    ) -> Any:
        name = libraries.canonical(library)
        kinds = {
            path: self._index.items[path][1] for _, path in requested if path in self._index.items
        }
        if name == "np":
            table = {key: values.objects(item, kinds.get(key, "")) for key, item in table.items()}
        elif name == "ak":
            table = self._root._as_uproot(table, kinds)
        grouped = values.group(table, requested, library, how)
        if add_doc and name == "ak" and isinstance(grouped, ak.Array):
            return self._documented(grouped, requested, add_doc)
        return grouped

    def _documented(
        self, array: ak.Array, requested: list[tuple[str, str]], add_doc: Any
    ) -> ak.Array:
        documented = self._with_docs(array, add_doc)
        for name, path in requested:
            if path in self._index.items:
                documented[name] = self._node(path)._with_docs(array[name], add_doc)
        return documented

    def _with_docs(self, array: ak.Array, add_doc: Any) -> ak.Array:
        """Return an array with attributes of this, such as its title, as parameters."""
        keys = add_doc if isinstance(add_doc, Mapping) else {"__doc__": "title"}
        if unknown := [item for item in keys.values() if not hasattr(self, item)]:
            raise ArgumentError(f"ak_add_doc: there is no attribute {unknown[0]!r}")
        for key, attribute in keys.items():
            array = ak.with_parameter(array, key, getattr(self, attribute))
        return array

    @overload
    def iterate(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: AwkwardName = "ak",
        how: None = None,
        report: Literal[False] = False,
        **options: Unpack[StepOptions],
    ) -> Iterator[ak.Array]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: AwkwardName = "ak",
        how: None = None,
        report: Literal[True],
        **options: Unpack[StepOptions],
    ) -> Iterator[tuple[ak.Array, Report]]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: NumpyName,
        how: None = None,
        report: Literal[False] = False,
        **options: Unpack[StepOptions],
    ) -> Iterator[NumpyArrays]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        library: str = "ak",
        how: Any = None,
        report: bool = False,
        **options: Unpack[StepOptions],
    ) -> Iterator[Any]: ...

    @checked
    def iterate(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        filter_branch: NodeFilter = None,
        filter_field: NodeFilter = None,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        step_size: int | str = "100 MB",
        library: str = "ak",
        ak_add_doc: bool | Mapping[str, str] = False,
        how: Any = None,
        report: bool = False,
        virtual: bool = False,
        **options: Unpack[IgnoredOptions],
    ) -> Iterator[Any]:
        """Read in steps of as many entries as `num_entries_for` says; see `arrays`.

        With `report` it yields pairs of arrays and `Report`.
        """
        filters: dict[str, Any] = {
            "filter_name": filter_name,
            "filter_typename": filter_typename,
            "filter_branch": filter_branch or filter_field,
        }
        start, stop = clipped(entry_start, entry_stop, self.num_entries)
        size = step_size
        has_nothing = self._is_tree and not self._requested(expressions, *filters.values())
        if has_nothing and cut is None:
            return
        if not isinstance(size, (int, np.integer)):
            # The branches of the cut are not counted.
            everything = max(1, stop - start)
            size = everything if has_nothing else self.num_entries_for(size, expressions, **filters)
        for first in range(start, stop, int(size)):
            last = min(first + int(size), stop)
            arrays = self.arrays(
                expressions,
                cut,
                aliases=aliases,
                entry_start=first,
                entry_stop=last,
                library=library,
                ak_add_doc=ak_add_doc,
                how=how,
                virtual=virtual,
                **filters,
                **options,
            )
            yield (arrays, Report(self, first, last)) if report else arrays

    @checked
    def num_entries_for(
        self,
        memory_size: int | str,
        expressions: Names = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        filter_branch: NodeFilter = None,
        filter_field: NodeFilter = None,
        **options: Unpack[IgnoredOptions],
    ) -> int:
        """Return how many entries of the columns have this many uncompressed bytes."""
        accepted(options)
        if isinstance(memory_size, float) and math.isfinite(memory_size):
            memory_size = round(memory_size)
        wanted = bytes_of(memory_size, "memory_size")
        requested = self._requested(
            expressions, filter_name, filter_typename, filter_branch or filter_field
        )
        if expressions is not None:
            for name, path in requested:
                if path not in self._index.items and path.isidentifier():
                    raise not_found(name, self.keys(), repr(self))
        paths = [path for _, path in requested if path in self._index.items]
        total = sum(self._root._uncompressed(path) for path in paths)
        return max(1, round(wanted * self.num_entries / total)) if total else 1

    def show(self, stream: TextIO | None = None, **options: Any) -> None:
        """Print the branches (or fields) with their types, or write them to a stream."""
        filters = {
            name: item
            for name, item in options.items()
            if name.startswith(("filter", "rec", "full"))
        }
        widths = [options.get(f"{name}_width", 20) for name in ("name", "typename")]
        rows = [("name", "typename"), *self.itertypenames(**filters)]
        for name, kind in rows:
            line = f"{printable(name):<{widths[0]}} | {printable(kind)}\n"
            print(line, end="", file=stream)
