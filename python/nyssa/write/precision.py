"""Computes the precision of column types."""

from __future__ import annotations

from typing import NamedTuple

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.errors import ArgumentError

__all__ = ["Precision", "column_precision"]


class Precision(NamedTuple):
    """An upper bound of the error of stored numbers.

    For every ``x`` from `minimum` to `maximum`, the value that is read differs from ``x`` by at
    most ``max(relative * abs(x), absolute)``.
    """

    relative: float
    absolute: float
    minimum: float
    maximum: float


@checked
def column_precision(column: str, field: str = "float") -> Precision:
    """Return the precision of floating-point numbers in a column type.

    >>> nyssa.column_precision("Real32Trunc:16").relative
    0.0078125

    It follows from the specification of RNTuple ("Column Description"): ``Real16`` rounds to the
    nearest number, ``Real32Trunc`` cuts off low bits, ``Real32Quant`` rounds to the nearest of
    equal steps.

    Parameters
    ----------
    column
        As in the `field_options` of `WritableFile.mkrntuple`: ``"Real16"``, ``"Real32Trunc:12"``,
        ``"Real32Quant:8:-1:1"``, ``"Real32"``.
    field
        C++ type of the field: ``"float"`` or ``"double"``. For ``"float"`` the bound is for values
        that already are floats.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) when `column` is not a type of floating-point numbers.
    """
    if field not in ("float", "double"):
        raise ArgumentError(f'field is {field!r} where "float" or "double" belongs')
    return Precision(*_core.column_precision(column, field == "double"))
