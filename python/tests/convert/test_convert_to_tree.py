"""RNTuples become TTrees, with the values of the original trees, or of ROOT and Python."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA, data_files
from support.root import Root
from support.same import layouts_differ, matches_json

needs_data = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA"
)


def command(*args: object) -> tuple[int, str, str]:
    full = [sys.executable, "-m", "nyssa", "convert", *map(str, args)]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def back(source: Path, folder: Path, name: str, **options: Any) -> tuple[Path, Any]:
    """Convert a tree to an RNTuple and back. Return the tree and the last report."""
    ntuple, tree = folder / "ntuple.root", folder / "tree.root"
    nyssa.convert(source, ntuple, name)
    return tree, nyssa.convert(ntuple, tree, name, to="ttree", verify=True, **options)


def leaf(branch: Any) -> Any:
    return branch.member("fLeaves")[0]


@needs_data
def test_a_nanoaod_comes_back(tmp_path: Path, root: Root) -> None:
    """Branches have their names, types, titles, counters and values again."""
    source = DATA / "ttree" / "nanoAOD_2015_CMS_Open_Data_ttbar.root"
    path, report = back(source, tmp_path, "Events")
    assert report["to"] == "ttree"
    assert report["verified"]
    assert report["skipped"] == []
    described = root.call("tree_description", str(path), "Events")["branches"]
    with uproot.open(source) as theirs, uproot.open(path) as ours:
        tree, other = ours["Events"], theirs["Events"]
        assert set(tree.keys()) == set(other.keys())
        for name in other.keys():
            mine, its = tree[name], other[name]
            assert mine.typename == its.typename
            # A branch without a title gets the one that ROOT makes.
            assert mine.title == its.title or not its.title, name
            counters = [leaf(one).member("fLeafCount") for one in (mine, its)]
            assert (counters[0] is None) == (counters[1] is None), name
            if counters[0] is not None:
                assert counters[0].member("fName") == counters[1].member("fName")
            assert layouts_differ(mine.array().layout, its.array().layout) is None, name
            assert described[name]["title"] == mine.title
    chosen = ["run", "event", "Jet_pt", "nJet", "Electron_cutBased", "Flag_goodVertices"]
    read = [root.call("tree_values", str(one), "Events", chosen) for one in (path, source)]
    assert read[0] == read[1]


@needs_data
@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("uproot-HZZ", "events"),
        ("uproot-Zmumu", "events"),
        ("uproot-sample-6.20.04-zlib", "sample"),
        ("uproot-small-flat-tree", "tree"),
        ("uproot-vectorVectorDouble", "t"),
    ],
)
def test_trees_come_back(stem: str, name: str, tmp_path: Path) -> None:
    path, _ = back(DATA / "ttree" / f"{stem}.root", tmp_path, name)
    with uproot.open(DATA / "ttree" / f"{stem}.root") as theirs, uproot.open(path) as ours:
        tree, other = ours[name], theirs[name]
        assert set(tree.keys()) == set(other.keys())
        counts = [leaf(other[one]).member("fLeafCount") for one in other.keys()]
        counters = {one.member("fName") for one in counts if one is not None}
        for one in other.keys():
            mine, its = (arrays[one].array() for arrays in (tree, other))
            if one in counters:
                # The cardinality of a collection is not signed.
                mine = ak.values_astype(mine, its.layout.dtype)
            assert layouts_differ(mine.layout, its.layout) is None, one


@pytest.mark.parametrize("path", data_files("rntuple-validation/write"), ids=lambda path: path.stem)
def test_conformance_files(path: Path, tmp_path: Path) -> None:
    """The trees of the conformance files have the values that ROOT prints for the RNTuples."""
    expected = json.loads((path.parents[1] / "read" / f"{path.stem}.json").read_text())
    if not isinstance(expected, list):
        pytest.skip("ROOT's values are sums, or an error")
    tree = tmp_path / "tree.root"
    options: dict[str, Any] = {"to": "ttree", "skip_unsupported": True, "verify": True}
    try:
        report = nyssa.convert(path, tree, "ntpl", **options)
    except nyssa.ArgumentError as error:
        assert re.search("no field is left", str(error))
        return
    columns: dict[str, dict[str, Any]] = {}
    with uproot.open(tree) as file:
        for one in report["fields"]:
            top, _, member = one["field"].partition(".")
            columns.setdefault(top, {})[member] = file["ntpl"][one["branch"]].array()
    parts = {one["branch"].partition(".")[0] for one in report["skipped"]}
    for top, members in columns.items():
        if top in parts or any("." in member for member in members):
            continue
        values = members[""] if "" in members else ak.zip(members, depth_limit=None)
        for want, have in zip(expected, values.to_list(), strict=True):
            assert matches_json(want[top], have, "unordered" in path.stem), (top, want[top], have)


def collections(path: Path) -> dict[str, Any]:
    """Write an RNTuple with collections of records, and return its columns."""
    jets: Any = [
        [{"pt": 1.5, "id": 3, "hits": [1, 2], "tag": "a", "p": {"x": 1.0}, "v": [[{"q": 1}]]}],
        [],
        [
            {"pt": 2.5, "id": -1, "hits": [], "tag": "b c", "p": {"x": 2.0}, "v": []},
            {"pt": 3.5, "id": 7, "hits": [9], "tag": "", "p": {"x": 3.0}, "v": [[], [{"q": 2}]]},
        ],
    ]
    jets = ak.Array(jets)
    jets["hits"] = ak.values_astype(jets.hits, "int32")
    columns = {
        "Jet": jets,
        "event": ak.Array([{"run": 1, "w": 0.5}, {"run": 1, "w": 0.25}, {"run": 2, "w": 1.0}]),
        "w": ak.Array([[1.0], [], [2.0, 3.0]]),
        "x": np.array([1, 2, 3], dtype="uint8"),
        "m": np.arange(12, dtype="float32").reshape(3, 2, 2),
        "s": ak.Array(["one", "", "three"]),
    }
    with nyssa.recreate(path) as file:
        file["Events"] = columns
    return columns


def test_records_become_branches(tmp_path: Path, root: Root) -> None:
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    columns = collections(source)
    report = nyssa.convert(source, path, to="ttree", verify=True)
    assert report["skipped"] == []
    jets = columns["Jet"]
    expected = {
        "nJet": [1, 0, 2],
        "Jet_pt": jets.pt.to_list(),
        "Jet_id": jets.id.to_list(),
        "Jet_hits": jets.hits.to_list(),
        "Jet_tag": jets.tag.to_list(),
        "Jet_p_x": jets.p.x.to_list(),
        "Jet_v_q": [[[[1]]], [], [[], [[], [2]]]],
        "event_run": [1, 1, 2],
        "event_w": [0.5, 0.25, 1.0],
        "w": columns["w"].to_list(),
        "x": [1, 2, 3],
        "m": columns["m"].tolist(),
        "s": ["one", "", "three"],
    }
    with uproot.open(path) as file:
        tree = file["Events"]
        assert set(tree.keys()) == set(expected)
        for name, values in expected.items():
            assert tree[name].array().to_list() == values, name
        kinds = {name: tree[name].typename for name in expected}
        assert kinds["Jet_pt"] == "double[]"
        assert kinds["Jet_hits"] == "std::vector<std::vector<int32_t>>"
        assert kinds["w"] == "std::vector<double>"
        assert kinds["x"] == "uint8_t"
        assert tree["x"].title == "x/b"
        assert leaf(tree["Jet_pt"]).member("fLeafCount").member("fName") == "nJet"
    names = ["nJet", "Jet_pt", "Jet_id", "Jet_p_x", "event_run", "w", "x"]
    assert root.call("tree_values", str(path), "Events", names) == {
        name: expected[name] for name in names
    }
    names = ["Jet_hits", "Jet_tag", "w"]
    vectors = root.call("tree_vectors", str(path), "Events", names)
    assert {name: vectors[name][1] for name in names} == {name: expected[name] for name in names}
    assert vectors["Jet_hits"][0] == "vector<vector<int> >"


def test_options_of_the_tree(tmp_path: Path, root: Root) -> None:
    source = tmp_path / "in.root"
    collections(source)
    options = {
        "counters": {"w": "n_w"},
        "leaf_lists": "event",
        "vectors": ["Jet_pt"],
        "basket_size": "1 kB",
        "auto_flush": 2,
        "compression": "lz4:1",
        "include": ["w", "event", "Jet.pt", "Jet_id"],
    }
    report = nyssa.convert(source, tmp_path / "a.root", to="ttree", verify=True, **options)
    assert report["clusters"] == 2
    description = root.call("tree_description", str(tmp_path / "a.root"), "Events")
    assert description["auto_flush"] == 2
    leaves = {name: one["leaves"] for name, one in description["branches"].items()}
    assert leaves == {
        "n_w": ["n_w"],
        "w": ["w[n_w]"],
        "event": ["run", "w"],
        "Jet_pt": ["Jet_pt"],
        "nJet": ["nJet"],
        "Jet_id": ["Jet_id[nJet]"],
    }
    assert {one["compression"] for one in description["branches"].values()} == {401}
    same = [
        *("--counters", "w:n_w", "--leaf-lists", "event", "--vectors", "Jet_pt"),
        *("--basket-size", "1kB", "--auto-flush", 2, "--compression", "lz4:1"),
        *("--include", "w", "--include", "event", "--include", "Jet.pt", "--include", "Jet_id"),
    ]
    code, said, errors = command(source, tmp_path / "b.root", "--to", "ttree", *same)
    assert (code, errors) == (0, "")
    assert f"{source}:Events -> {tmp_path / 'b.root'}:Events" in said
    with uproot.open(tmp_path / "a.root") as a, uproot.open(tmp_path / "b.root") as b:
        for name in leaves:
            assert a["Events"][name].array().to_list() == b["Events"][name].array().to_list()
    with pytest.raises(nyssa.ArgumentError, match="are for RNTuples.*: layout, page_size$"):
        nyssa.convert(source, tmp_path / "c.root", to="ttree", layout="vectors", page_size=1000)
    with pytest.raises(nyssa.ArgumentError, match="are for TTrees.*: auto_flush$"):
        nyssa.convert(tmp_path / "a.root", tmp_path / "c.root", auto_flush=2)


def test_what_a_tree_cannot_hold(tmp_path: Path) -> None:
    """Everything is named before the output is touched."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        file["Events"] = {
            "maybe": ak.Array([1, None]),
            "either": ak.Array([1, "x"]),
            "deep": ak.Array([[[1, None]], []]),
            "r": ak.Array([{"ok": 1, "o": None}, {"ok": 2, "o": 3}]),
            "x": np.arange(2),
        }
    refused = {
        "maybe": "may be missing, and a TTree has no missing values",
        "either": "a branch has values of one type",
        "deep": "may be missing",
        "r.o": "may be missing",
    }
    with pytest.raises(nyssa.UnsupportedError, match="a TTree cannot hold 4 fields") as info:
        nyssa.convert(source, path, to="ttree")
    for name, reason in refused.items():
        assert any(
            line.strip().startswith(f"{name}: ") and reason in line
            for line in str(info.value).splitlines()
        ), name
    assert not path.exists()
    code, _, errors = command(source, path, "--to", "ttree")
    assert code != 0
    assert "hint: --skip-unsupported converts the rest" in errors
    report = nyssa.convert(source, path, to="ttree", skip_unsupported=True, verify=True)
    assert {one["branch"] for one in report["skipped"]} == set(refused)
    assert uproot.open(path)["Events"].keys() == ["r_ok", "x"]
    chosen = nyssa.convert(source, path, to="ttree", exclude=[*refused], force=True)
    assert [one["branch"] for one in chosen["fields"]] == ["r_ok", "x"]
    with pytest.raises(nyssa.UnsupportedError, match="cannot hold 1 field;"):
        nyssa.convert(source, path, to="ttree", include="maybe", force=True)
    with nyssa.recreate(source) as file:
        file["Events"] = {"s": ["a", "b\0c"]}
    with pytest.raises(nyssa.ArgumentError, match="a string has a zero byte"):
        nyssa.convert(source, path, to="ttree", force=True)
    assert uproot.open(path)["Events"].keys() == ["r_ok", "x"]


