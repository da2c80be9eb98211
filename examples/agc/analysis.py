"""Analyses one part of a sample: selection, systematic variations, observables, histograms.

It is the AGC's analysis of version 0.1 without machine learning. Events have one good lepton and at
least four good jets. Those with one b-tagged jet are the region 4j1b, whose observable is HT, the
sum of the momenta of the jets. Those with two or more are the region 4j2b, whose observable is the
mass of the three jets, one of them b-tagged, that have the largest momentum together.

Numbers are rounded to 32 bits where the implementation with RDataFrame rounds them, so that both
fill the same bins.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from statistics import NormalDist

import awkward as ak
import hist
import numpy as np

from agc.objects import Objects
from agc.samples import Sample

#: The columns that are read, such as ``Electron_pt``, and their types in NanoAOD of 2015.
COLLECTIONS = {
    "Electron": {"pt": "float32", "eta": "float32", "sip3d": "float32", "cutBased": "int32"},
    "Muon": {
        "pt": "float32",
        "eta": "float32",
        "sip3d": "float32",
        "tightId": "bool",
        "pfRelIso04_all": "float32",
    },
    "Jet": {
        "pt": "float32",
        "eta": "float32",
        "phi": "float32",
        "mass": "float32",
        "btagCSVV2": "float32",
        "jetId": "int32",
    },
}
COLUMNS = [f"{name}_{field}" for name, fields in COLLECTIONS.items() for field in fields]
REGIONS = ("4j1b", "4j2b")
#: Least transverse momentum of leptons and jets in GeV.
PT = 30
BTAG = 0.5
#: The first jets of an event, which b-tagging variations are made for.
BTAG_JETS = 4
#: Relative resolution of the momenta of jets for 1,000 probabilities.
RESOLUTION = np.array(
    [NormalDist(1, 0.05).inv_cdf(0.001 * i + 0.0005) for i in range(1000)], np.float32
)
#: The factor of the variation of the scale of the momenta of jets.
PT_SCALE = np.float32(1.03)
#: The sample of W+jets has a scale uncertainty of 2.5 %.
WJETS_SCALE = {"up": np.float32(1) + np.float32(0.025), "down": np.float32(1) - np.float32(0.025)}

Histograms = dict[str, hist.Hist]


def analyse(events: ak.Array, sample: Sample) -> Histograms:
    """Return the histograms of events of a sample by their names, such as ``4j1b_ttbar_ME_var``."""
    jets = select(events)
    found: Histograms = {}
    for variation, pt in jet_variations(jets["pt"], sample):
        varied = jets.with_columns(pt=pt).where(pt > PT)
        varied = varied.of_events(varied.counts >= 4)
        tags = varied.count(varied["btagCSVV2"] > BTAG)
        for region, passed, observable in (
            ("4j1b", tags == 1, ht),
            ("4j2b", tags >= 2, trijet_mass),
        ):
            chosen = varied.of_events(passed)
            values = observable(chosen)
            for name, factor in weight_variations(variation, chosen, sample):
                histogram = hist.Hist(hist.axis.Regular(25, 50, 550), hist.storage.Weight())
                histogram.fill(values, weight=np.broadcast_to(sample.weight * factor, values.shape))
                found[histogram_name(region, sample, name)] = histogram
    return found


def select(events: ak.Array) -> Objects:
    """Return the jets of events with one good lepton that can pass in at least one variation."""
    electron, muon, jet = (
        Objects.of(events, name, list(fields)) for name, fields in COLLECTIONS.items()
    )
    good_electron = (
        (electron["pt"] > PT)
        & (np.abs(electron["eta"]) < 2.1)
        & (electron["sip3d"] < 4)
        & (electron["cutBased"] == 4)
    )
    good_muon = (
        (muon["pt"] > PT)
        & (np.abs(muon["eta"]) < 2.1)
        & (muon["sip3d"] < 4)
        & muon["tightId"]
        & (muon["pfRelIso04_all"] < 0.15)
    )
    one_lepton = electron.count(good_electron) + muon.count(good_muon) == 1
    jet = jet.of_events(one_lepton)
    good_jet = (jet["pt"] * RESOLUTION[-1] > PT) & (np.abs(jet["eta"]) < 2.4) & (jet["jetId"] == 6)
    jet = jet.where(good_jet)
    jet = jet.of_events(jet.counts >= 4)
    # The momentum of a jet is its transverse momentum times these, in all variations.
    eta, phi = jet["eta"].astype(np.float64), jet["phi"].astype(np.float64)
    return jet.with_columns(x=np.cos(phi), y=np.sin(phi), z=np.sinh(eta))


def jet_variations(pt: np.ndarray, sample: Sample) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the names of the variations of the momenta of jets, and the momenta."""
    yield "nominal", pt
    if sample.nominal:
        yield "pt_scale_up", pt * PT_SCALE
        # The three decimals stand for a random number, so that each run has the same result.
        decimals = (pt * np.float32(1000)).astype(np.int32) % 1000
        yield "pt_res_up", pt * RESOLUTION[decimals]


