"""Draws the rows of a study by matplotlib."""

from __future__ import annotations

import os
from collections.abc import Sequence

from nyssa.errors import ArgumentError
from nyssa.show.plot import new_figure

__all__ = ["check_image", "plot_rows"]

#: The number of panels side by side.
ACROSS = 4
#: The height of the names of axes and of a row, and the width of the labels and of a panel, in
#: inches.
HEADS, ROW, LABELS, PANEL = 0.7, 0.28, 2.0, 2.6
#: The colour of all points, as on the pages of `nyssa.tune`.
COLOUR = "#2a78c8"

#: The median, the least and the most of each row.
Values = Sequence[tuple[float, float, float]]


def check_image(image: str | os.PathLike[str]) -> None:
    """Raise an error if no image of this name can be drawn.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed, or does not know the kind of file.
    """
    known = new_figure(1, 1).canvas.get_supported_filetypes()
    if os.path.splitext(image)[1].removeprefix(".") not in known:
        kinds = ", ".join(sorted(known))
        raise ArgumentError(f"the ending of {os.fspath(image)} is not of an image: {kinds}")


def plot_rows(
    labels: Sequence[str], panels: Sequence[tuple[str, Values]], image: str | os.PathLike[str]
) -> None:
    """Draw a panel for each quantity, in which each row is a point with a line from least to most.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed, or does not know the kind of file.
    """
    down, across = -(-len(panels) // ACROSS), min(ACROSS, len(panels))
    check_image(image)
    figure = new_figure(LABELS + PANEL * across, down * (HEADS + ROW * max(len(labels), 2)))
    grid = figure.subplots(down, across, squeeze=False, sharey=True)
    places = range(len(labels))
    for axis in grid.flat[len(panels) :]:
        axis.set_axis_off()
    for axis, (head, values) in zip(grid.flat, panels, strict=False):
        for place, (median, least, most) in zip(places, values, strict=True):
            axis.plot([least, most], [place, place], "-", color=COLOUR)
            axis.plot(median, place, "o", color=COLOUR)
        axis.set_xlim(0, 1.08 * max(most for _, _, most in values))
        axis.set_ylim(len(labels) - 0.4, -0.6)
        axis.set_xlabel(head)
        axis.grid(axis="x", alpha=0.3)
    for axis in grid[:, 0]:
        axis.set_yticks(places, labels)
    figure.savefig(os.fspath(image))
