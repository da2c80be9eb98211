"""Trees of ROOT with branches that begin late, and leaf lists with empty strings."""

from __future__ import annotations

from pathlib import Path

import pytest

import nyssa

ROOT = pytest.importorskip("ROOT")

CODE = r"""
#include <cstring>
void nyssa_late(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "t");
  int x, all = 0;
  auto late = tree.Branch("late", &x);
  tree.Branch("all", &all);
  late->SetFirstEntry(5);
  for (int k = 0; k < 20; ++k) { all = k; tree.GetBranch("all")->Fill(); }
  for (x = 5; x < 20; ++x) late->Fill();
  tree.SetEntries(20);
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


def test_only_a_branch_that_begins_late_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "late.root"
    ROOT.nyssa_late(str(path))
    tree = nyssa.open(f"{path}:t")
    assert tree.unreadable == {"late": "it has no values before entry 5 of the tree"}
    assert tree["all"].array().to_list() == list(range(20))
    with pytest.raises(nyssa.UnsupportedError, match="late: it has no values before entry 5"):
        tree.arrays()
    assert nyssa.verify(path).problems == []
    with pytest.raises(nyssa.UnsupportedError, match="no values before entry 5"):
        nyssa.merge([path, path], tmp_path / "merged.root")


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
