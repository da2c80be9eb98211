"""Branches of classes that ROOT wrote come back from an RNTuple as they were."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import uproot

import nyssa
from support.root import Root
from support.there_and_back import compare
from support.tree_reads import Reader

HEADER = Path(__file__).with_name("kept_classes.hxx")
CLASSES = ["Hit", "Plain", "Pointers", "Counted", "Texts", "List", "Holder"]
CONTAINERS = [
    "vector<KeptPlain>",
    "vector<KeptPlain*>",
    "map<string,set<short>>",
    "map<string,vector<short>>",
    "vector<TString>",
]


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return files of ROOT with a tree of all kinds of branches, by their split level."""
    folder = tmp_path_factory.mktemp("kept_classes")
    root.call("dictionaries", [f"Kept{one}" for one in CLASSES] + CONTAINERS, [str(HEADER)])
    found = {level: folder / f"level{level}.root" for level in (0, 1, 99)}
    for level, path in found.items():
        root.call("cpp", "", f'kept_classes("{path}", {level})')
    return found


@pytest.fixture(scope="module")
def reader(root: Root) -> Iterator[Reader]:
    """Return what reads the values by ROOT, without the library of the classes."""
    del root
    reader = Reader()
    yield reader
    reader.close()


@pytest.mark.parametrize("level", [0, 1, 99])
def test_branches_come_back(
    level: int, files: dict[int, Path], root: Root, reader: Reader, tmp_path: Path
) -> None:
    """Names, classes, numbers, split levels, titles, leaves and values are equal."""
    [found] = compare(files[level], root, reader, tmp_path)
    assert found.refused == ""
    assert dict(found.differences) == {}


def test_bytes(files: dict[int, Path], tmp_path: Path) -> None:
    """The baskets of whole objects have the bytes that ROOT wrote.

    They have the checksums of the pairs of maps, which differ by the containers inside.
    """
    ntuple, back = tmp_path / "ntuple.root", tmp_path / "back.root"
    nyssa.convert(files[0], ntuple, "t", carry=False)
    nyssa.convert(ntuple, back, "t", to="ttree", carry=False)
    with uproot.open(files[0])["t"] as old, uproot.open(back)["t"] as new:
        for name in ("map", "other_map", "counted.", "texts.", "list.", "numbers", "olds", "first"):
            was, now = (bytes(one[name].basket(0).data) for one in (old, new))
            assert now == was, name


def test_a_level_that_is_asked_for(files: dict[int, Path], tmp_path: Path, root: Root) -> None:
    """With a split level of the user, the objects are split in this way instead."""
    ntuple, back = tmp_path / "ntuple.root", tmp_path / "back.root"
    fields = ["texts.", "first"]
    nyssa.convert(files[0], ntuple, "t", include=fields)
    nyssa.convert(ntuple, back, "t", to="ttree", split_level=99)
    branches = root.call("tree_branches", str(back), "t")
    assert branches["first"]["split level"] == 99
    assert "first/i" in branches
    with uproot.open(files[99])["t"] as old, uproot.open(back)["t"] as new:
        assert new["first/i"].array().to_list() == old["first/i"].array().to_list()


def test_damaged_forms(files: dict[int, Path], tmp_path: Path) -> None:
    """Bytes that are no branch are not used, and the report says so."""
    ntuple, other, back = (tmp_path / f"{name}.root" for name in ("ntuple", "other", "back"))
    nyssa.convert(files[99], ntuple, "t", include=["first"])
    with nyssa.open(ntuple)["t"] as source:
        rows = source.attribute_sets["nyssa_ttree"].attributes().to_list()
        data = source.arrays()
    [row] = [row for row in rows if row["kind"] == "branch"]
    assert row["data"]
    row["data"] = "no branch at all"
    names = ("kind", "name", "value", "data")
    with nyssa.recreate(other) as file:
        written = file.mkrntuple("t", data)
        made = written.attribute_set("nyssa_ttree", dict.fromkeys(names, "string"))
        columns = {name: [row[name] for row in rows] for name in names}
        made.extend([0] * len(rows), [written.num_entries] * len(rows), columns)
    report = nyssa.convert(other, back, "t", to="ttree")
    assert [note for note in report["notes"] if note.startswith("first: ")]
    assert uproot.open(back)["t"].num_entries == 30
