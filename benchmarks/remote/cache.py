"""Measures reading through a cache, against XCache and no cache, for `make bench-cache`.

A real XRootD server serves files on this machine; a link with latency (`link.py`) lies between it
and the jobs. Every job runs in a process of its own. Medians and ratios are printed and written to
docs/benchmarks-cache.md.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import link as links  # noqa: E402
import server  # noqa: E402
from files import largest_columns, make_files  # noqa: E402
from report import NONE, Results, Target, about, cell, divided, row, versions, wanted  # noqa: E402

import run as local  # noqa: E402
from remote import measure  # noqa: E402

#: What is kept in the cache of nyssa.
KEPT = ("stored", "lz4", "raw")
LOCAL = "local file"
NO_CACHE = "no cache"
COLD, PARTLY, WARM = "cold", "partly warm", "warm"
#: The server is not asked if the file has changed.
AGED = "warm, stored, cache_max_age"
XCACHE_COLD, XCACHE_WARM = "XCache, cold", "XCache, warm"
CASES = (
    LOCAL,
    NO_CACHE,
    *(f"{state}, {kept}" for kept in KEPT for state in (COLD, PARTLY, WARM)),
    AGED,
    XCACHE_COLD,
    XCACHE_WARM,
)


class Job:
    """What is read: columns of a file, or all columns if none is named."""

    def __init__(self, name: str, file: Path, columns: list[str], threads: int | None) -> None:
        self.name, self.file, self.columns, self.threads = name, file, columns, threads

    def arguments(self, folder: str, columns: list[str] | None = None) -> list[str]:
        """Returns the arguments of `jobs.py`."""
        return ["nyssa_columns", f"{folder}{self.file.name}", *(columns or self.columns)]


def jobs(files: dict[str, Path]) -> list[Job]:
    """Returns the jobs."""
    ntuple, tree = files["ntuple"], files["tree"]
    return [
        Job("RNTuple, 50 columns", ntuple, largest_columns(ntuple, 50), None),
        Job("RNTuple, all columns, one thread", ntuple, [], 1),
        # The same names, as in the benchmark without a cache.
        Job("TTree, 10 branches", tree, largest_columns(ntuple, 10), None),
    ]


class Runner:
    """Runs jobs and keeps what they measured."""

    def __init__(self, link: links.Link, limit: float) -> None:
        self.link, self.limit = link, limit
        self.results = Results()

    def run(
        self, ms: float, job: Job, case: str, arguments: list[str], cache: tuple[str, str] | None
    ) -> None:
        """Runs a job; `cache` is a folder and what is kept in it. Without a case, only runs it."""
        variables = {} if cache is None else {"NYSSA_CACHE": cache[0], "NYSSA_CACHE_AS": cache[1]}
        if case == AGED:
            variables["NYSSA_CACHE_MAX_AGE"] = "1h"
        if job.threads is not None:
            variables["NYSSA_NUM_THREADS"] = str(job.threads)
        # `env` sets the variables also where the link changes to another network namespace.
        settings = [f"{name}={value}" for name, value in variables.items()]
        script = [sys.executable, "-W", "ignore", str(HERE / "jobs.py"), *arguments]
        self.link.take_counts()
        found = measure(self.link.client_command(["env", *settings, *script]), self.limit)
        counts = self.link.take_counts()
        if found and case:
            print(f"  {case}: {found['seconds']:.3f} s", file=sys.stderr)
            numbers = {"seconds": found["seconds"], "sum": found["sum"], "down": counts.down}
            self.results.add(ms, job.name, case, numbers)

    def cases(self, ms: float, job: Job, place: str) -> None:
        """Runs all cases of a job."""
        url = f"root://{place}//"
        self.run(ms, job, LOCAL, job.arguments(f"{local.BUILD}/"), None)
        self.run(ms, job, NO_CACHE, job.arguments(url), None)
        half = job.columns[: len(job.columns) // 2] or largest_columns(job.file, 50)
        for kept in KEPT:
            with tempfile.TemporaryDirectory(prefix="nyssa-cache-") as folder:
                cache = (f"{folder}/cache", kept)
                self.run(ms, job, "", job.arguments(url, half), cache)
                self.run(ms, job, f"{PARTLY}, {kept}", job.arguments(url), cache)
                shutil.rmtree(cache[0], ignore_errors=True)
                self.run(ms, job, f"{COLD}, {kept}", job.arguments(url), cache)
                self.run(ms, job, f"{WARM}, {kept}", job.arguments(url), cache)
                if kept == "stored":
                    self.run(ms, job, AGED, job.arguments(url), cache)
        with server.xcache(place, self.link) as proxy:
            for case in (XCACHE_COLD, XCACHE_WARM):
                self.run(ms, job, case, job.arguments(f"root://{proxy}//"), None)


def targets(results: Results) -> list[Target]:
    """Returns what is wanted of the cache."""
    tree, every = "TTree, 10 branches", "RNTuple, all columns, one thread"
    some = "RNTuple, 50 columns"
    found = []

    def add(name: str, ms: float, case: str, against: str, limit: float) -> None:
        ratio = divided(results.of(ms, name, case), results.of(ms, name, against))
        found.append(Target(f"{name}, {ms:g} ms: {case} against {against}", ratio, limit))

    for ms in sorted({ms for ms, _, _ in results.rounds}):
        for name in (some, every, tree):
            add(name, ms, f"{WARM}, stored", LOCAL, 1.05)
            add(name, ms, AGED, LOCAL, 1.05)
        add(every, ms, f"{WARM}, raw", LOCAL, 0.6)
        for name in (some, tree):
            add(name, ms, f"{COLD}, stored", NO_CACHE, 1.1)
    return found


def rows(results: Results) -> list[str]:
    """Returns the table of all cases."""
    lines = []
    for name in results.names():
        for ms in sorted({ms for ms, _, _ in results.rounds}):
            for case in CASES:
                seconds, down = (results.of(ms, name, case, key) for key in ("seconds", "down"))
                against = divided(seconds, results.of(ms, name, LOCAL))
                lines.append(
                    row(
                        [
                            name,
                            f"{ms:g} ms",
                            case,
                            cell(seconds, lambda value: f"{value:.3g} s"),
                            cell(against, lambda value: f"{value:.2f} ×"),
                            NONE if case == LOCAL else cell(down, lambda v: f"{v / 1e6:.1f}"),
                        ]
                    )
                )
    return lines


def check(results: Results) -> None:
    """Ends the program if a job read other values through a cache than from the local file."""
    for name in results.names():
        sums = {
            one["sum"] for key, all_ in results.rounds.items() if key[1] == name for one in all_
        }
        if len(sums) > 1:
            sys.exit(f"{name}: not all cases read the same values: {sums}")


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    links.add_options(parser, local.ROOT_DIRECTORY / "docs" / "benchmarks-cache.md")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    files = make_files(arguments.entries)
    chosen = [job for job in jobs(files) if arguments.only in job.name]
    link = links.open_link(arguments.link, arguments.bandwidth * 1e9 / 8)
    runner = Runner(link, arguments.limit)
    try:
        with server.xrootd(list({job.file for job in chosen}), link) as place:
            for round_ in range(1, arguments.rounds + 1):
                for ms in arguments.round_trips:
                    link.set_round_trip(ms / 1e3)
                    for job in chosen:
                        print(f"round {round_}, {ms:g} ms: {job.name}", file=sys.stderr)
                        runner.cases(ms, job, place)
    finally:
        link.close()
    check(runner.results)
    lines = [
        "# Reading through a cache, measured",
        "",
        about("make bench-cache", arguments, link.description)
        + "XCache runs at the end of the link where the jobs run, with blocks of 64 KiB. *Partly "
        "warm*: half of the columns were read before. With *cache_max_age* the server is not asked "
        "if the file has changed. Each case reads the same values.",
        "",
        f"Versions: {versions()}.",
        "",
        *wanted(targets(runner.results)),
        "## All numbers",
        "",
        "| job | round trip | case | time | against the local file | MB over the link |",
        "|---|---|---|---|---|---|",
        *rows(runner.results),
        "",
    ]
    arguments.output.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
