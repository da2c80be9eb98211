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
