"""Defines `Drawing`, a histogram for a first look: text, SVG, or a figure of matplotlib."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from nyssa.arrays.libraries import optional
from nyssa.errors import ArgumentError
from nyssa.plotting.axes import FillAxis
from nyssa.plotting.filling import AxisSums, Filled
from nyssa.show import blocks, svg
from nyssa.show.table import count, html, text

if TYPE_CHECKING:
    import hist
    from matplotlib.figure import Figure

__all__ = ["Drawing", "DrawnAxis"]

_Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class DrawnAxis:
    """An axis of a drawing.

    Parameters
    ----------
    expression
        What is drawn.
    edges
        The edges of the bins: shape ``(bins + 1,)``, ``float64``; of categories 0, 1, 2, ...
    labels
        The names of categories, one for each bin; `None` for numbers.
    mean, std
        Mean and standard deviation of the values in the bins, as ROOT has them: each value with its
        weight, and the sum of weights as the divisor. NaN for texts, and without values.
    not_finite
        The number of values that are infinite or NaN. They are in underflow and overflow.
    """

    expression: str
    edges: _Floats
    labels: list[str] | None
    mean: float
    std: float
    not_finite: int


@dataclass(frozen=True, repr=False)
class Drawing:
    """A histogram for a first look; see `draw`.

    Parameters
    ----------
    source
        The file, or the first one and the number of the others.
    axes
        The axes, x first.
    entries
        The number of values that were filled, also beyond the bins.
    missing
        The number of values that are missing, and are in no bin.
    contents
        The sums of weights in all bins: ``float64``, a dimension for each axis. The first bin of
        each is its underflow, and the last one its overflow.
    cut, weight
        The expressions that select and weight entries.
    """

    source: str
    axes: tuple[DrawnAxis, ...]
    entries: int
    missing: int
    contents: _Floats
    cut: str | None
    weight: str | None

    def values(self) -> _Floats:
        """Return the sums of weights in the bins: ``float64``, a dimension for each axis."""
        return self.contents[(slice(1, -1),) * len(self.axes)]

    @property
    def edges(self) -> _Floats:
        """Return the edges of the (first) axis: shape ``(bins + 1,)``, ``float64``."""
        return self.axes[0].edges

    @property
    def mean(self) -> float:
        """Return the mean of the values of the (first) axis that are in the bins."""
        return self.axes[0].mean

    @property
    def std(self) -> float:
        """Return the standard deviation of the values of the (first) axis in the bins."""
        return self.axes[0].std

    @property
    def underflow(self) -> float:
        """Return the sum of weights below the first bin of the (first) axis."""
        return float(self.contents[0].sum())

    @property
    def overflow(self) -> float:
        """Return the sum of weights above the last bin of the (first) axis, also of NaN."""
        return float(self.contents[-1].sum())

    def to_hist(self) -> hist.Hist[Any]:
        """Return a ``hist.Hist``, storage ``Double``. `ImportError` when hist is not installed."""
        made = optional("hist")
        axes = []
        for axis in self.axes:
            if axis.labels is not None:
                axes.append(made.axis.StrCategory(axis.labels, label=axis.expression))
            elif _is_even(axis.edges):
                low, high = axis.edges[[0, -1]]
                bins = len(axis.edges) - 1
                axes.append(made.axis.Regular(bins, low, high, label=axis.expression))
            else:
                axes.append(made.axis.Variable(axis.edges, label=axis.expression))
        histogram: hist.Hist[Any] = made.Hist(*axes, storage=made.storage.Double())
        # A category axis has no underflow.
        starts = (1 if axis.labels is not None else 0 for axis in self.axes)
        histogram.view(flow=True)[...] = self.contents[
            tuple(slice(start, None) for start in starts)
        ]
        return histogram

    # JSON has no narrower type than `Any`.
    def to_dict(self) -> dict[str, Any]:
        """Return the drawing as the command line prints it with ``--json``."""
        return {
            "source": self.source,
            "cut": self.cut,
            "weight": self.weight,
            "entries": self.entries,
            "missing": self.missing,
            "axes": [
                {
                    "expression": axis.expression,
                    "edges": axis.edges.tolist(),
                    "labels": axis.labels,
                    "mean": _number(axis.mean),
                    "std": _number(axis.std),
                    "not_finite": axis.not_finite,
                }
                for axis in self.axes
            ],
            "contents": self.contents.tolist(),
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the picture to a file: ``.svg``, or ``.png``, ``.pdf`` ... by matplotlib.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) if the file needs matplotlib, which is not installed.
        """
        target = Path(os.fspath(path))
        if target.suffix.lower() == ".svg":
            target.write_text(self.svg(), encoding="utf-8")
        else:
            self.figure().savefig(target)

    def figure(self) -> Figure:
        """Return a figure of matplotlib."""
        from nyssa.show.plot import new_figure

        figure = new_figure(6.4, 4.0)
        axes = figure.subplots()
        first = self.axes[0]
        if len(self.axes) == 2:
            mesh = axes.pcolormesh(first.edges, self.axes[1].edges, self.values().T)
            figure.colorbar(mesh)
            axes.set_ylabel(self.axes[1].expression)
        else:
            axes.stairs(self.values(), first.edges, fill=True, alpha=0.4, color="C0")
            axes.stairs(self.values(), first.edges, color="C0")
        for axis, place in zip(self.axes, (axes.xaxis, axes.yaxis), strict=False):
            if axis.labels is not None:
                place.set_ticks(np.arange(len(axis.labels)) + 0.5, axis.labels)
        axes.set_xlabel(first.expression)
        axes.set_title("\n".join(self._lines()[1:]), fontsize="small")
        return figure

    def svg(self) -> str:
        """Return the picture as SVG."""
        first = self.axes[0]
        if len(self.axes) == 2:
            title = f"{self.axes[1].expression} : {first.expression}"
            return svg.tiles(self.values(), first.edges, self.axes[1].edges, title)
        return svg.steps(self.values(), first.edges, first.labels, first.expression)

    def text(self, *, ascii_only: bool = False) -> str:
        """Return the picture as text of at most 80 columns, with block characters or without."""
        first, values = self.axes[0], self.values()
        if len(self.axes) == 2:
            edges = (first.edges, self.axes[1].edges)
            picture = blocks.tiles(values, *edges, ascii_only=ascii_only)
        elif first.labels is not None:
            picture = blocks.bars(values, first.labels, ascii_only=ascii_only)
        else:
            picture = blocks.columns(values, first.edges, ascii_only=ascii_only)
        head = [line if len(line) <= blocks.WIDTH else _folded(line) for line in self._lines()]
        return text([*head, *picture])

    def _lines(self) -> list[str]:
        """Return what is said above the picture."""
        names = " : ".join(axis.expression for axis in reversed(self.axes))
        weighted = f", weight {self.weight}" if self.weight else ""
        selected = f", cut {self.cut}" if self.cut else ""
        lines = [f"{names} of {self.source}{selected}{weighted}"]
        total = [f"entries {count(self.entries)}"]
        if self.missing:
            total.append(f"missing {count(self.missing)}")
        if len(self.axes) == 1:
            lines.append("   ".join([*total, *self._sums(self.axes[0], self.contents)]))
        else:
            outside = float(self.contents.sum() - self.values().sum())
            lines.append("   ".join([*total, f"outside {blocks.short(outside)}"]))
            for letter, axis in zip("xy", self.axes, strict=False):
                sums = [f"{letter} {axis.expression}", *self._moments(axis)]
                lines.append("   ".join(sums))
        return lines

    def _sums(self, axis: DrawnAxis, contents: _Floats) -> list[str]:
        if axis.labels is not None:
            others = float(contents[-1])
            return [f"others {blocks.short(others)}"] if others else []
        flow = [f"underflow {blocks.short(float(contents[0]))}"]
        flow.append(f"overflow {blocks.short(float(contents[-1]))}")
        return [*self._moments(axis), *flow]

    @staticmethod
    def _moments(axis: DrawnAxis) -> list[str]:
        moments = [f"mean {axis.mean:.5g}", f"std {axis.std:.5g}"]
        if axis.labels is not None:
            return []
        return [*moments, *([f"not finite {count(axis.not_finite)}"] if axis.not_finite else [])]

    def __str__(self) -> str:
        """Return the picture as text of 80 columns."""
        return self.text()

    def __repr__(self) -> str:
        """Return the text, so that shells show the picture."""
        return self.text()

    def _repr_html_(self) -> str:
        """Return the picture as SVG, for notebooks."""
        return html(self._lines()) + self.svg()


