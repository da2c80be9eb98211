"""Finds test files: those in the repository, and larger ones outside of it."""

from __future__ import annotations

import copy
import functools
import json
import os
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[3]
#: Files that ROOT 6.40 wrote, and the values that it reads from them. They are in every clone.
TESTDATA = REPOSITORY / "testdata"
#: Larger files of many writers and versions. A clone does not contain them.
DATA = Path(os.environ.get("NYSSA_TEST_DATA", REPOSITORY.parent / "shared" / "data"))


def data_files(folder: str, recursive: bool = True) -> list[Path]:
    """Return the ROOT files in a folder of the test data; an empty list when there are no data."""
    return sorted((DATA / folder).glob("**/*.root" if recursive else "*.root"))


@functools.cache
def _values(folder: str) -> list[dict[str, Any]]:
    lines = (TESTDATA / folder / "values.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def tree_values(file: str, tree: str) -> dict[str, dict[str, Any]]:
    """Return the values that ROOT reads from the top-level branches of a tree, by branch.

    That is the `class` and the `entries`, as `dump.hxx` shows them.
    """
    return {
        branch: copy.deepcopy({"class": one["class"], "entries": one["entries"]})
        for one in _values("ttree")
        for of, name, branch in one["at"]
        if (of, name) == (file, tree)
    }


def rntuple_values() -> list[dict[str, Any]]:
    """Return the values that ROOT reads from the RNTuples of the repository, as in `show.hxx`."""
    return _values("rntuple")


def object_values(what: str) -> Any:
    """Return the values that ROOT reads from objects of the repository."""
    [found] = [one[what] for one in _values("objects") if what in one]
    return copy.deepcopy(found)
