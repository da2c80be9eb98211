"""Branches of every kind, written by ROOT, read to the values that ROOT reads of them.

The classes are in `trees`, compiled once for this module. They are written unsplit and split into
one, two and all levels, containers streamed object by object and member by member.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nyssa
from support.root import Root
from support.root_json import differences
from support.tree_reads import Reader

pa = pytest.importorskip("pyarrow")

FOLDER = Path(__file__).parent / "trees"
SPLITS = [0, 1, 2, 99]
WAYS = [(split, way) for split in SPLITS for way in ("objects", "members")]
TREES = [
    "Numbers",
    "Texts",
    "Counted",
    "CountedObjects",
    "Stl",
    "Deep",
    "Derived",
    "Named",
    "Vector",
    "Leaves",
    "Objects",
    "Root",
    "Pointers",
    "Evolving",
    "Enums",
    "Owners",
    "Histograms",
    "vector_Plain",
    "vector_WithVectors",
    "vector_Derived",
    "list_Plain",
    "vector_Hit",
    "vector_Plain_pointers",
    "map_Plain",
    "map_string",
    "vector_float",
    "vector_bool",
    "vector_string",
    "vector_vector_float",
    "set_int",
    "string",
    "TString",
    "TLorentzVector",
    "Hit",
    "TClonesArray",
    "TClonesArray_whole",
    "TClonesArray_full",
    "TClonesArray_vectors",
]
KINDS = ("many", "roots", "none", "map", "embedded")
BASKETS = [f"{kind}{split}" for kind in KINDS for split in (0, 99)]


class Made:
    """Files that ROOT wrote with the classes in `trees`, and what it reads of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._read: dict[str, dict[tuple[str, str], Any]] = {}
        self._readers: dict[str, Reader] = {}

    def write(self, library: str, statements: list[str]) -> None:
        """Compile a file of `trees` and run statements of it."""
        root = Root()
        root.call("library", str(FOLDER / f"{library}.cxx"), str(self.folder / library))
        root.call("cpp", "", "".join(f"{one};" for one in statements))
        root.close()
        self._readers[library] = Reader(self.folder / f"{library}.so")

    def path(self, name: str) -> Path:
        """Return where a file is."""
        return self.folder / f"{name}.root"

    def entries(self, name: str, tree: str, library: str = "kinds") -> dict[str, Any]:
        """Return the entries of each top-level branch of a tree as ROOT shows them."""
        if name not in self._read:
            trees = nyssa.open(self.path(name)).datasets()
            scratch = self.folder / "read.jsonl"
            reader = self._readers[library]
            self._read[name] = reader.read(self.path(name), list(trees), scratch, 200)
        return {branch: one for (of, branch), one in self._read[name].items() if of == tree}

    def close(self) -> None:
        """End ROOT."""
        for reader in self._readers.values():
            reader.close()


@pytest.fixture(scope="module")
def made(
    root: Root,  # noqa: ARG001 (there is one)
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Made]:
    """Return the files."""
    files = Made(tmp_path_factory.mktemp("trees"))
    statements = [
        f'write_objects("{files.path(f"{way}{split}")}", {split}, {int(way == "members")})'
        for split, way in WAYS
    ]
    for kind in ("leaves", "baskets", "references", "copied"):
        statements.append(f'write_{kind}("{files.path(kind)}")')
    both = [(files.path(f"both{split}"), split) for split in SPLITS]
    statements += [f'write_first("{path}", {split})' for path, split in both]
    files.write("kinds", statements)
    statements = [f'write_evolved("{files.path(f"evolved{split}")}", {split})' for split in SPLITS]
    statements += [f'write_evolved("{path}", {split}, "Second")' for path, split in both]
    files.write("evolved", statements)
    yield files
    files.close()


