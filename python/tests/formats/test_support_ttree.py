"""tables/ttrees.md says which branches of which files nyssa, uproot and ROOT read.

All three read every branch with data of every TTree in the test data, without the libraries of
the classes, and the first 50 and the last 50 entries are compared. This takes minutes, so it is
done only if ``NYSSA_UPDATE_DOCS=1`` is set, and the page is then written. Otherwise the test only
compares the number of columns that nyssa reads with the page. Values are tested in
``test_ttree_oracle.py``.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import nyssa
from support.causes import CAUSES
from support.data import DATA, REPOSITORY, data_files
from support.tree_reads import Reader
from support.trees import BY_HAND, DIFFERS, RIGHT, UNSEEN, WRONG, Branch, compare

PAGE = REPOSITORY / "tables" / "ttrees.md"
FILES = data_files("ttree")
SHOWN = 3
"""The largest number of branches with the same outcomes that a row names."""

pytestmark = pytest.mark.skipif(not FILES, reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")

HEAD = """# TTrees that nyssa reads

`python/tests/formats/test_support_ttree.py` writes this page if `NYSSA_UPDATE_DOCS=1` is set. It
covers every TTree in the files under `ttree` of the test data. nyssa, uproot 5.7 and ROOT 6.40 read
each branch with data, without the libraries of the classes. The first 50 and the last 50 entries
are compared. The outcomes are:

- *right*: nyssa and one of the others read the same values.
- *wrong*: a program reads other values than nyssa and the third program, which agree.
- *differs*: nyssa reads other values than all programs that read the branch. Nobody knows which
  values are right.
- *by hand*: nyssa reads other values than the others, but an inspection of the bytes shows that
  nyssa is right. The others are then *wrong*.
- *read*: no other program reads the branch, so there is nothing to compare with.

A number refers to the reasons at the end. ROOT reads objects of classes as whole top-level
branches.
"""
OUTCOMES = (RIGHT, BY_HAND, WRONG, DIFFERS, UNSEEN)


def trees_of(path: Path) -> dict[str, nyssa.TTree]:
    """Return the TTrees of a file; none when nyssa cannot open it."""
    try:
        file = nyssa.open(path)
        found = {name: file[name] for name in file.datasets()}
    except nyssa.NyssaError:
        return {}
    return {name: one for name, one in found.items() if isinstance(one, nyssa.TTree)}


def seen(tree: nyssa.TTree) -> str:
    """Return the number of columns of a tree that nyssa can read, and that it cannot."""
    return f"{len(tree.readable)} | {len(tree.unreadable)}"


def counts(branches: list[Branch], who: str) -> str:
    """Return the number of branches for each outcome, such as `12 right, 1 crash`."""
    found = Counter(kind(getattr(branch, who)) for branch in branches)
    return ", ".join(f"{number} {way}" for way, number in found.most_common())


def kind(outcome: str) -> str:
    """Return an outcome, or `refused` for a reason."""
    return outcome if outcome in OUTCOMES else "refused"


def page(found: dict[tuple[str, str], tuple[list[Branch], str]]) -> str:
    """Return the page."""
    every = [branch for branches, _ in found.values() for branch in branches]
    ways = (*OUTCOMES, "refused")
    lines = [HEAD, f"| | {' | '.join(ways)} |", "|---" * (len(ways) + 1) + "|"]
    for who, name in (("nyssa", "nyssa"), ("uproot", "uproot 5.7"), ("root", "ROOT 6.40")):
        of = Counter(kind(getattr(branch, who)) for branch in every)
        numbers = (of[way] for way in ways)
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    lines += ["", f"That is {len(every)} branches of {len(found)} trees.", "", "## Trees", ""]
    about = "Columns are top-level branches, or their readable sub-branches if the whole cannot be"
    lines += [f"{about} read.", ""]
    lines += ["| file | tree | branches | nyssa | uproot | ROOT | columns | refused |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for (file, tree), (branches, summary) in found.items():
        went = " | ".join(counts(branches, who) for who in ("nyssa", "uproot", "root"))
        lines.append(f"| {file} | {tree} | {len(branches)} | {went} | {summary} |")
    lines += ["", "## Branches that not all three read to the same values", ""]
    lines += ["| file: tree | branches | nyssa | uproot | ROOT |", "|---|---|---|---|---|"]
    for (file, tree), (branches, _) in found.items():
        groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for branch in branches:
            outcome = (branch.nyssa, branch.uproot, branch.root)
            if outcome != (RIGHT, RIGHT, RIGHT):
                number = "" if branch.cause is None else f" ({branch.cause + 1})"
                ours = _short(branch.nyssa) + number
                groups[ours, branch.uproot, branch.root].append(branch.path)
        for outcome, names in groups.items():
            some = ", ".join(f"`{name}`" for name in names[:SHOWN])
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            went = " | ".join(way.replace("|", "/") for way in outcome)
            lines.append(f"| {file}: {tree} | {some}{more} | {went} |")
    lines += ["", "## Why", ""]
    lines += [f"{number}. {cause.text}" for number, cause in enumerate(CAUSES, 1)]
    return "\n".join([*lines, ""])


def _short(reason: str) -> str:
    return re.sub(r"\s+", " ", reason.replace(str(DATA), ""))[:200]


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], str]:
    """Return the columns that nyssa reads of each tree."""
    return {
        (path.name, name): seen(tree) for path in FILES for name, tree in trees_of(path).items()
    }


def test_the_page_is_true(found: dict[tuple[str, str], str], tmp_path: Path) -> None:
    """The page says which columns nyssa reads, and which it does not."""
    if os.environ.get("NYSSA_UPDATE_DOCS"):
        PAGE.write_text(page(against_the_others(found, tmp_path)))
    rows = {tuple(row.strip("| ").split(" | ")) for row in PAGE.read_text().splitlines()}
    said = {row[:2]: " | ".join(row[-2:]) for row in rows if len(row) == 8 and row[0] != "file"}
    changed = [(key, now) for key, now in found.items() if said.get(key) != now]
    wrong = [f"{key}: {said.get(key)}, now {now}" for key, now in changed]
    assert not wrong, f"tables/ttrees.md is not true, NYSSA_UPDATE_DOCS=1 remakes it: {wrong}"


def against_the_others(
    found: dict[tuple[str, str], str], tmp_path: Path
) -> dict[tuple[str, str], tuple[list[Branch], str]]:
    """Compare all branches of all trees with ROOT and uproot."""
    reader = Reader()
    out = {}
    for path in FILES:
        trees = [name for file, name in found if file == path.name]
        read = reader.read(path, trees, tmp_path / "read.jsonl") if trees else {}
        for name in trees:
            root = {branch: one for (tree, branch), one in read.items() if tree == name}
            out[path.name, name] = (list(compare(path, name, root)), found[path.name, name])
    reader.close()
    return out


def test_more_is_right_than_in_uproot() -> None:
    """No branch is read wrong, and more branches are right than in uproot."""
    rows = [row.strip("| ").split(" | ") for row in PAGE.read_text().splitlines()]
    ways = next(row for row in rows if RIGHT in row)
    found = {row[0]: row[1:] for row in rows if row[0] in ("nyssa", "uproot 5.7")}
    of = {who: dict(zip(ways, map(int, numbers), strict=True)) for who, numbers in found.items()}
    ours = of["nyssa"]
    assert ours[WRONG] == ours[DIFFERS] == 0
    assert ours["refused"] < ours[RIGHT] / 100
    assert ours[RIGHT] > of["uproot 5.7"][RIGHT]
