"""Says how uproot would interpret a branch, by the types that the file has."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from nyssa.uproot import containers, values
from nyssa.uproot.classes import classname_encode, named
from nyssa.uproot.interpretation.base import Interpretation
from nyssa.uproot.interpretation.grouped import AsGrouped
from nyssa.uproot.interpretation.jagged import AsJagged
from nyssa.uproot.interpretation.numerical import AsDouble32, AsDtype, AsFloat16
from nyssa.uproot.interpretation.objects import AsObjects, AsStridedObjects
from nyssa.uproot.interpretation.strings import AsStrings

__all__ = ["NUMBERS", "interpretation_of"]

NUMBERS = {
    "bool": "?",
    "int8_t": "i1",
    "uint8_t": "u1",
    "int16_t": ">i2",
    "uint16_t": ">u2",
    "int32_t": ">i4",
    "uint32_t": ">u4",
    "int64_t": ">i8",
    "uint64_t": ">u8",
    "float": ">f4",
    "double": ">f8",
}
"""The types of numbers in files, by their C++ names."""

_VECTOR_HEADER = 10
"""The bytes before the items of a ``std::vector``: size, version, number of items."""

_SHORT = {"Double32_t": (AsDouble32, 0), "Float16_t": (AsFloat16, 12)}
"""The interpretations of real numbers with a range, and the bits that they have without one."""

_TEXTS = ("TString", "std::string", "string")
_OWN = ("TDatime", "TRef")
"""Classes whose models have no version in uproot."""

_RANGE = re.compile(r"\[\s*(-?[\d.eE+-]+)\s*,\s*(-?[\d.eE+-]+)\s*(?:,\s*(\d+)\s*)?\]")


def interpretation_of(branch: Any) -> Interpretation:
    """Return the interpretation of a branch in uproot's words; nyssa reads without it."""
    kind = branch.typename
    if len(branch) and kind == "TClonesArray":
        return AsDtype(">i4")
    if len(branch):
        below = {item.name: item.interpretation for item in branch.branches}
        return AsGrouped(branch, below, kind)
    made: Interpretation = _of_type(branch, kind)
    made.typename = kind
    return made


def _of_type(branch: Any, kind: str) -> Any:
    element = branch.classname == "TBranchElement"
    if kind == "char*":
        return AsStrings(length_bytes="4" if element else "1-5")
    base, jagged, shape = _dimensions(kind)
    if base in _TEXTS and not jagged and not shape:
        return AsStrings(6 if base == "std::string" and not branch.top_level else 0)
    number = _number(branch, base, shape)
    if number is not None:
        header = int(jagged and element and not _in_collection(branch))
        return AsJagged(number, header) if jagged else number
    head, arguments = values._parts(base)
    if head in ("vector", "RVec", "ROOT::VecOps::RVec") and arguments and not jagged:
        item = _number(branch, values.typename(arguments[0]), ()) or _strided(branch, arguments[0])
        if item is not None:
            return AsJagged(item, _VECTOR_HEADER)
    strided = _strided(branch, base, shape)
    if strided is not None:
        return AsJagged(strided) if jagged else strided
    model = _model(base, not jagged)
    if jagged or shape:
        container = head in _CONTAINERS or base in _TEXTS or base.endswith("*")
        model = containers.AsArray(container, False, model, shape)
    elif branch.classname == "TBranchObject":
        model = containers.AsDynamic(model)
    return AsObjects(model, branch)


def _dimensions(kind: str) -> tuple[str, bool, tuple[int, ...]]:
    """Return a type without its dimensions, whether the first one varies, and the others."""
    match = re.fullmatch(r"(.*?)((?:\[\d*\])*)", kind)
    assert match is not None  # The pattern takes every text.
    sizes = re.findall(r"\[(\d*)\]", match[2])
    return match[1], "" in sizes, tuple(int(size) for size in sizes if size)


