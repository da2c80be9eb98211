"""Runs the analysis as a processor of coffea, to compare its speed; uproot or nyssa reads.

>>> python -m agc.with_coffea --inputs ../build/agc/ttree.json --reader uproot --workers 4
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import awkward as ak
import hist
import numpy as np
from coffea import processor
from coffea.nanoevents import NanoAODSchema

from agc import reference
from agc.analysis import (
    BTAG,
    BTAG_JETS,
    PT,
    PT_SCALE,
    RESOLUTION,
    WJETS_SCALE,
    add_pseudodata,
    histogram_name,
)
from agc.samples import Sample, read_samples


class Schema(NanoAODSchema):
    """NanoAOD with plain collections: the samples do not have the charge, nor indices."""

    mixins: ClassVar = {
        **NanoAODSchema.mixins,
        "Electron": "NanoCollection",
        "Muon": "NanoCollection",
        "Jet": "PtEtaPhiMLorentzVector",
    }


class Processor(processor.ProcessorABC):
    """Analyses in the way of coffea: with operations on arrays of objects."""

    def process(self, events: ak.Array) -> dict[str, hist.Hist]:
        """Return the histograms of a chunk of a sample."""
        name, _, variation = events.metadata["dataset"].partition("__")
        sample = Sample(name, variation, [], events.metadata["events"])
        electron, muon = events.Electron, events.Muon
        electron = electron[
            (electron.pt > PT)
            & (abs(electron.eta) < 2.1)
            & (electron.sip3d < 4)
            & (electron.cutBased == 4)
        ]
        muon = muon[
            (muon.pt > PT)
            & (abs(muon.eta) < 2.1)
            & (muon.sip3d < 4)
            & muon.tightId
            & (muon.pfRelIso04_all < 0.15)
        ]
        jets = events.Jet[ak.num(electron) + ak.num(muon) == 1]
        jets = jets[(abs(jets.eta) < 2.4) & (jets.jetId == 6)]
        found = {}
        for variation, pt in self.jet_variations(jets.pt, sample):
            varied = ak.with_field(jets, pt, "pt")
            varied = varied[varied.pt > PT]
            varied = varied[ak.num(varied) >= 4]
            tags = ak.sum(varied.btagCSVV2 > BTAG, axis=1)
            one, two = varied[tags == 1], varied[tags >= 2]
            regions = {
                "4j1b": (one, ak.sum(one.pt, axis=1)),
                "4j2b": (two, self.trijet_mass(two)),
            }
            for region, (chosen, values) in regions.items():
                for name, factor in self.weights(variation, chosen, sample):
                    histogram = hist.Hist(hist.axis.Regular(25, 50, 550), hist.storage.Weight())
                    weight = np.broadcast_to(sample.weight * factor, len(values))
                    histogram.fill(ak.to_numpy(values), weight=weight)
                    found[histogram_name(region, sample, name)] = histogram
        return found

    def jet_variations(self, pt: ak.Array, sample: Sample) -> Iterator[tuple[str, ak.Array]]:
        """Yield the names of the variations of the momenta of jets, and the momenta."""
        yield "nominal", pt
        if sample.nominal:
            yield "pt_scale_up", pt * PT_SCALE
            digits = ak.values_astype(pt * np.float32(1000), np.int32) % 1000
            factors = ak.unflatten(RESOLUTION[ak.to_numpy(ak.flatten(digits))], ak.num(pt))
            yield "pt_res_up", pt * factors

    def weights(
        self, variation: str, jets: ak.Array, sample: Sample
    ) -> Iterator[tuple[str, np.ndarray | float]]:
        """Yield the names of the variations of weights, and the factors of the weights."""
        yield variation, 1.0
        if not sample.nominal or variation != "nominal":
            return
        for number in range(BTAG_JETS):
            shift = 0.075 * ak.to_numpy(jets.pt[:, number]).astype(np.float64) / 50
            for direction, sign in (("up", 1), ("down", -1)):
                rounded = (1 + sign * shift).astype(np.float32)
                yield f"btag_var_{number}_{direction}", rounded.astype(np.float64)
        if sample.process == "wjets":
            for direction, factor in WJETS_SCALE.items():
                yield f"scale_var_{direction}", float(factor)

    def trijet_mass(self, jets: ak.Array) -> ak.Array:
        """Return the mass of the three jets, one b-tagged, that have the largest pt together."""
        double = ak.zip(
            {
                name: ak.values_astype(jets[name], np.float64)
                for name in ("pt", "eta", "phi", "mass")
            },
            with_name="PtEtaPhiMLorentzVector",
            behavior=jets.behavior,
        )
        a, b, c = ak.unzip(ak.combinations(double, 3))
        x, y, z = ak.unzip(ak.combinations(jets.btagCSVV2 > BTAG, 3))
        trijet = (a + b + c)[x | y | z]
        best = ak.argmax(trijet.pt, axis=1, keepdims=True)
        return ak.flatten(trijet.mass[best])

    def postprocess(self, accumulator: dict[str, hist.Hist]) -> dict[str, hist.Hist]:
        """Return what all chunks made."""
        return accumulator


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--prefix")
    parser.add_argument("--reader", choices=["uproot", "nyssa"], default="uproot")
    parser.add_argument("--workers", type=int, default=1, help="number of processes")
    parser.add_argument("--reference", type=Path, help="histograms that must be equal")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    if arguments.reader == "nyssa":
        from nyssa.coffea import Runner
    else:
        from coffea.processor import Runner
    executor = (
        processor.FuturesExecutor(workers=arguments.workers, status=False)
        if arguments.workers > 1
        else processor.IterativeExecutor(status=False)
    )
    files = {
        f"{one.process}__{one.variation}": {
            "files": [file.removesuffix(":Events") for file in one.files],
            "metadata": {"events": one.events},
        }
        for one in read_samples(arguments.inputs, arguments.prefix)
    }
    begin, cpu = time.perf_counter(), cpu_seconds()
    histograms = Runner(executor, chunksize=100_000, schema=Schema)(
        files, Processor(), treename="Events"
    )
    seconds = time.perf_counter() - begin
    add_pseudodata(histograms)
    print(json.dumps({"seconds": seconds, "cpu": cpu_seconds() - cpu}))
    if arguments.reference:
        lines = reference.differences(reference.to_numbers(histograms), arguments.reference)
        print("; ".join(lines) or f"equal to {arguments.reference}", file=sys.stderr)
        return bool(lines)
    return 0


def cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it started and that have ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


if __name__ == "__main__":
    sys.exit(main())
