"""`make bench`: compare nyssa with ROOT and uproot in one run, on data that it makes.

Every job runs in a process of its own. A round runs all jobs in turn. After a warm-up round there
are several measured rounds. Medians and ratios are printed and written to docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT_DIRECTORY = HERE.parent
sys.path[:0] = [str(ROOT_DIRECTORY / "examples"), str(HERE)]

#: Folder of data and outputs.
BUILD = ROOT_DIRECTORY / "build" / "bench"
#: The programs of examples/cpp/readers (`make readers`).
READERS = ROOT_DIRECTORY / "build" / "readers" / "readers"
TEST_DATA = Path(os.environ.get("NYSSA_TEST_DATA", ROOT_DIRECTORY.parent / "shared" / "data"))
#: A program that uses 3.2 GB of memory once.
TOUCH_MEMORY = "import numpy; numpy.ones(400_000_000)"
PHYSLITE = TEST_DATA / "rntuple" / "uproot-physlite-rntuple_v1-0-0-0.root"
TEMPLATE = TEST_DATA / "ttree" / "nanoAOD_2015_CMS_Open_Data_ttbar.root"


def make_data(path: Path, entries: int) -> None:
    """Write a NanoAOD of `entries` events with uproot; ROOT then copies it with its own baskets."""
    import nanoaod
    import resample

    raw = path.with_suffix(".uproot.root")
    chunks = resample.events(TEMPLATE, entries) if TEMPLATE.exists() else nanoaod.events(entries)
    nanoaod.write(raw, chunks)
    copy = f"""
