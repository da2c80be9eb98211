"""The example of the Analysis Grand Challenge fills the histograms of its RDataFrame version."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import uproot

from nyssa.campaign import plan
from support.capi import Programs
from support.data import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
sys.path.insert(0, str(EXAMPLES))

from agc import executors, reference, run, samples, views  # noqa: E402
from agc.analysis import Histograms  # noqa: E402
from agc.generate import generate  # noqa: E402
from agc.resample import real_base, toy_base  # noqa: E402

REFERENCE = EXAMPLES / "agc" / "reference"
#: Events of each file of the samples that the references were made from.
EVENTS = 4000


@pytest.fixture(scope="module")
def resampled(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("resampled")
    generate(folder, EVENTS, real_base(data))
    return folder


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("toys")
    generate(folder, EVENTS, toy_base())
    return folder


def outcome(inputs: Path, *, step_size: int = 3000) -> executors.Outcome:
    with executors.threads(2) as workers:
        return executors.run(samples.read_samples(inputs), workers, step_size)


def differences(histograms: Histograms, wanted: str) -> list[str]:
    numbers = reference.to_numbers(histograms)
    return reference.differences(numbers, REFERENCE / f"{wanted}.json")


@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_toys(toys: Path, kind: str) -> None:
    found = outcome(toys / f"{kind}.json")
    assert differences(found.histograms, "toy") == []
    assert len(found.histograms) == 122 + 2


@pytest.mark.parametrize("kind", ["ttree", "rntuple"])
def test_resampled_events(resampled: Path, kind: str) -> None:
    found = outcome(resampled / f"{kind}.json")
    assert differences(found.histograms, "resampled") == []


def test_toys_in_cpp(toys: Path, tmp_path: Path) -> None:
    source = EXAMPLES / "cpp/readers/agc.cpp"
    program = Programs(tmp_path).compile(source, "-std=c++17", "-O1")
    for kind in ("ttree", "rntuple"):
        found = views.run(program, samples.read_samples(toys / f"{kind}.json"), 2)
        assert reference.differences(found["histograms"], REFERENCE / "toy.json") == []


def test_what_differs_is_named(toys: Path) -> None:
    histograms = outcome(toys / "rntuple.json").histograms
    contents = histograms["4j1b_wjets"].view(flow=True)["value"]
    contents[contents.argmax()] *= 1 + 1e-11
    histograms["other"] = histograms.pop("4j2b_wjets_scale_var_up")
    lines = differences(histograms, "toy")
    assert lines[:2] == ["4j2b_wjets_scale_var_up is missing", "other is not in the reference"]
    assert [line.partition(" are ")[0] for line in lines[2:]] == ["4j1b_wjets: contents"]


@pytest.mark.parametrize(("executor", "workers"), [("processes", 2), ("dask", 1)])
def test_command_on_other_processes(
    toys: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    executor: str,
    workers: int,
) -> None:
    arguments = ["--inputs", toys / "rntuple.json", "--executor", executor, "--workers", workers]
    arguments += [
        "--json",
        "--histograms",
        tmp_path / "h.root",
        "--reference",
        REFERENCE / "toy.json",
    ]
    monkeypatch.setattr(sys, "argv", ["run", *map(str, arguments)])
    assert run.main() == 0
    printed = capsys.readouterr()
    assert f"124 histograms are equal to {REFERENCE / 'toy.json'}" in printed.err
    taken = json.loads(printed.out)
    # The columns of RNTuples are about 300 kB in each file, and metadata are read by each process.
    assert 10 * 200_000 < taken["bytes"] < 10 * 1_000_000
    assert taken["requests"] >= 20
    assert taken["cpu"] > 0
    # And uproot reads what it wrote.
    wanted = json.loads((REFERENCE / "toy.json").read_text())["histograms"]["4j2b_pseudodata"]
    with uproot.open(tmp_path / "h.root") as file:
        assert len(file.keys(cycle=False)) == 124
        histogram = file["4j2b_pseudodata"]
        np.testing.assert_allclose(histogram.values(flow=True), wanted["contents"], rtol=1e-12)
        np.testing.assert_allclose(histogram.errors(flow=True), wanted["errors"], rtol=1e-12)


@pytest.fixture
def modules() -> Iterator[None]:
    """Restore the modules that a scheduler in this process loads again from its archive."""
    path = sys.path.copy()
    before = {name: one for name, one in sys.modules.items() if name.partition(".")[0] == "agc"}
    contents = {name: vars(one).copy() for name, one in before.items()}
    yield
    sys.path[:] = path
    for name in [name for name in sys.modules if name.partition(".")[0] == "agc"]:
        del sys.modules[name]
    for name, module in before.items():
        vars(module).clear()
        vars(module).update(contents[name])
        sys.modules[name] = module


@pytest.mark.usefixtures("modules")
def test_command_on_a_scheduler(
    toys: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its worker does not know the example, which is sent to it."""
    distributed = pytest.importorskip("distributed", reason="no dask.distributed")
    # Workers that are started here get the path of this process.
    monkeypatch.setattr(sys, "path", [one for one in sys.path if one != str(EXAMPLES)])
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        with distributed.Client(cluster) as client:
            assert client.submit(importlib.util.find_spec, "agc").result() is None
        arguments = ["--inputs", toys / "rntuple.json", "--scheduler", cluster.scheduler_address]
        arguments += ["--json", "--reference", REFERENCE / "toy.json"]
        monkeypatch.setattr(sys, "argv", ["run", *map(str, arguments)])
        assert run.main() == 0
    printed = capsys.readouterr()
    assert f"124 histograms are equal to {REFERENCE / 'toy.json'}" in printed.err
    # The worker has read, not this process.
    assert json.loads(printed.out)["bytes"] > 10 * 200_000


