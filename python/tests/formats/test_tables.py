"""Parquet and Arrow IPC files in all commands, and damaged ones: pyarrow and others are oracles."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa._core import run_cli

pa = pytest.importorskip("pyarrow", reason="no pyarrow")
pq = pytest.importorskip("pyarrow.parquet", reason="no pyarrow.parquet")
feather = pytest.importorskip("pyarrow.feather", reason="no pyarrow.feather")

FORMS = ["parquet", "arrow"]
Run = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs the command line: exit code, document or text, and messages."""

    def command(*words: object, text: bool = False) -> tuple[int, Any, str]:
        flags = [] if text else ["--json"]
        code = run_cli(["nyssa", *map(str, words), *flags])
        out, err = capfd.readouterr()
        if text:
            return code, out, err
        document = json.loads(out)
        assert document.pop("version") == 1
        return code, document, err

    return command


def some_table() -> Any:
    lists = [[float(i)] * (i % 3) for i in range(300)]
    columns = {
        "i": pa.array(range(300), pa.int32()),
        "x": pa.array([i / 4 for i in range(300)], pa.float64()),
        "lists": pa.array(lists, pa.list_(pa.float32())),
        "kind": pa.array(["e", "mu", "tau"] * 100).dictionary_encode(),
        "maybe": pa.array([None if i % 7 == 0 else i for i in range(300)], pa.int64()),
    }
    return pa.table(columns)


def write(path: Path, table: Any, **options: Any) -> Path:
    """Write a table in three row groups or record batches."""
    if path.suffix == ".parquet":
        pq.write_table(table, path, row_group_size=100, **options)
    else:
        feather.write_feather(table, str(path), chunksize=100, **options)
    return path


@pytest.mark.parametrize("form", FORMS)
def test_commands_take_a_table(tmp_path: Path, run: Run, form: str) -> None:
    table = some_table()
    path = write(tmp_path / f"in.{form}", table)
    values = table.to_pydict()
    named = {"parquet": "Parquet", "arrow": "Arrow"}[form]

    code, listing, _ = run("ls", path)
    assert (code, [key["path"] for key in listing["keys"]]) == (0, ["in"])
    key = listing["keys"][0]
    assert (key["class"], key["entries"], key["bytes"]) == (named, 300, path.stat().st_size)
    assert run("ls", path, "-l", text=True)[0] == 0

    code, schema, _ = run("schema", f"{path}:in")
    assert (code, schema["format"], schema["entries"]) == (0, named, 300)
    assert [column["name"] for column in schema["columns"]] == table.column_names
    assert {c["name"]: c["nullable"] for c in schema["columns"]}["maybe"]
    assert "maybe" in run("schema", path, "--filter", "m*", text=True)[1]

    code, lines, _ = run("cat", path, "-n", 3, text=True)
    rows = [json.loads(line) for line in lines.splitlines()]
    assert rows == table.slice(0, 3).to_pylist()
    code, lines, _ = run("cat", path, "--cut", "i >= 298", "--filter", "lists", text=True)
    assert [json.loads(line)["lists"] for line in lines.splitlines()] == values["lists"][298:]

    out = tmp_path / "out.root"
    nyssa.convert(path, out, name="Events", verify=True)
    for a, b in [(path, path), (path, f"{out}:Events"), (out, path)]:
        code, report, _ = run("diff", a, b)
        assert (code, report["equal"], report["compared_entries"]) == (0, True, 300)
        assert nyssa.diff(a, b).equal
    code, digests, _ = run("digest", path)
    assert (code, digests) == (0, dict(nyssa.digest(path)))
    (tmp_path / "digest.json").write_text(json.dumps(digests))
    assert run("digest", out, "--compare", tmp_path / "digest.json")[0] == 0

    other = write(tmp_path / f"other.{form}", table.set_column(1, "x", pa.array([0.5] * 300)))
    code, report, _ = run("diff", path, other)
    assert (code, report["equal"]) == (1, False)
    assert [item.name for item in nyssa.diff(path, other).different] == ["x"]
    both = write(tmp_path / f"both.{form}", pa.concat_tables([table, table]))
    code, together, _ = run("digest", path, path)
    assert together["digests"] == run("digest", both)[1]["digests"]


