"""What a user hands over to be written, as columns: arrays, dicts, data frames, Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt
from awkward.contents import (
    BitMaskedArray,
    ByteMaskedArray,
    Content,
    EmptyArray,
    IndexedArray,
    IndexedOptionArray,
    ListArray,
    ListOffsetArray,
    NumpyArray,
    RecordArray,
    RegularArray,
    UnionArray,
    UnmaskedArray,
)

from nyssa import _core, _objects
from nyssa._objects import Shape, Tree, buffer
from nyssa.errors import ArgumentError, UnsupportedError

_OPTIONS = (BitMaskedArray, ByteMaskedArray, IndexedOptionArray, UnmaskedArray)


def columns(
    data: Any,
    record_names: bool = False,
    shapes: Mapping[str, Shape | None] | None = None,
) -> list[_core.Array]:
    """Return the columns of `data`, all of one length.

    With `record_names`, awkward records that have a name are of the class of that name. Python
    objects of fields that are in `shapes` are made into arrays of those; see `_objects`.

    Accepted are awkward arrays of records, dicts of arrays, structured NumPy arrays, pandas data
    frames, and any table with the Arrow PyCapsule interface (pyarrow, polars, DuckDB, nyssa).
    """
    shapes = shapes or {}
    if isinstance(data, ak.Array):
        content = _entries(data.layout)
        if not isinstance(content, RecordArray) or content.is_tuple:
            raise ArgumentError(
                "an awkward array of records is needed: give its fields names, as in "
                '{"name": array} or ak.zip'
            )
        packed = [content.content(field) for field in content.fields]
        pairs = zip(content.fields, packed, strict=True)
        found = [_core.Array.from_layout(n, tree(part, n, record_names)) for n, part in pairs]
    # A dataset is a mapping, too, and a stream.
    elif isinstance(data, Mapping) and not hasattr(data, "__arrow_c_stream__"):
        named = [(str(name), value) for name, value in data.items()]
        found = [column(name, value, record_names, shapes.get(name)) for name, value in named]
    elif isinstance(data, np.ndarray):
        if data.dtype.names is None:
            raise ArgumentError('a NumPy array needs a name, as in {"name": array}')
        found = [column(n, data[n], shape=shapes.get(n)) for n in data.dtype.names]
    elif _is_pandas_frame(data):
        found = [
            column(str(name), data[name], shape=shapes.get(str(name))) for name in data.columns
        ]
    elif hasattr(data, "__arrow_c_stream__"):
        found = _core.Array.from_arrow_stream("", data.__arrow_c_stream__()).columns()
    elif hasattr(data, "__arrow_c_array__"):
        found = _core.Array.from_arrow_array("", *data.__arrow_c_array__()).columns()
    else:
        raise ArgumentError(
            "data to write are an awkward array of records, a dict of arrays, a structured NumPy "
            f"array, a data frame or an Arrow table, not {type(data).__name__}"
        )
    lengths = {one.name: len(one) for one in found}
    if len(set(lengths.values())) > 1:
        raise ArgumentError(f"columns of one table differ in length: {lengths}")
    if len(lengths) < len(found):
        raise ArgumentError("two columns have the same name")
    return found


def _entries(content: Content) -> Content:
    """Return the layout of a whole table without indirections; no entry may be missing."""
    while isinstance(content, (IndexedArray, *_OPTIONS)):
        if isinstance(content, _OPTIONS) and np.any(content.mask_as_bool(valid_when=False)):
            raise UnsupportedError("the array has missing entries; drop them, as with ak.drop_none")
        content = content.project()
    return content


def is_data(data: Any) -> bool:
    """Return whether `column` takes `data`."""
    if isinstance(data, (ak.Array, np.ndarray)) or _is_pandas(data):
        return True
    if hasattr(data, "__arrow_c_array__") or hasattr(data, "__arrow_c_stream__"):
        return True
    return isinstance(data, Sequence) and not isinstance(data, (str, bytes))


def column(
    name: str, data: Any, record_names: bool = False, shape: Shape | None = None
) -> _core.Array:
    """Return one column; Python objects become what the `shape` of its field says."""
    if isinstance(data, ak.Array):
        return _core.Array.from_layout(name, tree(data.layout, name, record_names))
    if isinstance(data, np.ndarray):
        return _core.Array.from_layout(name, numpy_tree(data, name, shape))
    if _is_pandas(data):
        return _core.Array.from_layout(name, _pandas_tree(data, name, shape))
    if hasattr(data, "__arrow_c_array__"):
        return _core.Array.from_arrow_array(name, *data.__arrow_c_array__())
    if hasattr(data, "__arrow_c_stream__"):
        return _core.Array.from_arrow_stream(name, data.__arrow_c_stream__())
    if not is_data(data):
        raise ArgumentError(f"{name}: an array is needed, not {type(data).__name__}")
    return _core.Array.from_layout(name, _guessed(list(data), name, shape))


def tree(content: Content, name: str, record_names: bool = False) -> Tree:
    """Return an awkward layout as a tree of buffers; see `_core.Array.from_layout`."""

    def below(part: Content, path: str) -> Tree:
        return tree(part, path, record_names)

    while isinstance(content, IndexedArray):
        content = content.project()
    if isinstance(content, _OPTIONS):
        mask = np.asarray(content.mask_as_bool(valid_when=True))
        return ("option", buffer(mask), below(content.project(), name))
    if isinstance(content, NumpyArray):
        return numpy_tree(np.asarray(content.data), name)
    if isinstance(content, EmptyArray):
        return numpy_tree(np.empty(0, dtype=np.float64), name)
    if isinstance(content, RegularArray) and content.parameter("__array__") in (None, "sublist"):
        inner = content.content[: content.length * content.size]
        return ("fixed", content.size, content.length, below(inner, f"{name}[]"))
    if isinstance(content, (ListOffsetArray, ListArray, RegularArray)):
        offsets, inner = _lists(content)
        kind = content.parameter("__array__")
        if kind in ("string", "bytestring"):
            while isinstance(inner, IndexedArray):
                inner = inner.project()
            data = buffer(np.asarray(inner.data, dtype=np.uint8))
            return ("string" if kind == "string" else "bytes", buffer(offsets), data)
        return ("list", buffer(offsets), below(inner, f"{name}[]"))
    if isinstance(content, RecordArray):
        fields = tuple(f"_{i}" if content.is_tuple else f for i, f in enumerate(content.fields))
        parts = [part[: content.length] for part in content.contents]
        children = [below(part, f"{name}.{f}") for f, part in zip(fields, parts, strict=True)]
        record = ("record", fields, tuple(children), content.length)
        if content.is_tuple:
            return ("named", "std::tuple", record)
        record_name = content.parameter("__record__") if record_names else None
        return record if record_name is None else ("named", record_name, record)
    if isinstance(content, UnionArray):
        tags = np.asarray(content.tags.data, dtype=np.int8)
        index = np.asarray(content.index.data, dtype=np.int32)[: len(tags)]
        children = [
            _alternative(part, f"{name}._{i}", record_names)
            for i, part in enumerate(content.contents)
        ]
        return ("union", buffer(tags), buffer(index), tuple(children))
    raise UnsupportedError(f"{name}: nyssa cannot write awkward's {type(content).__name__}")


def _lists(content: Content) -> tuple[npt.NDArray[np.int64], Content]:
    """Return offsets from 0 on, and the items that they count."""
    # awkward looks twice at everything when it makes new layouts: most need none.
    if not isinstance(content, ListOffsetArray) or content.offsets.data[0] != 0:
        content = content.to_ListOffsetArray64(True)
    offsets = np.asarray(content.offsets.data, dtype=np.int64)
    items = int(offsets[-1])
    return offsets, content.content if content.content.length == items else content.content[:items]


def _alternative(content: Content, name: str, record_names: bool) -> Tree:
    """Return one type of a union; one without values is what a variant of none reads as."""
    inner = content.content if isinstance(content, _OPTIONS) else content
    if isinstance(inner, EmptyArray):
        return ("null", content.length)
    return tree(content, name, record_names)


def numpy_tree(data: npt.NDArray[Any], name: str, shape: Shape | None = None) -> Tree:
    """Return a NumPy array as a tree of buffers; objects in it are of `shape`."""
    if data.ndim == 0:
        raise ArgumentError(f"{name}: an array with one dimension at least is needed")
    if data.ndim > 1:
        length, size = data.shape[:2]
        inner = data.reshape(length * size, *data.shape[2:])
        return ("fixed", size, length, numpy_tree(inner, name))
    if data.dtype.names is not None:
        children = [numpy_tree(data[field], f"{name}.{field}") for field in data.dtype.names]
        return ("record", data.dtype.names, tuple(children), len(data))
    kind = data.dtype.kind
    if kind == "O":
        return _guessed(data.tolist(), name, shape)
    if kind in "SUT":
        return _objects.tree(data.tolist(), ("string",), name)
    if kind in "Mm":
        raise UnsupportedError(
            f"{name}: RNTuple has no type for {data.dtype}; write int64, as by astype, and say the "
            "unit in the name of the field"
        )
    if kind not in "biuf" or data.dtype.itemsize > 8:
        raise UnsupportedError(f"{name}: nyssa cannot write numbers of NumPy type {data.dtype}")
    little = data.astype(data.dtype.newbyteorder("<"), copy=False)
    return ("number", little.dtype.str, buffer(little))


def _guessed(values: list[Any], name: str, shape: Shape | None = None) -> Tree:
    """Return a tree for Python objects: of `shape`, strings, or whatever awkward makes of them."""
    if shape is not None:
        return _objects.tree(values, shape, name)
    if values and all(isinstance(value, (str, bytes)) for value in values):
        return _objects.tree(values, ("string",), name)
    if values and all(isinstance(value, np.ndarray) for value in values):
        lengths = np.fromiter((len(value) for value in values), np.int64, len(values))
        if all(value.ndim == 1 and value.dtype == values[0].dtype for value in values):
            offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
            return ("list", buffer(offsets), numpy_tree(np.concatenate(values), f"{name}[]"))
    try:
        content = ak.to_layout(ak.from_iter(values))
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name}: cannot make an array of these objects: {error}") from error
    return tree(content, name)


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _is_pandas_frame(data: Any) -> bool:
    return _is_pandas(data) and hasattr(data, "columns")


def _pandas_tree(series: Any, name: str, shape: Shape | None = None) -> Tree:
    """Return a series as a tree; what is missing is an option, NaN among floats a value."""
    present = shape[1] if shape is not None and shape[0] == "optional" else shape
    missing = np.asarray(series.isna())
    nan = isinstance(series.dtype, np.dtype) and series.dtype.kind == "f"
    if missing.any() and not nan:
        return ("option", buffer(~missing), _pandas_tree(series[~missing], name, present))
    kind = getattr(series.dtype, "kind", "O")
    values = series.to_numpy(dtype=object if kind not in "biufM" else None)
    if shape is None and len(values) and values.dtype == object:
        numbers = all(isinstance(value, (bool, int, np.generic)) for value in values)
        values = np.array(values.tolist()) if numbers else values
    return numpy_tree(np.asarray(values), name, shape)
