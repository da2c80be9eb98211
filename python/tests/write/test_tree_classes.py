"""Objects of classes in TTrees have the branches and the bytes that ROOT writes for them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa
from support.data import DATA
from support.filling import fill_in_threads
from support.root import Root

HEADER = Path(__file__).with_name("tree_classes.hxx")
LEVELS = [0, 1, 2, 3, 99]
ENTRIES = 40

CLASSES: dict[str, dict[str, Any]] = {
    "treeclasses::Deep": {"d": "int", "e": "float"},
    "treeclasses::Grand": {"g": "int"},
    "treeclasses::Inner": {
        ":bases": ["treeclasses::Grand"],
        "z": "short",
        "q": "treeclasses::Deep",
    },
    "treeclasses::Point": {
        ":bases": ["treeclasses::Inner"],
        "x": "float",
        "y": "double",
        "deep": "treeclasses::Deep",
    },
    "treeclasses::Hit": {"id": "int", "q": "std::vector<float>"},
    "treeclasses::Base": {
        "b": "short",
        "bh": "std::vector<treeclasses::Hit>",
        "bp": "treeclasses::Point",
    },
    "treeclasses::Other": {"o": "float"},
    "treeclasses::Jet": {
        ":bases": ["treeclasses::Base", "treeclasses::Other"],
        "arr": "float[3]",
        "mat": "int[2][3]",
        "c": "char",
        "l": "long",
        "ll": "long long",
        "u64": "unsigned long",
        "us": "unsigned short",
        "i8": "std::int8_t",
        "uc": "unsigned char",
        "ok": "bool",
        "pt": "float",
        "eta": "double",
        "m": "Double32_t",
        "v": "std::vector<float>",
        "s": "std::string",
        "p": "treeclasses::Point",
        "hits": "std::vector<treeclasses::Hit>",
        "sa": "std::array<float,2>",
        "mp": "std::map<int,float>",
        "si": "std::set<int>",
        "vs": "std::vector<std::string>",
        "vv": "std::vector<std::vector<int>>",
        "vb": "std::vector<bool>",
        "pr": "std::pair<int,float>",
        "ps": "treeclasses::Point[2]",
        "vvh": "std::vector<std::vector<treeclasses::Hit>>",
        # Pairs are objects of a class, so ROOT has other bits for these branches than for "vv".
        "vm": "std::vector<std::map<int,float>>",
        "vvp": "std::vector<std::vector<std::pair<int,float>>>",
    },
}
COLUMNS = {
    "jet": "treeclasses::Jet",
    "dot.": "treeclasses::Jet",
    "jets": "std::vector<treeclasses::Jet>",
    "points": "std::vector<treeclasses::Point>",
}

_REWRITE = r"""
void treeclasses_rewrite(const char *in, const char *out) {
   using namespace treeclasses;
   TFile source(in);
   TFile target(out, "recreate");
   for (int level : {0, 1, 2, 3, 99}) {
      auto name = TString::Format("t%d", level);
      auto from = source.Get<TTree>(name);
      Jet *jet = nullptr, *dot = nullptr;
      std::vector<Jet> *jets = nullptr;
      std::vector<Point> *points = nullptr;
      from->SetBranchAddress("jet", &jet);
      from->SetBranchAddress("dot.", &dot);
      from->SetBranchAddress("jets", &jets);
      from->SetBranchAddress("points", &points);
      target.cd();
      TTree to(name, "");
      to.Branch("jet", &jet, 32000, level);
      to.Branch("dot.", &dot, 32000, level);
      to.Branch("jets", &jets, 32000, level);
      to.Branch("points", &points, 32000, level);
      for (Long64_t i = 0; i < from->GetEntries(); i++) {
         if (from->GetEntry(i) <= 0) throw std::runtime_error("an entry cannot be read");
         to.Fill();
      }
      to.Write();
      from->ResetBranchAddresses();
   }
}
"""


def deep(i: int) -> dict[str, Any]:
    return {"d": i, "e": i + 0.25}


def point(i: int) -> dict[str, Any]:
    inner = {":_0": {"g": i + 5}, "z": i, "q": deep(i + 1)}
    return {":_0": inner, "x": i + 0.5, "y": i + 0.75, "deep": deep(i + 2)}


def hit(i: int) -> dict[str, Any]:
    return {"id": i, "q": [i + 0.5] * (i % 3)}


def jet(i: int) -> dict[str, Any]:
    base = {"b": i, "bh": [hit(k) for k in range(i % 4)], "bp": point(i)}
    return {
        ":_0": base,
        ":_1": {"o": i + 0.125},
        "arr": [i, i + 1.0, i + 2.0],
        "mat": [[i, 1, 2], [3, 4, -i]],
        "c": i,
        "l": -i << 33,
        "ll": i << 40,
        "u64": 2**64 - 1 - i,
        "us": 65535 - i,
        "i8": -i,
        "uc": 255 - i,
        "ok": i % 2 == 0,
        "pt": i + 0.5,
        "eta": i / 3,
        "m": i + 0.25,
        "v": [float(k) for k in range(i % 3)],
        "s": "s" * (i * 20),
        "p": point(i + 3),
        "hits": [hit(k) for k in range(i % 3)],
        "sa": [i + 0.5, -i],
        "mp": [{"_0": k, "_1": k + 0.5} for k in range(i % 3)],
        "si": list(range(i % 4)),
        "vs": [f"a{k}" for k in range(i % 3)],
        "vv": [[k] * k for k in range(i % 4)],
        "vb": [k % 2 == 0 for k in range(i % 5)],
        "pr": {"_0": i, "_1": i + 0.5},
        "ps": [point(i), point(i + 1)],
        "vvh": [[hit(k)] * k for k in range(i % 3)],
        "vm": [[{"_0": k, "_1": k + 0.5}] for k in range(i % 3)],
        "vvp": [[{"_0": k, "_1": k + 0.5}] * k for k in range(i % 3)],
    }


def entries(start: int = 0, stop: int = ENTRIES) -> dict[str, Any]:
    numbers = range(start, stop)
    return {
        "jet": [jet(i) for i in numbers],
        "dot.": [jet(i + 1) for i in numbers],
        "jets": [[jet(k) for k in range(i % 7)] for i in numbers],
        "points": [[point(k) for k in range(i % 5)] for i in numbers],
    }


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a file of nyssa, and one that ROOT wrote of the objects that it read there."""
    folder = tmp_path_factory.mktemp("classes")
    ours, theirs = folder / "nyssa.root", folder / "root.root"
    with nyssa.recreate(ours, compression="none") as file:
        for level in LEVELS:
            tree = file.mktree(f"t{level}", COLUMNS, classes=CLASSES, split_level=level)
            tree.extend(entries(0, 7))
            tree.extend(entries(7, ENTRIES))
    names = [*CLASSES, *(COLUMNS[one] for one in ("jets", "points"))]
    names += ["std::vector<treeclasses::Hit>", "std::vector<std::vector<treeclasses::Hit>>"]
    names += ["std::vector<std::vector<int>>", "std::map<int,float>", "std::set<int>"]
    names += ["std::vector<std::map<int,float>>", "std::vector<std::vector<std::pair<int,float>>>"]
    root.call("dictionaries", names, [str(HEADER)])
    root.call("cpp", _REWRITE, f'treeclasses_rewrite("{ours}", "{theirs}")')
    return ours, theirs


