"""What ROOT reads from objects with keys of their own; for `support.root.Root`."""

from __future__ import annotations

import json
from typing import Any

_BINS = """
#include "TH1.h"
namespace nyssa_objects {
std::vector<double> contents(TH1 &h) {
   std::vector<double> all(h.GetNcells());
   for (int i = 0; i < h.GetNcells(); ++i) all[i] = h.GetBinContent(i);
   return all;
}
std::vector<double> errors(TH1 &h) {
   std::vector<double> all(h.GetNcells());
   for (int i = 0; i < h.GetNcells(); ++i) all[i] = h.GetBinError(i);
   return all;
}
std::vector<double> edges(TAxis &axis) {
   std::vector<double> all;
   for (int i = 1; i <= axis.GetNbins() + 1; ++i) all.push_back(axis.GetBinLowEdge(i));
   return all;
}
std::vector<double> point_errors(TGraph &g, bool y, bool high) {
   std::vector<double> all;
   for (int i = 0; i < g.GetN(); ++i)
      all.push_back(y ? (high ? g.GetErrorYhigh(i) : g.GetErrorYlow(i))
                      : (high ? g.GetErrorXhigh(i) : g.GetErrorXlow(i)));
   return all;
}
}
"""


def filled(
    path: str, tree: str, jobs: list[tuple[str, str | None, str | None, int, float, float]]
) -> list[tuple[Any, Any, float, float, float]]:
    """Return histograms that RDataFrame fills, with ROOT's mean and standard deviation.

    A job is an expression, a weight, a cut, and the bins with their ends. A result is the contents
    and the squares of the errors of all bins, the number of entries, the mean and the deviation.
    """
    import numpy as np
    import ROOT

    frame = ROOT.RDataFrame(tree, path)
    made = []
    for number, (expression, weight, cut, bins, low, high) in enumerate(jobs):
        part = frame.Filter(cut) if cut else frame
        part = part.Define(f"x{number}", expression)
        model = ROOT.RDF.TH1DModel("h", "h", bins, low, high)
        weighted = [f"w{number}"] if weight else []
        part = part.Define(*weighted, weight) if weight else part
        made.append(part.Histo1D(model, f"x{number}", *weighted))
    out = []
    for item in made:
        count = item.GetNbinsX() + 2
        values = np.array([item.GetBinContent(at) for at in range(count)])
        squares = np.array([item.GetBinError(at) ** 2 for at in range(count)])
        out.append((values, squares, item.GetEntries(), item.GetMean(), item.GetStdDev()))
    return out


def histograms(path: str) -> dict[str, dict[str, Any]]:
    """Return contents and errors of all bins, in ROOT's order, and edges and labels, by path."""
    import numpy as np
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    if not hasattr(ROOT.nyssa_objects if hasattr(ROOT, "nyssa_objects") else ROOT, "point_errors"):
        ROOT.gInterpreter.Declare(_BINS)
    test = ROOT.nyssa_objects
    out: dict[str, dict[str, Any]] = {}

    def histogram(found: Any) -> dict[str, Any]:
        axes = [found.GetXaxis(), found.GetYaxis(), found.GetZaxis()][: found.GetDimension()]
        return {
            "contents": np.array(test.contents(found)),
            "errors": np.array(test.errors(found)),
            "edges": [np.array(test.edges(axis)) for axis in axes],
            "labels": [
                [str(axis.GetBinLabel(i + 1)) for i in range(axis.GetNbins())] for axis in axes
            ],
        }

    def graph(found: Any) -> dict[str, Any]:
        points = range(found.GetN())
        sides = [(y, high) for y in (False, True) for high in (False, True)]
        return {
            "points": [[found.GetPointX(i) for i in points], [found.GetPointY(i) for i in points]],
            "errors": [np.array(test.point_errors(found, *side)) for side in sides],
        }

    def walk(directory: Any, prefix: str) -> None:
        for key in directory.GetListOfKeys():
            name, known = str(key.GetName()), ROOT.TClass.GetClass(key.GetClassName())
            if not known:
                continue
            at = f"{prefix}{name};{key.GetCycle()}"
            if known.InheritsFrom("TDirectory"):
                walk(directory.Get(name), f"{prefix}{name}/")
            elif known.InheritsFrom("TH1") and not known.InheritsFrom("TH2Poly"):
                out[at] = histogram(key.ReadObj())
            elif known.InheritsFrom("TGraph"):
                out[at] = graph(key.ReadObj())

    file = ROOT.TFile.Open(path)
    walk(file, "")
    file.Close()
    return out


def drawn_objects(path: str, names: list[str]) -> dict[str, dict[str, Any]]:
    """Draw objects, and return what ROOT says of those that are histograms."""
    import ROOT

    ROOT.gROOT.SetBatch(True)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    file, canvas = ROOT.TFile.Open(path), ROOT.TCanvas()
    out = {}
    for name in names:
        found = file.Get(name)
        found.Draw()
        canvas.Update()
        out[name] = {"class": str(found.ClassName()), "title": str(found.GetTitle())}
        if found.InheritsFrom("TH1"):
            axes = [found.GetXaxis(), found.GetYaxis(), found.GetZaxis()]
            out[name] |= {
                "axes": [str(axis.GetTitle()) for axis in axes[: found.GetDimension()]],
                "entries": found.GetEntries(),
                "integral": found.Integral(),
                "mean": [found.GetMean(1 + i) for i in range(found.GetDimension())],
                "deviation": [found.GetStdDev(1 + i) for i in range(found.GetDimension())],
            }
    file.Close()
    return out


