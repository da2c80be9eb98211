"""Missing values in, missing values out; what cannot be written or read is refused by name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa

MASKED = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
RECORDS = np.ma.array([(1, 2.0), (3, 4.0)], mask=[(0, 1), (1, 0)], dtype=[("a", "i4"), ("b", "f8")])
ROWS = [{"a": 1, "b": None}, {"a": None, "b": 4.0}]


def back(path: Path, data: Any, types: Any = None) -> Any:
    """Write one column to an RNTuple, and read it."""
    with nyssa.recreate(path) as file:
        file.mkrntuple("n", types or {"x": data}) if types is None else None
        if types is not None:
            file.mkrntuple("n", types).extend({"x": data})
    return nyssa.open(f"{path}:n")["x"].array().to_list()


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (MASKED, [1.0, None, 3.0]),
        (np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), [[1, None], [3, 4]]),
        (np.ma.array(np.array([1, 2], ">i4"), mask=[1, 0]), [None, 2]),
        (np.ma.array([True, False], mask=[1, 0]), [None, False]),
        (np.ma.array(["a", "b"], mask=[1, 0]), [None, "b"]),
        (np.ma.array(["a", "b"], dtype=object, mask=[1, 0]), [None, "b"]),
        (RECORDS, ROWS),
        ([np.ma.array([1, 2], mask=[0, 1]), np.array([3])], [[1, None], [3]]),
        ([1.0, np.ma.masked], [1.0, None]),
        (list(RECORDS), ROWS),
        ([[RECORDS[1]], []], [[{"a": None, "b": 4.0}], []]),
        ([RECORDS[:1], RECORDS], [[ROWS[0]], ROWS]),
        ([np.ma.array(1.0, mask=True), np.ma.array(2.0)], [None, 2.0]),
        ([[np.ma.array(1, mask=True)], [np.array(2)]], [[None], [2]]),
        ([np.ma.masked, np.ma.masked], [None, None]),
        ([2**63, 1], [2**63, 1]),
    ],
)
def test_masks_are_written(data: Any, expected: list[Any], tmp_path: Path) -> None:
    assert back(tmp_path / "m.root", data) == expected


def test_masks_of_stated_types(tmp_path: Path) -> None:
    path = tmp_path / "m.root"
    assert back(path, MASKED, {"x": "?float64"}) == [1.0, None, 3.0]
    assert back(path, list(RECORDS), {"x": "{a: ?int32, b: ?float64}"}) == ROWS
    nested = np.ma.array([((1, 2),)], mask=[((0, 1),)], dtype=[("r", [("a", "i4"), ("b", "i4")])])
    expected = [{"r": {"a": 1, "b": None}}]
    assert back(path, list(nested), {"x": "{r: {a: int32, b: ?int32}}"}) == expected
    scalars = [np.ma.array(1.0, mask=True), np.array(2.0)]
    assert back(path, scalars, {"x": "?float64"}) == [None, 2.0]
    with pytest.raises(nyssa.ArgumentError, match="are null, which a field of type"):
        back(path, MASKED, {"x": "double"})
    with pytest.raises(nyssa.ArgumentError, match="x"), nyssa.recreate(path) as file:
        file.mktree("t", {"x": MASKED})


def test_masks_where_root_has_no_missing_values(tmp_path: Path) -> None:
    edges = np.arange(4.0)
    with nyssa.recreate(tmp_path / "h.root") as file:
        for data in [(MASKED, edges), (np.ones(2), np.ma.array(edges[:3], mask=[0, 1, 0]))]:
            with pytest.raises(nyssa.ArgumentError, match="missing"):
                file["h"] = data
    with pytest.raises(nyssa.ArgumentError, match="missing"):
        nyssa.graph(edges[:3], MASKED)


def test_the_schema_of_arrow_says_what_is_optional(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    path = tmp_path / "s.root"
    schema = pa.schema([pa.field("x", pa.float64()), pa.field("y", pa.int32(), nullable=False)])

    def batch(x: list[Any]) -> Any:
        return pa.record_batch([pa.array(x), pa.array([1, 2], pa.int32())], schema=schema)

    with nyssa.recreate(path) as file:
        writer = file.mkrntuple("n", batch([1.0, 2.0]))
        writer.extend(batch([None, 2.0]))
    found = nyssa.open(f"{path}:n")
    assert found.typenames() == {"x": "std::optional<double>", "y": "std::int32_t"}
    assert found["x"].array().to_list() == [1.0, 2.0, None, 2.0]
    records = pa.array([{"a": 1}, None])
    with pytest.raises(nyssa.ArgumentError, match="missing rows"), nyssa.recreate(path) as file:
        file["n"] = records


def test_arrays_of_variants_may_be_missing(tmp_path: Path) -> None:
    variants = ak.unflatten(ak.concatenate([ak.Array([1, 2]), ak.Array(["a", "b"])]), 2)
    data = ak.mask(ak.to_regular(variants), [False, True])
    assert back(tmp_path / "x.root", data) == [None, ["a", "b"]]


def test_numpy_and_pandas_have_numbers_that_may_be_missing(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    path = tmp_path / "o.root"
    data = {"f": ak.Array([1.5, None]), "i": ak.Array([None, 2]), "j": ak.Array([[1, None], []])}
    with nyssa.recreate(path) as file:
        file["n"] = data
    found = nyssa.open(f"{path}:n")
    arrays = found.arrays(library="np")
    for name in ("f", "i"):
        expected = ak.to_numpy(data[name])
        assert isinstance(arrays[name], np.ma.MaskedArray)
        assert arrays[name].dtype == expected.dtype
        np.testing.assert_array_equal(arrays[name].mask, expected.mask)
        assert arrays[name].compressed().tolist() == expected.compressed().tolist()
    assert [one.tolist() for one in arrays["j"]] == [[1, None], []]
    frame = found.arrays(["f", "i"], library="pd")
    pd.testing.assert_series_equal(frame["f"], pd.Series([1.5, None], dtype="Float64", name="f"))
    pd.testing.assert_series_equal(frame["i"], pd.Series([None, 2], dtype="Int64", name="i"))
    assert found["f"].array(library="pd").mean() == 1.5
    with pytest.raises(nyssa.ArgumentError, match="missing"):
        np.asarray(found["f"])
    with pytest.raises(nyssa.ArgumentError, match="missing"):
        found.take(np.ma.array([0, 1], mask=[0, 1]))


def test_arrays_of_numpy_can_be_written_to(tmp_path: Path) -> None:
    path = tmp_path / "w.root"
    data = {"x": np.arange(5.0), "m": np.ones((5, 2)), "j": ak.Array([[1.0], [], [2.0], [], []])}
    with nyssa.recreate(path) as file:
        file["n"] = data
    found = nyssa.open(f"{path}:n")
    for _ in range(2):
        arrays = found.arrays(library="np")
        assert arrays["x"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
        assert arrays["j"][0].tolist() == [1.0]
        arrays["x"] /= 2
        arrays["m"] += 1
        arrays["j"][0][:] = 7
        assert np.from_dlpack(arrays["x"]).tolist() == [0.0, 0.5, 1.0, 1.5, 2.0]
    for step in found.iterate(["x"], step_size=2, library="np"):
        step["x"] *= 0
    assert found["x"].array().to_list() == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_the_sum_of_nothing_is_positive(tmp_path: Path) -> None:
    path = tmp_path / "e.root"
    with nyssa.recreate(path) as file:
        file["n"] = {"pt": ak.Array([[], [1.5]])}
    sums = nyssa.open(f"{path}:n").arrays(["sum(pt)"])["sum(pt)"]
    assert math.copysign(1, sums[0]) == 1
    assert sums.to_list() == [0.0, 1.5]


def test_frames_with_columns_of_one_name(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with (
        pytest.raises(nyssa.ArgumentError, match="two columns have the same name"),
        nyssa.recreate(tmp_path / "d.root") as file,
    ):
        file["n"] = frame


def test_integers_that_no_type_holds(tmp_path: Path) -> None:
    for data in ([2**63, -1], [[2**64]], [2**70]):
        with pytest.raises(nyssa.ArgumentError, match="x"):
            back(tmp_path / "b.root", data)


def test_strings_that_are_no_text_go_to_pandas(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    path = tmp_path / "s.root"
    with nyssa.recreate(path) as file:
        file.mktree("t", {"s": ak.Array([b"caf\xe9", b"b"])})
    frame = nyssa.open(f"{path}:t").arrays(library="pd")
    assert frame["s"].tolist() == ["caf\udce9", "b"]
    with pytest.raises(nyssa.ArgumentError, match="not text of Unicode"):
        back(path, None, {"a\ud800": "int"})
