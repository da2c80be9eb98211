"""Compare what `nyssa tune` recommends and expects with an exhaustive search on the whole file.

    python benchmarks/tune.py FILE[:PATH] ... [--json result.json] [--budget 60]
    python benchmarks/tune.py --entries 200000 [--folder DIR]

For each dataset, every codec that `nyssa tune` tries, with both encodings and every page size and
cluster size that changes something, is converted as a whole. Then `nyssa tune` searches, and the
whole dataset is converted with the file that it writes. With ``--sibling OTHER``, the file of the
first dataset is applied to OTHER, and compared with what `nyssa tune` finds for OTHER itself.
With ``--entries``, two NanoAOD files of so many entries are made (1.3 kB each), and are siblings.

Times are CPU times of child processes, so that other work on the machine counts little. Times to
write are those that the reports of the jobs have, without the start of Python. ``--quick`` leaves
lzma and the higher levels of zlib out of both searches.

The wanted numbers: "real / best" at most 1.02, "share of time" at most 0.05, "expected / real" from
0.99 to 1.01, both "time" ratios and "memory" from 0.85 to 1.15, and "ratio" of siblings at most
1.005.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nyssa

COMPRESSIONS = [
    "zstd",
    *("zstd:1", "zstd:5", "zstd:9", "lz4:1", "lz4:9", "zlib:1", "zlib:6", "lzma:7"),
]
QUICK = ["zstd", "zstd:1", "zstd:5", "zstd:9", "lz4:1", "lz4:9", "zlib:1"]
TEMPLATE = "ttree/nanoAOD_2015_CMS_Open_Data_ttbar.root"
ENCODINGS = ["default", "auto"]
PAGES = [64 << 10, 256 << 10, 1 << 20, 4 << 20]
CLUSTERS = [4 << 20, 16 << 20, 64 << 20, 128 << 20, 256 << 20]
DEFAULT_PAGE, DEFAULT_CLUSTER = 1 << 20, 128 << 20


@dataclass(frozen=True)
class Asked:
    """What is asked of a search."""

    budget: float
    """Its seconds."""
    compressions: list[str]
    """The compressions to try."""


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


def read_seconds(path: Path) -> float:
    """Return the shortest of many times to open a file and read all columns (arrow).

    Single times of less than 0.1 s differ by half of them on a shared machine.
    """

    def once() -> float:
        begin = time.perf_counter()
        with nyssa.open(path) as file:
            [name] = file.keys(cycle=False)
            file[name].arrays(library="arrow")
        return time.perf_counter() - begin

    return min(once() for _ in range(12))


def exhaustive(
    data: str, folder: Path, compressions: list[str]
) -> tuple[list[dict[str, Any]], float]:
    """Return the size of the whole file with all options, smallest first, and the CPU time."""
    output = folder / "exhaustive.root"
    bytes_, _, report = write(data, output, [])
    columns = max(one["uncompressed_bytes"] for one in report["columns"])
    pages = [size for size in PAGES if size < columns or size == DEFAULT_PAGE]
    clusters = [size for size in CLUSTERS if size < bytes_ or size == DEFAULT_CLUSTER]
    found, total = [], 0.0
    for options in itertools.product(compressions, ENCODINGS, clusters, pages):
        names = ("--compression", "--encoding", "--cluster-size", "--page-size")
        given = [one for pair in zip(names, options, strict=True) for one in pair]
        bytes_, seconds, _ = write(data, output, given)
        found.append({"options": options, "bytes": bytes_, "seconds": seconds})
        total += seconds
    return sorted(found, key=lambda one: one["bytes"]), total


def tuned(data: str, folder: Path, asked: Asked, name: str) -> tuple[dict[str, Any], Path, float]:
    """Return the report of a search, its profile and its CPU time."""
    profile = folder / f"{name}.toml"
    given = ["--objective", "size", "--budget", f"{asked.budget}s", "--output", profile, "--json"]
    given += ["--compression", ",".join(asked.compressions)]
    text, seconds = command("tune", data, *given)
    return json.loads(text), profile, seconds


def compare(data: str, folder: Path, asked: Asked, number: int) -> dict[str, Any]:
    """Return how near a search comes to the best of all options."""
    report, profile, seconds = tuned(data, folder, asked, str(number))
    real, _, job = write(data, folder / "real.root", ["--profile", profile])
    read = read_seconds(folder / "real.root")
    best, all_seconds = exhaustive(data, folder, asked.compressions)
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
        "expected / real time to write": expected["write_cpu_seconds"]
        / job["process"]["cpu_seconds"],
        "expected / real time to read": expected["read_seconds"] / read,
        "expected / real memory": memory(report, data, profile, folder),
        "trials": len(best),
        "tune_seconds": seconds,
        "exhaustive_seconds": all_seconds,
        "share of time": seconds / all_seconds,
    }


def memory(report: dict[str, Any], data: str, profile: Path, folder: Path) -> dict[str, float]:
    """Return expected by real peak memory of the job, for each number of threads."""
    [curve] = [one for one in report["curves"] if one["option"] == "threads"]
    found = {}
    for point in curve["points"]:
        given = ["--profile", profile, "--threads", point["value"]]
        _, _, job = write(data, folder / "real.root", given)
        found[str(point["value"])] = point["memory"] / job["peak_memory_bytes"]
    return found


def siblings(first: str, other: str, folder: Path, asked: Asked) -> dict[str, Any]:
    """Return the size of a file with the profile of another one, and with its own."""
    _, profile, _ = tuned(first, folder, asked, "first")
    _, own, _ = tuned(other, folder, asked, "other")
    by_first, _, _ = write(other, folder / "by_first.root", ["--profile", profile])
    by_own, _, _ = write(other, folder / "by_own.root", ["--profile", own])
    return {"data": other, "profile of": first, "bytes": by_first, "own": by_own,
            "ratio": by_first / by_own}  # fmt: skip


def make(folder: Path, entries: int) -> list[str]:
    """Write two NanoAOD files of so many entries, unless they exist; return their datasets."""
    # The path to the writer of the examples.
    sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
    import nanoaod
    import resample

    template = Path(os.environ.get("NYSSA_TEST_DATA", "shared/data")) / TEMPLATE
    files = [folder / f"nano-{entries}-{seed}.root" for seed in (1, 2)]
    for seed, path in enumerate(files, 1):
        if not path.exists():
            part = path.with_suffix(".part")
            nanoaod.write(part, resample.events(template, entries, seed))
            part.rename(path)
    return [f"{path}:Events" for path in files]


def main() -> None:
    """Run the comparison."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("data", nargs="*", metavar="FILE[:PATH]")
    parser.add_argument("--sibling", metavar="FILE[:PATH]")
    parser.add_argument("--entries", type=int, help="make NanoAOD files of so many entries")
    parser.add_argument("--folder", type=Path, help="keep the files of --entries here")
    parser.add_argument("--budget", type=float, default=60)
    parser.add_argument("--quick", action="store_true", help="leave out what takes longest")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    asked = Asked(options.budget, QUICK if options.quick else COMPRESSIONS)
    data, sibling = list(options.data), options.sibling
    results: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.entries is not None:
            first, sibling = make(options.folder or folder, options.entries)
            data.insert(0, first)
        if not data:
            parser.error("name a dataset, or --entries")
        for number, one in enumerate(data):
            found = compare(one, folder, asked, number)
            results.append(found)
            print(json.dumps(found, indent=1), flush=True)
        if sibling is not None:
            found = siblings(data[0], sibling, folder, asked)
            results.append(found)
            print(json.dumps(found, indent=1))
    if options.json is not None:
        options.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
