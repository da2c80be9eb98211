"""Takes the types and the records that uproot takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak

__all__ = ["members_of", "typed", "typed_one"]


def typed(data: Any) -> Any:
    """Return types that are awkward's as text, which nyssa takes."""
    if isinstance(data, ak.forms.RecordForm):
        return {name: str(data.content(name).type) for name in data.fields}
    if isinstance(data, Mapping):
        return {name: typed_one(one) for name, one in data.items()}
    return data


def typed_one(one: Any) -> Any:
    """Return the type of one column as text, which nyssa takes; data stay as they are."""
    if isinstance(one, ak.types.ArrayType):
        return str(one.content)
    if isinstance(one, ak.types.Type):
        return str(one)
    return str(one.type) if isinstance(one, ak.forms.Form) else one


def members_of(one: Any) -> list[tuple[str, Any]] | None:
    """Return the members of a record, of its type or of its data; `None` for all else."""
    if isinstance(one, Mapping):
        return list(one.items())
    if isinstance(one, ak.types.ArrayType):
        return members_of(one.content)
    if isinstance(one, ak.types.RecordType) and not one.is_tuple:
        return list(zip(one.fields, one.contents, strict=True))
    if isinstance(one, ak.Array) and isinstance(one.layout, ak.contents.RecordArray):
        return [(name, one[name]) for name in ak.fields(one)]
    if hasattr(one, "columns") and hasattr(one, "items"):
        return [(str(name), column) for name, column in one.items()]
    return None
