"""`RNTuple` and `RField`, by uproot's names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast, overload

import awkward as ak
from awkward.contents import Content, RecordArray
from awkward.forms import Form, RecordForm
from typing_extensions import Unpack

import nyssa
from nyssa import _core
from nyssa.arguments.names import NameFilter, not_found
from nyssa.arguments.options import AwkwardName, NumpyArray, NumpyName, PandasName
from nyssa.arrays import libraries
from nyssa.errors import ArgumentError
from nyssa.read.columns import Names
from nyssa.uproot import values
from nyssa.uproot.node import Node
from nyssa.uproot.nodes import Nodes
from nyssa.uproot.options import ArrayOptions, NodeFilter
from nyssa.uproot.root import Root

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["HasFields", "RField", "RNTuple"]


class HasFields(Nodes["RField"]):
    """An RNTuple, or a field that has subfields."""

    @property
    def description(self) -> str:
        """Return the description."""
        raise NotImplementedError

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
        root = cast("RNTuple", self._root)
        fields = {field.name: field for field in root.dataset.fields}
        if add_doc:
            for path in made:
                if path in fields:
                    layout = ak.to_layout(made[path])
                    made[path] = ak.Array(root._described(layout, fields[path], add_doc))
        shown = {path: name for name, path in requested}
        grouped = values.group(made, [(shown.get(path, path), path) for path in made], library, how)
        if add_doc is True and self.description and isinstance(grouped, ak.Array):
            return ak.with_parameter(grouped, "__doc__", self.description)
        return grouped

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


def _with_attributes(records: str) -> Any:
    """Return records in JSON as objects that have attributes."""
    return json.loads(records, object_hook=lambda items: SimpleNamespace(**items))


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

    # uproot has other first arguments than for branches.
    @overload  # type: ignore[override]
    def array(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: AwkwardName = "ak",
        **options: Unpack[ArrayOptions],
    ) -> ak.Array: ...

    @overload
    def array(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: NumpyName,
        **options: Unpack[ArrayOptions],
    ) -> NumpyArray: ...

    @overload
    def array(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: PandasName,
        **options: Unpack[ArrayOptions],
    ) -> pd.Series[Any]: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def array(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: str,
        **options: Unpack[ArrayOptions],
    ) -> Any: ...

    def array(
        self,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        interpretation: object = None,
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
        stored: SimpleNamespace = _with_attributes(_core.ntuple_records(self.dataset._core) or "{}")
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

    @property
    def field_records(self) -> list[SimpleNamespace]:
        """Return the records of all fields, also of those that were added later."""
        return [*self.header.field_records, *self.footer.extension_links.field_records]

    @property
    def column_records(self) -> list[SimpleNamespace]:
        """Return the records of all columns, also of those that were added later."""
        return [*self.header.column_records, *self.footer.extension_links.column_records]

    @cached_property
    def page_link_list(self) -> list[list[SimpleNamespace]]:
        """Return the pages of each column in each cluster."""
        pages: list[list[SimpleNamespace]]
        pages = _with_attributes(_core.ntuple_pages(self.dataset._core) or "[]")
        return pages

    @cached_property
    def _descriptions(self) -> dict[str, str]:
        """The descriptions of fields by their paths in the RNTuple."""
        paths: list[str] = []
        for number, record in enumerate(self.field_records):
            above = record.parent_field_id
            top = above is None or above == number
            paths.append(record.field_name if top else f"{paths[above]}.{record.field_name}")
        return {
            path: record.field_desc for path, record in zip(paths, self.field_records, strict=True)
        }

    def _described(self, layout: Content, field: nyssa.Field, add_doc: Any) -> Content:
        """Return an array with the descriptions of its field, and of all fields below it."""
        parameters = dict(layout.parameters)
        description = self._descriptions.get(field.path, "")
        known = {
            "title": description,
            "description": description,
            "typename": field.typename,
            "name": field.name,
        }
        if add_doc is True and description:
            parameters["__doc__"] = description
        elif isinstance(add_doc, Mapping):
            if unknown := [item for item in add_doc.values() if item not in known]:
                raise ArgumentError(f"ak_add_doc: a field has no {unknown[0]!r}")
            parameters |= {key: known[item] for key, item in add_doc.items()}
        children = field.children
        if isinstance(layout, RecordArray):
            if layout.is_tuple:
                parts = [
                    self._described(part, child, add_doc)
                    for part, child in zip(layout.contents, children, strict=False)
                ]
            else:
                named = {child.name: child for child in children}
                parts = [
                    self._described(part, named[name], add_doc) if name in named else part
                    for name, part in zip(layout.fields, layout.contents, strict=True)
                ]
            return layout.copy(contents=parts, parameters=parameters)
        if hasattr(layout, "content") and len(children) == 1:
            inner = self._described(layout.content, children[0], add_doc)
            return layout.copy(content=inner, parameters=parameters)
        return layout.copy(parameters=parameters)

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
        return sum(
            size for column, size in self._sizes.items() if f"{column}.".startswith(f"{path}.")
        )

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """The bytes of the values of fields by their paths in the RNTuple.

        As in uproot, the offsets of lists are as wide as their columns.
        """
        paths = list(self._descriptions)
        sizes: dict[str, int] = {}
        for number, column in enumerate(self.column_records):
            if column.repr_idx:
                continue
            elements = sum(
                page.num_elements
                for cluster in self.page_link_list
                if number < len(cluster)
                for page in cluster[number].pages
            )
            path = paths[column.field_id].replace("._0", "")
            sizes[path] = sizes.get(path, 0) + elements * -(-column.nbits // 8)
        return sizes
