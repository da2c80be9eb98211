"""Writes the page of `make bench-remote`: what was wanted, and all numbers."""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from files import CHAIN, CHAIN_ENTRIES

from table import root_version

#: Stands for the round trip of files on the local disk.
LOCAL = -1.0
LOGIN = 1
NONE = "–"
#: The packets that a new connection of TCP sends before it waits, and the bytes of each.
FIRST_PACKETS, PACKET = 10, 1448


@dataclass
class Results:
    """The numbers of each job, by round trip in milliseconds, name and library."""

    rounds: dict[tuple[float, str, str], list[dict]] = field(default_factory=dict)

    def add(self, ms: float, name: str, library: str, numbers: dict) -> None:
        """Adds the measurements of one round."""
        self.rounds.setdefault((ms, name, library), []).append(numbers)

    def of(self, ms: float, name: str, library: str, key: str = "seconds") -> float | None:
        """Returns the median of a number over all rounds; `None` if no round has it."""
        rounds = self.rounds.get((ms, name, library))
        return statistics.median(one[key] for one in rounds) if rounds else None

    def names(self) -> list[str]:
        """Returns the names of the jobs."""
        return list(dict.fromkeys(name for _, name, _ in self.rounds))

    def stored(self) -> dict[str, list[dict]]:
        """Returns all numbers for JSON."""
        return {
            f"{ms:g} ms|{name}|{one}": rounds for (ms, name, one), rounds in self.rounds.items()
        }


def divided(above: float | None, below: float | None) -> float | None:
    """Returns a ratio; `None` if one of both is not known."""
    return None if above is None or not below else above / below


@dataclass
class Target:
    """The goal for one number."""

    what: str
    measured: float | None
    limit: float
    #: Whether the number should be at least the limit; otherwise at most.
    at_least: bool = False
    unit: str = " ×"

    def row(self) -> str:
        """Returns the line of the table."""
        sign = "≥" if self.at_least else "≤"
        wanted = f"{sign} {self.limit:g}{self.unit}"
        if self.measured is None:
            return f"| {self.what} | {wanted} | {NONE} | not measured |"
        met = self.measured >= self.limit if self.at_least else self.measured <= self.limit
        measured = f"{self.measured:.3g}{self.unit}"
        return f"| {self.what} | {wanted} | {measured} | {'yes' if met else 'no'} |"


def targets(results: Results, needed: dict[str, int]) -> list[Target]:
    """Returns all goals of nyssa over a link."""
    chain = next((name for name in results.names() if name.startswith("chain")), "")
    tree = next((name for name in results.names() if name.startswith("TTree")), "")
    of = results.of

    def ratio(ms: float, name: str, library: str) -> float | None:
        return divided(of(ms, name, library), of(ms, name, "nyssa"))

    def against_local(ms: float, name: str) -> float | None:
        return divided(of(ms, name, "nyssa"), of(LOCAL, name, "nyssa"))

    trips = of(50, "open", "nyssa", "turnarounds")
    found = [
        Target(
            "open an RNTuple at 50 ms: round trips after the login",
            None if trips is None else trips - LOGIN,
            3,
            unit="",
        ),
        Target(
            "5 columns at 50 ms, open and read, against ROOT",
            divided(of(50, "5 columns", "nyssa"), of(50, "5 columns", "root")),
            0.5,
        ),
        Target("50 columns at 50 ms against the local file", against_local(50, "50 columns"), 1.3),
        Target("chain at 50 ms: uproot against nyssa", ratio(50, chain, "uproot"), 10, True),
        Target("chain at 50 ms: ROOT against nyssa", ratio(50, chain, "root"), 3, True),
        Target("TTree at 50 ms: ROOT against nyssa", ratio(50, tree, "root"), 2, True),
        Target("convert at 10 ms against the local file", against_local(10, "convert"), 1.15),
    ]
    found += [
        Target(
            f"bytes over the wire / bytes needed at {ms:g} ms: {name}",
            divided(of(ms, name, "nyssa", "down"), size),
            1.05,
        )
        for name, size in needed.items()
        for ms in (10.0, 50.0)
        if any((ms, name, "nyssa") == one for one in results.rounds)
    ]
    return found


def row(cells: list[str]) -> str:
    """Returns a line of a table."""
    return f"| {' | '.join(cells)} |"


def cell(value: float | None, show: Callable[[float], str]) -> str:
    """Returns a number for a table."""
    return NONE if value is None else show(value)


def all_rows(results: Results, needed: dict[str, int], round_trips: list[float]) -> list[str]:
    """Returns the table of all jobs at all round trips."""
    rows = []
    of = results.of
    for name in results.names():
        for ms in round_trips:
            nyssa, root, uproot = (of(ms, name, one) for one in ("nyssa", "root", "uproot"))
            trips, down = (
                [of(ms, name, one, key) for one in ("nyssa", "root", "uproot")]
                for key in ("turnarounds", "down")
            )
            size = needed.get(name)
            rows.append(
                row(
                    [
                        name,
                        f"{ms:g} ms",
                        *(
                            cell(one, lambda value: f"{value:.3g} s")
                            for one in (nyssa, root, uproot)
                        ),
                        cell(divided(root, nyssa), lambda value: f"{value:.1f} ×"),
                        cell(divided(uproot, nyssa), lambda value: f"{value:.1f} ×"),
                        cell(
                            divided(nyssa, of(LOCAL, name, "nyssa")), lambda value: f"{value:.2f} ×"
                        ),
                        " / ".join(cell(one, lambda value: f"{value:.0f}") for one in trips),
                        " / ".join(cell(one, lambda value: f"{value / 1e6:.1f}") for one in down),
                        cell(size, lambda value: f"{value / 1e6:.1f}"),
                    ]
                )
            )
    return rows


