"""Files without streamer infos are read, because nyssa knows the classes of ROOT."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from support.data import REPOSITORY, data_files
from support.root import Root

FILES = {path.name: path for path in data_files("ttree")}
TABLES = REPOSITORY / "crates" / "nyssa-root" / "src" / "streamer" / "info" / "known"
TREES = ("TTree", "TNtuple", "TNtupleD")
#: Type codes (`TVirtualStreamerInfo::EReadWrite`) that have the same bytes.
SAME = {6: 3, 15: 13, 61: 62, 63: 62, 66: 62, 67: 62, 68: 62, 69: 64, 70: 64, 300: 500, 365: 500}
NUMBERS = {
    "char": 1, "short": 2, "int": 3, "long": 4, "float": 5, "double": 8, "Double32_t": 9,
    "unsigned char": 11, "unsigned short": 12, "unsigned int": 13, "unsigned long": 14,
    "Long64_t": 16, "ULong64_t": 17, "bool": 18, "Float16_t": 19,
}  # fmt: skip


def hidden(source: Path, target: Path) -> Path:
    """Copy a file without the position of the streamer infos in its header."""
    data = bytearray(source.read_bytes())
    size = 8 if struct.unpack(">i", data[4:8])[0] >= 1_000_000 else 4
    place = 12 + 2 * size + 17
    data[place : place + size + 4] = bytes(size + 4)
    target.write_bytes(data)
    return target


def trees(path: Path) -> Iterator[tuple[str, nyssa.TTree]]:
    file = nyssa.open(path)
    for name, class_name in file.classnames().items():
        if class_name in TREES:
            yield name, file[name]


@pytest.mark.filterwarnings("ignore")
def test_trees_of_every_version(tmp_path: Path) -> None:
    """Every branch of numbers and strings of the test data reads the same without streamer info."""
    if not FILES:
        pytest.skip("no test data; set NYSSA_TEST_DATA")
    compared, versions = 0, set()
    known = {name for name, _, _ in table()}
    for source in FILES.values():
        if source.stat().st_size > 1_000_000:
            continue
        try:
            with_info = dict(trees(source))
        except (nyssa.NyssaError, OSError):
            continue
        if not with_info:
            continue
        without = dict(trees(hidden(source, tmp_path / "hidden.root")))
        assert without.keys() == with_info.keys(), source.name
        versions.add(struct.unpack(">i", source.read_bytes()[4:8])[0] % 1_000_000 // 100)
        for name, tree in with_info.items():
            bare = without[name]
            assert bare.num_entries == tree.num_entries
            for key in [key for key in tree.keys() if key in bare.keys()][:6]:
                try:
                    theirs = tree[key].array(entry_stop=10)
                except nyssa.UnsupportedError:  # Its baskets are in another file.
                    continue
                try:
                    ours = bare[key].array(entry_stop=10)
                except nyssa.UnsupportedError as error:
                    # The class does not belong to ROOT.
                    found = re.search("(?:info of class|TClonesArray of) ([^;,(]*)", str(error))
                    assert found is not None, (source.name, key)
                    assert found[1].strip() not in known, (source.name, key)
                    continue
                if str(ours.type) != str(theirs.type):
                    continue
                assert repr(ours.to_list()) == repr(theirs.to_list()), (name, key)
                compared += 1
    assert compared > 100
    assert min(versions) < 320
    assert max(versions) > 630


def test_histograms_and_graphs(root: Root, tmp_path: Path) -> None:
    """Objects that ROOT writes are read by ROOT and nyssa without streamer infos."""
    code = """
        #include "TF1.h"
        #include "TFile.h"
        #include "TGraphErrors.h"
        #include "TH2.h"
        #include "TProfile.h"
        #include "TParameter.h"
        #include "TLorentzVector.h"
        #include "TCanvas.h"
        void nyssa_known(const char *path) {
          TFile file(path, "RECREATE");
          TH1D one("one", "title", 4, 0, 1);
          one.Fill(0.3, 2.5);
          one.GetListOfFunctions()->Add(new TF1("line", "[0]*x", 0, 1));
          TH2F two("two", "", 2, 0, 1, 3, 0, 1);
          two.Fill(0.2, 0.9);
          TProfile profile("profile", "", 3, 0, 1);
          profile.Fill(0.5, 7);
          TGraphErrors graph(2);
          graph.SetPoint(1, 3, 4);
          graph.SetPointError(1, 0.5, 0.25);
          graph.Write("graph");
          TParameter<double>("parameter", 1.5).Write();
          TLorentzVector(1, 2, 3, 4).Write("vector");
          TCanvas("canvas", "", 10, 10).Write();
          TF1("alone", "gaus", -1, 1).Write();
          one.Write();
          two.Write();
          profile.Write();
        }
    """
    source = tmp_path / "source.root"
    root.call("cpp", code, f'nyssa_known("{source}");')
    file, bare = nyssa.open(source), nyssa.open(hidden(source, tmp_path / "bare.root"))
    assert bare.keys() == file.keys()
    assert len(bare) == 8
    for name in file:
        assert type(bare[name]) is type(file[name]), name
        assert repr(bare[name].to_py()) == repr(file[name].to_py()), name
        assert bare[name].bases == file[name].bases, name
    assert bare["one"].values().tolist() == [0, 2.5, 0, 0]
    assert bare["one"].member("fFunctions")[0].class_name == "TF1"
    assert bare["graph"].errors("mean", "x").tolist() == [0, 0.5]
    assert bare["parameter"].value == 1.5
    assert bare["canvas"].member("fCw") == file["canvas"].member("fCw")


FUNCTIONS = """
    #include "TClonesArray.h"
    #include "TF1.h"
    #include "TFile.h"
    #include "TObjArray.h"
    #include "TTree.h"
    void nyssa_functions(const char *path) {
      TFile file(path, "RECREATE");
      TTree tree("tree", "");
      auto *clones = new TClonesArray("TF1", 3);
      auto *array = new TObjArray;
      auto *list = new TList;
      tree.Branch("split", &clones, 32000, 99);
      tree.Branch("clones", &clones, 32000, 0);
      tree.Branch("array", &array, 32000, 0);
      tree.Branch("list", &list, 32000, 0);
      for (int i = 0; i < 4; i++) {
        clones->Clear("C");
        array->Clear();
        list->Clear();
        for (int k = 0; k < i; k++) {
          auto *one = new ((*clones)[k]) TF1(TString::Format("f%d", k), "[0]*x+[1]", 0, k + 1);
          one->SetParameters(i, k);
          array->Add(one);
          list->Add(one);
        }
        tree.Fill();
      }
      tree.Write();
      file.WriteObject(clones, "of_key");
    }
