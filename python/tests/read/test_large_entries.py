"""An entry that is larger than the memory is told before, held only twice, and a step alone."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa

ITEMS = 6_000_000
LARGE = 3
"""The number of the large entry."""
MEMORY = 12_000_000
NOTE = "bytes of memory are needed, more than the 12000000 bytes that were given: "
OPTIONS: Any = {"memory": "12 MB", "force": True}


def write_tree(path: Path, items: np.ndarray) -> Path:
    """Let uproot write small entries and a large one with `items`, each in a basket of its own."""
    with uproot.recreate(path) as file:
        events = file.mktree("Events", {"v": "var * float32", "n": "int32"})
        for number in range(6):
            values = ak.from_regular((items if number == LARGE else items[:10])[np.newaxis])
            events.extend({"v": values, "n": np.array([number], np.int32)})
    return path


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tree with an entry of 24 MB."""
    path = tmp_path_factory.mktemp("large") / "tree.root"
    return write_tree(path, np.arange(ITEMS, dtype=np.float32))


@pytest.fixture(scope="module")
def ntuple(tree: Path) -> Path:
    """Return an RNTuple with an entry of 24 MB in one cluster, so that only offsets tell it."""
    path = tree.with_name("ntuple.root")
    assert nyssa.convert(tree, path)["clusters"] == 1
    return path


