"""Runs the analysis with RDataFrame, in compiled C++, to compare its speed; needs ROOT.

>>> python -m agc.rdataframe --inputs ../build/agc/ttree.json --workers 4
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

from agc import reference
from agc.samples import Sample, read_samples


def load(build: Path) -> Any:
    """Compile `rdataframe.cxx` if that was not done before in this folder, and return ROOT."""
    import ROOT

    build.mkdir(parents=True, exist_ok=True)
    ROOT.gSystem.SetBuildDir(str(build.absolute()), True)
    if not ROOT.gSystem.CompileMacro(str(Path(__file__).with_suffix(".cxx")), "kO"):
        sys.exit("ROOT cannot compile rdataframe.cxx: a C++ compiler is needed")
    return ROOT


def run(root: Any, samples: list[Sample]) -> tuple[reference.Numbers, float, float]:
    """Return contents and errors of the histograms, the wall time and the CPU time in seconds."""
    given = root.std.vector["AgcSample"]()
    for one in samples:
        sample = root.AgcSample()
        sample.process, sample.variation, sample.weight = one.process, one.variation, one.weight
        for file in one.files:
            sample.files.push_back(file.removesuffix(":Events"))
        given.push_back(sample)
    seconds, cpu = time.perf_counter(), time.process_time()
    found = root.AgcRun(given)
    seconds, cpu = time.perf_counter() - seconds, time.process_time() - cpu
    numbers = {}
    for name, one in found:
        bins = range(one.GetNbinsX() + 2)
        numbers[str(name)] = {
            "contents": [one.GetBinContent(number) for number in bins],
            "errors": [one.GetBinError(number) for number in bins],
        }
    return numbers, seconds, cpu


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--prefix")
    parser.add_argument("--workers", type=int, default=1, help="number of threads")
    parser.add_argument("--build", type=Path, default="aclic", help="folder of the compiled code")
    parser.add_argument("--reference", type=Path, help="histograms that must be equal")
    arguments = parser.parse_args()
    samples = read_samples(arguments.inputs, arguments.prefix)
    begin = time.perf_counter()
    root = load(arguments.build)
    compiling = time.perf_counter() - begin
    if arguments.workers > 1:
        root.EnableImplicitMT(arguments.workers)
    # The first run also looks up the dictionaries of classes, and starts the threads.
    _, first, _ = run(root, samples)
    found, seconds, cpu = run(root, samples)
    taken = {"seconds": seconds, "cpu": cpu, "first_seconds": first, "compile_seconds": compiling}
    print(json.dumps(taken))
    if arguments.reference:
        lines = reference.differences(found, arguments.reference)
        print("; ".join(lines) or f"equal to {arguments.reference}", file=sys.stderr)
        return bool(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
