"""Tests that loops over files do not need more and more memory."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

START, END = 50, 300
"""The loops after which the resident memory is compared: by then all that is kept is there."""
ALLOWED = 6_000_000
"""Bytes that the resident memory may grow: 24 kB in each loop."""

_PROGRAM = """
import sys
import awkward as ak
import numpy as np
import psutil
import nyssa.uproot

path, part, start, end = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
lists = ak.Array([[1.5, 2.5], [], [3.5]] * 10)
data = {"x": np.arange(30.0), "j": lists}
histogram = np.histogram(data["x"], bins=10)

def write(target):
    with nyssa.uproot.recreate(target) as file:
        file.mktree("t", {"x": "float64", "j": "var * float64"}).extend(data)
        file["n"] = data
        file["h"] = histogram

def read(name, library):
    with nyssa.uproot.open(path) as file:
        tree = file[name]
        tree.arrays(["x", "j"], library=library)
        tree["j"].array(library=library, entry_stop=10)
        for step in tree.iterate(["x"], step_size=15, library=library):
            step["x"]

def histograms():
    with nyssa.uproot.open(path) as file:
        file["h"].to_numpy()
        file["h"].to_boost()
        file["h"].all_members

write(path)
parts = {
    "write": lambda: write(path + ".new"),
    "histograms": histograms,
    **{f"{n}-{l}": lambda n=n, l=l: read(n, l) for n in ("t", "n") for l in ("ak", "np")},
}
process = psutil.Process()
for number in range(end):
    parts[part]()
    if number + 1 == start:
        before = process.memory_info().rss
print(process.memory_info().rss - before)
"""


@pytest.mark.parametrize("part", ["t-ak", "t-np", "n-ak", "n-np", "histograms", "write"])
def test_memory_is_constant(tmp_path: Path, part: str) -> None:
    pytest.importorskip("psutil")
    arguments = [str(tmp_path / "file.root"), part, str(START), str(END)]
    # Arenas of malloc for each thread would grow for a while.
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "MALLOC_ARENA_MAX": "1"},
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout) < ALLOWED
