"""ROOT reads late fields, projected fields, attribute sets and several representations of nyssa."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa.errors import ArgumentError
from support.root import Root

TYPES = {"x": "int64", "jets": "var * {pt: float64, id: int64}"}
FIRST = ak.Array(
    [
        {"x": 0, "jets": [{"pt": 1.5, "id": 1}]},
        {"x": 1, "jets": []},
        {"x": 2, "jets": [{"pt": 2.5, "id": 2}, {"pt": 3.5, "id": 3}]},
    ]
)
SECOND = ak.Array([{"x": 3, "jets": []}, {"x": 4, "jets": [{"pt": 4.5, "id": 4}]}])


def test_projections(tmp_path: Path, root: Root) -> None:
    """Sizes, members of items and other names are projected, over several clusters."""
    path = tmp_path / "projections.root"
    projections = {"n_jets": "#jets", "jet_pt": "jets.pt", "y": "x", "same": "jets"}
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", TYPES, projections=projections)
        events.extend(FIRST)
        events.add_fields({"z": "int64"})
        events.extend({"x": SECOND.x, "jets": SECOND.jets, "z": np.array([7, 8])})
    names = [name for name, _ in root.call("fields", str(path), "Events")]
    assert names == ["x", "jets", "n_jets", "jet_pt", "y", "same", "z"]
    frame = root.call("numpy", str(path), "Events", ["n_jets", "y", "jet_pt", "z"])
    assert frame["n_jets"].tolist() == [1, 0, 2, 0, 1]
    assert frame["y"].tolist() == [0, 1, 2, 3, 4]
    expected = [[1.5], [], [2.5, 3.5], [], [4.5]]
    assert [list(row) for row in frame["jet_pt"]] == expected
    ours = nyssa.open(f"{path}:Events").arrays()
    assert ours.jet_pt.to_list() == expected
    assert ours.n_jets.to_list() == [1, 0, 2, 0, 1]
    assert (
        ours.same.to_list()
        == ours.jets.to_list()
        == [*FIRST.jets.to_list(), *SECOND.jets.to_list()]
    )
    for wrong, words in [("#x", "not a collection"), ("jets.eta", "no member"), ("w", "no field")]:
        with (
            pytest.raises((ArgumentError, KeyError), match=words),
            nyssa.recreate(tmp_path / "wrong.root") as file,
        ):
            file.mkrntuple("Events", TYPES, projections={"p": wrong})


def test_late_fields(tmp_path: Path, root: Root) -> None:
    """Entries before a field read as zeros, empty strings and empty lists."""
    path = tmp_path / "late.root"
    late = {
        "number": "float64",
        "text": "string",
        "list": "var * int64",
        "fixed": "2 * int64",
        "record": "{a: int64, b: var * float64}",
    }
    given = [
        {"number": 0.5, "text": "é", "list": [1], "fixed": [1, 2], "record": {"a": 1, "b": [0.5]}},
        {"number": 1.5, "text": "", "list": [], "fixed": [3, 4], "record": {"a": 2, "b": []}},
    ]
    zero = {"number": 0, "text": "", "list": [], "fixed": [0, 0], "record": {"a": 0, "b": []}}
    data = ak.Array(given)
    fixed = ak.to_regular(data.fixed)
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", TYPES)
        events.add_fields({"early": "int64"})
        events.extend({"x": FIRST.x, "jets": FIRST.jets, "early": FIRST.x})
        events.add_fields(late)
        with pytest.raises(ArgumentError, match="missing \\['early', 'number'"):
            events.extend(SECOND)
        fields = {name: data[name] for name in late}
        old = {"x": SECOND.x, "jets": SECOND.jets, "early": SECOND.x}
        events.extend({**old, **fields, "fixed": fixed})
        with pytest.raises(ArgumentError, match="the field .* already exists"):
            events.add_fields({"x": "int64"})
        with pytest.raises(ArgumentError, match="before new entries are added to an RNTuple"):
            events.add_fields({"w": np.arange(3)})
    rows = [*FIRST.to_list(), *SECOND.to_list()]
    expected = [
        {**row, "early": row["x"], **new} for row, new in zip(rows, [zero] * 3 + given, strict=True)
    ]
    assert root.call("entries", str(path), "Events") == expected
    assert nyssa.open(f"{path}:Events").arrays().to_list() == expected


def test_attribute_sets(tmp_path: Path, root: Root) -> None:
    """ROOT finds the attributes of ranges, and the main RNTuple is unchanged."""
    path = tmp_path / "attributes.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("dir/Events", TYPES)
        meta = events.attribute_set("meta", {"run": "int32", "stream": "string"})
        other = events.attribute_set("other", {"weight": "float64"})
        with meta.range(run=1, stream="express"):
            events.extend(FIRST)
        with pytest.raises(RuntimeError), meta.range(run=9, stream="lost"):
            raise RuntimeError
        with meta.range({"run": 2}, stream="ü"):
            events.extend(SECOND)
        meta.extend([1, 2], [4, 2], {"run": [3, 4], "stream": ["overlaps", "empty"]})
        other.add(0, 5, {"weight": 0.5})
        for wrong, words in [
            ({"run": 1}, "missing"),
            ({"run": 2**40, "stream": ""}, "cannot hold"),
            ({"run": 1, "stream": "", "more": 1}, "unknown"),
        ]:
            with pytest.raises(ArgumentError, match=words):
                meta.add(0, 1, wrong)
        with pytest.raises(ArgumentError, match="stop before"):
            meta.add(2, 1, {"run": 1, "stream": ""})
        with pytest.raises(ArgumentError, match="already has"):
            events.attribute_set("meta", {"run": "int32"})
        with pytest.raises(ArgumentError, match="ROOT's own"):
            events.attribute_set("ROOT", {"run": "int32"})
    found = root.call("attributes", str(path), "dir/Events", "meta", ["run", "stream"])
    assert sorted(found, key=str) == sorted(
        [
            [0, 3, {"run": 1, "stream": "express"}],
            [3, 5, {"run": 2, "stream": "ü"}],
            [1, 4, {"run": 3, "stream": "overlaps"}],
            [2, 2, {"run": 4, "stream": "empty"}],
        ],
        key=str,
    )
    found = root.call("attributes", str(path), "dir/Events", "other", ["weight"])
    assert found == [[0, 5, {"weight": 0.5}]]
    assert root.call("entries", str(path), "dir/Events") == [*FIRST.to_list(), *SECOND.to_list()]
    assert list(nyssa.open(path).keys()) == ["dir;1", "dir/Events;1"]


def test_attribute_ranges_have_entries(tmp_path: Path) -> None:
    """A range beyond the last entry is refused, and no file is left."""
    path = tmp_path / "beyond.root"
    with (
        pytest.raises(ArgumentError, match="up to entry 4, and there are 3 entries"),
        nyssa.recreate(path) as file,
    ):
        events = file.mkrntuple("Events", TYPES)
        events.attribute_set("meta", {"run": "int32"}).add(0, 4, {"run": 1})
        events.extend(FIRST)
    assert not path.exists()


def changing(rows: int) -> list[dict[str, np.ndarray]]:
    """Return chunks, each better with another encoding: repeated words, then small numbers."""
    random = np.random.default_rng(7)
    words = random.integers(0, 2**32, 64, dtype=np.uint32)
    order = random.integers(0, 64, rows // 8)
    repeated = words[(order[:, None] + np.arange(8)) % 64].ravel()
    small = random.integers(0, 300, rows, dtype=np.uint32)
    smooth = np.cumsum(random.normal(size=rows)).astype(np.float32)
    chunks = [(repeated, small), (small, repeated), (repeated, repeated)]
    return [{"a": a, "b": b, "f": smooth} for a, b in chunks]


def test_encodings_chosen_by_looking(tmp_path: Path, root: Root) -> None:
    """Columns change their representation between clusters; ROOT and uproot read them."""
    chunks = changing(48_000)
    sizes, columns = {}, {}
    for encoding in ["default", "auto"]:
        path = tmp_path / f"{encoding}.root"
        with nyssa.recreate(path, encoding=encoding, cluster_size="150 kB") as file:
            types = {"a": "uint32", "b": "uint32", "f": "float32", "list": "var * uint32"}
            events = file.mkrntuple("Events", types, projections={"again": "a"})
            for chunk in chunks:
                lists = ak.unflatten(chunk["b"], np.full(len(chunk["b"]) // 4, 4))
                lists = ak.concatenate([lists, ak.unflatten(chunk["b"][:0], np.zeros(36_000, int))])
                events.extend({**chunk, "list": lists})
        sizes[encoding] = path.stat().st_size
        columns[encoding] = len(uproot.open(path)["Events"].column_records)
        merged = {name: np.concatenate([chunk[name] for chunk in chunks]) for name in chunks[0]}
        frame = root.call("numpy", str(path), "Events", ["a", "b", "f", "again"])
        for name, expected in {**merged, "again": merged["a"]}.items():
            np.testing.assert_array_equal(frame[name], expected)
        ours = nyssa.open(f"{path}:Events").arrays()
        assert len(nyssa.open(f"{path}:Events").clusters) > 4
        theirs = uproot.open(path)["Events"].arrays(["a", "b", "f"])
        for name, expected in merged.items():
            np.testing.assert_array_equal(ours[name], expected)
            np.testing.assert_array_equal(theirs[name], expected)
        np.testing.assert_array_equal(ak.flatten(ours["list"]), merged["b"])
        lists = root.call("lists", str(path), "Events", "list")
        assert sum(map(len, lists)) == len(merged["b"])
        assert [value for row in lists for value in row] == merged["b"].tolist()
    assert sizes["auto"] < 0.9 * sizes["default"]
    # A field has more than one representation, so this was tested above.
    assert columns["auto"] > columns["default"]


def test_encodings_of_nothing_and_of_everything(tmp_path: Path, root: Root) -> None:
    """Empty columns, uncompressed files and other algorithms leave little or no choice."""
    for compression in [0, 101, 404, 505]:
        path = tmp_path / f"{compression}.root"
        with nyssa.recreate(path, encoding="auto", compression=compression) as file:
            events = file.mkrntuple("Events", TYPES)
            events.extend(FIRST)
        assert root.call("entries", str(path), "Events") == FIRST.to_list()
    with pytest.raises(ArgumentError, match='encoding "best" is not known'):
        nyssa.recreate(tmp_path / "wrong.root", encoding="best")
