"""Options of uproot: those that have no effect here, and ranges of entries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nyssa._steps import entry_range

__all__ = ["accepted", "clipped"]

_IGNORED = {
    "array_cache",
    "backend",
    "basket_limit",
    "decompression_executor",
    "filter_column",
    "handler",
    "ignore_duplicates",
    "interpretation_executor",
    "interpreter",
    "language",
    "recursive",
    "full_paths",
    "use_GDS",
}


def accepted(options: Mapping[str, Any]) -> None:
    """Raise `TypeError` for options that uproot does not have."""
    for name in options:
        if name not in _IGNORED:
            raise TypeError(f"there is no option {name!r}")


def clipped(start: int | None, stop: int | None, entries: int) -> tuple[int, int]:
    """Return a range of entries that does not end before it starts."""
    first, last = entry_range(start, stop, entries)
    return first, max(first, last)
