"""Branches, leaves, counters and friends of equal names are distinguished by their order."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core
from support.root import Root
from support.root_leaves import DUMP, leaves, leaves_of_root

_WRITE = r"""
/// A tree of random branches whose names repeat.
void nyssa_equal_names(int seed, const char *path) {
  TRandom3 random(seed);
  std::vector<std::string> names{"x", "x", "y", "n", "x_2", "a.b", "a_b", "e.", "_collection0"};
  const int most = 5;
  struct One { double d[3]; float f[most * 3]; int i[3]; short s[3]; Long64_t l[3]; };
  struct Many { double d; int i; float f; };
  int branches = 2 + random.Integer(12);
  std::vector<One> values(branches);
  std::vector<Many> records(branches);
  std::vector<TString> counters;
  TFile file(path, "RECREATE");
  TTree tree("t", "equal names");
  if (random.Integer(2)) tree.SetAutoFlush(1 + random.Integer(9));
  for (int b = 0; b < branches; ++b) {
    int kind = b == 0 ? 2 : random.Integer(9);
    auto one = TString::Format("b%d", b);
    auto &v = values[b];
    auto counter = counters.empty() ? one : counters[random.Integer(counters.size())];
    TBranch *branch = nullptr;
    switch (kind) {
    case 0: branch = tree.Branch(one, v.d, one + "/D"); break;
    case 1: branch = tree.Branch(one, v.f, one + "/F"); break;
    case 2: branch = tree.Branch(one, v.i, one + "/I"); counters.push_back(one); break;
    case 3: branch = tree.Branch(one, v.s, one + "[3]/S"); break;
    case 4: branch = tree.Branch(one, v.l, one + "/L"); break;
    case 5: branch = tree.Branch(one, &records[b], "p/D:q/I:p/F"); break;
    case 6: branch = tree.Branch(one, &records[b], "p/D:p/I:p_2/F"); break;
    case 7: branch = tree.Branch(one, v.f, one + "[" + counter + "]/F"); break;
    case 8: branch = tree.Branch(one, v.f, one + "[" + counter + "][3]/F"); break;
    }
    branch->SetBasketSize(100 + random.Integer(900));
  }
  // ROOT finds counters by name; renamed afterwards, any of several may be meant.
  for (auto *branch : TRangeDynCast<TBranch>(tree.GetListOfBranches())) {
    auto &name = names[random.Integer(names.size())];
    branch->SetName(name.c_str());
    auto *leaves = branch->GetListOfLeaves();
    if (leaves->GetEntries() == 1) ((TLeaf *)leaves->At(0))->SetName(name.c_str());
  }
  for (int entry = 0, entries = random.Integer(60); entry < entries; ++entry) {
    for (int b = 0; b < branches; ++b) {
      for (auto &v : values[b].d) v = random.Gaus();
      for (auto &v : values[b].f) v = random.Gaus();
      for (auto &v : values[b].s) v = random.Integer(1000);
      for (auto &v : values[b].l) v = random.Integer(1 << 30);
      values[b].i[0] = random.Integer(most + 1);
      records[b] = {random.Gaus(), (int)random.Integer(100), (float)random.Gaus()};
    }
    tree.Fill();
  }
  tree.Write();
}
"""


def distinct(names: list[str]) -> list[str]:
    """Return the names, with numbers appended where a name repeats."""
    given: list[str] = []
    for at, name in enumerate(names):
        one, number = name, 2
        while one in given if one == name else one in given or one in names:
            stem = name.rstrip(".")
            one, number = f"{stem}_{number}{name[len(stem) :]}", number + 1
        given.append(one)
        assert at + 1 == len(set(given))
    return given


@pytest.fixture(scope="module")
def writer(root: Root) -> Root:
    """Return ROOT with the function that writes trees."""
    root.call("cpp", _WRITE + DUMP, "")
    return root


@pytest.mark.parametrize("seed", range(25))
def test_branches_of_equal_names_are_those_of_root(writer: Root, tmp_path: Path, seed: int) -> None:
    path, output = tmp_path / "t.root", tmp_path / "n.root"
    writer.call("cpp", "", f'nyssa_equal_names({seed}, "{path}")')
    theirs = leaves_of_root(writer, path)
    tree = nyssa.open(path)["t"]
    stored = [branch.name for branch in uproot.open(path)["t"].branches]
    keys = tree.keys()
    assert keys == distinct(stored)
    columns = [entry.tolist() for entry in tree.arrays()]
    one_by_one = {key: tree[key].array().tolist() for key in keys}
    assert {key: [entry[key] for entry in columns] for key in keys} == one_by_one
    assert [[leaves(entry[key]) for key in keys] for entry in columns] == theirs

    for layout in ("importer", "vectors"):
        report = nyssa.convert(f"{path}:t", output, layout=layout, verify=True, force=True)
        fields = {one["branch"]: one["field"] for one in report["fields"]}
        assert set(fields) == set(keys)
        written = nyssa.open(output)["t"].arrays().tolist()
        assert [[leaves(entry[fields[key]]) for key in keys] for entry in written] == theirs
    # ROOT does not print the sizes of collections, which the other layout has.
    written = writer.call("entries", str(output), "t")
    assert [[leaves(entry[fields[key]]) for key in keys] for entry in written] == theirs
    numbered = sum(key != name for key, name in zip(keys, stored, strict=True))
    assert sum("earlier branch is also called" in note for note in report["notes"]) == numbered
    for other in (path, output):
        assert _core.run_cli(["nyssa", "diff", f"{path}:t", f"{other}:t"]) == 0


def test_two_collections_of_one_name(data: Path, tmp_path: Path) -> None:
    """Two split collections of different classes have the same name."""
    path = data / "ttree" / "uproot-issue513.root"
    tree = nyssa.open(path)["Delphes"]
    theirs = uproot.open(path)["Delphes"].branches
    assert tree.keys() == distinct([branch.name for branch in theirs])
    assert Counter(branch.name for branch in theirs)["Particle"] == 2
    compared = 0
    for key, branch in zip(tree.keys(), theirs, strict=True):
        for below in branch.branches:
            name = f"{key}/{below.name}"
            if "Struct" not in str(tree[name].arrow_type) and "fBits" not in name:
                assert tree[name].array().tolist() == below.array().tolist(), name
                compared += 1
    assert compared > 150
    first, second = tree["Particle"].array(), tree["Particle_2"].array()
    assert "PID" in first.fields
    assert "FracPt" in second.fields
    assert second.PT.tolist() == tree["Particle_2/Particle.PT"].array().tolist()
    report = nyssa.convert(
        f"{path}:Delphes", tmp_path / "n.root", verify=True, skip_unsupported=True
    )
    names = [one["field"] for one in report["fields"]]
    assert "Particle" in names
    assert "Particle_2" in names


def test_friends_of_one_name_get_numbers(root: Root, tmp_path: Path) -> None:
    code = """
