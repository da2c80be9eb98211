"""Fills one TTree from several threads, by nyssa and by ROOT's TBufferMerger, and prints a table.

The study of 2017: the number of buffers, how many bytes a buffer has before it is merged, the size
of baskets and the compression change the size of the file, the memory and the speed. Run it on a
quiet machine: ``python benchmarks/tree_buffers.py``. Each thread has an equal part of the entries.
A cluster ends, and the buffer is merged, when it has so many compressed bytes. Both programs write
from arrays in memory, in a process of its own, in turn. A small tree is written first, which does
not count. The memory is the peak while the file is
written, without the data. The scaling is the time of one buffer, divided by that of this line.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tree_writing import PART, WARM_UP, Arrays, RootColumns, clock, few, make, parts, since

MB = 1_000_000
PROGRAMS = ("nyssa", "root")


class Case(NamedTuple):
    """What is changed."""

    compression: int
    buffers: int
    flush: int
    """The number of compressed bytes of a buffer."""
    basket: int
    """The number of bytes of a basket."""


def cases(compressions: list[int], buffers: list[int]) -> list[Case]:
    """Return all cases: the sizes of flushes and baskets are each changed for all buffers."""
    found = []
    for compression in compressions:
        for count in buffers:
            found += [Case(compression, count, flush * MB, 64_000) for flush in (8, 32, 128, 500)]
            found += [Case(compression, count, 32 * MB, basket) for basket in (16_000, 256_000)]
    return found


def nyssa(path: str, columns: Arrays, case: Case) -> tuple[float, float]:
    """Write with fill contexts of nyssa."""
    import nyssa

    tables = parts(columns)
    shares = [
        tables[len(tables) * at // case.buffers : len(tables) * (at + 1) // case.buffers]
        for at in range(case.buffers)
    ]

    def work(context: Any, share: list[Any]) -> None:
        with context:
            for table in share:
                context.extend(table)

    with nyssa.recreate(path) as file:
        file.mktree("Events", few(tables[0]))
    reset_peak()
    start = clock()
    options: dict[str, Any] = {"compression": case.compression, "fill_contexts": case.buffers}
    with nyssa.recreate(path, **options) as file:
        types = {name: array[:0] for name, array in tables[0].items()}
        tree = file.mktree("Events", types, auto_flush=-case.flush, basket_size=case.basket)
        threads = [
            threading.Thread(target=work, args=(tree.fill_context(), share)) for share in shares
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return since(start)


def root(path: str, columns: Arrays, case: Case) -> tuple[float, float]:
    """Write with ROOT's TBufferMerger."""
    import ROOT

    described = RootColumns(columns)
    arguments = (case.compression, case.buffers, case.flush, case.basket)
    # The first call compiles the loop.
    ROOT.nyssa_buffers(path, *arguments, WARM_UP, described.of_root)
    reset_peak()
    start = clock()
    ROOT.nyssa_buffers(path, *arguments, len(columns["run"]), described.of_root)
    return since(start)


def reset_peak() -> None:
    """Let the system measure the peak of the memory from now on."""
    global before
    Path("/proc/self/clear_refs").write_text("5")
    before = memory("VmRSS")


before = 0


def memory(what: str) -> int:
    """Return a number of bytes that the system tells about this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{what}:"))


def measure(program: str, data: Path, case: Case, output: Path) -> Any:
    """Write in a process of its own."""
    output.unlink(missing_ok=True)
    work = [str(one) for one in (program, data, *case, output)]
    command = [sys.executable, "-W", "ignore", __file__, "--worker", *work]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def worker(program: str, data: str, *rest: str) -> None:
    """Write once, and print times, memory and size."""
    case, output = Case(*map(int, rest[:-1])), rest[-1]
    with np.load(data) as file:
        columns = {name: file[name] for name in file.files}
    wall, cpu = globals()[program](output, columns, case)
    peak = memory("VmHWM") - before
    size = Path(output).stat().st_size
    print(json.dumps({"wall": wall, "cpu": cpu, "memory": peak, "bytes": size}))


def main() -> None:
    """Run all cases in turn and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=16 * PART)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--compression", type=int, nargs="*", default=[505, 201])
    parser.add_argument("--buffers", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--worker", nargs=7, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker(*given.worker)
        return
    names = ("compression", "buffers", "flush MB", "basket kB", "program", "s", "CPU s", "MB")
    print(f"| {' | '.join(names)} | memory MB | scaling |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    single: dict[Any, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        data, output = Path(folder, "data.npz"), Path(folder, "out.root")
        np.savez(data, **make(given.entries))  # type: ignore[arg-type]
        for case in cases(given.compression, given.buffers):
            for program in PROGRAMS:
                runs = [measure(program, data, case, output) for _ in range(given.rounds)]
                best = min(runs, key=lambda run: run["wall"])
                one = single.setdefault((program, case._replace(buffers=0)), best["wall"])
                print(
                    f"| {case.compression} | {case.buffers} | {case.flush // MB} "
                    f"| {case.basket // 1000} | {program} | {best['wall']:.2f} | {best['cpu']:.2f} "
                    f"| {best['bytes'] / MB:.1f} | {best['memory'] / MB:.0f} "
                    f"| {one / best['wall']:.2f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
