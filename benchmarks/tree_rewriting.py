"""Rewrites a TTree with nyssa, ROOT and hepconvert, and prints a table of times and sizes.

Run it on a quiet machine: ``python benchmarks/tree_rewriting.py``. The data look like a small
NanoAOD, as in ``tree_writing.py``, and ROOT writes them. Two jobs are measured:

- *whole*: all entries with another compression and with baskets of 64 kB. ROOT clones the tree
  without ``fast``: it reads each entry and fills it again.
- *skim*: the tenth of the entries that pass a cut, with the compression of the input. ROOT runs
  RDataFrame's Snapshot with a compiled filter.

hepconvert's ``copy_root`` reads arrays and writes them with uproot. It is left out if it is not
installed for the Python that ``--hepconvert`` names. Each job runs in a process of its own, all in
turn; imports, and the compilation of ROOT's filter, do not count. nyssa and RDataFrame have one
thread and as many as ``--threads``; the others have one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tree_writing import clock, make, since

TREE = "Events"
CUT = "trigger"
"""A tenth of the entries of the data passes."""
BASKET = 64_000

Times = tuple[float, float]


def nyssa(job: str, source: str, output: str, compression: int, threads: int) -> Times:
    """Rewrite with nyssa."""
    import nyssa

    options: dict[str, Any] = {"threads": threads, "force": True}
    if job == "whole":
        options |= {"compression": compression, "basket_size": BASKET}
    else:
        options |= {"cut": CUT}
    nyssa.rewrite(f"{source}:{TREE}", output, entry_stop=10, threads=threads, force=True)
    start = clock()
    nyssa.rewrite(f"{source}:{TREE}", output, **options)
    return since(start)


def root(job: str, source: str, output: str, compression: int, threads: int) -> Times:
    """Rewrite with ROOT."""
    import ROOT

    if job == "skim":
        if threads > 1:
            ROOT.EnableImplicitMT(threads)
        options = ROOT.RDF.RSnapshotOptions()
        algorithm = ROOT.RCompressionSetting.EAlgorithm.EValues(compression // 100)
        options.fCompressionAlgorithm = algorithm
        options.fCompressionLevel = compression % 100

        def snapshot(path: str) -> None:
            frame = ROOT.RDataFrame(TREE, path).Filter(CUT)
            frame.Snapshot(TREE, output, "", options)

        with tempfile.TemporaryDirectory() as folder:
            few = str(Path(folder, "few.root"))
            with ROOT.TFile(source) as file, ROOT.TFile(few, "RECREATE"):
                file.Get(TREE).CloneTree(100).Write()
            # The first run compiles the filter.
            snapshot(few)
        start = clock()
        snapshot(source)
        return since(start)
    start = clock()
    with ROOT.TFile(source) as file, ROOT.TFile(output, "RECREATE", "", compression) as copy:
        tree = file.Get(TREE)
        clone = tree.CloneTree(0)
        for branch in clone.GetListOfBranches():
            branch.SetCompressionSettings(compression)
            branch.SetBasketSize(BASKET)
        clone.CopyEntries(tree, -1, "")
        copy.Write()
    return since(start)


def hepconvert(job: str, source: str, output: str, compression: int, threads: int) -> Times:
    """Rewrite with hepconvert, which has one thread."""
    import hepconvert

    assert threads == 1
    names = {1: "zlib", 2: "lzma", 4: "lz4", 5: "zstd"}
    level = compression % 100 * (2 if compression // 100 == 5 else 1)
    start = clock()
    hepconvert.copy_root(
        output,
        source,
        keep_trees=TREE,
        cut=CUT if job == "skim" else None,
        compression=names[compression // 100],
        compression_level=level,
        force=True,
        progress_bar=False,
    )
    return since(start)


PROGRAMS: dict[str, Callable[..., Times]] = {
    "nyssa": nyssa,
    "root": root,
    "hepconvert": hepconvert,
}


def work(program: str, job: str, source: str, output: str, compression: str, threads: str) -> None:
    """Run one job, and print times and size."""
    wall, cpu = PROGRAMS[program](job, source, output, int(compression), int(threads))
    size = Path(output).stat().st_size
    print(json.dumps({"wall": wall, "cpu": cpu, "bytes": size}))


def measure(python: str, *command: object) -> Any:
    """Run one job in a process of its own. Returns `None` if the program is not there."""
    full = [python, "-W", "ignore", __file__, "--worker", *map(str, command)]
    done = subprocess.run(full, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return json.loads(done.stdout.splitlines()[-1])
    if "No module named" in done.stderr:
        return None
    sys.exit(done.stderr)


def main() -> None:
    """Run all jobs in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--input", type=int, default=505, help="ROOT's setting of the input")
    parser.add_argument("--compression", type=int, default=404, help="that of the whole tree")
    parser.add_argument("--hepconvert", default=sys.executable, help="a Python with hepconvert")
    parser.add_argument("--worker", nargs=6, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        work(*given.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        data, source = Path(folder, "data.npz"), Path(folder, "in.root")
        output = Path(folder, "out.root")
        np.savez(data, **make(given.entries))  # type: ignore[arg-type]
        write = [sys.executable, "-W", "ignore", str(Path(__file__).with_name("tree_writing.py"))]
        write += ["--worker", "root", str(data), str(given.input), "1", str(source)]
        subprocess.run(write, check=True, capture_output=True)
        print(f"Input: {given.entries} entries, {source.stat().st_size / 1e6:.1f} MB\n")
        print("| job | program | threads | s | CPU s | MB | time / nyssa | CPU / nyssa |")
        print("|---|---|---|---|---|---|---|---|")
        several = sorted({1, given.threads})
        for job, compression in (("whole", given.compression), ("skim", given.input)):
            runs: dict[tuple[str, int], list[Any]] = {}
            for _ in range(given.rounds):
                for program in PROGRAMS:
                    python = given.hepconvert if program == "hepconvert" else sys.executable
                    for threads in several:
                        one_thread = program == "hepconvert" or (program, job) == ("root", "whole")
                        if threads > 1 and one_thread:
                            continue
                        found = measure(python, program, job, source, output, compression, threads)
                        if found is not None:
                            runs.setdefault((program, threads), []).append(found)
            table(job, runs)


def table(job: str, runs: dict[tuple[str, int], list[Any]]) -> None:
    """Print the lines of one job."""
    medians = {
        key: {name: statistics.median(run[name] for run in all_runs) for name in all_runs[0]}
        for key, all_runs in runs.items()
    }
    for (program, threads), one in medians.items():
        own = medians["nyssa", threads]
        print(
            f"| {job} | {program} | {threads} | {one['wall']:.2f} | {one['cpu']:.2f} "
            f"| {one['bytes'] / 1e6:.1f} | {one['wall'] / own['wall']:.2f} "
            f"| {one['cpu'] / own['cpu']:.2f} |"
        )


if __name__ == "__main__":
    main()
