"""Defines `Choosable`, the base of mappings whose names can be filtered."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

__all__ = ["Choosable"]

Value = TypeVar("Value", covariant=True)


# Each class has filters of its own, which its `keys` states: `Any` here.
class Choosable(Mapping[str, Value]):
    """A mapping whose `keys`, `values` and `items` take filters.

    `iterkeys`, `itervalues` and `iteritems` are iterators over the same, as in uproot.
    """

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names that a notebook or IPython offers after ``[``."""
        return self.keys()

    @abstractmethod
    def keys(self, *args: Any, **filters: Any) -> list[str]:  # type: ignore[override]
        """Return the names that the filters accept."""

    def values(self, **filters: Any) -> list[Value]:  # type: ignore[override]
        """Return the values of the names that `keys` returns; `filters` are those of `keys`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, Value]]:  # type: ignore[override]
        """Return pairs of name and value; `filters` are those of `keys`."""
        return list(self.iteritems(**filters))

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterate over the names; `filters` are those of `keys`."""
        return iter(self.keys(**filters))

    def itervalues(self, **filters: Any) -> Iterator[Value]:
        """Iterate over the values. Each is made when the iterator reaches it."""
        return (self[name] for name in self.keys(**filters))

    def iteritems(self, **filters: Any) -> Iterator[tuple[str, Value]]:
        """Iterate over pairs of name and value. Each is made when the iterator reaches it."""
        return ((name, self[name]) for name in self.keys(**filters))
