"""Objects of any class in columns and collections are as ROOT reads them, or refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from support.root import Root

LISTS = r"""
    #include <TBits.h>
    #include <TBox.h>
    #include <TClonesArray.h>
    #include <TCutG.h>
    #include <TEfficiency.h>
    #include <TEllipse.h>
    #include <TEntryList.h>
    #include <TEventList.h>
    #include <TF2.h>
    #include <TFile.h>
    #include <TGaxis.h>
    #include <TGraph2D.h>
    #include <TGraphAsymmErrors.h>
    #include <TH2Poly.h>
    #include <TH3.h>
    #include <THStack.h>
    #include <TLatex.h>
    #include <TLegend.h>
    #include <TLorentzVector.h>
    #include <TMacro.h>
    #include <TMatrixDSym.h>
    #include <TMultiGraph.h>
    #include <TObjString.h>
    #include <TParameter.h>
    #include <TPaveText.h>
    #include <TProfile3D.h>
    #include <TRandom3.h>
    #include <TTree.h>
    #include <TVectorD.h>

    template <class T> void nyssa_beside(const T &object) { object.Write(); }
    void nyssa_lists(const char *path, bool many) {
      TH1::AddDirectory(false);
      TFile file(path, "RECREATE");
      TTree tree("t", "");
      auto clones = new TClonesArray("TLorentzVector");
      auto list = new TList;
      auto array = new TObjArray;
      tree.Branch("clones", &clones, 32000, 0);
      tree.Branch("list", "TList", &list, 32000, 0);
      tree.Branch("array", "TObjArray", &array, 32000, 0);
      for (int i = 0; i < 3; i++) {
        clones->Clear();
        list->Clear();
        array->Clear();
        for (int k = 0; k < i; k++) {
          new ((*clones)[k]) TLorentzVector(k, i, 0, 1);
          auto h = new TH1F(Form("h%d", k), "", 2, 0, 2);
          h->Fill(.5);
          list->Add(h);
          array->Add(new TObjString("q"));
        }
        tree.Fill();
      }
      tree.Write();
      if (many) {
        nyssa_beside(TH1D("a", "", 2, 0, 2));
        nyssa_beside(TH2D("b", "", 2, 0, 2, 2, 0, 2));
        nyssa_beside(TH3D("c", "", 2, 0, 2, 2, 0, 2, 2, 0, 2));
        nyssa_beside(TProfile("p", "", 2, 0, 2));
        nyssa_beside(TProfile2D("p2", "", 2, 0, 2, 2, 0, 2));
        nyssa_beside(TProfile3D("p3", "", 2, 0, 2, 2, 0, 2, 2, 0, 2));
        nyssa_beside(TH1I("i", "", 2, 0, 2));
        nyssa_beside(TH1S("s", "", 2, 0, 2));
        nyssa_beside(TH1C("ch", "", 2, 0, 2));
        nyssa_beside(TH2F("b2", "", 2, 0, 2, 2, 0, 2));
        nyssa_beside(TGraph2D(2));
        nyssa_beside(TGraphErrors(2));
        nyssa_beside(TGraphAsymmErrors(2));
        nyssa_beside(TEfficiency("e", "", 2, 0, 2));
        nyssa_beside(TF2("f2", "x*y", 0, 1, 0, 1));
        nyssa_beside(TMatrixD(2, 2));
        nyssa_beside(TVectorD(2));
        nyssa_beside(TMatrixDSym(2));
        nyssa_beside(TLegend(.1, .1, .2, .2));
        nyssa_beside(TLatex(0, 0, "x"));
        nyssa_beside(TBox(0, 0, 1, 1));
        nyssa_beside(TEllipse(0, 0, 1));
        nyssa_beside(TPaveText(0, 0, 1, 1));
        nyssa_beside(TGaxis(0, 0, 1, 1, 0, 1));
        nyssa_beside(TParameter<int>("pi", 1));
        nyssa_beside(TCutG("cg", 2));
        nyssa_beside(TMacro("mac"));
        nyssa_beside(TMultiGraph("mg", ""));
        nyssa_beside(THStack("st", ""));
        nyssa_beside(TH2Poly("tp", "", 0, 2, 0, 2));
        nyssa_beside(TEntryList("el", ""));
        nyssa_beside(TEventList("ev", ""));
        nyssa_beside(TRandom3(1));
        nyssa_beside(TBits(3));
      }
      file.Close();
    }
