"""Checks numbers that users give: sizes, threads, steps and entries."""

from __future__ import annotations

import re
from numbers import Integral
from typing import TypeAlias

from nyssa.errors import ArgumentError

Size: TypeAlias = int | str
"""A size in bytes, or a text such as ``"100 MB"``."""
AutoFlush: TypeAlias = int | str
"""ROOT's number, or a size in bytes as a text."""

_UNITS = {
    "": 1,
    "K": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "KI": 2**10,
    "MI": 2**20,
    "GI": 2**30,
    "TI": 2**40,
}
_TOO_LARGE = 2**63
_SIZE = re.compile(r"\s*(\d+(?:\.\d*)?(?:[eE][+-]?\d+)?)\s*([kKmMgGtT]?[iI]?)[bB]?\s*")


def bytes_of(size: int | str, what: str = "a size") -> int:
    """Return a size in bytes, from a number or a text such as ``"100 MB"`` or ``"1.5 GiB"``."""
    if isinstance(size, str):
        match = _SIZE.fullmatch(size)
        unit = match and _UNITS.get(match[2].upper())
        if match is None or unit is None:
            raise ArgumentError(f'{what} is a number of bytes such as "100 MB", not {size!r}')
        size = int(min(float(match[1]) * unit, float(_TOO_LARGE)))
    elif not isinstance(size, Integral) or isinstance(size, bool):
        raise ArgumentError(f'{what} is a number of bytes such as "100 MB", not {size!r}')
    if size <= 0:
        raise ArgumentError(f"{what} must be positive")
    if size >= _TOO_LARGE:
        raise ArgumentError(f"{what} must be less than 2^63 bytes, not {size}")
    return int(size)


def threads_of(threads: int | None, what: str = "threads") -> int | None:
    """Check a number of threads; `None` is the default."""
    if threads is None:
        return None
    if not isinstance(threads, Integral) or isinstance(threads, bool):
        raise ArgumentError(f"{what} is a number, not {threads!r}")
    if not 0 <= threads < _TOO_LARGE:
        raise ArgumentError(f"{what} must be from 1 to 1024, not {threads}")
    return int(threads)


def step_size(size: int | str) -> dict[str, int]:
    """Return the size of steps as arguments of `_core.Steps`."""
    if isinstance(size, Integral) and not isinstance(size, bool):
        if size <= 0:
            raise ArgumentError("step_size must be at least one entry")
        return {"entries": min(int(size), _TOO_LARGE - 1)}
    if not isinstance(size, str):
        raise ArgumentError(
            f'step_size is a number of entries, memory such as "100 MB", or "cluster", not {size!r}'
        )
    return {} if size == "cluster" else {"memory": bytes_of(size, "step_size")}


def entry_range(start: int | None, stop: int | None, entries: int) -> tuple[int, int]:
    """Return `start` and `stop` inside ``0..entries``, as a Python slice does."""
    for value in (start, stop):
        if value is not None and (not isinstance(value, Integral) or isinstance(value, bool)):
            raise ArgumentError(f"entry_start and entry_stop are integers, not {value!r}")
    first, last, _ = slice(start, stop).indices(entries)
    return first, max(first, last)


def auto_flush_of(given: int | str) -> int:
    """Return ROOT's number: entries, or negative bytes."""
    if isinstance(given, str):
        return -bytes_of(given, "auto_flush")
    if not isinstance(given, Integral) or isinstance(given, bool) or abs(int(given)) >= 2**63:
        raise ArgumentError(f"auto_flush is a number of entries, or of bytes, not {given!r}")
    return int(given)
