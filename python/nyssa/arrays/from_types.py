"""Makes empty columns of the types that users state: C++, NumPy, awkward and Arrow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak
import numpy as np

from nyssa import _core
from nyssa.arguments.names import check_text
from nyssa.arrays import from_data, libraries, to_awkward
from nyssa.errors import ArgumentError, UnsupportedError

_ACCEPTED = (
    'a type is a C++ type such as "std::vector<float>", a NumPy dtype or scalar type, bool, int, '
    'float or str, an awkward type such as "var * float32" or form, or a pyarrow type'
)


def empty(
    types: Any, classes: Mapping[str, Mapping[str, Any]] | None = None, *, in_tree: bool = False
) -> list[_core.Array] | None:
    """Return empty columns of the `types` in a dict, or `None` if these are data.

    With `in_tree`, they are columns of a TTree, whose classes may have pointers. A structured
    NumPy dtype, an awkward type or form of records, and a pyarrow schema are taken as such a
    dict. What is neither a type nor data, and types beside data, are refused.
    """
    named = _by_name(types)
    if not named:
        return None
    for name, item in named.items():
        if not _is_type(item) and not from_data.is_data(item):
            raise _refused(name, item)
    data = [name for name, item in named.items() if not _is_type(item)]
    if len(data) == len(named):
        return None
    if data:
        others = next(name for name in named if name not in data)
        raise ArgumentError(
            f"{data[0]} is data, but {others} a type; give types first, and data to extend"
        )
    return [_empty_column(name, item, classes or {}, in_tree) for name, item in named.items()]


def _by_name(types: Any) -> dict[str, Any] | None:
    """Return types or data by name, or `None` for what can only be data."""
    if isinstance(types, ak.types.ArrayType):
        types = types.content
    if isinstance(types, (ak.types.RecordType, ak.forms.RecordForm)):
        return dict(zip(types.fields, types.contents, strict=True))
    if isinstance(types, np.dtype) and types.names is not None:
        return {name: types[name] for name in types.names}
    if _is_pyarrow(types, "Schema"):
        return {field.name: field for field in types}
    # A dataset is a mapping, too, and a stream.
    if isinstance(types, Mapping) and not hasattr(types, "__arrow_c_stream__"):
        return {str(name): item for name, item in types.items()}
    return None


def _empty_column(
    name: str, one: Any, classes: Mapping[str, Mapping[str, Any]], in_tree: bool
) -> _core.Array:
    """Return an empty column: of a C++ type if that is what the text is."""
    check_text(name)
    if _is_pyarrow(one, "Field") or _is_pyarrow(one, "DataType"):
        pa = libraries.optional("pyarrow")
        # A type alone says nothing of missing values; a field does.
        field = one if _is_pyarrow(one, "Field") else pa.field(name, one, nullable=False)
        table = pa.schema([field.with_name(name)]).empty_table()
        return from_data.columns(table)[0]
    if not isinstance(one, str):
        return from_data.column(name, _empty_array(name, one))
    check_text(one)
    try:
        return _core.Array.of_type(name, one, classes, in_tree)
    except (ArgumentError, UnsupportedError):
        # A class may be called like a type of NumPy, such as S.
        if one in classes:
            raise
        try:
            other = _empty_array(name, one)
        except Exception:  # noqa: BLE001 (awkward's parser has errors of its own)
            other = None
        if other is None:
            raise
        return from_data.column(name, other)


def needed(
    types: Any,
    caller: str,
    classes: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    in_tree: bool = False,
) -> list[_core.Array]:
    """Return empty columns of types; data are refused in the name of `caller`."""
    columns = empty(types, classes, in_tree=in_tree)
    if columns is None:
        raise ArgumentError(f"{caller} needs a dict from names to types, not data")
    return columns


def awkward_type(one: Any) -> ak.types.Type:
    """Return what one type is in awkward."""
    if isinstance(one, str):
        return to_awkward.content(_empty_column("", one, {}, False)).form.type
    return ak.to_layout(_empty_array("", one)).form.type


def _is_type(one: Any) -> bool:
    if isinstance(one, tuple):
        # NumPy's way to say an array of a fixed shape: ("int32", (2,)).
        return (
            len(one) == 2
            and isinstance(one[0], (str, type, np.dtype))
            and isinstance(one[1], (int, tuple))
            and all(isinstance(size, int) for size in np.atleast_1d(np.array(one[1], dtype=object)))
        )
    kinds = (str, type, np.dtype, ak.types.Type, ak.types.ArrayType, ak.forms.Form)
    return isinstance(one, kinds) or _is_pyarrow(one, "DataType") or _is_pyarrow(one, "Field")


def _is_pyarrow(one: Any, name: str) -> bool:
    classes = type(one).__mro__
    return any(c.__name__ == name and c.__module__.startswith("pyarrow") for c in classes)


def _empty_array(name: str, one: Any) -> Any:
    if isinstance(one, ak.types.ArrayType):
        one = one.content
    if _is_pyarrow(one, "Field"):
        one = one.type
    if _is_pyarrow(one, "DataType"):
        return libraries.optional("pyarrow").array([], type=one)
    if isinstance(one, str):
        try:
            one = np.dtype(one)
        except (TypeError, ValueError):
            one = ak.types.from_datashape(one, highlevel=False)
    if isinstance(one, ak.types.Type):
        one = ak.forms.from_type(one)
    if isinstance(one, ak.forms.Form):
        return ak.Array(one.length_zero_array(highlevel=False))
    try:
        dtype = np.dtype(one)
    except (TypeError, ValueError) as error:
        raise _refused(name, one) from error
    if dtype.hasobject:
        raise _refused(name, one)
    if dtype.subdtype is not None:
        return np.empty((0, *dtype.subdtype[1]), dtype=dtype.subdtype[0])
    return np.empty(0, dtype=dtype)


def _refused(name: str, one: Any) -> ArgumentError:
    shown = one.__qualname__ if isinstance(one, type) else repr(one)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return ArgumentError(f"{name}: {shown} is neither a type nor an array; {_ACCEPTED}")
