"""Objects in objects: each is decoded by the class that is met, as ROOT does."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import nyssa
from nyssa.objects import Collection, Histogram, Object
from support.root import Root

WRITE = """
    #include <TCanvas.h>
    #include <TClonesArray.h>
    #include <TEfficiency.h>
    #include <TF1.h>
    #include <TFile.h>
    #include <TFitResult.h>
    #include <TFolder.h>
    #include <TGraph2D.h>
    #include <TGraphErrors.h>
    #include <TH2.h>
    #include <THStack.h>
    #include <THashList.h>
    #include <THn.h>
    #include <THnSparse.h>
    #include <TLatex.h>
    #include <TLegend.h>
    #include <TMap.h>
    #include <TMatrixDSym.h>
    #include <TMultiGraph.h>
    #include <TObjString.h>
    #include <TParameter.h>
    #include <TPaveText.h>
    #include <TProfile.h>
    #include <TRefArray.h>
    #include <TSpline.h>
    #include <TVector3.h>

    TObject *nyssa_object(TString what) {
      int n[] = {2};
      double low[] = {0}, high[] = {2}, x[] = {0.5}, five[] = {1, 2, 3, 4, 5};
      if (what == "TH1D") {
        auto h = new TH1D("h", "", 2, 0, 2);
        h->Fill(.5);
        return h;
      }
      if (what == "TH2D") return new TH2D("h2", "", 2, 0, 2, 2, 0, 2);
      if (what == "TProfile") return new TProfile("p", "", 2, 0, 2);
      if (what == "THnSparseD") {
        auto s = new THnSparseD("s", "", 1, n, low, high);
        s->Fill(x);
        return s;
      }
      if (what == "THnD") {
        auto s = new THnD("d", "", 1, n, low, high);
        s->Fill(x);
        return s;
      }
      if (what == "TF1") return new TF1("f", "x*[0]", 0, 1);
      if (what == "TGraph") return new TGraph(5, five, five);
      if (what == "TGraphErrors") return new TGraphErrors(5, five, five, five, five);
      if (what == "TGraph2D") return new TGraph2D(5, five, five, five);
      if (what == "TEfficiency") return new TEfficiency("e", "", 2, 0, 2);
      if (what == "TSpline3") return new TSpline3("spline", five, five, 5);
      if (what == "TVector3") return new TVector3(1, 2, 3);
      if (what == "TLatex") return new TLatex(.1, .2, "#alpha");
      if (what == "TParameter") return new TParameter<double>("x", 2.5);
      if (what == "TMatrixDSym") {
        auto m = new TMatrixDSym(2);
        (*m)(0, 1) = (*m)(1, 0) = 3;
        return m;
      }
      if (what == "TFolder") {
        auto folder = new TFolder("folder", "t");
        folder->AddFolder("below", "t")->Add(nyssa_object("TH1D"));
        return folder;
      }
      if (what == "THStack") {
        auto stack = new THStack("stack", "");
        stack->Add((TH1 *)nyssa_object("TH1D"), "hist");
        return stack;
      }
      if (what == "TMultiGraph") {
        auto graphs = new TMultiGraph("graphs", "");
        graphs->Add((TGraph *)nyssa_object("TGraph"), "lp");
        graphs->Add((TGraph *)nyssa_object("TGraphErrors"));
        graphs->GetListOfGraphs()->At(0);
        return graphs;
      }
      if (what == "TClonesArray") {
        auto all = new TClonesArray("TVector3", 2);
        new ((*all)[0]) TVector3(1, 2, 3);
        new ((*all)[1]) TVector3(4, 5, 6);
        return all;
      }
      if (what == "TMap") {
        auto map = new TMap;
        map->Add(new TObjString("one"), nyssa_object("TH1D"));
        map->Add(new TObjString("two"), nyssa_object("TGraph"));
        return map;
      }
      if (what == "fit") {
        auto h = (TH1 *)nyssa_object("TH1D");
        h->GetListOfFunctions()->Add(nyssa_object("TF1"), "same");
        auto text = new TPaveText(0, 0, 1, 1, "NDC");
        text->AddText("words");
        h->GetListOfFunctions()->Add(text);
        return h;
      }
      if (what == "TCanvas") {
        gROOT->SetBatch(true);
        auto canvas = new TCanvas("canvas", "", 300, 300);
        canvas->Divide(2, 1);
        canvas->cd(1);
        auto h = (TH1 *)nyssa_object("fit");
        h->Draw("hist e1");
        auto legend = new TLegend(0, 0, 1, 1);
        legend->AddEntry(h, "entry");
        legend->Draw();
        canvas->cd(2);
        nyssa_object("TMultiGraph")->Draw("alp");
        nyssa_object("TLatex")->Draw();
        return canvas;
      }
      if (what == "TList" || what == "THashList") {
        TList *list = what == "TList" ? new TList : new THashList;
        list->SetName("inner");
        for (auto one : {"TH1D", "TNamed", "TGraph"}) list->Add(nyssa_object(one));
        return list;
      }
      if (what == "deep") {
        auto list = new TList;
        list->Add(new TNamed("end", ""));
        for (int i = 0; i < 40; i++) {
          auto outer = new TList;
          outer->Add(list);
          outer->Add(list, "again");
          list = outer;
        }
        return list;
      }
      if (what == "cycle") {
        auto list = new TList;
        list->Add(new TNamed("before", ""));
        list->Add(list);
        return list;
      }
      return new TNamed("n", "t");
    }

    void nyssa_graphs(const char *path, const std::vector<std::string> &names) {
      TH1::AddDirectory(false);
      TFile file(path, "RECREATE");
      for (auto &name : names) {
        if (name.find(',') == std::string::npos && name != "TMatrixDSym,") {
          auto one = nyssa_object(name.c_str());
          one->Write(name.c_str(), TObject::kSingleKey);
          continue;
        }
        TList list;
        TObjArray array;
        auto words = TString(name).Tokenize(",");
        for (auto word : *words) {
          auto one = nyssa_object(((TObjString *)word)->String());
          list.Add(one, "hist e1");
          array.Add(one);
        }
        list.Write(name.c_str(), TObject::kSingleKey);
        array.Write((name + "array").c_str(), TObject::kSingleKey);
      }
      file.Close();
    }