def simple(path: str) -> dict[str, Any]:
    """Return the strings and parameters of a file, by name and cycle, with class and key title."""
    import ROOT

    file, out = ROOT.TFile.Open(path), {}
    for key in file.GetListOfKeys():
        found = key.ReadObj()
        value = found.GetVal() if hasattr(found, "GetVal") else str(found.GetName())
        out[f"{key.GetName()};{key.GetCycle()}"] = (
            str(key.GetClassName()),
            str(key.GetTitle()),
            value,
        )
    file.Close()
    return out


def hadd(output: str, inputs: list[str], compression: int = 1) -> bool:
    """Merge files as ``hadd`` does. Baskets of other `compression` are compressed again."""
    import ROOT

    merger = ROOT.TFileMerger(False)
    merger.OutputFile(output, "RECREATE", compression)
    for path in inputs:
        merger.AddFile(path, False)
    return bool(merger.Merge())


def write_copied(path: str) -> None:
    """Write a histogram with a function in it, two cycles of a string, and a directory."""
    import ROOT

    file = ROOT.TFile(path, "RECREATE")
    histogram = ROOT.TH1F("h", "with a function", 10, -3, 3)
    histogram.FillRandom("gaus", 1000)
    histogram.Fit("gaus", "Q0")
    histogram.Write()
    for text in ("old", "new"):
        ROOT.TObjString(text).Write("s")
    file.mkdir("dir", "its title").cd()
    histogram.Write("inner")
    tree = ROOT.TTree("tree", "")
    tree.Write()
    file.Close()


def write_summed(path: str, seed: int, weighted: bool, without: list[str]) -> None:
    """Add histograms of all classes and parameters to a file, filled with numbers of `seed`."""
    import ROOT

    file = ROOT.TFile(path, "UPDATE")
    random = ROOT.TRandom3(seed)
    made = []
    for number in (1, 2, 3):
        axes = ((6, -2.0, 2.0), (3, -1.0, 1.0), (2, 0.0, 1.0))[:number]
        for letter in "CSIFD":
            name = f"TH{number}{letter}"
            made.append(getattr(ROOT, name)(name, f"title {seed}", *sum(axes, ())))
            if weighted:
                made[-1].Sumw2()
        name = "TProfile" if number == 1 else f"TProfile{number}D"
        made.append(getattr(ROOT, name)(name, "", *sum(axes, ())))
        if weighted:
            made[-1].Sumw2()
    for histogram in made:
        kind, number = str(histogram.ClassName()), histogram.GetDimension()
        for _ in range(400 if "C" in kind else 60):
            values = [random.Gaus() for _ in range(number + 1)][: number + ("Profile" in kind)]
            weight = [random.Uniform(0.5, 2)] if weighted and kind[-1] in "FDe" else []
            histogram.Fill(*values, *weight)
    full = ROOT.TH1C("full", "", 1, 0, 1)
    full.SetBinContent(1, 100)
    labels = ROOT.TH1D("labels", "", 2, 0, 2)
    for label in ("a", "b"):
        labels.Fill(label, seed)
    parameters = [
        ROOT.TParameter("double")("sum", 1.5 * seed),
        ROOT.TParameter("int")("product", 2 + seed, "*"),
        ROOT.TParameter("float")("least", 2.0 - seed, "m"),
        ROOT.TParameter("Long64_t")("last", seed, "l"),
        ROOT.TParameter("bool")("either", seed == 2),
    ]
    folder = file.mkdir("folder")
    for one in (*made, full, labels, *parameters):
        if one.GetName() not in without:
            folder.WriteTObject(one, one.GetName())
    ROOT.TObjString(f"only {seed}").Write(f"only{seed}")
    file.Close()


def functions(path: str, name: str) -> list[tuple[str, list[float]]]:
    """Return name and parameters of the functions of a histogram."""
    import ROOT

    file = ROOT.TFile.Open(path)
    found = file.Get(name).GetListOfFunctions()
    return [(str(one.GetName()), [one.GetParameter(i) for i in range(3)]) for one in found]


def as_json(path: str, names: list[str]) -> dict[str, Any]:
    """Return objects with keys of their own as ROOT's JSON."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    file = ROOT.TFile.Open(path)
    found = {name: file.Get(name) for name in names}
    # The number 3 means: without spaces, and without a short form of arrays.
    out = {
        name: json.loads(str(ROOT.TBufferJSON.ConvertToJSON(one, 3))) for name, one in found.items()
    }
    file.Close()
    return out


def sparse(path: str, name: str) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return content and variance of each filled bin of a histogram of many dimensions."""
    import numpy as np
    import ROOT

    file = ROOT.TFile.Open(path)
    histogram = file.Get(name)
    place = np.zeros(histogram.GetNdimensions(), dtype=np.int32)
    found = {}
    for index in range(histogram.GetNbins()):
        content = histogram.GetBinContent(index, place)
        if content:
            found[tuple(place.tolist())] = (content, histogram.GetBinError2(index))
    return found


def efficiency(path: str, name: str) -> list[float]:
    """Return the efficiencies of all bins with flow, in the order of ROOT's global bin numbers."""
    import ROOT

    file = ROOT.TFile.Open(path)
    found = file.Get(name)
    cells = found.GetTotalHistogram().GetNcells()
    return [found.GetEfficiency(index) for index in range(cells)]