@pytest.mark.parametrize("reader", ["uproot", "nyssa"])
def test_version_with_coffea(toys: Path, monkeypatch, capsys, reader: str) -> None:
    pytest.importorskip("coffea", reason="no coffea (make test-coffea)")
    from agc import with_coffea

    arguments = ["--inputs", toys / "ttree.json", "--reader", reader]
    arguments += ["--reference", REFERENCE / "toy.json"]
    monkeypatch.setattr(sys, "argv", ["with_coffea", *map(str, arguments)])
    assert with_coffea.main() == 0
    assert capsys.readouterr().err.endswith(f"equal to {REFERENCE / 'toy.json'}\n")


def test_plots_and_table(toys: Path, tmp_path: Path, monkeypatch, capsys) -> None:
    pytest.importorskip("mplhep", reason="no mplhep")
    arguments = ["--inputs", toys / "ttree.json", "--max-files", 1, "--plots", tmp_path]
    monkeypatch.setattr(sys, "argv", ["run", *map(str, arguments)])
    assert run.main() == 0
    table = capsys.readouterr().out.splitlines()
    assert table[0].split() == ["sample", "events", "4j1b", "4j2b"]
    # The second file of this sample is left out, and the weights make up for it.
    assert table[1].split()[:3] == ["ttbar", "nominal", str(EVENTS)]
    assert len(table) == 1 + 9 + 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "4j1b.png",
        "4j2b.png",
        "btag.png",
        "jets.png",
    ]


def test_files_of_a_campaign(toys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(toys)
    tasks = plan.make_tasks(plan.find_inputs("ttree.json", "dest"), "dest")
    found = samples.read_samples(Path("ttree.json"), converted="dest")
    assert sorted(url for one in found for url in one.files) == sorted(
        f"{task.output}:Events" for task in tasks
    )
    assert len(tasks) == 10


def test_lists_of_files(tmp_path: Path) -> None:
    path = f"{samples.AGC_PREFIX}/nanoAOD/TT/a.root"
    files = [{"path": path, "nevts": 3}, {"path": "b.root", "nevts": 4}]
    inputs = tmp_path / "nanoaod_inputs.json"
    inputs.write_text(json.dumps({"data": {}, "ttbar": {"ME_var": {"files": files}}}))
    (sample,) = samples.read_samples(inputs)
    assert sample.files == [f"{path}:Events", f"{tmp_path}/b.root:Events"]
    assert sample.events == 7
    (sample,) = samples.read_samples(inputs, "root://host//agc", max_files=1)
    assert sample.files == ["root://host//agc/nanoAOD/TT/a.root:Events"]
    assert sample.events == 3
