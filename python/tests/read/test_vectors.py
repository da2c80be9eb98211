"""ROOT's vectors become vectors of the package ``vector``."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

vector = pytest.importorskip("vector")

CODE = """
#include <Math/Point3D.h>
#include <Math/Vector4D.h>
#include <TLorentzVector.h>
#include <TVector2.h>
void write_vectors(const char *path) {
  TFile file(path, "RECREATE"); TTree tree("t", "");
  auto v = new TLorentzVector; auto w = new TVector3; auto two = new TVector2;
  auto p = new ROOT::Math::PtEtaPhiMVector; auto x = new ROOT::Math::XYZPoint;
  tree.Branch("v", &v); tree.Branch("w", &w); tree.Branch("two", &two);
  tree.Branch("p", "ROOT::Math::PtEtaPhiMVector", &p); tree.Branch("x", "ROOT::Math::XYZPoint", &x);
  double pt, mass, eta, sum, mag, mod, r;
  tree.Branch("pt", &pt); tree.Branch("mass", &mass); tree.Branch("eta", &eta);
  tree.Branch("sum", &sum); tree.Branch("mag", &mag);
  tree.Branch("mod", &mod); tree.Branch("r", &r);
  for (int i = 0; i < 5; i++) {
    v->SetPxPyPzE(1 + i, 2, 3, 20); w->SetXYZ(i, 1, 2); two->Set(i, 3.);
    x->SetCoordinates(i, 1, 5);
    p->SetCoordinates(10 + i, 0.5, 1, 0.1 * i);
    pt = v->Pt(); mass = v->M(); eta = v->Eta(); mag = w->Mag(); mod = two->Mod(); r = x->R();
    sum = (*p + ROOT::Math::PxPyPzEVector(v->Px(), v->Py(), v->Pz(), v->E())).M();
    tree.Fill();
  }
  tree.Write();
}
"""


def test_vectors_of_root(tmp_path: Path, root: Root) -> None:
    """Their values are ROOT's."""
    vector.register_awkward()
    root.call("cpp", CODE, f'write_vectors("{tmp_path}/vectors.root")')
    read = nyssa.open(f"{tmp_path}/vectors.root:t").arrays()
    made = nyssa.vectors(read)
    for mine, name in [
        (made.v.pt, "pt"),
        (made.v.mass, "mass"),
        (made.v.eta, "eta"),
        ((made.p + made.v).mass, "sum"),
        (made.w.mag, "mag"),
        (made.two.rho, "mod"),
        (made.x.mag, "r"),
    ]:
        assert mine.to_list() == pytest.approx(read[name].to_list())
    assert np.shares_memory(ak.to_layout(made.v.E).data, ak.to_layout(read.v.fE).data)


def test_in_lists_and_beside_others() -> None:
    one = ak.zip({"fP": ak.zip({"fX": [3.0], "fY": [4.0], "fZ": [0.0]}), "fE": [5.0]})
    array = ak.unflatten(ak.concatenate([one, one]), [0, 2])
    both = ak.zip({"n": [1, 2], "v": array}, depth_limit=1)
    made = nyssa.vectors(both)
    assert made.n.to_list() == [1, 2]
    assert made.v.to_list() == [[], [{"px": 3.0, "py": 4.0, "pz": 0.0, "E": 5.0}] * 2]
    plain = ak.Array([{"fX": 1.0}, {"fX": 2.0}])
    assert nyssa.vectors(plain).type == plain.type


def test_vectors_of_a_tree_have_the_names_of_their_classes(data: Path) -> None:
    """As in uproot; nyssa also has the members of the base class."""
    path = data / "ttree" / "uproot-HZZ-objects.root"
    with uproot.open(path) as file:
        expected = file["events"].arrays(["muonp4", "MET"])
    tree = nyssa.open(f"{path}:events")
    found = tree.arrays(["muonp4", "MET"])
    for name in ("muonp4", "MET"):
        items = [array[name] for array in (found, expected)]
        records = [ak.parameters(ak.flatten(item) if item.ndim > 1 else item) for item in items]
        assert records[0] == records[1] != {}
    assert ak.parameters(ak.flatten(found.muonp4).fP) == {"__record__": "TVector3"}
    [stepped] = tree.iterate(["muonp4"], step_size=tree.num_entries)
    assert stepped.type.content == found[["muonp4"]].type.content
    assert tree.form(["muonp4"]) == found[["muonp4"]].layout.form
    members = found.muonp4.fP.fX, expected.muonp4.fP.fX
    assert ak.array_equal(*members)
    assert tree.arrays(["muonp4"], library="arrow").schema.field("muonp4").metadata is None
