"""Puts the columns of a table together as ``how=`` says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from nyssa.errors import ArgumentError

__all__ = ["How", "grouping"]

How: TypeAlias = "type[tuple[Any, ...]] | type[list[Any]] | type[dict[str, Any]] | Literal['zip']"
"""The values of the parameter ``how``, besides `None`."""


def grouping(how: How | None, library: str) -> Callable[[Any], Any]:
    """Return the function that makes of a table of `library` what `how` says.

    Raises
    ------
    nyssa.ArgumentError
        for a `how` that is none, before any work is done.
    """
    if how is None:
        return lambda table: table
    if isinstance(how, str) and how == "zip":
        if library != "ak":
            raise ArgumentError('how="zip" makes awkward arrays; use library="ak"')
        from nyssa.arrays.zipped import zipped

        return zipped
    if how is tuple or how is list:
        return lambda table: how(_columns(table, library).values())
    if how is dict:
        return lambda table: _columns(table, library)
    raise ArgumentError(f'how={how!r} is not one of tuple, list, dict, "zip" and None')


def _columns(table: Any, library: str) -> dict[str, Any]:
    """Return the columns of a table of a library."""
    attribute = {"ak": "fields", "arrow": "column_names"}.get(library, "columns")
    names = table if library == "np" else getattr(table, attribute)
    return {name: table[name] for name in names}
