"""Arrays that are read can be written to, and no other array shares their memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
import nyssa.uproot

COUNTS = np.arange(1000) % 4
LISTS = ak.unflatten(np.arange(COUNTS.sum(), dtype=np.float32), COUNTS)
TABLE = {
    "x": np.arange(1000.0),
    "i": np.arange(1000, dtype=np.int32),
    "b": np.arange(1000) % 2 == 0,
    "fixed": np.arange(2000, dtype=np.int64).reshape(1000, 2),
    "name": [f"run {number}" for number in range(1000)],
    "jets": ak.zip({"pt": LISTS, "eta": LISTS / 10}),
}


@pytest.fixture(scope="module", params=["RNTuple", "TTree"])
def path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return a file of either format."""
    path = tmp_path_factory.mktemp("writable") / "file.root"
    with nyssa.recreate(path) as file:
        if request.param == "RNTuple":
            types = {
                name: ak.Array(item).type.content if name != "name" else "string"
                for name, item in TABLE.items()
            }
            events = file.mkrntuple("Events", types, projections={"pt": "jets.pt"})
            events.extend(TABLE)
        else:
            flat = {name: item for name, item in TABLE.items() if name != "jets"}
            jets = {f"jets_{name}": TABLE["jets"][name] for name in ("pt", "eta")}  # type: ignore[call-overload]
            file.mktree("Events", {**flat, **jets})
    return f"{path}:Events"


def numbers(layout: Any) -> Iterator[np.ndarray]:
    """Yield the numbers of an awkward layout."""
    if isinstance(layout, ak.contents.NumpyArray):
        yield layout.data
    for inner in getattr(layout, "contents", None) or [getattr(layout, "content", None)]:
        if inner is not None:
            yield from numbers(inner)


def parts(arrays: Any) -> list[np.ndarray]:
    """Return the memory of arrays that users may change."""
    if isinstance(arrays, ak.Array):
        return list(numbers(arrays.layout))
    return [item for one in arrays.values() for item in (one if one.dtype == object else [one])]


def values(arrays: Any) -> list[Any]:
    """Return the values of arrays as lists."""
    if isinstance(arrays, ak.Array):
        return arrays.to_list()
    return [[item.tolist() for item in one] for one in arrays.values()]


READS = {
    "awkward": lambda events: events.arrays(),
    "numpy": lambda events: events.arrays(filter_name=["x", "i", "b", "fixed"], library="np"),
    "jagged numpy": lambda events: events.arrays(filter_name=["*pt", "*eta"], library="np"),
    "part": lambda events: events.arrays(entry_start=100, entry_stop=900),
    "one column": lambda events: events["x"].array(),
    "cut": lambda events: events.arrays(cut="x > 300"),
    "expressions": lambda events: events.arrays(["x", "twice"], aliases={"twice": "x"}),
    "lazy": lambda events: ak.materialize(events.arrays(lazy=True)),
    "iterate": lambda events: next(iter(events.iterate(step_size=100))),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_each_array_has_its_own_memory(path: str, read: Any) -> None:
    with nyssa.open(path) as events:
        arrays = read(events)
        before = values(arrays)
        own = [part for part in parts(arrays) if isinstance(part, np.ndarray) and part.size]
        assert own
        assert all(part.flags.writeable for part in own)
        # Lists of one column are parts of one array, and do not overlap either.
        assert not any(np.may_share_memory(one, other) for one, other in combinations(own[:200], 2))
        for part in own:
            part[...] = 0
        # What nyssa has in memory did not change.
        assert values(read(events)) == before


def test_no_copy_where_nobody_shares_the_memory(path: str) -> None:
    """The numbers are in the buffers of nyssa."""
    events = nyssa.open(path)
    columns = events.arrays(["x", "i"])
    plain = [ak.to_layout(columns[name]).data for name in ("x", "i")]
    for data in [*plain, *events.arrays(["x", "i"], library="np").values()]:
        assert data.flags.writeable
        assert isinstance(getattr(data.base, "obj", data.base), nyssa._core.Buffer)


@pytest.mark.parametrize("module", [nyssa, nyssa.uproot])
def test_numbers_of_awkward_arrays_are_changed_in_place(path: str, module: Any) -> None:
    array = module.open(path)["x"].array()
    as_numpy = ak.to_numpy(array)
    as_numpy *= 2
    np.from_dlpack(as_numpy)[0] = -1
    assert array.to_list() == [-1, *range(2, 2000, 2)]


def test_arrays_of_other_libraries_stay_as_they_are(path: str) -> None:
    """Arrow and pandas tables of the same column keep their values."""
    pyarrow = pytest.importorskip("pyarrow")
    events = nyssa.open(path)
    table = events.arrays(["x"], library="arrow")
    # The memory goes through nyssa again.
    again = nyssa._core.Array.from_arrow_array("x", *table["x"].chunk(0).__arrow_c_array__())
    from nyssa.arrays import to_awkward

    ak.to_numpy(to_awkward.array(again))[...] = 0
    assert table["x"] == pyarrow.chunked_array([TABLE["x"]])
