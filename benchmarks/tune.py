"""Compare what `nyssa tune` recommends and expects with an exhaustive search on the whole file.

    python benchmarks/tune.py FILE[:PATH] ... [--json result.json] [--budget 60]

For each dataset, every codec that `nyssa tune` tries, with both encodings and every page size and
cluster size that changes something, is converted as a whole. Then `nyssa tune` searches, and the
whole dataset is converted with the file that it writes. Times are CPU times of child processes, so
that other work on the machine counts little. With ``--sibling OTHER``, the file of the first
dataset is applied to OTHER, and compared with what `nyssa tune` finds for OTHER itself.
"""

from __future__ import annotations

import argparse
import itertools
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import nyssa

COMPRESSIONS = [
    "zstd",
    *("zstd:1", "zstd:5", "zstd:9", "lz4:1", "lz4:9", "zlib:1", "zlib:6", "lzma:7"),
]
ENCODINGS = ["default", "auto"]
PAGES = [64 << 10, 256 << 10, 1 << 20, 4 << 20]
CLUSTERS = [4 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20]
DEFAULT_PAGE, DEFAULT_CLUSTER = 1 << 20, 128 << 20


def command(*args: object) -> tuple[str, float]:
    """Run a command of nyssa; return what it prints and its CPU time in seconds."""

    def cpu() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime

    before = cpu()
    full = [sys.executable, "-m", "nyssa", *map(str, args)]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(ran.stderr)
    return ran.stdout, cpu() - before


def write(data: str, output: Path, options: list[object]) -> tuple[int, float, dict[str, Any]]:
    """Convert or rewrite; return the bytes of the file, the CPU time and the report."""
    tree = nyssa.inspect(data).format == "TTree"
    fixed = ["--no-carry", "--reproducible", "--force", "--json"]
    fixed += ["--skip-unsupported"] if tree else []
    job = "convert" if tree else "rewrite"
    text, seconds = command(job, data, output, *fixed, *options)
    report = json.loads(text)
    [report] = report.get("reports", [report])
    return output.stat().st_size, seconds, report


def exhaustive(data: str, folder: Path) -> tuple[list[dict[str, Any]], float]:
    """Return the size of the whole file with all options, smallest first, and the CPU time."""
    output = folder / "exhaustive.root"
    bytes_, _, report = write(data, output, [])
    columns = max(one["uncompressed_bytes"] for one in report["columns"])
    pages = [size for size in PAGES if size < columns or size == DEFAULT_PAGE]
    clusters = [size for size in CLUSTERS if size < bytes_ or size == DEFAULT_CLUSTER]
    found, total = [], 0.0
    for options in itertools.product(COMPRESSIONS, ENCODINGS, clusters, pages):
        names = ("--compression", "--encoding", "--cluster-size", "--page-size")
        given = [one for pair in zip(names, options, strict=True) for one in pair]
        bytes_, seconds, _ = write(data, output, given)
        found.append({"options": options, "bytes": bytes_, "seconds": seconds})
        total += seconds
    return sorted(found, key=lambda one: one["bytes"]), total


def tuned(data: str, folder: Path, budget: float, name: str) -> tuple[dict[str, Any], Path, float]:
    """Return the report of a search, its profile and its CPU time."""
    profile = folder / f"{name}.toml"
    given = ["--objective", "size", "--budget", f"{budget}s", "--output", profile, "--json"]
    text, seconds = command("tune", data, *given)
    return json.loads(text), profile, seconds


def compare(data: str, folder: Path, budget: float, number: int) -> dict[str, Any]:
    """Return how near a search comes to the best of all options."""
    report, profile, seconds = tuned(data, folder, budget, str(number))
    real, _, _ = write(data, folder / "real.root", ["--profile", profile])
    best, all_seconds = exhaustive(data, folder)
    expected = report["expected"]
    return {
        "data": data,
        "input_bytes": report["input_bytes"],
        "recommended": list(report["recommended"].values()),
        "best": list(best[0]["options"]),
        "default": next(
            one["bytes"]
            for one in best
            if one["options"] == ("zstd", "default", DEFAULT_CLUSTER, DEFAULT_PAGE)
        ),
        "best_bytes": best[0]["bytes"],
        "real_bytes": real,
        "expected_bytes": expected["bytes"],
        "expected_error": expected["bytes_error"],
        "expected / real": expected["bytes"] / real,
        "real / best": real / best[0]["bytes"],
        "trials": len(best),
        "tune_seconds": seconds,
        "exhaustive_seconds": all_seconds,
        "share of time": seconds / all_seconds,
    }


def siblings(first: str, other: str, folder: Path, budget: float) -> dict[str, Any]:
    """Return the size of a file with the profile of another one, and with its own."""
    _, profile, _ = tuned(first, folder, budget, "first")
    _, own, _ = tuned(other, folder, budget, "other")
    by_first, _, _ = write(other, folder / "by_first.root", ["--profile", profile])
    by_own, _, _ = write(other, folder / "by_own.root", ["--profile", own])
    return {"data": other, "profile of": first, "bytes": by_first, "own": by_own,
            "ratio": by_first / by_own}  # fmt: skip


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("data", nargs="+", metavar="FILE[:PATH]")
    parser.add_argument("--sibling", metavar="FILE[:PATH]")
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        for number, data in enumerate(options.data):
            found = compare(data, Path(name), options.budget, number)
            results.append(found)
            print(json.dumps(found, indent=1), flush=True)
        if options.sibling is not None:
            found = siblings(options.data[0], options.sibling, Path(name), options.budget)
            results.append(found)
            print(json.dumps(found, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
