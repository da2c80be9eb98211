"""Tests branches whose baskets are in other files."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import nyssa
from support.root import Root

_WRITE = """
void nyssa_elsewhere(const char *folder) {
  TString before(gSystem->pwd());
  gSystem->cd(folder);
  gSystem->mkdir("sub");
  TFile file("tree.root", "RECREATE");
  TTree tree("tree", "");
  int n, here;
  float list[8];
  double there;
  char text[16];
  tree.Branch("here", &here);
  tree.Branch("n", &n);
  auto a = tree.Branch("list", list, "list[n]/F", 1000);
  auto b = tree.Branch("there", &there, 500);
  auto c = tree.Branch("text", text, "text/C", 600);
  a->SetFile("sub/first.root");
  b->SetFile(TString(folder) + "/second.root");
  c->SetFile("sub/first.root");
  for (here = 0; here < 1000; ++here) {
    n = here % 8;
    for (int j = 0; j < n; ++j) list[j] = here + j / 4.f;
    there = here / 3.;
    snprintf(text, 16, "%d", here * here);
    tree.Fill();
  }
  file.Write();
  std::set<TFile *> others{a->GetFile(), b->GetFile(), c->GetFile()};
  for (auto other : others) other->Write();
  file.Close();
  gSystem->cd(before);
}
"""


@pytest.fixture(scope="module")
def folder(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tree whose branches are in three files."""
    folder = tmp_path_factory.mktemp("elsewhere")
    root.call("cpp", _WRITE, f'nyssa_elsewhere("{folder}")')
    return folder


def test_values(folder: Path, tmp_path: Path, root: Root) -> None:
    """The entries of all files are those that ROOT reads; a conversion puts them into one file."""
    tree = nyssa.open(folder / "tree.root")["tree"]
    arrays = tree.arrays()
    wanted = range(1000)
    assert arrays["here"].to_list() == list(wanted)
    assert arrays["there"].to_list() == [i / 3 for i in wanted]
    assert arrays["list"].to_list() == [[i + j / 4 for j in range(i % 8)] for i in wanted]
    assert arrays["text"].to_list() == [str(i * i) for i in wanted]
    for name in ("there", "list"):
        assert np.ravel(root.call("drawn", str(folder / "tree.root"), "tree", name)).tolist() == (
            np.asarray(arrays[name].to_list()).tolist()
            if name == "there"
            else [x for row in arrays[name].to_list() for x in row]
        )
    report = nyssa.convert(folder / "tree.root", tmp_path / "out.root", verify=True)
    assert report["verified"]
    [first] = tree.arrays("list", entry_start=701, entry_stop=702)["list"].to_list()
    assert first == [701 + j / 4 for j in range(5)]


def test_a_file_that_is_not_there(folder: Path, tmp_path: Path) -> None:
    """The branch names its missing file; the other branches are read."""
    shutil.copy(folder / "tree.root", tmp_path)
    # The file of `there` is in another folder.
    tree = nyssa.open(tmp_path / "tree.root", allow_other_files=True)["tree"]
    assert set(tree.unreadable) == {"list", "text"}
    for reason in tree.unreadable.values():
        assert 'its baskets are in another file, "sub/first.root"' in reason
    assert tree["there"].array().to_list()[-1] == 333.0
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "first.root").write_bytes((folder / "second.root").read_bytes())
    wrong = nyssa.open(tmp_path / "tree.root")["tree"]
    with pytest.raises(nyssa.FormatError, match="byte"):
        wrong["list"].array()
