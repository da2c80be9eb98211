"""Reads a branch of numbers by another interpretation than its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from nyssa.arrays import libraries, to_numpy
from nyssa.errors import ArgumentError
from nyssa.uproot.interpretation.base import Interpretation
from nyssa.uproot.interpretation.jagged import AsJagged
from nyssa.uproot.interpretation.numerical import AsDtype, AsDtypeInPlace

__all__ = ["other", "read_as", "separated"]


def other(branch: Any, given: Any) -> Interpretation | None:
    """Return an interpretation that differs from the one that the branch has, or `None`.

    A type of NumPy is of numbers in the byte order of files.

    Raises
    ------
    TypeError
        for something that is no interpretation.
    """
    if given is None:
        return None
    if isinstance(given, (str, np.dtype, type)):
        try:
            given = AsDtype(np.dtype(given).newbyteorder(">"))
        except (TypeError, ValueError):
            raise ArgumentError(f"{given!a} is not a type of numbers") from None
    if not isinstance(given, Interpretation) or not hasattr(branch, "interpretation"):
        raise TypeError(f"an interpretation is such as AsDtype('>f8') of a branch, not {given!r}")
    return None if given == branch.interpretation else given


def separated(expressions: Any) -> tuple[Any, dict[str, Any]]:
    """Return expressions, and the interpretations that are given with them, by expression.

    Raises
    ------
    ValueError
        for an expression that is there twice.
    """
    pairs = expressions.items() if isinstance(expressions, Mapping) else expressions
    if isinstance(pairs, str) or pairs is None:
        return expressions, {}
    listed = [
        item if isinstance(item, tuple) and len(item) == 2 else (item, None) for item in pairs
    ]
    given = {name: item for name, item in listed if item is not None}
    names = [name for name, _ in listed]
    if given and len(set(names)) < len(names):
        raise ArgumentError(f"an expression is there twice in {names}")
    return names, given


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


# An awkward array of lists, or else a NumPy array: `Any`.
def _converted(array: ak.Array, own: AsDtype, given: AsDtype) -> Any:
    layout = ak.to_layout(array)
    if not isinstance(layout, ak.contents.ListOffsetArray):
        if own.itemsize != given.itemsize:
            raise ValueError(f"{own.itemsize} bytes, not {given.itemsize}")
        return _numbers(ak.to_numpy(array), own, given)
    offsets = np.asarray(layout.offsets)
    items = ak.to_numpy(ak.Array(layout.content[offsets[0] : offsets[-1]]))
    sizes = np.diff(offsets) * own.itemsize
    if (sizes % given.itemsize).any():
        raise ValueError("lists have parts of items")
    bounds = np.concatenate([[0], np.cumsum(sizes // given.itemsize)])
    content = ak.to_layout(_native(_numbers(items, own, given)), regulararray=True)
    return ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(bounds), content))


def _native(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return numbers.astype(numbers.dtype.newbyteorder("="), copy=False)


def _numbers(numbers: npt.NDArray[Any], own: AsDtype, given: AsDtype) -> npt.NDArray[Any]:
    """Return numbers whose bytes in the file are taken as other numbers."""
    stored = np.ascontiguousarray(numbers, dtype=own.from_dtype.base).reshape(-1)
    base = given.from_dtype.base
    taken = stored.view(np.uint8).view(base).reshape(-1, *given.inner_shape)
    return taken.astype(given.to_dtype.base)


def _by_library(made: Any, library: str, name: str, start: int) -> Any:
    """Return a NumPy array, or an awkward array of lists, in the form of a library."""
    short = libraries.canonical(library)
    flat = isinstance(made, np.ndarray)
    if short == "ak":
        return ak.from_numpy(_native(made), regulararray=True) if flat else made
    if not flat:
        made = to_numpy.objects([ak.to_numpy(item) for item in made])
    if short == "np":
        return made
    if short != "pd":
        raise ArgumentError(f"library={library!r} is not one of uproot's")
    pandas = libraries.optional("pandas")
    index = pandas.RangeIndex(start, start + len(made))
    values = to_numpy.objects(list(made)) if made.ndim > 1 else made
    return pandas.Series(values, index=index, name=name)
