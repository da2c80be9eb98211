"""Every RNTuple of the test data has the values that ROOT and uproot read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA, data_files
from support.same import layouts_differ, matches_json

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
    """Values and types are compared field by field."""
    wrong = []
    file = nyssa.open(path)
    for name in file.datasets():
        ours = file[name]
        if not isinstance(ours, nyssa.RNTuple):
            continue
        with uproot.open(path) as other:
            theirs = other[name]
            assert ours.num_entries == theirs.num_entries
            assert all(ours.unreadable.values())
            arrays = ours.arrays(ours.readable)
            expected = uproot_fields(theirs, ours.readable)
            for field, want in expected.items():
                want, have = as_uproot(want), as_uproot(arrays.layout.content(field))
                if "RNTupleCardinality" in ours[field].typename:
                    # uproot makes them signed, unlike the specification and ROOT.
                    want = ak.to_layout(ak.values_astype(want, have.dtype))
                if found := layouts_differ(have, want):
                    wrong.append(f"{field} ({ours[field].typename}): {found}")
    assert not wrong, "; ".join(wrong[:20])


def test_variants_in_every_library(data: Path) -> None:
    """A variant keeps the types of its alternatives; a variant without a value is missing."""
    path = data / "rntuple" / "test_emptystruct_invalidvar_rntuple_v1-0-0-0.root"
    column = nyssa.open(path)["ntuple"]["variant"]
    # These are the values that uproot reads.
    expected = [1, None, {"i": 2}]
    array = column.array()
    assert array.to_list() == expected
    assert str(array.type) == "3 * union[?int32, ?{i: int32}]"
    assert ak.from_buffers(*ak.to_buffers(array)).to_list() == expected
    assert column.array(entry_start=2).to_list() == expected[2:]
    assert column.array(library="np").tolist() == expected
    assert column.array(library="pd").tolist() == expected
    assert column.array(library="arrow").to_pylist() == expected
    with pytest.raises(nyssa.UnsupportedError, match="Polars has no type for the variants in"):
        column.array(library="polars")


def uproot_fields(theirs: Any, fields: list[str]) -> dict[str, Any]:
    """Return uproot's layouts of the fields that it can read."""
    try:
        arrays = theirs.arrays()
        return {field: arrays.layout.content(field) for field in fields}
    except Exception:  # noqa: BLE001 (uproot has no common error)
        pass
    found = {}
    for field in fields:
        try:
            array = theirs.arrays(filter_name=[field, f"{field}.*"])[field]
        except Exception:  # noqa: BLE001
            continue
        found[field] = ak.to_layout(array)
    return found


def as_uproot(layout: Any) -> Any:
    """Return a layout in a form that is the same for uproot and nyssa.

    ROOT has base classes as members; uproot puts their members beside the members of the class
    itself. And a `char` has no sign in uproot.
    """
    if isinstance(layout, ak.contents.RecordArray):
        fields: dict[str, Any] = {}
        for name, content in zip(layout.fields, layout.contents, strict=True):
            content = as_uproot(content)
            if layout.is_tuple:
                name = f"_{name}"
            if name.startswith(":_"):
                fields.update(zip(content.fields, content.contents, strict=True))
            else:
                fields[name] = content
        return ak.contents.RecordArray(list(fields.values()), list(fields), length=layout.length)
    if layout.is_list and layout.parameter("__array__") is None:
        return layout.copy(content=as_uproot(layout.content))
    if isinstance(layout, ak.contents.NumpyArray) and layout.dtype == np.int8:
        return ak.contents.NumpyArray(layout.data.view(np.uint8))
    return layout
