"""Makes objects of ROOT of their members, by uproot's names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from nyssa.arrays import to_numpy
from nyssa.errors import ArgumentError
from nyssa.objects.axis import Axis
from nyssa.objects.graph import Graph
from nyssa.objects.histogram import Histogram
from nyssa.objects.make import AXIS, HISTOGRAM, empty_list, graph, make, text
from nyssa.objects.make_histogram import LETTERS, new_histogram, new_profile
from nyssa.objects.object import Object
from nyssa.objects.profile import Profile
from nyssa.objects.pyroot import is_pyroot
from nyssa.objects.simple import Collection, Text
from nyssa.write import keyed_objects

__all__ = [
    "as_TGraph",
    "count_as_uproot",
    "to_TAxis",
    "to_TH1x",
    "to_TH2x",
    "to_TH3x",
    "to_THashList",
    "to_TList",
    "to_TObjString",
    "to_TProfile",
    "to_TProfile2D",
    "to_TProfile3D",
    "to_writable",
]

_HISTOGRAM: dict[str, Any] = {
    **HISTOGRAM,
    "fNcells": None,
    "fContour": None,
    "fFunctions": None,
    "fBuffer": None,
}
"""The defaults of the members that all histograms have."""

_AXIS: dict[str, Any] = {**AXIS, "fXbins": None, "fLabels": None, "fModLabs": None}

_SUMS = (
    ("fTsumw", "fTsumw2", "fTsumwx", "fTsumwx2"),
    ("fTsumwy", "fTsumwy2", "fTsumwxy"),
    ("fTsumwz", "fTsumwz2", "fTsumwxz", "fTsumwyz"),
)
"""The sums of a histogram, by the dimension that adds them."""


def to_writable(obj: Any) -> Object:
    """Return the object of ROOT that histograms and the like are when they are written.

    Raises
    ------
    TypeError
        for something else.
    """
    written = keyed_objects.to_object("", obj)
    if written is None:
        raise TypeError(f"{type(obj).__name__} is no object that can be written")
    count_as_uproot(written, obj)
    return written


def count_as_uproot(written: Object, data: Any) -> None:
    """Set the number of entries that uproot gives a histogram of another package.

    It is ``metadata["fEntries"]``, or else the sum of all weights.
    """
    if isinstance(data, Object) or is_pyroot(data) or not written.has_member("fEntries"):
        return
    metadata = getattr(data, "metadata", None)
    if isinstance(metadata, Mapping) and "fEntries" in metadata:
        written._members["fEntries"] = float(metadata["fEntries"])
    elif not isinstance(written, Profile) and written.has_member("fArray"):
        written._members["fEntries"] = float(np.sum(written.member("fArray")))


def to_TObjString(string: str) -> Text:
    """Return a ``TObjString``."""
    return text(str(string))


def to_TList(data: Sequence[Any], name: str = "") -> Collection:
    """Return a ``TList`` of objects."""
    del name  # nyssa writes lists without a name.
    return make(Collection, "TList", (), {"items": list(data)})


def to_THashList(data: Sequence[Any], name: str = "") -> Collection:
    """Return a ``THashList`` of objects."""
    del name
    return make(Collection, "THashList", ("TList",), {"items": list(data)})


def to_TAxis(
    fName: str,
    fTitle: str,
    fNbins: int,
    fXmin: float,
    fXmax: float,
    fXbins: Any = None,
    **members: Any,
) -> Axis:
    """Return a ``TAxis`` of its members."""
    given = {"fName": fName, "fTitle": fTitle, "fNbins": fNbins, "fXmin": fXmin, "fXmax": fXmax}
    all_members = given | _with(_AXIS, {"fXbins": fXbins, **members})
    all_members["fXbins"] = _array(all_members["fXbins"])
    return make(
        Axis,
        "TAxis",
        ("TNamed", "TAttAxis"),
        {k: v for k, v in all_members.items() if v is not None},
    )


def to_TH1x(fName: str, fTitle: str, data: Any, *values: Any, **members: Any) -> Histogram:
    """Return a ``TH1C`` to ``TH1D``, as the type of `data` is, of its members in uproot's order."""
    return _histogram(1, fName, fTitle, data, values, members)


def to_TH2x(fName: str, fTitle: str, data: Any, *values: Any, **members: Any) -> Histogram:
    """Return a ``TH2C`` to ``TH2D``, as the type of `data` is, of its members in uproot's order."""
    return _histogram(2, fName, fTitle, data, values, members)


def to_TH3x(fName: str, fTitle: str, data: Any, *values: Any, **members: Any) -> Histogram:
    """Return a ``TH3C`` to ``TH3D``, as the type of `data` is, of its members in uproot's order."""
    return _histogram(3, fName, fTitle, data, values, members)


def to_TProfile(fName: str, fTitle: str, data: Any, *values: Any, **members: Any) -> Profile:
    """Return a ``TProfile`` of its members in uproot's order."""
    return _profile(1, "Y", fName, fTitle, data, values, members)


def to_TProfile2D(fName: str, fTitle: str, data: Any, *values: Any, **members: Any) -> Profile:
    """Return a ``TProfile2D`` of its members in uproot's order."""
    return _profile(2, "Z", fName, fTitle, data, values, members)


