"""References (`TRef`) in merged and rewritten TTrees lead to the right objects in ROOT.

Each process of ROOT has a `TProcessID`, and each file numbers its processes. The objects of the
test have the title of their process as their own title.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nyssa
from nyssa import errors
from support.root import Root

#: Whole and split objects with references, also in classes inside classes.
CODE = r"""
#include <TClonesArray.h>
#include <TFile.h>
#include <TNamed.h>
#include <TObjArray.h>
#include <TProcessID.h>
#include <TRef.h>
#include <TRefArray.h>
#include <TTree.h>
#include <fstream>
#include <vector>
#ifndef NYSSA_REFERENCES
#define NYSSA_REFERENCES
struct NyssaInner { TRef ref; std::vector<TRef> more; };
struct NyssaOuter {
   int x; NyssaInner inner; std::vector<NyssaInner> list; TRefArray array; TNamed target;
};
void nyssa_refs(TString path, TString name, int first, int split) {
   TFile f(path, "UPDATE"); TTree t(name, "");
   int x; TRef ref; TRefArray array; auto to = &ref; auto many = &array;
   auto a = new TClonesArray("TNamed", 4); auto kept = new TObjArray;
   NyssaOuter outer; auto all = &outer;
   t.Branch("x", &x); t.Branch("a", &a, 1000, split); t.Branch("ref", &to, 1000, split);
   t.Branch("array", &many, 1000, 0); t.Branch("outer.", &all, 1000, split);
   auto count = TProcessID::GetObjectCount();
   auto own = TProcessID::GetPID()->GetTitle();
   for (x = first; x < first + 50; x++) {
      TProcessID::SetObjectCount(count);
      a->Clear("C"); array.Clear(); outer = NyssaOuter();
      for (int k = 0; k < 3; k++) new ((*a)[k]) TNamed(Form("a%d.%d", x, k), own);
      ref = a->At(x % 3);
      for (int k = 0; k < 2; k++) array.Add(a->At((x + k) % 3));
      outer.x = x; outer.target = TNamed(Form("target%d", x), own);
      outer.inner.ref = &outer.target; outer.inner.more = {TRef(a->At(0)), TRef(a->At(1))};
      for (int k = 0; k < x % 3; k++) {
         NyssaInner one; one.ref = a->At(k); one.more = {TRef(&outer.target)};
         outer.list.push_back(one);
      }
      t.Fill();
   }
   t.Write();
}
/// Adds an object that refers to nothing here, so that the file gets the process.
void nyssa_refs_other(TString path, TString name) {
   TFile f(path, "UPDATE"); TNamed at("n", ""); TRef ref(&at); f.WriteObject(&ref, name);
}
std::string nyssa_named(TRef& ref) {
   auto at = ref.GetObject();
   if (!at) return "none";
   auto process = TProcessID::GetProcessWithUID(at);
   return at->GetName() + std::string(process->GetTitle() == TString(at->GetTitle()) ? "" : "!");
}
std::string nyssa_refs_read(TString path, TString name) {
   TFile f(path); auto t = f.Get<TTree>(name); int x; std::string all;
   auto ref = new TRef; auto array = new TRefArray; auto outer = new NyssaOuter;
   auto a = new TClonesArray("TNamed");
   t->SetBranchAddress("x", &x); t->SetBranchAddress("a", &a); t->SetBranchAddress("ref", &ref);
   t->SetBranchAddress("array", &array); t->SetBranchAddress("outer.", &outer);
   for (int i = 0; i < t->GetEntries(); i++) {
      t->GetEntry(i);
      all += std::to_string(x) + ":" + nyssa_named(*ref);
      for (int k = 0; k < array->GetEntriesFast(); k++)
         all += "," + std::string(array->At(k) ? array->At(k)->GetName() : "none");
      all += "|" + nyssa_named(outer->inner.ref);
      for (auto& one : outer->inner.more) all += "," + nyssa_named(one);
      for (auto& one : outer->list) {
         all += "/" + nyssa_named(one.ref);
         for (auto& more : one.more) all += "," + nyssa_named(more);
      }
      all += ";";
   }
   t->ResetBranchAddresses(); delete ref; delete array; delete outer; delete a;
   return all;
}
#endif
"""


def expected(first: int) -> list[str]:
    """Return what the references of the entries of a file lead to."""
    out = []
    for x in range(first, first + 50):
        text = f"{x}:a{x}.{x % 3},a{x}.{x % 3},a{x}.{(x + 1) % 3}|target{x},a{x}.0,a{x}.1"
        out.append(text + "".join(f"/a{x}.{k},target{x}" for k in range(x % 3)))
    return out


def in_root(*calls: str) -> None:
    """Make calls in a new process of ROOT, which is a new `TProcessID`."""
    process = Root()
    for call in calls:
        process.call("cpp", CODE, call)
    process.close()


@pytest.fixture(scope="module")
def reader(root: Root) -> Iterator[Root]:
    """Return a ROOT that writes nothing, so that it knows the objects only from files."""
    root.call("version")
    process = Root()
    yield process
    process.close()


def found(reader: Root, path: Path, name: str = "t") -> list[str]:
    """Return what the references of a tree lead to."""
    told = path.with_suffix(".txt")
    call = f'std::ofstream("{told}") << nyssa_refs_read("{path}", "{name}");'
    reader.call("cpp", CODE, call)
    return told.read_text().split(";")[:-1]


@pytest.fixture(scope="module")
def folder(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with files of three processes, each of which is the process 0 of its file."""
    root.call("version")
    folder = tmp_path_factory.mktemp("references")
    for number in range(3):
        at = folder / f"{number}"
        in_root(*(f'nyssa_refs("{at}-{n}.root", "t", {50 * number}, {n})' for n in (0, 99)))
    return folder


