"""`make bench-framework`: output modules of nyssa and ROOT in a framework in miniature, in one run.

examples/cpp/framework is built against nyssa and the ROOT wheel, with optimisation. Each job is a
process of its own; a round runs all jobs in turn. In the first round ROOT reads every file, and
compares all products with those that the streams made. Compression, the size of clusters and the
largest page are the same on both sides; "zstd" is nyssa's own choice of the effort, beside which
ROOT has 505. The results are printed and written to docs/benchmarks-framework.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import run
import table

BUILD = run.BUILD.parent / "framework"
SOURCES = run.ROOT_DIRECTORY / "examples" / "cpp" / "framework"
STREAMS = (1, 2, 4, 8)
#: nyssa's choice of the effort, and the compression of ROOT beside it.
CHOSEN, BESIDE = "zstd", "505"
#: Cluster and largest page, in bytes.
CLUSTER, PAGE = 8 << 20, 256 << 10
#: Names of jobs: the module, and whether the library has as many threads as there are streams.
JOBS = {
    "nyssa": ("nyssa", False),
    "nyssa, threads": ("nyssa", True),
    "nyssa-one": ("nyssa-one", False),
    "nyssa-one, threads": ("nyssa-one", True),
    "root": ("root", False),
    "root-one": ("root-one", False),
    "root-one, threads": ("root-one", True),
    "merger": ("merger", False),
}
#: What the rows of the table are compared with.
PEERS = {
    "nyssa": "root",
    "nyssa, threads": "root",
    "nyssa-one": "root-one",
    "nyssa-one, threads": "root-one, threads",
}
CALLS, ROUNDS_OF_READS, COLUMN = 20_000_000, 25, "tracks.pt"
#: Events of the runs that show how streams scale: the end of a file is a small part of so many.
SCALED_EVENTS, SCALED_ROUNDS = 600_000, 7
#: Where these runs write: a file, whether writes do nothing, and the name.
PLACES = {
    "nowhere": (BUILD / "nowhere.root", True, "nowhere: writes do nothing"),
    "memory": (Path("/dev/shm/nyssa-framework.root"), False, "a file in memory (tmpfs)"),
    "disk": (BUILD / "events.root", False, "a file on the disk"),
}

#: What the page says before its tables.
TEXT = """\
`make bench-framework` writes this page; do not edit it. The program
[examples/cpp/framework](../examples/cpp/framework) has streams, one thread each, which make events
and write their products: a header, jets with hits, tracks, muons and names of triggers, 2 kB in
all. Its output modules are

- `nyssa`: a fill context of nyssa for each stream; `nyssa-one`: one table behind a mutex;
- `root`: `RNTupleParallelWriter` with a fill context for each stream; `root-one`: `RNTupleWriter`
  behind a mutex;
- `merger`: `TBufferMerger`, with a TTree of the same classes for each stream.

Where a name has `threads`, the library compresses with as many threads as there are streams
(`nyssa::Context`, `ROOT::EnableImplicitMT`); otherwise streams compress what they write.
{events:,} events; on both sides clusters of {cluster} MiB after compression and pages of at most
{page} KiB before it, with checksums; other options have their defaults. `zstd` is nyssa's default,
which chooses the effort for each column, beside ROOT's default 505; other settings are equal on
both sides. Medians of {rounds}, in which all jobs run in turn, each in a process of its own.
ROOT reads every file back and compares all products. Peak memory is resident memory of the whole
process, with its libraries."""
#: What bounds the numbers.
MEANING = """\
Streams stand still while they neither run nor wait for a core. More streams than cores share them,
so speed grows no more, and standing still then is waiting for a lock whose owner waits for a core.
What bounds the numbers:

- With 505 on both sides nearly all time is spent in zstd, so that speeds are about equal. With
  nyssa's default, a quarter is the making of events, and the gathering of objects in columns
  (`nyssa.hpp`) less than a tenth.
- Streams write their clusters beside one another: only the places in the file are given out one
  after the other. But Linux lets one thread at a time copy to the pages of one file of ext4 or XFS,
  and nyssa makes a file durable before it has its name (`fsync`), which ROOT does not do. The table
  of places shows streams without this and with it.
