"""Defines `Field`, for the fields of an RNTuple."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Field"]


@dataclass(frozen=True)
class Field:
    """A field of an RNTuple with its subfields."""

    name: str
    """The name, for example ``"_0"`` for the items of a collection."""
    path: str
    """The names from the top-level field down, for example ``"jets._0.pt"``."""
    typename: str
    """The C++ type; empty for untyped records and collections."""
    version: int
    """The version of the class; 0 for types without a version."""
    columns: tuple[str, ...]
    """The types of its columns, for example ``"SplitReal32"``."""
    children: list[Field] = field(default_factory=list, repr=False)
    """The subfields, in order."""

    def walk(self) -> Iterator[Field]:
        """Iterate over this field and all fields below it, parents first."""
        yield self
        for child in self.children:
            yield from child.walk()


def tree(rows: Sequence[tuple[int | None, str, str, int, list[str]]]) -> list[Field]:
    """Return the top-level fields, made from the rows of `_core.Dataset.fields`."""
    all_fields: list[Field] = []
    top: list[Field] = []
    for parent, name, typename, version, columns in rows:
        above = None if parent is None else all_fields[parent]
        path = name if above is None else f"{above.path}.{name}"
        field = Field(name, path, typename, version, tuple(columns))
        (top if above is None else above.children).append(field)
        all_fields.append(field)
    return top
