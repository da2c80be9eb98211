"""Tests reading through a real proxy, squid, with the rules that it comes with."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import squid
from support.data import TESTDATA
from support.nginx import TLS, Nginx
from support.squid import Squid

_FILE = "testdata/rntuple/codec-zstd.root"


@pytest.fixture
def proxy(web: Nginx) -> Iterator[Squid]:
    """Return a proxy, in a folder of its own user, or skip."""
    if squid.program() is None:
        pytest.skip("no squid (apt-get install squid)")
    with tempfile.TemporaryDirectory(prefix="nyssa-squid-") as folder:
        proxy = Squid(Path(folder), int(web.secure_url.rpartition(":")[2]))
        yield proxy
        proxy.close()


def _ls(url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nyssa", "digest", f"{url}:ntpl"]
    free = {name: value for name, value in os.environ.items() if name.lower() != "no_proxy"}
    environment = {**free, **environment}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def _digest(done: subprocess.CompletedProcess[str]) -> str:
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0]


def test_http_is_forwarded_and_https_has_a_tunnel(web: Nginx, proxy: Squid) -> None:
    """The proxy sees the URLs of http, and refuses no request: a tunnel is for https only."""
    expected = _digest(_ls(str(TESTDATA.parent / _FILE)))
    assert _digest(_ls(f"{web.url}/{_FILE}", http_proxy=proxy.url)) == expected
    trusted = {"SSL_CERT_FILE": str(TLS / "authority.pem")}
    done = _ls(f"{web.secure_url}/{_FILE}", https_proxy=proxy.url, **trusted)
    assert _digest(done) == expected
    missing = _ls(f"{web.url}/no.root", http_proxy=proxy.url)
    place = proxy.url.removeprefix("http://")
    assert f"404 Not Found (the answer comes through the proxy {place})" in missing.stderr
    requests = set(proxy.requests())
    host = web.secure_url.removeprefix("https://")
    assert requests == {
        ("GET", f"{web.url}/{_FILE}"),
        ("GET", f"{web.url}/no.root"),
        ("CONNECT", host),
    }
