"""Selects columns and entries as a dataset. Expected values come from uproot."""

from __future__ import annotations

import pickle
from pathlib import Path

import awkward as ak
import pytest
import uproot

import nyssa


def test_columns_and_entries(nano: Path) -> None:
    theirs = uproot.open(nano)["Events"].arrays(["nJet", "Jet_pt", "MET_pt"])
    theirs = theirs[theirs.nJet > 4]
    events = nyssa.open(f"{nano}:Events")
    view = events.select(["Jet_pt", "MET_pt", "len(Jet_pt)"], "nJet > 4")
    assert list(view) == ["Jet_pt", "MET_pt", "len(Jet_pt)"]
    assert view.num_entries == len(theirs)
    arrays = view.arrays()
    assert arrays["Jet_pt"].to_list() == theirs["Jet_pt"].to_list()
    assert arrays["len(Jet_pt)"].to_list() == theirs["nJet"].to_list()
    steps = [step["MET_pt"] for step in view.iterate(step_size=7)]
    assert ak.concatenate(steps).to_list() == theirs["MET_pt"].to_list()
    assert "nJet" not in view
    with pytest.raises(nyssa.NotFoundError):
        view.arrays("nJet")
    again = pickle.loads(pickle.dumps(view))
    assert again.arrays()["Jet_pt"].to_list() == theirs["Jet_pt"].to_list()
    narrow = view.select("MET_pt", "MET_pt > 50")
    assert narrow.num_entries == ak.sum(theirs["MET_pt"] > 50)


def test_only_the_columns_are_read(nano: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    events = nyssa.open(f"{nano}:Events")
    before = events.io_stats()
    view = events.select(["MET_pt", "MET_phi"])
    assert events.io_stats().bytes_read == before.bytes_read
    table = pa.table(view)
    after = events.io_stats()
    assert table.column_names == ["MET_pt", "MET_phi"]
    read = after.bytes_read + after.bytes_readv - before.bytes_read - before.bytes_readv
    size = sum(events[name].compressed_bytes for name in view)
    assert size <= read <= size + 400


def test_columns_below_the_top(nano: Path, tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "records.root") as file:
        file["Events"] = {"jets": ak.Array([[{"pt": 1.0, "eta": 2.0}], []]), "n": [1, 0]}
    events = nyssa.open(f"{tmp_path / 'records.root'}:Events")
    view = events.select("jets.pt")
    assert view.keys() == ["jets.pt"]
    assert view["jets.pt"].array().to_list() == [[1.0], []]
    whole = events.select("jets", "n > 0")
    assert whole.arrays("jets.eta")["jets.eta"].to_list() == [[2.0]]
    joined = nyssa.join(view, events.select("n"))
    assert joined.keys() == ["jets.pt", "n"]
    assert nyssa.open(f"{nano}:Events").select(filter_name="MET_p*").keys() == [
        name for name in uproot.open(nano)["Events"].keys() if name.startswith("MET_p")
    ]
