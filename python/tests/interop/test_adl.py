"""The eight queries of the ADL benchmark fill the histograms that RDataFrame fills."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from support.data import REPOSITORY

EXAMPLES = REPOSITORY / "examples"
sys.path[:0] = [str(EXAMPLES), str(REPOSITORY / "docs" / "tutorials")]

import sample  # noqa: E402
from adl import queries  # noqa: E402

del sys.path[:2]

#: The sum of a column of the sample that the reference was made from.
SUM_OF_MET = 498748.0714163624


def reference(name: str) -> dict[str, list[int]]:
    return json.loads((EXAMPLES / "adl" / "reference" / f"{name}.json").read_text())


def answers(path: Path, *, workers: int = 1) -> dict[str, list[int]]:
    found = {}
    for number in queries.QUERIES:
        histograms = queries.run(f"{path}:Events", number, workers)
        found |= {name: contents.tolist() for name, contents in histograms.items()}
    return found


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the sample, or skip if NumPy makes other numbers than those of the reference."""
    path = tmp_path_factory.mktemp("adl") / "events.root"
    sample.write(path)
    total = uproot.open(path)["Events"]["MET_pt"].array(library="np").sum(dtype=np.float64)
    if total != pytest.approx(SUM_OF_MET, rel=1e-12):
        pytest.skip(f"this NumPy makes other random numbers: their sum is {total}")
    return path


def test_a_tree_and_an_ntuple(made: Path, tmp_path: Path) -> None:
    expected = reference("sample")
    assert answers(made) == expected
    nyssa.convert(f"{made}:Events", tmp_path / "ntuple.root")
    assert answers(tmp_path / "ntuple.root", workers=2) == expected


def test_events_of_cms(nano: Path) -> None:
    assert answers(nano) == reference("cms")