@pytest.mark.parametrize("codec", ["none", "snappy", "zstd", "gzip", "lz4"])
def test_inspect_sums_what_the_footer_states(tmp_path: Path, run: Run, codec: str) -> None:
    path = write(tmp_path / "in.parquet", some_table(), compression=codec, data_page_size=200)
    metadata = pq.ParquetFile(path).metadata
    groups = [metadata.row_group(group) for group in range(3)]
    chunks = [group.column(leaf) for group in groups for leaf in range(group.num_columns)]
    code, report, _ = run("inspect", path)
    assert (code, report["format"]) == (0, "Parquet")
    assert report["stored_bytes"] == sum(chunk.total_compressed_size for chunk in chunks)
    assert report["uncompressed_bytes"] == sum(chunk.total_uncompressed_size for chunk in chunks)
    for leaf, column in enumerate(report["columns"]):
        own = [group.column(leaf) for group in groups]
        assert column["field"] == own[0].path_in_schema
        assert column["part"]["stored_bytes"] == sum(chunk.total_compressed_size for chunk in own)
        assert column["part"]["elements"] == sum(chunk.num_values for chunk in own)
    assert {one["name"] for one in report["encodings"]} == {"PLAIN", "RLE_DICTIONARY"}
    name = {"gzip": "zlib"}.get(codec, codec)
    assert [one["name"] for one in report["compressions"]] == [name]
    assert report["cluster_entries"]["count"] == 3
    assert nyssa.inspect(path).to_dict() == report
    assert nyssa.inspect(nyssa.open(path)).stored_bytes == report["stored_bytes"]
    page = tmp_path / "page.html"
    assert run("inspect", path, "--html", page, text=True)[0] == 0
    assert "lists.list.element" in page.read_text()
    for flag in ("--columns", "--pages", "--clusters"):
        assert run("inspect", path, flag, text=True)[0] == 0


@pytest.mark.parametrize("codec", ["uncompressed", "zstd", "lz4"])
def test_inspect_of_arrow(tmp_path: Path, run: Run, codec: str) -> None:
    table = pa.table({"i": np.arange(4000, dtype="i8"), "s": ["abc"] * 4000, "l": [[1.5]] * 4000})
    path = tmp_path / "in.arrow"
    feather.write_feather(table, str(path), compression=codec, chunksize=1000)
    code, report, _ = run("inspect", path)
    assert (code, report["format"], report["pages"]["count"]) == (0, "Arrow", 12)
    sizes = {part["name"]: part["uncompressed_bytes"] for part in report["fields"]}
    # The buffers are multiples of 8 bytes; a part has one offset more than values.
    assert sizes["i"] == 4000 * 8
    assert 0 <= sizes["s"] - 4 * (1001 * 4 + 3000) < 64
    assert 0 <= sizes["l"] - 4 * (1001 * 4 + 8000) < 64
    assert (report["stored_bytes"] < report["uncompressed_bytes"]) == (codec != "uncompressed")
    assert [one["name"] for one in report["compressions"]] == [
        {"uncompressed": "none"}.get(codec, codec)
    ]


