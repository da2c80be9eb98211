"""Tests faults between a real web server and nyssa: right values, or a clear error in time."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import nyssa
from support import faulty, nginx
from support.faulty import Fault, Proxy
from support.nginx import Nginx

_ENTRIES = 600_000
#: Bytes that a connection has brought when it fails: in the middle of its first range of columns.
_MIDDLE = 300_000
_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


def _numbers() -> dict[str, np.ndarray]:
    """Return random numbers, which cannot be compressed."""
    random = np.random.default_rng(1)
    return {name: random.random(_ENTRIES) for name in "xy"}


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Nginx]:
    """Return a server that has the file as ``/large.root``; nyssa is impatient."""
    if nginx.program() is None:
        pytest.skip("no nginx (apt-get install nginx-light)")
    monkeypatch.setenv("NYSSA_HTTP_TIMEOUT", "1")
    monkeypatch.setenv("NYSSA_HTTP_DEADLINE", "4")
    root = tmp_path / "root"
    root.mkdir()
    with nyssa.recreate(root / "large.root", compression=None) as file:
        file["t"] = _numbers()
    server = Nginx(root, tmp_path)
    yield server
    server.close()


def _port(web: Nginx) -> int:
    return int(web.url.rsplit(":", 1)[1])


def _busy(number: int, before: int, data: bytes) -> bytes:
    """Answer the first requests of the first connections with 503."""
    return _BUSY if number < 3 and before == 0 else data


def _longer(_number: int, _before: int, data: bytes) -> bytes:
    """State more bytes than were requested."""
    return re.sub(rb"Content-Length: (\d{6,})", rb"Content-Length: 1\1", data)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(faulty.at(_MIDDLE, faulty.cut), id="half an answer"),
        pytest.param(faulty.at(_MIDDLE, faulty.cut, connections=1000), id="half of each answer"),
        pytest.param(faulty.at(_MIDDLE, faulty.stop), id="a silent server"),
        pytest.param(_busy, id="503, then 200"),
    ],
)
def test_a_fault_that_passes(web: Nginx, fault: Fault) -> None:
    proxy = Proxy(_port(web), fault)
    arrays = nyssa.open(f"http://localhost:{proxy.port}/large.root:t").arrays(library="np")
    assert all(np.array_equal(arrays[name], values) for name, values in _numbers().items())
    proxy.close()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        pytest.param(
            faulty.at(_MIDDLE, faulty.flip, connections=1000),
            "page checksum is .* is stored: the file is damaged here",
            id="a flipped bit",
        ),
        pytest.param(
            _longer,
            "the server sends .* bytes instead of the .* bytes of its Content-Range; 4 requests",
            id="a wrong length",
        ),
    ],
)
def test_a_fault_that_stays(web: Nginx, fault: Fault, message: str) -> None:
    proxy = Proxy(_port(web), fault)
    url = f"http://localhost:{proxy.port}/large.root"
    begun = time.monotonic()
    with pytest.raises(OSError, match=message) as caught:
        nyssa.open(f"{url}:t").arrays(library="np")
    assert url in str(caught.value)
    assert time.monotonic() - begun < 20
    proxy.close()


def test_a_server_that_dies(web: Nginx) -> None:
    events = nyssa.open(f"{web.url}/large.root:t")
    steps = events.iterate(library="np", step_size=1000)
    next(steps)
    web.close()
    begun = time.monotonic()
    with pytest.raises(OSError, match="the host refuses connections; all requests in") as caught:
        events.arrays(library="np")
    assert f" of {web.url}/large.root: " in str(caught.value)
    assert time.monotonic() - begun < 20
