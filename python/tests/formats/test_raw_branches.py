"""Objects in branches and keys are read as the bytes that the streamer of their class wrote."""

from __future__ import annotations

from pathlib import Path

import pytest

import nyssa
from support.root import Root

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


OWN = """
    #include "TBufferFile.h"
    #include "TClass.h"
    #include "TClassStreamer.h"
    #include "TFile.h"
    #include "TTree.h"
    struct NyssaOwn {
      int number = 5;
      double value = 1.5;
      virtual ~NyssaOwn() {}
      ClassDef(NyssaOwn, 3)
    };
    /// Writes less, or more, than the members that the streamer info lists.
    struct NyssaOwnStreamer : TClassStreamer {
      TClassStreamer *Generate() const override { return new NyssaOwnStreamer; }
      void Stream(TBuffer &b, void *object, const TClass *) override { (*this)(b, object); }
      void operator()(TBuffer &b, void *object) override {
        auto *own = (NyssaOwn *)object;
        if (b.IsReading()) return;
        UInt_t at = b.WriteVersion(NyssaOwn::Class(), kTRUE);
        b << Short_t(own->number);
        if (own->number > 6) b.WriteFastArray("more than there are members", 28);
        b.SetByteCount(at, kTRUE);
      }
    };
    void nyssa_own(const char *path) {
      TFile file(path, "RECREATE");
      NyssaOwn::Class()->AdoptStreamer(new NyssaOwnStreamer);
      TTree tree("tree", "");
      auto *own = new NyssaOwn;
      tree.Branch("own", &own, 32000, 0);
      for (; own->number < 9; own->number++) tree.Fill();
      tree.Write();
      own->number = 5;
      file.WriteObject(own, "less");
      own->number = 8;
      file.WriteObject(own, "more");
    }
"""
#: Version 3 with a byte count, and the bytes that `nyssa_own_streamer` writes.
LESS = b"\x40\0\0\4\0\3\0\5"
MORE = b"\x40\0\0\x20\0\3\0\x08more than there are members\0"


@pytest.fixture(scope="module")
def own(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own.root"
    root.call("cpp", OWN, f'nyssa_own("{path}");')
    return path


def test_classes_with_a_streamer_of_their_own_say_so(own: Path) -> None:
    file = nyssa.open(own)
    hint = (
        "; or NyssaOwn, or a class in it, has a streamer of its own in its library, so that the "
        'streamer info does not describe its bytes: streamer="raw" where the file is opened gives '
        "them as they are"
    )
    with pytest.raises(nyssa.FormatError) as less:
        file["less"]
    where = "needs 4 bytes where 2 are left, in NyssaOwn::number, at byte 6 of the object"
    assert f"{where}{hint}" in str(less.value)
    with pytest.raises(nyssa.FormatError) as more:
        file["more"]
    where = (
        "NyssaOwn says that it ends at byte 36, its members end at byte 18, at byte 0 of the object"
    )
    assert f"{where}{hint}" in str(more.value)
    with pytest.raises(nyssa.FormatError) as branch:
        file["tree"]["own"].array()
    assert hint in str(branch.value)
    assert str(branch.value).count("raw") == 1


def test_their_bytes_are_read_as_they_are(own: Path) -> None:
    file = nyssa.open(own, streamer="raw")
    assert file["less"] == LESS
    assert file["more"] == MORE
    assert nyssa.open(f"{own}:more", streamer="raw") == MORE
    entries = file["tree"]["own"].array().tolist()
    assert entries[0] == LESS
    assert entries[3] == MORE
    assert len(entries) == 4
