"""Takes the types and the records that uproot takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak
import numpy as np

from nyssa.errors import ArgumentError


def as_mapping(data: object) -> Mapping[Any, Any]:
    """Return data that are a mapping; an empty one for all other data."""
    return data if isinstance(data, Mapping) else {}


def type_of(value: Any) -> Any:
    """Return the type of the data of a column."""
    if isinstance(value, np.ndarray):
        return np.dtype((value.dtype, value.shape[1:]))
    return str((value if isinstance(value, ak.Array) else ak.Array(value)).type.content)


def columns_of(data: Any) -> Any:
    """Return a data frame of pandas as its columns; see `frame_columns`.

    Lists of records are a column without a name.
    """
    if isinstance(data, ak.Array) and list_members_of(data) is not None:
        return {"": data}
    return frame_columns(data)


def frame_columns(data: Any) -> Any:
    """Return a data frame of pandas as its columns, with numbers in its index as ``index``."""
    if not hasattr(data, "columns") or not hasattr(data, "index") or isinstance(data, Mapping):
        return data
    columns = {str(name): data[name] for name in data.columns}
    index = np.asarray(data.index)
    return {"index": index, **columns} if index.dtype.kind in "iuf" else columns


def arrays_of(data: Any) -> Any:
    """Return types or data whose lists are arrays."""
    if not isinstance(data, Mapping):
        return data
    return {name: _array(item) if isinstance(item, list) else item for name, item in data.items()}


def _array(lists: list[Any]) -> Any:
    """Return an array of fixed shape, if the lists are equally long, or else a jagged one."""
    try:
        array = np.array(lists)
    except ValueError:
        return ak.Array(lists)
    return array if array.dtype.kind in "biuf" else ak.Array(lists)


def parsed(kind: Any) -> Any:
    """Return the type of a text with records, such as ``var * {pt: float32}``; all else as it is.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for a text that awkward does not know as a type.
    """
    if not isinstance(kind, str) or "{" not in kind:
        return kind
    try:
        return ak.types.from_datashape(kind, highlevel=False)
    # The parser of awkward has errors of its own.
    except Exception as error:  # noqa: BLE001
        raise ArgumentError(f"{kind!r} is not a type of awkward: {error}") from None


def typed(data: Any) -> Any:
    """Return types that are awkward's as text, which nyssa takes."""
    if isinstance(data, ak.forms.Form) and isinstance(data.type, ak.types.RecordType):
        return ak.Array(data.length_zero_array(highlevel=False))
    if isinstance(data, Mapping):
        return {name: typed_one(item) for name, item in data.items()}
    return data


def rows_of(data: Any) -> Any:
    """Return data for an RNTuple: missing records are empty lists, others lists of one item.

    As in uproot: RNTuple has no type for them that ROOT reads. Data frames are their columns.
    """
    data = frame_columns(data)
    if isinstance(data, Mapping):
        return {name: rows_of(item) for name, item in data.items()}
    if not isinstance(data, ak.Array) or "?{" not in str(data.type):
        return data
    return ak.transform(_listed, data)


def _listed(layout: Any, **options: Any) -> Any:
    del options
    if not layout.is_option or not layout.content.is_record:
        return None
    there = np.asarray(layout.mask_as_bool(valid_when=True))
    offsets = np.concatenate([[0], np.cumsum(there)])
    records = rows_of(ak.Array(layout.project())).layout
    return ak.contents.ListOffsetArray(ak.index.Index64(offsets), records)


def typed_one(kind: Any) -> Any:
    """Return the type of one column as text, which nyssa takes; data stay as they are."""
    if isinstance(kind, ak.types.ArrayType):
        return str(kind.content)
    if isinstance(kind, ak.types.Type):
        return str(kind)
    if isinstance(kind, (str, tuple)):
        return _numpy(kind)
    return str(kind.type) if isinstance(kind, ak.forms.Form) else kind


def _numpy(text: Any) -> Any:
    """Return NumPy's type of a text or tuple that has a shape, such as ``("int32", (2,))``."""
    try:
        dtype = np.dtype(text)
    except (TypeError, ValueError):
        return text
    # Texts without a shape are types of C++: "float" has 32 bits.
    is_plain = dtype.names is None and (bool(dtype.shape) or isinstance(text, tuple))
    return dtype if is_plain else text


def members_of(value: Any) -> list[tuple[str, Any]] | None:
    """Return the members of a record, of its type or of its data; `None` for all else."""
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, ak.types.ArrayType):
        return members_of(value.content)
    if isinstance(value, ak.types.RecordType) and not value.is_tuple:
        return list(zip(value.fields, value.contents, strict=True))
    if isinstance(value, ak.Array) and isinstance(value.layout, ak.contents.RecordArray):
        return [(name, value[name]) for name in ak.fields(value)]
    if hasattr(value, "columns") and hasattr(value, "items"):
        return [(str(name), column) for name, column in value.items()]
    return None


def list_members_of(value: Any) -> list[tuple[str, Any]] | None:
    """Return the members of lists of records of numbers, each as lists; `None` for all else."""
    kind = value.type.content if isinstance(value, ak.Array) else value
    kind = kind.content if isinstance(kind, ak.types.ArrayType) else kind
    record = kind.content if isinstance(kind, ak.types.ListType) else None
    if not isinstance(record, ak.types.RecordType) or record.is_tuple:
        return None
    if not all(isinstance(each, ak.types.NumpyType) for each in record.contents):
        return None
    if isinstance(value, ak.Array):
        return [(name, value[name]) for name in record.fields]
    parts = zip(record.fields, record.contents, strict=True)
    return [(name, ak.types.ListType(each)) for name, each in parts]
