"""Objects of PyROOT that go through nyssa; for `support.root.Root`."""

from __future__ import annotations

import json
from typing import Any


def make_directory(path: str, name: str) -> None:
    """Make a file with a directory that stays empty."""
    import ROOT

    file = ROOT.TFile(path, "RECREATE")
    file.mkdir(name)
    file.Close()


def through_nyssa(path: str) -> dict[str, list[Any]]:
    """Return the JSON of objects as ROOT makes it, before and after nyssa, and that of nyssa.

    Two of them are written to a file.
    """
    import ROOT

    import nyssa

    histogram = ROOT.TH1D("h", "title", 3, 0, 3)
    histogram.Sumw2()
    histogram.Fill(1.5, 2)
    surface = ROOT.TH2F("h2", "", 2, 0, 1, 2, 0, 1)
    items = [ROOT.TNamed("n", "t"), ROOT.TObjString("s")]
    array = ROOT.TObjArray()
    for one in items:
        array.Add(one)
    vector = ROOT.TLorentzVector(1, 2, 3, 4)
    number = ROOT.TParameter["double"]("p", 1.5)
    with nyssa.recreate(path) as file:
        file["vector"], file["histogram"] = vector, histogram
    found = {}
    for one in (histogram, surface, array, vector, number, items[1]):
        read = nyssa.objects.from_pyroot(one)
        texts = (ROOT.TBufferJSON.ToJSON(each) for each in (one, read.to_pyroot()))
        before, after = (json.loads(str(text)) for text in texts)
        found[read.class_name] = [before, after, read.tojson()]
    assert histogram.GetBinContent(2) == 2
    assert str(ROOT.gDirectory.GetName()) == "PyROOT"
    return found
