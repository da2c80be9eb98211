"""A profile sees all bytes once, and its files open in the programs that they are for."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

#: The number of bytes of the checksum of each page, which ROOT's inspector does not count.
CHECKSUM = 8


@pytest.fixture(scope="module")
def arrays() -> dict[str, Any]:
    """Return columns that become much smaller, so that no page or basket is stored as it is."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, 20_000)
    jets = ak.unflatten(rng.integers(0, 9, np.sum(counts)).astype("f4"), counts)
    return {"x": rng.integers(0, 5, 20_000).astype("f8"), "n": np.arange(20_000), "pt": jets}


def _profiled(work: Callable[[], object]) -> dict[str, Any]:
    with nyssa.profile() as profile:
        work()
    return profile.to_dict()


def _stage(numbers: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [one for one in numbers["stages"] if one["stage"] == name]
    return found


def test_all_pages_are_seen_once(arrays: dict[str, Any], tmp_path: Path, root: Root) -> None:
    """The sizes are those that ROOT's inspector counts."""
    path = tmp_path / "some.root"

    def write() -> None:
        with nyssa.recreate(path, cluster_size="5 kB") as out:
            out["Events"] = arrays

    written = _profiled(write)
    columns = root.call("inspection", str(path), "Events")["columns"]
    stored, unpacked, pages, _ = (sum(each) for each in zip(*columns, strict=True))
    assert all(one[0] < one[1] for one in columns)
    assert pages > 3 * len(columns)
    events = nyssa.open(f"{path}:Events")
    read = _profiled(lambda: events.arrays(library="arrow"))
    assert (_stage(read, "checksum")["calls"], _stage(read, "checksum")["bytes_in"]) == (
        pages,
        stored,
    )
    unzip, zipped = _stage(read, "unzip"), _stage(written, "zip")
    assert (unzip["calls"], unzip["bytes_in"], unzip["bytes_out"]) == (pages, stored, unpacked)
    assert _stage(read, "decode")["bytes_in"] <= unpacked
    assert _stage(read, "wait")["bytes_out"] == stored + CHECKSUM * pages
    # The writer zips header, footer and page list, too, and may try more than one codec.
    assert zipped["bytes_in"] >= unpacked
    assert _stage(written, "write")["bytes_in"] >= path.stat().st_size
    assert {one["column"] for one in read["columns"]} >= {"x", "n", "pt"}
    some = _profiled(lambda: events.arrays(["x"], library="arrow"))
    assert _stage(some, "checksum")["bytes_in"] < stored
    assert {one["column"] for one in some["columns"]} == {"x"}


def test_all_baskets_are_seen_once(arrays: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {"x": "float64", "n": "int64", "pt": "var * float32"})
        for start in range(0, 20_000, 5_000):
            tree.extend({name: one[start : start + 5_000] for name, one in arrays.items()})
    with uproot.open(path) as file:
        found = [
            branch.basket(number)
            for branch in file["Events"].branches
            for number in range(branch.num_baskets)
        ]
    stored = sum(one.member("fNbytes") - one.member("fKeylen") for one in found)
    unpacked = sum(one.member("fObjlen") for one in found)
    events = nyssa.open(f"{path}:Events")
    read = _profiled(lambda: events.arrays(library="arrow"))
    unzip = _stage(read, "unzip")
    assert (unzip["calls"], unzip["bytes_in"], unzip["bytes_out"]) == (
        len(found),
        stored,
        unpacked,
    )
    assert _stage(read, "basket")["calls"] == _stage(read, "decode")["calls"] == len(found)


def test_one_profile_at_a_time(tmp_path: Path) -> None:
    profile = nyssa.profile()
    assert repr(profile) == "<Profile, not started>"
    with pytest.raises(nyssa.ArgumentError, match="no numbers before its `with` statement"):
        profile.to_dict()
    with profile:
        assert repr(profile) == "<Profile, running>"
        with pytest.raises(nyssa.ArgumentError, match="a profiler runs already in this process"):
            nyssa.profile().__enter__()
        with pytest.raises(nyssa.ArgumentError, match="this profile runs already"):
            profile.__enter__()
    assert repr(profile) == profile.table
    assert profile.to_dict()["stages"] == []
    with pytest.raises(ZeroDivisionError), profile:
        1 / 0  # noqa: B018
    profile.to_perfetto(tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert {one["ph"] for one in trace["traceEvents"]} <= {"C"}


def test_the_page(arrays: dict[str, Any], tmp_path: Path) -> None:
    """The page has no scripts, and the browser reports nothing."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium (apt-get install chromium)")
    with nyssa.profile() as profile, nyssa.recreate(tmp_path / "some.root") as out:
        out["Events"] = arrays
    page = tmp_path / "page.html"
    profile.to_html(page)
    assert profile._repr_html_() in page.read_text()
    command = [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"]
    command += ["--dump-dom", f"--user-data-dir={tmp_path / 'user'}", page.as_uri()]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    assert b"CONSOLE" not in done.stderr, done.stderr.decode()
    shown = done.stdout.decode()
    assert "<script" not in shown
    for name in ("stages", "threads", "columns"):
        assert f'<table id="{name}">' in shown
    for one in profile.to_dict()["stages"]:
        assert f"<td>{one['stage']}</td>" in shown
    assert shown.count("<rect") >= 4


def test_the_command(arrays: dict[str, Any], tmp_path: Path) -> None:
    """The command of the package is that of the program, which has tests of its own."""
    path, trace = tmp_path / "some.root", tmp_path / "trace.json"
    with nyssa.recreate(path) as out:
        out["Events"] = arrays
    command = [sys.executable, "-m", "nyssa", "profile", "--output", str(trace), "digest"]
    done = subprocess.run([*command, str(path)], capture_output=True, check=True, text=True)
    assert len(done.stdout.splitlines()) == 3
    assert done.stderr.startswith("time: ")
    assert json.loads(trace.read_text())["traceEvents"]
