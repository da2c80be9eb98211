"""Files are read through real proxies of XRootD as from their origin."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root
from support.xrootd import Proxy, Xrootd

_ENTRIES = 20_000


@pytest.fixture(scope="module")
def events(xrootd_server: Xrootd) -> ak.Array:
    """Return the entries of the files in the folder `proxied` of the server."""
    random = np.random.default_rng(5)
    folder = xrootd_server.root / "proxied"
    folder.mkdir()
    counts = random.integers(0, 4, _ENTRIES)
    arrays = {f"x{i}": random.random(_ENTRIES) for i in range(20)} | {
        "jagged": ak.unflatten(random.random(counts.sum()).astype(np.float32), counts)
    }
    types = {name: "var * float32" if name == "jagged" else "float64" for name in arrays}
    for name in ("a", "b"):
        with uproot.recreate(folder / f"{name}.root", compression=uproot.ZSTD(1)) as file:
            for start in range(0, _ENTRIES, 2_000):
                part = {name: array[start : start + 2_000] for name, array in arrays.items()}
                if start == 0:
                    file.mktree("tree", types)
                file["tree"].extend(part)
            file.mkrntuple("ntuple", arrays)
    return ak.zip(arrays, depth_limit=1)


@pytest.fixture(scope="module")
def cache(xrootd_server: Xrootd, xrootd_folder_of_module: Path) -> Iterator[Proxy]:
    """Return a proxy with a cache in front of the server."""
    folder = xrootd_folder_of_module
    origin = f"localhost:{xrootd_server.port}"
    proxy = Proxy(origin, folder / "xcache", folder / "blocks")
    yield proxy
    proxy.close()


@pytest.fixture(scope="module")
def forward(xrootd_server: Xrootd, xrootd_folder_of_module: Path) -> Iterator[str]:
    """Return the URL of the server behind a proxy that forwards."""
    proxy = Proxy("=root,xroot", xrootd_folder_of_module / "forward")
    yield f"{proxy.url}/{xrootd_server.url}"
    proxy.close()


@pytest.fixture(params=["cache", "forward"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the URL of the server behind a proxy. What is behind it begins with a slash."""
    found = request.getfixturevalue(request.param)
    return found.url if isinstance(found, Proxy) else found


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_values(url: str, events: ak.Array, name: str) -> None:
    """Columns, entries and steps are those that uproot wrote, the first and the second time."""
    for _ in range(2):
        data = nyssa.open(f"{url}/proxied/a.root:{name}")
        assert data.file_path == f"{url}/proxied/a.root"
        columns = events.fields
        assert ak.array_equal(data.arrays(columns), events, check_parameters=False)
        some = data.arrays(["x3", "jagged"], entry_start=7_000, entry_stop=7_100)
        expected = events[["x3", "jagged"]][7_000:7_100]
        assert ak.array_equal(some, expected, check_parameters=False)
        again = pickle.loads(pickle.dumps(data))
        assert again["x1"].array(entry_stop=3).to_list() == events.x1[:3].to_list()


def test_globs_and_chains(url: str, events: ak.Array) -> None:
    """The folders of the origin are listed through the proxy, and objects are named behind them."""
    several = nyssa.chain(f"{url}/proxied/*.root:ntuple")
    assert several.num_entries == 2 * _ENTRIES
    assert ak.all(several["x5"].array() == np.tile(events.x5, 2))
    with pytest.raises(FileNotFoundError):
        nyssa.open(f"{url}/proxied/c.root:ntuple")
    with pytest.raises(nyssa.NotFoundError, match="ntupel"):
        nyssa.open(f"{url}/proxied/a.root:ntupel")


@pytest.mark.usefixtures("events")
def test_commands(url: str, tmp_path: Path) -> None:
    """Commands read through the proxy, and outputs hold the same."""

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "nyssa", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    assert "ntuple;1" in run("ls", f"{url}/proxied/a.root")
    run("convert", f"{url}/proxied/a.root:tree", str(tmp_path / "c.root"), "--verify")
    run("merge", f"{url}/proxied/*.root:ntuple", "-o", str(tmp_path / "m.root"))
    assert nyssa.open(f"{tmp_path}/m.root:ntuple").num_entries == 2 * _ENTRIES
    run("diff", f"{url}/proxied/a.root:tree", f"{tmp_path}/c.root:tree")


@pytest.mark.usefixtures("events")
def test_root_reads_the_same(url: str, root: Root) -> None:
    """ROOT's own client reads the same entries through the same proxy."""
    data = nyssa.open(f"{url}/proxied/a.root:ntuple").arrays(entry_stop=3)
    expected = root.call("entries", f"{url}/proxied/a.root", "ntuple", 17, 3)
    assert data.to_list() == [{name: entry[name] for name in data.fields} for entry in expected]
