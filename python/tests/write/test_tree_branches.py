"""Branches that `add_branches` adds to TTrees, which ROOT, uproot and nyssa read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
import nyssa.uproot
from nyssa import errors
from support.root import Root

NAME = "d/Events"
OLD = ["nJet", "Jet_pt", "Jet_eta", "x", "fixed", "number", "small"]
# What ROOT does with the file afterwards: it fills all branches, and adds one.
_GO_ON = r"""
void nyssa_go_on(const char *path, const char *name) {
   TFile file(path, "UPDATE");
   auto tree = file.Get<TTree>(name);
   tree->GetDirectory()->cd();
   tree->GetEntry(0);
   double weight; tree->SetBranchAddress("wgt", &weight);
   tree->GetEntry(0); weight = 77; tree->Fill();
   int late = 5; auto branch = tree->Branch("late", &late, "late/I");
   for (Long64_t i = 0; i < tree->GetEntries(); i++) branch->Fill();
   tree->Write("", TObject::kOverwrite);
}
"""


@pytest.fixture(scope="module", autouse=True)
def go_on(root: Root) -> None:
    """Compile the function."""
    root.call("cpp", _GO_ON, "")


def write(root: Root, path: Path, count: int, auto_flush: int = 40, basket: int = 32000) -> str:
    """Write a tree of all kinds of branches that nyssa fills, in ROOT."""
    root.call("write_to_append", str(path), 0, count, auto_flush, False, basket)
    return str(path)


def columns(path: str, count: int) -> dict[str, Any]:
    """Return new columns of every kind; one is counted by the counter of the tree."""
    jets = nyssa.open(f"{path}:{NAME}").arrays()["Jet_pt"]
    return {
        "wgt": np.arange(count) / 3,
        "Jet_score": ak.values_astype(jets * 2, np.float32),
        "own": [[float(i)] * (i % 4) for i in range(count)],
        "grid": np.arange(count * 6, dtype=np.int16).reshape(count, 2, 3),
        "label": [f"entry {i}" for i in range(count)],
        "words": [["a", "b"][: i % 3] for i in range(count)],
        "flags": np.arange(count) % 2 == 0,
        "met": ak.Array({"pt": np.arange(count, dtype=np.float32), "phi": np.arange(count)}),
    }


def listed(columns: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the values by the names of their branches."""
    found = dict(columns)
    met = found.pop("met")
    found |= {f"met_{name}": met[name] for name in ("pt", "phi")}
    found["nown"] = [len(one) for one in columns["own"]]
    return {name: ak.Array(one).to_list() for name, one in found.items()}


@pytest.mark.parametrize(
    ("count", "auto_flush", "basket"),
    [(95, 40, 32000), (200, 40, 1000), (5, -30_000_000, 32000), (300, 0, 300)],
)
def test_trees_of_root(
    tmp_path: Path, root: Root, count: int, auto_flush: int, basket: int
) -> None:
    path = write(root, tmp_path / "tree.root", count, auto_flush, basket)
    before = Path(path).read_bytes()
    old = nyssa.open(f"{path}:{NAME}").arrays().to_list()
    roots = root.call("tree_values", path, NAME, OLD) if count else {}
    description = root.call("tree_description", path, NAME)
    new = columns(path, count)
    expected = listed(new)
    with nyssa.update(path) as file:
        tree = file[NAME]
        tree.add_branches({name: new[name] for name in ("wgt", "Jet_score")})
        tree.add_branches({name: new[name] for name in new if name not in ("wgt", "Jet_score")})
        assert tree.num_entries == count
    # The old baskets are at their places.
    assert Path(path).read_bytes()[1000 : len(before)] == before[1000:]
    found = nyssa.open(f"{path}:{NAME}").arrays()
    assert found[ak.fields(found)[: len(old[0]) if old else 0]].to_list() == old or not old
    assert {name: found[name].to_list() for name in expected} == expected
    with uproot.open(path) as file:
        theirs = file[NAME].arrays(list(expected))
        assert {name: theirs[name].to_list() for name in expected} == expected
        assert file.keys() == ["d;1", "d/Events;1"]
    if not count:
        return
    assert root.call("tree_values", path, NAME, OLD) == roots
    flat = ["wgt", "Jet_score", "nown", "own", "grid", "flags", "met_pt", "met_phi"]
    flat = root.call("tree_values", path, NAME, flat)
    grid = expected.pop("grid")
    assert flat.pop("grid") == [[x for row in one for x in row] for one in grid]
    assert flat == {name: expected[name] for name in flat}
    leaves = root.call("tree_leaves", path, NAME, ["label"])
    assert [one[0] for one in leaves["label"]] == expected["label"]
    after = root.call("tree_description", path, NAME)
    for key in ("title", "entries", "aliases", "user_info", "auto_flush", "clusters"):
        assert after[key] == description[key], key
    for name, branch in description["branches"].items():
        assert after["branches"][name] == branch, name
    assert nyssa.verify(path).problems == []
    # ROOT fills all branches, and adds one itself.
    root.call("cpp", "", f'nyssa_go_on("{path}", "{NAME}")')
    values = root.call("tree_values", path, NAME, ["wgt", "late", "own"])
    assert values["wgt"] == [*expected["wgt"], 77]
    assert values["late"] == [5] * (count + 1)
    assert values["own"] == [*expected["own"], expected["own"][0]]
    with uproot.open(path) as file:
        assert file[f"{NAME}/wgt"].array().to_list() == [*expected["wgt"], 77]
    # And nyssa after ROOT.
    with nyssa.update(path) as file:
        file[NAME].add_branches({"again": np.arange(count + 1)})
    assert root.call("tree_values", path, NAME, ["again"])["again"] == list(range(count + 1))