def _number(branch: Any, kind: str, shape: tuple[int, ...]) -> Any:
    """Return the interpretation of numbers or leaf lists; `None` for all else."""
    if kind in _SHORT:
        match = _RANGE.search(branch.title)
        if match is None and kind == "Double32_t":
            return AsDtype((">f4", shape) if shape else ">f4", "f8")
        cls, bits = _SHORT[kind]
        low, high = (0.0, 0.0) if match is None else (float(match[1]), float(match[2]))
        return cls(low, high, int(match[3] or 32) if match else bits, shape)
    if kind.startswith("struct {"):
        members = [item.strip().rpartition(" ") for item in kind[8:-1].split(";") if item.strip()]
        fields = [(name, *_dimensions(name)) for _, _, name in members]
        types = [NUMBERS.get(of) for of, _, _ in members]
        if None in types or any(varies for _, _, varies, _ in fields):
            return None
        described = [
            (base, of, inner) if inner else (base, of)
            for of, (_, base, _, inner) in zip(types, fields, strict=True)
        ]
        dtype = np.dtype(described)
        return AsDtype((dtype, shape) if shape else dtype)
    if kind not in NUMBERS:
        return None
    return AsDtype((NUMBERS[kind], shape) if shape else NUMBERS[kind])


def _in_collection(branch: Any) -> bool:
    """Return whether a branch is a member of the items of a split collection."""
    while not branch.top_level:
        branch = branch.parent
        head, arguments = values._parts(branch.typename)
        if head == "TClonesArray" or (arguments and head in _CONTAINERS):
            return True
    return False


def _strided(branch: Any, kind: str, shape: tuple[int, ...] = ()) -> AsStridedObjects | None:
    """Return the interpretation of objects that are numbers only; `None` for all else."""
    name = kind.strip()
    if name in _TEXTS or not _is_of_numbers(branch, name, set()):
        return None
    versions = {} if name in _OWN else branch.file.streamers.get(name, {})
    model = named(name, classname_encode(name, max(versions, default=None)))
    return AsStridedObjects(model, shape)


def _is_of_numbers(branch: Any, kind: str, above: set[str]) -> bool:
    if kind == "TObject":
        return True
    members = branch.tree._classes.get(kind)
    if members is None or kind in above:
        return False
    return all(
        _dimensions(values.typename(of))[0] in (*NUMBERS, *_SHORT)
        or _is_of_numbers(branch, name if is_base else of, {*above, kind})
        for name, of, is_base in members
    )


def _model(kind: str, header: bool) -> Any:
    """Return what stands for the items or the class of an entry, with its header or without."""
    kind = kind.strip()
    if kind.endswith("*"):
        return containers.AsPointer(named(kind[:-1]))
    number = NUMBERS.get(values.typename(kind))
    if number is not None:
        return np.dtype(number)
    if kind in _TEXTS:
        return containers.AsString(False)
    head, arguments = values._parts(kind)
    if head in _MAPS and len(arguments) > 1:
        key, item = (_model(part, True) for part in arguments[:2])
        of_text = _text_in_map(arguments[0]), _text_in_map(arguments[1])
        return containers.AsMap(header, of_text[0] or key, of_text[1] or item)
    if head == "bitset":
        return containers.AsBitSet(header, np.dtype(bool))
    if head in _CONTAINERS and arguments:
        return _CONTAINERS[head](header, _model(arguments[0], False))
    return named(kind)


def _text_in_map(kind: str) -> containers.AsString | None:
    """Return a text in a map, which has a header if it is of the standard library."""
    return containers.AsString(True) if kind in ("string", "std::string") else None


_MAPS = ("map", "multimap", "unordered_map", "unordered_multimap")
_CONTAINERS: dict[str, Any] = {
    "vector": containers.AsVector,
    "list": containers.AsList,
    "set": containers.AsSet,
    "multiset": containers.AsSet,
    "unordered_set": containers.AsSet,
    "RVec": containers.AsRVec,
    "ROOT::VecOps::RVec": containers.AsRVec,
    "map": containers.AsMap,
    "bitset": containers.AsBitSet,
}
