"""Whole files are merged: every RNTuple and every TTree, as ROOT's merger does it."""

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
from nyssa import errors
from support.root import Root

NTUPLES = ["Events", "dir/Runs"]
TREES = {"Muons": "pt", "dir/Lumis": "lumi"}


def write(folder: Path, number: int) -> str:
    """Write a file with two RNTuples, two TTrees and a histogram."""
    path = str(folder / f"{number}.root")
    with nyssa.recreate(path) as file:
        file["Events"] = {"x": np.arange(5) + 10 * number, "n": [[1.5] * number] * 5}
        file["dir/Runs"] = {"run": np.array([number], "i4")}
        file.mktree("Muons", {"pt": np.arange(7.0) + 100 * number})
        file.mktree("dir/Lumis", {"lumi": np.array([number, -number])})
        file["h"] = np.histogram([0.5 + number], bins=4, range=(0, 4))
    return path


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    """Return three files."""
    return [write(tmp_path, number) for number in range(3)]


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `nyssa` and return exit code, output and errors."""
    line = [sys.executable, "-m", "nyssa", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("options", [{}, {"recluster": "1 MB"}], ids=["pages", "recluster"])
def test_all_datasets_as_hadd(
    paths: list[str], tmp_path: Path, root: Root, options: dict[str, Any]
) -> None:
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    report = nyssa.merge(paths, merged, verify=True, **options)
    assert root.call("hadd", hadd, paths, 505)
    for name in NTUPLES:
        entries = [one for path in paths for one in root.call("entries", path, name)]
        assert root.call("entries", merged, name) == entries
    # ROOT writes the RNTuples of directories to the top of the file, without entries.
    assert root.call("entries", hadd, "Events") == root.call("entries", merged, "Events")
    for name, column in TREES.items():
        both = [root.call("tree_values", file, name, [column]) for file in (merged, hadd)]
        assert both[0] == both[1]
    assert root.call("histogram", merged, "h") == root.call("histogram", hadd, "h")
    ours, theirs = (root.call("contents", file) for file in (merged, hadd))
    assert ours.keys() == theirs.keys() - {"Runs;1"}
    assert [(one["ntuple"], one["inputs"], one["entries"]) for one in report["ntuples"]] == [
        ("Events", 3, 15),
        ("dir/Runs", 3, 3),
    ]
    assert [(one["tree"], one["inputs"], one["entries"]) for one in report["trees"]] == [
        ("Muons", 3, 21),
        ("dir/Lumis", 3, 6),
    ]
    assert (report["ntuple"], report["entries"], report["fields"]) == ("", 18, 3)
    assert [(one["ntuple"], one["entries"]) for one in report["inputs"]] == [("", 6)] * 3
    assert (report["verified"], report["left_out"], report["notes"]) == (True, [], [])


def test_the_command_names_every_dataset(paths: list[str], tmp_path: Path) -> None:
    merged = tmp_path / "merged.root"
    code, said, _ = command("merge", *paths, "-o", merged)
    lines = [line.split() for line in said.splitlines()]
    assert code == 0
    for name, numbers in {
        "Events": ["3", "15"],
        "dir/Runs": ["3", "3"],
        "Muons": ["3", "21"],
        "dir/Lumis": ["3", "6"],
    }.items():
        (line,) = [line for line in lines if line and line[0] == name]
        assert line[1:3] == numbers
    code, said, _ = command("merge", *paths, "-o", merged, "--force", "--json")
    assert [one["ntuple"] for one in json.loads(said)["ntuples"]] == ["Events", "dir/Runs"]


def test_a_path_means_one_dataset(paths: list[str], tmp_path: Path) -> None:
    """The other RNTuples are named as left out; other objects and trees are beside it."""
    merged = str(tmp_path / "merged.root")
    report = nyssa.merge([f"{paths[0]}:Events", *paths[1:]], merged)
    assert [one["ntuple"] for one in report["ntuples"]] == ["Events"]
    assert report["entries"] == 15
    assert report["left_out"] == [
        "dir/Runs;1 (ROOT::RNTuple): only the dataset that the input names is merged"
    ]
    assert {one["tree"] for one in report["trees"]} == set(TREES)
    report = nyssa.merge([f"{path}:Muons" for path in paths], merged, carry=False, force=True)
    assert [one["tree"] for one in report["trees"]] == ["Muons"]
    assert nyssa.open(merged).keys() == ["Muons;1"]
    report = nyssa.merge(paths, merged, carry=False, force=True)
    assert {one["tree"] for one in report["trees"]} == set(TREES)
    assert report["notes"] == [
        "objects of the inputs after the first are left out: h",
        "left out h;1 (TH1D)",
    ]
    assert "h" not in nyssa.open(merged).keys(cycle=False)
    # A later input may name a dataset, too.
    report = nyssa.merge([paths[0], f"{paths[1]}:Events"], merged, "union", force=True)
    found = {one["ntuple"]: one["entries"] for one in report["ntuples"]}
    assert found == {"Events": 10, "dir/Runs": 1}
    report = nyssa.merge([f"{paths[0]}:Events"], merged, name="other/E", carry=False, force=True)
    assert nyssa.open(merged).keys(cycle=False) == ["other", "other/E"]
    with pytest.raises(errors.ArgumentError, match="a name is for inputs with one dataset"):
        nyssa.merge(paths, merged, name="E", force=True)


def test_a_dataset_that_some_inputs_lack(tmp_path: Path, root: Root) -> None:
    """ROOT's merger takes what each input has, and so does the mode union."""
    paths, files = [str(tmp_path / f"{number}.root") for number in range(3)], []
    for number, path in enumerate(paths):
        with nyssa.recreate(path) as file:
            file["Events"] = {"x": np.arange(3) + number}
            if number != 1:
                file["Runs"] = {"run": np.array([number])}
                file.mktree("Trees", {"t": np.array([number])})
        files.append(path)
    merged, hadd = str(tmp_path / "merged.root"), str(tmp_path / "hadd.root")
    message = f"the file has no RNTuple Runs, and {paths[0]} has one: merge with union, which takes"
    with pytest.raises(errors.ArgumentError, match=message) as no:
        nyssa.merge(paths, merged)
    assert no.value.place["file"] == paths[1]
    assert not Path(merged).exists()
    note = f"is not in {paths[1]}: the output has the entries of the other inputs"
    report = nyssa.merge(paths, merged, "union", verify=True)
    assert report["notes"] == [f"RNTuple Runs {note}", f"TTree Trees {note}"]
    assert root.call("hadd", hadd, paths)
    for name in ("Events", "Runs"):
        assert root.call("entries", merged, name) == root.call("entries", hadd, name)
    assert root.call("tree_values", merged, "Trees", ["t"]) == {"t": [0, 2]}
    report = nyssa.merge(paths, merged, "filter", force=True)
    assert [one["ntuple"] for one in report["ntuples"]] == ["Events"]
    assert report["left_out"] == [f"Runs;1 (ROOT::RNTuple): it is not in {paths[1]}"]
    assert "Runs;1" not in nyssa.open(merged).keys()


