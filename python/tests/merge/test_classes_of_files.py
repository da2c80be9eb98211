"""Tests files that describe different classes: they are read, compared and merged together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nyssa
from support.root import Root

#: An array of objects of some class. Its items have the type of a pointer to `TObject`.
CLONES = r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TTree.h>
#ifndef NYSSA_CLONES
#define NYSSA_CLONES
void nyssa_clones(TString path, bool named, int first) {
   TFile f(path, "RECREATE"); TTree t("t", "");
   auto a = new TClonesArray(named ? "TNamed" : "TObjString", 4);
   t.Branch("a", &a, 1000, 0);
   for (int i = first; i < first + 20; i++) {
      a->Clear("C");
      for (int k = 0; k < i % 3; k++) {
         TString text = Form("%d.%d", i, k);
         if (named) new ((*a)[k]) TNamed(text.Data(), "title");
         else new ((*a)[k]) TObjString(text);
      }
      t.Fill();
   }
   t.Write();
}
std::string nyssa_clones_read(TString path) {
   TFile f(path); auto t = f.Get<TTree>("t"); TClonesArray* a = nullptr; std::string all;
   t->SetBranchAddress("a", &a);
   for (int i = 0; i < t->GetEntries(); i++) {
      t->GetEntry(i);
      for (auto o : *a) all += std::string(o->ClassName()) + " " + o->GetName() + ",";
   }
   return all;
}
#endif
"""


def _texts(arrays: Any) -> list[list[str]]:
    """Return the name of each `TNamed`, and the text of each `TObjString`."""
    lists = [entry["items"] for entry in arrays["a"].to_list()]
    return [[item.get("fName") or item["fString"] for item in items] for items in lists]


@pytest.fixture(scope="module")
def clones(root: Root, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return two files with arrays of objects of different classes."""
    folder = tmp_path_factory.mktemp("clones")
    paths = [folder / "named.root", folder / "strings.root"]
    for number, path in enumerate(paths):
        call = f'nyssa_clones("{path}", {"false" if number else "true"}, {20 * number})'
        root.call("cpp", CLONES, call)
    return paths


def test_arrays_of_objects_of_other_classes(clones: list[Path], tmp_path: Path, root: Root) -> None:
    """A chain, steps, a merge and a comparison know the classes of all files."""
    expected = [[f"{i}.{k}" for k in range(i % 3)] for i in range(40)]
    swapped = expected[20:] + expected[:20]
    assert _texts(nyssa.chain(clones).arrays()) == expected
    assert _texts(nyssa.chain(clones[::-1], schema="union").arrays()) == swapped
    steps = [entry for part in nyssa.iterate(clones, step_size=7) for entry in _texts(part)]
    assert steps == expected
    merged = tmp_path / "merged.root"
    nyssa.merge(clones, merged, verify=True)
    assert _texts(nyssa.open(merged)["t"].arrays()) == expected
    names = [name for entry in expected for name in entry]
    named = [f"{'TNamed' if int(n.split('.')[0]) < 20 else 'TObjString'} {n}," for n in names]
    check = (
        f'if (nyssa_clones_read("{merged}") != "{"".join(named)}") throw std::runtime_error("");'
    )
    root.call("cpp", CLONES, check)
    found = nyssa.diff(f"{clones[0]}:t", f"{merged}:t")
    assert found["entries"] == [20, 40], found