import ROOT
source = ROOT.TFile.Open({str(raw)!r})
target = ROOT.TFile({str(path)!r}, "RECREATE", "", 505)
source.Get("Events").CloneTree(-1).Write()
target.Close()
"""
    if subprocess.run([sys.executable, "-W", "ignore", "-c", copy], check=False).returncode:
        raw.rename(path)
    else:
        raw.unlink()


def measure(*command: str) -> dict:
    """Run one job in a process of its own, and return its result."""
    # On a virtual machine, the host must first provide memory that was not used for some time,
    # which can take longer than the job. So every job starts after memory was used.
    subprocess.run([sys.executable, "-c", TOUCH_MEMORY], check=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def job(name: str, *args: str | Path | int) -> list[str]:
    """Return the command of a job in jobs.py."""
    return [sys.executable, "-W", "ignore", str(HERE / "jobs.py"), name, *map(str, args)]


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--fill-entries", type=int, default=200_000)
    parser.add_argument("--object-entries", type=int, default=100_000)
    parser.add_argument("--only", help="only jobs whose names contain this; prints their medians")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds after a warm-up")
    parser.add_argument("--output", type=Path, default=ROOT_DIRECTORY / "docs" / "benchmarks.md")
    arguments = parser.parse_args()
    import fill_data
    import table

    BUILD.mkdir(parents=True, exist_ok=True)

    tree = BUILD / f"nanoaod-{arguments.entries}.root"
    if not tree.exists():
        print(f"making {tree.relative_to(ROOT_DIRECTORY)}", file=sys.stderr)
        # A run that is killed leaves no incomplete file.
        part = tree.with_suffix(".part.root")
        make_data(part, arguments.entries)
        part.replace(tree)
    by_root, by_nyssa = BUILD / "by_root.root", BUILD / "by_nyssa.root"
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()

    fill = BUILD / f"fill-{arguments.fill_entries}"
    if not (fill / "counts.bin").exists():
        print(f"making {fill.relative_to(ROOT_DIRECTORY)}", file=sys.stderr)
        fill_data.make(fill, arguments.fill_entries)
    filled = BUILD / "filled.root"

    bound = ["cargo", "run", "--quiet", "--release", "--example", "bound", "--", str(tree)]
    jobs = {
        "root convert": job("root_convert", tree, by_root),
        "nyssa convert 1": job("nyssa_convert", tree, by_nyssa, 1),
        "nyssa convert": job("nyssa_convert", tree, by_nyssa, cores),
        "nyssa auto": job("nyssa_convert", tree, BUILD / "auto.root", cores, "auto"),
        # Reading is measured on the file that ROOT wrote.
        "uproot read": job("uproot_read", by_root),
        "nyssa read 1": job("nyssa_read", by_root, 1),
        "nyssa read": job("nyssa_read", by_root, cores),
        "nyssa open": job("nyssa_open", by_root),
        "uproot column": job("uproot_column", by_root),
        "root column": job("root_column", by_root),
        "nyssa column": job("nyssa_column", by_root),
        "uproot tree": job("uproot_read", tree),
        "nyssa tree 1": job("nyssa_read", tree, 1),
        "nyssa tree": job("nyssa_read", tree, cores),
        "bound": [*bound, str(by_root)],
        # The merge has four inputs of the size that ROOT's importer makes.
        "copy": job("disk_copy", *[by_root] * 4, BUILD / "copied.root"),
        "nyssa merge": job("nyssa_merge", *[by_root] * 4, BUILD / "merged_by_nyssa.root"),
        "root merge": job("root_merge", *[by_root] * 4, BUILD / "merged_by_root.root"),
    }
    wide = BUILD / "wide.root"
    if not wide.exists():
        measure(*job("make_wide", wide))
    for library in ("root", "uproot", "nyssa"):
        jobs[f"{library} wide"] = job(f"{library}_wide", wide)
    many = arguments.object_entries
    split, whole = (BUILD / f"{kind}-{many}.root" for kind in ("split", "whole"))
    if not whole.exists():
        measure(*job("make_objects", BUILD, split, whole, many))
    for kind, path in (("split", split), ("whole", whole)):
        jobs[f"root {kind}"] = job("root_objects", BUILD, path)
        jobs[f"uproot {kind}"] = job("uproot_objects", path)
        jobs[f"nyssa {kind}"] = job("nyssa_objects", path, 1)
    for library in ("uproot", "nyssa"):
        for kind, path in (("steps", by_root), ("tree steps", tree)):
            jobs[f"{library} {kind}"] = job(f"{library}_iterate", path, 10_000)
    for library in ("root", "nyssa"):
        jobs[f"{library} slim"] = job(f"{library}_slim", by_root, BUILD / f"slim_{library}.root")
    jobs["nyssa rewrite"] = job("nyssa_rewrite", f"{by_root}:Events", BUILD / "again.root")
    if PHYSLITE.exists():
        again = BUILD / "physlite.root"
        jobs["physlite auto"] = job("nyssa_rewrite", f"{PHYSLITE}:EventData", again, "auto")
    for library in ("root", "nyssa"):
        for threads in (1, 2):
            fill_job = job(f"{library}_fill", fill, arguments.fill_entries, filled, threads)
            jobs[f"{library} fill {threads}"] = fill_job
    if arguments.only:
        jobs = {name: command for name, command in jobs.items() if arguments.only in name}
    results: dict[str, list[dict]] = {name: [] for name in jobs}
    for round_ in range(arguments.rounds + 1):
        # The slow jobs need no separate warm-up: the first round warms files and caches.
        for name, command in jobs.items():
            print(f"round {round_}: {name}", file=sys.stderr)
            result = measure(*command)
            if round_:
                results[name].append(result)

    if arguments.only:
        for name in results:
            keys = results[name][0]
            print(name, *(f"{key} {table.median(results, name, key):.4g}" for key in keys))
        return

    for what in ("column", "split", "whole"):
        sums = {name: results[name][0]["sum"] for name in results if name.endswith(what)}
        if max(sums.values()) - min(sums.values()) > 1e-6 * abs(max(sums.values())):
            sys.exit(f"the libraries read different values: {sums}")
    counts = {results[name][0]["entries"] for name in ("nyssa slim", "root slim")}
    if len(counts) > 1:
        sys.exit(f"the libraries take different entries: {counts}")
    data = (
        f"Data: {arguments.entries:,} events of NanoAOD, "
        + ("resampled from CMS open data" if TEMPLATE.exists() else "synthetic")
        + f", as a zstd TTree of {tree.stat().st_size / 1e6:.0f} MB written by ROOT; for filling, "
        f"{arguments.fill_entries:,} entries of 220 fields (benchmarks/fill_data.py); for objects, "
        f"{many:,} of a class with vectors of floats, of vectors and of objects in a "
        "split branch, a tenth of them in an unsplit one (benchmarks/objects.cxx)."
    )
    lines = table.lines(results, data, cores)
    arguments.output.write_text("\n".join(lines))
    print("\n".join(lines))
    (BUILD / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
