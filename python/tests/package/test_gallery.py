"""The examples of the gallery run, have pictures, and compute what uproot and awkward do."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

from support.data import REPOSITORY

FOLDER = REPOSITORY / "docs" / "gallery"
for library in ("hist", "matplotlib", "pandas", "polars"):
    pytest.importorskip(library, reason=f"no {library}")

pytestmark = pytest.mark.filterwarnings("ignore")


def examples(folder: Path) -> dict[str, dict[str, Any]]:
    """Run all examples, and return the variables of each by its picture."""
    spec = importlib.util.spec_from_file_location("gallery_make", FOLDER / "make.py")
    assert spec
    assert spec.loader
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return dict(make.run(folder))


def test_the_examples(tmp_path: Path) -> None:
    found = examples(tmp_path)
    pictures = {path.name: path.stat().st_size for path in FOLDER.glob("*.png")}
    assert len(found) == 20
    assert found.keys() == pictures.keys(), "run: python docs/gallery/make.py"
    assert max(pictures.values()) < 20_000
    events = uproot.open(tmp_path / "events.root")["Events"].arrays()
    expected = ak.to_numpy(
        events.MET_pt[(events.nMuon >= 1) & ak.any(events.Jet_btag > 0.7, axis=1)]
    )
    assert found["cut.png"]["met"].tolist() == expected.tolist()
    good = (events.Jet_pt > 30) & (abs(events.Jet_eta) < 2.4)
    ht = ak.to_numpy(ak.sum(events.Jet_pt[good], axis=1))
    (values,) = found["expression.png"]["columns"].values()
    assert values == pytest.approx(ht[ht > 0], rel=1e-6)
    assert np.median(found["mass.png"]["mass"]) == pytest.approx(91.2, abs=0.2)
    assert (
        len(ak.flatten(found["pairs.png"]["distance"]))
        == ak.sum(events.nJet * (events.nJet - 1)) // 2
    )
    with uproot.open(tmp_path / "plots.root") as file:
        expected, _ = np.histogram(events.MET_pt, np.linspace(0, 160, 41))
        assert file["met"].values().tolist() == expected.tolist()
    assert np.abs(found["precision.png"]["columns"]["low"]).sum() > 0
