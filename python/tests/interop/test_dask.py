"""Tests partitions of files and collections of dask-awkward; uproot gives the expected values."""

from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
import nyssa.uproot
from support.dask import dask_client
from support.data import TESTDATA

ENTRIES = 1000
STRUCTURES = TESTDATA / "rntuple" / "structures.root"


def write(path: Path, first: int) -> Path:
    """Let uproot write a TTree."""
    numbers = np.arange(first, first + ENTRIES)
    lists = ak.unflatten(np.arange(np.sum(numbers % 4)) / 4.0 + first, numbers % 4)
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {"n": np.int64, "unused": np.float64, "pt": "var * float64"})
        tree.extend({"n": numbers, "unused": numbers / 2, "pt": lists})
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return three files."""
    return [f"{write(tmp_path / f'{n}.root', n * ENTRIES)}:Events" for n in range(3)]


def of_uproot(files: list[str]) -> ak.Array:
    return ak.concatenate([uproot.open(one).arrays() for one in files])


def _bytes_read() -> int:
    stats = nyssa.io_stats()
    return stats.bytes_read + stats.bytes_readv


def total(partition: nyssa.Partition) -> float:
    """Return a sum; another process does this."""
    return float(ak.sum(partition.arrays(["pt"]).pt))


def test_partitions_are_read_by_other_processes(files: list[str]) -> None:
    found = nyssa.partitions(files, step_size=300)
    assert len(found) == 12
    assert found[0] == (files[0].removesuffix(":Events"), "Events", 0, 250)
    assert sum(one.stop - one.start for one in found) == 3 * ENTRIES
    assert pickle.loads(pickle.dumps(found)) == found
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        sums = list(pool.map(total, found))
    assert sum(sums) == pytest.approx(float(ak.sum(of_uproot(files).pt)), rel=1e-12)
    with pytest.raises(nyssa.ArgumentError) as caught:
        nyssa.partitions(nyssa.open(files[0]))
    assert str(caught.value) == "partitions need files: give paths, not open datasets"


def test_partitions_by_the_client_of_dask(files: list[str]) -> None:
    with dask_client(workers=1, threads=2) as client:
        sums = client.gather(client.map(total, nyssa.partitions(files, step_size="cluster")))
    assert sum(sums) == pytest.approx(float(ak.sum(of_uproot(files).pt)), rel=1e-12)


def test_without_dask_awkward_the_error_says_what_to_do(files: list[str]) -> None:
    try:
        import dask_awkward  # noqa: F401
    except ImportError:
        with pytest.raises(nyssa.ArgumentError) as caught:
            nyssa.dask(files)
        assert str(caught.value) == (
            "nyssa.dask needs dask-awkward: pip install dask-awkward; without it, "
            "client.map reads what nyssa.partitions returns"
        )
    else:
        assert nyssa.dask(files).npartitions == 3


@pytest.fixture
def dak() -> Any:
    """Return dask-awkward, or skip."""
    return pytest.importorskip("dask_awkward", reason="no dask-awkward")


def test_a_collection_has_the_values_of_uproot(files: list[str], dak: Any) -> None:
    events = nyssa.dask(files, step_size=300)
    expected = of_uproot(files)
    assert events.npartitions == 12
    assert events.divisions[-1] == 3 * ENTRIES
    assert events.fields == ["n", "unused", "npt", "pt"]
    assert ak.array_equal(events.compute(), expected)
    chosen = events.pt[events.n % 2 == 0]
    assert ak.array_equal(chosen.compute(), expected.pt[expected.n % 2 == 0])
    assert list(dak.necessary_columns(chosen).values()) == [frozenset({"n", "pt"})]
    lengths = ak.num(events.pt)
    assert ak.array_equal(lengths.compute(), ak.num(expected.pt))
    assert nyssa.dask(files, filter_name="pt").fields == ["pt"]


def test_only_what_is_used_is_read(tmp_path: Path, dak: Any) -> None:
    generator = np.random.default_rng(1)
    columns = {"used": generator.random(200_000), "unused": generator.random(200_000)}
    with uproot.recreate(tmp_path / "big.root") as file:
        tree = file.mktree("Events", dict.fromkeys(columns, np.float64))
        for start in range(0, 200_000, 50_000):
            tree.extend({name: all_[start : start + 50_000] for name, all_ in columns.items()})
    events = nyssa.dask(f"{tmp_path}/big.root:Events", step_size=50_000)
    before = _bytes_read()
    found = dak.sum(events.used).compute(scheduler="synchronous")
    assert found == pytest.approx(columns["used"].sum(), rel=1e-12)
    assert 1_400_000 < _bytes_read() - before < 1_900_000


def test_members_of_records_are_columns(dak: Any) -> None:
    """Only the members that are used are read, also of records in lists."""
    whole = nyssa.open(STRUCTURES)
    name = whole.keys(cycle=False)[0]
    expected = whole[name].arrays()
    events = nyssa.dask(f"{STRUCTURES}:{name}", step_size=1000)
    # The last member has no members itself; the first one is the base class.
    member = expected.hits.fields[-1]
    chosen = events.hits[member]
    (columns,) = dak.necessary_columns(chosen).values()
    # The lengths of the lists come from any other member.
    assert f"hits.{member}" in columns
    assert all(one.startswith("hits.") for one in columns)
    assert len(columns) == 2
    assert ak.to_list(chosen.compute()) == ak.to_list(expected.hits[member])
    from nyssa.interop.dask_reader import ReadPartition

    reader = ReadPartition(expected.layout.form, expected.layout.form, 1)
    (partition,) = nyssa.partitions(f"{STRUCTURES}:{name}", step_size=1000)
    projected = reader.project_columns(columns)(partition)
    assert projected.fields == ["empty", "empties", "hits"]
    assert projected.hits.fields == [":_0", member]
    assert ak.to_list(events.compute()) == ak.to_list(expected)
    for field in events.fields:
        assert ak.to_list(events[field].compute()) == ak.to_list(expected[field]), field


def test_partitions_are_written(files: list[str], tmp_path: Path) -> None:
    pytest.importorskip("dask_awkward", reason="no dask-awkward")
    events = nyssa.dask(files)
    chosen = events[["n", "pt"]][events.n % 3 == 0]
    expected = of_uproot(files)
    expected = expected[["n", "pt"]][expected.n % 3 == 0]
    written = nyssa.dask_write(chosen, tmp_path / "parts")
    assert written == [f"{tmp_path}/parts/part-0000{n}.root" for n in range(3)]
    read = ak.concatenate([uproot.open(one)["Events"].arrays() for one in written])
    assert ak.to_list(read) == ak.to_list(expected)
    whole = nyssa.dask_write(chosen, tmp_path / "whole.root", "Jets", compression="lz4")
    assert whole == [f"{tmp_path}/whole.root"]
    assert ak.to_list(uproot.open(whole[0])["Jets"].arrays()) == ak.to_list(expected)
    assert sorted(one.name for one in tmp_path.iterdir()) == [
        "0.root",
        "1.root",
        "2.root",
        "parts",
        "whole.root",
    ]


def test_a_collection_of_a_file_that_was_written_again(tmp_path: Path) -> None:
    """A process that has read the old file reads the new one."""
    pytest.importorskip("dask_awkward", reason="no dask-awkward (make test-dask)")
    path = tmp_path / "a.root"
    for first in (0, 7000):
        write(path, first)
        total = ak.sum(nyssa.dask(f"{path}:Events").n, axis=None).compute(scheduler="sync")
        assert total == sum(range(first, first + ENTRIES))


def test_the_union_of_files(tmp_path: Path, dak: Any) -> None:
    """Columns that a file lacks are null there, and numbers are widened."""
    columns = {
        "a": {"x": np.arange(3, dtype=np.int32), "only_a": np.arange(3, dtype=np.float32)},
        "b": {"x": np.arange(3, 6, dtype=np.int64), "lists": ak.Array([[1.5], [], [2.5, 3.5]])},
    }
    for name, one in columns.items():
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            types = {key: ak.type(ak.Array(values)).content for key, values in one.items()}
            file.mktree("Events", types).extend(one)
    events = nyssa.dask(f"{tmp_path}/*.root:Events", schema="union", step_size=2)
    assert events.npartitions == 4
    assert events.x.compute().to_list() == [0, 1, 2, 3, 4, 5]
    assert events.only_a.compute().to_list() == [0, 1, 2, None, None, None]
    assert events.lists.compute().to_list() == [None, None, None, [1.5], [], [2.5, 3.5]]
    assert str(events.compute().type) == f"6 * {events._meta.layout.form.type}"
    chosen = events.x[dak.is_none(events.only_a)]
    assert list(dak.necessary_columns(chosen).values()) == [frozenset({"x", "only_a"})]
    assert chosen.compute().to_list() == [3, 4, 5]
    with pytest.raises(nyssa.ArgumentError, match="schema is None or 'union', not 'first'"):
        nyssa.dask(f"{tmp_path}/*.root:Events", schema="first")


@pytest.mark.parametrize("options", [{}, {"step_size": 4}, {"steps_per_file": 2}])
@pytest.mark.parametrize("library", ["ak", "np"])
def test_dask_by_the_names_of_uproot(tmp_path: Path, library: str, options: dict[str, Any]) -> None:
    """`nyssa.uproot.dask` has the columns, chunks and values of `uproot.dask`."""
    if library == "ak":
        pytest.importorskip("dask_awkward", reason="no dask-awkward")
    for number in range(2):
        with uproot.recreate(tmp_path / f"{number}.root") as file:
            table = {"x": np.arange(10) + number, "j": ak.Array([[1.5], []] * 5)}
            file.mktree("t", {"x": "int64", "j": "var * float64"})
            file["t"].extend(table)
    files = {str(tmp_path / f"{number}.root"): "t" for number in range(2)}
    steps = {path: {"object_path": "t", "steps": [[0, 3], [3, 10]]} for path in files}
    for given in (files, *([] if options else [steps])):
        want, have = (
            one.dask(given, library=library, filter_name=["x", "j"], **options)
            for one in (uproot, nyssa.uproot)
        )
        if library == "np":
            assert have["x"].chunks == want["x"].chunks
            assert have["x"].compute().tolist() == want["x"].compute().tolist()
            assert [*map(list, have["j"].compute())] == [*map(list, want["j"].compute())]
        else:
            assert have.npartitions == want.npartitions
            assert have.x.compute().to_list() == want.x.compute().to_list()
            assert have.compute()["j"].to_list() == want.compute()["j"].to_list()


@pytest.mark.usefixtures("dak")
def test_dask_write_by_the_names_of_uproot(tmp_path: Path) -> None:
    """`nyssa.uproot.dask_write` makes the files of `uproot.dask_write`."""
    with uproot.recreate(tmp_path / "0.root") as file:
        file.mktree("t", {"x": np.arange(10)})
    contents = []
    for one in (uproot, nyssa.uproot):
        events = uproot.dask(f"{tmp_path}/0.root:t", step_size=5)
        folder = tmp_path / one.__name__
        one.dask_write(events, str(folder), compute=True)
        names = sorted(path.name for path in folder.iterdir())
        contents.append(
            {name: uproot.open(folder / name)["tree/x"].array().to_list() for name in names}
        )
    assert contents[0] == contents[1]


@pytest.mark.usefixtures("dak")
def test_dask_opens_files_later_by_the_names_of_uproot(tmp_path: Path) -> None:
    """Only the first file is opened; errors of others are in the report."""
    for number in range(2):
        with uproot.recreate(tmp_path / f"{number}.root") as file:
            file.mktree("t", {"x": np.arange(10) + number, "y": np.ones(10)})
    files = [f"{tmp_path}/{number}.root:t" for number in range(2)]
    for one in (uproot, nyssa.uproot):
        events = one.dask(files, open_files=False, steps_per_file=2)
        assert events.divisions == (None,) * 5
        assert events.x.compute().to_list() == [*range(10), *range(1, 11)]
        assert one.dask(files).divisions == (0, 10, 20)
        assert one.dask(f"{files[0]}/x").fields == ["x"]
        missing = [*files, f"{tmp_path}/2.root:t"]
        events, report = one.dask(
            missing, open_files=False, allow_read_errors_with_report=(FileNotFoundError,)
        )
        found = pytest.importorskip("dask").compute(events, report)
        assert len(found[0]) == 20
        assert found[1].exception.to_list() == [None, None, "FileNotFoundError"]
        form = one.dask(files, filter_name="x").form
        known = one.dask(files, open_files=False, known_base_form=form)
        assert known.compute().fields == ["x"]
        with pytest.raises(TypeError):
            one.dask(files, open_files=False, step_size=2)
        with pytest.raises(ValueError, match=r"."):
            one.dask({files[0].partition(":")[0]: {"object_path": "t", "steps": [0, 11]}}).compute()
