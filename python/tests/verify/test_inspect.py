"""`nyssa inspect` counts what ROOT's RNTupleInspector counts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

CHECKSUM = 8
"""The number of bytes of the checksum of each page, which ROOT's inspector does not count."""


@pytest.fixture(scope="module")
def written(root: Root, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return one RNTuple, `Events`, written by ROOT or nyssa."""
    folder = tmp_path_factory.mktemp("inspect")
    # No two pages are equal.
    rng = np.random.default_rng(7)
    counts = rng.integers(0, 4, 20_000)
    data = {
        "x": rng.normal(size=20_000),
        "n": np.arange(20_000, dtype=np.int32),
        "pt": ak.unflatten(rng.random(np.sum(counts)).astype("f4"), counts),
    }
    with uproot.recreate(folder / "tree.root") as file:
        file.mktree("Events", {"x": "float64", "n": "int32", "pt": "var * float32"}).extend(data)
    root.call("import_tree", str(folder / "tree.root"), "Events", str(folder / "root.root"))
    nyssa.convert(f"{folder / 'tree.root'}:Events", folder / "converted.root", page_size="16 kB")
    deep = {
        "s": ak.zip({"x": data["x"] + 1, "pt": data["pt"][::-1]}, depth_limit=1),
        "text": [f"{i * i % 9973}" for i in range(20_000)],
    }
    for name, compression in (("plain", 0), ("zstd", 505)):
        with nyssa.recreate(
            folder / f"{name}.root", compression=compression, cluster_size="50 kB", page_size="4 kB"
        ) as file:
            file["Events"] = {**data, **deep}
    return {path.stem: path for path in folder.glob("*.root") if path.stem != "tree"}


@pytest.mark.parametrize("writer", ["root", "converted", "plain", "zstd"])
def test_sizes_are_those_of_root(writer: str, root: Root, written: dict[str, Path]) -> None:
    compare(root, written[writer], "Events")


def test_shared_pages_are_counted_once(root: Root, tmp_path: Path) -> None:
    """ROOT's inspector counts the bytes of equal pages each time."""
    path = tmp_path / "shared.root"
    with nyssa.recreate(path, compression=0, page_size="4 kB") as file:
        file["Events"] = {"same": np.zeros(4096, dtype=np.int32)}
    [[stored, packed, pages, elements]] = root.call("inspection", str(path), "Events")["columns"]
    [column] = said("inspect", path, "Events")["columns"]
    assert sizes(column["part"])[1:] == [packed, pages, elements] == [16384, pages, 4096]
    assert stored == packed > 2 * column["part"]["stored_bytes"] > 0
    [key] = said("ls", path, "Events")["keys"]
    assert key["bytes"] < path.stat().st_size < packed


def compare(root: Root, path: Path, name: str) -> None:
    """Compare totals, columns and top-level fields, except projected ones, which have no data."""
    expected = root.call("inspection", str(path), name)
    ours = said("inspect", path, name)
    columns = [sizes(column["part"]) for column in ours["columns"]]
    assert columns == expected["columns"]
    stored = ours["stored_bytes"] - CHECKSUM * sum(pages for _, _, pages, _ in columns)
    assert [stored, ours["uncompressed_bytes"]] == expected["total"]
    fields: dict[str, list[int]] = {}
    for field in ours["fields"]:
        top = field["name"].partition(".")[0]
        fields[top] = np.add(fields.get(top, [0, 0]), sizes(field)[:2]).tolist()
    if any(field.startswith("_collection") for field in expected["fields"]):
        # ROOT counts the data of projected fields for both fields.
        fields = {field: fields[field] for field in ("x", "n")}
    assert {field: expected["fields"][field] for field in fields} == fields


def sizes(part: dict[str, Any]) -> list[int]:
    stored = part["stored_bytes"] - CHECKSUM * part["pages"]
    return [stored, part["uncompressed_bytes"], part["pages"], part["elements"]]


def said(what: str, path: Path, name: str) -> Any:
    """Return what the command line prints."""
    command = [sys.executable, "-m", "nyssa", what, f"{path}:{name}", "--json"]
    return json.loads(subprocess.run(command, capture_output=True, check=False).stdout)


@pytest.mark.parametrize("name", ["tree", "ntuple"])
def test_each_cluster_has_its_sizes(tmp_path: Path, name: str) -> None:
    """A cluster is written for each `extend`: of random numbers, then of zeros."""
    path = tmp_path / "clusters.root"
    numbers = np.random.default_rng(3).random(30_000)
    with uproot.recreate(path, compression=uproot.ZSTD(1)) as file:
        made = file.mktree if name == "tree" else file.mkrntuple
        events = made(name, {"x": np.dtype("f8")} if name == "tree" else {"x": numbers})
        if name == "tree":
            events.extend({"x": numbers})
        events.extend({"x": np.zeros(10_000)})
    found = nyssa.inspect(f"{path}:{name}")
    if name == "tree":  # uproot writes no cluster ranges
        assert sum(one.part.stored_bytes for one in found.cluster_parts) == found.stored_bytes
        return
    first, second = found.cluster_parts
    assert [first.first_entry, first.entries] == [0, 30_000]
    assert [second.first_entry, second.entries] == [30_000, 10_000]
    assert first.part.uncompressed_bytes == 240_000
    assert first.part.stored_bytes > 200_000 > 2_000 > second.part.stored_bytes
    assert first.part.stored_bytes + second.part.stored_bytes == found.clusters.total
    (column,) = found.columns
    assert column.pages.total == found.stored_bytes
    assert column.pages.min < 2_000 < 30_000 < column.pages.max
    shown = subprocess.run(
        [sys.executable, "-m", "nyssa", "inspect", f"{path}:{name}", "--clusters", "--top", "1"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    assert shown[-2].split()[:5] == ["cluster", "first", "entry", "entries", "pages"]
    assert shown[-1].split()[:3] == ["0", "0", "30,000"]
