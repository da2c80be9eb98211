"""Defines `RNTuple`, the new columnar format of ROOT, and `AttributeSet`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from typing_extensions import Unpack

from nyssa.arguments.options import AwkwardName, EntryOptions
from nyssa.read.fields import Field, tree
from nyssa.read.related import Related

if TYPE_CHECKING:
    import awkward as ak

__all__ = ["AttributeSet", "RNTuple"]


class RNTuple(Related):
    """An RNTuple, the new columnar format of ROOT."""

    @property
    def fields(self) -> list[Field]:
        """Return the top-level fields. Each has a tree of subfields."""
        return tree(self._core.fields())

    @property
    def attribute_sets(self) -> dict[str, AttributeSet]:
        """Return the attribute sets by name. They store data about ranges of entries."""
        return {name: self._attribute_set(name) for name in self._core.attribute_sets()}

    def _attribute_set(self, name: str) -> AttributeSet:
        recipe = (RNTuple._attribute_set, (self, name))
        return AttributeSet(self._core.attribute_set(name), recipe)


class AttributeSet(RNTuple):
    """An attribute set: an RNTuple with one entry for each attribute.

    Its columns are ``_rangeStart`` and ``_rangeLen``, the range of entries of the main RNTuple that
    an attribute describes, and ``_userData``, a record of its values.
    """

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Return the range ``(start, stop)`` of entries of the main RNTuple of each attribute."""
        columns = self.arrays(["_rangeStart", "_rangeLen"], library="np")
        pairs = zip(columns["_rangeStart"].tolist(), columns["_rangeLen"].tolist(), strict=True)
        return [(start, start + length) for start, length in pairs]

    @overload
    def attributes(
        self, *, library: AwkwardName = "ak", **options: Unpack[EntryOptions]
    ) -> ak.Array: ...

    # The other libraries have types of their own, hence `Any`.
    @overload
    def attributes(self, *, library: str, **options: Unpack[EntryOptions]) -> Any: ...

    def attributes(self, *, library: str = "ak", **options: Unpack[EntryOptions]) -> Any:
        """Return one record of values for each attribute. The options are as in `arrays`."""
        return self["_userData"].array(library=library, **options)
