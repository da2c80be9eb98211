"""Tests deferred arrays of graphed; uproot and awkward give the expected values."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import TESTDATA

STRUCTURES = TESTDATA / "rntuple" / "structures.root"
ENTRIES = 1000

graphed = pytest.importorskip("graphed", reason="no graphed (make test-dask)")

from graphed.awkward import AwkwardBackend, gak  # noqa: E402
from graphed.core.execution import SequentialRunner  # noqa: E402


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Return a TTree of uproot, and an RNTuple of another one."""
    for number in range(2):
        values = np.arange(ENTRIES) + number * ENTRIES
        lists = ak.unflatten(np.arange(np.sum(values % 4)) / 4.0, values % 4)
        with uproot.recreate(tmp_path / f"{number}.root") as file:
            file.mktree("Events", {"n": "int64", "unused": "float64", "pt": "var * float64"})
            file["Events"].extend({"n": values, "unused": values / 2, "pt": lists})
    nyssa.convert(f"{tmp_path}/1.root:Events", tmp_path / "ntuple.root")
    return [f"{tmp_path}/0.root:Events", f"{tmp_path}/ntuple.root:Events"]


def expected(tmp_path: Path) -> ak.Array:
    return ak.concatenate([uproot.open(tmp_path / f"{n}.root")["Events"].arrays() for n in (0, 1)])


def planned(output: Any, **options: Any) -> list[Any]:
    """Return what a plan computes: the values of all partitions."""
    plan = graphed.aggregate_plan(
        output,
        reduce=lambda values: [ak.to_list(value) for value in values],
        combine=lambda a, b: a + b,
        empty=list,
        **options,
    )
    return [item for part in SequentialRunner().run(plan).value for item in part]


def test_a_plan_reads_trees_and_ntuples(files: list[str], tmp_path: Path) -> None:
    session = graphed.Session(AwkwardBackend())
    events = nyssa.graphed(session, "events", files)
    assert events.fields == ["n", "unused", "npt", "pt"]
    chosen = gak.sum(events.pt[events.n % 2 == 0], axis=1)
    whole = expected(tmp_path)
    wanted = ak.sum(whole.pt[whole.n % 2 == 0], axis=1).to_list()
    for steps in (1, 3):
        assert planned(chosen, steps_per_file=steps) == wanted
    assert session.materialize(chosen).to_list() == wanted


def test_only_what_is_used_is_read(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    with uproot.recreate(tmp_path / "big.root") as file:
        file.mktree("Events", {"used": "float64", "unused": "float64"})
        file["Events"].extend({name: random.random(200_000) for name in ("used", "unused")})
    session = graphed.Session(AwkwardBackend())
    events = nyssa.graphed(session, "events", f"{tmp_path}/big.root:Events")
    before = nyssa.io_stats().bytes_readv + nyssa.io_stats().bytes_read
    assert len(planned(events.used * 2)) == 200_000
    read = nyssa.io_stats().bytes_readv + nyssa.io_stats().bytes_read - before
    assert 1_400_000 < read < 1_900_000


def test_whole_events_that_are_selected_read_what_is_used(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    columns = {name: random.random(200_000) for name in ("x", "y", "unused")}
    with uproot.recreate(tmp_path / "big.root") as file:
        file.mktree("Events", dict.fromkeys(columns, "float64")).extend(columns)
    session = graphed.Session(AwkwardBackend())
    events = nyssa.graphed(session, "events", f"{tmp_path}/big.root:Events")
    before = nyssa.io_stats().bytes_readv + nyssa.io_stats().bytes_read
    wanted = columns["y"][columns["x"] > 0.5].tolist()
    assert planned(events[events.x > 0.5].y) == wanted
    read = nyssa.io_stats().bytes_readv + nyssa.io_stats().bytes_read - before
    assert 2_800_000 < read < 3_800_000


def test_members_of_records() -> None:
    name = nyssa.open(STRUCTURES).keys(cycle=False)[0]
    whole = nyssa.open(f"{STRUCTURES}:{name}").arrays()
    session = graphed.Session(AwkwardBackend())
    events = nyssa.graphed(session, "events", f"{STRUCTURES}:{name}")
    member = whole.hits.fields[-1]
    assert planned(events.hits[member]) == ak.to_list(whole.hits[member])


def test_a_source_is_pickled(files: list[str], tmp_path: Path) -> None:
    session = graphed.Session(AwkwardBackend())
    nyssa.graphed(session, "events", files)
    (source,) = pickle.loads(pickle.dumps(list(session.sources().values())))
    parts = [source.read_partition(part, ["n"], None) for part in source.partitions(2)]
    assert [part.fields for part in parts] == [["n"]] * 4
    assert ak.array_equal(ak.concatenate(parts).n, expected(tmp_path).n)


def test_the_union_of_files(tmp_path: Path) -> None:
    for name, columns in (("a", {"x": "int32", "a": "float32"}), ("b", {"x": "int64"})):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            tree = file.mktree("Events", columns)
            tree.extend({one: np.arange(3, dtype=kind) for one, kind in columns.items()})
    session = graphed.Session(AwkwardBackend())
    events = nyssa.graphed(session, "events", f"{tmp_path}/*.root:Events", schema="union")
    assert planned(events.a) == [0, 1, 2, None, None, None]
    assert planned(events.x) == [0, 1, 2, 0, 1, 2]
