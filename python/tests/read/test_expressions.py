"""Tests columns that are computed when reading. Expected values and types come from uproot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

#: Expressions that uproot and nyssa both know.
BOTH = [
    "MET_pt",
    "MET_pt*2",
    "MET_pt/2",
    "-MET_pt",
    "MET_pt**2",
    "sqrt(MET_pt)",
    "exp(-MET_pt)",
    "log(MET_pt)",
    "sin(MET_phi)*MET_pt",
    "cos(MET_phi)*MET_pt",
    "arctan2(MET_pt, MET_phi)",
    "hypot(MET_pt, MET_phi)",
    "abs(MET_phi)",
    "MET_pt > 30",
    "(MET_pt > 30) & (abs(MET_phi) < 1)",
    "(MET_pt > 60) | ~(MET_phi < 1)",
    "nJet/2",
    "Jet_pt*2",
    "Jet_pt/MET_pt",
    "Jet_pt + nJet",
    "Jet_pt*cos(Jet_phi)",
    "sqrt(Jet_pt**2 + Jet_eta**2)",
    "Jet_pt[Jet_eta < 2.4]",
    "Jet_pt[(Jet_eta < 2.4) & (Jet_pt > 30)]",
    "Jet_pt[Jet_pt > 30]*2",
    "Jet_jetId[Jet_pt > 30]",
    "(Jet_jetId & 2) == 2",
    "Jet_pt == Jet_pt",
    "MET_pt*Jet_jetId",
]


@pytest.fixture(scope="module")
def both(nano: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return a tree, and an RNTuple with some of its columns."""
    output = tmp_path_factory.mktemp("expressions") / "ntuple.root"
    nyssa.convert(f"{nano}:Events", output, include=["run", "nJet", "Jet_*", "MET_*"])
    return [f"{nano}:Events", f"{output}:Events"]


def same(ours: Any, theirs: Any) -> None:
    """Compare values and types. Real numbers are computed by uproot with single precision."""
    kinds = {"int32": "int64", "uint32": "int64", "uint8": "int64", "int16": "int64"}
    assert ours.ndim == theirs.ndim
    left, right = ak.flatten(ours, axis=None), ak.flatten(theirs, axis=None)
    if ours.ndim == 2:
        assert ak.num(ours).tolist() == ak.num(theirs).tolist()
    types = [str(one.type.content) for one in (left, right)]
    assert types[0] in (types[1], kinds.get(types[1])), types
    assert np.allclose(left.to_numpy(), right.to_numpy(), rtol=2e-6, equal_nan=True)


@pytest.mark.parametrize("text", BOTH)
def test_values_and_types(both: list[str], text: str) -> None:
    tree = uproot.open(both[0])
    for path in both:
        events = nyssa.open(path)
        theirs = tree.arrays(text)
        ours = events.arrays(text)
        assert ours.fields == theirs.fields == [text]
        same(ours[text], theirs[text])
        cut = "(nJet > 2) & (MET_pt > 20)"
        same(events.arrays(text, cut=cut)[text], tree.arrays(text, cut=cut)[text])
        assert str(events.form(text).type) == str(ours.layout.form.type)


def test_lists(both: list[str]) -> None:
    """Awkward computes the expected values where uproot has no such function."""
    tree = uproot.open(both[0]).arrays(["Jet_pt", "Jet_eta", "nJet", "MET_pt"])
    wanted = {
        "sum(Jet_pt)": ak.sum(tree.Jet_pt, axis=1),
        "max(Jet_pt)": ak.max(tree.Jet_pt, axis=1),
        "min(Jet_pt)": ak.min(tree.Jet_pt, axis=1),
        "Jet_pt[0]": ak.firsts(tree.Jet_pt),
        "any(Jet_pt > 50)": ak.any(tree.Jet_pt > 50, axis=1),
        "all(Jet_pt > 50)": ak.all(tree.Jet_pt > 50, axis=1),
        "len(Jet_pt[Jet_eta > 0])": ak.num(tree.Jet_pt[tree.Jet_eta > 0]),
        "sum(Jet_pt[Jet_eta > 0])": ak.sum(tree.Jet_pt[tree.Jet_eta > 0], axis=1),
        "min(MET_pt, 40)": np.minimum(tree.MET_pt, 40),
    }
    for path in both:
        ours = nyssa.open(path).arrays([*wanted])
        assert ours.fields == [*wanted]
        for text, theirs in wanted.items():
            assert ours[text].type == theirs.type, text
            assert ak.almost_equal(ours[text], theirs, rtol=2e-6), text


