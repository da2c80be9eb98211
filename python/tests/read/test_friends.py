"""Aliases and friends of trees work as in ROOT's formulas and in uproot."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import uproot

import nyssa
from support.root import Root

_WRITE = """
void nyssa_fill(const char *name, int entries, float factor, bool reversed = false) {
  TTree tree(name, "");
  int run, event;
  float w;
  tree.Branch("run", &run);
  tree.Branch("event", &event);
  tree.Branch("w", &w);
  for (int i = 0; i < entries; ++i) {
    event = reversed ? entries - 1 - i : i;
    run = event / 5;
    w = factor * event;
    tree.Fill();
  }
  if (reversed) tree.BuildIndex("run", "event");
  tree.Write();
}
void nyssa_friends(const char *folder, const char *extra) {
  // Friends are looked for where ROOT runs, and only those that are there are added.
  TString before(gSystem->pwd());
  gSystem->cd(folder);
  TFile other("other.root", "RECREATE");
  nyssa_fill("longer", 15, 3);
  nyssa_fill("shorter", 5, 3);
  nyssa_fill("indexed", 8, 10, true);
  other.mkdir("dir")->cd();
  nyssa_fill("deep", 10, 2);
  other.Close();
  gSystem->CopyFile("other.root", "nowhere.friend.root", true);
  TFile file(TString(extra) + ".root", "RECREATE");
  nyssa_fill("same", 10, .5);
  TTree tree("tree", "");
  int run, event, n;
  float x, list[4];
  tree.Branch("run", &run);
  tree.Branch("event", &event);
  tree.Branch("x", &x);
  tree.Branch("n", &n);
  tree.Branch("list", list, "list[n]/F");
  for (event = 0; event < 10; ++event) {
    run = event / 5;
    x = event / 4.f;
    n = event % 4;
    for (int j = 0; j < n; ++j) list[j] = event + j;
    tree.Fill();
  }
  tree.SetAlias("twice", "x*2");
  tree.SetAlias("large", "twice > 2");
  tree.SetAlias("event", "x*100");
  tree.SetAlias("item", "list[1]");
  tree.SetAlias("beyond", "deep.w + 1");
  tree.SetAlias("odd", "TMath::Abs(x)*Entry$");
  TString name(extra);
  if (name == "friends") {
    tree.AddFriend("dir/deep", "other.root");
    tree.AddFriend("named = longer", "other.root");
    tree.AddFriend("same");
  } else if (name != "none") {
    tree.AddFriend(name == "nowhere" ? "longer" : name.Data(),
                   name == "nowhere" ? "nowhere.friend.root" : "other.root");
  }
  tree.Write();
  gSystem->Unlink("nowhere.friend.root");
  gSystem->cd(before);
}
"""


@pytest.fixture(scope="module")
def folder(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with trees and their friends."""
    folder = tmp_path_factory.mktemp("friends")
    root.call("cpp", _WRITE, "")
    for name in ("none", "friends", "shorter", "indexed", "nowhere"):
        root.call("cpp", "", f'nyssa_friends("{folder}", "{name}")')
    return folder


