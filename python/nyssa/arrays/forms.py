"""The form in which arrays go to the core and come back: awkward Forms, and buffers by form key.

``python/src/form.rs`` lists the classes that are used. A `Form` is the dict that awkward's JSON
stands for. The buffer of a node has the key ``"{form_key}-{attribute}"``, as in
``awkward.from_buffers``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa import _core

Form = dict[str, Any]
"""A Form. It must not be changed, because columns share the Forms that are read."""

Buffers = Mapping[str, Any]
"""The buffers of Forms, by key."""

KNOWN = 4096
"""The number of Forms that are kept."""


# Most of the columns of a dataset have one of a few Forms.
@lru_cache(maxsize=KNOWN)
def parse(text: str) -> Form:
    """Return the Form that is written as JSON."""
    form: Form = json.loads(text)
    return form


def of(column: _core.Array) -> Form:
    """Return the Form of a column."""
    return parse(column.form())


def parameter(form: Form, name: str) -> str | None:
    """Return a parameter of a Form; `None` if the Form does not have it."""
    value: str | None = form.get("parameters", {}).get(name)
    return value


_INDEXES: dict[str, npt.DTypeLike] = {"i8": np.int8, "i32": np.int32, "i64": np.int64}
"""Awkward's names of the types of indexes, which differ from NumPy's."""


def numbers(form: Form, buffers: Buffers) -> npt.NDArray[Any]:
    """Return the numbers of a node of numbers."""
    return np.frombuffer(buffers[f"{form['form_key']}-data"], dtype=form["primitive"])


def own(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return an array that can be written to: a copy if others hold its memory."""
    return array if array.flags.writeable else array.copy()


def index(form: Form, buffers: Buffers, attribute: str) -> npt.NDArray[Any]:
    """Return the offsets, mask, index or tags of a node."""
    dtype = _INDEXES[form[attribute]]
    return np.frombuffer(buffers[f"{form['form_key']}-{attribute}"], dtype=dtype)


def reach(index: npt.NDArray[Any]) -> int:
    """Return the number of values that an index reaches."""
    return int(index.max(initial=-1)) + 1


def texts(form: Form, buffers: Buffers) -> list[str] | list[bytes]:
    """Return the texts of a node of strings, or its bytes."""
    bounds = index(form, buffers, "offsets").tolist()
    data = bytes(buffers[f"{form['content']['form_key']}-data"])
    parts = [data[start:stop] for start, stop in pairwise(bounds)]
    if parameter(form, "__array__") == "bytestring":
        return parts
    return [part.decode("utf-8", "surrogateescape") for part in parts]


class Arrays:
    """Makes Forms and buffers for the core, the inner ones first."""

    def __init__(self) -> None:
        self._buffers: dict[str, npt.NDArray[np.uint8]] = {}
        self._nodes = 0

    def column(self, name: str, form: Form, length: int) -> _core.Array:
        """Return the column of a Form that was made here."""
        return _core.Array.from_buffers(name, form, length, self._buffers)

    def numbers(self, data: npt.NDArray[Any]) -> Form:
        """Return the Form of numbers and booleans."""
        little = data.astype(data.dtype.newbyteorder("<"), copy=False)
        return self._node("NumpyArray", {"data": little}, primitive=data.dtype.name)

    def texts(self, offsets: npt.NDArray[np.int64], data: npt.NDArray[Any], kind: str) -> Form:
        """Return the Form of strings, or of bytes where `kind` is ``"bytestring"``."""
        characters = self._node("NumpyArray", {"data": data}, primitive="uint8")
        parameters = {"__array__": kind}
        return self._node(
            "ListOffsetArray", {"offsets": offsets}, content=characters, parameters=parameters
        )

    def lists(self, offsets: npt.NDArray[np.int64], content: Form) -> Form:
        """Return the Form of lists."""
        return self._node("ListOffsetArray", {"offsets": offsets}, content=content)

    def regular(self, size: int, content: Form) -> Form:
        """Return the Form of lists of one size."""
        return self._node("RegularArray", {}, size=size, content=content)

    def record(
        self, fields: Sequence[str] | None, contents: list[Form], class_name: str | None = None
    ) -> Form:
        """Return the Form of records, of tuples where `fields` is `None`."""
        parameters = {} if class_name is None else {"__record__": class_name}
        names = None if fields is None else list(fields)
        return self._node("RecordArray", {}, fields=names, contents=contents, parameters=parameters)

    def masked(self, mask: npt.NDArray[np.bool_], content: Form) -> Form:
        """Return the Form of values that are missing where `mask` is false."""
        return self._node("ByteMaskedArray", {"mask": mask}, content=content)

    def indexed(self, index: npt.NDArray[np.int64], content: Form) -> Form:
        """Return the Form of the values at `index`. Where it is negative, a value is missing."""
        return self._node("IndexedOptionArray", {"index": index}, content=content)

    def present(self, mask: npt.NDArray[np.bool_], content: Form) -> Form:
        """Return the Form of the values of `content`, at the places where `mask` is true."""
        index = np.where(mask, np.cumsum(mask) - 1, -1)
        return self.indexed(index.astype(np.int64, copy=False), content)

    def unmasked(self, content: Form) -> Form:
        """Return the Form of values that may be missing, but are not."""
        return self._node("UnmaskedArray", {}, content=content)

    def union(
        self, tags: npt.NDArray[np.int8], index: npt.NDArray[np.int32], contents: list[Form]
    ) -> Form:
        """Return the Form of values of several types."""
        return self._node("UnionArray", {"tags": tags, "index": index}, contents=contents)

    def nothing(self) -> Form:
        """Return the Form of an array without values."""
        return self._node("EmptyArray", {})

    def _node(self, class_name: str, buffers: dict[str, npt.NDArray[Any]], **entries: Any) -> Form:
        key = f"node{self._nodes}"
        self._nodes += 1
        for attribute, data in buffers.items():
            self._buffers[f"{key}-{attribute}"] = (
                np.ascontiguousarray(data).view(np.uint8).reshape(-1)
            )
        return {"class": class_name, **entries, "form_key": key}
