"""Trees of buffers (see `_core.Array.layout`) as awkward arrays, without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt
from awkward.contents import (
    ByteMaskedArray,
    Content,
    EmptyArray,
    IndexedOptionArray,
    ListOffsetArray,
    NumpyArray,
    RecordArray,
    RegularArray,
    UnionArray,
    UnmaskedArray,
)
from awkward.index import Index8, Index32, Index64

from nyssa import _core

_CHAR: dict[str, Any] = {"__array__": "char"}
_BYTE: dict[str, Any] = {"__array__": "byte"}
_STRING: dict[str, Any] = {"__array__": "string"}
_BYTESTRING: dict[str, Any] = {"__array__": "bytestring"}


_BACKEND = EmptyArray().backend
"""That of NumPy: awkward need not look for it array by array."""


class Builder:
    """Builds awkward layouts; arrays that share offsets share one index object."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[int, int], Index64] = {}

    def content(self, tree: tuple[Any, ...]) -> Content:
        """Return the layout of one tree."""
        kind = tree[0]
        if kind == "number":
            return NumpyArray(np.frombuffer(tree[2], dtype=tree[1]), backend=_BACKEND)
        if kind == "list":
            return ListOffsetArray(self._offsets(tree[1]), self.content(tree[2]))
        if kind == "record":
            contents = [self.content(child) for child in tree[2]]
            return RecordArray(contents, list(tree[1]), length=tree[3])
        if kind == "fixed":
            return RegularArray(self.content(tree[3]), tree[1], zeros_length=tree[2])
        if kind in ("string", "bytes"):
            text = kind == "string"
            data = NumpyArray(
                np.frombuffer(tree[2], dtype=np.uint8), parameters=_CHAR if text else _BYTE
            )
            return ListOffsetArray(
                self._offsets(tree[1]), data, parameters=_STRING if text else _BYTESTRING
            )
        if kind == "option":
            mask = Index8(np.frombuffer(tree[1], dtype=np.int8))
            return ByteMaskedArray.simplified(mask, self.content(tree[2]), valid_when=True)
        if kind == "union":
            tags = np.frombuffer(tree[1], dtype=np.int8)
            index = (
                np.arange(len(tags), dtype=np.int64)
                if tree[2] is None
                else np.frombuffer(tree[2], dtype=np.int32)
            )
            return self._union(tags, index, tree[3])
        if kind == "nothing":
            return IndexedOptionArray(Index64(np.full(tree[1], -1)), EmptyArray())
        raise AssertionError(kind)

    def _union(
        self, tags: npt.NDArray[Any], index: npt.NDArray[Any], children: Sequence[_core.Tree]
    ) -> Content:
        """Return a union whose alternatives keep their types: ints and floats are not merged.

        A variant that holds nothing is a missing value of its first alternative. Where a variant
        may hold nothing all alternatives are options, so that the type says the same of all data.
        """
        nothing = children[0][0] == "nothing"
        contents = [self.content(child) for child in children[1 if nothing else 0 :]]
        if nothing:
            first = contents[0]
            entries = np.append(np.arange(first.length), -1)
            contents[0] = IndexedOptionArray.simplified(Index64(entries), first)
            index = np.where(tags == 0, first.length, index)
            tags = np.maximum(tags - 1, 0).astype(np.int8)
        if len(contents) == 1:
            return contents[0]._carry(Index64(index.astype(np.int64)), True)
        if any(content.is_union for content in contents):
            wide = Index64(index.astype(np.int64))
            return UnionArray.simplified(Index8(tags), wide, contents, mergecastable="equiv")
        if any(content.is_option for content in contents):
            contents = [one if one.is_option else UnmaskedArray(one) for one in contents]
        index_class = Index32 if index.dtype == np.int32 else Index64
        return UnionArray(Index8(tags), index_class(index), contents)

    def _offsets(self, buffer: _core.Buffer) -> Index64:
        key = (buffer.address, buffer.nbytes)
        index = self._indexes.get(key)
        if index is None:
            index = Index64(np.frombuffer(memoryview(buffer), dtype=np.int64))
            self._indexes[key] = index
        return index


def array(column: _core.Array) -> ak.Array:
    """Return one column as an awkward array."""
    return ak.Array(Builder().content(column.layout(True)))


def record(names: Sequence[str], columns: Sequence[_core.Array], length: int) -> ak.Array:
    """Return columns as one awkward array of records."""
    builder = Builder()
    contents = [builder.content(column.layout(True)) for column in columns]
    return ak.Array(RecordArray(contents, list(names), length=length))
