"""Fields that are added while fill contexts write: ROOT and uproot read them."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

LATE = {"jets": "var * float32", "text": "string", "pair": "2 * int64", "rec": "{a: int32}"}
ZERO: dict[str, Any] = {"jets": [], "text": "", "pair": [0, 0], "rec": {"a": 0}}


def _late(numbers: np.ndarray) -> dict[str, Any]:
    """Return late fields of entries, by their numbers."""
    counts = numbers % 3
    return {
        "jets": ak.unflatten(np.repeat(numbers, counts).astype(np.float32), counts),
        "text": [f"entry {number}" for number in numbers],
        "pair": ak.to_regular(np.stack([numbers, -numbers], axis=1)),
        "rec": ak.zip({"a": numbers.astype(np.int32)}),
    }


def _expected(number: int, late: bool) -> dict[str, Any]:
    if not late:
        return {"x": number, **ZERO}
    return {
        "x": number,
        "jets": [float(number)] * (number % 3),
        "text": f"entry {number}",
        "pair": [number, -number],
        "rec": {"a": number},
    }


def _check(path: Path, root: Root, late: set[int], entries: int) -> None:
    """Each reader has all entries, with values of the late fields where `late` says so."""
    by_root = root.call("entries", str(path), "Events")
    order = [entry["x"] for entry in by_root]
    assert sorted(order) == list(range(entries))
    expected = [_expected(number, number in late) for number in order]
    assert by_root == expected
    with uproot.open(path) as file:
        assert file["Events"].arrays().to_list() == expected
    assert nyssa.open(f"{path}:Events").arrays().to_list() == expected


@pytest.mark.parametrize("order", ["completion", "round-robin"])
def test_two_contexts_see_fields_at_different_times(tmp_path: Path, root: Root, order: str) -> None:
    """Clusters with and without the fields lie between one another."""
    path = tmp_path / "late.root"
    late: set[int] = set()
    with nyssa.recreate(path, fill_contexts=2, fill_order=order) as file:
        events = file.mkrntuple("Events", {"x": "int64"})
        contexts = [events.fill_context(), events.fill_context()]
        for step in range(12):
            if step == 4:
                events.add_fields(LATE)
            for index, context in enumerate(contexts):
                numbers = np.arange(10) + 10 * (2 * step + index)
                data: dict[str, Any] = {"x": numbers}
                # The contexts have the fields from the fifth and the ninth step on.
                if step >= 4 + 4 * index:
                    data.update(_late(numbers))
                    late.update(numbers.tolist())
                context.extend(data)
                context.flush()
        with pytest.raises(nyssa.ArgumentError, match="missing"):
            contexts[0].extend({"x": np.arange(3)})
    _check(path, root, late, 240)


def test_open_clusters_end_when_a_field_comes(tmp_path: Path, root: Root) -> None:
    """Entries in no cluster yet have the default, too. Threads fill while the fields come."""
    path = tmp_path / "late.root"
    numbers = np.arange(3000)
    late = {int(number) for number in numbers if number % 1000 >= 500}

    def fill(context: nyssa.FillContext, start: int, ready: threading.Event) -> None:
        with context:
            for first in range(start, start + 1000, 100):
                part = numbers[first : first + 100]
                if first - start < 500:
                    context.extend({"x": part})
                else:
                    ready.wait()
                    context.extend({"x": part, **_late(part)})

    with nyssa.recreate(path, fill_contexts=3, cluster_size="5 kB") as file:
        events = file.mkrntuple("Events", {"x": "int64"})
        ready = threading.Event()
        threads = [
            threading.Thread(target=fill, args=(events.fill_context(), start, ready))
            for start in (0, 1000, 2000)
        ]
        for thread in threads:
            thread.start()
        events.add_fields(LATE)
        ready.set()
        for thread in threads:
            thread.join()
    _check(path, root, late, 3000)


def test_several_fields_come_one_after_the_other(tmp_path: Path, root: Root) -> None:
    """A context may skip a field only until it has seen it."""
    path = tmp_path / "late.root"
    with nyssa.recreate(path, fill_contexts=2) as file:
        events = file.mkrntuple("Events", {"x": "int64"})
        first, second = events.fill_context(), events.fill_context()
        first.extend({"x": [0]})
        first.flush()
        events.add_fields({"y": "float64"})
        first.extend({"x": [1], "y": [1.5]})
        second.extend({"x": [10]})
        events.add_fields({"z": "var * int32"})
        first.extend({"x": [2], "y": [2.5]})
        second.extend({"x": [11], "y": [11.5]})
        first.extend({"x": [3], "y": [3.5], "z": [[3, 3]]})
        third = None
        first.close()
        third = events.fill_context()
        with pytest.raises(nyssa.ArgumentError, match="missing"):
            third.extend({"x": [20]})
        third.extend({"x": [20], "y": [20.5], "z": [[20]]})
    expected = {
        0: (0, []),
        1: (1.5, []),
        2: (2.5, []),
        3: (3.5, [3, 3]),
        10: (0, []),
        11: (11.5, []),
        20: (20.5, [20]),
    }
    entries = root.call("entries", str(path), "Events")
    assert {one["x"]: (one["y"], one["z"]) for one in entries} == expected
    with uproot.open(path) as opened:
        assert opened["Events"].arrays().to_list() == entries


def test_a_field_before_the_first_entry_and_fields_that_nobody_fills(
    tmp_path: Path, root: Root
) -> None:
    """The first is a field of the header; the others are zero everywhere."""
    path = tmp_path / "late.root"
    with nyssa.recreate(path, fill_contexts=2) as file:
        events = file.mkrntuple("Events", {"x": "int64"})
        context = events.fill_context()
        events.add_fields({"jets": "var * float32"})
        numbers = np.arange(5)
        context.extend({"x": numbers, "jets": _late(numbers)["jets"]})
        context.flush()
        events.add_fields({name: LATE[name] for name in ("text", "pair", "rec")})
        context.extend({"x": numbers + 5, "jets": _late(numbers + 5)["jets"]})
    rows = [
        {**_expected(number, late=False), "jets": [float(number)] * (number % 3)}
        for number in range(10)
    ]
    assert root.call("entries", str(path), "Events") == rows
    with uproot.open(path) as opened:
        assert opened["Events"].arrays().to_list() == rows
    assert nyssa.open(f"{path}:Events").arrays().to_list() == rows


def test_columns_of_late_fields_are_deferred(tmp_path: Path, root: Root) -> None:
    """ROOT's descriptor has the first element of each column; zeros after it have pages."""
    path = tmp_path / "late.root"
    with nyssa.recreate(path, fill_contexts=1, threads=1) as file:
        events = file.mkrntuple("Events", {"x": "int64"})
        with events.fill_context() as context:
            context.extend({"x": np.arange(6)})
            context.flush()
            events.add_fields({"late": "2 * int32"})
            context.extend({"x": np.arange(6, 8)})
            context.flush()
            late = ak.to_regular(np.array([[8, 9]], dtype=np.int32))
            context.extend({"x": np.arange(8, 9), "late": late})
    with uproot.open(path) as opened:
        firsts = [
            column.first_element_index
            for column in opened["Events"].ntuple.column_records
            if column.first_element_index
        ]
        assert firsts == [12]
    entries = root.call("entries", str(path), "Events")
    assert [one["late"] for one in entries] == [[0, 0]] * 8 + [[8, 9]]
