"""Converted files keep the other objects of the input, as ROOT and uproot read them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA
from support.root import Root

#: A file with all that may be beside a tree: equal names in several directories, older cycles,
#: titles, trees without branches and without entries, an RNTuple.
_WRITE = """
void nyssa_tree(const char *name, const char *title, int entries, bool branch = true) {
  TTree tree(name, title);
  int number = 0;
  if (branch) tree.Branch("number", &number);
  for (number = 0; number < entries; ++number) tree.Fill();
  tree.Write();
}
void nyssa_whole(const char *path) {
  TFile file(path, "RECREATE");
  TH1::AddDirectory(false);  // what writes the RNTuple writes all that the file holds in memory
  TH1D h("h", "first; x; y", 4, 0, 8);
  h.Fill(1.5, 2.5);
  h.Write();
  h.SetTitle("second");
  h.Fill(7);
  h.Write();
  auto deep = file.mkdir("dir", "a title")->mkdir("deep", "another");
  file.mkdir("nothing in it", "empty");
  nyssa_tree("Events", "old", 2);
  nyssa_tree("Events", "all", 5);
  nyssa_tree("bare", "no branches", 3, false);
  nyssa_tree("empty", "no entries", 0);
  nyssa_tree("##Params", "sharp", 1);
  file.cd("dir");
  nyssa_tree("Events", "others", 3);
  TGraph graph(2);
  graph.SetPoint(0, 1, 2);
  graph.SetPoint(1, 3, 4);
  graph.Write("graph");
  deep->cd();
  nyssa_tree("Events", "deepest", 4);
  TH2F square("square", "", 2, 0, 1, 2, 0, 1);
  square.Fill(.2, .7);
  square.Write();
  TNamed("label", "text").Write();
  TList list;
  list.Add(new TObjString("one"));
  list.Add(new TNamed("two", "2"));
  list.Write("list", TObject::kSingleKey);
  file.cd();
  auto model = ROOT::RNTupleModel::Create();
  auto x = model->MakeField<float>("x");
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "beside", *deep);
  for (int i = 0; i < 3; ++i) {
    *x = i / 2.f;
    writer->Fill();
  }
}
"""

TREES = ["Events", "bare", "empty", "##Params", "dir/Events", "dir/deep/Events"]


@pytest.fixture(scope="module")
def whole(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the file."""
    path = tmp_path_factory.mktemp("whole") / "in.root"
    root.call("cpp", _WRITE, f'nyssa_whole("{path}")')
    return path


def convert(*arguments: object) -> list[dict[str, Any]]:
    """Run `nyssa convert --json` and return the reports."""
    command = [sys.executable, "-m", "nyssa", "convert", "--json", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, check=True)
    document = json.loads(done.stdout)
    reports: list[dict[str, Any]] = document.get("reports", [document])
    return reports


def is_data(contents: tuple[str, str, str]) -> bool:
    """Return whether an object is a tree or an RNTuple."""
    return contents[0] in ("TTree", "ROOT::RNTuple")


def test_all_trees_and_all_else(whole: Path, tmp_path: Path, root: Root) -> None:
    """Every object is copied to its place, except an older cycle of a tree, which is named."""
    output = tmp_path / "out.root"
    reports = convert(whole, output, "--verify")
    assert {report["tree"].split(";")[0]: report["entries"] for report in reports} == {
        "Events": 5,
        "bare": 3,
        "empty": 0,
        "##Params": 1,
        "dir/Events": 3,
        "dir/deep/Events": 4,
    }
    before, after = (root.call("contents", str(path)) for path in (whole, output))
    others = {name: what for name, what in before.items() if not is_data(what)}
    assert len(others) == 9
    assert {name: what for name, what in after.items() if not is_data(what)} == others
    ntuples = {name for name, what in after.items() if is_data(what)}
    assert ntuples == {f"{name};1" for name in [*TREES, "dir/deep/beside"]}
    for report in reports:
        assert report["left_out"] == ["Events;1 (TTree): cycle 2 of it was converted"]
        assert set(report["carried"]) == {
            f"{name} ({what[0]})"
            for name, what in before.items()
            if what[0] not in ("TTree", "TDirectory")
        }
    for name, count in (("Events", 5), ("dir/Events", 3), ("dir/deep/Events", 4)):
        wanted = [{"number": number} for number in range(count)]
        assert root.call("entries", str(output), name) == wanted
    assert root.call("entries", str(output), "dir/deep/beside") == [
        {"x": 0},
        {"x": 0.5},
        {"x": 1},
    ]
    assert root.call("entries", str(output), "empty") == []
    assert root.call("entries", str(output), "bare") == [{}, {}, {}]
    with uproot.open(output) as file:
        assert file["h;1"].values().tolist() == [2.5, 0, 0, 0]
        assert file["h"].values().tolist() == [2.5, 0, 0, 1]
        assert file["dir/deep/square"].values().tolist() == [[0, 1], [0, 0]]
        assert file["dir/graph"].values(axis="y").tolist() == [2, 4]


