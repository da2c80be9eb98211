"""Damage to the header, the directories and the lists of a file is refused or reported."""

from __future__ import annotations

import struct
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
