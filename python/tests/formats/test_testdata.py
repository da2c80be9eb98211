"""nyssa reads the values from the files of `testdata` that ROOT read when it wrote them.

Trees of classes are in `test_tree_kinds.py`, trees of odd shapes in `test_tree_shapes.py`, objects
with keys of their own in `test_objects.py`, streamer fields in `test_streamed_objects.py`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import nyssa
from support.data import TESTDATA, rntuple_values, tree_values
from support.root import Root
from support.root_json import differences
from support.root_leaves import leaves

pa = pytest.importorskip("pyarrow")

NTUPLES = {f"{one['file']}:{one['name']}": one for one in rntuple_values() if "fields" in one}
EVENTS = [
    ("events-none.root", "Events"),
    ("events-zlib.root", "Events"),
    ("events-lzma.root", "Events"),
    ("events-lz4.root", "Events"),
    ("events-zstd.root", "Events"),
    ("events-more.root", "Events"),
    ("friends.root", "main"),
    ("friends.root", "near"),
    ("friend.root", "far"),
    ("old_branches.root", "t"),
]


def as_shown(array: Any) -> list[Any]:
    """Return the values of an Arrow array in the form of `show.hxx`."""
    kind = array.type
    if pa.types.is_union(kind):
        places = zip(array.type_codes.to_pylist(), array.offsets.to_pylist(), strict=True)
        fields = [as_shown(array.field(number)) for number in range(kind.num_fields)]
        # A variant may have no value: this is the first alternative.
        first = int(kind.field(0).name == "none")
        chosen = [(code - first, fields[code][offset]) for code, offset in places]
        return [{"variant": [index, value]} for index, value in chosen]
    if pa.types.is_struct(kind):
        members = [as_shown(array.field(number)) for number in range(kind.num_fields)]
        names = [kind.field(number).name for number in range(kind.num_fields)]
        tuples = names and names == [f"_{number}" for number in range(len(names))]
        rows = [tuple(member[row] for member in members) for row in range(len(array))]
        found: list[Any] = [
            list(one) if tuples else dict(zip(names, one, strict=True)) for one in rows
        ]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind):
        ends, items = array.offsets.to_pylist(), as_shown(array.values)
        found = [items[a:b] for a, b in pairwise(ends)]
    elif pa.types.is_fixed_size_list(kind):
        size, items = kind.list_size, as_shown(array.values)
        found = [items[size * row : size * row + size] for row in range(len(array))]
    else:
        return list(array.to_pylist())
    valid = array.is_valid().to_pylist()
    return [one if there else None for one, there in zip(found, valid, strict=True)]


def plain(value: Any) -> Any:
    """Return a value with bytes as text, and without variants that have no value."""
    if isinstance(value, dict):
        if "variant" in value:
            index, inside = value["variant"]
            return {"variant": [index, plain(inside)]}
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, list):
        return [plain(one) for one in value]
    return value.decode() if isinstance(value, bytes) else value


@pytest.mark.parametrize("name", NTUPLES)
def test_rntuples(name: str) -> None:
    """All types, column types, structures and codecs have the right values and C++ types."""
    one = NTUPLES[name]
    dataset = nyssa.open(TESTDATA / "rntuple" / one["file"])[one["name"]]
    assert dataset.unreadable == {}
    for field, (kind, values) in one["fields"].items():
        column = dataset[field]
        assert column.typename == kind, field
        array = column.array(library="pa")
        chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
        found = [plain(value) for chunk in chunks for value in as_shown(chunk)]
        if kind.startswith(("std::optional<std::optional", "std::optional<std::variant")):
            # These are lists of at most one item, because Arrow has no null inside a null.
            found = [value[0] if value else None for value in found]
        if "unordered" in kind:
            found, values = ([sorted(value) for value in both] for both in (found, values))
        assert found == values, field


@pytest.mark.parametrize(("file", "tree"), EVENTS)
def test_trees(file: str, tree: str) -> None:
    """Numbers, texts, arrays and lists are right with every codec; so are old branches."""
    expected = tree_values(file, tree)
    table = pa.table(nyssa.open(TESTDATA / "ttree" / file)[tree])
    assert set(table.column_names) == set(expected)
    for branch, read in expected.items():
        for entry, (ours, theirs) in enumerate(
            zip(table.column(branch).to_pylist(), read["entries"], strict=True)
        ):
            pair = (ours, theirs) if read["class"] else (leaves(ours), leaves(theirs))
            assert differences(*pair, f"{branch}[{entry}]") == []


def test_attributes() -> None:
    """The values of attributes and their entries are right."""
    [expected] = [one["attributes"]["runs"] for one in rntuple_values() if "attributes" in one]
    runs = nyssa.open(TESTDATA / "rntuple" / "attributes.root")["ntpl"].attribute_sets["runs"]
    found = [
        [*ends, values]
        for ends, values in zip(runs.ranges, runs.attributes().to_list(), strict=True)
    ]
    assert found == expected
    assert len(found) == 3


def test_friends() -> None:
    """A tree names its friends; one of them is in another file."""
    tree = nyssa.open(TESTDATA / "ttree" / "friends.root")["main"]
    assert [friend.name for friend in tree.friends] == ["near", "far"]


def test_there_are_values_of_all_files() -> None:
    """Every file is read by a test."""
    known = {TESTDATA / "rntuple" / one["file"] for one in rntuple_values()}
    lines = (TESTDATA / "ttree" / "values.jsonl").read_text().splitlines()
    known |= {TESTDATA / "ttree" / file for line in lines for file, *_ in json.loads(line)["at"]}
    # The values of these are in other files.
    known |= {TESTDATA / "ttree" / f"both{split}.root" for split in (0, 1, 2, 99)}
    known.add(TESTDATA / "ttree" / "shapes" / "no-branches.root")
    assert known == {*TESTDATA.glob("rntuple/*.root"), *TESTDATA.glob("ttree/**/*.root")}


def test_root_makes_the_same_values_again(root: Root, tmp_path: Path) -> None:
    """The files are the output of the present `testdata/make.py`."""
    assert root.call("version").startswith("6.40")
    made = [sys.executable, str(TESTDATA / "make.py"), str(tmp_path)]
    subprocess.run(made, check=True, timeout=900)
    for folder in ("ttree", "rntuple", "objects"):
        assert sorted(path.relative_to(tmp_path) for path in (tmp_path / folder).rglob("*.*")) == (
            sorted(path.relative_to(TESTDATA) for path in (TESTDATA / folder).rglob("*.*"))
        )
        values = (tmp_path / folder / "values.jsonl").read_text().splitlines()
        for ours, theirs in zip(
            (TESTDATA / folder / "values.jsonl").read_text().splitlines(), values, strict=True
        ):
            assert json.loads(ours) == json.loads(theirs)
