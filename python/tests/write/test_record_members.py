"""Members that records of an RNTuple get after entries were written: ROOT and uproot read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
import nyssa.uproot
from support.root import Root

RECORDS = [
    {"jet": {"pt": 1.5, "track": {"hits": 4}}, "lists": [{"x": 1}], "n": 7},
    {"jet": {"pt": 2.5, "track": {"hits": 5}}, "lists": [], "n": 8},
]


@pytest.fixture(params=["nyssa", "uproot"])
def written(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Return a file that nyssa or uproot wrote."""
    path = tmp_path / "records.root"
    module: Any = {"nyssa": nyssa, "uproot": uproot}[request.param]
    with module.recreate(path) as file:
        file["Events"] = ak.Array(RECORDS)
    return path


def _all_read(path: Path, root: Root, expected: list[dict[str, Any]]) -> None:
    assert root.call("entries", str(path), "Events") == expected
    with uproot.open(path) as file:
        assert file["Events"].arrays().to_list() == expected
    assert nyssa.open(f"{path}:Events").arrays().to_list() == expected
    assert nyssa.verify(path).problems == []


def test_members_are_zero_in_earlier_entries(written: Path, root: Root) -> None:
    with nyssa.update(written) as file:
        events = file["Events"]
        events.add_fields({"jet.eta": "float32", "jet.track.text": "string"})
        events.add_fields({"jet.track.pair": "2 * int64", "jet.tags": "var * int32"})
        track = {"hits": 6, "text": "a", "pair": [1, 2]}
        jet = {"pt": 3.5, "track": track, "eta": 0.5, "tags": [1, 2]}
        new = {"jet": jet, "lists": [{"x": 9}], "n": 9}
        events.extend({name: [item] for name, item in new.items()})
    zero = {"text": "", "pair": [0, 0]}
    old = [
        {**row, "jet": {**jet, "track": {**jet["track"], **zero}, "eta": 0.0, "tags": []}}
        for row in RECORDS
        for jet in [row["jet"]]
    ]
    _all_read(written, root, [*old, new])


def test_members_have_values_in_earlier_entries(written: Path, root: Root) -> None:
    with nyssa.update(written) as file:
        values = {"jet.eta": [0.25, 0.75], "jet.track.tags": [[1], [2, 3]], "met": [1.0, 2.0]}
        file["Events"].add_fields(values)
        with pytest.raises(nyssa.ArgumentError, match="3 values for 2 entries"):
            file["Events"].add_fields({"jet.phi": np.arange(3)})
    expected = [
        {
            **row,
            "jet": {**row["jet"], "track": {**row["jet"]["track"], "tags": tags}, "eta": eta},
            "met": met,
        }
        for row, eta, tags, met in zip(
            RECORDS, [0.25, 0.75], [[1], [2, 3]], [1.0, 2.0], strict=True
        )
    ]
    _all_read(written, root, expected)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.x", "the record 'nothing' is not found"),
        ("jet.nothing.x", "the record 'jet.nothing' is not found"),
        ("n.x", "'n' is not a record without a class"),
        ("lists.y", "'lists' is not a record without a class"),
        ("lists._0.y", "members can only be added to untyped records outside collections"),
        ("jet.pt", "already exists"),
        ("jet.", "a field needs a name"),
    ],
)
def test_refused(written: Path, name: str, message: str) -> None:
    before = written.read_bytes()
    with nyssa.update(written) as file:
        for given in ("float32", [1.0, 2.0]):
            with pytest.raises(nyssa.ArgumentError, match=message.replace("'", "[\"']")):
                file["Events"].add_fields({name: given})
    if b"nyssa" in before:
        assert nyssa.open(f"{written}:Events").arrays().to_list() == RECORDS


def test_no_members_while_contexts_fill(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "late.root", fill_contexts=2) as file:
        events = file.mkrntuple("Events", {"r": "{x: int32}"})
        with events.fill_context() as context:
            with pytest.raises(nyssa.UnsupportedError, match="'r' gets no members|\"r\" gets no"):
                events.add_fields({"r.y": "int32"})
            context.extend({"r": [{"x": 1}]})
    assert nyssa.open(f"{tmp_path}/late.root:Events").arrays().to_list() == [{"r": {"x": 1}}]


@pytest.mark.parametrize("name", ["track.phi", "jet.phi", "jet.track.phi"])
def test_as_uproot(tmp_path: Path, name: str) -> None:
    """A record may be named without its path, as in uproot."""
    found = []
    for module in (uproot, nyssa.uproot):
        path = tmp_path / f"{module.__name__}.root"
        with module.recreate(path) as file:
            file["Events"] = ak.Array(RECORDS)
        with module.update(path) as file:
            file["Events"].add_fields({name: np.float32})
        with uproot.open(path) as file:
            found.append((file["Events"].keys(), file["Events"].arrays().to_list()))
    assert found[0] == found[1]


def test_ambiguous_as_uproot(tmp_path: Path) -> None:
    for module in (uproot, nyssa.uproot):
        path = tmp_path / f"{module.__name__}.root"
        with module.recreate(path) as file:
            file["Events"] = ak.Array([{"a": {"x": 1.0}, "b": {"a": {"y": 2.0}}}])
        with (
            module.update(path) as file,
            pytest.raises(ValueError, match="ambiguous"),
        ):
            file["Events"].add_fields({"a.new": np.float32})
