"""Makes Python objects of columns of objects."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

import numpy as np

from nyssa import _core, _form
from nyssa._form import Buffers, Form
from nyssa.objects.axis import Axis
from nyssa.objects.efficiency import Efficiency
from nyssa.objects.graph import Graph, Graph2D
from nyssa.objects.histogram import Histogram, PolygonHistogram
from nyssa.objects.object import Object
from nyssa.objects.profile import Profile
from nyssa.objects.simple import Collection, Matrix, Parameter, Text
from nyssa.objects.sparse import DenseHistogram, SparseHistogram

__all__ = ["Reader"]

_CONTAINER = re.compile(r"(?:std::|ROOT::VecOps::)?[a-zA-Z_]+<(.*)>")
_TEMPLATES = {
    "TParameter": Parameter,
    "TVectorT": Matrix,
    "TMatrixT": Matrix,
    "TMatrixTSym": Matrix,
}
#: Classes that stand for all derived from them; the first that fits is taken.
_CLASSES = {
    "TAxis": Axis,
    "TH2Poly": PolygonHistogram,
    "TH1K": PolygonHistogram,
    "TProfile": Profile,
    "TProfile2D": Profile,
    "TProfile3D": Profile,
    "TH1": Histogram,
    "TGraph": Graph,
    "TGraph2D": Graph2D,
    "TEfficiency": Efficiency,
    "THnSparse": SparseHistogram,
    "THn": DenseHistogram,
    "TObjString": Text,
}


_Node = tuple[Form, Buffers]


class Reader:
    """Reads the objects of a file. It reads nothing before the first object is needed."""

    def __init__(self, core: _core.File) -> None:
        self._core = core

    def read(self, path: str, class_name: str) -> Any:
        """Return the object at a path, with cycle: an `Object`, or the value of a bare container.

        Raises
        ------
        nyssa.UnsupportedError
            (a `NotImplementedError`) when the file does not describe the class, or a member of it
            is streamed in a way that nyssa does not know.
        nyssa.FormatError
            (a `ValueError`) when the bytes of the object do not fit its class. The message has the
            class, the member and the byte.
        """
        column = self._core.object(path)
        node = (_form.parse(column.form(typed=True)), column.buffers())
        found = self._value(node, 0, class_name)
        if isinstance(found, Object):
            found._source = (self._core, path)
        return found

    @cached_property
    def _classes(self) -> dict[str, list[tuple[str, str, bool]]]:
        return self._core.classes()

    def _elements(self, class_name: str) -> list[tuple[str, str, bool]]:
        """Return name, type, and whether it is a base class, of the members of a class."""
        if class_name not in self._classes:
            self._classes[class_name] = _core.File.built_in(class_name)
        return self._classes[class_name]

    def _value(self, node: _Node, row: int, type_name: str) -> Any:
        """Return one value of a C++ type, which is empty when it is not known."""
        form, buffers = node
        kind = form["class"]
        if kind == "NumpyArray":
            return _form.numbers(form, buffers)[row].item()
        if kind == "ListOffsetArray":
            start, stop = _form.index(form, buffers, "offsets")[row : row + 2].tolist()
            content = (form["content"], buffers)
            text = _form.parameter(form, "__array__")
            if text is None:
                return self._items(content, start, stop, _item_type(type_name))
            data = _form.numbers(*content)[start:stop].tobytes()
            return data.decode("utf-8", "surrogateescape") if text == "string" else data
        if kind == "RegularArray":
            size = form["size"]
            content = (form["content"], buffers)
            return self._items(content, row * size, (row + 1) * size, type_name)
        if kind == "ByteMaskedArray":
            there = _form.index(form, buffers, "mask")[row]
            return self._value((form["content"], buffers), row, type_name) if there else None
        if kind == "IndexedOptionArray":
            place = int(_form.index(form, buffers, "index")[row])
            content = (form["content"], buffers)
            name = _typename(content) or type_name
            return None if place < 0 else self._value(content, place, name)
        if kind == "UnmaskedArray":
            return self._value((form["content"], buffers), row, type_name)
        if kind == "UnionArray":
            tag, place = (_form.index(form, buffers, name)[row] for name in ("tags", "index"))
            content = (form["contents"][tag], buffers)
            return self._value(content, int(place), _typename(content))
        if kind == "RecordArray":
            return self._object(node, row, _bare(type_name))
        return None

    def _items(self, node: _Node, start: int, stop: int, type_name: str) -> Any:
        """Return several values: numbers as an array, others as a list."""
        shape: list[int] = []
        form, buffers = node
        while form["class"] == "RegularArray":
            shape.append(form["size"])
            form = form["content"]
        if form["class"] != "NumpyArray":
            return [self._value(node, row, type_name) for row in range(start, stop)]
        size = int(np.prod(shape, dtype=np.int64))
        numbers = _form.numbers(form, buffers)[start * size : stop * size]
        return numbers.reshape(stop - start, *shape)

    def _object(self, node: _Node, row: int, class_name: str) -> Any:
        form, buffers = node
        if not class_name and form["fields"] == ["_0", "_1"]:
            return tuple(self._value((one, buffers), row, "") for one in form["contents"])
        members: dict[str, Any] = {}
        bases: list[str] = []
        own = self._flatten(node, row, class_name, members, bases)
        return _kind(class_name, bases, members)(class_name, tuple(bases), members, own)

    def _flatten(
        self,
        node: _Node,
        row: int,
        class_name: str,
        members: dict[str, Any],
        bases: list[str],
    ) -> tuple[str, ...]:
        """Add the members of an object, those of its base classes first; return its own."""
        elements = self._elements(class_name)
        types = {name: type_name for name, type_name, base in elements if not base}
        base_names = [name for name, _, base in elements if base]
        own = []
        form, buffers = node
        for name, one in zip(form["fields"], form["contents"], strict=True):
            child = (one, buffers)
            if not name.startswith(":_"):
                members[name] = self._value(child, row, types.get(name, ""))
                own.append(name)
                continue
            index = int(name[2:])
            base = base_names[index] if index < len(base_names) else ""
            bases.extend([base] if base else [])
            if one["class"] == "RecordArray":
                self._flatten(child, row, base, members, bases)
            else:
                array = base.startswith("TArray") or not base
                members["fArray" if array else base] = self._value(child, row, base)
        return tuple(own)


def _kind(class_name: str, bases: list[str], members: dict[str, Any]) -> type[Object]:
    """Return the Python class of a C++ class."""
    template = _TEMPLATES.get(class_name.partition("<")[0])
    if template is not None:
        return template
    names = {class_name, *bases}
    for name, kind in _CLASSES.items():
        if name in names:
            return kind
    return Collection if isinstance(members.get("items"), list) else Object


def _typename(node: _Node) -> str:
    """Return the C++ type that an alternative of a union tells."""
    form, buffers = node
    if form["class"] in ("ByteMaskedArray", "IndexedOptionArray", "UnmaskedArray"):
        return _typename((form["content"], buffers))
    return _form.parameter(form, "typename") or ""


def _bare(type_name: str) -> str:
    """Return the class of a type, without what makes it a pointer."""
    return type_name.removeprefix("const ").rstrip("* ")


def _item_type(type_name: str) -> str:
    """Return the type of what a pointer with a counter leads to, or of the items of a container.

    Nothing for containers of pairs.
    """
    if type_name.endswith("*"):
        return _bare(type_name)
    found = _CONTAINER.fullmatch(_bare(type_name))
    inner = found[1].strip() if found else ""
    depth = 0
    for letter in inner:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            return ""
    return inner