@pytest.fixture(scope="module", params=[0, 99], ids=["whole", "split"])
def files(request: pytest.FixtureRequest, folder: Path) -> list[Path]:
    """Return the files with objects that are split or not."""
    return [folder / f"{number}-{request.param}.root" for number in range(3)]


@pytest.mark.parametrize(
    "options",
    [{}, {"compression": "zstd:3"}, {"basket_size": 700}, {"basket_size": 3000, "auto_flush": 40}],
    ids=["moved", "compressed", "packed", "clusters"],
)
def test_a_merge_of_processes(
    files: list[Path], reader: Root, tmp_path: Path, options: dict[str, Any]
) -> None:
    output = tmp_path / "out.root"
    for inputs in (files[:2], files, files[::-1]):
        nyssa.merge(inputs, output, force=True, verify=True, **options)
        firsts = [50 * int(path.stem.partition("-")[0]) for path in inputs]
        assert found(reader, output) == [one for first in firsts for one in expected(first)]
        names = {f"ProcessID{number};1" for number in range(len(inputs))}
        assert set(nyssa.open(output)) == {"t;1"} | names
    # Nothing but the tree and its processes is wanted.
    nyssa.merge([f"{path}:t" for path in files], output, force=True, carry=False, **options)
    assert found(reader, output) == [one for first in (0, 50, 100) for one in expected(first)]
    # The output grows.
    nyssa.merge(files[:1], output, force=True, **options)
    nyssa.merge(files[1:2], output, append=True, **options)
    assert found(reader, output) == [*expected(0), *expected(50)]


def test_there_and_back(files: list[Path], reader: Root, tmp_path: Path) -> None:
    """References come back from an RNTuple, unless it may have objects of other processes."""
    ntuples = [tmp_path / f"ntuple{number}.root" for number in range(2)]
    back, merged = tmp_path / "back.root", tmp_path / "merged.root"
    for path, ntuple in zip(files, ntuples, strict=False):
        nyssa.convert(path, ntuple, carry=False)
    report = nyssa.convert(ntuples[1], back, to="ttree", carry=False)
    assert report["notes"] == []
    assert set(nyssa.open(back)) == {"t;1", "ProcessID0;1"}
    assert found(reader, back) == expected(50)
    nyssa.merge([ntuples[1], ntuples[1]], merged)
    nyssa.convert(merged, back, to="ttree", force=True)
    assert found(reader, back) == expected(50) * 2
    report = nyssa.merge(ntuples, merged, force=True)
    assert any("have other processes (TProcessID)" in note for note in report["notes"])
    report = nyssa.convert(merged, back, to="ttree", force=True)
    assert any("their process (TProcessID) is not known" in note for note in report["notes"])


