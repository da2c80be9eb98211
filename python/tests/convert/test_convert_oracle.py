"""Converted trees have the schema of ROOT's importer, and the values of the tree."""

from __future__ import annotations

import re
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA
from support.root import Root
from support.same import layouts_differ, matches_json

TREES = [
    ("nanoAOD_2015_CMS_Open_Data_ttbar", "Events"),
    ("uproot-HZZ", "events"),
    ("uproot-Zmumu", "events"),
    ("uproot-foriter", "foriter"),
    ("uproot-simple", "tree"),
    ("uproot-sample-6.20.04-zlib", "sample"),
    ("uproot-small-flat-tree", "tree"),
]
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA"
)


@pytest.mark.parametrize(("stem", "tree"), TREES)
def test_same_schema_as_the_importer(stem: str, tree: str, tmp_path: Path, root: Root) -> None:
    """The fields are as ROOT's importer makes them, with the same types and in the same order.

    Collections have names of their own, made of their counters (docs/decisions/0009).
    """
    source = DATA / "ttree" / f"{stem}.root"
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    try:
        root.call("import_tree", str(source), tree, str(theirs))
    except RuntimeError as error:
        pytest.skip(f"ROOT's importer cannot convert it: {error}")
    nyssa.convert(source, ours, tree)
    found, expected = (root.call("fields", str(path), tree) for path in (ours, theirs))
    numbered = [re.fullmatch(r"_collection\d+", name) for name, _ in expected]
    for (mine, mine_type), (name, its_type), number in zip(found, expected, numbered, strict=True):
        assert mine_type == its_type
        assert mine.startswith("_collection_") if number else mine == name
    if stem.startswith("nanoAOD"):
        # Empty columns may cost a fifth of a percent of the size.
        assert ours.stat().st_size < 1.15 * theirs.stat().st_size


@pytest.mark.parametrize("layout", ["importer", "vectors"])
@pytest.mark.parametrize(("stem", "tree"), TREES)
def test_same_values(stem: str, tree: str, layout: str, tmp_path: Path) -> None:
    """Every field, as nyssa and uproot read it, equals uproot's array of its branch."""
    source, path = DATA / "ttree" / f"{stem}.root", tmp_path / "out.root"
    report = nyssa.convert(source, path, tree, layout=layout, skip_unsupported=True, verify=True)
    assert report["verified"]
    dataset = nyssa.open(f"{path}:{tree}")
    arrays = dataset.arrays()
    wrong = []
    with uproot.open(source) as before, uproot.open(path) as after:
        assert dataset.num_entries == before[tree].num_entries == after[tree].num_entries
        expected = before[tree].arrays([field["branch"] for field in report["fields"]])
        again = after[tree].arrays()
        for field in report["fields"]:
            want, name = expected[field["branch"]], field["field"]
            found = layouts_differ(arrays.layout.content(name), want.layout)
            # Counters become cardinalities, which have no sign.
            if found and not ("Cardinality" in dataset[name].typename and "dtypes" in found):
                wrong.append(f"{name}: {found}")
            if "char" in dataset[name].typename:
                want = ak.values_astype(want, "uint8")  # uproot's idea of a char in an RNTuple
            if not ak.array_equal(again[name], want, equal_nan=True, dtype_exact=False):
                wrong.append(f"{name} in uproot")
    assert not wrong, wrong[:10]


def test_values_in_root(nano: Path, tmp_path: Path, root: Root) -> None:
    """ROOT reads the converted values, with RDataFrame and as it prints them."""
    path = tmp_path / "out.root"
    nyssa.convert(nano, path, "Events", layout="vectors")
    tree = nyssa.open(nano)["Events"]
    names = ["run", "event", "nJet", "Jet_pt", "Muon_charge", "Electron_cutBased", "HLT_Mu50"]
    entries = root.call("entries", str(path), "Events")
    wanted = tree.arrays(names).to_list()
    for got, want in zip(entries, wanted, strict=True):
        assert matches_json({name: got[name] for name in names}, want)
    importer = tmp_path / "importer.root"
    nyssa.convert(nano, importer, "Events")
    frame = root.call("numpy", str(importer), "Events", ["run", "MET_pt"])
    np.testing.assert_array_equal(frame["run"], tree["run"].array(library="np"))
    np.testing.assert_array_equal(frame["MET_pt"], tree["MET_pt"].array(library="np"))


def test_selection(nano: Path, tmp_path: Path) -> None:
    """Only some branches and entries are converted, together with their counters."""
    path = tmp_path / "out.root"
    report = nyssa.convert(
        nano, path, include=["Jet_*", "run"], exclude="Jet_btag*", entry_start=10, entry_stop=-50
    )
    assert report["entries"] == 140
    got = nyssa.open(f"{path}:Events").arrays()
    assert "nJet" in got.fields
    assert not any(name.startswith(("Jet_btag", "Muon")) for name in got.fields)
    want = nyssa.open(f"{nano}:Events").arrays(["run", "Jet_pt"], entry_start=10, entry_stop=-50)
    assert ak.array_equal(got[["run", "Jet_pt"]], want)


def test_threads_and_repetition_give_the_same_bytes(nano: Path, tmp_path: Path) -> None:
    """With `reproducible` the output depends only on the input and the options."""
    outputs = []
    for number, threads in enumerate([1, 2, 2]):
        path = tmp_path / str(number) / "out.root"
        path.parent.mkdir()
        nyssa.convert(nano, path, threads=threads, reproducible=True, include="Jet_*")
        outputs.append(path.read_bytes())
    assert outputs[0] == outputs[1] == outputs[2]


def test_progress_and_report(
    nano: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Progress is called in this thread and ends at the total; the report adds up."""
    calls: list[tuple[int, int]] = []
    path = tmp_path / "out.root"
    report = nyssa.convert(nano, path, progress=lambda done, total: calls.append((done, total)))
    assert calls
    assert calls[-1][0] == calls[-1][1]
    assert report["entries"] == 200
    assert report["output_bytes"] == path.stat().st_size
    assert len(report["fields"]) == len(nyssa.open(f"{nano}:Events"))
    nyssa.convert(nano, path, progress=True, force=True)
    assert "100.0 %" in capsys.readouterr().err


def test_an_error_in_progress_stops_the_conversion(nano: Path, tmp_path: Path) -> None:
    """The exception reaches the caller, and no file is left."""

    def progress(done: int, total: int) -> None:
        raise LookupError(f"{done} of {total}")

    with pytest.raises(LookupError):
        nyssa.convert(nano, tmp_path / "out.root", progress=progress)
