"""Compares what `nyssa trace replay` predicts with real runs over a link.

Each job is recorded once on the local file. Its recording is replayed over a simulated link, and
the job runs over the real link, with servers of XRootD and HTTP. All times are the shortest of the
rounds: what else the machine does makes them longer. The table is for docs/io.md.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import link as links  # noqa: E402
import server  # noqa: E402
from files import largest_columns, make_files  # noqa: E402
from report import row  # noqa: E402
from tunnel import Tunnel  # noqa: E402

from remote import measure  # noqa: E402

SERVERS = {"root": server.xrootd, "http": server.nginx}
SLASHES = {"root": "//", "http": "/"}
#: The part of the time of a run by which a good prediction may be wrong.
NEAR = 0.2


def replayed(command: list[str]) -> dict:
    """Runs a replay and returns what it says."""
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def main() -> None:
    """Runs all jobs and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    links.add_options(parser, Path("/dev/stdout"))
    parser.add_argument("--protocols", nargs="+", choices=SERVERS, default=list(SERVERS))
    command = [sys.executable, "-m", "nyssa"]
    parser.add_argument("--command", nargs="+", default=command, help="the command line of nyssa")
    parser.set_defaults(bandwidth=0.4, round_trips=[10, 50])
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))
    files = make_files(arguments.entries)
    names = largest_columns(files["ntuple"], 50)
    jobs = {
        f"{kind}, {count} columns": (path, names[:count])
        for kind, path in (("RNTuple", files["ntuple"]), ("TTree", files["tree"]))
        for count in (5, 50)
        if arguments.only in kind
    }
    script = [sys.executable, "-W", "ignore", str(HERE / "jobs.py"), "nyssa_columns"]
    bandwidth = arguments.bandwidth * 1e9 / 8
    link = links.open_link(arguments.link, bandwidth)
    # Behind a proxy, TCP has no delay.
    has_windows = isinstance(link, Tunnel)
    lines, near = [], 0
    try:
        with tempfile.TemporaryDirectory(prefix="nyssa-traces-") as folder:
            traces = {}
            for name, (path, columns) in jobs.items():
                recorded = {}
                for number in range(max(2, arguments.rounds)):
                    trace = f"{folder}/{path.name}-{len(columns)}-{number}.jsonl"
                    job = [*script, str(path), *columns]
                    found = measure(job, arguments.limit, {"NYSSA_BENCH_RECORD": trace})
                    if found:
                        recorded[found["seconds"]] = trace
                traces[name] = recorded[min(recorded)]
            for kind in arguments.protocols:
                with SERVERS[kind](list(files.values()), link) as place:
                    for ms in arguments.round_trips:
                        link.set_round_trip(ms / 1e3)
                        for name, (path, columns) in jobs.items():
                            url = f"{kind}://{place}{SLASHES[kind]}{path.name}"
                            replay = [*arguments.command, "trace", "replay", traces[name]]
                            replay += ["--json", "--link-latency", f"{ms}ms"]
                            replay += ["--link-bandwidth", str(int(bandwidth))]
                            replay += ["--link-protocol", kind if has_windows else "ideal"]
                            job = link.client_command([*script, url, *columns])
                            pairs = [
                                (replayed(replay), measure(job, arguments.limit))
                                for _ in range(arguments.rounds)
                            ]
                            predicted, real = (
                                min(one["seconds"] for one in of if one)
                                for of in zip(*pairs, strict=True)
                            )
                            cells = [name, kind, f"{ms:g} ms", f"{predicted:.2f} s"]
                            cells += [f"{real:.2f} s", f"{predicted / real:.2f}"]
                            lines.append(row(cells))
                            near += abs(predicted / real - 1) <= NEAR
                            print(lines[-1], file=sys.stderr)
    finally:
        link.close()
    head = ["job", "protocol", "round trip", "predicted", "measured", "predicted / measured"]
    print("\n".join([row(head), row(["---"] * len(head)), *lines]))
    print(f"\n{near} of {len(lines)} predictions are within {NEAR:.0%} of the run")


if __name__ == "__main__":
    main()
