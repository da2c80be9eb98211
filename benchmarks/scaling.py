"""Compares the model of `nyssa campaign estimate` with what is measured on one machine.

First, many clients fetch from a server behind a link with a bandwidth that they share, and sleep as
long as they would compute, so that this machine needs few cores. Then campaigns on one and two
workers convert files from a server of XRootD behind such a link; the model takes what a task needs
from the journal of a campaign without a limit, and the bytes that crossed the link. Two tables for
docs/scaling.md are printed.
"""

from __future__ import annotations

import argparse
import http.server
import os
import statistics
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from random import Random

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "remote")]

import server  # noqa: E402
from proxy import Proxy  # noqa: E402

import run  # noqa: E402

#: Workers of the campaigns.
WORKERS = (1, 2)
#: Clients, the bytes that each fetches, the seconds that it then sleeps, and their link.
PROCESSES, BODY, COMPUTE, LINK = (1, 2, 4, 8, 16, 32), 1_000_000, 0.5, 10e6
#: Seconds before tasks are counted.
WARM_UP = 2.0
#: Bandwidth of a link without a limit, in bytes per second.
FREE = 10e9


def clients(link: Proxy, processes: int, seconds: float) -> float:
    """Returns the tasks per second of clients that fetch and sleep."""
    body = bytes(BODY)

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(BODY))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    origin = http.server.ThreadingHTTPServer(("localhost", 0), Handler)
    threading.Thread(target=origin.serve_forever, daemon=True).start()
    url = f"http://{link.connect(origin.server_port)}/"
    begin = time.monotonic() + WARM_UP
    end = begin + seconds
    done = [0] * processes

    def work(number: int) -> None:
        random = Random(number)
        while time.monotonic() < end:
            with urllib.request.urlopen(url) as answer:
                answer.read()
            time.sleep(random.uniform(0, 2 * COMPUTE))
            done[number] += begin <= time.monotonic() < end

    threads = [threading.Thread(target=work, args=(number,)) for number in range(processes)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    origin.shutdown()
    return sum(done) / seconds


def compare_clients(seconds: float) -> None:
    """Prints the table of clients that fetch and sleep."""
    from nyssa.campaign.scaling import Site, Work, scaling

    compute = COMPUTE
    print("| processes | measured, tasks/s | model | error |")
    print("|---|---|---|---|")
    for processes in PROCESSES:
        link = Proxy(LINK)
        try:
            found = clients(link, processes, seconds)
        finally:
            link.close()
        if processes == 1:
            # What a task takes alone is measured; the model says what happens to many.
            compute = 1 / found - BODY / LINK
        work = Work(BODY, compute, BODY)
        site = Site(processes=processes, server_bandwidth=LINK, scheduler_seconds=0.0)
        expected = scaling(work, site, [1]).points[0].tasks_per_second
        print(f"| {processes} | {found:.2f} | {expected:.2f} | {expected / found - 1:+.0%} |")


def campaign_of(names: list[str], place: str, workers: int) -> tuple[float, float, list]:
    """Runs a campaign; returns its seconds, the seconds of workers per task, and the records."""
    from nyssa import campaign
    from nyssa.campaign.journal import read_of
    from nyssa.campaign.workers import connect

    inputs = [f"root://{place}//{name}" for name in names]
    with tempfile.TemporaryDirectory(dir=run.BUILD) as folder, connect(workers=workers) as client:
        # What a process does once, such as imports, is no part of the model.
        client.run(lambda: __import__("nyssa.campaign.task"))
        report = campaign.convert(inputs, folder, client=client, quiet=True, verify=False)
        if report.failed:
            sys.exit(f"failed: {report.failed[0].error}")
        _, found = read_of(folder)
        records = list(found.records.values())
    begin = min(one.begin for one in records)
    seconds = max(one.begin + one.seconds for one in records) - begin
    return seconds, sum(one.seconds for one in records) / len(records), records


def main() -> None:
    """Runs the campaigns and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=20_000, help="of each file")
    parser.add_argument("--files", type=int, default=6)
    parser.add_argument("--bandwidths", type=float, nargs="+", default=[10, 20, 40], help="in MB/s")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=30, help="of each number of clients")
    arguments = parser.parse_args()
    if arguments.seconds > 0:
        compare_clients(arguments.seconds)
    from nyssa.campaign.scaling import Site, Work, scaling

    run.BUILD.mkdir(parents=True, exist_ok=True)
    first = run.BUILD / f"nanoaod-{arguments.entries}.root"
    if not first.exists():
        run.make_data(first, arguments.entries)
    files = [run.BUILD / f"scaling-{number}.root" for number in range(arguments.files)]
    for path in files:
        path.unlink(missing_ok=True)
        path.hardlink_to(first)
    names = [path.name for path in files]
    size = first.stat().st_size
    measured: dict[tuple[float, int], list[float]] = {}
    task: dict[int, list[float]] = {one: [] for one in WORKERS}
    moved: list[float] = []
    for round_ in range(arguments.rounds):
        for bandwidth in [FREE / 1e6, *arguments.bandwidths]:
            link = Proxy(bandwidth * 1e6)
            try:
                with server.xrootd(files, link) as place:
                    for workers in WORKERS:
                        link.take_counts()
                        seconds, each, records = campaign_of(names, place, workers)
                        down = link.take_counts().down
                        cpu = sum(one.cpu_seconds for one in records)
                        print(
                            f"round {round_ + 1}: {bandwidth:g} MB/s, {workers} workers: "
                            f"{seconds:.2f} s, {down / 1e6:.1f} MB, {cpu:.2f} s of CPU, "
                            f"load {os.getloadavg()[0]:.1f}",
                            file=sys.stderr,
                        )
                        measured.setdefault((bandwidth, workers), []).append(seconds)
                        if bandwidth == FREE / 1e6:
                            task[workers].append(each)
                            moved.append(down / len(names))
            finally:
                link.close()
    bytes_moved = statistics.median(moved)
    print("| link | workers | measured | model, no overlap | error | model, overlap | error |")
    print("|---|---|---|---|---|---|---|")
    for (bandwidth, workers), seconds in measured.items():
        if bandwidth == FREE / 1e6:
            continue
        rate = len(names) * size / statistics.median(seconds) / 1e6
        cells = []
        for overlap in (0.0, 1.0):
            work = Work(size, statistics.median(task[workers]), bytes_moved)
            site = Site(processes=workers, server_bandwidth=bandwidth * 1e6, overlap=overlap)
            expected = scaling(work, site, [1]).points[0].rate / 1e6
            cells += [f"{expected:.1f} MB/s", f"{expected / rate - 1:+.0%}"]
        print(f"| {bandwidth:g} MB/s | {workers} | {rate:.1f} MB/s | {' | '.join(cells)} |")
    for path in files:
        path.unlink()


if __name__ == "__main__":
    main()