def test_entries_after_branches(tmp_path: Path, root: Root) -> None:
    """Later entries have the new columns, in the same update and in another."""
    path = write(root, tmp_path / "tree.root", 50)
    old = nyssa.open(f"{path}:{NAME}").arrays()
    new = columns(path, 50)
    with nyssa.update(path) as file:
        tree = file[NAME]
        tree.add_branches(new)
        with pytest.raises(errors.ArgumentError, match='the column "wgt" .* is missing'):
            tree.extend(old)
        tree.extend({**{name: old[name] for name in old.fields}, **new})
    again = nyssa.open(f"{path}:{NAME}").arrays()
    with nyssa.update(path) as file:
        file[NAME].extend(again)
    expected = {name: one * 4 for name, one in listed(new).items()}
    found = nyssa.open(f"{path}:{NAME}").arrays()
    assert {name: found[name].to_list() for name in expected} == expected
    values = root.call("tree_values", path, NAME, ["nJet", "Jet_pt", "Jet_score", "own"])
    assert values["Jet_score"] == expected["Jet_score"]
    assert values["own"] == expected["own"]
    assert [len(one) for one in values["Jet_pt"]] == values["nJet"]
    with uproot.open(path) as file:
        theirs = file[NAME].arrays(list(expected))
        assert {name: theirs[name].to_list() for name in expected} == expected


def test_an_integer_becomes_a_counter(tmp_path: Path, root: Root) -> None:
    """A plain branch of integers can count new lists; ROOT then knows its largest value."""
    path = str(tmp_path / "tree.root")
    code = f"""
    void nyssa_counts() {{
       TFile f("{path}", "RECREATE"); TTree t("T", ""); short n = 0; t.Branch("n", &n);
       for (n = 0; n < 5; n++) t.Fill(); t.Write();
    }}"""
    root.call("cpp", code, "nyssa_counts()")
    lists = [[float(i)] * i for i in range(5)]
    with nyssa.update(path) as file:
        file["T"].add_branches({"x": lists}, counters={"x": "n"})
        file["T"].extend({"n": [7], "x": [[1.0] * 7]})
    assert root.call("tree_values", path, "T", ["n", "x"]) == {
        "n": [0, 1, 2, 3, 4, 7],
        "x": [*lists, [1.0] * 7],
    }
    with uproot.open(path) as file:
        leaf = file["T/n"].member("fLeaves")[0]
        assert (leaf.member("fIsRange"), leaf.member("fMaximum")) == (True, 7)
        assert file["T/x"].array().to_list() == [*lists, [1.0] * 7]


CLASSES = {
    "addedto::Hit": {"id": "int", "q": "std::vector<float>"},
    "addedto::Jet": {"pt": "float", "hits": "std::vector<addedto::Hit>"},
}


@pytest.mark.parametrize("level", [0, 1, 99])
def test_branches_of_classes(tmp_path: Path, root: Root, level: int) -> None:
    path = write(root, tmp_path / "tree.root", 30)
    hits = [[{"id": k, "q": [0.5] * k} for k in range(i % 3)] for i in range(30)]
    jets = [[{"pt": k + 0.5, "hits": hits[i]} for k in range(i % 4)] for i in range(30)]
    types = {"jets": "std::vector<addedto::Jet>", "first.": "addedto::Jet"}
    data = {"jets": jets, "first.": [{"pt": i, "hits": hits[i]} for i in range(30)]}
    with nyssa.update(path) as file:
        file[NAME].add_branches(data, types, classes=CLASSES, split_level=level)
    found = nyssa.open(f"{path}:{NAME}").arrays(["jets", "first."])
    assert {name: found[name].to_list() for name in data} == data
    pts = [one["pt"] for row in jets for one in row]
    assert root.call("drawn", path, NAME, "jets.pt") == pts
    ids = [hit["id"] for row in data["first."] for hit in row["hits"]]
    assert root.call("drawn", path, NAME, "first.hits.id") == ids
    if level:
        with uproot.open(path) as file:
            assert ak.flatten(file[f"{NAME}/jets/jets.pt"].array()).to_list() == pts


