"""With `skip_unreadable` only unreadable data are left out, with a warning."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

_WRITE = """
void nyssa_unreadable(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "");
  int i = 0, n = 0;
  float x[8];
  double late = 0;
  TClonesArray points("TVector2");
  auto *one = new TAttMarker();
  tree.Branch("i", &i);
  tree.Branch("n", &n);
  tree.Branch("x", x, "x[n]/F");
  tree.Branch("points", &points, 3200, 99);
  tree.Branch("one", &one, 3200, 99);
  auto *branch = tree.Branch("late", &late);
  for (; i < 40; ++i) {
    n = i % 4;
    for (int j = 0; j < 8; ++j) x[j] = 10 * i + j;
    points.Clear();
    for (int j = 0; j < i % 3; ++j) ((TVector2 *)points.ConstructedAt(j))->Set(i + .5, j + .25);
    one->SetMarkerColor(i);
    one->SetMarkerSize(-i);
    tree.Fill();
    if (i % 10 == 9) tree.FlushBaskets();
    if (i == 11) tree.GetListOfBranches()->Remove(branch);
  }
  tree.GetListOfBranches()->Compress();
  tree.GetListOfBranches()->Add(branch);
  tree.Write();
}
"""

WHOLE = {
    "i": list(range(40)),
    "n": [i % 4 for i in range(40)],
    "x": [[10 * i + j for j in range(i % 4)] for i in range(40)],
}
X = [[i + 0.5 for _ in range(i % 3)] for i in range(40)]
Y = [[j + 0.25 for j in range(i % 3)] for i in range(40)]
DAMAGED = ["x", "points/points.fY", "one/fMarkerColor"]


@pytest.fixture(scope="module")
def tree(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a tree, one branch of which ends early."""
    path = tmp_path_factory.mktemp("unreadable") / "whole.root"
    root.call("cpp", _WRITE, f'nyssa_unreadable("{path}")')
    return path


@pytest.fixture(scope="module")
def damaged(tree: Path) -> Path:
    """Return the same with a damaged key of the third basket of three branches."""
    with uproot.open(tree) as file:
        branches = [file["t"][name] for name in DAMAGED]
        seeks = [int(branch.member("fBasketSeek")[2]) for branch in branches]
    data = bytearray(tree.read_bytes())
    for seek in seeks:
        data[seek : seek + 30] = b"\0" * 30
    path = tree.with_name("damaged.root")
    path.write_bytes(data)
    return path


def told(found: Any) -> list[str]:
    """Return what the warnings name; they must point to lines of this file."""
    assert {one.filename for one in found} == {__file__}
    return sorted(str(one.message).split(" is left out: ")[0] for one in found)


def test_what_is_known_at_once_is_listed(tree: Path) -> None:
    table = nyssa.open(tree)["t"]
    reason = "it has 12 of the 40 entries of the tree"
    assert table.unreadable == {"late": reason}
    with pytest.raises(nyssa.UnsupportedError, match=f"late: {reason}; read the others"):
        table.arrays()
    with pytest.warns(nyssa.UnreadableWarning, match=f"^late is left out: {reason}$"):
        arrays = table.arrays(skip_unreadable=True)
    assert arrays.fields == ["i", "n", "x", "points", "one"]


def test_an_error_says_where(damaged: Path) -> None:
    with pytest.raises(nyssa.FormatError, match="field points/points.fY, basket 2, byte") as error:
        nyssa.open(damaged)["t"].arrays(["i", "points"])
    assert error.value.place is not None
    assert error.value.place["field"] == "points/points.fY"


def test_columns_and_members_are_left_out(damaged: Path) -> None:
    table = nyssa.open(damaged)["t"]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        arrays = table.arrays(skip_unreadable=True)
    assert told(found) == sorted([*DAMAGED, "late"])
    assert all("basket 2" in str(one.message) for one in found if "late" not in str(one.message))
    assert arrays.fields == ["i", "n", "points", "one"]
    assert arrays.i.tolist() == WHOLE["i"]
    assert arrays.points.fX.tolist() == X
    assert "fY" not in arrays.points.fields
    assert arrays.one.fMarkerSize.tolist() == [-i for i in range(40)]
    assert arrays.one.fields == ["fMarkerStyle", "fMarkerSize"]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        points = table["points"].array(skip_unreadable=True)
    assert told(found) == ["points/points.fY"]
    assert points.fX.tolist() == X
    with pytest.raises(nyssa.UnsupportedError, match="^x: .*basket 2"):
        table["x"].array(skip_unreadable=True)


