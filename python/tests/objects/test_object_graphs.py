"""Objects in objects: each is decoded by the class that is met, as ROOT does."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
import nyssa.objects.make
from nyssa.objects import Collection, Object, Undecoded
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


def test_options_of_lists_are_read_and_written(graphs: Path, root: Root, tmp_path: Path) -> None:
    """A list that is copied, and one that is made, have the options."""
    with nyssa.open(graphs) as file, nyssa.recreate(tmp_path / "out.root") as out:
        ours = file["TH1D,TF1,TGraph"]
        assert ours.options == ["hist e1"] * 3
        assert file["fit"].fFunctions.options == ["same", ""]
        out["copied"] = ours
        out["fit"] = file["fit"]
    texts = Collection("TList", (), {}, ())
    texts._members.update(items=[nyssa.objects.make.text("a")], options=["hist e1"], fName="mine")
    with nyssa.update(tmp_path / "out.root") as out:
        out["made"] = texts
    read = root.call("as_json", str(tmp_path / "out.root"), ["copied", "fit", "made"])
    assert read["copied"]["opt"] == ["hist e1"] * 3
    assert read["fit"]["fFunctions"]["opt"] == ["same", None]
    assert (read["made"]["opt"], read["made"]["arr"][0]["fString"]) == (["hist e1"], "a")


def test_pointers_to_one_object_give_one_object(graphs: Path, tmp_path: Path) -> None:
    file = nyssa.open(graphs)
    deep = file["deep"]
    while len(deep) == 2:
        assert deep[0] is deep[1]
        deep = deep[0]
    assert deep[0].name == "end"
    cycle = file["cycle"]
    assert cycle[1] is cycle
    assert cycle.tojson()["arr"][1] == {"$ref": 0}
    plain = cycle.to_py()
    assert plain[1] is plain
    with nyssa.recreate(tmp_path / "copied.root") as out:
        out["copied"] = cycle
    again = nyssa.open(tmp_path / "copied.root")["copied"]
    assert again[1] is again
    file.close()
    with (
        nyssa.recreate(tmp_path / "cycle.root") as out,
        pytest.raises(nyssa.UnsupportedError, match="leads to itself"),
    ):
        out["cycle"] = cycle


def test_what_is_not_decoded_is_named(root: Root, tmp_path: Path) -> None:
    """An object whose class nobody describes stands in a list with its class and the reason."""
    path = tmp_path / "exmap.root"
    code = """
        #include <TExMap.h>
        #include <TNamed.h>
        void nyssa_exmap(const char *path) {
          TFile file(path, "RECREATE");
          TList list;
          TExMap map;
          map.Add(1, 2, 3);
          TNamed named("after", "");
          list.Add(&map);
          list.Add(&named);
          list.Write("list", 1);
        }
    """
    root.call("cpp", code, f'nyssa_exmap("{path}");')
    found = nyssa.open(path)["list"]
    assert isinstance(found[0], Undecoded)
    assert (found[0].class_name, found[1].name) == ("TExMap", "after")
    assert "no streamer info of class TExMap" in repr(found[0])
    made = json.loads(json.dumps(found.tojson()))
    assert made["arr"][0] == {"_typename": "TExMap", "_undecoded": found[0].reason}
    [told] = nyssa.verify(path).objects.undecoded
    assert told.startswith("list;1: an object of class TExMap in it: the file has no streamer info")


ROOFIT = """
    #include <fstream>
    #include <RooMsgService.h>
    #include <RooDataSet.h>
    #include <RooAbsPdf.h>
    #include <RooLinkedList.h>
    #include <RooRealVar.h>
    #include <RooWorkspace.h>
    #include <TOrdCollection.h>
    #include <THashTable.h>
    #include <TSortedList.h>
    #include <TQObject.h>
    void nyssa_roofit(const char *path) {
      RooMsgService::instance().setGlobalKillBelow(RooFit::FATAL);
      TFile file(path, "RECREATE");
      RooWorkspace one("one");
      one.factory("SUM::model(f[0.5,0,1]*Gaussian::g(x[0,-10,10],m[0.25,-1,1],s[1,0.5,2]),"
                  "Exponential::e(x,c[-1,-2,0]))");
      one.var("x")->setBins(20);
      one.var("x")->setRange("signal", -1, 1);
      std::unique_ptr<RooDataSet> data{one.pdf("model")->generate(*one.var("x"), 50)};
      one.import(*data);
      one.Write();
      RooWorkspace two("two");
      two.factory("expr::e('a*b',a[1,0,2],b[2,0,3])");
      two.factory("SIMUL::sim(cat[one=1,two=2],one=Gaussian::g(y[0,1],a,b),two=Uniform::u(y))");
      two.factory("PROD::pp(Poisson::p(n[3,0,20],e),g)");
      two.Write();
      TNamed named("a", "b");
      RooLinkedList linked;
      linked.Add(&named);
      file.WriteObject(&linked, "linked");
      TOrdCollection ordered;
      THashTable table;
      TSortedList sorted;
      for (TCollection *all : std::initializer_list<TCollection *>{&ordered, &table, &sorted}) {
        all->Add(&named);
        all->Write(all->ClassName(), TObject::kSingleKey);
      }
      TQObject nothing;
      file.WriteObjectAny(&nothing, "TQObject", "nothing");
      file.Close();
    }
    void nyssa_variables(const char *path, const char *told) {
      TFile file(path);
      std::ofstream out(told);
      out << "{";
      for (auto name : {"one", "two"}) {
        auto space = file.Get<RooWorkspace>(name);
        out << (name[0] == 'o' ? "" : ",") << "\\"" << name << "\\": {";
        bool first = true;
        for (auto arg : space->allVars()) {
          auto var = static_cast<RooRealVar *>(arg);
          out << (first ? "" : ",") << "\\"" << var->GetName() << "\\": [" << var->getVal() << ","
              << var->getMin() << "," << var->getMax() << "," << var->getBins() << "]";
          first = false;
        }
        out << "}";
      }
      out << "}";
    }
