"""Rewritten TTrees have the values that ROOT and uproot read from the input, of any class."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root
from support.tree_reads import Reader

TESTDATA = Path(__file__).parents[3] / "testdata" / "ttree"
#: Options of a rewrite, by name.
OPTIONS: dict[str, dict[str, Any]] = {
    "small": {"basket_size": 4000, "compression": "zstd"},
    "large": {"basket_size": "256kB", "compression": "lzma:4"},
    "flushed": {"auto_flush": 7, "compression": "zlib:6"},
    "bytes": {"auto_flush": "5kB", "compression": "lz4", "basket_size": 1000},
}
#: Trees of all kinds that are in the repository.
TREES = [
    ("baskets.root", "many99"),
    ("baskets.root", "embedded99"),
    ("members0.root", "TClonesArray"),
    ("members99.root", "vector_Hit"),
]
#: Larger trees, outside the repository.
LARGER = [
    ("uproot-HZZ-objects.root", "events"),
    ("uproot-small-evnt-tree-fullsplit.root", "tree"),
    ("uproot-small-evnt-tree-nosplit.root", "tree"),
    ("uproot-issue371.root", "Beam"),
    ("roottest/io__newstl__cmsJets_0.root", "Events"),
    ("roottest/tree__selectorreader__trees__TreeClassNested2.root", "TreeClassNested2"),
    ("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events"),
]


@pytest.fixture(scope="module")
def reader(root: Root) -> Iterator[Reader]:  # noqa: ARG001 (there is one)
    """Return a reader of trees with ROOT."""
    reads = Reader()
    yield reads
    reads.close()


def same(
    reader: Reader, source: Path, output: Path, tree: str, entries: slice = slice(None)
) -> int:
    """Compare what ROOT reads from the branches of the output with those entries of the source."""
    scratch = output.with_suffix(".jsonl")
    before = reader.read(source, [tree], scratch, 10**6)
    after = reader.read(output, [tree], scratch, 10**6)
    assert set(after) <= set(before)
    compared = 0
    for branch, read in after.items():
        expected = before[branch]
        assert read.get("error") == expected.get("error"), branch
        if "error" not in read:
            assert read["entries"] == expected["entries"][entries], branch
            compared += 1
    return compared


def events(root: Root, path: Path, entries: int = 300, **kinds: Any) -> Path:
    """Write the tree ``Events`` with ROOT."""
    root.call("write_many_kinds", str(path), 0, entries, kinds)
    return path


@pytest.mark.parametrize("options", ["small", "bytes"])
@pytest.mark.parametrize(("name", "tree"), TREES)
def test_classes(reader: Reader, tmp_path: Path, name: str, tree: str, options: str) -> None:
    """ROOT reads the same objects from other baskets."""
    output = tmp_path / "out.root"
    [report] = nyssa.rewrite(TESTDATA / name, output, tree, verify=True, **OPTIONS[options])
    assert report["verified"]
    assert same(reader, TESTDATA / name, output, tree)


@pytest.mark.parametrize("options", ["small", "large"])
@pytest.mark.parametrize(("name", "tree"), LARGER)
def test_larger(
    data: Path, reader: Reader, tmp_path: Path, name: str, tree: str, options: str
) -> None:
    """ROOT reads the same values from trees of experiments."""
    output = tmp_path / "out.root"
    nyssa.rewrite(data / "ttree" / name, output, tree, verify=True, **OPTIONS[options])
    assert same(reader, data / "ttree" / name, output, tree)


def test_a_skim_of_classes(data: Path, reader: Reader, tmp_path: Path) -> None:
    """A range of entries and a cut, read by ROOT."""
    source, output = data / "ttree" / "uproot-HZZ-objects.root", tmp_path / "out.root"
    nyssa.rewrite(source, output, "events", entry_start=100, entry_stop=150, basket_size=4000)
    assert same(reader, source, output, "events", slice(100, 150)) > 20
    [report] = nyssa.rewrite(
        source, output, "events", cut="num_primaryvertex > 5", force=True, verify=True
    )
    expected = uproot.open(source)["events"]["num_primaryvertex"].array()
    assert report["entries"] == int(ak.sum(expected > 5))
    found = uproot.open(output)["events"]["num_primaryvertex"].array()
    assert ak.to_list(found) == ak.to_list(expected[expected > 5])


def test_branches_are_left_out(data: Path, reader: Reader, tmp_path: Path) -> None:
    """A class that was described in a branch that is left out is described again."""
    source, output = data / "ttree" / "uproot-HZZ-objects.root", tmp_path / "out.root"
    [report] = nyssa.rewrite(source, output, "events", exclude=["jetp4", "muon*"], verify=True)
    assert {"jetp4", "muonp4"} <= set(report["dropped"])
    kept = set(uproot.open(output)["events"].keys(recursive=False))
    assert kept == {
        one
        for one in uproot.open(source)["events"].keys(recursive=False)
        if one != "jetp4" and not one.startswith("muon")
    }
    assert same(reader, source, output, "events") == len(kept)


def test_parts_of_split_objects(root: Root, tmp_path: Path) -> None:
    """Branches below a branch are chosen one by one, with those above and their counters."""
    source, output = events(root, tmp_path / "in.root"), tmp_path / "out.root"
    nyssa.rewrite(source, output, "Events", include=["clones.fE", "pt"], verify=True)
    tree = uproot.open(output)["Events"]
    assert tree.keys() == ["count", "pt", "clones", "clones/clones.fE"]
    before = uproot.open(source)["Events"]
    for branch in ["clones/clones.fE", "pt", "count"]:
        assert ak.to_list(tree[branch].array()) == ak.to_list(before[branch].array())
    values = root.call("tree_values", str(output), "Events", ["pt", "count"])
    assert values == root.call("tree_values", str(source), "Events", ["pt", "count"])


def test_what_is_not_stated_stays(root: Root, tmp_path: Path) -> None:
    """Without options, baskets are moved as they are, and the tree says the same."""
    # The last cluster is full, so that no basket is inside the tree.
    source, output = events(root, tmp_path / "in.root", 280), tmp_path / "out.root"
    [one, runs] = nyssa.rewrite(source, output, verify=True)
    assert [one["ntuple"], runs["ntuple"]] == ["Events", "d/Runs"]
    assert [one["format"], runs["format"]] == ["ttree", "ttree"]
    before = root.call("tree_description", str(source), "Events")
    after = root.call("tree_description", str(output), "Events")
    assert after == before
    assert one["carried"] == ["h;1 (TH1D)"]


def test_baskets_and_clusters(root: Root, tmp_path: Path) -> None:
    """Sizes, compression and clusters are those of the options, as ROOT reads them."""
    source, output = events(root, tmp_path / "in.root"), tmp_path / "out.root"
    nyssa.rewrite(
        source,
        output,
        "Events",
        auto_flush=70,
        compression="lz4:2",
        branch_options={"x": {"compression": "zstd:3", "basket_size": 256}, "p*": {"title": "t"}},
    )
    tree = root.call("tree_description", str(output), "Events")
    assert tree["auto_flush"] == 70
    assert tree["clusters"] == [0, 70, 140, 210, 280]
    assert tree["aliases"] == {"twice": "x*2"}
    assert tree["user_info"] == {"kept": "as it is"}
    branches = tree["branches"]
    assert branches["number"]["first"] == [0, 70, 140, 210, 280, 300]
    assert branches["number"]["compression"] == 402
    assert branches["x"]["compression"] == 503
    assert branches["x"]["baskets"] > 2 * branches["number"]["baskets"]
    assert [branches[one]["title"] for one in ("pt", "p4", "number")] == ["t", "t", "number/L"]
    values = root.call("tree_values", str(output), "Events", ["number", "pt", "x"])
    assert values == root.call("tree_values", str(source), "Events", ["number", "pt", "x"])


def test_a_compressed_size_of_clusters(root: Root, tmp_path: Path) -> None:
    """Clusters of a compressed size have one number of entries, and about that size."""
    source = events(root, tmp_path / "in.root", 20_000, compression=0, columns=["number", "x"])
    output = tmp_path / "out.root"
    nyssa.rewrite(source, output, "Events", auto_flush="20kB", compression="zlib:1")
    tree = root.call("tree_description", str(output), "Events")
    size = tree["auto_flush"]
    assert tree["clusters"] == list(range(0, 20_000, size))
    assert len(tree["clusters"]) > 3
    assert 10_000 < tree["zip"] * size / 20_000 < 30_000
    # A basket has a cluster of its branch.
    assert tree["branches"]["x"]["baskets"] == len(tree["clusters"])


def test_an_index_needs_all_entries(root: Root, tmp_path: Path) -> None:
    """It stays if all entries stay, and is left out with a note otherwise."""
    source, output = events(root, tmp_path / "in.root"), tmp_path / "out.root"
    code = f'{{ TFile f("{source}", "UPDATE"); auto t = f.Get<TTree>("Events");'
    root.call("cpp", "", code + ' t->BuildIndex("number"); t->Write("", TObject::kOverwrite); }')
    has = 'if (TFile("{}").Get<TTree>("Events")->GetTreeIndex() == nullptr) throw 1'
    [report] = nyssa.rewrite(source, output, "Events", basket_size=1000)
    root.call("cpp", "", has.format(output))
    assert not report["notes"]
    [report] = nyssa.rewrite(source, output, "Events", entry_stop=10, force=True)
    assert "the index of its entries is left out" in report["notes"][0]


def test_threads_write_the_same_bytes(root: Root, tmp_path: Path) -> None:
    """The output does not depend on the number of threads."""
    source = events(root, tmp_path / "in.root", 5000, columns=["number", "pt", "count", "p4"])
    made = []
    for threads in (1, 4):
        output = tmp_path / str(threads) / "out.root"
        output.parent.mkdir()
        nyssa.rewrite(
            source, output, basket_size=1000, threads=threads, reproducible=True, compression="zstd"
        )
        made.append(output.read_bytes())
    assert made[0] == made[1]


def test_a_file_of_both_kinds(tmp_path: Path) -> None:
    """Without a path, both are rewritten, and an option reaches those that have it."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    values = np.arange(1000, dtype="i4")
    with nyssa.recreate(source) as file:
        file.mkrntuple("ntuple", {"x": "int32"}).extend({"x": values})
        file.mktree("tree", {"y": "int32"}).extend({"y": values})
    reports = nyssa.rewrite(source, output, basket_size=512, page_size=512, verify=True)
    assert {one["ntuple"]: one["format"] for one in reports} == {
        "ntuple": "rntuple",
        "tree": "ttree",
    }
    assert all(one["verified"] for one in reports)
    with uproot.open(output) as file:
        assert file["tree"]["y"].array().tolist() == values.tolist()
        assert file["tree"]["y"].num_baskets > 8
        assert file["ntuple"]["x"].array().tolist() == values.tolist()
    # The table for people says what its rows are.
    for path, head in (("", "dataset"), (":ntuple", "rntuple"), (":tree", "ttree")):
        command = [sys.executable, "-m", "nyssa", "rewrite", f"{source}{path}", str(output)]
        done = subprocess.run([*command, "--force"], capture_output=True, text=True, check=True)
        heads = [line.split()[0] for line in done.stdout.splitlines() if " entries " in line]
        assert heads == [head]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"page_size": 512}, "page-size is an option of RNTuples, and there is none to rewrite"),
        (
            {"encoding": "auto", "cluster_size": "1MB"},
            "encoding, cluster-size are options of RNTuples, and there is none to rewrite",
        ),
        ({"basket_size": 10}, "a basket has 256 to 268435456 bytes, not 10"),
        ({"exclude": ["*"]}, "no branch is left to write"),
        ({"include": ["nothing"]}, 'no branch matches "nothing"'),
        ({"entry_start": 5, "cut": "nothing > 1"}, "nothing"),
    ],
    ids=["page_size", "two", "basket_size", "no_branch", "no_match", "cut"],
)
def test_what_is_refused(tmp_path: Path, options: dict[str, Any], message: str) -> None:
    """Nothing is written."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        file.mktree("tree", {"y": "int32"}).extend({"y": np.arange(10, dtype="i4")})
    with pytest.raises(nyssa.NyssaError, match=message):
        nyssa.rewrite(source, output, **options)
    assert not output.exists()


def test_options_of_trees_need_a_tree(tmp_path: Path) -> None:
    """The reverse."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        file.mkrntuple("ntuple", {"x": "int32"}).extend({"x": np.arange(10, dtype="i4")})
    with pytest.raises(errors.ArgumentError, match="auto-flush is an option of TTrees"):
        nyssa.rewrite(source, output, auto_flush=7)


