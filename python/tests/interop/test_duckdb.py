"""Scans datasets with DuckDB and pyarrow, which push columns and filters down."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from support.written import write_clusters

pa = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.dataset")
import pyarrow.compute as pc  # noqa: E402

ENTRIES = 20_000
field = pc.field


def columns() -> dict[str, np.ndarray[Any, Any]]:
    random = np.random.default_rng(2)
    return {
        "n": random.integers(-5, 6, ENTRIES, dtype=np.int32),
        "u": random.integers(0, 2**64, ENTRIES, dtype=np.uint64),
        "x4": random.choice([0.1, 20.1, -1.0, np.nan, np.inf], ENTRIES).astype(np.float32),
        "x8": random.choice([0.1, 20.1, -1.0, np.nan, -np.inf], ENTRIES),
        "flag": random.integers(0, 2, ENTRIES).astype(bool),
        "noise": random.random(ENTRIES),
        "and": random.integers(0, 9, ENTRIES),
    }


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of uproot."""
    return write_clusters(tmp_path_factory.mktemp("duckdb") / "tree.root", columns(), 5000)


FILTERS = [
    field("n") > 2,
    pc.scalar(2) <= field("n"),
    field("x4") > 20.1,
    field("x4") <= 20.1,
    field("x4") == 20.1,
    ~(field("x8") > 1),
    ~(field("x4") <= 1) & (field("n") != 1),
    (field("flag") & (field("n") == 3)) | (field("x8") < 0),
    field("n").isin([1, 3]),
    field("n").isin(range(-4, 300)),
    field("x8").is_nan(),
    field("x8").is_null(nan_is_null=True),
    field("u") > pa.scalar(2**63, pa.uint64()),
    field("u") < pa.scalar(2**62, pa.uint64()),
    field("n") * 2 > field("and"),
    field("x4").cast(pa.float64()) > 20.1,
    (field("and") == 4) & (pc.abs(field("n")) == 4),
]


@pytest.mark.parametrize("condition", FILTERS, ids=str)
def test_filters_of_pyarrow(path: Path, condition: Any) -> None:
    events = nyssa.open(f"{path}:Events").to_pyarrow_dataset()
    expected = pa.table(columns()).filter(condition)
    got = events.to_table(columns=["noise", "n"], filter=condition)
    assert got.column_names == ["noise", "n"]
    assert got.column("noise").to_pylist() == expected.column("noise").to_pylist()
    assert events.count_rows(filter=condition) == len(expected)
    both = events.filter(condition).to_table(["n"], filter=field("n") > 0)
    assert both.column("n").to_pylist() == expected.filter(field("n") > 0).column("n").to_pylist()


def read(path: Path, query: Any) -> int:
    """Return how many bytes a query reads."""
    dataset = nyssa.open(f"{path}:Events")
    scanned = dataset.to_pyarrow_dataset()
    before = dataset.io_stats()
    query(scanned)
    after = dataset.io_stats()
    return after.bytes_read + after.bytes_readv - before.bytes_read - before.bytes_readv


def test_only_what_is_needed_is_read(path: Path) -> None:
    tree = nyssa.open(f"{path}:Events")
    size = {name: tree[name].compressed_bytes for name in tree}
    spare = 4 * 100
    noise = read(path, lambda events: events.to_table(["noise"]))
    assert size["noise"] <= noise <= size["noise"] + spare
    none = read(path, lambda events: events.to_table(["noise"], filter=field("n") > 100))
    assert size["n"] <= none <= size["n"] + spare
    assert read(path, lambda events: events.count_rows()) == 0


def test_queries_of_duckdb(path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    frame = pa.table(columns())
    # DuckDB finds it by the name of the variable.
    events = nyssa.open(f"{path}:Events").to_pyarrow_dataset()  # noqa: F841
    for query in (
        "SELECT avg(noise) FROM {} WHERE n >= 2",
        "SELECT count(*) FROM {}",
        "SELECT count(*), sum(n) FROM {} WHERE x4 > 20.1 OR flag",
        "SELECT count(*) FROM {} WHERE x4 > 20.1::FLOAT",
        "SELECT count(*) FROM {} WHERE x8 < 1 AND n IN (1, 3)",
        "SELECT count(*) FROM {} WHERE x8 = 'NaN'::DOUBLE",
        "SELECT count(*) FROM {} WHERE u > 9223372036854775808",
        "SELECT n, count(*) FROM {} WHERE NOT flag AND n <> 2 GROUP BY n ORDER BY n",
        'SELECT sum("and") FROM {} WHERE "and" BETWEEN 2 AND 4',
        "SELECT a.n FROM {0} a JOIN {0} b ON a.u = b.u WHERE b.n = 4 ORDER BY a.u LIMIT 5",
    ):
        assert (
            duckdb.sql(query.format("events")).fetchall()
            == duckdb.sql(query.format("frame")).fetchall()
        ), query
    assert frame.num_rows == ENTRIES
    size = nyssa.open(f"{path}:Events")["noise"].compressed_bytes

    def query_one(scanned: Any) -> None:  # noqa: ARG001
        duckdb.sql("SELECT max(noise) FROM scanned").fetchall()

    one = read(path, query_one)
    assert size <= one <= size + 400


def test_what_pyarrow_does_with_files_is_refused(path: Path) -> None:
    import pyarrow.dataset as pads

    events = nyssa.open(f"{path}:Events").to_pyarrow_dataset()
    assert isinstance(events, pads.Dataset)
    for call in (
        lambda: events.files,
        lambda: events.get_fragments(),
        lambda: events.replace_schema(events.schema),
        lambda: events.join(events, "n"),
        lambda: events.sort_by("n"),
    ):
        with pytest.raises(nyssa.UnsupportedError, match="make a table first"):
            call()
    # Code that does not ask the dataset gets an error, and neither a crash nor wrong rows.
    with pytest.raises(FileNotFoundError, match="by the method scanner"):
        pads.Scanner.from_dataset(events).to_table()
    with pytest.raises(pa.ArrowInvalid, match="nothing"):
        events.to_table(["nothing"])


def test_other_calls(path: Path) -> None:
    events = nyssa.open(f"{path}:Events").to_pyarrow_dataset(["n", "x4 * 2"])
    assert events.schema.names == ["n", "x4 * 2"]
    assert events.head(3, columns=["n"]).column("n").to_pylist() == columns()["n"][:3].tolist()
    again = pickle.loads(pickle.dumps(events.filter(field("n") > 4)))
    assert again.count_rows() == int(np.sum(columns()["n"] > 4))
    double = events.to_table({"m": field("n") * 2}).column("m").to_pylist()
    assert double == (columns()["n"] * 2).tolist()
    assert events.take([3, 1]).column("n").to_pylist() == columns()["n"][[3, 1]].tolist()
