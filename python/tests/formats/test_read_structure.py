"""nyssa reads all types and structures that ROOT writes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.data import TESTDATA, rntuple_values
from support.root import Root


def expected(i: int) -> dict[str, Any]:
    """Return entry `i` of the file that `reading::types` in `ntuples.cxx` writes."""

    def hit(i: int, k: int) -> dict[str, Any]:
        return {
            ":_0": {"x": i + 0.5 * k},
            "value": k if (i + k) % 3 else f"v{k}",
            "grid": [[0, 0, 0], [0, 0, i]],
            "low": 0.25 * k,
            "color": 700 if k else 1,
            "letter": 97 + k,
            "weights": [i, 1.5] if k % 2 else [],
        }

    none = {**hit(0, 0), "value": 0}
    hits = [hit(i, k) for k in range(i % 4)]

    def digits(value: int, size: int) -> list[bool]:
        return [bool(value >> bit & 1) for bit in range(size)]

    return {
        "vv": [i * 10 + k if (i + k) % 2 else str(i) for k in range(i % 4)],
        "ov": [i] if i % 3 else [],
        "nested": "n" if i % 2 else 2.5,
        "same": 1 << 60 | i if i % 2 else i * 0.5,
        "ol": [i] * (i % 4 - 1) if i % 4 else None,
        "oo": [[], [None], [i]][i % 3],
        "vo": [None, f"s{i}"],
        "bits": digits(1 << i | 1 << 69, 70),
        "vbits": [digits(i % 8, 3)] * (i % 3),
        "abits": [digits(i, 5), digits(31 - i & 31, 5)],
        "tuple": {"_0": -i, "_1": {"_0": i * 0.5, "_1": "x" * (i % 3)}},
        "map": [{"_0": str(k), "_1": i} for k in range(i % 3)],
        "set": list(range(i % 3)),
        "atomic": 4000000000 + i,
        "byte": 200 + i,
        "empty": {},
        "empties": [{}] * (i % 2),
        "hit": hits[-1] if hits else none,
        "hits": hits,
    }


FOLDER = TESTDATA / "rntuple"


@pytest.fixture(scope="module")
def types() -> Path:
    """Return a file with a field of every kind."""
    return FOLDER / "structures.root"


def test_every_type(types: Path) -> None:
    """All entries are read, and every kind of range that cuts a cluster."""
    dataset = nyssa.open(types)["ntpl"]
    assert dataset.unreadable == {}
    want = [expected(i) for i in range(30)]
    for start, stop in [(0, 30), (0, 5), (3, 12), (5, 17), (11, 13), (12, 30), (29, 30), (7, 7)]:
        arrays = dataset.arrays(entry_start=start, entry_stop=stop)
        assert arrays.fields == list(want[0])
        for field in arrays.fields:
            found = arrays[field].to_list()
            assert found == [one[field] for one in want[start:stop]], (field, start, stop)


def test_every_type_in_arrow_and_pandas(types: Path) -> None:
    """Other libraries get the same values."""
    dataset = nyssa.open(types)["ntpl"]
    names = [name for name in dataset if not name.startswith("empt")]
    table = dataset.arrays(names, library="arrow").to_pylist()
    assert table == [{name: expected(i)[name] for name in names} for i in range(30)]
    frame = dataset.arrays(["ov", "vv", "same"], library="pd")
    assert frame["same"].tolist() == [expected(i)["same"] for i in range(30)]
    assert dataset.arrays(["same"], library="np")["same"].dtype == object


def test_entries_in_any_order(types: Path) -> None:
    """`take` returns the values of a full read at these entries, for RNTuples and TTrees."""
    indices = [29, 0, 12, 12, 11, 3, 28, 0]
    for dataset in [
        nyssa.open(types)["ntpl"],
        nyssa.open(TESTDATA / "ttree" / "events-zstd.root")["Events"],
    ]:
        names = dataset.readable
        every, some = dataset.arrays(names), dataset.take(indices, names)
        for name in names:
            whole = every[name].to_list()
            assert repr(some[name].to_list()) == repr([whole[i] for i in indices]), name
        assert len(dataset.take([], names[:2])) == 0
        assert dataset.take(np.array(indices), names[:1], library="pd").shape == (8, 1)
        for wrong in ([-1], [dataset.num_entries], [0.5], [[1]]):
            with pytest.raises(nyssa.errors.ArgumentError):
                dataset.take(wrong)


def test_cat_prints_every_type(types: Path) -> None:
    """The values are compared in the notation of the validation suite."""
    run = [sys.executable, "-m", "nyssa", "cat", str(types), "--json"]
    found = json.loads(subprocess.run(run, check=True, capture_output=True).stdout)["entries"]
    assert len(found) == 30
    for i, entry in enumerate(found):
        want = expected(i)
        assert entry["vv"] == want["vv"]
        assert entry["ov"] == (i if i % 3 else None)
        assert entry["nested"] == ("n" if i % 2 else "0x1.4p+1")
        assert entry["oo"] == (i if i % 3 == 2 else None)
        assert entry["vo"] == want["vo"]
        assert entry["bits"] == f"{1 << i | 1 << 69:070b}"
        assert entry["abits"] == [f"{i:05b}", f"{31 - i & 31:05b}"]
        assert [entry["tuple"][0], entry["tuple"][1][1]] == [-i, "x" * (i % 3)]
        assert float.fromhex(entry["tuple"][1][0]) == i * 0.5
        assert entry["byte"] == 200 + i
        assert entry["hit"]["grid"] == want["hit"]["grid"]
        assert entry["hit"]["color"] == want["hit"]["color"]
        assert set(entry["hit"][":_0"]) == {"x"}


def test_low_precision_to_the_last_bit() -> None:
    """Truncated, quantized and half precision numbers are read into float and double fields."""
    dataset = nyssa.open(FOLDER / "reals.root")["ntpl"]
    assert len(dataset) == 2 * (22 + 32 + 2)
    ours = dataset.arrays(library="np")
    [theirs] = [one["fields"] for one in rntuple_values() if one["file"] == "reals.root"]
    for name, array in ours.items():
        assert array.dtype == (np.float32 if name.startswith("f") else np.float64)
        assert array.tobytes() == np.array(theirs[name][1], dtype=array.dtype).tobytes(), name
    cut = dataset.arrays(entry_start=20, entry_stop=50, library="np")
    for name, array in cut.items():
        assert array.tobytes() == ours[name][20:50].tobytes(), name


@pytest.mark.parametrize("size", [600, 5000])
@pytest.mark.parametrize("compression", [0, 505])
def test_blobs_over_several_keys(size: int, compression: int) -> None:
    """Pages and envelopes that are larger than a key are read."""
    path = FOLDER / f"keys-{size}-{compression}.root"
    dataset = nyssa.open(path)["ntpl"]
    arrays = dataset.arrays()
    i = np.arange(600)
    assert arrays["x"].to_list() == (i * 1234567).tolist()
    assert ak.num(arrays["v"]).to_list() == (i % 5).tolist()
    values = np.repeat((i * np.float32(0.7)).astype(np.float32), i % 5)
    assert np.array_equal(ak.flatten(arrays["v"]), values)
    assert dataset.arrays(["x"], entry_start=90, entry_stop=110)["x"].to_list() == [
        1234567 * entry for entry in range(90, 110)
    ]
    verify = [sys.executable, "-m", "nyssa", "verify", str(path)]
    assert subprocess.run(verify, capture_output=True).returncode == 0


def test_late_fields() -> None:
    """Fields that were added while writing are empty before, in every range."""
    path = FOLDER / "late.root"

    def want(i: int) -> dict[str, Any]:
        late = i >= 7
        return {
            "n": i,
            "record": {"a": 0},
            "variant": (i if i % 2 else [i] * (i % 3)) if late else None,
            "strings": ["late", str(i)] if late else [],
            "optional": i * 0.5 if late else None,
            "array": [True, False, i % 2 == 0] if late else [False] * 3,
        }

    dataset = nyssa.open(path)["ntpl"]
    for start in range(26):
        for stop in range(start, 26):
            found = dataset.arrays(entry_start=start, entry_stop=stop).to_list()
            assert found == [want(i) for i in range(start, stop)], (start, stop)


def test_several_in_directories() -> None:
    """Each RNTuple is found and read."""
    path = FOLDER / "several.root"
    file = nyssa.open(path)
    assert sorted(file.datasets()) == ["a/b/n2", "n0", "n1"]
    for name, first in [("n0", 0), ("n1", 100), ("a/b/n2", 200)]:
        assert file[name]["x"].array().to_list() == list(range(first, first + 10))


def test_attribute_sets() -> None:
    """Names, ranges and values are read in Python and on the command line."""
    path = FOLDER / "attributes.root"
    dataset = nyssa.open(path)["ntpl"]
    assert dataset.num_entries == 30
    sets = dataset.attribute_sets
    assert list(sets) == ["runs", "empty"]
    assert sets["empty"].num_entries == 0
    runs = sets["runs"]
    assert isinstance(runs, nyssa.RNTuple)
    # The range without entries is the last that ROOT keeps, or is missing.
    by_range = dict(zip(runs.ranges, runs.attributes().to_list(), strict=True))
    assert by_range[(0, 10)] == {"run": 1001, "comment": "!"}
    assert by_range[(10, 30)] == {"run": 1002, "comment": "!!"}
    assert "run" in str(runs["_userData"].arrow_type)
    cat = [sys.executable, "-m", "nyssa", "cat", str(path), "--attributes"]
    lines = subprocess.run(
        [*cat, "--entries", "9:11"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    entries = [json.loads(line) for line in lines]
    assert entries[:2] == [{"x": 9}, {"x": 0}]
    about = [(tuple(e["entries"]), e["values"]["run"]) for e in entries[2:]]
    assert about == [((0, 10), 1001), ((10, 30), 1002)]
    with pytest.raises(KeyError):
        sets["run"]
    verify = [sys.executable, "-m", "nyssa", "verify", str(path), "--json"]
    report = json.loads(subprocess.run(verify, check=True, capture_output=True).stdout)
    assert [one["path"] for one in report["datasets"]] == [
        "ntpl",
        "ntpl, attribute set runs",
        "ntpl, attribute set empty",
    ]


def test_projections_of_bitsets_texts_and_inner_sizes(tmp_path: Path, root: Root) -> None:
    """Every projection of ROOT reads as its source, also after a rewrite."""
    path, again = FOLDER / "projections.root", tmp_path / "again.root"
    nyssa.rewrite(path, again)
    for file in (path, again):
        events = nyssa.open(f"{file}:ntpl").arrays()
        expected = [[bool(i * 37 >> bit & 1) for bit in range(9)] for i in range(20)]
        assert events["bits"].to_list() == events["p_bits"].to_list() == expected
        assert events["p_text"].to_list() == ["x" * (i % 4) for i in range(20)]
        assert events["p_sizes"].to_list() == [[i % 5] * (i % 3) for i in range(20)]
    described = root.call("described", str(again), "ntpl")
    assert ("p_bits", "std::bitset<9>", "bits") in [(one[0], one[1], one[-1]) for one in described]
    views = root.call("typed_views", str(again), "ntpl", [("p_bits", "std::bitset<9>")])
    assert views["p_bits"] == expected
