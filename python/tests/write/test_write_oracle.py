"""ROOT and uproot read the values that nyssa writes."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import nyssa
from support.root import Root
from support.same import layouts_differ, matches_json

NUMBERS = ["b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def extremes(dtype: str) -> np.ndarray:
    """Return twelve values, including the limits of the type."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        edges: list[Any] = [True, False, True, True]
    elif kind.kind == "f":
        info = np.finfo(kind)
        edges = [0, -0.0, 1.1, info.max, info.min, info.tiny, np.inf, -np.inf, np.nan]
    else:
        limits = np.iinfo(kind)
        edges = [limits.min, limits.max, 0, 1, limits.max // 3]
    return np.resize(np.array(edges, kind), 12)


def written(path: Path, data: Any, **options: Any) -> Path:
    """Write `data` as "Events" and return the path."""
    with nyssa.recreate(path, **options) as file:
        file["Events"] = data
    return path


def check(path: Path, expected: ak.Array, root: Root | None = None) -> None:
    """Compare the values that nyssa, uproot and ROOT read."""
    ours = nyssa.open(f"{path}:Events").arrays()
    assert not (found := layouts_differ(ours.layout, ak.to_layout(expected))), f"nyssa: {found}"
    with uproot.open(path) as file:
        theirs = file["Events"].arrays()
    assert not (found := layouts_differ(theirs.layout, ak.to_layout(expected))), f"uproot: {found}"
    if root is not None:
        entries = root.call("entries", str(path), "Events")
        for number, (got, want) in enumerate(zip(entries, expected.to_list(), strict=True)):
            assert matches_json(got, want), f"ROOT, entry {number}: {got} is not {want}"


@pytest.mark.parametrize("compression", [0, 505])
def test_numbers(compression: int, tmp_path: Path, root: Root) -> None:
    """Numbers keep their type and value, alone, in fixed-size arrays, and in lists."""
    columns: dict[str, Any] = {}
    expected = {}
    for name in NUMBERS:
        values = extremes(name)
        matrix = np.stack([values, values[::-1]], axis=1)
        columns[f"{name}_one"] = expected[f"{name}_one"] = values
        columns[f"{name}_array"] = matrix
        expected[f"{name}_array"] = ak.from_numpy(matrix, regulararray=True)
        columns[f"{name}_list"] = expected[f"{name}_list"] = ak.unflatten(
            values, [0, 3, *[1] * 9, 0]
        )
    path = written(tmp_path / "numbers.root", columns, compression=compression)
    check(path, ak.zip(expected, depth_limit=1))
    scalars = [f"{name}_one" for name in ("b1", "i4", "u8", "f4", "f8")]
    frame = root.call("numpy", str(path), "Events", scalars)
    for name in scalars:
        np.testing.assert_array_equal(frame[name], columns[name])
        assert frame[name].dtype == columns[name].dtype


@pytest.mark.parametrize("compression", [0, 101, 207, 404, 505, "zstd:9", "lz4", "none"])
def test_compressions(compression: int | str, tmp_path: Path, root: Root) -> None:
    """All readers read every algorithm."""
    numbers = np.arange(20_000)
    data = ak.Array({"x": numbers, "y": np.sqrt(numbers), "name": [str(n % 7) for n in numbers]})
    path = written(tmp_path / "data.root", data, compression=compression)
    check(path, data)
    frame = root.call("numpy", str(path), "Events", ["x", "y"])
    np.testing.assert_array_equal(frame["x"], numbers)
    np.testing.assert_array_equal(frame["y"], np.sqrt(numbers))


def test_nested(tmp_path: Path, root: Root) -> None:
    """Records in lists in records, strings in lists, and several dimensions are read back."""
    data = ak.Array(
        [
            {"event": {"run": 1, "tags": ["a", ""]}, "jets": [{"pt": 1.5, "hits": [1, 2]}]},
            {"event": {"run": 2, "tags": []}, "jets": []},
            {"event": {"run": 3, "tags": ["é"]}, "jets": [{"pt": 0.5, "hits": []}] * 2},
        ]
    )
    check(written(tmp_path / "nested.root", data), data, root)


def test_many_clusters(tmp_path: Path, root: Root) -> None:
    """Entries that are given in many pieces are read in order, over many clusters."""
    path = tmp_path / "clusters.root"
    with nyssa.recreate(path, cluster_size="20 kB", page_size="4 kB", compression=0) as file:
        writer = file.mkrntuple("Events", {"x": "int32", "list": "var * float32"})
        for start in range(0, 30_000, 1_700):
            x = np.arange(start, min(start + 1_700, 30_000), dtype=np.int32)
            counts = x % 4
            writer.extend({"x": x, "list": ak.unflatten(np.repeat(x, counts).astype("f4"), counts)})
        assert writer.num_entries == 30_000
    x = np.arange(30_000, dtype=np.int32)
    expected = {"x": x, "list": ak.unflatten(np.repeat(x, x % 4).astype("f4"), x % 4)}
    dataset = nyssa.open(f"{path}:Events")
    assert len(dataset.clusters) > 5
    check(path, ak.zip(expected, depth_limit=1))
    np.testing.assert_array_equal(root.call("numpy", str(path), "Events", ["x"])["x"], x)


def test_the_arrays_may_change_after_extend(tmp_path: Path) -> None:
    """The writer copies the data."""
    path = tmp_path / "copy.root"
    buffer = np.zeros(10)
    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("Events", {"x": "float64"})
        for number in range(5):
            buffer[:] = number
            writer.extend({"x": buffer})
    expected = np.repeat(np.arange(5.0), 10)
    np.testing.assert_array_equal(nyssa.open(path)["Events/x"].array(library="np"), expected)


def test_inputs(tmp_path: Path, root: Root) -> None:
    """The same table from every library gives the same data."""
    pd, pa, pl = map(pytest.importorskip, ("pandas", "pyarrow", "polars"))
    columns = {
        "n": np.arange(4, dtype=np.int32),
        "x": np.array([0.5, -1, np.inf, 2]),
        "s": ["a", "", "ccc", "é"],
        "flag": np.array([True, False, True, True]),
    }
    structured = np.array(
        list(zip(*columns.values(), strict=True)),
        dtype=[("n", "i4"), ("x", "f8"), ("s", "U3"), ("flag", "?")],
    )
    expected = ak.zip(columns, depth_limit=1)
    arrow = pa.table(columns)
    inputs = {
        "dict": columns,
        "awkward": expected,
        "numpy": structured,
        "pandas": pd.DataFrame(columns),
        "pyarrow": arrow,
        "chunks": pa.concat_tables([arrow.slice(0, 1), arrow.slice(1, 3)]),
        "batch": arrow.to_batches()[0],
        "polars": pl.DataFrame(columns),
        "series": {name: pl.Series(name, values) for name, values in columns.items()},
        "arrow_arrays": {name: pa.array(values) for name, values in columns.items()},
        "chunked": {name: arrow[name] for name in columns},
    }
    with nyssa.recreate(tmp_path / "inputs.root") as file:
        for name, data in inputs.items():
            file[name] = data
    for name in inputs:
        got = nyssa.open(tmp_path / "inputs.root")[name].arrays()
        # The schema of a table of Arrow or polars says that values may be missing.
        if name not in {"dict", "awkward", "numpy", "pandas"}:
            assert all(got[field].layout.is_option for field in got.fields), name
            got = ak.zip({field: ak.drop_none(got[field]) for field in got.fields}, depth_limit=1)
        assert not (found := layouts_differ(got.layout, ak.to_layout(expected))), f"{name}: {found}"
    for name in ("numpy", "polars"):
        entries = root.call("entries", str(tmp_path / "inputs.root"), name)
        assert all(map(matches_json, entries, expected.to_list()))


def test_jagged_inputs(tmp_path: Path) -> None:
    """Lists of object arrays, Arrow, polars and Python can be written."""
    pa, pl = map(pytest.importorskip, ("pyarrow", "polars"))
    lists = [[1.5, 2.5], [], [3.5]]
    objects = np.empty(3, dtype=object)
    objects[:] = [np.array(one) for one in lists]
    data = {
        "awkward": ak.Array(lists),
        "objects": objects,
        "python": lists,
        "arrow": pa.array(lists, pa.large_list(pa.float64())),
        "list32": pa.array(lists, pa.list_(pa.float64())),
        "polars": pl.Series(lists),
    }
    path = written(tmp_path / "lists.root", data)
    arrays = nyssa.open(f"{path}:Events").arrays()
    for name in data:
        assert arrays[name].to_list() == lists, name
        # The types of Arrow and polars say that items may be missing.
        is_nullable = name in {"arrow", "list32", "polars"}
        type_text = "3 * option[var * ?float64]" if is_nullable else "3 * var * float64"
        assert str(arrays[name].type) == type_text, name
    with uproot.open(path) as file:
        assert file["Events"].arrays()["list32"].to_list() == lists


def test_empty(tmp_path: Path, root: Root) -> None:
    """An RNTuple may have no entries, and no fields at all."""
    path = tmp_path / "empty.root"
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", {"x": np.float32, "v": "var * int64"}, description="nothing")
    dataset = nyssa.open(f"{path}:Events")
    assert dataset.num_entries == 0
    assert str(dataset.arrays().type) == "0 * {x: float32, v: var * int64}"
    assert root.call("entries", str(path), "Events") == []
    fields = [("x", "float"), ("v", "std::vector<std::int64_t>")]
    assert root.call("fields", str(path), "Events") == fields


leaves = st.sampled_from(["bool", "int8", "uint16", "int32", "uint64", "float32", "string"])
shapes = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map("var * {}".format),
        st.lists(inner, min_size=1, max_size=3).map(
            lambda parts: "{" + ", ".join(f"f{i}: {p}" for i, p in enumerate(parts)) + "}"
        ),
    ),
    max_leaves=5,
)


