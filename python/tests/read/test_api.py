"""Tests the Python interface: files, datasets, filters, libraries, steps."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa.arguments.sizes import bytes_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with RNTuples at the top and in a directory."""
    path = tmp_path / "some.root"
    with nyssa.recreate(path, cluster_size="1 kB", compression=0) as out:
        n = np.arange(1000, dtype=np.int32)
        out["Events"] = {
            "n": n,
            "x": n * 0.5,
            "Jet_pt": ak.unflatten(np.arange(np.sum(n % 3), dtype=np.float32), n % 3),
            "Jet_id": ak.unflatten(np.arange(np.sum(n % 3), dtype=np.int16), n % 3),
            "xyz": np.stack([n, n + 1, n + 2], axis=1),
            "name": [f"é{i}" for i in range(1000)],
            "ok": n % 2 == 0,
        }
        out["dir/sub/Runs"] = {"run": np.array([7])}
    return path


def test_file_is_a_mapping(file: Path) -> None:
    with nyssa.open(file) as opened:
        assert "Events" in opened
        assert "Events;1" in opened
        assert "Events;2" not in opened
        assert opened.keys(filter_classname="ROOT::RNTuple") == ["Events;1", "dir/sub/Runs;1"]
        assert opened.keys(cycle=False, filter_name="*Runs") == ["dir/sub/Runs"]
        assert opened.keys(recursive=False) == ["Events;1", "dir;1"]
        assert opened.classnames()["Events;1"] == "ROOT::RNTuple"
        assert opened.datasets() == ["Events", "dir/sub/Runs"]
        assert list(opened) == opened.keys()
        assert len(opened) == len(opened.keys())
        assert opened["dir/sub/Runs"].num_entries == 1
        assert opened["dir"]["sub/Runs"].num_entries == 1
        assert opened["dir"].keys() == ["sub;1", "sub/Runs;1"]
        assert opened["Events/n"].name == "n"
        assert str(file) in repr(opened)


def test_paths_with_objects(file: Path) -> None:
    events = nyssa.open(f"{file}:Events")
    assert isinstance(events, nyssa.RNTuple)
    assert events.name == events.object_path == "Events"
    assert events.file_path == str(file)
    assert nyssa.open(f"{file}:dir/sub/Runs").object_path == "dir/sub/Runs"
    with nyssa.open(f"{file}:Events") as same:
        assert same.num_entries == 1000


def test_cycles(data: Path) -> None:
    """A name means the highest cycle; a number selects an older one."""
    path = data / "ttree" / "uproot-issue-407.root"
    with nyssa.open(path) as opened:
        for key in opened.keys(filter_classname="TTree"):
            assert opened[key].object_path == key.partition(";")[0]


def test_dataset_is_a_mapping(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    events = nyssa.open(f"{file}:Events")
    assert list(events) == events.keys()
    assert len(events) == len(events.keys()) == 7
    assert "x" in events
    assert "y" not in events
    assert events.typenames()["Jet_pt"] == "std::vector<float>"
    assert events.readable == events.keys()
    assert events.unreadable == {}
    column = events["Jet_pt"]
    assert (column.name, column.typename, column.num_entries) == (
        "Jet_pt",
        "std::vector<float>",
        1000,
    )
    assert column.arrow_type is not None
    assert column.reason is None
    events.show(filter_name="Jet_*")
    shown = capsys.readouterr().out
    assert "Jet_pt" in shown
    assert "name" in shown
    assert "xyz" not in shown
    assert "1000 entries" in repr(events)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("Jet_*", ["Jet_pt", "Jet_id"]),
        ("n", ["n"]),
        (["n", "x*"], ["n", "x", "xyz"]),
        ("/^jet_.t$/i", ["Jet_pt"]),
        (re.compile(".y"), ["xyz"]),
        (lambda name: len(name) == 1, ["n", "x"]),
        (None, ["n", "x", "Jet_pt", "Jet_id", "xyz", "name", "ok"]),
    ],
)
def test_filters(file: Path, given: Any, expected: list[str]) -> None:
    events = nyssa.open(f"{file}:Events")
    assert events.keys(filter_name=given) == expected
    assert events.arrays(filter_name=given).fields == expected


def test_filter_by_type(file: Path) -> None:
    events = nyssa.open(f"{file}:Events")
    assert events.keys(filter_typename="std::vector<*>") == ["Jet_pt", "Jet_id"]
    assert events.arrays(filter_typename="double").fields == ["x"]


