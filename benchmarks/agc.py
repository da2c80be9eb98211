"""`make bench-agc`: the ttbar analysis of examples/agc, in all ways to run it, beside its peers.

The peers are the analysis with RDataFrame in compiled C++, and as a processor of coffea that uproot
reads for. Beside them, nyssa runs it in C++ on views of columns. All fill the same histograms,
which is checked. Files are on the local disk, or behind a link with latency on a server of XRootD
or on ``nyssa serve``. Every job runs in processes of its own, all jobs in turn. Medians are printed
and written to docs/benchmarks-agc.md.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "remote")]

import link as links  # noqa: E402
import server  # noqa: E402
from link import Link  # noqa: E402

import run as local  # noqa: E402
from agc_page import IN_CPP, page  # noqa: E402

EXAMPLES = HERE.parent / "examples"
KINDS = ("ttree", "rntuple")

#: A way to run: library, kind of file, place of the file, executor, number of workers.
Way = tuple[str, str, str, str, int]


def module(name: str, *options: object, python: str = sys.executable) -> list[str]:
    """Return the command that runs a module of the example."""
    return [python, "-W", "ignore", "-m", f"agc.{name}", *map(str, options)]


def samples(events: int) -> Path:
    """Make the samples if they are missing, and return their folder."""
    folder = local.BUILD / f"agc-{events}"
    if not (folder / "rntuple.json").exists():
        data = ["--data", local.TEST_DATA] if (local.TEST_DATA / "agc").is_dir() else []
        subprocess.run(module("generate", folder, "--events", events, *data), check=True)
    return folder


@contextlib.contextmanager
def nyssa_serve(folder: Path, link: Link) -> Iterator[str]:
    """Serve a folder by HTTP at the far end of a link; give ``host:port`` of it."""
    port = server.free_port()
    arguments = ["-m", "nyssa", "serve", str(folder), "--port", str(port), "--host", "0.0.0.0"]
    command = link.server_command([sys.executable, *arguments])
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        server.wait_until_open(port, process)
        yield link.connect(port)
    finally:
        process.terminate()
        process.wait()


class Benchmark:
    """Runs the jobs and stores their times."""

    def __init__(self, folder: Path, link: Link, coffea: str | None) -> None:
        self.folder, self.link, self.coffea = folder, link, coffea
        self.cores = os.cpu_count() or 1
        self.counts = sorted({1, self.cores})
        self.results: dict[Way, list[dict]] = defaultdict(list)
        self.numbers = folder / "histograms.json"

    def measure(self, way: Way, command: list[str]) -> None:
        """Run a job."""
        print(", ".join(map(str, way)), file=sys.stderr)
        done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        self.results[way].append(json.loads(done.stdout.splitlines()[-1]))

    def nyssa(self, kind: str, where: str, executor: str, workers: int, *options: object) -> None:
        """Run the analysis."""
        inputs = ["--json", "--inputs", self.folder / f"{kind}.json"]
        how = ["--executor", executor, "--workers", workers, "--reference", self.numbers]
        command = self.link.client_command(module("run", *inputs, *how, *options))
        self.measure(("nyssa", kind, where, executor, workers), command)

    def on_disk(self) -> None:
        """Run all jobs that read local files."""
        for workers in self.counts:
            for kind in KINDS:
                self.nyssa(kind, "disk", "threads", workers)
                self.views(kind, workers)
                if importlib.util.find_spec("ROOT"):
                    self.rdataframe(kind, workers)
            if self.coffea:
                for reader in ("uproot", "nyssa"):
                    self.with_coffea(reader, workers)
        for kind in KINDS:
            for executor in ("processes", "dask"):
                self.nyssa(kind, "disk", executor, self.cores)

    def rdataframe(self, kind: str, workers: int) -> None:
        """Run the version with RDataFrame."""
        options = ["--workers", workers, "--build", local.BUILD / "agc"]
        options += ["--inputs", self.folder / f"{kind}.json", "--reference", self.numbers]
        way = ("RDataFrame", kind, "disk", "threads", workers)
        self.measure(way, module("rdataframe", *options))

    def views(self, kind: str, workers: int) -> None:
        """Run the version in C++ on views."""
        options = ["--inputs", self.folder / f"{kind}.json", "--reference", self.numbers]
        way = (IN_CPP, kind, "disk", "threads", workers)
        self.measure(way, module("views", local.READERS / "agc", "--workers", workers, *options))

    def with_coffea(self, reader: str, workers: int) -> None:
        """Run the version with coffea."""
        options = ["--inputs", self.folder / "ttree.json", "--reference", self.numbers]
        options += ["--reader", reader, "--workers", workers]
        way = (f"coffea + {reader}", "ttree", "disk", "processes", workers)
        self.measure(way, module("with_coffea", *options, python=self.coffea))

    def remote(self) -> None:
        """Run the analysis with files behind the link."""
        with contextlib.ExitStack() as stack:
            places = {"http": stack.enter_context(nyssa_serve(self.folder, self.link))}
            if shutil.which("xrootd"):
                folders = [self.folder / kind for kind in KINDS]
                places["root"] = stack.enter_context(server.xrootd(folders, self.link))
            for scheme, place in places.items():
                prefix = ["--prefix", f"{scheme}://{place}/{'/' if scheme == 'root' else ''}"]
                for kind in KINDS:
                    self.nyssa(kind, f"{scheme}://", "threads", self.cores, *prefix)
                    with tempfile.TemporaryDirectory() as cache:
                        for state in ("cold", "warm"):
                            where, options = f"{scheme}://, {state} cache", ["--cache", cache]
                            self.nyssa(kind, where, "threads", self.cores, *prefix, *options)


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=200_000, help="events of each of ten files")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round-trip", type=float, default=10, help="of the link, in ms")
    parser.add_argument("--bandwidth", type=float, default=10, help="of the link, in Gbit/s")
    parser.add_argument("--link", choices=["auto", "tunnel", "proxy"], default="auto")
    parser.add_argument("--coffea", help="a Python that has coffea")
    parser.add_argument("--note", default="", help="a sentence about the machine, for the page")
    docs = HERE.parent / "docs" / "benchmarks-agc.md"
    parser.add_argument("--output", type=Path, default=docs)
    arguments = parser.parse_args()
    # The servers and the link are to end when this is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    known = os.environ.get("PYTHONPATH", "")
    os.environ["PYTHONWARNINGS"] = "ignore"
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [known, str(EXAMPLES)]))
    folder = samples(arguments.events)
    link = links.open_link(arguments.link, arguments.bandwidth * 1e9 / 8)
    benchmark = Benchmark(folder, link, arguments.coffea)
    try:
        link.set_round_trip(arguments.round_trip / 1e3)
        # All jobs compare their histograms with these.
        inputs = ["--inputs", folder / "ttree.json", "--numbers", benchmark.numbers]
        subprocess.run(module("run", *inputs), check=True, stdout=subprocess.DEVNULL)
        for round_ in range(1, arguments.rounds + 1):
            print(f"round {round_}", file=sys.stderr)
            benchmark.on_disk()
            benchmark.remote()
    finally:
        link.close()
    text = page(benchmark.results, arguments, folder, link.description)
    arguments.output.write_text(text)
    print(text)
    rows = [{"way": way, "rounds": rounds} for way, rounds in benchmark.results.items()]
    (local.BUILD / "agc.json").write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
