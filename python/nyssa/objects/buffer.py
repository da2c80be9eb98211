"""Fills entries that are still in the buffer of a histogram into its bins, as ROOT does.

ROOT keeps the entries of a histogram without limits (or with ``SetBuffer``) in a buffer, writes the
buffer as it is, and fills the bins when they are first needed. Source: ``TH1::BufferEmpty`` and
``THLimitsFinder`` in root-project/root.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.errors import FormatError, UnsupportedError
from nyssa.objects.axis import Axis

__all__ = ["filled"]

#: Bits of a histogram: weights do not count for errors, and limits by powers of two.
_NOT_WEIGHTED, _POWERS_OF_TWO = 1 << 19, 1 << 20
#: Bit of an axis whose bins are as wide as integers, and of its second word: it can be extended.
_INTEGERS, _EXTENDS = 1 << 22, 1 << 1
_AXES = ("fXaxis", "fYaxis", "fZaxis")

_Floats = npt.NDArray[np.float64]


def filled(what: str, members: Mapping[str, Any], dimensions: int) -> dict[str, Any]:
    """Return the members of a histogram (or profile) that its buffer changes; none without one.

    Raises
    ------
    nyssa.FormatError
        (a `ValueError`) when the buffer or the bins are shorter than they say.
    nyssa.UnsupportedError
        (a `NotImplementedError`) when ROOT chooses the limits in a way that is not known here.
    """
    buffer = members.get("fBuffer")
    if buffer is None or not len(buffer) or not buffer[0] > 0:
        return {}
    profile = "fBinEntries" in members
    width = 1 + dimensions + profile
    count = int(buffer[0])
    if 1 + count * width > len(buffer):
        raise FormatError(
            f"{what} says that there are {count} entries in its buffer of {len(buffer)}"
        )
    entries = np.asarray(buffer[1 : 1 + count * width], dtype=np.float64).reshape(count, width)
    weights, places = entries[:, 0], entries[:, 1 : 1 + dimensions]
    # Only histograms of one dimension leave out infinity and NaN.
    finite = dimensions == 1 and not profile
    axes = [
        _axis(what, members, members[name], _span(values, finite))
        for name, values in zip(_AXES, places.T, strict=False)
    ]
    where = np.zeros(count, dtype=np.int64)
    for axis, values in zip(reversed(axes), reversed(places.T), strict=True):
        where = where * (len(axis) + 2) + _bins(axis, values)
    size = math.prod(len(axis) + 2 for axis in axes)
    out: dict[str, Any] = dict(zip(_AXES, axes, strict=False))
    sums = {"fArray": weights}
    if profile:
        last = "fYmin", "fYmax"
        low, high = (members.get(n.replace("Y", "YZT"[dimensions - 1]), 0.0) for n in last)
        values = entries[:, -1]
        if low != high:
            # Values beyond the limits of a profile are left out (NaN too).
            inside = (values >= low) & (values <= high)
            where, weights, values = where[inside], weights[inside], values[inside]
        sums = {
            "fArray": weights * values,
            "fSumw2": weights * values**2,
            "fBinEntries": weights,
        }
    squares = "fBinSumw2" if profile else "fSumw2"
    there = len(members.get(squares, ())) == size
    bits = members.get("fBits", 0)
    if there or (np.any(weights != 1) and not bits & _NOT_WEIGHTED):
        sums[squares] = weights**2
        if not there:
            before = members["fBinEntries" if profile else "fArray"]
            members = {**members, squares: np.abs(before).astype(np.float64)}
    for name, amounts in sums.items():
        out[name] = _added(what, name, members.get(name, ()), size, where, amounts)
    return out


def _added(
    what: str, name: str, cells: Any, size: int, where: npt.NDArray[np.int64], amounts: _Floats
) -> npt.NDArray[Any]:
    """Return sums of the bins with more added, in the type they are stored as."""
    cells = np.asarray(cells)
    if len(cells) != size:
        raise FormatError(f"{what} has {len(cells)} bins in {name}, its axes have {size} with flow")
    if np.issubdtype(cells.dtype, np.integer):
        # As ROOT does it, a bin is full before it overflows.
        limits = np.iinfo(cells.dtype)
        sums = cells.astype(np.float64)
        np.add.at(sums, where, np.trunc(amounts))
        return np.asarray(np.clip(sums, -limits.max, limits.max), dtype=cells.dtype)
    sums = np.array(cells)
    np.add.at(sums, where, amounts.astype(sums.dtype))
    return sums


def _span(values: _Floats, finite: bool) -> tuple[float, float]:
    """Return the least and the largest value as ROOT finds them, by comparing each with the first.

    A first value that is NaN stays, because no comparison with it is true.
    """
    if finite:
        values = values[np.isfinite(values)]
        return float(np.min(values, initial=np.inf)), float(np.max(values, initial=-np.inf))
    if np.isnan(values[0]):
        return math.nan, math.nan
    return float(np.nanmin(values)), float(np.nanmax(values))


def _axis(what: str, members: Mapping[str, Any], axis: Axis, span: tuple[float, float]) -> Axis:
    """Return an axis with limits for values of a span; its own limits where it has some."""
    if axis.low < axis.high:
        outside = span[0] < axis.low or span[1] >= axis.high
        if outside and axis.member("fBits2") & _EXTENDS:
            raise UnsupportedError(_cannot(what, "an axis would have to be extended"))
        return axis
    if members.get("fBits", 0) & _POWERS_OF_TWO:
        raise UnsupportedError(_cannot(what, "limits are to be powers of two"))
    if axis.labels() is not None or axis.member("fBits") & _INTEGERS:
        raise UnsupportedError(_cannot(what, "an axis has labels or bins of integers"))
    low, high = _limits(len(axis), *span)
    changed = {"fXmin": low, "fXmax": high, "fXbins": np.zeros(0)}
    named = {**axis.all_members, **changed}
    return Axis(axis.class_name, axis.bases, named, tuple(axis.members))


def _cannot(what: str, why: str) -> str:
    return (
        f"{what} has entries in its buffer that are not in its bins yet, and {why}; in ROOT, call "
        "its BufferEmpty() before it is written"
    )


def _bins(axis: Axis, values: _Floats) -> npt.NDArray[np.int64]:
    """Return the bin of each value: 0 for underflow, one more than there are for overflow."""
    count = len(axis)
    if axis.is_variable:
        bins = np.searchsorted(axis.edges(), values, side="right")
    else:
        width = (axis.high - axis.low) / count
        with np.errstate(invalid="ignore"):
            steps = (values - axis.low) / width
        bins = 1 + np.clip(np.nan_to_num(steps, nan=count), -1, count).astype(np.int64)
        # What the division has rounded to the next bin goes back to its own.
        bins -= values < axis.low + (bins - 1) * width
        bins += values >= axis.low + bins * width
    bins = np.where(values < axis.low, 0, bins)
    return np.where(values < axis.high, bins, count + 1)


def _limits(bins: int, low: float, high: float) -> tuple[float, float]:
    """Return limits around values: round numbers with some room."""
    if low >= high:
        low, high = low - 1, high + 1
    room = 0.1 * (high - low)
    start, end = low - room, high + room
    if start < 0 <= low:
        start = 0.0
    if high <= 0 < end:
        end = 0.0
    round_low, round_high, width = _round(start, end, bins)
    if not 0 < width <= 1e39:
        return -1.0, 1.0
    room = 0.01 * (high - low)
    return min(round_low, low - room), max(round_high, high + room)


def _round(low: float, high: float, bins: int) -> tuple[float, float, float]:
    """Return round limits within an interval, and the width of the round bins between them."""
    parts = max(bins, 2)
    while True:
        raw = (high - low) / parts
        if math.isnan(raw):
            # ROOT makes a huge negative number of it, which has no power of ten.
            return 0.0, 1.0, 0.01
        if not 0 < raw < np.finfo(np.float32).max:
            return 0.0, 0.0, 0.0
        power = int(math.log10(raw))
        if abs(power) > 200:
            return 0.0, 1.0, 0.01
        power -= raw <= 1
        figure = raw * 10.0**-power - 1e-10
        step = next((step for step in (1, 2, 5) if figure <= step), None)
        width = step * 10.0**power if step else 10.0 ** (power + 1)
        if abs(low / width) > 1e9:
            return low, high, width
        first = math.trunc(low / width) - (low / width < 0)
        last = math.trunc(high / width + 1.00001) - (high / width + 1.00001 < 0)
        between = last - first
        if bins <= 5 or 2 * between != bins:
            break
        parts += 1
    start, end = width * first, width * last
    if bins == 1 and between != 1:
        width *= 2
    inner_start = start + width if low - start >= width * 1e-4 else start
    inner_end = end - width if end - high >= width * 1e-4 else end
    return (inner_start, inner_end, width) if inner_start < inner_end else (start, end, width)
