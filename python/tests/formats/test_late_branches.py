"""Trees of ROOT with branches that begin late, and leaf lists with empty strings."""

from __future__ import annotations

import json
from pathlib import Path

import awkward as ak
import pytest

import nyssa

ROOT = pytest.importorskip("ROOT")

CODE = r"""
#include <cstring>
#include "TClonesArray.h"
#include "TLorentzVector.h"
void nyssa_late(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "t");
  int all = 0, late = 0, n = 0;
  float jagged[5];
  std::vector<float> vector;
  std::string string;
  std::vector<TBranch *> branches{
      tree.Branch("late", &late, "late/I", 500), tree.Branch("n", &n, "n/I", 500),
      tree.Branch("jagged", jagged, "jagged[n]/F", 500), tree.Branch("vector", &vector, 500),
      tree.Branch("string", &string, 500)};
  for (auto branch : branches) branch->SetFirstEntry(600);
  branches.push_back(tree.Branch("all", &all, "all/I", 500));
  for (; all < 600; ++all) branches.back()->Fill();
  for (; all < 2000; ++all) {
    late = 2 * all;
    n = all % 4;
    for (int k = 0; k < n; ++k) jagged[k] = all + k * 0.25;
    vector.assign(all % 3, all);
    string = std::to_string(all);
    for (auto branch : branches) branch->Fill();
  }
  tree.SetEntries(2000);
  tree.Write();
}
void nyssa_late_objects(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "t");
  TLorentzVector vector, *whole = &vector;
  TClonesArray array("TLorentzVector"), *items = &array;
  int all = 0;
  std::vector<TBranch *> branches{tree.Branch("split", "TLorentzVector", &whole, 1000, 99),
                                  tree.Branch("unsplit", "TLorentzVector", &whole, 1000, 0),
                                  tree.Branch("items", "TClonesArray", &items, 1000, 99)};
  for (auto branch : branches) branch->SetFirstEntry(600);
  branches.push_back(tree.Branch("all", &all));
  for (; all < 600; ++all) branches.back()->Fill();
  for (; all < 1500; ++all) {
    vector.SetPxPyPzE(all, 1, 2, all + 0.5);
    array.Clear();
    for (int k = 0; k < all % 3; ++k) new (array[k]) TLorentzVector(all, k, 2, 3);
    for (auto branch : branches) branch->Fill();
  }
  tree.SetEntries(1500);
  tree.Write();
}
void nyssa_added(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "t");
  int all = 0, added = 0;
  tree.Branch("all", &all);
  for (; all < 5; ++all) tree.Fill();
  tree.Branch("added", &added);
  for (; all < 20; ++all) tree.Fill();
  tree.Write();
}
void nyssa_strings(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "t");
  struct { int i; char c[600]; } end;
  struct { int i; char c[20]; int j; } middle;
  struct { char a[20]; char b[20]; } two;
  tree.Branch("end", &end, "i/I:c/C");
  tree.Branch("middle", &middle, "i/I:c[20]/C:j/I");
  tree.Branch("two", &two, "a[20]/C:b[20]/C");
  const int sizes[] = {0, 3, 254, 255, 256, 0};
  for (int k = 0; k < 6; ++k) {
    end.i = -k; memset(end.c, 'a' + k, sizes[k]); end.c[sizes[k]] = 0;
    middle.i = k; middle.j = -k - 1; strcpy(middle.c, k % 2 ? "pq" : "");
    strcpy(two.a, k == 3 ? "" : "xy"); strcpy(two.b, "z");
    tree.Fill();
  }
  tree.Write();
}
"""


@pytest.fixture(scope="module", autouse=True)
def code() -> None:
    if not hasattr(ROOT, "nyssa_late"):
        ROOT.gInterpreter.Declare(CODE)


LATE = ["late", "n", "jagged", "vector", "string"]
REFUSED = r"no values before entry 600 of the tree; request entries from there on \(entry_start=600"


