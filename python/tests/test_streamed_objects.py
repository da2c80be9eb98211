"""Streamer fields read to the values that ROOT reads.

The files in `streamed` were written by ROOT 6.40 with `streamed/objects.cxx`, which also wrote what
ROOT reads back as JSON, one entry a line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nyssa

pa = pytest.importorskip("pyarrow")

FOLDER = Path(__file__).parent / "streamed"
#: ROOT's JSON has these, nyssa has not: class names, and process ids, which are the process's own.
LEFT_OUT = {"_typename", "fPID"}
#: Nyssa has these, ROOT's JSON has not.
EXTRA = {"fName", "fLowerBound", "fUniqueID", "fBits"}


def _flat(value: Any) -> Any:
    """Put the members of base classes beside those of the class, as ROOT's JSON does."""
    if isinstance(value, dict):
        out: dict[str, Any] = {}
        for name, member in value.items():
            if name.startswith(":_"):
                out.update(_flat(member))
            elif name not in LEFT_OUT:
                out[name] = _flat(member)
        return out
    return [_flat(item) for item in value] if isinstance(value, list) else value


def _differences(ours: Any, theirs: Any, place: str = "") -> list[Any]:
    if isinstance(theirs, dict) and ("$pair" in theirs or "_1" in ours):
        theirs = {"_0": theirs["first"], "_1": theirs["second"]}
    if isinstance(theirs, dict) and "arr" in theirs:
        return _differences(ours["items"], theirs["arr"], place)
    if isinstance(theirs, dict) and isinstance(ours, dict):
        named = set(theirs) - LEFT_OUT
        out: list[Any] = [(place, name) for name in named ^ set(ours) if name not in EXTRA]
        for name in named & set(ours):
            out += _differences(ours[name], theirs[name], f"{place}.{name}")
        return out
    if isinstance(theirs, list) and isinstance(ours, list):
        if ours and isinstance(ours[0], dict) and len(theirs) == 2 * len(ours):
            # A map of numbers inside a map: keys and values in turn.
            ours = [number for pair in ours for number in (pair["_0"], pair["_1"])]
        if len(ours) != len(theirs):
            return [(place, len(ours), len(theirs))]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (a, b) in pairs for d in _differences(a, b, f"{place}[{i}]")]
    if isinstance(theirs, (int, float)) and isinstance(ours, (int, float)):
        # ROOT's JSON has 7 digits of a float, 15 of a double.
        return [] if ours == pytest.approx(theirs, rel=2e-7, abs=1e-7) else [(place, ours, theirs)]
    return [] if ours == theirs else [(place, ours, theirs)]


def _read(name: str) -> tuple[list[Any], list[Any]]:
    table = pa.table(nyssa.open(FOLDER / f"{name}.root")["ntpl"])
    ours = [_flat(entry) for entry in table.column("f").to_pylist()]
    theirs = [json.loads(line) for line in (FOLDER / f"{name}.json").read_text().splitlines()]
    assert len(ours) == len(theirs) == 5
    return ours, theirs


@pytest.mark.parametrize("name", ["Numbers", "Root"])
def test_objects_equal_root(name: str) -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read(name), strict=True)):
        assert _differences(ours, theirs, f"entry {entry}") == []


def test_containers_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Stl"), strict=True)):
        # Hash maps come in any order.
        ours["um"].sort(key=lambda pair: pair["_0"])
        theirs["um"].sort(key=lambda pair: pair["first"])
        assert _differences(ours, theirs, f"entry {entry}") == []


def test_pointers_equal_root() -> None:
    for entry, (ours, theirs) in enumerate(zip(*_read("Pointers"), strict=True)):
        if isinstance(theirs["again"], dict):
            # ROOT's JSON refers to the object by number; it is the one before.
            assert theirs["again"] == {"$ref": 2}
            theirs["again"] = theirs["poly"]
        assert _differences(ours, theirs, f"entry {entry}") == []
