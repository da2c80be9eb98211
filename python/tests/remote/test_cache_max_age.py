"""Files that are opened from the cache without asking their servers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.nginx import Nginx
from support.written import write_both
from support.xrootd import Xrootd

_ENTRIES = 20_000


def _arrays(seed: int) -> dict[str, np.ndarray | ak.Array]:
    random = np.random.default_rng(seed)
    counts = random.integers(0, 5, _ENTRIES)
    return {
        **{f"x{i}": random.integers(0, 1000, _ENTRIES) for i in range(6)},
        "jagged": ak.unflatten(random.random(counts.sum()).astype(np.float32), counts),
    }


@pytest.fixture(scope="module")
def file(web: Nginx) -> Path:
    """Return a file of the web server with an RNTuple and a TTree, written by uproot."""
    folder = web.root / "aged"
    folder.mkdir()
    write_both(folder / "file.root", _arrays(1), 5)
    return folder / "file.root"


def _requests(web: Nginx, work: Callable[[], object]) -> list[str]:
    """Return what the web server is asked for while `work` runs."""
    before = len(web.requests())
    work()
    return [line for line in web.requests()[before:] if "/mark-" not in line]


@pytest.mark.parametrize("name", ["tree", "ntuple"])
@pytest.mark.parametrize("protocol", ["http", "s3", "root"])
def test_a_warm_read_asks_for_nothing(
    web: Nginx,
    file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
    protocol: str,
    name: str,
) -> None:
    """The second reader gets the values without a connection; the counters say so."""
    url = f"{web.url}/aged/file.root"
    if protocol == "s3":
        # A request for an object is a request for its path, with a signature.
        url = "s3://aged/file.root"
        monkeypatch.setenv("AWS_ENDPOINT_URL", web.url)
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    if protocol == "root":
        server: Xrootd = request.getfixturevalue("xrootd_server")
        (server.root / "aged.root").write_bytes(file.read_bytes())
        url = f"{server.url}/aged.root"
    expected = uproot.open(file)[name].arrays()
    options = {"cache": tmp_path / "cache", "cache_max_age": "1h"}

    def read() -> nyssa.Dataset:
        events = nyssa.open(f"{url}:{name}", **options)
        assert ak.array_equal(events.arrays(), expected, check_parameters=False)
        return events

    assert read().io_stats().open_files == 1
    warm: list[nyssa.Dataset] = []
    assert _requests(web, lambda: warm.append(read())) == []
    stats = warm[0].io_stats()
    assert (stats.open_files, stats.round_trips, stats.hit_rate) == (0, 0, 1.0)
    copy = pickle.loads(pickle.dumps(warm[0]))
    assert _requests(web, lambda: copy.arrays(["x1"])) == []
    if protocol == "s3":
        # The same name on another server is another object.
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"{web.url}/missing")
        with pytest.raises(nyssa.errors.FileMissingError):
            nyssa.open(url, **options)


def test_another_selection_asks_for_what_is_missing(web: Nginx, file: Path, tmp_path: Path) -> None:
    """The server is asked when a column is not in the cache, and by default at each opening."""
    url = f"{web.url}/aged/{file.name}:ntuple"
    folder, x = tmp_path / "cache", _arrays(1)
    # All in one cluster: a slow machine reads over the gaps between clusters, with all columns.
    cluster: dict[str, Any] = {"entry_stop": _ENTRIES // 5, "library": "np"}
    nyssa.open(url, cache=folder).arrays(["x0"], **cluster)
    events = nyssa.open(url, cache=folder, cache_max_age=3600)
    assert _requests(web, lambda: events.arrays(["x0"], **cluster)) == []
    found: list[dict[str, np.ndarray]] = []
    assert _requests(web, lambda: found.append(events.arrays(["x0", "x5"], **cluster)))
    for name in ("x0", "x5"):
        assert np.array_equal(found[0][name], x[name][: _ENTRIES // 5])
    assert _requests(web, lambda: nyssa.open(url, cache=folder))


def test_a_changed_file(web: Nginx, tmp_path: Path) -> None:
    """The values of one version, or an error; the next opening sees the new file."""
    path = web.root / "aged_changing.root"
    url, folder = f"{web.url}/{path.name}:tree", tmp_path / "cache"
    write_both(path, _arrays(1), 5)
    os.utime(path, (1000, 1000))
    nyssa.open(url, cache=folder).arrays(["x0"])
    write_both(path, _arrays(2), 5)
    os.utime(path, (2000, 2000))
    events = nyssa.open(url, cache=folder, cache_max_age="1h")
    assert np.array_equal(events.arrays(["x0"], library="np")["x0"], _arrays(1)["x0"])
    message = "was changed on the server after the cache last requested it .* open it again"
    with pytest.raises(OSError, match=message):
        events.arrays()
    again = nyssa.open(url, cache=folder, cache_max_age="1h").arrays(["x0", "x1"], library="np")
    assert np.array_equal(again["x0"], _arrays(2)["x0"])
    assert np.array_equal(again["x1"], _arrays(2)["x1"])


def _read(url: str, folder: Path) -> int:
    arrays = nyssa.open(url, cache=folder, cache_max_age="1h").arrays(library="np")
    return int(sum(arrays[f"x{i}"].sum() for i in range(6)))


def test_processes(web: Nginx, file: Path, tmp_path: Path) -> None:
    """Processes that begin together with an empty cache read the same; later ones ask nothing."""
    url, folder = f"{web.url}/aged/{file.name}:ntuple", tmp_path / "cache"
    expected = int(sum(_arrays(1)[f"x{i}"].sum() for i in range(6)))
    with multiprocessing.get_context("spawn").Pool(3) as pool:
        read = lambda: pool.starmap(_read, [(url, folder)] * 3, chunksize=1)  # noqa: E731
        assert read() == [expected] * 3
        assert _requests(web, read) == []
    # A child of fork opens the server itself when something is missing.
    if hasattr(os, "fork"):
        part = tmp_path / "part"
        nyssa.open(url, cache=part).arrays(["x0"])
        code = (
            "import os, nyssa\n"
            f"events = nyssa.open({url!r}, cache={str(part)!r}, cache_max_age='1h')\n"
            "events.arrays(['x0'])\n"
            "child = os.fork()\n"
            "found = int(events.arrays(['x1'], library='np')['x1'].sum())\n"
            "os.write(1, f'{found}\\n'.encode())  # one write, so that the lines do not mix\n"
            "os._exit(0) if child == 0 else os.waitpid(child, 0)\n"
        )
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        assert out.split() == [str(_arrays(1)["x1"].sum()).encode()] * 2


def test_command_line_and_environment(web: Nginx, file: Path, tmp_path: Path) -> None:
    """The option and the variable have the same effect; wrong times are errors."""
    url, folder = f"{web.url}/aged/{file.name}", str(tmp_path / "cache")
    command = [sys.executable, "-m", "nyssa"]

    def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*command, *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, **environment},
            check=False,
        )

    cold = run("digest", f"{url}:tree", "--cache", folder)
    assert cold.returncode == 0, cold.stderr
    results = []
    options = ["--cache", folder, "--cache-max-age", "1h"]
    asked = _requests(web, lambda: results.append(run("digest", f"{url}:tree", *options)))
    environment = {"NYSSA_CACHE": folder, "NYSSA_CACHE_MAX_AGE": "10min"}
    asked += _requests(web, lambda: results.append(run("digest", f"{url}:tree", **environment)))
    assert (asked, [one.stdout for one in results]) == ([], [cold.stdout] * 2)
    wrong = run("digest", f"{url}:tree", "--cache", folder, "--cache-max-age", "soon")
    why = '"soon" is not a time: write a number of seconds, or a number with a unit, such as'
    assert (wrong.returncode, why in wrong.stderr) == (2, True)
    wrong = run("digest", f"{url}:tree", NYSSA_CACHE=folder, NYSSA_CACHE_MAX_AGE="soon")
    assert f"the environment variable NYSSA_CACHE_MAX_AGE: {why}" in wrong.stderr
    with pytest.raises(nyssa.ArgumentError, match='cache_max_age: "soon" is not a time'):
        nyssa.open(url, cache=folder, cache_max_age="soon")
    with pytest.raises(nyssa.ArgumentError, match="need a cache folder"):
        nyssa.open(url, cache_max_age="1h")
