"""Adding to files in place: ROOT and nyssa read the old entries and the new ones."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa import errors
from root_oracle import Root


def events(first: int, count: int) -> dict[str, object]:
    """Return entries of all kinds that ROOT's files below have."""
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
    """ROOT reads all entries; everything else in the file stays, and ROOT can write to it again."""
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
    # And again, behind what ROOT has written.
    with nyssa.update(path) as file:
        file[name].extend(events(0, 1))
    assert root.call("entries", path, name) == before + new + before[:1]
    assert root.call("histogram", path, "later/g") == [0.0, 3.0, 0.0]


def test_new_rntuples(written_by_root: Path, root: Root) -> None:
    """In old directories and new ones."""
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
    """The file learns what the class of RNTuples looks like."""
    path = tmp_path / "histogram.root"
    root.call("add_histogram", str(path), "", "h")
    with nyssa.update(path) as file:
        file["Events"] = events(0, 10)
    assert len(root.call("entries", str(path), "Events")) == 10
    assert root.call("histogram", str(path), "h") == [0.0, 3.0, 0.0]


def test_late_fields(written_by_root: Path, root: Root) -> None:
    """Fields added on the way read as zero in the entries before."""
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


def test_nothing_is_left_of_a_failure(written_by_root: Path) -> None:
    """An exception inside the with, wrong data, and a file that is never closed."""
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
    """Entries of files that others wrote, added to themselves."""
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
