"""Compares what ROOT reads from every TTree of the test data before and after a rewrite.

The trees get small baskets, large baskets, and a third of their entries. Run it as a program
(``python -m support.rewrite_corpus`` in ``python/tests``), with the largest and the smallest size
of a file in bytes if not all are taken. It prints a table.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import nyssa
from nyssa import errors
from support.data import TESTDATA, data_files
from support.tree_reads import Reader

#: Options of a rewrite, by name.
WAYS: dict[str, dict[str, Any]] = {
    "4 kB zstd": {"basket_size": 4000, "compression": "zstd:5"},
    "256 kB lzma": {"basket_size": 256_000, "compression": "lzma:4"},
    "a third": {},
}
#: The number of entries at both ends that are compared, of trees with more than twice as many.
ENDS = 200

#: Values of a branch, or why ROOT does not read it.
Read = dict[tuple[str, str], Any]


class Outcome(NamedTuple):
    """What came of one tree in one way."""

    #: The number of branches whose values are equal.
    equal: int = 0
    #: The number of branches that ROOT does not read from the input either.
    unread: int = 0
    different: tuple[str, ...] = ()
    #: The reason why the tree is not rewritten.
    refused: str = ""


def files(largest: int, smallest: int) -> list[Path]:
    """Return the files with trees, the smallest first."""
    own = sorted((TESTDATA / "ttree").glob("**/*.root"))
    found = [*own, *data_files("ttree")]
    sizes = {path: path.stat().st_size for path in found}
    wanted = [path for path, size in sizes.items() if smallest <= size <= largest]
    return sorted(wanted, key=sizes.__getitem__)


def trees_of(path: Path) -> dict[str, int]:
    """Return the number of entries of each TTree of a file."""
    try:
        file = nyssa.open(path)
        found = {name: file[name] for name in file.datasets()}
    except nyssa.NyssaError:
        return {}
    return {name: one.num_entries for name, one in found.items() if isinstance(one, nyssa.TTree)}


def compared(before: Read, after: Read, entries: slice) -> Outcome:
    """Compare the values of the branches of a tree with some entries of the input."""
    equal, unread, different = 0, 0, []
    for branch, read in before.items():
        found = after.get(branch, {"error": "it is not there"})
        if "error" in read:
            unread += 1
        elif found.get("entries") == read["entries"][entries]:
            equal += 1
        else:
            different.append(f"{'/'.join(branch)}: {found.get('error', 'other values')}")
    return Outcome(equal, unread, tuple(different))


def rewritten(
    reader: Reader, path: Path, tree: str, count: int, scratch: Path
) -> dict[str, Outcome]:
    """Rewrite a tree in all ways, and compare what ROOT reads."""
    output, lines = scratch / "out.root", scratch / "lines"
    name = tree.partition(";")[0]
    found: dict[str, Outcome] = {}
    third = range(count // 3, count // 3 + (count + 2) // 3)
    # ROOT shows the entries at both ends.
    ends = 10**9 if count <= 10 * ENDS else ENDS
    try:
        whole = reader.read(path, [name], lines, ends)
    except RuntimeError as wrong:
        return {way: Outcome(refused=f"not read by ROOT: {wrong}") for way in WAYS}
    for way, options in WAYS.items():
        entries, before = slice(None), whole
        if way == "a third":
            if ends < 10**9:
                continue
            entries = slice(third.start, third.stop)
            options = {"entry_start": third.start, "entry_stop": third.stop}
        try:
            nyssa.rewrite(path, output, tree, force=True, **options)
        except errors.UnsupportedError as refused:
            found[way] = Outcome(refused=str(refused))
            continue
        try:
            after = reader.read(output, [name], lines, ends)
        except RuntimeError as wrong:
            after = {branch: {"error": str(wrong)} for branch in before}
        found[way] = compared(before, after, entries)
    return found


def main() -> None:
    """Rewrite all trees, and print what came of them."""
    reader, totals = Reader(), {way: Counter[str]() for way in WAYS}
    sizes = [int(size) for size in sys.argv[1:]]
    largest, smallest = (*sizes, *(10**9, 0)[len(sizes) :])
    with tempfile.TemporaryDirectory() as scratch:
        for path in files(largest, smallest):
            for tree, count in trees_of(path).items():
                for way, one in rewritten(reader, path, tree, count, Path(scratch)).items():
                    totals[way]["trees"] += 1
                    totals[way]["refused"] += bool(one.refused)
                    totals[way]["branches"] += one.equal
                    totals[way]["unread"] += one.unread
                    totals[way]["different"] += len(one.different)
                    for reason in filter(None, [one.refused, *one.different]):
                        print(f"{path.name}:{tree}, {way}: {reason}", flush=True)
    reader.close()
    names = ["trees", "refused", "branches", "different", "unread"]
    print(f"\n| | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for way, total in totals.items():
        print(f"| {way} | {' | '.join(str(total[name]) for name in names)} |")


if __name__ == "__main__":
    main()
