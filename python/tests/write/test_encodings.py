"""Tests that chosen encodings are hardly larger than ROOT's, with any number of threads."""

from __future__ import annotations

import threading
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.root import Root

COUNT = 10_000


def numbers(kind: str, seed: int) -> np.ndarray:
    """Return the values of a column in one cluster, different ones for each seed."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 1 << 62, (50, 10))
    angles = np.arange(COUNT) / rng.integers(400, 600)
    kinds = {
        "sorted": lambda: np.sort(rng.integers(0, 1 << 30, COUNT)),
        "random": lambda: rng.integers(0, 1 << 30, COUNT),
        "small": lambda: rng.integers(0, 100, COUNT),
        "large": lambda: rng.integers(-(1 << 62), 1 << 62, COUNT),
        "repeated": lambda: table[rng.integers(0, 50, COUNT // 10)].ravel(),
        "smooth": lambda: (1e9 * np.sin(angles)).astype(np.int64),
        "noise": lambda: rng.normal(0, 1e9, COUNT).astype(np.int64),
        "zeros": lambda: np.zeros(COUNT, dtype=np.int64),
    }
    return kinds[kind]()


# The statistics of the data change from cluster to cluster, so that another encoding is better.
CHANGES = [
    ["sorted", "random", "sorted", "random"],
    ["small", "large", "large", "small"],
    ["smooth", "noise", "smooth", "noise"],
    ["repeated", "small", "repeated", "noise", "small", "small"],
    ["small", "repeated", "small", "repeated", "repeated"],
    ["zeros", "repeated", "random", "repeated", "sorted"],
]


def cluster(kind: str, seed: int) -> dict[str, ak.Array]:
    values = numbers(kind, seed)
    # This also makes a page whose second half differs from the first.
    mixed = np.concatenate(
        [numbers("repeated", seed + 100)[: COUNT // 2], numbers(kind, seed + 200)[COUNT // 2 :]]
    )
    return {
        "i": values,
        "f": (values / 7).astype(np.float32),
        "d": values / 7,
        "mixed": mixed,
        "list": ak.unflatten(mixed + 1, np.full(COUNT, 1)),
    }


def write(path: Path, kinds: list[str], **options: object) -> None:
    with nyssa.recreate(path, **options) as file:
        types = {"i": "std::int64_t", "f": "float", "d": "double", "mixed": "std::int64_t"}
        events = file.mkrntuple("Events", {**types, "list": "std::vector<std::int64_t>"})
        with events.fill_context() as context:
            for seed, kind in enumerate(kinds):
                context.extend(cluster(kind, seed))
                context.flush()


@pytest.mark.parametrize(
    ("kinds", "compression"),
    [*((kinds, "zstd:5") for kinds in CHANGES), (CHANGES[3], "zlib:1"), (CHANGES[4], "lz4:4")],
)
def test_hardly_larger(kinds: list[str], compression: str, tmp_path: Path, root: Root) -> None:
    """The statistics of the data change after the first cluster, which the writer samples."""
    sizes, totals = {}, {}
    for encoding in ("default", "auto"):
        path = tmp_path / f"{encoding}.root"
        write(
            path,
            kinds,
            encoding=encoding,
            effort="full" if encoding == "default" else "auto",
            compression=compression,
            fill_contexts=1,
            page_size="32 kB",
        )
        columns = root.call("columns", str(path), "Events")
        sizes[encoding] = {name: sum(c["stored"] for c in all_) for name, all_ in columns.items()}
        totals[encoding] = path.stat().st_size
    for name, size in sizes["auto"].items():
        # A cluster that is not sampled may have the codec of the data before it.
        assert size <= 1.3 * sizes["default"][name] + 100, name
    # Further representations pay for their metadata, except for a few bytes.
    assert totals["auto"] <= 1.1 * totals["default"] + 500
    frame = root.call("numpy", str(tmp_path / "auto.root"), "Events", ["i", "f", "d", "mixed"])
    whole = [cluster(kind, seed) for seed, kind in enumerate(kinds)]
    for name, values in frame.items():
        np.testing.assert_array_equal(values, np.concatenate([one[name] for one in whole]))
    expected = np.concatenate([one["mixed"] for one in whole]) + 1
    if (kinds[0], compression) == ("repeated", "zstd:5"):
        lists = root.call("lists", str(tmp_path / "auto.root"), "Events", "list")
        assert [one[0] for one in lists] == expected.tolist()


def fill(path: Path, order: str, **options: object) -> None:
    """Two threads fill several clusters each, with different kinds of data."""
    options = {"fill_contexts": 2, "fill_order": order, **options}
    with nyssa.recreate(path, encoding="auto", **options) as file:
        events = file.mkrntuple("Events", {"x": "std::int64_t", "v": "std::vector<float>"})

        def work(context: nyssa.FillContext, kinds: list[str]) -> None:
            with context:
                for kind in kinds:
                    values = numbers(kind, 1)[:5000]
                    lists = ak.unflatten(values.astype(np.float32), np.full(len(values), 1))
                    context.extend({"x": values, "v": lists})
                    context.flush()

        contexts = [events.fill_context() for _ in range(2)]
        jobs = zip(contexts, (["repeated", "small", "noise"], ["small", "repeated"]), strict=True)
        threads = [threading.Thread(target=work, args=job) for job in jobs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("order", ["completion", "round-robin"])
@pytest.mark.parametrize("buffered", [True, False])
def test_two_threads(order: str, buffered: bool, tmp_path: Path, root: Root) -> None:
    """Each context samples its own data; ROOT reads all of them."""
    if order == "round-robin" and not buffered:
        pytest.skip("a fixed order is buffered")
    path = tmp_path / "threads.root"
    fill(path, order, buffered=buffered)
    values = root.call("numpy", str(path), "Events", ["x"])["x"]
    kinds = ["repeated", "small", "noise", "small", "repeated"]
    expected = [numbers(kind, 1)[:5000] for kind in kinds]
    np.testing.assert_array_equal(np.sort(values), np.sort(np.concatenate(expected)))
    lists = root.call("lists", str(path), "Events", "v")
    assert [row[0] for row in lists] == values.astype(np.float32).tolist()
    ours = nyssa.open(f"{path}:Events").arrays()
    np.testing.assert_array_equal(ours["x"], values)
    columns = root.call("columns", str(path), "Events")
    assert len(columns["x"]) == (2 if buffered else 1)


def test_a_fixed_order_fixes_the_choice(tmp_path: Path, root: Root) -> None:
    """The same rows in each context give the same columns, in any order of the contexts."""
    found = []
    for number in range(2):
        path = tmp_path / f"{number}.root"
        fill(path, "round-robin")
        columns = root.call("columns", str(path), "Events")
        found.append({name: [one["stored"] for one in all_] for name, all_ in columns.items()})
        found.append([one["type"] for one in columns["x"]])
    assert found[:2] == found[2:]
