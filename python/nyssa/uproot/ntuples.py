"""`RNTuple` and `RField`, by uproot's names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import awkward as ak
from awkward.contents import Content, RecordArray
from awkward.forms import Form, RecordForm

import nyssa
from nyssa import _core
from nyssa.arguments.names import NameFilter, not_found
from nyssa.arrays import libraries
from nyssa.read.columns import Names
from nyssa.uproot import values
from nyssa.uproot.node import Node
from nyssa.uproot.nodes import Nodes
from nyssa.uproot.options import NodeFilter
from nyssa.uproot.root import Root

__all__ = ["HasFields", "RField", "RNTuple"]


class HasFields(Nodes["RField"]):
    """An RNTuple, or a field that has subfields."""

    @property
    def fields(self) -> list[RField]:
        """Return the fields of the first level."""
        return self._children()

    def _requested(
        self,
        expressions: Names,
        filter_name: NameFilter,
        filter_typename: NameFilter,
        node: NodeFilter,
    ) -> list[tuple[str, str]]:
        if expressions is None:
            if isinstance(self, RField) and not len(self):
                return [(self._path, self._path)]
            nodes = self._walk(filter_name, filter_typename, node)
            paths = {item._path: item._path for item in nodes if item.column.reason is None}
        else:
            requested = super()._requested(expressions, filter_name, filter_typename, node)
            known = self._index.items
            paths = {path: path if path in known else name for name, path in requested}
        # A field that is chosen has its subfields.
        return [
            (name, path)
            for path, name in paths.items()
            if not any(item in paths for item in self._above(path))
        ]

    def to_akform(self, **filters: Any) -> tuple[Form, list[str] | None]:
        """Return the form of the arrays, and the names on the path of a field; see `arrays`."""
        form = self.arrays(entry_stop=0, **filters).layout.form
        return form, self._index.shown[self._path].split(".") if self._path else None

    def _find(self, where: str) -> str | None:
        # Names of fields have no slash. The items of tuples are `0`, `1` and so on in uproot.
        path = re.sub(r"[/\\]", ".", where.strip("/"))
        found = super()._find(path)
        return found or super()._find(re.sub(r"(?<=\.)(\d+)(?=\.|$)", r"_\1", path))

    def _above(self, path: str) -> Iterator[str]:
        while path in self._index.above and (path := self._index.above[path]):
            yield path

    def _finished(self, table: Any, requested: Any, library: str, how: Any, add_doc: Any) -> Any:
        if libraries.canonical(library) != "ak":
            return super()._finished(table, requested, library, how, add_doc)
        paths = [path for _, path in requested]
        columns = {path: ak.to_layout(table[path]) for path in paths}
        nested = self._nested(columns)
        kinds = {name: self._index.items[name][1] for name in nested if name in self._index.items}
        arrays = {name: ak.Array(item) for name, item in nested.items()}
        made = self._root._as_uproot(arrays, kinds)
        made._length = len(table)
        shown = {path: name for name, path in requested}
        return values.group(made, [(shown.get(path, path), path) for path in made], library, how)

    def _nested(self, columns: dict[str, Content]) -> dict[str, Content]:
        """Return the columns as records of the fields above them."""
        tops: dict[str, dict[str, Content]] = {}
        for path, layout in columns.items():
            *_, top = path, *self._above(path)
            tops.setdefault(top, {})[path] = layout
        form = self._root.dataset.form
        return {
            top: below[top] if top in below else woven(form([top]).content(top), top, below)
            for top, below in tops.items()
        }


def woven(form: Form, path: str, columns: dict[str, Content]) -> Content:
    """Return the columns of a field as a record, or lists of records, of the form of the field.

    `columns` have the lists of the fields above them.
    """
    if path in columns:
        return columns[path]
    if isinstance(form, RecordForm):
        inside = {
            name: {
                item: layout
                for item, layout in columns.items()
                if f"{item}.".startswith(f"{path}.{name}.")
            }
            for name in form.fields
        }
        parts = {
            name: woven(form.content(name), f"{path}.{name}", below)
            for name, below in inside.items()
            if below
        }
        return RecordArray(list(parts.values()), list(parts))
    some = next(iter(columns.values()))
    inner = {item: layout.content for item, layout in columns.items()}
    return some.copy(content=woven(form.content, path, inner))


class RField(Node["RField"], HasFields):
    """A field of an RNTuple."""

    @property
    def path(self) -> str:
        """Return the path in the RNTuple, such as ``jets.pt``."""
        return self._index.shown[self._path]

    # uproot has other first arguments than for branches, and the library is a name: `Any`.
    def array(  # type: ignore[override]
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        interpretation: None = None,
        **options: Any,
    ) -> Any:
        """Read the values, as `nyssa.Column.array` does; see `TBranch.array`."""
        return super().array(interpretation, entry_start, entry_stop, **options)

    @property
    def description(self) -> str:
        """Return the description of the field."""
        return self.column.title


class RNTuple(HasFields, Root[RField]):
    """An RNTuple; `dataset` is the dataset of nyssa."""

    dataset: nyssa.RNTuple
    _kind = RField
    _separator = "."

    @property
    def description(self) -> str:
        """Return the description of the RNTuple."""
        return self.dataset.title

    title = description

    @cached_property
    def _stored(self) -> SimpleNamespace:
        """What is stored of it beside the pages, as objects that have attributes."""
        stored: SimpleNamespace = json.loads(
            _core.ntuple_records(self.dataset._core) or "{}",
            object_hook=lambda items: SimpleNamespace(**items),
        )
        return stored

    @property
    def header(self) -> SimpleNamespace:
        """Return the header, with ``field_records``, ``column_records``, ``checksum`` and so on."""
        header: SimpleNamespace = self._stored.header
        return header

    @property
    def footer(self) -> SimpleNamespace:
        """Return the footer, with ``cluster_group_records``, ``header_checksum`` and so on."""
        footer: SimpleNamespace = self._stored.footer
        return footer

    @property
    def all_members(self) -> dict[str, Any]:
        """Return the members of the anchor, such as ``fVersionEpoch``."""
        members: dict[str, Any] = vars(self._stored.anchor)
        return members

    members = all_members

    def has_member(self, name: str) -> bool:
        """Return whether the anchor has a member."""
        return name in self.all_members

    def member(self, name: str) -> Any:
        """Return a member of the anchor."""
        if not self.has_member(name):
            raise not_found(name, list(self.all_members), repr(self))
        return self.all_members[name]

    def _typename(self, path: str) -> str:
        return self._types.get(path, "")

    @cached_property
    def _types(self) -> dict[str, str]:
        """Return the C++ types by the paths that columns have, without the items of lists."""
        types: dict[str, str] = {}

        def add(fields: list[nyssa.Field], above: str) -> None:
            for field in fields:
                hidden = bool(above) and field.name == "_0" and len(fields) == 1
                path = above if hidden else f"{above}.{field.name}".lstrip(".")
                types.setdefault(path, field.typename)
                add(field.children, path)

        add(self.dataset.fields, "")
        return types

    def _uncompressed(self, path: str) -> int:
        stop = min(self.num_entries, 1000)
        if not stop:
            return 0
        first = self.dataset[path].array(entry_stop=stop)
        return int(ak.to_packed(first).nbytes * self.num_entries / stop)
