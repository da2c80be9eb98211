"""Rewriting stores streamer fields in columns of their members; uproot reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import uproot

import nyssa
from support.data import TESTDATA, tree_values

FILE = TESTDATA / "ttree/objects1.root"


@pytest.fixture
def streamed(tmp_path: Path) -> Any:
    """Return a function that converts a tree to streamer fields, and returns the file."""

    def convert(tree: str) -> Path:
        path = tmp_path / f"{tree}.root"
        nyssa.convert(f"{FILE}:{tree}", path, streamer="all")
        return path

    return convert


def is_streamed(field: nyssa.Field) -> bool:
    """Return whether a field has the bytes of objects, and their offsets."""
    return field.columns == ("SplitIndex64", "Byte")


def plain(value: Any) -> Any:
    """Return values without the names of classes and members."""
    if isinstance(value, dict):
        return [plain(one) for name, one in value.items() if name != "_typename"]
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


@pytest.mark.parametrize(
    ("tree", "type_name"),
    [
        ("vector_Plain", "std::vector<Plain>"),
        ("list_Plain", "std::vector<Plain>"),
        ("map_Plain", "std::map<std::int32_t,Plain>"),
        ("vector_vector_float", "std::vector<std::vector<float>>"),
    ],
)
def test_objects_become_columns(tree: str, type_name: str, streamed: Any, tmp_path: Path) -> None:
    source, output = streamed(tree), tmp_path / "split.root"
    [before] = nyssa.open(f"{source}:{tree}").fields
    assert is_streamed(before)
    [report] = nyssa.rewrite(source, output, split="*", verify=True)
    assert report["verified"]
    name = before.typename
    note = f"the objects of class {name} in o are stored in columns of their members"
    assert note in report["notes"]
    [field] = nyssa.open(f"{output}:{tree}").fields
    assert field.typename == type_name
    [expected] = tree_values("objects1.root", tree).values()
    read = uproot.open(output)[tree].arrays()["o"].to_list()
    assert plain(read) == plain(expected["entries"])


@pytest.mark.parametrize("tree", ["Hit", "vector_Hit", "vector_Derived"])
def test_fields_are_those_of_a_conversion(tree: str, streamed: Any, tmp_path: Path) -> None:
    """Classes get the fields that they get without streamer fields."""
    nyssa.convert(f"{FILE}:{tree}", tmp_path / "direct.root")
    source = streamed(tree)
    assert all(is_streamed(one) for one in nyssa.open(f"{source}:{tree}").fields)
    nyssa.rewrite(source, tmp_path / "split.root", split="o*")
    direct, split = (
        nyssa.open(f"{tmp_path / name}:{tree}") for name in ("direct.root", "split.root")
    )
    assert [str(one) for one in split.fields] == [str(one) for one in direct.fields]
    assert nyssa.diff(direct, split).equal


def _entries(path: Path, tree: str) -> list[Any]:
    """Return the objects of all entries, without base classes that have no members."""

    def members(value: Any) -> Any:
        if isinstance(value, list):
            return [members(item) for item in value]
        if isinstance(value, dict):
            return {name: members(member) for name, member in value.items() if member != {}}
        return value

    entries = nyssa.open(f"{path}:{tree}").arrays().to_list()
    return members([list(entry.values()) for entry in entries])


def test_all_classes_of_a_file(tmp_path: Path) -> None:
    """Objects have the values of the tree, or their field is refused by name."""
    source, output = tmp_path / "streamed.root", tmp_path / "split.root"
    split = set()
    for tree in nyssa.open(FILE).datasets():
        nyssa.convert(f"{FILE}:{tree}", source, streamer="all", force=True)
        for one in nyssa.open(f"{source}:{tree}").fields:
            if not is_streamed(one):
                continue
            try:
                nyssa.rewrite(source, output, split=one.name, verify=True, force=True)
            except nyssa.UnsupportedError as error:
                assert f"objects of class {one.typename} can only be streamed" in str(error)
                continue
            # Split branches have no base class without members, as in `Derived`.
            is_equal = nyssa.diff(f"{FILE}:{tree}", f"{output}:{tree}").equal
            assert is_equal or _entries(FILE, tree) == _entries(output, tree), tree
            split.add(tree)
    assert {"Deep", "Stl", "Enums", "map_string", "TLorentzVector"} <= split


def test_fields_that_no_glob_names_stay_streamed(tmp_path: Path) -> None:
    source, output = tmp_path / "both.root", tmp_path / "split.root"
    values = {name: [["a", "b"], ["c"]] for name in ("first", "second", "third")}
    with nyssa.recreate(tmp_path / "tree.root") as file:
        file.mktree("t", values)
    nyssa.convert(tmp_path / "tree.root", source, streamer="all")
    fields = nyssa.open(f"{source}:t").fields
    assert all(map(is_streamed, fields))
    nyssa.rewrite(source, output, split="sec*")
    now = nyssa.open(f"{output}:t").fields
    assert [(one.name, is_streamed(one)) for one in now] == [
        *(("first", True), ("second", False), ("third", True))
    ]
    read = uproot.open(output)["t"].arrays(["second"])
    assert read.second.to_list() == values["second"]


def test_fields_that_cannot_be_split(streamed: Any, tmp_path: Path) -> None:
    source = streamed("vector_Plain")
    with pytest.raises(nyssa.NotFoundError, match='no streamer field matches "p"'):
        nyssa.rewrite(source, tmp_path / "out.root", split="p")
    assert not (tmp_path / "out.root").exists()
    # An object that may be of any class has no columns.
    source = streamed("Pointers")
    with pytest.raises(nyssa.UnsupportedError) as caught:
        nyssa.rewrite(source, tmp_path / "out.root", split="*")
    assert str(caught.value) == (
        "objects of class Pointers can only be streamed: pointers to objects of several classes "
        f"have no RNTuple type (file {source}, object Pointers, field o)"
    )
    assert not (tmp_path / "out.root").exists()
