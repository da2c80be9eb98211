"""Compares what ROOT and uproot read from every TTree of the test data before and after a rewrite.

The trees get small baskets, large baskets, and a third of their entries. Run it as a program in
``python/tests``, for all files, or for files of some sizes in bytes:

    python -m support.rewrite_corpus --smallest 40000 --largest 5000000 --log corpus.jsonl

The log gets a line when a tree is done. Run again with this log, only the other trees are read. At
the end it prints a table of the whole log.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import awkward as ak
import uproot

import nyssa
from nyssa import errors
from support.data import TESTDATA, data_files
from support.tree_reads import Reader, end_after

#: Options of a rewrite, by name.
WAYS: dict[str, dict[str, Any]] = {
    "4 kB zstd": {"basket_size": 4000, "compression": "zstd:5"},
    "256 kB lzma": {"basket_size": 256_000, "compression": "lzma:4"},
    "a third": {},
}
#: The number of entries at both ends that are compared, of trees with more than twice as many.
ENDS = 200
#: The number of entries at both ends that uproot reads.
UPROOT_ENDS = 50
#: The limits of uproot for one tree.
SECONDS, MEMORY = 30, 8 * 10**9

#: Why ROOT does not read a branch, if it crashes.
CRASHES = ("crash", "not shown")

#: Values of a branch, or why ROOT does not read it.
Read = dict[tuple[str, str], Any]


class Outcome(NamedTuple):
    """What came of one tree in one way."""

    #: The number of branches whose values are equal.
    equal: int = 0
    #: The number of branches that the reader does not read from the input either.
    unread: int = 0
    different: tuple[str, ...] = ()
    #: The reason why the tree is not rewritten.
    refused: str = ""
    #: The numbers of branches that uproot reads with equal values, and not from the input either.
    uproot_equal: int = 0
    uproot_unread: int = 0


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
    # ROOT crashes on some containers of classes without a library, not always on the same ones.
    crashes = any(read.get("error") in CRASHES for read in before.values())
    for branch, read in before.items():
        found = after.get(branch, {"error": "it is not there"})
        if "error" in read or (crashes and found.get("error") in CRASHES):
            unread += 1
        elif found.get("entries") == read["entries"][entries]:
            equal += 1
        else:
            different.append(f"{'/'.join(branch)}: {found.get('error', 'other values')}")
    return Outcome(equal, unread, tuple(different))


def by_uproot(path: Path, tree: str, first: int, stop: int) -> dict[str, Any]:
    """Return what uproot reads of the entries at both ends of a range, by branch.

    What it does not read is `None`: it raises errors of all kinds.
    """
    found: dict[str, Any] = {}
    with uproot.open(path) as file:
        for key, branch in file[tree].iteritems(recursive=True, full_paths=True):
            try:
                found[key] = [
                    branch.array(entry_start=start, entry_stop=min(start + UPROOT_ENDS, stop))
                    for start in sorted({first, max(first, stop - UPROOT_ENDS)})
                ]
            except Exception:  # noqa: BLE001
                found[key] = None
    return found


def compared_by_uproot(before: dict[str, Any], after: dict[str, Any]) -> Outcome:
    """Compare what uproot reads of all branches."""
    equal, unread, different = 0, 0, []
    for branch, was in before.items():
        now = after.get(branch)
        if was is None:
            unread += 1
        elif now is not None and all(
            ak.array_equal(a, b, equal_nan=True) for a, b in zip(was, now, strict=True)
        ):
            equal += 1
        else:
            different.append(f"uproot: {branch}: {'not read' if now is None else 'other values'}")
    return Outcome(0, 0, tuple(different), "", equal, unread)


def in_child(path: Path, output: Path, tree: str, part: range) -> Outcome:
    """Compare what uproot reads in a process of its own, with limits of time and memory.

    Where uproot takes bytes for other things than they are, it can need any amount of both.
    """
    end, begin = os.pipe()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        try:
            was = by_uproot(path, tree, part.start, part.stop)
            said = compared_by_uproot(was, by_uproot(output, tree, 0, len(part)))
            os.write(begin, json.dumps(said).encode())
        finally:
            os._exit(0)
    os.close(begin)
    end_after(child, SECONDS)
    os.waitpid(child, 0)
    with os.fdopen(end) as pipe:
        text = pipe.read()
    if not text:
        return Outcome(uproot_unread=1)
    *first, different, refused, equal, unread = json.loads(text)
    return Outcome(*first, tuple(different), refused, equal, unread)


def rewritten(
    reader: Reader, path: Path, tree: str, count: int, scratch: Path
) -> dict[str, Outcome]:
    """Rewrite a tree in all ways, and compare what ROOT and uproot read."""
    output, lines = scratch / "out.root", scratch / "lines"
    name = tree.partition(";")[0]
    found: dict[str, Outcome] = {}
    third = range(count // 3, count // 3 + (count + 2) // 3)
    # ROOT shows the entries at both ends.
    ends = 10**9 if count <= 10 * ENDS else ENDS
    try:
        whole = reader.read(path, [name], lines, ends)
    except RuntimeError as wrong:
        whole = {("", ""): {"error": str(wrong)}}
    for way, options in WAYS.items():
        entries, before, part = slice(None), whole, range(count)
        if way == "a third":
            if ends < 10**9:
                continue
            entries, part = slice(third.start, third.stop), third
            options = {"entry_start": third.start, "entry_stop": third.stop}
        try:
            nyssa.rewrite(path, output, tree, force=True, **options)
        except errors.NyssaError as refused:
            found[way] = Outcome(refused=str(refused))
            continue
        try:
            after = reader.read(output, [name], lines, ends)
        except RuntimeError as wrong:
            after = {branch: {"error": str(wrong)} for branch in before}
        root = compared(before, after, entries)
        second = in_child(path, output, name, part)
        different = root.different + second.different
        found[way] = second._replace(equal=root.equal, unread=root.unread, different=different)
    return found


def print_table(log: Path) -> None:
    """Print what came of the trees in a log."""
    totals = {way: Counter[str]() for way in WAYS}
    for line in log.read_text().splitlines():
        said = json.loads(line)
        for way, values in said["ways"].items():
            one, total = Outcome(*values), totals[way]
            total["trees"] += 1
            total["refused"] += bool(one.refused)
            total["differ"] += bool(one.different)
            total["equal"] += not one.refused and not one.different
            total["branches"] += one.equal
            total["not read"] += one.unread
            total["branches, uproot"] += one.uproot_equal
            total["not read, uproot"] += one.uproot_unread
            for reason in filter(None, [one.refused, *one.different]):
                print(f"{said['file']}:{said['tree']}, {way}: {reason}")
    names = ["trees", "equal", "refused", "differ", "branches", "not read"]
    names += [f"{name}, uproot" for name in names[4:]]
    print(f"\n| | {' | '.join(names)} |\n|{'---|' * (len(names) + 1)}")
    for way, total in totals.items():
        print(f"| {way} | {' | '.join(str(total[name]) for name in names)} |")


def main() -> None:
    """Rewrite all trees, and print what came of them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--smallest", type=int, default=0, help="bytes of a file")
    parser.add_argument("--largest", type=int, default=10**9, help="bytes of a file")
    parser.add_argument("--log", type=Path, default=Path("rewrite_corpus.jsonl"))
    options = parser.parse_args()
    options.log.touch()
    lines = map(json.loads, options.log.read_text().splitlines())
    done = {(line["file"], line["tree"]) for line in lines}
    reader = Reader()
    with tempfile.TemporaryDirectory() as scratch, options.log.open("a") as log:
        for path in files(options.largest, options.smallest):
            for tree, count in trees_of(path).items():
                name = f"{path.parent.name}/{path.name}"
                if (name, tree) in done:
                    continue
                ways = rewritten(reader, path, tree, count, Path(scratch))
                log.write(json.dumps({"file": name, "tree": tree, "ways": ways}) + "\n")
                log.flush()
    reader.close()
    print_table(options.log)


if __name__ == "__main__":
    main()
