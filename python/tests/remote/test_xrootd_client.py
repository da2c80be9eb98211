"""Servers that ask for a login that nyssa has not built in are read by XRootD's own client."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from support import realm, xrootd
from support.data import TESTDATA
from support.grid import Grid
from support.realm import Realm
from support.xrootd import Xrootd

_FILE = "rntuple/structures.root"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """Return a folder that the user of servers reaches; or skip."""
    if xrootd.program() is None:
        pytest.skip("no xrootd (apt-get install xrootd-server)")
    with tempfile.TemporaryDirectory(prefix="nyssa-xrootd-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture(scope="module")
def grid(folder: Path) -> Grid:
    """Return the certificates, or skip where there is no openssl."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl")
    (folder / "grid").mkdir()
    return Grid(folder / "grid")


@pytest.fixture(scope="module")
def gsi(grid: Grid, folder: Path) -> Iterator[Xrootd]:
    """Return a server that asks for gsi."""
    root = folder / "exported"
    shutil.copytree(TESTDATA, root / "testdata")
    with nyssa.recreate(root / "large.root") as file:
        file["ntuple"] = _values()
    xrootd.give_to_server(grid.host_key)
    config = (
        "xrootd.seclib libXrdSec.so\n"
        f"sec.protocol gsi -certdir:{grid.authorities} -cert:{grid.host} -key:{grid.host_key} "
        "-crl:0 -gmapopt:10\n"
        "sec.protbind * only gsi\n"
    )
    server = Xrootd(root, folder / "gsi", config)
    yield server
    server.close()


@pytest.fixture(scope="module")
def krb5(folder: Path) -> Iterator[tuple[Xrootd, Realm]]:
    """Return a server that asks for krb5, and the realm of its users; or skip."""
    if not realm.is_installed():
        pytest.skip("no Kerberos (apt-get install krb5-kdc krb5-admin-server krb5-user)")
    users = Realm(folder / "realm")
    config = (
        "xrootd.seclib libXrdSec.so\n"
        f"sec.protocol krb5 {users.keytab} {users.service}\nsec.protbind * only krb5\n"
    )
    root = folder / "of-krb5"
    root.mkdir()
    shutil.copy(TESTDATA / _FILE, root)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in users.environment.items():
            patch.setenv(name, value)
        server = Xrootd(root, folder / "krb5", config)
    yield server, users
    server.close()
    users.close()


