"""Makes the axes of the core of the axes of boost-histogram and hist."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nyssa.arrays.libraries import optional
from nyssa.errors import ArgumentError, UnsupportedError

__all__ = ["FillAxis", "FillPlan", "fill_axis", "is_axis"]


@dataclass(frozen=True)
class FillAxis:
    """An axis, as the core takes it."""

    kind: str
    bins: int = 0
    low: float = 0.0
    high: float = 0.0
    edges: Sequence[float] = ()
    integers: Sequence[int] = ()
    texts: Sequence[str] = ()
    transform: str = ""
    power: float = 0.0
    #: Whether the last bin has its high edge.
    closed: bool = False

    def extent(self, texts: Sequence[str]) -> int:
        """Return the number of bins that the core fills, where it has met these texts."""
        if self.kind == "all texts":
            return len(texts) + 1  # It has no overflow.
        sizes = {
            "variable": len(self.edges) - 1,
            "integers": len(self.integers),
            "texts": len(self.texts),
        }
        return sizes.get(self.kind, self.bins) + 2


@dataclass(frozen=True)
class FillPlan:
    """A histogram that is requested, as the core takes it."""

    expressions: Sequence[str]
    axes: Sequence[FillAxis]
    weight: str | None = None
    cut: str | None = None
    #: Whether the squares of the weights are summed up, too.
    squares: bool = False
    #: Whether the values of each axis are summed up.
    statistics: bool = False


# boost-histogram is only imported where it is needed: `Any`.
def is_axis(given: Any) -> bool:
    """Return whether something is an axis of boost-histogram or hist."""
    return hasattr(given, "traits") and hasattr(given, "_ax")


def fill_axis(axis: Any) -> FillAxis:
    """Return an axis of boost-histogram or hist as the core takes it.

    Raises
    ------
    nyssa.UnsupportedError
        (a `NotImplementedError`) for circular axes, axes of numbers that grow, and transforms other
        than ``log``, ``sqrt`` and powers.
    """
    of = optional("boost_histogram").axis
    traits = axis.traits
    closed = not traits.overflow
    if traits.circular:
        raise UnsupportedError(f"a circular axis cannot be filled: {axis!r}")
    if isinstance(axis, of.StrCategory):
        return FillAxis("all texts" if traits.growth else "texts", texts=list(axis))
    if traits.growth:
        raise UnsupportedError(
            f"an axis of numbers that grows cannot be filled: {axis!r}; state its bins"
        )
    if isinstance(axis, of.Boolean):
        return FillAxis("integer", bins=2, integers=[0])
    if isinstance(axis, of.Integer):
        low = axis.edges[0] if axis.size else 0
        return FillAxis("integer", bins=axis.size, integers=[round(float(low))])
    if isinstance(axis, of.IntCategory):
        return FillAxis("integers", integers=list(axis))
    if isinstance(axis, of.Variable):
        return FillAxis("variable", edges=[float(edge) for edge in axis.edges], closed=closed)
    if isinstance(axis, of.Regular):
        transform, power = _transform(axis)
        low, high = (float(edge) for edge in axis.edges[[0, -1]])
        return FillAxis("regular", axis.size, low, high, (), (), (), transform, power, closed)
    raise ArgumentError(f"this is no axis of boost-histogram or hist: {axis!r}")


def _transform(axis: Any) -> tuple[str, float]:
    """Return the name of the transform of a regular axis, and the exponent of a power."""
    transform = axis.transform
    if transform is None:
        return "", 0.0
    if hasattr(transform, "power"):
        return "power", float(transform.power)
    name = str(transform)
    if name not in ("log", "sqrt"):
        raise UnsupportedError(f"an axis with this transform cannot be filled: {axis!r}")
    return name, 0.0
