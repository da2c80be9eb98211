"""Shows histograms of files in notebooks, with a small picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from nyssa.errors import NyssaError
from nyssa.show import svg
from nyssa.show.blocks import short
from nyssa.show.table import html

if TYPE_CHECKING:
    from nyssa.objects.histogram import Histogram

__all__ = ["page"]


def page(histogram: Histogram) -> str:
    """Return a histogram as HTML: its name, title, axes and entries, and its picture."""
    lines = [repr(histogram).strip("<>")]
    if histogram.title:
        lines.append(histogram.title)
    try:
        axes = histogram.axes
        values = np.nan_to_num(np.asarray(histogram.values(), dtype=np.float64))
    except NyssaError as error:
        return html([*lines, f"it cannot be drawn: {error}"])
    shape = " x ".join(
        f"{len(axis)} bins from {short(axis.low)} to {short(axis.high)}" for axis in axes
    )
    lines += [shape, f"entries {short(float(histogram._now.get('fEntries', 0)))}"]
    return html(lines) + _picture(histogram, axes, values)


# Axes are the axes of the histogram; the test of the picture reads its numbers: `Any`.
def _picture(histogram: Histogram, axes: Any, values: Any) -> str:
    titles = [str(axis.title) for axis in axes]
    if 0 in values.shape:
        return ""
    if len(axes) == 1 and (histogram.kind == "COUNT" or len(values) <= svg.BINS):
        return svg.steps(values, axes[0].edges(), axes[0].labels(), titles[0])
    if len(axes) == 2 and (histogram.kind == "COUNT" or max(values.shape) <= svg.TILES):
        title = " : ".join(title for title in reversed(titles) if title)
        return svg.tiles(values, axes[0].edges(), axes[1].edges(), title)
    return ""  # Means of several bins cannot be summed up, and three dimensions cannot be drawn.
