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
    name: str, kind: Any, classes: Mapping[str, Mapping[str, Any]], in_tree: bool
) -> _core.Array:
    """Return an empty column: of a C++ type if that is what the text is."""
    check_text(name)
    if _is_pyarrow(kind, "Field") or _is_pyarrow(kind, "DataType"):
        pa = libraries.optional("pyarrow")
        # A type alone says nothing of missing values; a field does.
        field = kind if _is_pyarrow(kind, "Field") else pa.field(name, kind, nullable=False)
        table = pa.schema([field.with_name(name)]).empty_table()
        return from_data.columns(table)[0]
    if not isinstance(kind, str):
        return from_data.column(name, _empty_array(name, kind))
    check_text(kind)
    try:
        return _core.Array.of_type(name, kind, classes, in_tree)
    except (ArgumentError, UnsupportedError):
        # A class may be called like a type of NumPy, such as S.
        if kind in classes:
            raise
        try:
            other = _empty_array(name, kind)
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


def awkward_type(kind: Any) -> ak.types.Type:
    """Return what one type is in awkward."""
    if isinstance(kind, str):
        return to_awkward.content(_empty_column("", kind, {}, False)).form.type
    return ak.to_layout(_empty_array("", kind)).form.type


def _is_type(value: Any) -> bool:
    if isinstance(value, tuple):
        # NumPy's way to say an array of a fixed shape: ("int32", (2,)).
        return (
            len(value) == 2
            and isinstance(value[0], (str, type, np.dtype))
            and isinstance(value[1], (int, tuple))
            and all(
                isinstance(size, int) for size in np.atleast_1d(np.array(value[1], dtype=object))
            )
        )
    kinds = (str, type, np.dtype, ak.types.Type, ak.types.ArrayType, ak.forms.Form)
    return isinstance(value, kinds) or _is_pyarrow(value, "DataType") or _is_pyarrow(value, "Field")


def _is_pyarrow(value: Any, name: str) -> bool:
    classes = type(value).__mro__
    return any(c.__name__ == name and c.__module__.startswith("pyarrow") for c in classes)


def _empty_array(name: str, kind: Any) -> Any:
    if isinstance(kind, ak.types.ArrayType):
        kind = kind.content
    if _is_pyarrow(kind, "Field"):
        kind = kind.type
    if _is_pyarrow(kind, "DataType"):
        return libraries.optional("pyarrow").array([], type=kind)
    if isinstance(kind, str):
        try:
            kind = np.dtype(kind)
        except (TypeError, ValueError):
            kind = ak.types.from_datashape(kind, highlevel=False)
    if isinstance(kind, ak.types.Type):
        kind = ak.forms.from_type(kind)
    if isinstance(kind, ak.forms.Form):
        return ak.Array(kind.length_zero_array(highlevel=False))
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError) as error:
        raise _refused(name, kind) from error
    if dtype.hasobject:
        raise _refused(name, kind)
    if dtype.subdtype is not None:
        return np.empty((0, *dtype.subdtype[1]), dtype=dtype.subdtype[0])
    return np.empty(0, dtype=dtype)


def _refused(name: str, kind: Any) -> ArgumentError:
    shown = kind.__qualname__ if isinstance(kind, type) else repr(kind)
    shown = shown if len(shown) <= 60 else f"{shown[:59]}…"
    return ArgumentError(f"{name}: {shown} is neither a type nor an array; {_ACCEPTED}")
