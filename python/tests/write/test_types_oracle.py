"""ROOT reads every field type that nyssa writes from a C++ type."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

TUPLE = ak.Array([(1, 2.5), (3, 4.5), (5, 6.5)])
PAIRS = [[["a", 1.5]], [], [["b", 2.5], ["c", -1.0]]]
MAP = ak.Array([[("a", 1.5)], [], [("b", 2.5), ("c", -1.0)]])


def variant(index: int, value: Any) -> Any:
    """Return a variant as `show.hxx` prints it."""
    return {"variant": [index, value]}


# C++ type as given; its name in ROOT; three entries; what ROOT shows, if it differs.
CASES: list[tuple[str, str, Any, Any]] = [
    ("int", "std::int32_t", [1, -2, 3], None),
    ("unsigned long", "std::uint64_t", np.array([1, 2**64 - 1, 3], np.uint64), None),
    ("bool", "bool", [True, False, True], None),
    ("std::byte", "std::byte", np.array([0, 200, 255], np.uint8), None),
    ("Double32_t", "double", [0.5, 0.25, -1.0], None),
    ("string", "std::string", ["a", "", "é"], None),
    ("vector<vector<float>>", "std::vector<std::vector<float>>", [[[1.5], []], [], [[2, 3]]], None),
    ("vector<bool>", "std::vector<bool>", [[True], [], [False, True]], None),
    ("ROOT::RVec<float>", "ROOT::VecOps::RVec<float>", [[1.5], [], [2.5, 3.5]], None),
    ("std::set<int>", "std::set<std::int32_t>", [[1, 2], [], [3]], None),
    ("unordered_set<int>", "std::unordered_set<std::int32_t>", [[1], [], [3]], None),
    ("multiset<int>", "std::multiset<std::int32_t>", [[1, 1], [], [3]], None),
    ("unordered_multiset<int>", "std::unordered_multiset<std::int32_t>", [[1, 1], [], [3]], None),
    ("map<string,float>", "std::map<std::string,float>", MAP, PAIRS),
    # ROOT itself crashes on reading multimaps without a compiled dictionary.
    ("multimap<string,float>", "std::multimap<std::string,float>", MAP, ...),
    ("std::optional<int>", "std::optional<std::int32_t>", [1, None, 3], None),
    ("unique_ptr<float>", "std::unique_ptr<float>", [None, 1.5, None], None),
    (
        "std::optional<std::vector<int>>",
        "std::optional<std::vector<std::int32_t>>",
        [[1, 2], None, []],
        None,
    ),
    ("pair<int,double>", "std::pair<std::int32_t,double>", TUPLE, None),
    ("tuple<int,double>", "std::tuple<std::int32_t,double>", TUPLE, None),
    (
        "variant<int,string>",
        "std::variant<std::int32_t,std::string>",
        ak.Array([1, "two", 3]),
        [variant(0, 1), variant(1, "two"), variant(0, 3)],
    ),
    (
        "int[2][3]",
        "std::array<std::array<std::int32_t,3>,2>",
        np.arange(18, dtype=np.int32).reshape(3, 2, 3),
        None,
    ),
    ("std::bitset<3>", "std::bitset<3>", np.eye(3, dtype=bool), None),
    ("std::atomic<int>", "std::atomic<std::int32_t>", [1, 2, 3], None),
]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return files with all types, by compression."""
    paths = {}
    for compression in (0, 505):
        path = tmp_path_factory.mktemp("types") / f"{compression}.root"
        with nyssa.recreate(path, compression=compression) as file:
            types = {f"f{number}": case[0] for number, case in enumerate(CASES)}
            writer = file.mkrntuple("Events", types)
            for start, stop in ((0, 1), (1, 3)):  # indexes of variants go on
                part = {f"f{number}": case[2][start:stop] for number, case in enumerate(CASES)}
                writer.extend(part)
        paths[compression] = path
    return paths


def shown(expected: Any) -> list[Any]:
    return ak.to_list(expected)


def test_root_has_the_types(everything: dict[int, Path], root: Root) -> None:
    """Names and columns are as ROOT makes them for the same types."""
    for path in everything.values():
        assert root.call("fields", str(path), "Events") == [
            (f"f{number}", case[1]) for number, case in enumerate(CASES)
        ]


@pytest.mark.parametrize("compression", [0, 505])
def test_root_reads_the_values(everything: dict[int, Path], compression: int, root: Root) -> None:
    """ROOT reads every field through a view of its C++ type."""
    types = [(f"f{n}", case[1]) for n, case in enumerate(CASES) if case[3] is not ...]
    views = root.call("typed_views", str(everything[compression]), "Events", types)
    for number, (text, _, data, expected) in enumerate(CASES):
        if expected is ...:
            continue
        wanted = shown(data) if expected is None else expected
        assert json.loads(json.dumps(wanted)) == views[f"f{number}"], text


