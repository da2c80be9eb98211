"""Makes ROOT's histograms of histograms of other packages (the UHI protocol) and of NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.arrays import to_numpy
from nyssa.errors import ArgumentError, UnsupportedError
from nyssa.objects.axis import Axis
from nyssa.objects.histogram import Histogram
from nyssa.objects.make import AXIS, HISTOGRAM, empty_list, make
from nyssa.objects.profile import Profile
from nyssa.objects.simple import Collection, Text

__all__ = [
    "LETTERS",
    "is_numpy",
    "is_plottable",
    "new_histogram",
    "new_profile",
    "of_numpy",
    "of_plottable",
]

#: Letters of ROOT's classes by the types of their bins.
LETTERS = {"i1": "C", "i2": "S", "i4": "I", "f4": "F", "f8": "D"}
#: What ``TProfile``, ``TProfile2D`` and ``TProfile3D`` call the axis of what they average.
_MEAN = {1: "y", 2: "z", 3: "t"}
#: Names of sums over pairs of axes.
_PAIRS = (("x", "y"), ("x", "z"), ("y", "z"))
#: ``TAxis::kAlphanumeric`` and ``TAxis::kCanExtend``, which ROOT sets for axes with labels.
_LABELLED = 3
#: ``TObject::kMustCleanup``.
_CLEANUP = 1 << 3
#: The largest integer below which ``double`` has all.
_EXACT = 2**53

_Floats = npt.NDArray[np.float64]


def is_plottable(data: object) -> bool:
    """Return whether data follow the UHI protocol of plottable histograms."""
    return all(hasattr(data, name) for name in ("axes", "kind", "values", "variances"))


def is_numpy(data: object) -> bool:
    """Return whether data are what ``numpy.histogram`` (or ``2d``, ``dd``) returns."""
    if not isinstance(data, tuple) or len(data) < 2 or not isinstance(data[0], np.ndarray):
        return False
    edges, _ = _numpy_edges(data)
    return len(edges) > 0 and all(
        isinstance(edge, np.ndarray) and edge.ndim == 1 and edge.dtype.kind in "iuf"
        for edge in edges
    )


def _numpy_edges(data: tuple[Any, ...]) -> tuple[Sequence[Any], str]:
    """Return the edges of all axes, and the title that may follow them, as in uproot."""
    rest, title = (data[1:-1], data[-1]) if isinstance(data[-1], str) else (data[1:], "")
    dd = len(rest) == 1 and isinstance(rest[0], (list, tuple))
    return (rest[0] if dd else rest), title


def of_numpy(name: str, data: tuple[Any, ...]) -> Histogram:
    """Return the histogram of counts and edges.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when there are not as many counts as the edges have bins.
    """
    edges, title = _numpy_edges(data)
    values = to_numpy.plain(data[0], name)
    if values.dtype.kind not in "biuf":
        raise ArgumentError(f"{name}: counts of NumPy type {values.dtype} are no real numbers")
    shape = tuple(len(edge) - 1 for edge in edges)
    if values.shape != shape:
        raise ArgumentError(
            f"{name}: counts of shape {values.shape} for edges of {shape} bins, as NumPy has them"
        )
    axes = [_NewAxis.of_edges(to_numpy.plain(edge, name, np.float64)) for edge in edges]
    values = np.pad(values, 1)
    return _histogram(name, title, axes, values, None)


def of_plottable(name: str, data: Any) -> Histogram:
    """Return the histogram, or profile, of a plottable histogram.

    Raises
    ------
    nyssa.UnsupportedError
        (a `NotImplementedError`) for more than three axes and for kinds that ROOT does not have.
    nyssa.ArgumentError
        (a `ValueError`) for integers that a ``double`` cannot hold.
    """
    axes = list(data.axes)
    _check(name, len(axes))
    boost = hasattr(data, "storage_type") and hasattr(data, "view")
    new = [_NewAxis.of(axis) for axis in axes]
    # A boost-histogram may lack these bins, which ROOT always has.
    padding = [(0, 0)] * len(axes)
    if boost:
        traits = [axis.traits for axis in axes]
        padding = [(1 - trait.underflow, 1 - trait.overflow) for trait in traits]
    elif not _has_flow(data):
        padding = [(1, 1)] * len(axes)

    def padded(values: Any) -> Any:
        return np.pad(to_numpy.plain(values, name), padding)

    title = _title(data)
    if data.kind == "MEAN":
        if not boost:
            raise UnsupportedError(
                f"{name}: of {type(data).__name__}, the sums that a profile needs are not known; "
                "give a boost-histogram of storage Mean or WeightedMean"
            )
        view = data.view(flow=True)
        return _profile(title, new, {key: padded(view[key]) for key in view.dtype.names})
    if data.kind != "COUNT":
        raise UnsupportedError(f"{name}: ROOT has no histogram of kind {data.kind!r}")
    flow = {} if not boost and padding[0] == (1, 1) else {"flow": True}
    values, variances = data.values(**flow), None
    if data.storage_type.__name__ == "Weight" if boost else _is_weighted(data):
        variances = padded(data.variances(**flow)).astype(np.float64)
    return _histogram(name, title, new, padded(values), variances)


def _check(name: str, dimensions: int) -> None:
    if not 1 <= dimensions <= 3:
        raise UnsupportedError(
            f"{name}: a histogram of {dimensions} axes, where ROOT's TH1 to TH3 have one to three; "
            "project it, or write one histogram for each bin of the other axes"
        )


def _has_flow(data: Any) -> bool:
    """Return whether a histogram of another package gives the bins beyond its axes."""
    try:
        shapes = [np.shape(data.values(flow=flow)) for flow in (True, False)]
    except TypeError:
        return False
    return all(long == short + 2 for long, short in zip(*shapes, strict=True))


def _is_weighted(data: Any) -> bool:
    variances = data.variances()
    return variances is not None and not np.array_equal(variances, data.values())


def _title(data: Any) -> str:
    for name in ("title", "label", "name"):
        title = getattr(data, name, None)
        if title:
            return str(title() if callable(title) else title)
    return ""


@dataclass(frozen=True)
class _NewAxis:
    """An axis: its edges, and labels if its bins have some."""

    edges: _Floats
    uniform: bool
    labels: list[str] | None = None
    title: str = ""

    @classmethod
    def of_edges(cls, edges: _Floats, title: str = "") -> _NewAxis:
        low, high, bins = edges[0], edges[-1], len(edges) - 1
        if not (np.diff(edges) > 0).all() or not np.isfinite(edges).all():
            raise ArgumentError("the edges of an axis are not finite numbers that ascend")
        even = low + np.arange(bins + 1) * ((high - low) / bins)
        size = 8 * np.finfo(np.float64).eps * max(abs(low), abs(high))
        return cls(edges, bool((np.abs(edges - even) <= size).all()), None, title)

    @classmethod
    def of(cls, axis: Any) -> _NewAxis:
        title = str(getattr(axis, "label", "") or getattr(axis, "title", "") or "")
        bins = list(axis)
        if not bins:
            raise ArgumentError("an axis has no bins")
        if isinstance(bins[0], str) or type(axis).__name__ == "IntCategory":
            labels = [str(item) for item in bins]
            edges = np.arange(len(labels) + 1, dtype=np.float64)
            return cls(edges, True, labels, title)
        given = getattr(axis, "edges", None)
        if given is None:
            given = [low for low, _ in bins] + [bins[-1][1]]
        edges = to_numpy.plain(given() if callable(given) else given, "edges", np.float64)
        return cls.of_edges(edges, title)

    @property
    def centers(self) -> _Floats:
        centers: _Floats = (self.edges[:-1] + self.edges[1:]) / 2
        return centers

    def member(self, letter: str) -> Axis:
        """Return the ``TAxis``."""
        members: dict[str, Any] = {
            "fName": f"{letter}axis",
            "fTitle": self.title,
            **AXIS,
            "fTitleOffset": 0.0 if letter == "y" else 1.0,
            "fNbins": len(self.edges) - 1,
            "fXmin": float(self.edges[0]),
            "fXmax": float(self.edges[-1]),
            "fXbins": np.empty(0) if self.uniform else self.edges,
        }
        if self.labels is not None:
            texts = [
                make(Text, "TObjString", ("TObject",), {"fUniqueID": bin, "fString": label})
                for bin, label in enumerate(self.labels, 1)
            ]
            members["fLabels"] = make(Collection, "THashList", ("TList",), {"items": texts})
            members["fBits2"] = _LABELLED
        return make(Axis, "TAxis", ("TNamed", "TAttAxis"), members)


def _histogram(
    name: str,
    title: str,
    axes: list[_NewAxis],
    values: npt.NDArray[Any],
    variances: _Floats | None,
) -> Histogram:
    """Return the ``TH1`` to ``TH3`` of the contents of all bins, with those beyond the axes."""
    _check(name, len(axes))
    kind = values.dtype.str[1:]
    letter = "D" if variances is not None else LETTERS.get(kind, "D")
    if kind in ("i8", "u8") and len(values) and np.abs(values).max() > _EXACT:
        raise ArgumentError(f"{name}: a bin has more than 2^53 entries, which a double cannot hold")
    weights = values.astype(np.float64)
    members = _members(title, axes, weights, weights if variances is None else variances)
    members["fArray"] = _flat(values if letter in "CSI" else weights)
    if variances is None:
        members["fEntries"] = float(weights.sum())
    else:
        members["fSumw2"] = _flat(variances)
        members["fEntries"] = _effective(weights, variances)
    return new_histogram(len(axes), letter, members)


def _profile(title: str, axes: list[_NewAxis], view: Mapping[str, npt.NDArray[Any]]) -> Profile:
    """Return the profile of the sums in a boost-histogram of storage Mean or WeightedMean."""
    weighted = "sum_of_weights" in view
    weights = np.asarray(view["sum_of_weights" if weighted else "count"], dtype=np.float64)
    squares = np.asarray(view["sum_of_weights_squared"]) if weighted else weights
    deltas = view["_sum_of_weighted_deltas_squared" if weighted else "_sum_of_deltas_squared"]
    means = np.where(weights != 0, view["value"], 0.0)
    sums, sums_of_squares = weights * means, deltas + weights * means**2
    members = _members(title, axes, weights, squares)
    inside = (slice(1, -1),) * len(axes)
    letter = _MEAN[len(axes)]
    upper = letter.upper()
    members |= {
        "fEntries": _effective(weights, squares) if weighted else float(weights.sum()),
        "fArray": _flat(sums),
        "fSumw2": _flat(sums_of_squares),
        "fBinEntries": _flat(weights),
        "fBinSumw2": _flat(squares) if weighted else np.empty(0),
        "fErrorMode": 0,
        f"f{upper}min": 0.0,
        f"f{upper}max": 0.0,
        f"fTsumw{letter}": float(sums[inside].sum()),
        f"fTsumw{letter}2": float(sums_of_squares[inside].sum()),
    }
    return new_profile(len(axes), members)


def new_histogram(dimensions: int, letter: str, members: dict[str, Any]) -> Histogram:
    """Return the ``TH1`` to ``TH3`` with these members, whose class has this letter."""
    bases = ("TH1", f"TH{dimensions}", f"TArray{letter}")
    return make(Histogram, f"TH{dimensions}{letter}", bases, members)


def new_profile(dimensions: int, members: dict[str, Any]) -> Profile:
    """Return the ``TProfile`` to ``TProfile3D`` with these members."""
    class_name = "TProfile" if dimensions == 1 else f"TProfile{dimensions}D"
    bases = ("TH1", f"TH{dimensions}", f"TH{dimensions}D", "TArrayD")
    return make(Profile, class_name, bases, members)


def _members(
    title: str, axes: list[_NewAxis], weights: _Floats, squares: _Floats
) -> dict[str, Any]:
    """Return the members that all histograms have, with the sums that ROOT's statistics need.

    They are over the bins inside the axes, as if all entries of a bin were in its centre.
    """
    inside = (slice(1, -1),) * len(axes)
    weights, squares = weights[inside], squares[inside]
    members: dict[str, Any] = {
        "fBits": _CLEANUP,
        "fName": "",
        "fTitle": title,
        **HISTOGRAM,
        "fContour": np.empty(0),
        "fSumw2": np.empty(0),
        "fFunctions": empty_list(),
        "fNcells": math.prod(len(axis.edges) + 1 for axis in axes),
    }
    unit = _NewAxis(np.array([0.0, 1.0]), uniform=True)
    for number, letter in enumerate("xyz"):
        axis = axes[number] if number < len(axes) else unit
        members[f"f{letter.upper()}axis"] = axis.member(letter)
    members |= {
        "fEntries": 0.0,
        "fTsumw": float(weights.sum()),
        "fTsumw2": float(squares.sum()),
    }
    centers = np.meshgrid(*(axis.centers for axis in axes), indexing="ij", sparse=True)
    places = dict(zip("xyz", centers, strict=False))
    for letter, center in places.items():
        members[f"fTsumw{letter}"] = float((weights * center).sum())
        members[f"fTsumw{letter}2"] = float((weights * center**2).sum())
    for item, other in _PAIRS:
        if other in places:
            product = weights * places[item] * places[other]
            members[f"fTsumw{item}{other}"] = float(product.sum())
    if len(axes) == 2:
        members["fScalefactor"] = 1.0
    return members


def _effective(weights: _Floats, squares: _Floats) -> float:
    """Return the effective number of entries, as ``TH1::ResetStats`` has it for weights."""
    total = float(squares.sum())
    return float(weights.sum()) ** 2 / total if total > 0 else 0.0


def _flat(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the bins in ROOT's order: x runs fastest."""
    return np.ascontiguousarray(values.T).reshape(-1)