def test_references_between_objects(tmp_path: Path, reader: Reader) -> None:
    """A table of references names branches, so that none may be left out."""
    output = tmp_path / "out.root"
    with pytest.raises(errors.UnsupportedError, match="take all branches"):
        nyssa.rewrite(TESTDATA / "references.root", output, "split", exclude=["o.refs"])
    nyssa.rewrite(TESTDATA / "references.root", output, "split", entry_start=1)
    assert same(reader, TESTDATA / "references.root", output, "split", slice(1, None))


def test_damaged_baskets(root: Root, tmp_path: Path) -> None:
    """The branch and the basket are named, and nothing is written."""
    source = events(root, tmp_path / "in.root", columns=["x"], compression=0)
    stored = source.read_bytes()
    place = stored.index(b"TBasket")
    source.write_bytes(stored[:place] + b"Tbasket" + stored[place + 7 :])
    with pytest.raises(errors.FormatError, match='the key holds a "Tbasket"') as wrong:
        nyssa.rewrite(source, tmp_path / "out.root", "Events", basket_size=1000)
    assert "basket 0" in str(wrong.value)
    assert not (tmp_path / "out.root").exists()


def test_the_command_line(tmp_path: Path) -> None:
    """The command has the options, and names what is left out."""
    output = tmp_path / "out.root"
    command = [sys.executable, "-m", "nyssa", "--json", "rewrite"]
    source = f"{TESTDATA / 'events-zlib.root'}"
    tree = next(iter(uproot.open(source).keys(filter_classname="TTree", cycle=False)))
    options = ["--basket-size", "4kB", "--auto-flush", "30MB", "--compression", "zlib:6"]
    done = subprocess.run(
        [*command, f"{source}:{tree}", str(output), *options],
        capture_output=True,
        check=True,
    )
    [report] = json.loads(done.stdout)["reports"]
    assert (report["format"], report["source"]) == ("ttree", tree)
    before, after = uproot.open(source)[tree], uproot.open(output)[tree]
    for branch in before.keys(filter_typename=["int32_t", "float", "double"]):
        assert after[branch].array().tolist() == before[branch].array().tolist()
