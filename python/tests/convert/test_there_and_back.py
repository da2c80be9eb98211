"""Trees of classes and of containers come back from an RNTuple as they were, as ROOT reads both.

`support.there_and_back` is also a program that compares all trees of the test data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.data import TESTDATA
from support.root import Root
from support.there_and_back import compare
from support.tree_reads import Reader

#: Trees that are equal in all that is compared, by their files.
EQUAL = {
    "members0.root": ("Numbers", "Deep", "vector_Plain", "map_Plain"),
    "members1.root": ("Numbers",),
    "members99.root": ("Numbers", "Deep", "vector_Plain", "list_Plain", "map_Plain"),
}


@pytest.fixture(scope="module")
def reader(root: Root) -> Iterator[Reader]:
    """Return what reads the values by ROOT."""
    del root  # Without ROOT, the tests are skipped.
    reader = Reader()
    yield reader
    reader.close()


@pytest.mark.parametrize("file", EQUAL)
def test_equal_trees(file: str, root: Root, reader: Reader, tmp_path: Path) -> None:
    """Names, classes, split levels, titles, leaves and values are equal."""
    path = TESTDATA / "ttree" / file
    found = list(compare(path, root, reader, tmp_path, EQUAL[file]))
    assert [one.tree for one in found] == sorted(EQUAL[file], key=[o.tree for o in found].index)
    wrong = {one.tree: one.refused or dict(one.differences) for one in found}
    assert not {tree: why for tree, why in wrong.items() if why}
