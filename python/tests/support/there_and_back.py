"""Compares TTrees with what comes back from their RNTuples, as ROOT reads both.

Run as a program it does this for all trees of files up to a size, and prints how many are equal in
what, and what differs where:

    python -m support.there_and_back --processes 4
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import nyssa
from support.data import TESTDATA, data_files
from support.root import Root
from support.tree_reads import LONGEST, Reader

#: What is compared of a tree.
PARTS = ("names", "classes", "split", "titles", "leaves", "values")
#: The number of first and of last entries whose values are compared.
MOST = 10
#: Files up to this size are compared, in bytes.
LARGEST = 300_000


@dataclass
class Compared:
    """A tree, and how what came back differs."""

    file: Path
    tree: str
    refused: str = ""
    """Why it was not converted as a whole, and what was left out."""
    notes: list[str] = field(default_factory=list)
    """What the reports of both conversions say."""
    differences: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The branches that differ, by the part of `PARTS`, with both."""

    def equal(self, part: str) -> bool:
        """Return whether the trees are equal in a part."""
        return not self.differences.get(part)


def files(largest: int) -> list[Path]:
    """Return the files with trees of the test data and of the repository."""
    found = [*data_files("ttree"), *sorted((TESTDATA / "ttree").rglob("*.root"))]
    return [one for one in found if one.stat().st_size <= largest]


def compare(
    path: Path, root: Root, reader: Reader, scratch: Path, only: Collection[str] = ()
) -> Iterator[Compared]:
    """Yield the trees of a file, or `only` some, compared with what came back."""
    ntuple, back = scratch / "ntuple.root", scratch / "back.root"
    try:
        opened = nyssa.open(path)
        kinds = {name: opened[name] for name in opened.datasets()}
    except nyssa.NyssaError:
        return
    trees = [name for name, one in kinds.items() if isinstance(one, nyssa.TTree)]
    for name in (name for name in trees if not only or name in only):
        found = Compared(path, name)
        try:
            options: Any = {"force": True, "carry": False, "skip_unsupported": True}
            reports: list[Any] = [nyssa.convert(path, ntuple, name, **options)]
            reports.append(nyssa.convert(ntuple, back, name, to="ttree", **options))
            found.notes = [note for report in reports for note in report["notes"]]
            left_out = [one for report in reports for one in report["skipped"]]
            found.refused = "; ".join(f"{one['branch']}: {one['reason']}" for one in left_out)
        except nyssa.NyssaError as error:
            found.refused = str(error)
            yield found
            continue
        try:
            _structure(found, root, path, back)
            _values(found, reader, path, back, scratch / "values")
        except RuntimeError as error:
            found.refused = f"ROOT: {error}"
        yield found


def _structure(found: Compared, root: Root, path: Path, back: Path) -> None:
    old = root.call("tree_branches", str(path), found.tree)
    new = root.call("tree_branches", str(back), found.tree)
    lost, added = [one for one in old if one not in new], [one for one in new if one not in old]
    if lost or added:
        found.differences["names"].append(f"lost {lost[:3]}, new {added[:3]}")
    elif list(old) != list(new):
        found.differences["names"].append("another order")
    classes = ("branch", "class", "version", "numbers", "counter")
    parts = {"classes": classes, "split": ("split level",), "titles": ("title",)}
    for branch in (one for one in old if one in new):
        for part, members in {**parts, "leaves": ("leaves",)}.items():
            both = [[one[branch].get(member) for member in members] for one in (old, new)]
            if both[0] != both[1]:
                found.differences[part].append(f"{branch}: {both[0]} -> {both[1]}")


def _values(found: Compared, reader: Reader, path: Path, back: Path, scratch: Path) -> None:
    old, new = (reader.read(one, [found.tree], scratch, MOST) for one in (path, back))
    # ROOT crashes on some containers of classes without a library, not always on the same ones.
    crashes = any("error" in one for one in old.values())
    for key, was in old.items():
        now = new.get(key)
        if now is None or "error" in was:
            continue
        if "error" in now and crashes:
            continue
        if "error" in now:
            found.differences["values"].append(f"{key[1]}: ROOT: {now['error']}")
        elif was["entries"] != now["entries"]:
            at = next(
                (
                    i
                    for i, (a, b) in enumerate(zip(was["entries"], now["entries"], strict=False))
                    if a != b
                ),
                -1,
            )
            both = " -> ".join(str(one["entries"][at : at + 1])[:200] for one in (was, now))
            found.differences["values"].append(f"{key[1]} [{at}]: {both}")


def _of_file(path: Path) -> list[Compared]:
    """Compare the trees of a file. Each process has a ROOT and a reader of its own."""
    if not _TOOLS:
        _TOOLS.append((Root(LONGEST), Reader()))
    with tempfile.TemporaryDirectory() as folder:
        return list(compare(path, *_TOOLS[0], Path(folder)))


#: The tools of this process.
_TOOLS: list[tuple[Root, Reader]] = []

#: Why a tree is refused or differs, by what reports say.
_REASONS = {
    "refers to objects|fUniqueID': .*fUniqueID'": "objects that refer to others",
    "array of varying size in the items": "arrays behind pointers in the items of collections",
    "may stream by code of the class": "`TBranchObject`",
    "no RNTuple type|have no type|may be missing|no place in the type": "no type in an RNTuple",
    "it is missing|is no member|entries of the tree": "members whose values are not all there",
    "streamer of its own|bytes where|bytes after": "bytes that nyssa does not read",
    "leaf list": "arrays of varying size in leaf lists",
    "of an old form|no members|values do not fit its branch": "classes of another form",
    "no field is left to convert \\(": "no branches",
    "ROOT: |ROOT crashed|ROOT took": "ROOT does not read the tree, or what comes back",
}


def _reason(one: Compared) -> str:
    """Return the reason why a tree is refused or differs, for the table."""
    texts = [one.refused]
    if not one.refused:
        texts = [*one.notes, *chain.from_iterable(one.differences.values())]
    for pattern, reason in _REASONS.items():
        if any(re.search(pattern, text) for text in texts):
            return reason
    return "other" if one.refused else ", ".join(one.differences)


def main() -> None:
    """Compare all trees and print a table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("names", nargs="*", help="parts of the names of files")
    parser.add_argument("--largest", type=int, default=LARGEST, help="bytes of a file")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    chosen = [
        path
        for path in files(options.largest)
        if not options.names or any(name in path.name for name in options.names)
    ]
    table: Counter[tuple[str, str]] = Counter()
    with ProcessPoolExecutor(options.processes) as pool:
        for path, found in zip(chosen, pool.map(_of_file, chosen), strict=True):
            for one in found:
                whole = not one.refused
                equal = whole and all(map(one.equal, PARTS))
                kind = "equal" if equal else "differs" if whole else "refused"
                table[kind, "" if equal else _reason(one)] += 1
                print(f"{path.name}: {one.tree}: {kind} {one.refused[:400]}")
                for part, differing in one.differences.items():
                    for text in differing[:2]:
                        print(f"    {part} ({len(differing)}): {text[:400]}")
                for note in [] if equal else one.notes[:3]:
                    print(f"    note: {note[:400]}")
                sys.stdout.flush()
    print(f"\n| {table.total()} trees | reason | |\n|---|---|---|")
    for (kind, reason), count in sorted(table.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"| {kind} | {reason} | {count} |")


if __name__ == "__main__":
    main()