def test_one_tree(whole: Path, tmp_path: Path, root: Root) -> None:
    """The other trees are named, with a reason; without carrying, all objects are named."""
    output = tmp_path / "out.root"
    report = nyssa.convert(whole, output, "dir/Events", verify=True)
    after = root.call("contents", str(output))
    ntuples = {name for name, what in after.items() if is_data(what)}
    assert ntuples == {"dir/Events;1", "dir/deep/beside;1"}
    left_out = dict(line.split(": ") for line in report["left_out"])
    assert set(left_out) == {
        f"{name} (TTree)"
        for name in (
            "Events;1",
            "Events;2",
            "bare;1",
            "empty;1",
            "##Params;1",
            "dir/deep/Events;1",
        )
    }
    assert left_out.pop("Events;1 (TTree)") == "cycle 2 of it is newer"
    assert all("not named" in reason for reason in left_out.values())
    alone = nyssa.convert(whole, output, "dir/Events", carry=False, force=True)
    assert alone["carried"] == []
    assert {line.split(": ")[0] for line in alone["left_out"]} == {
        *(line.split(": ")[0] for line in report["left_out"]),
        *report["carried"],
    }
    assert set(root.call("contents", str(output))) == {"dir;1", "dir/Events;1"}


def test_what_is_said(whole: Path, tmp_path: Path) -> None:
    """The command prints which objects were copied, and names each object that was not."""
    command = ["convert", f"{whole}:Events", str(tmp_path / "out.root")]
    command = [sys.executable, "-m", "nyssa", *command]
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stdout.splitlines()
    assert any(line.startswith("carried over 7 objects: ") for line in lines)
    assert "left out Events;1 (TTree): cycle 2 of it was converted" in lines
    assert sum(line.startswith("left out ") for line in lines) == 6


def test_a_tree_whose_name_no_rntuple_can_have(tmp_path: Path, root: Root) -> None:
    """It is left out by name, and the rest is converted; alone, it gets another name."""
    path, output = tmp_path / "dot.root", tmp_path / "out.root"
    with uproot.recreate(path) as file:
        for name in ("TestA1.cel", "good"):
            file.mktree(name, {"x": np.arange(3)})
    command = [sys.executable, "-m", "nyssa", "convert", str(path), str(output)]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 4
    assert '"TestA1.cel" cannot be the name of an RNTuple' in done.stderr
    assert "hint: --skip-unsupported converts the rest" in done.stderr
    (report,) = convert(path, output, "--skip-unsupported")
    (left_out,) = report["left_out"]
    assert left_out.startswith(
        'TestA1.cel;1 (TTree): "TestA1.cel" cannot be the name of an RNTuple'
    )
    assert list(root.call("contents", str(output))) == ["good;1"]
    nyssa.convert(f"{path}:TestA1.cel", output, name="TestA1", force=True)
    assert root.call("numpy", str(output), "TestA1", ["x"])["x"].tolist() == [0, 1, 2]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")
@pytest.mark.parametrize(
    "name",
    [
        "nanoAOD_2015_CMS_Open_Data_ttbar.root",
        "uproot-hepdata-example.root",
        "uproot-issue-798.root",
        "uproot-issue64.root",
        "uproot-issue-951.root",
    ],
)
def test_real_files(name: str, tmp_path: Path, root: Root) -> None:
    """All trees and objects of a file are copied or named."""
    path, output = DATA / "ttree" / name, tmp_path / "out.root"
    reports = convert(path, output, "--skip-unsupported")
    before, after = (root.call("contents", str(path)) for path in (path, output))
    left_out = {line.split(" (")[0] for line in reports[0]["left_out"]}
    # The newest cycle of a tree is converted.
    trees = {report["tree"].split(";")[0] for report in reports}
    for what, contents in before.items():
        if what.rsplit(";", 1)[0] in trees and what not in left_out:
            ntuple = what.rsplit(";", 1)[0]
            assert after[f"{ntuple};1"][0] == "ROOT::RNTuple"
        elif what in left_out:
            assert is_data(contents), what
        else:
            assert after[what] == contents, what
    assert len(after) == len(before) - len(left_out)