def test_a_tree_in_the_place_of_an_rntuple(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    with nyssa.recreate(paths[0]) as file:
        file["Events"] = {"x": np.arange(3)}
    with nyssa.recreate(paths[1]) as file:
        file.mktree("Events", {"x": np.arange(3)})
    with pytest.raises(errors.ArgumentError, match="Events is a TTree here, and an RNTuple in"):
        nyssa.merge(paths, tmp_path / "out.root")
    with pytest.raises(errors.ArgumentError, match="Events is a TTree, and the first input names"):
        nyssa.merge([f"{path}:Events" for path in paths], tmp_path / "out.root")
    with pytest.raises(errors.ArgumentError, match="a TTree, but an input before has a ROOT"):
        nyssa.merge(paths, tmp_path / "out.root", "union")
    with pytest.raises(errors.ArgumentError, match="the inputs have no RNTuple in common"):
        nyssa.merge(paths, tmp_path / "out.root", "filter")


def test_attributes_of_each_rntuple(tmp_path: Path, root: Root) -> None:
    """Each RNTuple of the output has the sets of its inputs, at the right entries."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        with nyssa.recreate(path) as file:
            for name, entries in (("A", 2), ("B", 3)):
                writer = file.mkrntuple(name, {"x": "int64"})
                with writer.attribute_set("set", {"run": "int32"}).range(run=number):
                    writer.extend({"x": np.arange(entries)})
    merged = tmp_path / "merged.root"
    nyssa.merge(paths, merged)
    for name, entries in (("A", 2), ("B", 3)):
        found = root.call("attributes", str(merged), name, "set", ["run"])
        assert sorted(found) == [[0, entries, {"run": 0}], [entries, 2 * entries, {"run": 1}]]


def test_trees_of_uproot_beside_rntuples(tmp_path: Path) -> None:
    """Files of other writers are merged, too."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(paths):
        with uproot.recreate(path) as file:
            file.mktree("T", {"x": "int32"}).extend({"x": np.arange(3, dtype="i4") + number})
            file.mkrntuple("N", {"y": np.arange(4) + number})
            file.mkrntuple("M", {"z": np.arange(2) + number})
    merged = tmp_path / "merged.root"
    nyssa.merge(paths, merged, verify=True)
    with uproot.open(merged) as file:
        assert file["T"]["x"].array().to_list() == [0, 1, 2, 1, 2, 3]
        assert file["N"]["y"].array().to_list() == [0, 1, 2, 3, 1, 2, 3, 4]
        assert file["M"]["z"].array().to_list() == [0, 1, 1, 2]
