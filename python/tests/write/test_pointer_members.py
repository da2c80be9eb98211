"""Pointers to containers and strings in objects in TTrees have the bytes that ROOT writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import uproot

import nyssa
from support.root import Root
from write.test_tree_classes import described, stored

HEADER = Path(__file__).with_name("pointer_members.hxx")
LEVELS = [0, 99]
ENTRIES = 7
HIT, OWNER = "pointermembers::Hit", "pointermembers::Owner"
CLASSES: dict[str, dict[str, Any]] = {
    HIT: {"id": "int", "e": "float"},
    OWNER: {
        "numbers": "std::vector<float>*",
        "nested": "const std::vector<std::vector<int>>*",
        "text": "std::string*",
        "map": "std::map<int,float>*",
        "set": "std::set<short>*",
        "hits": f"std::vector<{HIT}>*",
        "named": f"std::map<int,{HIT}>*",
        "texts": "std::vector<std::string*>",
        "after": "int",
    },
}
# As for `TTree::Branch`, a column may be named by a pointer.
COLUMNS = {"one.": f"{OWNER}*", "many": f"std::vector<{OWNER}>*"}

_REWRITE = """
void pointermembers_rewrite(const char *in, const char *out) {
   using namespace pointermembers;
   TFile source(in);
   TFile target(out, "recreate");
   for (int level : {0, 99}) {
      auto name = TString::Format("t%d", level);
      auto from = source.Get<TTree>(name);
      Owner *one = nullptr;
      std::vector<Owner> *many = nullptr;
      from->SetBranchAddress("one.", &one);
      from->SetBranchAddress("many", &many);
      target.cd();
      TTree to(name, "");
      to.Branch("one.", &one, 32000, level);
      to.Branch("many", &many, 32000, level);
      for (Long64_t i = 0; i < from->GetEntries(); i++) {
         if (from->GetEntry(i) <= 0) throw std::runtime_error("an entry cannot be read");
         to.Fill();
      }
      to.Write();
      from->ResetBranchAddresses();
   }
}
"""


def owner(i: int) -> dict[str, Any]:
    return {
        "numbers": [i + 0.5] * (i % 4),
        "nested": [[i, k] for k in range(i % 3)],
        "text": "t" * (i % 5),
        "map": [{"_0": k, "_1": i + 0.25} for k in range(i % 3)],
        "set": list(range(i % 4)),
        "hits": [{"id": k, "e": i / 2} for k in range(i % 3)],
        "named": [{"_0": k, "_1": {"id": i, "e": 0.5}} for k in range(i % 2)],
        "texts": ["s" * k for k in range(i % 4)],
        "after": i,
    }


def entries() -> dict[str, Any]:
    many = [[owner(i + k) for k in range(i % 3)] for i in range(ENTRIES)]
    return {"one.": [owner(i) for i in range(ENTRIES)], "many": many}


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a file of nyssa, and one that ROOT wrote of the objects that it read there."""
    folder = tmp_path_factory.mktemp("members")
    ours, theirs = folder / "nyssa.root", folder / "root.root"
    with nyssa.recreate(ours, compression="none") as file:
        for level in LEVELS:
            tree = file.mktree(f"t{level}", COLUMNS, classes=CLASSES, split_level=level)
            tree.extend(entries())
    containers = [f"std::vector<{OWNER}>", f"std::vector<{HIT}>", f"std::map<int,{HIT}>"]
    containers += ["std::vector<std::vector<int>>", "std::map<int,float>", "std::set<short>"]
    containers += ["std::vector<std::string*>"]
    root.call("dictionaries", [HIT, OWNER, *containers], [str(HEADER)])
    root.call("cpp", _REWRITE, f'pointermembers_rewrite("{ours}", "{theirs}")')
    return ours, theirs


@pytest.mark.parametrize("level", LEVELS)
def test_branches_and_baskets_are_those_of_root(files: tuple[Path, Path], level: int) -> None:
    with uproot.open(files[0]) as ours, uproot.open(files[1]) as theirs:
        mine, its = ours[f"t{level}"], theirs[f"t{level}"]
        for own, other in zip(mine.branches, its.branches, strict=True):
            assert described(own) == described(other), own.name
            assert stored(own) == stored(other), own.name
    for path in files:
        found = nyssa.open(f"{path}:t{level}").arrays(list(COLUMNS))
        for name, expected in entries().items():
            assert found[name].to_list() == expected, (name, path.name)


def test_streamer_infos_are_those_of_root(files: tuple[Path, Path], root: Root) -> None:
    infos, expected = (root.call("streamer_infos", str(file)) for file in files)
    elements, of_root = (root.call("streamer_elements", str(file)) for file in files)
    for name in (HIT, OWNER):
        assert infos[name] == expected[name], name
        assert elements[name] == of_root[name], name


def test_entries_are_added_and_come_back(files: tuple[Path, Path], tmp_path: Path) -> None:
    """To a tree of ROOT, and on the way to an RNTuple and back, by its streamer infos."""
    path = tmp_path / "more.root"
    path.write_bytes(files[1].read_bytes())
    with nyssa.update(path) as file:
        file["t99"].extend(entries())
    found = nyssa.open(f"{path}:t99").arrays(list(COLUMNS)).to_list()
    assert found == nyssa.open(f"{files[1]}:t99").arrays(list(COLUMNS)).to_list() * 2
    there, back = tmp_path / "there.root", tmp_path / "back.root"
    nyssa.convert(f"{path}:t99", there, verify=True)
    nyssa.convert(there, back, to="ttree", verify=True)
    assert nyssa.open(f"{back}:t99").arrays(list(COLUMNS)).to_list() == found


def test_null_pointers_are_empty(tmp_path: Path) -> None:
    """ROOT reads an empty container for a null pointer, so there are no missing values."""
    types = {"one.": OWNER}
    with nyssa.recreate(tmp_path / "x.root") as file:
        tree = file.mktree("t", types, classes=CLASSES)
        with pytest.raises(nyssa.ArgumentError, match=r"None where .*numbers, entry 1"):
            tree.extend({"one.": [owner(1), {**owner(1), "numbers": None}]})
        tree.extend({"one.": [owner(1)]})
