"""Makes inputs and outputs of campaigns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import uproot

ENTRIES = 100


def write_tree(path: Path, first: int) -> Path:
    """Let uproot write a TTree with numbers from `first` on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with uproot.recreate(path) as file:
        numbers = np.arange(first, first + ENTRIES)
        tree = file.mktree("Events", {"n": np.int64, "x": np.float64})
        tree.extend({"n": numbers, "x": numbers / 8})
    return path


def numbers_of(path: Path | str) -> list[int]:
    """Return the numbers that uproot reads."""
    found: list[int] = uproot.open(path)["Events"].arrays()["n"].to_list()
    return found


def lines(journal: Path) -> list[dict[str, object]]:
    """Return the records of a journal; the begins of runs are left out."""
    found = map(json.loads, journal.read_text().splitlines())
    return [one for one in found if "run" not in one]
