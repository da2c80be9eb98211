"""Tests cuts when reading. Expected values come from uproot, selected by awkward."""

from __future__ import annotations

import pickle
from pathlib import Path

import awkward as ak
import pytest
import uproot

import nyssa
from support.data import TESTDATA

TREE = TESTDATA / "ttree/events-zlib.root"


def test_cuts(nano: Path, tmp_path: Path) -> None:
    """Trees and RNTuples give the entries that pass, in all ways to read."""
    names = ["run", "nJet", "Jet_pt", "MET_pt"]
    theirs = uproot.open(f"{nano}:Events").arrays(names)
    wanted = theirs[(theirs.nJet >= 2) & ak.any(theirs.Jet_pt > 50, axis=1)]
    assert 0 < len(wanted) < len(theirs)
    cut = "nJet >= 2 && any(Jet_pt > 50)"
    nyssa.convert(f"{nano}:Events", tmp_path / "out.root", include=[*names, "Jet_*"])
    for path in (f"{nano}:Events", f"{tmp_path}/out.root:Events"):
        events = nyssa.open(path)
        for name in names:
            read = events.arrays([name], cut=cut)[name]
            assert ak.array_equal(read, wanted[name], same_content_types=False)
        passed = events.with_cut(cut)
        assert passed.num_entries == len(wanted)
        assert passed.keys() == events.keys()
        assert ak.array_equal(passed["MET_pt"].array(), wanted.MET_pt)
        steps = [one.MET_pt for one in passed.iterate(["MET_pt"], step_size=7)]
        assert ak.array_equal(ak.concatenate(steps), wanted.MET_pt)
        assert events.arrays("MET_pt", cut=cut, library="np")["MET_pt"].tolist() == (
            wanted.MET_pt.tolist()
        )
        lazy = events.arrays(["Jet_pt"], cut=cut, lazy=True)
        assert ak.array_equal(lazy.Jet_pt, wanted.Jet_pt, same_content_types=False)
        again = pickle.loads(pickle.dumps(passed))
        assert ak.array_equal(again["MET_pt"].array(), wanted.MET_pt)
        part = theirs[10:50]
        part = part[part.nJet >= 2]
        read = events.arrays("MET_pt", cut="nJet >= 2", entry_start=10, entry_stop=50)
        assert ak.array_equal(read.MET_pt, part.MET_pt)


def test_wrong_cuts() -> None:
    events = nyssa.open(f"{TREE}:Events")
    with pytest.raises(nyssa.NotFoundError, match="nothing"):
        events.with_cut("nothing > 1")
    with pytest.raises(nyssa.ArgumentError):
        events.arrays(cut="1 +")


def test_cuts_of_a_chain() -> None:
    one = nyssa.open(f"{TREE}:Events")
    name = next(key for key in one.readable if one[key].typename in ("std::int32_t", "float"))
    values = uproot.open(f"{TREE}:Events")[name].array()
    middle = sorted(values.tolist())[len(values) // 2]
    wanted = values[values > middle]
    both = nyssa.chain([f"{TREE}:Events"] * 2).arrays([name], cut=f"{name} > {middle}")[name]
    assert both.tolist() == 2 * wanted.tolist()


def test_rules_of_a_chain() -> None:
    """A chain with rules is a chain, with its files."""
    chain = nyssa.chain([f"{TREE}:Events"] * 2)
    ruled = chain.with_rules(nyssa.ReadRules())
    assert (type(ruled), ruled.files) == (type(chain), chain.files)
    assert ruled.num_entries == chain.num_entries
