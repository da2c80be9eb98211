"""Fills histograms of the entries of datasets, and gives their bins the shape of their axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa import _core
from nyssa.jobs.job import Progress, reporting
from nyssa.plotting.axes import FillPlan
from nyssa.read.dataset import Dataset

__all__ = ["AxisSums", "Filled", "fill"]


@dataclass(frozen=True)
class AxisSums:
    """The sums of the values of an axis."""

    #: The smallest and the largest finite value; infinite if there are none.
    min: float
    max: float
    #: The number of values that are not finite.
    not_finite: int
    #: The sum of the weights, the mean and the standard deviation of the values in the bins.
    weight: float
    mean: float
    std: float


@dataclass(frozen=True)
class Filled:
    """A filled histogram. Its arrays have a dimension for each axis.

    The first bin of an axis is its underflow, and the last one its overflow. An axis that gets a
    category for each text has no overflow.
    """

    sums: npt.NDArray[np.float64]
    squares: npt.NDArray[np.float64] | None
    #: The number of values that were filled, also beyond the bins.
    entries: int
    #: The number of values that are missing, and are in no bin.
    missing: int
    #: The texts of the first axis, if it gets a category for each text.
    texts: list[str]
    axes: list[AxisSums]


def fill(
    dataset: Dataset,
    plans: Sequence[FillPlan],
    aliases: Mapping[str, str] | None,
    threads: int | None,
    progress: Progress | bool,
) -> list[Filled]:
    """Fill histograms of all entries of a dataset, whose columns are read once."""
    given = [*(aliases or {}).items()]
    filled = reporting(
        lambda show: _core.fill_histograms(dataset._core, list(plans), given, threads, show),
        progress,
        "filled",
    )
    return [_shaped(plan, *item) for plan, item in zip(plans, filled, strict=True)]


# What the core returns: `Any`.
def _shaped(
    plan: FillPlan,
    sums: Any,
    squares: Any,
    entries: int,
    missing: int,
    texts: list[str],
    axes: list[tuple[float, float, int, float, float, float]],
) -> Filled:
    shape = [axis.extent(texts) for axis in plan.axes]

    def shaped(buffer: Any) -> npt.NDArray[np.float64]:
        return np.frombuffer(buffer, dtype=np.float64).reshape(shape)

    return Filled(
        shaped(sums),
        None if squares is None else shaped(squares),
        entries,
        missing,
        texts,
        [AxisSums(*item) for item in axes],
    )
