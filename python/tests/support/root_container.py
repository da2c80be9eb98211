"""Functions of ROOT on files: keys with odd names, changes of files, and what a file holds.

They run in ROOT's process; see `support.root`.
"""

from __future__ import annotations

from array import array
from typing import Any


def write_odd_names(path: str) -> None:
    """Write histograms whose names have slashes, and objects with semicolons and other bytes."""
    import ROOT

    file = ROOT.TFile(path, "RECREATE")
    above = ROOT.TH1D("h", "", 3, 0, 3)
    above.Fill(0.5)
    for name in ("SR/Signal", "SR/Only", "x/y", "x%2Fy"):
        above.Write(name)
    ROOT.TNamed("a", "semicolon").Write("jet;7")
    ROOT.TNamed("b", "acute").Write(b"h\xe9")
    ROOT.TNamed("c", b"gr\xe8ve").Write(b"h\xe8")
    file.mkdir("SR").cd()
    below = ROOT.TH1D("Signal", "", 3, 0, 3)
    below.Fill(1.5, 2.0)
    below.Write()
    file.Close()


def bins(path: str) -> dict[str, list[float]]:
    """Return the bins of the histograms of a file, by the names of directory and object."""
    import ROOT

    file, found = ROOT.TFile(path), {}

    def add(directory: Any, above: str) -> None:
        for key in directory.GetListOfKeys():
            if key.GetClassName().startswith("TDirectory"):
                add(key.ReadObj(), f"{above}{key.GetName()} > ")
            elif key.GetClassName().startswith("TH1"):
                histogram = key.ReadObj()
                numbers = range(1, histogram.GetNbinsX() + 1)
                found[above + key.GetName()] = [histogram.GetBinContent(i) for i in numbers]

    add(file, "")
    file.Close()
    return found


def update_file(path: str, name: str) -> None:
    """Add a `TNamed` to a file."""
    import ROOT

    file = ROOT.TFile(path, "UPDATE")
    ROOT.TNamed(name, "by ROOT").Write()
    file.Close()


def summary(path: str) -> dict[str, Any]:
    """Return the objects of a file: bins, sums of trees and RNTuples, titles; and its infos."""
    import ROOT

    file, found = ROOT.TFile(path), {}
    infos = file.GetStreamerInfoList()
    found["infos"] = sorted(one.GetName() for one in infos if one.ClassName() == "TStreamerInfo")
    found["recovered"] = bool(file.TestBit(ROOT.TFile.kRecovered))
    for key in file.GetListOfKeys():
        name, kind = key.GetName(), key.GetClassName()
        if kind == "TTree" or kind == "ROOT::RNTuple":
            frame = ROOT.RDataFrame(name, path)
            found[name] = [frame.Count().GetValue(), frame.Sum("x").GetValue()]
        elif kind.startswith("TH1"):
            histogram = key.ReadObj()
            found[name] = [histogram.GetBinContent(i) for i in range(1, histogram.GetNbinsX() + 1)]
        else:
            found[name] = key.ReadObj().GetTitle()
    file.Close()
    return found


def write_container(path: str) -> None:
    """Write a histogram, and an object in a directory."""
    import ROOT

    file = ROOT.TFile(path, "RECREATE")
    histogram = ROOT.TH1D("h", "", 4, 0, 1)
    histogram.Fill(0.1)
    histogram.Write()
    ROOT.TNamed("second", "title").Write()
    file.mkdir("d").cd()
    ROOT.TNamed("n", "m").Write()
    file.Close()


def write_datasets(path: str, compression: int = 505) -> None:
    """Write an RNTuple, a tree with one basket in the file, and a tree whose baskets lie in it."""
    import ROOT

    file = ROOT.TFile(path, "RECREATE", "", compression)
    # A writer of RNTuples writes the trees of its file, so it comes first.
    model = ROOT.RNTupleModel.Create()
    model.MakeField["int"]("x")
    with ROOT.RNTupleWriter.Append(model, "ntuple", file) as writer:
        writer.Fill(writer.CreateEntry())
    for name in ("stored", "embedded"):
        tree = ROOT.TTree(name, "")
        number, size, items = array("i", [0]), array("i", [0]), array("f", [0] * 3)
        tree.Branch("x", number, "x/I")
        tree.Branch("n", size, "n/I")
        tree.Branch("v", items, "v[n]/F")
        for i in range(12):
            number[0], size[0] = i, i % 4
            tree.Fill()
        if name == "stored":
            tree.FlushBaskets()
        file.WriteObject(tree, name)
        tree.SetDirectory(ROOT.nullptr)
    file.Close()


def opens(path: str) -> dict[str, bool]:
    """Return whether the file, and the RNTuple in it, can be opened."""
    import ROOT

    found = dict.fromkeys(("file", "ntuple"), True)
    try:
        found["file"] = not ROOT.TFile(path).IsZombie()
    except OSError:
        found["file"] = False
    try:
        ROOT.RNTupleReader.Open("ntuple", path)
    except Exception:  # noqa: BLE001 (ROOT raises classes of its own)
        found["ntuple"] = False
    return found


def branch_values(path: str, tree: str, branch: str) -> list[int]:
    """Return the values of a branch of one number, entry by entry."""
    import ROOT

    file = ROOT.TFile(path)
    one = file.Get(tree)
    return [one.GetEntry(i) and getattr(one, branch) for i in range(one.GetEntries())]


def rename_keys(path: str, names: dict[str, str]) -> None:
    """Give keys of the top directory other names. Their records keep the old ones."""
    import ROOT

    file = ROOT.TFile(path, "UPDATE")
    keys = [file.GetKey(old) for old in names]
    for key, new in zip(keys, names.values(), strict=True):
        key.SetName(new)
    keys[-1].SetTitle("another title")
    file.Write()
    file.Close()


def remove_directory(path: str) -> None:
    """Remove the directory ``d``. ROOT leaves its record in the file."""
    import ROOT

    file = ROOT.TFile(path, "UPDATE")
    file.rmdir("d")
    file.Close()


def replace_objects(path: str) -> None:
    """Write the objects again, and delete older cycles. ROOT marks their space as free."""
    import ROOT

    file = ROOT.TFile(path, "UPDATE")
    for _ in range(3):
        file.Get("h").Write()
        file.Get("second").Write("", ROOT.TObject.kWriteDelete)
    file.Delete("h;2")
    file.Close()


def infos_of_histogram(path: str) -> list[str]:
    """Write a histogram, and return the classes that ROOT describes beside it."""
    import ROOT

    file = ROOT.TFile(path, "RECREATE")
    ROOT.TH1D("h", "", 4, 0, 1).Write()
    file.Close()
    return summary(path)["infos"]
