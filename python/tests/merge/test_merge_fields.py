"""Tests merges of inputs with the same data in other forms, such as projected fields."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot
from test_collections import COUNT, by_root, ntuple, union

import nyssa
from nyssa import errors
from support.root import Root

VECTORS = ["std::vector<float>", "ROOT::VecOps::RVec<float>"]


def plain(path: Path, types: dict[str, str], seed: int = 9) -> tuple[Path, ak.Array]:
    """Write fields with their own data. Return the content."""
    random = np.random.default_rng(seed)
    counts = random.integers(0, 4, COUNT)
    jagged = ak.unflatten(random.integers(0, 99, counts.sum()), counts)
    data: dict[str, Any] = {
        name: jagged if "<" in kind else np.arange(COUNT) + seed for name, kind in types.items()
    }
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", types).extend(data)
    return path, ak.Array(data)


@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("vector", VECTORS)
def test_plain_and_projected(vector: str, swapped: bool, tmp_path: Path, root: Root) -> None:
    """A plain list and a projected one of a collection become one field, when all is decoded."""
    pairs = [
        ntuple(tmp_path, {"Jet": {"pt": "f4", "eta": "f4"}, "Muon": {"pt": "f4"}}, 1),
        plain(tmp_path / "plain.root", {"run": "int", "Jet_pt": vector, "nLepton": "int"}),
    ]
    (one, first), (two, second) = pairs[::-1] if swapped else pairs
    merged = tmp_path / "merged.root"
    advice = "; merge with recluster, which decodes everything"
    with pytest.raises(errors.ArgumentError) as refused:
        nyssa.merge([one, two], merged, "union")
    assert "a field with data of its own" in str(refused.value)
    assert "a projection of _collection_nJet" in str(refused.value)
    assert advice in str(refused.value)
    names = [*first.fields, *(name for name in second.fields if name not in first.fields)]
    nyssa.merge([one, two], merged, "union", recluster="1 MB")
    events = nyssa.open(f"{merged}:Events")
    assert sorted(events) == sorted(names)
    assert by_root(root, merged, names) == union([first, second], names)
    record = events["_collection_nJet"].array()
    assert record.fields == ["Jet_eta"]
    chained = nyssa.chain([one, two], schema="union", missing="default")
    columns = [name for name in names if name != "Jet_eta"]
    assert ak.to_list(chained.arrays(columns)) == ak.to_list(events.arrays(columns))
    nyssa.merge([one, two], merged, "filter", recluster="1 MB", force=True)
    assert sorted(nyssa.open(f"{merged}:Events").keys()) == ["Jet_pt", "run"]
    assert by_root(root, merged, ["run", "Jet_pt"]) == union([first, second], ["run", "Jet_pt"])


def test_all_of_a_collection_plain(tmp_path: Path, root: Root) -> None:
    """A collection disappears, with its size, when all its members become plain fields."""
    types = {"run": "int", "nJet": "int", "Jet_pt": "std::vector<double>"}
    one, first = ntuple(tmp_path, {"Jet": {"pt": "f4"}}, 1)
    two, second = plain(tmp_path / "plain.root", types)
    merged = tmp_path / "merged.root"
    nyssa.merge([one, two], merged, recluster="1 MB")
    events = nyssa.open(f"{merged}:Events")
    assert sorted(events.keys(recursive=True)) == ["Jet_pt", "nJet", "run"]
    assert by_root(root, merged, [*types]) == union([first, second], [*types])
    assert dict(root.call("fields", str(merged), "Events"))["nJet"] == "std::int64_t"


@pytest.mark.parametrize("other", ["Jets.pt", "jets.eta"])
def test_projections_of_other_fields(other: str, tmp_path: Path, root: Root) -> None:
    """Projections of different fields can be merged, too."""
    paths = [tmp_path / "0.root", tmp_path / "1.root"]
    for number, (path, origin) in enumerate(zip(paths, ["jets.pt", other], strict=True)):
        name = origin.partition(".")[0]
        with nyssa.recreate(path) as file:
            types = {name: "var * {pt: float32, eta: float32}"}
            events = file.mkrntuple("Events", types, projections={"pt": origin})
            events.extend({name: [[{"pt": 1.5 + number, "eta": 7.5}], []]})
    merged = tmp_path / "merged.root"
    with pytest.raises(errors.ArgumentError, match="it is a projection of .*decodes everything"):
        nyssa.merge(paths, merged, "union")
    nyssa.merge(paths, merged, "union", recluster="1 MB")
    last = 7.5 if other == "jets.eta" else 2.5
    assert by_root(root, merged, ["pt"]) == {"pt": [[1.5], [], [last], []]}
    arrays = nyssa.open(f"{merged}:Events").arrays()
    assert ak.to_list(arrays.jets.pt)[0] == [1.5]
    assert ak.to_list(arrays[other.partition(".")[0]].pt)[2] == [2.5]


@pytest.mark.parametrize("options", [{}, {"recluster": "1 MB"}])
@pytest.mark.parametrize("swapped", [False, True])
def test_vectors_of_two_kinds(
    swapped: bool, options: dict[str, str], tmp_path: Path, root: Root
) -> None:
    """`std::vector` and `ROOT::RVec` have the same columns; the type of the first input is kept."""
    kinds = VECTORS[::-1] if swapped else VECTORS
    nested = ["std::vector<ROOT::VecOps::RVec<int>>", "ROOT::VecOps::RVec<std::vector<int>>"]
    paths = []
    for number, kind in enumerate(kinds):
        paths.append(tmp_path / f"{number}.root")
        with nyssa.recreate(paths[-1]) as file:
            events = file.mkrntuple("Events", {"x": kind, "nested": nested[number]})
            events.extend({"x": [[1.5, number], []], "nested": [[[number, 1], []], [[2]]]})
    merged = tmp_path / "merged.root"
    nyssa.merge(paths, merged, **options)
    expected = [entry for path in paths for entry in root.call("entries", str(path), "Events")]
    assert root.call("entries", str(merged), "Events") == expected
    types = dict(root.call("fields", str(merged), "Events"))
    first = dict(root.call("fields", str(paths[0]), "Events"))
    assert types == first
    for schema in ["first", "union", "intersection"]:
        chained = nyssa.chain(paths, schema=schema)
        assert ak.to_list(chained.arrays()) == ak.to_list(nyssa.open(merged)["Events"].arrays())
        assert chained.typenames() == nyssa.open(f"{paths[0]}:Events").typenames()


def test_nanoaod_of_two_versions(data: Path, nano: Path, tmp_path: Path) -> None:
    """Files with hundreds of different triggers and members are merged; uproot reads the trees."""
    trees = [f"{nano}:Events", f"{data / 'ttree' / 'uproot-issue121.root'}:Events"]
    paths = [tmp_path / "0.root", tmp_path / "1.root"]
    parts, counters = [], {}
    for tree, path in zip(trees, paths, strict=True):
        nyssa.convert(tree, path)
        with uproot.open(tree) as events:
            parts.append(events.arrays())
            for name, branch in events.items():
                if branch.count_branch is not None:
                    counters[name] = branch.count_branch.name
    names = list(dict.fromkeys([*parts[0].fields, *parts[1].fields]))
    common = [name for name in parts[0].fields if name in parts[1].fields]
    assert (len(names), len(common)) == (1911, 535)

    def expected(part: ak.Array, name: str) -> list[Any]:
        if name in part.fields:
            return ak.to_list(ak.nan_to_none(part[name]))
        if name not in counters:
            return [0] * len(part)
        size = counters[name]
        counts = part[size] if size in part.fields else [0] * len(part)
        return [[0] * int(count) for count in counts]

    merged = tmp_path / "merged.root"
    for options in [{}, {"recluster": "1 MB"}]:
        for mode, columns in [("union", names), ("filter", common)]:
            nyssa.merge(paths, merged, mode, force=True, **options)
            found = nyssa.open(f"{merged}:Events").arrays()
            assert sorted(found.fields) == sorted(columns)
            for name in columns:
                whole = [value for part in parts for value in expected(part, name)]
                # NaN is not equal to itself.
                assert ak.to_list(ak.nan_to_none(found[name])) == whole, name
    every = nyssa.chain(paths, schema="union", missing="default")
    assert sorted(every.keys()) == sorted(names)
    assert every.unreadable == {}


@pytest.mark.parametrize("options", [{}, {"recluster": "1 MB"}], ids=["moved", "recluster"])
@pytest.mark.parametrize("swapped", [False, True])
def test_inputs_without_entries_lack_nothing(
    options: dict[str, Any], swapped: bool, tmp_path: Path, root: Root
) -> None:
    """Nothing stands for a missing streamed object. An input without entries needs none."""
    tree, streamed, empty, full = (tmp_path / f"{name}.root" for name in "tsef")
    lists = [[1.5], [], [2.5, 3.5]]
    with nyssa.recreate(tree) as file:
        file.mktree("Events", {"x": [1, 2, 3], "v": lists}, vectors=["v"])
    nyssa.convert(tree, streamed, streamer=["v"])
    for path, count in ((empty, 0), (full, 2)):
        with nyssa.recreate(path) as file:
            file.mkrntuple("Events", {"x": "int64"}).extend({"x": np.arange(count)})
    merged = tmp_path / "merged.root"
    inputs = [empty, streamed] if swapped else [streamed, empty]
    report = nyssa.merge(inputs, merged, mode="union", verify=True, **options)
    assert report["entries"] == 3
    events = nyssa.open(f"{merged}:Events")
    assert events["v"].array().to_list() == lists
    assert events["x"].array().to_list() == [1, 2, 3]
    assert root.call("numpy", str(merged), "Events", ["x"])["x"].tolist() == [1, 2, 3]
    with pytest.raises(errors.UnsupportedError, match="has no value that could stand for"):
        nyssa.merge([streamed, full], merged, mode="union", force=True, **options)