def test_uproot_reads_the_values(everything: dict[int, Path]) -> None:
    """The types that uproot knows are read by uproot."""
    for path in everything.values():
        with uproot.open(path) as file:
            for number, (text, _, data, expected) in enumerate(CASES):
                # uproot reads unique_ptr as lists of none or one.
                if expected is not None or text.startswith("unique_ptr"):
                    continue
                got = file["Events"][f"f{number}"].array().to_list()
                wanted = [list(one) if isinstance(one, tuple) else one for one in shown(data)]
                assert [list(one) if isinstance(one, tuple) else one for one in got] == wanted, text


def test_classes_by_name(tmp_path: Path) -> None:
    """Classes with bases, enums and collections have the fields of the specification."""
    path = tmp_path / "classes.root"
    classes: dict[str, Any] = {
        "Base": {"b": "int"},
        "Jet": {"pt": "float", "color": "Color", ":bases": ["Base"], ":version": 3, ":checksum": 7},
        "Color": {":enum": "short"},
        "Hits": {":items": "float"},
    }
    with nyssa.recreate(path) as file:
        types = {"jets": "std::vector<Jet>", "pair": "Jet[2]", "hits": "Hits"}
        writer = file.mkrntuple("Events", types, classes=classes)
        jet = {"pt": 1.5, "color": 2, "b": 7}
        writer.extend(
            {"jets": [[jet], []], "pair": ak.to_regular([[jet, jet]] * 2), "hits": [[], [1.0]]}
        )
    with uproot.open(path) as file:
        fields = {field.field_name: field for field in file["Events"].header.field_records}
        assert fields["jets"].type_name == "std::vector<Jet>"
        assert fields["hits"].type_name == "Hits"
        assert fields["pair"].type_name == "std::array<Jet,2>"
        assert fields[":_0"].type_name == "Base"
        assert fields["color"].type_name == "Color"
        records = [one for one in file["Events"].header.field_records if one.type_name == "Jet"]
        assert {record.type_version for record in records} == {3}
    arrays = nyssa.open(f"{path}:Events").arrays()
    assert arrays["jets", "pt"].to_list() == [[1.5], []]
    assert arrays["jets", ":_0", "b"].to_list() == [[7], []]
    assert arrays["hits"].to_list() == [[], [1.0]]


def test_named_records_and_missing_values(tmp_path: Path) -> None:
    """Record names of awkward become classes when requested; options are std::optional."""
    path = tmp_path / "named.root"
    jets = ak.Array([[{"pt": 1.5}], []], with_name="Jet")
    data = {"jets": jets, "x": ak.Array([1, None]), "union": ak.Array([1, "a"]), "t": TUPLE[:2]}
    with nyssa.recreate(path) as file:
        file.mkrntuple("Named", data, record_names=True)
        file.mkrntuple("Plain", data)
    types = {}
    for name in ("Named", "Plain"):
        with uproot.open(path) as file:
            records = file[name].header.field_records
        types[name] = [
            one.type_name for one in records if one.parent_field_id == records.index(one)
        ]
    assert types["Named"][0] == "std::vector<Jet>"
    assert types["Plain"] == [
        "",
        "std::optional<std::int64_t>",
        "std::variant<std::int64_t,std::string>",
        "std::tuple<std::int64_t,double>",
    ]
    assert nyssa.open(f"{path}:Plain").arrays(["x"])["x"].to_list() == [1, None]


def test_arrow_and_pandas(tmp_path: Path) -> None:
    """Columns are optional if their type says so, whatever their values are."""
    pa, pd = pytest.importorskip("pyarrow"), pytest.importorskip("pandas")
    table = pa.table(
        {
            "full": pa.array([1, 2], pa.int32()),
            "holes": pa.array([1, None], pa.int32()),
            "map": pa.array([[("a", 1)], []], pa.map_(pa.string(), pa.int32())),
            "words": pa.array(["x", "y"]).dictionary_encode(),
            "bytes": pa.array([b"ab", b"cd"], pa.binary(2)),
        }
    )
    frame = pd.DataFrame({"n": pd.array([1, None], dtype="Int32"), "s": ["a", None]})
    path = tmp_path / "tables.root"
    with nyssa.recreate(path) as file:
        file["arrow"] = table
        file["pandas"] = frame
    with uproot.open(path) as file:
        names = [
            [one.type_name for one in file[key].header.field_records] for key in ("arrow", "pandas")
        ]
    assert [
        name
        for name in names[0]
        if name
        in {
            "std::optional<std::int32_t>",
            "std::map<std::string,std::int32_t>",
            "std::string",
            "std::array<std::byte,2>",
        }
    ]
    assert names[0][0] == "std::optional<std::int32_t>"
    assert "std::optional<std::array<std::byte,2>>" in names[0]
    assert names[1][0] == "std::optional<std::int32_t>"
    assert "std::optional<std::string>" in names[1]
    assert nyssa.open(f"{path}:pandas").arrays(["n"])["n"].to_list() == [1, None]
    assert nyssa.open(f"{path}:arrow").arrays(["words"])["words"].to_list() == ["x", "y"]


