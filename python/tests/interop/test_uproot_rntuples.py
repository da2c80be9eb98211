"""RNTuples by uproot's names: base classes, descriptions, steps of Dask, as uproot has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa
import nyssa.uproot

CLASSES: dict[str, dict[str, object]] = {
    "Base": {"a": "int", "b": "float"},
    "Child": {":bases": ["Base"], "c": "int"},
    "Parent": {":bases": ["Base"], "p": "float"},
    "Both": {":bases": ["Child", "Parent"], "own": "int"},
}
BASE = {"a": 1, "b": 2.5}
CHILD = {":_0": BASE, "c": 3}
BOTH = {":_0": CHILD, ":_1": {":_0": {"a": 4, "b": 5.5}, "p": 6.5}, "own": 7}


@pytest.fixture
def inherited(tmp_path: Path) -> str:
    """Write classes with base classes, also one that is there twice."""
    path = tmp_path / "inherited.root"
    types = {"child": "Child", "both": "Both", "children": "std::vector<Child>"}
    with nyssa.recreate(path) as file:
        ntuple = file.mkrntuple("n", types, classes=CLASSES)
        ntuple.extend({"child": [CHILD] * 2, "both": [BOTH] * 2, "children": [[], [CHILD]]})
    return f"{path}:n"


def test_members_of_base_classes_are_members_of_the_class(inherited: str) -> None:
    theirs, ours = uproot.open(inherited), nyssa.uproot.open(inherited)
    assert ours.keys() == theirs.keys()
    assert ours["both"].keys() == theirs["both"].keys()
    assert ours.typenames() == theirs.typenames()
    assert str(ours.arrays().type) == str(theirs.arrays().type)
    assert ours.arrays().to_list() == theirs.arrays().to_list()
    for name in ("both.Child::a", "both.Parent::a", "child.a", "children.a"):
        assert ours[name].array().to_list() == theirs[name].array().to_list()
        assert ours[name].path == theirs[name].path


def test_descriptions_of_fields(tmp_path: Path) -> None:
    jets = ak.zip({"pt": ak.Array([[1.5, 2.5], []]), "eta": ak.Array([[0.5, 1.5], []])})
    data = ak.Array({"jets": ak.with_parameter(jets, "__doc__", "AK4"), "met": [1.5, 2.5]})
    data = ak.with_parameter(data, "__doc__", "all events")
    path = tmp_path / "described.root"
    with nyssa.recreate(path) as file:
        file.mkrntuple("n", data, descriptions={"jets._0.pt": "GeV"})
    with uproot.open(path) as file:
        records = file["n"].header.field_records
        assert [item.field_desc for item in records] == ["AK4", "", "GeV", "", ""]
        assert file["n"].description == "all events"
    forms: list[Any] = []
    for one in (uproot, nyssa.uproot):
        ntuple = one.open(f"{path}:n")
        forms += [ntuple.arrays(ak_add_doc=True).layout.form.parameters]
        forms += [ntuple.arrays(ak_add_doc=True).jets.layout.form.to_dict(verbose=False)]
        forms += [ntuple.arrays(ak_add_doc={"cpp": "typename"}).met.layout.parameters]
    texts = [str(form).count(text) for form in forms for text in ("AK4", "GeV", "all events")]
    assert texts[:9] == texts[9:]
    assert forms[2] == forms[5]


def test_a_description_of_no_field_is_refused(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "refused.root") as file:
        with pytest.raises(nyssa.ArgumentError, match='"jet" is described, but there is no such'):
            file.mkrntuple("n", {"jets": "float"}, descriptions={"jet": "GeV"})
        file["n"] = {"jets": [1.5]}


def test_records_of_added_columns(tmp_path: Path) -> None:
    path = tmp_path / "added.root"
    with uproot.recreate(path) as file:
        file["n"] = {"x": [1, 2]}
    with uproot.update(path) as file:
        file["n"].add_fields({"y": "float64"})
        file["n"].extend({"x": [3], "y": [0.5]})
    for one in (uproot, nyssa.uproot):
        ntuple = one.open(f"{path}:n")
        assert len(ntuple.column_records) == 2
        assert len(ntuple.header.column_records) == 1
        assert [len(cluster) for cluster in ntuple.page_link_list] == [1, 2]
