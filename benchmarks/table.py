"""Write the page of results, docs/benchmarks.md."""

from __future__ import annotations

import platform
import statistics
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

#: Results of each job, by round.
Results = dict[str, list[dict]]


def median(results: Results, name: str, key: str = "seconds") -> float:
    """Return the median of all rounds of a job."""
    return statistics.median(result[key] for result in results[name])


def cpu_name() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def root_version() -> str:
    """Return the version of ROOT. That of its wheel is another one."""
    script = "import ROOT; print(ROOT.gROOT.GetVersion())"
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    return run.stdout.strip() or "not found"


def _rounds(results: Results) -> str:
    """Return how often the jobs were measured."""
    counts = sorted({len(rounds) for rounds in results.values()})
    return " or ".join(map(str, counts)) + (" round" if counts == [1] else " rounds")


def lines(results: Results, data: str, cores: int) -> list[str]:
    """Return the lines of the page."""

    def of(name: str, key: str = "seconds") -> float:
        return median(results, name, key)

    def row(what: str, ours: str, theirs: str | None, goal: str) -> str:
        """Return seconds, and the ratio to the other time."""
        if theirs is None:
            return f"| {what} | {of(ours):.3g} s | | | {goal} |"
        ratio = of(theirs) / of(ours)
        return f"| {what} | {of(ours):.3g} s | {of(theirs):.3g} s | {ratio:.1f} × | {goal} |"

    def share(what: str, ours: float, theirs: float, goal: str) -> str:
        """Return megabytes, and the ratio to the other size."""
        return f"| {what} | {ours:.4g} MB | {theirs:.4g} MB | {ours / theirs:.3f} | {goal} |"

    def sizes(what: str, ours: str, theirs: str, goal: str) -> str:
        return share(what, of(ours, "bytes") / 1e6, of(theirs, "bytes") / 1e6, goal)

    def memory(what: str, ours: str, theirs: str, goal: str) -> str:
        return share(what, of(ours, "rss"), of(theirs, "rss"), goal)

    def distance(what: str, ours: float, bound: float) -> str:
        return f"| {what} | {ours:.2f} s | {bound:.2f} s | {ours / bound:.2f} |"

    importer, parallel = "against ROOT's importer", "against ROOT's parallel writer"
    rows = [
        row(
            f'convert with `encoding="default"`, {cores} threads, {importer}',
            "nyssa convert",
            "root convert",
            "≥ 10 ×, aim 20 ×",
        ),
        row("the same, 1 thread", "nyssa convert 1", "root convert", "≥ 6 ×, aim 12 ×"),
        sizes("output size", "nyssa convert", "root convert", "≤ 1.00, aim 0.97"),
        memory("peak memory of conversion", "nyssa convert", "root convert", "≤ 0.5, aim 0.3"),
        row('convert with `encoding="auto"`, the default', "nyssa auto", "root convert", ""),
        sizes("its output size", "nyssa auto", "root convert", "≤ 0.98, aim 0.93"),
        row("read all columns, 1 thread, against uproot", "nyssa read 1", "uproot read", "≥ 5 ×"),
        row(
            f"read all columns, {cores} threads, against uproot",
            "nyssa read",
            "uproot read",
            "≥ 9 ×",
        ),
        row("one column, against ROOT's view loop", "nyssa column", "root column", "≥ 5 ×"),
        row("one column, against uproot", "nyssa column", "uproot column", "≥ 5 ×"),
        row("opening the file", "nyssa open", None, "≤ 0.020 s"),
        row(
            "1,000 fields × 100 entries: open and read all, against ROOT",
            "nyssa wide",
            "root wide",
            "milliseconds",
        ),
        row("the same, against uproot", "nyssa wide", "uproot wide", ""),
        row(
            "TTree, every branch, 1 thread, against uproot",
            "nyssa tree 1",
            "uproot tree",
            "≥ 4 ×, aim 8 ×",
        ),
        row(
            f"TTree, every branch, {cores} threads, against uproot",
            "nyssa tree",
            "uproot tree",
            "",
        ),
        row("iterate, 10,000 entries a step, against uproot", "nyssa steps", "uproot steps", ""),
        row("the same of the TTree", "nyssa tree steps", "uproot tree steps", ""),
        row("objects in split branches, against uproot", "nyssa split", "uproot split", "≥ 4 ×"),
        row("the same, against ROOT's compiled loop", "nyssa split", "root split", "≥ 2 ×"),
        row("unsplit objects, against uproot", "nyssa whole", "uproot whole", "≥ 10 ×"),
        row("the same, against ROOT's compiled loop", "nyssa whole", "root whole", ""),
        row(f"fill 220 fields from 2 threads, {parallel}", "nyssa fill 2", "root fill 2", "≥ 5 ×"),
        row(f"fill 220 fields from 1 thread, {parallel}", "nyssa fill 1", "root fill 1", ""),
        sizes("fill: output size", "nyssa fill 2", "root fill 2", "≤ 1.00"),
        memory("fill: peak memory", "nyssa fill 2", "root fill 2", "≤ 0.4"),
        row("fill: 2 threads against 1", "nyssa fill 2", "nyssa fill 1", "≥ 1.8 ×"),
        row(
            "merge 4 files, against copying their bytes",
            "nyssa merge",
            "copy",
            "the speed of the disk",
        ),
        row("merge 4 files, against ROOT's merger (hadd)", "nyssa merge", "root merge", ""),
        row("rewrite all fields", "nyssa rewrite", None, ""),
        row(
            "rewrite 99 of 947 fields with a cut, against RDataFrame's Snapshot",
            "nyssa slim",
            "root slim",
            "",
        ),
    ]
    if "physlite auto" in results:
        ours, theirs = of("physlite auto", "bytes"), of("physlite auto", "input")
        what = 'PHYSLITE with `encoding="auto"`, against the pages that ROOT wrote'
        rows.append(share(what, ours / 1e6, theirs / 1e6, "≤ 0.98, aim 0.93"))
    decompress, both = of("bound", "decompress_pages"), of("bound", "transcode")
    reading, converting = of("nyssa read 1"), of("nyssa convert 1")
    return [
        "# Benchmarks",
        "",
        f"`make bench` writes this page; do not edit it. Times are medians of {_rounds(results)}. "
        "Each job runs in a separate process. In a round, all jobs run one after the other, on "
        "memory that was in use just before.",
        "",
        f"Machine: {cpu_name()}, {cores} cores, {platform.system()} {platform.machine()}; "
        f"nyssa {version('nyssa')}, ROOT {root_version()}, uproot {version('uproot')}, "
        f"awkward {version('awkward')}, Python {platform.python_version()}.",
        "",
        data,
        "",
        "| job | nyssa | peer | ratio | wanted |",
        "|---|---|---|---|---|",
        *rows,
        "",
        "Distance to the bound, one thread:",
        "",
        "| job | nyssa | bound | nyssa / bound |",
        "|---|---|---|---|",
        distance(
            "read all columns, against decompressing the same pages and writing to new memory once",
            reading,
            decompress + of("nyssa read 1", "new"),
        ),
        distance(
            "read them again in one process, against decompressing the same pages",
            of("nyssa read 1", "again"),
            decompress,
        ),
        distance(
            "convert, against decompressing the same baskets and compressing the same pages with "
            "zstd 1",
            converting,
            both,
        ),
        "",
        "Peak memory in MB: "
        + ", ".join(f"{name} {of(name, 'rss'):.0f}" for name in results if name != "bound")
        + ".",
        "",
    ]
