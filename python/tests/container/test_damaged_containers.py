"""Damage to the header, the directories and the lists of a file is refused or reported."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root


def _u32(stored: bytes, at: int) -> int:
    return int(struct.unpack(">I", stored[at : at + 4])[0])


def _places(stored: bytes) -> dict[str, int]:
    """Return the places of some numbers in a small file."""
    record = 100 + _u32(stored, 28)
    keys, free = _u32(stored, record + 26), _u32(stored, 16)
    keylen = struct.unpack(">H", stored[keys + 14 : keys + 16])[0]
    return {
        "fNbytesName": record + 14,
        "fSeekDir": record + 18,
        "fKeylen of the list": keys + 14,
        "number of keys": keys + keylen,
        "fKeylen of a key": keys + keylen + 4 + 14,
        "last free segment": free + _u32(stored, 20) - 4,
    }


def _is_reported(path: Path) -> bool:
    try:
        return not nyssa.verify(path).sound
    except nyssa.FormatError:
        return True


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return small files by ROOT, uproot and nyssa."""
    folder = tmp_path_factory.mktemp("containers")
    counts = np.histogram([0.1], bins=4, range=(0, 1))
    root.call("write_container", str(folder / "root.root"))
    for name, library in (("uproot", uproot), ("nyssa", nyssa)):
        with library.recreate(folder / f"{name}.root") as file:
            file["h"] = counts
            file["second"] = "text"
    return [folder / f"{name}.root" for name in ("root", "uproot", "nyssa")]


@pytest.mark.parametrize("number", range(3), ids=["ROOT", "uproot", "nyssa"])
@pytest.mark.parametrize("place", list(_places(bytes(500))))
def test_one_wrong_number(number: int, place: str, files: list[Path], tmp_path: Path) -> None:
    """A number that makes objects vanish, or that ROOT refuses, is reported."""
    stored = bytearray(files[number].read_bytes())
    assert nyssa.verify(files[number]).problems == []
    at = _places(bytes(stored))[place]
    if place == "number of keys":
        stored[at : at + 4] = struct.pack(">I", 1)
    elif place == "last free segment":
        stored[at : at + 4] = struct.pack(">I", 100)
    else:
        stored[at + 1] ^= 0x10
    damaged = tmp_path / "damaged.root"
    damaged.write_bytes(stored)
    assert _is_reported(damaged)


def test_keys_that_uproot_deleted(tmp_path: Path) -> None:
    """Uproot leaves the keys of deleted objects behind its list. That is no damage."""
    path = tmp_path / "file.root"
    with uproot.recreate(path) as file:
        file["one"], file["two"] = "1", "2"
    with uproot.update(path) as file:
        del file["two"]
    assert list(nyssa.open(path)) == ["one;1"]
    assert nyssa.verify(path).problems == []
    # Another object takes the place of a deleted one, in another directory.
    with uproot.recreate(path) as file:
        file["one"], file["folder/two"] = "1", "2"
    with uproot.update(path) as file:
        file["abc"] = "3"
        del file["abc"]
        file["folder/def"] = "4"
    assert nyssa.open(path)["folder/def"] == "4"
    assert nyssa.verify(path).problems == []


def _values(path: Path) -> tuple[bytes, bytes]:
    file = nyssa.open(path)
    return file["t"]["x"].array(library="np").tobytes(), file["h"].values().tobytes()


@pytest.mark.parametrize("compression", ["zstd:5", "lz4:4", "zlib:1", "lzma:1"])
def test_flipped_bits_of_baskets_and_objects(compression: str, tmp_path: Path) -> None:
    """Whatever the compression, a checksum shows each flipped bit of what is compressed."""
    path, damaged = tmp_path / "file.root", tmp_path / "damaged.root"
    with nyssa.recreate(path, compression=compression) as file:
        file.mktree("t", {"x": np.random.default_rng(1).integers(0, 50, 400)})
        file["h"] = np.histogram([0.1], bins=400, range=(0, 1))
    assert uproot.open(path)["t"]["x"].array(library="np").sum() > 0
    assert nyssa.verify(path).checksums.absent == 0
    stored = path.read_bytes()
    at, checked = 100, 0
    while at < _u32(stored, 12):
        nbytes, version, objlen, _, size = struct.unpack(">IHIIH", stored[at : at + 16])
        name = at + 18 + (16 if version > 1000 else 8)
        class_name = stored[name + 1 : name + 1 + stored[name]]
        if class_name in (b"TBasket", b"TTree", b"TH1D") and objlen > nbytes - size:
            for byte in range(at + size + 9 + 10, at + nbytes, 7):
                flipped = bytearray(stored)
                flipped[byte] ^= 1 << byte % 8
                damaged.write_bytes(flipped)
                # Some bits have no meaning, such as those behind the last symbol of a stream.
                if not nyssa.verify(damaged).problems:
                    assert _values(damaged) == _values(path), (class_name, byte - at - size)
                checked += 1
        at += nbytes
    assert checked > 50


