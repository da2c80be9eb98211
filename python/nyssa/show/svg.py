"""Draws histograms as small SVG, for notebooks, without another library."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import numpy as np
import numpy.typing as npt

from nyssa.show.blocks import merged, merged_edges, short

__all__ = ["steps", "tiles"]

_Floats = npt.NDArray[np.float64]

#: The sizes of the picture and of its margins in pixels.
WIDTH, HEIGHT = 420, 240
LEFT, RIGHT, TOP, BOTTOM = 58, 14, 12, 38
#: The largest numbers of bins that are drawn; more are merged.
BINS, TILES = 300, 60
_COLOR = "#3a76af"


def steps(
    values: _Floats, edges: _Floats, labels: Sequence[str] | None = None, title: str = ""
) -> str:
    """Return the picture of a histogram of one dimension. `labels` are names of its bins."""
    shown = merged(values, BINS)
    places = merged_edges(edges, len(values), len(shown))
    low, high = min(0.0, float(shown.min(initial=0))), max(0.0, float(shown.max(initial=0)))
    high = high if high > low else low + 1
    x, y = _scaled(places, LEFT, WIDTH - RIGHT), _scale(low, high, HEIGHT - BOTTOM, TOP)
    base = y(0.0)
    path = [f"M{x[0]:.1f} {base:.1f}"]
    for value, right in zip(shown.tolist(), x[1:].tolist(), strict=True):
        path.append(f"V{y(value):.1f}H{right:.1f}")
    path.append(f"V{base:.1f}Z")
    body = f'<path d="{"".join(path)}" fill="{_COLOR}" fill-opacity=".35" stroke="{_COLOR}"/>'
    ticks = [_left(short(value), y(value)) for value in _ticks(low, high)]
    if labels is None:
        ticks += _below(places, x)
    else:
        middles = (x[1:] + x[:-1]) / 2
        step = -(-len(labels) // 8)
        pairs = [*zip(labels, middles.tolist(), strict=True)][::step]
        ticks += [_text(place, HEIGHT - BOTTOM + 14, name[:12], "middle") for name, place in pairs]
    return _picture(body, ticks, title)


def tiles(values: _Floats, x: _Floats, y: _Floats, title: str = "") -> str:
    """Return the picture of a histogram of two dimensions; y is the second one, and goes up."""
    shown = merged(merged(values, TILES), TILES, axis=1)
    columns = _scaled(merged_edges(x, values.shape[0], shown.shape[0]), LEFT, WIDTH - RIGHT)
    rows = _scaled(merged_edges(y, values.shape[1], shown.shape[1]), HEIGHT - BOTTOM, TOP)
    top = float(shown.max(initial=0)) or 1.0
    body = []
    for (column, row), value in np.ndenumerate(shown):
        if value > 0:
            left, bottom, high = columns[column], rows[row], rows[row + 1]
            size = f'width="{columns[column + 1] - left:.1f}" height="{bottom - high:.1f}"'
            shade = f'fill-opacity="{max(value / top, 0.03):.2f}"'
            body.append(f'<rect x="{left:.1f}" y="{high:.1f}" {size} {shade}/>')
    inside = f'<g fill="{_COLOR}">{"".join(body)}</g>'
    ticks = _below(x, _scaled(x, LEFT, WIDTH - RIGHT))
    places = _scaled(y, HEIGHT - BOTTOM, TOP)
    ticks += [_left(short(float(y[at])), float(places[at])) for at in _some(len(y))]
    return _picture(inside, ticks, title)


def _picture(body: str, ticks: Sequence[str], title: str) -> str:
    low, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    frame = f'<path d="M{LEFT} {TOP}V{low}H{right}" fill="none" stroke="currentColor"/>'
    name = _text((LEFT + right) / 2, HEIGHT - 6, title[:64], "middle")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
        f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11">'
        f"{body}{frame}{''.join(ticks)}{name}</svg>"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    from nyssa._core import printable

    inner = escape(printable(text))
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="currentColor">{inner}</text>'
    )


def _left(text: str, y: float) -> str:
    return _text(LEFT - 5, y + 4, text, "end")


def _below(edges: _Floats, places: _Floats) -> list[str]:
    return [
        _text(float(places[at]), HEIGHT - BOTTOM + 14, short(float(edges[at])), "middle")
        for at in _some(len(edges))
    ]


def _some(count: int) -> list[int]:
    """Return about five of so many edges, with the first and the last one."""
    return sorted({round(at * (count - 1) / 4) for at in range(5)})


def _ticks(low: float, high: float) -> list[float]:
    return [low + (high - low) * at / 4 for at in range(5)]


def _scaled(edges: _Floats, start: float, stop: float) -> _Floats:
    """Return the places of edges in pixels. Edges that are not finite are at the ends."""
    finite = edges[np.isfinite(edges)]
    low, high = (float(finite[0]), float(finite[-1])) if len(finite) else (0.0, 1.0)
    share = np.clip(np.nan_to_num((edges - low) / ((high - low) or 1.0)), 0, 1)
    return np.asarray(start + (stop - start) * share, dtype=np.float64)


def _scale(low: float, high: float, start: float, stop: float) -> Callable[[float], float]:
    return lambda value: start + (stop - start) * (value - low) / (high - low)
