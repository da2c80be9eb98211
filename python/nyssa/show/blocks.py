"""Draws histograms with block characters, for terminals of 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["bars", "columns", "merged", "short", "tiles"]

#: The width of a terminal.
WIDTH = 80
#: The width of the numbers on the left.
MARGIN = 9
#: The number of lines of the columns.
HEIGHT = 12
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_SHADES = " ░▒▓█"

_Floats = npt.NDArray[np.float64]


def columns(values: _Floats, edges: _Floats, *, ascii_only: bool = False) -> list[str]:
    """Return the lines of a histogram: a column for each bin, with its scale."""
    room = WIDTH - MARGIN - 4
    shown = merged(values, room)
    repeat = max(1, room // len(shown))
    top = max(float(shown.max(initial=0.0)), 0.0)
    labels = [short(top * line / HEIGHT) if line % 4 == 0 else "" for line in range(HEIGHT, 0, -1)]
    heights = np.clip(shown / (top or 1.0), 0, 1) * HEIGHT
    lines = []
    for line, label in zip(range(HEIGHT, 0, -1), labels, strict=True):
        cells = (_cell(float(height) - (line - 1), ascii_only=ascii_only) for height in heights)
        tick = "|" if ascii_only else "┤" if label else "│"
        row = "".join(cell * repeat for cell in cells)
        lines.append(f" {label:>{MARGIN}} {tick}{row}".rstrip())
    rule, corner = ("-", "+") if ascii_only else ("─", "┼")
    lines.append(f" {short(0.0):>{MARGIN}} {corner}{rule * (repeat * len(shown))}")
    lines.append(" " * (MARGIN + 3) + _scale(edges, repeat * len(shown)))
    return lines


def _cell(height: float, *, ascii_only: bool) -> str:
    """Return the character of a bar of which so much is in this line."""
    if ascii_only:
        return "#" if height >= 0.5 else " "
    if 0 < height < 1 / 8:
        return _EIGHTHS[1] if height > 1 / 16 else " "
    return _EIGHTHS[round(min(max(height, 0.0), 1.0) * 8)]


def bars(values: _Floats, labels: Sequence[str], *, ascii_only: bool = False) -> list[str]:
    """Return the lines of a histogram of categories: a bar for each."""
    counts = [short(float(value)) for value in values]
    names = [label if len(label) <= 30 else label[:27] + "..." for label in labels]
    margin, number = max(map(len, names), default=0), max(map(len, counts), default=0)
    room = WIDTH - margin - number - 5
    top = max(float(values.max(initial=0.0)), 0.0) or 1.0
    block = "#" if ascii_only else "█"
    drawn = (block * round(room * max(value, 0) / top) for value in values.tolist())
    return [
        f" {name:<{margin}}  {count:>{number}}  {bar}".rstrip()
        for name, count, bar in zip(names, counts, drawn, strict=True)
    ]


def tiles(values: _Floats, x: _Floats, y: _Floats, *, ascii_only: bool = False) -> list[str]:
    """Return the lines of a histogram of two dimensions: x goes right and y up, full is darkest."""
    shown = merged(merged(values, 60), 20, axis=1)
    repeat = max(1, 60 // len(shown))
    shades = " .:*#" if ascii_only else _SHADES
    top = float(shown.max(initial=0.0)) or 1.0
    levels = np.ceil(np.clip(shown / top, 0, 1) * (len(shades) - 1)).astype(int)
    count = shown.shape[1]
    ends = merged_edges(y, values.shape[1], count)
    labels = [short(float(end)) for end in ends[:-1]]
    margin = max(map(len, labels))
    lines = []
    for line in range(count - 1, -1, -1):
        label = labels[line] if line % 4 == 0 else ""
        row = "".join(shades[level] * repeat for level in levels[:, line])
        lines.append(f" {label:>{margin}} {'|' if ascii_only else '│'}{row}".rstrip())
    rule, corner = ("-", "+") if ascii_only else ("─", "└")
    lines.append(f" {'':>{margin}} {corner}{rule * (repeat * len(shown))}")
    lines.append(" " * (margin + 3) + _scale(x, repeat * len(shown)))
    return lines


def merged(values: _Floats, most: int, axis: int = 0) -> _Floats:
    """Return sums of neighbouring bins, so that there are at most so many."""
    step = -(-values.shape[axis] // most)
    return np.add.reduceat(values, np.arange(0, values.shape[axis], step), axis=axis)


def merged_edges(edges: _Floats, bins: int, shown: int) -> _Floats:
    """Return the edges of merged bins."""
    step = -(-bins // shown)
    return np.concatenate((edges[:-1:step], edges[-1:]))


def short(value: float) -> str:
    """Return a number in few characters."""
    if value == int(value) and abs(value) < 1e7:
        return f"{int(value):,}"
    return f"{value:.4g}"


def _scale(edges: _Floats, width: int) -> str:
    """Return the numbers below a picture: the edges at its ends, and some between."""
    bins = len(edges) - 1
    line = [" "] * (width + 1)
    last = short(float(edges[-1]))
    line[max(0, width + 1 - len(last)) :] = last[-(width + 1) :]
    free = width - len(last)
    for at in range(0, bins, max(1, bins // 5)):
        label, start = short(float(edges[at])), width * at // bins
        clear = all(letter == " " for letter in line[max(0, start - 1) : start + len(label) + 1])
        if start + len(label) < free and clear:
            line[start : start + len(label)] = label
    return "".join(line).rstrip()
