"""Makes a reference: histograms that the AGC's implementation with RDataFrame fills from samples.

>>> git clone https://github.com/root-project/analysis-grand-challenge
>>> python -m agc.generate samples --events 4000
>>> python agc/reference/make.py analysis-grand-challenge samples/ttree.json agc/reference/toy.json

Its functions ``book_histos``, ``postprocess_results`` and ``simplify_histo_name`` run as they are.
The modules for machine learning, plots and fits, which they do not use, are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from unittest.mock import MagicMock


def histograms(repository: Path, inputs: Path) -> dict:
    """Return the histograms of the repository's analysis, by their names."""
    import ROOT

    ROOT.TH1.AddDirectory(False)
    folder = repository / "analyses" / "cms-open-data-ttbar"
    sys.path.insert(0, str(folder))
    for name in ("distributed", "ml", "plotting", "statistical", "tqdm"):
        sys.modules[name] = MagicMock()
    import analysis
    import utils

    samples = json.loads(inputs.read_text())
    base = inputs.parent.absolute()
    ROOT.gInterpreter.Declare(f'#include "{folder.absolute() / "helpers.h"}"')
    booked = []
    for process, variations in samples.items():
        for variation, found in variations.items():
            paths = [str(base / file["path"]) for file in found["files"]]
            events = sum(file["nevts"] for file in found["files"])
            frame = ROOT.RDataFrame("Events", paths)
            booked += analysis.book_histos(frame, process, variation, events)[0]
    for result in booked:
        if result.should_vary:
            result.histo = ROOT.RDF.Experimental.VariationsFor(result.histo)
    filled = {}
    for result in utils.postprocess_results(booked):
        filled[utils.simplify_histo_name(result.histo.GetName())] = result.histo
    # As utils.save_histos makes them.
    for region in ("4j1b", "4j2b"):
        pseudodata = filled[f"{region}_wjets"].Clone()
        for variation in ("PS", "ME"):
            pseudodata.Add(filled[f"{region}_ttbar_{variation}_var"], 0.5)
        filled[f"{region}_pseudodata"] = pseudodata
    return filled


def numbers(values: list[float]) -> str:
    """Return numbers as JSON with 15 digits."""
    return json.dumps([float(f"{one:.15g}") for one in values], separators=(",", ":"))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("repository", type=Path, help="clone of analysis-grand-challenge")
    parser.add_argument("inputs", type=Path, help="ttree.json of the samples")
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    lines = []
    for name, one in sorted(histograms(arguments.repository, arguments.inputs).items()):
        bins = range(one.GetNbinsX() + 2)
        contents = numbers([one.GetBinContent(number) for number in bins])
        errors = numbers([one.GetBinError(number) for number in bins])
        lines.append(f'"{name}":{{"contents":{contents},"errors":{errors}}}')
    arguments.output.write_text('{"histograms":{\n' + ",\n".join(lines) + "\n}}\n")
    sys.stdout.flush()
    # The graphs of RDataFrame and the interpreter of Python may be torn down in the wrong order.
    os._exit(0)


if __name__ == "__main__":
    main()
