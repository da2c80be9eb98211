"""Files that are damaged at two places: both are reported, and nothing is lost without a word."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
import uproot

import nyssa


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with two RNTuples, a tree and a directory."""
    path = tmp_path_factory.mktemp("two") / "source.root"
    with nyssa.recreate(path) as file:
        file["first"] = {"x": [1.5, 2.5]}
        file["second"] = {"x": [3.5]}
        file["d/text"] = "text"
        file.mktree("tree", {"x": [1, 2]})
    assert nyssa.verify(path).problems == []
    return path


def _u32(stored: bytes, at: int) -> int:
    return int(struct.unpack(">I", stored[at : at + 4])[0])


def _list_of(source: Path, directory: str | None) -> int:
    """Return where the record of a directory states the size of its list of keys."""
    stored = source.read_bytes()
    if directory is None:
        return 100 + _u32(stored, 28) + 10
    place = uproot.open(source).key(directory).fSeekKey
    return int(place + struct.unpack(">H", stored[place + 14 : place + 16])[0] + 10)


def _damaged(source: Path, target: Path, changes: dict[int, bytes]) -> Path:
    stored = bytearray(source.read_bytes())
    for at, new in changes.items():
        stored[at : at + len(new)] = new
    target.write_bytes(stored)
    return target


def test_all_is_checked_beside_a_lost_directory(source: Path, tmp_path: Path) -> None:
    anchor = uproot.open(source).key("second")
    lost = {_list_of(source, "d"): struct.pack(">I", 1 << 30)}
    broken = {anchor.fSeekKey + anchor.fNbytes - 1: b"\x55"}
    report = nyssa.verify(_damaged(source, tmp_path / "damaged.root", lost | broken))
    found = [(problem.object, problem.message.partition(":")[0]) for problem in report.problems]
    assert [name for name, _ in found] == ["d", "second;1"], report.problems
    assert "the list of keys is said to lie at" in found[0][1]
    assert "checksum" in found[1][1]
    assert [dataset.path for dataset in report.datasets] == ["first", "tree"]


def test_a_broken_record_in_a_file_without_a_list(source: Path, tmp_path: Path) -> None:
    """The search for objects ends there, and all doors say so."""
    place = uproot.open(source).key("second").fSeekKey
    changes = {_list_of(source, None): bytes(4), place + 4: b"\xff" * 8}
    path = _damaged(source, tmp_path / "damaged.root", changes)
    why = f"no complete record begins at byte {place}, .* was not searched"
    with pytest.warns(UserWarning, match=f"was not closed: .*; {why}"):
        assert nyssa.open(path).keys(cycle=False) == ["d", "d/text", "first"]
    report = nyssa.verify(path)
    assert not report.sound
    assert [f"at byte {place}," in text for text in report.unchecked] == [True]
    rewritten = nyssa.rewrite(f"{path}:first", tmp_path / "out.root")
    notes = [note for report in rewritten for note in report["notes"]]
    assert any(f"at byte {place}," in note for note in notes)


def test_a_directory_without_its_list(source: Path, tmp_path: Path) -> None:
    """The objects are found, and the damage is reported."""
    path = _damaged(source, tmp_path / "damaged.root", {_list_of(source, "d"): bytes(4)})
    assert nyssa.open(path)["d/text"] == "text"
    said = "the directory has no list of keys, so that ROOT does not show the 1 objects in it"
    assert [(p.object, p.message) for p in nyssa.verify(path).problems] == [("d", said)]


def test_records_behind_the_end_of_the_file(source: Path, tmp_path: Path) -> None:
    """An update would write over them. It is refused, and the file stays as it is."""
    place = uproot.open(source).key("tree").fSeekKey
    path = _damaged(source, tmp_path / "damaged.root", {12: struct.pack(">I", place)})
    said = f"the header says that the file ends at byte {place}, but the list of keys ends at byte"
    assert said in nyssa.verify(path).problems[-1].message
    before = path.read_bytes()
    with pytest.raises(nyssa.FormatError, match=said):
        nyssa.update(path)
    assert path.read_bytes() == before
