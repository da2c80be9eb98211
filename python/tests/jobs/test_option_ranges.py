"""Options with sizes and numbers work, or an error tells their range; no job runs endlessly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from nyssa.errors import ArgumentError

#: Seconds that any of these jobs may take on a busy machine.
PATIENCE = 60
CLUSTER = "a cluster size of {} bytes is too small: at least 256 are needed"
THREADS = "the number of threads must be from 1 to 1024"
MEMORY = "{} bytes of memory are not enough: at least 1048576 are needed"
PAGE = "a page size of {} bytes is outside 64 to 536870912"
SIZE = "is not a size"
BETWEEN = "is not a size between 1 byte and 9 PB"
#: Option, value, and the error message; empty if the value works.
COMMAND = [
    ("--cluster-size", "0", BETWEEN),
    ("--cluster-size", "1", CLUSTER.format(1)),
    ("--cluster-size", "256", None),
    ("--cluster-size", "1PB", SIZE),
    ("--cluster-size", "9000TB", None),
    ("--cluster-size=-1", "", BETWEEN),
    ("--cluster-size", "big", SIZE),
    ("--cluster-size", "1e30", BETWEEN),
    ("--page-size", "1", PAGE.format(1)),
    ("--page-size", "64", None),
    ("--page-size", "1TB", PAGE.format(10**12)),
    ("--page-size", "nan", SIZE),
    ("--memory", "1kB", MEMORY.format(1000)),
    ("--memory", "1MiB", None),
    ("--memory", "9000TB", None),
    ("--memory", "", SIZE),
    ("--threads", "0", THREADS),
    ("--threads", "-1", THREADS),
    ("--threads", "16", None),
    ("--threads", "1.5", THREADS),
    ("--threads", "99999999", THREADS),
    ("--threads", "99999999999999999999999", THREADS),
]
MERGE = [
    ("--recluster", "1", CLUSTER.format(1)),
    ("--recluster", "1kB", None),
    ("--recluster", "9000TB", None),
    ("--memory", "1kB", MEMORY.format(1000)),
    ("--memory", "1MiB", None),
    ("--memory", "9000TB", None),
    ("--threads", "0", THREADS),
]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return a tree, and an RNTuple of the same."""
    uproot = pytest.importorskip("uproot")
    folder = tmp_path_factory.mktemp("ranges")
    data = {f"x{i}": np.arange(20_000) % (i + 3) for i in range(8)}
    with uproot.recreate(folder / "tree.root") as file:
        file.mktree("Events", {name: one.dtype for name, one in data.items()}).extend(data)
    with nyssa.recreate(folder / "ntuple.root") as file:
        file["Events"] = data
    return {"convert": folder / "tree.root", "rewrite": folder / "ntuple.root"}


