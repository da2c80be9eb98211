"""Finds the branches of a TTree that nyssa, uproot and ROOT read, and compares the values."""

from __future__ import annotations

import re
import resource
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nyssa
from support.causes import cause_of
from support.root_json import differences, flat

MOST = 50
"""The number of entries that are compared at the start of a tree, and at its end."""
UPROOT_DIGITS = 15
"""The number of significant digits to which uproot unpacks packed numbers as ROOT does."""
UPROOT_MEMORY = 2 << 30
"""The maximum memory of uproot for a branch, bytes."""
RIGHT, WRONG, UNSEEN = "right", "wrong", "read"
"""Stand for the outcomes of a read.

`UNSEEN`: there is nothing to compare with. Other texts are reasons.
"""
DIFFERS, BY_HAND = "differs", "by hand"
"""Stand for no agreement with another reader: the right value is unknown, or `causes` tells it."""


@dataclass
class Branch:
    """A branch with data of its own."""

    path: str
    class_name: str = ""
    nyssa: str = UNSEEN
    uproot: str = UNSEEN
    root: str = UNSEEN
    cause: int | None = None
    """Index in `CAUSES` of the reason why values differ or cannot be read, if it is known."""
    notes: list[str] = field(default_factory=list)
    """The places where values differ, for a developer who examines it."""


def ranges(entries: int, most: int = MOST) -> list[tuple[int, int]]:
    """Return the ranges of entries that are compared, as `dump.hxx` uses them."""
    if entries <= 2 * most:
        return [(0, entries)]
    return [(0, most), (entries - most, entries)]


def read_nyssa(tree: nyssa.TTree, path: str, most: int = MOST) -> list[Any]:
    """Return the entries of a branch that are compared."""
    found = []
    for start, stop in ranges(tree.num_entries, most):
        column = tree[path].array(library="pa", entry_start=start, entry_stop=stop)
        found += column.to_pylist()
    return found


def read_uproot(tree: Any, path: str) -> list[Any]:
    """Return the entries of a branch: awkward arrays if uproot can, otherwise its objects."""
    found: list[Any] = []
    with warnings.catch_warnings(), memory(UPROOT_MEMORY):
        warnings.simplefilter("ignore")
        for start, stop in ranges(int(tree.num_entries)):
            try:
                got = tree[path].array(library="ak", entry_start=start, entry_stop=stop).to_list()
            except Exception:  # noqa: BLE001 (uproot has no common error)
                got = tree[path].array(library="np", entry_start=start, entry_stop=stop)
            found += [plain(one) for one in got]
    return found


@contextmanager
def memory(most: int) -> Iterator[None]:
    """Limit the further memory of this process: uproot may take a wrong count for a size."""
    now, limit = resource.getrlimit(resource.RLIMIT_AS)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + most, limit))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (now, limit))


def plain(value: Any) -> Any:
    """Return a value of uproot in the form of ROOT's JSON."""
    import uproot

    if isinstance(value, uproot.model.Model) and hasattr(value, "__iter__"):
        return [plain(one) for one in value]
    if isinstance(value, uproot.model.Model):
        members = {name: plain(one) for name, one in value.all_members.items()}
        return plain({name: one for name, one in members.items() if not name.startswith("@")})
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("latin-1")
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items() if not name.startswith("@")}
    if isinstance(value, tuple) and len(value) == 2:
        return {"first": plain(value[0]), "second": plain(value[1])}
    if isinstance(value, uproot.containers.STLMap):
        return [{"first": plain(key), "second": plain(one)} for key, one in value.items()]
    if hasattr(value, "dtype") and getattr(value.dtype, "names", None):
        return plain({name: value[name] for name in value.dtype.names})
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)) or hasattr(value, "__iter__"):
        return [plain(one) for one in value]
    return value


def columns(ours: list[Any], theirs: dict[str, Any]) -> tuple[Any, Any]:
    """Return the values of each member for all items, as uproot has split collections."""
    out = {}
    for name in theirs:
        values = ours
        for part in name.split(".")[1:]:
            part = {"first": "_0", "second": "_1"}.get(part, part)
            rows = [flat(one) for one in values]
            values = [one.get(part) if isinstance(one, dict) else None for one in rows]
        if name.count(".") and None not in values:
            out[name] = values
    return out, {name: theirs[name] for name in out}


def leaves(value: Any) -> list[Any]:
    """Return the values of an entry, one after the other."""
    if isinstance(value, dict):
        value = list(value.values())
    return [leaf for one in value for leaf in leaves(one)] if isinstance(value, list) else [value]


