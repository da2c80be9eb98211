"""Makes NumPy arrays of columns: the buffers of numbers, and objects for all other types."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa import _core
from nyssa.arrays import forms
from nyssa.arrays.forms import Buffers, Form
from nyssa.errors import ArgumentError

__all__ = ["array", "objects", "plain", "view"]


def array(column: _core.Array) -> npt.NDArray[Any]:
    """Return one column as an array that can be written to. The column has no entries afterwards.

    Numbers: shape ``(entries,)``; fixed arrays of numbers: ``(entries, d1, d2, ...)``; records of
    numbers: a structured array; strings: objects of `str`; anything jagged: objects, each the NumPy
    array of an entry (nested lists deeper down). Numbers that may be missing: a masked array.
    """
    form, length = forms.of(column), len(column)
    return _array(form, column.take_buffers(), length)


def view(column: _core.Array) -> npt.NDArray[Any]:
    """Return one column as `array` does, but as an array that cannot be written to."""
    return _array(forms.of(column), _Shared(column.buffers()), len(column))


class _Shared(dict[str, Any]):
    """Buffers that are not written to."""


def _array(form: Form, buffers: Buffers, length: int) -> npt.NDArray[Any]:
    """Return the array of `length` entries of a Form."""
    regular = _regular(form, buffers, length)
    if regular is not None:
        return regular
    form = _there(form, buffers)
    kind = form["class"]
    if kind == "ListOffsetArray":
        if forms.parameter(form, "__array__") is not None:
            return objects(forms.texts(form, buffers))
        offsets = forms.index(form, buffers, "offsets")
        items = _regular(form["content"], buffers, int(offsets[-1]))
        if items is not None:
            return objects([items[start:stop] for start, stop in pairwise(offsets.tolist())])
    if kind == "RecordArray":
        fields = [_regular(item, buffers, length) for item in form["contents"]]
        present = [field for field in fields if field is not None]
        if len(present) == len(fields):
            return _structured(form["fields"], present, length)
    return objects(_listed(form, buffers, length))


def _regular(form: Form, buffers: Buffers, length: int) -> npt.NDArray[Any] | None:
    """Return numbers, or fixed arrays of numbers; `None` for all else."""
    kind = form["class"]
    if kind == "NumpyArray":
        data = forms.numbers(form, buffers)
        return data if isinstance(buffers, _Shared) else forms.own(data)
    if kind == "ByteMaskedArray":
        values = _regular(form["content"], buffers, length)
        return None if values is None else _masked(values, forms.index(form, buffers, "mask") == 0)
    if kind != "RegularArray":
        return None
    size = form["size"]
    inner = _regular(form["content"], buffers, length * size)
    return None if inner is None else inner.reshape(length, size, *inner.shape[1:])


def _masked(values: npt.NDArray[Any], mask: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Return values that are missing where the mask, of one value for each entry, is true."""
    mask = np.broadcast_to(mask.reshape(-1, *[1] * (values.ndim - 1)), values.shape)
    masked: npt.NDArray[Any] = np.ma.MaskedArray(values, mask | np.ma.getmaskarray(values))
    return masked


def _there(form: Form, buffers: Buffers) -> Form:
    """Return the Form of the values of an option of which none is missing."""
    if form["class"] == "ByteMaskedArray" and forms.index(form, buffers, "mask").all():
        return form["content"]  # type: ignore[no-any-return]
    return form


def _listed(form: Form, buffers: Buffers, length: int) -> list[Any]:
    """Return the values of `length` entries of a Form as ``awkward.to_list`` does."""
    kind = form["class"]
    if kind == "NumpyArray":
        numbers: list[Any] = forms.numbers(form, buffers)[:length].tolist()
        return numbers
    if kind == "EmptyArray":
        return []
    if kind == "RecordArray":
        columns = [_listed(element, buffers, length) for element in form["contents"]]
        rows = zip(*columns, strict=True) if columns else iter([()] * length)
        names = form["fields"]
        return [row if names is None else dict(zip(names, row, strict=True)) for row in rows]
    if kind == "ListOffsetArray":
        if forms.parameter(form, "__array__") is not None:
            return [*forms.texts(form, buffers)]
        offsets = forms.index(form, buffers, "offsets").tolist()
        items = _listed(form["content"], buffers, offsets[-1])
        return [items[start:stop] for start, stop in pairwise(offsets)]
    if kind == "RegularArray":
        size = form["size"]
        items = _listed(form["content"], buffers, size * length)
        return [items[size * entry : size * (entry + 1)] for entry in range(length)]
    if kind == "UnionArray":
        tags, index = (forms.index(form, buffers, name) for name in ("tags", "index"))
        parts = [
            _listed(content, buffers, forms.reach(index[tags == tag]))
            for tag, content in enumerate(form["contents"])
        ]
        return [parts[tag][at] for tag, at in zip(tags.tolist(), index.tolist(), strict=True)]
    if kind == "IndexedOptionArray":
        index = forms.index(form, buffers, "index")
        items = _listed(form["content"], buffers, forms.reach(index))
        return [None if at < 0 else items[at] for at in index.tolist()]
    items = _listed(form["content"], buffers, length)
    if kind == "UnmaskedArray":
        return items
    mask = forms.index(form, buffers, "mask").tolist()
    return [item if there else None for item, there in zip(items, mask, strict=True)]


# Anything that NumPy makes an array of: `Any`.
def plain(values: Any, what: str, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
    """Return an array without a mask.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when values are missing, or are not of the type.
    """
    try:
        if type(values) is np.ndarray:
            return np.asarray(values, dtype=dtype)
        # This keeps masks, where `numpy.asarray` forgets them.
        array: npt.NDArray[Any] = np.ma.asarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{what}: cannot make an array of these values: {error}") from error
    # pandas makes NaN of its missing values.
    own = str(getattr(getattr(values, "dtype", None), "na_value", "")) == "<NA>"
    if _is_masked(array) or (own and values.isna().any()):
        raise ArgumentError(f"{what}: some values are missing; fill or drop them first")
    return np.asarray(array)


def _is_masked(array: npt.NDArray[Any]) -> bool:
    """Return whether values, or members of records, are missing."""
    mask = np.ma.getmask(array)
    if mask.dtype.names is None:
        return bool(mask.any())
    return any(_is_masked(array[name]) for name in mask.dtype.names)


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
    masked = any(isinstance(field, np.ma.MaskedArray) for field in fields)
    out: npt.NDArray[Any] = (np.ma.empty if masked else np.empty)(length, dtype=dtype)
    for name, field in zip(names, fields, strict=True):
        out[name] = field
    return out