"""


def test_workspaces_of_roofit(root: Root, tmp_path: Path) -> None:
    path, told = tmp_path / "roofit.root", tmp_path / "told.json"
    root.call("cpp", ROOFIT, f'nyssa_roofit("{path}");')
    root.call("cpp", "", f'nyssa_variables("{path}", "{told}");')
    file = nyssa.open(path)
    for name, theirs in json.loads(told.read_text()).items():
        space = file[name]
        assert isinstance(space._members["_classes"], Undecoded)
        nodes = {one.name: one for one in space.member("_allOwnedNodes").member("_list")}
        assert len(nodes) > len(theirs) > 3
        assert not [one for one in nodes.values() if isinstance(one, Undecoded)]
        ours = {}
        for key in theirs:
            axis = nodes[key].member("_binning")
            limits = [axis.member(one) for one in ("_xlo", "_xhi", "_nbins")]
            ours[key] = [nodes[key].member("_value"), *limits]
        assert ours == theirs
    [data] = file["one"].member("_dataList")
    assert data.class_name == "RooDataSet"
    told_by_verify = nyssa.verify(path).objects.undecoded
    assert len(told_by_verify) == 2
    assert all("RooWorkspace::CodeRepo" in one for one in told_by_verify)
    for name in ("linked", "TOrdCollection", "THashTable", "TSortedList"):
        assert [(one.name, one.title) for one in file[name]] == [("a", "b")], name
    assert file["nothing"].to_py() == {}


def test_a_function_in_two_versions(root: Root, data: Path, tmp_path: Path) -> None:
    """ROOT changed what a member of ``TF1`` is. Each object has the members of its version."""
    path = tmp_path / "two.root"
    source = data / "ttree/roottest/treeformula__formulaio__hsimple.31000.root"
    path.write_bytes(source.read_bytes())
    code = """
        #include <fstream>
        #include <TF1.h>
        #include <TH1.h>
        void nyssa_two(const char *path) {
          TFile file(path, "UPDATE");
          TF1("new", "gaus", 0, 1).Write();
          TH1D one("one", "", 3, 0, 1);
          one.GetListOfFunctions()->Add(new TF1("inside", "x", 0, 1));
          one.Write();
        }
        void nyssa_old(const char *path, const char *told) {
          TFile file(path);
          auto old = file.Get<TH1>("hpx")->GetFunction("gaus");
          std::ofstream out(told);
          out.precision(17);
          out << "[" << old->GetXmin() << "," << old->GetXmax() << "," << old->GetChisquare();
          for (int i = 0; i < old->GetNpar(); i++) out << "," << old->GetParameter(i);
          out << "]";
        }
    """
    root.call("cpp", code, f'nyssa_two("{path}");')
    root.call("cpp", "", f'nyssa_old("{path}", "{tmp_path / "told"}");')
    file = nyssa.open(path)
    old = file["hpx"].fFunctions[0]
    theirs = json.loads((tmp_path / "told").read_text())
    assert [old.fXmin, old.fXmax, old.fChisquare, *old.fParams] == theirs
    assert (file["new"].fFormula.class_name, file["new"].fFormula.fNdim) == ("TFormula", 1)
    assert file["one"].fFunctions[0].fFormula.fFormula == "x"
    assert not nyssa.verify(path).objects.undecoded


def test_a_collection_of_items_without_members_is_no_number(root: Root, tmp_path: Path) -> None:
    path = tmp_path / "empty.root"
    code = """
        #include <TClonesArray.h>
        #include <TTree.h>
        class NyssaNothing : public TObject { public: ClassDef(NyssaNothing, 1) };
        void nyssa_nothing(const char *path) {
          NyssaNothing::Class()->IgnoreTObjectStreamer();
          TFile file(path, "RECREATE");
          TTree tree("t", "");
          auto all = new TClonesArray("NyssaNothing");
          all->BypassStreamer();
          int n = 4;
          tree.Branch("all", &all, 32000, 99);
          tree.Branch("n", &n);
          new ((*all)[0]) NyssaNothing;
          tree.Fill();
          tree.Write();
        }
    """
    root.call("cpp", code, f'nyssa_nothing("{path}");')
    tree = nyssa.open(path)["t"]
    assert tree.arrays(["n"]).to_list() == [{"n": 4}]
    with pytest.raises(nyssa.UnsupportedError, match="only their number is stored"):
        tree.arrays(["all"])


def test_a_histogram_without_its_members_is_refused_by_name() -> None:
    """A file may say that a class of any members is a ``TH1D``."""
    made = nyssa.objects.Histogram("TH1D", ("TH1",), {}, ())
    for use in (made.values, made.to_numpy, made.axis, made.variances):
        with pytest.raises(nyssa.NotFoundError, match="class TH1D has no member 'fXaxis'"):
            use()
    made._members.update(fXaxis=Object("TAxis", (), {}, ()), fArray=[])
    with pytest.raises(nyssa.FormatError, match="member fXaxis of <TH1D> is of type Object"):
        made.values()
    sparse = nyssa.objects.SparseHistogram("THnSparseT<TArrayD>", (), {"fBinContent": None}, ())
    with pytest.raises(nyssa.FormatError, match="member fBinContent"):
        len(sparse)


_INFINITE = """
#include <TFile.h>
#include <TH1D.h>
#include <TList.h>
#include <TBufferJSON.h>
#include <fstream>
#include <limits>
void nyssa_infinite(const char* path, const char* json, int depth) {
  auto inf = std::numeric_limits<double>::infinity();
  TFile file(path, "RECREATE");
  TH1D h("h", "", 3, 0, 3);
  h.SetDirectory(nullptr);
  h.SetBinContent(1, inf);
  h.SetBinContent(2, -inf);
  h.SetBinContent(3, std::numeric_limits<double>::quiet_NaN());
  h.SetMaximum(inf);
  file.WriteObject(&h, "h");
  std::ofstream(json) << TBufferJSON::ToJSON(&h);
  auto *deep = new TList, *list = deep;
  for (int i = 0; i < depth; ++i) {
    auto *inner = new TList;
    list->Add(inner);
    list = inner;
  }
  file.WriteObject(deep, "deep");
}
"""


@pytest.fixture(scope="module")
def infinite(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("infinite") / "infinite.root"
    json_ = path.with_suffix(".json")
    root.call("cpp", _INFINITE, f'nyssa_infinite("{path}", "{json_}", 600)')
    return path


def test_json_has_numbers_that_are_not_finite_as_root_has_them(infinite: Path) -> None:
    def refused(text: str) -> None:
        pytest.fail(f"{text} is no JSON")

    # JSON.parse of JavaScript reads 2e308 as infinity, as Python does.
    theirs = json.loads(infinite.with_suffix(".json").read_text())
    text = json.dumps(nyssa.open(infinite)["h"].tojson())
    ours = json.loads(text, parse_constant=refused, parse_int=float)
    assert ours["fArray"] == theirs["fArray"] == [0, np.inf, -np.inf, None, 0]
    assert ours["fMaximum"] == theirs["fMaximum"] == np.inf


def test_objects_that_are_too_deep_for_python(infinite: Path) -> None:
    deep = nyssa.open(infinite)["deep"]
    for make in (deep.tojson, deep.to_py):
        with pytest.raises(nyssa.LimitError, match="objects in objects that are deeper than Py"):
            make()
