"""References between the objects of an entry are right after the entry has moved in a rewrite."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uproot

import nyssa
from convert.test_rewrite_trees import hide
from nyssa import errors
from support.root import Root

CODE = Path(__file__).with_name("pointed.cxx")
TREES = ["old", "whole", "split"]
ENTRIES = 60
#: Options of a rewrite, by name.
OPTIONS: dict[str, dict[str, Any]] = {
    "small": {"basket_size": 4000},
    "large": {"basket_size": "256kB"},
    "zstd": {"basket_size": 7000, "compression": "zstd"},
    "skim": {"basket_size": 9000, "cut": "x % 7 == 3"},
}


def read(root: Root, path: Path, tree: str) -> list[str]:
    """Return what ROOT reads from each entry of a tree. Objects are numbered as they are met."""
    lines = path.with_suffix(".txt")
    root.call("cpp", "", f'pointed_read("{path}", "{tree}", "{lines}")')
    return lines.read_text().splitlines()


@pytest.fixture(scope="module")
def source(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with trees of objects behind pointers. Their values look like references."""
    path = tmp_path_factory.mktemp("pointed") / "in.root"
    root.call("library", str(CODE), str(path.with_name("pointed")))
    root.call("cpp", "", f'pointed_write("{path}", {ENTRIES}, 20000)')
    return path


@pytest.fixture(scope="module")
def expected(root: Root, source: Path) -> dict[str, list[str]]:
    """Return what ROOT reads from the trees of the source."""
    return {tree: read(root, source, tree) for tree in TREES}


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("tree", TREES)
def test_rewritten(
    root: Root,
    source: Path,
    expected: dict[str, list[str]],
    tmp_path: Path,
    tree: str,
    options: str,
) -> None:
    """ROOT reads the same objects, shared in the same way, and the same numbers."""
    output = tmp_path / "out.root"
    [report] = nyssa.rewrite(source, output, tree, **OPTIONS[options])
    assert report["notes"] == []
    wanted = expected[tree][3::7] if options == "skim" else expected[tree]
    assert len({line.partition(" ")[0] for line in wanted}) == len(wanted)
    assert read(root, output, tree) == wanted


def test_rewritten_again(
    root: Root, source: Path, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    """Entries that have moved move again, in a merge too."""
    once, twice, merged = (tmp_path / f"{name}.root" for name in ("once", "twice", "merged"))
    nyssa.rewrite(source, once, basket_size=3000)
    for tree in TREES:
        nyssa.rewrite(once, twice, tree, basket_size=50000, entry_start=20, force=True)
        paths = [f"{once}:{tree}", f"{twice}:{tree}"]
        nyssa.merge(paths, merged, basket_size=10000, force=True)
        assert read(root, twice, tree) == expected[tree][20:]
        assert read(root, merged, tree) == expected[tree] + expected[tree][20:]


class Stored(NamedTuple):
    """A basket of the branch `o` of the tree `whole`."""

    #: The size of its key in bytes. References count from its start.
    key: int
    #: Where its entries begin in the file.
    starts: list[int]
    #: The number of its first entry.
    first: int


def stored(path: Path, number: int) -> Stored:
    """Return a basket of the branch `o` of the tree `whole`."""
    with uproot.open(path) as file:
        branch = file["whole"]["o"]
        key = branch.basket_key(number)
        starts = branch.basket(number).byte_offsets + key.fSeekKey + key.fKeylen
        return Stored(key.fKeylen, starts.tolist(), branch.entry_offsets[number])


def test_a_damaged_reference(source: Path, tmp_path: Path) -> None:
    """A reference that leads nowhere is an error that says where it is."""
    output, damaged = tmp_path / "out.root", tmp_path / "damaged.root"
    raw = bytearray(source.read_bytes())
    key, starts, first = stored(source, 1)
    start, end = starts[2:4]
    name = raw.index(b"PointedMark\0", start, end)
    assert raw[name - 4 : name] == b"\xff" * 4
    # The class of a later object becomes a class that is not there.
    tag = 0x80000000 | name - 4 - starts[0] + key + 2
    at = next(
        at
        for at in range(name, end)
        if raw[at : at + 4] == tag.to_bytes(4, "big") and raw[at - 4] == raw[at + 4] == 0x40
    )
    raw[at : at + 4] = (tag + 1).to_bytes(4, "big")
    damaged.write_bytes(raw)
    message = rf"class tag {tag + 1:#x} refers to no class, at byte {at - start} of the object"
    with pytest.raises(errors.UnsupportedError, match=message) as error:
        nyssa.rewrite(damaged, output, "whole", basket_size=4000, entry_start=first + 1)
    assert "field o" in str(error.value)
    assert not output.exists()


def test_damaged_entries(source: Path, tmp_path: Path) -> None:
    """Entries with any other bytes are errors, or they are moved."""
    output, damaged = tmp_path / "out.root", tmp_path / "damaged.root"
    raw = source.read_bytes()
    _, starts, first = stored(source, 1)
    refused = 0
    words = [b"\x80\x00\x01\x00", b"\x7f\xff\xff\xff", b"\x40\x00\xff\xff", b"\x00\x00\x00\x05"]
    for number, at in enumerate(range(starts[1] + 4, starts[-1], 1501)):
        damaged.write_bytes(raw[:at] + words[number % 4] + raw[at + 4 :])
        try:
            nyssa.rewrite(damaged, output, "whole", entry_start=first + 1, force=True)
        except nyssa.NyssaError:
            refused += 1
    assert refused > 2


def test_a_class_that_the_file_does_not_describe(
    root: Root, source: Path, expected: dict[str, list[str]], tmp_path: Path
) -> None:
    """Objects that cannot be decoded may have references: the tree keeps its baskets."""
    hidden, output = tmp_path / "hidden.root", tmp_path / "out.root"
    hidden.write_bytes(source.read_bytes())
    hide(hidden, b"PointedHeavy")
    with pytest.raises(errors.UnsupportedError, match="streamer info of class PointedHeavy"):
        nyssa.rewrite(hidden, output, "whole", basket_size=4000)
    reports = nyssa.rewrite(hidden, output, basket_size=4000)
    notes = {report["ntuple"]: report["notes"] for report in reports}
    [note] = notes["whole"]
    assert note.startswith("it keeps the baskets that it has: branch o: an entry may have refer")
    assert "PointedHeavy" in note
    assert read(root, output, "whole") == expected["whole"]
