"""`nyssa.uproot` returns what uproot does where nothing is asked for, or filters match nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa

uproot = pytest.importorskip("uproot")

FILTERS: list[dict[str, Any]] = [
    {"filter_name": []},
    {"filter_name": ()},
    {"filter_name": ""},
    {"filter_name": "nothing"},
    {"filter_name": "nothing*"},
    {"filter_name": ["nothing*"]},
    {"filter_name": "/no/"},
    {"filter_name": lambda _name: False},
    {"filter_typename": "nothing"},
    {"filter_typename": []},
]
NOTHING: list[dict[str, Any]] = [
    *FILTERS,
    {"expressions": []},
    {"expressions": ()},
    {"expressions": [], "cut": "x > 2"},
    {"filter_name": "nothing*", "cut": "x > 2"},
]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("empty") / "file.root"
    data = {"x": np.arange(5.0), "y": np.arange(5, dtype=np.int32)}
    with uproot.recreate(path) as out:
        out.mktree("tree", {**data, "j": ak.Array([[1], [], [2, 3], [], [4]])})
        out.mkrntuple("ntuple", data)
    return path


def told(found: Any) -> Any:
    """Return what can be compared of a result."""
    if isinstance(found, ak.Array):
        return ("ak", str(found.type))
    if isinstance(found, dict):
        return ("np", {name: len(one) for name, one in found.items()})
    if isinstance(found, (list, tuple)):
        return [told(one) for one in found]
    return ("pd", found.shape, [*found.columns], [*found.index])


def identified(asked: dict[str, Any]) -> str:
    return ", ".join(f"{name}={one!r}" for name, one in asked.items() if not callable(one))


@pytest.mark.parametrize("name", ["tree", "ntuple"])
@pytest.mark.parametrize("asked", NOTHING, ids=identified)
def test_nothing_is_read(file: Path, name: str, asked: dict[str, Any]) -> None:
    if name == "ntuple" and "cut" in asked:
        pytest.skip("uproot has no cuts of RNTuples")
    theirs, ours = uproot.open(file)[name], nyssa.uproot.open(file)[name]
    for library in ("ak", "np", "pd"):
        if library == "pd":
            pytest.importorskip("pandas")
        expected = told(theirs.arrays(library=library, **asked))
        assert told(ours.arrays(library=library, **asked)) == expected, library
    for size in (2, "1 kB"):
        steps = [*theirs.iterate(step_size=size, **asked)]
        assert told([*ours.iterate(step_size=size, **asked)]) == told(steps), size


@pytest.mark.parametrize("asked", NOTHING, ids=identified)
def test_nothing_is_read_of_many_files(file: Path, asked: dict[str, Any]) -> None:
    files = [f"{file}:tree", f"{file}:tree"]
    assert told(nyssa.uproot.concatenate(files, **asked)) == told(
        uproot.concatenate(files, **asked)
    )
    expected = [*uproot.iterate(files, step_size=2, **asked)]
    assert told([*nyssa.uproot.iterate(files, step_size=2, **asked)]) == told(expected)


@pytest.mark.parametrize("asked", FILTERS, ids=identified)
def test_nothing_is_listed(file: Path, asked: dict[str, Any]) -> None:
    theirs, ours = uproot.open(file), nyssa.uproot.open(file)
    for name in ("tree", "ntuple"):
        assert ours[name].keys(**asked) == theirs[name].keys(**asked) == []
        assert ours[name].typenames(**asked) == theirs[name].typenames(**asked)
    if "filter_name" in asked:
        assert ours.keys(**asked) == theirs.keys(**asked) == []


def test_entries_for_what_is_not_there(file: Path) -> None:
    with pytest.raises(KeyError):
        uproot.open(file)["tree"].num_entries_for("1 kB", "nothing")
    with pytest.raises(nyssa.NotFoundError, match="no 'nothing'"):
        nyssa.uproot.open(file)["tree"].num_entries_for("1 kB", "nothing")
