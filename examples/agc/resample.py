"""Resamples few events into many: each new event is one that was drawn, with momenta smeared.

What comes out is resampled, not physics: it only has the shapes and sizes of real data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import numpy as np

import nyssa
from agc.analysis import COLLECTIONS
from agc.toy import toy_events

#: Number of events that are written at a time.
CHUNK = 20_000
#: Events whose jets are laid over each other in the sample of W+jets.
OVERLAID = 4


def toy_base() -> dict[str, ak.Array]:
    """Return toy events to draw from: of top quarks, and of W bosons with jets."""
    return {"top": toy_events(1, leptons=0.6, jets=6), "wjets": toy_events(2, 0.5, jets=2)}


def real_base(data: str | os.PathLike[str]) -> dict[str, ak.Array]:
    """Return the events of the project's folder of test data to draw from.

    The values of top quarks are real ones in NanoAOD version 12, which has no ``btagCSVV2``:
    ``btagDeepFlavB`` stands in for it.
    """
    top = Path(data) / "agc" / "nano_tt_v12.root"
    wjets = Path(data) / "ttree" / "nanoAOD_2015_CMS_Open_Data_ttbar.root"
    return {"top": _read(top, {"Jet_btagCSVV2": "Jet_btagDeepFlavB"}), "wjets": _read(wjets, {})}


def _read(path: Path, renamed: dict[str, str]) -> ak.Array:
    events = nyssa.open(f"{path}:Events")
    return ak.Array(
        {
            collection: ak.zip(
                {
                    field: ak.values_astype(events[renamed.get(name, name)].array(), kind)
                    for field, kind in fields.items()
                    for name in [f"{collection}_{field}"]
                }
            )
            for collection, fields in COLLECTIONS.items()
        }
    )


def resample(
    base: dict[str, ak.Array], process: str, events: int, seed: int
) -> Iterator[dict[str, ak.Array | np.ndarray]]:
    """Yield chunks of events, as ``nanoaod.write`` takes them. Equal seeds make equal events."""
    random = np.random.RandomState(seed)
    source = base["wjets" if process == "wjets" else "top"]
    for start in range(0, events, CHUNK):
        count = min(CHUNK, events - start)
        drawn = source[random.randint(0, len(source), count)]
        jets = [drawn.Jet]
        if process == "wjets":
            # Few events have four jets, so jets of other events are laid over each.
            for _ in range(OVERLAID - 1):
                jets.append(source.Jet[random.randint(0, len(source), count)])
        overlaid = ak.concatenate(jets, axis=1)
        chunk = {
            "Electron": _smeared(random, drawn.Electron),
            "Muon": _smeared(random, drawn.Muon),
            "Jet": _sorted(_smeared(random, overlaid)),
        }
        numbers = np.arange(start, start + count)
        yield {
            "run": np.ones(count, np.uint32),
            "luminosityBlock": (numbers // 400).astype(np.uint32),
            "event": numbers.astype(np.uint64),
            **{f"n{name}[]": _with_names(name, array) for name, array in chunk.items()},
        }


def _smeared(random: np.random.RandomState, objects: ak.Array) -> ak.Array:
    """Return the objects with momenta up to five per cent smaller or larger."""
    counts = ak.num(objects)
    flat = ak.flatten(objects)
    factor = 0.95 + 0.1 * random.random_sample(len(flat))
    pt = (ak.to_numpy(flat.pt) * factor).astype(np.float32)
    return ak.unflatten(ak.with_field(flat, pt, "pt"), counts)


def _sorted(jets: ak.Array) -> ak.Array:
    return jets[ak.argsort(jets.pt, ascending=False, stable=True)]


def _with_names(name: str, objects: ak.Array) -> ak.Array:
    return ak.zip({f"{name}_{field}": objects[field] for field in objects.fields})
