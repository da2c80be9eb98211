"""Data without columns: they are refused, or make an RNTuple or a TTree without columns."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
import nyssa.uproot
from nyssa import errors
from support.root import Root


def test_nothing_is_added(tmp_path: Path) -> None:
    """Fields, branches and entries that are no data are refused, and the file can be completed."""
    path = tmp_path / "file.root"
    with nyssa.recreate(path) as file:
        ntuple = file.mkrntuple("ntuple", {"x": "float64"})
        tree = file.mktree("tree", {"x": "float64"})
        for nothing in ({}, ak.Array([{}])[:0]):
            with pytest.raises(errors.ArgumentError, match="add_fields needs a field at least"):
                ntuple.add_fields(nothing)
            with pytest.raises(errors.ArgumentError, match="add_branches needs a branch at least"):
                tree.add_branches(nothing)
            with pytest.raises(errors.ArgumentError, match="missing"):
                ntuple.extend(nothing)
            with pytest.raises(errors.ArgumentError, match="missing"):
                tree.extend(nothing)
        ntuple.extend({"x": np.arange(3.0)})
        tree.extend({"x": np.arange(3.0)})
    with nyssa.update(path) as file:
        with pytest.raises(errors.ArgumentError, match="add_fields needs a field at least"):
            file["ntuple"].add_fields({})
        with pytest.raises(errors.ArgumentError, match="add_branches needs a branch at least"):
            file["tree"].add_branches({})
    for name in ("ntuple", "tree"):
        assert uproot.open(path)[name].arrays()["x"].to_list() == [0, 1, 2]


def test_without_columns(tmp_path: Path, root: Root) -> None:
    """ROOT reads an RNTuple and a TTree without columns, and they take columns and entries."""
    path = tmp_path / "file.root"
    with nyssa.recreate(path) as file:
        for name in ("empty", "ntuple"):
            ntuple = file.mkrntuple(name, {})
        for name in ("empty_tree", "tree"):
            tree = file.mktree(name, {})
        with pytest.raises(errors.ArgumentError, match="'ntuple' has no fields: add fields first"):
            ntuple.extend({})
        with pytest.raises(errors.ArgumentError, match="'tree' has no branches: add branches"):
            tree.extend({})
        ntuple.add_fields({"x": "float64"})
        ntuple.extend({"x": np.arange(3.0)})
        tree.add_branches({"x": np.empty(0)})
        tree.extend({"x": np.arange(3.0)})
    assert root.call("entries", str(path), "empty") == []
    assert root.call("entries", str(path), "ntuple") == [{"x": 0}, {"x": 1}, {"x": 2}]
    assert root.call("tree_values", str(path), "tree", ["x"])["x"] == [0, 1, 2]
    found = uproot.open(path)
    assert (found["empty"].num_entries, found["empty_tree"].num_entries) == (0, 0)
    assert found["empty_tree"].keys() == []
    assert nyssa.verify(path).problems == []


def test_as_in_uproot(tmp_path: Path) -> None:
    """Where uproot does nothing, `nyssa.uproot` does nothing."""
    for module in (uproot, nyssa.uproot):
        with module.recreate(tmp_path / "file.root") as file:
            file.mktree("tree", {"x": "f8"}).add_branches({})
            file.mkrntuple("ntuple", {"x": "f8"}).add_fields({})
        assert uproot.open(tmp_path / "file.root")["tree"].keys() == ["x"]
