"""Makes new objects of ROOT's classes: graphs, strings and parameters.

They have the members that ROOT gives new objects, so that they can be read here and written.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from nyssa.arguments.checks import checked
from nyssa.arguments.names import check_text
from nyssa.arrays import to_numpy
from nyssa.errors import ArgumentError
from nyssa.objects.graph import Graph
from nyssa.objects.object import Object
from nyssa.objects.simple import Collection, Parameter, Text

__all__ = ["AXIS", "HISTOGRAM", "empty_list", "graph", "make", "parameter", "text"]

#: Members of ``TAttLine``, ``TAttFill`` and ``TAttMarker`` of a new object.
ATTRIBUTES = {
    "fLineColor": 1,
    "fLineStyle": 1,
    "fLineWidth": 1,
    "fFillColor": 0,
    "fFillStyle": 1001,
    "fMarkerColor": 1,
    "fMarkerStyle": 1,
    "fMarkerSize": 1.0,
}
#: Members of a new axis that do not depend on its bins.
AXIS = {
    "fNdivisions": 510,
    "fAxisColor": 1,
    "fLabelColor": 1,
    "fLabelFont": 42,
    "fLabelOffset": 0.005,
    "fLabelSize": 0.035,
    "fTickLength": 0.03,
    "fTitleOffset": 1.0,
    "fTitleSize": 0.035,
    "fTitleColor": 1,
    "fTitleFont": 42,
    "fFirst": 0,
    "fLast": 0,
    "fBits2": 0,
    "fTimeDisplay": False,
    "fTimeFormat": "",
}
#: Members of a new histogram that do not depend on its bins. ``TH1::kNeutral`` is 2.
HISTOGRAM = {
    **ATTRIBUTES,
    "fLineColor": 602,
    "fBarOffset": 0,
    "fBarWidth": 1000,
    "fMaximum": -1111.0,
    "fMinimum": -1111.0,
    "fNormFactor": 0.0,
    "fOption": "",
    "fBufferSize": 0,
    "fBinStatErrOpt": 0,
    "fStatOverflows": 2,
}
#: ``TGraph::kClipFrame`` and ``TParameter::kIsConst``.
_CLIP_FRAME, _CONSTANT = 1 << 10, 1 << 21

_Kind = TypeVar("_Kind", bound=Object)
Numbers = npt.ArrayLike
Errors = Numbers | tuple[Numbers, Numbers]


def make(
    kind: type[_Kind], class_name: str, bases: tuple[str, ...], members: dict[str, Any]
) -> _Kind:
    """Return an object of a class with these members."""
    return kind(class_name, bases, members, tuple(members))


def empty_list() -> Collection:
    """Return a ``TList`` without items."""
    return make(Collection, "TList", (), {"items": []})


def text(value: str) -> Text:
    """Return a ``TObjString``."""
    check_text(value)
    return make(Text, "TObjString", ("TObject",), {"fString": value})


def parameter(name: str, value: Any) -> Parameter:
    """Return a ``TParameter`` of ``bool``, ``Long64_t``, ``float`` or ``double``, as the number is.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for integers that need more than 64 bits.
    """
    kind = np.asarray(value).dtype
    if kind.kind == "O" or (kind.kind == "u" and int(value) >= 2**63):
        raise ArgumentError(f"{value!r} does not fit the 64 bits of a TParameter<Long64_t>")
    single = kind.kind == "f" and kind.itemsize <= 4
    type_name = {"b": "bool", "f": "float" if single else "double"}.get(kind.kind, "Long64_t")
    members = {"fBits": _CONSTANT, "fName": name, "fVal": _plain(value, kind.kind)}
    return make(Parameter, f"TParameter<{type_name}>", ("TObject",), members)


def _plain(value: Any, kind: str) -> bool | int | float:
    return {"b": bool, "f": float}.get(kind, int)(value)


@checked
def graph(
    x: Numbers,
    y: Numbers,
    *,
    x_errors: Errors | None = None,
    y_errors: Errors | None = None,
    title: str = "",
) -> Graph:
    """Return a new graph of points, to be written: ``file["g"] = nyssa.graph(x, y)``.

    >>> with nyssa.recreate("graphs.root") as file:
    ...     file["g"] = nyssa.graph([1, 2, 3], [2.0, 4.0, 8.0], y_errors=[0.1, 0.2, 0.4])
    >>> nyssa.open("graphs.root:g").classname
    'TGraphErrors'

    Parameters
    ----------
    x, y
        Coordinates, shape ``(points,)``. They are stored as ``float64``.
    x_errors, y_errors
        Errors, shape ``(points,)``, or a pair of low and high ones. Without errors the class is
        ``TGraph``, with a pair ``TGraphAsymmErrors``, otherwise ``TGraphErrors``. Default: no
        errors, which are zeros if the other axis has some.
    title
        Title, which in ROOT may have the titles of the axes: ``"title;x;y"``.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for arrays of other shapes.
    """
    given = {"x": to_numpy.plain(x, "x", np.float64)}
    shape = given["x"].shape

    def array(what: str, values: Any) -> npt.NDArray[np.float64]:
        numbers = to_numpy.plain(values, what, np.float64)
        if numbers.shape != shape or len(shape) != 1:
            raise ArgumentError(f"{what} of shape {numbers.shape} for x of shape {shape}")
        return numbers

    members: dict[str, Any] = {
        "fBits": _CLIP_FRAME,
        "fName": "",
        "fTitle": title,
        **ATTRIBUTES,
        "fFillStyle": 1000,
        "fNpoints": shape[0] if shape else 0,
        "fX": array("x", x),
        "fY": array("y", y),
        "fFunctions": empty_list(),
        "fMinimum": -1111.0,
        "fMaximum": -1111.0,
        "fOption": "",
    }
    errors = {"X": x_errors, "Y": y_errors}
    if x_errors is None and y_errors is None:
        return make(Graph, "TGraph", ("TNamed",), members)
    asymmetric = any(isinstance(error, tuple) for error in errors.values())
    for letter, item in errors.items():
        what = f"{letter.lower()}_errors"
        if isinstance(item, tuple) and len(item) != 2:
            raise ArgumentError(f"{what} are numbers, or a pair of low and high ones")
        low, high = item if isinstance(item, tuple) else (item, item)
        low, high = (np.zeros(shape) if side is None else array(what, side) for side in (low, high))
        if asymmetric:
            members |= {f"fE{letter}low": low, f"fE{letter}high": high}
        else:
            members[f"fE{letter}"] = low
    name = "TGraphAsymmErrors" if asymmetric else "TGraphErrors"
    return make(Graph, name, ("TNamed", "TGraph"), members)
