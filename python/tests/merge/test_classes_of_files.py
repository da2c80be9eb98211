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


#: RNTuples with classes in columns. ROOT describes their members with the comments of the program.
COLUMNS = r"""
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TFile.h>
#include <TStreamerElement.h>
#include <TStreamerInfo.h>
#include <fstream>
#ifndef NYSSA_COLUMNS
#define NYSSA_COLUMNS
struct NyssaFirst {
   float x; ///< is in both files
};
struct NyssaSecond {
   int y; ///< is in one of the files
   int none; ///<! is not stored
};
void nyssa_columns(const char *path, bool both) {
   auto model = ROOT::RNTupleModel::Create();
   model->AddField(ROOT::RFieldBase::Create("a", "NyssaFirst").Unwrap());
   if (both) model->AddField(ROOT::RFieldBase::Create("b", "NyssaSecond").Unwrap());
   ROOT::RNTupleWriter::Recreate(std::move(model), "n", path)->Fill();
}
void nyssa_described(const char *path, const char *to) {
   TFile f(path); std::ofstream out(to);
   for (auto item : *f.GetStreamerInfoList()) {
      auto info = dynamic_cast<TStreamerInfo *>(item);
      if (!info || !TString(info->GetName()).BeginsWith("Nyssa")) continue;
      out << info->GetName() << " " << info->GetCheckSum();
      for (auto member : *info->GetElements())
         out << " " << member->GetName() << ": " << member->GetTitle();
      out << "\n";
   }
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
    assert (found.entries_a, found.entries_b, found.different) == (20, 40, []), found


@pytest.mark.parametrize("swapped", [False, True])
def test_classes_of_columns(swapped: bool, tmp_path: Path, root: Root) -> None:
    """The streamer infos of a class come from the file that has it."""
    paths = [tmp_path / "one.root", tmp_path / "both.root"]
    for path in paths:
        both = "true" if path.stem == "both" else "false"
        root.call("cpp", COLUMNS, f'nyssa_columns("{path}", {both})')
    merged, text = tmp_path / "merged.root", tmp_path / "infos"
    nyssa.merge(paths[::-1] if swapped else paths, merged, "union")
    described = []
    for path in (paths[1], merged):
        root.call("cpp", COLUMNS, f'nyssa_described("{path}", "{text}")')
        described.append(sorted(text.read_text().splitlines()))
    assert described[1] == described[0]
    assert [" y: is in one of the files" in line for line in described[1]] == [False, True]