def test_trees_that_take_no_entries(tmp_path: Path, root: Root) -> None:
    """A tree of classes that cannot be filled takes branches; its own branches stay as they are."""
    path = str(tmp_path / "kinds.root")
    root.call("write_many_kinds", path, 0, 20, {})
    before = nyssa.open(f"{path}:Events").arrays().to_list()
    drawn = root.call("drawn", path, "Events", "clones.fE")
    with nyssa.update(path) as file:
        tree = file["Events"]
        tree.add_branches({"wgt": np.arange(20.0)})
        with pytest.raises(errors.UnsupportedError, match="branches can be added to the tree"):
            tree.extend({"wgt": [1.0]})
    found = nyssa.open(f"{path}:Events").arrays()
    assert found["wgt"].to_list() == list(range(20))
    assert found[ak.fields(found)[:-1]].to_list() == before
    assert root.call("drawn", path, "Events", "wgt") == list(range(20))
    assert root.call("drawn", path, "Events", "clones.fE") == drawn


@pytest.mark.parametrize("writer", ["uproot", "nyssa"])
def test_trees_of_other_writers(tmp_path: Path, root: Root, writer: str) -> None:
    path = str(tmp_path / "tree.root")
    new = uproot.recreate(path) if writer == "uproot" else nyssa.recreate(path)
    with new as file:
        file.mktree("T", {"x": "float64", "jets": "var * float32"})
        file["T"].extend({"x": np.arange(3.0), "jets": ak.Array([[1.0], [], [2.0, 3.0]])})
    with nyssa.update(path) as file:
        file["T"].add_branches({"y": [5, 6, 7]})
        file["T"].add_branches(
            {"jets_eta": [[1.0], [], [2.0, 3.0]]}, counters={"jets_eta": "njets"}
        )
    with uproot.open(path) as file:
        assert file["T/y"].array().to_list() == [5, 6, 7]
        assert file["T/jets_eta"].array().to_list() == [[1.0], [], [2.0, 3.0]]
    values = root.call("tree_values", path, "T", ["x", "jets", "y", "jets_eta", "njets"])
    assert values["y"] == [5, 6, 7]
    assert values["jets"] == values["jets_eta"] == [[1.0], [], [2.0, 3.0]]
    # uproot adds entries to what nyssa wrote, if it takes such a tree.
    with uproot.update(path) as file:
        file["U"] = {"z": np.arange(4)}
    assert root.call("tree_values", path, "T", ["y"]) == {"y": [5, 6, 7]}


def test_new_trees(tmp_path: Path, root: Root) -> None:
    """A tree that is being written takes branches, too, between its entries."""
    path = str(tmp_path / "tree.root")
    with nyssa.recreate(path) as file:
        tree = file.mktree("T", {"x": "int32"}, auto_flush=10)
        tree.extend({"x": range(25)})
        options = {"y": {"title": "the new one", "compression": "lzma:1"}}
        tree.add_branches({"y": np.arange(25) / 2, "l": [[1]] * 25}, branch_options=options)
        tree.extend({"x": range(10), "y": range(10), "l": [[]] * 10})
    values = root.call("tree_values", path, "T", ["x", "y", "l"])
    assert values["y"] == [*(np.arange(25) / 2), *range(10)]
    assert values["l"] == [[1]] * 25 + [[]] * 10
    with uproot.open(path) as file:
        assert file["T/y"].title == "the new one"
        assert file["T/y"].compression == uproot.LZMA(1)
        assert [basket.num_entries for basket in map(file["T/y"].basket, range(3))] == [10, 10, 5]


@pytest.mark.parametrize(
    ("data", "options", "message"),
    [
        ({"w": [1.0]}, {}, "1 values for the 30 entries of the tree d/Events: a new branch needs"),
        ({"x": np.zeros(30)}, {}, 'the tree already has a branch "x": give the new branch another'),
        ({"own": [[1]] * 30, "nown": [2] * 30}, {}, "the counter says 2"),
        (
            {"own": [[1]] * 30},
            {"counters": {"own": "nJet"}},
            'the counter "nJet" of the tree says 0',
        ),
        ({"a/b": np.zeros(30)}, {}, "cannot have the name"),
        ({"w": np.zeros(30)}, {"branch_options": {"x": {"title": ""}}}, "matches nothing"),
        ({"w": [1, None] * 15}, {}, "a value is missing"),
        ({"w": "float32"}, {}, "add_branches needs data"),
    ],
    ids=["length", "taken", "counter", "lists", "name", "options", "null", "types"],
)
def test_what_is_refused(
    tmp_path: Path, root: Root, data: dict[str, Any], options: dict[str, Any], message: str
) -> None:
    """The tree stays as it was, and other branches can still be added."""
    path = write(root, tmp_path / "tree.root", 30)
    before = Path(path).read_bytes()
    with nyssa.update(path) as file, pytest.raises(errors.ArgumentError, match=message):
        file[NAME].add_branches(data, **options)
    assert Path(path).read_bytes() == before
    with nyssa.update(path) as file:
        with pytest.raises(errors.ArgumentError, match=message):
            file[NAME].add_branches(data, **options)
        file[NAME].add_branches({"good": np.arange(30)})
    values = root.call("tree_values", path, NAME, ["good", "x"])
    assert values["good"] == list(range(30))