def weight_variations(
    variation: str, jets: Objects, sample: Sample
) -> Iterator[tuple[str, np.ndarray | float]]:
    """Yield the names of the variations of weights, and the factors of the weights."""
    yield variation, 1.0
    if not sample.nominal or variation != "nominal":
        return
    for number in range(BTAG_JETS):
        shift = 0.075 * jets["pt"][jets.starts + number].astype(np.float64) / 50
        yield f"btag_var_{number}_up", _rounded(1 + shift)
        yield f"btag_var_{number}_down", _rounded(1 - shift)
    if sample.process == "wjets":
        for direction, factor in WJETS_SCALE.items():
            yield f"scale_var_{direction}", float(factor)


def _rounded(values: np.ndarray) -> np.ndarray:
    return values.astype(np.float32).astype(np.float64)


def ht(jets: Objects) -> np.ndarray:
    """Return the sum of the transverse momenta of the jets of each event, in 32 bits."""
    total = np.zeros(len(jets.counts), np.float32)
    starts = jets.starts
    for number in range(jets.counts.max(initial=0)):
        has = jets.counts > number
        total[has] += jets["pt"][starts[has] + number]
    return total


def trijet_mass(jets: Objects) -> np.ndarray:
    """Return the mass of the three jets with a b-tagged one that have the largest pt together."""
    pt, mass = jets["pt"].astype(np.float64), jets["mass"].astype(np.float64)
    px, py, pz = pt * jets["x"], pt * jets["y"], pt * jets["z"]
    energy = np.sqrt(px**2 + py**2 + pz**2 + mass**2)
    chosen = best_trijet(px, py, jets["btagCSVV2"] > BTAG, jets)
    x, y, z, e = (component[chosen].sum(axis=0) for component in (px, py, pz, energy))
    return np.sqrt(e**2 - x**2 - y**2 - z**2)


def best_trijet(px: np.ndarray, py: np.ndarray, tagged: np.ndarray, jets: Objects) -> np.ndarray:
    """Return the positions of the three jets of each event, as three arrays."""
    found = np.zeros((3, len(jets.counts)), np.int64)
    starts = jets.starts
    # Events with the same number of jets have the same combinations.
    for count in np.unique(jets.counts):
        events = np.flatnonzero(jets.counts == count)
        rows = starts[events] + np.arange(count)[:, np.newaxis]
        x, y, tag = px[rows], py[rows], tagged[rows]
        largest, best = np.full(len(events), -1.0), np.zeros(len(events), np.int64)
        trijets = []
        for a, b in combinations(range(count), 2):
            pair_x, pair_y, pair_tag = x[a] + x[b], y[a] + y[b], tag[a] | tag[b]
            for c in range(b + 1, count):
                pt2 = (pair_x + x[c]) ** 2 + (pair_y + y[c]) ** 2
                better = (pt2 > largest) & (pair_tag | tag[c])
                np.putmask(largest, better, pt2)
                np.putmask(best, better, len(trijets))
                trijets.append((a, b, c))
        found[:, events] = starts[events] + np.array(trijets)[best].T
    return found


def histogram_name(region: str, sample: Sample, variation: str) -> str:
    """Return the name of a histogram; one without a variation is the nominal one."""
    named = sample.variation if variation == "nominal" else variation
    return f"{region}_{sample.process}" + ("" if named == "nominal" else f"_{named}")


def add_pseudodata(histograms: Histograms) -> None:
    """Add the pseudodata of both regions: W+jets, and two half samples of ttbar."""
    for region in REGIONS:
        wjets = histograms.get(f"{region}_wjets")
        halves = [histograms.get(f"{region}_ttbar_{name}_var") for name in ("PS", "ME")]
        if wjets is not None and None not in halves:
            histograms[f"{region}_pseudodata"] = wjets + halves[0] * 0.5 + halves[1] * 0.5
