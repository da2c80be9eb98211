"""Entries that `update` adds to TTrees of classes, by the streamer infos of the file."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root
from write.test_tree_classes import CLASSES, COLUMNS, HEADER, entries

LEVELS = [0, 1, 2, 99]
OLD, NEW = 25, 15

# ROOT adds its own copy of the new entries, or entries after the entries of nyssa.
_APPEND = r"""
void updated_append(const char *path, const char *name, const char *from, int first, int last) {
   using namespace treeclasses;
   TFile source(from);
   auto more = source.Get<TTree>(name);
   TFile target(path, "UPDATE");
   auto tree = target.Get<TTree>(name);
   Jet *jet = nullptr, *dot = nullptr;
   std::vector<Jet> *jets = nullptr;
   std::vector<Point> *points = nullptr;
   for (auto one : {more, tree}) {
      one->SetBranchAddress("jet", &jet);
      one->SetBranchAddress("dot.", &dot);
      one->SetBranchAddress("jets", &jets);
      one->SetBranchAddress("points", &points);
   }
   for (int i = first; i < last; i++) {
      if (more->GetEntry(i) <= 0) throw std::runtime_error("an entry cannot be read");
      tree->Fill();
   }
   target.cd();
   tree->Write("", TObject::kOverwrite);
   tree->ResetBranchAddresses();
   more->ResetBranchAddresses();
}
void updated_copy(const char *path, const char *from) {
   TFile target(path, "RECREATE");
   for (int level : {0, 1, 2, 99}) {
      using namespace treeclasses;
      auto name = TString::Format("t%d", level);
      TFile source(from);
      auto more = source.Get<TTree>(name);
      Jet *jet = nullptr, *dot = nullptr;
      std::vector<Jet> *jets = nullptr;
      std::vector<Point> *points = nullptr;
      more->SetBranchAddress("jet", &jet);
      more->SetBranchAddress("dot.", &dot);
      more->SetBranchAddress("jets", &jets);
      more->SetBranchAddress("points", &points);
      target.cd();
      TTree tree(name, "");
      tree.SetAutoFlush(10);
      tree.Branch("jet", &jet, 32000, level);
      tree.Branch("dot.", &dot, 32000, level);
      tree.Branch("jets", &jets, 32000, level);
      tree.Branch("points", &points, 32000, level);
      for (int i = 0; i < 25; i++) { more->GetEntry(i); tree.Fill(); }
      tree.Write();
      more->ResetBranchAddresses();
   }
}
"""


@pytest.fixture(scope="module")
def source(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with the trees of all levels, in which nyssa wrote old and new entries."""
    folder = tmp_path_factory.mktemp("classes")
    ours = folder / "all.root"
    with nyssa.recreate(ours) as file:
        for level in LEVELS:
            tree = file.mktree(f"t{level}", COLUMNS, classes=CLASSES, split_level=level)
            tree.extend(entries(0, OLD + NEW))
    names = [*CLASSES, *(COLUMNS[one] for one in ("jets", "points"))]
    names += ["std::vector<treeclasses::Hit>", "std::vector<std::vector<treeclasses::Hit>>"]
    names += ["std::vector<std::vector<int>>", "std::map<int,float>", "std::set<int>"]
    names += ["std::vector<std::map<int,float>>", "std::vector<std::vector<std::pair<int,float>>>"]
    root.call("dictionaries", names, [str(HEADER)])
    root.call("cpp", _APPEND, "")
    return ours


@pytest.fixture(scope="module")
def of_root(root: Root, source: Path) -> Path:
    """Return a file whose trees ROOT wrote."""
    path = source.with_name("root.root")
    root.call("cpp", "", f'updated_copy("{path}", "{source}")')
    return path


@pytest.fixture(scope="module")
def of_nyssa(source: Path) -> Path:
    """Return a file whose trees nyssa wrote."""
    path = source.with_name("nyssa.root")
    with nyssa.recreate(path) as file:
        for level in LEVELS:
            tree = file.mktree(
                f"t{level}", COLUMNS, classes=CLASSES, split_level=level, auto_flush=10
            )
            tree.extend(entries(0, OLD))
    return path


