"""The files on the server, the columns that the jobs read, and the bytes these need."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path

import run as local

#: Files of the chain, and entries of each.
CHAIN, CHAIN_ENTRIES = 200, 1500


def make_files(entries: int) -> dict[str, Path]:
    """Makes what is missing: a TTree, the RNTuple of it, and many small RNTuples."""
    from nyssa import rewrite

    local.BUILD.mkdir(parents=True, exist_ok=True)
    tree = local.BUILD / f"nanoaod-{entries}.root"
    if not tree.exists():
        print("making the TTree", file=sys.stderr)
        part = tree.with_suffix(".part.root")
        local.make_data(part, entries)
        part.replace(tree)
    ntuple = local.BUILD / f"ntuple-{entries}.root"
    if not ntuple.exists():
        print("ROOT's importer makes the RNTuple", file=sys.stderr)
        part = ntuple.with_suffix(".part.root")
        local.measure(*local.job("root_convert", tree, part))
        part.replace(ntuple)
    files = {"tree": tree, "ntuple": ntuple}
    small = local.BUILD / "small-0.root"
    if not small.exists():
        rewrite(f"{ntuple}:Events", small, cut=f"event < {CHAIN_ENTRIES * 7 + 101}", carry=False)
    for number in range(CHAIN):
        copy = local.BUILD / f"small-{number}.root"
        if not copy.exists():
            copy.hardlink_to(small)
        files[f"small-{number}"] = copy
    return files


@cache
def _inspect(path: Path) -> dict:
    from nyssa import inspect

    return inspect(f"{path}:Events").to_dict()


def largest_columns(ntuple: Path, count: int) -> list[str]:
    """Returns the vectors of float32 that take most bytes in the file."""
    # ROOT's importer makes collections of them; the vectors are projected fields of the same name.
    members = [
        one
        for one in _inspect(ntuple)["columns"]
        if one["column_type"] == "SplitReal32" and "._0." in one["field"]
    ]
    members.sort(key=lambda one: -one["part"]["stored_bytes"])
    return [one["part"]["name"] for one in members[:count]]


def bytes_needed(path: Path, names: list[str]) -> int:
    """Returns the bytes of the columns, of the columns of their sizes, and of the metadata."""
    found = _inspect(path)
    if found["format"] == "TTree":
        stored = {one["name"]: one["stored_bytes"] for one in found["fields"]}
        types = {one["name"]: one["type_name"] for one in found["fields"]}
        counters = {types[name].partition("[")[2].rstrip("]") for name in names} - {""}
        return sum(stored[name] for name in {*names, *counters}) + _tree_bytes(path)
    members = {one["part"]["name"]: one for one in found["columns"]}
    collections = {members[name]["field"].partition("._0.")[0] for name in names}
    chosen = [
        one["part"]["stored_bytes"]
        for one in found["columns"]
        if one["part"]["name"] in names or one["field"] in collections
    ]
    return sum(chosen) + found["metadata_bytes"]


def _tree_bytes(path: Path) -> int:
    """Returns the bytes from the key of the newest tree to the end of the file: its metadata."""
    listed = subprocess.run(
        [sys.executable, "-m", "nyssa", "ls", "--json", str(path)], capture_output=True, check=True
    )
    keys = json.loads(listed.stdout)["keys"]
    return path.stat().st_size - max(one["position"] for one in keys)
