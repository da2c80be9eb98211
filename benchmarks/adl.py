"""`make bench-adl`: the eight queries of examples/adl, beside RDataFrame, coffea and graphed.

Each way runs in a process of its own with one and with two workers, all ways in turn. Every query
runs twice in it, and the second time is measured. All fill equal histograms, which is checked.
Medians are printed and written to docs/benchmarks-adl.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "docs" / "tutorials")]

import nyssa  # noqa: E402
import run as local  # noqa: E402
from table import cpu_name, root_version  # noqa: E402

EXAMPLES = HERE.parent / "examples"
#: The names of the ways on the page, by engine and file.
WAYS = {
    ("nyssa", "ttree"): "nyssa, TTree",
    ("nyssa", "rntuple"): "nyssa, RNTuple",
    ("rdataframe", "ttree"): "RDataFrame, TTree",
    ("rdataframe", "rntuple"): "RDataFrame, RNTuple",
    ("coffea-uproot", "ttree"): "coffea + uproot, TTree",
    ("coffea-nyssa", "ttree"): "coffea + nyssa, TTree",
    ("graphed-uproot", "ttree"): "graphed + uproot, TTree",
    ("graphed-nyssa", "ttree"): "graphed + nyssa, TTree",
}
#: Results: seconds of each query in each round, by engine, file and number of workers.
Results = dict[tuple[str, str, int], list[dict[str, float]]]

TEXT = """\
# The eight queries of the ADL benchmark, measured

`make bench-adl` writes this page; do not edit it. It runs the
[eight queries](../examples/adl/README.md) on {entries:,} events of {data}: {ttree:.0f} MB as TTree,
{rntuple:.0f} MB as RNTuple. All ways fill equal histograms, which is checked in each run.

Times are medians of {rounds} in seconds, with opening the file. Each query runs for the second time
in its process: compiling, and the first look at classes, are not counted. RDataFrame ({root}) runs
in compiled C++, coffea with processors in its own style. Two workers of coffea are processes, which
start in the measured time; the others are threads. graphed has only its runner of one worker.
Ratios are the time of the peer divided by that of nyssa on the same file. Wanted are 3 for coffea,
1 for RDataFrame and graphed. Machine: {machine}. {note}
"""


def data(entries: int) -> dict[str, Path]:
    """Make the files if they are missing, and return them by their kind."""
    files = {kind: local.BUILD / f"adl-{kind}-{entries}.root" for kind in ("ttree", "rntuple")}
    local.BUILD.mkdir(parents=True, exist_ok=True)
    if not files["ttree"].exists():
        if local.TEMPLATE.exists():
            local.make_data(files["ttree"], entries)
        else:
            import sample

            sample.write(files["ttree"], entries)
    if not files["rntuple"].exists():
        nyssa.convert(f"{files['ttree']}:Events", files["rntuple"])
    return files


def measure(
    engine: str, file: Path, workers: int, reference: Path, python: str
) -> dict[str, float]:
    """Return the seconds of each query."""
    options = ["--engine", engine, "--workers", str(workers), "--repeat", "2"]
    options += ["--build", str(local.BUILD / "adl"), "--reference", str(reference)]
    command = [python, "-W", "ignore", "-m", "adl.run", f"{file}:Events", *options]
    found = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    return {number: wall for number, (wall, _) in json.loads(found.splitlines()[-1]).items()}


def table(results: Results, workers: int) -> list[str]:
    """Return the rows of the ways with some number of workers."""
    ways = [way for way in WAYS if (*way, workers) in results]

    def seconds(way: tuple[str, str], number: str) -> float | None:
        rounds = results.get((*way, workers), [])
        return statistics.median(one[number] for one in rounds) if rounds else None

    def ratio(peer: str, kind: str, number: str) -> str:
        theirs, ours = seconds((peer, kind), number), seconds(("nyssa", kind), number)
        return f"{theirs / ours:.1f}" if theirs and ours else "–"

    peers = [("coffea-uproot", "ttree"), ("graphed-uproot", "ttree")]
    peers += [("rdataframe", "ttree"), ("rdataframe", "rntuple")]
    peers = [way for way in peers if way in ways]
    head = ["query", *(WAYS[way] for way in ways), *(f"{WAYS[peer]}: ratio" for peer in peers)]
    rows = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for number in map(str, range(1, 9)):
        times = [f"{seconds(way, number):.3f}" for way in ways]
        ratios = [ratio(*peer, number) for peer in peers]
        rows.append(f"| {' | '.join([number, *times, *ratios])} |")
    return rows


def page(results: Results, files: dict[str, Path], entries: int, rounds: int, note: str) -> str:
    """Return the text of the page."""
    text = TEXT.format(
        entries=entries,
        data="CMS open data, resampled" if local.TEMPLATE.exists() else "random numbers",
        ttree=files["ttree"].stat().st_size / 1e6,
        rntuple=files["rntuple"].stat().st_size / 1e6,
        rounds=f"{rounds} rounds" if rounds > 1 else "one round",
        root=f"ROOT {root_version()}",
        machine=f"{cpu_name()}, {os.cpu_count()} cores, Python {platform.python_version()}",
        note=note,
    )
    parts = [text.rstrip()]
    for workers in sorted({workers for _, _, workers in results}):
        named = "One worker" if workers == 1 else f"{workers} workers"
        parts += ["", f"## {named}", "", *table(results, workers)]
    return "\n".join(parts) + "\n"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--coffea", help="a Python that has coffea")
    parser.add_argument("--graphed", help="a Python that has graphed")
    parser.add_argument("--note", default="", help="a sentence about the machine, for the page")
    docs = HERE.parent / "docs" / "benchmarks-adl.md"
    parser.add_argument("--output", type=Path, default=docs)
    arguments = parser.parse_args()
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [known, str(EXAMPLES)]))
    files = data(arguments.entries)
    engines = {"nyssa": sys.executable}
    if importlib.util.find_spec("ROOT"):
        engines["rdataframe"] = sys.executable
    if arguments.coffea:
        engines |= dict.fromkeys(("coffea-uproot", "coffea-nyssa"), arguments.coffea)
    if arguments.graphed:
        engines |= dict.fromkeys(("graphed-uproot", "graphed-nyssa"), arguments.graphed)
    reference = local.BUILD / f"adl-{arguments.entries}.json"
    first = "rdataframe" if "rdataframe" in engines else "nyssa"
    command = [sys.executable, "-m", "adl.run", f"{files['ttree']}:Events", "--engine", first]
    command += ["--write", str(reference), "--build", str(local.BUILD / "adl")]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    results: Results = defaultdict(list)
    for _ in range(arguments.rounds):
        for (engine, kind), name in WAYS.items():
            # graphed has no runner of several workers.
            most = [n for n in arguments.workers if n == 1 or not engine.startswith("graphed")]
            for workers in most if engine in engines else ():
                print(f"{name}, workers: {workers}", file=sys.stderr)
                taken = measure(engine, files[kind], workers, reference, engines[engine])
                results[engine, kind, workers].append(taken)
    text = page(results, files, arguments.entries, arguments.rounds, arguments.note)
    arguments.output.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