def cat(path: Path, *arguments: str) -> list[dict[str, object]]:
    """Run `nyssa cat`. Its error message becomes an exception."""
    command = [sys.executable, "-m", "nyssa", "cat", f"{path}:tree", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise ValueError(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_aliases(folder: Path) -> None:
    """All aliases are listed by name, as in uproot, and by `nyssa schema`."""
    path = folder / "none.root"
    aliases = nyssa.open(path)["tree"].aliases
    assert aliases["large"] == "twice > 2"
    with uproot.open(path) as file:
        assert aliases == file["tree"].aliases
    assert nyssa.open(path)["tree"].friends == []
    command = [sys.executable, "-m", "nyssa", "schema", f"{folder / 'friends.root'}:tree"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "alias large = twice > 2\n" in shown
    assert "friend deep: dir/deep in other.root\n" in shown
    told = subprocess.run([*command, "--json"], capture_output=True, check=True).stdout
    assert json.loads(told)["aliases"][0] == {"name": "twice", "formula": "x*2"}
    assert [row["name"] for row in json.loads(told)["friends"]] == ["deep", "named", "same"]


@pytest.mark.parametrize(
    "cut", ["large", "twice < 3 && event > 2", "item > 5", "beyond > 6 && !large", "named.w > 20"]
)
def test_cuts(cut: str, folder: Path, root: Root) -> None:
    """A cut selects the same entries as TTree::Draw; a branch has priority over an alias."""
    path = folder / "friends.root"
    wanted = root.call("drawn", str(path), "tree", "event", cut)
    found = cat(path, "--cut", cut, "--friends", "--filter", "event")
    assert [row["event"] for row in found] == wanted
    assert wanted


def test_wrong_aliases(folder: Path) -> None:
    """The error names an alias whose formula is not a valid cut."""
    with pytest.raises(ValueError, match=r"the alias \"odd\" \(TMath::Abs\(x\)\*Entry\$\): "):
        cat(folder / "none.root", "--cut", "odd > 1")


def test_friends(folder: Path, root: Root) -> None:
    """Columns `friend.branch` have the same entries; files are found in the tree's folder."""
    path = folder / "friends.root"
    tree = nyssa.open(path)["tree"]
    assert [tuple(friend) for friend in tree.friends] == [
        ("deep", "dir/deep", "other.root"),
        ("named", "longer", "other.root"),
        ("same", "same", None),
    ]
    joined = tree.with_friends()
    assert list(joined)[5:] == [
        f"{friend}.{branch}"
        for friend in ("deep", "named", "same")
        for branch in ("run", "event", "w")
    ]
    arrays = joined.arrays()
    for name in ("deep.w", "named.w", "same.w", "named.event", "x"):
        wanted = root.call("drawn", str(path), "tree", name)
        assert arrays[name].to_list() == wanted
    [row] = cat(path, "--friends", "-n", "1")
    assert row["deep.w"] == 0


def test_converted(folder: Path, tmp_path: Path) -> None:
    """An RNTuple has the aliases and friends of its TTree, and uses them as the TTree does."""
    tree = nyssa.open(folder / "friends.root")["tree"]
    report = nyssa.convert(folder / "friends.root", tmp_path / "friends.root", "tree")
    assert not [note for note in report["notes"] if "left out" in note]
    shutil.copy(folder / "other.root", tmp_path)
    ntuple = nyssa.open(tmp_path / "friends.root")["tree"]
    assert ntuple.aliases == tree.aliases
    assert ntuple.friends == tree.friends
    cut = "twice < 3 && event > 2"
    assert ntuple.arrays(["twice"], cut=cut).tolist() == tree.arrays(["twice"], cut=cut).tolist()
    # `same` is in the file of the tree, which was not converted as a whole.
    with pytest.raises(nyssa.NotFoundError, match='the friend "same": no "same" in this file'):
        ntuple.with_friends()


def test_friends_by_index(folder: Path, root: Root) -> None:
    """Entries of a friend with an index are found by its columns, in any order."""
    path = folder / "indexed.root"
    arrays = nyssa.open(path)["tree"].with_friends().arrays()
    found = arrays["indexed.w"].to_list()
    for event in range(8):
        [wanted] = root.call("drawn", str(path), "tree", "indexed.w", f"event == {event}")
        assert found[event] == wanted
    assert found[8:] == [None, None]


def test_friends_that_cannot_be(folder: Path) -> None:
    """The error names a friend that is too short or missing."""
    with pytest.raises(nyssa.ArgumentError, match=r'"shorter": it has 5 entries, but the tree'):
        nyssa.open(folder / "shorter.root")["tree"].with_friends()
    with pytest.raises(nyssa.NotFoundError, match="nowhere.friend.root"):
        nyssa.open(folder / "nowhere.root")["tree"].with_friends()
