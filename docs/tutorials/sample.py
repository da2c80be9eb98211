"""Writes the file of the tutorials, of the gallery and of the examples in docstrings.

>>> python sample.py events.root

It is a TTree `Events` with names and types of NanoAOD: muons, of which some are of Z bosons,
electrons, jets with b-tags, missing transverse momentum and a trigger bit. The numbers are random,
not physics.
"""

from __future__ import annotations

import os
import sys

import awkward as ak
import numpy as np

import nyssa

#: Mean number of objects in an event.
COLLECTIONS = {"Muon": 1.2, "Electron": 0.7, "Jet": 3.5}


def particles(random: np.random.Generator, counts: np.ndarray, mass: float) -> dict:
    """Return momenta, as flat arrays, sorted by pt in each event."""
    total = int(counts.sum())
    pt = ak.unflatten(8 + random.exponential(25, total), counts)
    return {
        "pt": ak.to_numpy(ak.flatten(ak.sort(pt, ascending=False))),
        "eta": random.normal(0, 1.2, total),
        "phi": random.uniform(-np.pi, np.pi, total),
        "mass": np.full(total, mass),
    }


def let_z_bosons_decay(random: np.random.Generator, muons: dict, counts: np.ndarray) -> None:
    """Give the first two muons of the events that have two the mass of a Z boson."""
    first = (np.cumsum(counts) - counts)[counts >= 2]
    second, size = first + 1, len(first)
    mass = 91.2 + 2.5 * random.standard_normal(size)
    angle = np.pi - np.abs(random.normal(0, 0.3, size))
    for name in ("pt", "eta", "phi", "charge"):
        muons[name] = muons[name].copy()
    muons["eta"][second] = muons["eta"][first] + random.normal(0, 0.5, size)
    muons["phi"][second] = (muons["phi"][first] + angle + np.pi) % (2 * np.pi) - np.pi
    # m^2 = 2 pt1 pt2 (cosh(eta1 - eta2) - cos(phi1 - phi2))
    width = np.cosh(muons["eta"][first] - muons["eta"][second]) - np.cos(angle)
    muons["pt"][second] = mass**2 / (2 * muons["pt"][first] * width)
    muons["charge"][first], muons["charge"][second] = 1, -1


def events(entries: int, seed: int = 1) -> dict[str, np.ndarray | ak.Array]:
    """Return the columns of events."""
    random = np.random.default_rng(seed)
    columns: dict[str, np.ndarray | ak.Array] = {
        "run": np.full(entries, 1, np.uint32),
        "luminosityBlock": (np.arange(entries) // 500 + 1).astype(np.uint32),
        "event": np.arange(entries, dtype=np.uint64),
        "MET_pt": random.exponential(25, entries).astype(np.float32),
        "MET_phi": random.uniform(-np.pi, np.pi, entries).astype(np.float32),
        "HLT_IsoMu24": random.random(entries) < 0.4,
    }
    for name, mean in COLLECTIONS.items():
        counts = random.poisson(mean, entries)
        total = int(counts.sum())
        fields = particles(random, counts, {"Muon": 0.1057, "Electron": 0.0005, "Jet": 8}[name])
        if name == "Jet":
            fields["btag"] = random.random(total) ** 2
        else:
            fields["charge"] = random.choice(np.array([-1, 1]), total)
        if name == "Muon":
            let_z_bosons_decay(random, fields, counts)
        columns[f"n{name}"] = counts.astype(np.uint32)
        for field, values in fields.items():
            number = np.int32 if field == "charge" else np.float32
            columns[f"{name}_{field}"] = ak.unflatten(values.astype(number), counts)
    return columns


def write(path: str | os.PathLike[str], entries: int = 20_000, seed: int = 1) -> None:
    """Write a TTree of events."""
    with nyssa.recreate(path, force=True) as file:
        file.mktree("Events", events(entries, seed))


if __name__ == "__main__":
    write(*sys.argv[1:2])
