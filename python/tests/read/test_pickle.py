"""Datasets in other processes: pickle stores how they were opened."""

from __future__ import annotations

import copy
import gc
import multiprocessing as mp
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa

METHODS = mp.get_all_start_methods()


def double(pt: Any) -> Any:
    return 2 * pt


def total(dataset: nyssa.Dataset, name: str, start: int, stop: int) -> float:
    return float(ak.sum(dataset.arrays([name], entry_start=start, entry_stop=stop)[name]))


def again(one: Any) -> Any:
    return pickle.loads(pickle.dumps(one))


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return a tree and an RNTuple with the same columns, written by uproot."""
    tree, ntuple = tmp_path / "tree.root", tmp_path / "ntuple.root"
    with uproot.recreate(tree) as file:
        file.mktree("dir/Events", {"x": "float64", "i": "int64"})
        file["dir/Events"].extend({"x": np.arange(100) * 0.5, "i": np.arange(100)})
    with uproot.recreate(ntuple) as file:
        file.mkrntuple("Events", {"x": np.arange(100, 150) * 0.5, "i": np.arange(100, 150)})
    return [tree, ntuple]


@pytest.mark.parametrize("method", METHODS)
def test_in_other_processes(files: list[Path], method: str) -> None:
    """Each process reads a part of a chain of a tree and an RNTuple."""
    chain = nyssa.chain([f"{files[0]}:dir/Events", f"{files[1]}:Events"])
    ranges = [(0, 40), (40, 120), (120, 150)]
    with mp.get_context(method).Pool(2) as pool:
        jobs = [pool.apply_async(total, (chain, "x", *one)) for one in ranges]
        found = [job.get(timeout=60) for job in jobs]
    assert found == [sum(0.5 * i for i in range(*one)) for one in ranges]


@pytest.mark.parametrize("method", METHODS)
def test_executor(files: list[Path], method: str) -> None:
    events = nyssa.open(f"{files[1]}:Events")
    with ProcessPoolExecutor(1, mp_context=mp.get_context(method)) as pool:
        found = pool.submit(total, events, "i", 10, 12).result(timeout=60)
    assert found == 110 + 111


@pytest.mark.skipif("fork" not in METHODS, reason="this system has no fork")
def test_fork_while_reading_ahead(files: list[Path]) -> None:
    """A fork uses the dataset of its parent while the parent iterates over it."""
    events = nyssa.open(f"{files[0]}:dir/Events")
    sums = []
    for step in events.iterate(["x"], step_size=50):
        with mp.get_context("fork").Pool(1) as pool:
            sums.append(pool.apply_async(total, (events, "x", 0, 100)).get(timeout=60))
            sums.append(pool.apply_async(_inherited).get(timeout=60))
        sums.append(ak.sum(step["x"]))
    assert sums == [2475.0, 7, 612.5, 2475.0, 7, 1862.5]


def _inherited() -> int:
    return 7


@pytest.mark.skipif("fork" not in METHODS, reason="this system has no fork")
def test_a_fork_leaves_the_file_that_is_written_alone(tmp_path: Path) -> None:
    """A fork can neither write to the file of its parent nor remove it."""
    with nyssa.recreate(tmp_path / "a.root") as file:
        events = file.mkrntuple("Events", {"x": "int32"})
        events.extend({"x": [1]})
        context = events.fill_context()
        context.extend({"x": [2]})
        child = os.fork()
        if child == 0:
            messages = []
            for use in (file.close, context.close, lambda: context.extend({"x": [3]})):
                try:
                    use()
                except nyssa.ArgumentError as error:
                    messages.append(str(error))
            context._core.abandon()
            del use, file, events, context
            gc.collect()
            (tmp_path / "child").write_text("\n".join(messages))
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        context.extend({"x": [4]})
    assert nyssa.open(tmp_path / "a.root")["Events"].arrays().x.to_list() == [1, 2, 4]
    rest = "belongs to the process that opened it; it cannot be used in a fork of it"
    assert (tmp_path / "child").read_text().splitlines() == [
        f"a file that is being written {rest}",
        f"a fill context {rest}",
        f"a fill context {rest}",
    ]


def opened(files: list[Path]) -> dict[str, Callable[[], Any]]:
    tree, ntuple = f"{files[0]}:dir/Events", f"{files[1]}:Events"
    return {
        "tree": lambda: nyssa.open(tree),
        "ntuple": lambda: nyssa.open(ntuple),
        "cycle": lambda: nyssa.open(f"{tree};1"),
        "chain": lambda: nyssa.chain([tree, ntuple]),
        "stated": lambda: nyssa.chain([tree, ntuple], schema={"x": "float64"}),
        "like": lambda: nyssa.chain([tree, ntuple], schema=nyssa.open(ntuple)),
        "friends": lambda: nyssa.open(tree).with_friends(),
        "join": lambda: nyssa.join(tree, nyssa.open(ntuple), on="i", prefix="r_"),
        "side by side": lambda: nyssa.join(ntuple, [nyssa.open(ntuple)], prefix=["again_"]),
    }


@pytest.mark.parametrize("name", list(opened([Path("a"), Path("b")])))
def test_views(files: list[Path], name: str) -> None:
    """Chains, joins, friends and rules are pickled, too, and the class stays."""
    one = opened(files)[name]()
    other = again(one)
    assert type(other) is type(one)
    assert other.typenames() == one.typenames()
    assert other.arrays().to_list() == one.arrays().to_list()


def test_rules(files: list[Path], tmp_path: Path) -> None:
    """Rules are pickled with their functions; the result has the class of its dataset."""
    path = tmp_path / "jets.root"
    with nyssa.recreate(path) as file:
        jet = {"pt": "float", "eta": "float"}
        jets = file.mkrntuple("Events", {"jets": "std::vector<Jet>"}, classes={"Jet": jet})
        jets.extend({"jets": [[{"pt": 1.0, "eta": 0.5}], [], [{"pt": 4.0, "eta": 1.5}]]})
    rules = nyssa.ReadRules()
    rules.add("Jet", sources="pt", target="twice", function=double)
    for one in (
        nyssa.open(f"{path}:Events").with_rules(rules),
        nyssa.chain([f"{path}:Events"], rules=rules),
    ):
        other = again(one)
        assert type(other) is type(one)
        assert other["jets"].array()["twice"].to_list() == [[2.0], [], [8.0]]
    assert type(nyssa.open(f"{path}:Events").with_rules(rules)) is nyssa.RNTuple
    assert type(nyssa.open(f"{files[0]}:dir/Events").with_friends()) is nyssa.TTree


def test_file_directory_and_column(files: list[Path]) -> None:
    file = nyssa.open(files[0])
    assert again(file).keys() == ["dir;1", "dir/Events;1"]
    assert again(file["dir"]).path == "dir"
    assert again(file["dir"])["Events"].num_entries == 100
    assert again(file["dir"]["Events"]["i"])[:3].to_list() == [0, 1, 2]
    assert copy.copy(file["dir/Events"]).num_entries == 100


def test_attribute_set(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "a.root") as file:
        events = file.mkrntuple("Events", {"x": "int32"})
        meta = events.attribute_set("meta", {"run": "int32"})
        with meta.range(run=7):
            events.extend({"x": [1, 2, 3]})
    meta = nyssa.open(tmp_path / "a.root")["Events"].attribute_sets["meta"]
    assert type(again(meta)) is nyssa.AttributeSet
    assert again(meta).attributes().to_list() == [{"run": 7}]
    assert again(meta).ranges == [(0, 3)]


def test_bytes_of_streamed_objects_stay_bytes(files: list[Path]) -> None:
    """The options with which the file was opened are pickled, too."""
    raw = nyssa.open(files[0], streamer="raw")
    assert again(raw)._core.raw is True
    assert again(raw["dir"])._core.raw is True
    assert again(nyssa.open(files[0]))._core.raw is False


def test_path_is_absolute(files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process may have another working directory."""
    monkeypatch.chdir(files[0].parent)
    events = nyssa.open("ntuple.root:Events")
    chain = nyssa.chain(["tree.root:dir/Events", Path("ntuple.root")])
    file = nyssa.open("tree.root")
    assert events.file_path == "ntuple.root"
    monkeypatch.chdir(os.sep)
    assert again(events).num_entries == 50
    assert again(events).file_path == str(files[1])
    assert again(chain).num_entries == 150
    assert again(file["dir/Events"]).num_entries == 100
    assert again(file["dir"]).keys() == ["Events;1"]


def test_rules_are_pickled_with_their_functions(files: list[Path]) -> None:
    """The error of pickle names the function that it cannot store."""
    rules = nyssa.ReadRules()
    rules.add("A", sources=["x"], target={"y": "float"}, versions=range(1, 3), function=double)
    assert repr(again(rules)) == repr(rules) == "<ReadRules A: y>"
    rules.add("A", sources=["x"], target="z", function=lambda x: x)
    events = nyssa.open(f"{files[1]}:Events").with_rules(rules)
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(events)
    cloudpickle = pytest.importorskip("cloudpickle")
    assert pickle.loads(cloudpickle.dumps(events)).num_entries == 50


def test_file_that_is_gone(files: list[Path]) -> None:
    pickled = pickle.dumps(nyssa.open(f"{files[1]}:Events"))
    files[1].unlink()
    with pytest.raises(FileNotFoundError, match=r"ntuple\.root"):
        pickle.loads(pickled)