@pytest.mark.parametrize("compression", ["zstd:5", "zlib:1"])
def test_a_wrong_checksum_is_told_from_other_damage(compression: str, tmp_path: Path) -> None:
    """The checksum is at the end of a frame of zstd, and of a stream of zlib."""
    path = tmp_path / "file.root"
    with nyssa.recreate(path, compression=compression) as file:
        file["h"] = np.histogram([0.1], bins=400, range=(0, 1))
    stored = bytearray(path.read_bytes())
    key = uproot.open(path).key("h")
    stored[key.fSeekKey + key.fNbytes - 1] ^= 1
    path.write_bytes(stored)
    assert [problem.kind for problem in nyssa.verify(path).problems] == ["Checksum"]
    with pytest.raises(nyssa.ChecksumError):
        nyssa.open(path)["h"].values()


class _Key:
    """The places of the parts of a key."""

    def __init__(self, stored: bytes, at: int) -> None:
        """Read the key at byte `at`."""
        large = struct.unpack(">H", stored[at + 4 : at + 6])[0] > 1000
        self.at, self.keylen = at, struct.unpack(">H", stored[at + 14 : at + 16])[0]
        # The last of the four, or eight, bytes.
        self.seek = at + (25 if large else 21)
        self.class_name = at + (34 if large else 26)
        self.name = self.class_name + 1 + stored[self.class_name]
        self.title = self.name + 1 + stored[self.name]
        self.end = self.title + 1 + stored[self.title]


