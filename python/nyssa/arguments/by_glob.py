"""Checks `field_options` and `branch_options`: options of storage by globs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nyssa.arguments.sizes import bytes_of
from nyssa.errors import ArgumentError

__all__ = ["BranchOptions", "FieldOptions", "branch_options", "field_options", "text_of"]

FieldOptions = Mapping[str, Mapping[str, Any]]
BranchOptions = Mapping[str, Mapping[str, Any]]
"""Options of branches, by patterns of their names."""

_SIZES = ("page_size", "basket_size")


def field_options(given: FieldOptions | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return globs and their options as text. Sizes are in bytes."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentError(f"field_options is not a dict of globs and their options: {given!r}")
    return _by_glob(given, "fields")


def branch_options(given: BranchOptions | None) -> list[tuple[str, list[tuple[str, str]]]]:
    """Return globs and their options as text. Sizes are in bytes."""
    return _by_glob(given, "branches")


def _by_glob(
    given: Mapping[str, Mapping[str, Any]] | None, what: str
) -> list[tuple[str, list[tuple[str, str]]]]:
    chosen = []
    for glob, options in (given or {}).items():
        if not isinstance(options, Mapping):
            raise ArgumentError(f"the options of the {what} {glob!r} are not a dict: {options!r}")
        chosen.append((glob, [(str(name), _text(name, item)) for name, item in options.items()]))
    return chosen


def _text(name: str, value: Any) -> str:
    return str(bytes_of(value, name)) if name in _SIZES else text_of(value)


def text_of(value: Any) -> str:
    """Return a value as text. The text of a member of an enumeration of texts is its value."""
    return str.__str__(value) if isinstance(value, str) else str(value)
