"""A NanoAOD-like TTree made from random numbers: what `make demo` converts.

Hundreds of branches (scalar and jagged floats, integers and bools) with the multiplicities of
top-pair events and mantissas cut to the widths that NanoAOD uses, so that the entropy, and with it
the compressed size, is realistic. Z bosons that decay to two muons are mixed in, so that the demo
has a peak to draw. Written with uproot.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import awkward as ak
import numpy as np
import uproot

#: Mean multiplicity of each collection, and its fields beyond pt, eta, phi and mass:
#: (number of floats, mantissa bits of the floats, number of small ints, number of bools).
COLLECTIONS = {
    "Muon": (0.8, (22, 10, 8, 9)),
    "Electron": (0.9, (24, 10, 10, 5)),
    "Tau": (1.1, (14, 10, 12, 4)),
    "Photon": (1.0, (12, 10, 6, 5)),
    "Jet": (9.5, (20, 10, 9, 2)),
    "FatJet": (0.7, (22, 10, 5, 0)),
    "SubJet": (1.3, (10, 10, 2, 0)),
    "GenJet": (8.0, (1, 10, 2, 0)),
    "GenPart": (45.0, (0, 8, 4, 0)),
    "SV": (1.4, (10, 10, 1, 0)),
    "SoftActivityJet": (5.5, (0, 8, 0, 0)),
    "TrigObj": (11.0, (2, 12, 4, 0)),
}
#: Number of scalar floats (MET and friends) and of trigger bits.
SCALARS, TRIGGERS = 60, 220
#: Entries written at a time.
CHUNK = 10_000


def cut_mantissa(values: np.ndarray, bits: int) -> np.ndarray:
    """Return `values` (float32) rounded to `bits` of the 23 mantissa bits, as in NanoAOD."""
    drop = 23 - bits
    raw = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((raw + np.uint32(1 << (drop - 1))) & np.uint32(0xFFFFFFFF >> drop << drop)).view(
        np.float32
    )


def _collection(rng: np.random.Generator, counts: np.ndarray, shape: tuple[int, ...]) -> dict:
    """The flat fields of one collection: arrays of `counts.sum()` elements."""
    floats, bits, ints, bools = shape
    total = int(counts.sum())
    fields = {
        "pt": cut_mantissa(5 + rng.exponential(30, total), 10),
        "eta": cut_mantissa(rng.normal(0, 1.4, total), 12),
        "phi": cut_mantissa(rng.uniform(-np.pi, np.pi, total), 12),
        "mass": cut_mantissa(rng.exponential(6, total), 10),
    }
    for i in range(floats):
        scale = 10.0 ** (i % 6 - 3)
        values = rng.normal(0, scale, total) if i % 2 else rng.exponential(scale, total)
        # Many NanoAOD variables are zero or a default for most objects.
        values[rng.random(total) < (0.0, 0.3, 0.8)[i % 3]] = -1.0
        fields[f"var{i}"] = cut_mantissa(values, bits)
    for i in range(ints):
        fields[f"id{i}"] = rng.poisson(0.6 * (i + 1), total).astype((np.int32, np.uint8)[i % 2])
    for i in range(bools):
        fields[f"is{i}"] = rng.random(total) < 0.5 / (i + 1)
    return fields


def _z_to_mumu(rng: np.random.Generator, muons: dict, counts: np.ndarray) -> None:
    """Turns the first two muons of the events that have two into a Z boson's, in place."""
    starts = np.cumsum(counts) - counts
    first = starts[counts >= 2]
    n = len(first)
    mass = 91.2 + 1.25 * np.tan(rng.uniform(-1.5, 1.5, n)) + rng.normal(0, 1.2, n)
    eta, opening = rng.normal(0, 1, n), rng.normal(0, 0.5, n)
    pt = 20 + rng.exponential(20, n)
    # m^2 = 2 pt1 pt2 (cosh(deta) - cos(dphi)): back to back in phi, pt2 from the mass.
    dphi = np.pi - np.abs(rng.normal(0, 0.3, n))
    muons["pt"][first] = pt
    muons["pt"][first + 1] = mass**2 / (2 * pt * (np.cosh(opening) - np.cos(dphi)))
    muons["eta"][first], muons["eta"][first + 1] = eta, eta + opening
    muons["phi"][first] = rng.uniform(-np.pi, np.pi, n)
    muons["phi"][first + 1] = (muons["phi"][first] + dphi + np.pi) % (2 * np.pi) - np.pi
    muons["charge"][first], muons["charge"][first + 1] = 1, -1


def events(entries: int, seed: int = 1) -> Iterator[dict]:
    """Yield chunks of up to :data:`CHUNK` events: arrays as :func:`write` takes them."""
    rng = np.random.default_rng(seed)
    for start in range(0, entries, CHUNK):
        n = min(CHUNK, entries - start)
        chunk: dict = {
            "run": np.full(n, 1, np.uint32),
            "luminosityBlock": (np.arange(start, start + n) // 400).astype(np.uint32),
            "event": np.arange(start, start + n, dtype=np.uint64) * 7 + 101,
        }
        for name, (mean, shape) in COLLECTIONS.items():
            counts = rng.poisson(mean, n)
            fields = _collection(rng, counts, shape)
            if name == "Muon":
                fields["charge"] = rng.choice(np.array([-1, 1], np.int32), int(counts.sum()))
                fields["mass"][:] = 0.10571289
                _z_to_mumu(rng, fields, counts)
            named = {f"{name}_{field}": values for field, values in fields.items()}
            chunk[f"n{name}[]"] = ak.unflatten(ak.zip(named), counts)
        for i in range(SCALARS):
            chunk[f"MET_var{i}"] = cut_mantissa(rng.exponential(40, n), 10)
        for i in range(TRIGGERS):
            chunk[f"HLT_path{i}"] = rng.random(n) < 0.2 / (1 + i)
        yield chunk


def write(path: str | os.PathLike, chunks: Iterator[dict], name: str = "Events") -> None:
    """Writes `chunks` as a TTree of `name` into a new file at `path`, zstd level 5.

    Keys are branch names; a jagged array of records is keyed by its counter with ``[]`` after it,
    and its fields become the branches.
    """
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        for chunk in chunks:
            if name not in file:
                types = {
                    k: v.type.content if isinstance(v, ak.Array) else v.dtype
                    for k, v in chunk.items()
                }
                file.mktree(
                    name,
                    types,
                    counter_name=lambda collection: collection.removesuffix("[]"),
                    field_name=lambda _, branch: branch,
                )
            file[name].extend(chunk)
