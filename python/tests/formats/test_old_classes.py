"""Class versions from before streamer info existed, which ROOT still reads with special code."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_known_classes import hidden

import nyssa
from support.root import Root
from support.root_leaves import DUMP, leaves, leaves_of_root

CODE = (Path(__file__).parent / "old_classes.cxx").read_text()


@pytest.fixture(scope="module")
def writer(root: Root) -> Root:
    """Return ROOT with the functions that write old versions."""
    root.call("cpp", CODE + DUMP, "")
    return root


def test_histograms(writer: Root, tmp_path: Path) -> None:
    """The versions 1 and 2 of `TH1` are read, with `TAxis` 1 to 5 and `TAttAxis` 1 to 3."""
    source = tmp_path / "source.root"
    writer.call("cpp", "", f'nyssa_old::histograms("{source}")')
    path = hidden(source, tmp_path / "old.root")
    theirs = writer.call("histograms", str(path))
    file = nyssa.open(path)
    assert len(file.keys()) == len(theirs) == 14
    for name, expected in theirs.items():
        ours = file[name]
        assert ours.values(flow=True).ravel(order="F").tolist() == expected["contents"].tolist()
        np.testing.assert_allclose(
            ours.errors(flow=True).ravel(order="F"), expected["errors"], rtol=1e-15
        )
        for axis, edges in zip("xyz", expected["edges"], strict=False):
            assert ours.axis(axis).edges().tolist() == edges.tolist(), name
        assert ours.member("fMaximum") == 77
        assert ours.member("fContour").tolist() == [0, 1.5]
        assert ours.member("fBarWidth") == 900
    one = file["one15"]
    assert one.member("fTsumw") == 5.5
    assert one.axis().member("fTimeFormat") == "%H:%M"
    assert file["two"].member("fTsumwxy") == 0.8
    assert file["profile1"].member("fYmax") == 9


@pytest.mark.filterwarnings("ignore")
def test_trees(writer: Root, tmp_path: Path) -> None:
    """The versions 1 to 4 of `TTree` are read, with `TBranch` 1 to 9, and `TNtuple` 1."""
    source = tmp_path / "source.root"
    writer.call("cpp", "", f'nyssa_old::trees("{source}")')
    path = hidden(source, tmp_path / "old.root")
    file = nyssa.open(path)
    names = [f"t{tree}{branch}" for tree in range(1, 5) for branch in range(1, 10)]
    assert sorted(file.keys(cycle=False)) == sorted([*names, "ntuple", "t"])
    expected = nyssa.open(source)["t"].arrays().tolist()
    assert expected[7] == {"a": 7, "b": -7, "n": 2, "values": [7, 7.25]}
    for name in [*names, "ntuple", "t"]:
        tree = file[name]
        assert tree.arrays().tolist() == expected, name
        theirs = leaves_of_root(writer, path, name)
        assert [[leaves(value) for value in entry.values()] for entry in expected] == theirs, name


def test_split_arrays_of_objects(writer: Root, tmp_path: Path) -> None:
    """A `TBranchClones` is read, although no streamer info describes its layout."""
    path = tmp_path / "split.root"
    writer.call("cpp", "", f'nyssa_old::split("{path}")')
    for name in ("now", "once"):
        tree = nyssa.open(path)[name]
        below = ["vec_", "vec.fX", "vec.fY", "vec.fUniqueID", "vec.fBits"]
        assert tree.keys(recursive=True) == [f"vec/{one}" for one in below]
        assert tree["vec/vec_"].array().tolist() == [entry % 4 for entry in range(50)]
        x, y = tree["vec/vec.fX"].array().tolist(), tree["vec/vec.fY"].array().tolist()
        assert x == [[entry] * (entry % 4) for entry in range(50)]
        assert y == [[0.5 * i for i in range(entry % 4)] for entry in range(50)]
