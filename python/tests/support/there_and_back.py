"""Compares TTrees with what comes back from their RNTuples, as ROOT reads both.

Run as a program it does this for all trees of files up to a size, and prints how many are equal in
what, and what differs where:

    python -m support.there_and_back [LARGEST_BYTES]
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
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
    for key, was in old.items():
        now = new.get(key)
        if now is None or "error" in was:
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


def main() -> None:
    """Compare all trees and print a table."""
    largest = int(sys.argv[1]) if len(sys.argv) > 1 else LARGEST
    wanted = sys.argv[2:]
    root, reader = Root(LONGEST), Reader()
    equal: Counter[str] = Counter()
    trees = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in files(largest):
            if wanted and not any(one in path.name for one in wanted):
                continue
            for one in compare(path, root, reader, Path(folder)):
                trees += 1
                whole = not one.refused
                equal.update(part for part in PARTS if whole and one.equal(part))
                equal["all"] += whole and all(map(one.equal, PARTS))
                equal["refused"] += not whole
                print(f"{path.name}: {one.tree}: {one.refused[:300] or 'ok'}")
                for part, differing in one.differences.items():
                    for text in differing[: 100 if wanted else 2]:
                        print(f"    {part} ({len(differing)}): {text[:400]}")
                if not (whole and all(map(one.equal, PARTS))):
                    for note in one.notes[: 100 if wanted else 3]:
                        print(f"    note: {note[:400]}")
                sys.stdout.flush()
    print(f"{trees} trees: {dict(equal)}")


if __name__ == "__main__":
    main()