@pytest.fixture
def official(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Skip where XRootD's own client is not installed; show the proxy, where there is one."""
    pytest.importorskip("XRootD.client", reason="no XRootD's own client (pip install xrootd)")
    if "gsi" in request.fixturenames:
        grid = request.getfixturevalue("grid")
        monkeypatch.setenv("X509_CERT_DIR", str(grid.authorities))
        monkeypatch.setenv("X509_USER_PROXY", str(grid.proxy))


def _values() -> dict[str, object]:
    random = np.random.default_rng(1)
    counts = random.integers(0, 5, 400_000)
    columns: dict[str, object] = {f"x{i}": random.random(400_000) for i in range(6)}
    return columns | {"jagged": ak.unflatten(random.random(counts.sum()), counts)}


def _place(server: Xrootd) -> str:
    return server.url.removeprefix("root://").rstrip("/")


def _asks(server: Xrootd, method: str = "gsi") -> str:
    return f"the server {_place(server)} asks for {method}, which nyssa does not support"


_INSTALL = "install nyssa[xrootd], and nyssa uses XRootD's own client for it"
_RUN = "import sys, nyssa\ntry: nyssa.open(sys.argv[1])\nexcept PermissionError as e: print(e)"


def _error(url: str, without: bool, **environment: str) -> str:
    """Return the error of a new process, `without` XRootD's own client or with it."""
    hidden = "import sys; sys.modules['XRootD'] = None\n" if without else ""
    command = [sys.executable, "-c", hidden + _RUN, url]
    environment = {**os.environ, **environment}
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_without_the_client(gsi: Xrootd) -> None:
    """The error names the method and what to install."""
    url = f"{gsi.url}/large.root"
    expected = f"cannot open {url}: {_asks(gsi)}; {_INSTALL}"
    assert _error(url, without=True) == expected


@pytest.mark.usefixtures("official")
def test_without_credentials(gsi: Xrootd) -> None:
    """The error tells what nyssa lacks, and what XRootD's own client says."""
    url = f"{gsi.url}/large.root"
    text = _error(url, without=False, X509_USER_PROXY="/none", HOME="/none")
    said = "XRootD's own client says: Auth failed: No protocols left to try"
    assert text == f"cannot open {url}: {_asks(gsi)}; {said}"


@pytest.mark.usefixtures("official")
def test_values(gsi: Xrootd) -> None:
    """Columns, ranges of entries and lists are as in the local file."""
    events = nyssa.open(f"{gsi.url}/large.root:ntuple")
    expected = _values()
    assert ak.array_equal(events.arrays(), ak.Array(expected), check_parameters=False)
    some = events.arrays(["x3"], entry_start=30_000, entry_stop=30_100, library="np")["x3"]
    assert np.array_equal(some, expected["x3"][30_000:30_100])  # type: ignore[index]
    names = sorted(path.name for path in (TESTDATA / "rntuple").glob("codec-z*.root"))
    folder = f"{gsi.url}/testdata/rntuple"
    many = nyssa.chain(f"{folder}/codec-z*.root:ntpl")
    assert [file for file, _, _ in many.files] == [f"{folder}/{name}" for name in names]


@pytest.mark.usefixtures("official")
def test_kerberos(krb5: tuple[Xrootd, Realm]) -> None:
    """A ticket opens the file; without it, or without the client, the error says so."""
    server, users = krb5
    url = f"{server.url}/{Path(_FILE).name}"
    script = "import sys, nyssa; print(nyssa.open(sys.argv[1]).keys())"
    done = subprocess.run(
        [sys.executable, "-c", script, url],
        env={**os.environ, **users.environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.strip() == str(nyssa.open(TESTDATA / _FILE).keys()), done.stderr
    none = {**users.environment, "KRB5CCNAME": "FILE:/none"}
    failed = f"cannot open {url}: {_asks(server, 'krb5')}; "
    said = "XRootD's own client says: Auth failed: No protocols left to try"
    assert _error(url, without=False, **none) == failed + said
    assert _error(url, without=True, **users.environment) == failed + _INSTALL


@pytest.mark.usefixtures("official")
def test_missing(gsi: Xrootd) -> None:
    """What is not there is an error that Python knows."""
    url = f"{gsi.url}/missing.root?authz=secret"
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open(url)
    assert str(caught.value) == (
        f"cannot open {gsi.url}/missing.root?...: XRootD's own client says: Server responded with "
        "an error: [3011] Unable to open /missing.root; no such file or directory"
    )


@pytest.mark.usefixtures("official")
def test_output(gsi: Xrootd) -> None:
    """Files are written, and seen when they are complete."""
    url, path = f"{gsi.url}/new/written.root", gsi.root / "new/written.root"
    with nyssa.recreate(url) as file:
        file["ntuple"] = {"x": np.arange(1000)}
        assert not path.exists()
    assert nyssa.open(f"{path}:ntuple").num_entries == 1000
    with pytest.raises(FileExistsError) as caught:
        nyssa.recreate(url, force=False)
    expected = f"cannot create {url}: it exists already; force=True replaces it"
    assert str(caught.value) == expected
    nyssa.rewrite(f"{gsi.url}/large.root:ntuple", url, include=["x0"], force=True, verify=True)
    assert nyssa.open(f"{path}:ntuple").keys() == ["x0"]
    assert os.listdir(path.parent) == ["written.root"]


def _first(url: str) -> str:
    try:
        return str(nyssa.open(url).arrays(["x0"], entry_stop=1, library="np")["x0"][0])
    except OSError as error:
        return str(error)


@pytest.mark.usefixtures("official")
def test_other_processes(gsi: Xrootd) -> None:
    """Processes that are spawned read by themselves; a fork says that it cannot."""
    url = f"{gsi.url}/large.root:ntuple"
    expected = _first(url)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_first, [url]) == [expected]
    why = (
        "XRootD's own client was used before this process was forked, and cannot be used after "
        'that; start processes by multiprocessing.get_context("spawn")'
    )
    read, write = os.pipe()
    if (child := os.fork()) == 0:
        os.write(write, _first(url).encode())
        os._exit(0)
    os.close(write)
    assert os.read(read, 10_000).decode() == f"cannot open {gsi.url}/large.root: {why}"
    assert os.waitpid(child, 0)[1] == 0
    assert _first(url) == expected


@pytest.mark.usefixtures("official")
def test_the_choice_can_be_fixed(xrootd_server: Xrootd, monkeypatch: pytest.MonkeyPatch) -> None:
    """NYSSA_XROOTD_CLIENT names the client."""
    url = f"{xrootd_server.url}/testdata/{_FILE}"
    keys = nyssa.open(url).keys()
    monkeypatch.setenv("NYSSA_XROOTD_CLIENT", "official")
    assert nyssa.open(url).keys() == keys
    with pytest.raises(FileNotFoundError, match="XRootD's own client says: "):
        nyssa.open(f"{xrootd_server.url}/missing.root")
    monkeypatch.setenv("NYSSA_XROOTD_CLIENT", "other")
    with pytest.raises(nyssa.errors.ArgumentError) as caught:
        nyssa.open(url)
    assert str(caught.value) == (
        f'cannot open {url}: the environment variable NYSSA_XROOTD_CLIENT is "other"; it can be '
        "nyssa or official"
    )


@pytest.mark.usefixtures("official")
def test_signed_requests(folder: Path) -> None:
    """A server that wants every request to be signed is read by XRootD's own client."""
    root = folder / "signed"
    root.mkdir()
    shutil.copy(TESTDATA / _FILE, root)
    config = (
        "xrootd.seclib libXrdSec.so\nsec.protocol unix\nsec.protbind * only unix\n"
        "sec.level all relaxed pedantic force\n"
    )
    server = Xrootd(root, folder / "signing", config)
    name = TESTDATA / _FILE
    try:
        assert nyssa.open(f"{server.url}/{name.name}").keys() == nyssa.open(name).keys()
        url = f"{server.url}/{name.name}"
        expected = (
            f"cannot open {url}: the server {_place(server)} wants signed requests, which nyssa "
        )
        assert _error(url, without=True) == f"{expected}does not support; {_INSTALL}"
    finally:
        server.close()
