"""Makes the Python object of an open dataset."""

from __future__ import annotations

from nyssa import _core
from nyssa.files.reopen import Recipe
from nyssa.read.rntuple import RNTuple
from nyssa.read.ttree import TTree

__all__ = ["wrap"]


def wrap(core: _core.Dataset, recipe: Recipe) -> TTree | RNTuple:
    """Return the Python object of an open dataset. `recipe` opens it again."""
    return (TTree if core.format == "TTree" else RNTuple)(core, recipe)