def check(made: Made, name: str, tree: str, library: str = "kinds", of: str = "") -> None:
    """Compare all branches of a tree with what ROOT reads, of another tree if told so."""
    expected = made.entries(name, of or tree, library)
    table = pa.table(nyssa.open(made.path(name))[tree])
    assert expected
    wrong: list[tuple[Any, ...]] = []
    for branch, read in expected.items():
        assert "error" not in read, f"ROOT: {branch}: {read['error']}"
        class_name, entries = read["class"], read["entries"]
        ours = table.column(branch.rstrip(".") if branch not in table.column_names else branch)
        for entry, (a, b) in enumerate(zip(ours.to_pylist(), entries, strict=True)):
            if not class_name:
                a, b = leaves(a), leaves(b)
            if tree == "Counted":
                # ROOT's JSON leaves out arrays of counted pointers; these are the values of `fill`.
                counted = range(entry % 4)
                b["two"] = [[entry for _ in counted], list(counted)]
            if "um" in b:
                # Hash containers come in any order.
                for hashed in (a, b):
                    hashed["us"].sort()
                    hashed["um"].sort(key=str)
            wrong += differences(a, b, f"{branch}[{entry}]")
    assert wrong == [], f"{len(wrong)} differences: {wrong[:10]}"


def leaves(value: Any) -> list[Any]:
    """Return the values of an entry, one after the other."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]


@pytest.mark.parametrize("tree", TREES)
@pytest.mark.parametrize(("split", "way"), WAYS)
def test_objects(made: Made, split: int, way: str, tree: str) -> None:
    """Objects and containers, split so deep, streamed that way."""
    check(made, f"{way}{split}", tree)


@pytest.mark.parametrize("tree", ["leaves", "ntuple", "ntupled", "deep/er/tree"])
def test_leaves(made: Made, tree: str) -> None:
    """Branches without classes, of several leaves, and with counted arrays in them."""
    check(made, "leaves", tree)


@pytest.mark.parametrize("tree", BASKETS)
def test_baskets(made: Made, tree: str) -> None:
    """Objects in many baskets, in none, in such that lie within the tree, and with offset maps."""
    # ROOT crashes at its own offset maps of split branches; these have the same values.
    check(made, "baskets", tree, of="embedded99" if tree == "map99" else tree)


@pytest.mark.parametrize("tree", ["whole", "split"])
def test_references(made: Made, tree: str) -> None:
    """A tree with a `TBranchRef`."""
    check(made, "references", tree)


def test_copied(made: Made) -> None:
    """A copy of a tree with some branches keeps those that it leaves out, without entries."""
    file = nyssa.open(made.path("copied"))
    some, whole = (pa.table(file[name]).column("o").to_pylist() for name in ("some", "all"))
    assert set(some[0]) == set(some[0]) & set(whole[0])
    assert 0 < len(some[0]) < len(whole[0])

    def same(part: Any, of: Any) -> bool:
        if isinstance(part, dict):
            return all(same(value, of[name]) for name, value in part.items())
        if isinstance(part, list):
            return len(part) == len(of) and all(map(same, part, of))
        return bool(part == of)

    assert same(some, whole)


@pytest.mark.parametrize("split", SPLITS)
def test_class_versions(made: Made, split: int) -> None:
    """A class changes from one file to the next: each file reads as its own classes say."""
    check(made, f"evolved{split}", "Evolving", "evolved")
    check(made, f"objects{split}", "Evolving")


@pytest.mark.parametrize("split", SPLITS)
def test_class_versions_in_one_file(made: Made, split: int) -> None:
    """Two trees of one file have two versions of a class, of which a member has two types."""
    file = nyssa.open(made.path(f"both{split}"))
    for tree, other, of in (("First", "objects", "kinds"), ("Second", "evolved", "evolved")):
        # ROOT would show both as one of its libraries has the class.
        expected = made.entries(f"{other}{split}", "Evolving", of)["o."]["entries"]
        ours = pa.table(file[tree]).column("o.").to_pylist()
        wrong = [differences(a, b) for a, b in zip(ours, expected, strict=True)]
        assert wrong == [[] for _ in ours]