def test_entries_that_can_be_read_lack_nothing(damaged: Path) -> None:
    table = nyssa.open(damaged)["t"]
    names = ["i", "x", "points", "one"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        arrays = table.arrays(names, entry_stop=20, skip_unreadable=True)
        some = table.take([35, 1, 19], names, skip_unreadable=True)
    assert arrays.x.tolist() == WHOLE["x"][:20]
    assert arrays.points.fY.tolist() == Y[:20]
    assert some.x.tolist() == [WHOLE["x"][entry] for entry in (35, 1, 19)]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        some = table.take([35, 25, 1], names, skip_unreadable=True)
    assert told(found) == sorted(DAMAGED)
    assert some.points.fX.tolist() == [X[entry] for entry in (35, 25, 1)]


def test_steps_lack_it_from_then_on(damaged: Path) -> None:
    names = ["i", "x", "points"]
    for steps in (
        nyssa.open(damaged)["t"].iterate(names, step_size=15, skip_unreadable=True),
        nyssa.iterate(f"{damaged}:t", names, step_size=15, skip_unreadable=True),
    ):
        first = next(steps)
        assert first.x.tolist() == WHOLE["x"][:15]
        assert first.points.fY.tolist() == Y[:15]
        with pytest.warns(nyssa.UnreadableWarning) as found:
            rest = list(steps)
        assert told(found) == ["points/points.fY", "x"]
        assert [step.fields for step in rest] == [["i", "points"], ["i", "points"]]
        assert [one for step in rest for one in step.points.fX.tolist()] == X[15:]


def test_chains_leave_it_out_of_all_files(tree: Path, damaged: Path) -> None:
    files = [f"{tree}:t", f"{damaged}:t"]
    names = ["i", "x", "points"]
    for read in (
        lambda: nyssa.concatenate(files, names, skip_unreadable=True),
        lambda: nyssa.chain(files).arrays(names, skip_unreadable=True),
    ):
        with pytest.warns(nyssa.UnreadableWarning) as found:
            arrays = read()
        assert told(found) == ["points/points.fY", "x"]
        assert all(f" is left out: {damaged}:t: " in str(one.message) for one in found)
        assert arrays.fields == ["i", "points"]
        assert arrays.points.fX.tolist() == X * 2
        assert "fY" not in arrays.points.fields


def test_the_command_line_says_what_is_left_out(damaged: Path) -> None:
    command = [sys.executable, "-m", "nyssa", "cat", f"{damaged}:t", "-n", "40"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1
    done = subprocess.run([*command, "--skip-unreadable"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    said = [line.split(" is left out: ")[0] for line in lines]
    assert sorted(said) == sorted(f"warning: {name}" for name in [*DAMAGED, "late"])
    entries = [json.loads(line) for line in done.stdout.splitlines()]
    assert [[one["fX"] for one in entry["points"]] for entry in entries] == X
    assert [set(entry) for entry in entries] == [{"i", "n", "points", "one"}] * 40


def test_a_conversion_loses_only_the_member(root: Root, damaged: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    report = nyssa.convert(f"{damaged}:t", output, skip_unreadable=True, verify=True)
    assert sorted(one["branch"] for one in report["skipped"]) == sorted([*DAMAGED, "late"])
    assert all(one["unreadable"] for one in report["skipped"])
    assert [one["branch"] for one in report["fields"]] == ["i", "n", "points", "one"]
    entries = root.call("entries", str(output), "t")
    assert [[one["fX"] for one in entry["points"]] for entry in entries] == X
    assert [entry["one"]["fMarkerSize"] for entry in entries] == [-i for i in range(40)]
    # A script sees it by the exit code, also when the output is done already.
    line = [sys.executable, "-m", "nyssa", "convert", f"{damaged}:t", "--into", str(tmp_path / "o")]
    for _ in range(2):
        done = subprocess.run(
            [*line, "--skip-unreadable", "--skip-done", "--json"], capture_output=True, text=True
        )
        assert done.returncode == 1, done.stderr
        (one,) = json.loads(done.stdout)["files"]
        assert sorted(text.partition(":")[0] for text in one["bad"]) == sorted([*DAMAGED, "late"])
    assert one["state"] == "found"


def test_bits_without_bytes(data: Path) -> None:
    """ROOT wrote no values of these bit sets: their baskets are empty."""
    path = data / "ttree" / "uproot-mc10events.root"
    table = nyssa.open(path)["Events"]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        arrays = table.arrays(skip_unreadable=True)
    lost = told(found)
    assert lost[0] == "AK4CHS/AK4CHS.hltMatchBits"
    assert "Info/triggerBits" in lost
    assert arrays.fields == list(table.keys())
    theirs = uproot.open(path)["Events"]
    for name in ("Muon", "Electron"):
        for member in ("pt", "eta", "nValidHits") if name == "Muon" else ("pt", "scID"):
            expected = theirs[f"{name}/{name}.{member}"].array().tolist()
            assert arrays[name][member].tolist() == expected
    assert arrays.Info.evtNum.tolist() == theirs["Info/evtNum"].array().tolist()


def test_objects_of_which_nothing_is_left_are_left_out(data: Path) -> None:
    """All baskets of this branch are in another file."""
    path = data / "ttree" / "roottest" / "meta__MakeProject__alice_ESDs.root"
    table = nyssa.open(path)["esdTree"]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        arrays = table.arrays(["ESDfriend.", "AliESDRun"], skip_unreadable=True)
    assert arrays.fields == ["AliESDRun"]
    assert told(found)[0] == "ESDfriend."
    with pytest.raises(nyssa.UnsupportedError, match="its baskets are in another file"):
        table["ESDfriend."].array(skip_unreadable=True)


def records(path: Path, first: int = 0) -> dict[str, Any]:
    """Write an uncompressed RNTuple with records. Return its values."""
    entries = range(first, first + 40)
    data: dict[str, Any] = {
        "i": list(entries),
        "jets": [[{"pt": entry + 0.5, "n": entry}] * (entry % 3) for entry in entries],
        "one": [{"a": -entry, "inner": {"b": 1 << entry % 40, "c": 7}} for entry in entries],
        "pairs": [(entry, 2.5 * entry) for entry in entries],
    }
    jet = {"pt": "double", "n": "std::int32_t"}
    inner = {"b": "std::int64_t", "c": "std::int32_t"}
    one = {"a": "std::int32_t", "inner": "Inner"}
    with nyssa.recreate(path, compression=0, same_page_merging=False) as file:
        writer = file.mkrntuple(
            "t",
            {
                "i": "std::int32_t",
                "jets": "std::vector<Jet>",
                "one": "One",
                "pairs": "std::pair<std::int32_t,double>",
            },
            classes={"Jet": jet, "Inner": inner, "One": one},
            field_options={"*": {"column": "unsplit"}},
        )
        writer.extend({name: values[:20] for name, values in data.items()})
    with nyssa.update(path, compression=0) as file:  # A cluster of its own.
        file["t"].extend({name: values[20:] for name, values in data.items()})
    return data


def break_page(path: Path, values: Any) -> None:
    """Change the page that starts with these values."""
    content = path.read_bytes()
    assert content.count(values.tobytes()) == 1
    path.write_bytes(content.replace(values.tobytes(), bytes(values.nbytes - 1) + b"!"))


def test_members_of_an_rntuple_are_left_out(root: Root, tmp_path: Path) -> None:
    path = tmp_path / "records.root"
    data = records(path)
    entries = root.call("entries", str(path), "t")
    assert [entry["i"] for entry in entries] == data["i"]
    pt = np.array([jet["pt"] for entry in data["jets"][20:] for jet in entry])
    break_page(path, pt)
    break_page(path, np.array([one["inner"]["b"] for one in data["one"][20:]]))
    break_page(path, np.array([pair[1] for pair in data["pairs"][20:]]))
    table = nyssa.open(path)["t"]
    with pytest.raises(nyssa.ChecksumError):
        table.arrays()
    with pytest.warns(nyssa.UnreadableWarning) as found:
        arrays = table.arrays(skip_unreadable=True)
    assert told(found) == ["jets.pt", "one.inner.b", "pairs"]
    assert all("checksum" in str(one.message) for one in found)
    assert arrays.fields == ["i", "jets", "one"]
    assert arrays.i.tolist() == data["i"]
    assert arrays.jets.tolist() == [[{"n": jet["n"]} for jet in entry] for entry in data["jets"]]
    assert arrays.one.tolist() == [{"a": one["a"], "inner": {"c": 7}} for one in data["one"]]
    first = table.iterate(step_size=20, skip_unreadable=True)
    assert next(first).tolist()[0]["one"] == {"a": 0, "inner": {"b": 1, "c": 7}}
    with pytest.warns(nyssa.UnreadableWarning) as found:
        rest = list(first)
    assert told(found) == ["jets.pt", "one.inner.b", "pairs"]
    assert rest[0].jets.tolist() == arrays.jets[20:].tolist()


def test_records_without_a_member_that_is_whole_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "records.root"
    data = records(path)
    break_page(path, np.array([jet["pt"] for entry in data["jets"][:20] for jet in entry]))
    numbers = [jet["n"] for entry in data["jets"][:20] for jet in entry]
    break_page(path, np.array(numbers, dtype=np.int32))
    with pytest.warns(nyssa.UnreadableWarning) as found:
        arrays = nyssa.open(path)["t"].arrays(skip_unreadable=True)
    assert told(found) == ["jets"]
    assert arrays.fields == ["i", "one", "pairs"]


@pytest.mark.parametrize("schema", [None, "union"])
@pytest.mark.parametrize("size", [15, 1000, "cluster", "1 MB"])
def test_steps_of_files_lack_it_from_then_on(
    damaged: Path, tree: Path, schema: str | None, size: int | str
) -> None:
    """The first file is complete; the third lacks the columns that the second cannot read."""
    files = [f"{path}:t" for path in (tree, damaged, tree)]
    names = ["i", "x", "points"]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        steps = list(
            nyssa.iterate(
                files, names, step_size=size, skip_unreadable=True, report=True, schema=schema
            )
        )
    assert told(found) == ["points/points.fY", "x"]
    assert [i for step, _ in steps for i in step.i.tolist()] == WHOLE["i"] * 3
    assert [one for step, _ in steps for one in step.points.fX.tolist()] == X * 3
    whole = [step for step, _ in steps if "x" in step.fields]
    assert [one for step in whole for one in step.x.tolist()][:40] == WHOLE["x"]
    assert [one for step in whole for one in step.points.fY.tolist()][:40] == Y
    # These entries of the second file can be read, up to the basket with entries 20 to 30.
    good = {15: 15, "cluster": 20}.get(size, 0)
    assert sum(map(len, whole)) == 40 + good
    assert all("fY" not in step.points.fields for step, _ in steps[len(whole) :])


def test_files_are_opened_when_their_steps_come(tree: Path, tmp_path: Path) -> None:
    files = [f"{tree}:t", str(tmp_path / "none.root")]
    steps = nyssa.iterate(files, ["i"], skip_unreadable=True)
    assert next(steps).i.tolist() == WHOLE["i"]
    with pytest.raises(nyssa.errors.FileMissingError):
        next(steps)


def test_steps_that_lack_something_end_where_their_file_is_closed(damaged: Path) -> None:
    for table in (nyssa.open(damaged)["t"], nyssa.chain([f"{damaged}:t"])):
        steps = table.iterate(["i", "points"], step_size=10, skip_unreadable=True)
        next(steps), next(steps)
        with pytest.warns(nyssa.UnreadableWarning):
            assert next(steps).i[0] == 20
        table.close()
        with pytest.raises(nyssa.ArgumentError, match="is closed"):
            next(steps)


def test_lazy_arrays_lack_what_is_known_to_be_unreadable(damaged: Path) -> None:
    table = nyssa.open(damaged)["t"]
    with pytest.warns(nyssa.UnreadableWarning) as found:
        arrays = table.arrays(lazy=True, skip_unreadable=True)
    assert told(found) == ["late"]
    assert arrays.fields == ["i", "n", "x", "points", "one"]
    assert arrays.i.tolist() == WHOLE["i"]
    with pytest.raises(nyssa.FormatError, match="basket 2"):
        arrays.x.tolist()


def test_a_search_says_what_it_leaves_out(tree: Path) -> None:
    report = nyssa.tune(tree, objective="size", compression="zstd:1", budget=1)
    reason = "late is left out of what is measured and expected: it has 12 of the 40 entries"
    assert [note for note in report.notes if note.startswith(reason)]
    command = [sys.executable, "-m", "nyssa", "tune", str(tree), "--compression", "zstd:1"]
    for more in ([], ["--json"]):
        given = [*command, "--budget", "1s", *more]
        done = subprocess.run(given, capture_output=True, text=True, check=True)
        assert reason in done.stdout
