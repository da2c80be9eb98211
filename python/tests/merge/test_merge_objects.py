"""Objects beside datasets become what ROOT's merger makes of them, or are refused by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from nyssa import errors
from support.root import Root

#: Writes objects of many classes; the contents depend on the number of the file.
MANY = r"""
#include <TEfficiency.h>
#include <TEntryList.h>
#include <TEventList.h>
#include <TGraphAsymmErrors.h>
#include <TGraphBentErrors.h>
#include <TH2Poly.h>
#include <THn.h>
#include <THnSparse.h>
#include <THStack.h>
#include <TCutG.h>
#include <TMap.h>
#include <TObjString.h>
#include <TParameter.h>
#include <TProfile3D.h>
#include <TRandom3.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TTree.h>
int gNyssaNumber = 0;
TH1D* nyssa_filled(const char* name, int i) {
   auto h = new TH1D(name, "", 4, 0, 4); h->SetDirectory(nullptr);
   for (int k = 0; k <= i; k++) h->Fill(i + 0.5);
   return h;
}
template <class T> void nyssa_parameters(const char* type) {
   const double values[][3] = {{1, 1, 1}, {1, 1, 2}, {2, 3, 3}, {3, 2, 3}, {0, 0, 0}};
   for (const char* mode : {"", "+", "*", "M", "m", "f", "l"})
     for (auto& three : values) {
       TParameter<T> p("", T(three[gNyssaNumber]), *mode ? *mode : '+');
       p.Write(Form("%s %s %g%g%g", type, mode, three[0], three[1], three[2])); }
}
void nyssa_constants(TString path, int i) {
   TFile f(path, "RECREATE"); gNyssaNumber = i;
   nyssa_parameters<int>("int"); nyssa_parameters<double>("double");
   nyssa_parameters<float>("float"); nyssa_parameters<bool>("bool"); f.Close();
}
void nyssa_selections(TString path, int i) {
   TFile f(path, "RECREATE");
   const char* titles[][3] = {{"a", "b > 1 && c", "a"}, {"", "b", ""}, {"a", "", "c"},
                              {"", "", ""}, {" ", "a||b", "long title of a list"}};
   for (int k = 0; k < 5; k++) { TEventList e("e", titles[k][i]); e.SetDirectory(nullptr);
     e.Enter(i); f.WriteTObject(&e, Form("e%d", k)); }
   f.Close();
}
void nyssa_merged_classes(TString path, int i) {
   TFile f(path, "RECREATE"); TRandom3 r(7 + i);
   { TH1D h("filled", "", 5, 0, 4); for (int k = 0; k < 20; k++) h.Fill(r.Gaus(2, 2), r.Rndm());
     h.Write(); }
   { TH1F h("bins", "", 5, 0, 4); for (int b = 0; b <= 6; b++) h.SetBinContent(b, b + i + .5);
     h.Write(); }
   { TH1D h("mixed", "", 5, 0, 4); if (i == 1) for (int k = 0; k < 9; k++) h.Fill(9.5 * r.Rndm());
     else for (int b = 0; b <= 6; b++) h.SetBinContent(b, b + .5); h.Write(); }
   { TH1D h("errors", "", 5, 0, 4); if (i == 1) h.Sumw2();
     for (int b = 1; b <= 5; b++) { h.SetBinContent(b, b + i);
       if (i == 1) h.SetBinError(b, .3 * b); } h.Write(); }
   { TH1D h("range", "", 5, 0, 4); for (int k = 0; k < 30; k++) h.Fill(4 * r.Rndm());
     h.GetXaxis()->SetRange(2, 4); h.Write(); }
   { TH1D h("overflows", "", 5, 0, 4); h.SetStatOverflows(TH1::kConsider);
     for (int b = 0; b <= 6; b++) h.SetBinContent(b, b + i + .5); h.Write(); }
   { double e[] = {0, 1, 1.5, 4}; TH1D h("edges", "", 3, e);
     for (int b = 0; b <= 4; b++) h.SetBinContent(b, b + i + .5); h.Write(); }
   { TH2D h("bins2", "", 3, 0, 3, 2, 0, 4); for (int b = 0; b < 20;
     b++) h.SetBinContent(b, b + i + .5); h.Write(); }
   { TH2D h("range2", "", 3, 0, 3, 2, 0, 4); for (int b = 0; b < 30;
     b++) h.Fill(r.Uniform(3), r.Uniform(4));
     h.GetYaxis()->SetRange(2, 2); h.Write(); }
   { TH3D h("bins3", "", 3, 0, 3, 2, 0, 4, 2, 1, 2); for (int b = 0; b < 80;
     b++) h.SetBinContent(b, b + i); h.Write(); }
   { TProfile h("profile", "", 3, 0, 3); for (int b = 0; b < 5; b++) {
     h.SetBinContent(b, b + i + .5); h.SetBinEntries(b, b + 1); } h.Write(); }
   { TProfile2D h("profile2", "", 3, 0, 3, 2, 0, 2); for (int b = 0; b < 20; b++) {
     h.SetBinContent(b, b + i); h.SetBinEntries(b, b + 1); } h.Write(); }
   { TProfile3D h("profile3", "", 3, 0, 3, 2, 0, 2, 2, 0, 2); for (int b = 0; b < 80; b++) {
     h.SetBinContent(b, b + i); h.SetBinEntries(b, b + 1); } h.Write(); }
   { TH1D h("labels", "", 2, 0, 2); h.SetCanExtend(TH1::kAllAxes); h.Fill("a", 1 + i);
     h.Fill("b", 2); h.LabelsDeflate(); h.Write(); }
   { TH1D h("first is empty", "", 2, 0, 2); if (i) h.Fill(.5); h.Write(); }
   int n[] = {2, 3}; double lo[] = {0, 0}, hi[] = {2, 3};
   auto fill = [&](THnBase& h) { for (int k = 0; k < 9; k++) {
     double x[] = {r.Uniform(3) - .5, r.Uniform(3)}; h.Fill(x, 1.5); } h.Write(); };
   { THnD h("dense", "", 2, n, lo, hi); fill(h); }
   { THnF h("dense errors", "", 2, n, lo, hi); h.Sumw2(); fill(h); }
   for (bool errors : {false, true}) {
      TH2Poly h(errors ? "polygon errors" : "polygons", "", 0, 2, 0, 2); if (errors) h.Sumw2();
      h.AddBin(0, 0, 1, 1); h.AddBin(1, 1, 2, 2);
      for (int k = 0; k < 20; k++) h.Fill(r.Uniform(2.5), r.Uniform(2.5) - .2, 1.5);
      h.Write(); }
   { TEfficiency e("efficiency", "", 4, 0, 4); for (int k = 0; k < i + 9;
     k++) e.Fill(k % 2, r.Uniform(4)); e.Write(); }
   { TEfficiency e("efficiency2", "", 2, 0, 4, 2, 0, 2); e.SetWeight(2 + i);
     for (int k = 0; k < i + 9; k++) e.Fill(k % 2, r.Uniform(4), r.Uniform(2)); e.Write(); }
   double x[] = {i + 0., 2}, y[] = {3, 4. + i};
   { TGraphBentErrors g(2, x, y, x, y, x, y, y, x, y, x); g.Write("bent"); }
   { TGraphAsymmErrors g(2, x, y, y, x, x, y); g.Write("asymmetric"); }
   { TCutG c("cut", 2, x, y); c.Write(); }
   { THStack s("stack", ""); s.Add(nyssa_filled("a", i)); s.Add(nyssa_filled("b", i)); s.Write(); }
   { TList l; l.Add(nyssa_filled("a", i), "hist e1"); auto g = new TGraph(2, x, y);
     g->SetName("g"); l.Add(g);
     auto inner = new TList; inner->SetName("inner"); inner->Add(nyssa_filled("b", i));
       l.Add(inner); l.Write("list", 1); }
   { TObjArray l; l.Add(nyssa_filled("a", i)); l.Add(nyssa_filled("b", i)); l.Write("array", 1); }
   { THashList l; l.Add(nyssa_filled("a", i)); l.Write("hash list", 1); }
   f.Close();
}
void nyssa_one(TString path, TString what, int i) {
   TFile f(path, "UPDATE"); int n[] = {2}; double lo[] = {0}, hi[] = {2};
   if (what == "sparse") { THnSparseD h("o", "", 1, n, lo, hi); double x = .5; h.Fill(&x);
     h.Write(); }
   if (what == "entries") { TEntryList l("o", ""); l.Enter(i); l.Write(); }
   if (what == "events") { TEventList l("o", ""); l.Enter(3 + i); l.Enter(7); l.Write(); }
   if (what == "string") TObjString(Form("%d", i)).Write("o");
   if (what == "equal") TObjString("equal").Write("o");
   if (what == "map") { TMap m; m.Add(new TObjString("k"), new TObjString(Form("%d", i)));
     m.Write("o", 1); }
   if (what == "vector") { std::vector<double> v{1. * i}; f.WriteObject(&v, "o"); }
   if (what == "longer") { TList l; l.Add(nyssa_filled("a", 1));
     if (i) l.Add(nyssa_filled("b", 1)); l.Write("o", 1); }
   if (what == "swapped") { TList l; l.Add(nyssa_filled(i ? "b" : "a", 1));
     l.Add(nyssa_filled(i ? "a" : "b", 1)); l.Write("o", 1); }
   if (what == "strings") { TList l; l.Add(new TObjString(Form("%d", i))); l.Write("o", 1); }
   if (what == "equal strings") { TList l; l.Add(nyssa_filled("a", i));
     l.Add(new TObjString("x")); l.Write("o", 1); }
   if (what == "twice") { TList l; auto h = nyssa_filled("a", 1); l.Add(h); l.Add(h);
     l.Write("o", 1); }
   if (what == "classes" && i) { TH1D h("o", "", 2, 0, 2); h.Write(); }
   if (what == "classes" && !i) { TH1F h("o", "", 2, 0, 2); h.Write(); }
   if (what == "axes") { TH1D h("o", "", 2 + i, 0, 2); h.Write(); }
   if (what == "axes of graphs") { double x[] = {i + 0., 2}, y[] = {3, 4. + i};
     auto drawn = [&](TGraph&& g) { if (!i) { g.GetXaxis()->SetTitle("mass [GeV]");
       g.GetXaxis()->SetLimits(-5, 50); g.GetYaxis()->SetTitle("events"); }
       g.Write(g.ClassName()); };
     drawn(TGraph(2, x, y)); drawn(TGraphErrors(2, x, y)); drawn(TGraphAsymmErrors(2, x, y)); }
   if (what == "directory") { if (i) f.mkdir("o")->mkdir("below")->cd();
     TH1D h(i ? "x" : "o", "", 2, 0, 2); h.Write(); }
   if (what == "references") { static TNamed n("n", "t"); TRefArray refs; refs.Add(&n);
     TList l; l.Add(new TRefArray(refs)); l.Write("o", 1); }
   if (what == "sorted") { double x[] = {1. - i, 2. - i}; TGraph g(2, x, x);
     g.SetBit(TGraph::kIsSortedX); g.Write("o"); }
   if (what == "deep") { double x[] = {i + 0.}, y[] = {3}; TGraph top(1, x, y); auto deep = &top;
     for (int k = 0; k < 60; k++) { auto below = new TGraph(1, x, y);
       deep->GetListOfFunctions()->Add(below); deep = below; }
     top.Write("o"); }
   if (what == "directories") {
     TH1D h("h", "", 2, 0, 2); h.Write();
     f.mkdir(Form("only%d", i), "title of one")->mkdir("deep", "title of deep");
     f.mkdir("both", Form("title %d", i))->mkdir(Form("inner%d", i), "title of inner");
     f.mkdir(Form("full%d", i), "title of full")->cd(); h.Write(); f.mkdir("full0/later"); }
   if (what == "empty directory") { if (i) f.mkdir("o"); else { TH1D h("o", "", 2, 0, 2);
     h.Write(); } }
   if (what == "cycles") { TTree t("t", ""); int x = i; t.Branch("x", &x); t.Fill(); t.Write();
     t.Fill(); t.Write(); TH1D h("h", "", 2, 0, 2); h.Write(); h.Fill(.5); h.Write();
     if (!i) { TH1D g("alone", "", 2, 0, 2); g.Write(); g.Write(); } }
   if (what == "average") { TH1D h("o", "", 2, 0, 2); h.SetBit(TH1::kIsAverage); h.Fill(.5);
     h.Write(); }
   f.Close();
}
TObject* nyssa_item(TString what, int i) {
   TObject* made = nullptr; double x[] = {i + 0., 2}, y[] = {3, 4. + i};
   if (what == "TEfficiency") { auto e = new TEfficiency(what, "", 2, 0, 2);
     e->SetBetaBinParameters(1, 3, 4); e->Fill(i % 2, .5); made = e; }
   if (what == "TH2Poly") { auto p = new TH2Poly(what, "", 0, 2, 0, 2); p->AddBin(0, 0, 1, 1);
     p->AddBin(1, 1, 2, 2); for (int k = 0; k <= i; k++) p->Fill(.5, .5); made = p; }
   if (what == "TGraph") made = new TGraph(2, x, y);
   if (what == "TCutG") made = new TCutG(what, 2, x, y);
   if (what == "TGraphErrors") made = new TGraphErrors(2, x, y, y, x);
   if (what == "THStack") { auto s = new THStack(what, ""); s->Add(nyssa_filled("a", i));
     made = s; }
   if (what == "TH1D") made = nyssa_filled(what, i);
   return made;
}
void nyssa_pairs(TString path, int i) {
   TFile f(path, "RECREATE"); TH1::AddDirectory(false);
   for (TString one : {"TEfficiency", "TH2Poly", "TGraph", "TCutG", "TGraphErrors", "THStack",
                       "TH1D"})
     for (TString two : {"TEfficiency", "TH2Poly", "TGraph", "TCutG", "TGraphErrors", "THStack"}) {
       if (one == two) continue;
       TList l; l.Add(nyssa_item(one, i)); l.Add(nyssa_item(two, i));
       l.Write(one + "-" + two, 1); }
   f.Close();
}
void nyssa_alone(TString path, int i) {
   TFile f(path, "RECREATE"); TH1::AddDirectory(false);
   for (TString one : {"TEfficiency", "TH2Poly", "TGraph", "TCutG", "TGraphErrors", "THStack",
                       "TH1D"})
     nyssa_item(one, i)->Write(one);
   f.Close();
}
"""


def inputs(root: Root, folder: Path, function: str, *arguments: str, count: int = 3) -> list[str]:
    """Let ROOT write files by a function of `MANY`."""
    paths = [str(folder / f"{number}.root") for number in range(count)]
    for number, path in enumerate(paths):
        given = ", ".join([f'"{path}"', *(f'"{one}"' for one in arguments), str(number)])
        guarded = f"#ifndef NYSSA_MERGED\n#define NYSSA_MERGED\n{MANY}\n#endif"
        root.call("cpp", guarded, f"{function}({given})")
    return paths


def differences(ours: Any, theirs: Any, path: str) -> list[str]:
    """List the members that differ, but for bits of memory."""
    if isinstance(ours, dict) and isinstance(theirs, dict):
        names = (ours.keys() | theirs.keys()) - {"fBits"}
        return [d for n in names for d in differences(ours.get(n), theirs.get(n), f"{path}.{n}")]
    if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for n, (a, b) in pairs for d in differences(a, b, f"{path}[{n}]")]
    if isinstance(ours, (int, float)) and isinstance(theirs, (int, float)):
        return (
            [] if np.isclose(ours, theirs, rtol=1e-11, atol=1e-11) else [f"{path}: {ours} {theirs}"]
        )
    return [] if ours == theirs else [f"{path}: {ours} {theirs}"]


def references(one: Any) -> list[int]:
    """List the numbers of the objects that others in an object refer to."""
    if isinstance(one, dict):
        return [one["$ref"]] if "$ref" in one else references([*one.values()])
    return [n for item in one for n in references(item)] if isinstance(one, list) else []


def test_every_member_is_that_of_hadd(tmp_path: Path, root: Root) -> None:
    """Contents, errors, entries, sums, names and options of 28 objects."""
    paths = inputs(root, tmp_path, "nyssa_merged_classes")
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    report = nyssa.merge(paths, merged)
    assert not report["notes"]
    assert not report["left_out"]
    assert root.call("hadd", hadd, paths)
    with nyssa.open(merged) as file:
        names = file.keys(cycle=False)
    assert len(names) == 28
    ours, theirs = (root.call("as_json", path, names) for path in (merged, hadd))
    for name in names:
        assert not differences(ours[name], theirs[name], name)
    with nyssa.open(merged) as file:
        assert file["bins"].member("fEntries") == 21


def test_lists_of_entries(tmp_path: Path, root: Root) -> None:
    paths = inputs(root, tmp_path, "nyssa_one", "events")
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    ours, theirs = (root.call("as_json", path, ["o"])["o"] for path in (merged, hadd))
    assert ours["fList"] == theirs["fList"] == [3, 4, 5, 7]
    assert ours["fN"] == theirs["fN"]


def test_selections_of_lists_of_entries(tmp_path: Path, root: Root) -> None:
    """The titles of the objects and of their keys."""
    paths = inputs(root, tmp_path, "nyssa_selections")
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    names = [f"e{number}" for number in range(5)]
    ours, theirs = (root.call("as_json", path, names) for path in (merged, hadd))
    assert [ours[name]["fTitle"] for name in names] == [theirs[name]["fTitle"] for name in names]
    assert theirs["e0"]["fTitle"] == "((a)||(b > 1 && c))||(a)"
    ours, theirs = (root.call("contents", path) for path in (merged, hadd))
    assert [ours[f"{name};1"][:2] for name in names] == [theirs[f"{name};1"][:2] for name in names]


def test_parameters_that_are_no_longer_constant(tmp_path: Path, root: Root) -> None:
    """`TParameter::IsConst`, in all ways of merging: ROOT compares with what the values became."""
    paths = inputs(root, tmp_path, "nyssa_constants")
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    with nyssa.open(hadd) as file:
        names = file.keys(cycle=False)
    assert len(names) == 4 * 7 * 5
    ours, theirs = (root.call("as_json", path, names) for path in (merged, hadd))
    assert {theirs[name]["fBits"] >> 21 & 1 for name in names} == {0, 1}
    for name in names:
        assert ours[name]["fVal"] == theirs[name]["fVal"], name
        assert ours[name]["fBits"] >> 14 == theirs[name]["fBits"] >> 14, name


def test_directories_of_later_inputs(tmp_path: Path, root: Root) -> None:
    """Empty ones stay, also inside others, with their titles."""
    paths = inputs(root, tmp_path, "nyssa_one", "directories")
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    ours, theirs = (root.call("contents", path) for path in (merged, hadd))
    assert theirs.keys() >= {"only1;1", "only2/deep;1", "both/inner2;1"}
    assert {name: what[:2] for name, what in ours.items()} == {
        name: what[:2] for name, what in theirs.items()
    }


@pytest.mark.parametrize("order", [1, -1])
def test_an_empty_directory_and_an_object_of_its_name(
    tmp_path: Path, root: Root, order: int
) -> None:
    """ROOT's merger fails, or writes two keys of one name, which nyssa refuses."""
    paths = inputs(root, tmp_path, "nyssa_one", "empty directory", count=2)[::order]
    merged, hadd = tmp_path / "merged.root", str(tmp_path / "hadd.root")
    assert root.call("hadd", hadd, paths) == (order == -1)
    with pytest.raises(errors.ArgumentError, match="but an input before has a"):
        nyssa.merge(paths, merged)
    report = nyssa.merge(paths, merged, skip_unsupported=True)
    assert [one.split(" ")[0] for one in report["left_out"]] == ["o;1"]