MEMBERS = [
    "fName",
    "fTitle",
    "fClassName",
    "fParentName",
    "fClonesName",
    "fCheckSum",
    "fClassVersion",
    "fID",
    "fType",
    "fStreamerType",
    "fMaximum",
    "fSplitLevel",
    "fBasketSize",
    "fWriteBasket",
    "fEntryNumber",
    "fEntries",
    "fTotBytes",
]
LEAF_MEMBERS = ["fName", "fTitle", "fLen", "fLenType", "fIsRange", "fIsUnsigned", "fID", "fType"]
# kBranchAny and kDoNotUseBufferMap; others say how a branch was used in memory.
BITS = 1 << 17 | 1 << 22


def described(branch: Any) -> list[Any]:
    """Return all that a branch says of itself, and the branches below it."""

    def value(object: Any, name: str) -> Any:
        found = object.member(name)
        return str(found) if isinstance(found, str) else found

    def leaf(leaf: Any) -> list[Any]:
        counter = leaf.member("fLeafCount")
        members = [value(leaf, name) for name in LEAF_MEMBERS]
        return [*members, counter is not None and counter.member("fName")]

    counter = branch.member("fBranchCount")
    own: list[Any] = [value(branch, name) for name in MEMBERS]
    own += [branch.member("@fBits") & BITS, branch.member("fEntryOffsetLen") > 0]
    own += [counter is not None and counter.member("fName")]
    own += [[leaf(one) for one in branch.member("fLeaves")]]
    return [*own, [described(one) for one in branch.branches]]


