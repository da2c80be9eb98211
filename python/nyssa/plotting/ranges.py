"""Chooses the bins of drawings, from the smallest and the largest value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

from nyssa.errors import ArgumentError
from nyssa.plotting.axes import FillAxis

__all__ = ["axis_of", "chosen_axis", "needs_range"]

#: The largest number of bins that are chosen: each is at least one column of a terminal.
MOST_BINS = 60
#: The number of bins of a stated range.
STATED_BINS = 50
#: The steps between nice numbers, for each power of ten.
_NICE = (1, 2, 5, 10)


# Bins and ranges are whatever users give: `Any`.
def needs_range(bins: Any, stated: Any) -> bool:
    """Return whether the smallest and the largest value must be known."""
    return stated is None and not isinstance(bins, (Sequence, np.ndarray))


def axis_of(kind: str, bins: Any, stated: Any) -> FillAxis:
    """Return the axis of stated edges, or of a stated range."""
    if isinstance(bins, (str, bytes)):
        raise ArgumentError(f"bins is a number, or a list of edges, not {bins!r}")
    if not needs_range(bins, None):
        if stated is not None:
            raise ArgumentError("bins are edges here, which are the range already")
        edges = [_number("an edge of bins", edge) for edge in bins]
        return FillAxis("variable", edges=edges)
    low, high = _range(stated)
    if bins is None:
        whole = kind == "integer" and low.is_integer() and high.is_integer()
        bins = int(high - low) if whole and high - low <= MOST_BINS else STATED_BINS
    return FillAxis("regular", bins=_count(bins), low=low, high=high)


def chosen_axis(kind: str, bins: Any, low: float, high: float) -> FillAxis:
    """Return the axis for values from `low` to `high`, which both have a bin.

    Without `bins`, edges are multiples of a width of 1, 2 or 5 times a power of ten. With a number
    of bins, they reach from the smallest to the largest value, as in ``numpy.histogram``.
    """
    if not low <= high:  # There is no finite value.
        low, high = 0.0, 1.0
    is_integer = kind == "integer" and abs(low) < 2**53 and abs(high) < 2**53
    if not math.isfinite(high - low):
        raise ArgumentError(f"the values reach from {low:g} to {high:g}: state a range")
    if bins is not None:
        if is_integer:
            return FillAxis("regular", bins=_count(bins), low=low, high=high + 1)
        if low == high:
            low, high = low - _half(low), high + _half(high)
        return FillAxis("regular", bins=_count(bins), low=low, high=high, closed=True)
    width = _nice((high - low + is_integer) / MOST_BINS)
    width = max(width, 1.0) if is_integer else width
    if width == 0.0 or low + width == low or high + width == high:
        # One value, or values that doubles can hardly tell apart.
        return FillAxis("regular", bins=1, low=low - _half(low), high=high + _half(high))
    first, last = math.floor(low / width), math.floor(high / width) + 1
    return FillAxis("regular", bins=last - first, low=first * width, high=last * width)


def _half(value: float) -> float:
    """Return half the width of a bin around a value."""
    return max(0.5, abs(value) * 1e-3) if value else 0.5


def _nice(width: float) -> float:
    """Return the smallest width of 1, 2 or 5 times a power of ten that is not smaller."""
    if width <= 0:
        return 0.0
    power = math.floor(math.log10(width))
    # Powers are computed as decimal numbers, so that 0.1 is 0.1.
    steps = (float(f"{step}e{power}") for step in _NICE)
    return next((step for step in steps if step >= width * (1 - 1e-9)), float(f"1e{power + 1}"))


def _count(bins: Any) -> int:
    if not isinstance(bins, Integral) or isinstance(bins, bool) or not 1 <= int(bins) <= 10**6:
        raise ArgumentError(f"bins is a number from 1 to 1000000 or a list of edges, not {bins!r}")
    return int(bins)


def _range(stated: Any) -> tuple[float, float]:
    if not isinstance(stated, (Sequence, np.ndarray)) or len(stated) != 2:
        raise ArgumentError(f"a range is a pair (low, high), not {stated!r}")
    low, high = (_number("an end of the range", end) for end in stated)
    if not low < high or not math.isfinite(low) or not math.isfinite(high):
        raise ArgumentError(f"a range is a finite number and a larger one, not {stated!r}")
    return low, high


def _number(what: str, given: Any) -> float:
    if not isinstance(given, Real):
        raise ArgumentError(f"{what} is a number, not {given!r}")
    return float(given)
