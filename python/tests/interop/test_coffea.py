"""Compares NanoEvents and processors that nyssa reads with coffea's with uproot."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa

pytest.importorskip("coffea", reason="no coffea (make test-coffea)")

from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema, NanoEventsFactory

from nyssa import coffea
from support.dask import dask_client

ENTRIES = 500

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def nano(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let uproot write a TTree as NanoAOD has it, with cross-references."""
    path = tmp_path_factory.mktemp("coffea") / "nano.root"
    random = np.random.default_rng(7)
    jets, gen = random.integers(0, 6, ENTRIES), random.integers(0, 5, ENTRIES)
    index = [random.integers(-1, m, n, np.int32) for n, m in zip(jets, gen, strict=True)]

    def vectors(counts: np.ndarray) -> dict[str, ak.Array]:
        numbers = random.exponential(30, (4, counts.sum())).astype(np.float32)
        named = zip(("pt", "eta", "phi", "mass"), numbers, strict=True)
        return {name: ak.unflatten(one, counts) for name, one in named}

    columns = {
        "run": np.full(ENTRIES, 1, np.uint32),
        "luminosityBlock": np.ones(ENTRIES, np.uint32),
        "event": np.arange(ENTRIES, dtype=np.uint64),
        "MET_pt": random.random(ENTRIES).astype(np.float32),
        "MET_phi": random.random(ENTRIES).astype(np.float32),
        "HLT_Mu": random.random(ENTRIES) < 0.5,
        "Jet": ak.zip({**vectors(jets), "genJetIdx": ak.unflatten(np.concatenate(index), jets)}),
        "GenJet": ak.zip(vectors(gen)),
    }
    with uproot.recreate(path) as file:
        types = {name: ak.type(column).content for name, column in columns.items()}
        tree = file.mktree("Events", types, title="Events of a test")
        for start in range(0, ENTRIES, 100):
            tree.extend({name: one[start : start + 100] for name, one in columns.items()})
    return path


def same(found: ak.Array, expected: ak.Array) -> int:
    """Compare all columns of NanoEvents, and return how many there are."""
    assert found.fields == expected.fields
    columns = 0
    for name in expected.fields:
        assert sorted(found[name].fields) == sorted(expected[name].fields)
        for field in expected[name].fields or [None]:
            pair = [one[name] if field is None else one[name][field] for one in (found, expected)]
            assert ak.array_equal(*pair, equal_nan=True, check_parameters=False), (name, field)
            columns += 1
    return columns


def of_coffea(path: Path) -> ak.Array:
    return NanoEventsFactory.from_root({str(path): "Events"}, schemaclass=NanoAODSchema).events()


def test_events_equal_those_of_coffea(nano: Path, tmp_path: Path) -> None:
    expected = of_coffea(nano)
    found = coffea.events(f"{nano}:Events", metadata={"dataset": "test"})
    assert same(found, expected) >= 15
    assert found.metadata["dataset"] == "test"
    nyssa.convert(f"{nano}:Events", tmp_path / "ntuple.root")
    converted = coffea.events(f"{tmp_path}/ntuple.root:Events")
    assert ak.array_equal(converted.Jet.eta, expected.Jet.eta, check_parameters=False)
    assert ak.array_equal(converted.MET.pt, expected.MET.pt, check_parameters=False)
    eager = coffea.events(f"{nano}:Events", mode="eager", entry_start=100, entry_stop=250)
    assert ak.to_list(eager.Jet.pt) == ak.to_list(expected.Jet.pt[100:250])


def test_nanoaod_of_cms(data: Path) -> None:
    path = data / "agc" / "nano_tt_v12.root"
    found, expected = coffea.events(f"{path}:Events"), of_coffea(path)
    assert same(found, expected) > 400
    assert ak.to_list(found.Jet.matched_gen.pt) == ak.to_list(expected.Jet.matched_gen.pt)


def test_only_what_is_used_is_read(nano: Path) -> None:
    read: list[Any] = []
    found = coffea.events(f"{nano}:Events", access_log=read, preload=["MET_pt"])
    assert read == []
    assert ak.sum(found.Jet.pt) > 0
    assert {one.branch for one in read} <= {"Jet_pt", "nJet"}


def test_a_wrong_mode_is_refused(nano: Path) -> None:
    with pytest.raises(nyssa.ArgumentError) as caught:
        coffea.events(f"{nano}:Events", mode="dask")
    assert str(caught.value) == "mode is 'virtual' or 'eager', not 'dask'"


