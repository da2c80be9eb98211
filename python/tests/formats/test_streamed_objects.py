"""Streamer fields have the values that ROOT reads.

The files in `testdata/streamed` were written by ROOT 6.40 with `objects.cxx` and `kinds.cxx` of
`testdata/cpp/streamed`, which
also wrote what ROOT reads back as JSON, one entry a line.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

import nyssa
from nyssa.objects.date import dates
from support.data import TESTDATA
from support.root_json import differences, flat

pa = pytest.importorskip("pyarrow")

FOLDER = TESTDATA / "streamed"


def _read(name: str) -> tuple[list[Any], list[Any]]:
    table = pa.table(nyssa.open(FOLDER / f"{name}.root")["ntpl"])
    ours = [flat(entry) for entry in table.column("f").to_pylist()]
    theirs = [json.loads(line) for line in (FOLDER / f"{name}.json").read_text().splitlines()]
    assert len(ours) == len(theirs) >= 4
    return ours, theirs


@pytest.mark.parametrize("name", ["Numbers", "Root"])
def test_objects_equal_root(name: str) -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read(name), strict=True)):
        assert differences(ours, theirs, f"entry {entry}", 7) == []


def test_containers_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Stl"), strict=True)):
        # The order of hash maps is arbitrary.
        ours["um"].sort(key=lambda pair: pair["_0"])
        theirs["um"].sort(key=lambda pair: pair["first"])
        assert differences(ours, theirs, f"entry {entry}", 7) == []


def test_pointers_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Pointers"), strict=True)):
        if isinstance(theirs["again"], dict):
            # ROOT's JSON refers to the object by its number; it is the previous one.
            assert theirs["again"] == {"$ref": 2}
            theirs["again"] = theirs["poly"]
        assert differences(ours, theirs, f"entry {entry}", 7) == []


def test_deep_objects_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Nested"), strict=True)):
        # ROOT's JSON omits arrays of pointers and the number of a date; these are the values
        # that `objects.cxx` writes.
        assert ours.pop("pair") == [list(range(entry)), [-i for i in range(entry)]]
        assert ours.pop("date") == datetime(2024, 1, 2, 3, 4, 5)
        del theirs["pair"], theirs["date"]
        assert differences(ours, theirs, f"entry {entry}", 7) == []


def test_kinds_of_root_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Kinds"), strict=True)):
        # ROOT's JSON has the objects of references, and halves of symmetric matrices.
        referenced = theirs.pop("refs")["arr"]
        assert ours.pop("refs")["fUIDs"] == [one["fUniqueID"] for one in referenced]
        rows = theirs["sym"].pop("_blob", [])
        assert rows == [[10 * i + j for j in range(i, entry)] for i in range(entry)]
        theirs["sym"]["fElements"] = [
            rows[min(i, j)][abs(i - j)] for i in range(entry) for j in range(entry)
        ]
        assert [ours.pop("date")] == dates(theirs.pop("date")["_blob"]).tolist()
        assert differences(ours, theirs, f"entry {entry}", 7) == []


def test_counted_arrays_of_objects_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Loops"), strict=True)):
        if entry == 0:
            # ROOT stores no array for an empty one.
            theirs |= {name: [] for name in ("cells", "parts", "zoo", "names")}
            assert theirs.pop("two") == [None, None]
            assert ours.pop("two") == [[], []]
        assert differences(ours, theirs, f"entry {entry}", 7) == []


def test_a_container_of_a_class_inside_itself_is_refused() -> None:
    """Its objects may be nested in any depth, which no type of a column has."""
    with pytest.raises(nyssa.UnsupportedError, match="objects of Branching hold objects of their"):
        nyssa.open(FOLDER / "Stl2.root")["ntpl"].arrays()


def test_a_class_without_streamer_info_is_refused() -> None:
    table = nyssa.open(FOLDER / "Missing.root")["ntpl"]
    with pytest.raises(nyssa.UnsupportedError, match="no streamer info of class Plain"):
        table.arrays()


def test_raw_objects_are_bytes() -> None:
    raw = nyssa.open(FOLDER / "Numbers.root", streamer="raw")["ntpl"]
    objects = pa.table(raw).column("f").to_pylist()
    # The bytes are a byte count, class version 1, then `bool` and `char`.
    assert [entry[:8] for entry in objects] == [
        bytes([0x40, 0, 0, 0x9D, 0, 1, k % 2, ord("a") + k]) for k in range(5)
    ]
    with pytest.raises(nyssa.ArgumentError, match="streamer is"):
        nyssa.open(FOLDER / "Numbers.root", streamer="bytes")
