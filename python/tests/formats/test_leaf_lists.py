"""Leaf lists of ROOT in conversions and comparisons, with uproot's and ROOT's values."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa

ROOT = pytest.importorskip("ROOT")

CODE = r"""
#include <cstring>
void nyssa_leaf_lists(const char *path, int changed) {
  TFile file(path, "RECREATE");
  TTree tree("t", "t");
  struct {
    double d; Long64_t l; float f; int i; unsigned u; short s; bool o; signed char b;
  } mixed;
  struct { float x[3]; int m[2][2]; } arrays;
  struct { int i; char c[20]; } end;
  struct { int i; char c[20]; int j; } middle;
  struct { int n; float v[4]; } counted;
  tree.Branch("mixed", &mixed, "d/D:l/L:f/F:i/I:u/i:s/S:o/O:b/B", 1000);
  tree.Branch("arrays", &arrays, "x[3]/F:m[2][2]/I", 1000);
  tree.Branch("end", &end, "i/I:c/C", 1000);
  tree.Branch("middle", &middle, "i/I:c[20]/C:j/I", 1000);
  tree.Branch("counted", &counted, "n/I:v[n]/F", 1000);
  for (int k = 0; k < 300; ++k) {
    mixed = {k + 0.1, -k * 1000000007LL, k * 0.5f, -k, 4000000000u + k, short(k), k % 2 == 1,
             (signed char)(k % 100)};
    for (int n = 0; n < 3; ++n) arrays.x[n] = k + n * 0.25f;
    for (int n = 0; n < 4; ++n) arrays.m[n / 2][n % 2] = 10 * k + n;
    if (k == changed) arrays.m[1][0] = -1;
    end.i = k; strcpy(end.c, std::string(k % 7, 'a' + k % 26).c_str());
    middle.i = k; strcpy(middle.c, k % 3 ? "pq" : ""); middle.j = -k;
    counted.n = k % 5;
    for (int n = 0; n < counted.n; ++n) counted.v[n] = k + n * 0.5f;
    tree.Fill();
  }
  tree.Write();
}
"""


@pytest.fixture(scope="module")
def write() -> Any:
    if not hasattr(ROOT, "nyssa_leaf_lists"):
        ROOT.gInterpreter.Declare(CODE)
    return ROOT.nyssa_leaf_lists


@pytest.fixture
def tree(write: Any, tmp_path: Path) -> Path:
    path = tmp_path / "tree.root"
    write(str(path), -1)
    return path


def expected() -> dict[str, list[Any]]:
    """Return what the C++ code has written."""
    every = range(300)
    return {
        "mixed": [
            {
                "d": k + 0.1,
                "l": -k * 1000000007,
                "f": k * 0.5,
                "i": -k,
                "u": 4000000000 + k,
                "s": k,
                "o": k % 2 == 1,
                "b": k % 100,
            }
            for k in every
        ],
        "arrays": [
            {
                "x": [k + n * 0.25 for n in range(3)],
                "m": [[10 * k, 10 * k + 1], [10 * k + 2, 10 * k + 3]],
            }
            for k in every
        ],
        "end": [{"i": k, "c": chr(97 + k % 26) * (k % 7)} for k in every],
        "middle": [{"i": k, "c": "pq" if k % 3 else "", "j": -k} for k in every],
        "counted": [{"n": k % 5, "v": [k + n * 0.5 for n in range(k % 5)]} for k in every],
    }


def lists(arrays: Any) -> dict[str, list[Any]]:
    return {name: arrays[name].to_list() for name in arrays.fields}


def drawn(path: Path, name: str) -> list[float]:
    """Return all numbers of a leaf as ROOT reads them."""
    file = ROOT.TFile(str(path))
    tree = file.Get("t")
    return [tree.GetV1()[k] for k in range(tree.Draw(name, "", "goff"))]


def test_root_and_uproot_read_these_values(tree: Path) -> None:
    assert uproot.open(tree)["t/mixed"].array().to_list() == expected()["mixed"]
    for name in ("mixed.l", "arrays.x", "arrays.m", "counted.v"):
        branch, item = name.split(".")
        values = ak.Array([entry[item] for entry in expected()[branch]])
        assert drawn(tree, name) == ak.flatten(values, axis=None).to_list()


@pytest.mark.parametrize("layout", ["importer", "vectors"])
def test_conversions_keep_leaf_lists(tree: Path, tmp_path: Path, layout: str) -> None:
    out = tmp_path / "out.root"
    options = {"layout": layout, "verify": True, "cluster_size": "4 kB"}
    assert lists(nyssa.open(f"{tree}:t").arrays()) == expected()
    report = nyssa.convert(tree, out, **options)
    assert report["skipped"] == []
    assert lists(nyssa.open(out)["t"].arrays(list(expected()))) == expected()
    assert lists(uproot.open(out)["t"].arrays(list(expected()))) == expected()
    assert nyssa.digest(out, compare=report)["equal"]
    assert nyssa.digest(tree, compare=report)["equal"]
    assert nyssa.diff(tree, out).equal


def test_leaf_lists_come_back_as_trees(tree: Path, tmp_path: Path) -> None:
    """What a tree can hold as a leaf list is written as one, and uproot and ROOT read it."""
    ntuple, back = tmp_path / "ntuple.root", tmp_path / "back.root"
    nyssa.convert(tree, ntuple, include=["mixed"])
    nyssa.convert(ntuple, back, to="ttree", leaf_lists=["mixed"], verify=True)
    assert uproot.open(back)["t/mixed"].array().to_list() == expected()["mixed"]
    file = ROOT.TFile(str(back))
    assert file.Get("t").GetBranch("mixed").GetTitle() == "d/D:l/L:f/F:i/I:u/i:s/S:o/O:b/B"
    assert drawn(back, "mixed.l") == [entry["l"] for entry in expected()["mixed"]]
    assert nyssa.diff(f"{tree}:t", f"{back}:t", filter_name="mixed").equal


def test_a_value_that_differs_is_named(write: Any, tree: Path, tmp_path: Path) -> None:
    """A comparison names the branch and the entry, and shows both values."""
    other, out = tmp_path / "other.root", tmp_path / "out.root"
    write(str(other), 123)
    nyssa.convert(other, out)
    for second in (other, out):
        report = nyssa.diff(tree, second)
        assert not report.equal
        (column,) = report.different
        assert (column.name, column.different_entries) == ("arrays", 1)
        assert column.first is not None
        assert column.first.entry == 123
        assert column.first.a.replace("1232", "-1") == column.first.b
    call = [sys.executable, "-m", "nyssa", "diff", str(tree), str(out)]
    shown = subprocess.run(call, capture_output=True, text=True)
    assert shown.returncode == 1
    assert "arrays" in shown.stdout
