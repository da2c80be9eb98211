"""Functions and commands take URLs wherever they take paths, or raise an error."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root
from support.xrootd import Xrootd

_ENTRIES = 300


@dataclass
class Place:
    """A folder of this machine that a server has at `url`, without a slash."""

    folder: Path
    url: str

    def shown(self, text: str) -> str:
        """Return text with paths instead of URLs."""
        return text.replace(self.url, str(self.folder))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with two files that uproot wrote, each with a TTree and an RNTuple."""
    folder = tmp_path_factory.mktemp("files")
    for index, name in enumerate(("a", "b")):
        first = index * _ENTRIES
        arrays = {
            "x": np.arange(first, first + _ENTRIES),
            "y": ak.Array([[i / 2] * (i % 3) for i in range(_ENTRIES)]),
        }
        with uproot.recreate(folder / f"{name}.root") as file:
            file.mktree("tree", {"x": "int64", "y": "var * float64"}).extend(arrays)
            file.mkrntuple("ntuple", arrays)
    return folder


@pytest.fixture(scope="module", params=["root", "http"])
def place(request: pytest.FixtureRequest, files: Path) -> Place:
    """Return a folder with copies of the files, on a real server."""
    server = request.getfixturevalue({"root": "xrootd_server", "http": "web"}[request.param])
    place = Place(server.root / "urls", f"{server.url}/urls")
    if not place.folder.exists():
        shutil.copytree(files, place.folder)
        place.folder.chmod(0o777)
    return place


def _reports(folder: str, output: Path) -> dict[str, Callable[[], Any]]:
    """Return calls that report on files; reports show the names of files."""
    tree, ntuple, other = (
        f"{folder}/{name}" for name in ("a.root:tree", "a.root:ntuple", "b.root:ntuple")
    )
    return {
        "verify": lambda: nyssa.verify(f"{folder}/a.root").to_dict(),
        "inspect": lambda: nyssa.inspect(ntuple).to_dict(),
        "digest": lambda: nyssa.digest(tree),
        "diff": lambda: nyssa.diff(ntuple, other).to_dict(),
        "convert": lambda: nyssa.convert(tree, output / "converted.root", force=True),
        "rewrite": lambda: nyssa.rewrite(ntuple, output / "again.root", force=True),
        "merge": lambda: nyssa.merge([ntuple, other], output / "both.root", force=True),
    }


_TIMES = {"seconds", "megabytes_per_second", "peak_memory_bytes", "process"}


def _without_times(value: Any) -> Any:
    """Return a report without what differs from run to run."""
    if isinstance(value, dict):
        return {name: _without_times(one) for name, one in value.items() if name not in _TIMES}
    if isinstance(value, list):
        return [_without_times(one) for one in value]
    return value


_ONLY_LOCAL = "keys that no directory lists were not looked for, because the file is remote"
"""What `verify` says of a URL, because the search would take a request for each record."""


@pytest.mark.parametrize("name", _reports("", Path()))
def test_reports(place: Place, tmp_path: Path, name: str) -> None:
    """Checks, comparisons and jobs report the same of URLs as of paths."""
    remote = _reports(place.url, tmp_path)[name]()
    local = _reports(str(place.folder), tmp_path)[name]()
    if name == "verify":
        assert (remote.pop("notes"), local.pop("notes")) == ([_ONLY_LOCAL], [])
    shown = place.shown(json.dumps(_without_times(remote)))
    assert json.loads(shown) == json.loads(json.dumps(_without_times(local)))


def _datasets(folder: str) -> dict[str, Callable[[], Any]]:
    """Return calls that read the same columns in every way, as awkward arrays."""
    tree, ntuple, other = (
        f"{folder}/{name}" for name in ("a.root:tree", "a.root:ntuple", "b.root:ntuple")
    )
    return {
        "open": lambda: nyssa.open(tree).arrays(["x", "y"]),
        "open a file": lambda: nyssa.open(f"{folder}/a.root")["ntuple"].arrays(),
        "take": lambda: nyssa.open(ntuple).take([5, 3]),
        "lazy": lambda: nyssa.open(ntuple).arrays(lazy=True),
        "chain": lambda: nyssa.chain([ntuple, other]).arrays(),
        "chain of a dict": lambda: nyssa.chain({f"{folder}/a.root": "ntuple"}).arrays(),
        "chain of both kinds": lambda: nyssa.chain([tree, other]).arrays(["x", "y"]),
        "iterate": lambda: ak.concatenate(list(nyssa.iterate([ntuple, other], step_size=70))),
        "concatenate": lambda: nyssa.concatenate([ntuple, other], "x"),
        "join": lambda: nyssa.join(ntuple, other, prefix="b_").arrays(),
    }


@pytest.mark.parametrize("name", _datasets(""))
def test_values(place: Place, name: str) -> None:
    """Each way to read gives the values of the local files."""
    remote, local = (_datasets(folder)[name]() for folder in (place.url, str(place.folder)))
    assert len(local) > 0
    assert ak.array_equal(remote, local)


def test_names_of_files(place: Place) -> None:
    """A list of files is read from a URL; folders and globs are where the server lists."""
    both = [f"{place.url}/{name}.root:tree" for name in ("a", "b")]
    (place.folder / "list.txt").write_text("\n".join(both))
    assert [one for one, _, _ in nyssa.chain(f"@{place.url}/list.txt").files] == [
        one.removesuffix(":tree") for one in both
    ]
    if place.url.startswith("root"):
        assert nyssa.chain(f"{place.url}/[ab].root:tree").num_entries == 2 * _ENTRIES
        return
    with pytest.raises(nyssa.UnsupportedError) as caught:
        nyssa.chain(f"{place.url}/*.root:tree")
    assert str(caught.value) == (
        f"cannot list the folder {place.url}: the server cannot list folders, because it has no "
        f"WebDAV; name each file, or write the names into a text file and name it as @LIST"
    )


