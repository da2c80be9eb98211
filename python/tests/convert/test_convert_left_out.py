"""A conversion leaves out damaged baskets and copies objects of unknown classes as bytes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uproot

import nyssa
from support.data import DATA

pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason=f"no test data at {DATA}; set NYSSA_TEST_DATA"
)
TREES = DATA / "ttree"


def _command(*args: str | Path) -> tuple[int, str, str]:
    command = [sys.executable, "-m", "nyssa", "convert", *map(str, args)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def _convert(name: str, tmp_path: Path) -> list[dict[str, Any]]:
    """All trees of a file are verified."""
    status, out, err = _command(TREES / name, tmp_path / "out.root", "--verify", "--json")
    assert status == 0, err
    found = json.loads(out)
    reports: list[dict[str, Any]] = found.get("reports", [found])
    assert all(report["verified"] and not report["skipped"] for report in reports)
    return reports


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two branches of Zmumu have a second basket with overwritten bytes."""
    path = tmp_path_factory.mktemp("damaged") / "damaged.root"
    with uproot.open(f"{TREES}/uproot-Zmumu.root:events") as tree:
        branches = [tree[name] for name in ("px1", "M")]
        seeks = [int(branch.member("fBasketSeek")[0]) for branch in branches]
    data = bytearray((TREES / "uproot-Zmumu.root").read_bytes())
    for seek in seeks:
        data[seek + 200 : seek + 240] = b"\0" * 40
    path.write_bytes(data)
    return path


def test_a_damaged_basket_is_named_with_the_option_that_goes_on(
    damaged: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.root"
    status, _, err = _command(damaged, output, "--skip-unsupported")
    assert status == 1
    assert not output.exists()
    assert re.search(r"^error: .*object events, field (px1|M), .*basket 0", err), err
    assert "hint: --skip-unreadable converts" in err


def test_damaged_branches_are_left_out_when_asked(damaged: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    status, out, err = _command(damaged, output, "--skip-unreadable", "--verify")
    assert status == 1, err
    left_out = [line for line in out.splitlines() if line.startswith("left out ")]
    assert [line.split(": ")[0] for line in left_out] == ["left out px1", "left out M"]
    assert all("basket 0" in line for line in left_out)
    with uproot.open(f"{TREES}/uproot-Zmumu.root:events") as tree:
        names = [name for name in tree.keys() if name not in ("px1", "M")]
        table = nyssa.open(output)["events"]
        assert list(table.keys()) == names
        assert table["py1"].array().to_list() == tree["py1"].array().to_list()
    report = nyssa.convert(damaged, output, force=True, skip_unreadable=True)
    assert {one["branch"]: one["unreadable"] for one in report["skipped"]} == {
        "px1": True,
        "M": True,
    }


def test_objects_without_headers(tmp_path: Path) -> None:
    """`HoldMuo` in `HoldJpsi` begins with its `TObject`; the numbers are those that ROOT scans."""
    _convert("roottest/io__evolution__skim.root", tmp_path)
    muons = nyssa.open(tmp_path / "out.root")["rootTree"]["Jpsi"].array()["jmu1"]["ptl"]
    assert muons["nCFT"][:3].to_list() == [[15], [16], [16]]
    assert muons["pt"][:2].to_list() == [[pytest.approx(3.4250102)], [pytest.approx(3.6395034)]]


def test_arrays_of_pointers_without_tags(tmp_path: Path) -> None:
    """Before ROOT 5.15/09 objects are stored one after the other; the bytes were read by hand."""
    [report] = _convert("roottest/io__vararyobj__varyingArray_51508.root", tmp_path)
    assert [product["streamer"] for product in report["streamer_fields"]] == [True]
    table = nyssa.open(tmp_path / "out.root")["t1"].arrays(library="arrow")
    found = table.column(0)[0].as_py()["fPtrTable"]
    names = [(one[":_0"]["fName"], one["fX"]) for one in found]
    assert names == [("Dopey", 247), ("Grumpy", 149), ("Sleepy", 968)]


def test_containers_of_pointers_are_streamer_fields(tmp_path: Path) -> None:
    reports = _convert("uproot-issue485.root", tmp_path)
    types = {field["type_name"] for report in reports for field in report["fields"]}
    assert types == {"std::vector<allpix::MCTrack*>", "std::vector<allpix::MCParticle*>"}


def test_containers_of_classes_that_nobody_describes(tmp_path: Path) -> None:
    reports = _convert("uproot-issue-798.root", tmp_path)
    products = {one["branch"]: one for report in reports for one in report["streamer_fields"]}
    assert products["PrimaryVerticesAuxDyn.neutralParticleLinks"]["streamer"]


def test_objects_with_references_that_do_not_fit_their_streamer_info(tmp_path: Path) -> None:
    """`MGTEvent` has a streamer of its own. Numbers in its bytes may be references or not."""
    status, _, err = _command(TREES / "uproot-issue-607.root", tmp_path / "out.root")
    assert status == 4
    assert "event: pointers to objects of several classes have no RNTuple type" in err
    assert "may be a reference" in err
    assert "in MGTEvent::fActiveID, at byte 5093 of the object" in err


@pytest.mark.parametrize("name", ["uproot-issue-798.root", "uproot-issue-951.root"])
def test_classes_without_streamer_info(name: str, tmp_path: Path) -> None:
    """A streamer field needs one: such a branch is left out by name, and the rest converted."""
    output = tmp_path / "out.root"
    options = ("--streamer", "all", "--skip-unsupported", "--verify", "--json")
    status, out, err = _command(TREES / name, output, *options)
    assert status == 0, err
    reports = json.loads(out)["reports"]
    trees = {one["tree"].split(";")[0] for one in reports}
    assert "MetaData" in trees
    with uproot.open(TREES / name) as file:
        for report in reports:
            total = file[report["tree"]].num_entries
            assert report["entries"] == total
    reasons = [one["reason"] for report in reports for one in report["skipped"]]
    reasons += [one["reason"] for report in reports for one in report["streamer_fields"]]
    assert any("no streamer info describes the class DataVector<" in one for one in reasons)
