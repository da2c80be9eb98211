"""Cuts that conditions of other libraries need, so that entries that fail are not read.

A condition of polars or pyarrow becomes a cut that passes all entries for which the condition is
true, and maybe more: the library that asked filters again, by its own rules for missing values,
NaN and single precision. A part that has no translation passes all entries.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from nyssa.errors import ArgumentError

if TYPE_CHECKING:
    from nyssa.read.dataset import Dataset

__all__ = [
    "ANY",
    "Condition",
    "Kind",
    "column_cut",
    "compare",
    "is_any_of",
    "is_nan",
    "steps",
    "truth",
]

Kind = Literal["integer", "float32", "float64", "bool"]
"""The types of columns that conditions can compare."""

_OPPOSITES = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_MOST_VALUES = 50
"""The most values that are compared one by one; of more, the range is compared."""


class Condition(NamedTuple):
    """Cuts that pass at least the entries for which a condition is true, and is false.

    `None` passes all entries. An entry for which the condition is null need not pass either.
    """

    true: str | None
    false: str | None

    def __invert__(self) -> Condition:
        """Return the opposite."""
        return Condition(self.false, self.true)

    def __and__(self, other: Condition) -> Condition:
        """Return the condition that both are true."""
        return Condition(_both(self.true, other.true), _either(self.false, other.false))

    def __or__(self, other: Condition) -> Condition:
        """Return the condition that at least one is true."""
        return ~(~self & ~other)


ANY = Condition(None, None)
"""A condition that has no translation."""


def column_cut(name: str) -> str | None:
    """Return a column in the language of cuts; `None` for a name that it cannot write."""
    return None if "`" in name or not name else f"`{name}`"


def compare(
    column: str, kind: Kind, sign: str, value: object, *, mirrored: bool = False
) -> Condition:
    """Return the condition ``column sign value``, or ``value sign column`` if it is mirrored."""
    sign = _MIRRORED[sign] if mirrored else sign
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ANY
    if kind == "integer":
        if not isinstance(value, int) or abs(value) >= 2**63:
            return ANY
        return Condition(f"{column} {sign} {value}", f"{column} {_OPPOSITES[sign]} {value}")
    if kind == "bool" or not math.isfinite(value):
        return ANY
    # Libraries compare single precision with the value, or with the value in single precision.
    single = float(np.float32(value)) if kind == "float32" else float(value)
    bounds = (min(single, float(value)), max(single, float(value)))
    if not math.isfinite(single):
        return ANY
    # NaN is larger than all numbers for polars, and not smaller than any for pyarrow.
    true = _compared(column, sign, bounds, with_nan=sign in (">", ">="))
    return Condition(true, _compared(column, _OPPOSITES[sign], bounds, with_nan=True))


def is_any_of(column: str, kind: Kind, values: Sequence[object]) -> Condition:
    """Return the condition that a column has one of some values."""
    numbers = [value for value in values if isinstance(value, int | float)]
    if len(numbers) != len(values) or not numbers:
        return ANY
    if len(numbers) > _MOST_VALUES:
        least = compare(column, kind, ">=", min(numbers)).true
        return Condition(_both(least, compare(column, kind, "<=", max(numbers)).true), None)
    equal = [compare(column, kind, "==", number).true for number in numbers]
    texts = [text for text in equal if text is not None]
    return Condition(f"({' || '.join(texts)})", None) if len(texts) == len(equal) else ANY


def is_nan(column: str) -> Condition:
    """Return the condition that a real number is NaN."""
    return Condition(f"isnan({column})", None)


def truth(column: str) -> Condition:
    """Return the condition that a column is true."""
    return Condition(column, f"!{column}")


def _compared(column: str, sign: str, bounds: tuple[float, float], *, with_nan: bool) -> str | None:
    low, high = (repr(bound) for bound in bounds)
    if sign == "!=":
        # NaN is different from each number.
        return f"{column} != {low}" if low == high else None
    if sign == "==":
        return f"({column} >= {low} && {column} <= {high})"
    bound = low if sign in (">", ">=") else high
    text = f"{column} {sign} {bound}"
    return f"({text} || isnan({column}))" if with_nan else text


def _both(left: str | None, right: str | None) -> str | None:
    if left is None or right is None:
        return right if left is None else left
    return f"{left} && {right}"


def _either(left: str | None, right: str | None) -> str | None:
    return None if left is None or right is None else f"({left} || {right})"


# The tables are of `library`: `Any`.
def steps(
    dataset: Dataset,
    names: list[str],
    cut: str | None,
    library: str,
    *,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
) -> Iterator[Any]:
    """Yield columns in steps, of the entries that pass a cut, which only saves reading."""
    if cut is not None:
        # Values may not fit expressions, such as integers of 64 bits without a sign.
        with contextlib.suppress(ArgumentError):
            dataset = dataset.with_cut(
                cut, entry_start=entry_start, entry_stop=entry_stop, threads=threads
            )
            entry_start = entry_stop = None
    yield from dataset.iterate(
        names, library=library, entry_start=entry_start, entry_stop=entry_stop, threads=threads
    )
