"""Makes the figures of plots by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nyssa.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["new_figure"]


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ArgumentError("a plot needs matplotlib: pip install matplotlib") from None
    return Figure(figsize=(width, height), layout="constrained")