def stored(branch: Any) -> list[Any]:
    """Return the entries, the bytes and the offsets of all baskets of a branch."""
    baskets = [branch.basket(i) for i in range(branch.num_baskets)]
    offsets = [one.byte_offsets for one in baskets]
    parts = [
        (one.num_entries, one.data.tobytes(), None if at is None else at.tolist())
        for one, at in zip(baskets, offsets, strict=True)
    ]
    return [branch.name, parts, [stored(one) for one in branch.branches]]


@pytest.mark.parametrize("level", LEVELS)
def test_branches_and_baskets_are_those_of_root(files: tuple[Path, Path], level: int) -> None:
    """ROOT read all objects with its dictionary, and wrote the same branches and bytes."""
    with uproot.open(files[0]) as ours, uproot.open(files[1]) as theirs:
        mine, its = ours[f"t{level}"], theirs[f"t{level}"]
        assert [described(one) for one in mine.branches] == [described(one) for one in its.branches]
        assert [stored(one) for one in mine.branches] == [stored(one) for one in its.branches]
        leaves = [leaf.member("fName") for leaf in mine.member("fLeaves")]
        assert leaves == [leaf.member("fName") for leaf in its.member("fLeaves")]


def test_streamer_infos_are_those_of_root(files: tuple[Path, Path], root: Root) -> None:
    infos = root.call("streamer_infos", str(files[0]))
    expected = root.call("streamer_infos", str(files[1]))
    for name in [*CLASSES, "pair<int,float>"]:
        assert infos[name] == expected[name], name


@pytest.mark.parametrize("level", LEVELS)
def test_values_come_back(files: tuple[Path, Path], level: int) -> None:
    with nyssa.open(files[1]) as file:
        arrays = file[f"t{level}"].arrays(list(COLUMNS))
        assert {name: arrays[name].to_list() for name in COLUMNS} == entries()


@pytest.mark.parametrize("level", LEVELS[1:])
def test_uproot_reads_split_members(files: tuple[Path, Path], level: int) -> None:
    expected = entries()
    with uproot.open(files[0]) as file:
        tree = file[f"t{level}"]
        for name in ["pt", "eta", "v", "s", "us", "ok", "vs"]:
            jets = tree[f"jets/jets.{name}"].array().to_list()
            assert jets == [[one[name] for one in row] for row in expected["jets"]], name
            assert tree[f"jet/{name}"].array().to_list() == [j[name] for j in expected["jet"]]
        assert tree["jet/mat[2][3]"].array().to_list() == [j["mat"] for j in expected["jet"]]


# ROOT crashes without a dictionary where vectors of vectors of objects are, in its own files, too.
PLAIN: dict[str, dict[str, Any]] = {
    "nodictionary::Cell": {"id": "int", "q": "std::vector<float>"},
    "nodictionary::Base": {"b": "short"},
    "nodictionary::Cluster": {
        ":bases": ["nodictionary::Base"],
        "e": "float",
        "cell": "nodictionary::Cell",
        "cells": "std::vector<nodictionary::Cell>",
        "v": "std::vector<double>",
        "grid": "int[2][2]",
    },
}


