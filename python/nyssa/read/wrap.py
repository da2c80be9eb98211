"""Datasets: TTrees, RNTuples, and what is made of them. Their columns can be read."""

from __future__ import annotations

from nyssa import _core
from nyssa.files.reopen import Recipe
from nyssa.read.column import Column
from nyssa.read.dataset import Dataset
from nyssa.read.rntuple import AttributeSet, RNTuple
from nyssa.read.ttree import Friend, TTree

__all__ = [
    "AttributeSet",
    "Column",
    "Dataset",
    "Friend",
    "RNTuple",
    "TTree",
    "wrap",
]


def wrap(core: _core.Dataset, recipe: Recipe) -> TTree | RNTuple:
    """Return the Python object of an open dataset. `recipe` opens it again."""
    return (TTree if core.format == "TTree" else RNTuple)(core, recipe)
