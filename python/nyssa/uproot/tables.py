"""Columns that were read, on their way to uproot's forms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import awkward as ak

from nyssa.arrays import libraries

__all__ = ["Table", "length_of", "names_of", "nothing"]


class Table(dict[str, Any]):
    """Columns of one length; `len` returns this length."""

    def __init__(self, columns: Mapping[str, Any], length: int) -> None:
        super().__init__(columns)
        self._length = length

    def __len__(self) -> int:
        """Return the number of entries."""
        return self._length


def names_of(table: Any) -> list[str]:
    """Return the names of columns."""
    return ak.fields(table) if isinstance(table, ak.Array) else list(table)


def length_of(table: Any) -> int:
    """Return the number of entries; 0 if the columns do not tell."""
    return len(table) if isinstance(table, ak.Array) else 0


def nothing(library: str, how: Any, entries: range) -> Any:
    """Return the result of no columns, of some entries."""
    if how in (tuple, list, dict):
        return how()
    name = libraries.canonical(library)
    if name == "np":
        return {}
    if libraries.is_pandas(name):
        return libraries.optional("pandas").DataFrame(index=entries)
    return ak.Array(ak.contents.RecordArray([], [], length=len(entries)))
