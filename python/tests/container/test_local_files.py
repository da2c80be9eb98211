"""Tests local files that change while they are open."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa

ENTRIES = 200_000
KINDS = ("rntuple", "ttree")


def write(path: Path, kind: str, seed: int) -> np.ndarray:
    """Write a file and return the values of its column `x`. Pages of RNTuples have checksums."""
    values = np.random.default_rng(seed).random(ENTRIES)
    if kind == "rntuple":
        with nyssa.recreate(path) as file:
            file["Events"] = {"x": values}
    else:
        with uproot.recreate(path) as file:
            file.mktree("Events", {"x": np.float64}).extend({"x": values})
    return values


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_while_it_is_open_is_an_error(tmp_path: Path, kind: str) -> None:
    """The error says where the file ends now."""
    path = tmp_path / "cut.root"
    write(path, kind, 1)
    events = nyssa.open(f"{path}:Events")
    os.truncate(path, 700)
    expected = rf"cannot read bytes \d+ to \d+ of {re.escape(str(path))}: "
    expected += "it ends at byte 700 now, because it was truncated after it was opened"
    with pytest.raises(nyssa.NyssaError, match=expected):
        events.arrays(library="np")


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_replaced_is_read_to_its_end(tmp_path: Path, kind: str) -> None:
    """A dataset keeps the file that it opened, also when another file gets its name."""
    path = tmp_path / "events.root"
    old = write(path, kind, 1)
    events = nyssa.open(f"{path}:Events")
    new = write(tmp_path / "new.root", kind, 2)
    (tmp_path / "new.root").rename(path)
    np.testing.assert_array_equal(events.arrays(library="np")["x"], old)
    np.testing.assert_array_equal(nyssa.open(f"{path}:Events").arrays(library="np")["x"], new)


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_of_a_file_that_is_overwritten_are_not_used(tmp_path: Path, kind: str) -> None:
    """The time of the change tells it, also where the bytes have no checksum."""
    path = tmp_path / "events.root"
    write(path, kind, 1)
    os.utime(path, (1, 1))
    events = nyssa.open(f"{path}:Events")
    middle = path.stat().st_size // 2
    with path.open("r+b") as file:
        file.seek(middle)
        file.write(bytes(1000))
    expected = "it was changed after it was opened; open it again"
    with pytest.raises(nyssa.errors.InputOutputError, match=expected):
        events.arrays(library="np")


@pytest.mark.parametrize("where", ["~", "file://"])
def test_outputs_are_in_the_home_folder_or_at_file_urls(tmp_path: Path, where: str) -> None:
    """Every option that names a file or a folder knows `~` and `file://`."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    place = where if where == "~" else f"file://{home}"
    tree = here / "in.root"
    with uproot.recreate(tree) as file:
        file.mktree("t", {"x": np.arange(5.0)})
    commands = [
        f"convert in.root {place}/a.root --report {place}/a.json -q",
        f"convert in.root -o {place}/folder -q",
        f"rewrite {place}/a.root {place}/b.root -q",
        f"merge {place}/a.root {place}/b.root -o {place}/c.root -q",
        f"inspect {place}/a.root --html {place}/a.html -q",
        f"tune {place}/a.root --output {place}/options.toml --html {place}/t.html -q",
        f"convert in.root {place}/d.root --profile {place}/options.toml -q",
        f"ls {place}/a.root --record {place}/reads.jsonl -q",
        f"trace show {place}/reads.jsonl -q",
        f"ls in.root --cache {place}/cache -q",
        f"cache ls --cache {place}/cache -q",
        f"ls in.root --monitor {place}/monitor.txt -q",
        f"campaign convert in.root -o {place}/campaign -q",
    ]
    for command in commands:
        run = subprocess.run(
            [sys.executable, "-m", "nyssa", *command.split()],
            check=False,
            capture_output=True,
            text=True,
            cwd=here,
            env={**os.environ, "HOME": str(home)},
        )
        assert run.returncode == 0, (command, run.stderr)
    assert sorted(path.name for path in here.iterdir()) == ["in.root"]
    made = ["a.html", "a.json", "a.root", "b.root", "c.root", "cache", "campaign", "d.root"]
    made += ["folder", "monitor.json", "monitor.txt", "options.toml", "reads.jsonl", "t.html"]
    assert sorted(path.name for path in home.iterdir()) == sorted(made)
