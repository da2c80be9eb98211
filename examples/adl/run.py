"""Runs the queries on files, and prints what each takes.

>>> python -m adl.run events.root:Events --workers 2
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import nyssa
from adl import queries

Histograms = dict[str, np.ndarray]


def engine(name: str, files: list[str], workers: int, build: Path) -> Callable[[int], Histograms]:
    """Return a function that runs a query in one of the ways."""
    with nyssa.open(files[0]) as dataset:
        btag = next((name for name in queries.BTAGS if name in dataset), queries.BTAGS[0])
    if name == "nyssa":
        return lambda number: queries.run(files, number, workers)
    if name == "rdataframe":
        from adl import rdataframe

        root = rdataframe.load(build, workers)
        return lambda number: rdataframe.run(root, files, number, btag)
    kind, reader = name.split("-")
    if kind == "graphed":
        from adl import with_graphed

        return lambda number: with_graphed.run(files, number, btag, reader)
    from adl import with_coffea

    return lambda number: with_coffea.run(files, number, btag, workers, reader)


def to_numbers(found: Histograms) -> dict[str, list[int]]:
    """Return histograms as JSON has them."""
    return {name: [int(one) for one in contents] for name, contents in found.items()}


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", help="such as events.root:Events")
    ways = ["nyssa", "rdataframe"]
    ways += [f"{kind}-{reader}" for kind in ("coffea", "graphed") for reader in ("uproot", "nyssa")]
    parser.add_argument("--engine", choices=ways, default="nyssa")
    parser.add_argument("--query", type=int, action="append", choices=range(1, 9))
    parser.add_argument("--workers", type=int, default=1, help="graphed has always one here")
    parser.add_argument("--repeat", type=int, default=1, help="the last run is measured")
    parser.add_argument("--build", type=Path, default="aclic", help="folder of the compiled code")
    parser.add_argument("--write", type=Path, help="a file that gets the histograms")
    parser.add_argument("--reference", type=Path, help="histograms that must be equal")
    arguments = parser.parse_args()
    run = engine(arguments.engine, arguments.files, arguments.workers, arguments.build)
    taken, numbers = {}, {}
    for number in arguments.query or range(1, 9):
        for _ in range(arguments.repeat):
            start, cpu = time.perf_counter(), time.process_time()
            found = run(number)
            taken[number] = [time.perf_counter() - start, time.process_time() - cpu]
        numbers |= to_numbers(found)
        print(f"query {number}: {taken[number][0]:.3f} s", file=sys.stderr)
    print(json.dumps(taken))
    if arguments.write:
        arguments.write.write_text(json.dumps(numbers) + "\n")
    if arguments.reference:
        expected = json.loads(arguments.reference.read_text())
        wrong = [name for name, one in numbers.items() if one != expected[name]]
        print(f"not equal: {wrong}" if wrong else "equal to the reference", file=sys.stderr)
        return bool(wrong)
    return 0


if __name__ == "__main__":
    sys.exit(main())
