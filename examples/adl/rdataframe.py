"""Runs the queries with RDataFrame, in compiled C++, to compare results and speed; needs ROOT."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np


def load(build: Path, workers: int) -> Any:
    """Compile `rdataframe.cxx` if that was not done before in this folder, and return ROOT."""
    import ROOT

    build.mkdir(parents=True, exist_ok=True)
    ROOT.gSystem.SetBuildDir(str(build.absolute()), True)
    if not ROOT.gSystem.CompileMacro(str(Path(__file__).with_suffix(".cxx")), "kO"):
        sys.exit("ROOT cannot compile rdataframe.cxx: a C++ compiler is needed")
    if workers > 1:
        ROOT.EnableImplicitMT(workers)
    return ROOT


def run(root: Any, files: list[str], number: int, btag: str) -> dict[str, np.ndarray]:
    """Return the histograms of a query."""
    paths = root.std.vector["std::string"]([file.removesuffix(":Events") for file in files])
    found = {}
    for one in root.AdlRun(paths, number, btag):
        bins = range(one.GetNbinsX() + 2)
        found[str(one.GetName())] = np.array([int(one.GetBinContent(place)) for place in bins])
    return found
