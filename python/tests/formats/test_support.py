"""What nyssa reads and writes, compared with ROOT. tables/types.md shows it in two tables.

The tables are made here, from what was seen. When they differ from the page, the test fails;
``NYSSA_UPDATE_DOCS=1`` writes the page anew.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.data import REPOSITORY, TESTDATA
from support.root import Root
from support.types import COLUMNS, DICTIONARIES, HEADERS, TYPES, Column, Type, code

PAGE = REPOSITORY / "tables" / "types.md"


@pytest.fixture(scope="module")
def support(root: Root) -> Root:
    """Return a ROOT with the code above."""
    root.call("dictionaries", DICTIONARIES, HEADERS)
    root.call("cpp", code(), "")
    return root


@pytest.fixture(scope="module")
def from_root() -> Path:
    """Return a file of ROOT's with every type and column."""
    return TESTDATA / "rntuple" / "types.root"


@pytest.fixture(scope="module")
def from_nyssa(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file of nyssa's with every type and column."""
    path = tmp_path_factory.mktemp("support") / "nyssa.root"
    rows: list[Type | Column] = [*TYPES, *COLUMNS]
    first = len(TYPES)
    columns = {f"f{k}": {"column": c.option or c.name} for k, c in enumerate(COLUMNS, first)}
    with nyssa.recreate(path) as file:
        types = {f"f{k}": row.cpp for k, row in enumerate(rows)}
        writer = file.mkrntuple("n", types, field_options=columns)
        writer.extend({f"f{k}": _data(row.values) for k, row in enumerate(rows)})
    return path


def _data(values: tuple[Any, Any]) -> Any:
    # awkward needs to know that a number is unsigned.
    return np.array(values) if all(type(v) is int for v in values) else ak.Array(list(values))


def _plain(value: Any, unordered: bool) -> Any:
    """Return a value with tuples for records of tuples, and sorted if the order has no meaning."""
    if isinstance(value, dict):
        return tuple(_plain(v, False) for v in value.values())
    if isinstance(value, (list, tuple)):
        plain = [_plain(v, False) for v in value]
        return tuple(plain) if isinstance(value, tuple) else sorted(plain) if unordered else plain
    return value


def _check(path: Path) -> nyssa.RNTuple:
    events = nyssa.open(f"{path}:n")
    arrays = events.arrays()
    for k, row in enumerate([*TYPES, *COLUMNS]):
        unordered = "unordered" in row.cpp
        got = [_plain(value, unordered) for value in arrays[f"f{k}"].to_list()]
        assert got == [_plain(value, unordered) for value in row.values], row
    return events


def _columns(path: Path) -> dict[str, set[str]]:
    """Return the column types of each top-level field."""
    command = [sys.executable, "-m", "nyssa", "schema", "--json", f"{path}:n"]
    schema = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    found: dict[str, set[str]] = {}
    for field in schema["fields"]:
        names = found.setdefault(field["path"].partition(".")[0], set())
        names.update(column["type"] for column in field["columns"])
    return found


def test_reads_what_root_writes(from_root: Path) -> None:
    """Every type and every column type that ROOT writes is read to ROOT's values."""
    events = _check(from_root)
    for k, row in enumerate(TYPES):
        assert events.typenames()[f"f{k}"].replace(" ", "") == row.cpp


def test_root_reads_what_nyssa_writes(from_nyssa: Path, support: Root) -> None:
    """ROOT reads every type and column type that nyssa writes, by the same C++ type."""
    support.call("cpp", "", f'support::check("{from_nyssa}")')


def test_reads_what_nyssa_writes(from_nyssa: Path) -> None:
    """Every type and column type that nyssa writes is read, in the requested column type."""
    _check(from_nyssa)
    stored = _columns(from_nyssa)
    for k, column in enumerate(COLUMNS, len(TYPES)):
        assert column.name in stored[f"f{k}"], column


def _page(events: nyssa.RNTuple, written: dict[str, set[str]], converted: set[str]) -> str:
    """Return the page. It says what the tests above read and wrote."""
    array = events.arrays()
    lines = [
        "# What nyssa reads and writes",
        "",
        "Made by `python/tests/formats/test_support.py`: values of every type are written by "
        "ROOT 6.40 and read by nyssa,",
        "and written by nyssa and read by ROOT. Both must give the same values.",
        "",
        "## C++ types",
        "",
        "| C++ type | Arrow | awkward | read | write |",
        "|---|---|---|---|---|",
    ]
    for k, row in enumerate(TYPES):
        arrow = events[f"f{k}"].arrow_type
        kind = array[f"f{k}"].type.content
        lines.append(f"| `{row.cpp}` | `{arrow}` | `{kind}` | yes | yes |")
    lines += ["", "## Column types", ""]
    lines += ["| column type | seen with | read | write | convert |", "|---|---|---|---|---|"]
    for k, column in enumerate(COLUMNS, len(TYPES)):
        assert column.name in written[f"f{k}"]
        use = "yes" if column.name in converted else "no"
        lines.append(f"| `{column.name}` | `{column.cpp}` | yes | yes | {use} |")
    return "\n".join([*lines, ""])


def test_the_page_says_so(from_root: Path, from_nyssa: Path, nano: Path, tmp_path: Path) -> None:
    """tables/types.md equals the results of the tests above."""
    events = nyssa.open(f"{from_root}:n")
    converted = set()
    for compression in ("zstd:1", "none"):
        output = tmp_path / f"{compression}.root"
        nyssa.convert(nano, output, compression=compression, name="n")
        converted |= set().union(*_columns(output).values())
    page = _page(events, _columns(from_nyssa), converted)
    if os.environ.get("NYSSA_UPDATE_DOCS"):
        PAGE.write_text(page)
    assert PAGE.read_text() == page, (
        "tables/types.md is out of date: NYSSA_UPDATE_DOCS=1 remakes it"
    )
