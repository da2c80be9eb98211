"""Options of uproot: their types, those that have no effect here, and ranges of entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import TypedDict

from nyssa.arguments.names import NameFilter
from nyssa.arguments.sizes import entry_range

NodeFilter = Callable[[Any], Any] | None
"""A function that says whether a branch or field is chosen. It may return another one."""


class NodeFilters(TypedDict, total=False):
    """The filters of ``keys`` and the like."""

    filter_name: NameFilter
    filter_typename: NameFilter
    filter_branch: NodeFilter
    filter_field: NodeFilter
    recursive: bool
    full_paths: bool
    ignore_duplicates: bool


class IgnoredOptions(TypedDict, total=False):
    """Options that say how uproot reads, and have no effect here."""

    access_log: object
    array_cache: object
    backend: object
    basket_limit: object
    decompression_executor: object
    filter_column: object
    handler: object
    ignore_duplicates: object
    interpretation_executor: object
    interpreter: object
    language: object
    recursive: object
    full_paths: object
    use_GDS: object


class ArrayOptions(IgnoredOptions, total=False):
    """The options of ``array``."""

    ak_add_doc: bool | Mapping[str, str]
    virtual: bool


class SelectionOptions(ArrayOptions, total=False):
    """The options of ``arrays``."""

    filter_name: NameFilter
    filter_typename: NameFilter
    filter_branch: NodeFilter
    filter_field: NodeFilter
    aliases: Mapping[str, str] | None
    entry_start: int | None
    entry_stop: int | None


class StepOptions(SelectionOptions, total=False):
    """The options of ``iterate``."""

    step_size: int | str


def no_filter(item: object) -> bool:
    """Return true: uproot's default of filters."""
    del item
    return True


def accepted(options: Mapping[str, object]) -> None:
    """Raise `TypeError` for options that uproot does not have."""
    for name in options:
        if name not in IgnoredOptions.__annotations__:
            raise TypeError(f"there is no option {name!r}")


def clipped(start: int | None, stop: int | None, entries: int) -> tuple[int, int]:
    """Return a range of entries that does not end before it starts."""
    first, last = entry_range(start, stop, entries)
    return first, max(first, last)