def test_other_cycles_are_named(tmp_path: Path, root: Root) -> None:
    """The newest cycles are merged, as by ROOT. The others are named once for all inputs."""
    paths = inputs(root, tmp_path, "nyssa_one", "cycles")
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    report = nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    where = f"cycle 2 of it was merged (in {paths[0]} and 2 more inputs)"
    assert report["left_out"] == [f"h;1 (TH1D): {where}", f"t;1 (TTree): {where}"]
    assert f"left out TTree t;1: {where}" in report["notes"]
    for name in ("h", "t"):
        ours, theirs = (root.call("as_json", path, [name])[name] for path in (merged, hadd))
        assert ours["fEntries"] == theirs["fEntries"]
    with nyssa.open(merged) as file:
        assert {"alone;1", "alone;2"} <= set(file.keys())
    trees = nyssa.merge([f"{paths[0]}:t;1", f"{paths[1]}:t"], merged, carry=False, force=True)
    others = [one for one in trees["left_out"] if one.startswith("t;")]
    assert others == [
        f"t;1 (TTree): cycle 2 of it was merged (in {paths[1]})",
        f"t;2 (TTree): cycle 1 of it was merged (in {paths[0]})",
    ]
    assert nyssa.merge(paths[:1], merged, force=True)["left_out"] == [
        f"t;1 (TTree): cycle 2 of it was merged (in {paths[0]})"
    ]
    both = nyssa.merge([f"{paths[0]}:t;1", f"{paths[0]}:t;2"], merged, carry=False, force=True)
    assert not [one for one in both["left_out"] if one.startswith("t;")]


