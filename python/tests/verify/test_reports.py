"""Reports in Python equal the reports of the command line, and people can read them."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import typing_extensions
import uproot

import nyssa
from nyssa.show.table import counted


def command(*args: object, code: int = 0) -> Any:
    """Return what the command line prints as JSON."""
    full = [sys.executable, "-m", "nyssa", *map(str, args), "--json"]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    document = json.loads(ran.stdout)
    assert document.pop("version") == 1
    return document


def people(*args: object, code: int = 0) -> str:
    """Return the text that the command line prints."""
    full = [sys.executable, "-m", "nyssa", *map(str, args)]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    assert ran.returncode == code, ran.stderr
    return ran.stdout


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a file of uproot with a tree and a histogram, and its conversion."""
    folder = tmp_path_factory.mktemp("reports")
    tree, ntuple = folder / "tree.root", folder / "ntuple.root"
    with uproot.recreate(tree) as file:
        file.mktree("Events", {"x": "float64", "n": "var * int32"})
        file["Events"].extend({"x": np.arange(5) * 0.5, "n": ak.Array([[1, 2], [], [3], [], []])})
        file["h"] = np.histogram([1, 2, 3])
    nyssa.convert(tree, ntuple)
    return tree, ntuple


@pytest.mark.parametrize(
    ("number", "thing", "text"),
    [
        (0, "entry", "0 entries"),
        (1, "entry", "1 entry"),
        (1, "output", "1 output"),
        (2, "key", "2 keys"),
        (1234, "branch entry", "1,234 branch entries"),
    ],
)
def test_things_are_counted(number: int, thing: str, text: str) -> None:
    assert counted(number, thing) == text


def test_verify(files: tuple[Path, Path]) -> None:
    tree, ntuple = files
    report = nyssa.verify(ntuple)
    assert report.to_dict() == command("verify", ntuple)
    assert str(report) == people("verify", ntuple).rstrip("\n")
    assert (report.sound, report.problems, report.objects.decoded) == (True, [], 1)
    events, kept = report.datasets
    assert (kept.path, report.notes) == ("Events, attribute set nyssa_ttree", [])
    assert (events.path, events.cycle, events.class_name) == ("Events", 1, "ROOT::RNTuple")
    assert (events.entries, events.parts) == (5, events.checksummed)
    assert nyssa.verify(f"{tree}:Events").to_dict() == command("verify", f"{tree}:Events")
    assert nyssa.verify(tree).keys == 2
    assert pickle.loads(pickle.dumps(report)) == report


def test_verify_tells_of_damage(tmp_path: Path) -> None:
    """Damage is in the report with its place, and raises no exception."""
    damaged = tmp_path / "damaged.root"
    numbers = np.arange(11, 21, dtype=np.int8)
    with nyssa.recreate(damaged, compression=0) as file:
        file["Events"] = {"b": numbers}
    data = bytearray(damaged.read_bytes())
    data[data.index(numbers.tobytes())] = 99
    damaged.write_bytes(data)
    calls: list[tuple[int, ...]] = []
    report = nyssa.verify(damaged, progress=lambda *done: calls.append(done))
    assert report.sound is False
    assert [(one.kind, one.object, one.field) for one in report.problems] == [
        ("Checksum", "Events;1", "b")
    ]
    assert calls[-1] == (1, 1)
    assert report.to_dict() == command("verify", damaged, code=1)
    assert str(report) == people("verify", damaged, code=1).rstrip("\n")
    not_root = tmp_path / "not.root"
    not_root.write_bytes(b"no ROOT file at all")
    assert [one.kind for one in nyssa.verify(not_root).problems] == ["OutOfSpecification"]
    with pytest.raises(FileNotFoundError, match="missing"):
        nyssa.verify(tmp_path / "missing.root")
    with pytest.raises(nyssa.NotFoundError, match='no "Evets" in this file'):
        nyssa.verify(f"{damaged}:Evets")