def drawn(
    source: str,
    given: Sequence[tuple[str, str, FillAxis]],
    filled: Filled,
    cut: str | None,
    weight: str | None,
) -> Drawing:
    """Return the drawing of a histogram. `given` are the expression, kind and axis of each axis."""
    contents = filled.sums
    axes = []
    for number, (expression, kind, axis) in enumerate(given):
        sums = filled.axes[number]
        labels = _labels(kind, axis, filled)
        if labels is not None and axis.kind == "all texts":
            labels, contents = _largest(labels, contents)
        axes.append(_drawn_axis(expression, kind, axis, labels, sums))
    return Drawing(source, tuple(axes), filled.entries, filled.missing, contents, cut, weight)


#: The number of categories that are drawn.
CATEGORIES = 20


def _labels(kind: str, axis: FillAxis, filled: Filled) -> list[str] | None:
    if kind == "boolean" and axis.kind == "integer":
        return ["False", "True"]
    if kind == "text":
        return list(filled.texts if axis.kind == "all texts" else axis.texts)
    return None


def _largest(labels: list[str], contents: _Floats) -> tuple[list[str], _Floats]:
    """Return the largest categories, and their contents with the sum of the others at the end."""
    values = contents[1:]
    order = np.argsort(-values, kind="stable")
    first, others = order[:CATEGORIES], order[CATEGORIES:]
    shown = np.concatenate(([0.0], values[first], [values[others].sum()]))
    return [labels[at] for at in first], shown


