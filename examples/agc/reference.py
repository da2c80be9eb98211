"""Keeps histograms as JSON: the reference made with RDataFrame, and the comparison with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from agc.analysis import Histograms

#: Largest relative difference of contents and errors of bins.
TOLERANCE = 1e-12


#: Contents and errors of the bins of histograms, by the names of these.
Numbers = dict[str, dict[str, list[float]]]


def to_numbers(histograms: Histograms) -> Numbers:
    """Return contents and errors of all bins, with those below and above the axis."""
    found = {}
    for name, histogram in histograms.items():
        bins = histogram.view(flow=True)
        found[name] = {"contents": bins.value.tolist(), "errors": np.sqrt(bins.variance).tolist()}
    return found


def differences(found: Numbers, reference: Path) -> list[str]:
    """Return one line about each histogram that is not as in the reference."""
    wanted = json.loads(reference.read_text())["histograms"]
    lines = [f"{name} is missing" for name in sorted(wanted.keys() - found.keys())]
    lines += [f"{name} is not in the reference" for name in sorted(found.keys() - wanted.keys())]
    for name in sorted(wanted.keys() & found.keys()):
        for key, expected in wanted[name].items():
            if not np.allclose(found[name][key], expected, rtol=TOLERANCE, atol=0):
                lines.append(f"{name}: {key} are {found[name][key]}, not {expected}")
    return lines
