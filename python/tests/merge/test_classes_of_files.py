"""Tests files that describe different classes: they are read, compared and merged together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import nyssa
from nyssa import errors
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


#: Members of a class without ``ClassDef`` in two programs: its objects state a checksum.
_LAYOUTS = [{"x": "int", "v": "std::vector<short>"}, {"x": "double", "v": "std::vector<float>"}]


def _write_layouts(folder: Path) -> list[Path]:
    """Write two files that describe one version of a class with other numbers."""
    paths = [folder / f"layout{number}.root" for number in range(2)]
    for path, members, first in zip(paths, _LAYOUTS, (0, 10), strict=True):
        classes = {"NyHit": members, "NyOwner": {"hit": "NyHit*", "after": "int"}}
        rows = [
            {"hit": None if i % 4 == 3 else {"x": i, "v": [i, i + 1]}, "after": i}
            for i in range(first, first + 4)
        ]
        with nyssa.recreate(path) as file:
            for name, level in (("whole", 0), ("split", 99)):
                tree = file.mktree(name, {"o.": "NyOwner"}, classes=classes, split_level=level)
                tree.extend({"o.": rows})
    return paths


@pytest.mark.parametrize("swapped", [False, True])
def test_two_layouts_of_one_version(swapped: bool, tmp_path: Path, root: Root) -> None:
    """What ``hadd`` makes of such files is read as ROOT reads it, by the checksums of objects."""
    paths, merged = _write_layouts(tmp_path), str(tmp_path / "hadd.root")
    paths = paths[::-1] if swapped else paths
    # A process of ROOT that has read one of the layouts before may read the other one by it.
    root.call("version")
    process = Root()
    assert process.call("hadd", merged, [str(path) for path in paths], 505)
    process.close()
    numbers = [*range(4), *range(10, 14)]
    numbers = numbers[4:] + numbers[:4] if swapped else numbers
    expected = [None if i % 4 == 3 else {"x": i, "v": [i, i + 1]} for i in numbers]
    for name in ("whole", "split"):
        owners = nyssa.open(f"{merged}:{name}")["o."].array()
        assert owners["hit"].to_list() == expected
        assert owners["after"].to_list() == numbers
        assert str(owners["hit"]["x"].type) == "8 * ?float64"
    assert nyssa.verify(merged).problems == []
    chain = nyssa.chain([f"{path}:split" for path in paths], schema="union").arrays()
    assert chain["o."]["hit"].to_list() == expected
    # A merge does not know which objects state a checksum. The inputs are read as a chain.
    with pytest.raises(errors.UnsupportedError, match=r"version 1 of class NyHit.*nyssa\.chain"):
        nyssa.merge(paths, tmp_path / "merged.root")


def test_two_layouts_behind_a_pointer_to_a_base_class(tmp_path: Path) -> None:
    """Objects of a derived class may be behind a pointer to its base class."""
    paths = [tmp_path / f"{number}.root" for number in range(2)]
    for path, number in zip(paths, ("int", "double"), strict=True):
        classes = {
            "NyBase": {"a": "int"},
            "NyDerived": {":bases": ["NyBase"], "x": number},
            "NyOwner": {"base": "NyBase*"},
        }
        with nyssa.recreate(path) as file:
            tree = file.mktree("t", {"o.": "NyOwner"}, classes=classes, split_level=0)
            tree.extend({"o.": [{"base": {"a": 1, "x": 2}}]})
    with pytest.raises(errors.UnsupportedError, match="version 1 of class NyDerived"):
        nyssa.merge(paths, tmp_path / "merged.root")
