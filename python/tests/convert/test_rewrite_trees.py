"""Rewritten TTrees have the values that ROOT and uproot read from the input, of any class."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import textwrap
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


def test_many_baskets_of_old_branches(
    data: Path, reader: Reader, root: Root, tmp_path: Path
) -> None:
    """ROOT looks for a basket in memory in branches of ROOT before 5, also if there is none."""
    source, output = data / "ttree" / "roottest" / "tree__friend__long.root", tmp_path / "out.root"
    nyssa.rewrite(source, output, "Global", compression="zstd:5")
    assert (
        root.call("tree_description", str(output), "Global")["branches"]["TrigL3tau"]["baskets"]
        == 17
    )
    assert same(reader, source, output, "Global") == 33
    merged = tmp_path / "merged.root"
    nyssa.merge([source] * 20, merged)
    assert root.call("tree_description", str(merged), "Global")["entries"] == 1000
    values = root.call("tree_values", str(source), "Global", ["L3Taun"])["L3Taun"]
    assert root.call("tree_values", str(merged), "Global", ["L3Taun"])["L3Taun"] == values * 20


def test_pointers_of_old_files(data: Path, tmp_path: Path) -> None:
    """The version of a file says how arrays of pointers are stored: they cannot be moved."""
    folder, output = data / "ttree" / "roottest", tmp_path / "out.root"
    source = folder / "io__vararyobj__varyingArray_51508.root"
    says = "A::fPtrTable is an array of pointers, which files of ROOT before 5.15/09"
    with pytest.raises(errors.UnsupportedError, match=says):
        nyssa.rewrite(source, output)
    with pytest.raises(errors.UnsupportedError, match=says):
        nyssa.merge([source, source], output)
    assert not output.exists()


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
    """ROOT reads the sizes, the compression and the clusters that the options name."""
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
            "cluster-size, encoding are options of RNTuples, and there is none to rewrite",
        ),
        ({"basket_size": 10}, "a basket has 256 to 268435456 bytes, not 10"),
        ({"exclude": ["*"]}, "no branch is left to write"),
        ({"include": ["nothing"]}, 'no branch matches "nothing"'),
        ({"entry_start": 5, "cut": "nothing > 1"}, "nothing"),
        (
            {"branch_options": {"y": {"title": "t"}, "x*": {"compression": "zstd:5"}}},
            'the pattern of branches "x.*" matches nothing in the TTrees',
        ),
    ],
    ids=["page_size", "two", "basket_size", "no_branch", "no_match", "cut", "branch_options"],
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
    """A tree with references in its objects."""
    output = tmp_path / "out.root"
    nyssa.rewrite(TESTDATA / "references.root", output, "split", entry_start=1)
    assert same(reader, TESTDATA / "references.root", output, "split", slice(1, None))


#: Trees that ROOT writes in ways that are rare, and functions that read them as text.
RARE = r"""
#ifndef NYSSA_RARE
#define NYSSA_RARE
#include <TBranchClones.h>
#include <TClonesArray.h>
#include <TLorentzVector.h>
#include <TObjArray.h>
#include <TProcessID.h>
#include <TBranchRef.h>
#include <TRef.h>
#include <TRefTable.h>
#include <TTask.h>
#include <fstream>
/// Objects of an entry that refer to each other, and a tree beside them. Nothing is compressed.
void nyssa_rare_shared(TString path) {
   TFile f(path, "RECREATE", "", 0); int x;
   TTree t("shared", ""), u("plain", ""); auto out = new TObjArray;
   t.BranchOld("o", "TObjArray", &out, 32000, 0); t.Branch("x", &x); u.Branch("x", &x);
   for (x = 0; x < 60; x++) {
      out->Clear();
      for (auto name : {"a", "b"}) out->Add(new TTask(Form("%s%d", name, x), ""));
      out->Add(out->At(x % 2)); t.Fill(); u.Fill();
   }
   t.Write(); u.Write();
}
std::string nyssa_rare_shared_read(TString path) {
   TFile f(path); auto t = f.Get<TTree>("shared"); TObjArray* o = nullptr; std::string names;
   if (!t) return "no tree";
   t->SetBranchAddress("o", &o);
   for (int i = 0; i < t->GetEntries(); i++) { t->GetEntry(i);
     for (auto one : *o) names += one->GetName();
     names += o->At(2) == o->At(i % 2) ? ";" : "!"; }
   return names;
}
/// Objects that are split the old way.
void nyssa_rare_clones(TString path) {
   TFile f(path, "RECREATE"); TTree t("t", ""); auto c = new TClonesArray("TLorentzVector"); int x;
   t.Branch("x", &x);
   t.GetListOfBranches()->Add(new TBranchClones(&t, "c", &c, 1000));
   for (x = 0; x < 200; x++) {
      c->Clear(); for (int k = 0; k < x % 4; k++) new ((*c)[k]) TLorentzVector(x, k, 0, 1);
      t.Fill();
   }
   t.Write();
}
std::string nyssa_rare_clones_read(TString path) {
   TFile f(path); auto t = f.Get<TTree>("t"); auto c = new TClonesArray("TLorentzVector");
   std::string all; int x = -1;
   t->SetBranchAddress("x", &x); t->GetBranch("c")->SetAddress(&c);
   for (int i = 0; i < t->GetEntries(); i++) { t->GetEntry(i); all += Form("%d:", x);
      for (auto one : *c) { auto v = (TLorentzVector*)one; all += Form("%g,%g ", v->X(), v->Y()); }
      all += "\n"; }
   return all;
}
/// Objects, and references to them, with the table of the branches that have them.
void nyssa_rare_refs(TString path, int first, int split) {
   TFile f(path, "RECREATE"); TTree t("t", ""); int x; TRef ref; auto to = &ref;
   auto a = new TClonesArray("TNamed", 4), b = new TClonesArray("TNamed", 4);
   t.Branch("x", &x); t.Branch("a", &a, 1000, split); t.Branch("b", &b, 1000, split);
   t.Branch("ref", &to, 1000, 0); t.BranchRef();
   auto count = TProcessID::GetObjectCount();
   for (x = first; x < first + 90; x++) {
      TProcessID::SetObjectCount(count);
      a->Clear("C"); b->Clear("C");
      for (int k = 0; k < 2; k++) {
         new ((*a)[k]) TNamed(Form("a%d.%d", x, k), "");
         new ((*b)[k]) TNamed(Form("b%d.%d", x, k), "");
      }
      ref = (x % 3 ? a : b)->At(x % 2); t.Fill();
   }
   t.Write();
}
/// The names of the objects to which the references lead, if nothing but the references is read.
std::string nyssa_rare_refs_read(TString path) {
   TFile f(path); auto t = f.Get<TTree>("t"); auto to = new TRef; std::string all;
   t->SetBranchAddress("ref", &to);
   for (int i = 0; i < t->GetEntries(); i++) {
      t->LoadTree(i); t->GetBranch("ref")->GetEntry(i);
      // The branch is a TBranchObject, which does not prepare the table for its entry.
      auto table = t->GetBranchRef();
      if (table) table->SetRequestedEntry(i);
      TRefTable::SetRefTable(table ? table->GetRefTable() : nullptr);
      auto at = to->GetObject();
      all += std::string(at ? at->GetName() : "none") + ";"; }
   return all;
}
#endif
"""


def rare(root: Root, call: str) -> str:
    """Call a function of `RARE`, and return its text if it has one."""
    if "_read(" not in call:
        root.call("cpp", RARE, call)
        return ""
    with tempfile.NamedTemporaryFile() as file:
        root.call("cpp", RARE, f'std::ofstream("{file.name}") << {call};')
        return Path(file.name).read_text()


def hide(path: Path, name: bytes) -> None:
    """Give a class another name in the streamer infos, so that the file does not describe it."""
    raw = bytearray(path.read_bytes())
    with uproot.open(path) as file:
        place = slice(file.file.fSeekInfo, file.file.fSeekInfo + file.file.fNbytesInfo)
    assert name in raw[place]
    raw[place] = raw[place].replace(name, name[:-1] + b"_")
    path.write_bytes(raw)


def test_objects_that_are_shared_move_with_their_entry(root: Root, tmp_path: Path) -> None:
    """References lead to the same objects, whatever the place of an entry is."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    rare(root, f'nyssa_rare_shared("{source}")')
    read = rare(root, f'nyssa_rare_shared_read("{source}")')
    assert read.startswith("a0b0a0;a1b1b1;")
    for size in (500, 256_000):
        [report] = nyssa.rewrite(source, output, "shared", basket_size=size, force=True)
        assert report["notes"] == []
        assert rare(root, f'nyssa_rare_shared_read("{output}")') == read
    nyssa.rewrite(source, output, "shared", cut="x >= 30", basket_size=1000, force=True)
    skimmed = rare(root, f'nyssa_rare_shared_read("{output}")')
    assert skimmed == ";".join(read.split(";")[30:])


