"""Writes the same TTree with nyssa, uproot and ROOT, and prints ratios of time and size.

Run it on a quiet machine: ``python benchmarks/tree_writing.py``. The data look like a small
NanoAOD: numbers, and jagged arrays of two collections with a counter each. Each program writes from
arrays in memory, in a process of its own, all in turn. ROOT's loop is compiled and calls
``TTree::Fill`` for each entry. Before the clock starts, each program writes a small tree, so that
imports and compilation do not count. nyssa and uproot get the same parts of the data, one call of
``extend`` each. With a number, the compression is the same everywhere: 505 is level 10 of zstd, and
without compression (0) the programs themselves are compared. "zstd" is nyssa's default, which
chooses the effort for each branch; ROOT and uproot then have 505. uproot has no LZ4 of a high
level: there its files are larger.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

PROGRAMS = ("nyssa", "uproot", "root")
PART = 50_000
"""The number of entries of a call of `extend`."""
WARM_UP = 10
"""The number of entries of the small tree that is written first."""
CHOSEN = "zstd"
"""The compression of nyssa without a level."""
ROOTS_OWN = 505
"""ROOT's setting for the same algorithm."""

Arrays = dict[str, npt.NDArray[Any]]

LOOP = Path(__file__).with_suffix(".cxx").read_text()