def test_names(file: Path) -> None:
    """Names keep the given order; globs among them are expanded."""
    events = nyssa.open(f"{file}:Events")
    assert events.arrays(["x", "n"]).fields == ["x", "n"]
    assert events.arrays("x").fields == ["x"]
    assert events.arrays(["ok", "Jet_*"]).fields == ["ok", "Jet_pt", "Jet_id"]
    assert events.arrays(["x", "x"]).fields == ["x"]


@pytest.mark.parametrize(
    ("start", "stop"),
    [(None, None), (10, 20), (0, 0), (990, None), (-5, None), (None, -995), (5, 3), (0, 5000)],
)
def test_entry_ranges(file: Path, start: int | None, stop: int | None) -> None:
    """Ranges work as slices of Python."""
    events = nyssa.open(f"{file}:Events")
    whole = events.arrays()
    part = events.arrays(entry_start=start, entry_stop=stop)
    rows = range(1000)[start:stop]
    assert ak.array_equal(part, whole[rows.start : max(rows.start, rows.stop)])


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads(file: Path, threads: int) -> None:
    events = nyssa.open(f"{file}:Events")
    assert ak.array_equal(events.arrays(threads=threads), events.arrays())


def test_numpy(file: Path) -> None:
    events = nyssa.open(f"{file}:Events")
    arrays = events.arrays(library="np", entry_stop=4)
    assert arrays["n"].dtype == np.int32
    assert arrays["ok"].tolist() == [True, False, True, False]
    assert arrays["xyz"].shape == (4, 3)
    assert arrays["name"].tolist() == ["é0", "é1", "é2", "é3"]
    assert arrays["Jet_pt"].dtype == object
    assert [one.tolist() for one in arrays["Jet_pt"]] == [[], [0], [1, 2], []]
    assert arrays["Jet_pt"][1].dtype == np.float32
    np.testing.assert_array_equal(events["x"].array(library="np"), np.arange(1000) * 0.5)


