"""Branches that only some versions of ROOT or some experiments wrote have the values of ROOT.

ROOT reads them without the libraries of their classes. Everything else in these files, and in all
others, is compared when ``tables/ttrees.md`` is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import nyssa
from support.data import data_files
from support.root_json import differences
from support.tree_reads import Reader
from support.trees import read_nyssa

pytest.importorskip("ROOT")

FILES = {path.name: path for path in data_files("ttree")}
#: File, tree, top-level branch.
BRANCHES = {
    "pointers without tags": ("io__vararyobj__varyingArray_51508.root", "t1", "A."),
    "objects without headers": ("io__evolution__skim.root", "rootTree", "Jpsi"),
    "items of an enum": (
        "tree__addresses__data__S_1_1004_qgsjet_100_1.KGrec.root",
        "recData",
        "event.",
    ),
    "bits with their process": ("treeformula__parse__mksm.root", "mk", "event"),
    "items without members": ("uproot-issue-951.root", "MetaData", "CutBookkeepers"),
}
#: A split map, which ROOT without a library leaves filled with zeros.
ZEROS = "fSDFDTimeOffset"
ENTRIES = 20
"""The number of entries that are compared at the start, and at the end."""


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    """Return a ROOT that is ready to read."""
    one = Reader()
    yield one
    one.close()


@pytest.mark.parametrize("what", BRANCHES)
def test_odd_branches_equal_root(what: str, reader: Reader, tmp_path: Path) -> None:
    file, tree, branch = BRANCHES[what]
    if file not in FILES:
        pytest.skip(f"no {file} in the test data; set NYSSA_TEST_DATA")
    theirs = reader.read(FILES[file], [tree], tmp_path / "read.jsonl", ENTRIES)[tree, branch]
    ours = read_nyssa(nyssa.open(FILES[file])[tree], branch, ENTRIES)
    assert len(ours) == len(theirs["entries"]) > 0
    found = differences(ours, theirs["entries"])
    assert [one for one in found if ZEROS not in one[0]] == []


def test_a_branch_of_a_clones_array_says_so() -> None:
    file = "io__evolution__skim.root"
    if file not in FILES:
        pytest.skip(f"no {file} in the test data; set NYSSA_TEST_DATA")
    assert nyssa.open(FILES[file])["rootTree"]["Jpsi"].typename == "TClonesArray"
