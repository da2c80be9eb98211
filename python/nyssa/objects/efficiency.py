"""Defines `Efficiency`, for ``TEfficiency``."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nyssa.errors import FormatError
from nyssa.objects.axis import Axis
from nyssa.objects.histogram import Histogram
from nyssa.objects.object import Object

__all__ = ["Efficiency"]


class Efficiency(Object):
    """A ``TEfficiency``: histograms of the entries that passed a selection, and of all."""

    @property
    def passed(self) -> Histogram:
        """Return the histogram of the entries that passed."""
        return self._histogram("fPassedHistogram")

    @property
    def total(self) -> Histogram:
        """The histogram of all entries."""
        return self._histogram("fTotalHistogram")

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Return the axes of both, x first."""
        return self.total.axes

    def values(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return passed over total, 0 without entries: ``float64``, shaped as `Histogram.values`.

        That is ``TEfficiency::GetEfficiency`` but for Bayesian statistics, which have a prior.
        """
        passed, total = (item.values(flow).astype(np.float64) for item in (self.passed, self.total))
        if passed.shape != total.shape:
            raise FormatError(f"{self!r}: {passed.shape} bins passed, there are {total.shape}")
        return np.divide(passed, total, out=np.zeros_like(total), where=total != 0)

    def _histogram(self, member: str) -> Histogram:
        return self.part(member, Histogram)
