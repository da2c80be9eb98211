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
pytestmark = pytest.mark.skipif(not FILES, reason=f"no test data at {DATA}; set NYSSA_TEST_DATA")


def trees(path: Path) -> list[str]:
    """Return the names of the trees uproot sees, the highest cycle of each."""
    with uproot.open(path) as file:
        names = file.keys(filter_classname="/TTree|TNtupleD?/", cycle=False)
    return sorted(set(names))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_branches_equal_uproot(path: Path) -> None:
    """Compare branch by branch, values and types."""
    try:
        names = trees(path)
    except Exception as error:  # noqa: BLE001 (uproot has no common error)
        with pytest.raises(nyssa.NyssaError):
            nyssa.open(path)
        pytest.skip(f"neither uproot ({type(error).__name__}) nor nyssa can open it")
    file = nyssa.open(path)
    wrong = []
    compared = 0
    for name in names:
        ours = file[name]
        with uproot.open(path) as other:
            theirs = other[name]
            assert ours.num_entries == theirs.num_entries, name
            for reason in ours.unreadable.values():
                assert reason
            readable = ours.readable
            if not readable:
                continue
            arrays = ours.arrays(readable)
            for branch in readable:
                expected = expectation(theirs, branch)
                if expected is None:
                    continue
                compared += 1
                if found := layouts_differ(arrays.layout.content(branch), expected):
                    wrong.append(f"{name}/{branch} ({ours[branch].typename}): {found}")
    assert not wrong, f"{len(wrong)} of {compared} branches differ: " + "; ".join(wrong[:20])


def expectation(tree: Any, branch: str) -> Any:
    """Return uproot's layout of a branch; `None` when uproot cannot read it either."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ak.to_layout(tree[branch].array(library="ak"))
        except Exception:  # noqa: BLE001
            return None


def test_most_branches_are_read() -> None:
    """What nyssa refuses is what needs classes; all of NanoAOD is read."""
    for name in ("nanoAOD_2015_CMS_Open_Data_ttbar", "uproot-HZZ", "uproot-Zmumu"):
        for tree in nyssa.open(DATA / "ttree" / f"{name}.root").datasets():
            dataset = nyssa.open(f"{DATA / 'ttree' / name}.root:{tree}")
            if tree in ("Events", "events"):
                assert dataset.unreadable == {}, name
