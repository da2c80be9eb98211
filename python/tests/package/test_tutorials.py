"""The tutorials run, their notebooks have their text, and their results are those of uproot."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

from support.data import REPOSITORY

FOLDER = REPOSITORY / "docs" / "tutorials"
NEEDS = {"with_coffea": "coffea", "from_uproot": "pandas"}

pytest.importorskip("hist", reason="no hist")
sys.path.insert(0, str(FOLDER))
import make  # noqa: E402

sys.path.remove(str(FOLDER))

pytestmark = pytest.mark.filterwarnings("ignore")


def of_uproot(path: Path) -> ak.Array:
    with uproot.open(path) as file:
        return file["Events"].arrays()


def check_first_analysis(names: dict[str, Any], folder: Path) -> None:
    events = of_uproot(folder / "events.root")
    events = events[events.HLT_IsoMu24 & (events.nMuon >= 2)]
    events = events[events.Muon_charge[:, 0] != events.Muon_charge[:, 1]]
    pt, eta, phi = (events[f"Muon_{name}"] for name in ("pt", "eta", "phi"))
    angles = np.cosh(eta[:, 0] - eta[:, 1]) - np.cos(phi[:, 0] - phi[:, 1])
    mass = np.sqrt(2 * pt[:, 0] * pt[:, 1] * angles)
    expected = np.histogram(ak.to_numpy(mass), np.linspace(60, 120, 61))[0]
    assert names["histogram"].values().tolist() == expected.tolist()
    with uproot.open(folder / "histograms.root") as file:
        assert file["z/mass"].values().tolist() == expected.tolist()
    skim = of_uproot(folder / "skim.root")
    ht = ak.sum(events.Jet_pt[events.Jet_pt > 30], axis=1)
    assert skim.ht.to_list() == pytest.approx(ht.to_list(), rel=1e-6)
    kept = [name for name in skim.fields if name != "ht"]
    assert ak.array_equal(skim[kept], events[kept])
    runs = ak.concatenate([of_uproot(folder / f"run{number}.root") for number in range(3)])
    central = ak.flatten(runs.Jet_pt[abs(runs.Jet_eta) < 2.4])
    expected = np.histogram(ak.to_numpy(central), np.linspace(0, 150, 51))[0]
    assert names["jets"].values().sum() == expected.sum()


def check_from_uproot(names: dict[str, Any], folder: Path) -> None:
    events = of_uproot(folder / "events.root")
    assert ak.array_equal(names["new"].arrays(), events)
    assert ak.array_equal(names["ours"].MET_pt, names["theirs"].MET_pt)
    assert names["sizes"] == [4_000, 4_000, 4_000]


def check_from_rdataframe(names: dict[str, Any], folder: Path) -> None:
    events = of_uproot(folder / "events.root")
    ht = ak.sum(events.Jet_pt[(abs(events.Jet_eta) < 2.4) & (events.Jet_pt > 30)], axis=1)
    assert ak.to_numpy(names["arrays"].ht) == pytest.approx(ak.to_numpy(ht[ht > 100]), rel=1e-6)
    two = events.nMuon >= 2
    skim = of_uproot(folder / "skim.root")
    assert sorted(skim.fields) == ["MET_pt", "Muon_pt", "ht", "nMuon"]
    assert skim.ht.to_list() == pytest.approx(ht[two].to_list(), rel=1e-6)
    assert names["made"]["ht"].sum(flow=True) == ak.sum(two)
    assert sum(names["counts"]) == ak.sum(events.nJet)


def check_machine_learning(names: dict[str, Any], folder: Path) -> None:
    events = of_uproot(folder / "events.root")
    events = events[events.nJet >= 1]
    columns = [events.MET_pt, ak.sum(events.Jet_pt, axis=1), events.nJet]
    columns += [ak.sum(events.Jet_btag > np.float32(0.7), axis=1), events.Jet_pt[:, 0]]
    expected = np.stack([ak.to_numpy(column) for column in columns], axis=1)
    assert names["rows"] == pytest.approx(expected, rel=1e-6)
    assert names["accuracy"] > 0.95


def check_with_coffea(names: dict[str, Any], folder: Path) -> None:
    events = ak.concatenate([of_uproot(folder / f"run{number}.root") for number in range(3)])
    two = events[events.nMuon >= 2]
    opposite = ak.sum(two.Muon_charge[:, 0] != two.Muon_charge[:, 1])
    assert names["found"]["events"] == len(events)
    assert names["found"]["mass"].sum(flow=True) == opposite
    assert names["pair"].mass[0] == pytest.approx(90, abs=10)


@pytest.mark.parametrize("name", make.TUTORIALS)
def test_a_tutorial_runs_and_its_notebook_has_its_cells(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"no {NEEDS[name]}")
    cells, names = make.run(name, tmp_path)
    globals()[f"check_{name}"](names, tmp_path)
    notebook = json.loads((FOLDER / f"{name}.ipynb").read_text())
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]]
    expected = [(cell.kind, cell.source) for cell in cells]
    assert found == expected, f"run: python docs/tutorials/make.py {name}"