"""


def _of(value: Any, name: str) -> Any:
    """Return a member of an object, also one of a base class."""
    if name in value:
        return value[name]
    below = (one for key, one in value.items() if key.startswith(":_") and isinstance(one, dict))
    return next((found for one in below if (found := _of(one, name)) is not None), None)


@pytest.mark.parametrize("many", [False, True])
def test_items_of_lists_do_not_depend_on_other_objects_of_the_file(
    many: bool, root: Root, tmp_path: Path
) -> None:
    """The limit of a column is 126 classes that pointers may lead to."""
    path = tmp_path / "lists.root"
    # Each process of tests has a ROOT of its own, and runs one of the cases or both.
    guarded = f"#ifndef NYSSA_LISTS\n#define NYSSA_LISTS\n{LISTS}\n#endif"
    root.call("cpp", guarded, f'nyssa_lists("{path}", {str(many).lower()});')
    with nyssa.open(path) as file:
        tree = file["t"]
        array = tree["array"].array().tolist()
        assert [[_of(one, "fString") for one in entry["items"]] for entry in array] == [
            [],
            ["q"],
            ["q", "q"],
        ]
        lists = tree["list"].array().tolist()
        assert [[_of(one, "fName") for one in entry["items"]] for entry in lists] == [
            [],
            ["h0"],
            ["h0", "h1"],
        ]
        clones = tree["clones"].array().tolist()
        assert [_of(_of(one, "fP"), "fX") for one in clones[2]["items"]] == [0, 1]
    assert nyssa.verify(path).sound is not False


NESTED = r"""
    #include <TBufferJSON.h>
    #include <TFile.h>
    #include <TH1.h>
    #include <TList.h>
    #include <TTree.h>
    #include <fstream>
    struct NyssaTree {
      int a = 4;
      std::vector<NyssaTree> below;
      ClassDef(NyssaTree, 1)
    };
    void nyssa_nested(const char *path) {
      TH1::AddDirectory(false);
      TFile file(path, "RECREATE");
      TTree tree("t", "");
      auto list = new TList;
      auto nested = new NyssaTree;
      tree.Branch("list", "TList", &list, 32000, 0);
      tree.Branch("nested", &nested, 32000, 0);
      auto inner = new TList, innermost = new TList;
      innermost->Add(new TNamed("name", ""));
      inner->Add(innermost);
      list->Add(inner);
      nested->below.resize(2);
      nested->below[1].a = 7;
      nested->below[1].below.resize(1);
      nested->below[1].below[0].a = 9;
      tree.Fill();
      tree.Write();
      file.WriteObject(nested, "object");
      std::ofstream(TString(path) + ".json") << TBufferJSON::ToJSON(nested);
      file.Close();
    }
"""


def test_what_has_no_place_in_a_column_is_refused_by_name(root: Root, tmp_path: Path) -> None:
    """As an object, a class that holds itself is read in any depth."""
    path = tmp_path / "nested.root"
    root.call("cpp", NESTED, f'nyssa_nested("{path}");')
    with nyssa.open(path) as file:
        with pytest.raises(nyssa.UnsupportedError, match="behind a pointer to TList has no place"):
            file["t"]["list"].array()
        with pytest.raises(nyssa.UnsupportedError, match="objects of their own class"):
            file["t"]["nested"].array()
        ours = file["object"].tojson()
    assert ours["below"][1]["below"][0]["a"] == 9
    theirs = json.loads(Path(f"{path}.json").read_text())
    assert json.loads(json.dumps(ours)) == theirs
    report = nyssa.verify(path)
    assert (report.sound, report.problems) == (False, [])
    [tree] = report.datasets
    assert [reason.split(":")[0] for reason in tree.unreadable] == ["list", "nested"]


CLONES = r"""
    #include <TClonesArray.h>
    #include <TFile.h>
    #include <TGraph.h>
    #include <TH2.h>
    #include <TProfile.h>
    #include <TTree.h>
    void nyssa_clones(const char *path) {
      TH1::AddDirectory(false);
      TFile file(path, "RECREATE");
      TClonesArray one("TH1D", 2), two("TH2F", 2), profiles("TProfile", 2), graphs("TGraph", 2);
      new (one[0]) TH1D("h0", "", 2, 0, 2);
      new (one[1]) TH1D("h1", "", 3, 0, 2);
      ((TH1 *)one[0])->Fill(.5);
      ((TH1 *)one[1])->Fill(1.9, 4);
      ((TH1 *)one[1])->Sumw2();
      new (two[0]) TH2F("two", "", 2, 0, 2, 2, 0, 2);
      ((TH2 *)two[0])->Fill(.5, 1.5);
      new (profiles[0]) TProfile("p", "", 2, 0, 2);
      ((TProfile *)profiles[0])->Fill(.5, 3);
      double x[] = {1, 2};
      new (graphs[0]) TGraph(2, x, x);
      one.Write("one", 1);
      two.Write("two", 1);
      profiles.Write("profiles", 1);
      graphs.Write("graphs", 1);
      TTree tree("t", "");
      auto pointer = &one;
      tree.Branch("one", &pointer, 32000, 0);
      tree.Fill();
      tree.Write();
      file.Close();
    }
