"""Recordings of opens and reads."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import uproot

import nyssa
from support.data import REPOSITORY
from support.written import write_baskets


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a tree of several baskets, which uproot wrote."""
    return write_baskets(tmp_path_factory.mktemp("record") / "tree.root")


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_reads_of_baskets(file: Path, tmp_path: Path) -> None:
    """The wanted ranges are the baskets that uproot knows."""
    tree = nyssa.open(f"{file}:tree")
    before = tree.io_stats()
    trace = tmp_path / "trace.jsonl"
    with nyssa.record(trace):
        tree.arrays(["x1", "x2"], threads=2)
    tree.arrays(["x3"])
    events = _events(trace)
    assert events[0]["op"] == "trace"
    assert (
        events[1].items() >= {"op": "open", "name": str(file), "size": file.stat().st_size}.items()
    )
    plans = [event for event in events if event["op"] == "plan"]
    wanted = {tuple(pair) for plan in plans for unit in plan["units"] for pair in unit}
    with uproot.open(file) as opened:
        branches = [opened["tree"][name] for name in ("x1", "x2")]
        baskets = {
            (int(branch.member("fBasketSeek")[i]), int(branch.member("fBasketBytes")[i]))
            for branch in branches
            for i in range(branch.num_baskets)
        }
    assert wanted == baskets
    waits = [event for event in events if event["op"] == "wait"]
    assert len(waits) == sum(len(plan["units"]) for plan in plans)
    assert all(0 <= one["start"] <= one["end"] <= one["released"] for one in waits)
    reads = [event for event in events if event["op"] in ("read", "readv")]
    lengths = [one.get("length", sum(n for _, n in one.get("ranges", []))) for one in reads]
    with nyssa.open(file) as again:
        assert again.io_stats().bytes_read < sum(lengths)
    assert before.bytes_read + sum(lengths) < tree.io_stats().bytes_read


def test_the_command_line_records(file: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    command = [sys.executable, "-m", "nyssa", "digest", f"{file}:tree", "--record", str(trace)]
    subprocess.run(command, check=True, capture_output=True)
    events = _events(trace)
    assert {event["op"] for event in events} >= {"trace", "open", "plan", "wait", "read"}
    command[-1] = str(tmp_path / "missing" / "trace.jsonl")
    ran = subprocess.run(command, check=False, capture_output=True, text=True)
    assert ran.returncode == 3
    assert ran.stderr.startswith(f"error: cannot create {command[-1]}: ")


def test_one_recording_at_a_time(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    refused = pytest.raises(OSError, match=f"already records to {first}; end")
    with nyssa.record(first), refused, nyssa.record(second):
        pass
    assert not second.exists()
    with nyssa.record(second):
        pass
    with pytest.raises(FileNotFoundError), nyssa.record(tmp_path / "missing" / "trace"):
        pass


#: A recording that XRootD's client made while ROOT read a tree.
OF_ROOT = REPOSITORY / "crates/nyssa-io/tests/xrdcl_of_root.csv"


def test_a_recording_is_shown_and_drawn(tmp_path: Path) -> None:
    """The numbers are as in the file: 5 reads and 5 vectored reads of ROOT."""
    found = nyssa.trace_summary(OF_ROOT)
    assert (found.iops_read, found.bytes_read) == (5, 42_004)
    assert (found.iops_readv, found.bytes_readv) == (5, 3_039_193)
    assert found.by_file[0].name == "root://localhost:23171//tree.root"
    assert sum(one.requests for one in found.sizes) == 10
    command = [sys.executable, "-m", "nyssa", "trace", "show", str(OF_ROOT)]
    shown = subprocess.run([*command, "--json"], check=True, capture_output=True, text=True)
    assert {"version": 1, **found.to_dict()} == json.loads(shown.stdout)
    assert str(found).splitlines()[-1].split() == [
        *("root://localhost:23171//tree.root", "1", "10", "10", "3.08", "MB", "100.0%", "100.0%")
    ]
    drawn = {name: tmp_path / name for name in ("python.png", "command.png", "image.pdf")}
    nyssa.plot_trace(OF_ROOT, drawn["python.png"])
    nyssa.plot_trace(str(OF_ROOT), str(drawn["image.pdf"]))
    subprocess.run([*command, "--plot", str(drawn["command.png"])], check=True, capture_output=True)
    assert drawn["python.png"].read_bytes().startswith(b"\x89PNG")
    assert drawn["command.png"].read_bytes() == drawn["python.png"].read_bytes()
    assert drawn["image.pdf"].read_bytes().startswith(b"%PDF")
    ran = subprocess.run(
        [*command, "--plot", "image.none"], check=False, capture_output=True, text=True
    )
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: cannot draw image.none: Format 'none' is not supported")
    with pytest.raises(nyssa.ArgumentError, match="^Format 'none' is not supported"):
        nyssa.plot_trace(OF_ROOT, tmp_path / "image.none")
    with pytest.raises(FileNotFoundError):
        nyssa.trace_summary(tmp_path / "missing")
