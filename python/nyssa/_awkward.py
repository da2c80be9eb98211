"""Trees of buffers (see `_core.Array.layout`) as awkward arrays, without a copy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import (
    ByteMaskedArray,
    Content,
    ListOffsetArray,
    NumpyArray,
    RecordArray,
    RegularArray,
    UnionArray,
)
from awkward.index import Index8, Index64

from nyssa import _core

_CHAR: dict[str, Any] = {"__array__": "char"}
_BYTE: dict[str, Any] = {"__array__": "byte"}
_STRING: dict[str, Any] = {"__array__": "string"}
_BYTESTRING: dict[str, Any] = {"__array__": "bytestring"}


class Builder:
    """Builds awkward layouts; arrays that share offsets share one index object."""

    def __init__(self) -> None:
        self._indexes: dict[tuple[int, int], Index64] = {}

    def content(self, tree: tuple[Any, ...]) -> Content:
        """Return the layout of one tree."""
        kind = tree[0]
        if kind == "number":
            return NumpyArray(np.frombuffer(tree[2], dtype=tree[1]))
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
                else np.frombuffer(tree[2], dtype=np.int32).astype(np.int64)
            )
            contents = [self.content(child) for child in tree[3]]
            return UnionArray.simplified(Index8(tags), Index64(index), contents)
        raise AssertionError(kind)

    def _offsets(self, buffer: _core.Buffer) -> Index64:
        key = (buffer.address, buffer.nbytes)
        index = self._indexes.get(key)
        if index is None:
            index = Index64(np.frombuffer(memoryview(buffer), dtype=np.int64))
            self._indexes[key] = index
        return index


def array(column: _core.Array) -> ak.Array:
    """Return one column as an awkward array."""
    return ak.Array(Builder().content(column.layout()))


def record(names: Sequence[str], columns: Sequence[_core.Array], length: int) -> ak.Array:
    """Return columns as one awkward array of records."""
    builder = Builder()
    contents = [builder.content(column.layout()) for column in columns]
    return ak.Array(RecordArray(contents, list(names), length=length))