def values_of(type_: Any) -> st.SearchStrategy[Any]:
    """Return a strategy for Python values of an awkward type."""
    if isinstance(type_, ak.types.NumpyType):
        kind = np.dtype(type_.primitive)
        if kind.kind == "b":
            return st.booleans()
        if kind.kind == "f":
            return st.floats(width=32, allow_subnormal=False)
        return st.integers(int(np.iinfo(kind).min), int(np.iinfo(kind).max))
    if type_.parameter("__array__") == "string":
        return st.text(
            st.characters(exclude_categories=["C"], exclude_characters='"\\'), max_size=5
        )
    if isinstance(type_, ak.types.ListType):
        return st.lists(values_of(type_.content), max_size=3)
    return st.fixed_dictionaries(
        {name: values_of(one) for name, one in zip(type_.fields, type_.contents, strict=True)}
    )


def built(type_: Any, values: list[Any]) -> Any:
    """Return the layout of values of an awkward type."""
    if isinstance(type_, ak.types.NumpyType):
        return ak.contents.NumpyArray(np.array(values, type_.primitive))
    if isinstance(type_, ak.types.RecordType):
        pairs = zip(type_.fields, type_.contents, strict=True)
        parts = [built(part, [value[name] for value in values]) for name, part in pairs]
        return ak.contents.RecordArray(parts, type_.fields, length=len(values))
    if type_.parameter("__array__") == "string":
        values = [np.frombuffer(value.encode(), np.uint8) for value in values]
        flat = np.concatenate([np.empty(0, np.uint8), *values])
        content = ak.contents.NumpyArray(flat, parameters={"__array__": "char"})
    else:
        content = built(type_.content, [one for value in values for one in value])
    offsets = np.cumsum([0, *map(len, values)])
    return ak.contents.ListOffsetArray(
        ak.index.Index64(offsets), content, parameters=type_.parameters
    )


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_shape(data: st.DataObject, tmp_path: Path, root: Root) -> None:
    """Any nesting of records, lists, strings and numbers is read back."""
    parts = data.draw(st.lists(shapes, min_size=1, max_size=3))
    text = "{" + ", ".join(f"c{i}: {part}" for i, part in enumerate(parts)) + "}"
    type_ = ak.types.from_datashape(text, highlevel=False)
    rows = data.draw(st.lists(values_of(type_), min_size=0, max_size=4))
    array = ak.Array(built(type_, rows))
    path = written(tmp_path / "any.root", array)
    ours = nyssa.open(f"{path}:Events").arrays()
    assert not (found := layouts_differ(ours.layout, array.layout)), found
    assert str(ours.type) == str(array.type)
    entries = root.call("entries", str(path), "Events")
    for got, want in zip(entries, array.to_list(), strict=True):
        assert matches_json(got, want), (json.dumps(got), want)