"""

#: Classes that stand together in a list.
LISTS = (
    "TH1D,THnSparseD",
    "TH1D,THnSparseD,TGraph",
    "THnSparseD,TH1D,TGraph",
    "TNamed,THnSparseD,TGraph",
    "TH1D,TF1,TGraph",
    "TH1D,THnD,TGraph",
    "TH2D,TProfile,THnSparseD,TGraphErrors",
    "TH1D,TEfficiency,TGraph",
    "TH2D,THnSparseD,TEfficiency",
    "TMatrixDSym,TNamed",
    "TCanvas,TMap,TClonesArray,TFolder,THStack,TList,THashList",
    "TGraph2D,TSpline3,TVector3,TLatex,TParameter,TMatrixDSym,fit",
)
SINGLE = (
    "TFolder",
    "THStack",
    "TMultiGraph",
    "TClonesArray",
    "TMap",
    "fit",
    "TCanvas",
    "deep",
    "TGraph2D",
    "TSpline3",
    "TEfficiency",
)
#: Members that ROOT's JSON computes, or leaves out, and bits that matter in memory only.
LEFT_OUT = {"fBits", "fN", "fAllParametersSetted", "_blob"}


@pytest.fixture(scope="module")
def graphs(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of objects in objects that ROOT wrote."""
    path = tmp_path_factory.mktemp("graphs") / "graphs.root"
    names = ", ".join(f'"{name}"' for name in (*LISTS, *SINGLE, "cycle"))
    root.call("cpp", WRITE, f'nyssa_graphs("{path}", {{{names}}});')
    return path


def _differences(ours: Any, theirs: Any, place: str) -> list[Any]:
    """Compare JSON with ROOT's JSON of the same object."""
    if isinstance(theirs, dict) and "$pair" in theirs:
        theirs = [theirs["first"], theirs["second"]]
    if isinstance(theirs, dict) and isinstance(ours, dict):
        if theirs.get("name") == "ListOfColors":
            # ROOT makes it anew.
            return []
        if theirs.get("_typename") == "TMatrixTSym<double>":
            # ROOT's JSON lacks the elements.
            assert ours.pop("fElements") == [0, 3, 3, 0]
        found = []
        for name in sorted((set(ours) | set(theirs)) - LEFT_OUT):
            # Members of ROOT's own streamers have no name in its JSON.
            both = ours.get(name, "nothing"), theirs.get(name, "nothing")
            found += _differences(*both, f"{place}.{name}")
        return found
    if isinstance(theirs, dict) and "fArray" in theirs:
        theirs = theirs["fArray"]
    if isinstance(theirs, list) and isinstance(ours, list):
        if len(ours) != len(theirs):
            return [(place, ours, theirs)]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (a, b) in pairs for d in _differences(a, b, f"{place}[{i}]")]
    if isinstance(ours, float) and isinstance(theirs, (int, float)):
        same = ours == pytest.approx(theirs, rel=6e-7) or math.isnan(ours)
        return [] if same else [(place, ours, theirs)]
    return [] if ours == theirs else [(place, ours, theirs)]


@pytest.mark.parametrize("name", [*LISTS, *(f"{name}array" for name in LISTS), *SINGLE])
def test_objects_in_objects_are_those_of_root(name: str, graphs: Path, root: Root) -> None:
    ours = json.loads(json.dumps(nyssa.open(graphs)[name].tojson()))
    differences = _differences(ours, root.call("as_json", str(graphs), [name])[name], name)
    assert not differences, differences[:20]
