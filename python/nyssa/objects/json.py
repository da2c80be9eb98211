"""Turns objects into the JSON that ROOT's ``TBufferJSON`` makes of them."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

import numpy as np

from nyssa.objects.object import Object
from nyssa.objects.simple import Collection, Undecoded

__all__ = ["INFINITY", "to_json"]

INFINITY = 2 * 10**308
"""Infinity: ROOT writes 2e308, which JavaScript reads as infinity. An integer keeps all digits."""


def to_json(found: Object) -> dict[str, Any]:
    """Return the members of an object, with its class as ``_typename``.

    An object that is there already is ``{"$ref": number}``: objects count from 0, in the order in
    which they begin. JSON has no infinity: it is `INFINITY`, and what is not a number is `None`.
    """
    return _Writer().object(found)


class _Writer:
    """Writes objects, each of them once."""

    def __init__(self) -> None:
        #: The numbers of the objects that were written.
        self._numbers: dict[int, int] = {}

    def object(self, found: Object) -> dict[str, Any]:
        number = self._numbers.get(id(found))
        if number is not None:
            return {"$ref": number}
        self._numbers[id(found)] = len(self._numbers)
        if isinstance(found, Undecoded):
            return {"_typename": found.class_name, "_undecoded": found.reason}
        if isinstance(found, Collection):
            return self._collection(found)
        members = {name: self._value(value) for name, value in found.all_members.items()}
        return {"_typename": found.class_name, **members}

    def _collection(self, found: Collection) -> dict[str, Any]:
        items = [self._value(one) for one in found]
        # A collection without a name has that of its class.
        name = found.name or found.class_name
        made: dict[str, Any] = {"_typename": found.class_name, "name": name, "arr": items}
        if found.options is None:
            return made
        return {**made, "opt": [option or None for option in found.options]}

    def _value(self, value: Any) -> Any:
        if isinstance(value, Object):
            return self.object(value)
        if isinstance(value, np.ndarray):
            plain = value.dtype.kind in "biu" or (
                value.dtype.kind == "f" and bool(np.isfinite(value).all())
            )
            return value.tolist() if plain else self._value(value.tolist())
        if isinstance(value, (list, tuple)):
            return [self._value(one) for one in value]
        if isinstance(value, float) and not math.isfinite(value):
            return None if math.isnan(value) else INFINITY if value > 0 else -INFINITY
        return str(value) if isinstance(value, datetime) else value