@pytest.fixture(scope="module")
def late(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("late") / "late.root"
    ROOT.nyssa_late(str(path))
    return path


def by_root(path: Path) -> dict[str, list]:
    """Return the values from entry 600 on. Before it, ROOT leaves the values that it read last."""
    values = ROOT.RDataFrame("t", str(path)).AsNumpy([*LATE, "all"])
    plain = {
        name: [item.tolist() if hasattr(item, "tolist") else item for item in column]
        for name, column in values.items()
    }
    return {
        name: [str(item) if name == "string" else item for item in column[600:]]
        for name, column in plain.items()
    }


def lists(arrays) -> dict[str, list]:
    return {name: arrays[name].to_list() for name in arrays.fields}


def test_entries_that_a_late_branch_has_are_read(late: Path) -> None:
    tree = nyssa.open(f"{late}:t")
    assert tree.unreadable == {}
    expected = by_root(late)
    assert expected["late"][0] == 1200
    assert lists(tree.arrays(entry_start=600)) == expected
    for first, end in [(600, 601), (777, 1500), (1999, 2000)]:
        part = {name: column[first - 600 : end - 600] for name, column in expected.items()}
        assert lists(tree.arrays(entry_start=first, entry_stop=end)) == part
    steps = [
        row
        for step in tree.iterate(LATE, entry_start=600, step_size=100)
        for row in step["late"].to_list()
    ]
    assert steps == expected["late"]
    chosen = tree.arrays(["string"], cut="late >= 3990", entry_start=600)
    assert chosen["string"].to_list() == expected["string"][-5:]
    report = nyssa.verify(late)
    assert report.problems == []
    assert report.datasets[0].parts == report.datasets[0].decoded


@pytest.mark.parametrize("first", [0, 599])
def test_entries_before_the_first_of_a_branch_are_refused(late: Path, first: int) -> None:
    tree = nyssa.open(f"{late}:t")
    assert tree["all"].array().to_list() == list(range(2000))
    for name in LATE:
        with pytest.raises(nyssa.UnsupportedError, match=REFUSED):
            tree[name].array(entry_start=first)
    with pytest.raises(nyssa.UnsupportedError, match=REFUSED):
        list(tree.iterate(entry_start=first))
    with pytest.raises(nyssa.UnsupportedError, match=REFUSED):
        tree.arrays(["all"], cut="late > 0", entry_start=first)
    with pytest.raises(nyssa.UnsupportedError, match=REFUSED):
        nyssa.digest(f"{late}:t", entry_start=first)


def test_late_branches_in_jobs(late: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    with pytest.raises(nyssa.UnsupportedError, match=REFUSED):
        nyssa.convert(late, out)
    report = nyssa.convert(late, out, skip_unsupported=True)
    assert nyssa.open(f"{out}:t").keys() == ["all"]
    assert {one["branch"] for one in report["skipped"]} == set(LATE)
    report = nyssa.convert(late, out, entry_start=600, verify=True, force=True)
    assert lists(nyssa.open(f"{out}:t").arrays([*LATE, "all"])) == by_root(late)
    assert nyssa.digest(f"{late}:t", compare=report, entry_start=600)["equal"]
    with pytest.raises(nyssa.UnsupportedError, match="no values before entry 600"):
        nyssa.merge([late, late], tmp_path / "merged.root")


def test_objects_of_late_branches(tmp_path: Path) -> None:
    """Whole objects, split ones, and split collections begin late, too."""
    path, out = tmp_path / "late.root", tmp_path / "out.root"
    ROOT.nyssa_late_objects(str(path))
    file = ROOT.TFile(str(path))
    tree = nyssa.open(f"{path}:t")
    for name in ("split", "unsplit", "items"):
        count = file.Get("t").Draw(f"{name}.fP.fX", "Entry$ >= 600", "goff")
        by_root = [file.Get("t").GetV1()[k] for k in range(count)]
        values = tree[name].array(entry_start=600)
        assert ak.flatten(values["fP"]["fX"], axis=None).to_list() == by_root
        assert len(by_root) == 900
        with pytest.raises(nyssa.UnsupportedError, match=REFUSED):
            tree[name].array(entry_start=599, entry_stop=601)
    assert nyssa.verify(path).problems == []
    assert nyssa.convert(path, out, entry_start=600, verify=True)["skipped"] == []


def test_a_branch_that_was_added_late_is_refused(tmp_path: Path) -> None:
    """ROOT reads the value of entry 5 at entry 0: the branch does not say where it begins."""
    path = tmp_path / "added.root"
    ROOT.nyssa_added(str(path))
    tree = nyssa.open(f"{path}:t")
    assert tree.unreadable == {"added": "it has 15 of the 20 entries of the tree"}
    assert tree["all"].array().to_list() == list(range(20))


def test_empty_strings_of_leaf_lists(tmp_path: Path) -> None:
    """ROOT writes nothing for an empty string; the size of the entry tells where it is."""
    path = tmp_path / "strings.root"
    ROOT.nyssa_strings(str(path))
    tree = nyssa.open(f"{path}:t")
    sizes = [0, 3, 254, 255, 256, 0]
    letters = "abcdef"
    assert tree["end"].array().to_list() == [
        {"i": -k, "c": letters[k] * size} for k, size in enumerate(sizes)
    ]
    assert tree["middle"].array().to_list() == [
        {"i": k, "c": "pq" if k % 2 else "", "j": -k - 1} for k in range(6)
    ]
    assert tree["two"].array(entry_stop=3).to_list() == [{"a": "xy", "b": "z"}] * 3
    with pytest.raises(nyssa.UnsupportedError, match=r"which of its strings is empty.*field two"):
        tree["two"].array()


def test_schema_says_where_a_late_branch_begins(
    late: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert nyssa._core.run_cli(["nyssa", "schema", "--json", f"{late}:t"]) == 0
    branches = json.loads(capfd.readouterr().out)["branches"]
    assert {one["path"]: one.get("first_entry") for one in branches} == {
        **dict.fromkeys(LATE, 600),
        "all": None,
    }
    assert nyssa._core.run_cli(["nyssa", "schema", f"{late}:t"]) == 0
    assert capfd.readouterr().out.count("begins at entry 600") == len(LATE)


def test_commands_refuse_a_late_branch_by_name(
    late: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in ("cat", "digest"):
        assert nyssa._core.run_cli(["nyssa", command, f"{late}:t"]) == 4
        said = capfd.readouterr().err
        assert "the branch has no values before entry 600" in said
        assert "field n)" in said
