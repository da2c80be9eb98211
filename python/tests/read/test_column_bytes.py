"""`Column.compressed_bytes` and the others are what uproot and ROOT count."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA, TESTDATA
from support.root import Root

CHECKSUM = 8
"""The number of bytes of the checksum of each page, which ROOT's inspector does not count."""

TREES = {
    TESTDATA / "ttree/events-zlib.root": "Events",
    DATA / "ttree/uproot-small-evnt-tree-fullsplit.root": "tree",
}


def below(branch: Any) -> Iterator[Any]:
    """Yield a branch of uproot and all branches below it."""
    yield branch
    for one in branch.branches:
        yield from below(one)


@pytest.mark.parametrize("path", TREES, ids=lambda path: path.stem)
def test_branches_are_counted_as_in_uproot(path: Path) -> None:
    if not path.exists():
        pytest.skip("NYSSA_TEST_DATA is not there")
    with nyssa.open(path) as file, uproot.open(path) as other:
        tree, theirs = file[TREES[path]], other[TREES[path]]
        assert tree.title == theirs.title
        for name in tree.keys():
            parts = list(below(theirs[name]))
            column = tree[name]
            compressed = sum(one.compressed_bytes for one in parts)
            uncompressed = sum(one.uncompressed_bytes for one in parts)
            assert (column.compressed_bytes, column.uncompressed_bytes) == (
                compressed,
                uncompressed,
            ), name
            assert column.compression_ratio == pytest.approx(uncompressed / compressed)


@pytest.fixture(scope="module")
def ntuple(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an RNTuple of several clusters and pages, none of which are equal."""
    path = tmp_path_factory.mktemp("bytes") / "events.root"
    rng = np.random.default_rng(3)
    counts = rng.integers(1, 4, 4000)
    pt = ak.unflatten(rng.random(np.sum(counts)).astype("f4"), counts)
    data = {
        "x": rng.normal(size=4000),
        "pt": pt,
        "s": ak.zip({"a": rng.random(4000), "b": pt[::-1]}, 1),
    }
    with nyssa.recreate(path, page_size="2 kB", cluster_size="50 kB") as file:
        file.mkrntuple("Events", data, description="of <b>two</b> runs")
    return path


def test_fields_are_counted_as_by_roots_inspector(root: Root, ntuple: Path) -> None:
    expected = root.call("inspection", str(ntuple), "Events")["fields"]
    found = nyssa.inspect(f"{ntuple}:Events")
    pages = dict.fromkeys(expected, 0)
    for part in found.fields:
        pages[part.name.partition(".")[0]] += part.pages
    with nyssa.open(f"{ntuple}:Events") as events:
        assert len(events.clusters) > 1
        for name in ("x", "pt", "s"):
            column = events[name]
            stored = column.compressed_bytes - CHECKSUM * pages[name]
            assert [stored, column.uncompressed_bytes] == expected[name]
        assert sum(events[name].compressed_bytes for name in events) == found.stored_bytes
        # A member has only its own pages.
        a, b, whole = events["s.a"], events["s.b"], events["s"]
        assert a.uncompressed_bytes == 8 * 4000
        assert a.compressed_bytes + b.compressed_bytes == whole.compressed_bytes


def test_the_description_is_the_title(ntuple: Path) -> None:
    with nyssa.open(f"{ntuple}:Events") as events:
        assert events.title == "of <b>two</b> runs"
        assert "of &lt;b&gt;two&lt;/b&gt; runs" in events._repr_html_()


def test_projected_fields_have_the_bytes_that_they_show(root: Root, tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, 1000).astype("i4")
    tree, path = tmp_path / "tree.root", tmp_path / "ntuple.root"
    pt = ak.unflatten(rng.random(np.sum(counts)).astype("f4"), counts)
    with uproot.recreate(tree) as file:
        file.mktree("Events", {"Jet_pt": "var * float32"}).extend({"Jet_pt": pt})
    nyssa.convert(f"{tree}:Events", path)
    fields = root.call("inspection", str(path), "Events")["fields"]
    with nyssa.open(f"{path}:Events") as events:
        column = events["Jet_pt"]
        # ROOT counts the offsets of the counter, too.
        assert column.uncompressed_bytes == 4 * len(ak.flatten(pt))
        assert fields["Jet_pt"][1] > column.uncompressed_bytes
        assert 0 < column.compressed_bytes < fields["Jet_pt"][0] + CHECKSUM


def test_columns_without_known_bytes_say_so(ntuple: Path, tmp_path: Path) -> None:
    path = tmp_path / "empty.root"
    with nyssa.recreate(path) as file:
        file["Events"] = {"x": np.array([], dtype="f8")}
    with nyssa.open(f"{path}:Events") as events:
        assert (events["x"].compressed_bytes, events.title) == (0, "")
        assert math.isnan(events["x"].compression_ratio)
    with nyssa.chain([f"{ntuple}:Events", f"{ntuple}:Events"]) as events:
        with pytest.raises(nyssa.UnsupportedError, match="'x' is computed or of several files"):
            _ = events["x"].compressed_bytes
        assert "<table" in events._repr_html_()