def make(entries: int) -> Arrays:
    """Return columns; those with a dot are items of a collection, whose counts have a ``#``."""
    rng = np.random.default_rng(1)
    columns: Arrays = {
        "run": np.full(entries, 362760, "i4"),
        "event": np.arange(entries, dtype="i8") * 7 + rng.integers(0, 7, entries),
        "weight": np.where(rng.random(entries) < 0.01, -1, 1).astype("f4"),
        "met": rng.exponential(40, entries).astype("f4"),
        "phi": rng.uniform(-np.pi, np.pi, entries).astype("f4"),
        "vertices": rng.poisson(30, entries).astype("i4"),
        "trigger": rng.random(entries) < 0.1,
        "rho": rng.normal(20, 5, entries),
    }
    for name, mean in (("Jet", 5), ("Muon", 0.8)):
        counts = rng.poisson(mean, entries).astype("i4")
        items = int(counts.sum())
        columns[f"#{name}"] = counts
        # NanoAOD keeps some bits of each number only.
        pt = (20 + rng.exponential(30, items)).astype("f4")
        columns[f"{name}.pt"] = (pt.view("u4") & 0xFFFFF000).view("f4")
        columns[f"{name}.eta"] = rng.normal(0, 2, items).astype("f4")
        columns[f"{name}.phi"] = rng.uniform(-np.pi, np.pi, items).astype("f4")
        columns[f"{name}.mass"] = (pt.view("u4") // 3 & 0xFFFF0000).view("f4")
        columns[f"{name}.id"] = rng.integers(0, 7, items).astype("i4")
    return columns


def parts(columns: Arrays) -> list[dict[str, Any]]:
    """Return the entries as tables of awkward arrays, with one record for each collection."""
    import awkward as ak

    names = [name[1:] for name in columns if name.startswith("#")]
    whole: dict[str, Any] = {
        name: array for name, array in columns.items() if not set(name) & set("#.")
    }
    for name in names:
        members = {key: columns[key] for key in columns if key.startswith(f"{name}.")}
        content = ak.zip({key.partition(".")[2]: array for key, array in members.items()})
        whole[name] = ak.unflatten(content, columns[f"#{name}"])
    entries = len(columns["run"])
    steps = range(0, entries, PART)
    return [{key: one[start : start + PART] for key, one in whole.items()} for start in steps]


def few(table: dict[str, Any]) -> dict[str, Any]:
    """Return the first entries of a table."""
    return {name: one[:WARM_UP] for name, one in table.items()}


def nyssa(path: str, columns: Arrays, compression: str, threads: int) -> tuple[float, float]:
    """Write with nyssa."""
    import nyssa

    tables = parts(columns)
    with nyssa.recreate(path, threads=threads) as file:
        file.mktree("Events", few(tables[0]))
    start = clock()
    with nyssa.recreate(path, compression=compression, threads=threads) as file:
        tree = file.mktree("Events", tables[0])
        for table in tables[1:]:
            tree.extend(table)
    return since(start)


def uproot(path: str, columns: Arrays, compression: str, threads: int) -> tuple[float, float]:
    """Write with uproot, which has one thread."""
    import awkward as ak
    import uproot

    assert threads == 1
    kinds = {1: uproot.ZLIB, 2: uproot.LZMA, 4: uproot.LZ4, 5: uproot.ZSTD}
    number = setting(compression)
    kind, level = kinds.get(number // 100), number % 100
    # ROOT's level 5 of zstd is level 10 of the library.
    level = 2 * level if number // 100 == 5 else level
    tables = parts(columns)
    types = {name: ak.type(ak.Array(one)).content for name, one in tables[0].items()}
    with uproot.recreate(path) as file:
        file.mktree("Events", types).extend(few(tables[0]))
    start = clock()
    with uproot.recreate(path, compression=kind(level) if kind and level else None) as file:
        tree = file.mktree("Events", types)
        for table in tables:
            tree.extend(table)
    return since(start)


def root(path: str, columns: Arrays, compression: str, threads: int) -> tuple[float, float]:
    """Write with a compiled loop of ROOT."""
    import ROOT

    described = RootColumns(columns)
    entries = len(columns["run"])
    # The first call compiles the loop.
    ROOT.nyssa_one(path, setting(compression), 1, WARM_UP, described.of_root)
    start = clock()
    ROOT.nyssa_one(path, setting(compression), threads, entries, described.of_root)
    return since(start)


class RootColumns:
    """Columns as the compiled loop takes them."""

    def __init__(self, columns: Arrays) -> None:
        import ctypes

        import ROOT

        code = dict(zip(("i4", "i8", "f4", "f8", "b1"), "ILFDO", strict=True))
        titles, counters, values, sizes, counts = [], [], [], [], []
        for name, array in columns.items():
            if name.startswith("#"):
                continue
            collection = name.partition(".")[0] if "." in name else ""
            counter = f"n{collection}" if collection else ""
            dimension = f"[{counter}]" if counter else ""
            title = f"{name.replace('.', '_')}{dimension}/{code[array.dtype.str[1:]]}"
            titles.append(title.encode())
            counters.append(counter.encode())
            values.append(array.ctypes.data)
            sizes.append(array.dtype.itemsize)
            counts.append(columns[f"#{collection}"].ctypes.data if collection else 0)
        count = len(titles)
        self._kept = (
            (ctypes.c_char_p * count)(*titles),
            (ctypes.c_char_p * count)(*counters),
            (ctypes.c_uint64 * count)(*values),
            (ctypes.c_int * count)(*sizes),
            (ctypes.c_uint64 * count)(*counts),
        )
        if not hasattr(ROOT, "nyssa_one"):
            ROOT.gInterpreter.Declare(LOOP)
        addresses = [ctypes.addressof(one) for one in self._kept]
        self.of_root = ROOT.nyssa_columns(count, *addresses)


def setting(compression: str) -> int:
    """Return the setting of ROOT and uproot."""
    return ROOTS_OWN if compression == CHOSEN else int(compression)


def clock() -> tuple[float, float]:
    """Return the time, and the CPU time of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), usage.ru_utime + usage.ru_stime


def since(start: tuple[float, float]) -> tuple[float, float]:
    """Return how long it took, in seconds and seconds of CPU time."""
    now = clock()
    return now[0] - start[0], now[1] - start[1]


def measure(program: str, data: Path, compression: str, threads: int, output: Path) -> Any:
    """Write in a process of its own."""
    work = [str(one) for one in (program, data, compression, threads, output)]
    command = [sys.executable, "-W", "ignore", __file__, "--worker", *work]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def worker(program: str, data: str, compression: str, threads: str, output: str) -> None:
    """Write once, and print times and size."""
    with np.load(data) as file:
        columns = {name: file[name] for name in file.files}
    wall, cpu = globals()[program](output, columns, compression, int(threads))
    print(json.dumps({"wall": wall, "cpu": cpu, "bytes": Path(output).stat().st_size}))


def main() -> None:
    """Run all programs in turn and print the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=500_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compression", nargs="*", default=["0", "101", "404", "505", CHOSEN])
    parser.add_argument("--worker", nargs=5, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    with tempfile.TemporaryDirectory() as folder:
        data, output = Path(folder, "data.npz"), Path(folder, "out.root")
        np.savez(data, **make(given.entries))  # type: ignore[arg-type]
        print("| compression | program | threads | s | CPU s | MB | time / nyssa | size / nyssa |")
        print("|---|---|---|---|---|---|---|---|")
        for compression in given.compression:
            table(data, output, compression, given.rounds)


def table(data: Path, output: Path, compression: str, rounds: int) -> None:
    """Print the lines of one compression."""
    runs: dict[tuple[str, int], list[Any]] = {}
    for _ in range(rounds):
        for program in PROGRAMS:
            for threads in (1, 2):
                if (program, threads) != ("uproot", 2):
                    found = measure(program, data, compression, threads, output)
                    runs.setdefault((program, threads), []).append(found)
    medians = {
        key: {name: statistics.median(run[name] for run in all_runs) for name in all_runs[0]}
        for key, all_runs in runs.items()
    }
    for (program, threads), one in medians.items():
        own = medians["nyssa", threads]
        print(
            f"| {compression} | {program} | {threads} | {one['wall']:.2f} | {one['cpu']:.2f} "
            f"| {one['bytes'] / 1e6:.1f} | {one['wall'] / own['wall']:.2f} "
            f"| {one['bytes'] / own['bytes']:.3f} |"
        )


if __name__ == "__main__":
    main()
