"""The Python examples of README.md and of pages of docs run as they are printed."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Thread
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import REPOSITORY


def run(page: str, **names: Any) -> None:
    """Run the Python examples of a page, one after the other."""
    text = (REPOSITORY / page).read_text()
    for example in re.findall(r"^```python\n(.*?)^```", text, re.M | re.S):
        exec(compile(example, page, "exec"), names)


def lists(counts: list[int]) -> ak.Array:
    return ak.unflatten(np.arange(sum(counts), dtype=np.float32), counts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder where examples run, with the files that they name."""
    monkeypatch.chdir(tmp_path)
    muons, jets = ak.zip({"pt": lists([2, 0, 3]), "eta": lists([2, 0, 3])}), lists([1, 1, 0])
    events = {"run": np.arange(3, dtype=np.int32), "Muon": muons, "Jet": ak.zip({"pt": jets})}
    for name in ("nanoaod", "run1/a", "run2/a"):
        path = tmp_path / f"{name}.root"
        path.parent.mkdir(exist_ok=True)
        with uproot.recreate(path) as file:
            types = {"run": "int32", "Muon": muons.type.content, "Jet": events["Jet"].type.content}
            file.mktree("Events", types).extend(events)
    with uproot.recreate(tmp_path / "plots.root") as file:
        file["hists/mass"] = np.histogram(np.arange(9.0))
    for name in ("a", "b"):
        with nyssa.recreate(tmp_path / f"{name}.root") as file:
            pt = [[41.5, 33.25], [], [31.5, 30.5, 29.5]]
            file["Events"] = {"jets": ak.zip({"pt": ak.Array(pt)}), "met": np.arange(3.0)}
    return tmp_path


def test_python_examples(folder: Path) -> None:
    run("README.md")
    assert nyssa.open("rntuple.root:Events").num_entries == 3
    slim = nyssa.open("slim.root:Events")["jets"].array()
    assert slim.pt.to_list() == [[41.5, 33.25], [31.5, 30.5, 29.5]] * 2
    assert nyssa.open("skim.root:Muons")["pt"].array().to_list() == lists([2, 0, 3]).to_list()
    assert nyssa.open(folder / "out.root")["Events"].num_entries == 4


def test_examples_of_studies(folder: Path) -> None:
    run("docs/study.md")
    assert len((folder / "study.csv").read_text().splitlines()) == 1 + 2


def test_examples_of_writing(folder: Path) -> None:
    halves = [[{"run": np.arange(2, dtype=np.int32), "pt": lists([1, 2])}]] * 2
    new = {"weights": np.arange(5.0), "scores": lists([1, 0, 2, 0, 1])}
    run("docs/writing.md", nyssa=nyssa, Thread=Thread, halves=halves, **new)
    assert nyssa.open(folder / "out.root")["Events"].num_entries == 5
    assert nyssa.open("out.root:More")["y"].array().to_list() == [1, 2, 3]


def test_examples_of_drawings(folder: Path) -> None:
    events = {
        "run": np.arange(9, dtype=np.int32),
        "nMuon": np.arange(9) % 4,
        "Muon_pt": lists([0, 1, 2, 3, 0, 1, 2, 3, 0]),
        "Muon_eta": lists([0, 1, 2, 3, 0, 1, 2, 3, 0]),
    }
    for name in ("nanoaod", "run1/a", "run2/a"):
        with nyssa.recreate(folder / f"{name}.root") as file:
            file["Events"] = events
    run("docs/draw.md", nyssa=nyssa)
    assert (folder / "muons.svg").read_text().startswith("<svg")
