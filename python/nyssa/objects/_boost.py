"""Makes histograms of ``boost_histogram``."""

from __future__ import annotations

from typing import Any

import numpy as np

from nyssa.arrays.libraries import optional
from nyssa.objects.axis import Axis
from nyssa.objects.histogram import Histogram
from nyssa.objects.profile import Profile


def to_boost(histogram: Histogram) -> Any:
    """Return a ``boost_histogram.Histogram`` of a histogram or profile."""
    bh = optional("boost_histogram")
    axes = [_axis(bh, axis) for axis in histogram.axes]
    out = bh.Histogram(*axes, storage=_storage(bh, histogram))
    out.name, out.label = histogram.name, histogram.title
    # A category axis has an overflow, but no underflow.
    has_under = [axis.labels() is None for axis in histogram.axes]
    kept = tuple(slice(None if under else 1, None) for under in has_under)
    view = out.view(flow=True)
    if not isinstance(histogram, Profile):
        if histogram.weighted:
            view.value = histogram.values(flow=True)[kept]
            view.variance = histogram.variances(flow=True)[kept]
        else:
            view[...] = histogram.values(flow=True)[kept]
        return out
    weights = histogram._sums("fBinEntries", True)[kept]
    view["value"] = histogram.values(flow=True)[kept]
    deltas = histogram.errors(flow=True, error_mode="s")[kept] ** 2 * weights
    if histogram.weighted:
        view["sum_of_weights"] = weights
        view["sum_of_weights_squared"] = histogram._sums("fBinSumw2", True)[kept]
        view["_sum_of_weighted_deltas_squared"] = deltas
    else:
        view["count"] = weights
        view["_sum_of_deltas_squared"] = deltas
    return out


def _storage(bh: Any, histogram: Histogram) -> Any:
    if isinstance(histogram, Profile):
        return bh.storage.WeightedMean() if histogram.weighted else bh.storage.Mean()
    if histogram.weighted:
        return bh.storage.Weight()
    integers = np.issubdtype(histogram.values().dtype, np.integer)
    return bh.storage.Int64() if integers else bh.storage.Double()


def _axis(bh: Any, axis: Axis) -> Any:
    labels = axis.labels()
    if labels is not None:
        out = bh.axis.StrCategory(labels)
    elif axis.is_variable:
        out = bh.axis.Variable(axis.edges())
    else:
        out = bh.axis.Regular(len(axis), axis.low, axis.high)
    out.name, out.label = axis.name, axis.title
    return out
