"""Run one job of `atlas.py` in a process of its own, and print its seconds as JSON.

The time includes opening the file, but not imports, compilation and start-up.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from jobs import _clock

CONTAINERS = (
    "AnalysisElectrons",
    "AnalysisMuons",
    "AnalysisPhotons",
    "AnalysisTauJets",
    "AnalysisJets",
    "AnalysisLargeRJets",
    "AnalysisTrackJets",
    "InDetTrackParticles",
)
MEMBERS = ("pt", "eta", "phi", "m")
TREE = "CollectionTree"
#: The histograms, in MeV.
BINS, RANGE = 100, 500e3
#: Memory of the columns that are read at a time, more than that of a cluster: with less, pages are
#: decompressed again in each step.
STEP = "200 MB"


def _library(directory: str) -> Any:
    """Return ROOT with the functions of atlas.cxx, compiled once."""
    import ROOT

    source = Path(__file__).with_name("atlas.cxx")
    ROOT.gSystem.SetBuildDir(directory, True)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    if not ROOT.gSystem.CompileMacro(str(source), "kO"):
        sys.exit("ROOT cannot compile atlas.cxx: a C++ compiler is needed")
    return ROOT


def compile_library(directory: str) -> dict:
    """Compile atlas.cxx, so that no job has to do so."""
    _library(directory)
    return {}


def make(directory: str, path: str, entries: str, compression: str) -> dict:
    """Let ROOT write the TTree."""
    root = _library(directory)
    return _clock(lambda: root.atlas_make(path, int(entries), int(compression)))


def root_analysis(directory: str, path: str, threads: str) -> dict:
    """Analyse a file with RDataFrame, compiled."""
    root = _library(directory)
    if int(threads) > 1:
        root.EnableImplicitMT(int(threads))
    return _analysed(lambda: list(root.atlas_analyse(path)))


def _analysed(analysis: Callable[[], list[float]]) -> dict:
    """Return the bins, and the CPU seconds of all threads beside the seconds."""

    def job() -> dict:
        before = time.process_time()
        bins = analysis()
        return {"bins": bins, "cpu": time.process_time() - before}

    return _clock(job)


def nyssa_analysis(directory: str, path: str, threads: str) -> dict:
    """Analyse a file with nyssa and NumPy."""
    # nyssa imports it when the first arrays are made.
    import awkward  # noqa: F401

    import nyssa

    assert directory
    columns = [f"{name}_{member}" for name in CONTAINERS for member in MEMBERS]

    def analysis() -> list[float]:
        bins = np.zeros((len(CONTAINERS), BINS))
        for step in nyssa.iterate(f"{path}:{TREE}", columns, step_size=STEP, threads=int(threads)):
            for number, name in enumerate(CONTAINERS):
                lists = [step[f"{name}_{member}"].layout for member in MEMBERS]
                bins[number] += _masses([_leading(one) for one in lists])
        found: list[float] = bins.ravel().tolist()
        return found

    return _analysed(analysis)


def _leading(lists: Any) -> np.ndarray:
    """Return the first two values of all lists that have two or more, as two rows."""
    offsets = np.asarray(lists.offsets)
    first = offsets[:-1][np.diff(offsets) >= 2]
    content = np.asarray(lists.content.data)
    return np.stack([content[first], content[first + 1]]).astype(np.float64)


def _masses(particles: list[np.ndarray]) -> np.ndarray:
    """Return the histogram of the invariant masses of pairs of particles."""
    pt, eta, phi, mass = particles
    x, y, z = pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)
    energy = np.sqrt(x * x + y * y + z * z + mass * mass)
    squares = (one.sum(axis=0) ** 2 for one in (x, y, z))
    pairs = np.sqrt(np.maximum(0.0, energy.sum(axis=0) ** 2 - sum(squares)))
    numbers = (pairs[pairs < RANGE] * (BINS / RANGE)).astype(np.int64)
    return np.bincount(numbers, minlength=BINS)


if __name__ == "__main__":
    # Threads of NumPy's libraries would be counted for neither library.
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
