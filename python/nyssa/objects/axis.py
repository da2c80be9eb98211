"""`Axis`: an axis of a histogram, a plottable axis of the UHI protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.errors import FormatError
from nyssa.objects.object import Object, checked
from nyssa.objects.simple import Collection

__all__ = ["Axis", "AxisTraits"]


@dataclass(frozen=True)
class AxisTraits:
    """The properties of an axis that the UHI protocol asks for."""

    #: Whether it wraps around; no axis of ROOT does.
    circular: bool
    #: Whether its bins have labels instead of edges.
    discrete: bool


class Axis(Object):
    """A ``TAxis``: a sequence of intervals ``(low, high)``, or of labels."""

    @property
    def traits(self) -> AxisTraits:
        """Whether it is circular (never) and discrete (all bins have labels)."""
        return AxisTraits(circular=False, discrete=self.labels() is not None)

    @property
    def low(self) -> float:
        """Return the low edge of the first bin, also if bins have labels."""
        return float(self.member("fXmin"))

    @property
    def high(self) -> float:
        """Return the high edge of the last bin, also if bins have labels."""
        return float(self.member("fXmax"))

    @property
    def width(self) -> float:
        """Return the width of the bins; the mean of them where they differ."""
        return (self.high - self.low) / len(self)

    @property
    def is_variable(self) -> bool:
        """Whether the edges are listed, not evenly spaced."""
        return len(self._members.get("fXbins", ())) == len(self) + 1

    def labels(self, flow: bool = False) -> list[str] | None:
        """Return the labels of the bins, in their order; `None` when not all have one.

        With ``flow=True`` ``"underflow"`` and ``"overflow"`` are around them.
        """
        stored = self._members.get("fLabels")
        if stored is None or len(checked(self, "fLabels", stored, Collection)) != len(self):
            return None
        # A label says which bin is its own (`TObject::fUniqueID`, which counts from 1).
        bins = [checked(self, "fLabels", label, Object).member("fUniqueID") for label in stored]
        order = np.argsort(bins) if sorted(bins) == [*range(1, len(self) + 1)] else range(len(self))
        labels = [str(stored[int(index)]) for index in order]
        return ["underflow", *labels, "overflow"] if flow else labels

    def edges(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the edges of the bins: shape ``(bins + 1,)``, ``float64``.

        With ``flow=True`` minus infinity and infinity are around them. Evenly spaced edges are
        ROOT's to the last bit: ``low + bin * width``.
        """
        if self.is_variable:
            edges = np.array(self.member("fXbins"), dtype=np.float64)
        else:
            edges = np.asarray(self.low + np.arange(len(self) + 1) * self.width)
        return np.concatenate(([-np.inf], edges, [np.inf])) if flow else edges

    def intervals(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return low and high edge of each bin: shape ``(bins, 2)``, ``float64``."""
        edges = self.edges(flow)
        return np.stack([edges[:-1], edges[1:]], axis=1)

    def centers(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the centres of the bins: shape ``(bins,)``, ``float64``, infinite for flow."""
        if self.is_variable:
            edges = self.edges()
            centers = edges[:-1] + 0.5 * np.diff(edges)
        else:
            centers = np.asarray(self.low + (np.arange(len(self)) + 0.5) * self.width)
        return np.concatenate(([-np.inf], centers, [np.inf])) if flow else centers

    def widths(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the widths of the bins: shape ``(bins,)``, ``float64``, infinite for flow."""
        even = np.full(len(self), self.width)
        widths = np.diff(self.edges()) if self.is_variable else even
        return np.concatenate(([np.inf], widths, [np.inf])) if flow else widths

    # boost-histogram is only imported where it is needed: `Any`.
    def _to_boost(self, bh: Any) -> Any:
        """Return an axis of ``boost_histogram``."""
        labels = self.labels()
        if labels is not None:
            out = bh.axis.StrCategory(labels)
        elif self.is_variable:
            out = bh.axis.Variable(self.edges())
        else:
            out = bh.axis.Regular(len(self), self.low, self.high)
        out.name, out.label = self.name, self.title
        return out

    def __len__(self) -> int:
        """Return the number of bins, those beyond the edges not counted."""
        bins = int(self.member("fNbins"))
        if bins < 0:
            raise FormatError(f"{self!r} says that it has {bins} bins")
        return bins

    def __getitem__(self, index: int) -> str | tuple[float, float]:
        """Return the label of a bin, or its low and high edge."""
        bins: list[str | tuple[float, float]] = list(self)
        return bins[index]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the labels, or over the low and high edges."""
        labels = self.labels()
        return iter(labels if labels is not None else map(tuple, self.intervals().tolist()))

    def __eq__(self, other: object) -> bool:
        """Return whether another axis has the same labels, or the same edges."""
        if not isinstance(other, Axis):
            return NotImplemented
        same = np.array_equal(self.edges(), other.edges())
        return self.labels() == other.labels() and (same or self.labels() is not None)

    __hash__ = Object.__hash__
