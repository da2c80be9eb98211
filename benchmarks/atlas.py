"""`make atlas-bench`: ATLAS's benchmark of eight containers, by nyssa and by RDataFrame.

The analysis reads pt, eta, phi and m of eight containers of data like ATLAS's DAOD_PHYS, and fills
histograms of invariant masses (`atlas.cxx`, `atlas_jobs.py`, and in C++ on views of nyssa,
`examples/cpp/readers/atlas.cpp`). ROOT writes the TTrees and nyssa
converts them to RNTuples, with each compression. The files are read warm (from the cache of the
system), cold (removed from it before each job), and over XRootD with latency. The page
docs/benchmarks-atlas.md is written.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "remote")]

import link as links  # noqa: E402
import server  # noqa: E402
from report import LOCAL, Results, cell, divided, row, versions  # noqa: E402

import run  # noqa: E402
from atlas_jobs import CONTAINERS, MEMBERS, TREE  # noqa: E402
from cold import forget  # noqa: E402
from remote import measure  # noqa: E402
from table import cpu_name  # noqa: E402

#: ROOT's setting of each compression, and nyssa's.
COMPRESSIONS = {
    "zstd": (505, "zstd:5"),
    "lzma": (207, "lzma:7"),
    "lz4": (404, "lz4:4"),
    "zlib": (101, "zlib:1"),
    "none": (0, "none"),
}
FORMATS = ("TTree", "RNTuple")
#: The names of the libraries in the tables.
LIBRARIES = {"nyssa": "nyssa", "cpp": "nyssa in C++", "root": "RDataFrame"}
WARM, COLD = "warm", "cold"
#: Bins may differ by so many of a million entries: values at the edges of bins are rounded.
ROUNDING = 10


class Files:
    """The files, by format and compression, and the bytes that the analysis needs of each."""

    def __init__(self, folder: Path, entries: int, compressions: list[str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.entries = folder, entries
        run.measure(*job("compile_library", folder))
        self.paths: dict[tuple[str, str], Path] = {}
        for name in compressions:
            tree = folder / f"atlas-{entries}-{name}-ttree.root"
            self._make(tree, lambda part, name=name: self._write(part, COMPRESSIONS[name][0]))
            ntuple = folder / f"atlas-{entries}-{name}-rntuple.root"
            source, setting = tree, COMPRESSIONS[name][1]
            self._make(ntuple, lambda part, s=source, c=setting: _convert(s, part, c))
            self.paths["TTree", name], self.paths["RNTuple", name] = tree, ntuple
        self.needed = {key: needed(path) for key, path in self.paths.items()}

    def _make(self, path: Path, write) -> None:
        if not path.exists():
            print(f"making {path.name}", file=sys.stderr)
            part = path.with_suffix(".part.root")
            part.unlink(missing_ok=True)
            write(part)
            part.replace(path)

    def _write(self, part: Path, setting: int) -> None:
        run.measure(*job("make", self.folder, part, self.entries, setting))


def _convert(source: Path, output: Path, compression: str) -> None:
    from nyssa import convert

    convert(f"{source}:{TREE}", output, compression=compression)


def needed(path: Path) -> int:
    """Returns the stored bytes of the columns that the analysis reads."""
    from nyssa import inspect

    names = {f"{name}_{member}" for name in CONTAINERS for member in MEMBERS}
    found = inspect(f"{path}:{TREE}").to_dict()
    if found["format"] == "TTree":
        return sum(one["stored_bytes"] for one in found["fields"] if one["name"] in names)
    return sum(
        one["part"]["stored_bytes"]
        for one in found["columns"]
        if one["field"].partition(".")[0] in names
    )


def job(name: str, *args: str | Path | int) -> list[str]:
    """Returns the command of a job in atlas_jobs.py."""
    return [sys.executable, "-W", "ignore", str(HERE / "atlas_jobs.py"), name, *map(str, args)]


def check(first: list[float], other: list[float]) -> None:
    """Ends the benchmark if two analyses did not fill the same histograms."""
    different = sum(abs(a - b) for a, b in zip(first, other, strict=True))
    if different > 2 + ROUNDING * sum(first) / 1e6:
        sys.exit(f"the histograms differ by {different:.0f} of {sum(first):.0f} entries")


class Benchmark:
    """Runs the jobs and keeps their numbers."""

    def __init__(self, files: Files, arguments: argparse.Namespace) -> None:
        self.files, self.arguments = files, arguments
        self.results = Results()
        self.bins: list[float] | None = None
        self._loads: list[float] = []

    @property
    def load(self) -> str:
        """Return how busy the machine was."""
        low, high = min(self._loads), max(self._loads)
        text = f"its load average was {low:.1f} to {high:.1f}"
        busy = ", so other work took most of its time, and CPU times say more than seconds"
        return text + (busy if high > 2 * (os.cpu_count() or 1) else "")

    def measure(self, state: str, wrap=list, place: str | None = None) -> None:
        """Runs the jobs of all files once, by both libraries; `place` is a server."""
        for (kind, compression), path in self.files.paths.items():
            source = str(path) if place is None else f"root://{place}//{path.name}"
            for library in self.arguments.libraries:
                print(f"{state}: {kind}, {compression}, {library}", file=sys.stderr)
                self._loads.append(os.getloadavg()[0])
                if state == COLD:
                    forget(path)
                threads = self.arguments.threads
                command = job(f"{library}_analysis", self.files.folder, source, threads)
                if library == "cpp":
                    command = [str(run.READERS / "atlas"), source, str(threads)]
                found = measure(wrap(command), self.arguments.limit)
                if found:
                    self.bins = self.bins or found["bins"]
                    check(self.bins, found["bins"])
                    numbers = {key: found[key] for key in ("seconds", "cpu", "rss")}
                    self.results.add(LOCAL, f"{kind}|{compression}|{state}", library, numbers)

    def of(
        self, kind: str, compression: str, state: str, library: str, key: str = "seconds"
    ) -> float | None:
        """Returns the median of a number of a job."""
        return self.results.of(LOCAL, f"{kind}|{compression}|{state}", library, key)

    def rows(self, states: list[str]) -> Iterator[str]:
        """Returns the lines of the table of all jobs."""
        entries = self.files.entries
        for state in states:
            for (kind, compression), size in self.files.needed.items():
                seconds, cpu = (
                    {one: self.of(kind, compression, state, one, key) for one in LIBRARIES}
                    for key in ("seconds", "cpu")
                )
                yield row(
                    [
                        state,
                        kind,
                        compression,
                        f"{size / 1e6:.1f}",
                        *(cell(seconds[one], lambda s: f"{s:.3g} s") for one in LIBRARIES),
                        *(
                            cell(divided(seconds["root"], seconds[one]), lambda r: f"{r:.1f} ×")
                            for one in ("nyssa", "cpp")
                        ),
                        *(cell(cpu[one], lambda s: f"{s:.3g} s") for one in LIBRARIES),
                        *(cell(seconds[one], lambda s: f"{entries / s:,.0f}") for one in LIBRARIES),
                        *(
                            cell(seconds[one], lambda s, size=size: f"{size / s / 1e6:.0f}")
                            for one in LIBRARIES
                        ),
                    ]
                )

    def speed_ups(self, states: list[str]) -> Iterator[str]:
        """Returns the lines of the table of RNTuple against TTree."""
        for state in states:
            for compression in self.arguments.compressions:
                ratios = [
                    divided(*(self.of(kind, compression, state, library, key) for kind in FORMATS))
                    for library in LIBRARIES
                    for key in ("seconds", "cpu")
                ]
                sizes = [self.files.paths[kind, compression].stat().st_size for kind in FORMATS]
                yield row(
                    [
                        state,
                        compression,
                        *(cell(one, lambda r: f"{r:.1f} ×") for one in ratios),
                        f"{sizes[1] / sizes[0]:.2f}",
                    ]
                )

    def page(self, states: list[str], remote: str) -> list[str]:
        """Returns the page of results, line by line."""
        arguments = self.arguments
        count = arguments.rounds
        rounds = "One round" if count == 1 else f"Medians of {count} rounds"
        return [
            "# ATLAS's benchmark of eight containers",
            "",
            "`make atlas-bench` writes this page; do not edit it. "
            f"{self.files.entries:,} events of generated data like DAOD_PHYS "
            "(benchmarks/atlas_data.cxx): eight containers, each with eight vectors of floats. The "
            "analysis reads pt, eta, phi and m of each, computes the invariant mass of the two "
            "leading particles, and fills a histogram for each container. ROOT writes the TTrees, "
            "and nyssa converts them to RNTuples with the same compression.",
            "",
            "RDataFrame runs compiled functions, so nothing is compiled inside the clock; nyssa "
            "reads into arrays, and NumPy computes; in C++ it computes on views of columns "
            "(examples/cpp/readers/atlas.cpp). All fill the same histograms. Opening is "
            f"inside the clock. Threads: {arguments.threads}. {rounds}. Bytes are those "
            "of the 32 columns on storage.",
            "",
            "*Warm*: the file is in the cache of the system. *Cold*: it was removed from there. "
            f"{remote}",
            "",
            f"Machine: {cpu_name()}, {os.cpu_count()} cores; {self.load}. Versions: {versions()}.",
            "",
            "## RNTuple against TTree",
            "",
            "Time of the TTree divided by that of the RNTuple:",
            "",
            row(["", "compression", *_columns("{}, seconds", "{}, CPU"), "size, RNTuple / TTree"]),
            row(["---"] * (3 + 2 * len(LIBRARIES))),
            *self.speed_ups(states),
            "",
            "## All numbers",
            "",
            row(
                [
                    *["", "format", "compression", "MB read", *LIBRARIES.values()],
                    *["RDataFrame / nyssa", "RDataFrame / nyssa in C++"],
                    *_columns("CPU, {}"),
                    *_columns("events/s, {}"),
                    *_columns("MB/s, {}"),
                ]
            ),
            row(["---"] * (6 + 4 * len(LIBRARIES))),
            *self.rows(states),
            "",
        ]


def _columns(*texts: str) -> list[str]:
    """Returns the heads of columns of all libraries."""
    return [text.format(name) for name in LIBRARIES.values() for text in texts]


@contextlib.contextmanager
def served(files: Files, arguments: argparse.Namespace) -> Iterator[tuple[links.Link, str]]:
    """Serves the files by XRootD at the far end of a link; gives the link and ``host:port``."""
    link = links.open_link(arguments.link, arguments.bandwidth * 1e9 / 8)
    try:
        link.set_round_trip(arguments.round_trips[0] / 1e3)
        with server.xrootd(list(files.paths.values()), link) as place:
            yield link, place
    finally:
        link.close()


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    links.add_options(parser, run.ROOT_DIRECTORY / "docs" / "benchmarks-atlas.md")
    parser.set_defaults(entries=50_000, round_trips=[10.0], bandwidth=1.0, rounds=2)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--libraries", nargs="+", choices=LIBRARIES, default=list(LIBRARIES))
    parser.add_argument(
        "--compressions", nargs="+", choices=list(COMPRESSIONS), default=list(COMPRESSIONS)
    )
    arguments = parser.parse_args()
    # The server and the link are to end when this is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    files = Files(run.BUILD, arguments.entries, arguments.compressions)
    benchmark = Benchmark(files, arguments)
    states = [WARM, COLD]
    remote = "No server of XRootD is installed, so nothing is read over a network."
    for _ in range(arguments.rounds):
        for path in files.paths.values():
            path.read_bytes()
        benchmark.measure(WARM)
        benchmark.measure(COLD)
    if shutil.which("xrootd"):
        with served(files, arguments) as (link, place):
            states.append("XRootD")
            remote = (
                f"*XRootD*: from a server over a link with a round trip of "
                f"{arguments.round_trips[0]:g} ms and {arguments.bandwidth:g} Gbit/s: "
                f"{link.description}."
            )
            for _ in range(arguments.rounds):
                benchmark.measure("XRootD", link.client_command, place)
    lines = benchmark.page(states, remote)
    arguments.output.write_text("\n".join(lines))
    print("\n".join(lines))
    (run.BUILD / "atlas.json").write_text(json.dumps(benchmark.results.stored(), indent=1))


if __name__ == "__main__":
    main()