def test_objects_that_are_shared_in_an_entry(root: Root, tmp_path: Path) -> None:
    """Entries that cannot be cut do not end the rewrite of a file. No part of them is written."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    rare(root, f'nyssa_rare_shared("{source}")')
    hide(source, b"TTask")
    options: dict[str, Any] = {"basket_size": 1000, "compression": "lzma:3", "force": True}
    for named in ({"entry_stop": 50}, {"basket_size": 500}):
        with pytest.raises(errors.UnsupportedError, match="references between its objects") as no:
            nyssa.rewrite(source, output, "shared", **(options | named))
        assert "branch o" in str(no.value) or "o:" in str(no.value)
        assert not output.exists()
    reports = nyssa.rewrite(source, output, **options)
    notes = {one["ntuple"]: one["notes"] for one in reports}
    assert notes["plain"] == []
    [note] = notes["shared"]
    assert note.startswith("it keeps the baskets that it has: branch o: an entry may have refer")
    read = rare(root, f'nyssa_rare_shared_read("{source}")')
    assert read.startswith("a0b0a0;a1b1b1;")
    assert rare(root, f'nyssa_rare_shared_read("{output}")') == read
    trees = uproot.open(output)
    assert trees["shared"]["x"].array().tolist() == list(range(60))
    assert trees["plain"]["x"].array().tolist() == list(range(60))
    assert trees["shared"]["x"].compression == uproot.LZMA(3)
    # With less entries, the tree is left out as a whole.
    [report] = nyssa.rewrite(source, output, cut="x >= 30", **options)
    assert report["ntuple"] == "plain"
    assert report["entries"] == 30
    [left] = report["left_out"]
    assert left.startswith("shared;1 (TTree): branch o: an entry may have references")
    assert uproot.open(output).keys(cycle=False) == ["plain"]
    words = ["--basket-size", "1000", "--cut", "x >= 30", "--force"]
    done = subprocess.run(
        [sys.executable, "-m", "nyssa", "rewrite", source, output, *words],
        capture_output=True,
        check=True,
        text=True,
    )
    assert "shared;1" in done.stdout + done.stderr


def test_a_merge_keeps_baskets_that_cannot_be_cut(root: Root, tmp_path: Path) -> None:
    """The other trees of the inputs get other baskets."""
    paths, output = [tmp_path / f"{number}.root" for number in range(2)], tmp_path / "out.root"
    for path in paths:
        rare(root, f'nyssa_rare_shared("{path}")')
        hide(path, b"TTask")
    read = rare(root, f'nyssa_rare_shared_read("{paths[0]}")')
    report = nyssa.merge(paths, output, basket_size=300, auto_flush=25)
    [note] = [one for one in report["notes"] if "baskets" in one]
    assert note.startswith("TTree shared keeps the baskets that it has: branch o: an entry may hav")
    assert rare(root, f'nyssa_rare_shared_read("{output}")') == 2 * read
    trees = uproot.open(output)
    assert trees["plain"]["x"].array().tolist() == 2 * list(range(60))
    assert trees["plain"]["x"].num_baskets == 5
    assert trees["shared"]["x"].num_baskets == 2
    # A tree that is named is not kept in silence.
    with pytest.raises(errors.UnsupportedError, match="references between its objects"):
        nyssa.merge([f"{path}:shared" for path in paths], output, force=True, basket_size=300)


def test_globs_for_several_trees(tmp_path: Path) -> None:
    """A glob has to match in one of the trees, and trees without a match are named."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        file.mktree("a", {"x": np.arange(9.0), "y": np.arange(9)})
        file.mktree("b", {"y": np.arange(5), "z": np.arange(5)})
        file.mktree("c", {"z": np.arange(3)})
    reports = nyssa.rewrite(source, output, include=["x", "y"])
    assert [one["ntuple"] for one in reports] == ["a", "b"]
    left = ["c;1 (TTree): none of the globs of include matches something in it"]
    assert reports[0]["left_out"] == left
    assert {name: tree.keys() for name, tree in uproot.open(output).items(cycle=False)} == {
        "a": ["x", "y"],
        "b": ["y"],
    }
    nyssa.rewrite(source, output, exclude="x", force=True)
    assert [tree.keys() for tree in uproot.open(output).values()] == [["y"], ["y", "z"], ["z"]]
    with pytest.raises(errors.NotFoundError, match='no branch matches "w"'):
        nyssa.rewrite(source, output, include=["x", "w"], force=True)
    ntuples = tmp_path / "ntuples.root"
    reports = nyssa.convert(source, ntuples, include=["x", "y"])
    assert [one["ntuple"] for one in reports] == ["a", "b"]
    nyssa.convert(source, ntuples, force=True)
    for job in (
        nyssa.rewrite,
        lambda *args, **options: nyssa.convert(*args, to="ttree", **options),
    ):
        reports = job(ntuples, output, include=["x", "y"], force=True)
        assert [one["ntuple"] for one in reports] == ["a", "b"]
        [left] = reports[0]["left_out"]
        assert left.startswith("c;1 (ROOT::RNTuple): none of the globs of include matches")
        with pytest.raises(errors.NotFoundError, match='no (field|branch) matches "w"'):
            job(ntuples, output, include=["x", "w"], force=True)


