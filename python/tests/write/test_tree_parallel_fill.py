"""Several Python threads fill one TTree; ROOT, uproot and nyssa read the file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.filling import fill_in_threads
from support.root import Root

ENTRIES, CONTEXTS = 3000, 3
TYPES = {
    "x": "int64",
    "v": "var * float32",
    "w": "var * int16",
    "fixed": "3 * float64",
    "name": "string",
    "words": "var * string",
    "flag": "bool",
}


def chunk(start: int, stop: int) -> dict[str, Any]:
    """Return entries that say their own number."""
    numbers = np.arange(start, stop)
    counts = numbers % 4
    items = np.repeat(numbers, counts)
    return {
        "x": numbers,
        "v": ak.unflatten(items.astype(np.float32), counts),
        "w": ak.unflatten((items % 1000).astype(np.int16), counts),
        "fixed": np.stack([numbers, numbers / 2, -numbers], axis=1),
        "name": [f"entry {i}" for i in numbers],
        "words": [[f"{i}"] * (i % 3) for i in numbers],
        "flag": numbers % 5 == 0,
    }


def fill(path: Path, order: str = "completion", compression: Any = "zstd", **options: Any) -> None:
    """Three threads each write a third of the entries, in steps of 70."""
    with nyssa.recreate(
        path, fill_contexts=CONTEXTS, fill_order=order, compression=compression
    ) as file:
        tree = file.mktree("Events", TYPES, counters={"[vw]": "n"}, **options)
        fill_in_threads(tree, chunk, ENTRIES, CONTEXTS)


def check(entries: Any) -> list[int]:
    """Compare entries with what was filled, whatever their order. Return their numbers."""
    numbers: list[int] = ak.to_list(entries["x"])
    assert sorted(numbers) == list(range(ENTRIES))
    expected = chunk(0, ENTRIES)
    for name in TYPES:
        whole = ak.Array(expected[name])
        assert ak.to_list(entries[name]) == ak.to_list(whole[numbers]), name
    # The entries of each thread keep their order.
    for third in range(CONTEXTS):
        own = [x for x in numbers if x * CONTEXTS // ENTRIES == third]
        assert own == sorted(own)
    return numbers


@pytest.mark.parametrize(
    "options",
    [
        {"auto_flush": 100},
        {"auto_flush": 100, "order": "round-robin"},
        {"auto_flush": -4000, "basket_size": 512},
        {"auto_flush": 0},
        {"auto_flush": 64, "compression": 0, "optimize_baskets": False},
        {"compression": "lzma:1", "order": "round-robin"},
    ],
    ids=["completion", "round-robin", "bytes", "no clusters", "plain", "one cluster each"],
)
def test_all_read_what_threads_filled(tmp_path: Path, root: Root, options: Any) -> None:
    path = tmp_path / "parallel.root"
    fill(path, **options)
    with nyssa.open(path) as file:
        numbers = check(file["Events"].arrays())
    with uproot.open(path) as file:
        assert check(file["Events"].arrays()) == numbers
    assert nyssa.verify(path).problems == []
    leaves = root.call("tree_leaves", str(path), "Events", ["x", "v", "name"])
    assert leaves["x"] == [[x] for x in numbers]
    assert leaves["v"] == ak.to_list(chunk(0, ENTRIES)["v"][numbers])
    assert leaves["name"] == [[f"entry {x}"] for x in numbers]
    if options.get("order") == "round-robin":
        # The clusters of the three threads alternate.
        thirds = [x * CONTEXTS // ENTRIES for x in numbers]
        changes = [a for a, b in zip(thirds, [None, *thirds], strict=False) if a != b]
        assert changes[:3] == [0, 1, 2]
        assert len(changes) == (30 if options.get("auto_flush") else 3)


def test_a_fixed_order_makes_one_file(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.root" for number in range(2)]
    for path in paths:
        fill(path, "round-robin", auto_flush=50)
    trees = [uproot.open(path)["Events"] for path in paths]
    for branch in TYPES:
        places = [tree[branch].member("fBasketSeek").tolist() for tree in trees]
        assert places[0] == places[1]


def test_entries_before_contexts_come_first(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with nyssa.recreate(path, fill_contexts=2) as file:
        tree = file.mktree("Events", {"x": np.arange(2)})
        context = tree.fill_context()
        with pytest.raises(nyssa.errors.ArgumentError, match="this TTree is filled by its fill"):
            tree.extend({"x": np.arange(2)})
        context.extend({"x": np.arange(2, 4)})
        with pytest.raises(nyssa.errors.ArgumentError, match='no column "y"'):
            context.extend({"y": np.arange(3)})
        with pytest.raises(nyssa.errors.ArgumentError, match="where a number belongs"):
            context.extend({"x": ["a"]})
        assert context.num_entries == 2
        tree.fill_context()
        with pytest.raises(nyssa.errors.ArgumentError, match="2 fill contexts.*TTree"):
            tree.fill_context()
    with nyssa.open(path) as file:
        assert file["Events"]["x"].array().tolist() == [0, 1, 2, 3]
    with pytest.raises(nyssa.errors.ArgumentError, match="closed"):
        context.extend({"x": np.arange(1)})


def test_baskets_keep_their_size_in_contexts(tmp_path: Path) -> None:
    """After a cluster of `extend`, the baskets of contexts hold a whole cluster."""
    path = tmp_path / "out.root"
    with nyssa.recreate(path) as file:
        tree = file.mktree("Events", {"x": "float64"}, auto_flush=10_000)
        tree.extend({"x": np.arange(10_000.0)})
        with tree.fill_context() as context:
            context.extend({"x": np.arange(10_000.0, 40_000)})
    with uproot.open(path) as file:
        branch = file["Events/x"]
        assert branch.entry_offsets[3:] == [10_000, 20_000, 30_000, 40_000]
        assert branch.array().to_list() == list(range(40_000))


def test_an_exception_in_a_thread_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with pytest.raises(nyssa.errors.ArgumentError, match="1 entries"), nyssa.recreate(path) as file:
        tree = file.mktree("Events", {"x": "int64"})
        with pytest.raises(RuntimeError), tree.fill_context() as context:
            context.extend({"x": np.arange(1)})
            raise RuntimeError
    assert not path.exists()
    with nyssa.recreate(path) as file:
        context = file.mktree("Events", {"x": "int64"}).fill_context()
        context.extend({"x": np.arange(7)})
        assert context.discard() == 7
    with nyssa.open(path) as file:
        assert file["Events"].num_entries == 0
