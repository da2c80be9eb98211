"""`close` and the end of `with` close the descriptors; later reads raise an error."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.descriptors import descriptors


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Return two RNTuples and a TTree with the same columns."""
    paths = [tmp_path / f"{name}.root" for name in ("a", "b", "tree")]
    for path in paths[:2]:
        with nyssa.recreate(path) as file:
            file["Events"] = {"x": [1.0, 2.0], "y": [1, 2]}
    with uproot.recreate(paths[2]) as file:
        file.mktree("Events", {"x": "float64"}).extend({"x": np.array([1.0, 2.0])})
        file["mass"] = (np.ones(3), np.arange(4.0))
    return paths


HANDLES: dict[str, Callable[[list[Path]], Any]] = {
    "file": lambda paths: nyssa.open(paths[0]),
    "RNTuple": lambda paths: nyssa.open(f"{paths[0]}:Events"),
    "TTree": lambda paths: nyssa.open(f"{paths[2]}:Events"),
    "chain": lambda paths: nyssa.chain(paths[:2]),
    "join": lambda paths: nyssa.join(paths[0], paths[1], prefix="b."),
}


def read(handle: Any) -> Any:
    """Read the data of a handle."""
    return (handle["Events"] if isinstance(handle, nyssa.File) else handle)["x"].array()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc/self/fd")
@pytest.mark.parametrize("kind", HANDLES)
@pytest.mark.parametrize("way", ["close", "with"])
def test_readers(files: list[Path], kind: str, way: str) -> None:
    handle = HANDLES[kind](files)
    array = read(handle)
    assert descriptors(files[0].parent)
    if way == "close":
        handle.close()
    else:
        with handle as same:
            assert same is handle
    assert descriptors(files[0].parent) == []
    with pytest.raises(ValueError, match="is closed") as caught:
        read(handle)
    assert isinstance(caught.value, nyssa.ArgumentError)
    assert str(files[0].parent) in str(caught.value)
    # Arrays that were read, and properties that need no reading, stay valid.
    assert array.tolist()[:2] == [1.0, 2.0]
    assert len(handle.keys()) > 0
    handle.close()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc/self/fd")
def test_a_file_closes_what_was_taken_from_it(files: list[Path]) -> None:
    with nyssa.open(files[2]) as file:
        events, mass = file["Events"], file["mass"]
    assert descriptors(files[0].parent) == []
    with pytest.raises(ValueError, match=r"tree\.root: it is closed; open it again"):
        events.arrays()
    with pytest.raises(ValueError, match="is closed"):
        file["mass"]
    assert mass.values().tolist() == [1.0, 1.0, 1.0]


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc/self/fd")
@pytest.mark.parametrize("fails", [False, True])
def test_writers(files: list[Path], fails: bool) -> None:
    folder = files[0].parent
    for begin in (lambda: nyssa.recreate(folder / "new.root"), lambda: nyssa.update(files[0])):
        try:
            with begin() as file:
                file["More"] = {"z": [1.0]}
                assert descriptors(folder)
                if fails:
                    raise RuntimeError
        except RuntimeError:
            assert fails
        assert descriptors(folder) == []
        with pytest.raises(ValueError, match="is closed"):
            file["Yet more"] = {"z": [1.0]}


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="no /proc/self/fd")
def test_functions_leave_nothing_open(files: list[Path]) -> None:
    folder = files[0].parent
    for _ in nyssa.iterate(files[:2], step_size=1):
        pass
    nyssa.concatenate(files[:2])
    nyssa.convert(files[2], folder / "converted.root", "Events", verify=True)
    nyssa.merge(files[:2], folder / "merged.root")
    nyssa.rewrite(files[0], folder / "rewritten.root", verify=True)
    nyssa.digest(files[0])
    gc.collect()
    assert descriptors(folder) == []


def test_other_handles_of_the_same_file_stay_open(files: list[Path]) -> None:
    one, other = nyssa.open(files[0]), nyssa.open(files[0])
    one.close()
    assert other["Events"]["x"].array().tolist() == [1.0, 2.0]
    assert sys.getrefcount(one) > 0


def test_a_column_closes_its_file(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "x.root") as file:
        file["n"] = {"x": [1, 2]}
    with nyssa.open(f"{tmp_path / 'x.root'}:n/x") as column:
        assert column.array().to_list() == [1, 2]
    with pytest.raises(nyssa.ArgumentError, match="closed"):
        column.array()
