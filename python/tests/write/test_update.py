"""Updates of files in place: ROOT and nyssa read the old and the new entries."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root

# The number of bytes that a disk writes in one piece.
SECTOR = 512


def events(first: int, count: int) -> dict[str, object]:
    """Return entries of all kinds that the ROOT files below have."""
    numbers = np.arange(first, first + count)
    return {
        "number": numbers.astype(np.int32),
        "x": (numbers / 3).astype(np.float64),
        "name": ak.Array([f"entry {number}" for number in numbers]),
        "values": ak.Array([[number / 2] * (number % 3) for number in numbers.tolist()]),
    }


@pytest.fixture
def written_by_root(tmp_path: Path, root: Root) -> Path:
    """Return a file of ROOT with an RNTuple at the top and in a directory, and a histogram."""
    path = tmp_path / "root.root"
    root.call("write_events", str(path), ["Events", "dir/Events"], 50)
    root.call("add_histogram", str(path), "other", "h")
    return path


@pytest.mark.parametrize("name", ["Events", "dir/Events"])
def test_files_of_root(name: str, written_by_root: Path, root: Root) -> None:
    """ROOT reads all entries and can write to the file again; its other objects stay."""
    path = str(written_by_root)
    before = root.call("entries", path, name)
    with nyssa.update(path) as file:
        writer = file[name]
        assert writer.num_entries == 50
        writer.extend(events(50, 20))
        writer.extend(events(70, 30))
        assert writer.num_entries == 100
    with nyssa.recreate(written_by_root.with_name("new.root")) as file:
        file["Events"] = events(50, 50)
    new = root.call("entries", str(written_by_root.with_name("new.root")), "Events")
    assert root.call("entries", path, name) == before + new
    other = {"Events", "dir/Events"} - {name}
    assert root.call("entries", path, *other) == before
    assert root.call("histogram", path, "other/h") == [0.0, 3.0, 0.0]
    assert ak.to_list(nyssa.open(f"{path}:{name}")["number"].array()) == list(range(100))
    root.call("add_histogram", path, "later", "g")
    assert root.call("histogram", path, "later/g") == [0.0, 3.0, 0.0]
    assert root.call("entries", path, name) == before + new
    # Update again, after ROOT has written.
    with nyssa.update(path) as file:
        file[name].extend(events(0, 1))
    assert root.call("entries", path, name) == before + new + before[:1]
    assert root.call("histogram", path, "later/g") == [0.0, 3.0, 0.0]


def test_new_rntuples(written_by_root: Path, root: Root) -> None:
    """New RNTuples are written to old and new directories."""
    path = str(written_by_root)
    with nyssa.update(path) as file:
        file["dir/More"] = {"y": np.arange(5)}
        file["new/deep/More"] = {"z": np.arange(3)}
        with pytest.raises(errors.ArgumentError, match="the file already has a Events"):
            file["Events"] = {"y": np.arange(5)}
    assert root.call("entries", path, "dir/More") == [{"y": y} for y in range(5)]
    assert root.call("entries", path, "new/deep/More") == [{"z": z} for z in range(3)]
    assert len(root.call("entries", path, "Events")) == 50
    assert root.call("histogram", path, "other/h") == [0.0, 3.0, 0.0]


def test_files_without_rntuples(tmp_path: Path, root: Root) -> None:
    """The file gets the streamer info of the class of RNTuples."""
    path = tmp_path / "histogram.root"
    root.call("add_histogram", str(path), "", "h")
    with nyssa.update(path) as file:
        file["Events"] = events(0, 10)
    assert len(root.call("entries", str(path), "Events")) == 10
    assert root.call("histogram", str(path), "h") == [0.0, 3.0, 0.0]


def test_late_fields(written_by_root: Path, root: Root) -> None:
    """Fields that are added in an update read as zero in earlier entries."""
    path = str(written_by_root)
    with nyssa.update(path) as file:
        writer = file["Events"]
        writer.add_fields({"late": "float32", "lists": "var * int32"})
        new = {"late": np.ones(5, np.float32), "lists": ak.values_astype([[1]] * 5, np.int32)}
        writer.extend({**events(50, 5), **new})
    entries = root.call("entries", path, "Events")
    assert [entry["late"] for entry in entries] == [0] * 50 + [1] * 5
    assert [entry["lists"] for entry in entries] == [[]] * 50 + [[1]] * 5
    with nyssa.update(path) as file:
        file["Events"].extend({**events(55, 5), **new})
    entries = root.call("entries", path, "Events")
    assert [entry["late"] for entry in entries] == [0] * 50 + [1] * 10
    assert [entry["number"] for entry in entries] == list(range(60))


def test_fields_with_values(written_by_root: Path, root: Root) -> None:
    """New fields get values in the old clusters; the pages of the other fields stay as they are."""
    path = str(written_by_root)
    before = written_by_root.read_bytes()
    old = root.call("entries", path, "Events")
    count = len(old)
    new: dict[str, Any] = {
        "met": np.arange(count, dtype=np.float32),
        "tags": [["a", "bc"][: i % 3] for i in range(count)],
        "pair": ak.Array({"x": np.arange(count), "y": [[i] * (i % 4) for i in range(count)]}),
        "ok": np.arange(count) % 2 == 0,
    }
    expected = {name: ak.Array(one).to_list() for name, one in new.items()}
    with nyssa.update(path) as file:
        writer = file["Events"]
        with pytest.raises(errors.ArgumentError, match="3 values for 50 entries"):
            writer.add_fields({"met": np.arange(3)})
        with pytest.raises(errors.ArgumentError, match="already exists"):
            writer.add_fields({"number": np.arange(count)})
        writer.add_fields({"zero": "int32"})
        writer.add_fields({name: new[name] for name in ("met", "tags")})
        writer.add_fields({name: new[name] for name in ("pair", "ok")})
        more = {name: ak.Array(one)[:5] for name, one in new.items()}
        writer.extend({**events(count, 5), **more, "zero": [7] * 5})
        with pytest.raises(errors.ArgumentError, match="before new entries are added"):
            writer.add_fields({"late": np.arange(count + 5)})
    # Nothing of the old file moved: header and directory change in place.
    after = written_by_root.read_bytes()
    assert after[1000 : len(before)] == before[1000:]
    expected = {name: one + one[:5] for name, one in expected.items()}
    expected["zero"] = [0] * count + [7] * 5
    entries = root.call("entries", path, "Events")
    assert {name: [one[name] for one in entries] for name in expected} == expected
    assert [{name: one[name] for name in old[0]} for one in entries[:count]] == old
    with uproot.open(path) as file:
        arrays = file["Events"].arrays()
        assert {name: arrays[name].to_list() for name in expected} == expected
        assert arrays["number"].to_list() == list(range(count + 5))
    arrays = nyssa.open(f"{path}:Events").arrays()
    assert {name: arrays[name].to_list() for name in expected} == expected
    assert nyssa.verify(path).problems == []
    # ROOT opens the file to add to it.
    root.call("add_histogram", path, "", "h")
    assert root.call("entries", path, "Events") == entries
    # A later update adds both.
    with nyssa.update(path) as file:
        file["Events"].add_fields({"again": np.arange(count + 5)})
        row = {name: arrays[name][:2] for name in arrays.fields}
        file["Events"].extend({**row, "again": [1, 2]})
    again = root.call("entries", path, "Events")
    assert [one["again"] for one in again] == [*range(count + 5), 1, 2]
    assert [one["met"] for one in again] == [*expected["met"], *expected["met"][:2]]


def test_nothing_is_left_of_a_failure(written_by_root: Path) -> None:
    """After an exception, wrong data or a missing close, the file is unchanged."""
    before = written_by_root.read_bytes()
    with pytest.raises(RuntimeError, match="mine"), nyssa.update(written_by_root) as file:
        file["Events"].extend(events(0, 1000))
        raise RuntimeError("mine")
    assert written_by_root.read_bytes() == before
    with (
        pytest.raises(errors.ArgumentError, match="missing"),
        nyssa.update(written_by_root) as file,
    ):
        file["Events"].extend({"number": np.arange(3)})
    assert written_by_root.read_bytes() == before
    with pytest.raises(KeyError), nyssa.update(written_by_root) as file:
        file["Evens"].extend(events(0, 1))
    with nyssa.update(written_by_root):
        pass
    assert written_by_root.read_bytes() == before
    with nyssa.update(written_by_root), pytest.raises(OSError, match="another program"):
        nyssa.update(written_by_root)
    with pytest.raises(FileNotFoundError):
        nyssa.update(written_by_root.with_name("missing.root"))


def test_real_files(data: Path, tmp_path: Path) -> None:
    """Entries of files of other writers are added to these files."""
    tried = 0
    for path in sorted((data / "rntuple").glob("*.root")):
        if path.stat().st_size > 1_000_000:
            continue
        with_path = tmp_path / path.name
        shutil.copy(path, with_path)
        os.chmod(with_path, 0o644)
        for name in nyssa.open(path).keys(filter_classname="ROOT::RNTuple", cycle=False):
            dataset = nyssa.open(f"{path}:{name}")
            try:
                arrays = dataset.arrays(entry_stop=10)
                with nyssa.update(with_path) as file:
                    file[name].extend(arrays)
            except (NotImplementedError, ValueError):
                continue
            both = nyssa.open(f"{with_path}:{name}").arrays()
            assert len(both) == dataset.num_entries + len(arrays)
            assert str(ak.to_list(both[-len(arrays) :])) == str(ak.to_list(arrays))
            tried += 1
    assert tried >= 5, tried


def test_root_reads_every_state_of_a_crash(written_by_root: Path, root: Root) -> None:
    """A crash leaves a part of the new bytes, or all, then the header, then the directory."""
    path = str(written_by_root)
    old = written_by_root.read_bytes()
    before = root.call("entries", path, "dir/Events")
    with nyssa.update(path) as file:
        file["dir/Events"].extend(events(50, 20))
    new = written_by_root.read_bytes()
    after = root.call("entries", path, "dir/Events")
    assert (len(before), len(after)) == (50, 70)
    changed = _changed(old, new)
    in_header = [place for place in changed if place < 100]
    tail = new[len(old) :]
    states = [old + tail[: len(tail) * part // 5] for part in range(6)]
    header = bytearray(states[-1])
    for place in in_header:
        header[place] = new[place]
    states.append(bytes(header))
    for state in states:
        written_by_root.write_bytes(state)
        assert root.call("entries", path, "dir/Events") == before
        assert root.call("entries", path, "Events") == before
        assert root.call("histogram", path, "other/h") == [0.0, 3.0, 0.0]
        # The file can be updated as usual.
        with nyssa.update(path) as file:
            file["dir/Events"].extend(events(50, 20))
        assert root.call("entries", path, "dir/Events") == after
    # The position of one key list is changed last.
    assert 0 < len(set(changed) - set(in_header)) <= 16


_APPEND = """
import resource, signal, sys
import numpy as np
import nyssa
path, limit = sys.argv[1], int(sys.argv[2])
if limit:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
with nyssa.update(path) as file:
    print("open", flush=True)
    file["dir/New"] = {"y": np.random.default_rng(1).normal(size=500_000)}
