"""Python objects, awkward, pandas and Arrow data are written to fields of given types."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import nyssa
from nyssa.errors import ArgumentError
from support.root import Root

TYPES = {
    "x": "float",
    "n": "std::int16_t",
    "big": "std::uint64_t",
    "flag": "bool",
    "text": "std::string",
    "lists": "std::vector<float>",
    "words": "std::vector<std::vector<std::string>>",
    "maybe": "std::optional<float>",
    "name": "std::optional<std::string>",
    "fixed": "std::array<double,2>",
    "bits": "std::bitset<3>",
    "map": "std::map<std::string,std::int32_t>",
    "set": "std::set<std::int32_t>",
    "pair": "std::pair<std::int32_t,std::string>",
    "either": "std::variant<std::int32_t,std::string,std::vector<float>>",
    "atomic": "std::atomic<std::int32_t>",
}
ENTRIES = {
    "x": [1.5, 2, np.float64(-0.5)],
    "n": [1, np.int64(-2), True],
    "big": [0, 2**64 - 1, 2**63],
    "flag": [True, False, 1],
    "text": ["", "ä", np.str_("z")],
    "lists": [[], [1, 2.5], np.array([3.5])],
    "words": [[[]], [], [["a", "b"], []]],
    "maybe": [None, 1, 2.5],
    "name": ["a", None, ""],
    "fixed": [[1, 2], (3.5, 4), np.array([5, 6])],
    "bits": [[True, False, False], [0, 1, 1], np.zeros(3, bool)],
    "map": [{}, {"a": 1, "b": 2}, [("c", 3)]],
    "set": [{1, 2}, set(), [3]],
    "pair": [(1, "a"), [2, "b"], {"_0": 3, "_1": "c"}],
    "either": [1, "a", [1.5]],
    "atomic": [1, -2, 3],
}
# Bits start with the lowest; maps are pairs; variants are index and value.
READ = {
    "x": [1.5, 2, -0.5],
    "n": [1, -2, 1],
    "big": [0, 2**64 - 1, 2**63],
    "flag": [True, False, True],
    "text": ["", "ä", "z"],
    "lists": [[], [1, 2.5], [3.5]],
    "words": [[[]], [], [["a", "b"], []]],
    "maybe": [None, 1, 2.5],
    "name": ["a", None, ""],
    "fixed": [[1, 2], [3.5, 4], [5, 6]],
    "bits": [[True, False, False], [False, True, True], [False] * 3],
    "map": [[], [["a", 1], ["b", 2]], [["c", 3]]],
    "set": [[1, 2], [], [3]],
    "pair": [[1, "a"], [2, "b"], [3, "c"]],
    "either": [{"variant": [0, 1]}, {"variant": [1, "a"]}, {"variant": [2, [1.5]]}],
    "atomic": [1, -2, 3],
}
NOTHING = {name: [] for name in TYPES}


def by_extend(path: Path) -> None:
    """All entries are added by one call, and an empty call follows."""
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", TYPES)
        writer.extend(NOTHING)
        writer.extend(ENTRIES)


def by_update(path: Path) -> None:
    """Entries are added to an existing file."""
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", TYPES)
    with nyssa.update(path) as file:
        for row in range(3):
            file["Events"].extend({name: [values[row]] for name, values in ENTRIES.items()})


def by_fill_context(path: Path) -> None:
    """Write the entries through a fill context."""
    with nyssa.recreate(path) as file, file.mkrntuple("Events", TYPES).fill_context() as context:
        context.extend(ENTRIES)


def by_late_fields(path: Path) -> None:
    """Write the entries to fields that were added later."""
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", {"x": "float"})
        writer.add_fields({name: of for name, of in TYPES.items() if name != "x"})
        writer.extend(ENTRIES)


def by_data_frame(path: Path) -> None:
    """Write objects that are in columns of pandas."""
    with nyssa.recreate(path) as file:
        frame = {name: pd.Series(values, dtype=object) for name, values in ENTRIES.items()}
        file.mkrntuple("Events", TYPES).extend(pd.DataFrame(frame))


@pytest.mark.parametrize(
    "write", [by_extend, by_update, by_fill_context, by_late_fields, by_data_frame]
)
def test_python_objects(write: Callable[[Path], None], tmp_path: Path, root: Root) -> None:
    """ROOT reads the values of the types, for every writer."""
    path = tmp_path / "objects.root"
    write(path)
    assert root.call("typed_views", str(path), "Events", list(TYPES.items())) == READ


def test_classes_with_bases(tmp_path: Path) -> None:
    """Members of a base class are among the members of the class, or in a separate dict."""
    path = tmp_path / "classes.root"
    classes = {"Base": {"id": "int"}, "Jet": {":bases": ["Base"], "pt": "float"}}
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", {"jets": "std::vector<Jet>"}, classes=classes)
        writer.extend({"jets": [[{"id": 1, "pt": 2}], [], [{":_0": {"id": 3}, "pt": 4.5}]]})
    jets = nyssa.open(f"{path}:Events").arrays()["jets"]
    assert jets["pt"].to_list() == [[2], [], [4.5]]
    assert jets[":_0", "id"].to_list() == [[1], [], [3]]


def test_arrays_without_values(tmp_path: Path, root: Root) -> None:
    """The empty arrays of awkward and NumPy fit every type."""
    path = tmp_path / "empty.root"
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", {"words": TYPES["words"], "map": TYPES["map"]})
        writer.extend({"words": np.empty(0), "map": ak.Array([])})
        writer.extend({"words": ak.Array([[[]], []]), "map": ak.Array([[], []])})
        writer.extend(pa.table({"words": [[]], "map": [[]]}))
    read = root.call("typed_views", str(path), "Events", [(n, TYPES[n]) for n in ("words", "map")])
    assert read == {"words": [[[]], [], []], "map": [[], [], []]}


def test_arrays_of_other_widths(tmp_path: Path, root: Root) -> None:
    """Nullable columns of pandas, options of awkward, and wider numbers can be written."""
    path = tmp_path / "arrays.root"
    types = {name: TYPES[name] for name in ("x", "n", "maybe", "name")}
    columns: list[Any] = [
        pd.DataFrame(
            {
                "x": pd.array([1.5, 2.5], dtype="Float64"),
                "n": pd.array([1, 2], dtype="Int64"),
                "maybe": pd.array([None, 1.5], dtype="Float64"),
                "name": pd.array(["a", None], dtype="string"),
            }
        ),
        {
            "x": ak.Array([1.5, 2.5]),
            "n": ak.Array([1, 2]),
            "maybe": ak.Array([None, 1.5]),
            "name": ak.Array(["a", None]),
        },
        pa.table({"x": [1.5, 2.5], "n": [1, 2], "maybe": [None, 1.5], "name": ["a", None]}),
    ]
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", types)
        for one in columns:
            writer.extend(one)
    assert root.call("typed_views", str(path), "Events", list(types.items())) == {
        "x": [1.5, 2.5] * 3,
        "n": [1, 2] * 3,
        "maybe": [None, 1.5] * 3,
        "name": ["a", None] * 3,
    }


@pytest.mark.parametrize(
    ("of", "data", "message"),
    [
        ("std::uint8_t", [1, 300], r"value 300 does not fit.*\(field x, entry 1\)"),
        ("std::uint8_t", np.array([1, -1]), r"value -1 does not fit.*\(field x, entry 1\)"),
        ("std::vector<std::uint8_t>", [[1], [], [2, 300]], r"value 300.*\(field x._0, entry 2\)"),
        ("std::vector<short>", ak.Array([[1], [2, 1 << 20]]), r"1048576.*\(field x._0, entry 1\)"),
        ("float", [1.0, 1e300], r"value 1\d+ does not fit.*\(field x, entry 1\)"),
        ("float", [2**24 + 1], r"value 16777217 does not fit.*\(field x, entry 0\)"),
        (
            "int",
            [1, float("nan")],
            r"value nan where the field is of integers \(field x, entry 1\)",
        ),
        ("int", np.array([1.0, np.nan]), r"Float64 cannot fill.*\(field x\)"),
        ("int", [1, 2**70], r"value \d+.* does not fit 64 bits.*\(field x, entry 1\)"),
        ("int", [1, "two"], r"'two' where a number belongs \(field x, entry 1\)"),
        ("int", [1, None], r"None where the type .* a value \(field x, entry 1\)"),
        ("int", pd.Series([1, None], dtype="Int64"), r"1 of 2 values are null.*entry 1\)"),
        ("int", [[1]], r"\[1\] where a number belongs \(field x, entry 0\)"),
        ("std::string", ["a", 1], r"1 where text belongs \(field x, entry 1\)"),
        ("std::vector<int>", [[1], 2], r"2 where a list belongs \(field x, entry 1\)"),
        ("std::vector<int>", ["12"], r"'12' where a list belongs"),
        ("std::array<int,2>", [[1, 2], [3]], r"1 items where.* has 2 \(field x, entry 1\)"),
        ("std::optional<char>", [None, 1, 200], r"value 200.*\(field x._0, entry 2\)"),
        ("std::pair<int,int>", [(1, 2, 3)], r"3 values where the type of the field has 2"),
        ("std::map<int,char>", [{1: 2}, {3: 400}], r"value 400.*\(field x._0._1, entry 1\)"),
        ("std::variant<char,float>", [1, "a"], r"'a' is of none of the 2 types.*entry 1\)"),
        ("std::variant<char,std::vector<int>>", [1, [1 << 40]], r"is of none.*entry 1\)"),
        ("Point", [{"x": 1, "y": 2}, {"x": 1, "z": 2}], r"no member 'z'.*\(field x, entry 1\)"),
        ("Point", [{"x": 1}], r"member 'y' is missing: there are \['x'\] \(field x, entry 0\)"),
    ],
)
def test_refused(of: str, data: Any, message: str, tmp_path: Path) -> None:
    """A wrong value is refused with field and entry, and no entry of the call is written."""
    path = tmp_path / "refused.root"
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("E", {"x": of}, classes={"Point": {"x": "float", "y": "float"}})
        with pytest.raises(ArgumentError, match=message):
            writer.extend({"x": data})
    assert nyssa.open(f"{path}:E").num_entries == 0


class Particle:
    """An object of a class that nyssa does not know."""


def test_columns_of_any_objects_are_refused(tmp_path: Path) -> None:
    """They would be the addresses of the objects, or what is left of them without their names."""
    polars = pytest.importorskip("polars")
    objects = polars.Series([Particle(), Particle()], dtype=polars.Object)
    frames = [pd.DataFrame({"pt": [1.5]}), pd.DataFrame({"pt": [2.5]})]
    refused: list[tuple[Any, str]] = [
        (polars.DataFrame({"n": [1, 2], "x": objects}), r"^x: .*\(Object of Polars\)"),
        ({"x": objects}, r"^x: .*\(Object of Polars\)"),
        (pd.DataFrame({"x": [Particle(), Particle()]}), "^x: cannot make an array"),
        ({"x": [Particle(), Particle()]}, "^x: cannot make an array"),
        ({"x": frames}, "^x: nyssa cannot write objects of type DataFrame in a list"),
        ({"x": [[one] for one in frames]}, "^x: nyssa cannot write objects of type DataFrame"),
        ({"x": [MappingProxyType({"a": 1})]}, "^x: nyssa cannot write objects of type mappingpro"),
    ]
    for data, message in refused:
        for name in ("mkrntuple", "mktree"):
            with (
                nyssa.recreate(tmp_path / "refused.root") as file,
                pytest.raises(nyssa.NyssaError, match=message),
            ):
                getattr(file, name)("t", data)


LARGE = 2**60 + 1
TABLE = np.array([(1, 2.5, (3,)), (LARGE, 4.5, (5,))], "i8, f4, (1,)i2")
ROWS = [{"f0": 1, "f1": 2.5, "f2": [3]}, {"f0": LARGE, "f1": 4.5, "f2": [5]}]


def _objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (list(TABLE), ROWS),
        (list(TABLE.view(np.recarray)), ROWS),
        (_objects(list(TABLE)), ROWS),
        (pd.Series(list(TABLE)), ROWS),
        ([np.array(row) for row in TABLE], ROWS),
        ([[TABLE[1]], [], [TABLE[0]]], [ROWS[1:], [], ROWS[:1]]),
        (_objects([list(TABLE), list(TABLE[:1])]), [ROWS, ROWS[:1]]),
        ([np.stack([TABLE, TABLE])], [[ROWS, ROWS]]),
    ],
)
def test_rows_of_structured_arrays(data: Any, expected: list[Any], tmp_path: Path) -> None:
    """Rows keep the names and the types that their array has."""
    with nyssa.recreate(tmp_path / "rows.root") as file:
        file["n"] = {"x": data}
    read = nyssa.open(tmp_path / "rows.root")["n"]["x"].array()
    assert read.to_list() == expected
    assert str(read.type).endswith("{f0: int64, f1: float32, f2: 1 * int16}")


def test_rows_in_trees(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "rows.root") as file:
        file.mktree("t", {"x": list(TABLE), "y": [[TABLE[1]], []]})
    read = nyssa.open(tmp_path / "rows.root")["t"].arrays()
    assert read["x_f0"].to_list() == [1, LARGE]
    assert read["x_f1"].type.content == ak.types.NumpyType("float32")
    assert read["y_f0"].to_list() == [[LARGE], []]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([TABLE[0], TABLE[["f0"]][0]], "x: rows of structured arrays have different types"),
        ([TABLE[0], 1], "x: rows of structured arrays are in dicts or tuples, or beside other"),
        ([{"row": TABLE[0]}], "x: rows of structured arrays are in dicts or tuples"),
        ([[(1, TABLE[0])]], r"x\[\]: rows of structured arrays are in dicts or tuples"),
    ],
)
def test_rows_that_are_refused(data: Any, message: str, tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "rows.root") as file:
        for write in (file.mkrntuple, file.mktree):
            with pytest.raises(ArgumentError, match=message):
                write("t", {"x": data})
