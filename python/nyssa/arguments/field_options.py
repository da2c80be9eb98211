"""Checks `field_options`, the storage options of fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nyssa.arguments.sizes import bytes_of
from nyssa.errors import ArgumentError

__all__ = ["FieldOptions", "field_options"]

FieldOptions = Mapping[str, Mapping[str, Any]]


def field_options(given: FieldOptions | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return globs and their options as text. Sizes are in bytes."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"field_options is not a dict of globs and their options: {given!r}")
    chosen = []
    for glob, options in (given or {}).items():
        if not isinstance(options, Mapping):
            raise ArgumentError(f"the options of the fields {glob!r} are not a dict: {options!r}")
        chosen.append((glob, [(str(name), _text(name, one)) for name, one in options.items()]))
    return chosen


def _text(name: str, value: Any) -> str:
    return str(bytes_of(value, name) if name == "page_size" else value)