- ROOT's process has about 200 MB before it writes, most of it its interpreter. nyssa's memory is
  limited by the option `memory`, which all streams share."""

#: What the table of places shows.
SCALING = """\
How two streams scale, by where they write: {events:,} events, so that the beginning and the end of
the file count little. A round has one stream, two streams, and a copy of the file, which is made
durable, one after the other. Medians of {rounds} rounds. The copy shows what the storage takes."""

Key = tuple[str, str, int]
Results = dict[Key, list[dict[str, Any]]]
#: For each place, rounds of one stream, two streams, and a copy of the file.
Scales = dict[str, list[list[dict[str, Any]]]]


def build(prefix: Path) -> None:
    """Build the framework, and the program of single numbers."""
    spec = importlib.util.find_spec("ROOT")
    if spec is None or spec.origin is None:
        sys.exit("there is no ROOT for this Python")
    options = [f"-DCMAKE_PREFIX_PATH={prefix}", f"-DROOTSYS={Path(spec.origin).parent}"]
    configure = ["cmake", "-S", SOURCES, "-B", BUILD, "-DCMAKE_BUILD_TYPE=Release", *options]
    places = [f"-I{prefix}/include", f"-I{SOURCES}", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"]
    source, program = Path(__file__).with_name("framework_numbers.cxx"), BUILD / "numbers"
    compile_ = ["g++", "-std=c++17", "-O2", *places, source, "-o", program, "-lnyssa"]
    source, library = Path(__file__).with_name("discard.c"), BUILD / "discard.so"
    discard = ["gcc", "-D_GNU_SOURCE", "-O2", "-shared", "-fPIC", source, "-o", library]
    for command in (configure, ["cmake", "--build", BUILD], compile_, discard):
        subprocess.run([str(word) for word in command], check=True, stdout=sys.stderr)
    if not (BUILD / "framework_root").exists():
        sys.exit("cmake did not find the parts of ROOT")


def command(job: str, compression: str, streams: int, events: int, file: Path) -> list[str]:
    """Return the command of a job. The program of nyssa's modules does not load ROOT."""
    module, threads = JOBS[job]
    is_nyssa = module.startswith("nyssa")
    setting = BESIDE if compression == CHOSEN and not is_nyssa else compression
    program = BUILD / ("framework" if is_nyssa else "framework_root")
    words = [program, module, file, streams, events, f"compression={setting}"]
    words += [f"threads={streams if threads else 1}", f"cluster={CLUSTER}", f"page={PAGE}"]
    return [str(word) for word in words]


def measure(compressions: list[str], rounds: int, events: int) -> Results:
    """Run all jobs in turn."""
    results: Results = {}
    file = BUILD / "events.root"
    for round_ in range(rounds):
        for compression in compressions:
            for streams in STREAMS:
                for job in JOBS:
                    if JOBS[job][1] and streams == 1:
                        continue
                    print(f"round {round_}: {compression} {streams} {job}", file=sys.stderr)
                    run_ = run.measure(*command(job, compression, streams, events, file))
                    results.setdefault((compression, job, streams), []).append(run_)
                    if round_ == 0:
                        check = [str(BUILD / "framework_root"), "check", str(file), str(events)]
                        subprocess.run(check, check=True)
    return results


def copied(file: Path, copy: Path) -> float:
    """Copy a file, make the copy durable, and return the seconds: what the storage alone takes."""
    content = file.read_bytes()
    start = time.perf_counter()
    with copy.open("wb", buffering=0) as output:
        for at in range(0, len(content), 1 << 20):
            output.write(content[at : at + (1 << 20)])
        os.fsync(output.fileno())
    seconds = time.perf_counter() - start
    copy.unlink()
    return seconds


def scaling() -> Scales:
    """Run one stream and two streams in turn, for each place."""
    results: Scales = {}
    for round_ in range(SCALED_ROUNDS):
        for place, (file, discards, _) in PLACES.items():
            if not file.parent.exists():
                continue
            before = ["env", f"LD_PRELOAD={BUILD / 'discard.so'}"] if discards else []
            pair = []
            for streams in (1, 2):
                print(f"round {round_}: {streams} to {place}", file=sys.stderr)
                words = command("nyssa", CHOSEN, streams, SCALED_EVENTS, file)
                pair.append(run.measure(*before, *words))
            if not discards:
                pair.append({"seconds": copied(file, file.with_suffix(".copy"))})
            results.setdefault(place, []).append(pair)
            file.unlink()
    return results


def scaled(pairs: list[list[dict[str, Any]]]) -> float:
    """Return how many times one stream two streams are, as the median of pairs."""
    return statistics.median(one["seconds"] / two["seconds"] for one, two, *_ in pairs)


def scaling_rows(results: Scales) -> list[str]:
    """Return the table of the places."""
    rows = [
        "| written to | s of 1 stream | of 2 | ratio | lowest to highest | s to copy the file |",
        "|---|---|---|---|---|---|",
    ]
    for place, pairs in results.items():
        one, two, *copy = (median(list(runs), "seconds") for runs in zip(*pairs, strict=True))
        ratios = sorted(one["seconds"] / two["seconds"] for one, two, *_ in pairs)
        cells = [PLACES[place][2], f"{one:.2f}", f"{two:.2f}", f"{scaled(pairs):.2f} ×"]
        cells += [f"{ratios[0]:.2f} to {ratios[-1]:.2f}", f"{copy[0]:.2f}" if copy else ""]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def median(runs: list[dict[str, Any]], name: str) -> float:
    """Return the median of a number."""
    return statistics.median(run_[name] for run_ in runs)


