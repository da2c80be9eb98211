"""Writes files, by uproot's names."""

from __future__ import annotations

from nyssa.uproot.writing import identify
from nyssa.uproot.writing.identify import to_writable
from nyssa.uproot.writing.writable import (
    WritableDirectory,
    WritableNTuple,
    WritableTree,
    create,
    recreate,
    update,
)

__all__ = [
    "WritableDirectory",
    "WritableNTuple",
    "WritableTree",
    "create",
    "identify",
    "recreate",
    "to_writable",
    "update",
]