def test_verify_says_what_was_checked(tmp_path: Path, run: Run) -> None:
    plain = write(tmp_path / "plain.parquet", some_table())
    code, report, _ = run("verify", plain)
    assert (code, report["sound"], report["problems"], report["keys"]) == (0, None, [], 0)
    dataset = report["datasets"][0]
    assert (dataset["class"], dataset["path"], dataset["entries"]) == ("Parquet", "plain", 300)
    assert dataset["parts"] == dataset["decoded"] > 15
    assert dataset["checksummed"] == 0
    text = run("verify", plain, text=True)[1]
    parts = dataset["parts"]
    assert f"no problem found: {parts} pages checked\n" in text
    assert f"note: {parts} of {parts} pages have no checksum" in text
    assert text.splitlines()[-2:] == str(nyssa.verify(plain)).splitlines()[-2:]

    sure = write(tmp_path / "sure.parquet", some_table(), write_page_checksum=True)
    code, report, _ = run("verify", sure)
    assert (code, report["sound"], report["checksums"]) == (
        0,
        True,
        {"present": parts, "absent": 0},
    )
    assert run("verify", sure, text=True)[1].endswith(f"sound: {parts} pages checked\n")
    assert nyssa.verify(f"{sure}:sure").to_dict() == report

    arrow = write(tmp_path / "in.arrow", some_table())
    code, report, _ = run("verify", arrow)
    # Three record batches and a dictionary.
    assert (code, report["sound"], report["checksums"]) == (0, None, {"present": 0, "absent": 4})
    assert "4 record batches checked" in str(nyssa.verify(arrow))


def flipped(path: Path, value: bytes, into: Path) -> int:
    """Write a copy in which a bit of a value is flipped, and return its place."""
    data = bytearray(path.read_bytes())
    place = data.index(value)
    data[place] ^= 1
    into.write_bytes(data)
    return place


def test_a_flipped_bit_is_found(tmp_path: Path, run: Run) -> None:
    numbers = pa.table({"a": np.arange(300.0), "b": np.arange(1000.0, 1300.0)})
    how = {"compression": "none", "use_dictionary": False}
    good = write(tmp_path / "good.parquet", numbers, write_page_checksum=True, **how)
    bad = tmp_path / "bad.parquet"
    place = flipped(good, struct.pack("<d", 1150.0), bad)
    with pytest.raises(OSError, match="CRC|crc"):
        pq.read_table(bad, page_checksum_verification=True)
    with pytest.raises(nyssa.ChecksumError, match="a page does not match its checksum") as caught:
        nyssa.open(bad).arrays()
    assert "bad.parquet" in str(caught.value)
    assert "b" in str(caught.value)
    assert nyssa.open(bad).arrays(["a"])["a"].to_list() == numbers["a"].to_pylist()
    code, report, _ = run("verify", bad)
    [problem] = report["problems"]
    assert (code, report["sound"], problem["kind"]) == (1, False, "Checksum")
    assert (problem["field"], problem["cluster"], problem["page"]) == ("b", 1, 0)
    assert problem["offset"] < place < problem["offset"] + 1000
    assert "damaged: 1 problem in 6 pages of" in run("verify", bad, text=True)[1]
    code, _, err = run("cat", bad, "-n", 300, text=True)
    assert (code, "column b" in err or "b" in err) == (1, True)
    # Without checksums, a number is a number.
    write(good, numbers, **how)
    flipped(good, struct.pack("<d", 1150.0), bad)
    assert nyssa.verify(bad).sound is None