def test_aliases(both: list[str]) -> None:
    aliases = {"pt2": "Jet_pt**2", "central": "abs(Jet_eta) < 1", "sum2": "pt2 + pt2"}
    names = ["pt2", "sum2", "Jet_pt[central]", "MET_pt"]
    cut = "nJet > 1"
    theirs = uproot.open(both[0]).arrays(names, cut=cut, aliases=aliases)
    for path in both:
        events = nyssa.open(path)
        ours = events.arrays(names, cut=cut, aliases=aliases)
        assert ours.fields == theirs.fields
        for name in names:
            same(ours[name], theirs[name])
        steps = [*events.iterate(names, cut=cut, aliases=aliases, step_size=11)]
        assert {len(step) for step in steps[:-1]} == {11}
        assert ak.array_equal(ak.concatenate(steps), ours)
        passing = events.with_cut("any(central)", aliases=aliases).num_entries
        assert passing == len(events.arrays("MET_pt", cut="any(abs(Jet_eta) < 1)"))
        with pytest.raises(nyssa.ArgumentError, match=r"(?s)needs itself: a -> b -> a"):
            events.arrays("a", aliases={"a": "b", "b": "a"})


def test_chains(both: list[str]) -> None:
    tree, ntuple = both
    text, cut = "Jet_pt[Jet_eta < aliased]", "MET_pt > 20"
    aliases = {"aliased": "1 + 1"}
    wanted = nyssa.open(tree).arrays([text, "MET_pt"], cut=cut, aliases={"aliased": "2"})
    wanted = ak.concatenate([wanted, wanted])[[text, "MET_pt"]]
    files = [tree, ntuple]
    read = nyssa.concatenate(files, [text, "MET_pt"], cut=cut, aliases=aliases)
    assert ak.array_equal(read, wanted)
    chained = nyssa.chain(files).arrays([text, "MET_pt"], cut=cut, aliases=aliases)
    assert ak.array_equal(chained, wanted)
    for options in ({}, {"schema": "union"}):
        steps = nyssa.iterate(
            files, [text, "MET_pt"], cut=cut, aliases=aliases, report=True, step_size=40, **options
        )
        arrays, reports = zip(*steps, strict=True)
        assert ak.array_equal(ak.concatenate(arrays), wanted)
        met = uproot.open(tree)["MET_pt"].array()
        for one, (_, start, stop) in zip(arrays, reports, strict=True):
            part = met[start:stop]
            assert part[part > 20].tolist() == one.MET_pt.tolist()
            assert min(part[0], part[-1]) > 20


def bytes_read(path: str, *names: str, **options: Any) -> int:
    with nyssa.open(path) as events:
        before = events.io_stats().bytes_read
        events.arrays([*names], **options)
        return events.io_stats().bytes_read - before


def test_only_what_is_needed_is_read(both: list[str]) -> None:
    for path in both:
        assert bytes_read(path, "Jet_pt*2") == bytes_read(path, "Jet_pt")
        two = bytes_read(path, "Jet_pt", "Jet_eta")
        assert bytes_read(path, "Jet_pt[Jet_eta < 2]") == two
        nothing = bytes_read(path, "Jet_pt*2", cut="MET_pt < -1")
        assert nothing == bytes_read(path, "MET_pt")
        assert len(nyssa.open(path).arrays("Jet_pt*2", cut="MET_pt < -1")) == 0


@pytest.mark.parametrize("how", [tuple, list, dict, "zip", None])
def test_how(both: list[str], how: Any) -> None:
    names = ["nJet", "MET_pt", "Jet_pt", "Jet_eta", "Jet_pt*2", "Muon_pt"]
    theirs = uproot.open(both[0]).arrays(names, how=how)
    ours = nyssa.open(both[0]).arrays(names, how=how)
    if how in (tuple, list):
        assert type(ours) is how
        assert all(ak.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))
    elif how is dict:
        assert [*ours] == [*theirs] == names
        assert all(ak.array_equal(ours[name], theirs[name]) for name in names)
    else:
        assert ours.type == theirs.type
        assert ak.array_equal(ours, theirs)
    step = next(nyssa.open(both[0]).iterate(names, how=how, step_size=5))
    assert type(step) is type(ours)
    assert len(step) == (5 if isinstance(step, ak.Array) else len(names))


@pytest.mark.parametrize("library", ["np", "pd"])
def test_how_of_libraries(both: list[str], library: str) -> None:
    names = ["nJet", "MET_pt"]
    for how in (tuple, list, dict):
        theirs = uproot.open(both[0]).arrays(names, how=how, library=library)
        ours = nyssa.open(both[0]).arrays(names, how=how, library=library)
        assert type(ours) is type(theirs) is how
        values = [*(ours.values() if how is dict else ours)]
        wanted = [*(theirs.values() if how is dict else theirs)]
        for one, other in zip(values, wanted, strict=True):
            assert type(one) is type(other)
            assert one.tolist() == other.tolist()
    with pytest.raises(nyssa.ArgumentError, match='library="ak"'):
        nyssa.open(both[0]).arrays(names, how="zip", library=library)
    with pytest.raises(nyssa.ArgumentError, match="not one of tuple"):
        nyssa.open(both[0]).arrays(names, how="outer", library=library)