def test_the_input_has_the_format_already(tmp_path: Path) -> None:
    ntuple, tree = tmp_path / "ntuple.root", tmp_path / "tree.root"
    with nyssa.recreate(ntuple) as file:
        file["t"] = {"x": np.arange(3)}
    nyssa.convert(ntuple, tree, to="ttree")
    with pytest.raises(nyssa.ArgumentError, match="an RNTuple already: `to=ttree`"):
        nyssa.convert(ntuple, tmp_path / "out.root")
    with pytest.raises(nyssa.ArgumentError, match="it is a TTree already"):
        nyssa.convert(tree, tmp_path / "out.root", to="ttree")
    code, _, errors = command(ntuple, tmp_path / "out.root")
    assert code != 0
    assert "`--to ttree` makes a TTree of it" in errors
    code, _, errors = command(tree, tmp_path / "out.root", "--to", "ttree")
    assert code != 0
    assert "t is already a TTree" in errors


def test_the_dataset_of_the_right_format_is_taken(tmp_path: Path) -> None:
    """A file may have datasets of the other format, too; several of the right one are named."""
    both, out = tmp_path / "both.root", tmp_path / "out.root"
    with uproot.recreate(both) as file:
        file.mktree("tree", {"x": "int32"}).extend({"x": np.arange(3)})
        file.mkrntuple("ntuple", {"x": np.arange(5)})
    for to, entries in (("rntuple", 3), ("ttree", 5)):
        chosen: Any = to
        assert nyssa.convert(both, out, to=chosen, force=True)["entries"] == entries
        [line] = nyssa.convert([str(both)], tmp_path / to, to=chosen)
        assert line["entries"] == entries
        code, said, _ = command(both, out, "--to", to, "--force", "--json")
        assert (code, json.loads(said)["entries"]) == (0, entries)
    part = nyssa.convert(both, out, to="ttree", entry_start=-2, force=True)
    assert part["entries"] == 2
    with uproot.open(out) as file:
        assert file["ntuple"]["x"].array().to_list() == [3, 4]
    with uproot.recreate(both) as file:
        file.mktree("first", {"x": "int32"}).extend({"x": np.arange(3)})
        file.mktree("dir/second", {"x": "int32"}).extend({"x": np.arange(3)})
        file.mkrntuple("ntuple", {"x": np.arange(5)})
    reports = nyssa.convert(both, out, force=True)
    assert [one["ntuple"] for one in reports] == ["first", "dir/second"]
    assert all(one["carried"] == ["ntuple;1 (ROOT::RNTuple)"] for one in reports)
    assert sorted(nyssa.open(out).datasets()) == ["dir/second", "first", "ntuple"]
    (line,) = nyssa.convert([both], tmp_path / "several")
    assert line["entries"] == 6
    for wrong, what in (
        ({"name": "x"}, "one name cannot be given to several datasets"),
        ({"entry_stop": 2}, "several TTrees, name one of them: first, dir/second"),
    ):
        with pytest.raises(nyssa.ArgumentError, match=what):
            nyssa.convert(both, out, force=True, **wrong)
    code, _, errors = command(both, out, "--force", "--entries", "0:2")
    assert code != 0
    assert "a range of entries is for one dataset, and the file has first, dir/second" in errors
    with uproot.recreate(both) as file:
        file["h"] = np.histogram([1.0])
    with pytest.raises(nyssa.NotFoundError, match="the file has no RNTuple"):
        nyssa.convert(both, out, to="ttree", force=True)


