"""Types that users state, as empty columns: C++, NumPy and awkward."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak
import numpy as np

from nyssa import _awkward, _columns, _core
from nyssa.errors import ArgumentError, UnsupportedError


def empty(
    types: Any, classes: Mapping[str, Mapping[str, Any]] | None = None
) -> list[_core.Array] | None:
    """Return empty columns of the `types` in a dict, or `None` if these are data."""
    if not isinstance(types, Mapping) or not types or not all(map(_is_type, types.values())):
        return None
    return [_empty_column(str(name), one, classes or {}) for name, one in types.items()]


def _empty_column(name: str, one: Any, classes: Mapping[str, Mapping[str, Any]]) -> _core.Array:
    """Return an empty column: of a C++ type if that is what the text is."""
    if not isinstance(one, str):
        return _columns.column(name, _empty_array(one))
    try:
        return _core.Array.of_type(name, one, classes)
    except (ArgumentError, UnsupportedError):
        try:
            other = _empty_array(one)
        except Exception:  # noqa: BLE001 (awkward's parser has errors of its own)
            other = None
        if other is None:
            raise
        return _columns.column(name, other)


def needed(types: Any, caller: str) -> list[_core.Array]:
    """Return empty columns of types; data are refused in the name of `caller`."""
    columns = empty(types)
    if columns is None:
        raise ArgumentError(f"{caller} needs a dict from names to types, not data")
    return columns


def awkward_type(one: Any) -> ak.types.Type:
    """Return what one type is in awkward."""
    if isinstance(one, str):
        return ak.to_layout(_awkward.array(_empty_column("", one, {}))).form.type
    return ak.to_layout(_empty_array(one)).form.type


def _is_type(one: Any) -> bool:
    return isinstance(one, (str, type, np.dtype, ak.types.Type, ak.types.ArrayType))


def _empty_array(one: Any) -> Any:
    if isinstance(one, ak.types.ArrayType):
        one = one.content
    if isinstance(one, str):
        try:
            one = np.dtype(one)
        except (TypeError, ValueError):
            one = ak.types.from_datashape(one, highlevel=False)
    if isinstance(one, ak.types.Type):
        return ak.Array(ak.forms.from_type(one).length_zero_array(highlevel=False))
    dtype = np.dtype(one)
    if dtype.subdtype is not None:
        return np.empty((0, *dtype.subdtype[1]), dtype=dtype.subdtype[0])
    return np.empty(0, dtype=dtype)