def start_of_tcp(bytes_: float, connections: float) -> int:
    """Returns the number of round trips in which TCP can send so many bytes.

    Each connection begins with ten packets, and its window doubles in each round trip.
    """
    first = FIRST_PACKETS * PACKET * max(connections, 1)
    return math.ceil(math.log2(bytes_ / first + 1))


def bounds(results: Results, round_trips: list[float]) -> list[str]:
    """Returns the table of what takes the time of nyssa's jobs."""
    rows = []
    cores = os.cpu_count() or 1
    for name in results.names():
        for ms in round_trips:

            def of(key: str, name: str = name, ms: float = ms) -> float:
                return results.of(ms, name, "nyssa", key) or 0.0

            seconds, cpu, busy = (of(key) for key in ("seconds", "cpu", "busy"))
            local = results.of(LOCAL, name, "nyssa", "cpu")
            if not seconds:
                continue
            trips = start_of_tcp(of("down"), of("connections"))
            rows.append(
                row(
                    [
                        name,
                        f"{ms:g} ms",
                        f"{seconds:.3g} s",
                        f"{cpu:.3g} s",
                        cell(divided(cpu, local), lambda value: f"{value:.2f} ×"),
                        f"{max(busy - cpu, 0):.3g} s",
                        f"{max(1 - busy / cores / seconds, 0):.0%}",
                        f"{of('connections'):.0f}",
                        f"{trips} = {trips * ms / 1e3:.3g} s",
                    ]
                )
            )
    return [
        "## What bounds nyssa",
        "",
        "The server and the link run on the same cores as the job. *TCP starts* are the round "
        "trips in which so many connections can send the bytes of the job: each begins with ten "
        "packets, and its window doubles in a round trip. Connecting, login and opening come "
        "before.",
        "",
        "| job | round trip | time | CPU | CPU, against the local file | CPU of server and link "
        "| idle cores | connections | TCP starts |",
        "|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


def versions() -> str:
    """Returns the versions of what is compared."""
    found = [f"ROOT {root_version()}"]
    for package in ("uproot", "fsspec-xrootd", "xrootd"):
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            found.append(f"no {package}")
    return ", ".join(found)


def about(command: str, arguments: argparse.Namespace, link: str) -> str:
    """Returns what a page says of the machine, the link and the clock."""
    return (
        f"Made by `{command}`. A server of XRootD and all jobs run on one machine "
        f"({platform.machine()}, {os.cpu_count()} cores). The link between them: {link}. Its "
        f"bandwidth is {arguments.bandwidth:g} Gbit/s. "
        f"Medians of {arguments.rounds} rounds; connecting and opening are inside the clock. "
    )


def wanted(found: list[Target]) -> list[str]:
    """Returns the goals, as a section of a page."""
    return [
        "## What was wanted",
        "",
        "| | wanted | measured | met |",
        "|---|---|---|---|",
        *(one.row() for one in found),
        "",
    ]


def report(
    results: Results,
    needed: dict[str, int],
    arguments: argparse.Namespace,
    link: str,
    files: dict[str, Path],
) -> list[str]:
    """Returns the page of results, line by line."""
    sizes = ", ".join(f"{files[one].stat().st_size / 1e6:.0f} MB" for one in ("tree", "ntuple"))
    return [
        "# Reading over XRootD, measured",
        "",
        f"{about('make bench-remote', arguments, link)}"
        "The files: a TTree and the RNTuple that ROOT's importer makes of it "
        f"({sizes}; {arguments.entries:,} events), and "
        f"{CHAIN} RNTuples of {CHAIN_ENTRIES:,} events. "
        "The columns are the vectors of floats that take most bytes. "
        "ROOT reads one in 5 files of the chain and uproot one in 40; their numbers are scaled. "
        f"A job that takes longer than {arguments.limit:g} s is stopped and has no number.",
        "",
        "A turnaround is a moment at which a client sends after it has received; on connections "
        "that work side by side each counts. They include the login. The bytes needed are the "
        "stored pages (or baskets) of the columns and of their sizes, and the metadata.",
        "",
        f"Versions: {versions()}.",
        "",
        *wanted(targets(results, needed)),
        "## All numbers",
        "",
        "| job | round trip | nyssa | ROOT | uproot | against ROOT | against uproot "
        "| against nyssa on the local file | turnarounds, nyssa / ROOT / uproot "
        "| MB, nyssa / ROOT / uproot | MB needed |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *all_rows(results, needed, arguments.round_trips),
        "",
        *bounds(results, arguments.round_trips),
    ]
