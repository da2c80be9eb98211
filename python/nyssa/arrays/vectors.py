"""Makes vectors of the package ``vector`` of ROOT's vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import awkward as ak
from awkward.contents import Content, RecordArray

__all__ = ["vectors"]

_POSITION = {
    "fX": "x",
    "fY": "y",
    "fZ": "z",
    "fR": "rho",
    "fRho": "rho",
    "fPhi": "phi",
    "fEta": "eta",
    "fTheta": "theta",
}
"""vector's names of the coordinates of a point."""

_MOMENTUM = {
    "fX": "px",
    "fY": "py",
    "fZ": "pz",
    "fT": "E",
    "fE": "E",
    "fM": "mass",
    "fPt": "pt",
    "fPhi": "phi",
    "fEta": "eta",
}
"""vector's names of the coordinates of a momentum and energy."""


def vectors(array: ak.Array) -> ak.Array:
    """Return an array whose vectors of ROOT are vectors of the package ``vector``.

    >>> import vector
    >>> vector.register_awkward()
    >>> momentum = {"fP": {"fX": 3.0, "fY": 4.0, "fZ": 0.0}, "fE": 13.0}  # a TLorentzVector
    >>> momenta = nyssa.vectors(ak.Array([momentum]))
    >>> momenta.pt.to_list(), momenta.mass.to_list()
    ([5.0], [12.0])

    `TLorentzVector` and ``ROOT::Math::LorentzVector`` become ``Momentum4D``; `TVector3`,
    ``ROOT::Math::XYZPoint`` and the like become ``Vector3D`` or ``Vector2D``. Vectors are found by
    their members, such as ``fP`` and ``fE``, also inside lists and records. Everything else stays
    as it is, and no numbers are copied.
    """
    made: ak.Array = ak.transform(_vector, array)
    return made


def _vector(layout: Content, **_: Any) -> Content | None:
    """Return the vector of a record that is one; `None` for all else."""
    if not isinstance(layout, RecordArray) or layout.is_tuple:
        return None
    stored = dict(_coordinates(layout))
    four = not stored.keys().isdisjoint(("fT", "fE", "fM"))
    names = _MOMENTUM if four else _POSITION
    # In three dimensions fR is the length, which vector does not take as a coordinate.
    unknown = not stored.keys() <= names.keys() or (len(stored) > 2 and "fR" in stored)
    if unknown or len(stored) not in ((4,) if four else (2, 3)):
        return None
    kind = "Momentum4D" if four else f"Vector{len(stored)}D"
    fields = [names[name] for name in stored]
    return RecordArray(
        list(stored.values()), fields, length=layout.length, parameters={"__record__": kind}
    )


def _coordinates(layout: RecordArray) -> Iterator[tuple[str, Content]]:
    """Yield the names and values of the members of a class, without the members of `TObject`."""
    for name, item in zip(layout.fields, layout.contents, strict=True):
        inside = item[: layout.length]
        if name in ("fP", "fCoordinates") and isinstance(inside, RecordArray):
            yield from _coordinates(inside)
        elif not name.startswith((":_", "fUniqueID", "fBits")):
            yield name, inside
