"""Scans datasets with polars: results are those of polars on whole columns, and bytes are few."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.written import write_clusters

pl = pytest.importorskip("polars")

NAN = math.nan
ENTRIES = 20_000


def columns() -> dict[str, np.ndarray[Any, Any]]:
    """Return columns with NaN, infinity, and numbers whose single precision is another number."""
    random = np.random.default_rng(1)
    x4 = random.choice([0.1, 20.1, -1.0, NAN, math.inf, 3.0], ENTRIES).astype(np.float32)
    return {
        "n": random.integers(-5, 6, ENTRIES, dtype=np.int32),
        "u": random.integers(0, 2**64, ENTRIES, dtype=np.uint64),
        "x4": x4,
        "x8": random.choice([0.1, 20.1, -1.0, NAN, -math.inf, 3.0], ENTRIES),
        "flag": random.integers(0, 2, ENTRIES).astype(bool),
        "noise": random.random(ENTRIES),
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of uproot."""
    return write_clusters(tmp_path_factory.mktemp("polars") / "tree.root", columns(), 5000)


c = pl.col
CONDITIONS = [
    c("n") > 2,
    c("n") > 1.5,
    pl.lit(2) <= c("n"),
    c("x4") > 20.1,
    c("x4") >= 20.1,
    c("x4") == 20.1,
    c("x4") != 20.1,
    c("x4") < 20.1,
    ~(c("x4") < 20.1),
    ~(c("x8") >= 3),
    ~((c("x8") > 3) | c("flag")),
    c("x8").is_between(0.1, 3, closed="left"),
    c("x8").is_nan() | (c("n") == 1),
    ~c("x4").is_nan() & (c("n") != 1),
    c("flag"),
    ~c("flag"),
    c("n").is_in([1, 3]),
    c("u") > 2**63,
    c("u") < 2**62,
    (c("n") * 2 > 4) & (c("x8") > 1),
    (c("n") * 2 > 4) | (c("x8") > 1),
    c("x8") > c("n"),
    (c("n") > 3) ^ c("flag"),
    c("x4") == NAN,
    c("n").is_null() | (c("x4") > 3),
    c("n").map_batches(lambda n: n > 2, return_dtype=pl.Boolean) & c("flag"),
]


@pytest.mark.parametrize("condition", CONDITIONS, ids=str)
def test_conditions(path: Path, condition: Any) -> None:
    expected = pl.DataFrame(columns()).filter(condition)
    scanned = nyssa.scan_polars(f"{path}:Events").filter(condition)
    assert scanned.collect().equals(expected)
    assert scanned.select("noise").head(7).collect().equals(expected.select("noise").head(7))
    assert scanned.select(pl.len()).collect().item() == len(expected)


def test_only_what_is_needed_is_read(path: Path) -> None:
    def read(query: Any, **entries: int) -> int:
        events = nyssa.open(f"{path}:Events")
        before = events.io_stats()
        query(nyssa.scan_polars(events, **entries)).collect()
        after = events.io_stats()
        return after.bytes_read + after.bytes_readv - before.bytes_read - before.bytes_readv

    events = nyssa.open(f"{path}:Events")
    size = {name: events[name].compressed_bytes for name in events}
    # Keys of baskets are read with their data.
    spare = 4 * 100
    one = read(lambda scan: scan.select(c("noise").mean()))
    assert size["noise"] <= one <= size["noise"] + spare
    # No entry passes: only the column of the predicate is read.
    none = read(lambda scan: scan.filter(c("n") > 100))
    assert size["n"] <= none <= size["n"] + spare
    # The first of four baskets has the first entries.
    head = read(lambda scan: scan.select("noise").head(10))
    assert head <= size["noise"] / 3
    tail = read(lambda scan: scan.select("noise"), entry_start=-10)
    assert tail <= size["noise"] / 3
    assert read(lambda scan: scan) >= sum(size.values())


