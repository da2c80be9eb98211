"""Columns as NumPy arrays. Numbers are read-only views of what was read; all else are objects."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa import _awkward, _core


def array(column: _core.Array) -> npt.NDArray[Any]:
    """Return one column.

    Numbers: shape ``(entries,)``; fixed arrays of numbers: ``(entries, d1, d2, ...)``; records of
    numbers: a structured array; strings: objects of `str`; anything jagged: objects, each the NumPy
    array of an entry (nested lists deeper down).
    """
    return from_tree(column.layout())


def from_tree(tree: tuple[Any, ...]) -> npt.NDArray[Any]:
    """Return the array of one tree; see `_core.Array.layout`."""
    kind = tree[0]
    if kind == "number":
        return np.frombuffer(tree[2], dtype=tree[1])
    if kind == "fixed" and tree[3][0] in ("number", "fixed"):
        inner = from_tree(tree[3])
        return inner.reshape(tree[2], tree[1], *inner.shape[1:])
    if kind == "list" and tree[2][0] in ("number", "fixed"):
        items = from_tree(tree[2])
        if items.dtype != object:
            return objects(_slices(items, np.frombuffer(tree[1], dtype=np.int64)))
    if kind in ("string", "bytes"):
        return objects(_texts(tree, kind == "string"))
    if kind == "record" and all(child[0] in ("number", "fixed") for child in tree[2]):
        fields = [from_tree(child) for child in tree[2]]
        if all(field.dtype != object for field in fields):
            return _structured(tree[1], fields, tree[3])
    return objects(_awkward.Builder().content(tree).to_list())


def _slices(items: npt.NDArray[Any], offsets: npt.NDArray[np.int64]) -> list[npt.NDArray[Any]]:
    bounds = offsets.tolist()
    return [items[start:stop] for start, stop in pairwise(bounds)]


def _texts(tree: tuple[Any, ...], text: bool) -> list[str] | list[bytes]:
    bounds = np.frombuffer(tree[1], dtype=np.int64).tolist()
    data = bytes(tree[2])
    parts = [data[start:stop] for start, stop in pairwise(bounds)]
    return [part.decode("utf-8", "surrogateescape") for part in parts] if text else parts


def objects(values: list[Any]) -> npt.NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        out[index] = value
    return out


def _structured(
    names: tuple[str, ...], fields: list[npt.NDArray[Any]], length: int
) -> npt.NDArray[Any]:
    dtype = [
        (name, field.dtype, field.shape[1:]) for name, field in zip(names, fields, strict=True)
    ]
    out = np.empty(length, dtype=dtype)
    for name, field in zip(names, fields, strict=True):
        out[name] = field
    return out
