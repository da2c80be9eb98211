"""Compares nyssa with ROOT's XRootD client and uproot, over a link with latency.

A real XRootD server serves files on this machine; a link with latency (`link.py`) lies between it
and the jobs. Every job runs in a process of its own, all jobs in turn. Medians, ratios and what was
wanted are printed and written to docs/benchmarks-remote.md (`report.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import link as links  # noqa: E402
import server  # noqa: E402
from files import CHAIN, bytes_needed, largest_columns, make_files  # noqa: E402
from report import LOCAL, Results, report  # noqa: E402

import run as local  # noqa: E402

LIBRARIES = ("nyssa", "root", "uproot")
#: The times of a job: elapsed, CPU of its process, and CPU of the whole machine.
CLOCKS = ("seconds", "cpu", "busy")
#: Numbers of columns that are read.
FEW, TEN, MANY = 5, 10, 50
#: A library reads only one of this number of files of the chain, and its time is scaled.
PARTS = {"nyssa": 1, "root": 5, "uproot": 40}


class Jobs:
    """The jobs, by name: what they read, and how many bytes that takes."""

    def __init__(self, files: dict[str, Path]) -> None:
        self.ntuple, self.tree = files["ntuple"], files["tree"]
        few, ten, many = (largest_columns(self.ntuple, count) for count in (FEW, TEN, MANY))
        self.readers = {
            "open": ("open", self.ntuple.name, []),
            f"{FEW} columns": ("columns", self.ntuple.name, few),
            f"{MANY} columns": ("columns", self.ntuple.name, many),
            f"chain of {CHAIN} files, {TEN} columns": ("chain", "small-%.root", ten),
            f"TTree, {TEN} branches": ("tree", self.tree.name, ten),
        }
        small = files["small-0"]
        self.needed = {
            f"{FEW} columns": bytes_needed(self.ntuple, few),
            f"{MANY} columns": bytes_needed(self.ntuple, many),
            f"chain of {CHAIN} files, {TEN} columns": CHAIN * bytes_needed(small, ten),
            f"TTree, {TEN} branches": bytes_needed(self.tree, ten),
        }

    def arguments(self, folder: str) -> dict[tuple[str, str], list[str]]:
        """Returns the arguments of `jobs.py` for each job and library; files are in `folder`."""
        found = {}
        for name, (job, file, columns) in self.readers.items():
            for library in LIBRARIES:
                count = f"#{CHAIN // PARTS[library]}" if job == "chain" else ""
                found[name, library] = [f"{library}_{job}", f"{folder}{file}{count}", *columns]
        output = str(local.BUILD / "remote-output.root")
        found["convert", "nyssa"] = ["nyssa_convert", f"{folder}{self.tree.name}", output]
        return found


def measure(command: list[str], limit: float, variables: dict | None = None) -> dict | None:
    """Runs one job and returns what it says; `None` if it failed or took longer than the limit."""
    try:
        env = {**os.environ, **(variables or {})}
        done = subprocess.run(command, stdout=subprocess.PIPE, check=False, timeout=limit, env=env)
    except subprocess.TimeoutExpired:
        print(f"  stopped after {limit:g} s", file=sys.stderr)
        return None
    return None if done.returncode else json.loads(done.stdout.splitlines()[-1])


def scaled(found: dict, name: str, library: str) -> dict:
    """Returns the numbers of a chain as if all its files had been read."""
    if not name.startswith("chain"):
        return found
    return {key: value * PARTS[library] for key, value in found.items()}


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=LIBRARIES)
    links.add_options(parser, local.ROOT_DIRECTORY / "docs" / "benchmarks-remote.md")
    arguments = parser.parse_args()
    # The server and the link are to end when this is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    files = make_files(arguments.entries)
    jobs = Jobs(files)
    for path in {files["ntuple"], files["tree"], files["small-0"]}:
        # The files are in the page cache from the first job on.
        path.read_bytes()
    results = Results()
    link = links.open_link(arguments.link, arguments.bandwidth * 1e9 / 8)
    script = [sys.executable, "-W", "ignore", str(HERE / "jobs.py")]

    def chosen(folder: str) -> list[tuple[str, str, list[str]]]:
        return [
            (name, library, job)
            for (name, library), job in jobs.arguments(folder).items()
            if arguments.only in name and library in arguments.libraries
        ]

    try:
        with server.xrootd(list(files.values()), link) as place:
            for round_ in range(1, arguments.rounds + 1):
                for ms in arguments.round_trips:
                    link.set_round_trip(ms / 1e3)
                    for name, library, job in chosen(f"root://{place}//"):
                        print(f"round {round_}, {ms:g} ms: {name}, {library}", file=sys.stderr)
                        link.take_counts()
                        found = measure(link.client_command([*script, *job]), arguments.limit)
                        counts = link.take_counts()
                        if found:
                            numbers = {
                                **{clock: found[clock] for clock in CLOCKS},
                                "down": counts.down,
                                "turnarounds": counts.turnarounds,
                                "connections": counts.connections,
                            }
                            results.add(ms, name, library, scaled(numbers, name, library))
                for name, library, job in chosen(f"{local.BUILD}/"):
                    if library == "nyssa":
                        print(f"round {round_}, local: {name}", file=sys.stderr)
                        if found := measure([*script, *job], arguments.limit):
                            numbers = {clock: found[clock] for clock in CLOCKS}
                            results.add(LOCAL, name, library, numbers)
    finally:
        link.close()
    lines = report(results, jobs.needed, arguments, link.description, files)
    arguments.output.write_text("\n".join(lines))
    print("\n".join(lines))
    (local.BUILD / "remote.json").write_text(json.dumps(results.stored(), indent=1))


if __name__ == "__main__":
    main()
