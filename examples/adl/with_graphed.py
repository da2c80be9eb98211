"""Runs the queries as deferred arrays of graphed, to compare their speed; uproot or nyssa reads."""

from __future__ import annotations

from typing import Any

import awkward as ak
import graphed
import numpy as np
from graphed.awkward import AwkwardBackend, gak
from graphed.core.execution import SequentialRunner

from adl.queries import BINS

Columns = dict[str, graphed.Array]


def query_1(events: graphed.Array, _: str) -> Columns:
    return {"1": events.MET_pt}


def query_2(events: graphed.Array, _: str) -> Columns:
    return {"2": gak.flatten(events.Jet_pt)}


def query_3(events: graphed.Array, _: str) -> Columns:
    return {"3": gak.flatten(events.Jet_pt[abs(events.Jet_eta) < 1])}


def query_4(events: graphed.Array, _: str) -> Columns:
    return {"4": events.MET_pt[gak.sum(events.Jet_pt > 40, axis=1) >= 2]}


def query_5(events: graphed.Array, _: str) -> Columns:
    a, b = gak.unzip(gak.combinations(momenta(events, "Muon", charge="charge"), 2))
    pairs = mass(a, b)
    good = (a.charge != b.charge) & (pairs > 60) & (pairs < 120)
    return {"5": events.MET_pt[gak.any(good, axis=1)]}


def query_6(events: graphed.Array, btag: str) -> Columns:
    jets = momenta(events, "Jet", btag=btag)
    a, b, c = gak.unzip(gak.combinations(jets[gak.num(jets.px) >= 3], 3))
    best = gak.argmin(abs(mass(a, b, c) - 172.5), axis=1, keepdims=True)
    pt = np.sqrt((a.px + b.px + c.px) ** 2 + (a.py + b.py + c.py) ** 2)
    tags = gak.where(a.btag > b.btag, a.btag, b.btag)
    tags = gak.where(tags > c.btag, tags, c.btag)
    return {"6a": gak.flatten(pt[best]), "6b": gak.flatten(tags[best])}


def query_7(events: graphed.Array, _: str) -> Columns:
    def directions(name: str, threshold: float) -> graphed.Array:
        columns = {x: double(events[f"{name}_{x}"]) for x in ("pt", "eta", "phi")}
        return gak.zip(columns)[events[f"{name}_pt"] > threshold]

    jets = directions("Jet", 30)
    far = jets.pt > 0
    for name in ("Muon", "Electron"):
        pairs = gak.cartesian({"jet": jets, "lepton": directions(name, 10)}, nested=True)
        jet, lepton = pairs.jet, pairs.lepton
        phi = (jet.phi - lepton.phi + np.pi) % (2 * np.pi) - np.pi
        far = far & gak.all((jet.eta - lepton.eta) ** 2 + phi**2 >= 0.4**2, axis=2)
    jets = jets[far]
    return {"7": gak.sum(jets.pt[gak.num(jets.pt) > 0], axis=1)}


def query_8(events: graphed.Array, _: str) -> Columns:
    events = events[events.nMuon + events.nElectron >= 3]
    muons, electrons = (momenta(events, x, charge="charge") for x in ("Muon", "Electron"))
    muons = gak.with_field(muons, gak.zeros_like(muons.charge) + 13, "kind")
    electrons = gak.with_field(electrons, gak.zeros_like(electrons.charge) + 11, "kind")
    leptons = gak.concatenate([muons, electrons], axis=1)
    leptons = gak.with_field(leptons, gak.local_index(leptons.pt), "index")
    a, b = gak.unzip(gak.combinations(leptons, 2))
    fits = (a.kind == b.kind) & (a.charge != b.charge)
    a, b = a[fits], b[fits]
    best = gak.argmin(abs(mass(a, b) - 91.2), axis=1, keepdims=True)
    first, second = gak.firsts(a.index[best]), gak.firsts(b.index[best])
    # Without a pair that fits, the masks are missing, and so is all that they select.
    others = leptons[(leptons.index != first) & (leptons.index != second)]
    lepton = gak.firsts(others[gak.argmax(others.pt, axis=1, keepdims=True)])
    met, phi = double(events.MET_pt), double(events.MET_phi)
    transverse = np.sqrt(2 * met * lepton.pt * (1 - np.cos(phi - lepton.phi)))
    return {"8": gak.drop_none(transverse)}


QUERIES = (query_1, query_2, query_3, query_4, query_5, query_6, query_7, query_8)


def double(column: graphed.Array) -> graphed.Array:
    """Return a column in double precision."""
    return gak.values_astype(column, np.float64)


def momenta(events: graphed.Array, name: str, **others: str) -> graphed.Array:
    """Return momenta of a collection in double precision, and other columns of it by a name."""
    pt, eta, phi, m = (double(events[f"{name}_{x}"]) for x in ("pt", "eta", "phi", "mass"))
    px, py, pz = pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)
    energy = np.sqrt(px**2 + py**2 + pz**2 + m**2)
    columns = {"px": px, "py": py, "pz": pz, "energy": energy, "pt": pt, "phi": phi}
    return gak.zip(columns | {new: events[f"{name}_{x}"] for new, x in others.items()})


def mass(first: graphed.Array, *others: graphed.Array) -> graphed.Array:
    """Return the masses of sums of momenta."""
    total = {name: first[name] for name in ("energy", "px", "py", "pz")}
    for one in others:
        total = {name: value + one[name] for name, value in total.items()}
    square = total["energy"] ** 2 - total["px"] ** 2 - total["py"] ** 2 - total["pz"] ** 2
    return np.sqrt(gak.where(square > 0, square, 0.0))


def histogram(name: str, values: ak.Array) -> np.ndarray:
    """Return the contents of all bins: underflow, the bins, overflow."""
    number, low, high = BINS[name]
    numbers = ak.to_numpy(values)
    place = np.floor((numbers - low) * (number / (high - low))).astype(np.int64)
    return np.bincount(np.clip(place, -1, number) + 1, minlength=number + 2)


def run(files: list[str], number: int, btag: str, reader: str) -> dict[str, np.ndarray]:
    """Return the histograms of a query."""
    session = graphed.Session(AwkwardBackend())
    if reader == "nyssa":
        import nyssa

        events: Any = nyssa.graphed(session, "events", files)
    else:
        import uproot

        events = uproot.graphed(files)
    columns = QUERIES[number - 1](events, btag.removeprefix("Jet_"))
    plan = graphed.aggregate_plan(
        *columns.values(),
        reduce=lambda values: [
            histogram(name, one) for name, one in zip(columns, values, strict=True)
        ],
        combine=lambda a, b: [one + other for one, other in zip(a, b, strict=True)] if a else b,
        empty=list,
    )
    return dict(zip(columns, SequentialRunner().run(plan).value, strict=True))
