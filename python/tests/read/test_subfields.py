"""Tests subfields of RNTuples by path, with the names of ROOT's RDataFrame and uproot."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

DATA: dict[str, Any] = {
    "js": [[{"a": 1.5, "b": [1, 2]}], [], [{"a": 2.5, "b": []}, {"a": 3.5, "b": [4]}]],
    "s": [{"x": 1, "y": {"z": 2.5}}, {"x": 3, "y": {"z": 4.5}}, {"x": 5, "y": {"z": 6.5}}],
    "t": [(1, 2.5), (3, 4.5), (5, 6.5)],
    "txt": ["p", "", "q"],
    "v": [[1.0], [], [2.0, 3.0]],
}
PARTS: dict[str, Any] = {
    "js.a": [[1.5], [], [2.5, 3.5]],
    "js.b": [[[1, 2]], [], [[], [4]]],
    "s.x": [1, 3, 5],
    "s.y": [{"z": 2.5}, {"z": 4.5}, {"z": 6.5}],
    "s.y.z": [2.5, 4.5, 6.5],
    "t._0": [1, 3, 5],
    "t._1": [2.5, 4.5, 6.5],
}
OTHERWISE = {"js._0.a": "js.a", "js._0.b._0": "js.b", "js/a": "js.a", "s/x": "s.x", "t.0": "t._0"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of uproot with two clusters."""
    path = tmp_path / "parts.root"
    arrays = {name: ak.Array(values) for name, values in DATA.items()}
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("n", {name: one[:2] for name, one in arrays.items()})
        ntuple.extend({name: one[2:] for name, one in arrays.items()})
    return path


def test_parts_are_columns(path: Path) -> None:
    events, theirs = nyssa.open(f"{path}:n"), uproot.open(path)["n"]
    assert events.keys() == list(DATA)
    assert events.keys(recursive=True) == [*events.keys(), *PARTS]
    for name, values in PARTS.items():
        assert name in events
        assert events[name].array().to_list() == values
        assert str(events[name].array().type) == str(theirs[name.replace("_", "")].array().type)
        for start in range(4):
            for stop in range(start, 4):
                found = events[name].array(entry_start=start, entry_stop=stop)
                assert found.to_list() == values[start:stop]
    for name, same in OTHERWISE.items():
        assert name in events
        assert events[name].name == same
        assert events.arrays([name]).fields == [name]
        assert events.arrays([name])[name].to_list() == PARTS[same]
    assert events["js._0"].name == "js"
    assert events["s"]["y"]["z"].array().to_list() == PARTS["s.y.z"]
    assert events["js"]["a"].array().to_list() == PARTS["js.a"]
    with pytest.raises(nyssa.NotFoundError, match=r"no 's\.w' in 'n' of .*; did you mean .*s\.x"):
        events["s.w"]
    for name in ("s.", ".s", "v.x", "txt.x", "s.x.x", "s..x"):
        assert name not in events


def test_parts_have_the_types_that_they_read_as(path: Path) -> None:
    types = nyssa.open(f"{path}:n").typenames(recursive=True)
    assert {name: types[name] for name in PARTS} == {
        "s.x": "std::int64_t",
        "s.y": "(untyped record)",
        "s.y.z": "double",
        "js.a": "std::vector<double>",
        "js.b": "std::vector<std::vector<std::int64_t>>",
        "t._0": "std::int64_t",
        "t._1": "double",
    }


def test_parts_are_read_everywhere(path: Path) -> None:
    events = nyssa.open(f"{path}:n")
    both = ["s.x", "js.a"]
    expected = [
        dict(zip(both, row, strict=True)) for row in zip(*(PARTS[n] for n in both), strict=True)
    ]
    assert events.arrays(both).to_list() == expected
    assert events.arrays(both, lazy=True).to_list() == expected
    assert events.take([2, 0], both).to_list() == [expected[2], expected[0]]
    assert ak.concatenate(list(events.iterate(both, step_size=1))).to_list() == expected
    assert list(events.arrays(filter_name="js.*").fields) == ["js.a", "js.b"]
    assert list(events.arrays(filter_name="a").fields) == ["js.a"]
    assert events.arrays(both, library="np")["s.x"].tolist() == PARTS["s.x"]
    assert events.arrays(both, library="arrow").column_names == both
    assert events.arrays(both, library="pd")["s.x"].tolist() == PARTS["s.x"]
    assert events.keys(filter_name="js.*", recursive=True) == ["js.a", "js.b"]
    chain = nyssa.chain([f"{path}:n", f"{path}:n"])
    assert chain.arrays(both).to_list() == expected * 2
    assert chain["js.a"].array(entry_start=2, entry_stop=4).to_list() == [[2.5, 3.5], [1.5]]
    assert chain.keys(recursive=True) == events.keys(recursive=True)
    union = nyssa.chain([f"{path}:n", f"{path}:n"], schema="union")
    assert union.arrays(both).to_list() == expected * 2


