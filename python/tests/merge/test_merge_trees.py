"""Merged TTrees have the values of ROOT's chain of the inputs; baskets are copied as they are."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root

FLAT = ["number", "count", "pt", "x", "vector"]


def write(root: Root, folder: Path, *kinds: dict[str, object]) -> list[str]:
    """Write a file for each of `kinds`, of 100, 130, 160, ... entries."""
    paths = [str(folder / f"{number}.root") for number in range(len(kinds))]
    for number, (path, kind) in enumerate(zip(paths, kinds, strict=True)):
        root.call("write_many_kinds", path, 1000 * number, 100 + 30 * number, kind)
    return paths


def same(root: Root, paths: list[str], merged: str, name: str = "Events") -> None:
    """Compare the values that ROOT, uproot and nyssa read with the values of the inputs."""
    values = root.call("tree_values", merged, name, FLAT)
    assert values == root.call("tree_values", paths, name, FLAT)
    with uproot.open(merged) as file:
        for column in [*FLAT, "text", "string"]:
            parts = [uproot.open(path)[name][column].array() for path in paths]
            assert ak.to_list(file[name][column].array()) == ak.to_list(ak.concatenate(parts))
    whole = ak.concatenate([nyssa.open(f"{path}:{name}").arrays() for path in paths])
    assert ak.to_list(nyssa.open(f"{merged}:{name}").arrays()) == ak.to_list(whole)


def test_trees_and_histograms(tmp_path: Path, root: Root) -> None:
    """Counters, clusters and bytes are as from ROOT's merger, which takes the output, too."""
    paths = write(root, tmp_path, {}, {}, {"auto_flush": 0})
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    report = nyssa.merge(paths, merged, verify=True)
    assert [(tree["tree"], tree["inputs"], tree["entries"]) for tree in report["trees"]] == [
        ("Events", 3, 390),
        ("d/Runs", 3, 3),
    ]
    assert report["verified"]
    same(root, paths, merged)
    assert root.call("hadd", hadd, paths, 505)
    ours, theirs = (root.call("tree_facts", path, "Events") for path in (merged, hadd))
    # ROOT's clusters go on across the inputs.
    assert ours.pop("clusters") == [0, 40, 80, 100, 140, 180, 220, 230]
    assert theirs.pop("clusters")
    # ROOT's merger keeps the length of the strings of the first file.
    assert ours.pop("text") == len("event 1000 of a later file") + 1
    assert theirs.pop("text") == len("event 99") + 1
    # It compresses baskets that were inside the tree with another algorithm.
    assert ours.pop("zip") == pytest.approx(theirs.pop("zip"), rel=0.05)
    assert ours == theirs
    assert root.call("tree_values", merged, "d/Runs", ["run"]) == {"run": [0, 1000, 2000]}
    again = str(tmp_path / "again.root")
    assert root.call("hadd", again, [merged, paths[0]], 505)
    same(root, [*paths, paths[0]], again)
    nyssa.merge([merged, paths[0]], again, force=True)
    same(root, [*paths, paths[0]], again)


def test_each_input_keeps_its_compression(tmp_path: Path, root: Root) -> None:
    """Baskets are copied, so that their bytes are the bytes of the inputs."""
    paths = write(root, tmp_path, {}, {"compression": 207}, {"compression": 101})
    merged = str(tmp_path / "merged.root")
    nyssa.merge(paths, merged, verify=True)
    same(root, paths, merged)
    facts = root.call("tree_facts", merged, "Events")
    inputs = [root.call("tree_facts", path, "Events") for path in paths]
    # ROOT does not count the last baskets, which are inside the trees.
    for name in ("tot", "zip"):
        assert 1 <= facts[name] / sum(one[name] for one in inputs) < 1.5


def test_baskets_inside_the_tree(tmp_path: Path, root: Root) -> None:
    """Baskets that were not yet written lie in the key of the tree."""
    inside = {"in_memory": True, "auto_flush": 0}
    paths = write(root, tmp_path, inside, {}, inside)
    merged = str(tmp_path / "merged.root")
    nyssa.merge(paths, merged, verify=True)
    same(root, paths, merged)
    facts = root.call("tree_facts", merged, "Events")
    assert facts["entries"] == 390
    assert facts["zip"] > 0


