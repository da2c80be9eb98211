"""Runs the analysis in C++ on views of columns, ../cpp/readers/agc.cpp.

>>> python -m agc.views ../build/readers/readers/agc --inputs ../build/agc/ttree.json --workers 4
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from agc import reference
from agc.samples import Sample, read_samples


def run(program: Path, samples: list[Sample], workers: int) -> dict[str, Any]:
    """Return the histograms, and the wall time and the CPU time in seconds."""
    lines = (
        " ".join([sample.process, sample.variation, repr(sample.weight), *sample.files])
        for sample in samples
    )
    command = [str(program), "/dev/stdin", str(workers)]
    done = subprocess.run(
        command, input="\n".join(lines), stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=Path, help="what agc.cpp is compiled to")
    parser.add_argument("--inputs", type=Path, required=True)
    parser.add_argument("--prefix")
    parser.add_argument("--workers", type=int, default=1, help="number of threads")
    parser.add_argument("--reference", type=Path, help="histograms that must be equal")
    arguments = parser.parse_args()
    samples = read_samples(arguments.inputs, arguments.prefix)
    found = run(arguments.program, samples, arguments.workers)
    print(json.dumps({"seconds": found["seconds"], "cpu": found["cpu"]}))
    if arguments.reference:
        lines = reference.differences(found["histograms"], arguments.reference)
        print("; ".join(lines) or f"equal to {arguments.reference}", file=sys.stderr)
        return bool(lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
