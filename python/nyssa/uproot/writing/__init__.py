"""Writes files, by uproot's names."""

from __future__ import annotations

from nyssa.uproot.writing import identify
from nyssa.uproot.writing.identify import to_writable
from nyssa.uproot.writing.writable import (
    WritableDirectory,
    WritableFile,
    create,
    recreate,
    update,
)
from nyssa.uproot.writing.writers import WritableBranch, WritableNTuple, WritableTree

__all__ = [
    "WritableBranch",
    "WritableDirectory",
    "WritableFile",
    "WritableNTuple",
    "WritableTree",
    "create",
    "identify",
    "recreate",
    "to_writable",
    "update",
]
