"""Tests what `mkrntuple` accepts as a type and as data, and what it refuses."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pyarrow as pa
import pytest

import nyssa

TYPES: list[tuple[Any, str]] = [
    (bool, "bool"),
    (int, "std::int64_t"),
    (float, "double"),
    (str, "std::string"),
    (np.float32, "float"),
    (np.uint8, "std::uint8_t"),
    (np.bool_, "bool"),
    (np.dtype("i2"), "std::int16_t"),
    (np.dtype(">f4"), "float"),
    ("f4", "float"),
    (">i4", "std::int32_t"),
    ("int32", "std::int32_t"),
    ("U10", "std::string"),
    ("(2,3)f4", "std::array<std::array<float,3>,2>"),
    (("int32", (2,)), "std::array<std::int32_t,2>"),
    ((np.float32, 3), "std::array<float,3>"),
    (np.dtype(("i4", (2,))), "std::array<std::int32_t,2>"),
    ("int", "std::int32_t"),
    ("std::vector<float>", "std::vector<float>"),
    ("string", "std::string"),
    ("var * float32", "std::vector<float>"),
    ("?int64", "std::optional<std::int64_t>"),
    (ak.types.from_datashape("var * int32", highlevel=False), "std::vector<std::int32_t>"),
    (ak.Array([[1.5]]).type, "std::vector<double>"),
    (ak.Array([[1.5]]).layout.form, "std::vector<double>"),
    (pa.int32(), "std::int32_t"),
    (pa.string(), "std::string"),
    (pa.list_(pa.float32()), "std::vector<std::optional<float>>"),
    (pa.field("x", pa.float64()), "std::optional<double>"),
    (pa.field("x", pa.float64(), nullable=False), "double"),
    (np.dtype([("a", "f4"), ("b", "i8")]), "(untyped record)"),
    ("f4,i4", "(untyped record)"),
    (pa.struct({"a": pa.int32()}), "(untyped record)"),
]

NEITHER: list[Any] = [
    frozenset,
    object,
    list,
    dict,
    Path,
    np.object_,
    "O",
    "object",
    "no such type",
    np.dtype("O"),
    None,
    5,
    2.5,
    {"a": "f4"},
    {1, 2},
    (i for i in range(3)),
    list[float],
    Decimal,
]


@pytest.mark.parametrize(
    ("one", "expected"), TYPES, ids=lambda one: repr(one).partition(" at 0x")[0][:40]
)
def test_types(tmp_path: Path, one: Any, expected: str) -> None:
    with nyssa.recreate(tmp_path / "types.root") as file:
        writer = file.mkrntuple("n", {"x": one})
        assert writer.num_entries == 0
    assert nyssa.open(f"{tmp_path / 'types.root'}:n").typenames() == {"x": expected}


@pytest.mark.parametrize("one", NEITHER, ids=lambda one: repr(one).partition(" at 0x")[0])
def test_what_is_neither_type_nor_data_is_refused(tmp_path: Path, one: Any) -> None:
    with nyssa.recreate(tmp_path / "none.root") as file:
        with pytest.raises((nyssa.ArgumentError, nyssa.UnsupportedError)) as caught:
            file.mkrntuple("n", {"x": one})
        file["other"] = {"x": [1]}
    assert "x" in str(caught.value)
    assert nyssa.open(tmp_path / "none.root").keys() == ["other;1"]


def test_the_refusal_says_what_is_accepted(tmp_path: Path) -> None:
    message = (
        "x: frozenset is neither a type nor an array; a type is a C++ type such as "
        '"std::vector<float>", a NumPy dtype or scalar type, bool, int, float or str, an awkward '
        'type such as "var * float32" or form, or a pyarrow type'
    )
    with nyssa.recreate(tmp_path / "none.root") as file:
        with pytest.raises(nyssa.ArgumentError, match=re.escape(message)):
            file.mkrntuple("n", {"x": frozenset})
        mixed = "y is data, but x a type; give types first, and data to extend"
        with pytest.raises(nyssa.ArgumentError, match=re.escape(mixed)):
            file.mkrntuple("n", {"x": "int32", "y": [1, 2]})


@pytest.mark.parametrize(
    "types",
    [
        np.dtype([("x", "f4"), ("y", "i4")]),
        ak.Array([{"x": np.float32(1), "y": np.int32(1)}]).type,
        ak.Array([{"x": np.float32(1), "y": np.int32(1)}]).layout.form,
        pa.schema({"x": pa.float32(), "y": pa.int32()}),
    ],
    ids=lambda types: type(types).__name__,
)
def test_types_of_all_fields_at_once(tmp_path: Path, types: Any) -> None:
    with nyssa.recreate(tmp_path / "types.root") as file:
        file.mkrntuple("n", types)
    events = nyssa.open(f"{tmp_path / 'types.root'}:n")
    assert list(events) == ["x", "y"]
    assert events.num_entries == 0


@pytest.mark.parametrize(
    "data",
    [[1, 2], (1, 2), range(1, 3), np.array([1, 2]), ak.Array([1, 2]), pa.array([1, 2])],
    ids=lambda data: type(data).__name__,
)
def test_data(tmp_path: Path, data: Any) -> None:
    with nyssa.recreate(tmp_path / "data.root") as file:
        assert file.mkrntuple("n", {"x": data}).num_entries == 2
    assert nyssa.open(f"{tmp_path / 'data.root'}:n")["x"].array().to_list() == [1, 2]
