"""Runs the queries as processors of coffea, to compare their speed; uproot or nyssa reads."""

from __future__ import annotations

from typing import Any, ClassVar

import awkward as ak
import numpy as np
from coffea import processor
from coffea.nanoevents import NanoAODSchema

from adl.queries import BINS


class Schema(NanoAODSchema):
    """NanoAOD without warnings about indices that files of few columns lack."""

    warn_missing_crossrefs = False
    mixins: ClassVar = dict(NanoAODSchema.mixins)


class Query(processor.ProcessorABC):
    """Runs one query in the way of coffea: with operations on arrays of objects."""

    def __init__(self, number: int, btag: str) -> None:
        self.number, self.btag = number, btag.removeprefix("Jet_")

    def process(self, events: ak.Array) -> dict[str, np.ndarray]:
        """Return the histograms of a chunk."""
        values = getattr(self, f"query_{self.number}")(events)
        return {name: histogram(name, ak.to_numpy(one)) for name, one in values.items()}

    def postprocess(self, accumulator: Any) -> Any:
        """Leave the sums as they are."""
        return accumulator

    def query_1(self, events: ak.Array) -> dict[str, Any]:
        return {"1": events.MET.pt}

    def query_2(self, events: ak.Array) -> dict[str, Any]:
        return {"2": ak.flatten(events.Jet.pt)}

    def query_3(self, events: ak.Array) -> dict[str, Any]:
        return {"3": ak.flatten(events.Jet.pt[abs(events.Jet.eta) < 1])}

    def query_4(self, events: ak.Array) -> dict[str, Any]:
        return {"4": events.MET.pt[ak.sum(events.Jet.pt > 40, axis=1) >= 2]}

    def query_5(self, events: ak.Array) -> dict[str, Any]:
        a, b = ak.unzip(ak.combinations(double(events.Muon, "charge"), 2))
        mass = (a + b).mass
        good = (a.charge != b.charge) & (mass > 60) & (mass < 120)
        return {"5": events.MET.pt[ak.any(good, axis=1)]}

    def query_6(self, events: ak.Array) -> dict[str, Any]:
        jets = double(events.Jet[ak.num(events.Jet) >= 3], self.btag)
        a, b, c = ak.unzip(ak.combinations(jets, 3))
        trijet = a + b + c
        best = ak.argmin(abs(trijet.mass - 172.5), axis=1, keepdims=True)
        tags = np.maximum(np.maximum(a[self.btag], b[self.btag]), c[self.btag])
        return {"6a": ak.flatten(trijet.pt[best]), "6b": ak.flatten(tags[best])}

    def query_7(self, events: ak.Array) -> dict[str, Any]:
        jets = double(events.Jet[events.Jet.pt > 30])
        far = True
        for leptons in (events.Muon, events.Electron):
            distances = jets.metric_table(double(leptons[leptons.pt > 10]))
            far = far & ak.all(distances >= 0.4, axis=2)
        jets = jets[far]
        return {"7": ak.sum(jets.pt[ak.num(jets) > 0], axis=1)}

    def query_8(self, events: ak.Array) -> dict[str, Any]:
        events = events[ak.num(events.Muon) + ak.num(events.Electron) >= 3]
        muons, electrons = double(events.Muon, "charge"), double(events.Electron, "charge")
        muons["kind"], electrons["kind"] = 13, 11
        leptons = ak.with_name(
            ak.concatenate([muons, electrons], axis=1),
            "PtEtaPhiMLorentzVector",
            behavior=muons.behavior,
        )
        pairs = ak.argcombinations(leptons, 2, fields=["a", "b"])
        a, b = leptons[pairs.a], leptons[pairs.b]
        pairs = pairs[(a.kind == b.kind) & (a.charge != b.charge)]
        mass = (leptons[pairs.a] + leptons[pairs.b]).mass
        pair = ak.firsts(pairs[ak.argmin(abs(mass - 91.2), axis=1, keepdims=True)])
        some = ~ak.is_none(pair)
        leptons, pair, events = leptons[some], pair[some], events[some]
        index = ak.local_index(leptons)
        others = leptons[(index != pair.a) & (index != pair.b)]
        lepton = ak.firsts(others[ak.argmax(others.pt, axis=1, keepdims=True)])
        met, phi = (ak.values_astype(events.MET[x], float) for x in ("pt", "phi"))
        return {"8": np.sqrt(2 * met * lepton.pt * (1 - np.cos(phi - lepton.phi)))}


def histogram(name: str, values: np.ndarray) -> np.ndarray:
    """Return the contents of all bins: underflow, the bins, overflow."""
    number, low, high = BINS[name]
    place = np.floor((values - low) * (number / (high - low))).astype(np.int64)
    return np.bincount(np.clip(place, -1, number) + 1, minlength=number + 2)


def double(objects: ak.Array, *others: str) -> ak.Array:
    """Return objects whose momenta are in double precision."""
    names = ("pt", "eta", "phi", "mass")
    fields = {name: ak.values_astype(objects[name], np.float64) for name in names}
    fields |= {name: objects[name] for name in others}
    return ak.zip(fields, with_name="PtEtaPhiMLorentzVector", behavior=objects.behavior)


def run(
    files: list[str], number: int, btag: str, workers: int, reader: str
) -> dict[str, np.ndarray]:
    """Return the histograms of a query. Processes process chunks if there are several workers."""
    executor = (
        processor.IterativeExecutor(status=False)
        if workers == 1
        else processor.FuturesExecutor(workers=workers, status=False)
    )
    if reader == "nyssa":
        from nyssa.coffea import Runner
    else:
        from coffea.processor import Runner
    runner = Runner(executor=executor, schema=Schema, chunksize=200_000)
    paths = [file.removesuffix(":Events") for file in files]
    return runner({"events": paths}, Query(number, btag), treename="Events")