def test_counters_of_new_entries(tmp_path: Path, root: Root) -> None:
    path = write(root, tmp_path / "tree.root", 5)
    old = nyssa.open(f"{path}:{NAME}").arrays()
    with nyssa.update(path) as file:
        file[NAME].extend(old)
        with pytest.raises(errors.ArgumentError, match="add the branches before the entries"):
            file[NAME].add_branches({"Jet_x": ak.concatenate([old["Jet_pt"]] * 2)})
        file[NAME].add_branches({"w": np.arange(10)})
    assert root.call("tree_values", path, NAME, ["w"])["w"] == list(range(10))


def test_a_failure_leaves_the_old_file(tmp_path: Path, root: Root) -> None:
    path = write(root, tmp_path / "tree.root", 500)
    before = Path(path).read_bytes()
    with pytest.raises(ZeroDivisionError), nyssa.update(path) as file:
        file[NAME].add_branches({"w": np.random.default_rng(1).random(500)})
        raise ZeroDivisionError
    assert Path(path).read_bytes()[: len(before)] == before
    assert "w" not in nyssa.open(f"{path}:{NAME}").keys()


def test_crashes(tmp_path: Path, root: Root) -> None:
    """What is behind the old end changes nothing; the header and the directory commit it."""
    path = write(root, tmp_path / "tree.root", 95)
    old = Path(path).read_bytes()
    with nyssa.update(path) as file:
        file[NAME].add_branches({"w": np.arange(95)})
    new = Path(path).read_bytes()
    changed = [at for at in range(len(old)) if old[at] != new[at]]
    # The commit is in the record of the directory; without it the old tree is there.
    torn = bytearray(old + new[len(old) :])
    for at in changed:
        if at < 100:
            torn[at] = new[at]
    torn_path = tmp_path / "torn.root"
    torn_path.write_bytes(torn)
    assert "w" not in uproot.open(torn_path)[NAME].keys()
    assert root.call("tree_values", str(torn_path), NAME, ["nJet"]) == root.call(
        "tree_values", path, NAME, ["nJet"]
    )


def test_uproots_names(tmp_path: Path, root: Root) -> None:
    path = str(tmp_path / "tree.root")
    with nyssa.recreate(path) as new:
        new.mktree(NAME, {"x": np.arange(10.0), "n": [[1.5]] * 10})
    with nyssa.uproot.update(path) as file:
        file[NAME].add_branches({"w": np.arange(10, dtype=np.float32)})
        with pytest.raises(ValueError, match="already has a branch"):
            file[NAME].add_branches({"w": np.arange(10, dtype=np.float32)})
        with pytest.raises(ValueError, match="one value for each entry"):
            file[NAME].add_branches({"v": np.arange(3)})
        data = {"x": np.arange(10.0), "n": ak.Array([[2.5]] * 10), "w": np.ones(10)}
        more = {"new": np.ones(10, dtype=np.int16), "l": ak.Array([[1]] * 10)}
        with pytest.raises(ValueError, match="new"):
            file[NAME].extend({**data, **more})
        file[NAME].extend({**data, **more}, accept_new_fields=True)
    values = root.call("tree_values", path, NAME, ["w", "new", "l"])
    lists = [[]] * 10 + [[1]] * 10
    assert values == {"w": [*range(10), *[1] * 10], "new": [0] * 10 + [1] * 10, "l": lists}


def test_trees_without_entries(tmp_path: Path, root: Root) -> None:
    path = write(root, tmp_path / "tree.root", 0)
    with nyssa.update(path) as file:
        types = {"w": "float64", "l": "var * int32"}
        file[NAME].add_branches({"w": [], "l": []}, types)
    with uproot.open(path) as file:
        assert [file[NAME][name].num_entries for name in ("w", "nl", "l")] == [0, 0, 0]
    assert root.call("tree_values", path, NAME, ["w", "l"]) == {"w": [], "l": []}