def cluster(i: int) -> dict[str, Any]:
    cells = [hit(k) for k in range(i % 3)]
    grid = [[i, 1], [2, 3]]
    return {
        ":_0": {"b": i},
        "e": i + 0.5,
        "cell": hit(i),
        "cells": cells,
        "v": [i, 0.5],
        "grid": grid,
    }


@pytest.mark.parametrize("level", LEVELS)
def test_root_reads_without_a_dictionary(tmp_path: Path, root: Root, level: int) -> None:
    path = tmp_path / "plain.root"
    one, many = "nodictionary::Cluster", "std::vector<nodictionary::Cluster>"
    clusters = [[cluster(k) for k in range(i % 5)] for i in range(30)]
    with nyssa.recreate(path) as file:
        tree = file.mktree("t", {"one.": one, "many": many}, classes=PLAIN, split_level=level)
        tree.extend({"one.": [cluster(i) for i in range(30)], "many": clusters})
    items = [one for row in clusters for one in row]
    drawn = {
        "many.e": [one["e"] for one in items],
        "many.b": [one[":_0"]["b"] for one in items],
        "many.v": [value for one in items for value in one["v"]],
        "many.grid": [value for one in items for row in one["grid"] for value in row],
        "many.cell.id": [one["cell"]["id"] for one in items],
        "many.cells.id": [cell["id"] for one in items for cell in one["cells"]],
        "one.e": [cluster(i)["e"] for i in range(30)],
        "one.cell.q": [value for i in range(30) for value in hit(i)["q"]],
        "one.cells.id": [cell["id"] for i in range(30) for cell in cluster(i)["cells"]],
    }
    for expression, expected in drawn.items():
        assert root.call("drawn", str(path), "t", expression) == expected, expression


def test_two_objects_with_members_of_one_name(tmp_path: Path) -> None:
    classes = {"Hit": {"id": "int"}}
    with (
        pytest.raises(nyssa.ArgumentError, match=r'"id": end the name .* as in "b\."'),
        nyssa.recreate(tmp_path / "x.root") as file,
    ):
        file.mktree("t", {"a": "Hit", "b": "Hit"}, classes=classes)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"id": 1}, 'has no member "q"'),
        ({"id": 1, "q": [1.0], "z": 1}, 'has no member "z"'),
        ({"id": 2**40, "q": [1.0]}, "does not fit"),
        ({"id": None, "q": [1.0]}, "a value is missing"),
    ],
    ids=["missing-member", "unknown-member", "too-large", "null"],
)
@pytest.mark.parametrize("level", [0, 99])
def test_values_that_do_not_fit(
    tmp_path: Path, value: dict[str, Any], message: str, level: int
) -> None:
    classes = {"Hit": {"id": "int", "q": "std::vector<float>"}}
    with nyssa.recreate(tmp_path / "x.root") as file:
        types = {"hits": "std::vector<Hit>"}
        tree = file.mktree("t", types, classes=classes, split_level=level)
        with pytest.raises(nyssa.ArgumentError, match=message):
            tree.extend({"hits": ak.Array([[value]])})
        tree.extend({"hits": [[hit(4)], [], [hit(1), hit(2)]]})
    with uproot.open(tmp_path / "x.root") as file:
        assert file["t"].num_entries == 3


@pytest.mark.parametrize(
    ("types", "options", "message"),
    [
        ({"x": "Jet"}, {"split_level": 100}, "a split level is 0 to 99, not 100"),
        ({"x": "Tree"}, {}, "does a class contain itself"),
        ({"x": "Bad"}, {}, "ROOT streams no std::optional"),
    ],
    ids=["level", "recursion", "type"],
)
def test_classes_that_cannot_be_written(
    tmp_path: Path, types: dict[str, str], options: dict[str, Any], message: str
) -> None:
    classes = {
        "Jet": {"pt": "float"},
        "Tree": {"branches": "std::vector<Tree>"},
        "Bad": {"x": "std::optional<int>"},
    }
    with (
        pytest.raises((nyssa.ArgumentError, nyssa.UnsupportedError), match=message),
        nyssa.recreate(tmp_path / "x.root") as file,
    ):
        file.mktree("t", types, classes=classes, **options)