def test_a_named_tree(tmp_path: Path, root: Root) -> None:
    """A tree that is named is merged under the path of the first input, or `name`."""
    paths = write(root, tmp_path, {}, {})
    merged = str(tmp_path / "merged.root")
    named = [f"{path}:Events" for path in paths]
    report = nyssa.merge(named, merged, name="dir/other", carry=False)
    assert report["ntuple"] == "dir/other"
    with nyssa.open(merged) as file:
        assert file.keys(cycle=False) == ["dir", "dir/other"]
    values = root.call("tree_values", merged, "dir/other", FLAT)
    assert values == root.call("tree_values", paths, "Events", FLAT)


def test_only_histograms(tmp_path: Path) -> None:
    """Files need no tree."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        with nyssa.recreate(path) as file:
            file["h"] = np.histogram(np.arange(10 * (number + 1)), bins=5, range=(0, 50))
    merged = str(tmp_path / "merged.root")
    report = nyssa.merge(paths, merged)
    assert report["trees"] == []
    with uproot.open(merged) as file:
        assert file["h"].values().sum() == 30


def test_trees_beside_an_rntuple(tmp_path: Path, root: Root) -> None:
    """TTrees in the files of RNTuples are merged, too."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        with nyssa.recreate(path) as file:
            file["ntuple"] = {"a": np.arange(5) + number}
            file.mktree("tree", {"b": np.arange(7.0) + number})
    merged = str(tmp_path / "merged.root")
    report = nyssa.merge(paths, merged, verify=True)
    assert report["entries"] == 10
    assert [tree["entries"] for tree in report["trees"]] == [14]
    expected = [*np.arange(7.0), *(np.arange(7.0) + 1)]
    assert root.call("tree_values", merged, "tree", ["b"]) == {"b": expected}


def test_an_index_is_left_out(tmp_path: Path, root: Root) -> None:
    """ROOT, uproot and nyssa read the tree without it, and ROOT can make a new one."""
    paths = [str(tmp_path / f"{number}.root") for number in range(3)]
    for number, path in enumerate(paths):
        index = 't.BuildIndex("run");' if number < 2 else ""
        code = f"""
        void nyssa_merge_indexed{number}() {{
           TFile f("{path}", "RECREATE"); TTree t("T", ""); int run; t.Branch("run", &run);
           for (run = {10 * number}; run < {10 * number + 5}; ++run) t.Fill();
           {index} t.Write();
        }}"""
        root.call("cpp", code, f"nyssa_merge_indexed{number}()")
    merged = str(tmp_path / "merged.root")
    report = nyssa.merge([paths[2], paths[0]], merged)
    note = "T: the index of its entries is left out, TTree::BuildIndex makes a new one"
    assert report["notes"] == [note]
    paths = paths[:2]
    report = nyssa.merge(paths, merged, verify=True, force=True)
    assert report["notes"] == [note]
    runs = [0, 1, 2, 3, 4, 10, 11, 12, 13, 14]
    assert root.call("tree_values", merged, "T", ["run"]) == {"run": runs}
    assert uproot.open(f"{merged}:T")["run"].array().to_list() == runs
    assert nyssa.open(f"{merged}:T")["run"].array().to_list() == runs
    code = f"""
    int nyssa_entry_of_12() {{
       TFile f("{merged}"); auto t = f.Get<TTree>("T");
       if (t->GetTreeIndex()) return -2;
       t->BuildIndex("run"); return t->GetEntryNumberWithIndex(12);
    }}"""
    root.call("cpp", code, 'if (nyssa_entry_of_12() != 7) throw std::runtime_error("index")')


#: Trees with all that a tree has besides its entries.
PARTS = r"""
#include <TSystem.h>
void nyssa_parts(TString path, TString text, double weight) {
   int x = 1;
   TString other = gSystem->GetDirName(path) + "/" + text + ".root";
   { TFile g(other, "RECREATE"); TTree F("F", ""); F.Branch("z", &x); F.Fill(); F.Write(); }
   TFile f(path, "RECREATE"); TTree t("T", text);
   t.Branch("x", &x)->SetTitle("of " + text); t.Fill();
   t.SetWeight(weight); t.SetAlias("y", "x+" + text); t.AddFriend("F", other);
   t.GetUserInfo()->Add(new TNamed("text", text.Data())); t.Write();
}
void nyssa_check_parts(TString path, int entries) {
   TFile f(path); auto t = f.Get<TTree>("T");
   if (t->GetEntries() != entries || t->GetWeight() != 0.25 ||
       TString(t->GetAlias("y")) != "x+one" ||
       TString(t->GetUserInfo()->At(0)->GetTitle()) != "one" || TString(t->GetTitle()) != "one" ||
       !TString(t->GetListOfFriends()->At(0)->GetTitle()).EndsWith("/one.root"))
      throw std::runtime_error("parts");
}
"""


