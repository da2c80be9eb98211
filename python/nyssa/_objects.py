"""Python objects as arrays of a field's type: lists, dicts, tuples, text and numbers.

What a field takes is its shape (`python/src/shape.rs`); the result is a tree of buffers as
`_core.Array.from_layout` takes it. Every level is made at once, from the values of all entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from reprlib import repr as short
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from nyssa import _core
from nyssa.errors import ArgumentError

Tree = tuple[Any, ...]
Shape = tuple[Any, ...]

_NUMBERS = (bool, int, float, np.integer, np.floating, np.bool_)


class _Misfit(Exception):  # noqa: N818 (never leaves this module)
    """A value that does not fit: its number among those of its level, and why."""

    def __init__(self, index: int, path: str, why: str) -> None:
        super().__init__(why)
        self.index, self.path, self.why = index, path, why


def tree(values: list[Any], shape: Shape, name: str) -> Tree:
    """Return the tree of `values`, entries of the field `name`.

    Raises
    ------
    nyssa.ArgumentError
        naming field and entry of the first value that does not fit.
    """
    try:
        return _tree(values, shape, name)
    except _Misfit as misfit:
        where = f"field {misfit.path}, entry {misfit.index}"
        raise ArgumentError(f"{misfit.why} ({where})") from None


def buffer(data: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return the bytes of an array."""
    return np.ascontiguousarray(data).view(np.uint8).reshape(-1)


def texts(parts: list[bytes], kind: str = "string") -> Tree:
    """Return the tree of texts."""
    offsets = _offsets(len(part) for part in parts)
    return (kind, buffer(offsets), np.frombuffer(b"".join(parts), dtype=np.uint8))


def _tree(values: list[Any], shape: Shape, path: str) -> Tree:
    kind = shape[0]
    if kind not in ("optional", "variant"):
        for index, value in enumerate(values):
            if _is_none(value):
                raise _Misfit(index, path, "None where the type of the field needs a value")
    return _MAKERS[kind](values, shape, path)


def _number(values: list[Any], shape: Shape, path: str) -> Tree:
    wanted = np.dtype(shape[1])
    for index, value in enumerate(values):
        if not isinstance(value, _NUMBERS):
            raise _Misfit(index, path, f"{short(value)} where a number belongs")
    array = np.asarray(values, dtype=None if values else wanted)
    if array.dtype.kind not in "biu":
        real = next((i for i, v in enumerate(values) if isinstance(v, (float, np.floating))), None)
        if real is None and values:
            array = _integers(values, path)
        elif wanted.kind != "f" and real is not None:
            why = f"value {short(values[real])} where the field is of integers"
            raise _Misfit(real, path, why)
    return _numbers(array)


def _integers(values: list[Any], path: str) -> npt.NDArray[Any]:
    """Return integers that NumPy does not take for such, because some need all 64 bits."""
    for index, value in enumerate(values):
        if not 0 <= value < 1 << 64:
            raise _Misfit(
                index, path, f"value {short(value)} does not fit 64 bits beside the others"
            )
    return np.array(values, dtype=np.uint64)


def _numbers(array: npt.NDArray[Any]) -> Tree:
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return ("number", array.dtype.str, buffer(array))


def _array(values: list[Any]) -> npt.NDArray[Any]:
    if not values:
        return np.empty(0)
    try:
        return np.asarray(values)
    except (ValueError, OverflowError):
        return np.empty((0, 0))


def _string(values: list[Any], shape: Shape, path: str) -> Tree:
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
    return texts(parts, shape[0])


def _list(values: list[Any], shape: Shape, path: str) -> Tree:
    if shape[1][0] == "number" and values and all(map(_is_vector, values)):
        # Empty arrays are doubles unless somebody says otherwise.
        filled = [value for value in values if len(value)] or values[:1]
        offsets = _offsets(len(value) for value in values)
        return ("list", buffer(offsets), _numbers(np.concatenate(filled)))
    flat, offsets = _flat(values, shape[1], path)
    return ("list", buffer(offsets), _below(flat, shape[1], path, offsets))


