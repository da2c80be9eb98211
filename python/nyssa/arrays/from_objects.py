"""Makes arrays of Python objects (lists, dicts, tuples, text, numbers) for the type of a field.

The Form of the field says what it takes (``python/src/field_form.rs``). Each level is made at once,
from the values of all entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from reprlib import repr as short
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from nyssa import _core
from nyssa.arrays import numpy_rows
from nyssa.arrays.forms import Arrays, Form, parameter
from nyssa.errors import ArgumentError

__all__ = ["INTEGER", "STRING", "form"]

STRING: Form = {"class": "ListOffsetArray", "parameters": {"__array__": "string"}}
"""The Form of text."""

INTEGER: Form = {"class": "NumpyArray", "primitive": "int64"}
"""The Form of integers; those that need all 64 bits become unsigned."""

_NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)


class _Misfit(Exception):  # noqa: N818 (never leaves this module)
    """A value does not fit. It has its number among the values of its level, and the reason."""

    def __init__(self, index: int, path: str, why: str) -> None:
        super().__init__(why)
        self.index, self.path, self.why = index, path, why


def form(arrays: Arrays, values: list[Any], wanted: Form, name: str) -> Form:
    """Return the Form of `values`, entries of the field `name`, whose own Form is `wanted`.

    Raises
    ------
    nyssa.ArgumentError
        with the field and the entry of the first value that does not fit.
    """
    try:
        return _Maker(arrays).form(values, wanted, name)
    except _Misfit as misfit:
        where = f"field {misfit.path}, entry {misfit.index}"
        raise ArgumentError(f"{misfit.why} ({where})") from None


class _Maker:
    """Makes Forms and buffers of values, one level after the other."""

    def __init__(self, arrays: Arrays) -> None:
        self._arrays = arrays

    def form(self, values: list[Any], wanted: Form, path: str) -> Form:
        """Return the Form of values, which are to be of the Form `wanted`."""
        values = numpy_rows.scalars(values)
        kind = _kind(wanted)
        if kind not in ("option", "list of at most one", "union"):
            for index, value in enumerate(values):
                if _is_none(value):
                    raise _Misfit(index, path, "None where the type of the field needs a value")
        return _MAKERS[kind](self, values, wanted, path)

    def number(self, values: list[Any], wanted: Form, path: str) -> Form:
        dtype = np.dtype(wanted["primitive"])
        for index, value in enumerate(values):
            if not isinstance(value, _NUMBERS):
                raise _Misfit(index, path, f"{short(value)} where a number belongs")
        array = np.asarray(values, dtype=None if values else dtype)
        if array.dtype.kind not in "biu":
            real = next(
                (i for i, v in enumerate(values) if isinstance(v, (float, np.floating))), None
            )
            if real is None and values:
                array = _integers(values, path)
            elif dtype.kind != "f" and real is not None:
                why = f"value {short(values[real])} where the field is of integers"
                raise _Misfit(real, path, why)
        return self._arrays.numbers(array)

    def text(self, values: list[Any], wanted: Form, path: str) -> Form:
        parts = []
        for index, value in enumerate(values):
            if isinstance(value, str):
                try:
                    parts.append(value.encode())
                except UnicodeEncodeError as error:
                    raise _Misfit(index, path, str(error)) from None
            elif isinstance(value, (bytes, bytearray, memoryview)):
                parts.append(bytes(value))
            else:
                raise _Misfit(index, path, f"{short(value)} where text belongs")
        data = np.frombuffer(b"".join(parts), dtype=np.uint8)
        kind = wanted["parameters"]["__array__"]
        return self._arrays.texts(_offsets(len(part) for part in parts), data, kind)

    def lists(self, values: list[Any], wanted: Form, path: str) -> Form:
        item = wanted["content"]
        if item["class"] == "NumpyArray" and values and all(map(_is_vector, values)):
            # Empty arrays are doubles unless somebody says otherwise.
            filled = [value for value in values if len(value)] or values[:1]
            offsets = _offsets(len(value) for value in values)
            return self._arrays.lists(offsets, self._arrays.numbers(np.concatenate(filled)))
        flat, offsets = _flat(values, item, path)
        return self._arrays.lists(offsets, self._below(flat, item, path, offsets))

    def lists_of_at_most_one(self, values: list[Any], wanted: Form, path: str) -> Form:
        return self.lists([_at_most_one(value) for value in values], wanted, path)

    def regular(self, values: list[Any], wanted: Form, path: str) -> Form:
        size, item = wanted["size"], wanted["content"]
        flat, offsets = _flat(values, item, path)
        wrong = np.flatnonzero(np.diff(offsets) != size)
        if len(wrong):
            length = offsets[wrong[0] + 1] - offsets[wrong[0]]
            why = f"{length} items where the type of the field has {size}"
            raise _Misfit(int(wrong[0]), path, why)
        return self._arrays.regular(size, self._below(flat, item, path, offsets))

    def _below(
        self, flat: list[Any], item: Form, path: str, offsets: npt.NDArray[np.int64]
    ) -> Form:
        """Return the Form of the items of lists."""
        try:
            return self.form(flat, item, f"{path}._0")
        except _Misfit as misfit:
            row = int(np.searchsorted(offsets, misfit.index, side="right")) - 1
            raise _Misfit(row, misfit.path, misfit.why) from None

    def option(self, values: list[Any], wanted: Form, path: str) -> Form:
        mask = np.fromiter((not _is_none(value) for value in values), np.bool_, len(values))
        there = [value for value in values if not _is_none(value)]
        try:
            return self._arrays.present(mask, self.form(there, wanted["content"], f"{path}._0"))
        except _Misfit as misfit:
            entry = int(np.flatnonzero(mask)[misfit.index])
            raise _Misfit(entry, misfit.path, misfit.why) from None

    def record(self, values: list[Any], wanted: Form, path: str) -> Form:
        names, members = wanted["fields"], wanted["contents"]
        columns: list[list[Any]] = [[] for _ in names]
        known = _member_names(wanted)
        by_place = _is_by_place(wanted)
        for index, value in enumerate(values):
            if by_place and isinstance(value, (tuple, list)):
                if len(value) != len(names):
                    why = f"{len(value)} values where the type of the field has {len(names)}"
                    raise _Misfit(index, path, why)
                parts: Iterable[Any] = value
            else:
                parts = _members(value, wanted, known, index, path)
            for column, part in zip(columns, parts, strict=True):
                column.append(part)
        contents = [
            self.form(column, member, f"{path}.{name}")
            for name, member, column in zip(names, members, columns, strict=True)
        ]
        return self._arrays.record(names, contents)

    def union(self, values: list[Any], wanted: Form, path: str) -> Form:
        alternatives = wanted["contents"]
        rows: list[list[int]] = [[] for _ in range(len(alternatives) + 1)]
        tags = np.zeros(len(values), dtype=np.int8)
        places = np.zeros(len(values), dtype=np.int32)
        for row, value in enumerate(values):
            none = _is_none(value)
            tags[row] = tag = 0 if none else 1 + _alternative(value, alternatives, row, path)
            places[row] = len(rows[tag])
            rows[tag].append(row)
        nothing = np.full(len(rows[0]), -1, dtype=np.int64)
        contents = [self._arrays.indexed(nothing, self._arrays.nothing())]
        for at, (alternative, chosen) in enumerate(zip(alternatives, rows[1:], strict=True)):
            try:
                chosen_values = [values[row] for row in chosen]
                contents.append(self.form(chosen_values, alternative, f"{path}._{at}"))
            except _Misfit as misfit:
                raise _Misfit(chosen[misfit.index], misfit.path, misfit.why) from None
        return self._arrays.union(tags, places, contents)


_MAKERS: dict[str, Callable[[_Maker, list[Any], Form, str], Form]] = {
    "number": _Maker.number,
    "text": _Maker.text,
    "list": _Maker.lists,
    "list of at most one": _Maker.lists_of_at_most_one,
    "regular": _Maker.regular,
    "option": _Maker.option,
    "record": _Maker.record,
    "union": _Maker.union,
}
_KINDS = {
    "NumpyArray": "number",
    "RegularArray": "regular",
    "IndexedOptionArray": "option",
    "ByteMaskedArray": "option",
    "UnmaskedArray": "option",
    "RecordArray": "record",
    "UnionArray": "union",
}


def _kind(wanted: Form) -> str:
    """Return which of `_MAKERS` makes entries of a Form."""
    if wanted["class"] != "ListOffsetArray":
        return _KINDS[wanted["class"]]
    if parameter(wanted, "__array__") is not None:
        return "text"
    # Optional values that may be none themselves are lists, as they are read.
    return "list" if parameter(wanted, "typename") is None else "list of at most one"


def _integers(values: list[Any], path: str) -> npt.NDArray[Any]:
    """Return integers of which some need all 64 bits; NumPy alone would make objects of them."""
    for index, value in enumerate(values):
        if not 0 <= value < 1 << 64:
            raise _Misfit(
                index, path, f"value {short(value)} does not fit 64 bits beside the others"
            )
    return np.array(values, dtype=np.uint64)


def _is_vector(value: Any) -> bool:
    is_array = isinstance(value, np.ndarray) and not isinstance(value, np.ma.MaskedArray)
    return is_array and value.ndim == 1 and value.dtype.kind in "biuf"


def _flat(values: list[Any], item: Form, path: str) -> tuple[list[Any], npt.NDArray[np.int64]]:
    """Return the items of all lists, and where each begins."""
    flat: list[Any] = []
    lengths = []
    for index, value in enumerate(values):
        items = _items(value, item)
        if items is None:
            raise _Misfit(index, path, f"{short(value)} where a list belongs")
        before = len(flat)
        flat.extend(items)
        lengths.append(len(flat) - before)
    return flat, _offsets(lengths)


def _items(value: Any, item: Form) -> Iterable[Any] | None:
    """Return the items of one list; the items of a dict are pairs."""
    items: Iterable[Any] | None = None
    if isinstance(value, ak.Array):
        items = value.to_list()
    elif isinstance(value, Mapping):
        is_pair = _is_by_place(item) and len(item["contents"]) == 2
        items = value.items() if is_pair else None
    elif isinstance(value, (bytes, bytearray)):
        items = value if item["class"] == "NumpyArray" else None
    elif isinstance(value, np.ndarray):
        items = value if value.ndim else None
    elif isinstance(value, Iterable) and not isinstance(value, str):
        items = value
    return items


def _offsets(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _at_most_one(value: Any) -> Any:
    if _is_none(value):
        return []
    return value if isinstance(value, list) else [value]


def _is_none(value: Any) -> bool:
    return value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType")


def _is_by_place(wanted: Form) -> bool:
    """Return whether the members have no names but places, as in pairs and tuples."""
    name = parameter(wanted, "typename") or ""
    return wanted["class"] == "RecordArray" and name.startswith(("std::pair<", "std::tuple<"))


def _members(value: Any, wanted: Form, known: set[str], index: int, path: str) -> list[Any]:
    """Return the members of a dict or record; base classes may be members, or beside them."""
    if numpy_rows.is_row(value):
        value = numpy_rows.members(value)
    if isinstance(value, ak.Record):
        value = value.to_list()
    if not isinstance(value, Mapping):
        raise _Misfit(index, path, f"{short(value)} where a dict belongs")
    for name in value:
        if name not in known:
            _, near = _core.did_you_mean(str(name), sorted(known))
            raise _Misfit(index, path, f"the record has no member {short(name)}{near}")
    parts = []
    for name, member in zip(wanted["fields"], wanted["contents"], strict=True):
        if name in value:
            parts.append(value[name])
        elif _is_base(name, member):
            below = _member_names(member)
            parts.append({name: part for name, part in value.items() if name in below})
        else:
            raise _Misfit(
                index, path, f"member {short(name)} is missing: there are {sorted(value)}"
            )
    return parts


def _member_names(wanted: Form) -> set[str]:
    """Return the names of members, also of base classes."""
    names = set(wanted["fields"])
    for name, member in zip(wanted["fields"], wanted["contents"], strict=True):
        if _is_base(name, member):
            names |= _member_names(member)
    return names


def _is_base(name: str, member: Form) -> bool:
    return name.startswith(":_") and member["class"] == "RecordArray"


def _alternative(value: Any, alternatives: list[Form], row: int, path: str) -> int:
    """Return the type of a variant that fits a value best; the first of several."""
    ranks = [_rank(value, alternative) for alternative in alternatives]
    if not any(ranks):
        why = f"{short(value)} is of none of the {len(ranks)} types of the variant"
        raise _Misfit(row, path, why)
    return ranks.index(max(ranks))


def _rank(value: Any, wanted: Form) -> int:
    """Return 2 for a value of exactly this kind, 1 for one that is accepted, 0 for others."""
    kind = _kind(wanted)
    if kind == "number":
        return _number_rank(value, np.dtype(wanted["primitive"]))
    if kind in ("option", "list of at most one"):
        return min(_rank(value, wanted["content"]), 1)
    if kind == "text":
        text = str if parameter(wanted, "__array__") == "string" else bytes
        return 2 if isinstance(value, text) else int(isinstance(value, (str, bytes)))
    if kind == "record":
        if _is_by_place(wanted) and isinstance(value, (tuple, list)):
            return 2 * (len(value) == len(wanted["fields"]))
        value = value.to_list() if isinstance(value, ak.Record) else value
        return 2 * (isinstance(value, Mapping) and set(value) <= _member_names(wanted))
    if kind in ("list", "regular"):
        items = _items(value, wanted["content"])
        items = None if items is None else list(items)
        if items is None or (kind == "regular" and len(items) != wanted["size"]):
            return 0
        return min((_rank(item, wanted["content"]) for item in items), default=2)
    return 0


def _number_rank(value: Any, wanted: np.dtype[Any]) -> int:
    if isinstance(value, (bool, np.bool_)):
        return 2 * (wanted.kind == "b")
    if isinstance(value, (float, np.floating)):
        return 2 * (wanted.kind == "f")
    if not isinstance(value, (int, np.integer)):
        return 0
    if wanted.kind == "f":
        return 1
    fits = wanted.kind in "iu" and np.iinfo(wanted).min <= int(value) <= np.iinfo(wanted).max
    return 2 * int(fits)