def test_parts_of_trees_that_differ_are_said(tmp_path: Path, root: Root) -> None:
    """The output has the parts of the first input, as it has with hadd."""
    paths = [str(tmp_path / f"{number}.root") for number in range(4)]
    code = PARTS
    for path, text, weight in zip(
        paths, ["one", "one", "two", "three"], [0.25] * 3 + [1], strict=True
    ):
        root.call("cpp", code, f'nyssa_parts("{path}", "{text}", {weight})')
        code = ""
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    report = nyssa.merge(paths[:2], merged)
    assert not report["notes"]
    report = nyssa.merge(paths, merged, force=True)
    known = f"the output has what is in {paths[0]}, and not what is in"
    same = ["aliases", "friends", "title", "titles of branches", "user information"]
    expected = [
        f"T: the inputs differ in their {part}: {known} {paths[2]} and 1 more" for part in same
    ]
    weight = f"T: the inputs differ in their weight (TTree::SetWeight): {known} {paths[3]}"
    assert report["notes"] == [*expected, weight]
    assert root.call("hadd", hadd, paths, 505)
    for path in (merged, hadd):
        root.call("cpp", "", f'nyssa_check_parts("{path}", 4)')
    ran = subprocess.run(
        [sys.executable, "-m", "nyssa", "merge", *paths, "-o", merged, "--force"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert all(note in ran.stdout + ran.stderr for note in report["notes"])
    # So it is for trees beside an RNTuple.
    for path in paths:
        with nyssa.update(path) as file:
            file["n"] = {"x": np.arange(2)}
    both = nyssa.merge([f"{path}:n" for path in paths], merged, force=True)
    assert [note for note in both["notes"] if "differ" in note] == report["notes"]


def test_other_trees_beside_an_rntuple_can_be_left_out(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        with nyssa.recreate(path) as file:
            file["ntuple"] = {"a": np.arange(5) + number}
            file.mktree("tree", {f"b{number}": np.arange(7.0)})
    merged = str(tmp_path / "merged.root")
    with pytest.raises(errors.ArgumentError, match=r"--no-carry \(carry=False\) merges without"):
        nyssa.merge([f"{path}:ntuple" for path in paths], merged)
    report = nyssa.merge([f"{path}:ntuple" for path in paths], merged, carry=False)
    assert report["entries"] == 10
    assert nyssa.open(merged).keys() == ["ntuple;1"]
    # Of whole files, each tree must be merged.
    with pytest.raises(errors.ArgumentError, match="branch b0 is in .*0.root, but not") as no:
        nyssa.merge(paths, merged, carry=False, force=True)
    assert "--no-carry" not in str(no.value)
    # Beside a tree that is named, too; but not for this tree itself.
    named = [str(tmp_path / f"named{number}.root") for number in range(2)]
    for number, path in enumerate(named):
        with nyssa.recreate(path) as file:
            file.mktree("named", {"a": np.arange(5.0)})
            file.mktree("tree", {f"b{number}": np.arange(7.0)})
    with pytest.raises(errors.ArgumentError, match="--no-carry"):
        nyssa.merge([f"{path}:named" for path in named], tmp_path / "other.root")
    report = nyssa.merge([f"{path}:named" for path in named], tmp_path / "o.root", carry=False)
    assert [tree["entries"] for tree in report["trees"]] == [10]
    with pytest.raises(errors.ArgumentError) as no:
        nyssa.merge([f"{path}:tree" for path in named], tmp_path / "other.root")
    assert "--no-carry" not in str(no.value)


def test_other_branches_are_refused(tmp_path: Path, root: Root) -> None:
    """The first branch that differs is named, and nothing is written."""
    less = {"columns": ["number", "count", "pt"]}
    paths = write(root, tmp_path, {}, {"type": "F"}, less)
    merged = tmp_path / "merged.root"
    with pytest.raises(
        errors.ArgumentError, match='leaf x: fLenType is "4", but "8" in .*0.root'
    ) as no:
        nyssa.merge(paths[:2], merged)
    assert "1.root" in str(no.value)
    with pytest.raises(errors.ArgumentError, match=r"branch x is in .*0\.root, but.*--include"):
        nyssa.merge([paths[0], paths[2]], merged)
    with pytest.raises(errors.ArgumentError, match="branch x is not in .*2.root"):
        nyssa.merge([paths[2], paths[0]], merged)
    for options in ({"mode": "union"}, {"mode": "filter"}, {"recluster": "1 MB"}):
        with pytest.raises(errors.ArgumentError, match="the inputs have none"):
            nyssa.merge(paths[:1], merged, **options)
    assert not merged.exists()


def test_references_of_several_processes(tmp_path: Path, root: Root) -> None:
    """A reference holds the number of a process, which becomes that in the output."""
    paths = [str(tmp_path / f"{number}.root") for number in range(3)]
    other = Root()
    for path, process in zip(paths, [root, root, other], strict=True):
        process.call("write_references", path, 10)
    other.close()
    merged = tmp_path / "merged.root"
    nyssa.merge(paths[:2], merged)
    with uproot.open(merged) as file, uproot.open(paths[0]) as first:
        assert file["Events"].num_entries == 20
        assert file["ProcessID0"].member("fTitle") == first["ProcessID0"].member("fTitle")
        assert "ProcessID1" not in file
    nyssa.merge([paths[0], paths[2]], merged, force=True)
    with uproot.open(merged) as file, uproot.open(paths[2]) as second:
        assert file["ProcessID1"].member("fTitle") == second["ProcessID0"].member("fTitle")
    numbers = [one.tolist()["fPID"] for one in nyssa.open(merged)["Events"].arrays()["ref"]]
    assert numbers == [0] * 10 + [1] * 10


def test_damaged_inputs(tmp_path: Path, root: Root) -> None:
    """A basket whose key is damaged, and a file that is cut, end the merge with the place."""
    (path,) = write(root, tmp_path, {})
    with uproot.open(path) as file:
        seek = int(file["Events"]["x"].member("fBasketSeek")[1])
    stored = Path(path).read_bytes()
    bad, merged = tmp_path / "bad.root", tmp_path / "merged.root"
    bad.write_bytes(stored[: seek + 18] + b"\x01" + stored[seek + 19 :])
    with pytest.raises(
        errors.FormatError, match="basket's key says that the basket is at"
    ) as wrong:
        nyssa.merge([path, bad], merged)
    assert "bad.root" in str(wrong.value)
    assert "x" in str(wrong.value)
    bad.write_bytes(stored[: len(stored) // 2])
    done = subprocess.run(
        [sys.executable, "-m", "nyssa", "merge", path, bad, "-o", merged, "--json"],
        capture_output=True,
        check=False,
    )
    assert done.returncode == 1
    assert str(bad) in json.dumps(json.loads(done.stdout)["error"])
    assert not merged.exists()


#: Writes a tree whose entries are copied from buffers in which they had other places.
DISPLACED = r"""
#include <TBufferFile.h>
#include <TObjArray.h>
void nyssa_displaced(TString path, bool flush) {
   TFile f(path, "RECREATE", "", 0); TTree t("t", ""); auto out = new TObjArray;
   auto branch = t.BranchOld("o", "TObjArray", &out, 32000, 0);
   for (int i = 0; i < 6; i++) {
      TObjArray all;
        for (const char* name : {"a", "b"}) all.Add(new TNamed(Form("%s%d", name, i), ""));
      all.Add(all[i % 2]);
      TBufferFile made(TBuffer::kWrite); made << (UChar_t)9; made.WriteFastArray("TObjArray", 10);
      all.Streamer(made);
      TBufferFile read(TBuffer::kRead, made.Length(), made.Buffer(), false);
      read.SetBufferOffset(made.Length()); branch->SetBufferAddress(&read); t.Fill();
   }
   if (flush) t.FlushBaskets();
   t.Write();
}
std::string nyssa_displaced_names(TString path) {
   TFile f(path); auto t = f.Get<TTree>("t"); TObjArray* o = nullptr;
     t->SetBranchAddress("o", &o); std::string names;
   for (int i = 0; i < t->GetEntries(); i++) { t->GetEntry(i);
     for (auto one : *o) names += one->GetName(); names += ";"; }
   return names;
}
"""


def test_references_in_entries_that_were_moved(tmp_path: Path, root: Root) -> None:
    """References count from where the entry was when it was written, also in merged files."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for path, flush in zip(paths, ["true", "false"], strict=True):
        guarded = f"#ifndef NYSSA_DISPLACED\n#define NYSSA_DISPLACED\n{DISPLACED}\n#endif"
        root.call("cpp", guarded, f'nyssa_displaced("{path}", {flush})')
    names = [[f"a{i}", f"b{i}", f"{'ab'[i % 2]}{i}"] for i in range(6)]
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    nyssa.merge(paths, merged, verify=True)
    assert root.call("hadd", hadd, paths)
    for path, times in [*((path, 1) for path in paths), (merged, 2), (hadd, 2)]:
        wanted = "".join("".join(one) + ";" for one in names) * times
        check = (
            f'if (nyssa_displaced_names("{path}") != "{wanted}") throw std::runtime_error("names")'
        )
        root.call("cpp", "", check)
        read = nyssa.open(f"{path}:t")["o"].array()
        assert [
            [one["fName"] for one in entry["items"]] for entry in read.tolist()
        ] == names * times


@pytest.mark.parametrize("first", [0, 1])
def test_trees_without_branches(tmp_path: Path, root: Root, first: int) -> None:
    """A tree that was written before it got branches says nothing about the others."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        fill = 'int x = 7; t.Branch("x", &x); for (int i = 0; i < 3; i++) t.Fill();'
        code = f"""
        void nyssa_no_branches{first}{number}() {{
           TFile f("{path}", "RECREATE"); TTree t("t", ""); {fill if number == first else ""}
             t.Write();
        }}"""
        root.call("cpp", code, f"nyssa_no_branches{first}{number}()")
    merged = str(tmp_path / "merged.root")
    nyssa.merge(paths, merged, verify=True)
    assert root.call("tree_values", merged, "t", ["x"]) == {"x": [7, 7, 7]}
    chain = nyssa.chain([f"{path}:t" for path in paths])
    assert chain.arrays().x.tolist() == [7, 7, 7]


def test_other_baskets(tmp_path: Path, root: Root) -> None:
    """The entries of all inputs are packed together, with one compression for each branch."""
    paths = write(root, tmp_path, {}, {"compression": 207}, {"auto_flush": 0, "in_memory": True})
    merged = str(tmp_path / "merged.root")
    options: dict[str, Any] = {"verify": True, "force": True}
    report = nyssa.merge(paths, merged, basket_size=1000, compression="lz4:4", **options)
    assert report["verified"]
    same(root, paths, merged)
    tree = root.call("tree_description", merged, "Events")
    assert {one["compression"] for one in tree["branches"].values() if one["baskets"]} == {404}
    # Clusters end where the clusters of the inputs end.
    assert tree["clusters"] == [0, 40, 80, 100, 140, 180, 220, 230]
    report = nyssa.merge(
        paths, merged, auto_flush=150, branch_options={"x": {"basket_size": 512}}, **options
    )
    same(root, paths, merged)
    tree = root.call("tree_description", merged, "Events")
    assert tree["clusters"] == [0, 150, 300]
    assert tree["branches"]["number"]["first"] == [0, 150, 300, 390]
    assert tree["branches"]["x"]["baskets"] > 5
    assert [one["entries"] for one in report["trees"]] == [390, 3]
    with pytest.raises(errors.ArgumentError, match='branches "q.*" matches nothing in the TTrees'):
        nyssa.merge(paths, merged, branch_options={"q*": {"compression": "lz4"}}, **options)
    # An output of ROOT's merger of it has the same values.
    again = str(tmp_path / "again.root")
    assert root.call("hadd", again, [merged, paths[0]], 505)
    same(root, [*paths, paths[0]], again)


def test_other_baskets_from_the_command_line(tmp_path: Path, root: Root) -> None:
    """The options have the names of the options of `rewrite`, and need trees."""
    paths = write(root, tmp_path, {}, {})
    merged = str(tmp_path / "merged.root")
    command = [sys.executable, "-m", "nyssa", "merge", *paths, "-o", merged]
    subprocess.run(
        [*command, "--auto-flush", "60", "--branch-options", "p*:compression=zstd:3"],
        capture_output=True,
        check=True,
    )
    same(root, paths, merged)
    tree = root.call("tree_description", merged, "Events")
    assert tree["clusters"] == [0, 60, 120, 180]
    assert tree["branches"]["pt"]["compression"] == 503
    ntuple = tmp_path / "ntuple.root"
    with nyssa.recreate(ntuple) as file:
        file["n"] = {"x": np.arange(2)}
    with pytest.raises(errors.ArgumentError, match="basket-size: for TTrees, and the inputs have"):
        nyssa.merge([ntuple], merged, basket_size=1000, force=True)
