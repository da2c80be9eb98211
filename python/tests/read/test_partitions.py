"""Tests entry ranges and awkward forms, which a scheduler needs before any data are read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an RNTuple of clusters of 100, 100, 30 and 300 entries of 8 bytes each."""
    path = tmp_path_factory.mktemp("partitions") / "a.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", {"x": "float64"})
        with events.fill_context() as context:
            for size in (100, 100, 30, 300):
                context.extend({"x": np.arange(size) * 1.5})
                context.flush()
    return path


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"step_size": "cluster"}, [(0, 100), (100, 200), (200, 230), (230, 530)]),
        ({"step_size": 200}, [(0, 200), (200, 230), (230, 380), (380, 530)]),
        ({"step_size": 10**30}, [(0, 530)]),
        ({}, [(0, 530)]),
        ({"step_size": 8 * 230, "entry_start": 50}, [(50, 530)]),
        ({"step_size": "1840 B"}, [(0, 230), (230, 380), (380, 530)]),
        ({"step_size": "1840 B", "entry_start": 50, "entry_stop": -280}, [(50, 250)]),
        ({"step_size": 100, "entry_start": 240, "entry_stop": 250}, [(240, 250)]),
        ({"entry_start": 5, "entry_stop": 5}, []),
        ({"step_size": "1 B", "entry_stop": 3}, [(0, 1), (1, 2), (2, 3)]),
    ],
)
def test_partitions(path: Path, options: dict[str, Any], expected: list[tuple[int, int]]) -> None:
    """Ranges end with clusters that fit; larger clusters are divided into equal parts."""
    with nyssa.open(f"{path}:Events") as events:
        assert events.clusters == [(0, 100), (100, 200), (200, 230), (230, 530)]
        assert events.partitions(**options) == expected


def test_memory_depends_on_the_columns(tmp_path: Path) -> None:
    """Booleans are bytes in awkward arrays; the size of lists depends on their items."""
    path = tmp_path / "a.root"
    lists = ak.Array([np.arange(3, dtype=np.float32)] * 1000)
    with uproot.recreate(path) as file:
        file.mktree("Events", {"flag": "bool", "n": "var * float32"})
        for start in range(0, 1000, 100):
            part = lists[start : start + 100]
            file["Events"].extend({"flag": np.ones(100, dtype=bool), "n": part})
    events = nyssa.open(f"{path}:Events")
    assert len(events.partitions("flag", step_size="600 B")) == 2
    # There are 12 bytes of items and 8 bytes of an offset.
    assert len(events.partitions("n", step_size="6100 B")) == 4
    assert events.partitions(filter_name="flag", step_size="1100 B") == [(0, 1000)]
    with pytest.raises(nyssa.NotFoundError, match="'flags'"):
        events.partitions("flags", step_size="1 kB")
    with pytest.raises(nyssa.ArgumentError, match="step_size must be at least one entry"):
        events.partitions(step_size=0)


def test_parts_of_a_chain_end_with_its_files(path: Path) -> None:
    chain = nyssa.chain([f"{path}:Events"] * 2)
    assert chain.partitions(step_size=530) == [(0, 530), (530, 1060)]


def test_form_of_a_selection(path: Path) -> None:
    events = nyssa.open(f"{path}:Events")
    assert events.form() == ak.forms.RecordForm([ak.forms.NumpyForm("float64")], ["x"])
    assert events.form([]) == events.arrays([]).layout.form
    with pytest.raises(nyssa.NotFoundError, match="'y'"):
        events.form("y")


def test_form_of_every_type(tmp_path: Path) -> None:
    """The form does not depend on the values: arrays of any entries have the same form."""
    types = {
        "number": "float",
        "text": "std::string",
        "lists": "std::vector<std::vector<std::int16_t>>",
        "maybe": "std::optional<double>",
        "one": "std::variant<std::int32_t>",
        "either": "std::variant<std::int32_t, std::string>",
        "deep": "std::vector<std::variant<std::optional<float>, std::vector<double>>>",
        "fixed": "std::array<float, 3>",
        "flag": "bool",
        "pair": "std::pair<float, int>",
        "map": "std::map<std::string, float>",
    }
    rows = {
        "number": [1, 2],
        "text": ["a", "b"],
        "lists": [[[1], []], []],
        "maybe": [None, 1.5],
        "one": [3, None],
        "either": ["x", None],
        "deep": [[1.5, [2.0], None], []],
        "fixed": [[1, 2, 3], [4, 5, 6]],
        "flag": [True, False],
        "pair": [(1, 2), (3, 4)],
        "map": [{"k": 1}, {}],
    }
    path = tmp_path / "a.root"
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", types).extend(rows)
    with nyssa.open(f"{path}:Events") as events:
        form = events.form()
        for start, stop in ((0, 2), (0, 1), (1, 2), (2, 2)):
            arrays = events.arrays(entry_start=start, entry_stop=stop)
            assert arrays.layout.form == form
        lazy = events.arrays(lazy=True)
        assert lazy.layout.form == form
        assert lazy.to_list() == events.arrays().to_list()
        assert events.arrays()["one"].to_list() == [3, None]
        assert events.arrays()["either"].to_list() == ["x", None]


