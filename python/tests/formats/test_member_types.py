"""Members with rare types of streamer elements are read and converted as ROOT reads them."""

from __future__ import annotations

from pathlib import Path

import pytest

import nyssa
from support.root import Root

CODE = """
#include <Math/Vector4D.h>
#include <TFile.h>
#include <TNamed.h>
#include <TTree.h>
#include <stdexcept>
#include <vector>

enum class Wide : long long { minus = -1, one = 1 };

struct Members {
  std::vector<Wide> wide;
};

struct Held {
  ROOT::Math::PxPyPzE4D<double> *point; //->
  TNamed *named;                        //->
  int n = 7;
  Held() : point(new ROOT::Math::PxPyPzE4D<double>(1, 2, 3, 4)), named(new TNamed("a", "b")) {}
};

void write(const char *path) {
  TFile file(path, "recreate");
  auto tree = new TTree("t", "t");
  Members members;
  members.wide = {Wide::minus, Wide::one};
  Held held;
  tree->Branch("members.", &members, 32000, 0);
  tree->Branch("held.", &held, 32000, 0);
  tree->Fill();
  file.Write();
}

void check(const char *path) {
  TFile file(path);
  Members *members = nullptr;
  auto tree = file.Get<TTree>("t");
  tree->SetBranchAddress("members.", &members);
  tree->GetEntry(0);
  if (members->wide != std::vector<Wide>{Wide::minus, Wide::one})
    throw std::runtime_error("other values");
}
"""
POINT = {"fX": 1.0, "fY": 2.0, "fZ": 3.0, "fT": 4.0}


@pytest.fixture(scope="module")
def written(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that ROOT wrote."""
    path = tmp_path_factory.mktemp("member_types") / "members.root"
    root.call("cpp", CODE, f'write("{path}");')
    return path


def test_enums_over_long_long_are_signed(written: Path, root: Root) -> None:
    root.call("cpp", "", f'check("{written}");')
    members = nyssa.open(written)["t"]["members."].array().to_list()
    assert members == [{"wide": [-1, 1]}]


def test_classes_with_pointers_that_are_never_null_become_records(
    written: Path, root: Root, tmp_path: Path
) -> None:
    output = tmp_path / "out.root"
    nyssa.convert(written, output)
    tuple_ = nyssa.open(output)["t"]
    # ROOT has no RNTuple field for a pointer, so that the class cannot be named.
    assert tuple_["held"].typename == "(untyped record)"
    assert tuple_["held.point"].typename == "ROOT::Math::PxPyPzE4D<double>"
    (held,) = root.call("entries", str(output), "t")
    assert held["held"]["point"] == POINT
    assert held["held"]["named"]["fName"] == "a"
    assert held["held"]["n"] == 7
