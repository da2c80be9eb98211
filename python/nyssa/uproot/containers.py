"""What items of containers are, and containers in arrays of objects, by uproot's names."""

from __future__ import annotations

from typing import Any

from nyssa.uproot.interpretation.objects import written
from nyssa.uproot.values import STLMap, STLSet, STLVector

__all__ = [
    "AsArray",
    "AsBitSet",
    "AsDynamic",
    "AsList",
    "AsMap",
    "AsPointer",
    "AsRVec",
    "AsSet",
    "AsString",
    "AsVector",
    "STLMap",
    "STLSet",
    "STLVector",
]


class AsContainer:
    """What the items of an entry are, in uproot's words; `header` says if it has one."""

    def __init__(self, *items: Any) -> None:
        self._items = items

    @property
    def header(self) -> bool:
        """Return whether bytes with a size and a version come first."""
        return bool(self._items and self._items[0] is True)

    def __eq__(self, other: object) -> bool:
        """Compare how they are written."""
        return isinstance(other, AsContainer) and repr(self) == repr(other)

    def __hash__(self) -> int:
        """Hash how it is written."""
        return hash(repr(self))

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return f"{type(self).__name__}({', '.join(map(written, self._items))})"


class _OfItems(AsContainer):
    def __init__(self, header: bool, values: Any) -> None:
        super().__init__(header, values)
        self.values = values


class AsVector(_OfItems):
    """A ``std::vector``."""


class AsList(_OfItems):
    """A ``std::list``."""


class AsRVec(_OfItems):
    """A ``ROOT::RVec``."""


class AsSet(AsContainer):
    """A ``std::set``."""

    def __init__(self, header: bool, keys: Any) -> None:
        super().__init__(header, keys)
        self.keys = keys


class AsBitSet(AsSet):
    """A ``std::bitset``."""


class AsMap(AsContainer):
    """A ``std::map``."""

    def __init__(self, header: bool, keys: Any, values: Any) -> None:
        super().__init__(header, keys, values)
        self.keys, self.values = keys, values


class AsString(AsContainer):
    """A ``std::string`` or ``TString`` in a container."""

    def __init__(self, header: bool) -> None:
        super().__init__(header)


class AsPointer(AsContainer):
    """A pointer to an object."""

    def __init__(self, pointee: Any = None) -> None:
        super().__init__(pointee)
        self.pointee = pointee


class AsDynamic(AsContainer):
    """An object that is of any class."""

    def __init__(self, model: Any = None) -> None:
        super().__init__(model)
        self.model = model

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return "AsDynamic()" if self.model is None else f"AsDynamic(model={written(self.model)})"


class AsArray(AsContainer):
    """Several items in a row."""

    def __init__(self, header: bool, speedbump: bool, values: Any, inner_shape: Any = ()) -> None:
        super().__init__(header, speedbump, values, tuple(inner_shape))
        self.values, self.inner_shape = values, tuple(inner_shape)
