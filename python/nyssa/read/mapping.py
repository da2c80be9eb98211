"""Defines bases of classes: `Choosable`, a mapping whose names can be filtered, and `Closable`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from typing_extensions import Self

from nyssa.arguments.hints import Hinting

__all__ = ["Choosable", "Closable"]

Value = TypeVar("Value", covariant=True)


class Closable:
    """An object that is closed by `close`, or at the end of ``with``."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def __enter__(self) -> Self:
        """Return itself, so that ``with nyssa.open("file.root:Events") as events`` works."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close it."""
        self.close()


# Each class has filters of its own, which its `keys` states: `Any` here.
class Choosable(Hinting, Mapping[str, Value]):
    """A mapping whose `keys`, `values` and `items` take filters.

    `iterkeys`, `itervalues` and `iteritems` are iterators over the same, as in uproot. Two of them
    are equal only if they are one object: their data are not compared.
    """

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __iter__(self) -> Iterator[str]:
        """Iterate over `keys`."""
        return iter(self.keys())

    def __len__(self) -> int:
        """Return the number of the names that `keys` returns."""
        return len(self.keys())

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names that a notebook or IPython offers after ``[``."""
        return self.keys()

    @abstractmethod
    def keys(self, *args: Any, **filters: Any) -> list[str]:  # type: ignore[override]
        """Return the names that the filters accept."""

    def values(self, **filters: Any) -> list[Value]:  # type: ignore[override]
        """Return the values of the names that `keys` returns; `filters` are as in `keys`."""
        return list(self.itervalues(**filters))

    def items(self, **filters: Any) -> list[tuple[str, Value]]:  # type: ignore[override]
        """Return pairs of name and value; `filters` are as in `keys`."""
        return list(self.iteritems(**filters))

    def iterkeys(self, **filters: Any) -> Iterator[str]:
        """Iterate over the names; `filters` are as in `keys`."""
        return iter(self.keys(**filters))

    def itervalues(self, **filters: Any) -> Iterator[Value]:
        """Iterate over the values. Each is made when the iterator reaches it."""
        return (self[name] for name in self.keys(**filters))

    def iteritems(self, **filters: Any) -> Iterator[tuple[str, Value]]:
        """Iterate over pairs of name and value. Each is made when the iterator reaches it."""
        return ((name, self[name]) for name in self.keys(**filters))