@pytest.mark.parametrize("compression", ["none", "zstd:3", "lz4", "zlib"])
def test_what_nyssa_writes_has_checksums(tmp_path: Path, compression: str) -> None:
    source, out = tmp_path / "tree.root", tmp_path / "out.parquet"
    counts = np.arange(3000) % 5
    jets = ak.unflatten(np.arange(counts.sum(), dtype="f4"), counts)
    words = ak.Array([["b", "tau", "jet"][i % 3] for i in range(3000)])
    values = {"i": np.arange(3000, dtype="i8"), "jets": jets, "word": words, "same": np.ones(3000)}
    with nyssa.recreate(source) as file:
        file["Events"] = values
    nyssa.convert(source, out, compression=compression, cluster_size=20_000, verify=True)
    expected = {name: ak.to_list(ak.Array(value)) for name, value in values.items()}
    assert pq.read_table(out, page_checksum_verification=True).to_pydict() == expected
    report = nyssa.verify(out)
    assert (report.sound, report.checksums.absent) == (True, 0)
    sizes = nyssa.inspect(out)
    metadata = pq.ParquetFile(out).metadata
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    stored = sum(g.column(c).total_compressed_size for g in groups for c in range(g.num_columns))
    assert sizes.stored_bytes == stored
    polars = pytest.importorskip("polars", reason="no polars")
    assert polars.read_parquet(out).to_dict(as_series=False) == expected
    # The index of pages leads to pages.
    some = polars.scan_parquet(out).filter(polars.col("i").is_between(1500, 1502)).collect()
    assert some["word"].to_list() == expected["word"][1500:1503]
    duckdb = pytest.importorskip("duckdb", reason="no duckdb")
    rows = duckdb.sql(f"select i, word from '{out}' where i between 1500 and 1502 order by i")
    assert rows.fetchall() == [(i, expected["word"][i]) for i in range(1500, 1503)]
    # Every bit of a page is covered.
    data = bytearray(out.read_bytes())
    [first, *_] = [g.column(c) for g in groups for c in range(g.num_columns)]
    data[first.data_page_offset + first.total_compressed_size // 2] ^= 0x10
    out.write_bytes(data)
    with pytest.raises(nyssa.ChecksumError):
        nyssa.open(out).arrays()
    with pytest.raises(OSError, match="CRC|crc"):
        pq.read_table(out, page_checksum_verification=True)


@pytest.mark.parametrize("name", ["x.parquet", "x.pq", "x.arrow", "x.feather", "X.PARQUET"])
def test_a_root_file_has_no_name_of_a_table(tmp_path: Path, run: Run, name: str) -> None:
    source, out = tmp_path / "tree.root", tmp_path / name
    with uproot.recreate(source) as file:
        file["Events"] = {"x": np.arange(5)}
    what = "Parquet" if "p" in name.lower() else "Arrow IPC"
    message = f"this writes a ROOT file, and the name is the name of an? {what} file: choose a name"
    for write_it in (
        lambda: nyssa.merge([source, source], out),
        lambda: nyssa.rewrite(source, out),
        lambda: nyssa.recreate(out),
        lambda: nyssa.recreate(str(out)),
    ):
        with pytest.raises(nyssa.ArgumentError, match=message):
            write_it()
        assert not out.exists()
    for words in (["merge", "-o", out, source, source], ["rewrite", source, out]):
        code, document, _ = run(*words)
        assert code == 2
        assert "`convert` and `skim` write tables" in document["error"]["message"]
    with out.open("wb") as handle, pytest.raises(nyssa.ArgumentError, match=message):
        nyssa.recreate(handle)


@pytest.mark.parametrize(
    "name", ["x.csv", "x.json", "x.npz", "x.h5", "X.HDF5", "x.csv.gz", "x.xlsx"]
)
def test_no_output_has_the_name_of_another_format(tmp_path: Path, run: Run, name: str) -> None:
    """All commands and both faces say which names there are."""
    source, out = tmp_path / "tree.root", tmp_path / name
    with uproot.recreate(source) as file:
        file.mktree("Events", {"x": "int64"}).extend({"x": np.arange(5)})
    message = (
        "nyssa writes ROOT, Parquet and Arrow IPC files, and the name is the name of an? .* file"
    )
    for write_it in (
        lambda: nyssa.skim(source, out),
        lambda: nyssa.skim(source, out, format="parquet"),
        lambda: nyssa.convert(source, out),
        lambda: nyssa.merge([source, source], out),
        lambda: nyssa.rewrite(source, out),
        lambda: nyssa.recreate(out),
    ):
        with pytest.raises(nyssa.ArgumentError, match=message):
            write_it()
        assert not out.exists()
    for words in (
        ["skim", source, "-o", out],
        ["convert", source, out],
        ["convert", source, out, "--to", "parquet"],
        ["merge", "-o", out, source, source],
        ["rewrite", source, out],
    ):
        code, document, _ = run(*words)
        assert code == 2, words
        assert "pandas, polars and DuckDB make other formats" in document["error"]["message"]


def test_the_name_says_the_format(tmp_path: Path, run: Run) -> None:
    source = tmp_path / "tree.root"
    with uproot.recreate(source) as file:
        file.mktree("Events", {"x": "int64"}).extend({"x": np.arange(5)})
    for name in ("x.parq", "x.PQ", "x.parquet"):
        nyssa.convert(source, tmp_path / name)
        assert pq.read_table(tmp_path / name)["x"].to_pylist() == [0, 1, 2, 3, 4]
    for command in ("convert", "skim"):
        out = [tmp_path / "t.root"] if command == "convert" else ["-o", tmp_path / "t.root"]
        form = "--to" if command == "convert" else "--format"
        code, document, _ = run(command, source, *out, form, "parquet")
        assert code == 2
        assert "is not the name of a file of the format parquet" in document["error"]["message"]
    # Streams of Arrow are read, but not written.
    with pytest.raises(nyssa.ArgumentError, match="an Arrow stream"):
        nyssa.convert(source, tmp_path / "x.arrows")


@pytest.mark.parametrize("form", FORMS)
def test_commands_of_root_files_say_what_to_do(tmp_path: Path, run: Run, form: str) -> None:
    path = write(tmp_path / f"in.{form}", some_table())
    named = {"parquet": "Parquet", "arrow": "Arrow IPC"}[form]
    out = tmp_path / "out.root"
    message = f"as {named} files do: `convert` makes a ROOT file of it, and `skim` one of several"
    for words in (
        ["rewrite", path, out],
        ["merge", "-o", out, path, path],
        ["tune", path],
        ["convert", path, "--into", tmp_path / "folder"],
    ):
        code, document, err = run(*words)
        assert code != 0
        assert message in json.dumps(document) + err, words
    for use in (
        lambda: nyssa.rewrite(path, out),
        lambda: nyssa.merge([path, path], out),
        lambda: nyssa.tune(path),
        lambda: nyssa.update(path),
    ):
        with pytest.raises(nyssa.FormatError, match=message):
            use()


# The compact protocol of Thrift, as its specification has it.
I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


def varint(number: int) -> bytes:
    out = b""
    while number > 0x7F:
        out, number = out + bytes([number & 0x7F | 0x80]), number >> 7
    return out + bytes([number])


def thrift(fields: dict[int, Any]) -> bytes:
    """Return a structure: each field has a number, and a value that tells its type."""
    out, last = b"", 0
    for field, value in fields.items():
        kind, data = encoded(value)
        out, last = out + bytes([(field - last) << 4 | kind]) + data, field
    return out + b"\0"


def encoded(value: Any) -> tuple[int, bytes]:
    if isinstance(value, np.int32 | np.int64):
        number = int(value)
        kind = I32 if isinstance(value, np.int32) else I64
        return kind, varint(number << 1 if number >= 0 else (-number << 1) - 1)
    if isinstance(value, bytes):
        return BINARY, varint(len(value)) + value
    if isinstance(value, dict):
        return STRUCT, thrift(value)
    kind = encoded(value[0])[0]
    size = bytes([len(value) << 4 | kind]) if len(value) < 15 else bytes([0xF0 | kind])
    count = b"" if len(value) < 15 else varint(len(value))
    return LIST, size + count + b"".join(encoded(item)[1] for item in value)


def i4(number: int) -> Any:
    return np.int32(number)


def i8(number: int) -> Any:
    return np.int64(number)


def parquet(metadata: dict[int, Any], pages: bytes = b"") -> bytes:
    footer = thrift(metadata)
    return b"PAR1" + pages + footer + struct.pack("<I", len(footer)) + b"PAR1"


def one_column(pages: bytes, rows: int, values: int, codec: int = 0, size: int = 0) -> bytes:
    """Return a file with one required column of 32-bit integers."""
    size = size or len(pages)
    column: dict[int, Any] = {1: i4(1), 2: [i4(0)], 3: [b"x"], 4: i4(codec), 5: i8(values)}
    column |= {6: i8(size), 7: i8(size), 9: i8(4)}
    schema = [{4: b"schema", 5: i4(1)}, {1: i4(1), 3: i4(0), 4: b"x"}]
    group = {1: [{2: i8(4), 3: column}], 2: i8(size), 3: i8(rows)}
    return parquet({1: i4(1), 2: schema, 3: i8(rows), 4: [group]}, pages)


def page(data: bytes, values: int, plain: int | None = None, kind: int = 0, **more: Any) -> bytes:
    counted = {1: i4(values), 2: i4(0)} | ({} if kind else {3: i4(3), 4: i4(3)})
    size = len(data) if plain is None else plain
    header = {1: i4(kind), 2: i4(size), 3: i4(len(data)), **more, (7 if kind else 5): counted}
    return thrift(header) + data


THREE = struct.pack("<3i", 1, 2, 3)


def deep(levels: int) -> bytes:
    groups = [{3: i4(1), 4: b"g", 5: i4(1)}] * levels
    schema = [{4: b"schema", 5: i4(1)}, *groups, {1: i4(1), 3: i4(0), 4: b"x"}]
    return parquet({1: i4(1), 2: schema, 3: i8(0), 4: [{1: [{2: i8(4)}], 2: i8(0), 3: i8(0)}]})


def test_the_files_of_this_test_are_right(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    checksum = {4: np.int32(np.uint32(zlib.crc32(THREE)).astype("i4"))}
    for data in (page(THREE, 3), with_checksum(checksum)):
        path.write_bytes(one_column(data, 3, 3))
        assert pq.read_table(path, page_checksum_verification=True)["x"].to_pylist() == [1, 2, 3]
        assert nyssa.open(path).arrays()["x"].to_list() == [1, 2, 3]
        assert nyssa.verify(path).problems == []


def with_checksum(checksum: dict[int, Any]) -> bytes:
    header = {1: i4(0), 2: i4(12), 3: i4(12), **checksum}
    header[5] = {1: i4(3), 2: i4(0), 3: i4(3), 4: i4(3)}
    return thrift(header) + THREE


HOSTILE = {
    "empty": (b"", "not a Parquet file: it is empty"),
    "text": (b"some words of a person", 'not a Parquet file: it begins with "some w"'),
    "only the start": (b"PAR1", "it ends before its footer"),
    "cut": (
        one_column(page(THREE, 3), 3, 3)[:-9],
        "it has no footer: it is cut, or was not closed",
    ),
    "long footer": (
        b"PAR1" + b"\0" * 20 + struct.pack("<I", 2**31) + b"PAR1",
        "its footer is larger than the file",
    ),
    "no metadata": (b"PAR1" + b"\x15" * 20 + struct.pack("<I", 20) + b"PAR1", "damaged"),
    "deep": (deep(200_000), "its columns are nested more than 100 times"),
    "lists without end": (
        b"PAR1\x49\xfc\xff\xff\xff\xff\x0f" + struct.pack("<I", 7) + b"PAR1",
        "the metadata end too early",
    ),
    "rows": (one_column(page(THREE, 3), 2**62, 2**62), "fewer|end|EOF|damaged"),
    "rows of two groups": (one_column(page(THREE, 3), -5, 3), "a negative number of rows"),
    "beyond": (one_column(page(THREE, 3), 3, 3, size=2**40), "a column ends after the file"),
    "large page": (
        one_column(page(b"\x28\xb5\x2f\xfd" + b"\0" * 9, 3, plain=2**31 - 1), 3, 3, codec=6),
        "a page claims more bytes than it can have",
    ),
    "large dictionary": (
        one_column(page(THREE, 2**31 - 1, kind=2) + page(THREE, 3), 3, 3),
        "damaged|fewer",
    ),
    "negative page": (one_column(page(THREE, 3, plain=-1), 3, 3), "damaged"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_table_is_an_error(tmp_path: Path, run: Run, case: str) -> None:
    data, message = HOSTILE[case]
    path = tmp_path / "in.parquet"
    path.write_bytes(data)
    with pytest.raises((nyssa.FormatError, nyssa.LimitError), match=message) as caught:
        nyssa.open(path).arrays()
    assert "in.parquet" in str(caught.value)
    code, report, _ = run("verify", path)
    assert (code, report["sound"]) == (1, False)
    assert report["problems"]
    code, _, err = run("cat", path, text=True)
    assert (code, "panicked" in err) == (1, False)


def test_a_page_that_lies_is_named_by_verify(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(one_column(page(THREE, 3), 7, 7))
    [problem] = nyssa.verify(path).problems
    assert problem.message == "the pages have 3 of the 7 values of their column"
    assert (problem.field, problem.cluster, problem.page) == ("x", 0, 1)
    path.write_bytes(one_column(page(THREE, 3), 4, 3))
    assert "insufficient rows" in nyssa.verify(path).problems[0].message
    good = one_column(page(THREE, 3), 3, 3)
    path.write_bytes(good.replace(thrift({1: i4(1)})[:-1], b"\x15\x02", 1))
    assert nyssa.verify(path).problems == []


def test_encrypted_and_brotli_are_unsupported(tmp_path: Path, run: Run) -> None:
    path = tmp_path / "in.parquet"
    path.write_bytes(b"PARE" + b"\0" * 20 + b"PARE")
    with pytest.raises(nyssa.UnsupportedError, match="the Parquet file is encrypted"):
        nyssa.open(path)
    assert run("verify", path)[0] == 4
    write(path, some_table(), compression={"x": "brotli", "i": "zstd"})
    with pytest.raises(nyssa.UnsupportedError, match=r"compressed by brotli.*write the table with"):
        nyssa.open(path).arrays(["x"])
    assert nyssa.open(path).arrays(["i"])["i"].to_list() == list(range(300))
    report = nyssa.verify(path)
    assert (report.problems, report.sound) == ([], False)
    assert report.datasets[0].unreadable[0].startswith("x: it is compressed by brotli")


def test_long_strings_are_read_in_small_batches(tmp_path: Path) -> None:
    text = "x" * 300_000
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"s": [text + str(i) for i in range(30)]}), path, compression="zstd")
    read = nyssa.open(path).arrays()["s"]
    assert [len(one) for one in read.to_list()] == [len(text + str(i)) for i in range(30)]


@pytest.mark.parametrize("form", ["in.arrow", "in.arrows"])
def test_hostile_arrow_files_are_errors(tmp_path: Path, run: Run, form: str) -> None:
    path = tmp_path / form
    if form == "in.arrow":
        write(path, some_table(), compression="zstd")
    else:
        with pa.ipc.new_stream(str(path), some_table().schema) as writer:
            writer.write_table(some_table(), max_chunksize=100)
    good = path.read_bytes()
    for data, message in [
        (b"", "not an Arrow IPC file: it is empty"),
        (b"words", 'not an Arrow IPC file: it begins with "words"'),
        (good[: len(good) // 2], "the Arrow file is damaged"),
        (good[:30], "the Arrow file is damaged"),
    ]:
        path.write_bytes(data)
        with pytest.raises(nyssa.FormatError, match=message):
            nyssa.open(path).arrays()
        assert run("verify", path)[0] == 1


def test_a_chain_has_the_nulls_of_all_files(tmp_path: Path) -> None:
    first = pa.table({"i": [1, 2], "l": [[1.5], []], "r": [{"x": 1}, {"x": 2}]})
    second = pa.table({"i": [3, None], "l": [[None], None], "r": [{"x": None}, {"x": 4}]})
    paths = [tmp_path / "first.parquet", tmp_path / "second.parquet"]
    for path, table in zip(paths, (first, second.cast(first.schema)), strict=True):
        pq.write_table(table, path)
    both = pa.concat_tables([first, second.cast(first.schema)]).to_pydict()
    assert ak.to_list(nyssa.chain(paths).arrays()) == [
        {name: both[name][entry] for name in both} for entry in range(4)
    ]
    out = tmp_path / "out.root"
    nyssa.skim(paths, out, columns=["i", "l"], format="rntuple")
    assert ak.to_list(nyssa.open(f"{out}:first").arrays())[3] == {"i": None, "l": None}