def test_an_exception_leaves_no_file(tmp_path: Path) -> None:
    """No file is left, nor a part of one; an existing file stays."""
    path = tmp_path / "out.root"
    with pytest.raises(ZeroDivisionError), nyssa.recreate(path) as file:
        file["Events"] = {"x": np.arange(10)}
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    written(path, {"x": np.arange(3)})
    before = path.read_bytes()
    with pytest.raises(ZeroDivisionError), nyssa.recreate(path) as file:
        file["Events"] = {"x": np.arange(10)}
        raise ZeroDivisionError
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_visible_before_close(tmp_path: Path) -> None:
    """The file appears when it is complete."""
    path = tmp_path / "out.root"
    with nyssa.recreate(path) as file:
        file["Events"] = {"x": np.arange(10)}
        assert not path.exists()
    assert path.exists()
    with pytest.raises(nyssa.errors.ArgumentError, match="is closed"):
        file["More"] = {"x": np.arange(10)}


def test_a_forgotten_file_is_noticed(tmp_path: Path) -> None:
    """Without `close` there is no file, and a warning says so."""
    file = nyssa.recreate(tmp_path / "out.root")
    file["Events"] = {"x": np.arange(10)}
    del file
    with pytest.warns(RuntimeWarning, match="never closed"):
        gc.collect()
    assert list(tmp_path.iterdir()) == []
