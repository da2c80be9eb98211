"""Files on a real XRootD server hold what the local files hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import TESTDATA
from support.processes import check_other_processes
from support.root import Root
from support.written import write_both
from support.xrootd import Xrootd

_ENTRIES = 50_000
#: Those with many classes take long to compare, and are read in the same way.
_FILES = sorted(
    path.relative_to(TESTDATA)
    for path in TESTDATA.glob("**/*.root")
    if not path.name.startswith(("members", "objects"))
)


@pytest.fixture(scope="module")
def large(xrootd_server: Xrootd) -> Path:
    """Return a file of several megabytes that uproot wrote, in the folder of the server."""
    path = xrootd_server.root / "large.root"
    random = np.random.default_rng(1)
    counts = random.integers(0, 5, _ENTRIES)
    arrays = {f"x{i}": random.random(_ENTRIES) for i in range(6)} | {
        "jagged": ak.unflatten(random.random(counts.sum()).astype(np.float32), counts),
    }
    return write_both(path, arrays, 1)


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_values(xrootd_server: Xrootd, large: Path, name: str) -> None:
    """Columns, ranges of entries and steps are those that uproot reads of the local file."""
    expected = uproot.open(f"{large}:{name}").arrays()
    events = nyssa.open(f"{xrootd_server.url}/large.root:{name}")
    assert events.num_entries == _ENTRIES
    columns = [f"x{i}" for i in range(6)] + ["jagged"]
    assert ak.array_equal(events.arrays(columns), expected[columns], check_parameters=False)
    some = events.arrays(["x3", "jagged"], entry_start=30_000, entry_stop=30_100)
    assert ak.array_equal(some, expected[30_000:30_100][["x3", "jagged"]], check_parameters=False)
    steps = list(events.iterate(["x1"], step_size=20_000))
    assert ak.array_equal(ak.concatenate(steps), expected[["x1"]], check_parameters=False)


@pytest.mark.parametrize("name", _FILES, ids=str)
def test_every_file(xrootd_server: Xrootd, name: Path) -> None:
    """Files of all kinds list the same from a server."""
    url = f"{xrootd_server.url}/testdata/{name}"
    local, remote = nyssa.open(TESTDATA / name), nyssa.open(url)
    assert remote.file_path == url
    assert remote.keys() == local.keys()


@pytest.mark.usefixtures("large")
def test_root_reads_the_same(xrootd_server: Xrootd, root: Root) -> None:
    """ROOT's own client reads the same entries from the same server."""
    url = f"{xrootd_server.url}/large.root"
    columns = [f"x{i}" for i in range(6)] + ["jagged"]
    events = nyssa.open(f"{url}:ntuple").arrays(columns, entry_stop=3)
    expected = root.call("entries", url, "ntuple", 17, 3)
    assert events.to_list() == [{name: entry[name] for name in columns} for entry in expected]


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nyssa", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_commands(xrootd_server: Xrootd, large: Path, tmp_path: Path) -> None:
    """Commands print the same for a URL as for a path, and read inputs from servers."""
    url = f"{xrootd_server.url}/large.root"
    for arguments in (["ls", "{}"], ["schema", "{}:tree"], ["cat", "{}:ntuple", "-n", "3"]):
        remote = _run([argument.format(url) for argument in arguments])
        local = _run([argument.format(large) for argument in arguments])
        assert (remote.returncode, remote.stderr) == (0, local.stderr)
        assert remote.stdout.replace(url, str(large)) == local.stdout
    output = tmp_path / "out.root"
    done = _run(["convert", f"{url}:tree", str(output), "--verify"])
    assert done.returncode == 0, done.stderr
    assert nyssa.open(f"{output}:tree").num_entries == _ENTRIES


def test_missing(xrootd_server: Xrootd) -> None:
    """A file that is not there is an error that Python knows."""
    url = f"{xrootd_server.url}/missing.root"
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open(url)
    place = xrootd_server.url.removeprefix("root://").rstrip("/")
    assert str(caught.value) == (
        f"cannot open {url}: the server {place} says: Unable to open /missing.root; no such file "
        "or directory (kXR_NotFound)"
    )


@pytest.mark.usefixtures("large")
def test_other_processes(xrootd_server: Xrootd) -> None:
    """Datasets go to other processes, also by fork, and a forked process reads by itself."""
    check_other_processes(f"{xrootd_server.url}/large.root:tree")


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_rewritten_in_place(xrootd_server: Xrootd, name: str) -> None:
    """A file that gets as many other bytes while it is open gives an error, never mixed bytes."""
    path = xrootd_server.root / f"rewritten-{name}.root"
    old, new = (np.random.default_rng(seed).random(500_000) for seed in (1, 2))
    write_both(path, {"x": new}, 1)
    other = path.read_bytes()
    for place in (xrootd_server.url, str(path.parent)):
        write_both(path, {"x": old}, 1)
        os.utime(path, (1, 1))
        dataset = nyssa.open(f"{place}/{path.name}:{name}")
        assert np.array_equal(dataset.arrays(entry_stop=10, library="np")["x"], old[:10])
        with path.open("r+b") as file:
            file.write(other[: path.stat().st_size])
        with pytest.raises(OSError, match=r"it is another file now|it was changed after"):
            dataset.arrays(entry_start=400_000)
    # Other tests list the folder of the server.
    path.unlink()


def test_names_with_colons(xrootd_server: Xrootd) -> None:
    """What a glob finds is a file, also if its name looks like the object of another one."""
    folder = xrootd_server.root / "colons"
    folder.mkdir()
    for name, value in (("run.root", 1), ("run.root:Events", 2)):
        with uproot.recreate(folder / "local.root") as file:
            file.mktree("Events", {"x": np.array([value])})
        (folder / "local.root").rename(folder / name)
    for place in (f"{xrootd_server.url}/colons", str(folder), f"file://{folder}"):
        found = nyssa.chain(f"{place}/run*:Events").arrays(library="np")["x"]
        assert found.tolist() == [1, 2]
        assert nyssa.chain(f"{place}/*ents").arrays(library="np")["x"].tolist() == [2]


def test_globs(xrootd_server: Xrootd) -> None:
    """Globs look into the folders of a server."""
    names = sorted(path.name for path in (TESTDATA / "rntuple").glob("codec-z*.root"))
    folder = f"{xrootd_server.url}/testdata/rntuple"
    many = nyssa.chain(f"{folder}/codec-z*.root:ntpl")
    assert [file for file, _, _ in many.files] == [f"{folder}/{name}" for name in names]


@pytest.mark.usefixtures("large")
def test_output(xrootd_server: Xrootd, root: Root) -> None:
    """Files are written on a server, and ROOT reads what is there."""
    url = f"{xrootd_server.url}/written.root"
    path = xrootd_server.root / "written.root"
    with nyssa.recreate(url) as file:
        file["ntuple"] = {"x": np.arange(1000)}
        assert not path.exists()
    assert root.call("entries", str(path), "ntuple", 17, 2) == [{"x": 0}, {"x": 1}]
    source = f"{xrootd_server.url}/large.root:tree"
    done = _run(["convert", source, url, "--verify"])
    assert (done.returncode, path.stat().st_size < 20_000) == (2, True)
    done = _run(["convert", source, url, "--verify", "--force"])
    assert done.returncode == 0, done.stderr
    assert _run(["diff", source, f"{path}:tree"]).returncode == 0
    assert [name for name in os.listdir(path.parent) if name.endswith(".part")] == []