def test_other_objects_and_damage(tmp_path: Path) -> None:
    """Other objects are copied; damaged fields are left out on request."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source, compression="none") as file:
        file["Events"] = {"x": np.arange(1000.0), "y": np.full(1000, 7.125)}
        file["dir/h"] = np.histogram(np.arange(10.0), bins=5)
        file["other"] = {"z": np.arange(3)}
    report = nyssa.convert(source, path, "Events", to="ttree", entry_start=10, entry_stop=20)
    assert report["carried"] == ["dir/h;1 (TH1D)"]
    assert [one.split(" ")[0] for one in report["left_out"]] == ["other;1"]
    with uproot.open(path) as file:
        assert file["Events"]["x"].array().to_list() == list(range(10, 20))
        assert file["dir/h"].values().tolist() == [2.0] * 5
    report = nyssa.convert(source, path, "Events", to="ttree", carry=False, name="t", force=True)
    assert report["carried"] == []
    assert uproot.open(path).keys() == ["t;1"]
    data = bytearray(source.read_bytes())
    data[data.index(np.full(10, 7.125).tobytes())] ^= 1
    source.write_bytes(data)
    with pytest.raises(nyssa.NyssaError, match="checksum"):
        nyssa.convert(source, path, "Events", to="ttree", force=True)
    report = nyssa.convert(
        source, path, "Events", to="ttree", skip_unreadable=True, force=True, verify=True
    )
    assert [(one["branch"], one["unreadable"]) for one in report["skipped"]] == [("y", True)]
    assert uproot.open(path)["Events"].keys() == ["x"]


WITH_TREES = """
void nyssa_with_trees(const char *path) {
   TFile f(path, "RECREATE"); f.mkdir("dir", "a title");
   int run = 0; float pt[3]; int n; std::string text; std::vector<std::vector<int>> lists;
   auto runs = new TTree("Runs", "all runs");
   runs->Branch("run", &run); runs->Branch("n", &n); runs->Branch("pt", pt, "pt[n]/F");
   runs->Branch("text", &text); runs->Branch("lists", &lists);
   runs->SetAlias("twice", "2*run"); runs->SetAutoFlush(100);
   for (run = 0; run < 1000; ++run) {
      n = run % 4; text = std::string(run % 7, 'x');
      for (int i = 0; i < n; ++i) pt[i] = run + i / 4.;
      lists.assign(run % 3, std::vector<int>(run % 2, run));
      runs->Fill();
      if (run == 500) runs->Write();
   }
   runs->BuildIndex("run"); runs->Write();
   f.cd("dir");
   TNtuple small("small", "", "x:y"); small.Fill(1, 2); small.Write();
   TTree none("none", "no entries"); none.Branch("run", &run); none.Write();
   TH1F h("h", "", 4, 0, 4); h.Fill(2.5); h.Write();
   f.cd();
   auto away = new TTree("away", ""); auto far = away->Branch("far", &run);
   far->SetFile((std::string(path) + ".branch").c_str());
   away->Fill(); away->Write();
}"""
IS_COPIED = """
void nyssa_is_copied(const char *path) {
   TFile f(path); auto runs = f.Get<TTree>("Runs");
   auto check = [](bool ok, const char *what) { if (!ok) throw std::runtime_error(what); };
   check(f.Get<TNtuple>("dir/small")->GetEntries() == 1, "small");
   check(f.Get<TTree>("dir/none")->GetEntries() == 0, "none");
   check(runs->GetEntryNumberWithIndex(321) == 321, "index");
   check(runs->Draw("twice", "run < 10", "goff") == 10 && runs->GetV1()[9] == 18, "alias");
   auto clusters = runs->GetClusterIterator(0);
   check(clusters() == 0 && clusters() == 100, "clusters");
   ROOT::RDataFrame frame("Runs", path);
   check(*frame.Sum("run") == 499500, "sum");
}"""


def test_other_trees_are_copied(tmp_path: Path, root: Root) -> None:
    """ROOT and uproot read the copies; what stays behind is named with the reason."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    root.call("cpp", WITH_TREES, f'nyssa_with_trees("{source}")')
    with nyssa.update(source) as file:
        file["Events"] = {"x": np.arange(5)}
        file["dir/more"] = {"x": np.arange(7)}
    expected = root.call("tree_values", str(source), "Runs", ["run", "n", "pt", "text"])
    report = nyssa.convert(source, path, "Events", to="ttree", verify=True)
    assert sorted(report["carried"]) == [
        "Runs;2 (TTree)",
        "dir/h;1 (TH1F)",
        "dir/none;1 (TTree)",
        "dir/small;1 (TNtuple)",
    ]
    left_out = dict(one.split(": ", 1) for one in report["left_out"])
    assert left_out.pop("away;1 (TTree)").startswith("branch far: its baskets are in another file")
    assert left_out == {
        "Runs;1 (TTree)": "cycle 2 of it is newer",
        "dir/more;1 (ROOT::RNTuple)": "it was not named; without a path, all are converted",
    }
    assert root.call("tree_values", str(path), "Runs", ["run", "n", "pt", "text"]) == expected
    root.call("cpp", IS_COPIED, f'nyssa_is_copied("{path}")')
    with uproot.open(source) as theirs, uproot.open(path) as ours:
        assert ours["Events"]["x"].array().to_list() == [0, 1, 2, 3, 4]
        assert ours["dir/h"].values().tolist() == [0, 0, 1, 0]
        for name in ("Runs", "dir/small", "dir/none"):
            assert ours[name].keys() == theirs[name].keys()
            assert ak.array_equal(ours[name].arrays(), theirs[name].arrays())
        zipped = [file["Runs"].compressed_bytes for file in (theirs, ours)]
        assert zipped[0] == zipped[1]
    report = nyssa.convert(source, path, "dir/more", to="ttree", name="Runs", force=True)
    assert "Runs;2 (TTree): an object of that name is there already" in report["left_out"]
    assert uproot.open(path)["Runs"].keys() == ["x"]
    report = nyssa.convert(source, path, "Events", to="ttree", carry=False, force=True)
    assert report["carried"] == []
    assert "Runs;2 (TTree)" in report["left_out"]
    assert uproot.open(path).keys() == ["Events;1"]