def _cat(*args: object) -> list[Any]:
    command = [sys.executable, "-m", "nyssa", "cat", *map(str, args)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


def test_cat_prints_parts(path: Path) -> None:
    rows = _cat(f"{path}:n", "--filter", "js.a", "--filter", "txt", "--filter", "s.y")
    assert rows == [
        {"txt": "p", "s.y": {"z": 2.5}, "js.a": [1.5]},
        {"txt": "", "s.y": {"z": 4.5}, "js.a": []},
        {"txt": "q", "s.y": {"z": 6.5}, "js.a": [2.5, 3.5]},
    ]
    assert _cat(f"{path}:n", "--filter", "js._0.a") == [{"js.a": one} for one in PARTS["js.a"]]
    kept = _cat(f"{path}:n", "--filter", "s.x", "--cut", "count(js.a > 2) >= 1 && s.x > 1")
    assert kept == [{"s.x": 5}]


def test_only_the_columns_of_a_part_are_read(tmp_path: Path) -> None:
    path = tmp_path / "large.root"
    entries = 20_000
    noise = np.random.default_rng(1).random((entries, 50))
    large = ak.zip({"x": np.arange(entries), "w": ak.from_regular(noise)}, depth_limit=1)
    with nyssa.recreate(path, compression=0) as file:
        file["n"] = {"s": large}
    size = path.stat().st_size
    assert size > 8_000_000
    script = (
        "import awkward, nyssa, resource\n"
        f"events = nyssa.open({str(path)!r} + ':n')\n"
        "def read():\n"
        "    return int(open('/proc/self/io').readline().removeprefix('rchar: '))\n"
        "before = read()\n"
        "assert events['s.x'].array().to_list() == list(range(20000))\n"
        "print(read() - before)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert int(run.stdout) < size / 8


def test_parts_of_roots_classes(tmp_path: Path) -> None:
    path = tmp_path / "maps.root"
    types = {
        "m": "std::map<std::string, float>",
        "o": "std::optional<P>",
        "a": "std::array<P, 2>",
        "vv": "std::vector<std::vector<P>>",
        "u": "std::variant<int, P>",
        "p": "std::pair<int, float>",
    }
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("n", types, classes={"P": {"x": "int", "y": "float"}})
        one = {"x": 1, "y": 2.0}
        two = {"x": 3, "y": 4.0}
        events.extend(
            {
                "m": [{"k": 1.5}, {}],
                "o": [one, None],
                "a": [[one, two], [two, one]],
                "vv": [[[one], [two, two]], []],
                "u": [one, 5],
                "p": [(1, 2.0), (3, 4.0)],
            }
        )
    events = nyssa.open(f"{path}:n")
    for name, values in {
        "m._0": [["k"], []],
        "m._0._1": [[1.5], []],
        "m._1": [[1.5], []],
        "o.x": [1, None],
        "o._0.x": [1, None],
        "a.y": [[2.0, 4.0], [4.0, 2.0]],
        "a._0.y": [[2.0, 4.0], [4.0, 2.0]],
        "vv.x": [[[1], [3, 3]], []],
        "vv._0._0.x": [[[1], [3, 3]], []],
        "p.1": [2.0, 4.0],
    }.items():
        assert events[name].array().to_list() == values, name
    assert events.keys(recursive=True, filter_name="u*") == ["u"]
    assert "u._0" not in events
    types = events.typenames(recursive=True)
    assert types["o.x"] == "std::optional<std::int32_t>"
    assert types["a.y"] == "std::array<float,2>"
    assert types["vv.x"] == "std::vector<std::vector<std::int32_t>>"


_SPLIT = """
#include "TFile.h"
#include "TTree.h"
#include "TAttFill.h"
#include "TAttLine.h"
void nyssa_split_tree(const char *path) {
  TFile file(path, "recreate");
  TTree tree("T", "");
  TAttLine one, two;
  TAttFill fill;
  tree.Branch("one", &one);
  tree.Branch("two", &two);
  tree.Branch("fill", &fill);
  for (int i = 0; i < 5; ++i) {
    one.SetLineColor(i);
    two.SetLineColor(10 * i);
    fill.SetFillColor(30 * i);
    tree.Fill();
  }
  tree.Write();
}
"""


def test_sub_branches_by_their_last_name(root: Root, tmp_path: Path) -> None:
    """Names find the same columns as in uproot; an ambiguous name is an error."""
    path = tmp_path / "split.root"
    root.call("cpp", _SPLIT, f'nyssa_split_tree("{path}")')
    tree, theirs = nyssa.open(f"{path}:T"), uproot.open(path)["T"]
    values = theirs["fFillColor"].array().to_list()
    assert values == [0, 30, 60, 90, 120]
    twice = nyssa.chain([f"{path}:T", f"{path}:T"])
    for name in ("fFillColor", "fill/fFillColor", "/fill/fFillColor"):
        assert name in tree, name
        assert tree[name].name == "fill/fFillColor"
        assert tree[name].array().to_list() == values
        assert tree.arrays([name])[name].to_list() == values
        assert tree.arrays(name, library="np")[name].tolist() == values
        assert tree.arrays([name], skip_unreadable=True)[name].to_list() == values
        assert tree.arrays([name], lazy=True)[name].to_list() == values
        assert tree.take([1], [name])[name].to_list() == values[1:2]
        chunks = [chunk[name].to_list() for chunk in tree.iterate([name], step_size=3)]
        assert chunks == [values[:3], values[3:]]
        assert twice[name].array().to_list() == values * 2
        assert twice.arrays([name])[name].to_list() == values * 2
        chunks = [chunk[name].to_list() for chunk in twice.iterate([name], step_size=5)]
        assert chunks == [values, values]
    for name in ("fLineColor", "/fFillColor", "/fLineColor"):
        with pytest.raises(nyssa.NotFoundError, match=f"no '{name}' in 'T' of "):
            tree[name]


def test_names_are_not_types(path: Path) -> None:
    events = nyssa.open(f"{path}:n")
    for names in ({"txt": "str"}, 3):
        kind = type(names).__name__
        with pytest.raises(
            nyssa.ArgumentError, match=f"named by a str or a list of them, not by {kind}"
        ):
            events.arrays(names)  # type: ignore[arg-type]