def to_TProfile3D(fName: str, fTitle: str, data: Any, *values: Any, **members: Any) -> Profile:
    """Return a ``TProfile3D`` of its members in uproot's order."""
    return _profile(3, "T", fName, fTitle, data, values, members)


def _histogram(
    dimensions: int,
    name: str,
    title: str,
    data: Any,
    values: Sequence[Any],
    members: dict[str, Any],
) -> Histogram:
    array = to_numpy.plain(data, name)
    letter = LETTERS.get(array.dtype.str[1:])
    if letter is None:
        raise ArgumentError(f"a histogram of ROOT has no bins of type {array.dtype}")
    order = ["fEntries", *_sums(dimensions), "fSumw2", "fXaxis", "fYaxis", "fZaxis"]
    extra = {"fScalefactor": 1.0} if dimensions == 2 else {}
    all_members = _members(name, title, array, order, values, members, extra)
    return new_histogram(dimensions, letter, all_members)


def _profile(
    dimensions: int,
    mean: str,
    name: str,
    title: str,
    data: Any,
    values: Sequence[Any],
    members: dict[str, Any],
) -> Profile:
    low = mean.lower()
    order = ["fEntries", *_sums(dimensions), f"fTsumw{low}", f"fTsumw{low}2", "fSumw2"]
    order += ["fBinEntries", "fBinSumw2", "fXaxis", "fYaxis", "fZaxis"]
    extra: dict[str, Any] = {f"f{mean}min": 0.0, f"f{mean}max": 0.0, "fErrorMode": 0}
    if dimensions == 2:
        extra["fScalefactor"] = 1.0
    array = to_numpy.plain(data, name, np.float64)
    all_members = _members(name, title, array, order, values, members, extra)
    return new_profile(dimensions, all_members)


def _sums(dimensions: int) -> list[str]:
    return [name for names in _SUMS[:dimensions] for name in names]


def _members(
    name: str,
    title: str,
    data: Any,
    order: Sequence[str],
    values: Sequence[Any],
    members: dict[str, Any],
    extra: dict[str, Any],
) -> dict[str, Any]:
    """Return all members; `values` belong to the names in `order`."""
    if len(values) > len(order):
        raise TypeError("give members after the axes by their names")
    given = dict(zip(order, values, strict=False)) | members
    needed = dict.fromkeys(order)
    all_members = _with({**_HISTOGRAM, **extra, **needed}, given)
    for item in ("fContour", "fSumw2", "fBuffer", "fBinEntries", "fBinSumw2"):
        if item in all_members:
            all_members[item] = _array(all_members[item])
    del all_members["fBuffer"]  # nyssa writes no buffer of entries.
    all_members["fFunctions"] = all_members["fFunctions"] or empty_list()
    all_members["fArray"] = data.reshape(-1)
    cells = math.prod(data.shape)
    all_members["fNcells"] = cells if all_members["fNcells"] is None else all_members["fNcells"]
    for letter in "xyz":
        axis = f"f{letter.upper()}axis"
        offset = 0.0 if letter == "y" else 1.0
        all_members[axis] = all_members[axis] or to_TAxis(
            f"{letter}axis", "", 1, 0.0, 1.0, fTitleOffset=offset
        )
    return {"fBits": 1 << 3, "fName": name, "fTitle": title, **all_members}


def _with(defaults: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    for name in given:
        if name not in defaults:
            raise TypeError(f"there is no member {name!r}")
    return defaults | given


def _array(values: Any) -> Any:
    return np.empty(0) if values is None else to_numpy.plain(values, "a member", np.float64)


def as_TGraph(
    df: Any,
    title: str = "",
    xAxisLabel: str = "",
    yAxisLabel: str = "",
    minY: float | None = None,
    maxY: float | None = None,
    **members: Any,
) -> Graph:
    """Return a graph of the columns ``x`` and ``y``, with their ``_errors`` if there are some.

    The y axis has the limits `minY` and `maxY`, or the limits of ``y`` and a tenth of them more on
    each side. The errors are ``x_errors`` and ``y_errors``, or ``x_errors_low``, ``x_errors_high``
    and so on.
    """
    del members  # Colors and markers are for drawing.
    columns = {name: to_numpy.plain(df[name], str(name)) for name in df}

    def errors(letter: str) -> Any:
        if f"{letter}_errors" in columns:
            return columns[f"{letter}_errors"]
        low, high = (columns.get(f"{letter}_errors_{side}") for side in ("low", "high"))
        return None if low is None or high is None else (low, high)

    full = ";".join([title, xAxisLabel, yAxisLabel]) if xAxisLabel or yAxisLabel else title
    x, y = columns["x"], columns["y"]
    made = graph(x, y, x_errors=errors("x"), y_errors=errors("y"), title=full)
    low, high = (float(y.min()), float(y.max())) if len(y) else (0.0, 0.0)
    margin = 0.1 * (high - low)
    limits = {
        "fMinimum": low - margin if minY is None else float(minY),
        "fMaximum": high + margin if maxY is None else float(maxY),
    }
    return make(Graph, made.class_name, made.bases, {**made.all_members, **limits})