def test_a_damaged_other_tree(tmp_path: Path) -> None:
    """It is named, and can be left behind."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source, compression="none") as file:
        file["Events"] = {"x": np.arange(5)}
        file.mktree("t", {"y": "float64"}).extend({"y": np.full(1000, 7.125)})
    with uproot.open(source) as file:
        seek = int(file["t"]["y"].member("fBasketSeek")[0])
    data = bytearray(source.read_bytes())
    data[seek : seek + 4] = bytes(4)
    source.write_bytes(data)
    code, _, errors = command(f"{source}:Events", path, "--to", "ttree")
    assert code == 1
    assert "--no-carry (carry=False) leaves the other objects of the file behind" in errors
    assert "in.root" in errors
    assert not path.exists()
    assert command(f"{source}:Events", path, "--to", "ttree", "--no-carry")[0] == 0


def test_many_files(tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    for number in range(3):
        with nyssa.recreate(folder / f"run{number}.root") as file:
            file["t"] = {"x": np.arange(10 + number)}
    (folder / "run3.root").write_bytes(b"no ROOT file at all")
    pattern = str(folder / "*.root")
    first = nyssa.convert([pattern], out, to="ttree", skip_bad=True)
    assert [one["state"] for one in first] == ["done", "done", "done", "failed"]
    assert uproot.open(out / "run2.root")["t"]["x"].array().to_list() == list(range(12))
    (out / "run1.root").unlink()
    code, said, _ = command(
        pattern, "--into", out, "--to", "ttree", "--skip-done", "--skip-bad", "--json"
    )
    assert code == 1
    states = [one["state"] for one in json.loads(said)["files"]]
    assert states == ["found", "done", "found", "failed"]


def test_digests_and_reports(tmp_path: Path) -> None:
    """The digests are those that `nyssa digest` finds in the tree."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    collections(source)
    report = nyssa.convert(source, path, to="ttree", reproducible=True)
    fields = {one["branch"]: one for one in report["fields"]}
    assert fields["Jet_pt"]["field"] == "Jet.pt"
    assert fields["Jet_pt"]["type_name"] == "std::vector<double>"
    with nyssa.open(path) as file:
        digests = {one["name"]: one["digest"] for one in nyssa.digest(file["Events"])["digests"]}
    for name, one in fields.items():
        assert one["digest"] == digests[name], name
        assert one["output_bytes"] == uproot.open(path)["Events"][name].compressed_bytes
    threads = tmp_path / "one" / "out.root"
    threads.parent.mkdir()
    nyssa.convert(source, threads, to="ttree", reproducible=True, threads=1)
    assert threads.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("open_classes", "keys", "shown"),
    [(False, ["x", "Jet", "Jet/Jet.pt"], "Jet.pt"), (True, ["x", "nJet", "Jet_pt"], "Jet_pt")],
)
def test_projections_become_aliases(
    tmp_path: Path, root: Root, open_classes: bool, keys: list[str], shown: str
) -> None:
    """A projected field of a field that has a branch is an alias: no data are written twice."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        types = {"x": "float", "Jet": "std::vector<Jet>"}
        file.mkrntuple(
            "Events",
            types,
            projections={"also": "x", "Pt": "Jet.pt"},
            classes={"Jet": {"pt": "float"}},
        ).extend({"x": np.arange(2.0), "Jet": ak.Array([[{"pt": 1.0}, {"pt": 2.0}], []])})
    report = nyssa.convert(source, path, to="ttree", verify=True, open_classes=open_classes)
    assert "also is an alias of the branch x, as both have the same data" in report["notes"]
    assert uproot.open(path)["Events"].keys() == keys
    aliases = root.call("tree_description", str(path), "Events")["aliases"]
    assert aliases == {"also": "x", "Pt": shown}
    assert root.call("drawn", str(path), "Events", "Pt") == [1.0, 2.0]


def stored(path: Path, branch: str) -> list[tuple[bytes, bytes]]:
    """Return the payload of each basket as it is stored, and before compression."""
    whole = path.read_bytes()
    with uproot.open(path) as file:
        one = file["Events"][branch]
        seeks = one.member("fBasketSeek")[: one.num_baskets]
        lengths = one.member("fBasketBytes")[: one.num_baskets]
        # The key says its own length.
        starts = [at + int.from_bytes(whole[at + 14 : at + 16], "big") for at in seeks]
        ends = [at + length for at, length in zip(seeks, lengths, strict=True)]
        return [
            (whole[start:end], one.basket(at).raw_data.tobytes())
            for at, (start, end) in enumerate(zip(starts, ends, strict=True))
        ]


@pytest.mark.parametrize(("compression", "level"), [("zstd:5", 10), ("zstd:1", 2)])
def test_a_level_is_used_exactly(compression: str, level: int, tmp_path: Path) -> None:
    """A level that is named is that of the library: nothing is chosen for single branches."""
    zstd = pytest.importorskip("cramjam").zstd
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        file["Events"] = {"event": np.random.default_rng(3).integers(0, 50, 40_000).cumsum()}
    nyssa.convert(source, path, to="ttree", compression=compression, basket_size="400 kB")
    for payload, whole in stored(path, "event"):
        assert payload[:2] == b"ZS"
        # ROOT puts 9 bytes before a block, and the frame ends with a checksum of 4 bytes. Level 3
        # and 5 of the library give almost twice the size.
        assert len(payload) - 9 - 4 == len(zstd.compress(whole, level=level))
    same = tmp_path / "same.root"
    options = ("--to", "ttree", "--compression", compression, "--basket-size", "400kB")
    assert command(source, same, *options)[0] == 0
    assert stored(same, "event") == stored(path, "event")
    number = 500 + int(compression.partition(":")[2])
    assert uproot.open(f"{same}:Events")["event"].member("fCompress") == number


def test_branches_have_options(tmp_path: Path, root: Root) -> None:
    """They are stored as ROOT says that they are; the last pattern counts."""
    source = tmp_path / "in.root"
    numbers = np.random.default_rng(1).random(20_000)
    with nyssa.recreate(source) as file:
        file["Events"] = {"a": numbers, "b": numbers, "c": numbers}
    options = {
        "*": {"compression": "lz4:1", "basket_size": "8 kB"},
        "b": {"compression": "zstd:7"},
        "c": {"basket_size": 16_000, "title": "the last one"},
    }
    a, b = tmp_path / "a.root", tmp_path / "b.root"
    nyssa.convert(source, a, to="ttree", branch_options=options, auto_flush=0, verify=True)
    given = [
        *("--branch-options", "*:compression=lz4:1,basket-size=8kB"),
        *("--branch-options", "b:compression=zstd:7"),
        *("--branch-options", "c:basket-size=16000,title=the last one"),
    ]
    assert command(source, b, "--to", "ttree", "--auto-flush", 0, *given)[0] == 0
    for path in (a, b):
        branches = root.call("tree_description", str(path), "Events")["branches"]
        assert [branches[name]["compression"] for name in "abc"] == [401, 507, 401]
        assert branches["c"]["title"] == "the last one"
        with uproot.open(f"{path}:Events") as tree:
            assert tree["a"].num_baskets == tree["b"].num_baskets > 1.8 * tree["c"].num_baskets
            assert all(np.array_equal(tree[name].array(), numbers) for name in "abc")
    with pytest.raises(nyssa.ArgumentError, match="are for TTrees.*: branch_options$"):
        nyssa.convert(f"{a}:Events", tmp_path / "c.root", branch_options=options)
    wrong = [source, tmp_path / "c.root", "--branch-options", "b:column=Int32"]
    code, _, errors = command(*wrong, "--to", "ttree")
    assert (code, "branches have no option" in errors) == (2, True)
    code, _, errors = command(*wrong)
    hint = "'--branch-options' is an option of `nyssa convert --to ttree`"
    assert (code, hint in errors) == (2, True)


def test_branches_are_in_the_order_of_the_fields(tmp_path: Path, root: Root) -> None:
    """A counter is before its first array, wherever its field is."""
    source, path = tmp_path / "in.root", tmp_path / "out.root"
    jets = ak.zip({"pt": [[1.0], [2.0, 3.0]], "q": [[1], [2, 3]]})
    with nyssa.recreate(source) as file:
        file.mktree("tree", {"a": [1, 2], "Jet": jets, "b": [1, 2], "x": [[1], []], "c": [3, 4]})
        file["Events"] = {"a": [1, 2], "Jet": jets, "b": [1, 2], "x": [[1], []], "c": [3, 4]}
    nyssa.convert(f"{source}:Events", path, to="ttree", counters={"x": "nx"}, carry=False)
    names = ["a", "nJet", "Jet_pt", "Jet_q", "b", "nx", "x", "c"]
    assert uproot.open(f"{path}:Events").keys() == names
    # There and back, the branches have the order of the tree, not that of the fields.
    ntuple = tmp_path / "ntuple.root"
    for layout in ("vectors", "importer"):
        nyssa.convert(f"{source}:tree", ntuple, layout=layout, force=True, carry=False)
        nyssa.convert(ntuple, path, to="ttree", force=True)
        assert uproot.open(f"{path}:tree").keys() == names
        values = root.call("tree_values", str(path), "tree", ["a", "b", "c"])
        assert values == {"a": [1, 2], "b": [1, 2], "c": [3, 4]}


def test_an_rntuple_without_a_field_that_a_tree_can_hold(tmp_path: Path) -> None:
    """Of several RNTuples it is left out by name; alone, it is an error."""
    path, output = tmp_path / "a.root", tmp_path / "tree.root"
    with nyssa.recreate(path) as file:
        file["good"] = {"x": np.arange(3)}
        file.mkrntuple("bad", {"u": "std::variant<std::int32_t,std::string>"})
    command = [sys.executable, "-m", "nyssa", "convert", str(path), str(output), "--to", "ttree"]
    command += ["--skip-unsupported", "--json"]
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    report = json.loads(done.stdout)
    (left_out,) = report["left_out"]
    assert left_out.startswith(
        "bad;1 (ROOT::RNTuple): no field is left to convert; these cannot be"
    )
    opened = uproot.open(output)
    assert opened.keys() == ["good;1"]
    assert opened["good"]["x"].array().to_list() == [0, 1, 2]
    with pytest.raises(nyssa.ArgumentError, match="no field is left to convert"):
        nyssa.convert(f"{path}:bad", output, to="ttree", skip_unsupported=True, force=True)