"""


def test_collections_of_functions(root: Root, tmp_path: Path) -> None:
    """Collections of `TF1` in trees are read with and without streamer infos."""
    source = tmp_path / "source.root"
    root.call("cpp", FUNCTIONS, f'nyssa_functions("{source}");')
    expected = [[(f"f{k}", k + 1, [i, k]) for k in range(i)] for i in range(4)]
    for path in (source, hidden(source, tmp_path / "bare.root")):
        file = nyssa.open(path)
        tree = file["tree"]
        for name in ("split", "clones", "array", "list"):
            entries = tree[name].array().tolist()
            found = [entry if name == "split" else entry["items"] for entry in entries]
            assert [
                [
                    (one[":_0"]["fName"], one["fXmax"], one["fFormula"]["fClingParameters"])
                    for one in entry
                ]
                for entry in found
            ] == expected, (path.name, name)
        assert tree["split/split.fXmax"].array().tolist() == [[1, 2, 3][:i] for i in range(4)]
        assert [one.member("fName") for one in file["of_key"]] == ["f0", "f1", "f2"]


def table() -> Iterator[tuple[str, int, list[tuple[Any, ...]]]]:
    """Yield class, version and members of each line of the tables."""
    for path in sorted(TABLES.glob("*.txt")):
        for line in path.read_text().splitlines():
            head, members = line.split(": ", 1)
            name, version = head.split(" ")[:2]
            yield name, int(version), [member(text) for text in members.split("; ") if text != "-"]


def member(text: str) -> tuple[Any, ...]:
    type_name, name = text.rsplit(" ", 1)
    name, _, brackets = name.partition("[")
    if type_name.startswith("base "):
        return (type_name.removeprefix("base "), "base", 0, "")
    sizes = [size for size in brackets.replace("]", "").split("[") if size]
    counter = "" if all(size.isdigit() for size in sizes) else sizes[0]
    length = int(np.prod([int(size) for size in sizes])) if sizes and not counter else 0
    code = NUMBERS.get(type_name.rstrip("*"))
    if code is not None:
        code += 40 if counter else 20 * bool(length)
    elif counter:
        code = 501
    elif type_name.endswith("*"):
        code = 64
    elif type_name.startswith(("vector<", "map<")):
        code = 500
    else:
        code = (65 if type_name == "TString" else 62) + 20 * bool(length)
    return (name, code, length, counter)


MEMBERS = """
    #include <fstream>
    #include "TClass.h"
    #include "TStreamerElement.h"
    #include "TVirtualStreamerInfo.h"
    void nyssa_members(const char *asked, const char *told) {
      std::ifstream in(asked);
      std::ofstream out(told);
      std::string name;
      for (int version; in >> version && std::getline(in >> std::ws, name);) {
        TClass *found = TClass::GetClass(name.c_str());
        if (!found || found->GetClassVersion() != version) continue;
        out << "class|" << version << "|" << name << "\\n";
        for (TObject *one : *found->GetStreamerInfo()->GetElements()) {
          auto *element = (TStreamerElement *)one;
          auto *basic = dynamic_cast<TStreamerBasicPointer *>(one);
          auto *loop = dynamic_cast<TStreamerLoop *>(one);
          out << element->GetName() << "|" << (element->IsBase() ? 0 : element->GetType()) << "|"
              << element->GetArrayLength() << "|"
              << (basic ? basic->GetCountName() : loop ? loop->GetCountName() : "") << "\\n";
        }
      }
    }
"""


def test_the_tables_are_roots(root: Root, tmp_path: Path) -> None:
    """Every version that this ROOT has equals the one in the tables, member by member."""
    ours = {(name, version): members for name, version, members in table() if version > 0}
    assert len(ours) > 120
    asked, told = tmp_path / "asked", tmp_path / "told"
    asked.write_text("".join(f"{version} {name}\n" for name, version in ours))
    root.call("cpp", MEMBERS, f'nyssa_members("{asked}", "{told}");')
    theirs: dict[tuple[str, int], list[tuple[Any, ...]]] = {}
    for line in told.read_text().splitlines():
        name, code, length, counter = (
            line.split("|") if line[:6] != "class|" else (*line.split("|"), "")
        )
        if name == "class":
            theirs[length, int(code)] = members = []
        elif code == "0":
            members.append((name, "base", 0, ""))
        else:
            members.append((name, SAME.get(int(code), int(code)), int(length), counter))
    # `TCanvas::Streamer` reads other data than its streamer info describes.
    del theirs["TCanvas", 8]
    assert len(theirs) > 120
    assert {key: ours[key] for key in theirs} == theirs