@pytest.mark.parametrize(
    ("what", "why"),
    [
        ("sparse", r"ROOT merges a THnSparseT<TArrayD>, and nyssa cannot"),
        ("entries", r"ROOT merges a TEntryList, and nyssa cannot"),
        ("longer", r"it has 2 items, not 1"),
        ("swapped", r"item 0 is a TH1D b, not a TH1D a"),
        ("strings", r"item 0 is a TObjString 1, not a TObjString 0"),
        ("twice", r"its TH1D a is in it twice"),
        ("axes", r"its x axis has 3 bins from 0 to 2, but the axis of earlier inputs has 2 bins"),
        ("classes", r"a TH1D, but an input before has a TH1F of this name"),
        ("average", r"it is an average"),
    ],
)
def test_what_cannot_be_merged_is_refused_or_named(
    tmp_path: Path, root: Root, what: str, why: str
) -> None:
    """Nothing is silently the object of the first input."""
    paths = inputs(root, tmp_path, "nyssa_one", what, count=2)
    merged = tmp_path / "merged.root"
    with pytest.raises((errors.ArgumentError, errors.UnsupportedError), match=why) as no:
        nyssa.merge(paths, merged)
    assert "--skip-unsupported" in str(no.value)
    assert not merged.exists()
    report = nyssa.merge(paths, merged, skip_unsupported=True)
    assert [one.split(" ")[0] for one in report["left_out"]] == ["o;1"]
    assert any(note.startswith("left out") and " o;1: " in note for note in report["notes"])
    with nyssa.open(merged) as file:
        assert file.keys() == []
    command = [sys.executable, "-m", "nyssa", "merge", *paths, "-o", merged, "--force"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode in (2, 4)
    ran = subprocess.run(
        [*command, "--skip-unsupported", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(ran.stdout)["left_out"] == report["left_out"]
    # One such object is copied as it is.
    assert nyssa.merge(paths[:1], merged, force=True)["left_out"] == []
    with nyssa.open(merged) as file:
        assert file.keys() == ["o;1"]


@pytest.mark.parametrize("what", ["string", "map", "vector"])
def test_classes_that_root_does_not_merge_are_kept(tmp_path: Path, root: Root, what: str) -> None:
    """Each content is a cycle, as in ROOT's output."""
    paths = inputs(root, tmp_path, "nyssa_one", what)
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    report = nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    cycles = ["o;1", "o;2", "o;3"]
    assert [note.split(":")[0].split(" ")[0] for note in report["notes"]] == ["o"]
    with nyssa.open(merged) as ours, nyssa.open(hadd) as theirs:
        assert sorted(ours.keys()) == sorted(theirs.keys()) == cycles
    if what != "vector":
        of = [root.call("as_json", path, cycles) for path in (merged, hadd)]
        assert of[0] == of[1]


def test_equal_objects_are_kept_once(tmp_path: Path, root: Root) -> None:
    merged = tmp_path / "merged.root"
    report = nyssa.merge(inputs(root, tmp_path, "nyssa_one", "equal"), merged)
    assert not report["notes"]
    with nyssa.open(merged) as file:
        assert file.keys() == ["o;1"]


def test_equal_items_of_a_list_stay(tmp_path: Path, root: Root) -> None:
    """ROOT's merger appends them; the list here has each once."""
    merged = str(tmp_path / "merged.root")
    nyssa.merge(inputs(root, tmp_path, "nyssa_one", "equal strings", count=2), merged)
    (histogram, text) = root.call("as_json", merged, ["o"])["o"]["arr"]
    assert histogram["fEntries"] == 3
    assert text["fString"] == "x"


def test_lists_of_any_two_classes(tmp_path: Path, root: Root) -> None:
    """Graphs grow also beside bytes that are not decoded, such as the pairs of a `TEfficiency`."""
    paths = inputs(root, tmp_path, "nyssa_pairs", count=2)
    merged = str(tmp_path / "merged.root")
    nyssa.merge(paths, merged)
    with nyssa.open(merged) as file:
        names = file.keys(cycle=False)
    assert len(names) == 36
    found = root.call("as_json", merged, names)
    # ROOT's merger appends the items of lists. Here they are what it makes of each item alone.
    (tmp_path / "alone").mkdir()
    alone, hadd = (
        inputs(root, tmp_path / "alone", "nyssa_alone", count=2),
        str(tmp_path / "hadd.root"),
    )
    assert root.call("hadd", hadd, alone)
    kinds = sorted({kind for name in names for kind in name.split("-")})
    theirs = root.call("as_json", hadd, kinds)
    for name in names:
        for kind, item in zip(name.split("-"), found[name]["arr"], strict=True):
            wrong = differences(item, theirs[kind], f"{name}: {kind}")
            # References are numbers of objects, which count from the list here.
            assert not [one for one in wrong if "$ref" not in one]
            ours, expected = references(item), references(theirs[kind])
            assert [n - ours[0] for n in ours] == [n - expected[0] for n in expected]


def test_graphs_keep_the_axes_of_the_first_input(tmp_path: Path, root: Root) -> None:
    paths = inputs(root, tmp_path, "nyssa_one", "axes of graphs", count=2)
    names = ["TGraph", "TGraphErrors", "TGraphAsymmErrors"]
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    for given in (paths, paths[::-1]):
        nyssa.merge(given, merged, force=True)
        assert root.call("hadd", hadd, given)
        ours, theirs = (root.call("as_json", path, names) for path in (merged, hadd))
        for name in names:
            assert not differences(ours[name], theirs[name], name)
            assert (ours[name]["fHistogram"] is not None) == (given == paths)
            # TGraph::kResetHisto: limits with all points are found.
            assert ours[name]["fBits"] == theirs[name]["fBits"]
            assert (ours[name]["fBits"] & 1 << 17 != 0) == (given == paths)


def test_points_that_are_not_sorted_any_more(tmp_path: Path, root: Root) -> None:
    paths = inputs(root, tmp_path, "nyssa_one", "sorted", count=2)
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths, merged)
    assert root.call("hadd", hadd, paths)
    given, ours, theirs = (root.call("as_json", p, ["o"])["o"] for p in (paths[0], merged, hadd))
    assert ours["fX"] == theirs["fX"] == [1, 2, 0, 1]
    assert given["fBits"] & 1 << 19
    # ROOT's merger leaves the mark, by which ROOT then looks for points where they are not.
    assert ours["fBits"] == theirs["fBits"] & ~(1 << 19)


def test_graphs_in_graphs(tmp_path: Path, root: Root) -> None:
    """Those that are too deep to be changed are refused by name, or left out."""
    paths = inputs(root, tmp_path, "nyssa_one", "deep", count=2)
    merged = str(tmp_path / "merged.root")
    nyssa.merge(paths[:1], merged)
    ours, theirs = (root.call("as_json", path, ["o"])["o"] for path in (merged, paths[0]))
    assert ours == theirs
    with pytest.raises(errors.UnsupportedError, match="not all of its bytes can be read") as no:
        nyssa.merge(paths, merged, force=True)
    assert no.value.place["object"] == "o"
    report = nyssa.merge(paths, merged, force=True, skip_unsupported=True)
    assert [one.split(" ")[0] for one in report["left_out"]] == ["o;1"]


def test_lists_with_references(tmp_path: Path, root: Root) -> None:
    """A list of one input stays, with references that ROOT reads. Two are refused by name."""
    paths = inputs(root, tmp_path, "nyssa_one", "references", count=2)
    merged = str(tmp_path / "merged.root")
    nyssa.merge(paths[:1], merged)
    ours, theirs = (root.call("as_json", path, ["o"])["o"] for path in (merged, paths[0]))
    assert ours == theirs
    assert ours["arr"][0]["_typename"] == "TRefArray"
    with pytest.raises(errors.UnsupportedError, match="item 0, : nyssa cannot merge a TRefArray"):
        nyssa.merge(paths, merged, force=True)


def test_a_directory_and_an_object_of_its_name(tmp_path: Path, root: Root) -> None:
    """ROOT's merger fails. No object of an input before may be lost."""
    paths = inputs(root, tmp_path, "nyssa_one", "directory", count=2)
    merged, hadd = tmp_path / "merged.root", str(tmp_path / "hadd.root")
    assert not root.call("hadd", hadd, paths)
    for given, why, keys, left in (
        (paths, 'it is in "o", but an input before has a TH1D', ["o;1"], "o/below/x;1"),
        (paths[::-1], "a TH1D, but an input before has a directory", ["o/below/x;1"], "o;1"),
    ):
        with pytest.raises(errors.ArgumentError, match=why):
            nyssa.merge(given, merged)
        assert not merged.exists()
        report = nyssa.merge(given, merged, skip_unsupported=True)
        assert [one.split(" ")[0] for one in report["left_out"]] == [left]
        assert any(f"{left}: " in note and why in note for note in report["notes"])
        with nyssa.open(merged) as file:
            assert file.keys(filter_classname="TH1D") == keys
        merged.unlink()