def run(*arguments: Any) -> subprocess.CompletedProcess[str]:
    """Run the command line."""
    command = [sys.executable, "-m", "nyssa", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


def said(done: subprocess.CompletedProcess[str], message: str | None, output: Path) -> None:
    """Check that the job succeeded, or failed with the message and left no file."""
    if message is None:
        assert done.returncode == 0, done.stderr
        assert output.exists()
        return
    assert done.returncode in (2, 7)
    assert message in done.stderr
    assert not output.exists()


@pytest.mark.parametrize("command", ["convert", "rewrite"])
@pytest.mark.parametrize(("option", "value", "message"), COMMAND)
def test_command(
    command: str,
    option: str,
    value: str,
    message: str | None,
    inputs: dict[str, Path],
    tmp_path: Path,
) -> None:
    """The options of `convert` and `rewrite` accept their ranges."""
    output = tmp_path / "out.root"
    given = [option] if "=" in option else [option, value]
    said(run(command, inputs[command], output, *given), message, output)


@pytest.mark.parametrize(("option", "value", "message"), MERGE)
def test_merge(
    option: str, value: str, message: str | None, inputs: dict[str, Path], tmp_path: Path
) -> None:
    """The options of `merge` accept their ranges."""
    output = tmp_path / "out.root"
    done = run("merge", inputs["rewrite"], inputs["rewrite"], "-o", output, option, value)
    said(done, message, output)


def test_memory_of_reclustering(inputs: dict[str, Path], tmp_path: Path) -> None:
    """A merge into new clusters needs a little more memory."""
    output = tmp_path / "out.root"
    given = ["merge", inputs["rewrite"], "-o", output, "--recluster", "1MB", "--memory"]
    said(run(*given, "1MiB"), "not enough to make new clusters: at least 2097152", output)
    said(run(*given, "2MiB"), "cannot hold the pages of 8 columns", output)
    said(run(*given, "16MiB"), None, output)


BAD = [
    ({"cluster_size": 0}, "cluster_size must be positive"),
    ({"cluster_size": -5}, "cluster_size must be positive"),
    ({"cluster_size": 1}, CLUSTER.format(1)),
    ({"cluster_size": "big"}, "cluster_size is a number of bytes"),
    ({"cluster_size": 1.5}, "cluster_size is a number of bytes"),
    ({"cluster_size": 2**70}, "cluster_size must be less than 2^63 bytes"),
    ({"cluster_size": "1e40 TB"}, "cluster_size must be less than 2^63 bytes"),
    ({"memory": "1 kB"}, MEMORY.format(1000)),
    ({"memory": 2**64}, "memory must be less than 2^63 bytes"),
    ({"page_size": 1}, PAGE.format(1)),
    ({"page_size": "1 TB"}, PAGE.format(10**12)),
    ({"threads": 0}, "the number of threads must be at least 1"),
    ({"threads": -1}, "threads must be from 1 to 1024, not -1"),
    ({"threads": 10**9}, "the number of threads must be at most 1024"),
    ({"threads": "two"}, "threads is a number, not 'two'"),
]
GOOD: list[dict[str, Any]] = [
    {"cluster_size": 256},
    {"cluster_size": 2**60},
    {"memory": "8 MiB"},
    {"memory": 2**60},
    {"page_size": 64},
    {"threads": 16},
]


def jobs(inputs: dict[str, Path], output: Path) -> dict[str, Callable[..., object]]:
    """Return the jobs that take these options."""

    def fill(**options: Any) -> None:
        with nyssa.recreate(output, **options) as file:
            file.mkrntuple("Events", {"x": np.arange(5000), "y": np.arange(5000) % 7})

    return {
        "convert": lambda **options: nyssa.convert(inputs["convert"], output, **options),
        "rewrite": lambda **options: nyssa.rewrite(inputs["rewrite"], output, **options),
        "recreate": fill,
    }


@pytest.mark.parametrize("job", ["convert", "rewrite", "recreate"])
@pytest.mark.parametrize(("options", "message"), BAD, ids=lambda one: json.dumps(one)[:40])
def test_python_refuses(
    job: str, options: dict[str, Any], message: str, inputs: dict[str, Path], tmp_path: Path
) -> None:
    """The error for an impossible value names the option or its range."""
    output = tmp_path / "out.root"
    with pytest.raises((ArgumentError, ValueError, TypeError, OverflowError)) as error:
        jobs(inputs, output)[job](**options)
    assert message in str(error.value)
    assert isinstance(error.value, nyssa.NyssaError)
    assert not output.exists()


@pytest.mark.parametrize("job", ["convert", "rewrite", "recreate"])
@pytest.mark.parametrize("options", GOOD, ids=lambda one: json.dumps(one))
def test_python_takes(
    job: str, options: dict[str, Any], inputs: dict[str, Path], tmp_path: Path
) -> None:
    """A possible value gives a file with all values."""
    output = tmp_path / "out.root"
    jobs(inputs, output)[job](**options)
    assert nyssa.open(f"{output}:Events").num_entries in (5000, 20_000)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (0, "step_size must be at least one entry"),
        (-3, "step_size must be at least one entry"),
        ("0 MB", "positive"),
        ("many", "step_size"),
        (1.5, "step_size"),
    ],
)
def test_steps(step: Any, message: str, inputs: dict[str, Path]) -> None:
    """The step sizes of `iterate` accept their ranges."""
    events = nyssa.open(f"{inputs['rewrite']}:Events")
    with pytest.raises(ArgumentError, match=message):
        next(iter(events.iterate(step_size=step)))
    assert sum(len(chunk) for chunk in events.iterate(step_size=2**70)) == 20_000
    assert sum(len(chunk) for chunk in events.iterate(step_size="1e6 TB")) == 20_000