def reason(error: Exception) -> str:
    """Return in a few words why uproot does not read a branch."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 (some of its errors cannot say what they are)
        text = ""
    text = re.sub(r"0x[0-9a-f]+|[0-9]+", "N", text.strip().partition("\n")[0])
    return f"{type(error).__name__}: {text}"[:90].replace("|", "/")


def compare(path: Path, name: str, root: dict[str, Any]) -> Iterator[Branch]:
    """Yield all branches with data of their own. `root` is the result of `Reader.read`."""
    import uproot

    ours: Any = None
    theirs: Any = None
    refused = {"nyssa": "", "uproot": ""}
    try:
        ours = nyssa.open(path)[name]
    except nyssa.NyssaError as error:
        refused["nyssa"] = str(error)
    try:
        theirs = uproot.open(path)[name]
    except Exception as error:  # noqa: BLE001
        refused["uproot"] = reason(error)
    for top, read in root.items():
        verdict, differing = _against_root(ours, top, read)
        for branch_path in read["data"]:
            branch = Branch(branch_path, nyssa=refused["nyssa"] or UNSEEN)
            branch.uproot = refused["uproot"] or UNSEEN
            branch.root = read.get("error", UNSEEN)
            values = _values(branch, ours)
            known: bool | None = None
            if values is not None and theirs is not None:
                known = _against_uproot(branch, values, theirs)
            elif theirs is not None:
                _uproot_alone(branch, theirs)
            at_top = None if verdict is None else verdict or _elsewhere(branch_path, differing)
            _judge(branch, at_top, known, differing)
            _settle(branch, path.name)
            yield branch


def _values(branch: Branch, tree: Any) -> list[Any] | None:
    if tree is None:
        return None
    try:
        column = tree[branch.path]
        branch.class_name = column.typename
        if column.reason is not None:
            branch.nyssa = column.reason
            return None
        return read_nyssa(tree, branch.path)
    except nyssa.NyssaError as error:
        branch.nyssa = str(error)
        return None


def _uproot_alone(branch: Branch, tree: Any) -> None:
    try:
        read_uproot(tree, branch.path)
    except Exception as error:  # noqa: BLE001
        branch.uproot = reason(error)


def _against_uproot(branch: Branch, values: list[Any], tree: Any) -> bool | None:
    try:
        theirs = read_uproot(tree, branch.path)
    except Exception as error:  # noqa: BLE001
        branch.uproot = reason(error)
        return None
    if theirs and all(isinstance(one, int) for one in theirs) and isinstance(values[0], list):
        values = [len(one) for one in values]  # Of a split collection uproot has the sizes.
    if len(values) != len(theirs):
        return False
    for entry, (a, b) in enumerate(zip(values, theirs, strict=True)):
        if isinstance(a, list) and isinstance(b, dict):
            a, b = columns(a, b)
        found = differences(a, b, f"[{entry}]", UPROOT_DIGITS)
        if found:
            branch.notes.append(f"uproot: {found[:2]}")
            return False
    return True


def _against_root(tree: Any, top: str, read: dict[str, Any]) -> tuple[bool | None, list[str]]:
    """Compare a whole top-level branch. Return whether it is equal; `None` when this is unknown."""
    if tree is None or "error" in read:
        return None, []
    try:
        if tree[top].reason is not None:
            return None, []
        values = read_nyssa(tree, top)
    except nyssa.NyssaError:
        return None, []
    found: list[Any] = []
    for entry, (a, b) in enumerate(zip(values, read["entries"], strict=True)):
        if not read["class"]:
            a, b = leaves(a), leaves(b)
        found += differences(a, b, f"[{entry}]")
        if len(found) > 1000:
            break
    if any(isinstance(a, (str, bytes)) and isinstance(b, (list, dict)) for _, a, b in found):
        return None, []  # Objects that nyssa keeps as bytes.
    return not found, [f"{place}: {a} {b}" for place, a, b in found]


def _elsewhere(path: str, differing: list[str]) -> bool:
    """Return whether a difference in the whole branch is in another sub-branch than this one."""
    names = (re.sub(r"\[.*?\]", "", one).rstrip(".") for one in path.split("/"))
    *above, own = (name.split(".")[-1] for name in names)
    for one in differing:
        place, _, values = one.partition(": ")
        members = [part for part in re.split(r"[.\[\]]", place) if not part.isdigit()]
        # When a list is longer or shorter, all its items differ.
        below = re.fullmatch(r"\d+ items \d+ items", values) and members[-1] in above
        if own in members or below:
            return False
    return "/" in path


def _judge(branch: Branch, root: bool | None, uproot: bool | None, differing: list[str]) -> None:
    """Decide which reader is right: two against one. With only two readers it stays undecided."""
    if root is False:
        branch.notes.append(f"ROOT: {differing[:2]}")
    if branch.nyssa != UNSEEN:
        return
    if root or uproot:
        branch.nyssa = RIGHT
        if root is not None:
            branch.root = RIGHT if root else WRONG
        if uproot is not None:
            branch.uproot = RIGHT if uproot else WRONG
    elif root is False or uproot is False:
        branch.nyssa = DIFFERS
        for who, equal in (("root", root), ("uproot", uproot)):
            if equal is False:
                setattr(branch, who, DIFFERS)


def _settle(branch: Branch, file: str) -> None:
    """Return what is known of a branch that others do not decide, or that nyssa cannot read."""
    if branch.nyssa in (RIGHT, UNSEEN):
        return
    branch.cause = cause_of(file, branch.path)
    if branch.cause is not None and branch.nyssa == DIFFERS:
        branch.nyssa = BY_HAND
        branch.root = WRONG if branch.root == DIFFERS else branch.root
        branch.uproot = WRONG if branch.uproot == DIFFERS else branch.uproot
