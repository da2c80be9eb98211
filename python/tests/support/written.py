"""Writes files by uproot for several tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot

BASKETS, BASKET_ENTRIES = 5, 20_000
"""Numbers of baskets of each branch of `write_baskets`, and of entries of a basket."""


def write_both(path: Path, arrays: Mapping[str, Any], level: int) -> Path:
    """Write arrays as ``tree`` and as ``ntuple``, compressed by zstd."""
    with uproot.recreate(path, compression=uproot.ZSTD(level)) as file:
        tree = {
            name: array.type.content if isinstance(array, ak.Array) else array.dtype
            for name, array in arrays.items()
        }
        file.mktree("tree", tree).extend(arrays)
        file.mkrntuple("ntuple", arrays)
    return path


def write_clusters(path: Path, columns: Mapping[str, Any], entries: int) -> Path:
    """Write arrays of NumPy as ``Events``, with so many entries in each basket."""
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {name: array.dtype for name, array in columns.items()})
        for start in range(0, max(map(len, columns.values())), entries):
            tree.extend({name: each[start : start + entries] for name, each in columns.items()})
    return path


def write_baskets(path: Path) -> Path:
    """Write ``tree`` with the branches ``x0`` to ``x3``, each of several baskets."""
    random = np.random.default_rng(1)
    with uproot.recreate(path) as file:
        tree = file.mktree("tree", {f"x{i}": np.float64 for i in range(4)})
        for _ in range(BASKETS):
            tree.extend({f"x{i}": random.random(BASKET_ENTRIES) for i in range(4)})
    return path
