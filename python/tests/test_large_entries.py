"""One entry that is larger than the memory of a job is written whole, and the report says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa

ITEMS = 6_000_000
NOTE = "more memory was needed than the 12000000 bytes that were given: "
OPTIONS: Any = {"memory": "12 MB", "force": True}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Let uproot write five small entries and one of 24 MB, each in a basket of its own."""
    path = tmp_path_factory.mktemp("large") / "tree.root"
    with uproot.recreate(path) as file:
        events = file.mktree("Events", {"v": "var * float32", "n": "int32"})
        for number in range(6):
            items = np.arange(ITEMS if number == 3 else 10, dtype=np.float32)
            values = ak.from_regular(items[np.newaxis])
            events.extend({"v": values, "n": np.array([number], np.int32)})
    return path


def test_the_excess_is_said(tree: Path, tmp_path: Path) -> None:
    ntuple, back = tmp_path / "ntuple.root", tmp_path / "tree.root"
    converted = nyssa.convert(tree, ntuple, verify=True, **OPTIONS)
    (rewritten,) = nyssa.rewrite(ntuple, tmp_path / "rewritten.root", verify=True, **OPTIONS)
    merged = nyssa.merge([ntuple], tmp_path / "merged.root", recluster="1 MB", **OPTIONS)
    returned = nyssa.convert(ntuple, back, to="ttree", verify=True, **OPTIONS)
    for report in (converted, rewritten, merged, returned):
        (note,) = (one for one in report["notes"] if one.startswith(NOTE))
        assert "take 2400" in note
    expected = uproot.open(f"{tree}:Events")["v"].array()
    for path in (tmp_path / "rewritten.root", tmp_path / "merged.root"):
        assert ak.array_equal(uproot.open(f"{path}:Events")["v"].array(), expected)
    assert ak.array_equal(uproot.open(f"{back}:Events")["v"].array(), expected)


def test_nothing_is_said_where_it_fits(tree: Path, tmp_path: Path) -> None:
    report = nyssa.convert(tree, tmp_path / "ntuple.root", memory="80 MB")
    assert not [one for one in report["notes"] if one.startswith("more memory")]
