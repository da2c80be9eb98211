"""DataFrames of pandas: types and missing numbers are those that pandas makes of Arrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa

pa = pytest.importorskip("pyarrow")
pd = pytest.importorskip("pandas")


def table() -> Any:
    """Return columns with missing values."""
    made = pa.table(
        {
            "i": pa.array([1, None, -3], pa.int64()),
            "u": pa.array([None, 2, 255], pa.uint8()),
            "f": pa.array([0.1, None, 2.5], pa.float32()),
            "d": pa.array([None, None, 1e300], pa.float64()),
            "whole": pa.array([4, 5, 6], pa.int32()),
            "lists": pa.array([[1.0, 2.0], [], [3.0]], pa.large_list(pa.float64())),
            "text": pa.array(["a", None, "ü"], pa.large_string()),
            "bytes": pa.array([b"\x00\xff", b"", b"z"], pa.large_binary()),
            "plain": pa.array([b"\x00\xff", b"", b"z"], pa.large_binary()),
            "id": pa.array([b"ab", b"cd", b"\xff\x00"], pa.binary(2)),
            "flag": pa.array([True, None, False], pa.bool_()),
        }
    )
    for name in ("whole", "plain"):
        place = made.column_names.index(name)
        field = made.schema.field(name).with_nullable(False)
        made = made.set_column(place, field, made[name])
    return made


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return an RNTuple of these columns."""
    path = tmp_path_factory.mktemp("pandas") / "table.root"
    with nyssa.recreate(path) as file:
        file["Events"] = table()
    return f"{path}:Events"


def test_missing_numbers_are_nan(path: str) -> None:
    names = ["i", "u", "f", "d", "whole"]
    # pyarrow has one type of real numbers for all integers with missing values.
    expected = table().select(names).to_pandas()
    events = nyssa.open(path)
    pd.testing.assert_frame_equal(events.arrays(names, library="pd[nan]"), expected)
    for name in names:
        pd.testing.assert_series_equal(
            events[name].array(library="pandas[nan]", entry_start=1), expected[name][1:]
        )
    [step] = events.iterate(names, library="pd[nan]")
    pd.testing.assert_frame_equal(step, expected)
    flags = events.arrays(["flag"], library="pd[nan]").flag
    assert flags.dtype == np.float64
    assert np.array_equal(flags, [1, np.nan, 0], equal_nan=True)


def test_missing_numbers_are_of_types_of_pandas(path: str) -> None:
    mapped = {
        pa.int64(): pd.Int64Dtype(),
        pa.uint8(): pd.UInt8Dtype(),
        pa.float32(): pd.Float32Dtype(),
        pa.float64(): pd.Float64Dtype(),
        pa.bool_(): pd.BooleanDtype(),
    }
    names = ["i", "u", "f", "d", "flag"]
    expected = table().select(names).to_pandas(types_mapper=mapped.get)
    pd.testing.assert_frame_equal(nyssa.open(path).arrays(names, library="pd"), expected)


def test_columns_of_arrow(path: str) -> None:
    expected = table().to_pandas(types_mapper=pd.ArrowDtype)
    assert {str(dtype) for dtype in expected.dtypes} >= {"int64[pyarrow]", "bool[pyarrow]"}
    frame = nyssa.open(path).arrays(library="pd[pyarrow]", entry_start=1)
    assert [*frame.index] == [1, 2]
    read = pa.Table.from_pandas(frame, preserve_index=False)
    assert read.to_pydict() == table()[1:].to_pydict()
    plain = [name for name in frame if name != "lists"]
    assert frame.dtypes[plain].equals(expected.dtypes[plain])
    series = nyssa.open(path)["lists"].array(library="pd[pyarrow]")
    assert series.list.len().to_list() == [2, 0, 1]
    cut = nyssa.open(path).arrays(["whole"], cut="whole > 4", library="pd[pyarrow]")
    assert cut.whole.to_list() == [5, 6]


def test_integers_that_double_precision_cannot_hold(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "large.root") as file:
        file["Events"] = {"n": pa.array([None, 2**53 + 1], pa.int64())}
    events = nyssa.open(f"{tmp_path / 'large.root'}:Events")
    with pytest.raises(nyssa.ArgumentError, match="n has 9007199254740993, for which double"):
        events.arrays(library="pd[nan]")
    assert events.arrays(library="pd").n[1] == 2**53 + 1


def test_categories_become_their_values(tmp_path: Path) -> None:
    words = pd.Categorical(["mu", None, "e", "mu"])
    numbers = pd.Categorical([10, 20, 10, 30])
    with nyssa.recreate(tmp_path / "words.root") as file:
        file["Events"] = pd.DataFrame({"word": words, "number": numbers})
    frame = nyssa.open(f"{tmp_path / 'words.root'}:Events").arrays(library="pd")
    assert frame.word.fillna("none").to_list() == ["mu", "none", "e", "mu"]
    assert frame.number.to_list() == [10, 20, 10, 30]


def test_binaries_stay_binaries(path: str, tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    names = ["bytes", "plain", "id"]
    expected = table().select(names)
    events = nyssa.open(path)
    arrow = events.arrays(names, library="arrow")
    assert arrow.to_pydict() == expected.to_pydict()
    assert arrow.schema.types == expected.schema.types
    frame = events.arrays(names, library="polars")
    assert frame.schema.dtypes() == [pl.Binary, pl.Binary, pl.Binary]
    assert frame.to_dict(as_series=False) == expected.to_pydict()
    parquet = tmp_path / "out.parquet"
    nyssa.convert(path, parquet, include=names)
    written = pl.read_parquet(parquet)
    assert written.to_dict(as_series=False) == expected.to_pydict()
    # And back, from all of them.
    nyssa.convert(parquet, tmp_path / "back.root", name="Events")
    with nyssa.update(tmp_path / "back.root") as file:
        file["polars"], file["arrow"] = frame, arrow
    for name in ("Events", "polars", "arrow"):
        again = nyssa.open(f"{tmp_path / 'back.root'}:{name}")
        assert "std::byte" in again["bytes"].typename
        assert again.arrays(library="arrow").to_pydict() == expected.to_pydict()
