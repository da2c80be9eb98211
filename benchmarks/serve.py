"""Compares `nyssa serve` with nginx on this machine: small ranges, and whole files.

Needs the programs nginx, wrk and curl. Prints a table for docs/serve.md. Servers take turns, and
the numbers are medians of the rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

#: Size of the file, and of a small range.
FILE, RANGE = 512 << 20, 16 << 10
#: Connections of the small ranges, and seconds that they are asked for.
CONNECTIONS, SECONDS = 16, 3


def cpu_seconds(process: int) -> float:
    """Returns the CPU time of a process and of those that it has started."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rsplit(")", 1)[1].split()
            if int(path.parent.name) == process or int(fields[1]) == process:
                ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def nyssa(command: list[str], folder: Path) -> Iterator[tuple[str, int]]:
    """Runs `nyssa serve`; gives its URL and its process."""
    command = [*command, "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip(), process.pid
        process.terminate()


@contextlib.contextmanager
def nginx(folder: Path) -> Iterator[tuple[str, int]]:
    """Runs nginx with two workers and sendfile; gives its URL and its process."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
        probe.close()
        config = Path(name) / "nginx.conf"
        user = "user root;" if os.getuid() == 0 else ""
        config.write_text(
            f"{user} daemon off; worker_processes 2; error_log {name}/error; pid {name}/pid;"
            " events {worker_connections 1024;} http {access_log off; sendfile on; tcp_nopush on;"
            f" keepalive_requests 100000000; server {{listen 127.0.0.1:{port}; root {folder};}} }}"
        )
        path = f"{os.environ.get('PATH', '')}:/usr/sbin"
        command = ["nginx", "-p", name, "-c", str(config)]
        with subprocess.Popen(command, env={**os.environ, "PATH": path}) as process:
            time.sleep(0.5)
            yield f"http://127.0.0.1:{port}/", process.pid
            process.terminate()


def small_ranges(url: str, process: int) -> dict[str, float]:
    """Returns requests per second, and the CPU time of the server for each."""
    header = f"Range: bytes={FILE // 3}-{FILE // 3 + RANGE - 1}"
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "-H", header, f"{url}file"]
    before = cpu_seconds(process)
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    used = cpu_seconds(process) - before
    found = re.search(r"(\d+) requests in", text)
    if found is None or "Non-2xx" in text:
        sys.exit(text)
    count = int(found[1])
    return {
        "requests/s": count / SECONDS,
        "CPU of the server for a request [us]": used / count * 1e6,
    }


def whole_file(url: str, process: int) -> dict[str, float]:
    """Returns the rate of the whole file, and the CPU time of the server for a GB."""
    before, begin = cpu_seconds(process), time.perf_counter()
    subprocess.run(["curl", "-s", "-o", "/dev/null", f"{url}file"], check=True)
    seconds, used = time.perf_counter() - begin, cpu_seconds(process) - before
    return {
        "MB/s of a whole file": FILE / seconds / 1e6,
        "CPU of the server for a GB [s]": used / FILE * 1e9,
    }


def main() -> None:
    """Runs the benchmark and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    command = [sys.executable, "-m", "nyssa"]
    parser.add_argument("--command", nargs="+", default=command, help="the command line of nyssa")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    found: dict[str, dict[str, list[float]]] = {"nyssa serve": {}, "nginx": {}}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "file").write_bytes(os.urandom(1 << 20) * (FILE >> 20))
        for _ in range(arguments.rounds):
            for server, start in (
                ("nyssa serve", nyssa(arguments.command, folder)),
                ("nginx", nginx(folder)),
            ):
                with start as (url, process):
                    for numbers in (small_ranges(url, process), whole_file(url, process)):
                        for what, number in numbers.items():
                            found[server].setdefault(what, []).append(number)
    print("| | nyssa serve | nginx |\n|---|---|---|")
    for what in found["nginx"]:
        medians = [statistics.median(found[server][what]) for server in found]
        print(f"| {what} | {medians[0]:.3g} | {medians[1]:.3g} |")


if __name__ == "__main__":
    main()
