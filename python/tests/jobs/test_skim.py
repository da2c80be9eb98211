"""`nyssa.skim` against RDataFrame's Define, Filter and Snapshot, and against awkward."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import TESTDATA

DEFINE = {"ht": "sum(Jet_pt[Jet_pt > 30])", "ratio": "met / (ht + 1)"}
CUTS = {"jets": "nJet >= 2", "energy": "ht > 60"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return three files with a tree of jets, which uproot wrote, and another object."""
    folder = tmp_path_factory.mktemp("trees")
    random = np.random.default_rng(3)
    paths = [folder / f"part{number}.root" for number in range(3)]
    for path in paths:
        with uproot.recreate(path) as file:
            counts = random.integers(0, 5, 500)
            pt = ak.unflatten(random.exponential(40, counts.sum()).astype("f4"), counts)
            eta = ak.unflatten(random.normal(0, 2, counts.sum()).astype("f4"), counts)
            jets = ak.zip({"pt": pt, "eta": eta})
            met = random.exponential(20, 500).astype("f4")
            run = random.integers(0, 9, 500).astype("u4")
            types = {"Jet": "var * {pt: float32, eta: float32}", "met": "float32", "run": "uint32"}
            file.mktree("Events", types).extend({"Jet": jets, "met": met, "run": run})
            file["note"] = "a text"
    return paths


def together(files: list[Path]) -> Any:
    return uproot.concatenate([f"{path}:Events" for path in files])


def passing(events: Any) -> tuple[Any, Any, Any]:
    """Return the events that pass, by awkward, with the new columns."""
    ht = ak.sum(events.Jet_pt[events.Jet_pt > 30], axis=1)
    mask = (events.nJet >= 2) & (ht > 60)
    return events[mask], ht[mask], (events.met / (ht + 1))[mask]


def read(path: Path, form: str) -> Any:
    if form == "parquet":
        return ak.from_parquet(str(path))
    with uproot.open(path) as file:
        return file["Events"].arrays()


@pytest.mark.parametrize("form", ["ttree", "rntuple", "parquet"])
def test_a_skim_is_as_with_awkward(files: list[Path], tmp_path: Path, form: str) -> None:
    pytest.importorskip("pyarrow", reason="no pyarrow")
    out = tmp_path / ("out.parquet" if form == "parquet" else "out.root")
    where = f"{files[0].parent}/part*.root:Events"
    columns = ["Jet_*", "nJet", "ht", "ratio"]
    report = nyssa.skim(where, out, columns, CUTS, define=DEFINE, format=form, verify=True)
    events = together(files)
    chosen, ht, ratio = passing(events)
    got = read(out, form)
    assert set(got.fields) == {"Jet_pt", "Jet_eta", "nJet", "ht", "ratio"}
    for name in ("Jet_pt", "Jet_eta", "nJet"):
        assert ak.to_list(got[name]) == ak.to_list(chosen[name]), name
    np.testing.assert_allclose(ak.to_numpy(got.ht), ak.to_numpy(ht), rtol=1e-5)
    np.testing.assert_allclose(ak.to_numpy(got.ratio), ak.to_numpy(ratio), rtol=1e-5)
    two = int(ak.sum(events.nJet >= 2))
    assert report.cutflow.to_dict() == {"all entries": 1500, "jets": two, "energy": len(chosen)}
    assert report["verified"]
    assert report["left_out"] == ["note;1 (TObjString)"]
    assert "note;1" in str(report)


def test_a_tree_is_as_with_rdataframe(files: list[Path], tmp_path: Path) -> None:
    root = pytest.importorskip("ROOT", reason="no ROOT")
    theirs, ours = tmp_path / "theirs.root", tmp_path / "ours.root"
    frame = root.RDataFrame("Events", [str(path) for path in files])
    frame = frame.Define("ht", "Sum(Jet_pt[Jet_pt > 30])").Filter("nJet >= 2").Filter("ht > 60")
    names = ["nJet", "Jet_pt", "Jet_eta", "met", "run", "ht"]
    frame.Snapshot("Events", str(theirs), names)
    define = {"ht": DEFINE["ht"]}
    nyssa.skim([str(path) for path in files], ours, cut=list(CUTS.values()), define=define)
    first, second = (read(path, "ttree") for path in (theirs, ours))
    assert set(names) == set(second.fields)
    for name in names[:-1]:
        assert ak.to_list(first[name]) == ak.to_list(second[name]), name
        assert first[name].type.content == second[name].type.content, name
    np.testing.assert_allclose(ak.to_numpy(first.ht), ak.to_numpy(second.ht), rtol=1e-5)
    # ROOT reads the counters of the lists.
    file = root.TFile.Open(str(ours))
    leaf = file.Get("Events").GetLeaf("Jet_pt")
    assert leaf.GetLeafCount().GetName() == "nJet"
    assert leaf.GetTypeName() == "Float_t"
    file.Close()