def test_objects_split_the_old_way(root: Root, tmp_path: Path) -> None:
    """A `TBranchClones` keeps its branches together."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    rare(root, f'nyssa_rare_clones("{source}")')
    read = rare(root, f'nyssa_rare_clones_read("{source}")').splitlines()
    assert read[3] == "3:3,0 3,1 3,2 "
    nyssa.rewrite(source, output, "t", basket_size=500, compression="zstd", verify=True)
    assert rare(root, f'nyssa_rare_clones_read("{output}")').splitlines() == read
    nyssa.rewrite(source, output, "t", cut="x % 3 == 1", basket_size=500, force=True)
    assert rare(root, f'nyssa_rare_clones_read("{output}")').splitlines() == read[1::3]
    nyssa.rewrite(source, output, "t", exclude="c", force=True)
    assert uproot.open(output)["t"].keys() == ["x"]
    with pytest.raises(errors.UnsupportedError, match="cannot be left out alone: the objects of c"):
        nyssa.rewrite(source, output, "t", exclude="c.fBits", force=True)
    merged = tmp_path / "merged.root"
    nyssa.merge([source, source], merged)
    assert rare(root, f'nyssa_rare_clones_read("{merged}")').splitlines() == read * 2


def test_the_table_of_references(root: Root, tmp_path: Path) -> None:
    """`TRef::GetObject` finds the branch of an object by the table, after a merge, too."""
    paths = [tmp_path / f"{number}.root" for number in range(2)]
    for number, path in enumerate(paths):
        rare(root, f'nyssa_rare_refs("{path}", {90 * number}, 99)')
    names = [f"{'a' if x % 3 else 'b'}{x}.{x % 2}" for x in range(180)]
    output = tmp_path / "out.root"
    # Another process does not know the objects.
    other = Root()

    def found(path: Path) -> list[str]:
        return rare(other, f'nyssa_rare_refs_read("{path}")').split(";")[:-1]

    assert found(paths[0]) == names[:90]
    [report] = nyssa.rewrite(paths[0], output, "t", basket_size=700, compression="zstd")
    assert found(output) == names[:90]
    [report] = nyssa.rewrite(paths[0], output, "t", exclude="x", entry_start=5, force=True)
    assert found(output) == names[5:90]
    assert report["notes"] == []
    [report] = nyssa.rewrite(paths[0], output, "t", exclude="b", force=True)
    assert "TBranchRef" in report["notes"][0]
    assert "TRefTable" in report["dropped"]
    assert found(output) == ["none"] * 90
    report = nyssa.merge(paths, output, force=True, verify=True)
    assert found(output) == names
    report = nyssa.merge(paths, output, force=True, basket_size=700, auto_flush=50)
    assert found(output) == names
    ntuple = tmp_path / "ntuple.root"
    nyssa.convert(paths[1], ntuple, "t", carry=False)
    for options, read in (({}, names[90:]), ({"exclude": "b"}, ["none"] * 90)):
        report = nyssa.convert(ntuple, output, to="ttree", force=True, carry=False, **options)
        assert found(output) == read
        assert ["TBranchRef" in note for note in report["notes"]] == [True] * len(options)
    other.close()


def test_tables_of_references_of_several_processes(root: Root, tmp_path: Path) -> None:
    """Each process has one number in the table of the output."""
    paths, output = [tmp_path / f"{number}.root" for number in range(3)], tmp_path / "out.root"
    for number, path in enumerate(paths):
        process = Root()
        rare(process, f'nyssa_rare_refs("{path}", {90 * number}, 99)')
        process.close()
    names = [f"{'a' if x % 3 else 'b'}{x}.{x % 2}" for x in range(270)]

    def found(path: Path) -> list[str]:
        return rare(root, f'nyssa_rare_refs_read("{path}")').split(";")[:-1]

    options: dict[str, Any]
    for options in ({}, {"compression": "lzma:2"}, {"basket_size": 700, "auto_flush": 50}):
        nyssa.merge(paths, output, force=True, verify=True, **options)
        assert found(output) == names
        # The second table names three processes, and the first of them is not in the first table.
        again = tmp_path / "again.root"
        nyssa.merge([paths[1], output, paths[0]], again, force=True, **options)
        assert found(again) == [*names[90:180], *names, *names[:90]]
        guids = as_listed(root, again)
        assert len(guids) == len(set(guids)) == 3
    nyssa.rewrite(output, again, basket_size=5000, entry_start=80, entry_stop=200, force=True)
    assert found(again) == names[80:200]


def as_listed(root: Root, path: Path) -> list[str]:
    """Return the processes in the table of the references."""
    code = """
    struct NyssaTable : TRefTable { using TRefTable::fProcessGUIDs; };
    std::string nyssa_guids_read(TString path) {
       TFile f(path); std::string all;
       auto table = f.Get<TTree>("t")->GetBranchRef()->GetRefTable();
       for (auto& one : static_cast<NyssaTable*>(table)->fProcessGUIDs) all += one + ";";
       return all;
    }"""
    root.call("cpp", f"#ifndef NYSSA_GUIDS\n#define NYSSA_GUIDS\n{code}\n#endif", "")
    return rare(root, f'nyssa_guids_read("{path}")').split(";")[:-1]


def test_tables_of_references_that_differ(root: Root, tmp_path: Path) -> None:
    """They number branches in the order in which these were filled, and cannot be joined."""
    code = """
    void nyssa_rare_order(TString path, bool swap) {
       TFile f(path, "RECREATE"); TTree t("t", ""); TRef one, two; auto p = &one, q = &two;
       auto a = new TClonesArray("TNamed", 4), b = new TClonesArray("TNamed", 4);
       for (bool i : {false, true})
          i == swap ? t.Branch("a", &a, 1000, 99) : t.Branch("b", &b, 1000, 99);
       t.Branch("p", &p, 1000, 0); t.Branch("q", &q, 1000, 0); t.BranchRef();
       for (int i = 0; i < 2; i++) {
          a->Clear("C"); b->Clear("C");
          auto c = new ((*a)[0]) TNamed("a", ""), d = new ((*b)[0]) TNamed("b", "");
          one = i == swap ? c : d; t.Fill();
       }
       t.Write();
    }"""
    paths = [tmp_path / f"{number}.root" for number in range(2)]
    root.call("cpp", f"#include <TClonesArray.h>\n#include <TRef.h>\n{code}", "")
    for number, path in enumerate(paths):
        root.call("cpp", "", f'nyssa_rare_order("{path}", {number})')
    nyssa.merge([paths[0], paths[0]], tmp_path / "same.root")
    with pytest.raises(errors.UnsupportedError, match="numbers branches in another"):
        nyssa.merge(paths, tmp_path / "out.root")


def test_offsets_that_a_counter_gives(root: Root, tmp_path: Path) -> None:
    """Baskets without offsets (`kGenerateOffsetMap`) keep their entries."""
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    code = f"""
    void nyssa_generated() {{
       TFile f("{source}", "RECREATE"); TTree t("t", "");
       ROOT::TIOFeatures features; features.Set("kGenerateOffsetMap"); t.SetIOFeatures(features);
       int n; float x[7]; double y[7][2]; short m; bool b[7];
       t.Branch("n", &n, 3000); t.Branch("x", x, "x[n]/F", 1000);
       t.Branch("y", y, "y[n][2]/D", 1000); t.Branch("m", &m, 500); t.Branch("b", b, "b[m]/O", 700);
       for (int i = 0; i < 900; i++) {{
          n = i % 7; m = i % 5;
          for (int k = 0; k < 7; k++) {{
             x[k] = i + k / 8.; y[k][0] = i; y[k][1] = -k; b[k] = (i + k) % 3 == 0; }}
          t.Fill();
       }}
       t.Write();
    }}"""
    root.call("cpp", code, "nyssa_generated()")
    # uproot 5.7 does not read the baskets of the input, and ROOT 6.40 reads other items from them.
    before = nyssa.open(source)["t"].arrays()
    assert before["x"].tolist() == [[i + k / 8 for k in range(i % 7)] for i in range(900)]
    assert before["m"].tolist() == [i % 5 for i in range(900)]
    assert before["x"][6].tolist() == [6 + k / 8 for k in range(6)]

    for options in ({"compression": "lzma:2"}, {"basket_size": 2000}):
        [report] = nyssa.rewrite(source, output, "t", force=True, verify=True, **options)
        assert nyssa.open(output)["t"].arrays().tolist() == before.tolist()
    assert "keep their entries: x, y, b" in report["notes"][0]
    with pytest.raises(errors.UnsupportedError, match="kGenerateOffsetMap") as no:
        nyssa.rewrite(source, output, "t", entry_stop=10, force=True)
    assert "x" in str(no.value)
    assert "ROOT 6.40 itself reads other items" in str(no.value)


def test_baskets_in_other_files(root: Root, tmp_path: Path) -> None:
    """They come into the output, if the file may name their files."""
    (tmp_path / "sub").mkdir()
    code = f"""
    void nyssa_far() {{
       TString before(gSystem->pwd()); gSystem->cd("{tmp_path}");
       TFile f("in.root", "RECREATE"); TTree t("t", ""); int here, there, n; float x[5];
       t.Branch("here", &here); t.Branch("n", &n);
       auto a = t.Branch("x", x, "x[n]/F", 1000); auto b = t.Branch("there", &there, 500);
       a->SetFile("sub/first.root"); b->SetFile("sub/second.root");
       for (here = 0; here < 800; here++) {{
          n = here % 5; there = -here; for (int k = 0; k < n; k++) x[k] = here + k; t.Fill(); }}
       f.Write(); std::set<TFile*> others{{a->GetFile(), b->GetFile()}};
       for (auto other : others) other->Write();
       f.Close(); gSystem->cd(before);
    }}"""
    root.call("cpp", f"#include <set>\n#include <TSystem.h>\n{code}", "nyssa_far()")
    source, alone = tmp_path / "in.root", tmp_path / "alone"
    alone.mkdir()
    output = alone / "out.root"
    names = ["here", "there", "n", "x"]
    expected = root.call("tree_values", str(source), "t", names)
    assert expected["there"] == [-i for i in range(800)]
    for options in ({}, {"basket_size": 2000, "compression": "zstd"}):
        nyssa.rewrite(source, output, "t", force=True, verify=True, **options)
        assert root.call("tree_values", str(output), "t", names) == expected
        assert uproot.open(output)["t"]["there"].array().tolist() == expected["there"]
    nyssa.merge([source, source], output, force=True, verify=True)
    merged = root.call("tree_values", str(output), "t", names)
    assert merged == {name: values * 2 for name, values in expected.items()}
    # The others are not read without need.
    (tmp_path / "sub" / "second.root").rename(tmp_path / "gone.root")
    with pytest.raises(errors.UnsupportedError, match="its baskets are in another file") as no:
        nyssa.rewrite(source, output, "t", force=True)
    assert "there" in str(no.value)
    nyssa.rewrite(source, output, "t", exclude="there", force=True)
    assert uproot.open(output)["t"].keys() == ["here", "n", "x"]


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


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder by HTTP, and give its URL."""
    command = [sys.executable, "-m", "nyssa", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().decode().strip()
        finally:
            server.terminate()


def test_remote_inputs(root: Root, tmp_path: Path) -> None:
    """Baskets are fetched before they are packed, many with each request."""
    folder = tmp_path / "served"
    folder.mkdir()
    source = events(root, folder / "in.root", 5000, auto_flush=500)
    options: dict[str, Any] = {"basket_size": 2000, "compression": "zstd:1", "reproducible": True}
    local, remote = tmp_path / "local" / "out.root", tmp_path / "remote" / "out.root"
    local.parent.mkdir()
    remote.parent.mkdir()
    before = uproot.open(source)["Events"]
    baskets = sum(one.num_baskets for one in before.itervalues())
    assert baskets > 150
    code = """
    import json, sys, nyssa
    source, output, options = json.loads(sys.argv[1])
    nyssa.rewrite(source, output, "Events", carry=False, **options)
    stats = nyssa.io_stats()
    print(stats.iops_read + stats.iops_readv)
    """
    with served(folder) as url:
        for auto in ({}, {"auto_flush": "100kB"}, {"cut": "number % 3 == 0"}):
            chosen = options | auto
            nyssa.rewrite(source, local, "Events", carry=False, force=True, **chosen)
            asked = json.dumps([f"{url}/in.root", str(remote), chosen | {"force": True}])
            done = subprocess.run(
                [sys.executable, "-c", textwrap.dedent(code), asked],
                capture_output=True,
                check=True,
                text=True,
            )
            assert remote.read_bytes() == local.read_bytes()
            # Without the plans, there would be a request for each branch in each group.
            assert int(done.stdout) < 40