@pytest.fixture(scope="module")
def datasets(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file by ROOT with trees and an RNTuple."""
    path = tmp_path_factory.mktemp("datasets") / "file.root"
    root.call("write_datasets", str(path))
    assert nyssa.verify(path).problems == []
    assert root.call("opens", str(path)) == {"file": True, "ntuple": True}
    return path


def _damaged(path: Path, changes: dict[int, int], folder: Path) -> Path:
    """Write the file with other bytes at some places."""
    stored = bytearray(path.read_bytes())
    for at, byte in changes.items():
        assert stored[at] != byte
        stored[at] = byte
    damaged = folder / "damaged.root"
    damaged.write_bytes(stored)
    return damaged


def _messages(path: Path) -> list[str]:
    return [problem.message for problem in nyssa.verify(path).problems]


def test_class_of_the_streamer_infos(datasets: Path, tmp_path: Path) -> None:
    """ROOT cannot open a file whose streamer infos are said to be no `TList`."""
    stored = datasets.read_bytes()
    key = _Key(stored, _u32(stored, 37))
    assert stored[key.class_name + 1 : key.name] == b"TList"
    damaged = _damaged(datasets, {key.class_name + 2: ord("M")}, tmp_path)
    # A new process, because ROOT reads the streamer infos of one file once.
    code = "import ROOT, sys; print(ROOT.TFile(sys.argv[1]).IsZombie())"
    opened = subprocess.run(
        [sys.executable, "-c", code, damaged], capture_output=True, text=True, check=False
    )
    assert "Unknown class TMist" in opened.stderr
    assert "False" not in opened.stdout
    said = 'the key of the streamer infos says that they are a "TMist", and not a TList'
    assert [said in message for message in _messages(damaged)] == [True]


@pytest.mark.parametrize("place", ["keylen", "key name", "name", "title"])
def test_record_of_the_file(place: str, datasets: Path, root: Root, tmp_path: Path) -> None:
    """ROOT finds the top directory, for RNTuples, behind the key, name and title of the file."""
    stored = datasets.read_bytes()
    key = _Key(stored, 100)
    assert key.keylen == key.end - 100
    name = 100 + key.keylen
    places = {"keylen": 115, "key name": key.name, "name": name}
    at = places.get(place, name + 1 + stored[name])
    damaged = _damaged(datasets, {at: stored[at] ^ 2}, tmp_path)
    if place != "key name":
        assert not root.call("opens", str(damaged))["ntuple"]
    assert _is_reported(damaged)


@pytest.mark.parametrize("name", ["ntuple", "stored"])
def test_place_in_a_record(name: str, datasets: Path, root: Root, tmp_path: Path) -> None:
    """The key at a record says where it is. ROOT reads RNTuples by it."""
    stored = datasets.read_bytes()
    seek = uproot.open(datasets).key(name).fSeekKey
    at = _Key(stored, seek).seek
    damaged = _damaged(datasets, {at: stored[at] ^ 0x80}, tmp_path)
    if name == "ntuple":
        assert not root.call("opens", str(damaged))["ntuple"]
    said = f'the key of "{name}" at byte {seek} says that it is at byte {seek ^ 0x80}'
    assert _messages(damaged) == [said]


def test_place_and_class_of_a_directory(files: list[Path], tmp_path: Path) -> None:
    """The key at the record of a directory says where it is, and that it is a directory."""
    stored = files[0].read_bytes()
    key = _Key(stored, uproot.open(files[0]).key("d").fSeekKey)
    for at in (key.seek, key.class_name + 2):
        assert _is_reported(_damaged(files[0], {at: stored[at] ^ 1}, tmp_path))


def test_changed_title(files: list[Path], tmp_path: Path) -> None:
    """A title in the list that differs from the one of the record is noted."""
    stored = files[0].read_bytes()
    seek = uproot.open(files[0]).key("second").fSeekKey
    title = _Key(stored, seek).title + 1
    damaged = _damaged(files[0], {title: ord("T")}, tmp_path)
    report = nyssa.verify(damaged)
    assert report.problems == []
    assert report.notes == [
        f'TNamed "second";1 has the title "Title" in its record at byte {seek}: '
        "it was changed in the list"
    ]


def _header_of_basket(path: Path, branch: str) -> int:
    """Return the place of the header of the basket of a branch, behind its key."""
    basket = uproot.open(path)["stored"][branch].basket_key(0)
    return _Key(path.read_bytes(), basket.fSeekKey).end


def test_size_of_an_entry_of_a_basket(datasets: Path, root: Root, tmp_path: Path) -> None:
    """ROOT takes an entry of a basket without offsets by this size."""
    at = _header_of_basket(datasets, "x") + 6
    assert _u32(datasets.read_bytes(), at) == 4
    damaged = _damaged(datasets, {at + 3: 2}, tmp_path)
    assert root.call("branch_values", str(datasets), "stored", "x") == list(range(12))
    assert root.call("branch_values", str(damaged), "stored", "x") != list(range(12))
    assert _messages(damaged) == [
        "the basket says that each of its 12 entries has 2 bytes, but they have 48 bytes together"
    ]
    assert nyssa.open(damaged)["stored"]["x"].array(library="np").tolist() == list(range(12))


@pytest.mark.parametrize(
    ("branch", "at", "byte", "said"),
    [
        ("x", 0, 0x40, "the basket says that it has version 16387 of TBasket, the newest is 3"),
        ("x", 1, 0, "the basket says that it has version 0 of TBasket, the newest is 3"),
        ("v", 18, 4, "the basket has the flag 4, which does not belong to such a basket"),
        ("v", 18, 12, "the basket has the flag 12, which does not belong to such a basket"),
        ("v", 18, 80, "the basket has the flag 80, which does not belong to such a basket"),
    ],
)
def test_header_of_a_basket(
    branch: str, at: int, byte: int, said: str, datasets: Path, tmp_path: Path
) -> None:
    """A version and a flag that no basket of this form has are reported."""
    place = _header_of_basket(datasets, branch) + at
    assert _messages(_damaged(datasets, {place: byte}, tmp_path)) == [said]


def test_size_of_an_entry_of_an_embedded_basket(tmp_path: Path, root: Root) -> None:
    """A basket in its tree has the same header."""
    path = tmp_path / "file.root"
    root.call("write_datasets", str(path), 0)
    stored = path.read_bytes()
    tree = uproot.open(path).key("embedded")
    assert tree.fNbytes == tree.fObjlen + tree.fKeylen
    # The key of a basket begins 26 bytes before its class, or 34 bytes if it has 64-bit positions.
    end = tree.fSeekKey + tree.fNbytes
    at = stored.index(b"\x07TBasket\x01x", tree.fSeekKey, end)
    header = at + 8 + 2 + 1 + stored[at + 10]
    assert stored[header : header + 2] == b"\x00\x03"
    assert _u32(stored, header + 6) == 4
    damaged = _damaged(path, {header + 9: 2}, tmp_path)
    assert root.call("branch_values", str(damaged), "embedded", "x") != list(range(12))
    assert _messages(damaged) == [
        "the basket says that each of its 12 entries has 2 bytes, but they have 48 bytes together"
    ]
    flag = header + 18
    assert stored[flag] == 12
    assert _messages(_damaged(path, {flag: 4}, tmp_path)) != []


def test_sound_baskets_of_uproot(tmp_path: Path) -> None:
    """Uproot always says that there is place for 1000 offsets of texts."""
    path = tmp_path / "file.root"
    with uproot.recreate(path) as file:
        columns = {
            "x": np.zeros((1500, 3)),
            "flag": np.zeros(1500, dtype=bool),
            "text": np.array(["abc"] * 1500),
        }
        file.mktree("t", {"x": ("f8", (3,)), "flag": "bool", "text": "string"})
        file["t"].extend(columns)
    assert nyssa.verify(path).problems == []
