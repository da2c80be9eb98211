"""Tests variants whose values are not in the order of the entries, as uproot writes them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa

EXPECTED: list[list[Any]] = [
    [0, "hi", 2.3],
    [23, 4.1, "hello"],
    [],
    ["x"],
    [7.5, 8, 9.25, "y", 10],
    [],
    [1, "z", 2.5],
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file of uproot with three clusters, in which numbers are one alternative."""
    path = tmp_path / "variants.root"
    whole = ak.Array(EXPECTED)
    with uproot.recreate(path) as file:
        ntuple = file.mkrntuple("n", {"v": whole[:3]})
        ntuple.extend({"v": whole[3:5]})
        ntuple.extend({"v": whole[5:]})
    return path


def test_one_cluster_reads_as_uproot_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "one.root"
    with uproot.recreate(path) as file:
        file.mkrntuple("n", {"v": EXPECTED})
    theirs = uproot.open(path)["n"]["v"].array()
    assert theirs.to_list() == EXPECTED
    # The values are not in order.
    assert theirs.layout.content.index.data.tolist() != sorted(theirs.layout.content.index.data)
    assert nyssa.open(f"{path}:n")["v"].array().to_list() == EXPECTED


def test_they_read_as_they_were_written(path: Path) -> None:
    events = nyssa.open(f"{path}:n")
    assert events["v"].array().to_list() == EXPECTED
    entries = len(EXPECTED)
    for start in range(entries + 1):
        for stop in range(start, entries + 1):
            read = events["v"].array(entry_start=start, entry_stop=stop)
            assert read.to_list() == EXPECTED[start:stop], (start, stop)
    assert events.take([5, 1, 1, 0])["v"].to_list() == [EXPECTED[i] for i in (5, 1, 1, 0)]
    for step in (1, 2, "cluster"):
        steps = list(events.iterate(step_size=step))
        assert ak.concatenate(steps)["v"].to_list() == EXPECTED
    arrow = events["v"].array(library="arrow")
    arrow.validate(full=True)
    assert arrow.to_pylist() == EXPECTED


def _cli(*args: object) -> str:
    command = [sys.executable, "-m", "nyssa", *map(str, args)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_the_commands_take_them(path: Path, tmp_path: Path) -> None:
    lines = _cli("cat", f"{path}:n").splitlines()
    assert [json.loads(line)["v"] for line in lines] == EXPECTED
    _cli("verify", path)
    outputs = [tmp_path / name for name in ("rewritten.root", "merged.root", "full.root")]
    nyssa.rewrite(f"{path}:n", outputs[0], verify=True)
    nyssa.merge([f"{path}:n", f"{path}:n"], outputs[1])
    nyssa.merge([f"{path}:n", f"{path}:n"], outputs[2], recluster="1 MB")
    for output, times in zip(outputs, (1, 2, 2), strict=True):
        assert nyssa.open(f"{output}:n")["v"].array().to_list() == EXPECTED * times
        _cli("verify", output)
    # With several clusters, uproot reads the values of the first cluster again.
    assert uproot.open(outputs[2])["n"]["v"].array().to_list() == EXPECTED * 2
    equal = "equal: 1 column, {} entries compared\n"
    assert _cli("diff", f"{path}:n", f"{outputs[0]}:n") == equal.format(7)
    assert _cli("diff", f"{outputs[1]}:n", f"{outputs[2]}:n") == equal.format(14)
