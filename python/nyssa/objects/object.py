"""Defines `Object`: any object of any class, by its members."""

from __future__ import annotations

import io
import math
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from nyssa import _core
from nyssa.arguments.checks import checked as with_checks
from nyssa.arguments.names import missing
from nyssa.arrays.libraries import optional
from nyssa.errors import FormatError, LimitError

__all__ = ["Object", "checked"]

_INFINITY = 2 * 10**308
"""Infinity: ROOT writes 2e308, which JavaScript reads as infinity. An integer keeps all digits."""

_Part = TypeVar("_Part")
_Made = TypeVar("_Made")


class Object:
    """An object of a C++ class, as the streamer info of its file describes it.

    Members are attributes too (``axis.fNbins``). Their values:

    - `int`, `float`, `bool`, `str`;
    - NumPy arrays, read-only and of the C++ type, for arrays and containers of numbers; the base
      classes ``TArrayC`` to ``TArrayD`` are the member ``fArray``;
    - lists for all other containers, of pairs for maps;
    - `datetime.datetime` for a ``TDatime``, without a time zone: it is the time of the writer's
      clock; `None` for one that is no date; a NumPy array of ``datetime64[s]`` for several;
    - an `Object` for an object or a pointer to one, `None` for a null pointer; pointers to one
      object give one `Object`, so that objects may lead to each other;
    - an `Undecoded` for an object that nyssa does not decode; it says its class and the reason.
    """

    #: The open file that it was read from, and its path there.
    _source: tuple[_core.File, str] | None = None

    def __init__(
        self,
        class_name: str,
        bases: tuple[str, ...],
        members: dict[str, Any],
        own: tuple[str, ...],
    ) -> None:
        self._class_name = class_name
        self._bases = bases
        self._members = members
        self._own = own

    @property
    def class_name(self) -> str:
        """Return the C++ class; empty for items whose class the file does not name."""
        return self._class_name

    @property
    def classname(self) -> str:
        """Return the C++ class (`class_name`), by its name in uproot."""
        return self._class_name

    @property
    def bases(self) -> tuple[str, ...]:
        """Return the C++ base classes, also of the base classes."""
        return self._bases

    @property
    def members(self) -> Mapping[str, Any]:
        """Return the members of the class itself, without the members of its base classes."""
        return MappingProxyType({name: self._members[name] for name in self._own})

    @property
    def all_members(self) -> Mapping[str, Any]:
        """Return the members of the base classes and of the class, in their C++ order."""
        return MappingProxyType(self._members)

    def has_member(self, name: str) -> bool:
        """Return whether the class or one of its base classes has a member."""
        return name in self._members

    @with_checks
    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """Return a member of the class or of one of its base classes.

        With ``all=False`` it is a member of the class itself. With `none_if_missing` it is `None`
        if there is none of that name.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when it has none of that name; the message lists the nearest.
        """
        if name in self._members and (all or name in self._own):
            return self._members[name]
        if none_if_missing:
            return None
        message = f"class {self._class_name} has no member {name!r}"
        raise missing(message, name, list(self._members))

    def part(self, name: str, kind: type[_Part]) -> _Part:
        """Return a member that is of a Python type.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is none of that name.
        nyssa.FormatError
            (a `ValueError`) when it is of another type.
        """
        return checked(self, name, self.member(name), kind)

    @property
    def name(self) -> str:
        """Return the name of the object (``fName``), which is empty when its class has none."""
        return str(self._members.get("fName", ""))

    @property
    def title(self) -> str:
        """Return the title of the object (``fTitle``); empty when its class has none."""
        return str(self._members.get("fTitle", ""))

    def to_py(self) -> Any:
        """Return all members in a dict: dicts, lists, tuples, numbers, and `str` only.

        Dates are texts: ``"2020-02-29 12:34:56"``. An object that several pointers lead to is one
        dict.

        Raises
        ------
        nyssa.LimitError
            (a `MemoryError`) for objects in objects that are deeper than Python can follow.
        """
        return _in_depth(self, lambda: _plain(self, {}))

    def _begin(self) -> Any:
        """Return what `to_py` returns, without members."""
        return {}

    def _end(self, plain_object: Any, plain: Callable[[Any], Any]) -> None:
        """Add the members to what `to_py` returns."""
        plain_object.update({name: plain(value) for name, value in self._members.items()})

    def tojson(self) -> dict[str, Any]:
        """Return the members as ROOT's ``TBufferJSON`` has them, with the class as ``_typename``.

        Dates are texts, as in `to_py`. An object that is there already is ``{"$ref": 3}``: objects
        count from 0, in the order in which they begin. JSON has no infinity: as in ROOT it is
        2·10³⁰⁸, which JavaScript reads as infinity; a NaN is `None`.

        Raises
        ------
        nyssa.LimitError
            (a `MemoryError`) for objects in objects that are deeper than Python can follow.
        """
        return _in_depth(self, lambda: _Json().value(self))

    def _json(self, value: Callable[[Any], Any]) -> dict[str, Any]:
        """Return what `tojson` returns; `value` returns the JSON of a member."""
        members = {name: value(item) for name, item in self._members.items()}
        return {"_typename": self.class_name, **members}

    def to_pyroot(self, name: str | None = None) -> Any:
        """Return the object as one of PyROOT, maybe with another name; it needs ROOT."""
        import nyssa

        root = optional("ROOT")
        content = io.BytesIO()
        with nyssa.recreate(content) as file:
            file["object"] = self
        data = content.getvalue()
        with root.TDirectory.TContext():
            view = root.TMemFile.ZeroCopyView_t(data, len(data))
            made = (opened := root.TMemFile("nyssa.root", view)).Get("object")
            if hasattr(made, "SetDirectory"):
                made.SetDirectory(root.nullptr)
            root.SetOwnership(made, True)
            opened.Close()
        if hasattr(made, "SetName") and self.has_member("fName"):
            made.SetName(self.name if name is None else name)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickle: everything except the file."""
        return {name: value for name, value in vars(self).items() if name != "_source"}

    def __getattr__(self, name: str) -> Any:
        """Return a member."""
        # While an object is copied or unpickled it has no members yet.
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        if name not in self._members:
            raise AttributeError(
                f"{type(self).__name__} of class {self._class_name} has no {name!r}"
            )
        return self._members[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._members]

    def __repr__(self) -> str:
        """Return class and name."""
        name = f" {self.name!r}" if self.name else ""
        return f"<{_core.printable(self._class_name or 'Object')}{name}>"


def checked(owner: Object, name: str, value: Any, kind: type[_Part]) -> _Part:
    """Return a value of a member if it is of a Python type; otherwise `nyssa.FormatError`."""
    if not isinstance(value, kind):
        raise FormatError(
            f"member {name} of {owner!r} is of type {type(value).__name__}, not {kind.__name__}"
        )
    return value


def _in_depth(whole: Object, make: Callable[[], _Made]) -> _Made:
    """Return what `make` makes of an object and all below it."""
    try:
        return make()
    except RecursionError:
        raise LimitError(
            f"{whole!r} has objects in objects that are deeper than Python can follow "
            f"({sys.getrecursionlimit()} calls): sys.setrecursionlimit allows more, or take its "
            "members one by one"
        ) from None


def _plain(value: Any, made: dict[int, Any]) -> Any:
    """Return plain values; `made` has the values of the objects that were met."""
    if isinstance(value, Object):
        if id(value) not in made:
            made[id(value)] = value._begin()
            value._end(made[id(value)], lambda item: _plain(item, made))
        return made[id(value)]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist(), made) if value.dtype.kind == "M" else value.tolist()
    if isinstance(value, Mapping):
        value = list(value.items())
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(item, made) for item in value)
    if isinstance(value, datetime):
        return str(value)
    return value


class _Json:
    """Makes the JSON of values, of each object once."""

    def __init__(self) -> None:
        #: The numbers of the objects that were made.
        self._numbers: dict[int, int] = {}

    def value(self, value: Any) -> Any:
        if isinstance(value, Object):
            number = self._numbers.get(id(value))
            if number is not None:
                return {"$ref": number}
            self._numbers[id(value)] = len(self._numbers)
            return value._json(self.value)
        if isinstance(value, np.ndarray):
            plain = value.dtype.kind in "biu" or (
                value.dtype.kind == "f" and bool(np.isfinite(value).all())
            )
            return value.tolist() if plain else self.value(value.tolist())
        if isinstance(value, Mapping):
            value = list(value.items())
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        if isinstance(value, float) and not math.isfinite(value):
            return None if math.isnan(value) else _INFINITY if value > 0 else -_INFINITY
        return str(value) if isinstance(value, datetime) else value