def test_only_what_is_needed_is_read(files: list[Path], tmp_path: Path) -> None:
    def bytes_read() -> int:
        stats = nyssa.io_stats()
        return stats.bytes_read + stats.bytes_readv

    read = []
    for name, cut in (("none", "run > 100"), ("all", "run >= 0")):
        before = bytes_read()
        nyssa.skim(f"{files[0]}:Events", tmp_path / f"{name}.root", cut=cut)
        read.append(bytes_read() - before)
    assert read[0] < read[1]
    assert nyssa.open(tmp_path / "none.root")["Events"].num_entries == 0
    assert nyssa.open(tmp_path / "all.root")["Events"].num_entries == 500


def test_inputs_that_are_tables_and_rntuples(tmp_path: Path) -> None:
    source = TESTDATA / "rntuple/codec-zstd.root"
    first, second = tmp_path / "first.parquet", tmp_path / "second.arrow"
    whole = nyssa.open(source)[nyssa.open(source).datasets()[0]].arrays()
    nyssa.skim(source, first, cut="n % 2 == 0")
    nyssa.skim([first, first], second, exclude="text", define={"twice": "2 * x"})
    read = nyssa.open(second).arrays()
    even = whole[whole.n % 2 == 0]
    assert read.n.to_list() == even.n.to_list() * 2
    assert read.twice.to_list() == (even.x * 2).to_list() * 2
    assert "text" not in read.fields


def test_missing_values_of_new_columns(files: list[Path], tmp_path: Path) -> None:
    define = {"first": "Jet_pt[0]"}
    where = f"{files[0]}:Events"
    nyssa.skim(where, tmp_path / "out.root", ["first"], define=define, format="rntuple")
    events = together(files[:1])
    expected = ak.firsts(events.Jet_pt).to_list()
    got = nyssa.open(tmp_path / "out.root")["Events"].arrays()["first"].to_list()
    assert got == expected
    with pytest.raises(nyssa.ArgumentError, match="no value"):
        nyssa.skim(where, tmp_path / "tree.root", ["first"], define=define, format="ttree")
    assert not (tmp_path / "tree.root").exists()
    nyssa.skim(where, tmp_path / "tree.root", ["first"], "nJet > 0", define=define)
    with uproot.open(tmp_path / "tree.root") as file:
        assert file["Events/first"].array().to_list() == [
            one for one in expected if one is not None
        ]


def test_refusals(files: list[Path], tmp_path: Path) -> None:
    where, out = f"{files[0]}:Events", tmp_path / "out.root"
    with pytest.raises(nyssa.NotFoundError, match="Jet_ptt"):
        nyssa.skim(where, out, ["Jet_ptt"])
    with pytest.raises(nyssa.ArgumentError, match="is a column already"):
        nyssa.skim(where, out, define={"met": "1"})
    with pytest.raises(nyssa.NotFoundError, match="mett"):
        nyssa.skim(where, out, cut="mett > 3")
    with pytest.raises(nyssa.ArgumentError, match="no option basket-size"):
        nyssa.skim(where, tmp_path / "out.parquet", basket_size=1000)
    with pytest.raises(nyssa.ArgumentError, match="the input is never overwritten"):
        nyssa.skim(where, files[0], force=True)
    assert not out.exists()


