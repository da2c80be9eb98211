"""Compares arrays exactly: types, shapes, values, and the places of NaN."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np


def layouts_differ(ours: Any, theirs: Any) -> str | None:
    """Return how two awkward layouts differ in shape, type or value; `None` when they are equal."""
    ours, theirs = _plain(ours), _plain(theirs)
    if ours.length != theirs.length:
        return f"lengths {ours.length} and {theirs.length}"
    if isinstance(ours, ak.contents.NumpyArray) and isinstance(theirs, ak.contents.NumpyArray):
        return numpy_differ(ours.data, theirs.data)
    if isinstance(theirs, ak.contents.EmptyArray) or isinstance(ours, ak.contents.EmptyArray):
        return None
    if isinstance(ours, ak.contents.RecordArray) and isinstance(theirs, ak.contents.RecordArray):
        if not theirs.is_tuple and ours.fields != theirs.fields:
            return f"fields {ours.fields} and {theirs.fields}"
        for name, a, b in zip(ours.fields, ours.contents, theirs.contents, strict=True):
            if found := layouts_differ(a[: ours.length], b[: theirs.length]):
                return f"{name}: {found}"
        return None
    if isinstance(ours, ak.contents.RegularArray) and isinstance(theirs, ak.contents.RegularArray):
        if ours.size != theirs.size:
            return f"sizes {ours.size} and {theirs.size}"
        return layouts_differ(
            ours.content[: ours.size * ours.length], theirs.content[: theirs.size * theirs.length]
        )
    if ours.is_list and theirs.is_list:
        a, b = ours.to_ListOffsetArray64(True), theirs.to_ListOffsetArray64(True)
        if found := numpy_differ(np.asarray(a.offsets.data), np.asarray(b.offsets.data)):
            return f"offsets: {found}"
        end = int(a.offsets[-1])
        return layouts_differ(a.content[:end], b.content[:end])
    if ours.is_union and theirs.is_union:
        return None if ours.to_list() == theirs.to_list() else "values of unions"
    return f"layouts {type(ours).__name__} and {type(theirs).__name__}"


def numpy_differ(ours: Any, theirs: Any) -> str | None:
    """Return how two NumPy arrays differ, except for the byte order; `None` when they are equal."""
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype != theirs.dtype.newbyteorder("="):
        return f"dtypes {ours.dtype} and {theirs.dtype}"
    if ours.shape != theirs.shape:
        return f"shapes {ours.shape} and {theirs.shape}"
    if ours.dtype == object:
        equal = np.array([np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True)], bool)
    else:
        equal = (ours == theirs) | ((ours != ours) & (theirs != theirs))
    if np.all(equal):
        return None
    where = tuple(int(index) for index in np.argwhere(~equal)[0])
    return (
        f"{np.size(equal) - np.sum(equal)} values, first at {where}: {ours[where]} {theirs[where]}"
    )


def _plain(layout: Any) -> Any:
    while isinstance(layout, (ak.contents.IndexedArray, ak.contents.UnmaskedArray)):
        layout = layout.project() if layout.is_indexed else layout.content
    if isinstance(layout, ak.contents.NumpyArray) and layout.data.ndim > 1:
        layout = layout.to_RegularArray()
    return layout


def matches_json(expected: Any, got: Any, unordered: bool = False) -> bool:
    """Return whether a value equals the JSON that ROOT prints for it.

    Floats may be hexadecimal strings; maps print as objects, multimaps with all values of a key
    in one; pairs and tuples print as lists; booleans as numbers; bitsets as strings, the last bit
    first. Optional variants read as lists of 0 or 1 items. With `unordered` lists are compared as
    multisets.
    """
    if isinstance(got, bytes):
        got = got.decode()
    if isinstance(expected, str) and isinstance(got, float):
        return same_float(float.fromhex(expected), got)
    if isinstance(got, list) and not isinstance(expected, (list, dict)):
        if isinstance(expected, str) and set(expected) <= {"0", "1"} and len(got) == len(expected):
            return [digit == "1" for digit in reversed(expected)] == got
        return got == [] if expected is None else len(got) == 1 and matches_json(expected, got[0])
    if isinstance(expected, dict) and isinstance(got, list):
        got = {str(_text(pair["_0"])): pair["_1"] for pair in got}
    if isinstance(expected, dict) and isinstance(got, dict):
        return set(expected) == set(got) and all(
            matches_json(value, got[key], unordered) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(got, dict):
        got = list(got.values())
    if isinstance(expected, list) and isinstance(got, (list, tuple)):
        if len(expected) != len(got):
            return False
        if not unordered:
            return all(map(matches_json, expected, got))
        rest = list(got)
        for one in expected:
            fits = [i for i, other in enumerate(rest) if matches_json(one, other, True)]
            if not fits:
                return False
            del rest[fits[0]]
        return True
    if isinstance(expected, (int, float)) and isinstance(got, float):
        return same_float(float(expected), got)
    return bool(expected == got)


def _text(value: Any) -> Any:
    return value.decode() if isinstance(value, bytes) else value


def same_float(a: float, b: float) -> bool:
    """Return whether two floats are equal or both NaN."""
    return a == b or (a != a and b != b)