void nyssa_equal_friends(const char *folder) {
  TString before(gSystem->pwd());
  gSystem->cd(folder);
  for (int i = 0; i < 3; ++i) {
    TFile file(TString::Format("%d.root", i), "RECREATE");
    TTree tree(i ? "friend" : "t", "");
    float x = 0;
    tree.Branch("x", &x);
    for (int e = 0; e < 4; ++e) { x = 10 * i + e; tree.Fill(); }
    tree.Write();
  }
  TFile file("0.root", "UPDATE");
  auto *tree = file.Get<TTree>("t");
  tree->AddFriend("friend", "1.root");
  tree->AddFriend("friend", "2.root");
  tree->Write("", TObject::kOverwrite);
  file.Close();
  gSystem->cd(before);
}
"""
    root.call("cpp", code, f'nyssa_equal_friends("{tmp_path}")')
    tree = nyssa.open(tmp_path / "0.root")["t"]
    assert isinstance(tree, nyssa.TTree)
    assert [friend.name for friend in tree.friends] == ["friend", "friend_2"]
    joined = tree.with_friends().arrays(library="np")
    assert {name: values.tolist() for name, values in joined.items()} == {
        "x": [0, 1, 2, 3],
        "friend.x": [10, 11, 12, 13],
        "friend_2.x": [20, 21, 22, 23],
    }
    assert joined["x"].dtype == np.float32
