"""Makes Python objects of the tables of objects."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from nyssa import _core
from nyssa.arrays import forms
from nyssa.arrays.forms import Buffers, Form
from nyssa.errors import FormatError, UnsupportedError
from nyssa.objects.axis import Axis
from nyssa.objects.date import Datime
from nyssa.objects.efficiency import Efficiency
from nyssa.objects.graph import Graph, Graph2D
from nyssa.objects.histogram import Histogram, PolygonHistogram
from nyssa.objects.object import Object
from nyssa.objects.profile import Profile
from nyssa.objects.simple import Collection, Matrix, Parameter, Text, Undecoded
from nyssa.objects.sparse import DenseHistogram, SparseHistogram

__all__ = ["Reader"]

_CONTAINER = re.compile(r"(?:std::|ROOT::VecOps::)?[a-zA-Z_]+<(.*)>")
_MAP = re.compile(r"(?:const )?(?:std::)?(?:unordered_)?map<")
_TEMPLATES = {
    "TParameter": Parameter,
    "TVectorT": Matrix,
    "TMatrixT": Matrix,
    "TMatrixTSym": Matrix,
}
#: Base classes, each for all classes derived from it; the first that fits is taken.
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

_COLLECTIONS = {
    "TList",
    "THashList",
    "TSortedList",
    "TObjArray",
    "TClonesArray",
    "TMap",
    "THashTable",
    "TOrdCollection",
    "RooLinkedList",
}

#: The beginning of the type of the items of a map, which are pairs without a class of their own.
_ITEM = "item<"

_Node = tuple[Form, Buffers]
_Member = tuple[str, str, bool]


class Reader:
    """Reads the objects of a file. It reads nothing before the first object is needed."""

    def __init__(self, core: _core.File) -> None:
        self._core = core

    def read(self, path: str) -> Any:
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
        try:
            whole = _Graph(self, *self._core.object(path)).whole()
        except RecursionError:
            message = f"{path}: containers in containers without end"
            raise FormatError(message) from None
        if isinstance(whole, Object):
            whole._source = (self._core, path)
        return whole

    @cached_property
    def _classes(self) -> dict[str, list[_Member]]:
        return self._core.classes()

    def pairs(self, items: list[Any]) -> Any:
        """Return what stands for a map of these pairs."""
        return items

    def kind(self, class_name: str, bases: tuple[str, ...]) -> type[Object]:
        """Return the Python class of a C++ class."""
        template = _TEMPLATES.get(class_name.partition("<")[0])
        if template is not None:
            return template
        names = {class_name, *bases}
        for name, kind in _CLASSES.items():
            if name in names:
                return kind
        return Collection if names & _COLLECTIONS else Object

    def elements(self, class_name: str) -> list[_Member]:
        """Return name, type, and whether it is a base class, of the members of a class."""
        if class_name not in self._classes:
            self._classes[class_name] = _core.File.built_in(class_name)
        return self._classes[class_name]


class _Graph:
    """An object with those that it leads to, which are rows of tables."""

    def __init__(
        self,
        reader: Reader,
        tables: list[tuple[str, _core.Array]],
        places: list[tuple[int, int] | tuple[str, str] | None],
    ) -> None:
        self._reader = reader
        self._elements = reader.elements
        self._tables = [
            (class_name, (forms.parse(column.form(typed=True)), column.buffers()))
            for class_name, column in tables
        ]
        self._places = places
        #: The objects by number, as soon as they are made. They may lead to each other.
        self._made: dict[int, Any] = {}
        self._empty: list[tuple[Object, _Node, int]] = []

    def whole(self) -> Any:
        """Return the object that leads to all others."""
        first = self._linked(1)
        while self._empty:
            made, node, row = self._empty.pop()
            self._fill(made._members, node, row, made.class_name)
        return first

    def _linked(self, number: int) -> Any:
        """Return the object that a pointer leads to. Its members are filled in later."""
        if number not in self._made:
            self._made[number] = self._place(number)
        return self._made[number]

    def _place(self, number: int) -> Any:
        place = self._places[number - 1] if number else None
        if place is None:
            return None
        table, row = place
        if isinstance(table, str):
            return Undecoded(table, str(row))
        class_name, node = self._tables[table]
        if node[0]["class"] != "RecordArray":
            return self._value(node, int(row), class_name)
        return self._object(node, int(row), class_name)

    def _value(self, node: _Node, row: int, type_name: str) -> Any:
        """Return one value of a C++ type, which is empty when it is not known."""
        form, buffers = node
        kind = form["class"]
        if kind == "NumpyArray":
            value = forms.numbers(form, buffers)[row].item()
            if isinstance(value, datetime):
                return Datime(*value.timetuple()[:6])
            return self._linked(value) if _is_link(form) else value
        if kind == "ListOffsetArray":
            start, stop = forms.index(form, buffers, "offsets")[row : row + 2].tolist()
            content = (form["content"], buffers)
            text = forms.parameter(form, "__array__")
            if text is None:
                items = self._items(content, start, stop, _item_type(type_name))
                return self._reader.pairs(items) if _MAP.match(type_name) else items
            data = forms.numbers(*content)[start:stop].tobytes()
            return data.decode("utf-8", "surrogateescape") if text == "string" else data
        if kind == "RegularArray":
            size = form["size"]
            content = (form["content"], buffers)
            return self._items(content, row * size, (row + 1) * size, type_name)
        if kind == "RecordArray":
            return self._object(node, row, _bare(type_name))
        raise UnsupportedError(f"nyssa does not decode a member of type {type_name or kind}")

    def _items(self, node: _Node, start: int, stop: int, type_name: str) -> Any:
        """Return several values: numbers as an array, others as a list."""
        shape: list[int] = []
        form, buffers = node
        while form["class"] == "RegularArray":
            shape.append(form["size"])
            form = form["content"]
        if form["class"] != "NumpyArray" or _is_link(form):
            return [self._value(node, row, type_name) for row in range(start, stop)]
        size = int(np.prod(shape, dtype=np.int64))
        numbers = forms.numbers(form, buffers)[start * size : stop * size]
        return numbers.reshape(stop - start, *shape)

    def _object(self, node: _Node, row: int, class_name: str) -> Any:
        form, buffers = node
        without_class = not class_name or class_name.startswith(_ITEM)
        if without_class and form["fields"] == ["_0", "_1"]:
            types = _arguments(class_name)[:2] or ["", ""]
            types = [f"{_ITEM}{of[5:]}" if of.startswith("pair<") else of for of in types]
            pairs = zip(form["contents"], types, strict=True)
            return tuple(self._value((item, buffers), row, of) for item, of in pairs)
        bases, own = self._outline(form, class_name)
        made = self._reader.kind(class_name, bases)(class_name, bases, {}, own)
        self._empty.append((made, node, row))
        return made

    def _outline(self, form: Form, class_name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the base classes of a class, also of base classes, and its own members."""
        bases: list[str] = []
        own = []
        base_names = self._bases(class_name)
        for name, item in zip(_fields(form, class_name), form["contents"], strict=True):
            if not name.startswith(":_"):
                own.append(name)
            elif base := base_names.get(name, ""):
                bases.append(base)
                if item["class"] == "RecordArray":
                    bases.extend(self._outline(item, base)[0])
        return tuple(bases), tuple(own)

    def _bases(self, class_name: str) -> dict[str, str]:
        """Return the names of base classes by the names that they have in records."""
        bases = [name for name, _, base in self._elements(class_name) if base]
        return {f":_{index}": name for index, name in enumerate(bases)}

    def _fill(self, members: dict[str, Any], node: _Node, row: int, class_name: str) -> None:
        """Add the members of an object, first the members of its base classes."""
        types = {
            name: type_name for name, type_name, base in self._elements(class_name) if not base
        }
        base_names = self._bases(class_name)
        form, buffers = node
        for name, item in zip(_fields(form, class_name), form["contents"], strict=True):
            child = (item, buffers)
            base = base_names.get(name, "")
            if not name.startswith(":_"):
                members[name] = self._value(child, row, types.get(name, ""))
            elif item["class"] == "RecordArray":
                self._fill(members, child, row, base)
            else:
                array = base.startswith("TArray") or not base
                members["fArray" if array else base] = self._value(child, row, base)


