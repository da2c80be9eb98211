"""Counters of opens and reads, compared with what the system and a web server counted."""

from __future__ import annotations

import io
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.nginx import Nginx
from support.written import BASKET_ENTRIES, BASKETS, write_baskets, write_both


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a tree of several baskets, which uproot wrote."""
    return write_baskets(tmp_path_factory.mktemp("io_stats") / "tree.root")


class _Recorder(io.BytesIO):
    """A file object that remembers which bytes were read."""

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self.reads: list[int] = []

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        if found:  # not the read that asks whether it gives bytes
            self.reads.append(len(found))
        return found


def test_a_file_object_saw_the_same(file: Path) -> None:
    """Each range is one call of the file object, and its bytes are those that were counted."""
    seen = _Recorder(file.read_bytes())
    with nyssa.open(seen) as opened:
        opened["tree"].arrays(["x1", "x3"])
        stats = opened["tree"].io_stats()
        assert opened.io_stats().bytes_read == stats.bytes_read
    assert stats.bytes_read + stats.bytes_readv == sum(seen.reads)
    assert stats.iops_read + stats.iops_readvread == len(seen.reads)
    assert sum(seen.reads) > 2 * BASKETS * BASKET_ENTRIES * 4
    assert (stats.open_files, stats.open_unique_files) == (1, 1)
    assert stats.unique_files_bytes == file.stat().st_size
    assert stats.hit_rate == 0


def _bytes(events: nyssa.Dataset) -> int:
    """Return the number of bytes that a dataset has read."""
    stats = events.io_stats()
    return stats.bytes_read + stats.bytes_readv


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_small_steps_read_each_page_once(tmp_path: Path, name: str) -> None:
    """What a step has decoded of a page or basket is kept for the next step."""
    random = np.random.default_rng(5)
    counts = random.integers(0, 5, 20_000)
    arrays = {"x": random.random(20_000), "j": ak.unflatten(random.random(counts.sum()), counts)}
    path = write_both(tmp_path / "both.root", arrays, 1)
    read = []
    for step in (None, 100, 777):
        events = nyssa.open(f"{path}:{name}")
        before = _bytes(events)
        if step is None:
            events.arrays(["x", "j"])
        else:
            steps = [len(one) for one in events.iterate(["x", "j"], step_size=step)]
            assert sum(steps) == len(counts)
            assert max(steps) == step
        read.append(_bytes(events) - before)
    assert read[0] > 200_000
    # Only what is decoded is kept: a page that is decoded again is read again.
    assert read == [read[0]] * 3


@pytest.mark.parametrize("place", ["local", "web"])
@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_a_cut_reads_each_page_once(
    tmp_path: Path, request: pytest.FixtureRequest, place: str, name: str
) -> None:
    """Columns of the cut are read once, also as results; the others where it passes."""
    random = np.random.default_rng(6)
    entries, chunk = 150_000, 50_000
    x, y, part = random.random(entries), random.random(entries), np.arange(entries) // chunk
    path = tmp_path / f"cut_{name}.root"
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        made = file.mktree if name == "tree" else file.mkrntuple
        pieces = [slice(start, start + chunk) for start in range(0, entries, chunk)]
        data = [{"x": x[one], "y": y[one], "part": part[one]} for one in pieces]
        types = {column: values.dtype for column, values in data[0].items()}
        events = made(name, types if name == "tree" else data.pop(0))
        for one in data:
            events.extend(one)
    where = str(path)
    if place == "web":
        web = request.getfixturevalue("web")
        (web.root / path.name).write_bytes(path.read_bytes())
        where = f"{web.url}/{path.name}"

    def read(*, columns: list[str], cut: str | None = None, steps: int = 0) -> int:
        with nyssa.open(f"{where}:{name}") as events:
            before = _bytes(events)
            if steps:
                found = ak.concatenate([*events.iterate(columns, cut=cut, step_size=steps)])
            else:
                found = events.arrays(columns, cut=cut)
            passed = {None: x < 2, "x > 0.5": x > 0.5, "part == 1": part == 1, "x > 2": x > 2}[cut]
            for column in columns:
                assert ak.array_equal(found[column], {"x": x, "y": y}[column][passed])
            return _bytes(events) - before

    both, one = read(columns=["x", "y"]), read(columns=["x"])
    for steps in (0, 7000):
        assert read(columns=["x"], cut="x > 0.5", steps=steps) <= 1.02 * one
        assert read(columns=["x", "y"], cut="x > 0.5", steps=steps) <= 1.02 * both
        assert read(columns=["y"], cut="part == 1", steps=steps) < 0.8 * one
    assert read(columns=["y"], cut="x > 2") <= 1.02 * one


def _asked(line: str) -> list[int]:
    """Return the sizes in bytes that a line of the log asks for: `bytes=0-9,20-29`, `bytes=-20`."""
    ranges = line.rsplit('"', 2)[1].removeprefix("bytes=").split(",")
    ends = [one.split("-") for one in ranges]
    return [int(last) - int(first) + 1 if first else int(last) for first, last in ends]


def test_a_web_server_saw_the_same(web: Nginx, file: Path) -> None:
    """Every range that the server was asked for was counted, and every file that was opened."""
    for number in range(3):
        (web.root / f"stats{number}.root").write_bytes(file.read_bytes())
    web.requests()
    chain = nyssa.chain([f"{web.url}/stats{number}.root:tree" for number in range(3)])
    chain.arrays(["x0", "x3"])
    stats = chain.io_stats()
    # Not what the server sent: an answer of several ranges also has a header for each of them.
    asked = [size for line in web.requests() if "GET /stats" in line for size in _asked(line)]
    assert (stats.open_files, stats.open_unique_files) == (3, 3)
    assert stats.bytes_read + stats.bytes_readv == sum(asked)
    assert stats.iops_read + stats.iops_readvread == len(asked)
    assert 2 <= stats.round_trips <= 3 * 4
    assert 0 < stats.busy_seconds <= stats.seconds


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_small_memory_fetches_each_page_once(web: Nginx, tmp_path: Path, name: str) -> None:
    """Ten pages of 400 kB do not fit into 1 MB until the next step; a temporary file keeps them."""
    random = np.random.default_rng(7)
    arrays = {f"x{number}": random.random(50_000) for number in range(10)}
    path = write_both(tmp_path / "both.root", arrays, 1)
    place = f"small_memory_{name}.root"
    (web.root / place).write_bytes(path.read_bytes())
    steps = list(nyssa.open(f"{web.url}/{place}:{name}").iterate(step_size="1 MB"))
    asked = [size for line in web.requests() if place in line for size in _asked(line)]
    assert len(steps) > 5
    for field, values in arrays.items():
        assert ak.array_equal(ak.concatenate([step[field] for step in steps]), values)
    # The file has the data twice. The metadata come with the first and the last bytes.
    assert sum(asked) < 0.5 * path.stat().st_size + 200_000


def test_what_belongs_together_counts_together(file: Path) -> None:
    """The files of a chain count together; a copy of a dataset has counters of its own."""
    tree = nyssa.open(f"{file}:tree")
    tree.arrays(["x0"])
    first = tree.io_stats()
    again = pickle.loads(pickle.dumps(tree))
    assert again.io_stats().bytes_read + again.io_stats().bytes_readv > 0
    again.arrays(["x1"])
    assert tree.io_stats().bytes_read == first.bytes_read
    chain = nyssa.chain([file, file, file])
    assert (chain.io_stats().open_files, chain.io_stats().open_unique_files) == (3, 1)
    joined = nyssa.join(tree, again, prefix="again_")
    assert joined.io_stats().open_files == 2
    whole = nyssa.io_stats()
    assert whole.open_files >= 5
    assert whole.bytes_read >= first.bytes_read
    with nyssa.open(f"{file}:tree") as closed:
        pass
    assert closed.io_stats().open_files == 1


def test_what_people_see(file: Path) -> None:
    """The command line prints the same table as Python, and the same numbers as JSON."""
    command = [sys.executable, "-m", "nyssa", "cat", f"{file}:tree", "-n", "1"]
    ran = subprocess.run([*command, "--io-stats"], capture_output=True, text=True, check=True)
    labels = [line.split(" : ")[0] for line in ran.stderr.splitlines()]
    tree = nyssa.open(f"{file}:tree")
    tree.arrays(entry_stop=1)
    stats = tree.io_stats()
    assert [line.split(" : ")[0] for line in str(stats).splitlines()] == labels
    assert "total iops     read      : " in ran.stderr
    assert "<div>" in stats._repr_html_()
    place = file.with_name("stats.json")
    subprocess.run([*command, f"--io-stats={place}"], capture_output=True, check=True)
    found = json.loads(place.read_text())
    assert found.keys() == stats.to_dict().keys()
    assert found["open_unique_files"] == 1
    assert found["unique_files_bytes"] == file.stat().st_size
    refused = subprocess.run(
        [*command, f"--io-stats={file.parent}"], capture_output=True, text=True, check=False
    )
    assert refused.returncode == 2
    assert refused.stderr.startswith(f"error: cannot write {file.parent}: ")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_of_fork_counts_anew(file: Path) -> None:
    nyssa.open(f"{file}:tree").arrays(["x0"])
    assert nyssa.io_stats().open_files > 0
    child = os.fork()
    if child == 0:
        fine = nyssa.io_stats().open_files == 0
        nyssa.open(f"{file}:tree").arrays(["x0"], threads=1)
        fine = fine and nyssa.io_stats().open_files == 1
        os._exit(0 if fine else 1)
    assert os.waitpid(child, 0)[1] == 0