def jobs(tree: Path, ntuple: Path, out: Path) -> dict[str, list[str]]:
    """Return the command lines of all jobs that hold data in memory."""
    return {
        "convert": ["convert", str(tree), str(out)],
        "to_tree": ["convert", str(ntuple), str(out), "--to", "ttree"],
        "rewrite": ["rewrite", str(ntuple), str(out)],
        "merge": ["merge", str(ntuple), "-o", str(out), "--recluster", "1MB"],
    }


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a job in a process of its own, with the memory of these tests."""
    command = [sys.executable, "-m", "nyssa", *arguments, "--memory", "12MB", "--force", "--json"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def one(report: dict[str, Any]) -> dict[str, Any]:
    """Return the report of the only dataset."""
    found: dict[str, Any] = report["reports"][0] if "reports" in report else report
    return found


def test_the_excess_is_in_the_report(tree: Path, ntuple: Path, tmp_path: Path) -> None:
    back = tmp_path / "tree.root"
    with uproot.open(tree) as file:
        basket = file["Events/v"].basket(LARGE)
        payload = basket.uncompressed_bytes - basket.member("fKeylen")
    converted = nyssa.convert(tree, tmp_path / "ntuple.root", verify=True, **OPTIONS)
    (rewritten,) = nyssa.rewrite(ntuple, tmp_path / "rewritten.root", verify=True, **OPTIONS)
    merged = nyssa.merge([ntuple], tmp_path / "merged.root", recluster="1 MB", **OPTIONS)
    returned = nyssa.convert(ntuple, back, to="ttree", verify=True, **OPTIONS)
    assert converted["needed_memory_bytes"] == 2 * payload
    for report, times in ((converted, 2), (rewritten, 2), (returned, 2), (merged, 1)):
        (note,) = (each for each in report["notes"] if NOTE in each)
        assert f"entry {LARGE} of" in note
        assert report["memory_bytes"] == MEMORY
        # Offsets and the other column come on top of the items.
        assert 0 <= report["needed_memory_bytes"] - times * 4 * ITEMS < 1000
    expected = uproot.open(f"{tree}:Events")["v"].array()
    for path in (tmp_path / "rewritten.root", tmp_path / "merged.root"):
        assert ak.array_equal(uproot.open(f"{path}:Events")["v"].array(), expected)
    assert ak.array_equal(uproot.open(f"{back}:Events")["v"].array(), expected)


def test_the_largest_entry_of_a_basket_is_known_before(tmp_path: Path) -> None:
    """Budgets between the basket alone, and the basket with its largest entry, are too small."""
    path = tmp_path / "tree.root"
    items = np.arange(1_000_000, dtype=np.float32)
    with uproot.recreate(path) as file:
        events = file.mktree("Events", {"v": "var * float32"})
        events.extend({"v": ak.Array([items[:10], items, items[:20]])})
    with uproot.open(path) as file:
        basket = file["Events/v"].basket(0)
        payload = basket.uncompressed_bytes - basket.member("fKeylen")
    report = nyssa.convert(path, tmp_path / "ntuple.root", memory=payload + 2_000_000)
    assert report["needed_memory_bytes"] == payload + items.nbytes
    (note,) = (each for each in report["notes"] if "bytes of memory are needed" in each)
    assert f"in a piece of {payload} bytes, and the largest entry" in note


def test_nothing_is_said_where_it_fits(
    tree: Path, ntuple: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    options: Any = {"memory": "80 MB", "force": True}
    reports = [
        nyssa.convert(tree, tmp_path / "ntuple.root", **options),
        nyssa.rewrite(ntuple, tmp_path / "rewritten.root", **options)[0],
        nyssa.convert(ntuple, tmp_path / "back.root", to="ttree", **options),
        nyssa.merge([ntuple], tmp_path / "merged.root", recluster="1 MB", **options),
    ]
    for report in reports:
        assert not [each for each in report["notes"] if "of memory are needed" in each]
        assert report["needed_memory_bytes"] <= report["memory_bytes"] == 80_000_000
    assert "of memory are needed" not in capfd.readouterr().err


def test_the_excess_is_said_before(tree: Path, ntuple: Path, tmp_path: Path) -> None:
    """A job whose data are damaged fails. What it needs has been said by then."""
    with uproot.open(tree) as file:
        basket = file["Events/v"].member("fBasketSeek")[LARGE]
    damaged = tmp_path / "tree.root", tmp_path / "ntuple.root"
    half = ntuple.stat().st_size // 2
    for source, copy, at in ((tree, damaged[0], basket + 100_000), (ntuple, damaged[1], half)):
        content = bytearray(source.read_bytes())
        content[at : at + 1000] = bytes(1000)
        copy.write_bytes(content)
    for name, arguments in jobs(*damaged, tmp_path / "out.root").items():
        done = run(arguments)
        assert done.returncode != 0, name
        lines = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
        assert len(lines) == 1, (name, done.stderr)
        assert NOTE in lines[0]
        assert f"entry {LARGE} of" in lines[0]


def test_a_large_entry_is_in_memory_twice(tmp_path: Path) -> None:
    """It is there as it is read and as it is written, and never a third time."""
    items = np.random.default_rng(1).standard_normal(15_000_000).astype(np.float32)
    peaks: dict[str, list[int]] = {}
    for content in (items[:20], items):
        tree = write_tree(tmp_path / "tree.root", content)
        ntuple = tmp_path / "ntuple.root"
        nyssa.convert(tree, ntuple, force=True)
        for name, arguments in jobs(tree, ntuple, tmp_path / "out.root").items():
            report = one(json.loads(run(arguments).stdout))
            if "peak_memory_bytes" not in report:
                pytest.skip("the system does not tell the memory of a process")
            peaks.setdefault(name, []).append(report["peak_memory_bytes"])
    for name, (without, peak) in peaks.items():
        assert peak - without <= 2 * items.nbytes + MEMORY + 8_000_000, (name, peak - without)


@pytest.mark.parametrize("which", ["tree", "ntuple"])
def test_a_large_entry_is_a_step_of_its_own(which: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(which)
    expected = uproot.open(f"{path}:Events")["v"].array()
    dataset = nyssa.open(f"{path}:Events")
    with pytest.warns(nyssa.LargeEntryWarning) as found:
        steps = list(dataset.iterate(["v"], step_size="12 MB", report=True))
    (warning,) = found
    assert f"entry {LARGE} of {path} takes 24000" in str(warning.message)
    assert warning.filename == __file__
    assert (LARGE, LARGE + 1) in [entries for _, entries in steps]
    assert ak.array_equal(ak.concatenate([arrays["v"] for arrays, _ in steps]), expected)
    with pytest.warns(nyssa.LargeEntryWarning):
        list(nyssa.iterate([f"{path}:Events"] * 2, ["v"], step_size="12 MB"))


@pytest.mark.parametrize("size", ["80 MB", 4, "cluster"])
def test_steps_without_a_large_entry_say_nothing(ntuple: Path, size: int | str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", nyssa.LargeEntryWarning)
        list(nyssa.open(f"{ntuple}:Events").iterate(["v"], step_size=size))