def _is_vector(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biuf"


def _fixed(values: list[Any], shape: Shape, path: str) -> Tree:
    _, size, item = shape
    flat, offsets = _flat(values, item, path)
    wrong = np.flatnonzero(np.diff(offsets) != size)
    if len(wrong):
        found = offsets[wrong[0] + 1] - offsets[wrong[0]]
        why = f"{found} items where the type of the field has {size}"
        raise _Misfit(int(wrong[0]), path, why)
    return ("fixed", size, len(values), _below(flat, item, path, offsets))


def _below(flat: list[Any], item: Shape, path: str, offsets: npt.NDArray[np.int64]) -> Tree:
    """Return the tree of the items of lists."""
    try:
        return _tree(flat, item, f"{path}._0")
    except _Misfit as misfit:
        row = int(np.searchsorted(offsets, misfit.index, side="right")) - 1
        raise _Misfit(row, misfit.path, misfit.why) from None


def _flat(values: list[Any], item: Shape, path: str) -> tuple[list[Any], npt.NDArray[np.int64]]:
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


def _items(value: Any, item: Shape) -> Iterable[Any] | None:
    """Return the items of one list; those of a dict are pairs."""
    items: Iterable[Any] | None = None
    if isinstance(value, ak.Array):
        items = value.to_list()
    elif isinstance(value, Mapping):
        is_pair = item[0] == "record" and item[3] and len(item[2]) == 2
        items = value.items() if is_pair else None
    elif isinstance(value, (bytes, bytearray)):
        items = value if item[0] == "number" else None
    elif isinstance(value, np.ndarray):
        items = value if value.ndim else None
    elif isinstance(value, Iterable) and not isinstance(value, str):
        items = value
    return items


def _offsets(lengths: Iterable[int]) -> npt.NDArray[np.int64]:
    return np.cumsum([0, *lengths], dtype=np.int64)


def _optional(values: list[Any], shape: Shape, path: str) -> Tree:
    inner = shape[1]
    # What may be none itself is in lists of at most one, as it is read.
    if inner[0] in ("optional", "variant"):
        lists = [_at_most_one(value) for value in values]
        return _list(lists, ("list", inner), path)
    mask = np.fromiter((not _is_none(value) for value in values), np.uint8, len(values))
    there = [value for value in values if not _is_none(value)]
    try:
        return ("option", mask, _tree(there, inner, f"{path}._0"))
    except _Misfit as misfit:
        entry = int(np.flatnonzero(mask)[misfit.index])
        raise _Misfit(entry, misfit.path, misfit.why) from None


def _at_most_one(value: Any) -> Any:
    if _is_none(value):
        return []
    return value if isinstance(value, list) else [value]


def _is_none(value: Any) -> bool:
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def _record(values: list[Any], shape: Shape, path: str) -> Tree:
    _, names, members, by_place = shape
    columns: list[list[Any]] = [[] for _ in names]
    known = _member_names(shape)
    for index, value in enumerate(values):
        if by_place and isinstance(value, (tuple, list)):
            if len(value) != len(names):
                why = f"{len(value)} values where the type of the field has {len(names)}"
                raise _Misfit(index, path, why)
            parts: Iterable[Any] = value
        else:
            parts = _members(value, shape, known, index, path)
        for column, part in zip(columns, parts, strict=True):
            column.append(part)
    children = [
        _tree(column, member, f"{path}.{name}")
        for name, member, column in zip(names, members, columns, strict=True)
    ]
    return ("record", names, tuple(children), len(values))


def _members(value: Any, shape: Shape, known: set[str], index: int, path: str) -> list[Any]:
    """Return the members of a dict or record; those of base classes may stand beside the others."""
    if isinstance(value, np.void) and value.dtype.names is not None:
        value = {name: value[name] for name in value.dtype.names}
    if isinstance(value, ak.Record):
        value = value.to_list()
    if not isinstance(value, Mapping):
        raise _Misfit(index, path, f"{short(value)} where a dict belongs")
    for name in value:
        if name not in known:
            _, near = _core.did_you_mean(str(name), sorted(known))
            raise _Misfit(index, path, f"the record has no member {short(name)}{near}")
    parts = []
    for name, member in zip(shape[1], shape[2], strict=True):
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


def _member_names(shape: Shape) -> set[str]:
    """Return the names of members, with those of base classes."""
    names = set(shape[1])
    for name, member in zip(shape[1], shape[2], strict=True):
        if _is_base(name, member):
            names |= _member_names(member)
    return names


def _is_base(name: str, member: Shape) -> bool:
    return name.startswith(":_") and member[0] == "record"


def _variant(values: list[Any], shape: Shape, path: str) -> Tree:
    alternatives = shape[1]
    rows: list[list[int]] = [[] for _ in range(len(alternatives) + 1)]
    tags = np.zeros(len(values), dtype=np.int8)
    index = np.zeros(len(values), dtype=np.int32)
    for row, value in enumerate(values):
        tags[row] = tag = 0 if _is_none(value) else 1 + _alternative(value, alternatives, row, path)
        index[row] = len(rows[tag])
        rows[tag].append(row)
    children: list[Tree] = [("null", len(rows[0]))]
    for at, (alternative, chosen) in enumerate(zip(alternatives, rows[1:], strict=True)):
        try:
            children.append(_tree([values[row] for row in chosen], alternative, f"{path}._{at}"))
        except _Misfit as misfit:
            raise _Misfit(chosen[misfit.index], misfit.path, misfit.why) from None
    return ("union", buffer(tags), buffer(index), tuple(children))


def _alternative(value: Any, alternatives: tuple[Shape, ...], row: int, path: str) -> int:
    """Return which type of a variant a value has: the best, and of those the first."""
    ranks = [_rank(value, one) for one in alternatives]
    if not any(ranks):
        why = f"{short(value)} is of none of the {len(ranks)} types of the variant"
        raise _Misfit(row, path, why)
    return ranks.index(max(ranks))


def _rank(value: Any, shape: Shape) -> int:
    """Return 2 for a value of the very kind, 1 for one that is taken, 0 for others."""
    kind = shape[0]
    if kind == "number":
        return _number_rank(value, np.dtype(shape[1]))
    if kind == "optional":
        return min(_rank(value, shape[1]), 1)
    if kind in ("string", "bytes"):
        text = str if kind == "string" else bytes
        return 2 if isinstance(value, text) else int(isinstance(value, (str, bytes)))
    if kind == "record":
        if shape[3] and isinstance(value, (tuple, list)):
            return 2 * (len(value) == len(shape[1]))
        value = value.to_list() if isinstance(value, ak.Record) else value
        return 2 * (isinstance(value, Mapping) and set(value) <= _member_names(shape))
    if kind in ("list", "fixed"):
        items = _items(value, shape[-1])
        items = None if items is None else list(items)
        if items is None or (kind == "fixed" and len(items) != shape[1]):
            return 0
        return min((_rank(one, shape[-1]) for one in items), default=2)
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


_MAKERS: dict[str, Callable[[list[Any], Shape, str], Tree]] = {
    "number": _number,
    "string": _string,
    "bytes": _string,
    "list": _list,
    "fixed": _fixed,
    "optional": _optional,
    "record": _record,
    "variant": _variant,
}
