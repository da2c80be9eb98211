"""Joins are compared with pandas.merge and ROOT's friends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.root import Root


def write(path: Path, data: Any, **options: Any) -> nyssa.Dataset:
    """Write an RNTuple and return it."""
    with nyssa.recreate(path, **options) as file:
        file["Events"] = data
    dataset: nyssa.Dataset = nyssa.open(path)["Events"]
    return dataset


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> nyssa.Dataset:
    """Return 3000 events of three runs in several clusters."""
    n = np.arange(3000)
    data = {"run": np.int32(n // 1000 - 1), "event": np.uint64(n * 7 % 3000), "pt": n * 0.5}
    folder = tmp_path_factory.mktemp("join")
    return write(folder / "events.root", data, cluster_size="2 kB", compression=0)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> nyssa.Dataset:
    """Return weights of half of the events, shuffled, some keys twice, some unknown."""
    n = np.random.default_rng(1).permutation(4000)[:2000]
    n = np.concatenate([n, n[:50]])
    count = np.arange(len(n)) % 3
    data = {
        "run": np.int64(n // 1000 - 1),
        "event": np.int16(n * 7 % 3000),
        "weight": np.arange(len(n), dtype=np.float32),
        "hits": ak.unflatten(np.arange(np.sum(count)), count),
        "label": [f"w{i}" for i in range(len(n))],
    }
    folder = tmp_path_factory.mktemp("join")
    return write(folder / "weights.root", data, cluster_size="2 kB", compression=0)


def test_join_equals_pandas(events: nyssa.Dataset, weights: nyssa.Dataset) -> None:
    pandas = pytest.importorskip("pandas")
    joined = nyssa.join(events, weights, on=["run", "event"])
    assert joined.keys() == ["run", "event", "pt", "weight", "hits", "label"]
    assert joined.clusters == events.clusters
    left = pandas.DataFrame(events.arrays(library="np"))
    right = weights.arrays(["run", "event", "weight"], library="pd")
    right["row"] = np.arange(len(right))
    right = right.drop_duplicates(["run", "event"])
    merged = pandas.merge(left, right, on=["run", "event"], how="left")
    arrays = joined.arrays()
    expected = [None if np.isnan(value) else value for value in merged["weight"]]
    assert arrays.weight.to_list() == expected
    assert 500 < sum(value is None for value in expected) < 2500
    rows = [None if np.isnan(row) else int(row) for row in merged["row"]]
    hits, labels = weights["hits"].array().to_list(), weights["label"].array().to_list()
    assert arrays.hits.to_list() == [None if row is None else hits[row] for row in rows]
    assert arrays.label.to_list() == [None if row is None else labels[row] for row in rows]
    assert arrays.pt.to_list() == events["pt"].array().to_list()


def test_parts_of_a_join(events: nyssa.Dataset, weights: nyssa.Dataset) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    joined = nyssa.join(events, weights, on=["run", "event"])
    whole = joined.arrays()
    part = joined.arrays(["weight", "pt"], entry_start=123, entry_stop=2001)
    assert part.to_list() == whole[["weight", "pt"]][123:2001].to_list()
    steps = list(joined.iterate("label", step_size=700))
    assert ak.concatenate(steps).label.to_list() == whole.label.to_list()
    assert pyarrow.table(joined).column("hits").to_pylist() == whole.hits.to_list()
    assert joined.arrays(lazy=True).to_list() == whole.to_list()


def test_several_and_chains(events: nyssa.Dataset, weights: nyssa.Dataset) -> None:
    twice = nyssa.chain([weights, weights])
    joined = nyssa.join(events, [weights, twice], on=("run", "event"), prefix=["a_", "b_"])
    arrays = joined.arrays(filter_name="*_weight")
    assert arrays.fields == ["a_weight", "b_weight"]
    assert arrays.a_weight.to_list() == arrays.b_weight.to_list()


def test_by_entry_number_as_friends_of_root(
    tmp_path: Path, root: Root, events: nyssa.Dataset
) -> None:
    other = write(
        tmp_path / "other.root", {"x": np.arange(3000)[::-1].copy(), "pt": np.zeros(3000)}
    )
    joined = nyssa.join(events, other, prefix="friend_")
    assert joined.keys() == ["run", "event", "pt", "friend_x", "friend_pt"]
    theirs = root.call("numpy", other.file_path, "Events", ["x"])["x"]
    np.testing.assert_array_equal(joined["friend_x"].array(library="np"), theirs)
    sliced = joined.arrays(["friend_x", "event"], entry_start=10, entry_stop=20)
    assert sliced.friend_x.to_list() == theirs[10:20].tolist()
    short = write(tmp_path / "short.root", {"x": [1]})
    with pytest.raises(nyssa.errors.ArgumentError, match=r"3000 entries.*has 1.*join them on"):
        nyssa.join(events, short)


def test_joins_that_cannot_be(
    tmp_path: Path, events: nyssa.Dataset, weights: nyssa.Dataset
) -> None:
    with pytest.raises(
        nyssa.NotFoundError, match='no field "evnt" to join on; did you mean "event"'
    ):
        nyssa.join(events, weights, on="evnt")
    with pytest.raises(nyssa.errors.ArgumentError, match="give the columns of one side a prefix"):
        nyssa.join(events, events, on=["run", "event"])
    floats = write(tmp_path / "floats.root", {"pt": [0.5], "x": [1]})
    with pytest.raises(nyssa.UnsupportedError, match="joined on integers.*Float64.*field pt"):
        nyssa.join(events, floats, on="pt")
    with pytest.raises(nyssa.errors.ArgumentError, match="prefixes"):
        nyssa.join(events, weights, on="run", prefix=["a", "b"])
    with pytest.raises(nyssa.errors.ArgumentError, match="no column"):
        nyssa.join(events, weights, on=[])


def test_keys_of_all_widths(tmp_path: Path) -> None:
    """Negative keys differ from large unsigned ones, and the largest 64-bit keys are distinct."""
    left = write(tmp_path / "l.root", {"k": np.array([2**64 - 1, 2**64 - 2, 5], np.uint64)})
    right = write(
        tmp_path / "r.root", {"k": np.array([5, 2**64 - 1], np.uint64), "v": np.int32([1, 2])}
    )
    assert nyssa.join(left, right, on="k")["v"].array().to_list() == [2, None, 1]
    signed = write(tmp_path / "s.root", {"k": np.int8([-1, 5]), "v": np.int32([1, 2])})
    with pytest.raises(nyssa.errors.ArgumentError, match="18446744073709551615 is not a Int64"):
        nyssa.join(left, signed, on="k")["v"].array()
    small = write(tmp_path / "t.root", {"k": np.uint8([5, 255])})
    assert nyssa.join(small, signed, on="k")["v"].array().to_list() == [2, None]
    empty = write(tmp_path / "e.root", {"k": np.int8([]), "v": np.int32([])})
    assert nyssa.join(small, empty, on="k")["v"].array().to_list() == [None, None]
