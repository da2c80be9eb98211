"""Names and completes the counters of lists, as uproot does."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import awkward as ak
import numpy as np

from nyssa.errors import ArgumentError

__all__ = ["Counters"]


class Counters:
    """The counters of lists, with the names that ``counter_name`` gives them."""

    def __init__(self, name: Callable[[str], str]) -> None:
        self._name = name
        self._of: dict[str, str] = {}
        self._types: dict[str, Any] = {}

    def of(self, types: Any, given: Any, records: Mapping[str, str]) -> dict[str, str]:
        """Return the counters of columns of lists; `given` are the types with their records.

        `records` are the names of the lists of records that columns come from.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when a column of another kind has the name of a counter.
        """
        if not isinstance(types, Mapping):
            return {}
        self._types = dict(types)
        lists = [name for name, item in types.items() if _is_list(item)]
        self._of = {name: self._name(records.get(name, name)) for name in lists}
        for name, counter in self._of.items():
            of_record = counter in types and counter not in given
            same = all(_is_integer(item[counter]) for item in (types, given) if counter in item)
            if of_record or not same:
                raise ArgumentError(f"the counter {counter!r} of {name!r} collides with a column")
        return self._of

    @property
    def names(self) -> list[str]:
        """Return the names of the counters."""
        return list(dict.fromkeys(self._of.values()))

    def add(self, columns: Mapping[str, Any]) -> None:
        """Add columns that have no counters of these names."""
        self._types.update(columns)

    def complete(self, data: Any) -> Any:
        """Return the data with the counters that are columns and are not given.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when lists and their counter disagree.
        """
        if not isinstance(data, Mapping):
            return data
        completed = dict(data)
        for name, counter in self._of.items():
            if name not in data:
                continue
            lists = data[name]
            lengths = np.asarray(
                ak.num(lists) if isinstance(lists, ak.Array) else [len(x) for x in lists]
            )
            known = completed.get(counter)
            if known is not None and not np.array_equal(np.asarray(known), lengths):
                raise ArgumentError(f"the counter {counter!r} and the lists of {name!r} disagree")
            completed[counter] = lengths
        return {name: item for name, item in completed.items() if name in self._types}


def _is_integer(value: Any) -> bool:
    """Return whether a type or the data of a column are one integer for each entry."""
    if isinstance(value, Mapping):
        return False
    if isinstance(value, str):
        return re.fullmatch(r"u?int\d*|bool|\?|[?bBhHiIlLqQ]", value) is not None
    dtype = value if isinstance(value, (np.dtype, type)) else getattr(value, "dtype", None)
    if dtype is None:
        return re.fullmatch(r"(\d+ \* )?u?int\d+", str(getattr(value, "type", value))) is not None
    kind = np.dtype(dtype)
    flat = not isinstance(value, np.ndarray) or value.ndim == 1
    return kind.kind in "iu" and not kind.shape and flat


def _is_list(value: Any) -> bool:
    text = str(value.type if isinstance(value, ak.Array) else value)
    return "var *" in text
