"""Without dictionaries, ROOT reads the same values from converted trees as from the trees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import nyssa
from support.root import Root
from support.root_json import differences
from support.tree_reads import Reader

#: Trees of classes without a dictionary, and some without classes.
TREES = [
    ("uproot-HZZ-objects.root", "events"),
    ("uproot-small-evnt-tree-fullsplit.root", "tree"),
    ("uproot-small-evnt-tree-nosplit.root", "tree"),
    ("uproot-issue371.root", "Beam"),
    ("uproot-issue404.root", "Beam"),
    ("uproot-from-geant4.root", "TrackedRays"),
    ("uproot-vectorVectorDouble.root", "t"),
    ("roottest/io__newstl__cmsJets_0.root", "Events"),
    ("roottest/io__perf__slowreading__rootfiles__DST_62.root", "s"),
    ("roottest/tree__selectorreader__trees__TreeClassNested2.root", "TreeClassNested2"),
    ("roottest/tree__selectorreader__trees__TreeVectorClass2.root", "TreeVectorClass2"),
    ("nanoAOD_2015_CMS_Open_Data_ttbar.root", "Events"),
]
#: Number of entries that are compared.
ENTRIES = 5


@pytest.fixture(scope="module")
def reader(root: Root) -> Iterator[Reader]:  # noqa: ARG001 (there is one)
    """Return a reader of trees with ROOT."""
    reads = Reader()
    yield reads
    reads.close()


@pytest.mark.parametrize(("name", "tree"), TREES)
def test_values(
    data: Path, root: Root, reader: Reader, tmp_path: Path, name: str, tree: str
) -> None:
    """Every field that is not a streamer field has the values of its branch."""
    source, output = data / "ttree" / name, tmp_path / "converted.root"
    report = nyssa.convert(source, output, tree, layout="vectors", skip_unsupported=True)
    streamed = {one["branch"] for one in report["streamer_fields"] if one["streamer"]}
    fields = {one["branch"]: one["field"] for one in report["fields"]}
    expected = reader.read(source, [tree], tmp_path / "read.jsonl", ENTRIES)
    found = root.call("entries", str(output), report["ntuple"], 17, ENTRIES, True)
    compared = 0
    for (_, branch), read in expected.items():
        known = branch if branch in fields else branch.rstrip(".")
        if known not in fields or known in streamed or "error" in read:
            continue
        values: list[Any] = [entry[fields[known]] for entry in found]
        entries = read["entries"][:ENTRIES]
        if not read["class"]:
            values, entries = [leaves(one) for one in values], [leaves(one) for one in entries]
        assert [differences(a, b, branch) for a, b in zip(values, entries, strict=True)] == [
            [] for _ in entries
        ]
        compared += 1
    assert compared


def leaves(value: Any) -> list[Any]:
    """Return the values of an entry, one after the other."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]