def test_inputs_with_several_processes(reader: Root, tmp_path: Path) -> None:
    """A process has one number in the output, whatever its number is in an input."""
    shared, second = Root(), tmp_path / "second.root"
    first, third = tmp_path / "first.root", tmp_path / "third.root"
    shared.call("cpp", CODE, f'nyssa_refs("{first}", "t", 0, 99)')
    in_root(f'nyssa_refs_other("{second}", "one")')
    in_root(f'nyssa_refs_other("{second}", "two")')
    # Its process has the number 2 here, and 0 in the first file.
    shared.call("cpp", CODE, f'nyssa_refs("{second}", "t", 50, 99)')
    shared.close()
    in_root(f'nyssa_refs_other("{third}", "one")', f'nyssa_refs("{third}", "t", 100, 99)')
    in_root(f'nyssa_refs("{third}", "u", 150, 0)')
    output = tmp_path / "out.root"
    trees = [f"{path}:t" for path in (first, second, third)]
    nyssa.merge(trees, output, carry=False, verify=True)
    assert found(reader, output) == [one for start in (0, 50, 100) for one in expected(start)]
    # The two processes of the third file, and none twice.
    processes = [nyssa.open(output)[f"ProcessID{number}"] for number in range(5)]
    assert len({one.title for one in processes}) == 5
    assert [one.name for one in processes] == [f"ProcessID{number}" for number in range(5)]
    # Trees of different paths do not have one numbering of their own.
    with pytest.raises(errors.UnsupportedError, match=r"references \(TRef\)"):
        nyssa.merge([first, third], output, force=True)
    report = nyssa.merge([first, third], output, force=True, skip_unsupported=True)
    assert [one.partition(":")[0] for one in report["left_out"]] == ["one;1 (TRef)"]
    assert found(reader, output) == [*expected(0), *expected(100)]
    assert found(reader, output, "u") == expected(150)


def test_numbers_with_a_gap(reader: Root, tmp_path: Path) -> None:
    """The number of a process is in the name of its key, and not its place among the keys."""
    first, second = tmp_path / "first.root", tmp_path / "second.root"
    in_root(f'nyssa_refs("{first}", "t", 0, 99)')
    in_root(f'nyssa_refs_other("{second}", "one")')
    in_root(
        f'nyssa_refs("{second}", "t", 50, 99)',
        f'TFile("{second}", "UPDATE").Delete("ProcessID0;*")',
        f'TFile("{second}", "UPDATE").Delete("one;*")',
    )
    assert set(nyssa.open(second)) == {"t;1", "ProcessID1;1"}
    output = tmp_path / "out.root"
    nyssa.merge([first, second], output, verify=True)
    assert set(nyssa.open(output)) == {"t;1", "ProcessID0;1", "ProcessID1;1"}
    assert found(reader, output) == [*expected(0), *expected(50)]
    nyssa.merge([second, first], output, force=True, basket_size=700, verify=True)
    assert found(reader, output) == [*expected(50), *expected(0)]


@pytest.mark.parametrize("compression", [101, 505], ids=["fast", "slow"])
def test_files_of_hadd(files: list[Path], reader: Root, tmp_path: Path, compression: int) -> None:
    """``hadd -ff`` puts an offset of processes into keys, which ROOT 6.40 ignores when it reads."""
    path, output = tmp_path / "hadd.root", tmp_path / "out.root"
    # ROOT makes the classes of the file here. If it gets their C++ later, as the reader, it fails.
    process = Root()
    process.call("hadd", str(path), [str(one) for one in files], compression)
    process.close()
    all_entries = [one for first in (0, 50, 100) for one in expected(first)]
    assert not nyssa.verify(path).problems
    for options in ({}, {"basket_size": 700}, {"compression": "zstd"}):
        nyssa.rewrite(path, output, force=True, verify=True, **options)
        assert found(reader, output) == all_entries
        nyssa.merge([files[2], path], output, force=True, **options)
        assert found(reader, output) == [*expected(100), *all_entries]
    nyssa.rewrite(path, output, force=True, entry_start=45, entry_stop=105, carry=False)
    assert found(reader, output) == all_entries[45:105]
