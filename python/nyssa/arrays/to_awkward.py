"""Makes awkward arrays of columns, without a copy of memory that nobody else holds.

``awkward.from_buffers`` makes the same arrays of the same Forms and buffers, but it takes several
times as long for each column, and columns of one collection do not share their offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import awkward as ak
import numpy as np
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
from nyssa.arrays import forms
from nyssa.arrays.forms import Buffers, Form

__all__ = ["array", "content", "record", "view"]

_BACKEND = EmptyArray().backend
"""The NumPy backend. With it, awkward does not search for the backend of each array."""


Make = Callable[["Builder", Buffers, int], Content]
"""Makes the layout of a number of entries from their buffers."""


class Builder:
    """Builds awkward layouts. Arrays that share offsets share one index object.

    Numbers can be written to, unless they are `shared` with who gave the column.
    """

    def __init__(self, shared: bool = False) -> None:
        self._indexes: dict[tuple[int, int], Index64] = {}
        self.shared = shared

    def column(self, column: _core.Array) -> Content:
        """Return the layout of a column, which has no entries afterwards unless it is shared."""
        make, length = _maker_of(column.form()), len(column)
        return make(self, column.buffers() if self.shared else column.take_buffers(), length)

    def offsets(self, buffer: _core.Buffer) -> Index64:
        """Return offsets, the same object for the same memory."""
        key = (buffer.address, buffer.nbytes)
        index = self._indexes.get(key)
        if index is None:
            index = Index64(np.frombuffer(memoryview(buffer), dtype=np.int64))
            self._indexes[key] = index
        return index


@lru_cache(maxsize=forms.KNOWN)
def _maker_of(text: str) -> Make:
    """Return the function that makes layouts of a Form, which is given as JSON."""
    return _maker(forms.parse(text))


def _maker(form: Form) -> Make:
    """Return the function that makes layouts of a Form.

    All that does not depend on the entries is done here, once.
    """
    return _MAKERS[form["class"]](form)


def _numbers(form: Form) -> Make:
    key, dtype = f"{form['form_key']}-data", np.dtype(form["primitive"])
    parameters = form.get("parameters")

    def make(builder: Builder, buffers: Buffers, _length: int) -> Content:
        data = np.frombuffer(buffers[key], dtype=dtype)
        data = data if builder.shared else forms.own(data)
        return NumpyArray(data, parameters=parameters, backend=_BACKEND)

    return make


def _lists(form: Form) -> Make:
    key, parameters = f"{form['form_key']}-offsets", form.get("parameters")
    content = _maker(form["content"])
    # The buffer of numbers says how many there are.
    flat = form["content"]["class"] == "NumpyArray"

    def make(builder: Builder, buffers: Buffers, _length: int) -> Content:
        offsets = builder.offsets(buffers[key])
        items = content(builder, buffers, 0 if flat else int(offsets.data[-1]))
        return ListOffsetArray(offsets, items, parameters=parameters)

    return make


def _records(form: Form) -> Make:
    fields, parameters = form["fields"], form.get("parameters")
    contents = [_maker(item) for item in form["contents"]]

    def make(builder: Builder, buffers: Buffers, length: int) -> Content:
        made = [content(builder, buffers, length) for content in contents]
        return RecordArray(made, fields, length=length, parameters=parameters, backend=_BACKEND)

    return make


def _regular(form: Form) -> Make:
    size, content = form["size"], _maker(form["content"])

    def make(builder: Builder, buffers: Buffers, length: int) -> Content:
        return RegularArray(content(builder, buffers, size * length), size, zeros_length=length)

    return make


def _masked(form: Form) -> Make:
    content = _maker(form["content"])

    def make(builder: Builder, buffers: Buffers, _length: int) -> Content:
        mask = forms.index(form, buffers, "mask")
        values = content(builder, buffers, len(mask))
        return ByteMaskedArray(Index8(mask), values, valid_when=True)

    return make


def _indexed(form: Form) -> Make:
    content = _maker(form["content"])

    def make(builder: Builder, buffers: Buffers, _length: int) -> Content:
        index = forms.index(form, buffers, "index")
        return IndexedOptionArray(Index64(index), content(builder, buffers, forms.reach(index)))

    return make


def _unmasked(form: Form) -> Make:
    content = _maker(form["content"])
    return lambda builder, buffers, length: UnmaskedArray(content(builder, buffers, length))


def _unions(form: Form) -> Make:
    contents = [_maker(item) for item in form["contents"]]

    def make(builder: Builder, buffers: Buffers, _length: int) -> Content:
        tags, index = (forms.index(form, buffers, name) for name in ("tags", "index"))
        made = [
            content(builder, buffers, forms.reach(index[tags == tag]))
            for tag, content in enumerate(contents)
        ]
        return UnionArray(Index8(tags), Index32(index), made)

    return make


def _empty(_form: Form) -> Make:
    return lambda _builder, _buffers, _length: EmptyArray()


_MAKERS: dict[str, Callable[[Form], Make]] = {
    "NumpyArray": _numbers,
    "ListOffsetArray": _lists,
    "RecordArray": _records,
    "RegularArray": _regular,
    "ByteMaskedArray": _masked,
    "IndexedOptionArray": _indexed,
    "UnmaskedArray": _unmasked,
    "UnionArray": _unions,
    "EmptyArray": _empty,
}


def content(column: _core.Array) -> Content:
    """Return the layout of one column, which has no entries afterwards."""
    return Builder().column(column)


def array(column: _core.Array) -> ak.Array:
    """Return one column as an awkward array that can be written to. The column becomes empty."""
    return ak.Array(content(column))


def view(column: _core.Array) -> ak.Array:
    """Return one column as an awkward array that cannot be written to."""
    return ak.Array(Builder(shared=True).column(column))


def record(names: Sequence[str], columns: Sequence[_core.Array], length: int) -> ak.Array:
    """Return columns as one awkward array of records. The columns have no entries afterwards."""
    builder = Builder()
    contents = [builder.column(column) for column in columns]
    return ak.Array(RecordArray(contents, list(names), length=length))
