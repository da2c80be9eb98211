"""Objects of a class with an empty base class are equal in TTrees and RNTuples."""

from __future__ import annotations

from pathlib import Path

import pytest

import nyssa
from support.root import Root

_CLASSES = """
#pragma once
#include <vector>
namespace emptybases {
struct Nothing { virtual ~Nothing() {} };
struct Less : Nothing { virtual ~Less() {} };
struct Point : Less { int x = 0; Nothing inside; };
}
"""

_FILL = """
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TTree.h>
void emptybases_fill(const char *path) {
   using namespace emptybases;
   TFile file(path, "recreate");
   for (int level : {0, 1, 99}) {
      TTree tree(TString::Format("t%d", level), "");
      Point one;
      auto own = &one;
      std::vector<Point> many;
      tree.Branch("one.", &own, 32000, level);
      tree.Branch("many", &many, 32000, level);
      for (int i = 0; i < 7; i++) {
         one.x = i;
         many.resize(i % 3);
         for (auto &point : many) point.x = 10 * i;
         tree.Fill();
      }
      tree.Write();
   }
   auto model = ROOT::RNTupleModel::Create();
   auto one = model->MakeField<Point>("one");
   auto many = model->MakeField<std::vector<Point>>("many");
   auto writer = ROOT::RNTupleWriter::Append(std::move(model), "n", file);
   for (int i = 0; i < 7; i++) {
      one->x = i;
      many->resize(i % 3);
      for (auto &point : *many) point.x = 10 * i;
      writer->Fill();
   }
}
"""


@pytest.fixture(scope="module")
def path(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of ROOT with objects in TTrees of several split levels and in an RNTuple."""
    folder = tmp_path_factory.mktemp("emptybases")
    header, path = folder / "emptybases.hxx", folder / "root.root"
    header.write_text(_CLASSES)
    types = [f"emptybases::{name}" for name in ("Nothing", "Less", "Point")]
    root.call("dictionaries", [*types, "std::vector<emptybases::Point>"], [str(header)])
    root.call("cpp", _FILL, f'emptybases_fill("{path}")')
    return path


@pytest.mark.parametrize("level", [0, 1, 99])
def test_trees_and_rntuples_agree(path: Path, level: int, tmp_path: Path) -> None:
    """The columns of a TTree have the members that ROOT's fields have, also there and back."""
    tree, ntuple = nyssa.open(f"{path}:t{level}"), nyssa.open(f"{path}:n")
    for branch, field in (("one.", "one"), ("many", "many")):
        ours, roots = tree[branch].array(), ntuple[field].array()
        assert ours.to_list() == roots.to_list()
    assert ours.type == roots.type
    there, back = tmp_path / "there.root", tmp_path / "back.root"
    nyssa.convert(f"{path}:t{level}", there, verify=True)
    assert nyssa.diff(f"{path}:t{level}", f"{there}:t{level}").equal
    nyssa.convert(f"{there}:t{level}", back, to="ttree", verify=True)
    assert nyssa.diff(f"{path}:t{level}", f"{back}:t{level}").equal
    kept = nyssa.open(there)[f"t{level}"]
    assert kept["one"].array().to_list() == ntuple["one"].array().to_list()
