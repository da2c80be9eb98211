"""Tests file objects and the file systems of fsspec."""

from __future__ import annotations

import io
import pickle
import re
import uuid
from pathlib import Path
from typing import Any

import awkward as ak
import fsspec
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core
from support.data import TESTDATA
from support.nginx import Nginx

_COLUMNS = {"x": np.random.default_rng(3).random(300_000), "i": np.arange(300_000)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file that uproot wrote."""
    path = tmp_path_factory.mktemp("objects") / "a.root"
    with uproot.recreate(path, compression=None) as file:
        file.mkrntuple("Events", _COLUMNS)
    return path


@pytest.fixture
def memory(path: Path) -> str:
    """Return the URL of a folder of fsspec's file system in memory, with the file."""
    url = f"memory://{uuid.uuid4().hex}"
    filesystem, folder = fsspec.core.url_to_fs(url)
    filesystem.pipe(f"{folder}/a.root", path.read_bytes())
    return url


def _check(events: Any) -> None:
    found = events.arrays(library="np")
    assert all(np.array_equal(found[name], values) for name, values in _COLUMNS.items())


def test_file_objects(path: Path) -> None:
    """Objects that seek and read are accepted: buffered, raw, in memory, and slow ones."""

    class Slow(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            return super().read(min(size or 0, 1000) if size and size > 0 else size)

    for source in (
        path.open("rb"),
        path.open("rb", buffering=0),
        io.BytesIO(path.read_bytes()),
        Slow(path.read_bytes()),
    ):
        with source:
            file = nyssa.open(source)
            _check(file["Events"])
            file.close()
            assert not source.closed
    assert nyssa.open(path.open("rb")).file_path == str(path)


def test_names_and_closed_files(path: Path) -> None:
    """The messages name the file object, and say that it cannot be pickled or is closed."""
    source = io.BytesIO(path.read_bytes())
    file = nyssa.open(source)
    assert repr(file) == "<File <BytesIO>>"
    events = file["Events"]
    with pytest.raises(TypeError, match="is a file object, which cannot go to another process"):
        pickle.dumps(events)
    source.close()
    with pytest.raises(nyssa.errors.InputOutputError) as caught:
        events.arrays()
    assert re.search(r"<BytesIO>: ValueError: I/O operation on closed file", str(caught.value))
    file.close()
    with pytest.raises(nyssa.ArgumentError, match="it is closed; open it again"):
        events.arrays()
    with pytest.raises(nyssa.ArgumentError) as text:
        nyssa.open(path.open(encoding="latin-1"))
    assert str(text.value) == f"{path} gives text; open it in binary mode"
    with pytest.raises(TypeError, match="a file is named by a str or an os.PathLike, not by float"):
        nyssa.open(1.5)  # type: ignore[arg-type]


def test_fsspec_files(path: Path, memory: str) -> None:
    """Open files, files to be opened, and URLs are read; they can go to other processes."""
    url = f"{memory}/a.root"
    filesystem, inner = fsspec.core.url_to_fs(url)
    _check(nyssa.open(filesystem.open(inner))["Events"])
    _check(nyssa.open(fsspec.open(url))["Events"])
    _check(nyssa.open(fsspec.open(f"file://{path}"))["Events"])
    events = nyssa.open(f"{url}:Events")
    _check(events)
    assert nyssa.open(url).file_path == url
    _check(pickle.loads(pickle.dumps(events)))
    _check(pickle.loads(pickle.dumps(nyssa.open(fsspec.open(url))))["Events"])


def test_urls_of_fsspec(memory: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Chains, globs, commands and jobs take URLs that only fsspec knows."""
    filesystem, folder = fsspec.core.url_to_fs(memory)
    filesystem.pipe(f"{folder}/b.root", filesystem.cat(f"{folder}/a.root"))
    assert _core.files(f"{memory}/*.root") == [f"{memory}/a.root", f"{memory}/b.root"]
    chain = nyssa.chain(f"{memory}/*.root:Events")
    assert chain.num_entries == 600_000
    assert np.array_equal(chain.arrays(["i"], library="np")["i"], np.tile(_COLUMNS["i"], 2))
    assert _core.run_cli(["nyssa", "cat", f"{memory}/a.root:Events", "-n", "1"]) == 0
    assert '"i":0' in capfd.readouterr().out.replace(" ", "")
    output = tmp_path / "out.root"
    nyssa.rewrite(f"{memory}/a.root:Events", output, verify=True)
    assert np.array_equal(uproot.open(output)["Events/i"].array(library="np"), _COLUMNS["i"])


def test_missing_urls(memory: str) -> None:
    """URLs that fsspec does not find, and schemes that it does not know, are errors."""
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open(f"{memory}/none.root")
    assert str(caught.value).startswith(f"cannot open {memory}/none.root: FileNotFoundError: ")
    with pytest.raises(nyssa.UnsupportedError) as unknown:
        nyssa.open("gopher://host/a.root")
    assert str(unknown.value) == (
        "cannot open gopher://host/a.root: neither nyssa nor fsspec can open gopher://: Protocol "
        "not known: gopher; copy the file first"
    )


def test_far_files(web: Nginx, path: Path) -> None:
    """A file system that is far away reads many ranges in one call."""
    pytest.importorskip("aiohttp")
    (web.root / "far.root").write_bytes(path.read_bytes())
    _check(nyssa.open(fsspec.open(f"{web.url}/far.root"))["Events"])


def test_writing(memory: str, tmp_path: Path, path: Path) -> None:
    """File objects and new files of fsspec get a complete file."""
    data = {"x": ak.Array([[1.5], [], [2.5, 3.5]])}
    buffer = io.BytesIO()
    url = f"{memory}/out.root"
    target = tmp_path / "out.root"
    with target.open("wb", buffering=0) as raw:
        for output in (buffer, raw, url, fsspec.open(f"{memory}/other.root", "wb")):
            with nyssa.recreate(output) as file:
                file["Events"] = data
    filesystem, inner = fsspec.core.url_to_fs(url)
    folder = inner.rsplit("/", 1)[0]
    for content in (
        buffer.getvalue(),
        target.read_bytes(),
        filesystem.cat(inner),
        filesystem.cat(f"{folder}/other.root"),
    ):
        assert (
            uproot.open(io.BytesIO(content))["Events"].arrays().x.to_list() == data["x"].to_list()
        )
    with pytest.raises(nyssa.errors.OutputExistsError) as caught:
        nyssa.rewrite(f"{path}:Events", url)
    expected = f"cannot create {url}: it exists already; force=True replaces it"
    assert str(caught.value) == expected


def test_every_kind_of_object() -> None:
    """Histograms and trees come from file objects as from paths."""
    for name in ("objects/histograms.root", "ttree/events-none.root"):
        file = nyssa.open(io.BytesIO((TESTDATA / name).read_bytes()))
        assert file.classnames() == nyssa.open(TESTDATA / name).classnames()
