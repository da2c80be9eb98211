"""Translates conditions of polars into cuts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from nyssa.pushdown.condition import (
    ANY,
    Condition,
    Kind,
    column_cut,
    compare,
    is_nan,
    truth,
)

if TYPE_CHECKING:
    import polars as pl

__all__ = ["cut_of"]

_SIGNS = {"Gt": ">", "GtEq": ">=", "Lt": "<", "LtEq": "<=", "Eq": "==", "NotEq": "!="}
_DEEPEST = 40
"""The depth of a condition below which it has no translation. Cuts have a largest depth, too."""

# Conditions are JSON whose form polars may change: what is not known passes all entries. `Any`.


def cut_of(predicate: pl.Expr, schema: pl.Schema) -> str | None:
    """Return the cut that a condition needs; `None` if nothing of it can be a cut."""
    from polars.exceptions import PolarsError

    try:
        tree = json.loads(predicate.meta.serialize(format="json"))
        return _condition(tree, schema, 0).true
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, PolarsError):
        # A form that this module does not know, or that has no text, such as a Python function.
        return None


def _condition(tree: Any, schema: pl.Schema, depth: int) -> Condition:
    if not isinstance(tree, dict) or depth > _DEEPEST:
        return ANY
    if "BinaryExpr" in tree:
        left, sign, right = (tree["BinaryExpr"][key] for key in ("left", "op", "right"))
        if sign in ("And", "LogicalAnd"):
            return _condition(left, schema, depth + 1) & _condition(right, schema, depth + 1)
        if sign in ("Or", "LogicalOr"):
            return _condition(left, schema, depth + 1) | _condition(right, schema, depth + 1)
        return _compared(left, _SIGNS.get(sign), right, schema)
    if "Function" in tree:
        return _function(tree["Function"], schema, depth)
    column = _column(tree, schema)
    return truth(column[0]) if column and column[1] == "bool" else ANY


def _function(call: Any, schema: pl.Schema, depth: int) -> Condition:
    name, inputs = call["function"].get("Boolean"), call["input"]
    if name == "Not":
        return ~_condition(inputs[0], schema, depth + 1)
    if name == "IsNan" and (column := _column(inputs[0], schema)):
        return is_nan(column[0]) if column[1] in ("float32", "float64") else ANY
    if isinstance(name, dict) and "IsBetween" in name:
        closed = name["IsBetween"]["closed"]
        least = ">=" if closed in ("Both", "Left") else ">"
        most = "<=" if closed in ("Both", "Right") else "<"
        above = _compared(inputs[0], least, inputs[1], schema)
        return above & _compared(inputs[0], most, inputs[2], schema)
    return ANY


def _compared(left: Any, sign: str | None, right: Any, schema: pl.Schema) -> Condition:
    if sign is None:
        return ANY
    column, value = _column(left, schema), _value(right)
    mirrored = column is None
    if mirrored:
        column, value = _column(right, schema), _value(left)
    if column is None:
        return ANY
    return compare(*column, sign, value, mirrored=mirrored)


def _column(tree: Any, schema: pl.Schema) -> tuple[str, Kind] | None:
    """Return a column, or the length of its lists, in the language of cuts, and its type."""
    import polars as pl

    if not isinstance(tree, dict):
        return None
    if "Function" in tree and tree["Function"]["function"] == {"ListExpr": "Length"}:
        inner = tree["Function"]["input"][0].get("Column")
        cut = column_cut(inner) if isinstance(schema.get(inner), pl.List) else None
        # The length of a list of lists is that of the outer one; `len` is of the innermost ones.
        nested = isinstance(getattr(schema.get(inner), "inner", None), pl.List | pl.Struct)
        return None if cut is None or nested else (f"len({cut})", "integer")
    name = tree.get("Column")
    if not isinstance(name, str) or (cut := column_cut(name)) is None:
        return None
    dtype = schema.get(name)
    if dtype is None:
        return None
    if dtype.is_integer():
        return cut, "integer"
    kinds: dict[Any, Kind] = {pl.Float32: "float32", pl.Float64: "float64", pl.Boolean: "bool"}
    kind = kinds.get(dtype)
    return None if kind is None else (cut, kind)


def _value(tree: Any) -> object:
    """Return the number of a literal; `None` for everything else."""
    literal = tree.get("Literal") if isinstance(tree, dict) else None
    if not isinstance(literal, dict):
        return None
    for key in ("Dyn", "Scalar"):
        if isinstance(literal.get(key), dict):
            (value,) = literal[key].values()
            return value if isinstance(value, int | float) else None
    return None
