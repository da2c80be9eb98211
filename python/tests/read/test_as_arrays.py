"""Columns, datasets and files work in functions of other libraries, or raise an error."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import nyssa

RUN = np.array([3, 1, 2, 5, 4], dtype=np.int32)
X = np.array([0.5, 1.5, -2.5, 3.5, 4.5], dtype=np.float32)
JAGGED = [[1.0], [], [2.0, 3.0], [], [4.0]]
WORDS = ["a", "é", "", "d", "e"]


@pytest.fixture
def file(tmp_path: Path) -> nyssa.File:
    """Return a file of one RNTuple in several clusters."""
    path = tmp_path / "some.root"
    data = {
        "run": RUN,
        "x": X,
        "j": ak.Array(JAGGED),
        "s": WORDS,
        "r": ak.Array([{"a": i, "b": i * 2.0} for i in range(5)]),
        "m": np.arange(10).reshape(5, 2),
    }
    with nyssa.recreate(path) as out:
        events = out.mkrntuple("n", {k: v[:2] for k, v in data.items()})
        events.extend({k: v[2:] for k, v in data.items()})
    return nyssa.open(path)


def same(found: Any, expected: Any) -> bool:
    """Return whether two NumPy arrays have the same type, shape and content."""
    return (
        isinstance(found, np.ndarray)
        and found.dtype == expected.dtype
        and found.shape == expected.shape
        and found.tolist() == expected.tolist()
    )


def test_numpy_takes_columns(file: nyssa.File) -> None:
    ds = file["n"]
    assert same(np.asarray(ds["run"]), RUN)
    assert same(np.array(ds["x"]), X)
    assert same(np.asarray(ds["x"], dtype="f8"), X.astype("f8"))
    assert same(np.asarray(ds["m"]), np.arange(10).reshape(5, 2))
    assert same(np.asarray(ds["s"]), np.array(WORDS, dtype=object))
    assert [one.tolist() for one in np.asarray(ds["j"])] == JAGGED
    assert np.asarray(ds["r"]).dtype.names == ("a", "b")
    assert np.mean(ds["x"]) == np.mean(X)
    assert np.sum(ds["run"]) == 15
    assert np.max(ds["run"]) == 5
    assert np.histogram(ds["x"], bins=4)[0].sum() == 5
    assert np.concatenate([ds["run"], ds["run"]]).tolist() == [*RUN, *RUN]
    assert np.where(ds["run"], ds["x"], 0).tolist() == X.tolist()


def test_arithmetic_gives_awkward_arrays(file: nyssa.File) -> None:
    ds = file["n"]
    for found, expected in [
        (ds["x"] + 1, X + 1),
        (1 + ds["x"], X + 1),
        (-ds["x"], -X),
        (ds["x"] * ds["run"], X * RUN),
        (ds["x"] > 1, X > 1),
        (ds["x"] == 3.5, X == 3.5),
        (ds["x"] != 3.5, X != 3.5),
        (np.abs(ds["x"]), np.abs(X)),
        (X + ds["x"], X + X),
        (ak.Array(X) + ds["x"], X + X),
    ]:
        assert isinstance(found, ak.Array)
        assert found.to_list() == expected.tolist()
    assert (ds["j"] * 2).to_list() == [[2.0], [], [4.0, 6.0], [], [8.0]]


def test_awkward_takes_columns(file: nyssa.File) -> None:
    ds = file["n"]
    assert str(ak.Array(ds["x"]).type) == "5 * float32"
    assert ak.Array(ds["x"]).to_list() == X.tolist()
    assert ak.sum(ds["run"]) == 15
    with pytest.raises(TypeError, match="holds more than one number for each entry"):
        ak.Array(ds["j"])


@pytest.mark.parametrize(
    ("module", "take"),
    [("torch", "from_dlpack"), ("jax", "numpy.from_dlpack"), ("numpy", "from_dlpack")],
)
def test_libraries_of_tensors_take_arrays(file: nyssa.File, module: str, take: str) -> None:
    """Columns and arrays of NumPy become tensors by the DLPack protocol."""
    from_dlpack = operator.attrgetter(take)(pytest.importorskip(module))
    ds = file["n"]
    arrays = ds.arrays(["x", "run", "m"], library="np")
    for given, expected in (
        (ds["x"], X),
        (ds["run"], RUN),
        (ds["m"], np.arange(10).reshape(5, 2)),
        (arrays["x"], X),
        (arrays["m"], np.arange(10).reshape(5, 2)),
    ):
        found = np.asarray(from_dlpack(given))
        assert found.tolist() == expected.tolist()
    if module == "torch":
        # The tensor shares the memory of the array, which can be written to.
        from_dlpack(arrays["x"])[0] = 7
        assert arrays["x"][0] == 7
    with pytest.raises(TypeError, match="holds more than one number for each entry"):
        from_dlpack(ds["j"])


def test_a_column_is_a_sequence(file: nyssa.File) -> None:
    ds = file["n"]
    assert len(ds["x"]) == 5
    assert list(ds["x"]) == X.tolist()
    assert [one.tolist() for one in ds["j"]] == JAGGED
    assert 3.5 in ds["x"]
    assert max(ds["run"]) == 5
    assert ds["x"][:3].to_list() == X[:3].tolist()
    assert ds["x"][-2:].to_list() == X[-2:].tolist()
    assert ds["x"][::2].to_list() == X[::2].tolist()
    assert ds["x"][1] == X[1]
    assert ds["x"][-1] == X[-1]
    assert ds["j"][2].to_list() == [2.0, 3.0]
    assert ds["x"][[3, 0]].to_list() == [3.5, 0.5]
    assert ds["x"][RUN > 2].to_list() == X[RUN > 2].tolist()
    for wrong in (5, -6):
        with pytest.raises(IndexError, match=f"entry {wrong} is not among the 5 entries"):
            ds["x"][wrong]
    with pytest.raises(TypeError, match="column 'x' is neither true nor false"):
        bool(ds["x"])


def test_a_slice_of_a_column_reads_no_more(
    file: nyssa.File, monkeypatch: pytest.MonkeyPatch
) -> None:
    ds = file["n"]
    core, reads = ds._core, []

    class Spy:
        def read(self, names: list[str], start: int, stop: int, *rest: Any) -> Any:
            reads.append((names, start, stop))
            return core.read(names, start, stop, *rest)

        def __getattr__(self, name: str) -> Any:
            return getattr(core, name)

    monkeypatch.setattr(ds, "_core", Spy())
    assert len(ds["x"]) == 5
    _ = ds["x"][1:3], ds["x"][4]
    assert reads == [(["x"], 1, 3), (["x"], 4, 5)]


def test_arrow_takes_columns_and_datasets(file: nyssa.File) -> None:
    ds = file["n"]
    assert pa.array(ds["x"]).type == pa.float32()
    assert pa.array(ds["x"]).to_pylist() == X.tolist()
    assert pa.array(ds["j"]).to_pylist() == JAGGED
    assert pa.table(ds)["s"].to_pylist() == WORDS
    assert pa.table({"x": pa.array(ds["x"])}).num_rows == 5
    assert pa.table(ds["r"]).column_names == ["a", "b"]


def test_polars_takes_columns_and_datasets(file: nyssa.File) -> None:
    ds = file["n"]
    frame = pl.DataFrame(ds)
    assert frame.columns == list(ds)
    assert frame["x"].dtype == pl.Float32
    assert frame["x"].to_list() == X.tolist()
    assert frame["j"].to_list() == JAGGED
    assert frame["s"].to_list() == WORDS
    assert frame["m"].to_list() == np.arange(10).reshape(5, 2).tolist()
    assert frame.equals(ds.arrays(library="polars"))
    assert pl.Series("x", ds["x"]).to_list() == X.tolist()
    assert pl.Series("j", ds["j"]).to_list() == JAGGED
    assert pl.DataFrame({"x": ds["x"]})["x"].to_list() == X.tolist()


def test_pandas_takes_columns(file: nyssa.File) -> None:
    ds = file["n"]
    assert pd.Series(ds["x"]).tolist() == X.tolist()
    assert [one.tolist() for one in pd.Series(ds["j"])] == JAGGED
    assert pd.DataFrame({"x": ds["x"], "run": ds["run"]})["run"].tolist() == RUN.tolist()


def test_columns_are_written_as_data(file: nyssa.File, tmp_path: Path) -> None:
    ds = file["n"]
    with nyssa.recreate(tmp_path / "copy.root") as out:
        out["n"] = {"x": ds["x"], "j": ds["j"], "s": ds["s"]}
        out["whole"] = ds
    copy = nyssa.open(tmp_path / "copy.root")
    assert copy["n"].typenames() == {
        "x": "float",
        "j": "std::vector<double>",
        "s": "std::string",
    }
    assert copy["n"]["s"].array().to_list() == WORDS
    assert copy["whole"].arrays().to_list() == ds.arrays().to_list()


def test_datasets_and_files_are_mappings_and_no_arrays(file: nyssa.File) -> None:
    ds = file["n"]
    assert list(ds) == ["run", "x", "j", "s", "r", "m"]
    assert bool(ds)
    assert bool(file)
    for take in (np.asarray, np.array, pd.DataFrame, ak.Array):
        with pytest.raises(
            TypeError, match="a file is not an array; open one of the objects in it"
        ):
            take(file)
        with pytest.raises(TypeError, match="a dataset is not an array; read it with"):
            take(ds)
    with pytest.raises(
        TypeError, match=r'a column is named by a str, as in dataset\["run"\], not by'
    ):
        ds[0]
    with pytest.raises(nyssa.NotFoundError, match="no 'nothing'"):
        ds[["run", "nothing"]]


def test_records_with_missing_members_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.root"
    with nyssa.recreate(path) as file:
        file.mkrntuple("t", {"r": ak.Array([{"a": 1, "b": None}, {"a": 2, "b": 3.0}])})
    with pytest.raises(nyssa.ArgumentError, match="column 'r': some values are missing"):
        np.asarray(nyssa.open(path)["t"]["r"])
