"""The eight queries: nyssa reads, selects and computes; awkward and NumPy combine objects.

A query is a function of a part of the events that returns what it fills: the values of each
histogram. What an expression of nyssa can do is done while reading; combinations of objects are
made with arrays. All masses and momenta are computed in double precision.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import awkward as ak
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

Values = dict[str, np.ndarray]
#: Reads columns of a part of the events, as `nyssa.Partition.arrays`.
Read = Callable[..., Any]


def query_1(read: Read, _btag: str) -> Values:
    """Return the missing transverse momentum of all events."""
    return {"1": read(["MET_pt"], library="np")["MET_pt"]}


def query_2(read: Read, _btag: str) -> Values:
    """Return the transverse momenta of all jets."""
    return {"2": flat(read(["Jet_pt"]).Jet_pt)}


def query_3(read: Read, _btag: str) -> Values:
    """Return the transverse momenta of the jets with a pseudorapidity below one."""
    (central,) = ak.unzip(read(["Jet_pt[abs(Jet_eta) < 1]"]))
    return {"3": flat(central)}


def query_4(read: Read, _btag: str) -> Values:
    """Return the missing momentum of events with at least two jets above 40 GeV."""
    return {"4": read(["MET_pt"], cut="count(Jet_pt > 40) >= 2", library="np")["MET_pt"]}


def query_5(read: Read, _btag: str) -> Values:
    """Return the missing momentum of events with two muons of a Z boson: 60 to 120 GeV."""
    events = read(["MET_pt", "Muon_*"], cut="nMuon >= 2", how="zip")
    muons = with_momenta(events.Muon)
    a, b = ak.unzip(ak.combinations(muons, 2))
    mass = mass_of(a, b)
    good = (a.charge != b.charge) & (mass > 60) & (mass < 120)
    return {"5": ak.to_numpy(events.MET_pt[ak.any(good, axis=1)])}


def query_6(read: Read, btag: str) -> Values:
    """Return momentum and highest b-tag of the three jets whose mass is nearest to 172.5 GeV."""
    names = ["Jet_pt", "Jet_eta", "Jet_phi", "Jet_mass", btag]
    columns = read(names, cut="nJet >= 3")
    counts = ak.to_numpy(ak.num(columns.Jet_pt))
    pt, eta, phi, mass = (flat(columns[name]).astype(np.float64) for name in names[:4])
    tags = flat(columns[btag])
    jets = np.stack(momentum(pt, eta, phi, mass))
    starts = np.cumsum(counts) - counts
    momenta, highest = np.empty(len(counts)), np.empty(len(counts), tags.dtype)
    # Events with an equal number of jets have the same combinations.
    for number in np.unique(counts):
        (chosen,) = np.nonzero(counts == number)
        trios = np.array([*itertools.combinations(range(number), 3)])
        # Some events at once, so that their sums stay in the caches.
        for part in np.array_split(chosen, 1 + len(chosen) * len(trios) // 20_000):
            places = starts[part, None] + np.arange(number)
            of_event = jets[:, places]
            sums = of_event[:, :, trios[:, 0]] + of_event[:, :, trios[:, 1]]
            sums += of_event[:, :, trios[:, 2]]
            px, py, pz, energy = sums
            masses = np.sqrt(np.maximum(energy**2 - px**2 - py**2 - pz**2, 0))
            best = np.argmin(np.abs(masses - 172.5), axis=1)
            row = np.arange(len(part))
            momenta[part] = np.hypot(px[row, best], py[row, best])
            highest[part] = tags[places][row[:, None], trios[best]].max(axis=1)
    return {"6a": momenta, "6b": highest}


def query_7(read: Read, _btag: str) -> Values:
    """Return the sum of momenta of jets above 30 GeV that are not near a lepton above 10 GeV."""
    aliases = {f"jet_{x}": f"Jet_{x}[Jet_pt > 30]" for x in ("pt", "eta", "phi")}
    for name in ("Muon", "Electron"):
        aliases |= {f"{name}_10_{x}": f"{name}_{x}[{name}_pt > 10]" for x in ("eta", "phi")}
    columns = read(list(aliases), aliases=aliases, cut="any(Jet_pt > 30)")
    far = True
    for name in ("Muon_10", "Electron_10"):
        # For each jet, its distances to all leptons.
        distances = [
            columns[f"jet_{x}"][:, :, None]
            - ak.values_astype(columns[f"{name}_{x}"], float)[:, None]
            for x in ("eta", "phi")
        ]
        squared = distances[0] ** 2 + angle(distances[1]) ** 2
        far = far & ~ak.any(squared < 0.4**2, axis=2)
    pt = ak.values_astype(columns.jet_pt, float)[far]
    return {"7": ak.to_numpy(ak.sum(pt[ak.num(pt) > 0], axis=1))}


def query_8(read: Read, _btag: str) -> Values:
    """Return the transverse mass of missing momentum and the lepton beside a Z boson's two."""
    names = ["MET_pt", "MET_phi", "Muon_*", "Electron_*"]
    events = read(names, cut="nMuon + nElectron >= 3", how="zip")
    fields = ("pt", "eta", "phi", "mass", "charge")
    muons, electrons = ({x: events[name][x] for x in fields} for name in ("Muon", "Electron"))
    leptons = {x: ak.concatenate([muons[x], electrons[x]], axis=1) for x in fields}
    kind = [ak.full_like(muons["charge"], 13), ak.full_like(electrons["charge"], 11)]
    leptons = with_momenta(ak.zip({**leptons, "kind": ak.concatenate(kind, axis=1)}))
    leptons = ak.with_field(leptons, ak.local_index(leptons), "index")
    a, b = ak.unzip(ak.combinations(leptons, 2))
    fits = (a.kind == b.kind) & (a.charge != b.charge)
    distance = ak.mask(abs(mass_of(a, b) - 91.2), fits)
    best = ak.argmin(distance, axis=1, keepdims=True)
    some = ~ak.is_none(ak.firsts(best))
    first, second = ak.firsts(a.index[best][some]), ak.firsts(b.index[best][some])
    leptons, events = leptons[some], events[some]
    others = leptons[(leptons.index != first) & (leptons.index != second)]
    lepton = ak.firsts(others[ak.argmax(others.pt, axis=1, keepdims=True)])
    met, phi = (ak.values_astype(events[f"MET_{x}"], float) for x in ("pt", "phi"))
    squared = 2 * met * lepton.pt * (1 - np.cos(phi - lepton.phi))
    return {"8": np.sqrt(ak.to_numpy(squared))}


