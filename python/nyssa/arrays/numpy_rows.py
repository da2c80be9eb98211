"""Finds rows of structured NumPy arrays, and arrays without dimensions, among Python objects.

awkward would make a list of the members of a row, without their names and types.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from nyssa.errors import ArgumentError


def scalars(values: list[Any]) -> list[Any]:
    """Return the values, with scalars for arrays without dimensions, and None for masked ones."""
    if not any(issubclass(kind, np.ndarray) for kind in set(map(type, values))):
        return values
    return [_scalar(value) for value in values]


def _scalar(value: Any) -> Any:
    if not isinstance(value, np.ndarray) or value.ndim > 0 or isinstance(value, np.ma.mvoid):
        return value
    scalar = value[()]
    return None if scalar is np.ma.masked else scalar


def is_row(value: Any) -> bool:
    """Return whether a value is a row of a structured array, or of a masked one."""
    return isinstance(value, (np.void, np.ma.mvoid)) and value.dtype.names is not None


def members(row: Any) -> dict[str, Any]:
    """Return the members of a row by their names, as masked arrays if the row has a mask."""
    if not isinstance(row, np.ma.mvoid):
        return {name: row[name] for name in row.dtype.names}
    # `row[name]` would mask a whole record of which one member is masked.
    data, mask = np.ma.getdata(row), np.ma.getmaskarray(row)
    return {name: np.ma.array(data[name], mask=mask[name]) for name in row.dtype.names}


def are_among(values: Collection[Any]) -> bool:
    """Return whether rows, or arrays of them, are among the values or in collections of them."""
    kinds = set(map(type, values))
    if all(issubclass(kind, (str, bytes)) or not issubclass(kind, _HOLDERS) for kind in kinds):
        return False
    return any(map(_has_rows, values))


_HOLDERS = (np.void, np.ndarray, Collection)


def _has_rows(value: Any) -> bool:
    if isinstance(value, (np.void, np.ndarray)):
        is_object = isinstance(value, np.ndarray) and value.dtype.kind == "O"
        return value.dtype.names is not None or (is_object and are_among(value.ravel().tolist()))
    if isinstance(value, (str, bytes, ak.Array, ak.Record)):
        return False
    if isinstance(value, Mapping):
        return are_among(list(value.values()))
    return isinstance(value, Collection) and are_among(value)


def is_list(value: Any) -> bool:
    """Return whether a value is a list of items."""
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Collection) and not isinstance(value, (str, bytes, tuple, Mapping))


def joined(rows: list[Any], name: str) -> npt.NDArray[Any]:
    """Return the structured array of rows that have one type."""
    dtype = rows[0].dtype
    other = next((row.dtype for row in rows if row.dtype != dtype), None)
    if other is not None:
        raise ArgumentError(
            f"{name}: rows of structured arrays have different types, {dtype} and {other}: "
            "convert the arrays to one type with astype"
        )
    data = np.array([_data(row) for row in rows], dtype)
    if not any(isinstance(row, np.ma.mvoid) for row in rows):
        return data
    mask = np.zeros(len(rows), np.ma.make_mask_descr(dtype))
    for index, row in enumerate(rows):
        if isinstance(row, np.ma.mvoid):
            mask[index] = np.ma.getmaskarray(row)
    return np.ma.array(data, mask=mask)


def _data(row: Any) -> Any:
    return np.ma.getdata(row) if isinstance(row, np.ma.mvoid) else row
