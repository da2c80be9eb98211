"""The examples in the docstrings of public names run, and give what they say.

They run in a folder with the file `events.root` of the tutorials, and with `run1` and `run2`, which
have the same events.
"""

from __future__ import annotations

import doctest
import inspect
import os
import sys
from importlib import import_module
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.data import REPOSITORY

TUTORIALS = REPOSITORY / "docs" / "tutorials"
METHODS = {
    nyssa.Dataset: "arrays iterate keys partitions show take typenames with_cut",
    nyssa.Column: "array",
    nyssa.File: "keys",
    nyssa.NTupleWriter: "add_fields extend",
    nyssa.TreeWriter: "add_branches extend",
    nyssa.WritableFile: "mkrntuple mktree",
}
FUNCTIONS = (
    "ReadRules chain column_precision concatenate convert dask diff digest draw "
    "estimate_write_memory graph graphed histograms inspect io_stats iterate join merge monitor "
    "num_entries open partitions plot_trace profile record recreate release_memory rewrite "
    "scan_polars skim study trace_summary tune update vectors verify"
)
NAMES = [
    "nyssa",
    *(f"nyssa.{name}" for name in FUNCTIONS.split()),
    *(f"nyssa.{home.__name__}.{name}" for home, names in METHODS.items() for name in names.split()),
    "nyssa.coffea",
    "nyssa.coffea.events",
    "nyssa.coffea.factory",
]
NEEDS = {
    "nyssa.coffea": "coffea",
    "nyssa.coffea.events": "coffea",
    "nyssa.coffea.factory": "coffea",
    "nyssa.dask": "dask_awkward",
    "nyssa.graphed": "graphed",
    "nyssa.plot_trace": "matplotlib",
    "nyssa.scan_polars": "polars",
    "nyssa.vectors": "vector",
}
#: They take seconds: each combination is measured in a process of its own.
SLOW = {"nyssa.study"}
pytestmark = pytest.mark.filterwarnings("ignore")

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def found(name: str) -> object:
    """Return what has the name."""
    if name.startswith("nyssa.coffea"):
        import_module("nyssa.coffea")
    value: object = nyssa
    for part in name.split(".")[1:]:
        value = getattr(value, part)
    return value


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the file of the tutorials."""
    sys.path.insert(0, str(TUTORIALS))
    import sample

    sys.path.remove(str(TUTORIALS))
    path = tmp_path_factory.mktemp("examples") / "events.root"
    sample.write(path)
    return path.read_bytes()


@pytest.fixture
def folder(events: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder where examples run."""
    monkeypatch.chdir(tmp_path)
    for name in ("events", "run1/a", "run1/b", "run2/a"):
        path = tmp_path / f"{name}.root"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(events)
    return tmp_path


def test_all_functions_are_listed() -> None:
    functions = {name for name in nyssa.__all__ if inspect.isfunction(getattr(nyssa, name))}
    assert functions - set(FUNCTIONS.split()) == {"dask_write"}


@pytest.mark.parametrize("name", NAMES)
def test_the_example_of_a_name(name: str, folder: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"no {NEEDS[name]}")
    text = inspect.getdoc(found(name)) or ""
    names = {"nyssa": nyssa, "np": np, "ak": ak}
    example = doctest.DocTestParser().get_doctest(text, names, name, None, 0)
    assert example.examples, f"{name} has no example"
    if name in SLOW:
        pytest.skip("it takes seconds; python/tests/studies runs it")
    report: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(example, out=report.append)
    assert not report, "".join(report)
    assert os.listdir(folder)
