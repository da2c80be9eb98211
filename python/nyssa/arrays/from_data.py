"""Makes columns of what users write: arrays, dicts, data frames, Arrow tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
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

from nyssa import _core
from nyssa.arguments.names import check_text
from nyssa.arrays import from_objects, numpy_rows
from nyssa.arrays.forms import Arrays, Form
from nyssa.errors import ArgumentError, UnsupportedError

_SCALARS = {bool, int, float, str, bytes, type(None)}
_OPTIONS = (BitMaskedArray, ByteMaskedArray, IndexedOptionArray, UnmaskedArray)


def columns(
    data: Any,
    record_names: bool = False,
    forms: Mapping[str, Form | None] | None = None,
) -> list[_core.Array]:
    """Return the columns of `data`, all of one length.

    With `record_names`, awkward records that have a name are of the class of that name. Python
    objects of fields that are in `forms` are made into arrays of these Forms; see `from_objects`.

    Accepted are awkward arrays of records, dicts of arrays, structured NumPy arrays, pandas data
    frames, and any table with the Arrow PyCapsule interface (pyarrow, polars, DuckDB, nyssa).
    """
    forms = forms or {}
    for name, dtype in _types_of(data):
        _refuse_pointers(name, dtype)
    if isinstance(data, ak.Array):
        content = _entries(data.layout)
        if not isinstance(content, RecordArray) or content.is_tuple:
            raise ArgumentError(
                "an awkward array of records is needed: give its fields names, as in "
                '{"name": array} or ak.zip'
            )
        made = [_awkward(n, content.content(n), record_names) for n in content.fields]
    elif isinstance(data, type):
        raise ArgumentError(f"data to write are needed, not the class {data.__name__}")
    # A dataset is a mapping, too, but is read as a stream.
    elif isinstance(data, Mapping) and not hasattr(data, "__arrow_c_stream__"):
        named = [(str(name), value) for name, value in data.items()]
        made = [column(name, value, record_names, forms.get(name)) for name, value in named]
    elif isinstance(data, np.ndarray):
        if data.dtype.names is None:
            raise ArgumentError('a NumPy array needs a name, as in {"name": array}')
        made = [column(n, data[n], form=forms.get(n)) for n in data.dtype.names]
    elif _is_pandas_frame(data):
        # `items` gives each of several columns of one name, which are then refused.
        made = [column(str(name), item, form=forms.get(str(name))) for name, item in data.items()]
    elif hasattr(data, "__arrow_c_stream__"):
        made = _core.Array.from_arrow_stream("", data.__arrow_c_stream__()).columns()
    elif hasattr(data, "__arrow_c_array__"):
        made = _core.Array.from_arrow_array("", *data.__arrow_c_array__()).columns()
    else:
        raise ArgumentError(
            "data to write are an awkward array of records, a dict of arrays, a structured NumPy "
            f"array, a data frame or an Arrow table, not {type(data).__name__}; objects that can "
            "be assigned (file[name] = ...) are histograms, nyssa.graph, str and numbers"
        )
    lengths = {item.name: len(item) for item in made}
    if len(set(lengths.values())) > 1:
        raise ArgumentError(f"columns of one table differ in length: {lengths}")
    if len(lengths) < len(made):
        raise ArgumentError("two columns have the same name")
    return made


def _types_of(frame: Any) -> list[tuple[str, Any]]:
    """Return names and types of the columns of a Polars frame; nothing for other data."""
    schema = getattr(frame, "schema", None)
    return [*schema.items()] if isinstance(schema, Mapping) else []


def _refuse_pointers(name: str, dtype: Any) -> None:
    """Raise `UnsupportedError` for columns of Polars that hold addresses of Python objects."""
    if str(dtype) == "Object":
        raise UnsupportedError(
            f"{name}: a column of Python objects (Object of Polars) cannot be written: cast it to "
            "a type with values, or give its values as a list"
        )


def _entries(content: Content) -> Content:
    """Return the layout of a whole table without indirections; no entry may be missing."""
    while isinstance(content, (IndexedArray, *_OPTIONS)):
        if isinstance(content, _OPTIONS) and np.any(content.mask_as_bool(valid_when=False)):
            raise UnsupportedError("the array has missing entries; drop them, as with ak.drop_none")
        content = content.project()
    return content


def is_data(data: Any) -> bool:
    """Return whether `column` takes `data`."""
    if isinstance(data, type):
        return False
    if isinstance(data, (ak.Array, np.ndarray)) or _is_pandas(data):
        return True
    if hasattr(data, "__arrow_c_array__") or hasattr(data, "__arrow_c_stream__"):
        return True
    return isinstance(data, Sequence) and not isinstance(data, (str, bytes))


def column(
    name: str, data: Any, record_names: bool = False, form: Form | None = None
) -> _core.Array:
    """Return one column; Python objects become what the `form` of its field says."""
    check_text(name)
    if not is_data(data) or _is_pandas_frame(data):
        raise ArgumentError(f"{name}: an array is needed, not {type(data).__name__}")
    _refuse_pointers(name, getattr(data, "dtype", None))
    if isinstance(data, ak.Array):
        return _awkward(name, data.layout, record_names)
    if hasattr(data, "__arrow_c_array__") and not _is_pandas(data):
        return _core.Array.from_arrow_array(name, *data.__arrow_c_array__())
    if hasattr(data, "__arrow_c_stream__") and not _is_pandas(data):
        return _core.Array.from_arrow_stream(name, data.__arrow_c_stream__())
    arrays = Arrays()
    if isinstance(data, np.matrix):
        data = np.asarray(data)
    if isinstance(data, np.ndarray):
        made = _of_numpy(arrays, data, name, form)
    elif _is_pandas(data):
        made = _of_pandas(arrays, data, name, form)
    else:
        data = list(data)
        made = _guessed(arrays, data, name, form)
    return arrays.column(name, made, len(data))


def _awkward(name: str, content: Content, record_names: bool) -> _core.Array:
    check_text(name)
    arrays = Arrays()
    return arrays.column(name, _of_awkward(arrays, content, name, record_names), content.length)


def _of_awkward(arrays: Arrays, content: Content, name: str, record_names: bool = False) -> Form:
    """Return the Form of an awkward layout, in the classes that the core takes."""

    def below(part: Content, path: str) -> Form:
        return _of_awkward(arrays, part, path, record_names)

    while isinstance(content, IndexedArray):
        content = content.project()
    if isinstance(content, UnmaskedArray):
        return arrays.unmasked(below(content.content, name))
    if isinstance(content, IndexedOptionArray):
        # Its content may belong to a much longer array.
        mask = np.asarray(content.mask_as_bool(valid_when=True))
        return arrays.present(mask, below(content.project(), name))
    if isinstance(content, _OPTIONS):
        mask = np.asarray(content.mask_as_bool(valid_when=True))
        return arrays.masked(mask, below(content.content[: content.length], name))
    if isinstance(content, NumpyArray):
        return _of_numpy(arrays, np.asarray(content.data), name)
    if isinstance(content, EmptyArray):
        return arrays.nothing()
    if isinstance(content, RegularArray) and content.parameter("__array__") in (None, "sublist"):
        inner = content.content[: content.length * content.size]
        return arrays.regular(content.size, below(inner, f"{name}[]"))
    if isinstance(content, (ListOffsetArray, ListArray, RegularArray)):
        offsets, inner = _lists(content)
        kind = content.parameter("__array__")
        if kind in ("string", "bytestring"):
            while isinstance(inner, IndexedArray):
                inner = inner.project()
            return arrays.texts(offsets, np.asarray(inner.data, dtype=np.uint8), kind)
        return arrays.lists(offsets, below(inner, f"{name}[]"))
    if isinstance(content, RecordArray):
        names = [f"_{i}" if content.is_tuple else f for i, f in enumerate(content.fields)]
        parts = [part[: content.length] for part in content.contents]
        contents = [below(part, f"{name}.{f}") for f, part in zip(names, parts, strict=True)]
        record_name = content.parameter("__record__") if record_names else None
        return arrays.record(None if content.is_tuple else names, contents, record_name)
    if isinstance(content, UnionArray):
        tags = np.asarray(content.tags.data, dtype=np.int8)
        index = np.asarray(content.index.data, dtype=np.int32)[: len(tags)]
        contents = [below(part, f"{name}._{i}") for i, part in enumerate(content.contents)]
        return arrays.union(tags, index, contents)
    raise UnsupportedError(f"{name}: nyssa cannot write awkward's {type(content).__name__}")


def _lists(content: Content) -> tuple[npt.NDArray[np.int64], Content]:
    """Return offsets from 0 on, and the items that they count."""
    # Most layouts are used as they are, because it takes long to make new ones.
    if not isinstance(content, ListOffsetArray) or content.offsets.data[0] != 0:
        content = content.to_ListOffsetArray64(True)
    offsets = np.asarray(content.offsets.data, dtype=np.int64)
    items = int(offsets[-1])
    return offsets, content.content if content.content.length == items else content.content[:items]


def _of_numpy(arrays: Arrays, data: npt.NDArray[Any], name: str, form: Form | None = None) -> Form:
    """Return the Form of a NumPy array; objects in it are of `form`."""
    if data.ndim == 0:
        raise ArgumentError(f"{name}: an array with one dimension at least is needed")
    if data.ndim > 1:
        length, size = data.shape[:2]
        inner = data.reshape(length * size, *data.shape[2:])
        return arrays.regular(size, _of_numpy(arrays, inner, name))
    if data.dtype.names is not None:
        fields = data.dtype.names
        contents = [_of_numpy(arrays, data[field], f"{name}.{field}") for field in fields]
        return arrays.record(fields, contents)
    if isinstance(data, np.ma.MaskedArray):
        there = ~np.ma.getmaskarray(data)
        return _present(arrays, there, np.asarray(data.compressed()), name, form)
    kind = data.dtype.kind
    if kind == "O":
        return _guessed(arrays, data.tolist(), name, form)
    if kind == "T" and hasattr(data.dtype, "na_object"):
        there = np.fromiter((isinstance(item, str) for item in data), np.bool_, len(data))
        text = data[there].astype(object)
        return arrays.present(
            there, from_objects.form(arrays, text.tolist(), from_objects.STRING, name)
        )
    if kind in "SUT":
        return from_objects.form(arrays, data.tolist(), from_objects.STRING, name)
    if kind in "Mm":
        raise UnsupportedError(
            f"{name}: RNTuple has no type for {data.dtype}; write int64, as by astype, and say the "
            "unit in the name of the field"
        )
    if kind not in "biuf" or data.dtype.itemsize > 8:
        raise UnsupportedError(f"{name}: nyssa cannot write numbers of NumPy type {data.dtype}")
    return arrays.numbers(data)


def _present(
    arrays: Arrays,
    there: npt.NDArray[np.bool_],
    values: npt.NDArray[Any],
    name: str,
    form: Form | None,
) -> Form:
    """Return the Form of `values` at the places that are `there`; the others are missing."""
    optional = form is not None and form["class"] == "IndexedOptionArray"
    present = form["content"] if form is not None and optional else form
    return arrays.present(there, _of_numpy(arrays, values, name, present))


def _guessed(arrays: Arrays, values: list[Any], name: str, form: Form | None = None) -> Form:
    """Return a Form for Python objects.

    It is `form` if there is one. Otherwise it is strings, or what awkward makes of the objects.
    """
    if form is not None:
        return from_objects.form(arrays, values, form, name)
    if values and all(isinstance(value, (str, bytes)) for value in values):
        return from_objects.form(arrays, values, from_objects.STRING, name)
    values = numpy_rows.scalars(values)
    if values and all(map(_is_vector, values)) and len({value.dtype for value in values}) == 1:
        offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
        masked = any(isinstance(value, np.ma.MaskedArray) for value in values)
        # The type of `numpy.ma.concatenate` is not stated.
        join: Any = np.ma.concatenate if masked else np.concatenate
        items = join(values)
        return arrays.lists(offsets, _of_numpy(arrays, items, f"{name}[]"))
    if numpy_rows.are_among(values):
        return _with_rows(arrays, values, name)
    if values and all(type(value) is int for value in values):
        return from_objects.form(arrays, values, from_objects.INTEGER, name)
    _refuse_misread(values, name)
    try:
        content = ak.to_layout(ak.from_iter(values))
    # awkward raises errors of many classes, such as `RuntimeError` for integers of 64 bits.
    except Exception as error:
        raise ArgumentError(f"{name}: cannot make an array of these objects: {error}") from error
    return _of_awkward(arrays, content, name)


def _refuse_misread(values: Iterable[Any], name: str) -> None:
    """Raise `UnsupportedError` for objects, also in lists and dicts, that awkward takes for others.

    It reads frames and mappings as lists of their names.
    """
    if {*map(type, values)} <= _SCALARS:
        return
    for value in values:
        if isinstance(value, dict):
            _refuse_misread(value.values(), name)
        elif isinstance(value, (list, tuple)):
            _refuse_misread(value, name)
        elif isinstance(value, Mapping) or hasattr(value, "__dataframe__"):
            raise UnsupportedError(
                f"{name}: nyssa cannot write objects of type {type(value).__name__} in a list: "
                "make dicts, lists or an array of them"
            )


def _is_vector(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1


def _with_rows(arrays: Arrays, values: list[Any], name: str) -> Form:
    """Return the Form of rows of structured arrays, or of lists that have them."""
    there = np.fromiter((value is not None for value in values), np.bool_, len(values))
    if not there.all():
        present = [value for value in values if value is not None]
        return arrays.present(there, _with_rows(arrays, present, name))
    if all(map(numpy_rows.is_row, values)):
        return _of_numpy(arrays, numpy_rows.joined(values, name), name)
    if all(map(numpy_rows.is_list, values)):
        offsets = np.cumsum([0, *map(len, values)], dtype=np.int64)
        items = [item for value in values for item in value]
        return arrays.lists(offsets, _guessed(arrays, items, f"{name}[]"))
    raise ArgumentError(
        f"{name}: rows of structured arrays are in dicts or tuples, or beside other values: write "
        "a structured array, or say the type of the field"
    )


def _is_pandas(data: Any) -> bool:
    return type(data).__module__.partition(".")[0] == "pandas"


def _is_pandas_frame(data: Any) -> bool:
    return _is_pandas(data) and hasattr(data, "columns")


def _of_pandas(arrays: Arrays, series: Any, name: str, form: Form | None = None) -> Form:
    """Return the Form of a series. NaN among floats is a value.

    There is an option if values are missing, or if the type of the series is one of pandas' own
    that can have missing values (`pandas.NA`).
    """
    if getattr(series, "nlevels", 1) > 1:
        raise UnsupportedError(f"{name}: nyssa cannot write an index of several levels")
    missing = np.asarray(series.isna())
    own = str(getattr(series.dtype, "na_value", "")) == "<NA>"
    nan = not own and series.dtype.kind == "f" and isinstance(series.dtype, np.dtype)
    if not own and (nan or not missing.any()):
        return _of_numpy(arrays, _pandas_values(series, form), name, form)
    return _present(arrays, ~missing, _pandas_values(series[~missing], form), name, form)


def _pandas_values(series: Any, form: Form | None) -> npt.NDArray[Any]:
    """Return the values of a series of which none is missing, or of floats."""
    kind = getattr(series.dtype, "kind", "O")
    values = series.to_numpy(dtype=object if kind not in "biufM" else None)
    if form is None and len(values) and values.dtype == object:
        scalar = (bool, int, np.generic)
        numbers = all(
            isinstance(value, scalar) and not numpy_rows.is_row(value) for value in values
        )
        values = np.array(values.tolist()) if numbers else values
    return np.asarray(values)
