"""Makes the Python object of an open dataset."""

from __future__ import annotations

from nyssa import _core
from nyssa.files.reopen import Recipe
from nyssa.read.rntuple import RNTuple
from nyssa.read.tables import TableFile
from nyssa.read.ttree import TTree

__all__ = ["wrap"]


def wrap(core: _core.Dataset, recipe: Recipe) -> TTree | RNTuple | TableFile:
    """Return the Python object of an open dataset. `recipe` opens it again."""
    if core.format == "TTree":
        return TTree(core, recipe)
    return RNTuple(core, recipe) if core.format == "RNTuple" else TableFile(core, recipe)
