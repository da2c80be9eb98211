"""Every RNTuple in the test data reads as ROOT and uproot read it."""

from __future__ import annotations

import json
from pathlib import Path

import awkward as ak
import pytest
import uproot

import nyssa
from conftest import DATA, data_files
from same import layouts_differ, matches_json

VALIDATION = data_files("rntuple-validation/write")
FILES = data_files("rntuple")
pytestmark = pytest.mark.skipif(not FILES, reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")


@pytest.mark.parametrize("path", VALIDATION, ids=lambda path: path.stem)
def test_validation_suite(path: Path) -> None:
    """The official conformance files read as ROOT's own readers print them."""
    expected = json.loads((path.parents[1] / "read" / f"{path.stem}.json").read_text())
    if "error" in expected:
        with pytest.raises(nyssa.UnsupportedError, match="137"):
            nyssa.open(path)["ntpl"]
        return
    dataset = nyssa.open(path)["ntpl"]
    if isinstance(expected, dict):
        sums = {name: int(ak.sum(dataset[name].array())) for name in dataset}
        assert sums == expected
        return
    assert dataset.num_entries == len(expected)
    refused = dataset.unreadable
    assert all(refused.values())
    got = dataset.arrays(dataset.readable).to_list()
    wanted = [{k: v for k, v in entry.items() if k not in refused} for entry in expected]
    for number, (want, have) in enumerate(zip(wanted, got, strict=True)):
        assert matches_json(want, have, "unordered" in path.stem), (
            f"entry {number}: {want} but {have}"
        )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_equal_to_uproot(path: Path) -> None:
    """Field by field, values and types."""
    wrong = []
    file = nyssa.open(path)
    for name in file.datasets():
        ours = file[name]
        with uproot.open(path) as other:
            theirs = other[name]
            assert ours.num_entries == theirs.num_entries
            assert all(ours.unreadable.values())
            arrays = ours.arrays(ours.readable)
            for field in ours.readable:
                try:
                    expected = ak.to_layout(theirs.arrays(filter_name=[field, f"{field}.*"])[field])
                except Exception:  # noqa: BLE001 (uproot cannot read it)
                    continue
                if "RNTupleCardinality" in ours[field].typename:
                    # uproot makes them signed; the specification and ROOT do not.
                    kind = "uint32" if "32" in ours[field].typename else "uint64"
                    expected = ak.to_layout(ak.values_astype(expected, kind))
                if found := layouts_differ(arrays.layout.content(field), expected):
                    wrong.append(f"{field} ({ours[field].typename}): {found}")
    assert not wrong, "; ".join(wrong[:20])