def test_diff(files: tuple[Path, Path], tmp_path: Path) -> None:
    tree, ntuple = files
    report = nyssa.diff(tree, ntuple)
    assert report.to_dict() == command("diff", tree, ntuple)
    assert str(report) == people("diff", tree, ntuple).rstrip("\n")
    assert report.equal
    assert [one.name for one in report.compared] == ["x", "nn", "n"]
    other = tmp_path / "other.root"
    with nyssa.recreate(other) as file:
        file["Events"] = {"x": [0.0, 0.5, 7.0], "y": [1, 2, 3]}
    report = nyssa.diff(tree, other)
    assert report.to_dict() == command("diff", tree, other, code=1)
    assert str(report) == people("diff", tree, other, code=1).rstrip("\n")
    assert (report.equal, report.only_in_a, report.only_in_b) == (False, ["nn", "n"], ["y"])
    assert report.different[0].first == nyssa.reports.Difference(2, "", "1.0", "7.0")
    assert nyssa.diff(nyssa.open(tree)["Events"], [ntuple], filter_name="x").equal
    common = nyssa.diff(tree, other, only_common=True)
    assert common.to_dict() == command("diff", tree, other, "--only-common", code=1)


def test_diff_of_several_files(files: tuple[Path, Path]) -> None:
    tree, ntuple = files
    assert nyssa.diff([tree, ntuple], [ntuple, tree]).compared_entries == 10
    with pytest.raises(nyssa.NotFoundError, match="filter_name matches none of the 6 columns"):
        nyssa.diff(tree, ntuple, filter_name="y*")


def test_inspect(files: tuple[Path, Path]) -> None:
    for path in files:
        report = nyssa.inspect(path)
        assert report.to_dict() == command("inspect", path)
        assert nyssa.inspect(f"{path}:Events") == report
        assert nyssa.inspect(nyssa.open(path)["Events"]) == report
        # The command line also prints the other objects of the file, in separate lines.
        lines = people("inspect", path).splitlines()
        assert str(report).splitlines() == [lines[0], *lines[lines.index("") + 1 :]]
    assert nyssa.inspect(files[0]).format == "TTree"
    assert nyssa.inspect(files[1]).cluster_groups == 1
    with pytest.raises(nyssa.ArgumentError, match="inspect takes a dataset of one file"):
        nyssa.inspect(nyssa.chain([files[0]]))  # type: ignore[arg-type]


def test_html(files: tuple[Path, Path]) -> None:
    """Notebooks show tables, in which text from files is escaped."""
    html = nyssa.diff(files[0], files[1])._repr_html_()
    assert html == "<div>equal: 3 columns, 5 entries compared</div>"
    shown = nyssa.verify(files[1])._repr_html_()
    assert '<td style="text-align: left">ROOT::RNTuple</td>' in shown
    table = nyssa.reports.VerifyReport._of({**nyssa.verify(files[1]).to_dict(), "file": "<b>"})
    assert "<b>" not in table._repr_html_()


def test_digests_have_their_type(files: tuple[Path, Path]) -> None:
    """The types have the same keys."""
    report = nyssa.digest(files[0])
    assert set(report) == set(nyssa.reports.DigestReport.__annotations__)
    assert set(report["digests"][0]) == set(nyssa.reports.ColumnDigest.__annotations__)
    compared = nyssa.digest(files[1], compare=report)
    assert set(compared) == set(nyssa.reports.DigestComparison.__annotations__)
    assert command("digest", files[0])["digests"] == report["digests"]


def same_keys(report: Any, kind: Any) -> None:
    """Check that a report and the dicts inside it have the keys of their types."""
    required, optional = kind.__required_keys__, kind.__optional_keys__
    assert required <= report.keys() <= required | optional
    hints = typing_extensions.get_type_hints(kind)
    for name, value in report.items():
        inner = typing_extensions.get_args(hints[name])
        if isinstance(value, list) and inner and typing_extensions.is_typeddict(inner[0]):
            for one in value:
                same_keys(one, inner[0])


def test_reports_of_jobs_have_their_types(files: tuple[Path, Path], tmp_path: Path) -> None:
    tree, _ = files
    one, two, merged = (tmp_path / f"{name}.root" for name in ("one", "two", "merged"))
    converted = nyssa.convert(tree, one, effort="auto", encoding="auto", verify=True)
    same_keys(converted, nyssa.reports.ConvertReport)
    [rewritten] = nyssa.rewrite(one, two)
    same_keys(rewritten, nyssa.reports.RewriteReport)
    same_keys(nyssa.merge([one, two], merged), nyssa.reports.MergeReport)
    assert json.loads(json.dumps(converted)) == converted