def _fields(form: Form, class_name: str) -> list[str]:
    """Return the names of the members of a class."""
    fields: list[str] = form["fields"]
    is_pair = fields == ["_0", "_1"] and class_name.startswith(("pair<", "std::pair<"))
    return ["first", "second"] if is_pair else fields


def _is_link(form: Form) -> bool:
    """Return whether numbers are numbers of objects."""
    return forms.parameter(form, "typename") == "nyssa:link"


def _bare(type_name: str) -> str:
    """Return the class of a type, without what makes it a pointer."""
    return type_name.removeprefix("const ").rstrip("* ")


def _item_type(type_name: str) -> str:
    """Return the type of what a pointer with a counter leads to, or of the items of a container.

    The items of maps, and pairs in them, are pairs without a class: tuples in Python.
    """
    if type_name.endswith("*"):
        return _bare(type_name)
    arguments = _arguments(_bare(type_name))
    if type_name.partition("<")[0].endswith("map") and len(arguments) > 1:
        return f"{_ITEM}{arguments[0]},{arguments[1]}>"
    return arguments[0] if arguments else ""


def _arguments(type_name: str) -> list[str]:
    """Return the arguments of a template."""
    matched = _CONTAINER.fullmatch(type_name)
    arguments = [""]
    depth = 0
    for letter in matched[1] if matched else "":
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += letter
    return [argument.strip() for argument in arguments] if matched else []
