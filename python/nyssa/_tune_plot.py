"""Draws the trials of a search for the best options by matplotlib."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from nyssa._plot import new_figure
from nyssa.errors import ArgumentError

if TYPE_CHECKING:
    from nyssa._tune import TunedTrial

__all__ = ["plot_trials"]

#: Colours of trials that others beat, of those that none beats, and of the recommended one, as on
#: the HTML page.
BEATEN, PARETO, BEST = "#99aaaa", "#2a78c8", "#dd3333"
#: What is drawn over the size: attribute, label, and how many of its units are one of the label.
QUANTITIES = (
    ("write_cpu_seconds", "CPU time to write [s]", 1.0),
    ("read_seconds", "time to read [s]", 1.0),
    ("memory", "memory [MB]", 1e6),
)


def plot_trials(trials: list[TunedTrial], image: str | os.PathLike[str]) -> None:
    """Draw times and memory of trials over their sizes into a file."""
    figure = new_figure(12, 4)
    for axes, (name, label, unit) in zip(figure.subplots(1, 3), QUANTITIES, strict=True):
        for one in sorted(trials, key=lambda one: (one.recommended, one.pareto)):
            colour = BEST if one.recommended else PARETO if one.pareto else BEATEN
            value = getattr(one, name) / unit
            axes.plot(one.bytes / 1e6, value, "o", color=colour)
            if one.recommended or one.pareto:
                text = f"{one.compression} {one.encoding}"
                axes.annotate(text, (one.bytes / 1e6, value), fontsize="x-small")
        axes.set_xlabel("size [MB]")
        axes.set_ylabel(label)
    try:
        figure.savefig(os.fspath(image))
    except ValueError as error:
        raise ArgumentError(str(error)) from None