def test_arrow(file: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    events = nyssa.open(f"{file}:Events")
    table = events.arrays(library="arrow")
    assert isinstance(table, pa.Table)
    assert table.schema.field("Jet_pt").type == pa.large_list(
        pa.field("item", pa.float32(), nullable=False)
    )
    assert table.schema.field("name").type == pa.large_string()
    assert table.to_pylist() == events.arrays().to_list()
    assert events["name"].array(library="arrow").to_pylist()[1] == "é1"
    stream = pa.RecordBatchReader.from_stream(events)
    batches = list(stream)
    assert len(batches) == len(events.clusters) > 1
    assert pa.Table.from_batches(batches) == table.combine_chunks()


def test_pandas(file: Path) -> None:
    pd = pytest.importorskip("pandas")
    events = nyssa.open(f"{file}:Events")
    frame = events.arrays(library="pd", entry_start=10, entry_stop=13)
    assert isinstance(frame, pd.DataFrame)
    assert frame.index.tolist() == [10, 11, 12]
    assert frame["x"].tolist() == [5, 5.5, 6]
    assert frame["x"].dtype == np.float64
    assert frame["name"].tolist() == ["é10", "é11", "é12"]
    assert frame["xyz"].tolist()[0].tolist() == [10, 11, 12]
    assert events["x"].array(library="pd", entry_stop=2).tolist() == [0, 0.5]


def test_polars(file: Path) -> None:
    pl = pytest.importorskip("polars")
    events = nyssa.open(f"{file}:Events")
    frame = events.arrays(library="polars")
    assert isinstance(frame, pl.DataFrame)
    assert frame.to_dicts()[5:9] == events.arrays().to_list()[5:9]
    assert pl.from_arrow(events).struct.unnest().equals(frame)
    assert events["Jet_pt"].array(library="polars").to_list()[2] == [1, 2]


@pytest.mark.parametrize("step", [1, 7, 1000, 5000, "1 kB", "2 KiB", "1 GB"])
def test_iterate(file: Path, step: int | str) -> None:
    events = nyssa.open(f"{file}:Events")
    parts = list(events.iterate(["n", "Jet_pt"], step_size=step, report=True))
    ranges = [part[1] for part in parts]
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 1000
    assert all(a[1] == b[0] for a, b in pairwise(ranges))
    if isinstance(step, int):
        assert ranges[0][1] == min(step, 1000)
    whole = ak.concatenate([part[0] for part in parts])
    assert ak.array_equal(whole, events.arrays(["n", "Jet_pt"]))


def test_many_files(file: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.root"
    with nyssa.recreate(second) as out:
        out["Events"] = {"n": np.array([1000, 1001], dtype=np.int32)}
    for files in (
        [f"{file}:Events", f"{second}:Events"],
        {file: "Events", second: "Events"},
        f"{tmp_path}/s*.root:Events",
        [nyssa.open(f"{file}:Events"), second],
    ):
        expected = list(range(1002))
        if isinstance(files, str):
            expected = [1000, 1001, *range(1000)]  # in the order of the names
        assert nyssa.concatenate(files, "n").n.to_list() == expected
        steps = list(nyssa.iterate(files, "n", step_size=400))
        assert [len(step) for step in steps] in ([400, 400, 200, 2], [2, 400, 400, 200])
        assert ak.concatenate(steps).n.to_list() == expected
    pieces = nyssa.concatenate([f"{file}:Events", second], "n", library="np")
    np.testing.assert_array_equal(pieces["n"], np.arange(1002))
    reports = [r for _, r in nyssa.iterate(second, report=True)]
    assert reports == [(str(second), 0, 2)]
    for library in ("arrow", "pd", "polars"):
        pytest.importorskip({"arrow": "pyarrow", "pd": "pandas"}.get(library, library))
        assert len(nyssa.concatenate([f"{file}:Events", second], "n", library=library)) == 1002


def test_lists_of_one_collection_share_offsets(data: Path) -> None:
    """Fields of one collection are read with one offsets buffer."""
    path = next((data / "rntuple").glob("cmsopendata*"))
    arrays = nyssa.open(path)["Events"].arrays(["Jet_pt", "Jet_eta"])
    first, second = arrays.layout.contents
    assert first.offsets is second.offsets


def test_arrays_outlive_their_dataset(file: Path) -> None:
    """Arrays keep the buffers alive that they use."""
    import gc

    array = nyssa.open(f"{file}:Events")["x"].array(library="np")
    gc.collect()
    np.testing.assert_array_equal(array, np.arange(1000) * 0.5)
    array[0] = 1  # It belongs to the caller alone.


def test_sizes() -> None:
    assert bytes_of("100 MB") == 100_000_000
    assert bytes_of("1.5 KiB") == 1536
    assert bytes_of("10") == bytes_of(10) == 10
    assert bytes_of("2e3 kb") == 2_000_000
    for wrong in ("", "MB", "-1 MB", "1 XB", 0, True, None):
        with pytest.raises(nyssa.errors.ArgumentError):
            bytes_of(wrong)  # type: ignore[arg-type]


def test_threads_share_a_dataset(file: Path) -> None:
    """Several threads read one dataset at the same time, with arrays, take and iterate."""
    events = nyssa.open(f"{file}:Events")
    expected = np.arange(1000) * 0.5

    def work(number: int) -> bool:
        start = 100 * number
        part = events.arrays("x", entry_start=start, library="np", threads=1)["x"]
        steps = [step["x"] for step in events.iterate("x", step_size=64, library="np")]
        some = events.take([start, 5, start], "x", library="np")["x"]
        return (
            np.array_equal(part, expected[start:])
            and np.array_equal(np.concatenate(steps), expected)
            and some.tolist() == [expected[start], 2.5, expected[start]]
        )

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(8))) == [True] * 8


def test_fork_after_reading(file: Path) -> None:
    """A forked process starts its own threads."""
    import multiprocessing as mp

    assert len(nyssa.open(f"{file}:Events").arrays()) == 1000
    with mp.get_context("fork").Pool(1) as pool:
        assert pool.apply_async(_read, (str(file),)).get(timeout=20) == 1000


def _read(path: str) -> int:
    return len(nyssa.open(f"{path}:Events").arrays())


def test_unreadable_columns(data: Path) -> None:
    """A column that cannot be read is named, with the reason, before anything is read."""
    # The file with the baskets of its friends does not exist.
    path = data / "ttree" / "roottest" / "meta__MakeProject__alice_ESDs.root"
    tree = nyssa.open(path)["esdTree"]
    assert tree.unreadable
    name, reason = next(iter(tree.unreadable.items()))
    assert tree[name].reason == reason
    with pytest.raises(NotImplementedError, match=re.escape(name)):
        tree.arrays()
    with pytest.raises(NotImplementedError, match=re.escape(reason)):
        tree[name].array()
    some = tree.readable[:3]
    assert tree.arrays(some).fields == some


def test_command_line(file: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """The command line runs in this process and writes to the real streams."""
    from nyssa import _core

    assert _core.run_cli(["nyssa", "ls", str(file)]) == 0
    assert "Events" in capfd.readouterr().out
    assert _core.run_cli(["nyssa", "ls", str(file) + "missing"]) == 3
    assert "missing" in capfd.readouterr().err
