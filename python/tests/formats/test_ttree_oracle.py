"""Every branch of every TTree in the test data equals uproot's, or is refused with a reason."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.data import DATA, data_files
from support.same import layouts_differ

FILES = data_files("ttree")
COUNTER = 6
"""ROOT's type of members that count others (kCounter): `Int_t`, which uproot reads as unsigned.
"""

OF_COPIES = ("fUniqueID", "fBits")
"""The values that ROOT sets anew when it copies objects."""

pytestmark = pytest.mark.skipif(not FILES, reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_branches_equal_uproot(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Compare values and types branch by branch."""
    try:
        with uproot.open(path) as file:
            names = sorted(set(file.keys(filter_classname="/TTree|TNtupleD?/", cycle=False)))
    except Exception:  # noqa: BLE001 (uproot has no common error)
        names = []
    if not names:
        # The file is not a ROOT file, is damaged, or has no trees.
        try:
            assert not any(
                isinstance(nyssa.open(path)[n], nyssa.TTree) for n in nyssa.open(path).datasets()
            )
        except nyssa.NyssaError as error:
            assert str(error)
        return
    file = nyssa.open(path)
    readable = [name for name in names if file[name].readable]
    other = path
    if readable and not uproot_decompresses(path, readable[0]):
        if any(not is_simple(file[name][column]) for name in readable for column in file[name]):
            return  # ROOT does not copy objects right without their classes.
        other = tmp_path / "recompressed.root"
        request.getfixturevalue("root").call("recompress", str(path), readable, str(other))
    wrong: list[str] = []
    compared = 0
    with uproot.open(other) as theirs:
        for name in readable:
            compared += compare(file[name], theirs[name], other != path, wrong)
    assert not wrong, f"{len(wrong)} of {compared} branches differ: " + "; ".join(wrong[:20])


def uproot_decompresses(path: Path, name: str) -> bool:
    """Return whether uproot can open a tree: it lacks the codec from before ROOT version 3."""
    with uproot.open(path) as file:
        try:
            return bool(file[name])
        except ValueError as error:
            assert "unsupported compression algorithm" in str(error)
            return False


def compare(ours: nyssa.TTree, theirs: Any, recompressed: bool, wrong: list[str]) -> int:
    """Compare the branches of numbers, strings and lists of these, also sub-branches.

    Those that differ are noted; returns how many were compared. Records are compared with ROOT's
    values in `test_support_ttree.py` and `test_tree_kinds.py`.
    """
    assert ours.num_entries == theirs.num_entries, ours
    assert all(ours.unreadable.values())
    names = [name for name in ours.keys(recursive=True) if is_simple(ours[name])]
    with warnings.catch_warnings(record=True) as left_out:
        warnings.simplefilter("always", nyssa.UnreadableWarning)
        arrays = ours.arrays(names, skip_unreadable=True)
    compared = 0
    for branch in names:
        expected = expectation(theirs, branch)
        if branch not in arrays.fields:
            assert any(branch in str(one.message) for one in left_out)
            if expected is not None:
                wrong.append(f"{ours.name}/{branch} is not read")
            continue
        if branch.endswith("fBits") and "[" in ours[branch].typename and expected is not None:
            # uproot takes the number of a process, behind the bits of an object that a TRef leads
            # to, for bits of another object (tables/ttrees.md).
            more = ak.count(ak.Array(expected)) > ak.count(arrays[branch])
            expected = None if more else expected
        if expected is None or (recompressed and branch.endswith(OF_COPIES)):
            continue
        compared += 1
        values = arrays.layout.content(branch)
        if recompressed and "bool" in ours[branch].typename:
            # ROOT copies the data of an old file as bytes.
            expected = ak.to_layout(ak.values_astype(ak.Array(expected), bool))
        if "Double32_t" in ours[branch].typename or branch.count("[") > 0:
            # uproot rounds in another order than ROOT, and knows one dimension of arrays in lists.
            mine, other = (ak.to_numpy(ak.flatten(one, axis=None)) for one in (values, expected))
            if "Double32_t[" in ours[branch].typename and len(other) > len(mine):
                continue  # It takes arrays of packed numbers in lists for lists of such arrays.
            if len(mine) != len(other) or not np.allclose(mine, other, 1e-7, 1e-8, True):
                wrong.append(f"{ours.name}/{branch} ({ours[branch].typename})")
        elif found := layouts_differ(values, expected):
            wrong.append(f"{ours.name}/{branch} ({ours[branch].typename}): {found}")
    return compared


def is_simple(column: nyssa.Column) -> bool:
    """Return whether a branch is read and has no records, whose form differs between readers."""
    kind = column.arrow_type
    forms = ("Struct", "Union", "streamer")
    return kind is not None and not any(no in kind for no in forms) and column.typename != "TDatime"


def expectation(tree: Any, branch: str) -> Any:
    """Return uproot's layout of a branch; `None` when uproot cannot read it either."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            one = tree[branch]
            array = one.array(library="ak")
        except Exception:  # noqa: BLE001
            return None
    if one.member("fStreamerType", none_if_missing=True) == COUNTER:
        array = ak.values_astype(array, "int32")
    return ak.to_layout(array)


def test_most_branches_are_read() -> None:
    """Only branches that need classes are refused; all of NanoAOD is read."""
    for name in ("nanoAOD_2015_CMS_Open_Data_ttbar", "uproot-HZZ", "uproot-Zmumu"):
        for tree in nyssa.open(DATA / "ttree" / f"{name}.root").datasets():
            dataset = nyssa.open(f"{DATA / 'ttree' / name}.root:{tree}")
            if tree in ("Events", "events"):
                assert dataset.unreadable == {}, name