"""


def test_histograms_in_clones_arrays_are_those_of_root(root: Root, tmp_path: Path) -> None:
    """In objects that are streamed member by member, ROOT splits the `TArrayD` of a histogram."""
    path = tmp_path / "clones.root"
    root.call("cpp", CLONES, f'nyssa_clones("{path}");')
    theirs = root.call("as_json", str(path), ["one", "two", "profiles", "graphs"])
    with nyssa.open(path) as file:
        for name in ("one", "two", "profiles"):
            for ours, expected in zip(file[name], theirs[name]["arr"], strict=True):
                assert ours.class_name == expected["_typename"]
                assert ours.name == expected["fName"]
                np.testing.assert_array_equal(ours.fArray, expected["fArray"])
                np.testing.assert_array_equal(ours.fSumw2, expected["fSumw2"])
                assert ours.fEntries == expected["fEntries"]
        np.testing.assert_array_equal(file["graphs"][0].fX, theirs["graphs"]["arr"][0]["fX"])
        [entry] = file["t"]["one"].array().tolist()
        for ours, expected in zip(entry["items"], theirs["one"]["arr"], strict=True):
            assert list(ours[":_1"]) == expected["fArray"]
    assert nyssa.verify(path).sound is not False


MAPS = r"""
    #pragma once
    #include <TObject.h>
    #include <map>
    #include <string>
    #include <vector>
    struct NyssaInner {
      int x = 1;
      double y = 2;
    };
    struct NyssaMaps {
      std::map<std::string, NyssaInner> by_name;
      std::map<std::pair<int, int>, std::vector<NyssaInner>> by_pair;
      std::map<int, std::map<int, NyssaInner>> nested;
    };
"""


def _classes(value: Any) -> list[str]:
    """Return the classes of all objects in JSON but pairs, in their order."""
    if isinstance(value, list):
        return [one for item in value for one in _classes(item)]
    if not isinstance(value, dict):
        return []
    own = value.get("_typename", value.get("$pair", ""))
    return [*([] if own.startswith("pair<") else [own]), *_classes(list(value.values()))]


def test_objects_in_maps_have_their_class(root: Root, tmp_path: Path) -> None:
    header = tmp_path / "maps.h"
    header.write_text(MAPS)
    types = [
        "NyssaInner",
        "NyssaMaps",
        "map<string,NyssaInner>",
        "map<pair<int,int>,vector<NyssaInner>>",
        "map<int,map<int,NyssaInner>>",
    ]
    root.call("dictionaries", types, [str(header)])
    path = tmp_path / "maps.root"
    code = f"""
        #include "{header}"
        #include <TBufferJSON.h>
        #include <TFile.h>
        #include <fstream>
        void nyssa_maps(const char *path) {{
          TFile file(path, "RECREATE");
          NyssaMaps maps;
          maps.by_name["k"].x = 3;
          maps.by_pair[{{1, 2}}].resize(2);
          maps.nested[1][2].x = 8;
          file.WriteObject(&maps, "maps");
          file.WriteObject(&maps.by_name, "bare");
          std::ofstream(TString(path) + ".json") << TBufferJSON::ToJSON(&maps);
        }}
    """
    root.call("cpp", code, f'nyssa_maps("{path}");')
    theirs = json.loads(Path(f"{path}.json").read_text())
    with nyssa.open(path) as file:
        ours = file["maps"]
        assert _classes(ours.tojson()) == _classes(theirs)
        [(name, value)] = file["bare"]
        assert (name, value.class_name, value.x) == ("k", "NyssaInner", 3)
        [(pair, values)] = ours.by_pair
    assert pair == (1, 2)
    assert [one.class_name for one in values] == ["NyssaInner"] * 2


TYPEDEFS = r"""
    #include <TFile.h>
    #include <TMatrixD.h>
    #include <TMatrixDSym.h>
    #include <TTree.h>
    #include <TVectorD.h>
    #include <TVectorF.h>
    void nyssa_typedefs(const char *path) {
      TFile file(path, "RECREATE");
      TTree tree("t", "");
      auto m = new TMatrixD(2, 2);
      auto v = new TVectorD(3);
      auto f = new TVectorF(3);
      auto s = new TMatrixDSym(2);
      tree.Branch("m", "TMatrixD", &m, 32000, 0);
      tree.Branch("v", "TVectorD", &v, 32000, 0);
      tree.Branch("f", "TVectorF", &f, 32000, 0);
      tree.Branch("s", "TMatrixDSym", &s, 32000, 0);
      for (int i = 0; i < 3; i++) {
        (*m)[0][1] = i;
        (*v)[1] = (*f)[1] = i;
        (*s)[0][1] = (*s)[1][0] = i;
        tree.Fill();
      }
      tree.Write();
      file.Close();
    }