def test_the_first_folder_of_a_server(xrootd_server: Xrootd, files: Path) -> None:
    """The folder of all files of a server can be listed, too."""
    folder = xrootd_server.root / "below"
    folder.mkdir()
    shutil.copy(files / "a.root", folder / "a.root")
    shutil.copy(files / "a.root", xrootd_server.root / "top.root")
    top = xrootd_server.url
    for pattern, found in ((f"{top}/to*.root", "top.root"), (f"{top}/bel*/*.root", "below/a.root")):
        chain = nyssa.chain(f"{pattern}:tree")
        assert chain.files == [(f"{top}/{found}", 0, _ENTRIES)]
    names = [Path(file).name for file, _, _ in nyssa.chain(f"{top}/:tree").files]
    assert "top.root" in names


def _outputs(folder: str, output: str) -> dict[str, Callable[[], Any]]:
    """Return calls that write a file."""
    tree, ntuple, other = (
        f"{folder}/{name}" for name in ("a.root:tree", "a.root:ntuple", "b.root:ntuple")
    )

    def recreate() -> None:
        with nyssa.recreate(output) as file:
            file["tree"] = {"x": np.arange(_ENTRIES)}

    return {
        "recreate": recreate,
        "convert": lambda: nyssa.convert(tree, output, verify=True),
        "rewrite": lambda: nyssa.rewrite(ntuple, output, name="tree", verify=True),
        "merge": lambda: nyssa.merge([ntuple, other], output, name="tree"),
    }


@pytest.mark.parametrize("name", _outputs("", ""))
def test_outputs(place: Place, name: str, root: Root) -> None:
    """Jobs write to an XRootD server, where ROOT reads the file; to web servers they do not."""
    file = f"{name}.root"
    write = _outputs(place.url, f"{place.url}/{file}")[name]
    if place.url.startswith("root"):
        write()
        read = root.call("numpy", str(place.folder / file), "tree", ["x"])["x"]
        assert list(read)[:_ENTRIES] == list(range(_ENTRIES))
        return
    with pytest.raises(nyssa.UnsupportedError) as caught:
        write()
    assert str(caught.value) == (
        f"cannot create {place.url}/{file}: nyssa only reads http:// URLs; write a file here, and "
        "copy it"
    )
    assert not (place.folder / file).exists()


def test_update(place: Place) -> None:
    """Files at URLs are not changed in place."""
    scheme = place.url.partition(":")[0]
    before = (place.folder / "a.root").read_bytes()
    with pytest.raises(nyssa.UnsupportedError) as caught:
        nyssa.update(f"{place.url}/a.root")
    assert str(caught.value) == (
        f"cannot open for writing {place.url}/a.root: files at {scheme}:// URLs cannot be changed; "
        "copy the file first, and back"
    )
    assert (place.folder / "a.root").read_bytes() == before


def _run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nyssa", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


_COMMANDS = {
    "ls": ["ls", "{}/a.root"],
    "schema": ["schema", "{}/a.root:tree"],
    "cat": ["cat", "{}/a.root:tree", "{}/b.root:tree", "-n", "5"],
    "inspect": ["inspect", "{}/a.root:ntuple"],
    "verify": ["verify", "{}/a.root"],
    "digest": ["digest", "{}/a.root:tree"],
    "diff": ["diff", "{}/a.root:ntuple", "{}/b.root:ntuple"],
}


@pytest.mark.parametrize("name", _COMMANDS)
def test_commands(place: Place, name: str) -> None:
    """Commands print the same of URLs as of paths."""
    remote, local = (
        _run([one.format(folder) for one in _COMMANDS[name]])
        for folder in (place.url, place.folder)
    )
    assert remote.stderr == local.stderr == ""
    assert remote.returncode == local.returncode == (1 if name == "diff" else 0)
    shown = place.shown(remote.stdout)
    if name == "verify":
        assert f"note: {_ONLY_LOCAL}\n" in shown
    assert shown.replace(f"note: {_ONLY_LOCAL}\n", "") == local.stdout
    assert len(local.stdout) > 0


_JOBS = {
    "convert": ["convert", "{}/a.root:tree"],
    "rewrite": ["rewrite", "{}/a.root:ntuple"],
    "merge": ["merge", "{}/a.root:ntuple", "{}/b.root:ntuple", "-o"],
}


@pytest.mark.parametrize("name", _JOBS)
def test_commands_that_write(place: Place, tmp_path: Path, name: str) -> None:
    """Commands write what they read from URLs, to an XRootD server as well."""
    inputs = [one.format(place.url) for one in _JOBS[name]]
    here = tmp_path / "here.root"
    assert _run([*inputs, str(here), "--reproducible"]).stderr == ""
    there = f"{place.url}/command-{name}.root"
    done = _run([*inputs, there])
    if place.url.startswith("root"):
        assert (done.returncode, done.stderr) == (0, "")
        written = place.folder / f"command-{name}.root"
        dataset = "tree" if name == "convert" else "ntuple"
        assert _run(["diff", f"{here}:{dataset}", f"{written}:{dataset}"]).returncode == 0
        return
    assert (done.returncode, done.stderr) == (
        4,
        f"error: cannot create {there}: nyssa only reads http:// URLs; write a file here, and copy "
        "it\n",
    )
