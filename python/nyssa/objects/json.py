"""Turns objects into the JSON that ROOT's ``TBufferJSON`` makes of them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import numpy as np

from nyssa.objects.object import Object
from nyssa.objects.simple import Collection

__all__ = ["to_json"]


def to_json(found: Object) -> dict[str, Any]:
    """Return the members of an object, with its class as ``_typename``."""
    if isinstance(found, Collection):
        return _collection(found)
    members = {name: _value(value) for name, value in found.all_members.items()}
    return {"_typename": found.class_name, **members}


def _collection(found: Collection) -> dict[str, Any]:
    items = [_value(one) for one in found]
    # A collection without a name has that of its class.
    name = found.name or found.class_name
    made: dict[str, Any] = {"_typename": found.class_name, "name": name, "arr": items}
    # The items of linked lists have options, which say how they are drawn.
    return {**made, "opt": [""] * len(items)} if "List" in found.class_name else made


def _value(value: Any) -> Any:
    if isinstance(value, Object):
        return to_json(value)
    if isinstance(value, np.ndarray):
        return _value(value.tolist()) if value.dtype.kind == "M" else value.tolist()
    if isinstance(value, (list, tuple)):
        return [_value(one) for one in value]
    return str(value) if isinstance(value, datetime) else value
