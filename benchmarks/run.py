"""`make bench`: nyssa against ROOT and uproot in one run, on data made here.

Every job runs in a process of its own, all jobs in turn, a warm-up round first and then several
measured ones; medians and ratios are printed and written to docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
ROOT_DIRECTORY = HERE.parent
sys.path[:0] = [str(ROOT_DIRECTORY / "examples"), str(HERE)]

#: Where data and outputs go.
BUILD = ROOT_DIRECTORY / "build" / "bench"
TEST_DATA = Path(os.environ.get("NYSSA_TEST_DATA", ROOT_DIRECTORY.parent / "shared" / "data"))
#: Uses 3.2 GB once.
TOUCH_MEMORY = "import numpy; numpy.ones(400_000_000)"
TEMPLATE = TEST_DATA / "ttree" / "nanoAOD_2015_CMS_Open_Data_ttbar.root"


def make_data(path: Path, entries: int) -> None:
    """A NanoAOD of `entries` events: written by uproot, then copied by ROOT with ROOT's baskets."""
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
    """Runs one job in a process of its own; what it reports."""
    # On a virtual machine, memory that nobody has used lately has to be found by the host first,
    # which can take longer than the job. So every job finds memory that was used just before.
    subprocess.run([sys.executable, "-c", TOUCH_MEMORY], check=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"failed: {' '.join(command)}")
    return json.loads(done.stdout.splitlines()[-1])


def job(name: str, *args: str | Path | int) -> list[str]:
    """The command of a job in jobs.py."""
    return [sys.executable, "-W", "ignore", str(HERE / "jobs.py"), name, *map(str, args)]