def _drawn_axis(
    expression: str, kind: str, axis: FillAxis, labels: list[str] | None, sums: AxisSums
) -> DrawnAxis:
    if labels is not None:
        edges = np.arange(len(labels) + 1, dtype=np.float64)
    elif axis.kind == "variable":
        edges = np.asarray(axis.edges, dtype=np.float64)
    else:
        edges = np.linspace(axis.low, axis.high, axis.bins + 1)
    has_moments = kind != "text" and sums.weight != 0
    mean, std = (sums.mean, sums.std) if has_moments else (float("nan"), float("nan"))
    return DrawnAxis(expression, edges, labels, mean, std, sums.not_finite)


def _is_even(edges: _Floats) -> bool:
    return bool(np.array_equal(edges, np.linspace(edges[0], edges[-1], len(edges))))


def _number(value: float) -> float | None:
    """Return a number for JSON, which has no NaN."""
    return value if np.isfinite(value) else None


def _folded(line: str) -> str:
    return line[: blocks.WIDTH - 3] + "..."


def check_image(path: str | os.PathLike[str]) -> None:
    """Raise `ArgumentError` for a picture that cannot be written, before the files are read."""
    target = Path(os.fspath(path))
    if target.suffix.lower() not in (".svg", ".png", ".pdf", ".jpg", ".jpeg", ".eps", ".ps"):
        raise ArgumentError(f"a picture is .svg, .png or .pdf, not {target.name!r}")
    if not target.absolute().parent.is_dir():
        raise ArgumentError(f"there is no folder {target.absolute().parent} for {target.name}")
    if target.suffix.lower() != ".svg":
        from nyssa.show.plot import new_figure

        new_figure(1.0, 1.0)