def values(root: Root, path: str, level: int) -> dict[str, list[float]]:
    """Return what ROOT draws of some members, with the dictionaries."""
    names = ["jets.pt", "jets.v", "jets.hits.id", "points.x", "dot..u64", "jets.mat"]
    if level:
        names += ["points.deep.d", "jets.b"]
    return {name: root.call("drawn", path, f"t{level}", name) for name in names}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("writer", ["root", "nyssa"])
def test_entries_follow_those_of_the_file(
    tmp_path: Path,
    root: Root,
    request: pytest.FixtureRequest,
    source: Path,
    writer: str,
    level: int,
) -> None:
    name = f"t{level}"
    base = request.getfixturevalue("of_root" if writer == "root" else "of_nyssa")
    path, theirs = (str(shutil.copy(base, tmp_path / one)) for one in ("ours.root", "theirs.root"))
    before = Path(path).read_bytes()
    data = entries(OLD, OLD + NEW)
    with nyssa.update(path) as file:
        tree = file[name]
        tree.extend({one: rows[:4] for one, rows in data.items()})
        tree.extend({one: rows[4:] for one, rows in data.items()})
    assert Path(path).read_bytes()[1000 : len(before)] == before[1000:]
    expected = entries(0, OLD + NEW)
    found = nyssa.open(f"{path}:{name}").arrays(list(COLUMNS))
    assert {one: found[one].to_list() for one in COLUMNS} == expected
    # ROOT reads each object with its dictionary, and writes what nyssa wrote.
    root.call("cpp", "", f'updated_append("{theirs}", "{name}", "{path}", {OLD}, {OLD + NEW})')
    again = nyssa.open(f"{theirs}:{name}").arrays(list(COLUMNS))
    assert {one: again[one].to_list() for one in COLUMNS} == expected
    assert values(root, path, level) == values(root, theirs, level)
    assert values(root, path, level)["jets.pt"] == [
        one["pt"] for row in expected["jets"] for one in row
    ]
    with uproot.open(path) as ours, uproot.open(theirs) as roots:
        mine, its = ours[name], roots[name]
        if level:
            for one in ("jets/jets.pt", "jets/jets.v", "jets/jets.s"):
                assert mine[one].array().to_list() == its[one].array().to_list()
        facts = [
            [(b.name, b.num_entries, b.member("fMaximum")) for b in tree.values(recursive=True)]
            for tree in (mine, its)
        ]
        assert facts[0] == facts[1]
        stored = [
            [[b.basket(i).data.tobytes() for i in range(b.num_baskets)] for b in tree.values()]
            for tree in (mine, its)
        ]
        assert [b"".join(one) for one in stored[0]] == [b"".join(one) for one in stored[1]]
    assert nyssa.verify(path).problems == []
    # ROOT fills the tree on.
    root.call("cpp", "", f'updated_append("{path}", "{name}", "{source}", 0, 3)')
    last = nyssa.open(f"{path}:{name}").arrays(list(COLUMNS), entry_start=OLD + NEW)
    assert {one: last[one].to_list() for one in COLUMNS} == entries(0, 3)


def test_twice_and_with_new_branches(tmp_path: Path, root: Root, of_root: Path) -> None:
    path = str(shutil.copy(of_root, tmp_path / "x.root"))
    with nyssa.update(path) as file:
        file["t99"].extend(entries(OLD, OLD + 5))
    with nyssa.update(path) as file:
        file["t99"].add_branches({"w": np.arange(OLD + 5)})
        file["t99"].extend({**entries(OLD + 5, OLD + NEW), "w": range(NEW - 5)})
    found = nyssa.open(f"{path}:t99").arrays([*COLUMNS, "w"])
    assert {one: found[one].to_list() for one in COLUMNS} == entries(0, OLD + NEW)
    assert found["w"].to_list() == [*range(OLD + 5), *range(NEW - 5)]
    assert root.call("drawn", path, "t99", "w") == found["w"].to_list()


