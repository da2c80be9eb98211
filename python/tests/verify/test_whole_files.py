"""`diff` and `digest` of whole files take every dataset, and `diff` the other objects."""

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


def write(path: Path, shift: int = 0, **more: object) -> str:
    """Write a file with two trees, an RNTuple and a histogram with uproot."""
    with uproot.recreate(path) as file:
        file.mktree("Events", {"x": "int32"}).extend({"x": np.arange(5, dtype="i4")})
        file.mktree("dir/Runs", {"run": "int32"}).extend({"run": np.array([7 + shift], "i4")})
        file.mkrntuple("Extra", {"y": np.arange(3)})
        file["h"] = np.histogram([0.5 + shift], bins=4, range=(0, 4))
        for name, value in more.items():
            file[name] = value
    return str(path)


def command(*arguments: object) -> tuple[int, str, str]:
    """Run `nyssa` and return exit code, output and errors."""
    line = [sys.executable, "-m", "nyssa", *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_equal_files(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a.root"), write(tmp_path / "b.root")
    report: Any = nyssa.diff(a, b)
    assert report.equal
    assert [one.path for one in report.datasets] == ["Events", "dir/Runs", "Extra"]
    assert report.compared_objects == 1
    code, said, _ = command("diff", a, b)
    assert (code, said) == (0, f"{report}\n")
    code, said, _ = command("diff", a, b, "--json")
    assert json.loads(said)["datasets"][1]["path"] == "dir/Runs"


def test_what_differs_is_named(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", note="text")
    b = write(tmp_path / "b.root", 1)
    with uproot.update(b) as file:
        file.mktree("More", {"z": "int32"}).extend({"z": np.array([1], "i4")})
    report: Any = nyssa.diff(a, b)
    assert not report.equal
    assert [one.path for one in report.datasets if not one.equal] == ["dir/Runs"]
    assert report.datasets[1].different[0].first.a == "7"
    assert report.only_in_a == ["note (TObjString)"]
    assert report.only_in_b == ["More (TTree)"]
    assert report.different == ["h (TH1D): its stored bytes differ"]
    code, said, _ = command("diff", a, b)
    assert (code, said) == (1, f"{report}\n")
    common: Any = nyssa.diff(a, b, only_common=True, filter_name="x")
    assert [one.path for one in common.datasets] == ["Events"]
    assert common.only_in_b == ["More (TTree)"]
    with pytest.raises(nyssa.ArgumentError, match="the filter matches none of the columns"):
        nyssa.diff(a, b, filter_name="none")
    # One dataset of each is compared as before.
    assert nyssa.diff(f"{a}:Events", f"{b}:Events").equal


def test_a_converted_file(tmp_path: Path) -> None:
    """Each tree is compared with the RNTuple at its path."""
    a = write(tmp_path / "a.root")
    nyssa.convert(a, tmp_path / "b.root")
    report: Any = nyssa.diff(a, tmp_path / "b.root")
    assert report.equal, str(report)
    assert report.compared_objects == 1


def test_files_of_a_merge(tmp_path: Path) -> None:
    """Several files on one side are compared as one file, without their other objects."""
    inputs = [write(tmp_path / f"in{number}.root", number) for number in range(2)]
    merged = tmp_path / "merged.root"
    nyssa.merge(inputs, merged)
    report: Any = nyssa.diff(f"{tmp_path}/in*.root", merged)
    assert report.equal
    assert [one.entries_a for one in report.datasets] == [10, 2, 6]
    assert report.compared_objects == 0


def test_digests_of_every_dataset(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root")
    reports: Any = nyssa.digest(a)
    assert [one["object"] for one in reports] == ["Events;1", "dir/Runs;1", "Extra"]
    alone: Any = nyssa.digest(f"{a}:dir/Runs")
    assert reports[1]["digests"] == alone["digests"]
    converted: Any = nyssa.convert(a, tmp_path / "b.root")
    found: Any = nyssa.digest(f"{tmp_path / 'b.root'}:dir/Runs", compare=converted)
    assert found["equal"]
    found = nyssa.digest(tmp_path / "b.root", compare=reports)
    assert [one["equal"] for one in found] == [True] * 3
    assert [one["object"] for one in nyssa.digest(a, filter_name="run")] == ["dir/Runs;1"]


def test_digests_of_the_command_line(tmp_path: Path) -> None:
    a, b = write(tmp_path / "a.root"), write(tmp_path / "b.root", 1)
    code, said, _ = command("digest", a, "--json")
    (tmp_path / "a.json").write_text(said)
    assert (code, [one["object"] for one in json.loads(said)["reports"]]) == (
        0,
        ["Events", "dir/Runs", "Extra"],
    )
    code, said, _ = command("digest", a, "--compare", tmp_path / "a.json")
    assert (code, said.count("equal: 1 column")) == (0, 3)
    code, said, _ = command("digest", b, "--compare", tmp_path / "a.json", "--json")
    found = json.loads(said)
    assert (code, found["equal"]) == (1, False)
    assert [(one["object"], one["equal"]) for one in found["datasets"]] == [
        ("Events", True),
        ("dir/Runs", False),
        ("Extra", True),
    ]
    code, said, _ = command("digest", a)
    assert [line for line in said.splitlines() if line.endswith(":")] == [
        "Events:",
        "dir/Runs:",
        "Extra:",
    ]