"""


def test_branches_of_typedefs_of_root_are_read(root: Root, tmp_path: Path) -> None:
    path = tmp_path / "typedefs.root"
    root.call("cpp", TYPEDEFS, f'nyssa_typedefs("{path}");')
    with nyssa.open(path) as file:
        values = {name: file["t"][name].array().tolist() for name in "mvfs"}
    for i in range(3):
        elements = {name: list(_of(entries[i], "fElements")) for name, entries in values.items()}
        assert elements == {
            "m": [0, i, 0, 0],
            "v": [0, i, 0],
            "f": [0, i, 0],
            "s": [0, i, i, 0],
        }


SAME = r"""
    #include <TFile.h>
    #include <TList.h>
    #include <TTree.h>
    #include <vector>
    struct NyssaSame {{
      {members}
      ClassDef(NyssaSame, {version})
    }};
    struct NyssaHolder {{
      NyssaSame same;
      ClassDef(NyssaHolder, 1)
    }};
    void nyssa_same(const char *path, const char *name) {{
      TFile file(path, "RECREATE");
      NyssaSame same;
      file.WriteObject(&same, name);
      NyssaHolder holder;
      file.WriteObject(&holder, TString("holder") + name);
      TNamed("beside", "").Write(TString("beside") + name);
    }}
    void nyssa_same_tree(const char *path) {{
      TFile file(path, "RECREATE");
      TTree tree("t", "");
      auto holder = new NyssaHolder;
      tree.Branch("holder", &holder, 32000, 0);
      tree.Fill();
      tree.Write();
      file.Close();
    }}
"""


@pytest.mark.parametrize("version", [1, 2])
def test_one_version_with_other_members_is_refused(version: int, tmp_path: Path) -> None:
    """ROOT writes the number of the version only, and reads by the first description of it."""
    paths = [tmp_path / "a.root", tmp_path / "b.root"]
    trees = [tmp_path / "a_tree.root", tmp_path / "b_tree.root"]
    for path, tree, members in zip(
        paths, trees, ("int a = 1; int b = 2;", "int b = 2; int a = 1;"), strict=True
    ):
        own = Root()
        try:
            code = SAME.format(members=members, version=version)
            own.call("cpp", code, f'nyssa_same("{path}", "{path.stem}");')
            own.call("cpp", "", f'nyssa_same_tree("{tree}");')
        except RuntimeError as error:
            pytest.skip(f"no ROOT for this Python: {error}")
        finally:
            own.close()

    def check(path: Path) -> None:
        with nyssa.open(path) as file:
            kept = set(file.keys(cycle=False))
            for name in kept & {"a", "b"}:
                assert (file[name].a, file[name].b) == (1, 2)
            for name in kept & {"holdera", "holderb"}:
                assert (file[name].same.a, file[name].same.b) == (1, 2)
            assert {"besidea", "besideb"} <= kept

    out = tmp_path / "out.root"
    with pytest.raises(nyssa.UnsupportedError, match=r"version . of class NyssaSame"):
        nyssa.merge(paths, out)
    assert not out.exists()
    report = nyssa.merge(paths, out, skip_unsupported=True)
    assert sum("NyssaSame" in one for one in report["left_out"]) == 2
    check(out)
    with (
        nyssa.recreate(tmp_path / "copy.root") as copy,
        nyssa.open(paths[0]) as first,
        nyssa.open(paths[1]) as second,
    ):
        copy.copy_from(first)
        copy["besideb"] = second["besideb"]
        for name in ("b", "holderb"):
            with pytest.raises(nyssa.UnsupportedError, match="with other members"):
                copy[name] = second[name]
    check(tmp_path / "copy.root")
    with pytest.raises(nyssa.NyssaError, match=r"NyssaSame|fCheckSum"):
        nyssa.merge(trees, tmp_path / "tree.root")
