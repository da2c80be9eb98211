"""Makes NumPy arrays of columns: read-only views of numbers, and objects for all other types."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa import _awkward, _core, _form
from nyssa._form import Buffers, Form

__all__ = ["array", "objects"]


def array(column: _core.Array) -> npt.NDArray[Any]:
    """Return one column.

    Numbers: shape ``(entries,)``; fixed arrays of numbers: ``(entries, d1, d2, ...)``; records of
    numbers: a structured array; strings: objects of `str`; anything jagged: objects, each the NumPy
    array of an entry (nested lists deeper down).
    """
    return _array(_form.of(column), column.buffers(), len(column))


def _array(form: Form, buffers: Buffers, length: int) -> npt.NDArray[Any]:
    """Return the array of `length` entries of a Form."""
    regular = _regular(form, buffers, length)
    if regular is not None:
        return regular
    form = _there(form, buffers)
    kind = form["class"]
    if kind == "ListOffsetArray":
        if _form.parameter(form, "__array__") is not None:
            return objects(_form.texts(form, buffers))
        offsets = _form.index(form, buffers, "offsets")
        items = _regular(form["content"], buffers, int(offsets[-1]))
        if items is not None:
            return objects([items[start:stop] for start, stop in pairwise(offsets.tolist())])
    if kind == "RecordArray":
        fields = [_regular(one, buffers, length) for one in form["contents"]]
        present = [field for field in fields if field is not None]
        if len(present) == len(fields):
            return _structured(form["fields"], present, length)
    return objects(_awkward.of_buffers(form, buffers, length).to_list())


def _regular(form: Form, buffers: Buffers, length: int) -> npt.NDArray[Any] | None:
    """Return numbers, or fixed arrays of numbers; `None` for all else."""
    form = _there(form, buffers)
    if form["class"] == "NumpyArray":
        return _form.numbers(form, buffers)
    if form["class"] != "RegularArray":
        return None
    size = form["size"]
    inner = _regular(form["content"], buffers, length * size)
    return None if inner is None else inner.reshape(length, size, *inner.shape[1:])


def _there(form: Form, buffers: Buffers) -> Form:
    """Return the Form of the values of an option of which none is missing."""
    if form["class"] == "ByteMaskedArray" and _form.index(form, buffers, "mask").all():
        return form["content"]  # type: ignore[no-any-return]
    return form


def objects(values: list[Any]) -> npt.NDArray[Any]:
    """Return an array of objects."""
    out = np.empty(len(values), dtype=object)
    for index, value in enumerate(values):
        out[index] = value
    return out


def _structured(names: list[str], fields: list[npt.NDArray[Any]], length: int) -> npt.NDArray[Any]:
    dtype = [
        (name, field.dtype, field.shape[1:]) for name, field in zip(names, fields, strict=True)
    ]
    out = np.empty(length, dtype=dtype)
    for name, field in zip(names, fields, strict=True):
        out[name] = field
    return out
