"""Several Python threads fill one RNTuple; ROOT reads the file."""

from __future__ import annotations

import json

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.filling import fill_in_threads

ENTRIES, CONTEXTS = 3000, 3
TYPES = {"x": np.int64, "v": "var * float32", "name": "string"}


def chunk(start: int, stop: int) -> dict:
    numbers = np.arange(start, stop)
    return {
        "x": numbers,
        "v": ak.unflatten(np.repeat(numbers, numbers % 4).astype(np.float32), numbers % 4),
        "name": [f"entry {i}" for i in numbers],
    }


def fill(path, order="completion", **options) -> None:
    """Three threads each write a third of the entries, in steps of 70."""
    settings = {"fill_contexts": CONTEXTS, "fill_order": order, "cluster_size": 2000, **options}
    with nyssa.recreate(path, **settings) as file:
        events = file.mkrntuple("Events", TYPES)
        fill_in_threads(events, chunk, ENTRIES, CONTEXTS)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"order": "round-robin"},
        {"buffered": False},
        {"compression": 0, "checksums": False, "same_page_merging": False},
        {"compression": "lz4", "page_size": 512, "page_buffer_budget": "20 kB"},
    ],
    ids=["completion", "round-robin", "unbuffered", "plain", "small pages"],
)
def test_root_reads_what_threads_filled(tmp_path, root, options):
    path = tmp_path / "parallel.root"
    fill(path, **options)
    entries = root.call("entries", str(path), "Events")
    expected = chunk(0, ENTRIES)
    assert sorted(entry["x"] for entry in entries) == list(range(ENTRIES))
    for entry in entries[::17]:
        number = entry["x"]
        assert entry["v"] == expected["v"][number].tolist()
        assert entry["name"] == expected["name"][number]
    if options.get("order") == "round-robin":
        # The clusters of the three threads alternate, each thread in its own order.
        thirds = [entry["x"] * CONTEXTS // ENTRIES for entry in entries]
        changes = [a for a, b in zip(thirds, [None, *thirds], strict=False) if a != b]
        assert changes[:6] == [0, 1, 2, 0, 1, 2]
    for third in range(CONTEXTS):
        own = [e["x"] for e in entries if e["x"] * CONTEXTS // ENTRIES == third]
        assert own == sorted(own)


def test_data_that_do_not_fit_leave_the_context_usable(tmp_path):
    path = tmp_path / "out.root"
    with nyssa.recreate(path, fill_contexts=1) as file:
        events = file.mkrntuple("Events", {"x": np.int32})
        with events.fill_context() as context:
            context.extend({"x": np.arange(3, dtype=np.int32)})
            with pytest.raises(nyssa.errors.ArgumentError):
                context.extend({"x": np.array(["a"])})
            with pytest.raises(nyssa.errors.ArgumentError, match="missing"):
                context.extend({"y": np.arange(3)})
            context.extend({"x": np.arange(3, 5, dtype=np.int32)})
            assert context.num_entries == 5
    assert nyssa.open(f"{path}:Events")["x"].array().tolist() == [0, 1, 2, 3, 4]


def test_entries_before_contexts_come_first_and_closing_the_file_closes_contexts(tmp_path):
    path = tmp_path / "out.root"
    with nyssa.recreate(path, fill_contexts=2) as file:
        events = file.mkrntuple("Events", {"x": np.arange(2)})
        context = events.fill_context()
        with pytest.raises(nyssa.errors.ArgumentError, match="fill contexts"):
            events.extend({"x": np.arange(2)})
        context.extend({"x": np.arange(2, 4)})
        events.fill_context()
        with pytest.raises(nyssa.errors.ArgumentError, match="2 fill contexts"):
            events.fill_context()
    assert nyssa.open(f"{path}:Events")["x"].array().tolist() == [0, 1, 2, 3]
    with pytest.raises(nyssa.errors.ArgumentError, match="closed"):
        context.extend({"x": np.arange(1)})


def test_an_exception_in_a_thread_leaves_no_file(tmp_path):
    path = tmp_path / "out.root"
    with pytest.raises(nyssa.errors.ArgumentError, match="1 entries"), nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", {"x": np.int64})
        with pytest.raises(RuntimeError), events.fill_context() as context:
            context.extend({"x": np.arange(1)})
            raise RuntimeError
    assert not path.exists()
    with nyssa.recreate(path) as file:
        context = file.mkrntuple("Events", {"x": np.int64}).fill_context()
        context.extend({"x": np.arange(7)})
        assert context.discard() == 7
    assert nyssa.open(f"{path}:Events").num_entries == 0


def test_the_estimate_fits_the_memory_and_refuses_with_advice():
    types = {f"x{i}": "var * float32" for i in range(500)}
    estimate = nyssa.estimate_write_memory(types, memory="64 MiB", fill_contexts=2)
    assert estimate["total"] <= 64 << 20
    parts = {"buffers", "sealed", "compressors", "file", "total"}
    assert set(estimate) == parts
    json.dumps(estimate)
    small = nyssa.estimate_write_memory({"x": np.float32}, memory="64 MiB", buffered=False)
    assert small["total"] < estimate["total"]
    with pytest.raises(nyssa.LimitError, match="give at least"):
        nyssa.estimate_write_memory(types, memory="2 MB", fill_contexts=8)
    with pytest.raises(nyssa.errors.ArgumentError, match="speed"):
        nyssa.estimate_write_memory(types, speed=1)
