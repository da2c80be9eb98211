"""Tests files with a directory that cannot be listed: all other objects are read."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import nyssa
from support.root import Root


@pytest.fixture(scope="module")
def source(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of a tree and two directories, one of them empty."""
    path = tmp_path_factory.mktemp("lost") / "source.root"
    with nyssa.recreate(path) as file:
        file["tree"] = {"x": [1.5, 2.5]}
    root.call("add_histogram", str(path), "kept", "hist")
    root.call("add_histogram", str(path), "lost", "hist")
    return path


def damaged(source: Path, target: Path, size: int, seek: int) -> Path:
    """Copy a file and set the size and place of the key list of its directory ``lost``."""
    listing = subprocess.run(
        [sys.executable, "-m", "nyssa", "ls", "--json", str(source)],
        check=True,
        capture_output=True,
    )
    keys = json.loads(listing.stdout)["keys"]
    place = next(key["position"] for key in keys if key["path"] == "lost")
    data = bytearray(source.read_bytes())
    record = place + struct.unpack(">H", data[place + 14 : place + 16])[0]
    assert struct.unpack(">H", data[record : record + 2])[0] < 1000
    data[record + 10 : record + 14] = struct.pack(">i", size)
    data[record + 26 : record + 30] = struct.pack(">i", seek)
    target.write_bytes(data)
    return target


def test_what_can_be_listed_is(source: Path, tmp_path: Path) -> None:
    path = damaged(source, tmp_path / "damaged.root", 100, 1 << 30)
    why = f"the list of keys is said to lie at bytes {1 << 30} to {(1 << 30) + 100}"
    with pytest.warns(UserWarning, match=f"a directory cannot be listed: {why}.*object lost"):
        file = nyssa.open(path)
    assert file.keys(cycle=False) == ["tree", "kept", "kept/hist", "lost"]
    assert file["tree"]["x"].array().to_list() == [1.5, 2.5]
    assert len(file["kept/hist"].values()) > 0
    listed = subprocess.run(
        [sys.executable, "-m", "nyssa", "ls", str(path)], check=True, capture_output=True, text=True
    )
    assert "kept/hist;1" in listed.stdout
    assert f"warning: {why}" in listed.stderr


def test_a_directory_without_a_list_is_searched_for(source: Path, tmp_path: Path) -> None:
    """The records of its objects name their directory."""
    file = nyssa.open(damaged(source, tmp_path / "damaged.root", 0, 0))
    assert "lost/hist;1" in file.keys()


def test_what_is_lost_is_told_when_the_rest_is_carried(source: Path, tmp_path: Path) -> None:
    path = damaged(source, tmp_path / "damaged.root", 100, 1 << 30)
    report = nyssa.rewrite(f"{path}:tree", tmp_path / "out.root")
    assert "the list of keys is said to lie at" in str(report), report