@pytest.mark.parametrize(
    ("types", "data", "message"),
    [
        ({"x": "std::vector<Jets>"}, None, "type Jets is not known"),
        ({"x": "std::list<int>"}, None, "not a type that RNTuple has"),
        ({"x": "std::int8_t"}, [300], "value 300 does not fit.*field x, entry 0"),
        (
            {"x": "std::vector<float>"},
            [1.0],
            r"1\.0 where a list belongs \(field x, entry 0\)",
        ),
        ({"x": "Jet"}, [{"pt": 1.0, "eta": 2.0}], "no member 'eta'.*field x"),
        ({"x": "std::vector<int>"}, [[1, None]], r"None where.*field x\._0"),
    ],
)
def test_refused(types: dict[str, str], data: Any, message: str, tmp_path: Path) -> None:
    """The error for a wrong value says where it is."""
    with (
        pytest.raises((nyssa.errors.ArgumentError, nyssa.errors.UnsupportedError), match=message),
        nyssa.recreate(tmp_path / "refused.root") as file,
    ):
        writer = file.mkrntuple("Events", types, classes={"Jet": {"pt": "float"}})
        writer.extend({"x": data})


@pytest.mark.parametrize(
    ("column", "bound"),
    [
        ("unsplit", 0.0),
        ("Real16", 2.0**-11),
        ("Real32Trunc:16", 2.0**-7),
        ("Real32Quant:12:-4:4", 4 / (2**12 - 1)),
    ],
)
def test_column_types(column: str, bound: float, tmp_path: Path, root: Root) -> None:
    """ROOT reads low-precision columns inside the stated bound."""
    path = tmp_path / "columns.root"
    values = np.linspace(-1, 1, 1001, dtype=np.float32)
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", {"x": values}, field_options={"x": {"column": column}})
    read = root.call("numpy", str(path), "Events", ["x"])["x"]
    assert np.max(np.abs(read - values)) <= bound
    ours = nyssa.open(f"{path}:Events").arrays(library="np")["x"]
    np.testing.assert_array_equal(ours, read)


def test_variants_find_their_alternatives(tmp_path: Path, root: Root) -> None:
    """The types of a union may have any order, and values of one type are accepted."""
    path = tmp_path / "variants.root"
    types = {"v": "std::variant<std::int32_t,std::string>", "w": "std::variant<float,std::int64_t>"}
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", types)
        writer.extend({"v": ak.Array(["a", 1]), "w": np.array([2**40, 2])})
        writer.extend({"v": ak.Array([3]), "w": np.array([1.5], np.float32)})
        writer.extend({"v": ak.Array(["b"]), "w": ak.Array([7])})
    views = root.call("typed_views", str(path), "Events", list(types.items()))
    assert views["v"] == [variant(1, "a"), variant(0, 1), variant(0, 3), variant(1, "b")]
    assert views["w"] == [variant(1, 2**40), variant(1, 2), variant(0, 1.5), variant(1, 7)]


def test_members_of_optional_values_are_not_optional(tmp_path: Path) -> None:
    """A class keeps all its members when values are missing, also in lazy reads."""
    path = tmp_path / "optional.root"
    types = {
        "pair": "std::optional<std::pair<std::int32_t,std::vector<std::string>>>",
        "bits": "std::vector<std::unique_ptr<std::bitset<2>>>",
    }
    data = {"pair": [(1, ["a"]), None, (3, [])], "bits": [[None, [True, False]], [], [None]]}
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", types).extend(data)
    for lazy in (False, True):
        arrays = nyssa.open(f"{path}:Events").arrays(lazy=lazy)
        assert arrays["pair"].to_list() == [{"_0": 1, "_1": ["a"]}, None, {"_0": 3, "_1": []}]
        assert arrays["bits"].to_list() == data["bits"]
        assert str(arrays["pair"].type) == "3 * ?{_0: int32, _1: var * string}"
        assert str(arrays["bits"].type) == "3 * var * option[2 * bool]"


def test_tuples_of_records_are_records(root: Root, tmp_path: Path) -> None:
    """A record without a class has no place in the name of a tuple: ROOT reads `_0`, `_1`."""
    path = tmp_path / "tuples.root"
    with nyssa.recreate(path) as file:
        file["n"] = {"t": ak.Array([({"x": 1}, 2), ({"x": 3}, 4)])}
    expected = [{"t": {"_0": {"x": 1}, "_1": 2}}, {"t": {"_0": {"x": 3}, "_1": 4}}]
    assert root.call("entries", str(path), "n") == expected
    assert uproot.open(path)["n"].arrays().t.to_list() == [({"x": 1}, 2), ({"x": 3}, 4)]
