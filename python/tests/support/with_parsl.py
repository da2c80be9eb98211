"""Runs a processor of coffea by parsl, and has a command of it with a time limit.

parsl starts processes that outlive one which was killed. So tests run it in a process of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import awkward as ak
import hist
import parsl
import psutil
from coffea import processor
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider

from nyssa import coffea

#: The seconds that a run may take. It takes about ten.
LIMIT = 120


class Momenta(processor.ProcessorABC):
    """Fills a histogram of the momenta of jets for each dataset."""

    def process(self, events: ak.Array) -> dict[str, Any]:
        """Return the histogram of a chunk."""
        found = hist.Hist(hist.axis.Regular(20, 0, 200), storage=hist.storage.Weight())
        pt = ak.to_numpy(ak.flatten(events.Jet.pt))
        found.fill(pt, weight=pt)
        return {events.metadata["dataset"]: {"entries": len(events), "pt": found}}

    def postprocess(self, accumulator: Any) -> None:
        """Leave the histograms as they are."""


def plain(result: dict[str, Any]) -> dict[str, list[float]]:
    """Return entries, contents and variances of each dataset, as JSON can hold them."""
    return {
        dataset: [one["entries"], *one["pt"].values(flow=True), *one["pt"].variances(flow=True)]
        for dataset, one in result.items()
    }


def _two_processes(folder: str) -> parsl.Config:
    block = HighThroughputExecutor(
        address="127.0.0.1",
        max_workers_per_node=2,
        provider=LocalProvider(init_blocks=1, min_blocks=1, max_blocks=1),
    )
    return parsl.Config(executors=[block], run_dir=folder, strategy="none")


def main(fileset: str) -> None:
    """Print what parsl finds in a set of files. Both are JSON."""
    with tempfile.TemporaryDirectory() as folder, parsl.load(_two_processes(folder)):
        run = coffea.Runner(executor=processor.ParslExecutor(status=False), chunksize=100)
        found = run(json.loads(fileset), Momenta(), treename="Events")
    print(json.dumps(plain(found)))


def run(fileset: dict[str, list[str]]) -> Any:
    """Return what a process with `main` prints. After `LIMIT`, it and what it started are ended."""
    # parsl finds its program `process_worker_pool.py`, which is beside Python, by PATH.
    found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    paths = [str(Path(__file__).parents[1]), *sys.path]
    process = subprocess.Popen(
        [sys.executable, "-m", __name__, json.dumps(fileset)],
        env={**os.environ, "PATH": found, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        output, errors = process.communicate(timeout=LIMIT)
    finally:
        for one in _started_by(process):
            one.kill()
    assert process.returncode == 0, errors
    # Progress bars of coffea come before it.
    return json.loads(output.splitlines()[-1])


def _started_by(process: subprocess.Popen[str]) -> list[psutil.Process]:
    if process.poll() is not None:
        return []
    started = psutil.Process(process.pid)
    return [*started.children(recursive=True), started]


if __name__ == "__main__":
    main(sys.argv[1])
