"""Compares NanoEvents and processors that nyssa reads with coffea's with uproot."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import cloudpickle
import numpy as np
import pytest
import uproot

import nyssa

pytest.importorskip("coffea", reason="no coffea (make test-coffea)")

from coffea import processor
from coffea.nanoevents import BaseSchema, NanoAODSchema, NanoEventsFactory, PHYSLITESchema

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
    assert str(caught.value) == (
        "mode is 'virtual' or 'eager', not 'dask'; for Dask, use Runner with processor.DaskExecutor"
    )


def forms_without_keys(array: ak.Array) -> Any:
    """Return a form without the keys of its buffers, which have the identity of the file."""

    def cleared(node: Any) -> Any:
        if isinstance(node, dict):
            return {name: cleared(one) for name, one in node.items() if name != "form_key"}
        return [cleared(one) for one in node] if isinstance(node, list) else node

    return cleared(json.loads(array.layout.form.to_json()))


def test_fields_have_the_docs_and_types_of_coffea(nano: Path, data: Path) -> None:
    for path in (nano, data / "ttree" / "nanoAOD_2015_CMS_Open_Data_ttbar.root"):
        found, expected = coffea.events(f"{path}:Events"), of_coffea(path)
        assert forms_without_keys(found) == forms_without_keys(expected)
    assert found.GenJet.pt.__doc__ == expected.GenJet.pt.__doc__ == "pt"


def test_what_from_root_takes_is_taken(nano: Path) -> None:
    expected = ak.to_list(of_coffea(nano).Jet.pt)
    with nyssa.open(nano) as file:
        inputs = [
            {str(nano): "Events"},
            {nano: {"object_path": "Events"}},
            {str(nano): None},
            str(nano),
            nano,
            [f"{nano}:Events"],
            f"{nano.parent}/n*.root:Events",
            file,
            file["Events"],
        ]
        for given in inputs:
            assert ak.to_list(coffea.events(given).Jet.pt) == expected, given
        for given in (str(nano), nano, [nano], {nano: None}, file):
            assert ak.to_list(coffea.events(given, treepath="Events").Jet.pt) == expected, given
    chosen = coffea.events(nano, preload=lambda column: column.name.startswith("Jet_"))
    assert ak.to_list(chosen.Jet.pt) == expected
    with pytest.raises(nyssa.ArgumentError, match="entry_start and entry_stop give a range"):
        coffea.events({nano: {"object_path": "Events", "steps": [[0, 10]]}})


def test_several_files_are_one_array(nano: Path, tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.root" for name in "ab"]
    shutil.copy(nano, paths[0])
    nyssa.convert(f"{nano}:Events", paths[1])
    one = of_coffea(nano)
    expected = ak.concatenate([one.Jet.pt, one.Jet.pt])
    metadata = {"dataset": "both"}
    for given in (paths, f"{tmp_path}/*.root:Events", dict.fromkeys(paths, "Events")):
        events = coffea.events(given, metadata=metadata)
        assert ak.array_equal(events.Jet.pt, expected, check_parameters=False)
        assert events.metadata == metadata
    again = pickle.loads(cloudpickle.dumps(events.Jet))
    assert ak.array_equal(again.pt, expected, check_parameters=False)
    middle = coffea.events(paths, entry_start=ENTRIES - 10, entry_stop=ENTRIES + 10)
    part = expected[ENTRIES - 10 : ENTRIES + 10]
    assert ak.array_equal(middle.Jet.pt, part, check_parameters=False)
    chain = nyssa.chain(paths, schema="union", missing="null")
    assert ak.array_equal(coffea.events(chain).Jet.pt, expected, check_parameters=False)


def test_physlite_in_an_rntuple(data: Path) -> None:
    """With uproot, coffea cannot build this schema: ATLAS writes colons where a TTree has dots."""
    path = data / "rntuple" / "uproot-physlite-rntuple_v1-0-0-0.root"
    events = coffea.events(f"{path}:EventData", schemaclass=PHYSLITESchema)
    ntuple = uproot.open(path)["EventData"]
    for name in ("Electrons", "Muons", "Jets"):
        for field in ("pt", "eta", "phi"):
            expected = ntuple[f"Analysis{name}AuxDyn:{field}"].array()
            assert ak.array_equal(events[name][field], expected, check_parameters=False)
    links = ntuple["AnalysisMuonsAuxDyn:truthParticleLink"].array()
    found = events.Muons.truthParticleLink
    assert ak.to_list(found.m_persIndex) == ak.to_list(links.m_persIndex)
    assert ak.all(events.Muons.mass == 105.658)
    assert ak.sum(ak.num(events.Jets)) == ak.sum(ak.num(ntuple["AnalysisJetsAuxDyn:pt"].array()))


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
    sizes = [nano.stat().st_size, (tmp_path / "ntuple.root").stat().st_size]
    assert 1000 < metrics["bytesread"] < 2 * sum(sizes)
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


@pytest.mark.parametrize("write", ["uproot", "nyssa"])
def test_physlite_in_a_ttree(data: Path, tmp_path: Path, write: str) -> None:
    """A TTree of PHYSLITE has dots in its names, and coffea reads it with uproot, too."""
    source = uproot.open(data / "rntuple" / "uproot-physlite-rntuple_v1-0-0-0.root")["EventData"]
    fields = {"Electrons": "pt eta phi m charge", "Muons": "pt eta phi charge"}
    fields["Jets"] = "pt eta phi m"
    columns = {
        f"Analysis{name}AuxDyn.{field}": source[f"Analysis{name}AuxDyn:{field}"].array()
        for name, all_fields in fields.items()
        for field in all_fields.split()
        if f"Analysis{name}AuxDyn:{field}" in source
    }
    assert len(columns) == 13
    path = tmp_path / "physlite.root"
    types = {name: str(ak.type(column).content) for name, column in columns.items()}
    if write == "uproot":
        with uproot.recreate(path) as file:
            file.mktree("CollectionTree", types).extend(columns)
    else:
        with nyssa.recreate(path) as file:
            file.mktree("CollectionTree", columns)
    options: Any = {"schemaclass": PHYSLITESchema}
    expected = NanoEventsFactory.from_root({str(path): "CollectionTree"}, **options).events()
    assert same(coffea.events({path: "CollectionTree"}, **options), expected) >= 26