_OBJECTS = r"""
#include "TClonesArray.h"
#include "TLorentzVector.h"
#include "TRef.h"
void updated_objects(const char *path, int count, bool append) {
   TFile file(path, append ? "UPDATE" : "RECREATE");
   auto vector = new TLorentzVector;
   auto clones = new TClonesArray("TLorentzVector");
   TTree *tree;
   if (append) {
      tree = file.Get<TTree>("T");
      tree->SetBranchAddress("p4", &vector);
      tree->SetBranchAddress("clones", &clones);
   } else {
      tree = new TTree("T", "");
      tree->Branch("p4", &vector);
      tree->Branch("clones", &clones);
   }
   for (int i = 0; i < count; i++) {
      vector->SetPxPyPzE(i, 1, 2, 3);
      clones->Clear();
      for (int k = 0; k < i % 3; k++) new ((*clones)[k]) TLorentzVector(k, i, 1, 2);
      tree->Fill();
   }
   tree->Write("", TObject::kOverwrite);
}
"""


def test_objects_of_root(tmp_path: Path, root: Root) -> None:
    """Classes that are derived from `TObject`, split and in a `TClonesArray`."""
    path, theirs = str(tmp_path / "ours.root"), str(tmp_path / "theirs.root")
    root.call("cpp", _OBJECTS, f'updated_objects("{path}", 12, false)')
    shutil.copy(path, theirs)
    old = nyssa.open(f"{path}:T").arrays()
    with nyssa.update(path) as file:
        file["T"].extend(old)
    root.call("cpp", "", f'updated_objects("{theirs}", 12, true)')
    names = ["p4.fP.fX", "p4.fE", "clones.fE", "clones.fP.fY", "clones.fBits"]
    for name in names:
        assert root.call("drawn", path, "T", name) == root.call("drawn", theirs, "T", name), name
    found = nyssa.open(f"{path}:T").arrays().to_list()
    assert found == old.to_list() * 2
    assert found == nyssa.open(f"{theirs}:T").arrays().to_list()
    root.call("cpp", "", f'updated_objects("{path}", 3, true)')
    assert nyssa.open(f"{path}:T").arrays().to_list() == old.to_list() * 2 + old.to_list()[:3]


_POINTERS = r"""
void updated_pointers(const char *path) {
   TFile file(path, "RECREATE");
   TTree tree("T", "");
   TRef ref;
   int x = 1;
   tree.Branch("ref", &ref);
   tree.Branch("x", &x);
   tree.Fill();
   tree.Write();
}
"""


def test_what_is_refused(tmp_path: Path, root: Root) -> None:
    """The branch is named before anything is written."""
    path = str(tmp_path / "x.root")
    root.call("cpp", _POINTERS, f'updated_pointers("{path}")')
    before = Path(path).read_bytes()
    with nyssa.update(path) as file:
        tree = file["T"]
        with pytest.raises(
            errors.UnsupportedError, match=r"refers to objects, .*object T, field ref"
        ):
            tree.extend({"x": [2]})
        with pytest.raises(errors.UnsupportedError, match=r"field ref"):
            tree.fill_context()
    assert Path(path).read_bytes() == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pt": "a"}, "pt"),
        ({"us": 70000}, "does not fit"),
        ({"mat": [[1, 2, 3]]}, "1 items where the type of the field has 2"),
        ({"other": 1}, "the record has no member 'other'"),
        ({"pt": None}, "None where the type of the field needs a value"),
    ],
    ids=["text", "range", "array", "unknown", "null"],
)
def test_values_that_do_not_fit(
    tmp_path: Path, of_nyssa: Path, change: dict[str, Any], message: str
) -> None:
    path = str(shutil.copy(of_nyssa, tmp_path / "x.root"))
    before = Path(path).read_bytes()
    data = entries(0, 1)
    data["jet"] = [{**data["jet"][0], **change}]
    with nyssa.update(path) as file, pytest.raises(nyssa.NyssaError, match=message):
        file["t99"].extend(data)
    assert Path(path).read_bytes() == before
