"""Branches of objects as the bytes that the streamer of their class made."""

from __future__ import annotations

from pathlib import Path

import pytest

import nyssa
from root_oracle import Root

WRITE = """
    #include "TFile.h"
    #include "TObjString.h"
    #include "TTree.h"
    void nyssa_raw(const char *path) {
      TFile file(path, "RECREATE");
      TTree tree("tree", "");
      TNamed *named = new TNamed("name", "title");
      std::vector<float> list{1.5f};
      int number = 7;
      tree.Branch("named", &named, 32000, 0);
      tree.Branch("split.", &named, 32000, 99);
      tree.Branch("list", &list);
      tree.Branch("number", &number);
      tree.Fill();
      named->SetTitle("");
      tree.Fill();
      tree.Write();
    }
"""
#: `TObject` (version 1, no identifier, bits), name and title.
NAMED = b"\0\1\0\0\0\0\0\0\0\0\4name\5title"


@pytest.fixture(scope="module")
def path(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("raw") / "raw.root"
    root.call("cpp", WRITE, f'nyssa_raw("{path}");')
    return path


def test_objects_that_are_not_split_are_bytes(path: Path) -> None:
    tree = nyssa.open(path, streamer="raw")["tree"]
    first, second = tree["named"].array().to_list()
    assert first == NAMED
    assert second == NAMED[:-6] + b"\0"
    assert str(tree["named"].array().type) == "2 * ?bytes"


def test_all_else_is_decoded(path: Path) -> None:
    raw, decoded = nyssa.open(path, streamer="raw")["tree"], nyssa.open(path)["tree"]
    for name in ("split.", "list", "number"):
        assert raw[name].array().to_list() == decoded[name].array().to_list()
    assert decoded["named"].array()["fTitle"].to_list() == ["title", ""]
