"""Reads a branch of numbers by another interpretation than its own."""

from __future__ import annotations

from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from nyssa.arrays import libraries
from nyssa.errors import ArgumentError
from nyssa.uproot.interpretation.base import Interpretation
from nyssa.uproot.interpretation.jagged import AsJagged
from nyssa.uproot.interpretation.numerical import AsDtype, AsDtypeInPlace

__all__ = ["needs_other", "read_as"]


def needs_other(branch: Any, interpretation: object) -> bool:
    """Return whether an interpretation differs from the one that the branch has.

    Raises
    ------
    TypeError
        for something that is no interpretation.
    """
    if interpretation is None:
        return False
    if not isinstance(interpretation, Interpretation):
        raise TypeError(f"interpretation= takes such as AsDtype('>f8'), not {interpretation!r}")
    return interpretation is not branch.interpretation and interpretation != branch.interpretation


def read_as(branch: Any, given: Any, start: int, stop: int, library: str) -> Any:
    """Return the entries of a branch with the bytes of its numbers taken as other numbers.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when the branch does not have such numbers.
    """
    own = branch.interpretation
    lists = isinstance(given, AsJagged)
    inside = (own.content, given.content) if lists and isinstance(own, AsJagged) else (own, given)
    if not all(type(item) is AsDtype for item in inside) or isinstance(given, AsDtypeInPlace):
        raise ArgumentError(
            f"{branch.object_path} is {own!r}: it cannot be read as {given!r}; "
            "leave the interpretation out"
        )
    array = branch.column.array(entry_start=start, entry_stop=stop, library="ak")
    try:
        return _by_library(_converted(array, *inside), library, branch.name, start)
    except ValueError as error:
        raise ArgumentError(
            f"{branch.object_path} is {own!r}, whose entries have another size than {given!r}: "
            f"{error}"
        ) from None


def _converted(array: ak.Array, own: AsDtype, given: AsDtype) -> ak.Array:
    layout = ak.to_layout(array)
    if isinstance(layout, ak.contents.ListOffsetArray):
        offsets = np.asarray(layout.offsets)
        items = ak.Array(layout.content[offsets[0] : offsets[-1]])
        sizes = np.diff(offsets) * own.itemsize
        if (sizes % given.itemsize).any():
            raise ValueError("lists have parts of items")
        bounds = np.concatenate([[0], np.cumsum(sizes // given.itemsize)])
        content = ak.to_layout(_numbers(ak.to_numpy(items), own, given))
        return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(bounds), content))
    if own.itemsize != given.itemsize:
        raise ValueError(f"{own.itemsize} bytes, not {given.itemsize}")
    return ak.Array(_numbers(ak.to_numpy(array), own, given))


def _numbers(numbers: npt.NDArray[Any], own: AsDtype, given: AsDtype) -> npt.NDArray[Any]:
    """Return numbers whose bytes in the file are taken as other numbers."""
    stored = np.ascontiguousarray(numbers, dtype=own.from_dtype.base).reshape(-1)
    base = given.from_dtype.base
    taken = stored.view(np.uint8).view(base).reshape(-1, *given.inner_shape)
    return taken.astype(given.to_dtype.base)


def _by_library(array: ak.Array, library: str, name: str, start: int) -> Any:
    """Return an array in the form of a library."""
    short = libraries.canonical(library)
    if short == "ak":
        return array
    flat = array.ndim == 1 or not isinstance(ak.to_layout(array), ak.contents.ListOffsetArray)
    if short == "np" and flat:
        return ak.to_numpy(array)
    rows = np.empty(len(array), dtype=object)
    for at, item in enumerate(array):
        rows[at] = ak.to_numpy(item)
    if short == "np":
        return rows
    if short == "pd":
        pandas = libraries.optional("pandas")
        index = pandas.RangeIndex(start, start + len(array))
        return pandas.Series(ak.to_numpy(array) if flat else rows, index=index, name=name)
    raise ArgumentError(f"library={library!r} is not one of uproot's")
