"""Gives arrays the form that uproot gives them: objects with members, names of types."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import (
    Content,
    ListOffsetArray,
    NumpyArray,
    RecordArray,
    RegularArray,
)

from nyssa.arrays import groups, libraries, to_numpy
from nyssa.objects import Object
from nyssa.uproot.bases import is_base, unique

__all__ = ["STLMap", "STLSet", "STLVector", "awkward", "group", "objects", "typename"]

Classes = Mapping[str, Sequence[tuple[str, str, bool]]]
"""The members of classes: the name and type of each, and whether it is a base class."""

_LISTS = ("vector", "list", "deque", "array", "RVec", "ROOT::VecOps::RVec", "ROOT::RVec")
_SETS = ("set", "multiset", "unordered_set", "unordered_multiset")
_MAPS = ("map", "multimap", "unordered_map", "unordered_multimap")
_STD = "|".join(["string", "pair", "tuple", "bitset", *_LISTS[:4], *_SETS, *_MAPS])
_CONTAINER = re.compile(rf"(?<![:\w])({_STD})\b(?!\s*\w)")
_NUMBERS = {
    "Bool_t": "bool",
    "Char_t": "int8_t",
    "UChar_t": "uint8_t",
    "Short_t": "int16_t",
    "UShort_t": "uint16_t",
    "Int_t": "int32_t",
    "UInt_t": "uint32_t",
    "Long64_t": "int64_t",
    "ULong64_t": "uint64_t",
    "Float_t": "float",
    "Double_t": "double",
    "unsigned char": "uint8_t",
    "unsigned short": "uint16_t",
    "unsigned int": "uint32_t",
    "unsigned long": "uint64_t",
    "short": "int16_t",
    "int": "int32_t",
    "long": "int64_t",
    "char": "int8_t",
}
_NUMBER = re.compile(rf"(?<![:\w])({'|'.join(sorted(_NUMBERS, key=len, reverse=True))})(?!\w)")
_ALLOCATOR = re.compile(r",\s*[\w:]*(?:[Aa]llocator|less)\s*<(?:[^<>]|<[^<>]*>)*>")


def typename(name: str) -> str:
    """Return the name of a type of a branch as uproot has it, such as ``std::vector<int32_t>``."""
    if name == "char*":
        return name
    name = re.sub(r"\bstd::(u?int\d+_t)", r"\1", name.removeprefix("const "))
    name = _NUMBER.sub(lambda match: _NUMBERS[match[1]], _ALLOCATOR.sub("", name))
    name = re.sub(r"\[[A-Za-z_][\w.]*\]", "[]", _CONTAINER.sub(r"std::\1", name))
    name = re.sub(r"(?<=\{) | (?=\})", "", re.sub(r"^(\w+)\*$", r"\1[]", name))
    return re.sub(r"\s*,\s*", ", ", re.sub(r"\s*([<>])\s*", r"\1", name)).strip()


@lru_cache(maxsize=4096)
def _parts(name: str) -> tuple[str, tuple[str, ...]]:
    """Return a type without its arguments, and these: ``vector`` and ``float``."""
    name = name.strip().removeprefix("const ").rstrip("*& ").replace("std::", "")
    start = name.find("<")
    if start < 0 or not name.endswith(">"):
        return name, ()
    parts, depth, last = [], 0, start + 1
    for at, letter in enumerate(name[start + 1 : -1], start + 1):
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append(name[last:at])
            last = at + 1
    return name[:start], tuple(item.strip() for item in [*parts, name[last:-1]])


def _item(kind: str) -> str:
    """Return the type of the items of a list."""
    head, arguments = _parts(kind)
    if head in _MAPS:
        return f"tuple<{', '.join(arguments[:2])}>"
    if arguments:
        return arguments[0]
    return kind.rpartition("[")[0] if kind.endswith("]") else kind


class STLVector(list[Any]):
    """A ``std::vector`` in an array of objects; `tolist` gives lists and dicts only."""

    def tolist(self) -> list[Any]:
        """Return a list."""
        return [_plain(item) for item in self]


class STLSet(set[Any]):
    """A ``std::set`` in an array of objects."""

    def tolist(self) -> set[Any]:
        """Return a set."""
        return {_plain(item) for item in self}


def _array(items: list[Any]) -> Any:
    """Return a NumPy array of numbers, texts or objects."""
    try:
        array = np.asarray(items)
    except ValueError:
        return to_numpy.objects(items)
    return array if array.ndim == 1 else to_numpy.objects(items)


class STLMap(dict[Any, Any]):
    """A ``std::map`` in an object or in an array of objects."""

    def keys(self) -> Any:
        """Return the keys as a NumPy array."""
        return _array(list(self))

    def values(self) -> Any:
        """Return the values as a NumPy array."""
        return _array(list(super().values()))

    def tolist(self) -> dict[Any, Any]:
        """Return a dict."""
        return {_plain(key): _plain(item) for key, item in self.items()}


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


def objects(array: Any, kind: str) -> Any:
    """Return a NumPy array whose objects are uproot's: objects with members, STL containers.

    `kind` is the C++ type of an entry.
    """
    if array.dtype.names is not None and not kind.startswith("struct"):
        names = array.dtype.names
        rows = [_object(dict(zip(names, row, strict=True)), kind) for row in array]
    elif array.dtype == object and len(array) and isinstance(array[0], (dict, list, tuple)):
        rows = [_object(item, kind) for item in array]
    elif array.dtype == object and _parts(kind)[0] in _SETS:
        rows = [STLSet(item.tolist()) for item in array]
    else:
        return array
    out = np.empty(len(rows), dtype=object)
    for index, item in enumerate(rows):
        out[index] = item
    return out


def _object(value: Any, kind: str) -> Any:
    head, arguments = _parts(kind)
    if isinstance(value, np.ndarray) and value.dtype.names is not None:
        return [
            _object(dict(zip(value.dtype.names, element, strict=True)), _item(kind))
            for element in value
        ]
    if isinstance(value, dict):
        if head == "pair" and len(value) == 2 and len(arguments) == 2:
            both = dict(
                zip(("first", "second"), map(_object, value.values(), arguments), strict=True)
            )
            return Object(kind, (), both, tuple(both))
        members: dict[str, Any] = {}
        for name, element in value.items():
            of_base = is_base(name) and isinstance(element, dict)
            members.update(element if of_base else {name: element})
        members = {name: _object(element, "") for name, element in members.items()}
        if kind.rstrip("[]") == "TRefArray":
            members = {**members, "refs": np.asarray(members["fUIDs"])}
        return Object(kind, (), members, tuple(members))
    if not isinstance(value, (list, tuple)):
        return value
    if head in _MAPS and len(arguments) > 1:
        pairs = [
            tuple(element.values()) if isinstance(element, dict) else element for element in value
        ]
        key, item = arguments[:2]
        return STLMap((_object(element, key), _object(two, item)) for element, two in pairs)
    elements = [_object(element, _item(kind)) for element in value]
    if head in _SETS:
        return STLSet(elements)
    numbers = bool(elements) and all(isinstance(element, (int, float)) for element in elements)
    return np.array(elements) if numbers and head not in _LISTS else STLVector(elements)


def awkward(array: ak.Array, kind: str, classes: Classes, tree: bool) -> ak.Array:
    """Return an array with records as in uproot.

    The members of base classes are among the members of the class, but not ``TObject``'s, and
    records have the name of their class. Pairs have the fields ``first`` and ``second`` in a
    `tree`; all other tuples have no names.
    """
    layout = ak.to_layout(array)
    made = _layout(layout, kind, classes, tree)
    return array if made is layout else ak.Array(made)


def _layout(layout: Content, kind: str, classes: Classes, tree: bool) -> Content:
    if isinstance(layout, (ListOffsetArray, RegularArray)):
        if layout.parameter("__array__") is not None:
            return layout
        inner = _layout(layout.content, _item(kind), classes, tree)
        return layout if inner is layout.content else layout.copy(content=inner)
    if not isinstance(layout, RecordArray) or kind.startswith("struct"):
        return layout
    head, arguments = _parts(kind)
    names = list(layout.fields)
    if names and all(name == f"_{at}" for at, name in enumerate(names)):
        kinds = [*arguments, *[""] * len(names)]
        parts = [
            _layout(item, of, classes, tree)
            for item, of in zip(layout.contents, kinds, strict=False)
        ]
        pair = ["first", "second"] if tree and head == "pair" else None
        return RecordArray(parts, pair, length=layout.length)
    if not names and tree is False:
        return RecordArray([], None, length=layout.length)
    members = _spliced(layout, kind, classes, tree)
    if kind == "TRefArray":
        sizes = ak.to_layout(ak.values_astype(ak.num(ak.Array(members["fUIDs"])), np.int32))
        members = {"fSize": sizes, "fName": members["fName"], "refs": members["fUIDs"]}
    # uproot names the records of objects that have numbers only.
    named = tree and kind in classes and all(map(_of_numbers, members.values()))
    parameters = {"__record__": kind} if named else None
    return RecordArray(
        list(members.values()), list(members), length=layout.length, parameters=parameters
    )


def _of_numbers(layout: Content) -> bool:
    if isinstance(layout, RecordArray):
        return all(map(_of_numbers, layout.contents))
    return isinstance(layout, NumpyArray)


def _spliced(layout: RecordArray, kind: str, classes: Classes, tree: bool) -> dict[str, Content]:
    """Return the members of a record, also of its base classes."""
    members = list(_members(layout, kind, (), classes, tree))
    if tree:
        return {name: item for name, _, item in members}
    names = unique([(name, chain) for name, chain, _ in members])
    return {name: item for name, (_, _, item) in zip(names, members, strict=True)}


def _members(
    layout: RecordArray, kind: str, chain: tuple[str, ...], classes: Classes, tree: bool
) -> Iterator[tuple[str, tuple[str, ...], Content]]:
    """Iterate over the names of members, the base classes that each is in, and their arrays."""
    stated = {name: of for name, of, of_base in classes.get(kind, ()) if not of_base}
    bases = [name for name, _, of_base in classes.get(kind, ()) if of_base]
    parts = list(zip(layout.fields, layout.contents, strict=True))
    if not tree:
        # uproot has the members of an RNTuple's class first, and then its base classes, from the
        # last one on.
        own = [part for part in parts if not is_base(part[0])]
        parts = [*own, *reversed([part for part in parts if is_base(part[0])])]
    for name, item in parts:
        inside = item[: layout.length]
        if is_base(name) and isinstance(inside, RecordArray):
            number = int(name.removeprefix(":_"))
            base = bases[number] if number < len(bases) else ""
            if set(inside.fields) != {"fUniqueID", "fBits"} or not tree:
                yield from _members(inside, base, (*chain, base), classes, tree)
        else:
            yield name, chain, _layout(inside, stated.get(name, ""), classes, tree)


def group(table: Any, pairs: Sequence[tuple[str, str]], library: str, how: Any) -> Any:
    """Return the columns of a table under other names, put together as `how` says.

    `pairs` are the new name and the name in the table of each column.
    """
    library = libraries.canonical(library)
    columns = [table[column] for _, column in pairs]
    if how in (tuple, list):
        return how(columns)
    named = {name: column for (name, _), column in zip(pairs, columns, strict=True)}
    if how is dict or library == "np":
        return named
    if libraries.is_pandas(library):
        return table[[column for _, column in pairs]].set_axis([name for name, _ in pairs], axis=1)
    if library != "ak":
        return table
    layouts = [ak.to_layout(column) for column in named.values()]
    return groups.grouping(how, "ak")(
        ak.Array(RecordArray(layouts, list(named), length=len(table)))
    )