@pytest.mark.parametrize("entries", [(300, 7000), (-3000, None), (None, -1), (0, 0), (9, 5)])
def test_ranges_of_entries(path: Path, entries: tuple[int | None, int | None]) -> None:
    start, stop = entries
    expected = pl.DataFrame({name: one[start:stop] for name, one in columns().items()})
    scan = nyssa.scan_polars(f"{path}:Events", entry_start=start, entry_stop=stop)
    assert scan.collect().equals(expected)
    assert scan.head(11).collect().equals(expected.head(11))
    assert scan.slice(5, 3).collect().equals(expected.slice(5, 3))
    for condition in CONDITIONS[::4]:
        assert scan.filter(condition).collect().equals(expected.filter(condition))


def test_lists_and_missing_values(tmp_path: Path) -> None:
    lists = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]] * 10
    numbers = [1, None, 3, -4] * 10
    with nyssa.recreate(tmp_path / "lists.root") as file:
        file["Events"] = {"pt": lists, "n": numbers, "text": ["a", "b", "", "ä"] * 10}
    frame = pl.DataFrame({"pt": lists, "n": numbers, "text": ["a", "b", "", "ä"] * 10})
    scan = nyssa.scan_polars(f"{tmp_path / 'lists.root'}:Events")
    for condition in (
        c("pt").list.len() >= 2,
        ~(c("pt").list.len() >= 2),
        c("n") > 0,
        ~(c("n") > 0),
        c("n") != 3,
        c("n").is_null(),
        c("n").is_not_null() & (c("text") == "ä"),
        c("pt").list.max() > 2,
    ):
        assert scan.filter(condition).collect().rows() == frame.filter(condition).rows()


def test_datasets_and_columns(path: Path) -> None:
    files = [f"{path}:Events"] * 2
    chained = nyssa.scan_polars(files, ["n", "x4 * 2"])
    assert chained.collect_schema().names() == ["n", "x4 * 2"]
    assert chained.select(pl.len()).collect().item() == 2 * ENTRIES
    view = nyssa.open(f"{path}:Events").select(["n", "noise"], "n > 2")
    expected = pl.DataFrame(columns()).filter(c("n") > 2).select("n", "noise")
    assert nyssa.scan_polars(view).collect().equals(expected)
    assert nyssa.scan_polars(view).filter(c("n") > 1000).collect().shape == (0, 2)
    with pytest.raises(nyssa.NotFoundError):
        nyssa.scan_polars(f"{path}:Events", filter_name="nothing")
    again = pickle.loads(pickle.dumps(nyssa.open(f"{path}:Events").select(["n"], "n > 2")))
    assert list(again) == ["n"]
    assert again.num_entries == len(expected)


def test_categories_are_written_as_text(tmp_path: Path) -> None:
    words = ["mu", None, "e", "mu"]
    frame = pl.DataFrame(
        {
            "category": pl.Series(words, dtype=pl.Categorical),
            "enum": pl.Series(words, dtype=pl.Enum(["e", "mu"])),
            "lists": pl.Series([["a", "b"], [], None, ["c", None]], dtype=pl.List(pl.String)),
            "category_lists": pl.Series([["a", "b"], [], [], ["a"]], dtype=pl.List(pl.Categorical)),
        }
    )
    with nyssa.recreate(tmp_path / "words.root") as file:
        file["Events"] = frame
        file["Arrow"] = {"word": frame.to_arrow()["category"]}
    for name, column in (("Events", "category"), ("Events", "enum"), ("Arrow", "word")):
        events = nyssa.open(f"{tmp_path / 'words.root'}:{name}")
        assert events[column].typename == "std::optional<std::string>"
        assert events[column].array(library="polars").to_list() == words
    ntuple = uproot.open(tmp_path / "words.root")["Events"]
    read = ntuple.arrays()
    assert read["enum"].to_list() == words
    assert read["lists"].to_list() == [["a", "b"], [], None, ["c", None]]
    assert read["category_lists"].to_list() == [["a", "b"], [], [], ["a"]]
