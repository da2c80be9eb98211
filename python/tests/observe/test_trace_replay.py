"""A replay over a simulated link, and a run over such a link, take the time that the link needs.

How near the prediction is to the run is measured by ``benchmarks/remote/predict.py``.
"""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from support import nginx
from support.data import REPOSITORY

#: The link between two network namespaces, and servers at its far end.
LINKS = REPOSITORY / "benchmarks" / "remote"
#: Bytes a second, and the round trip in ms: so slow that the processor has little to do.
BANDWIDTH, ROUND_TRIP = 6_000_000, 50
#: Reads once from the local file, so that everything is imported, and then over the link.
READ = """
import sys, time, nyssa
for place in sys.argv[1:]:
    start = time.perf_counter()
    nyssa.open(place).arrays(["x", "y"], threads=1)
    seconds = time.perf_counter() - start
print(seconds)
"""


def _benchmark_module(name: str) -> Any:
    """Import a module of the benchmarks."""
    sys.path.append(str(LINKS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(LINKS))


@pytest.fixture(scope="module")
def link() -> Iterator[Any]:
    """Return a link, if the machine allows to make one."""
    tunnel = _benchmark_module("tunnel")
    if reason := tunnel.why_not():
        pytest.skip(f"no tunnel between network namespaces: {reason}")
    made = tunnel.Tunnel(BANDWIDTH)
    made.set_round_trip(ROUND_TRIP / 1e3)
    yield made
    made.close()


@pytest.fixture(scope="module")
def file() -> Iterator[Path]:
    """Return a file of 16 MB, of which half is read. A server that runs as nobody can read it."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        path = Path(name) / "file.root"
        rng = np.random.default_rng(1)
        with nyssa.recreate(path, cluster_size="2 MB") as out:
            columns = {one: rng.random(1_000_000, dtype="float32") for one in "xyzw"}
            out.mkrntuple("events", dict.fromkeys(columns, "float32")).extend(columns)
        yield path


@pytest.mark.parametrize("protocol", ["root", "http"])
def test_the_time_over_a_link(link: Any, file: Path, tmp_path: Path, protocol: str) -> None:
    """The recording is of the local file."""
    if protocol == "root" and shutil.which("xrootd") is None:
        pytest.skip("no xrootd (apt-get install xrootd-server)")
    if protocol == "http" and nginx.program() is None:
        pytest.skip("no nginx (apt-get install nginx-light)")
    server = _benchmark_module("server")
    start = {"root": server.xrootd, "http": server.nginx}[protocol]
    with start([file], link) as place:
        url = f"{protocol}://{place}/{'/' * (protocol == 'root')}{file.name}:events"
        real = link.client_command([sys.executable, "-c", READ, f"{file}:events", url])
        done = subprocess.run(real, check=True, capture_output=True, timeout=60)
    replayed = _replayed(file, tmp_path / "trace.jsonl", protocol)
    (warning,) = replayed["warnings"]
    assert warning.startswith("1 of 1 opened files were local ")
    moved = replayed["io"]["bytes_read"] + replayed["io"]["bytes_readv"]
    assert moved > 6_000_000
    # The bytes come after a round trip of the connection and one of the request.
    least = moved / BANDWIDTH + 2 * ROUND_TRIP / 1e3
    assert float(done.stdout) > least
    assert replayed["seconds"] > least


def test_the_time_of_work_around_the_reads(tmp_path: Path) -> None:
    """The job works before its first read and after its last one, for 0.3 s each."""
    file, trace = tmp_path / "file.root", tmp_path / "trace.jsonl"
    with nyssa.recreate(file) as out:
        out.mkrntuple("events", {"x": "float32"}).extend({"x": np.arange(100, dtype="float32")})
    with nyssa.record(trace):
        start = time.perf_counter()
        time.sleep(0.3)
        nyssa.open(f"{file}:events").arrays(["x"])
        time.sleep(0.3)
        seconds = time.perf_counter() - start
    replayed = _replay(trace, "--link-latency", "1ms")
    assert replayed["recorded_seconds"] >= seconds
    assert replayed["seconds"] > 0.6
    assert len(replayed["warnings"]) == 1


def _replay(trace: Path, *options: str) -> dict[str, Any]:
    """Return what a replay says."""
    command = [sys.executable, "-m", "nyssa", "trace", "replay", str(trace), "--json", *options]
    ran = subprocess.run(command, check=True, capture_output=True)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def _replayed(file: Path, trace: Path, protocol: str) -> dict[str, Any]:
    """Return what the recorded reads of the local file take over the link."""
    nyssa.open(f"{file}:events").arrays(["x", "y"], threads=1)
    with nyssa.record(trace):
        nyssa.open(f"{file}:events").arrays(["x", "y"], threads=1)
    link = ["--link-latency", f"{ROUND_TRIP}ms", "--link-bandwidth", str(BANDWIDTH)]
    return _replay(trace, *link, "--link-protocol", protocol)
