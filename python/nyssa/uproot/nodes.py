"""`Nodes`: what trees, branches, RNTuples and fields have in common, by uproot's names."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Literal,
    NamedTuple,
    TextIO,
    TypeAlias,
    TypeVar,
    cast,
    overload,
)

import awkward as ak
import numpy as np
from typing_extensions import Unpack

from nyssa._core import printable
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, names_of, not_found
from nyssa.arguments.options import AwkwardName, NumpyArray, NumpyArrays, NumpyName, PandasName
from nyssa.arguments.sizes import bytes_of
from nyssa.arrays import lazy_arrays, libraries
from nyssa.errors import ArgumentError
from nyssa.read.columns import Names
from nyssa.uproot import tables, values
from nyssa.uproot.interpretation.reading import separated
from nyssa.uproot.node_mapping import NodeMapping
from nyssa.uproot.options import (
    IgnoredOptions,
    NodeFilter,
    SelectionOptions,
    StepOptions,
    accepted,
    clipped,
)
from nyssa.uproot.report import Report

if TYPE_CHECKING:
    import pandas as pd

    from nyssa.uproot.node import Node

__all__ = ["Access", "Expressions", "Nodes"]

Expressions: TypeAlias = Any
"""Names and expressions, a dict from names to interpretations, or pairs of these."""


class Access(NamedTuple):
    """What `access_log` gets for a branch (or field) that is read."""

    branch: str
    """The name of the branch."""
    buffer_key: str
    """The key of the buffer of its array."""


N = TypeVar("N", bound="Node[Any]")
"""`TBranch` or `RField`."""

_GET = re.compile(r"\bget\(\s*(['\"])(.+?)\1\s*\)")
"""A column in an expression, by a name that Python would not take."""


def _check_virtual(library: str, given: Mapping[str, object]) -> None:
    """Refuse what would have to be read for arrays that are read later, as in uproot."""
    if libraries.canonical(library) != "ak":
        raise ArgumentError("library= cannot be used with 'virtual=True'")
    for name, item in given.items():
        if item is not None:
            raise ArgumentError(f"{name}= cannot be used with 'virtual=True'")


def _texts(aliases: object) -> Mapping[str, str]:
    """Return aliases, which are checked here: those of virtual arrays are refused before."""
    if aliases is None:
        return {}
    texts = isinstance(aliases, Mapping) and all(
        isinstance(item, str) for pair in aliases.items() for item in pair
    )
    if not texts:
        raise ArgumentError(f"aliases is a dict of texts, not {aliases!a}")
    return cast("Mapping[str, str]", aliases)


class Nodes(NodeMapping[N]):
    """A dataset, or a part of one, with branches or fields below it.

    The data are read by nyssa. Options of uproot that say how it reads (executors, caches,
    interpretations) are accepted and have no effect.
    """

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
            # Of branches with one name, the first is read.
            return list({leaf.name: leaf._path for leaf in reversed(leaves)}.items())[::-1]
        return [
            (name, self._counted(path) if (path := self._find(name)) else self._translated(name))
            for name in names_of(expressions) or ()
        ]

    def _counted(self, path: str) -> str:
        """Return what is read for a column: the number of items of a split ``TClonesArray``."""
        if self._is_tree and self._index.below[path]:
            kind = self._index.items[path][1]
            leaf = next(item for item in self._index.deep(path) if not self._index.below[item])
            return f"len(`{leaf}`)" if kind == "TClonesArray" else path
        return path

    def _translated(self, expression: str) -> str:
        """Return an expression of uproot in the language of nyssa: ``get('a/b')`` is `a/b`."""
        return _GET.sub(lambda call: f"`{self._find(call[2]) or call[2]}`", expression)

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
        expressions: Expressions = None,
        cut: str | None = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        filter_branch: NodeFilter = None,
        filter_field: NodeFilter = None,
        aliases: Any = None,
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
        log: Any = options.pop("access_log", None)
        accepted(options)
        if log is not None and not virtual:
            raise ArgumentError("access_log= cannot be used with 'virtual=False'")
        if virtual:
            given = {"expressions": expressions, "cut": cut, "aliases": aliases, "how": how}
            _check_virtual(library, given)
        expressions, given = separated(expressions)
        if how is not None and not isinstance(how, (str, type)):
            raise ArgumentError(f"how is tuple, list, dict or a text, not {type(how).__name__}")
        requested = self._requested(
            expressions, filter_name, filter_typename, filter_branch or filter_field
        )
        start, stop = clipped(entry_start, entry_stop, self.num_entries)
        if not requested:
            return tables.nothing(library, how, range(0) if self._is_tree else range(start, stop))
        if given:
            return self._reinterpreted(requested, given, cut, range(start, stop), library, how)
        aliases = {name: self._translated(text) for name, text in _texts(aliases).items()}
        cut = None if cut is None else self._translated(cut)
        names = list(dict.fromkeys(column for _, column in requested))
        if virtual:
            table = self._unread(names, start, stop, log)
            return self._finished(table, requested, library, how, ak_add_doc)
        table = self._root.dataset.arrays(
            names,
            cut=cut,
            aliases=aliases,
            entry_start=start,
            entry_stop=stop,
            library=library,
        )
        if cut is not None and libraries.is_pandas(library):
            table.index = start + np.flatnonzero(self._passing(cut, aliases, start, stop))
        return self._finished(table, requested, library, how, ak_add_doc)

    def _unread(self, names: list[str], start: int, stop: int, log: Any) -> ak.Array:
        """Return columns that are read when they are first used, which the log then gets."""

        def before(name: str, key: str) -> None:
            if log is not None:
                # uproot asks of a log that it can be added to in place.
                log.__iadd__([Access(self._root._names.names[name], key)])

        core = self._root.dataset._core
        return lazy_arrays.record(core, names, start, stop, None, before)

    def _reinterpreted(
        self,
        requested: list[tuple[str, str]],
        given: Mapping[str, Any],
        cut: str | None,
        entries: range,
        library: str,
        how: Any,
    ) -> Any:
        """Return branches, some of them by another interpretation than their own."""
        if cut is not None:
            raise NotImplementedError("interpretations and a cut do not go together here")
        columns = {
            name: self[name].array(
                interpretation=given.get(name),
                entry_start=entries.start,
                entry_stop=entries.stop,
                library=library,
            )
            for name, _ in requested
        }
        table: Any = tables.Table(columns, len(entries))
        if libraries.is_pandas(library):
            table = libraries.optional("pandas").DataFrame(columns)
        return values.group(table, [(name, name) for name in columns], library, how)

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
        expressions: Expressions = None,
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
        names, _ = separated(expressions)
        start, stop = clipped(entry_start, entry_stop, self.num_entries)
        size = step_size
        has_nothing = self._is_tree and not self._requested(names, *filters.values())
        if has_nothing and cut is None:
            return
        if not isinstance(size, (int, np.integer)):
            # The branches of the cut are not counted.
            everything = max(1, stop - start)
            size = everything if has_nothing else self.num_entries_for(size, names, **filters)
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
