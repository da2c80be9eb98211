"""Memory stays what it is when files are opened, read and closed 300 times."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
import nyssa.uproot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is as /proc tells it")

LOOPS = 300


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file with a tree, an RNTuple and a histogram."""
    path = tmp_path_factory.mktemp("loops") / "file.root"
    lists = ak.unflatten(np.arange(12_000, dtype=np.float32), np.full(4_000, 3))
    with nyssa.recreate(path) as file:
        file.mktree("tree", {"x": np.arange(4_000.0), "j": lists})
        file["ntuple"] = {"x": np.arange(4_000.0), "j": lists}
        file["h"] = np.histogram(np.arange(10), bins=4)
    return str(path)


def _resident() -> int:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def read_by_nyssa(path: str) -> None:
    with nyssa.open(path) as file:
        for name in ("tree", "ntuple"):
            ak.to_numpy(file[name]["x"].array())[0] = 1
            file[name].arrays(library="np")
        file["h"].values()


def read_by_uproot_names(path: str) -> None:
    with nyssa.uproot.open(path) as file:
        for name in ("tree", "ntuple"):
            ak.to_numpy(file[name]["x"].array())[0] = 1
            file[name].arrays(["j"], library="np")
        file["h"].to_numpy()


def write(path: str) -> None:
    with nyssa.uproot.recreate(f"{path}.out") as file:
        file["ntuple"] = {"x": np.arange(2000.0)}
        file.mktree("tree", {"x": np.arange(2000.0)})
        file["h"] = np.histogram([1, 2], bins=2)


@pytest.mark.parametrize("once", [read_by_nyssa, read_by_uproot_names, write])
def test_memory_is_constant(path: str, once: Callable[[Any], None]) -> None:
    for _ in range(LOOPS // 3):
        once(path)
    gc.collect()
    start = _resident()
    for _ in range(LOOPS):
        once(path)
    gc.collect()
    # The arrays of one loop have 0.3 MB.
    assert _resident() - start < 8e6