def cpu_name() -> str:
    """What the processor calls itself."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--fill-entries", type=int, default=200_000)
    parser.add_argument("--only", help="only jobs whose names contain this; prints their medians")
    parser.add_argument("--rounds", type=int, default=3, help="measured rounds after a warm-up")
    parser.add_argument("--output", type=Path, default=ROOT_DIRECTORY / "docs" / "benchmarks.md")
    arguments = parser.parse_args()
    import fill_data

    BUILD.mkdir(parents=True, exist_ok=True)

    tree = BUILD / f"nanoaod-{arguments.entries}.root"
    if not tree.exists():
        print(f"making {tree.relative_to(ROOT_DIRECTORY)}", file=sys.stderr)
        make_data(tree, arguments.entries)
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
        # Four files of the size that ROOT's importer makes, merged.
        "copy": job("disk_copy", *[by_root] * 4, BUILD / "copied.root"),
        "nyssa merge": job("nyssa_merge", *[by_root] * 4, BUILD / "merged_by_nyssa.root"),
        "root merge": job("root_merge", *[by_root] * 4, BUILD / "merged_by_root.root"),
    }
    for library in ("root", "nyssa"):
        for threads in (1, 2):
            fill_job = job(f"{library}_fill", fill, arguments.fill_entries, filled, threads)
            jobs[f"{library} fill {threads}"] = fill_job
    if arguments.only:
        jobs = {name: command for name, command in jobs.items() if arguments.only in name}
    results: dict[str, list[dict]] = {name: [] for name in jobs}
    for round_ in range(arguments.rounds + 1):
        # The slow jobs need no warm-up of their own: the first round warms files and caches.
        for name, command in jobs.items():
            print(f"round {round_}: {name}", file=sys.stderr)
            result = measure(*command)
            if round_:
                results[name].append(result)

    def median(name: str, key: str = "seconds") -> float:
        return statistics.median(result[key] for result in results[name])

    def row(what: str, ours: float, theirs: float | None, unit: str, goal: str) -> str:
        ratio = f"{theirs / ours:.1f} ×" if theirs is not None else ""
        other = f"{theirs:.3g} {unit}" if theirs is not None else ""
        return f"| {what} | {ours:.3g} {unit} | {other} | {ratio} | {goal} |"

    def share(what: str, ours: float, theirs: float, unit: str, goal: str) -> str:
        return (
            f"| {what} | {ours:.4g} {unit} | {theirs:.4g} {unit} | {ours / theirs:.3f} | {goal} |"
        )

    if arguments.only:
        for name in results:
            keys = results[name][0]
            print(name, *(f"{key} {median(name, key):.4g}" for key in keys))
        return

    size = tree.stat().st_size / 1e6
    sums = {name: results[name][0]["sum"] for name in results if name.endswith("column")}
    if max(sums.values()) - min(sums.values()) > 1e-6 * abs(max(sums.values())):
        sys.exit(f"the libraries read different values: {sums}")
    decompress, both = median("bound", "decompress_pages"), median("bound", "transcode")
    reading, converting = median("nyssa read 1"), median("nyssa convert 1")
    lines = [
        "# Benchmarks",
        "",
        f"Made by `make bench`; do not edit. Medians of {arguments.rounds} rounds, every job in a "
        "process of its own, all jobs in turn in one run, on memory used just before.",
        "",
        f"Machine: {cpu_name()}, {cores} cores, {platform.system()} {platform.machine()}; "
        f"nyssa {version('nyssa')}, ROOT {version('root')} (wheel), uproot {version('uproot')}, "
        f"awkward {version('awkward')}, Python {platform.python_version()}.",
        "",
        f"Data: {arguments.entries:,} events of NanoAOD, "
        + ("resampled from CMS open data" if TEMPLATE.exists() else "synthetic")
        + f", as a zstd TTree of {size:.0f} MB written by ROOT; for filling, "
        f"{arguments.fill_entries:,} entries of 220 fields (benchmarks/fill_data.py).",
        "",
        "| job | nyssa | peer | ratio | wanted |",
        "|---|---|---|---|---|",
        row(
            f"convert, {cores} threads, against ROOT's importer",
            median("nyssa convert"),
            median("root convert"),
            "s",
            "≥ 10 ×, aim 20 ×",
        ),
        row(
            "convert, 1 thread",
            median("nyssa convert 1"),
            median("root convert"),
            "s",
            "≥ 6 ×, aim 12 ×",
        ),
        share(
            "output size",
            median("nyssa convert", "bytes") / 1e6,
            median("root convert", "bytes") / 1e6,
            "MB",
            "≤ 1.00, aim 0.97",
        ),
        share(
            "peak memory of conversion",
            median("nyssa convert", "rss"),
            median("root convert", "rss"),
            "MB",
            "≤ 0.5, aim 0.3",
        ),
        row(
            "read all columns, 1 thread, against uproot",
            median("nyssa read 1"),
            median("uproot read"),
            "s",
            "≥ 5 ×",
        ),
        row(
            f"read all columns, {cores} threads, against uproot",
            median("nyssa read"),
            median("uproot read"),
            "s",
            "≥ 9 ×",
        ),
        row(
            "one column, against ROOT's view loop",
            median("nyssa column"),
            median("root column"),
            "s",
            "≥ 5 ×",
        ),
        row(
            "one column, against uproot",
            median("nyssa column"),
            median("uproot column"),
            "s",
            "≥ 5 ×",
        ),
        row("opening the file", median("nyssa open"), None, "s", "≤ 0.020 s"),
        row(
            "TTree, every branch, 1 thread, against uproot",
            median("nyssa tree 1"),
            median("uproot tree"),
            "s",
            "≥ 4 ×, aim 8 ×",
        ),
        row(
            f"TTree, every branch, {cores} threads, against uproot",
            median("nyssa tree"),
            median("uproot tree"),
            "s",
            "",
        ),
        row(
            "fill 220 fields from 2 threads, against ROOT's parallel writer",
            median("nyssa fill 2"),
            median("root fill 2"),
            "s",
            "≥ 5 ×",
        ),
        row(
            "fill 220 fields from 1 thread, against ROOT's parallel writer",
            median("nyssa fill 1"),
            median("root fill 1"),
            "s",
            "",
        ),
        share(
            "fill: output size",
            median("nyssa fill 2", "bytes") / 1e6,
            median("root fill 2", "bytes") / 1e6,
            "MB",
            "≤ 1.00",
        ),
        share(
            "fill: peak memory",
            median("nyssa fill 2", "rss"),
            median("root fill 2", "rss"),
            "MB",
            "≤ 0.4",
        ),
        row(
            "fill: 2 threads against 1",
            median("nyssa fill 2"),
            median("nyssa fill 1"),
            "s",
            "≥ 1.8 ×",
        ),
        row(
            "merge 4 files, against copying their bytes",
            median("nyssa merge"),
            median("copy"),
            "s",
            "the speed of the disk",
        ),
        row(
            "merge 4 files, against ROOT's merger (hadd)",
            median("nyssa merge"),
            median("root merge"),
            "s",
            "",
        ),
        "",
        "Distance to the bound, one thread:",
        "",
        "| job | nyssa | bound | nyssa / bound |",
        "|---|---|---|---|",
        "| read all columns, against decompressing the same pages "
        f"| {reading:.2f} s | {decompress:.2f} s | {reading / decompress:.2f} |",
        "| convert, against decompressing the same baskets and compressing the same pages with "
        f"zstd 1 | {converting:.2f} s | {both:.2f} s | {converting / both:.2f} |",
        "",
        "Peak memory in MB: "
        + ", ".join(f"{name} {median(name, 'rss'):.0f}" for name in results if name != "bound")
        + ".",
        "",
    ]
    arguments.output.write_text("\n".join(lines))
    print("\n".join(lines))
    (BUILD / "results.json").write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
