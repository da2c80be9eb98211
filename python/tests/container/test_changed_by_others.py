"""Files that nyssa wrote, changed by uproot, ROOT and nyssa, and read by all three afterwards."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

_X = np.arange(5.0)
_COUNTS = np.histogram([0.1, 0.5, 0.6], bins=4, range=(0, 1))
_DATASET: dict[str, Any] = {"data": [5, 10.0]}
_HISTOGRAM: dict[str, Any] = {"h": [1.0, 0.0, 2.0, 0.0]}


def _empty(path: Path) -> dict[str, Any]:
    with nyssa.recreate(path):
        pass
    return {}


def _histogram(path: Path) -> dict[str, Any]:
    with nyssa.recreate(path) as file:
        file["h"] = _COUNTS
    return _HISTOGRAM


def _tree(path: Path) -> dict[str, Any]:
    with nyssa.recreate(path) as file:
        file.mktree("data", {"x": _X})
    return _DATASET


def _ntuple(path: Path) -> dict[str, Any]:
    with nyssa.recreate(path) as file:
        file["data"] = {"x": _X}
    return _DATASET


def _converted(path: Path) -> dict[str, Any]:
    nyssa.convert(_input(path, _tree), path)
    return _DATASET


def _converted_back(path: Path) -> dict[str, Any]:
    nyssa.convert(_input(path, _ntuple), path, to="ttree")
    return _DATASET


def _rewritten(path: Path) -> dict[str, Any]:
    nyssa.rewrite(_input(path, _ntuple), path)
    return _DATASET


def _merged_trees(path: Path) -> dict[str, Any]:
    nyssa.merge([_input(path, _tree)] * 2, path)
    return {"data": [10, 20.0]}


def _merged_ntuples(path: Path) -> dict[str, Any]:
    nyssa.merge([_input(path, _ntuple)] * 2, path)
    return {"data": [10, 20.0]}


def _merged_histograms(path: Path) -> dict[str, Any]:
    nyssa.merge([_input(path, _histogram)] * 2, path)
    return {"h": [2.0, 0.0, 4.0, 0.0]}


def _updated(path: Path) -> dict[str, Any]:
    _tree(path)
    with nyssa.update(path) as file:
        file["h"] = _COUNTS
        file["data"].extend({"x": _X})
    return {"data": [10, 20.0], **_HISTOGRAM}


def _input(path: Path, write: Callable[[Path], Any]) -> str:
    path = path.with_name(f"input-{path.name}")
    write(path)
    return str(path)


_WRITERS = [
    *(_empty, _histogram, _tree, _ntuple, _converted, _converted_back, _rewritten),
    *(_merged_trees, _merged_ntuples, _merged_histograms, _updated),
]


@pytest.mark.parametrize("write", _WRITERS, ids=lambda write: write.__name__.strip("_"))
@pytest.mark.parametrize("order", ["uproot ROOT nyssa", "ROOT nyssa uproot", "nyssa uproot ROOT"])
def test_writers_changers_readers(
    write: Callable[[Path], dict[str, Any]], order: str, root: Root, tmp_path: Path
) -> None:
    """Every change keeps all objects and the streamer infos, for all readers."""
    path = tmp_path / "file.root"
    wanted = dict(write(path))
    known = set(root.call("summary", str(path))["infos"])
    for changer in order.split():
        if changer == "ROOT":
            root.call("update_file", str(path), "ROOT")
        else:
            with (uproot if changer == "uproot" else nyssa).update(path) as file:
                file[changer] = "text"
        wanted[changer] = {"ROOT": "by ROOT"}.get(changer, "Collectable string class")
        found = root.call("summary", str(path))
        assert not found.pop("recovered"), changer
        infos = set(found.pop("infos"))
        assert known <= infos, changer
        known = infos
        assert found == wanted, changer
        assert nyssa.verify(path).problems == [], changer
        for read in (_by_uproot, _by_nyssa):
            assert read(path) == {name: wanted[name] for name in ("data", "h") if name in wanted}


def _by_uproot(path: Path) -> dict[str, Any]:
    file, found = uproot.open(path), {}
    if "data" in file:
        values = file["data"].arrays(["x"])["x"].to_numpy()
        found["data"] = [len(values), float(values.sum())]
    if "h" in file:
        found["h"] = file["h"].values().tolist()
    return found


def _by_nyssa(path: Path) -> dict[str, Any]:
    file, found = nyssa.open(path), {}
    if "data" in file:
        values = file["data"].arrays(["x"], library="np")["x"]
        found["data"] = [len(values), float(values.sum())]
    if "h" in file:
        found["h"] = file["h"].values().tolist()
    return found


def _keys(path: Path) -> list[tuple[str, int, int]]:
    """Return class, version and cycle of the key of each record of a small file."""
    stored = path.read_bytes()
    end, found, at = struct.unpack(">I", stored[12:16])[0], [], 100
    while at < end:
        nbytes, version, _, _, _, cycle = struct.unpack(">iHIIHH", stored[at : at + 18])
        if nbytes > 0:
            name = at + 18 + (16 if version > 1000 else 8)
            class_name = stored[name + 1 : name + 1 + stored[name]].decode()
            found.append((class_name, version, cycle))
        at += abs(nbytes)
    return found


@pytest.mark.parametrize("write", _WRITERS, ids=lambda write: write.__name__.strip("_"))
def test_keys_are_as_wide_as_those_of_root(
    write: Callable[[Path], dict[str, Any]], tmp_path: Path
) -> None:
    """ROOT gives 64-bit positions to baskets and blobs only, as long as the file is small."""
    write(tmp_path / "file.root")
    keys = _keys(tmp_path / "file.root")
    assert ("TList", 4, 1) in keys
    assert {name for name, version, _ in keys if version != 4} <= {"TBasket", "RBlob"}


def test_cycles_of_baskets_go_on(tmp_path: Path) -> None:
    """The cycle of a basket is its number in its branch, as in ROOT's files."""
    path = tmp_path / "file.root"
    _tree(path)
    for _ in range(2):
        with nyssa.update(path) as file:
            file["data"].extend({"x": _X})
    assert [cycle for name, _, cycle in _keys(path) if name == "TBasket"] == [0, 1, 2]


def test_infos_beside_a_histogram(root: Root, tmp_path: Path) -> None:
    """Base classes and members are described, as ROOT does it."""
    wanted = root.call("infos_of_histogram", str(tmp_path / "root.root"))
    _histogram(tmp_path / "file.root")
    assert root.call("summary", str(tmp_path / "file.root"))["infos"] == wanted
