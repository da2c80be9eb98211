"""Keys that lie in a file and that no directory lists are named by `verify`."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root


@pytest.fixture
def container(root: Root, tmp_path: Path) -> Path:
    """Return a file by ROOT with objects, and with one in a directory."""
    path = tmp_path / "container.root"
    root.call("write_container", str(path))
    return path


def test_an_object_that_the_list_has_lost(container: Path) -> None:
    """A list that says one key, with zeros behind it, looks like a sound one."""
    file = uproot.open(container)
    lost = file.key("second")
    stored = bytearray(container.read_bytes())
    record = 100 + struct.unpack(">I", stored[28:32])[0]
    begin = struct.unpack(">I", stored[record + 26 : record + 30])[0]
    size, keylen = struct.unpack(">I10xH", stored[begin : begin + 16])
    one = begin + keylen + 4
    first = one + struct.unpack(">H", stored[one + 14 : one + 16])[0]
    stored[one - 4 : one] = struct.pack(">I", 1)
    stored[first : begin + size] = bytes(begin + size - first)
    container.write_bytes(stored)
    assert list(nyssa.open(container)) == ["h;1"]
    report = nyssa.verify(container)
    assert report.problems == []
    named = f'TNamed "second";1 lies at byte {lost.fSeekKey}, and no directory lists it'
    assert named in report.notes
    assert f"note: {named}" in str(report)
    call = [sys.executable, "-m", "nyssa", "verify", str(container)]
    shown = subprocess.run(call, capture_output=True, text=True)
    assert shown.returncode == 0
    assert f"note: {named}" in shown.stdout.splitlines()
    found = json.loads(subprocess.run([*call, "--json"], capture_output=True).stdout)
    assert found["notes"] == report.notes


def test_a_directory_that_root_removed(root: Root, container: Path) -> None:
    place = uproot.open(container).key("d").fSeekKey
    root.call("remove_directory", str(container))
    report = nyssa.verify(container)
    assert report.problems == []
    named = f'TDirectory "d";1 lies at byte {place}, and no directory lists it'
    assert report.notes == [named]


def test_many_keys_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "file.root"
    with nyssa.recreate(path) as file:
        for number in range(25):
            file[f"d/{number}"] = "text"
    with nyssa.update(path) as file:
        del file["d"]
    notes = nyssa.verify(path).notes
    assert len(notes) == 21
    assert notes[-1] == "no directory lists 6 more keys that lie in the file"


def test_what_writers_leave_is_no_unlisted_key(root: Root, container: Path, tmp_path: Path) -> None:
    """Old lists, deleted objects, baskets and clusters are not objects that a list has lost."""
    assert nyssa.verify(container).notes == []
    root.call("replace_objects", str(container))
    assert nyssa.verify(container).notes == []
    by_uproot, by_nyssa = tmp_path / "uproot.root", tmp_path / "nyssa.root"
    with uproot.recreate(by_uproot) as file:
        file["h"], file["d/h"] = np.histogram([1, 2]), np.histogram([1, 2])
        file["t"] = {"x": np.arange(1000)}
    with uproot.update(by_uproot) as file:
        file["h"] = np.histogram([1, 2])
        file["t2"] = {"x": np.arange(1000)}
        del file["d/h"]
        del file["t;1"]
    with nyssa.recreate(by_nyssa) as file:
        file["h"], file["n"] = np.histogram([1, 2]), {"x": np.arange(1000)}
        file.mktree("t", {"x": np.arange(1000)})
    changed = tmp_path / "changed.root"
    shutil.copy(by_nyssa, changed)
    with nyssa.update(changed) as file:
        file["more"] = np.histogram([1, 2])
        file["n"].extend({"x": np.arange(1000)})
        file["t"].extend({"x": np.arange(1000)})
    for path in (by_uproot, by_nyssa, changed):
        report = nyssa.verify(path)
        assert (report.problems, report.notes) == ([], [])


def test_files_of_many_writers(data: Path) -> None:
    paths = sorted(data.rglob("*.root"))
    noted = {
        path.name: notes
        for path in paths
        if path.stat().st_size < 2e6 and (notes := nyssa.verify(path).notes)
    }
    assert noted == {
        # The key of its list of keys does not say where it is.
        "uproot-issue261.root": [
            "no record begins at byte 10048, where one ends: keys that no directory lists were "
            "not looked for behind it"
        ]
    }
