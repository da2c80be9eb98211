"""The eight queries as expressions: nyssa reads, selects, computes and fills in one pass.

Columns are in single precision, and nyssa computes as NumPy does. Masses, distances and `float64`
are in double precision, so that all ways to run the queries fill equal bins.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import nyssa

#: Each histogram: number of bins, lower and upper edge. The edges are exact in binary, so that all
#: libraries put a value into the same bin.
BINS = {
    "1": (64, 0, 256),
    "2": (64, 0, 256),
    "3": (64, 0, 256),
    "4": (64, 0, 256),
    "5": (64, 0, 256),
    "6a": (64, 0, 512),
    "6b": (64, 0, 1),
    "7": (64, 0, 1024),
    "8": (64, 0, 256),
}
#: The names that files have for the b-tag of jets.
BTAGS = ("Jet_btag", "Jet_btagDeepFlavB")


@dataclass(frozen=True)
class Query:
    """What is filled into each histogram, of which entries, and names for expressions."""

    fills: Mapping[str, str]
    cut: str | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)


def trijet(component: str) -> str:
    """Return a component of the momentum of the best three jets."""
    jets = (f"float64(Jet_pt[{at}]) * {component}(float64(Jet_phi[{at}]))" for at in "ijk")
    return " + ".join(jets)


def near(name: str) -> str:
    """Return whether jets are near a lepton above 10 GeV."""
    eta, phi = (f"{name}_{x}[{name}_pt > 10]" for x in ("eta", "phi"))
    return f"min_deltaR(jet_eta, jet_phi, {eta}, {phi}) < 0.4"


def differ(name: str, sign: str = "!=") -> str:
    """Return whether something of the first and the second lepton of a pair differs."""
    return f"combinations({name}, 2, 0) {sign} combinations({name}, 2, 1)"


#: The queries by their numbers.
QUERIES = {
    # The missing transverse momentum (MET) of all events.
    1: Query({"1": "MET_pt"}),
    # The momenta of all jets.
    2: Query({"2": "Jet_pt"}),
    # The momenta of central jets.
    3: Query({"3": "Jet_pt[abs(Jet_eta) < 1]"}),
    # MET of events with two jets above 40 GeV.
    4: Query({"4": "MET_pt"}, "count(Jet_pt > 40) >= 2"),
    # MET of events with two muons of a Z boson.
    5: Query(
        {"5": "MET_pt"},
        "nMuon >= 2 && any(opposite && mass > 60 && mass < 120)",
        {
            "mass": "combined_mass(Muon_pt, Muon_eta, Muon_phi, Muon_mass, 2)",
            "opposite": differ("Muon_charge"),
        },
    ),
    # Momentum and highest b-tag of the three jets whose mass is nearest to 172.5 GeV.
    6: Query(
        {
            "6a": f"hypot({trijet('cos')}, {trijet('sin')})",
            "6b": "max(max(btag[i], btag[j]), btag[k])",
        },
        "nJet >= 3",
        {
            "best": "argmin(abs(combined_mass(Jet_pt, Jet_eta, Jet_phi, Jet_mass, 3) - 172.5))",
            "i": "combinations(local_index(Jet_pt), 3, 0)[best]",
            "j": "combinations(local_index(Jet_pt), 3, 1)[best]",
            "k": "combinations(local_index(Jet_pt), 3, 2)[best]",
        },
    ),
    # The sum of momenta of jets above 30 GeV that are not near a lepton.
    7: Query(
        {"7": "sum(float64(jet_pt[far]))"},
        "any(far)",
        {
            **{f"jet_{x}": f"Jet_{x}[Jet_pt > 30]" for x in ("pt", "eta", "phi")},
            "far": f"!({near('Muon')}) && !({near('Electron')})",
        },
    ),
    # The transverse mass of MET and the hardest lepton beside the two of a Z boson.
    8: Query(
        {"8": "sqrt(2 * float64(MET_pt) * third_pt * (1 - cos(float64(MET_phi) - third_phi)))"},
        "nMuon + nElectron >= 3",
        {
            **{
                f"lepton_{x}": f"concatenate(Muon_{x}, Electron_{x})"
                for x in ("pt", "eta", "phi", "mass", "charge")
            },
            "index": "local_index(lepton_pt)",
            "is_muon": "index < nMuon",
            "mass": "combined_mass(lepton_pt, lepton_eta, lepton_phi, lepton_mass, 2)",
            "fits": f"{differ('is_muon', '==')} && {differ('lepton_charge')}",
            # Without a pair that fits, this and all that is computed of it is missing.
            "best": "argmin(abs(mass[fits] - 91.2))",
            "first": "combinations(index, 2, 0)[fits][best]",
            "second": "combinations(index, 2, 1)[fits][best]",
            "other": "index != first && index != second",
            "hardest": "argmax(lepton_pt[other])",
            "third_pt": "float64(lepton_pt[other][hardest])",
            "third_phi": "float64(lepton_phi[other][hardest])",
        },
    ),
}


def run(files: Any, number: int, workers: int = 1) -> dict[str, np.ndarray]:
    """Return the bins of the histograms of a query, with underflow and overflow."""
    events = nyssa.chain(files)
    btag = next((name for name in BTAGS if name in events), BTAGS[0])
    query = QUERIES[number]
    made = nyssa.histograms(
        events,
        {name: (text, BINS[name]) for name, text in query.fills.items()},
        cut=query.cut,
        aliases={"btag": btag, **query.aliases},
        threads=workers,
    )
    return {name: one.values(flow=True) for name, one in made.items()}