def test_options_of_fields_match_in_one_dataset(tmp_path: Path) -> None:
    """In a whole file, a glob of fields matches in one dataset, like a glob of `include`."""
    source, out = tmp_path / "nano.root", tmp_path / "out.root"
    with uproot.recreate(source) as file:
        for name, column in (("Events", "Jet_pt"), ("Runs", "run")):
            file.mktree(name, {column: np.float64}).extend({column: np.arange(9) / 8})
    options = {"field_options": {"Jet_*": {"column": "Real32Trunc:16"}}, "force": True}

    def types(path: Path) -> dict[str, str]:
        parts = (nyssa.inspect(f"{path}:{name}").columns[0] for name in ("Events", "Runs"))
        return {part.field: part.column_type for part in parts}

    nyssa.convert(source, out, encoding="default", **options)
    expected = {"Jet_pt": "Real32Trunc", "run": "SplitReal64"}
    assert types(out) == expected
    nyssa.convert(source, tmp_path / "plain.root", encoding="default")
    nyssa.rewrite(tmp_path / "plain.root", out, **options)
    assert types(out) == expected
    nyssa.merge([tmp_path / "plain.root"] * 2, out, recluster="1 MB", **options)
    assert types(out) == expected
    assert uproot.open(out)["Runs"]["run"].array().to_list() == [*np.arange(9) / 8] * 2
    with pytest.raises(nyssa.ArgumentError, match='no field matches "Muon_'):
        nyssa.convert(source, out, field_options={"Muon_*": {"column": "split"}}, force=True)


def test_options_of_branches_match_in_one_dataset(tmp_path: Path, root: Root) -> None:
    """So do the globs of branches, counters, vectors and leaf lists."""
    source, out = tmp_path / "nano.root", tmp_path / "out.root"
    jets = {"Jet_pt": [[1.5, 2.5], []], "Jet_eta": [[0.5, 1.0], []], "MET": [3.0, 4.0]}
    points = [{"x": 1.0, "y": 3.0}, {"x": 2.0, "y": 4.0}]
    runs = {"run": [1, 2], "weights": [[1.0], [2.0, 3.0]], "at": points}
    with nyssa.recreate(source) as file:
        file["Events"], file["Runs"], file["Lumi"] = jets, runs, {"lumi": [7]}
    options: dict[str, Any] = {
        "to": "ttree",
        "force": True,
        "branch_options": {"Jet_*": {"title": "of jets"}, "run": {"title": "of runs"}},
        "counters": {"Jet_*": "n"},
        "vectors": ["weights"],
        "leaf_lists": ["at"],
    }
    nyssa.convert(source, out, verify=True, **options)
    trees = {name: root.call("tree_branches", str(out), name) for name in ("Events", "Runs")}
    titles = {
        name: branch["title"] for branches in trees.values() for name, branch in branches.items()
    }
    assert titles["Jet_pt"] == "of jets"
    assert titles["run"] == "of runs"
    assert titles["at"] == "x/D:y/D"
    assert trees["Events"]["Jet_eta"]["leaves"][0][-1] == "n"
    assert trees["Runs"]["weights"]["class"] == "vector<double>"
    with uproot.open(out) as file:
        assert file["Events/Jet_eta"].array().to_list() == jets["Jet_eta"]
        assert file["Runs/weights"].array().to_list() == runs["weights"]
        assert file["Lumi/lumi"].array().to_list() == [7]
    # Many files have the rule for each file.
    reports = nyssa.convert([source], tmp_path / "many", **options)
    assert [one["state"] for one in reports] == ["done"]
    for name, wrong in {
        "branch_options": {"Muon_*": {"title": ""}},
        "counters": {"Muon_*": "n"},
        "vectors": ["Muon_*"],
        "leaf_lists": ["Muon_*"],
    }.items():
        with pytest.raises(nyssa.ArgumentError, match=r'"Muon_\*" matches nothing in the tree'):
            nyssa.convert(source, out, **(options | {name: wrong}))
    with pytest.raises(nyssa.ArgumentError, match='"run" matches nothing in the tree'):
        nyssa.convert(source, out, "Events", **options)


def test_a_cut_is_for_one_dataset(tmp_path: Path) -> None:
    """If it does not fit one of several, the error says to name one."""
    source, out = tmp_path / "nano.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        file["Events"], file["Runs"] = {"x": [1.0, 2.0]}, {"run": [1]}
        file.mktree("Tree", {"n": [1, 2]})
    for cut, lacking in (("x > 1", "Runs"), ("n > 1", "Events")):
        with pytest.raises(nyssa.NyssaError) as caught:
            nyssa.rewrite(source, out, cut=cut)
        assert lacking in str(caught.value)
        assert (
            "; the cut is for each of the 3 datasets of the file: name one of them, FILE:PATH"
            in str(caught.value)
        )
    with pytest.raises(nyssa.NyssaError) as caught:
        nyssa.rewrite(source, out, "Runs", cut="x > 1")
    assert "the cut is for each" not in str(caught.value)
