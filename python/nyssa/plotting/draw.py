"""Draws an expression of the entries of files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.options import Evolution
from nyssa.errors import ArgumentError
from nyssa.jobs import job
from nyssa.plotting.axes import FillAxis, FillPlan
from nyssa.plotting.drawing import CATEGORIES, Drawing, drawn
from nyssa.plotting.filling import Filled, fill
from nyssa.plotting.ranges import axis_of, chosen_axis, needs_range
from nyssa.read.chain import Chain, Files, Schema, chain

__all__ = ["draw"]

_LARGEST = 1.7976931348623157e308
#: An axis that all finite values are in.
_FINITE = FillAxis("variable", edges=[-_LARGEST, _LARGEST], closed=True)


# Bins and ranges are numbers, lists of numbers, or pairs of these: `Any`.
@checked
def draw(
    files: Files,
    expression: str,
    *,
    bins: Any = None,
    range: Any = None,
    cut: str | None = None,
    weight: str | None = None,
    aliases: Mapping[str, str] | None = None,
    schema: Schema | None = None,
    threads: int | None = None,
    progress: job.Progress | bool = False,
    **evolution: Unpack[Evolution],
) -> Drawing:
    """Draw a histogram of an expression, for a first look at the data.

    A shell shows the result as text of 80 columns, a notebook as a picture. All entries of all
    files are read, on all cores, and step by step: the memory does not grow with the files.

    >>> jets = nyssa.draw("events.root:Events", "Jet_pt[abs(Jet_eta) < 2.4]", cut="nMuon >= 2")
    >>> jets.entries
    22748
    >>> jets.save("jets.svg")

    Parameters
    ----------
    files
        As in `nyssa.chain`: a path, URL, glob, folder, dataset, a list of these, or a dict from
        paths to names of objects.
    expression
        A column or an expression. Lists are flattened: each of their items is a value. Booleans
        and texts are drawn as categories; of texts the 20 most frequent ones. ``"y:x"`` is drawn in
        two dimensions, x to the right, as by ``TTree::Draw``.
    bins
        The number of bins, or their edges. By default bins are 1, 2 or 5 times a power of ten wide,
        at most 60, and one for each integer where they are few. In two dimensions one of these for
        both axes, or a tuple ``(x, y)``.
    range
        The ends ``(low, high)`` of the axis; in two dimensions ``((low, high), (low, high))``, x
        first. By default it has all finite values; their range is found in a first pass over the
        files, which ``range`` or edges save.
    cut
        An expression that is true or false for each entry; the others are not drawn.
    weight
        An expression of the weights: one for each entry, or one for each item.
    aliases
        Names for expressions, as in `Dataset.arrays`.
    schema, missing, narrowing, rules
        As in `nyssa.chain`.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the number of
        entries that are done and the total.

    Returns
    -------
    Drawing
        The histogram: bins, entries, mean, standard deviation, underflow and overflow.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when an expression does not parse, or its values cannot be drawn.
    nyssa.NotFoundError
        (a `KeyError`) when there is no such column; it suggests similar names.
    """
    dataset = chain(files, schema=schema, threads=threads, **evolution)
    expressions = split(dataset, expression)
    two = len(expressions) == 2
    each_bins = bins if two and isinstance(bins, tuple) and len(bins) == 2 else (bins, bins)
    each_range = range if two and range is not None else (range, range)
    if two and (not isinstance(each_range, (list, tuple, np.ndarray)) or len(each_range) != 2):
        raise ArgumentError("two dimensions have two ranges: ((low, high), (low, high))")
    given = [*(aliases or {}).items()]
    kinds = _core.kinds(dataset._core, expressions, given)
    axes: list[FillAxis | None] = [
        _stated(text, kind, two, *axis)
        for text, kind, axis in zip(
            expressions, kinds, zip(each_bins, each_range, strict=True), strict=False
        )
    ]
    open_axes = [number for number, axis in enumerate(axes) if axis is None]
    if open_axes:
        plans = [_first_look(expressions[at], kinds[at], cut) for at in open_axes]
        looks = fill(dataset, plans, aliases, threads, progress)
        for at, look in zip(open_axes, looks, strict=True):
            axes[at] = _chosen(kinds[at], each_bins[at], look)
    final = [axis for axis in axes if axis is not None]
    plan = FillPlan(expressions, final, weight, cut, statistics=True)
    [filled] = fill(dataset, [plan], aliases, threads, progress)
    shown = [*zip(expressions, kinds, final, strict=True)]
    return drawn(_source(dataset), shown, filled, cut, weight)


def split(dataset: Chain, expression: str) -> list[str]:
    """Return the expressions of x and, in two dimensions, of y."""
    if dataset._core.item(expression) is not None:
        return [expression]
    depth, quoted, colons = 0, False, []
    for at, letter in enumerate(expression):
        quoted ^= letter == "`"
        if not quoted:
            depth += (letter in "([") - (letter in ")]")
            if letter == ":" and depth == 0:
                colons.append(at)
    if not colons:
        return [expression]
    if len(colons) > 1:
        raise ArgumentError(f"{expression!r} has more than two dimensions, which are not drawn")
    y, x = expression[: colons[0]].strip(), expression[colons[0] + 1 :].strip()
    if not x or not y:
        raise ArgumentError(f"{expression!r} lacks an expression beside the colon")
    return [x, y]


# See `draw`: `Any`.
def _stated(text: str, kind: str, two: bool, bins: Any, stated: Any) -> FillAxis | None:
    """Return the axis that the arguments state, or `None` if the values decide."""
    is_stated = bins is not None or stated is not None
    if is_stated and not two and kind in ("text", "boolean"):
        raise ArgumentError(f"{text!r} is drawn as categories, which have no bins and no range")
    if kind == "text":
        return None if two else FillAxis("all texts")
    if kind == "boolean":
        return FillAxis("integer", bins=2, integers=[0])
    return None if needs_range(bins, stated) else axis_of(kind, bins, stated)


def _first_look(expression: str, kind: str, cut: str | None) -> FillPlan:
    """Return the plan that finds the range of an axis, or its categories."""
    axis = FillAxis("all texts") if kind == "text" else _FINITE
    return FillPlan([expression], [axis], None, cut, statistics=True)


def _chosen(kind: str, bins: Any, look: Filled) -> FillAxis:
    if kind == "text":
        order = (-look.sums[1:]).argsort(kind="stable")[:CATEGORIES]
        return FillAxis("texts", texts=[look.texts[at] for at in order])
    return chosen_axis(kind, bins, look.axes[0].min, look.axes[0].max)


def _source(dataset: Chain) -> str:
    files = dataset.files
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return f"{files[0][0].rpartition('/')[2]}:{dataset.object_path}{more}"
