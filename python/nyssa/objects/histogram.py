"""Defines `Histogram`, for ``TH1`` to ``TH3``: a plottable histogram of the UHI protocol."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
import numpy.typing as npt

from nyssa.arrays.libraries import optional
from nyssa.errors import ArgumentError, FormatError, UnsupportedError
from nyssa.objects.axis import Axis
from nyssa.objects.buffer import filled
from nyssa.objects.object import Object, checked
from nyssa.objects.picture import page

if TYPE_CHECKING:
    import boost_histogram
    import hist

__all__ = ["Histogram", "PolygonHistogram"]

_AXES = ("fXaxis", "fYaxis", "fZaxis")


class Histogram(Object):
    """A histogram of one to three dimensions.

    Arrays have one dimension per axis, x first, as long as the axis has bins; with ``flow=True`` it
    is longer by two: underflow comes first, overflow last. Entries that ROOT left in the buffer are
    in the bins here, as in ROOT; the members are what is stored.
    """

    @property
    def kind(self) -> str:
        """Return ``"COUNT"``: bins hold counts or sums of weights."""
        return "COUNT"

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Return the axes, x first.

        Raises
        ------
        nyssa.FormatError
            (a `ValueError`) when the histogram has not as many bins as its axes.
        nyssa.UnsupportedError
            (a `NotImplementedError`) when entries are in the buffer of the histogram (``fBuffer``)
            and ROOT would choose the axes for them in a way that is not known here.
        """
        now = self._now
        names = _AXES[: self._dimensions]
        axes = tuple(checked(self, name, now[name], Axis) for name in names)
        shape = [len(axis) + 2 for axis in axes]
        bins = len(self._bins)
        if math.prod(shape) != bins:
            raise FormatError(f"{self!r} has {bins} bins, its axes have {shape} with flow")
        return axes

    @property
    def _dimensions(self) -> int:
        names = {self.class_name, *self.bases}
        return 3 if "TH3" in names else 2 if "TH2" in names else 1

    @cached_property
    def _now(self) -> Mapping[str, Any]:
        """The members after the entries of the buffer are filled into the bins, as ROOT does."""
        for name in _AXES[: self._dimensions]:
            self.part(name, Axis)
        self.part("fArray", np.ndarray)
        return {**self._members, **filled(repr(self), self._members, self._dimensions)}

    @property
    def _bins(self) -> npt.NDArray[Any]:
        """The contents of the bins, also of underflow and overflow."""
        return checked(self, "fArray", self._now["fArray"], np.ndarray)

    def axis(self, axis: int | str = 0) -> Axis:
        """Return an axis by number (negative: from the last), or by ``"x"``, ``"y"``, ``"z"``.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when there is no such axis.
        """
        axes = self.axes
        index = "xyz".find(axis) if isinstance(axis, str) and len(axis) == 1 else axis
        if isinstance(index, str) or not -len(axes) <= index < len(axes) or axis == "":
            letters = ", ".join(repr(letter) for letter in "xyz"[: len(axes)])
            raise ArgumentError(
                f"{axis!r} is not an axis of {self!r}: there are 0 to {len(axes) - 1}, or {letters}"
            )
        return axes[index]

    @property
    def weighted(self) -> bool:
        """Whether the sums of squares of weights are kept (``TH1::Sumw2``)."""
        return len(self._now.get("fSumw2", ())) == len(self._bins) > 0

    def values(self, flow: bool = False) -> npt.NDArray[Any]:
        """Return the contents of the bins, of the type that the class stores."""
        return self._cells(self._bins, flow)

    def variances(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the squares of the errors: ``fSumw2``, or the contents where there are none."""
        if self.weighted:
            return self._cells(np.asarray(self._now["fSumw2"], dtype=np.float64), flow)
        return np.abs(self.values(flow).astype(np.float64))

    def errors(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the errors of the bins, as ``TH1::GetBinError`` does."""
        return np.sqrt(self.variances(flow))

    def counts(self, flow: bool = False) -> npt.NDArray[Any]:
        """Return the numbers of entries; effective ones, ``float64``, for a weighted histogram."""
        if not self.weighted:
            return self.values(flow)
        values, variances = self.values(flow).astype(np.float64), self.variances(flow)
        return np.divide(values**2, variances, out=np.zeros_like(values), where=variances > 0)

    def to_numpy(self, flow: bool = False, dd: bool = False) -> tuple[Any, ...]:
        """Return values and edges as ``numpy.histogram`` and ``numpy.histogram2d`` do.

        With ``dd=True`` the edges are one tuple, as from ``numpy.histogramdd``.
        """
        edges = tuple(axis.edges(flow) for axis in self.axes)
        return (self.values(flow), edges) if dd else (self.values(flow), *edges)

    def to_boost(self) -> boost_histogram.Histogram[Any]:
        """Return a ``boost_histogram.Histogram``; it and its axes have `name` and `label` (title).

        Storages: ``Weight`` when weighted; otherwise ``Int64`` or ``Double``; ``Mean`` and
        ``WeightedMean`` for profiles. Axes whose bins all have labels are ``StrCategory``, which
        has no underflow: the underflow of ROOT is left out.

        Raises
        ------
        ImportError
            when boost-histogram is not installed.
        """
        bh = optional("boost_histogram")
        axes = [axis._to_boost(bh) for axis in self.axes]
        out = bh.Histogram(*axes, storage=self._storage(bh))
        out.name, out.label = self.name, self.title
        # A category axis has an overflow, but no underflow.
        has_under = [axis.labels() is None for axis in self.axes]
        bins = tuple(slice(None if under else 1, None) for under in has_under)
        self._to_view(out.view(flow=True), bins)
        histogram: boost_histogram.Histogram[Any] = out
        return histogram

    # boost-histogram is only imported where it is needed: `Any`.
    def _storage(self, bh: Any) -> Any:
        """Return the storage of ``boost_histogram`` that holds the bins."""
        if self.weighted:
            return bh.storage.Weight()
        integers = np.issubdtype(self.values().dtype, np.integer)
        return bh.storage.Int64() if integers else bh.storage.Double()

    def _to_view(self, view: Any, bins: tuple[slice, ...]) -> None:
        """Copy the bins that are `bins` to the bins of a ``boost_histogram.Histogram``."""
        if self.weighted:
            view.value = self.values(flow=True)[bins]
            view.variance = self.variances(flow=True)[bins]
        else:
            view[...] = self.values(flow=True)[bins]

    def to_hist(self) -> hist.Hist[Any]:
        """Return a ``hist.Hist``; see `to_boost`. `ImportError` when hist is not installed."""
        boost = self.to_boost()  # First, so that an error names the library that hist needs.
        histogram: hist.Hist[Any] = optional("hist").Hist(boost)
        return histogram

    def _to_boost_histogram_(self) -> boost_histogram.Histogram[Any]:
        """Return what ``boost_histogram.Histogram(this)`` and ``hist.Hist(this)`` take."""
        return self.to_boost()

    def _repr_html_(self) -> str:
        """Return name, title, axes, entries and a picture, for notebooks."""
        return page(self)

    def _cells(self, cells: npt.NDArray[Any], flow: bool) -> npt.NDArray[Any]:
        """Return numbers of all bins, x running fastest, with a dimension for each axis."""
        shape = [len(axis) + 2 for axis in self.axes]
        if len(cells) != math.prod(shape):
            raise FormatError(f"{self!r} keeps sums of {len(cells)} bins, it has {shape}")
        cells = cells.reshape(shape[::-1]).T
        return cells if flow else cells[(slice(1, -1),) * len(shape)]

    def __eq__(self, other: object) -> bool:
        """Return whether another histogram has the same axes, values and variances."""
        if not isinstance(other, Histogram) or self.kind != other.kind:
            return NotImplemented
        return (
            self.axes == other.axes
            and np.array_equal(self.values(flow=True), other.values(flow=True))
            and np.array_equal(self.variances(flow=True), other.variances(flow=True))
        )

    __hash__ = Object.__hash__


class PolygonHistogram(Object):
    """A ``TH2Poly``, with polygons as bins, or a ``TH1K``, which ROOT computes.

    Neither has bins on axes: they can be read by their members only.
    """

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise UnsupportedError(
            f"{self!r} has no bins along axes; read its members with all_members"
        )

    kind = axes = property(_refuse)
    axis = values = variances = errors = counts = _refuse
    to_numpy = to_boost = to_hist = _to_boost_histogram_ = _refuse
