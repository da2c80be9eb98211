"""Draws the trials of a search for the best options by matplotlib."""

from __future__ import annotations

import os

from nyssa.errors import ArgumentError
from nyssa.jobs.tuned import TuneCurve, TunedTrial
from nyssa.show.plot import new_figure

__all__ = ["plot_trials"]

#: Colours of trials that others beat, of trials that none beats, and of the recommended one, as on
#: the HTML page.
BEATEN, PARETO, BEST = "#99aaaa", "#2a78c8", "#dd3333"
#: The quantities over the size: attribute, label, and the number of its units in one of the label.
QUANTITIES = (
    ("write_cpu_seconds", "CPU time to write [s]", 1.0),
    ("read_seconds", "time to read [s]", 1.0),
    ("memory", "memory [MB]", 1e6),
)
#: The quantities that are drawn over an option.
OVER_OPTION = (
    ("bytes", "size [MB]", 1e6),
    ("write_seconds", "time to write [s]", 1.0),
    *QUANTITIES[1:],
)


def plot_trials(
    trials: list[TunedTrial], curves: list[TuneCurve], image: str | os.PathLike[str]
) -> None:
    """Draw times and memory of trials over their sizes, and curves of options, into a file."""
    shown = [curve for curve in curves if len(curve.points) > 1]
    figure = new_figure(14, 3.5 * (1 + len(shown)))
    first, *others = figure.subplots(1 + len(shown), 4, squeeze=False)
    first[3].set_axis_off()
    for axes, (name, label, unit) in zip(first[:3], QUANTITIES, strict=True):
        for trial in sorted(trials, key=lambda item: (item.recommended, item.pareto)):
            colour = BEST if trial.recommended else PARETO if trial.pareto else BEATEN
            value = getattr(trial, name) / unit
            axes.plot(trial.bytes / 1e6, value, "o", color=colour)
            if trial.recommended or trial.pareto:
                text = f"{trial.compression} {trial.encoding}"
                axes.annotate(text, (trial.bytes / 1e6, value), fontsize="x-small")
        axes.set_xlabel("size [MB]")
        axes.set_ylabel(label)
    for row, curve in zip(others, shown, strict=True):
        unit = 1 if curve.option == "threads" else 1 << 20
        values = [item.value / unit for item in curve.points]
        for axes, (name, label, scale) in zip(row, OVER_OPTION, strict=True):
            heights = [getattr(item, name) / scale for item in curve.points]
            axes.plot(values, heights, "o-", color=PARETO)
            for point, value, height in zip(curve.points, values, heights, strict=True):
                if point.recommended:
                    axes.plot(value, height, "o", color=BEST)
            axes.set_xscale("log", base=2)
            axes.set_xlabel(curve.option + ("" if unit == 1 else " [MiB]"))
            axes.set_ylabel(label)
    try:
        figure.savefig(os.fspath(image))
    except ValueError as error:
        raise ArgumentError(str(error)) from None
