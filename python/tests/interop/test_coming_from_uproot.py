"""Both uproot and nyssa behave as docs/uproot.md says."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import hist
import numpy as np
import pytest
import uproot

import nyssa


def test_columns(tmp_path: Path) -> None:
    path = tmp_path / "columns.root"
    with uproot.recreate(path) as file:
        numbers = {"i": np.arange(2, dtype=np.int32), "x": np.arange(2.0)}
        file.mktree("tree", {name: one.dtype for name, one in numbers.items()}).extend(numbers)
        file.mkrntuple("ntuple", {"s": ak.Array([{"x": 1}, {"x": 2}]), "v": [[1.5], []]})
    mine, other = nyssa.open(path), uproot.open(path)
    assert other["ntuple"].keys() == ["s", "s.x", "v"]
    assert mine["ntuple"].keys() == ["s", "v"]
    assert mine["ntuple"].keys(recursive=True) == ["s", "v", "s.x"]
    assert other["ntuple"].arrays(["s.x"]).to_list() == [{"s": {"x": 1}}, {"s": {"x": 2}}]
    assert mine["ntuple"].arrays(["s.x"]).to_list() == [{"s.x": 1}, {"s.x": 2}]
    assert (other["tree"]["i"].typename, mine["tree"]["i"].typename) == ("int32_t", "std::int32_t")
    assert mine["tree"].keys(filter_typename="std::int32_t") == ["i"]
    assert mine["tree"]["x"].array(library="np").tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="positional"):
        mine["tree"]["x"].array("np")  # type: ignore[call-arg]


def test_histograms(tmp_path: Path) -> None:
    weighted = hist.Hist.new.Reg(2, 0, 1).Weight()
    weighted.fill([0.1, 0.1, 0.9], weight=[2, 3, 4])
    labelled = hist.Hist.new.IntCat([10, 12], name="c").Double()
    labelled.fill([10, 12, 12])
    path = tmp_path / "histograms.root"
    with uproot.recreate(path) as file:
        file["weighted"], file["labelled"] = weighted, labelled
    mine, other = nyssa.open(path), uproot.open(path)
    assert other["weighted"].counts().tolist() == [5, 4]
    assert mine["weighted"].counts() == pytest.approx([25 / 13, 1])
    assert mine["weighted"].values().tolist() == other["weighted"].values().tolist()
    axes = [one["labelled"].to_hist().axes[0] for one in (other, mine)]
    assert [type(axis) for axis in axes] == [hist.axis.IntCategory, hist.axis.StrCategory]
    assert list(axes[1]) == ["10", "12"]
