"""Rewrites a TTree with nyssa, ROOT and hepconvert, and prints ratios of time, memory and size.

Run it on a quiet machine: ``python benchmarks/tree_rewriting.py``. The tree has the data of
`tree_writing.py`, or is named as ``FILE:TREE``, with a cut that takes about a tenth of its entries.
All programs have one thread and the same compression. "whole" gives all entries other baskets: ROOT
copies entry after entry, as ``CloneTree(-1)`` without "fast". "skim" takes the entries of the cut:
ROOT does it with ``RDataFrame::Snapshot``, and hepconvert with ``copy_root``, which has no size of
baskets. Each program runs in a process of its own, all in turn. Imports and the compilation of the
loop do not count, but they are in the memory.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from tree_writing import clock, make, parts, since

JOBS = {"whole": ("nyssa", "root"), "skim": ("nyssa", "root", "hepconvert")}
BASKET = 64_000
"""The size of new baskets in bytes."""
CUT = "met > 92.1"
"""A tenth of the entries of `make`."""

LOOP = """
/// Gives the entries of a tree other baskets.
void nyssa_clone(
   const char* input, const char* name, const char* output, int compression, int size
) {
   TFile from(input);
   auto tree = from.Get<TTree>(name);
   TFile to(output, "RECREATE", "", compression);
   // CloneTree(-1) would fill the clone before its baskets have another size.
   auto clone = tree->CloneTree(0);
   clone->SetBasketSize("*", size);
   for (auto leaf : *clone->GetListOfLeaves())
      static_cast<TLeaf*>(leaf)->GetBranch()->SetCompressionSettings(compression);
   clone->CopyEntries(tree, -1, "");
   to.Write();
}
"""


def nyssa(job: str, path: str, tree: str, output: str, compression: int, cut: str) -> Any:
    """Rewrite with nyssa."""
    import nyssa

    kinds = {1: "zlib", 2: "lzma", 4: "lz4", 5: "zstd"}
    kind = kinds.get(compression // 100, "none") if compression % 100 else "none"
    text = kind if kind == "none" else f"{kind}:{compression % 100}"
    options: dict[str, Any] = {"basket_size": BASKET, "compression": text, "threads": 1}
    options["force"] = True
    if job == "skim":
        options["cut"] = cut
    start = clock()
    nyssa.rewrite(path, output, tree, **options)
    return since(start)


def root(job: str, path: str, tree: str, output: str, compression: int, cut: str) -> Any:
    """Rewrite with a loop of ROOT, or skim with its RDataFrame."""
    import ROOT

    if job == "whole":
        ROOT.gInterpreter.Declare(LOOP)
        start = clock()
        ROOT.nyssa_clone(path, tree, output, compression, BASKET)
        return since(start)
    options = ROOT.RDF.RSnapshotOptions()
    options.fCompressionAlgorithm = compression // 100
    options.fCompressionLevel = compression % 100
    if hasattr(options, "fBasketSize"):
        options.fBasketSize = BASKET
    start = clock()
    frame = ROOT.RDataFrame(tree, path)
    frame.Filter(cut).Snapshot(tree, output, frame.GetColumnNames(), options)
    return since(start)


def hepconvert(job: str, path: str, tree: str, output: str, compression: int, cut: str) -> Any:
    """Skim with hepconvert."""
    import hepconvert

    assert job == "skim"
    kinds = {1: "ZLIB", 2: "LZMA", 4: "LZ4", 5: "ZSTD"}
    start = clock()
    hepconvert.copy_root(
        output,
        path,
        keep_trees=tree,
        cut=cut,
        compression=kinds.get(compression // 100),
        compression_level=compression % 100,
        force=True,
    )
    return since(start)


def worker(program: str, *work: str) -> None:
    """Write once, and print times, memory and size."""
    job, path, tree, output, compression, cut = work
    wall, cpu = globals()[program](job, path, tree, output, int(compression), cut)
    # getrusage tells the largest memory of the program that began this one, if that had more.
    status = Path("/proc/self/status").read_text().splitlines()
    memory = next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    size = Path(output).stat().st_size
    print(json.dumps({"wall": wall, "cpu": cpu, "memory": memory, "bytes": size}))


def measure(program: str, *work: Any) -> Any:
    """Write in a process of its own."""
    words = [str(one) for one in (program, *work)]
    command = [sys.executable, "-W", "ignore", __file__, "--worker", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def input_of(given: argparse.Namespace, folder: str) -> tuple[Path, str]:
    """Return the file and the name of the tree that is rewritten."""
    import nyssa

    if given.tree:
        path, _, name = given.tree.rpartition(":")
        return Path(path), name
    path = Path(folder, "in.root")
    with nyssa.recreate(path, compression="zlib:1") as file:
        tables = parts(make(given.entries))
        tree = file.mktree("Events", tables[0])
        for table in tables[1:]:
            tree.extend(table)
    return path, "Events"


def main() -> None:
    """Run all programs in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tree", nargs="?", help="FILE:TREE")
    parser.add_argument("--cut", default=CUT)
    parser.add_argument("--entries", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compression", type=int, nargs="*", default=[101, 505])
    parser.add_argument("--without", nargs="*", default=[], help="programs that do not run")
    parser.add_argument("--worker", nargs=7, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        path, tree = input_of(given, folder)
        output = Path(folder, "out.root")
        print("| job | compression | program | s | CPU s | MB memory | MB | time / nyssa |")
        print("|---|---|---|---|---|---|---|---|")
        for job, programs in JOBS.items():
            programs = [program for program in programs if program not in given.without]
            for compression in given.compression:
                work = (job, path, tree, output, compression, given.cut)
                table(programs, work, given.rounds)


def table(programs: list[str], work: tuple[Any, ...], rounds: int) -> None:
    """Print the lines of one job and compression."""
    runs: dict[str, list[Any]] = {program: [] for program in programs}
    for _ in range(rounds):
        for program in programs:
            runs[program].append(measure(program, *work))
    medians = {
        program: {name: statistics.median(run[name] for run in of_one) for name in of_one[0]}
        for program, of_one in runs.items()
    }
    own = medians.get("nyssa", {"wall": float("nan")})
    for program, one in medians.items():
        print(
            f"| {work[0]} | {work[4]} | {program} | {one['wall']:.2f} | {one['cpu']:.2f} "
            f"| {one['memory'] / 1e6:.0f} | {one['bytes'] / 1e6:.2f} "
            f"| {one['wall'] / own['wall']:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