def test_forms_of_real_data(data: Path) -> None:
    """For every dataset of small files, `form` returns the form of `arrays`."""
    count = 0
    small = [one for one in data.glob("ttree/u*.root") if one.stat().st_size < 100_000]
    small += [one for one in data.glob("rntuple/*.root") if one.stat().st_size < 20_000]
    for path in sorted(small):
        with nyssa.open(path) as file:
            for name in file.datasets():
                dataset = file[name]
                try:
                    arrays = dataset.arrays(dataset.readable, entry_stop=5)
                except (nyssa.UnsupportedError, nyssa.FormatError):
                    continue  # Known only from the values.
                assert dataset.form(arrays.fields) == arrays.layout.form, (path, name)
                count += 1
    assert count > 30


def test_form_without_what_cannot_be_read(data: Path) -> None:
    path = data / "ttree" / "roottest" / "meta__MakeProject__alice_ESDs.root"
    tree = nyssa.open(path)["esdTree"]
    assert tree.unreadable
    with pytest.raises(nyssa.UnsupportedError, match="nyssa cannot read"):
        tree.form()
    form = tree.form(skip_unreadable=True)
    assert set(form.fields) == set(tree.readable)


def test_a_file_that_was_written_again(tmp_path: Path) -> None:
    """It is opened anew; partitions of the old file that do not fit it are refused."""
    path = tmp_path / "a.root"
    for count, value in ((3, 1.0), (3, 9.0), (5, 7.0)):
        with uproot.recreate(path) as file:
            file.mktree("Events", {"x": np.full(count, value)})
        found = nyssa.partitions(f"{path}:Events")
        assert [one.arrays().x.to_list() for one in found] == [[value] * count]
    with uproot.recreate(path) as file:
        file.mktree("Events", {"x": np.zeros(4)})
    with pytest.raises(nyssa.ArgumentError, match="was written again: Events has 4 entries"):
        found[0].arrays()


@pytest.mark.parametrize("pickled", [False, True])
def test_partitions_of_two_versions_are_not_mixed(tmp_path: Path, pickled: bool) -> None:
    path = tmp_path / "a.root"
    for count in (20, 30):
        with uproot.recreate(path) as file:
            file.mktree("Events", {"x": np.full(count, count)})
        if count == 20:
            found = nyssa.partitions(f"{path}:Events", step_size=5)
            found = pickle.loads(pickle.dumps(found)) if pickled else found
            assert found[0].arrays().x.to_list() == [20] * 5
    for part in found:
        with pytest.raises(nyssa.ArgumentError, match="was written again; make the partitions"):
            part.arrays()
    assert len(found[0]) == 4
    # A tuple alone knows no version.
    assert nyssa.Partition(*found[0]).arrays().x.to_list() == [30] * 5


def test_a_partition_takes_the_options_of_arrays(tmp_path: Path) -> None:
    path = tmp_path / "a.root"
    lists = ak.unflatten(np.arange(90, dtype=np.float32), [0, 1, 2] * 30)
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {"n": "int32", "x": "var * float32"})
        tree.extend({"n": np.arange(90, dtype=np.int32), "x": lists})
    (*_, last) = nyssa.partitions(f"{path}:Events", step_size=45)
    expected = uproot.open(path)["Events"].arrays(entry_start=last.start)
    total = ak.sum(expected.x, axis=1)
    options = {"cut": "total > 100", "aliases": {"total": "sum(x)"}}
    found = last.arrays(["n", "total"], library="np", **options)
    assert found["n"].tolist() == expected.n[total > 100].to_list()
    assert found["total"].tolist() == total[total > 100].to_list()
