"""Trees that nyssa writes are read by ROOT, uproot and nyssa to the values that were written."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot
from hypothesis import given, settings
from hypothesis import strategies as st

import nyssa
from support.root import Root

DTYPES = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "?"]
CODES = dict(zip(DTYPES, "BbSsIiLlFDO", strict=True))


def numbers(dtype: str, count: int) -> Any:
    """Return numbers with the ends of the range of their type."""
    rng = np.random.default_rng(count)
    if dtype == "?":
        return rng.integers(0, 2, count).astype("?")
    if dtype[0] == "f":
        return rng.normal(size=count).astype(dtype)
    bounds = np.iinfo(dtype)
    values = rng.integers(bounds.min, bounds.max, count, dtype=dtype, endpoint=True)
    values[:2] = [bounds.min, bounds.max][: min(count, 2)]
    return values


def lists(values: Any, counts: Any) -> ak.Array:
    return ak.unflatten(values, counts)


def table(count: int) -> dict[str, Any]:
    """Return columns of all kinds."""
    rng = np.random.default_rng(7)
    counts = rng.poisson(2, count)
    counts[: min(count, 3)] = [0, 0, 260][: min(count, 3)]
    items = int(counts.sum())
    columns: dict[str, Any] = {
        f"x_{dtype.replace('?', 'b')}": numbers(dtype, count) for dtype in DTYPES
    }
    columns |= {
        f"v_{dtype.replace('?', 'b')}": lists(numbers(dtype, items), counts) for dtype in DTYPES
    }
    columns["fixed"] = numbers("f4", 3 * count).reshape(count, 3)
    columns["matrix"] = numbers("i2", 6 * count).reshape(count, 2, 3)
    columns["track"] = lists(numbers("f4", 3 * items).reshape(items, 3), counts)
    columns["text"] = [("añb" * 100)[: size % 290] for size in range(count)]
    return columns


def plain(values: Any) -> list[Any]:
    return ak.to_list(ak.Array(values))


def check(path: Path, name: str, expected: dict[str, list[Any]], root: Root | None = None) -> None:
    """Compare the columns of a tree, as each program reads it, with lists."""
    with uproot.open(path) as file:
        arrays = file[name].arrays(list(expected))
        for column, values in expected.items():
            assert arrays[column].to_list() == values, f"uproot {column}"
    with nyssa.open(path) as file:
        for column, values in expected.items():
            assert file[name][column].array().to_list() == values, f"nyssa {column}"
    assert nyssa.verify(path).problems == []
    if root is not None:
        leaves = root.call("tree_leaves", str(path), name, list(expected))
        for column, values in expected.items():
            assert leaves[column] == [flat(value) for value in values], f"ROOT {column}"


def flat(value: Any) -> list[Any]:
    """Return the elements of an entry as `TLeaf::GetValue` returns them: numbers as doubles."""
    if isinstance(value, list):
        return [one for inner in value for one in flat(inner)]
    return [value if isinstance(value, str) else float(value)]


@pytest.mark.parametrize("count", [0, 1, 2, 120])
@pytest.mark.parametrize("auto_flush", [0, 1, 7, -3000, -30_000_000])
def test_all_types(tmp_path: Path, root: Root, count: int, auto_flush: int) -> None:
    path = tmp_path / "tree.root"
    columns = table(count)
    if count == 0:
        columns["text"] = np.array([], dtype="S")
    with nyssa.recreate(path) as file:
        file.mktree(
            "tree",
            columns,
            "A title",
            counters={"v_*": "n", "track": "n"},
            auto_flush=auto_flush,
            basket_size=1000,
        )
    expected = {name: plain(values) for name, values in columns.items()}
    if count:
        expected["n"] = ak.num(columns["v_f4"]).to_list()
    check(path, "tree", expected, root if count else None)
    described = root.call("tree_description", str(path), "tree")
    assert described["entries"] == count
    assert described["title"] == "A title"
    branches = described["branches"]
    for dtype, code in CODES.items():
        short = dtype.replace("?", "b")
        assert branches[f"x_{short}"]["title"] == f"x_{short}/{code}"
        assert branches[f"v_{short}"]["title"] == f"v_{short}[n]/{code}"
    assert branches["matrix"]["title"] == "matrix[2][3]/S"
    assert branches["track"]["title"] == "track[n][3]/F"
    assert branches["text"]["title"] == "text/C"
    assert branches["n"]["title"] == "n/I"
    assert described["zip"] == sum(branch["zip"] for branch in branches.values())
    assert described["tot"] == sum(branch["tot"] for branch in branches.values())
    for branch in branches.values():
        assert branch["entries"] == count
        assert branch["first"][-1] == count
        assert branch["zip"] == sum(branch["bytes"])
    clusters = described["clusters"]
    if auto_flush > 0:
        assert clusters == list(range(0, count, auto_flush))
        assert described["auto_flush"] == auto_flush
    # The baskets of all branches end where a cluster ends.
    for branch in branches.values():
        assert set(clusters) <= set(branch["first"]) or auto_flush in (0, -30_000_000)
    if auto_flush == -3000 and count == 120:
        assert len(clusters) > 3
        assert described["auto_flush"] == clusters[1]


def test_root_reads_without_a_warning(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    with nyssa.recreate(path) as file:
        file.mktree("folder/tree", table(20), aliases={"twice": "2 * x_f4"}, leaf_lists=[])
    code = (
        "import sys, ROOT; file = ROOT.TFile(sys.argv[1]); tree = file.Get('folder/tree');"
        "tree.Scan('x_i4:v_f4:text:twice'); tree.Draw('x_f8>>h'); file.Map()"
    )
    command = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "Warning" not in done.stderr
    assert "Error" not in done.stderr
    assert "twice" in done.stdout
    described = root.call("tree_description", str(path), "folder/tree")
    assert described["aliases"] == {"twice": "2 * x_f4"}


def test_the_classes_are_those_of_root(tmp_path: Path, root: Root) -> None:
    ours, roots = tmp_path / "ours.root", tmp_path / "roots.root"
    with nyssa.recreate(ours) as file:
        file.mktree("tree", {"x": "float"})
    root.call("write_tree", str(roots), 1, 0)
    written = root.call("streamer_infos", str(ours))
    for name, info in root.call("streamer_infos", str(roots)).items():
        assert written[name] == info, name


@pytest.mark.parametrize("auto_flush", [10, 25, 100])
def test_clusters_are_those_of_root(tmp_path: Path, root: Root, auto_flush: int) -> None:
    ours, roots = tmp_path / "ours.root", tmp_path / "roots.root"
    root.call("write_tree", str(roots), 90, auto_flush)
    with nyssa.recreate(ours) as file, nyssa.open(roots) as source:
        tree = file.mktree("tree", source["tree"].arrays(), auto_flush=auto_flush)
        assert tree.num_entries == 90
    one, other = (root.call("tree_description", str(path), "tree") for path in (ours, roots))
    for key in ("auto_flush", "clusters", "entries"):
        assert one[key] == other[key]
    for name, branch in other["branches"].items():
        for key in ("title", "leaves", "entries"):
            assert one["branches"][name][key] == branch[key], (name, key)
        # ROOT keeps the last basket in the tree itself.
        assert {*one["branches"][name]["first"], 90} == {*branch["first"], 90}


def test_one_file_for_any_number_of_calls(tmp_path: Path) -> None:
    columns = table(120)
    del columns["text"]
    files = []
    for step in (120, 7, 1):
        path = tmp_path / str(step) / "tree.root"
        path.parent.mkdir()
        with nyssa.recreate(path, compression="zlib:1") as file:
            types = ak.Array(columns).layout.form
            tree = file.mktree("tree", types, auto_flush=-2000, basket_size=512)
            for start in range(0, 120, step):
                tree.extend({name: one[start : start + step] for name, one in columns.items()})
        with uproot.open(path) as file:
            found = file["tree"]
            files.append(
                {one.name: [found.num_entries, *one.entry_offsets] for one in found.branches}
            )
        check(path, "tree", {name: plain(values) for name, values in columns.items()})
    assert files[0] == files[1] == files[2]


def test_flush_ends_clusters(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    with nyssa.recreate(path) as file:
        tree = file.mktree("tree", {"x": "int32", "v": "var * float64"})
        start = 0
        for size in (5, 5, 3, 8, 0, 2):
            tree.extend(
                {"x": range(start, start + size), "v": [[1.0]] * size}
                if size
                else {"x": np.array([], "i4"), "v": ak.Array([[1.0]])[:0]}
            )
            tree.flush()
            start += size
    described = root.call("tree_description", str(path), "tree")
    assert described["clusters"] == [0, 5, 10, 13, 21]
    assert described["branches"]["x"]["first"] == [0, 5, 10, 13, 21, 23]
    check(path, "tree", {"x": list(range(23)), "v": [[1.0]] * 23}, root)


def test_records(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    jets = ak.Array(
        [[{"pt": 1.5, "hits": 3}], [], [{"pt": 2.5, "hits": 4}, {"pt": 3.5, "hits": 5}]]
    )
    vertex = ak.Array([{"x": 1.0, "n": [1]}, {"x": 2.0, "n": []}, {"x": 3.0, "n": [2, 3]}])
    event = np.array(
        [(1, 2.5, True, (1, 2))] * 3, [("run", "i4"), ("w", "f8"), ("ok", "?"), ("a", "u1", 2)]
    )
    with nyssa.recreate(path) as file:
        data = {"Jet": jets, "vertex": vertex, "event": event}
        file.mktree("tree", data, leaf_lists=["event"])
    expected = {
        "nJet": [1, 0, 2],
        "Jet_pt": [[1.5], [], [2.5, 3.5]],
        "Jet_hits": [[3], [], [4, 5]],
        "vertex_x": [1.0, 2.0, 3.0],
        "nvertex_n": [1, 0, 2],
        "vertex_n": [[1], [], [2, 3]],
    }
    check(path, "tree", expected, root)
    assert root.call("tree_values", str(path), "tree", list(expected)) == expected
    leaves = root.call("tree_leaves", str(path), "tree", ["event"])
    assert leaves["event.run"] == [[1]] * 3
    assert leaves["event.w"] == [[2.5]] * 3
    assert leaves["event.ok"] == [[1]] * 3
    assert leaves["event.a"] == [[1, 2]] * 3
    described = root.call("tree_description", str(path), "tree")["branches"]["event"]
    assert described["title"] == "run/I:w/D:ok/O:a[2]/b"
    with uproot.open(path) as file:
        assert (
            file["tree/event"].array().to_list()
            == [{"run": 1, "w": 2.5, "ok": True, "a": [1, 2]}] * 3
        )


@pytest.mark.parametrize("count", [0, 1, 60])
def test_vectors(tmp_path: Path, root: Root, count: int) -> None:
    path = tmp_path / "tree.root"
    rng = np.random.default_rng(3)
    counts = rng.poisson(2, count)
    items = int(counts.sum())
    inner = rng.poisson(2, items)
    columns = {}
    for dtype in DTYPES:
        flat_lists = lists(numbers(dtype, items), counts)
        columns[f"v_{dtype.replace('?', 'b')}"] = flat_lists
    columns["nested"] = lists(lists(numbers("f4", int(inner.sum())), inner), counts)
    columns["texts"] = lists(ak.Array([*("ä" * size for size in range(items)), ""])[:-1], counts)
    columns["deep"] = lists(lists(columns["texts"], np.ones(count, "i8")), np.ones(count, "i8"))
    with nyssa.recreate(path) as file:
        file.mktree("tree", columns, vectors=["v_*"], auto_flush=25, basket_size=300)
    expected = {name: plain(values) for name, values in columns.items()}
    with uproot.open(path) as file:
        for name, values in expected.items():
            assert file["tree"][name].array().to_list() == values, name
    with nyssa.open(path) as file:
        tree = file["tree"]
        assert tree.keys() == list(expected)
        for name, values in expected.items():
            assert tree[name].array().to_list() == values, name
        assert tree["v_i8"].typename == "vector<Long64_t>"
    assert nyssa.verify(path).problems == []
    read = root.call("tree_vectors", str(path), "tree", ["nested", "texts", "v_u2"])
    names = {
        "nested": "vector<vector<float> >",
        "texts": "vector<string>",
        "v_u2": "vector<unsigned short>",
    }
    for name, of in names.items():
        assert read[name] == (of, expected[name])


def test_counters(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    columns = {
        "Jet_pt": ak.Array([[1.0], [], [2.0, 3.0]]),
        "Jet_btag_score": ak.Array([[0.1], [], [0.2, 0.3]]),
        "nJet": np.array([1, 0, 2], "u4"),
        "Muon_pt": ak.Array([[], [5.0], []]),
        "weights": ak.Array([[1.0, 1.5], [1.0], []]),
    }
    with nyssa.recreate(path) as file:
        file.mktree("tree", columns, counters={"Muon_*": "nMuon"})
    described = root.call("tree_description", str(path), "tree")["branches"]
    assert {name: one["leaves"] for name, one in described.items()} == {
        "nJet": ["nJet"],
        "Jet_pt": ["Jet_pt[nJet]"],
        "Jet_btag_score": ["Jet_btag_score[nJet]"],
        "nMuon": ["nMuon"],
        "Muon_pt": ["Muon_pt[nMuon]"],
        "nweights": ["nweights"],
        "weights": ["weights[nweights]"],
    }
    assert described["nJet"]["title"] == "nJet/i"
    check(path, "tree", {name: plain(one) for name, one in columns.items()}, root)


@pytest.mark.parametrize("dtype", ["i1", "u1", "u2", "i8"])
def test_counters_of_any_width(tmp_path: Path, root: Root, dtype: str) -> None:
    path = tmp_path / "tree.root"
    most = np.iinfo(dtype).max if dtype[1] == "1" else 40_000
    counts = np.array([1, most, 0], dtype)
    items = ak.unflatten(np.arange(counts.sum(dtype="i8")).astype("i4"), counts)
    with nyssa.recreate(path) as file:
        file.mktree("tree", {"nv": counts, "v": items})
    described = root.call("tree_description", str(path), "tree")["branches"]
    assert described["nv"]["title"] == ("nv/B" if dtype == "i1" else "nv/I")
    check(path, "tree", {"nv": counts.tolist(), "v": plain(items)}, root)


def test_user_info(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    texts = {"generator": "pythia", "größe": "", "a b": "zwei Wörter" * 100}
    with nyssa.recreate(path) as file:
        file.mktree("tree", {"x": [1]}, user_info=texts, aliases={"y": "2*x"})
    described = root.call("tree_description", str(path), "tree")
    assert (described["user_info"], described["aliases"]) == (texts, {"y": "2*x"})
    check(path, "tree", {"x": [1]}, root)


@pytest.mark.parametrize("kind", ["mktree", "mkrntuple"])
def test_types_of_values_that_may_be_missing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "out.root"
    with nyssa.recreate(path) as file:
        writer = getattr(file, kind)("tree", {"x": "?int32", "v": "var * ?int32"})
        writer.extend({"x": [1], "v": [[2, 3]]})
        if kind == "mktree":
            for bad in ({"x": [2, None], "v": [[], []]}, {"x": [2, 3], "v": [[], [None]]}):
                with pytest.raises(nyssa.errors.ArgumentError, match=r"missing.*entry 1\)"):
                    writer.extend(bad)
    with nyssa.open(path) as file:
        assert file["tree"].arrays(["x", "v"]).to_list() == [{"x": 1, "v": [2, 3]}]


def test_options_of_branches(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    values = np.arange(4000, dtype="f8")
    with nyssa.recreate(path, compression="zlib:1") as file:
        file.mktree(
            "tree",
            {"a": values, "b": values, "c": values},
            branch_options={
                "*": {"basket_size": "8 kB"},
                "b": {"compression": "lz4:4", "title": "a title"},
                "c": {"compression": "none", "basket_size": 4000},
            },
        )
    described = root.call("tree_description", str(path), "tree")["branches"]
    assert [described[name]["compression"] for name in "abc"] == [101, 404, 0]
    assert [described[name]["baskets"] for name in "abc"] == [5, 5, 9]
    assert described["b"]["title"] == "a title"
    assert described["b"]["leaves"] == ["b"]
    check(path, "tree", dict.fromkeys("abc", values.tolist()), root)


def test_baskets_grow_after_the_first_cluster(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "tree.root"
    values = np.random.default_rng(1).normal(size=40_000)
    for optimize, later in ((True, 1), (False, 3)):
        with nyssa.recreate(path) as file:
            file.mktree("tree", {"x": values}, auto_flush=10_000, optimize_baskets=optimize)
        described = root.call("tree_description", str(path), "tree")
        first = described["branches"]["x"]["first"]
        assert sum(start < 10_000 for start in first) == 3
        assert sum(10_000 <= start < 20_000 for start in first) == later
        check(path, "tree", {"x": values.tolist()})


def chunks(path: Path, branch: str) -> list[list[int]]:
    """Return the sizes of the compressed chunks of each basket, before compression."""
    data = path.read_bytes()
    with uproot.open(path) as file:
        found = file["tree"][branch]
        keys = [found.basket_key(number) for number in range(found.num_baskets)]
    baskets = []
    for key in keys:
        at, end = key.fSeekKey + key.fKeylen, key.fSeekKey + key.fNbytes
        sizes = []
        while at < end:
            assert data[at : at + 2] == b"ZS"
            sizes.append(int.from_bytes(data[at + 6 : at + 9], "little"))
            at += 9 + int.from_bytes(data[at + 3 : at + 6], "little")
        assert (at, sum(sizes)) == (end, key.fObjlen)
        baskets.append(sizes)
    return baskets


def test_effort_is_chosen_for_each_branch(tmp_path: Path, root: Root) -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(3, 20_000)
    pt = ((20 + rng.exponential(30, counts.sum())) * 16).round() / 16
    columns = {
        "pt": lists(pt.astype("f4"), counts),
        "eta": lists(rng.normal(size=counts.sum()).astype("f4"), counts),
        "event": np.arange(20_000) * 3,
        "noise": rng.integers(0, 2**63, 20_000),
    }
    sizes = {}
    for name, compression, effort in [
        ("default", "zstd", None),
        ("auto", "zstd:5", "auto"),
        ("full", "zstd", "full"),
        ("level", "zstd:5", None),
    ]:
        path = tmp_path / f"{name}.root"
        with nyssa.recreate(path, compression="zlib:1") as file:
            file.mktree("tree", columns, compression=compression, effort=effort, auto_flush=8000)
        check(path, "tree", {key: plain(one) for key, one in columns.items()}, root)
        described = root.call("tree_description", str(path), "tree")
        assert {one["compression"] for one in described["branches"].values()} == {505}
        sizes[name] = described["zip"]
        # The entries of lists and their offsets are chunks of their own, where effort is chosen.
        found = {len(one) for one in chunks(path, "pt") if sum(one) > 20_000}
        assert found == ({2} if name in ("default", "auto") else {1}), name
    assert sizes["default"] == sizes["auto"]
    assert sizes["full"] == sizes["level"]
    assert sizes["default"] < sizes["full"]


@pytest.mark.parametrize("kind", ["awkward", "numpy", "pandas", "arrow", "dict"])
def test_inputs(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "tree.root"
    x, y = np.arange(5, dtype="i4"), np.arange(5) * 0.5
    if kind == "awkward":
        data: Any = ak.Array({"x": x, "y": y})
    elif kind == "numpy":
        data = np.rec.fromarrays([x, y], names=["x", "y"])
    elif kind == "pandas":
        data = pd.DataFrame({"x": x, "y": y})
    elif kind == "arrow":
        data = pytest.importorskip("pyarrow").table({"x": x, "y": y})
    else:
        data = {"y": list(y), "x": list(x)}
    with nyssa.recreate(path) as file:
        tree = file.mktree("tree", {"x": "int32", "y": "float"})
        tree.extend(data)
        tree.extend({"x": [7], "y": [1]})
        assert file["tree"] is tree
        assert repr(tree) == "<TreeWriter 'tree' (6 entries)>"
    check(path, "tree", {"x": [*x.tolist(), 7], "y": [*y.tolist(), 1.0]})


def test_together_with_rntuples(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "both.root"
    with nyssa.recreate(path) as file:
        file["ntuple"] = {"x": [1, 2]}
        file.mktree("tree", {"x": [3, 4]})
        file.mktree("more/tree", {"x": [5]})
        with pytest.raises(nyssa.ArgumentError, match="already has a TTree 'tree'"):
            file["tree"] = {"x": [1]}
        with pytest.raises(nyssa.ArgumentError, match="already has an RNTuple 'ntuple'"):
            file.mktree("ntuple", {"x": [1]})
    with nyssa.update(path) as file:
        file.mktree("late", {"x": [6]})
    for name, values in {"tree": [3, 4], "more/tree": [5], "late": [6]}.items():
        check(path, name, {"x": values}, root)
    with nyssa.open(path) as file:
        assert file["ntuple"]["x"].array().to_list() == [1, 2]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"a/b": [1]}, {}, "cannot have the name 'a/b'|character '/'"),
        ({"a": [1], "na": [1.5], "a ": [1]}, {}, "space"),
        ({"x": [[1]], "nx": [1.5]}, {}, "rename it, or name another counter"),
        ({"x": [[1]], "nx": [2]}, {}, "the counter says 2, but the lists have 1 items"),
        ({"x": [[1]], "y": [[1, 2]]}, {"counters": {"*": "n"}}, "name another counter"),
        ({"r": [{"a": 1}], "r_a": [1]}, {}, "two branches would have the name"),
        ({"x": [1]}, {"counters": {"x": "n"}}, "matches nothing"),
        ({"x": [1]}, {"branch_options": {"y": {"title": ""}}}, "matches nothing"),
        ({"x": [1]}, {"branch_options": {"x": {"basket": "1"}}}, 'no option "basket"'),
        ({"x": [1]}, {"basket_size": 10}, "256 to"),
        ({"x": ["a\0b"]}, {}, "zero byte"),
        ({"x": ak.Array([1, None])}, {}, "missing"),
    ],
)
def test_what_is_refused(tmp_path: Path, data: Any, options: dict[str, Any], message: str) -> None:
    with (
        pytest.raises(nyssa.ArgumentError, match=message),
        nyssa.recreate(tmp_path / "no.root") as file,
    ):
        file.mktree("tree", data, **options)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "data",
    [
        {"x": ak.Array([[[{"a": 1}]]])},
        {"x": np.zeros((2, 0))},
        {"x": ak.Array([1, "a"])},
    ],
)
def test_types_that_trees_cannot_hold(tmp_path: Path, data: Any) -> None:
    with (
        pytest.raises(nyssa.UnsupportedError, match="a tree cannot hold"),
        nyssa.recreate(tmp_path / "no.root") as file,
    ):
        file.mktree("tree", data)


def test_refused_entries_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    with nyssa.recreate(path) as file:
        tree = file.mktree("tree", {"x": "int8", "y": "float", "v": "var * int32"})
        good = {"x": [1], "y": [1.5], "v": [[1]]}
        tree.extend(good)
        for bad, message in [
            ({"x": [300]}, "value 300 does not fit a leaf of type std::int8_t"),
            ({"x": [1.5]}, "value 1.5"),
            ({"x": np.array([1.5])}, "cannot fill a leaf"),
            ({"y": [1e300]}, "does not fit a leaf of type float"),
            ({"v": np.array([1])}, "does not fit its branch"),
            ({"z": [1]}, 'no column "z"'),
            ({"x": [1, 2]}, "differ in length"),
        ]:
            with pytest.raises(nyssa.ArgumentError, match=message):
                tree.extend(good | bad)
        with pytest.raises(nyssa.ArgumentError, match='column "v" of the tree tree is missing'):
            tree.extend({"x": [1], "y": [1.5]})
        tree.extend(good)
        assert tree.num_entries == 2
    check(path, "tree", {"x": [1, 1], "y": [1.5, 1.5], "v": [[1], [1]]})


def test_an_exception_leaves_no_file(tmp_path: Path) -> None:
    def write() -> None:
        with nyssa.recreate(tmp_path / "tree.root") as file:
            file.mktree("tree", {"x": [1]})
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()
    assert not list(tmp_path.iterdir())


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """Return columns of random kinds."""
    count = draw(st.integers(0, 40))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    columns: dict[str, Any] = {}
    for at in range(draw(st.integers(1, 4))):
        dtype = draw(st.sampled_from(DTYPES))
        kind = draw(st.sampled_from(["flat", "fixed", "lists", "lists of fixed", "text"]))
        counts = rng.integers(0, 5, count)
        items = int(counts.sum())
        if kind == "flat":
            columns[f"c{at}"] = numbers(dtype, count)
        elif kind == "fixed":
            columns[f"c{at}"] = numbers(dtype, 2 * count).reshape(count, 2)
        elif kind == "lists":
            columns[f"c{at}"] = lists(numbers(dtype, items), counts)
        elif kind == "lists of fixed":
            columns[f"c{at}"] = lists(numbers(dtype, 2 * items).reshape(items, 2), counts)
        else:
            columns[f"c{at}"] = np.array(["é" * size for size in counts], dtype="U")
    return columns


@settings(max_examples=40, deadline=None)
@given(
    columns=tables(),
    auto_flush=st.sampled_from([0, 1, 3, 10, -300, -1000]),
    basket_size=st.sampled_from([256, 400, 32_000]),
    parts=st.integers(1, 4),
)
def test_any_table(
    tmp_path_factory: pytest.TempPathFactory,
    columns: dict[str, Any],
    auto_flush: int,
    basket_size: int,
    parts: int,
) -> None:
    path = tmp_path_factory.mktemp("any") / "tree.root"
    count = len(next(iter(columns.values())))
    bounds = [count * part // parts for part in range(parts + 1)]
    with nyssa.recreate(path) as file:
        first = {name: one[: bounds[1]] for name, one in columns.items()}
        tree = file.mktree("tree", first, auto_flush=auto_flush, basket_size=basket_size)
        for start, stop in pairwise(bounds[1:]):
            tree.extend({name: one[start:stop] for name, one in columns.items()})
    check(path, "tree", {name: plain(values) for name, values in columns.items()})