def row(results: Results, key: Key) -> str:
    """Return the row of a job."""
    compression, job, streams = key
    runs = results[key]
    speed, memory = median(runs, "events_per_second"), median(runs, "peak_memory")
    alone = results.get((compression, job, 1))
    scaling = f"{speed / median(alone, 'events_per_second'):.2f} ×" if alone else ""
    still = median(runs, "stalled_seconds") / median(runs, "seconds") / streams
    cells = [compression, streams, job, f"{speed:,.0f}", scaling]
    cells += [f"{median(runs, 'cpu_seconds'):.2f}", f"{still:.1%}"]
    cells += [f"{memory / 1e6:.0f}", f"{median(runs, 'bytes') / 1e6:.1f}"]
    peer = results.get((compression, PEERS.get(job, ""), streams))
    if peer:
        cells.append(f"{speed / median(peer, 'events_per_second'):.2f} ×")
        cells.append(f"{memory / median(peer, 'peak_memory'):.2f}")
    else:
        cells += ["", ""]
    return f"| {' | '.join(map(str, cells))} |"


def goals(
    results: Results,
    compression: str,
    numbers: dict[str, float],
    scales: Scales,
) -> list[str]:
    """Return the table of what is wanted."""

    def of(job: str, streams: int, name: str) -> float:
        return median(results[compression, job, streams], name)

    speed = of("nyssa", 1, "events_per_second")
    single = speed / of("root-one", 1, "events_per_second")
    memory = of("nyssa", 2, "peak_memory") / of("root", 2, "peak_memory")
    still = of("nyssa", 2, "stalled_seconds") / of("nyssa", 2, "seconds") / 2
    read = numbers["column"] / numbers["column in Rust"]
    return [
        "| number | measured | wanted |",
        "|---|---|---|",
        f"| events/s of one stream, against `RNTupleWriter` | {single:.2f} × | ≥ 3 × |",
        f"| two streams, against one, to nowhere | {scaled(scales['nowhere']):.2f} × | ≥ 1.8 × |",
        f"| two streams, against one, to the disk | {scaled(scales['disk']):.2f} × | ≥ 1.8 × |",
        f"| peak memory of two streams, against `RNTupleParallelWriter` | {memory:.2f} | ≤ 0.4 |",
        f"| time in which two streams stood still | {still:.1%} | ≤ 5 % |",
        f"| bulk read of `{COLUMN}` in C++, against Rust | {read:.2f} × | ≤ 1.1 × |",
        f"| a call of `fill` with one number | {numbers['calls']:.0f} ns | ≤ 100 ns |",
    ]


def page(
    results: Results,
    given: argparse.Namespace,
    numbers: dict[str, float],
    scales: Scales,
) -> list[str]:
    """Return the lines of the page."""
    head = ["compression", "streams", "module", "events/s", "of 1 stream", "CPU s", "stood still"]
    head += ["peak MB", "file MB", "speed / ROOT's", "memory / ROOT's"]
    jobs = [
        (compression, job, streams)
        for compression in given.compression
        for streams in STREAMS
        for job in JOBS
    ]
    return [
        "# A framework in C++",
        "",
        TEXT.format(
            events=given.events,
            cluster=CLUSTER >> 20,
            page=PAGE >> 10,
            rounds=f"{given.rounds} round" + "s" * (given.rounds != 1),
        ),
        "",
        f"Machine: {table.cpu_name()}, {os.cpu_count()} cores, {platform.system()} "
        f"{platform.machine()}; ROOT {table.root_version()}.",
        "",
        f"With `{given.compression[0]}`:",
        "",
        *goals(results, given.compression[0], numbers, scales),
        "",
        SCALING.format(events=SCALED_EVENTS, rounds=SCALED_ROUNDS),
        "",
        *scaling_rows(scales),
        "",
        MEANING,
        "",
        f"| {' | '.join(head)} |",
        "|" + "---|" * len(head),
        *(row(results, key) for key in jobs if key in results),
        "",
    ]


def single_numbers(events: int, rust: Path) -> dict[str, float]:
    """Measure calls, and reads of a column in C++ and in Rust, in turn."""
    program, file = str(BUILD / "numbers"), BUILD / "events.root"
    calls = run.measure(program, "calls", str(BUILD / "calls.root"), str(CALLS))
    run.measure(*command("nyssa", CHOSEN, 2, events, file))
    arguments = [f"{file}:Events", COLUMN, str(ROUNDS_OF_READS)]
    ours, theirs = [], []
    for _ in range(3):
        ours.append(run.measure(program, "column", *arguments))
        theirs.append(run.measure(str(rust), *arguments))
    if abs(ours[0]["sum"] / theirs[0]["sum"] - 1) > 1e-5:
        sys.exit("C++ and Rust read different values")
    return {
        "calls": calls["nanoseconds"],
        "column": min(read["seconds"] for read in ours),
        "column in Rust": min(read["seconds"] for read in theirs),
    }


def main() -> None:
    """Build, run all, and print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", type=Path, required=True, help="where nyssa is installed")
    parser.add_argument("--sum", type=Path, required=True, help="the example `sum` in Rust, built")
    parser.add_argument("--events", type=int, default=120_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compression", nargs="*", default=[CHOSEN, BESIDE])
    docs = run.ROOT_DIRECTORY / "docs" / "benchmarks-framework.md"
    parser.add_argument("--output", type=Path, default=docs)
    given = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    build(given.prefix.resolve())
    results = measure(given.compression, given.rounds, given.events)
    lines = page(results, given, single_numbers(given.events, given.sum), scaling())
    given.output.write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