class Sums(processor.ProcessorABC):
    """Sums what jets have, and counts chunks."""

    def process(self, events: ak.Array) -> dict[str, Any]:
        """Return the sums of a chunk."""
        leading = ak.fill_none(ak.max(events.Jet.pt, axis=1), 0)
        name = events.metadata["dataset"]
        found = {"entries": len(events), "sum": float(ak.sum(ak.values_astype(leading, "float64")))}
        return {name: {**found, "chunks": 1}}

    def postprocess(self, accumulator: Any) -> None:
        """Leave the sums as they are."""


@pytest.fixture(params=["iterative", "futures", "dask"])
def executor(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return an executor of coffea."""
    if request.param == "iterative":
        yield processor.IterativeExecutor(status=False)
    elif request.param == "futures":
        yield processor.FuturesExecutor(workers=2, status=False)
    else:
        with dask_client(workers=1, threads=2) as client:
            yield processor.DaskExecutor(client=client, status=False)


def test_processors_run_on_all_executors(nano: Path, tmp_path: Path, executor: Any) -> None:
    nyssa.convert(f"{nano}:Events", tmp_path / "ntuple.root")
    fileset = {"tree": [str(nano)], "ntuple": [str(tmp_path / "ntuple.root")]}
    options = {"chunksize": 200, "schema": NanoAODSchema, "savemetrics": True}
    run = coffea.Runner(executor=executor, align_clusters=False, **options)
    found = run(fileset, Sums(), treename="Events")
    found, metrics = found if isinstance(found, tuple) else (found["out"], found["metrics"])
    oracle = processor.Runner(executor=processor.IterativeExecutor(status=False), **options)
    expected = oracle({"tree": [str(nano)]}, Sums(), treename="Events")
    expected = expected[0] if isinstance(expected, tuple) else expected["out"]
    assert found["tree"] == pytest.approx(expected["tree"], rel=1e-12)
    assert found["ntuple"]["sum"] == pytest.approx(expected["tree"]["sum"], rel=1e-12)
    assert metrics["entries"] == 2 * ENTRIES
    aligned = coffea.Runner(executor=executor, align_clusters=True, **options)
    again = aligned({"tree": [str(nano)]}, Sums(), treename="Events")
    again = again[0] if isinstance(again, tuple) else again["out"]
    assert again["tree"]["sum"] == pytest.approx(expected["tree"]["sum"], rel=1e-12)
    assert again["tree"]["entries"] == ENTRIES


def test_processors_run_on_processes_of_parsl(nano: Path, tmp_path: Path) -> None:
    pytest.importorskip("parsl", reason="no parsl (make test-coffea)")
    from support import with_parsl

    nyssa.convert(f"{nano}:Events", tmp_path / "ntuple.root")
    found = with_parsl.run({"tree": [str(nano)], "ntuple": [str(tmp_path / "ntuple.root")]})
    oracle = processor.Runner(executor=processor.IterativeExecutor(status=False))
    expected = oracle({"tree": [str(nano)]}, with_parsl.Momenta(), treename="Events")
    values = with_parsl.plain(expected)["tree"]
    assert values[0] == ENTRIES
    assert found["tree"] == pytest.approx(values, rel=1e-12)
    assert found["ntuple"] == pytest.approx(values, rel=1e-12)


class Sum(processor.ProcessorABC):
    """Sums one column."""

    def process(self, events: ak.Array) -> dict[str, float]:
        """Return the sum."""
        return {"sum": float(ak.sum(events.x))}

    def postprocess(self, accumulator: dict[str, float]) -> dict[str, float]:
        """Return what was summed."""
        return accumulator


def test_a_file_that_was_written_again(tmp_path: Path) -> None:
    """Its arrays and its number of entries differ from the old file."""
    path = tmp_path / "a.root"
    run = coffea.Runner(executor=processor.IterativeExecutor(status=False), schema=BaseSchema)
    for count, value in ((3, 1.0), (3, 9.0), (5, 7.0), (2, 3.0)):
        with uproot.recreate(path) as file:
            file.mktree("Events", {"x": np.full(count, value)})
        events = coffea.events(f"{path}:Events", schemaclass=BaseSchema)
        assert ak.sum(events.x) == count * value
        assert run({"data": [str(path)]}, Sum(), treename="Events") == {"sum": count * value}
