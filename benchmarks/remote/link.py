"""Links between a server and the jobs, with latency and bandwidth."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass
class Counts:
    """The bytes and turnarounds that crossed a link.

    A turnaround is a moment at which the client sends something after the server has sent
    something. Requests that are sent together count once.
    """

    connections: int = 0
    #: Bytes from the server to the client.
    down: int = 0
    #: Bytes from the client to the server.
    up: int = 0
    turnarounds: int = 0


class Link(Protocol):
    """A link whose round trip can be set. It counts what crosses it."""

    #: The description of the link in the report.
    description: str

    def server_command(self, command: list[str]) -> list[str]:
        """Returns the command that starts a server at its end of the link."""

    def client_command(self, command: list[str]) -> list[str]:
        """Returns the command that runs a job at its end of the link."""

    def connect(self, port: int) -> str:
        """Returns the ``host:port`` at which jobs reach the port of the server."""

    def set_round_trip(self, seconds: float) -> None:
        """Sets the time that a packet and its answer take together."""

    def take_counts(self) -> Counts:
        """Returns the bytes and turnarounds that crossed the link since the last call."""

    def close(self) -> None:
        """Ends the link."""


def open_link(kind: str, bandwidth: float) -> Link:
    """Opens a link of `bandwidth` bytes a second: a tunnel, a proxy, or the better one (auto)."""
    from proxy import Proxy
    from tunnel import Tunnel, why_not

    reason = None if kind == "proxy" else why_not()
    if reason is None and kind != "proxy":
        return Tunnel(bandwidth)
    if kind == "tunnel":
        sys.exit(f"no tunnel: {reason}")
    if reason is not None:
        print(
            f"the link is a proxy, without the start and windows of TCP: {reason}", file=sys.stderr
        )
    return Proxy(bandwidth)


def add_options(parser: argparse.ArgumentParser, page: Path) -> None:
    """Adds the options of benchmarks over a link, which write a page."""
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round-trips", type=float, nargs="+", default=[0, 10, 50], help="in ms")
    parser.add_argument("--bandwidth", type=float, default=10, help="of the link, in Gbit/s")
    parser.add_argument("--only", default="", help="only jobs whose names contain this")
    parser.add_argument("--limit", type=float, default=120, help="seconds that a job may take")
    parser.add_argument(
        "--link",
        choices=["auto", "tunnel", "proxy"],
        default="auto",
        help="tunnel: packets between network namespaces (needs root); proxy: a delaying process",
    )
    parser.add_argument("--output", type=Path, default=page)
