"""Writes objects with keys of their own: ``file["h"] = histogram``."""

from __future__ import annotations

import numbers
from collections.abc import Iterable
from typing import Any

import numpy as np

from nyssa import _core
from nyssa.errors import UnsupportedError
from nyssa.objects.make import parameter, text
from nyssa.objects.make_histogram import is_numpy, is_plottable, of_numpy, of_plottable
from nyssa.objects.object import Object
from nyssa.objects.pyroot import from_pyroot, is_pyroot
from nyssa.objects.simple import Collection, Text, Undecoded

__all__ = ["above", "in_order", "to_object", "write"]

#: The title of the key of a ``TObjString``, which is the title of its class.
_TEXT_TITLE = "Collectable string class"


def to_object(name: str, data: object) -> Object | None:
    """Return the object of ROOT that `data` are; `None` if they are the entries of a dataset.

    Raises
    ------
    nyssa.UnsupportedError, nyssa.ArgumentError
        for what ROOT's classes cannot hold.
    """
    if isinstance(data, Object):
        return data
    if isinstance(data, str):
        return text(data)
    if is_pyroot(data):
        return from_pyroot(data)
    if isinstance(data, (numbers.Real, np.bool_)):
        return parameter(_core.name_of(name), data)
    if is_plottable(data):
        return of_plottable(name, data)
    if is_numpy(data):
        return of_numpy(name, data)  # type: ignore[arg-type]  # it is a tuple
    return None


def write(core: _core.Writer, path: str, written: Object) -> None:
    """Write an object: as it is stored if it was read from a file that is open."""
    source = written._source
    if source is not None and not source[0].closed:
        core.copy_object(path, *source)
        return
    class_name, members = _draft(written)
    if written.has_member("fName"):
        members["fName"] = _core.name_of(path)
    title = _TEXT_TITLE if isinstance(written, Text) else written.title
    core.write_object(path, title, (class_name, members))


_Draft = tuple[str, dict[str, Any]]


def _draft(drafted: Object, around: tuple[Object, ...] = ()) -> _Draft:
    """Return the class and the members of an object, as the core takes them."""
    if any(item is drafted for item in around):
        raise UnsupportedError(
            f"{drafted!r} leads to itself: nyssa writes it only while its file is open"
        )
    around = (*around, drafted)
    members = (
        (name, _value(drafted, name, item, around)) for name, item in drafted.all_members.items()
    )
    return drafted.class_name, {name: item for name, item in members if item is not None}


def _value(owner: Object, name: str, value: Any, around: tuple[Object, ...]) -> Any:
    if isinstance(owner, Collection):
        if name == "items":
            return [_draft(_item(owner, name, item), around) for item in value]
        if name == "options":
            if len(value) != len(owner):
                raise UnsupportedError(
                    f"{owner!r} has {len(owner)} items, but {len(value)} options"
                )
            return value
    if isinstance(value, Object) and not isinstance(value, Undecoded):
        return _draft(value, around)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
        kind = np.float64 if value.dtype.kind == "f" else np.int64
        return np.ascontiguousarray(value, dtype=kind)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise UnsupportedError(f"member {name} of {owner!r} cannot be written: {value!r}")


def _item(owner: Object, name: str, item: Any) -> Object:
    if not isinstance(item, Object) or isinstance(item, Undecoded):
        raise UnsupportedError(f"an item of {name} of {owner!r} cannot be written: {item!r}")
    return item


def in_order(keys: Iterable[str]) -> list[str]:
    """Return paths with cycles so that older cycles of an object come before newer ones."""
    cycles: dict[str, list[int]] = {}
    for key in keys:
        name, _, cycle = key.rpartition(";")
        cycles.setdefault(name, []).append(int(cycle))
    return [f"{name};{cycle}" for name, numbers in cycles.items() for cycle in sorted(numbers)]


def above(name: str) -> list[str]:
    """Return the paths of the directories above a path, from the outermost."""
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(1, len(parts))]
