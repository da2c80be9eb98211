"""Branches of every kind that ROOT wrote have the values that ROOT reads.

The files and ROOT's values are in `testdata`, the classes in `kinds.hxx` there. They are written
unsplit and split into one, two and all levels, containers streamed object by object and member by
member.
"""

from __future__ import annotations

from typing import Any

import pytest

import nyssa
from support.data import TESTDATA, tree_values
from support.root_json import differences

pa = pytest.importorskip("pyarrow")

FOLDER = TESTDATA / "ttree"
SPLITS = [0, 1, 2, 99]
WAYS = [(split, way) for split in SPLITS for way in ("objects", "members")]
TREES = [
    "Numbers",
    "Texts",
    "Counted",
    "CountedObjects",
    "Stl",
    "Deep",
    "Derived",
    "Named",
    "Vector",
    "Leaves",
    "Objects",
    "Root",
    "Pointers",
    "Evolving",
    "Enums",
    "Owners",
    "Histograms",
    "vector_Plain",
    "vector_WithVectors",
    "vector_Derived",
    "list_Plain",
    "vector_Hit",
    "vector_Plain_pointers",
    "map_Plain",
    "map_string",
    "vector_float",
    "vector_bool",
    "vector_string",
    "vector_vector_float",
    "set_int",
    "string",
    "TString",
    "TLorentzVector",
    "Hit",
    "TClonesArray",
    "TClonesArray_whole",
    "TClonesArray_full",
    "TClonesArray_vectors",
]
KINDS = ("many", "roots", "none", "map", "embedded")
BASKETS = [f"{kind}{split}" for kind in KINDS for split in (0, 99)]


def check(name: str, tree: str, of: str = "", ends: int = 0) -> None:
    """Compare all branches of a tree with those that ROOT reads, of the tree `of` if it is given.

    Of trees with more entries these are the first and the last `ends`.
    """
    expected = tree_values(f"{name}.root", of or tree)
    table = pa.table(nyssa.open(FOLDER / f"{name}.root")[tree])
    if ends and len(table) > 2 * ends:
        table = pa.concat_tables([table.slice(0, ends), table.slice(len(table) - ends)])
    assert expected
    wrong: list[tuple[Any, ...]] = []
    for branch, read in expected.items():
        class_name, entries = read["class"], read["entries"]
        ours = table.column(branch.rstrip(".") if branch not in table.column_names else branch)
        for entry, (a, b) in enumerate(zip(ours.to_pylist(), entries, strict=True)):
            if not class_name:
                a, b = leaves(a), leaves(b)
            if tree == "Counted":
                # ROOT's JSON omits arrays of counted pointers; these are the values of `fill`.
                counted = range(entry % 4)
                b["two"] = [[entry for _ in counted], list(counted)]
            if "um" in b:
                # The order of hash containers is arbitrary.
                for hashed in (a, b):
                    hashed["us"].sort()
                    hashed["um"].sort(key=str)
            wrong += differences(a, b, f"{branch}[{entry}]")
    assert wrong == [], f"{len(wrong)} differences: {wrong[:10]}"


def leaves(value: Any) -> list[Any]:
    """Return the values of an entry, one after the other."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(("split", "way"), WAYS)
def test_objects(split: int, way: str, tree: str) -> None:
    """Objects and containers are read, at all split levels and in all ways of streaming."""
    check(f"{way}{split}", tree)


@pytest.mark.parametrize("tree", ["leaves", "ntuple", "ntupled", "deep/er/tree"])
def test_leaves(tree: str) -> None:
    """Branches without classes, with several leaves, and with counted arrays are read."""
    check("leaves", tree)


@pytest.mark.parametrize("tree", BASKETS)
def test_baskets(tree: str) -> None:
    """Objects are read from many baskets, no baskets, baskets in the tree, and with offset maps."""
    # ROOT crashes on its own offset maps of split branches; these have the same values.
    check("baskets", tree, of="embedded99" if tree == "map99" else tree, ends=30)


@pytest.mark.parametrize("tree", ["whole", "split"])
def test_references(tree: str) -> None:
    """A tree with a `TBranchRef` is read."""
    check("references", tree)


def test_copied() -> None:
    """A copy of a tree with some branches keeps the other branches, without entries."""
    file = nyssa.open(FOLDER / "copied.root")
    some, whole = (pa.table(file[name]).column("o").to_pylist() for name in ("some", "all"))
    assert set(some[0]) == set(some[0]) & set(whole[0])
    assert 0 < len(some[0]) < len(whole[0])

    def same(part: Any, of: Any) -> bool:
        if isinstance(part, dict):
            return all(same(value, of[name]) for name, value in part.items())
        if isinstance(part, list):
            return len(part) == len(of) and all(map(same, part, of))
        return bool(part == of)

    assert same(some, whole)


@pytest.mark.parametrize("split", SPLITS)
def test_class_versions(split: int) -> None:
    """A class changes from file to file: each file is read with its own classes."""
    check(f"evolved{split}", "Evolving")
    check(f"objects{split}", "Evolving")


@pytest.mark.parametrize("split", SPLITS)
def test_class_versions_in_one_file(split: int) -> None:
    """Two trees of one file have two versions of a class, with a member of two types."""
    file = nyssa.open(FOLDER / f"both{split}.root")
    for tree, other in (("First", "objects"), ("Second", "evolved")):
        # ROOT would show both with the class of one of its libraries.
        expected = tree_values(f"{other}{split}.root", "Evolving")["o."]["entries"]
        ours = pa.table(file[tree]).column("o.").to_pylist()
        wrong = [differences(a, b) for a, b in zip(ours, expected, strict=True)]
        assert wrong == [[] for _ in ours]
