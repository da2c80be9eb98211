"""Tests XRootD servers that die, damage or are silent: right values, or a clear error in time."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from support import faulty, xrootd
from support.faulty import Fault, Proxy
from support.xrootd import Cluster, Xrootd

_ENTRIES = 1_000_000
_COLUMNS = ("x", "y")
#: Bytes that a connection has brought when it fails: in the middle of the columns.
_MIDDLE = 5_000_000


def _numbers() -> dict[str, np.ndarray]:
    """Return random numbers, which cannot be compressed."""
    random = np.random.default_rng(1)
    return {name: random.random(_ENTRIES) for name in _COLUMNS}


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of 32 MB that uproot wrote: a TTree and an RNTuple with the same numbers."""
    if xrootd.program() is None:
        pytest.skip("no xrootd (apt-get install xrootd-server)")
    path = tmp_path_factory.mktemp("large") / "large.root"
    with uproot.recreate(path, compression=None) as file:
        file.mktree("tree", dict.fromkeys(_COLUMNS, "float64")).extend(_numbers())
        file.mkrntuple("ntuple", _numbers())
    return path


@pytest.fixture
def server(large: Path, xrootd_folder: Path) -> Iterator[Xrootd]:
    """Return a server that has the file as ``/large.root``."""
    root = xrootd_folder / "exported"
    root.mkdir()
    shutil.copy(large, root)
    server = Xrootd(root, xrootd_folder / "server")
    yield server
    server.close()


def _check(arrays: dict[str, np.ndarray], start: int = 0) -> None:
    """Compare with the numbers of these entries."""
    expected = _numbers()
    for name in _COLUMNS:
        stop = start + len(arrays[name])
        assert np.array_equal(arrays[name], expected[name][start:stop])


@pytest.mark.parametrize("name", ["tree", "ntuple"])
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(faulty.at(_MIDDLE, faulty.flip), id="a flipped bit"),
        pytest.param(faulty.at(_MIDDLE, faulty.cut), id="half an answer"),
        pytest.param(faulty.at(_MIDDLE, faulty.stop), id="a silent server"),
    ],
)
def test_a_fault_that_passes(
    server: Xrootd, fault: Fault, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails once is asked for again, on another connection."""
    monkeypatch.setenv("XRD_STREAMTIMEOUT", "1")
    proxy = Proxy(server.port, fault)
    begun = time.monotonic()
    events = nyssa.open(f"root://localhost:{proxy.port}//large.root:{name}")
    _check(events.arrays(library="np"))
    assert proxy.connections >= 2
    assert time.monotonic() - begun < 20
    proxy.close()


def test_a_fault_that_stays(server: Xrootd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that is silent on every connection is an error within the time limits."""
    monkeypatch.setenv("XRD_STREAMTIMEOUT", "1")
    monkeypatch.setenv("XRD_CONNECTIONRETRY", "2")
    # The file can be opened; no answer of many bytes comes.
    proxy = Proxy(server.port, faulty.at(700_000, faulty.stop, connections=1000))
    url = f"root://localhost:{proxy.port}//large.root"
    events = nyssa.open(f"{url}:ntuple")
    begun = time.monotonic()
    with pytest.raises(OSError, match="was silent") as caught:
        events.arrays(library="np")
    assert time.monotonic() - begun < 20
    assert f"of {url}: the server localhost:{proxy.port}: it was silent for 1 s; " in str(
        caught.value
    )
    assert "XRD_STREAMTIMEOUT sets the limit" in str(caught.value)
    proxy.close()


def test_a_server_that_dies(server: Xrootd, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not come back is an error within the time limits."""
    monkeypatch.setenv("XRD_CONNECTIONWINDOW", "2")
    events = nyssa.open(f"{server.url}/large.root:ntuple")
    steps = events.iterate(library="np", step_size="cluster")
    server.close()
    begun = time.monotonic()
    with pytest.raises(OSError, match="Connection refused") as caught:
        list(steps)
        events.arrays(library="np")
    assert time.monotonic() - begun < 20
    assert f"{server.url}/large.root: the server localhost:{server.port}: " in str(caught.value)


@pytest.mark.parametrize("replaced", ["while the server runs", "while it does not"])
def test_a_file_that_is_replaced(server: Xrootd, replaced: str) -> None:
    """Bytes of two files are never mixed: the values are the old file's, or there is an error."""
    url = f"{server.url}/large.root"
    events = nyssa.open(f"{url}:ntuple")
    _check(events.arrays(library="np", entry_stop=10) | {"y": _numbers()["y"][:10]})
    other = server.root / "other.root"
    with nyssa.recreate(other) as file:
        file["ntuple"] = {name: np.zeros(_ENTRIES) for name in _COLUMNS}
    if replaced == "while it does not":
        server.close()
    other.replace(server.root / "large.root")
    if replaced == "while the server runs":
        # The server keeps the old file for those that have opened it.
        _check(events.arrays(library="np"))
        return
    server.start()
    with pytest.raises(OSError, match="it is another file now") as caught:
        events.arrays(library="np")
    assert f" of {url}: it is another file now: on the server localhost:" in str(caught.value)


def test_a_replica_takes_over(large: Path, xrootd_folder: Path) -> None:
    """When a data server is killed in the middle of a read, the redirector names another one."""
    roots = [xrootd_folder / name for name in ("one", "two")]
    for root in roots:
        root.mkdir()
        shutil.copy(large, root)
    cluster = Cluster(roots, xrootd_folder)
    events = nyssa.open(f"{cluster.url}/large.root:tree")
    for killed in cluster.servers:
        start = 0
        for arrays in events.iterate(library="np", step_size=50_000):
            _check(arrays, start)
            if start == 0:
                killed.close()
            start += len(arrays["x"])
        assert start == _ENTRIES
        killed.start()
    cluster.close()


_SILENT_NAMES = """
import socket, sys, time
import nyssa
silent = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
silent.bind(("127.0.0.1", 53))
begun = time.monotonic()
try:
    nyssa.open(sys.argv[1])
except OSError as error:
    print(error)
assert time.monotonic() - begun < 10
"""


def _has_namespaces() -> bool:
    command = ["unshare", "--net", "--mount", "ip", "link", "set", "dev", "lo", "up"]
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        return False
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (
            "root://no.such.host.test//a.root",
            "cannot open root://no.such.host.test//a.root: the name service gave no address of "
            "no.such.host.test:1094 within 2 s; XRD_CONNECTIONWINDOW sets the limit",
        ),
        (
            "http://no.such.host.test/a.root",
            "cannot open http://no.such.host.test/a.root: the name service gave no address of "
            "the host in time",
        ),
    ],
)
def test_names_that_nobody_tells(url: str, message: str, tmp_path: Path) -> None:
    """A name service that never answers ends with the time for connections."""
    if not _has_namespaces():
        pytest.skip("network namespaces need root and the programs unshare and ip")
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    (tmp_path / "script.py").write_text(_SILENT_NAMES)
    shell = (
        f"ip link set dev lo up && mount --bind {tmp_path}/resolv.conf /etc/resolv.conf && "
        f"exec {sys.executable} {tmp_path}/script.py {url}"
    )
    limits = {
        "XRD_CONNECTIONWINDOW": "2",
        "NYSSA_HTTP_CONNECT_TIMEOUT": "2",
        "NYSSA_HTTP_DEADLINE": "3",
    }
    ran = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", shell],
        env={**os.environ, **limits},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == f"{message}\n"