"""


def _append(path: Path, limit: int = 0) -> subprocess.Popen[str]:
    """Add an RNTuple of 4 MB in a process whose files may have `limit` bytes."""
    command = [sys.executable, "-c", _APPEND, str(path), str(limit)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_killed(written_by_root: Path, root: Root) -> None:
    """SIGKILL at many moments of the update leaves the old file, or the complete new one."""
    old = written_by_root.read_bytes()
    before = root.call("entries", str(written_by_root), "Events")
    process = _append(written_by_root)
    start = time.monotonic()
    assert process.wait() == 0
    duration = time.monotonic() - start
    for part in range(4):
        written_by_root.write_bytes(old)
        process = _append(written_by_root)
        time.sleep(duration * part / 3)
        process.kill()
        process.communicate()
        assert root.call("entries", str(written_by_root), "Events") == before
        found = nyssa.open(written_by_root)
        if "dir/New" in found:
            wanted = np.random.default_rng(1).normal(size=500_000)
            assert np.array_equal(found["dir/New"]["y"].array(library="np"), wanted)
        else:
            assert written_by_root.read_bytes()[: len(old)] == old


def test_between_the_writes(written_by_root: Path, root: Root) -> None:
    """A file with the new header and the old directory record reads as the old file."""
    old = written_by_root.read_bytes()
    before = root.call("entries", str(written_by_root), "Events")
    names = list(nyssa.open(written_by_root))
    with nyssa.update(written_by_root) as file:
        file["dir/New"] = {"y": np.arange(100.0)}
    new = written_by_root.read_bytes()
    assert new[:SECTOR] != old[:SECTOR]
    for start in (old[:SECTOR], new[:SECTOR]):
        written_by_root.write_bytes(start + old[SECTOR:] + new[len(old) :])
        assert root.call("entries", str(written_by_root), "Events") == before
        assert list(nyssa.open(written_by_root)) == names
        assert "dir/New" not in uproot.open(written_by_root)
    written_by_root.write_bytes(new)
    assert "dir/New" in nyssa.open(written_by_root)


def _changed(old: bytes, new: bytes) -> list[int]:
    return [place for place in range(len(old)) if old[place] != new[place]]


def test_several_directories(written_by_root: Path, root: Root) -> None:
    """One write of one sector switches all directories, and ROOT goes on with them."""
    path = str(written_by_root)
    root.call("add_histogram", path, "dir/deep", "h")
    old = written_by_root.read_bytes()
    names = list(nyssa.open(path))
    before = root.call("entries", path, "dir/Events")
    with nyssa.update(path) as file:
        for name in ("New", "dir/New", "dir/deep/New", "other/New"):
            file[name] = {"y": np.arange(5)}
        file["dir/Events"].extend(events(50, 20))
    new = written_by_root.read_bytes()
    assert _changed(old, new)[-1] < SECTOR
    written_by_root.write_bytes(old + new[len(old) :])
    assert list(nyssa.open(path)) == names == list(uproot.open(path))
    assert root.call("entries", path, "dir/Events") == before
    written_by_root.write_bytes(new)
    added = ["New", "dir/New", "dir/deep/New", "other/New"]

    def check() -> None:
        for name in added:
            assert root.call("entries", path, name) == [{"y": y} for y in range(5)]
        assert len(root.call("entries", path, "Events")) == 50
        assert len(root.call("entries", path, "dir/Events")) == 70
        for name in ("dir/deep/h", "other/h"):
            assert root.call("histogram", path, name) == [0.0, 3.0, 0.0]
            assert uproot.open(path)[name].values().tolist() == [0.0, 3.0, 0.0]
        assert nyssa.verify(path).problems == []
        assert set(names) <= set(nyssa.open(path))
        assert set(nyssa.open(path)) == set(uproot.open(path))

    check()
    # ROOT adds to directories that were moved, makes one in them, and deletes from them.
    for place in ("dir", "dir/deep", "dir/deep/more", "other"):
        root.call("add_histogram", path, place, "later")
        assert root.call("histogram", path, f"{place}/later") == [0.0, 3.0, 0.0]
    check()
    with nyssa.update(path) as file:
        file["dir/deep/more/New"] = {"y": np.arange(5)}
        file["Last"] = {"y": np.arange(5)}
    added += ["dir/deep/more/New", "Last"]
    check()


def test_two_directories_below_one(written_by_root: Path, root: Root) -> None:
    """The header comes first, and then the directory that both directories lie in."""
    path = str(written_by_root)
    for place in ("a/b", "a/c"):
        root.call("add_histogram", path, place, "h")
    old = written_by_root.read_bytes()
    names = list(nyssa.open(path))
    with nyssa.update(path) as file:
        file["a/b/New"] = {"y": np.arange(5)}
        file["a/c/New"] = {"y": np.arange(5)}
    new = written_by_root.read_bytes()
    tail = new[len(old) :]
    for state in (old + tail, new[:SECTOR] + old[SECTOR:] + tail):
        written_by_root.write_bytes(state)
        assert list(nyssa.open(path)) == names == list(uproot.open(path))
        assert root.call("histogram", path, "a/b/h") == [0.0, 3.0, 0.0]
        root.call("add_histogram", path, "a/c", "later")
        assert root.call("histogram", path, "a/c/later") == [0.0, 3.0, 0.0]
    written_by_root.write_bytes(new)
    for name in ("a/b/New", "a/c/New"):
        assert root.call("entries", path, name) == [{"y": y} for y in range(5)]
    assert len({place // SECTOR for place in _changed(old, new)}) == 2
    assert nyssa.verify(path).problems == []


def test_full_disk(written_by_root: Path) -> None:
    """The error names the file, which is unchanged."""
    old = written_by_root.read_bytes()
    process = _append(written_by_root, len(old) + 1_000_000)
    _, talk = process.communicate()
    assert process.returncode == 1
    last = talk.strip().splitlines()[-1]
    assert f"of {written_by_root}: File too large" in last
    assert written_by_root.read_bytes()[: len(old)] == old
    assert nyssa.open(f"{written_by_root}:Events").num_entries == 50


def test_two_at_once(written_by_root: Path) -> None:
    """A second process is refused while the first has the file open, and can open it afterwards."""
    with nyssa.update(written_by_root):
        process = _append(written_by_root)
        _, talk = process.communicate()
        assert process.returncode == 1
        assert "another program is writing to it" in talk
    process = _append(written_by_root)
    _, talk = process.communicate()
    assert process.returncode == 0, talk


def _free_list(path: Path) -> tuple[int, bytes]:
    """Return the end of the file, and the bytes of its free segments, as its header says."""
    data = path.read_bytes()
    _, end, seek, size, _ = struct.unpack(">5i", data[8:28])
    (keylen,) = struct.unpack(">h", data[seek + 14 : seek + 16])
    return end, data[seek + keylen : seek + size]


def test_a_free_list_that_ends_in_zeros(tmp_path: Path, root: Root) -> None:
    """ROOT reads the free segments until one ends behind the file, and leaves zeros behind it."""
    path = tmp_path / "names.root"
    for seed in range(60):
        root.call("names_replaced", str(path), seed)
        assert not nyssa.verify(path).problems
        end, segments = _free_list(path)
        if segments.endswith(bytes(10)):
            break
    else:
        pytest.fail("ROOT wrote no such list")
    first, last = struct.unpack(">2i", segments[-18:-10])
    assert first == end < last
    with nyssa.update(path) as file:
        file["new"] = "text"
    root.call("names_replaced", str(path), 0)
    assert not nyssa.verify(path).problems
    assert str(nyssa.open(path)["new"]) == "text"