def test_threads_fill_objects(tmp_path: Path) -> None:
    """The baskets of several contexts make one tree, and entries keep their order."""
    path, total = tmp_path / "threads.root", 600
    classes = {"Hit": {"id": "int", "q": "std::vector<float>"}}

    def chunk(start: int, stop: int) -> dict[str, Any]:
        return {"hits": [[hit(i), hit(i + 1)] for i in range(start, stop)]}

    with nyssa.recreate(path, fill_contexts=3, fill_order="round-robin") as file:
        types = {"hits": "std::vector<Hit>"}
        tree = file.mktree("t", types, classes=classes, auto_flush=50, basket_size=1000)
        fill_in_threads(tree, chunk, total, 3)
    with uproot.open(path) as file:
        ids = file["t/hits/hits.id"].array().to_list()
        numbers = file["t/hits/hits.q"].array().to_list()
    assert sorted(ids) == [[i, i + 1] for i in range(total)]
    assert numbers == [[hit(i)["q"] for i in row] for row in ids]


def test_contexts_say_how_long_they_waited(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "x.root", fill_contexts=1) as file:
        tree = file.mktree("t", {"x": "int32"}, auto_flush=10)
        with tree.fill_context() as context:
            context.extend({"x": range(100)})
            assert context.stalled == 0.0
        assert context.stalled == 0.0
    with uproot.open(tmp_path / "x.root") as file:
        assert file["t/x"].array().to_list() == list(range(100))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")
@pytest.mark.parametrize("level", [0, 2, 99])
def test_fields_of_classes_become_branches_of_the_class(
    tmp_path: Path, root: Root, level: int
) -> None:
    """The streamer infos of the RNTuple, which ROOT wrote, describe the class."""
    source = DATA / "rntuple" / "test_int_vfloat_tlv_vtlv_rntuple_v1-0-0-0.root"
    path = tmp_path / "tree.root"
    report = nyssa.convert(source, path, to="ttree", verify=True, split_level=level)
    assert [field["branch"] for field in report["fields"]][2:] == (
        ["three_LV.", "four_v_LVs"] if level else ["three_LV", "four_v_LVs"]
    )
    assert all(field["output_bytes"] > 0 for field in report["fields"])
    with uproot.open(source) as file:
        expected = file["ntuple"].arrays()
    many = root.call("drawn", str(path), "ntuple", "four_v_LVs.pt")
    assert many == ak.flatten(expected["four_v_LVs", "pt"]).to_list()
    one = root.call("drawn", str(path), "ntuple", "three_LV.mass")
    assert one == expected["three_LV", "mass"].to_list()
    infos = root.call("streamer_infos", str(path))
    assert infos["LV"] == root.call("streamer_infos", str(source))["LV"]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")
def test_classes_can_be_opened(tmp_path: Path) -> None:
    source = DATA / "rntuple" / "test_int_vfloat_tlv_vtlv_rntuple_v1-0-0-0.root"
    nyssa.convert(source, tmp_path / "tree.root", to="ttree", verify=True, open_classes=True)
    with uproot.open(source) as theirs, uproot.open(tmp_path / "tree.root") as ours:
        expected = theirs["ntuple"].arrays()
        tree = ours["ntuple"]
        assert tree["nfour_v_LVs"].array().to_list() == ak.num(expected["four_v_LVs"]).to_list()
        assert tree["three_LV_pt"].array().to_list() == expected["three_LV", "pt"].to_list()


