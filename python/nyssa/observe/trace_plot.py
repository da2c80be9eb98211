"""Draws a recording by matplotlib."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.errors import ArgumentError
from nyssa.observe.trace import TraceSummary
from nyssa.show.plot import new_figure
from nyssa.show.table import count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["plot_trace"]

#: Colours of requests, of their ranges, of IOPS and of marks, as in the HTML page.
REQUESTS, RANGES, IOPS, MARKS = "#2a78c2", "#8ab8e0", "#c2662a", "#2a9d5c"


@checked
def plot_trace(path: str | os.PathLike[str], image: str | os.PathLike[str]) -> None:
    """Draw a recording of reads: rates over time, which bytes were read when, sizes of requests.

    >>> with nyssa.record("trace.jsonl"):
    ...     arrays = nyssa.open("events.root:Events").arrays(["MET_pt"])
    >>> _ = nyssa.plot_trace("trace.jsonl", "trace.png")

    Parameters
    ----------
    path
        The recording, as in `trace_summary`.
    image
        The file to write. Its ending says its kind: ``.png``, ``.pdf``, ``.svg``. A file that is
        there is replaced.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed, or for a kind that it does not know.
    OSError
        When the recording cannot be read, or is none, or the image cannot be written.
    """
    figure = new_figure(10, 11)
    summary, marks = map(json.loads, _core.trace_summary(os.fspath(path)))
    shown = TraceSummary._of(summary)
    rate, iops, places, sizes = figure.subplots(4, 1)
    _draw_rates(rate, iops, shown)
    _draw_marks(places, marks, shown.runtime)
    for axes in (rate, iops, places):
        axes.set_xlim(0, shown.runtime or None)
        axes.set_xlabel("time [s]")
    _draw_sizes(sizes, shown)
    try:
        figure.savefig(os.fspath(image))
    except ValueError as error:
        raise ArgumentError(str(error)) from None


def _draw_rates(rate: Axes, iops: Axes, summary: TraceSummary) -> None:
    """Draw how many bytes came, and how many requests began, in each bin of time."""
    width = summary.profile.seconds
    begins = [number * width for number in range(len(summary.profile.iops))]
    megabytes = [value / 1e6 for value in summary.profile.bytes_per_second]
    for axes, values, color, label in (
        (rate, megabytes, REQUESTS, "read rate [MB/s]"),
        (iops, summary.profile.iops, IOPS, "IOPS [1/s]"),
    ):
        axes.bar(begins, values, 0.92 * width, align="edge", color=color)
        axes.set_ylabel(label)


# JSON has no narrower type than `Any`.
def _draw_marks(axes: Axes, marks: dict[str, Any], runtime: float) -> None:
    """Draw each range from the begin to the end of its request. Files lie above each other."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    # Short ranges and requests are seen, too.
    least_time, least_bytes = runtime / 600, marks["bytes"] / 150
    rectangles = [
        Rectangle(
            (mark["start"], mark["offset"] / 1e6),
            max(mark["end"] - mark["start"], least_time),
            max(mark["length"], least_bytes) / 1e6,
        )
        for mark in marks["marks"]
    ]
    axes.add_collection(PatchCollection(rectangles, color=MARKS, alpha=0.5, linewidth=0))
    axes.set_ylim(0, marks["bytes"] / 1e6 or None)
    axes.set_ylabel("place in the files [MB]")
    if len(rectangles) < marks["ranges"]:
        axes.set_title(f"{count(len(rectangles))} of {count(marks['ranges'])} ranges")


def _draw_sizes(axes: Axes, summary: TraceSummary) -> None:
    """Draw the numbers of requests and of ranges by size."""
    places = range(len(summary.sizes))
    for shift, numbers, color, label in (
        (-0.21, [size.requests for size in summary.sizes], REQUESTS, "requests"),
        (0.21, [size.ranges for size in summary.sizes], RANGES, "ranges"),
    ):
        axes.bar([place + shift for place in places], numbers, 0.42, color=color, label=label)
    axes.set_xticks(places, [_power(size.bytes) for size in summary.sizes], rotation=30)
    axes.set_xlim(-0.6, max(len(summary.sizes), 8) - 0.4)
    axes.set_xlabel("size, from the label up to twice as much [bytes]")
    axes.set_ylabel("number")
    if places:
        axes.legend()


def _power(number: int) -> str:
    """Return a power of two as ``64 Ki``."""
    units = ["", " Ki", " Mi", " Gi", " Ti", " Pi", " Ei"]
    unit = max(number.bit_length() - 1, 0) // 10
    return f"{number >> (10 * unit)}{units[min(unit, 6)]}"