def test_zip_without_a_common_name(tmp_path: Path) -> None:
    data = {"a": [[1], [2, 3]], "b_x": [[1, 2], []], "c_x": [[1, 2], []], "n": [1, 2]}
    path = tmp_path / "lists.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {name: ak.Array(values) for name, values in data.items()})
    names = [*data]
    theirs = uproot.open(f"{path}:t").arrays(names, how="zip")
    ours = nyssa.open(f"{path}:t").arrays(names, how="zip")
    assert ours.fields == theirs.fields == ["n", "jagged0", "jagged1"]
    assert ak.array_equal(ours, theirs)


def test_patterns_stay_patterns(both: list[str]) -> None:
    for path in both:
        events = nyssa.open(path)
        assert events.arrays("MET_*").fields == events.keys(filter_name="MET_*")
        assert events.arrays("*Jet_p[th]*").fields == events.keys(filter_name="*Jet_p[th]*")
        assert events.arrays("/met_p.*/i").fields == events.keys(filter_name="/met_p.*/i")
        # All its names are columns.
        assert events.arrays("MET_pt*MET_phi").fields == ["MET_pt*MET_phi"]


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("Jet_ptt*2", 'there is no field "Jet_ptt"; did you mean "Jet_pt"', 0),
        ("MET_pt + Jet_ptt", 'there is no field "Jet_ptt"', 9),
        ("MET_pt +", "a number, a field or a bracket is missing before the end", 8),
        ("sqrrt(MET_pt)", 'there is no function sqrrt; did you mean "sqrt"', 0),
        ("MET_pt[0] > 1", "only lists have items", 7),
        ("Jet_pt[MET_pt > 1]", "this selects entries, not items", 14),
        ("Jet_pt[", "a number, a field or a bracket is missing before the end", 7),
        ("Jet_pt[0", "this bracket is never closed: ] is missing", 6),
        ("Jet_pt[]", "a number, a field or a bracket is missing before ]", 7),
        ("Jet_pt]", "] was not expected here", 6),
        ("`Jet_pt", "a back quote is never closed", 0),
        ("Jet_pt == 'a", "a quote is never closed", 10),
        ("'Jet_pt", "a quote is never closed", 0),
    ],
)
def test_errors_have_a_place(both: list[str], text: str, message: str, place: int) -> None:
    for path in both:
        with pytest.raises(nyssa.NyssaError) as caught:
            nyssa.open(path).arrays(["MET_pt", text])
        first, excerpt, mark = str(caught.value).splitlines()[:3]
        assert message in first
        assert excerpt.strip() == text
        assert mark.index("^") - excerpt.index(text) == place


def test_typos_of_names(both: list[str]) -> None:
    for name in ("Jet_ptt", "Jett*"):
        with pytest.raises(nyssa.NotFoundError, match=f"no {name!r}".replace("*", r"\*")):
            nyssa.open(both[0]).arrays(name)


def test_fixed_arrays_and_lazy(tmp_path: Path) -> None:
    path = tmp_path / "fixed.root"
    with uproot.recreate(path) as file:
        file["t"] = {"m": np.arange(24.0).reshape(4, 3, 2), "n": np.arange(4, dtype=np.int8)}
    tree = nyssa.open(f"{path}:t")
    for text in ("m*2", "m > 3"):
        ours = tree.arrays(text)[text]
        theirs = uproot.open(f"{path}:t").arrays("m")
        wanted = {"m*2": theirs.m * 2, "m > 3": theirs.m > 3}[text]
        assert ours.type == wanted.type
        assert ak.array_equal(ours, wanted)
        assert ak.array_equal(tree.arrays(text, lazy=True)[text], wanted)
    assert tree.arrays("n*2", library="np")["n*2"].dtype == np.int64


def test_expressions_of_entries_and_partitions(tmp_path: Path) -> None:
    path = tmp_path / "numbers.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.arange(100.0), "y": np.arange(100.0) ** 2})
    events = nyssa.open(path)["t"]
    other = uproot.open(path)["t"].arrays(["x + y"], library="np")["x + y"]
    some = [70, 3, 3]
    found = events.take(some, ["s", "x", "x + y"], aliases={"s": "x + y"}, library="np")
    assert list(found) == ["s", "x", "x + y"]
    assert found["s"].tolist() == found["x + y"].tolist() == other[some].tolist()
    both = events.partitions(["s"], aliases={"s": "x + y"}, step_size="400 B")
    assert both == events.partitions(["x"], step_size="400 B")
    assert len(both) == 2
    with pytest.raises(nyssa.NotFoundError):
        events.take(some, ["x + z"])
