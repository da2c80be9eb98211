"""Reads objects as uproot has them: maps, profiles, symmetric matrices."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from nyssa import objects
from nyssa.uproot.values import STLMap

__all__ = ["Reader"]


class Profile(objects.Profile):
    """A profile, which `to_boost` and `to_hist` give the storage of uproot."""

    _by_weights = True


class SymmetricMatrix(objects.Matrix):
    """A ``TMatrixTSym``, whose elements are those on the diagonal and above it."""

    def member(self, name: str, *options: bool, **named: bool) -> Any:
        """Return a member of the class or of one of its base classes."""
        found = super().member(name, *options, **named)
        return self.all_members[name] if name == "fElements" else found

    @property
    def all_members(self) -> Mapping[str, Any]:
        """Return the members of the base classes and of the class."""
        whole = super().all_members
        rows, columns = whole["fNrows"], whole["fNcols"]
        elements = np.asarray(whole["fElements"]).reshape(rows, columns)
        return MappingProxyType({**whole, "fElements": elements[np.triu_indices(rows)]})


class Reader(objects.Reader):
    """Reads the objects of a file."""

    def pairs(self, items: list[Any]) -> Any:
        """Return a map as a `STLMap`, or the pairs if their keys cannot be keys in Python."""
        try:
            return STLMap(items)
        except TypeError:
            return items

    def kind(self, class_name: str, bases: tuple[str, ...]) -> type[objects.Object]:
        """Return the Python class of a C++ class."""
        if class_name.startswith("TMatrixTSym<"):
            return SymmetricMatrix
        kind = super().kind(class_name, bases)
        return Profile if kind is objects.Profile else kind
