"""The core's Forms and buffers are awkward's: `awkward.from_buffers` makes the same arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa.arrays import forms
from support.data import TESTDATA

# By C++ type: entries, and the awkward type of one.
ENTRIES: dict[str, tuple[list[Any], str]] = {
    "bool": ([True, False, True], "bool"),
    "std::vector<float>": ([[1.5], [], [2, 3]], "var * float32"),
    "std::array<std::int16_t,2>": ([[1, 2], [3, 4], [5, 6]], "2 * int16"),
    "std::string": (["a", "", "ä"], "string"),
    "std::optional<double>": ([None, 1.5, None], "?float64"),
    "std::optional<std::string>": (["a", None, "b"], "?string"),
    "std::vector<std::optional<std::int32_t>>": ([[None, 1], [], [2]], "var * ?int32"),
    "std::pair<std::int32_t,std::string>": (
        [(1, "a"), (2, ""), (3, "b")],
        '{"_0": int32, "_1": string}',
    ),
    "std::variant<float>": ([1.5, None, 2], "?float32"),
    "std::variant<std::int32_t,std::string>": ([1, "a", None], "union[?int32, ?string]"),
    "std::variant<std::optional<std::int32_t>,std::string>": (
        ["a", 1, None],
        "union[?int32, ?string]",
    ),
    "std::variant<std::variant<std::int32_t,bool>,std::string>": (
        ["a", None, "b"],
        "union[?int32, ?bool, ?string]",
    ),
}


@pytest.mark.parametrize("cpp", ENTRIES)
def test_arrays_are_those_of_awkward(cpp: str, tmp_path: Path) -> None:
    """Arrays from Forms and buffers are the ones that awkward builds, also without entries."""
    entries, described = ENTRIES[cpp]
    with nyssa.recreate(tmp_path / "types.root") as file:
        file.mkrntuple("Events", {"x": cpp}).extend({"x": entries})
    events = nyssa.open(f"{tmp_path / 'types.root'}:Events")
    for stop in (3, 0):
        [column] = events._core.read(["x"], 0, stop)
        theirs = ak.from_buffers(column.form(), len(column), column.buffers())
        ours = events["x"].array(entry_stop=stop)
        assert ours.layout.form == ak.forms.from_json(column.form()) == theirs.layout.form
        assert ak.array_equal(ours, theirs, check_parameters=True)
        assert ours.type == ak.types.ArrayType(ak.types.from_datashape(described, False), stop)
        assert ak.validity_error(ours, exception=False) == ""
    read = [
        tuple(one.values()) if isinstance(one, dict) else one
        for one in events["x"].array().to_list()
    ]
    assert read == entries


FILES = sorted(
    str(path.relative_to(TESTDATA))
    for folder in ("ttree", "rntuple")
    for path in (TESTDATA / folder).glob("*.root")
)


@pytest.mark.parametrize("name", FILES)
def test_types_are_shown_as_awkward_writes_them(name: str) -> None:
    file = nyssa.open(TESTDATA / name)
    for path in file.datasets():
        dataset = file[path]
        names = dataset.readable
        shapes = dict(zip(names, dataset._core.datashapes(names), strict=True))
        form = dataset.form(names)
        assert shapes == {field: str(form.content(field).type) for field in form.fields}


def test_forms_tell_types_where_they_are_asked(tmp_path: Path) -> None:
    """C++ types are in the Form only on request: they are not part of an array's type."""
    with nyssa.recreate(tmp_path / "types.root") as file:
        file.mkrntuple("Events", {"x": "std::pair<int,float>"})
    [column] = nyssa.open(f"{tmp_path / 'types.root'}:Events")._core.read(["x"], 0, 0)
    typed = forms.parse(column.form(typed=True))
    assert forms.parameter(typed, "typename") == "std::pair<std::int32_t,float>"
    assert "typename" not in column.form()


def test_nulls_below_nulls_are_no_options(tmp_path: Path) -> None:
    """The members of a missing record need no values of their own."""
    with nyssa.recreate(tmp_path / "types.root") as file:
        types = {"x": "std::optional<Hit>"}
        file.mkrntuple("Events", types, classes={"Hit": {"e": "float"}}).extend(
            {"x": [{"e": 1.5}, None]}
        )
    read = nyssa.open(f"{tmp_path / 'types.root'}:Events")["x"].array()
    assert str(read.type) == "2 * ?{e: float32}"
    assert read.to_list() == [{"e": 1.5}, None]


@pytest.mark.parametrize(
    ("form", "length", "buffers", "message"),
    [
        ({"class": "NumpyArray", "primitive": "complex64"}, 1, {"data": b"12345678"}, "complex64"),
        ({"class": "NumpyArray", "primitive": "int32"}, 3, {"data": b"12345678"}, "invalid Arrow"),
        ({"class": "ListOffsetArray", "offsets": "i64"}, 1, {"offsets": b"12345678"}, "fewer"),
        ({"class": "BitMaskedArray"}, 1, {}, "cannot import an array of BitMaskedArray"),
    ],
)
def test_wrong_forms_are_errors(
    form: dict[str, Any], length: int, buffers: dict[str, bytes], message: str
) -> None:
    """Forms and buffers that do not belong together are refused."""
    keyed = {f"node0-{name}": np.frombuffer(data, np.uint8) for name, data in buffers.items()}
    with pytest.raises((TypeError, ValueError), match=message):
        nyssa._core.Array.from_buffers("x", {**form, "form_key": "node0"}, length, keyed)


@pytest.mark.parametrize("name", ["structures", "types"])
def test_objects_of_numpy_are_those_of_awkward(name: str) -> None:
    for column in nyssa.open(TESTDATA / "rntuple" / f"{name}.root").values()[0].values():
        entries = [
            one.tolist() if isinstance(one, np.ndarray) else one
            for one in column.array(library="np")
        ]
        if column.array(library="np").dtype == object:
            assert repr(entries) == repr(column.array().to_list()), column