def test_the_command_line(
    files: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from nyssa._core import run_cli

    out = tmp_path / "out.parquet"
    words = ["nyssa", "skim", *map(str, files), "-o", str(out), "--columns", "met", "--cut"]
    words += ["jets=nJet >= 2", "--cut", "met > 10", "--define", "double=met*2", "--columns", "d*"]
    assert run_cli([*words, "--json"]) == 0
    report = json.loads(capfd.readouterr().out)
    events = together(files)
    two = events[events.nJet >= 2]
    rows = [(row["name"], row["entries"]) for row in report["cut_flow"]]
    assert rows == [("jets", len(two)), ("met > 10", int(ak.sum(two.met > 10)))]
    assert run_cli([*words, "--force"]) == 0
    assert "all entries" in capfd.readouterr().out
    assert [column["name"] for column in report["columns"]] == ["met", "double"]


def test_a_cut_flow_is_a_histogram(files: list[Path], tmp_path: Path) -> None:
    pytest.importorskip("hist", reason="no hist")
    report = nyssa.skim(f"{files[0]}:Events", tmp_path / "out.root", cut=CUTS, define=DEFINE)
    flow = report.cutflow
    filled = flow.to_hist()
    assert list(filled.axes[0]) == ["all entries", "jets", "energy"]
    assert filled.values().tolist() == [row.entries for row in flow]
    assert "<table>" in flow._repr_html_()


def test_the_stored_bytes_of_all_inputs_are_counted(files: list[Path], tmp_path: Path) -> None:
    names = ["met", "run"]
    report = nyssa.skim([f"{path}:Events" for path in files], tmp_path / "out.root", names)
    stored = 0
    for path in files:
        with uproot.open(path) as file:
            stored += sum(file["Events"][name].compressed_bytes for name in names)
    assert report["input_bytes"] == stored
    some = nyssa.skim(f"{files[0].parent}/part*.root", tmp_path / "some.root", names, entry_stop=9)
    with uproot.open(files[0]) as file:
        first = sum(file["Events"][name].compressed_bytes for name in names)
    assert (some["input_bytes"], some["inputs"]) == (first, [str(files[0])])


@pytest.mark.parametrize("form", ["ttree", "rntuple", "parquet"])
def test_columns_with_damaged_data_are_left_out(
    files: list[Path], tmp_path: Path, capfd: pytest.CaptureFixture[str], form: str
) -> None:
    from nyssa._core import run_cli

    bad = tmp_path / "bad.root"
    with uproot.open(files[1]) as file:
        basket = int(file["Events"]["met"].member("fBasketSeek")[0])
    data = bytearray(files[1].read_bytes())
    data[basket + 200 : basket + 210] = b"\xff" * 10
    bad.write_bytes(data)
    inputs = [f"{path}:Events" for path in (files[0], bad, files[2])]
    out = tmp_path / ("out.parquet" if form == "parquet" else "out.root")
    with pytest.raises((nyssa.FormatError, nyssa.ChecksumError)):
        nyssa.skim(inputs, out, format=form)
    assert not out.exists()
    report = nyssa.skim(inputs, out, format=form, skip_unreadable=True, verify=True)
    [left_out] = report["skipped"]
    assert (left_out["name"], left_out["unreadable"]) == ("met", True)
    assert "bad.root" in left_out["reason"]
    assert "left out met" in str(report)
    events = together(files)
    got = read(out, form)
    assert set(got.fields) == {"nJet", "Jet_pt", "Jet_eta", "run"}
    assert ak.to_list(got.Jet_pt) == ak.to_list(events.Jet_pt)
    words = ["nyssa", "skim", *inputs, "-o", str(out), "--force", "--skip-unreadable", "--json"]
    assert run_cli([*words, "--format", form]) == 1
    assert json.loads(capfd.readouterr().out)["skipped"] == [left_out]
    # What a cut needs cannot be left out.
    with pytest.raises((nyssa.FormatError, nyssa.ChecksumError)):
        nyssa.skim(inputs, out, cut="met > 3", format=form, skip_unreadable=True, force=True)


def test_friends_bring_their_columns(files: list[Path], tmp_path: Path) -> None:
    root = pytest.importorskip("ROOT", reason="no ROOT")
    paths, others, weights = [], [], []
    for number, source in enumerate(files[:2]):
        path, other = tmp_path / f"tree{number}.root", tmp_path / f"friend{number}.root"
        path.write_bytes(source.read_bytes())
        weight = np.arange(500, dtype="f8") + 1000 * number
        with uproot.recreate(other) as file:
            file.mktree("weights", {"w": "float64"}).extend({"w": weight})
        file = root.TFile.Open(str(path), "UPDATE")
        tree = file.Get("Events")
        tree.AddFriend("weights", str(other))
        tree.Write("", root.TObject.kOverwrite)
        file.Close()
        paths.append(f"{path}:Events")
        others.append(f"{other}:weights")
        weights.append(weight)
    all_weights = np.concatenate(weights)
    keep = all_weights % 3 == 0
    runs = ak.to_numpy(together(files[:2]).run)[keep]
    names, cut = ["run", "weights.w", "twice"], "weights.w % 3 == 0"
    define = {"twice": "2 * weights.w"}
    stored = 0
    for path, name in [(path, "run") for path in paths] + [(other, "w") for other in others]:
        with uproot.open(path) as branches:
            stored += branches[name].compressed_bytes
    for out in (tmp_path / "out.parquet", tmp_path / "out.root"):
        report = nyssa.skim(paths, out, names, cut, define=define, friends=True, verify=True)
        assert report["input_bytes"] == stored
        got = read(out, "parquet" if out.suffix == ".parquet" else "ttree")
        assert ak.to_list(got["run"]) == runs.tolist()
        assert ak.to_list(got["weights.w"]) == all_weights[keep].tolist()
        assert ak.to_list(got["twice"]) == (2 * all_weights[keep]).tolist()
    with pytest.raises(nyssa.NotFoundError, match="weights.w"):
        nyssa.skim(paths, tmp_path / "other.root", names, define=define)
