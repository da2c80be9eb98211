"""Every branch of every TTree in the test data reads as in uproot, or is refused with a reason."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import awkward as ak
import pytest
import uproot

import nyssa
from conftest import DATA, data_files
from same import layouts_differ

FILES = data_files("ttree")
COUNTER = 6
"""ROOT's type of members that count others (kCounter): `Int_t`, which uproot takes for unsigned."""

pytestmark = pytest.mark.skipif(not FILES, reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_branches_equal_uproot(path: Path, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Compare branch by branch, values and types."""
    try:
        with uproot.open(path) as file:
            names = sorted(set(file.keys(filter_classname="/TTree|TNtupleD?/", cycle=False)))
    except Exception:  # noqa: BLE001 (uproot has no common error)
        names = []
    if not names:
        # Not a ROOT file, a damaged one, or one without trees.
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
        other = tmp_path / "recompressed.root"
        request.getfixturevalue("root").call("recompress", str(path), readable, str(other))
    wrong: list[str] = []
    compared = 0
    with uproot.open(other) as theirs:
        for name in readable:
            compared += compare(file[name], theirs[name], other != path, wrong)
    assert not wrong, f"{len(wrong)} of {compared} branches differ: " + "; ".join(wrong[:20])


def uproot_decompresses(path: Path, name: str) -> bool:
    """Return whether uproot can open a tree: it lacks the codec of ROOT before version 3."""
    with uproot.open(path) as file:
        try:
            return bool(file[name])
        except ValueError as error:
            assert "unsupported compression algorithm" in str(error)
            return False


def compare(ours: nyssa.TTree, theirs: Any, recompressed: bool, wrong: list[str]) -> int:
    """Compare all branches nyssa reads; note those that differ; return how many were compared."""
    assert ours.num_entries == theirs.num_entries, ours
    assert all(ours.unreadable.values())
    arrays = ours.arrays(ours.readable)
    compared = 0
    for branch in ours.readable:
        expected = expectation(theirs, branch)
        if expected is None or (recompressed and branch.endswith(".fUniqueID")):
            continue  # ROOT gives objects new ids when it copies them.
        compared += 1
        if found := layouts_differ(arrays.layout.content(branch), expected):
            wrong.append(f"{ours.name}/{branch} ({ours[branch].typename}): {found}")
    return compared


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
    """What nyssa refuses is what needs classes; all of NanoAOD is read."""
    for name in ("nanoAOD_2015_CMS_Open_Data_ttbar", "uproot-HZZ", "uproot-Zmumu"):
        for tree in nyssa.open(DATA / "ttree" / f"{name}.root").datasets():
            dataset = nyssa.open(f"{DATA / 'ttree' / name}.root:{tree}")
            if tree in ("Events", "events"):
                assert dataset.unreadable == {}, name