#: The queries by their numbers.
QUERIES = {
    1: query_1,
    2: query_2,
    3: query_3,
    4: query_4,
    5: query_5,
    6: query_6,
    7: query_7,
    8: query_8,
}


def flat(lists: ak.Array) -> np.ndarray:
    """Return the items of lists."""
    return ak.to_numpy(ak.flatten(lists))


def momentum(pt: Any, eta: Any, phi: Any, mass: Any) -> tuple[Any, Any, Any, Any]:
    """Return px, py, pz and energy."""
    px, py, pz = pt * np.cos(phi), pt * np.sin(phi), pt * np.sinh(eta)
    return px, py, pz, np.sqrt(px**2 + py**2 + pz**2 + mass**2)


def with_momenta(particles: ak.Array) -> ak.Array:
    """Return particles whose momenta are in double precision, with px, py, pz and energy."""
    fields = {name: particles[name] for name in particles.fields}
    for name in ("pt", "eta", "phi", "mass"):
        fields[name] = ak.values_astype(fields[name], np.float64)
    parts = momentum(*[fields[name] for name in ("pt", "eta", "phi", "mass")])
    fields |= dict(zip(("px", "py", "pz", "energy"), parts, strict=True))
    return ak.zip(fields)


def mass_of(a: ak.Array, b: ak.Array) -> ak.Array:
    """Return the invariant masses of pairs."""
    sums = {name: a[name] + b[name] for name in ("px", "py", "pz", "energy")}
    squared = sums["energy"] ** 2 - sums["px"] ** 2 - sums["py"] ** 2 - sums["pz"] ** 2
    return np.sqrt(np.maximum(squared, 0))


def angle(difference: ak.Array) -> ak.Array:
    """Return an angle between minus pi and pi."""
    return (difference + np.pi) % (2 * np.pi) - np.pi


def histogram(name: str, values: np.ndarray) -> np.ndarray:
    """Return the contents of all bins: underflow, the bins, overflow."""
    number, low, high = BINS[name]
    place = np.floor((values - low) * (number / (high - low))).astype(np.int64)
    return np.bincount(np.clip(place, -1, number) + 1, minlength=number + 2)


def run(files: Any, number: int, workers: int = 1, step_size: int = 200_000) -> Values:
    """Return the histograms of a query. Threads process parts of the events."""
    parts = nyssa.partitions(files, step_size=step_size)
    first = nyssa.open(f"{parts[0].url}:{parts[0].path}")
    btag = next((name for name in BTAGS if name in first), BTAGS[0])

    def filled(part: nyssa.Partition) -> Values:
        values = QUERIES[number](part.arrays, btag)
        return {name: histogram(name, one) for name, one in values.items()}

    if workers == 1:
        return total(map(filled, parts))
    with ThreadPoolExecutor(workers) as pool:
        return total(pool.map(filled, parts))


def total(found: Iterable[Values]) -> Values:
    """Return the sums of histograms."""
    sums: Values = {}
    for part in found:
        for name, contents in part.items():
            sums[name] = sums.get(name, 0) + contents
    return sums