_PAIRS = """
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>
namespace morepairs {
enum Color { kRed, kGreen };
struct Hit { int id; float q; };
struct Maps { std::map<std::string, Hit> m; std::map<short, float> s; std::map<int, float> k; };
struct Pairs { std::map<int, Hit> m; std::pair<int, Hit> p; Color c; };
}
"""
_PAIRS_REWRITE = """
void morepairs_rewrite(const char *in, const char *out) {
   TFile source(in);
   auto from = source.Get<TTree>("t");
   morepairs::Maps *maps = nullptr;
   morepairs::Pairs *pairs = nullptr;
   from->SetBranchAddress("maps.", &maps);
   from->SetBranchAddress("pairs.", &pairs);
   TFile target(out, "recreate");
   TTree to("t", "");
   to.Branch("maps.", &maps);
   to.Branch("pairs.", &pairs);
   for (Long64_t i = 0; i < from->GetEntries(); i++) {
      if (from->GetEntry(i) <= 0) throw std::runtime_error("an entry cannot be read");
      to.Fill();
   }
   to.Write();
   from->ResetBranchAddresses();
}
"""


def test_pairs_and_enums_are_those_of_root(tmp_path: Path, root: Root) -> None:
    """ROOT makes up the pairs that only maps need; an enum is an `Int_t`."""
    ours, theirs, header = (tmp_path / one for one in ("nyssa.root", "root.root", "pairs.hxx"))
    header.write_text(_PAIRS)
    hits, name = "std::map<std::string,morepairs::Hit>", "morepairs"
    classes: dict[str, dict[str, Any]] = {
        f"{name}::Color": {":enum": "int"},
        f"{name}::Hit": {"id": "int", "q": "float"},
        f"{name}::Maps": {"m": hits, "s": "std::map<short,float>", "k": "std::map<int,float>"},
        f"{name}::Pairs": {
            "m": "std::map<int,morepairs::Hit>",
            "p": "std::pair<int,morepairs::Hit>",
            "c": "morepairs::Color",
        },
    }
    one = [{"id": i, "q": i / 2} for i in range(6)]
    items = [[{"_0": k, "_1": one[k]} for k in range(i)] for i in range(6)]
    data = {
        "maps.": [
            {
                "m": [{"_0": f"k{it['_0']}", "_1": it["_1"]} for it in items[i]],
                "s": [{"_0": k, "_1": k + 0.5} for k in range(i)],
                "k": [{"_0": k, "_1": k + 0.5} for k in range(i)],
            }
            for i in range(6)
        ],
        "pairs.": [{"m": items[i], "p": {"_0": i, "_1": one[i]}, "c": i % 2} for i in range(6)],
    }
    with nyssa.recreate(ours, compression="none") as file:
        types = {"maps.": f"{name}::Maps", "pairs.": f"{name}::Pairs"}
        file.mktree("t", types, classes=classes).extend(data)
    types = [f"{name}::{one}" for one in ("Hit", "Maps", "Pairs")]
    maps = [hits, "std::map<short,float>", "std::map<int,morepairs::Hit>"]
    root.call("dictionaries", [*types, *maps], [str(header)])
    root.call("cpp", _PAIRS_REWRITE, f'morepairs_rewrite("{ours}", "{theirs}")')
    infos, expected = (root.call("streamer_infos", str(one)) for one in (ours, theirs))
    pairs = ["string,morepairs::Hit", "short,float", "int,float", "int,morepairs::Hit"]
    for one in [*types, *(f"pair<{pair}>" for pair in pairs)]:
        assert infos[one] == expected[one], one
    with uproot.open(ours) as mine, uproot.open(theirs) as its:
        branches = [[described(one) for one in file["t"].branches] for file in (mine, its)]
        assert branches[0] == branches[1]
        bytes_of = [[stored(one) for one in file["t"].branches] for file in (mine, its)]
        assert bytes_of[0] == bytes_of[1]
    found = nyssa.open(f"{theirs}:t").arrays()
    assert {name: found[name].to_list() for name in data} == data
