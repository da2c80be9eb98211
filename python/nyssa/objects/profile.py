"""Defines `Profile`, for ``TProfile`` to ``TProfile3D``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.errors import ArgumentError
from nyssa.objects.histogram import Histogram

__all__ = ["Profile"]

#: How ROOT names what errors are, by `TProfile::fErrorMode`.
_ERROR_MODES = ("", "s", "i", "g")


class Profile(Histogram):
    """A profile: means of a quantity in bins of one to three others. Arrays as of `Histogram`."""

    @property
    def kind(self) -> str:
        """``"MEAN"``: bins hold means."""
        return "MEAN"

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights are kept (``TProfile::Sumw2``)."""
        return len(self._now.get("fBinSumw2", ())) == len(self._bins) > 0

    @property
    def error_mode(self) -> str:
        """What ROOT shows as errors of this profile; see `errors`."""
        mode = self._members.get("fErrorMode", 0)
        return _ERROR_MODES[mode] if 0 <= mode < len(_ERROR_MODES) else ""

    def counts(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the effective numbers of entries, as ``TProfile::GetBinEffectiveEntries`` does."""
        weights = self._sums("fBinEntries", flow)
        if not self.weighted:
            return weights
        return _ratio(weights**2, self._sums("fBinSumw2", flow))

    def values(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the means, 0 where there are no entries."""
        return _ratio(self._sums("fArray", flow), self._sums("fBinEntries", flow))

    def variances(self, flow: bool = False, error_mode: str = "") -> npt.NDArray[np.float64]:
        """Return the squares of the errors; see `errors`."""
        return self.errors(flow, error_mode) ** 2

    def errors(self, flow: bool = False, error_mode: str = "") -> npt.NDArray[np.float64]:
        """Return the errors, as ``TProfile::GetBinError`` does.

        `error_mode` is ``""`` for the error of the mean, ``"s"`` for the spread, ``"i"`` for the
        error of the mean of integers, and ``"g"`` for the error of values with an error of 1 each.
        The property `error_mode` has the mode of the profile itself. 0 where there are no entries.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for another mode.
        """
        if error_mode not in _ERROR_MODES:
            raise ArgumentError(f"error_mode={error_mode!r} is not one of {_ERROR_MODES}")
        weights = self._sums("fBinEntries", flow)
        if error_mode == "g":
            return _ratio(np.ones_like(weights), np.sqrt(np.abs(weights)))
        spread = np.sqrt(self._spread_squared(flow))
        if error_mode == "s":
            return spread
        root_counts = np.sqrt(self.counts(flow))
        if error_mode == "i":
            # Equal integers were spread evenly over 1 before they were rounded.
            spread = np.where((spread == 0) & (weights != 0), 1 / np.sqrt(12), spread)
        return _ratio(spread, root_counts)

    @property
    def _by_weights(self) -> bool:
        """Whether a histogram of boost-histogram keeps weights, and not numbers of entries."""
        return self.weighted

    # boost-histogram is only imported where it is needed: `Any`.
    def _storage(self, bh: Any) -> Any:
        return bh.storage.WeightedMean() if self._by_weights else bh.storage.Mean()

    def _to_view(self, view: Any, bins: tuple[slice, ...]) -> None:
        weights = self._sums("fBinEntries", True)[bins]
        view["value"] = self.values(flow=True)[bins]
        deltas = self.errors(flow=True, error_mode="s")[bins] ** 2 * weights
        if self._by_weights:
            squares = self._sums("fBinSumw2", True)[bins] if self.weighted else weights
            view["sum_of_weights"] = weights
            view["sum_of_weights_squared"] = squares
            view["_sum_of_weighted_deltas_squared"] = deltas
        else:
            view["count"] = weights
            view["_sum_of_deltas_squared"] = deltas

    def _spread_squared(self, flow: bool) -> npt.NDArray[np.float64]:
        mean_square = _ratio(self._sums("fSumw2", flow), self._sums("fBinEntries", flow))
        return np.abs(mean_square - self.values(flow) ** 2)

    def _sums(self, member: str, flow: bool) -> npt.NDArray[np.float64]:
        """Return a sum for each bin; 0 where none are kept."""
        sums = self._now.get(member, ())
        if member == "fSumw2" and len(sums) == 0:
            sums = np.zeros(len(self._bins))
        return self._cells(np.asarray(sums, dtype=np.float64), flow)


def _ratio(
    above: npt.NDArray[np.float64], below: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Return a ratio, 0 where it has no value."""
    return np.divide(above, below, out=np.zeros_like(above), where=below != 0)
