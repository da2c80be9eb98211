"""Trees of odd shapes, written by ROOT, are read and converted to the values that ROOT reads."""

from __future__ import annotations

from pathlib import Path

import pytest
import uproot

import nyssa
from support.data import TESTDATA, tree_values
from support.root_leaves import leaves

UNREADABLE = {
    "a branch that is never filled": {"d": "it has 0 of the 30 entries of the tree"},
    "a branch that ends early": {"d": "it has 12 of the 30 entries of the tree"},
    "a branch from midway on": {"d": "it has 20 of the 50 entries of the tree"},
}
SHAPES = sorted(path.stem for path in (TESTDATA / "ttree" / "shapes").glob("*.root"))


def test_there_are_all_shapes() -> None:
    assert len(SHAPES) == 26


@pytest.mark.parametrize("shape", SHAPES)
def test_trees_of_odd_shapes(shape: str, tmp_path: Path) -> None:
    path, output = TESTDATA / "ttree" / "shapes" / f"{shape}.root", tmp_path / "n.root"
    tree = nyssa.open(path)["t"]
    names = [branch.name for branch in uproot.open(path)["t"].branches]
    values = tree_values(f"shapes/{shape}.root", "t")
    theirs = list(zip(*(values[name]["entries"] for name in names), strict=True))
    if not names:
        theirs = [()] * 7
    assert tree.num_entries == len(theirs)
    assert tree.keys() == names
    unreadable = UNREADABLE.get(shape.replace("-", " "), {})
    assert tree.unreadable == unreadable
    columns = [names.index(name) for name in tree.readable]
    expected = [[entry[column] for column in columns] for entry in theirs]
    for library in ("ak", "np"):
        arrays = tree.arrays(tree.readable, library=library)
        if library == "ak":
            ours = [[leaves(entry[name]) for name in tree.readable] for entry in arrays.tolist()]
            assert ours == expected
        else:
            assert {len(one) for one in arrays.values()} <= {len(theirs)}

    report = nyssa.convert(f"{path}:t", output, verify=True, skip_unreadable=True)
    assert {one["branch"]: one["reason"] for one in report["skipped"]} == unreadable
    fields = {one["branch"]: one["field"] for one in report["fields"]}
    written = nyssa.open(output)["t"].arrays().tolist()
    assert len(written) == len(theirs)
    for name, column in zip(tree.readable, columns, strict=True):
        if name in fields:
            found = [leaves(entry[fields[name]]) for entry in written]
            assert found == [entry[column] for entry in theirs], name
