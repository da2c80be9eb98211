"""Encodings chosen by looking: never larger than ROOT's own, and from any thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from root_oracle import Root

COUNT = 20_000
RNG = np.random.default_rng(5)
TABLE = RNG.integers(0, 1 << 62, 500)

# What a column holds in one cluster: statistics that suit one encoding or another.
KINDS = {
    "sorted": np.sort(RNG.integers(0, 1 << 30, COUNT)),
    "random": RNG.integers(0, 1 << 30, COUNT),
    "small": RNG.integers(0, 100, COUNT),
    "large": RNG.integers(-(1 << 62), 1 << 62, COUNT),
    "repeated": np.repeat(TABLE.reshape(-1, 10)[RNG.integers(0, 50, COUNT // 10)].ravel(), 1),
    "smooth": (1e9 * np.sin(np.arange(COUNT) / 500)).astype(np.int64),
    "noise": RNG.normal(0, 1e9, COUNT).astype(np.int64),
    "zeros": np.zeros(COUNT, dtype=np.int64),
}
CHANGES = [
    ["sorted", "random", "sorted", "random"],
    ["small", "large", "large", "small"],
    ["smooth", "noise", "smooth", "noise"],
    ["repeated", "small", "repeated", "noise", "small", "small"],
    ["small", "repeated", "small", "repeated", "repeated"],
    ["zeros", "repeated", "random", "repeated", "sorted"],
]


@pytest.fixture(scope="module")
def root() -> Iterator[Root]:
    pytest.importorskip("ROOT")
    oracle = Root()
    yield oracle
    oracle.close()


def cluster(kind: str) -> dict[str, ak.Array]:
    numbers = KINDS[kind]
    # A page in which the second half is unlike the first, too.
    mixed = np.concatenate([KINDS["repeated"][: COUNT // 2], numbers[COUNT // 2 :]])
    return {
        "i": numbers,
        "f": (numbers / 7).astype(np.float32),
        "d": numbers / 7,
        "mixed": mixed,
        "list": ak.from_regular(ak.unflatten(mixed, 1)),
    }


def write(path: Path, kinds: list[str], **options: object) -> None:
    with nyssa.recreate(path, **options) as file:
        types = {"i": "std::int64_t", "f": "float", "d": "double", "mixed": "std::int64_t"}
        events = file.mkrntuple("Events", {**types, "list": "std::vector<std::int64_t>"})
        with events.fill_context() as context:
            for kind in kinds:
                context.extend(cluster(kind))
                context.flush()


@pytest.mark.parametrize("kinds", CHANGES, ids=lambda kinds: "-".join(kinds[:2]))
@pytest.mark.parametrize("compression", ["zstd:5", "zlib:1"])
def test_never_larger(kinds: list[str], compression: str, tmp_path: Path, root: Root) -> None:
    """Data whose statistics change after the first cluster, at which the encoder looks first."""
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
        assert size <= sizes["default"][name], name
    # What further representations take in the metadata is paid for, but for a few bytes.
    assert totals["auto"] <= totals["default"] + 500
    frame = root.call("numpy", str(tmp_path / "auto.root"), "Events", ["i", "f", "d", "mixed"])
    whole = [cluster(kind) for kind in kinds]
    for name, values in frame.items():
        np.testing.assert_array_equal(values, np.concatenate([one[name] for one in whole]))
    lists = root.call("lists", str(tmp_path / "auto.root"), "Events", "list")
    expected = np.concatenate([one["mixed"] for one in whole])
    assert [one[0] for one in lists] == expected.tolist()


def fill(path: Path, order: str, **options: object) -> None:
    """Two threads with data of different character, several clusters each."""
    options = {"fill_contexts": 2, "fill_order": order, "cluster_size": "150 kB", **options}
    with nyssa.recreate(path, encoding="auto", **options) as file:
        events = file.mkrntuple("Events", {"x": "std::int64_t", "v": "std::vector<float>"})

        def work(context: nyssa.FillContext, kinds: list[str]) -> None:
            with context:
                for kind in kinds:
                    numbers = KINDS[kind]
                    lists = ak.unflatten(numbers.astype(np.float32), np.full(COUNT, 1))
                    context.extend({"x": numbers, "v": lists})

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
    """Each context looks at its own data; ROOT reads them all."""
    if order == "round-robin" and not buffered:
        pytest.skip("a fixed order is buffered")
    path = tmp_path / "threads.root"
    fill(path, order, buffered=buffered)
    values = root.call("numpy", str(path), "Events", ["x"])["x"]
    expected = [KINDS[kind] for kind in ("repeated", "small", "noise", "small", "repeated")]
    np.testing.assert_array_equal(np.sort(values), np.sort(np.concatenate(expected)))
    lists = root.call("lists", str(path), "Events", "v")
    assert [row[0] for row in lists] == values.astype(np.float32).tolist()
    ours = nyssa.open(f"{path}:Events").arrays()
    np.testing.assert_array_equal(ours["x"], values)
    columns = root.call("columns", str(path), "Events")
    assert len(columns["x"]) == (2 if buffered else 1)


def test_a_fixed_order_fixes_the_choice(tmp_path: Path, root: Root) -> None:
    """The same rows in each context give the same columns, whoever is first."""
    found = []
    for number in range(2):
        path = tmp_path / f"{number}.root"
        fill(path, "round-robin")
        columns = root.call("columns", str(path), "Events")
        found.append({name: [one["stored"] for one in all_] for name, all_ in columns.items()})
        found.append([one["type"] for one in columns["x"]])
    assert found[:2] == found[2:]
