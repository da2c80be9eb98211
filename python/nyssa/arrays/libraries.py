"""Turns columns into arrays and tables of the libraries that ``library=`` names."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa import _core
from nyssa.arrays import to_numpy
from nyssa.errors import ArgumentError, UnsupportedError

_NAMES = {
    "ak": "ak",
    "awkward": "ak",
    "np": "np",
    "numpy": "np",
    "arrow": "arrow",
    "pyarrow": "arrow",
    "pa": "arrow",
    "pd": "pd",
    "pandas": "pd",
    "pd[nan]": "pd[nan]",
    "pandas[nan]": "pd[nan]",
    "pd[pyarrow]": "pd[pyarrow]",
    "pandas[pyarrow]": "pd[pyarrow]",
    "pl": "polars",
    "polars": "polars",
}


_OBJECT_BYTES = 128
"""The bytes that the NumPy array of one entry needs, with the reference to it."""


def canonical(library: str) -> str:
    """Return the short name of a library, before any work is done."""
    name = _NAMES.get(library) if isinstance(library, str) else None
    if name is None:
        raise ArgumentError(
            f'library={library!r} is not one of "ak", "np", "arrow", "pd", "pd[nan]", '
            '"pd[pyarrow]" and "polars"'
        )
    if name.startswith("pd"):
        optional("pandas")
    if name in ("arrow", "pd[pyarrow]"):
        optional("pyarrow")
    if name == "polars":
        optional("polars")
    return name


def is_pandas(library: str) -> bool:
    """Return whether a library is pandas, with any types of columns."""
    return canonical(library).startswith("pd")


def optional(module: str) -> Any:
    """Import a library that nyssa does not depend on."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(
            f"this needs {module}, which is not installed; install it with `pip install {module}`"
        ) from error


def takes_buffers(library: str) -> bool:
    """Return whether a library's arrays are made of Forms and buffers, not of Arrow capsules."""
    return library in ("ak", "np", "pd", "pd[nan]")


def object_bytes(library: str, types: Sequence[str | None]) -> int:
    """Return the bytes that objects take for each entry of columns of these Arrow types."""
    jagged = ("LargeList", "LargeBinary", "LargeUtf8")
    count = sum(item is not None and item.startswith(jagged) for item in types)
    return count * _OBJECT_BYTES if library in ("np", "pd", "pd[nan]") else 0


def table(
    library: str, names: Sequence[str], columns: Sequence[_core.Array], start: int, stop: int
) -> Any:
    """Return the columns of entries ``start..stop`` as one object of `library`."""
    length = stop - start
    if library == "ak":
        from nyssa.arrays import to_awkward

        return to_awkward.record(names, columns, length)
    if library == "np":
        return {name: to_numpy.array(item) for name, item in zip(names, columns, strict=True)}
    if library == "arrow":
        return optional("pyarrow").table(_core.Table(list(columns), length))
    if library == "polars":
        _refuse_unions(columns)
        return optional("polars").DataFrame(_core.Table(list(columns), length))
    pandas = optional("pandas")
    index = pandas.RangeIndex(start, stop)
    if library == "pd[pyarrow]":
        arrow = optional("pyarrow").table(_core.Table(list(columns), length))
        return arrow.to_pandas(types_mapper=pandas.ArrowDtype).set_axis(index)
    data = {
        name: _one_per_entry(to_numpy.view(item), name, library)
        for name, item in zip(names, columns, strict=True)
    }
    return pandas.DataFrame(data, index=index)


def column(library: str, data: _core.Array, start: int, stop: int) -> Any:
    """Return one column of entries ``start..stop`` as an array of `library`."""
    if library == "ak":
        from nyssa.arrays import to_awkward

        return to_awkward.array(data)
    if library == "np":
        return to_numpy.array(data)
    if library == "arrow":
        return optional("pyarrow").array(data)
    if library == "polars":
        _refuse_unions([data])
        return optional("polars").Series(data.name, data)
    pandas = optional("pandas")
    index = pandas.RangeIndex(start, stop)
    if library == "pd[pyarrow]":
        values = pandas.arrays.ArrowExtensionArray(optional("pyarrow").array(data))
    else:
        values = _one_per_entry(to_numpy.array(data), data.name, library)
    return pandas.Series(values, index=index, name=data.name, copy=False)


def _refuse_unions(columns: Sequence[_core.Array]) -> None:
    """Raise `UnsupportedError` for variants, which Polars cannot hold."""
    variants = [item.name for item in columns if "Union(" in item.type]
    if variants:
        raise UnsupportedError(
            f"Polars has no type for the variants in {', '.join(variants)}; leave them out "
            'with filter_name=, or read them with library="ak" or "arrow"'
        )


# pandas has no types that are checked here: `Any`.
def _one_per_entry(values: npt.NDArray[Any], name: str, library: str) -> Any:
    """Return what a pandas column can hold: one value or object per entry.

    Numbers that may be missing are of pandas' own types, such as ``Float64``, or are NaN.
    """
    if values.ndim != 1 or values.dtype.names is not None:
        return to_numpy.objects(list(values))
    pandas = optional("pandas")
    if values.dtype.kind == "O" and not _is_text(values):
        return pandas.Index(values, dtype=object)  # It stays of objects.
    if not isinstance(values, np.ma.MaskedArray):
        return values
    data, mask = values.data, np.ma.getmaskarray(values)
    if values.dtype.kind in "Mm":
        return np.where(mask, np.array("NaT", data.dtype), data)
    if library == "pd[nan]":
        return _with_nan(data, mask, name)
    arrays = {"b": pandas.arrays.BooleanArray, "f": pandas.arrays.FloatingArray}
    return arrays.get(values.dtype.kind, pandas.arrays.IntegerArray)(data, mask)


def _with_nan(
    data: npt.NDArray[Any], mask: npt.NDArray[np.bool_], name: str
) -> npt.NDArray[np.floating[Any]]:
    """Return real numbers that are NaN where the mask is true.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for an integer that is no real number of double precision.
    """
    dtype = data.dtype if data.dtype.kind == "f" else np.dtype(np.float64)
    numbers = data.astype(dtype)
    if data.dtype.kind in "iu" and data.dtype.itemsize == 8:
        # Below 2**53 each integer is a real number.
        wrong = data[~mask & (np.abs(numbers) >= 2.0**53)]
        if len(wrong):
            raise ArgumentError(
                f'{name} has {wrong[0]}, for which double precision is too small: library="pd" '
                "keeps integers"
            )
    numbers[mask] = np.nan
    return numbers


def _is_text(values: npt.NDArray[Any]) -> bool:
    """Return whether pandas can hold all strings as text: bytes that are not UTF-8 are objects."""
    try:
        "".join(value for value in values if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        return False
    return True
