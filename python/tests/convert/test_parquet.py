"""Parquet and Arrow IPC: pyarrow, polars and uproot are the oracles of both directions."""

from __future__ import annotations

import datetime
import decimal
import random
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import TESTDATA

pa = pytest.importorskip("pyarrow", reason="no pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="no pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather", reason="no pyarrow.feather")

LISTS = [[1.5, 2.5], [], [3.5]] * 100
ENDINGS = ["parquet", "arrow"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of uproot with flat and jagged branches, in three clusters."""
    path = tmp_path_factory.mktemp("trees") / "tree.root"
    with uproot.recreate(path) as file:
        jets = {"Jet_pt": "var * float32", "Jet_id": "var * int16"}
        out = file.mktree("Events", {"run": "uint32", "met": "float64", "ok": "bool", **jets})
        random = np.random.default_rng(7)
        for _ in range(3):
            counts = random.integers(0, 4, 200)
            pt = random.exponential(30, counts.sum()).astype("f4")
            ids = random.integers(-9, 9, counts.sum()).astype("i2")
            chunk = {"run": np.arange(200, dtype="u4"), "met": random.random(200)}
            chunk["ok"] = random.random(200) > 0.5
            lists = {"Jet_pt": ak.unflatten(pt, counts), "Jet_id": ak.unflatten(ids, counts)}
            out.extend({**chunk, **lists})
    return path


def expected(path: Path, name: str = "Events") -> dict[str, list[Any]]:
    """Return the values that uproot reads."""
    with uproot.open(path) as file:
        arrays = file[name].arrays()
    return {field: arrays[field].to_list() for field in arrays.fields}


def table(path: Path) -> Any:
    """Return the table as pyarrow reads it."""
    return pq.read_table(path) if path.suffix == ".parquet" else feather.read_table(path)


@pytest.mark.parametrize("ending", ENDINGS)
def test_others_read_what_was_a_tree(tree: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"out.{ending}"
    report = nyssa.convert(tree, out, verify=True)
    assert isinstance(report, dict)
    assert (report["entries"], report["to"], report["verified"]) == (600, ending, True)
    values = expected(tree)
    read = table(out)
    assert read.to_pydict() == values
    assert read.schema.field("Jet_pt").type.value_type == pa.float32()
    polars = pytest.importorskip("polars", reason="no polars")
    frame = polars.read_parquet(out) if ending == "parquet" else polars.read_ipc(out)
    assert frame.to_dict(as_series=False) == values


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("file", ["rntuple/types.root", "rntuple/structures.root"])
def test_there_and_back_is_the_same(tmp_path: Path, file: str, ending: str) -> None:
    source = TESTDATA / file
    name = nyssa.open(source).datasets()[0]
    skips = {"parquet": True, "arrow": True}[ending]
    middle, back = tmp_path / f"middle.{ending}", tmp_path / "back.root"
    there = nyssa.convert(source, middle, tree=name, skip_unsupported=skips)
    assert isinstance(there, dict)
    nyssa.convert(middle, back, skip_unsupported=True)
    left_out = {item["branch"] for item in there["skipped"]}
    first, last = nyssa.open(source)[name], nyssa.open(back)[name]
    kept = [field for field in first.keys() if field not in left_out and field in last]
    assert len(kept) > len(first.keys()) // 2
    digests = nyssa.digest(last)["digests"]
    by_name = {one["name"]: one["digest"] for one in digests}
    for one in nyssa.digest(first)["digests"]:
        if one["name"] in kept:
            assert by_name[one["name"]] == one["digest"], one["name"]


def nullable() -> Any:
    when = datetime.datetime(2024, 2, 3, 4, 5, 6, 7, tzinfo=datetime.timezone.utc)
    columns = {
        "x": pa.array([1.5, 2.5, 3.5], pa.float32()),
        "maybe": pa.array([1, None, 3], pa.int64()),
        "text": pa.array(["a", "", "ü"], pa.string()),
        "view": pa.array(["a", "b", "c" * 40], pa.string_view()),
        "kind": pa.array(["e", "mu", "e"]).dictionary_encode(),
        "lists": pa.array([[1, 2], [], [3]], pa.list_(pa.int32())),
        "large": pa.array([[1.0], [2.0, 3.0], []], pa.large_list(pa.float64())),
        "gaps": pa.array([[1, None], None, []], pa.list_(pa.int8())),
        "record": pa.array([{"a": 1, "b": [2.0]}, {"a": 3, "b": []}, {"a": 5, "b": [6.0, 7.0]}]),
        "fixed": pa.array([[1, 2], [3, 4], [5, 6]], pa.list_(pa.int16(), 2)),
        "bytes": pa.array([b"\x00\xff", b"", b"z"], pa.binary()),
        "flag": pa.array([True, False, True]),
        "day": pa.array([datetime.date(2024, 1, 2)] * 3, pa.date32()),
        "when": pa.array([when] * 3, pa.timestamp("us", "UTC")),
    }
    return pa.table(columns)


@pytest.mark.parametrize("form", ["parquet", "file", "stream"])
def test_tables_of_others_become_rntuples(tmp_path: Path, form: str) -> None:
    written = nullable()
    path = tmp_path / ("in.parquet" if form == "parquet" else "in.arrow")
    if form == "parquet":
        pq.write_table(written, path)
    else:
        new = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
        with new(str(path), written.schema) as writer:
            writer.write_table(written, max_chunksize=2)
    assert isinstance(nyssa.open(path), nyssa.TableFile)
    out = tmp_path / "out.root"
    nyssa.convert(path, out, verify=True)
    read = nyssa.open(f"{out}:in").arrays()
    for name in ("x", "maybe", "text", "view", "kind", "lists", "large", "gaps", "record", "flag"):
        assert read[name].to_list() == written[name].to_pylist(), name
    assert read["fixed"].to_list() == [[1, 2], [3, 4], [5, 6]]
    assert (
        read["day"].to_list() == [(datetime.date(2024, 1, 2) - datetime.date(1970, 1, 1)).days] * 3
    )
    assert read["when"].to_list() == written["when"].cast(pa.int64()).to_pylist()
    types = dict(zip(read.fields, nyssa.open(f"{out}:in").typenames().values(), strict=True))
    assert types["x"] == "float"
    assert types["lists"] == "std::vector<std::int32_t>"
    assert types["maybe"] == "std::optional<std::int64_t>"
    with uproot.open(out) as file:
        plain = file["in"].arrays(["x", "text", "lists", "large"])
    assert plain["lists"].to_list() == written["lists"].to_pylist()
    assert plain["text"].to_list() == written["text"].to_pylist()
    # Times are times again in a table.
    again = tmp_path / "again.parquet"
    nyssa.convert(out, again)
    last = pq.read_table(again)
    assert last["when"].to_pylist() == written["when"].to_pylist()
    assert last["day"].to_pylist() == written["day"].to_pylist()


def test_tables_become_ttrees(tmp_path: Path) -> None:
    polars = pytest.importorskip("polars", reason="no polars")
    frame = polars.DataFrame({"n": [1, 2, 3], "pt": [[1.0], [], [2.0, 3.0]], "s": ["a", "b", ""]})
    path, out = tmp_path / "in.parquet", tmp_path / "out.root"
    frame.write_parquet(path)
    nyssa.convert(path, out, to="ttree", name="Events")
    with uproot.open(out) as file:
        arrays = file["Events"].arrays(["n", "pt", "s"])
    for name in ("n", "pt", "s"):
        assert arrays[name].to_list() == frame[name].to_list()


def test_missing_values_are_refused_by_a_tree(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(nullable().select(["x", "maybe"]), path)
    with pytest.raises(nyssa.UnsupportedError, match="maybe: it has missing values"):
        nyssa.convert(path, tmp_path / "out.root", to="ttree")
    report = nyssa.convert(path, tmp_path / "out.root", to="ttree", skip_unsupported=True)
    assert isinstance(report, dict)
    assert [item["branch"] for item in report["skipped"]] == ["maybe"]


def test_types_that_root_lacks_are_named(tmp_path: Path) -> None:
    money = pa.array([decimal.Decimal("1.50")], pa.decimal128(9, 2))
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"money": money, "x": [1]}), path)
    with pytest.raises(nyssa.UnsupportedError, match=r"money.*cast it to float64"):
        nyssa.convert(path, tmp_path / "out.root")
    assert nyssa.open(path).arrays(["x"])["x"].to_list() == [1]


def test_ranges_columns_and_compression(tree: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    choice: dict[str, Any] = {"include": "Jet_*", "exclude": "*_id", "entry_start": 100}
    nyssa.convert(tree, out, entry_stop=-100, compression="zstd:5", **choice)
    values = expected(tree)["Jet_pt"][100:500]
    assert pq.read_table(out).to_pydict() == {"Jet_pt": values}
    assert pq.ParquetFile(out).metadata.row_group(0).column(0).compression == "ZSTD"
    with pytest.raises(nyssa.ArgumentError, match="no lzma"):
        nyssa.convert(tree, tmp_path / "other.parquet", compression="lzma")
    with pytest.raises(nyssa.ArgumentError, match="no option layout"):
        nyssa.convert(tree, tmp_path / "other.parquet", layout="vectors")
    with pytest.raises(nyssa.errors.OutputExistsError):
        nyssa.convert(tree, out)


def test_row_groups_are_clusters(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    values = {"i": list(range(5000)), "lists": [[i] * (i % 4) for i in range(5000)]}
    pq.write_table(pa.table(values), path, row_group_size=1500, compression="snappy")
    events = nyssa.open(path)
    assert events.clusters == [(0, 1500), (1500, 3000), (3000, 4500), (4500, 5000)]
    steps = events.iterate(["lists", "i"], step_size=700)
    read = list(steps)
    assert [i for step in read for i in step["i"].to_list()] == values["i"]
    assert [one for step in read for one in step["lists"].to_list()] == values["lists"]
    part = events.arrays(["lists"], entry_start=1490, entry_stop=3010)
    assert part["lists"].to_list() == values["lists"][1490:3010]
    assert events.arrays(["i"], cut="i % 1000 == 7")["i"].to_list() == [7, 1007, 2007, 3007, 4007]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_damaged_tables_are_errors(tmp_path: Path, form: str) -> None:
    path = tmp_path / f"in.{form}"
    written = pa.table({"x": list(range(300)), "lists": LISTS, "s": ["abc"] * 300})
    if form == "parquet":
        pq.write_table(written, path, row_group_size=100)
    else:
        feather.write_feather(written, str(path), compression="zstd")
    good = path.read_bytes()
    values = written.to_pydict()
    chance = random.Random(5)
    failed = 0
    for number in range(120):
        bad = bytearray(good)
        if number % 4 == 0:
            bad = bad[: chance.randrange(len(bad))]
        else:
            for _ in range(chance.choice([1, 1, 4])):
                bad[chance.randrange(len(bad))] = chance.randrange(256)
        path.write_bytes(bad)
        try:
            nyssa.open(path).arrays()
        except (nyssa.NyssaError, OSError):
            failed += 1
    assert failed > 30
    path.write_bytes(good)
    arrays = nyssa.open(path).arrays()
    assert {name: arrays[name].to_list() for name in arrays.fields} == values


def times() -> Any:
    """Return columns of all dates and times, with missing values, also in lists and records."""
    days = [0, 19_000, None, -3]
    numbers = [0, 1_706_933_106, None, -1]
    columns = {}
    for unit in ("s", "ms", "us", "ns"):
        columns[f"stamp_{unit}"] = pa.array(numbers, pa.timestamp(unit))
        columns[f"zone_{unit}"] = pa.array(numbers, pa.timestamp(unit, "Europe/Berlin"))
        columns[f"duration_{unit}"] = pa.array(numbers, pa.duration(unit))
        kind = pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
        columns[f"time_{unit}"] = pa.array([0, 86_399, None, 7], kind)
    columns["day"] = pa.array(days, pa.date32())
    columns["date64"] = pa.array(columns["day"].cast(pa.date64()))
    seconds = columns["stamp_s"]
    offsets = pa.array([0, 2, 2, 3, 4], pa.int32())
    columns["lists"] = pa.ListArray.from_arrays(offsets, seconds)
    columns["pairs"] = pa.FixedSizeListArray.from_arrays(pa.concat_arrays([seconds] * 2), 2)
    columns["record"] = pa.StructArray.from_arrays(
        [columns["time_s"], columns["date64"]], ["time", "date"]
    )
    return pa.table(columns)


def without_seconds(kind: Any) -> Any:
    """Return the type that Parquet has for a type."""
    others = {pa.time32("s"): pa.time32("ms"), pa.date64(): pa.date32()}
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("ms", kind.tz)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(without_seconds(kind.value_type))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(without_seconds(kind.value_type), kind.list_size)
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, without_seconds(field.type)) for field in kind])
    return others.get(kind, kind)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("source", ENDINGS)
def test_dates_and_times_keep_their_types(tmp_path: Path, source: str, ending: str) -> None:
    """Parquet has no seconds: pyarrow takes milliseconds, and days of dates in milliseconds."""
    path, out = tmp_path / f"in.{source}", tmp_path / f"out.{ending}"
    if source == "parquet":
        pq.write_table(times(), path)
    else:
        feather.write_feather(times(), path)
    original = table(path)
    nyssa.convert(path, out, verify=True)
    read = table(out)
    for name in original.column_names:
        column = original[name]
        kind = column.type if ending == "arrow" else without_seconds(column.type)
        assert read[name].to_pylist() == column.to_pylist(), name
        shown = read.schema.field(name).type
        if name == "zone_s" and source == "parquet":
            # arrow-rs shows the milliseconds that pyarrow makes of these in UTC.
            kind = pa.timestamp("ms", "UTC")
        if name in ("date64", "record") and source == "parquet" and ending == "arrow":
            # pyarrow's file says that its days were of the type date64.
            assert "date64" in str(shown)
            continue
        if not pa.types.is_nested(kind):
            assert shown == kind, name
        else:
            assert str(shown).count("ms") == str(kind).count("ms"), name
    polars = pytest.importorskip("polars", reason="no polars")
    frame = polars.read_parquet(out) if ending == "parquet" else polars.read_ipc(out)
    days = [name for name in frame.columns if name not in ("date64", "record")]
    for name in days:
        assert frame[name].to_list() == polars.from_arrow(original)[name].to_list(), name
    # The libraries that know dates and times get them of nyssa, too.
    opened = nyssa.open(out).arrays(library="arrow")
    for name in read.column_names:
        assert opened[name].to_pylist() == read[name].to_pylist(), name
    assert opened["stamp_us"].type == pa.timestamp("us")
    stamps = nyssa.open(out).arrays(["stamp_us", "duration_ms"], library="np")
    expected = original["stamp_us"].to_pandas().to_numpy()
    assert stamps["stamp_us"].dtype == np.dtype("datetime64[us]")
    assert stamps["stamp_us"].compressed().tolist() == [
        value.astype("datetime64[us]").item() for value in expected[[0, 1, 3]]
    ]
    assert stamps["duration_ms"].dtype == np.dtype("timedelta64[ms]")
    assert ak.is_none(nyssa.open(out).arrays(["stamp_us"])["stamp_us"]).to_list() == [
        value is None for value in original["stamp_us"].to_pylist()
    ]


def test_times_that_parquet_cannot_hold_are_named(tmp_path: Path) -> None:
    path = tmp_path / "in.arrow"
    feather.write_feather(pa.table({"t": pa.array([2**62], pa.timestamp("s"))}), path)
    with pytest.raises(nyssa.ArgumentError, match=r"too large for milliseconds.*field t"):
        nyssa.convert(path, tmp_path / "out.parquet")
    half = pa.Array.from_buffers(
        pa.date64(), 1, [None, pa.py_buffer(np.array([43_200_000]).tobytes())]
    )
    feather.write_feather(pa.table({"d": half}), path)
    with pytest.raises(nyssa.ArgumentError, match=r"not a whole number of days.*field d"):
        nyssa.convert(path, tmp_path / "out.parquet")


def test_half_precision_is_compared_with_single(tmp_path: Path) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.root"
    values = np.array([0.5, -2.25, np.inf, 65504, 6e-8], np.float16)
    columns = {"h": values, "lists": [[value] for value in values]}
    types = {"h": pa.float16(), "lists": pa.list_(pa.float16())}
    pq.write_table(pa.table({name: pa.array(columns[name], types[name]) for name in types}), path)
    nyssa.convert(path, out, verify=True)
    report = nyssa.diff(path, out)
    assert (report.equal, len(report.compared)) == (True, 2)
    other = np.where(values == -2.25, np.float16(3), values)
    pq.write_table(pa.table({"h": other, "lists": [[value] for value in values]}), path)
    report = nyssa.diff(path, out, filter_name="h")
    [first] = [item.first for item in report.compared]
    assert (report.equal, first.entry, first.a, first.b) == (False, 1, "3.0", "-2.25")


def refused() -> dict[str, Any]:
    """Return columns that nyssa refuses to write, to one format at least."""
    unions = pa.UnionArray.from_dense(
        pa.array([0, 1, 0], pa.int8()),
        pa.array([0, 0, 1], pa.int32()),
        [pa.array([1, 2]), pa.array(["a"])],
    )
    return {
        "money": pa.array([decimal.Decimal("1.50")] * 3, pa.decimal128(9, 2)),
        "wide": pa.array([decimal.Decimal("1.50")] * 3, pa.decimal256(50, 2)),
        "span": pa.array([(1, 2, 3)] * 3, pa.month_day_nano_interval()),
        "union": unions,
        "nothing": pa.nulls(3),
        "view": pa.array([[1], [], [2]], pa.list_view(pa.int32())),
        "runs": pa.RunEndEncodedArray.from_arrays([3], ["a"]),
        "half": pa.array(np.array([1, 2, 3], np.float16)),
        "maybe": pa.array([1, None, 3]),
        "record": pa.array([{"a": 1}, None, {"a": 2}]),
        "bytes": pa.array([[b"a"], [], [b"c"]], pa.list_(pa.binary())),
        "a.b/c": pa.array([1, 2, 3]),
        "empty": pa.array([{}, {}, {}], pa.struct([])),
        "inside": pa.array([{"x": decimal.Decimal("1.5")}] * 3),
        "lists": pa.array([[decimal.Decimal("1.5")]] * 3),
    }


@pytest.mark.parametrize("to", ["rntuple", "ttree", "parquet", "arrow"])
@pytest.mark.parametrize("name", [*refused()])
def test_each_refusal_of_a_column_can_be_skipped(tmp_path: Path, to: str, name: str) -> None:
    """What is refused is named, and left out with a note; the other columns are written."""
    path = tmp_path / "in.arrow"
    written = pa.table({"x": [1, 2, 3], name: refused()[name]})
    with pa.ipc.new_file(str(path), written.schema) as writer:
        writer.write_table(written)
    out = tmp_path / f"out.{to if to in ENDINGS else 'root'}"
    try:
        nyssa.convert(path, out, to=to)
        wrong = None
    except nyssa.UnsupportedError as error:
        wrong = str(error)
    except nyssa.ArgumentError as error:
        wrong = str(error)
    report = nyssa.convert(path, out, to=to, skip_unsupported=True, force=True)
    assert isinstance(report, dict)
    skipped = {item["branch"]: item["reason"] for item in report["skipped"]}
    assert set(skipped) == ({name} if wrong else set())
    assert wrong is None or (name in wrong and skipped[name] in wrong)
    data = nyssa.open(out if to in ENDINGS else f"{out}:in")
    assert data.arrays(["x"])["x"].to_list() == [1, 2, 3]


def test_equal_names_and_brotli_can_be_skipped(tmp_path: Path) -> None:
    path, out = tmp_path / "in.parquet", tmp_path / "out.root"
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2]), pa.array([3])], ["a", "a", "b"])
    pq.write_table(twice, path)
    with pytest.raises(nyssa.UnsupportedError, match='a: the table has several columns "a"'):
        nyssa.convert(path, out)
    report = nyssa.convert(path, out, skip_unsupported=True)
    assert isinstance(report, dict)
    assert {item["branch"] for item in report["skipped"]} == {"a"}
    assert nyssa.open(f"{out}:in").arrays().to_list() == [{"b": 3}]
    pq.write_table(pa.table({"a": [1], "b": [2]}), path, compression={"a": "brotli", "b": "zstd"})
    report = nyssa.convert(path, out, skip_unsupported=True, force=True)
    assert isinstance(report, dict)
    assert [item["reason"] for item in report["skipped"]] == [
        "it is compressed by brotli, which nyssa does not read: write the table with zstd"
    ]
    assert nyssa.open(f"{out}:in").arrays().to_list() == [{"b": 2}]
