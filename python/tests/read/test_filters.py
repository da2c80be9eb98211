"""Name filters choose the same names as in uproot."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa


def starts_with_a_muon(name: str) -> bool:
    return name.startswith("HLT_Mu")


PATTERNS: list[Any] = [
    None,
    "Jet_pt",
    "jet_pt",
    "Jet_*",
    "*_pt",
    "Jet_p?",
    "[FJ]*et_pt",
    "Jet_[!a-o]*",
    "nope",
    "nope*",
    "/Jet_pt/",
    "/Jet_pt$/",
    "/.*Jet_pt/",
    "/jet_pt/",
    "/jet_pt/i",
    "/JET_(pt|eta)$/i",
    "/Jet_ pt $/x",
    "/^Jet_pt/m",
    "/.*/s",
    "/Muon_.*Id/u",
    "//",
    "/",
    "",
    "*",
    "/x",
    ["Jet_pt", "Muon_*", "/nEle/"],
    ["Jet_pt"],
    [],
    starts_with_a_muon,
]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda one: getattr(one, "__name__", repr(one)))
def test_patterns_take_what_uproot_takes(nano: Path, pattern: Any) -> None:
    ours, theirs = nyssa.open(f"{nano}:Events"), uproot.open(nano)["Events"]
    assert ours.keys(filter_name=pattern) == theirs.keys(filter_name=pattern)
    # uproot writes most type names in another way; this one is the same.
    for kind in ("float", "/float$/", "flo?t"):
        expected = theirs.keys(filter_name=pattern, filter_typename=kind)
        assert ours.keys(filter_name=pattern, filter_typename=kind) == expected


def test_wildcards_take_no_slash_before_the_name(nano: Path) -> None:
    # uproot also compares patterns with "/" and the name.
    events = nyssa.open(f"{nano}:Events")
    assert events.keys(filter_name="?Jet*") == ["nJet"]
    assert events.keys(filter_name="[!FGnS]*Jet_pt") == []


def test_expressions_that_are_wrong_say_so(nano: Path) -> None:
    events = nyssa.open(f"{nano}:Events")
    for pattern in ("/(/", "/a/L"):
        with pytest.raises(
            nyssa.ArgumentError, match=re.escape(f"bad regular expression {pattern}")
        ):
            events.keys(filter_name=pattern)
    with pytest.raises(nyssa.ArgumentError, match="not int"):
        events.keys(filter_name=3)  # type: ignore[arg-type]


def test_compiled_expressions_match_from_the_start(nano: Path) -> None:
    events = nyssa.open(f"{nano}:Events")
    assert events.keys(filter_name=re.compile("Jet_pt$")) == ["Jet_pt"]


def test_a_filter_that_leaves_nothing_of_named_columns_says_so(tmp_path: Path) -> None:
    path = tmp_path / "few.root"
    with nyssa.recreate(path) as file:
        file["n"] = {"i4": np.arange(3, dtype="i4"), "u4": np.arange(3, dtype="u4")}
    events = nyssa.open(f"{path}:n")
    message = (
        f"filter_name matches none of the columns that are named for 'n' of {path}: i4; a "
        "filter leaves out some of those that are named"
    )
    with pytest.raises(nyssa.NotFoundError, match=re.escape(message)):
        events.arrays(["i4"], filter_name="u*")
    with pytest.raises(nyssa.NotFoundError, match="filter_typename matches none of the columns"):
        events.arrays(["i4"], filter_typename="float")
    assert events.arrays(["i4", "u4"], filter_name="u*").fields == ["u4"]
    for options in ({"filter_name": "nope"}, {"filter_name": []}, {"filter_typename": "nope"}):
        with pytest.raises(nyssa.errors.NotFoundError, match="matches no column of"):
            events.arrays(**options)
        with pytest.raises(nyssa.errors.NotFoundError, match="matches no column of"):
            next(nyssa.iterate(f"{path}:n", **options))
    for given in ([None], ["i4", None], [3]):
        with pytest.raises(nyssa.errors.ArgumentError, match="named by a str or a list"):
            events.arrays(given)
    with pytest.raises(nyssa.errors.ArgumentError, match="None in a list of name filters"):
        events.arrays(filter_name=[None])
    assert events.keys(filter_name="nope") == []


def test_names_with_special_characters(tmp_path: Path) -> None:
    names = ["x3", "a*b", "a/b", "what?", "x[3]"]
    path = tmp_path / "odd.root"
    with uproot.recreate(path) as file:
        file.mktree("t", dict.fromkeys(names, "i4"))
        file["t"].extend({name: np.array([at], dtype="i4") for at, name in enumerate(names)})
    tree = nyssa.open(f"{path}:t")
    assert tree.keys() == names
    for at, name in enumerate(names[:4]):
        assert tree.arrays([name]).to_list() == [{name: at}]
        assert tree.arrays(filter_name=name)[name].to_list() == [at]
        assert tree[name].array().to_list() == [at]
    assert tree.keys(filter_name="x[3]") == ["x3", "x[3]"]


def test_columns_and_pairs_take_the_filters_of_keys(tmp_path: Path) -> None:
    """As in uproot, `values` and `items` are lists in the order of `keys`."""
    path = tmp_path / "file.root"
    with uproot.recreate(path) as file:
        file["Events"] = {"run": np.arange(3), "x": np.ones(3), "y": np.zeros(3)}
    ours, theirs = nyssa.open(f"{path}:Events"), uproot.open(f"{path}:Events")
    for filters in [{}, {"filter_name": "[xy]"}, {"filter_typename": "double"}]:
        assert [one.name for one in ours.values(**filters)] == theirs.keys(**filters)
        assert [name for name, _ in ours.items(**filters)] == theirs.keys(**filters)
    [(_, column)] = ours.items(filter_name="run")
    assert column.array().to_list() == [0, 1, 2]


def test_names_of_uproot_give_what_they_give_there(tmp_path: Path) -> None:
    """Iterators, classes of keys, and values of directories take filters."""
    path = tmp_path / "names.root"
    with uproot.recreate(path) as file:
        tree = {"x": np.arange(3), "y": np.arange(3.0), "xy": np.arange(3, dtype=np.int8)}
        file.mktree("dir/tree", {name: one.dtype for name, one in tree.items()}).extend(tree)
        file["dir/h"] = np.histogram(np.arange(5))
        file["text"] = "some"
    with uproot.open(path) as theirs, nyssa.open(path) as ours:
        assert list(ours.iterkeys()) == list(theirs.iterkeys())
        assert list(ours["dir"].iterkeys(cycle=False)) == ["tree", "h"]
        assert [*ours.iterclassnames(filter_name="dir/*")] == [
            *theirs.iterclassnames(filter_name="dir/*")
        ]
        assert ours.classname_of("dir/h") == theirs.classname_of("dir/h") == "TH1D"
        with pytest.raises(nyssa.NotFoundError, match="no 'dir/g' in .* did you mean \"dir/h\""):
            ours.classname_of("dir/g")
        for of_class in ("TH1D", "TTree", "TNone"):
            names = [name for name, _ in theirs.items(filter_classname=of_class)]
            assert [name for name, _ in ours.items(filter_classname=of_class)] == names
            assert len(ours.values(filter_classname=of_class)) == len(names)
        [histogram] = ours.itervalues(filter_classname="TH1D")
        assert histogram.classname == theirs["dir/h"].classname
        mine, other = ours["dir/tree"], theirs["dir/tree"]
        assert [*mine.iterkeys(filter_name="x*")] == [*other.iterkeys(filter_name="x*")]
        types = [("x", "std::int64_t"), ("xy", "std::int8_t")]
        assert [*mine.itertypenames(filter_name="x*")] == types
        assert [name for name, _ in mine.iteritems(filter_typename="double")] == ["y"]
        assert [column.array().to_list() for column in mine.itervalues(filter_name="y")] == [
            [0.0, 1.0, 2.0]
        ]


def test_show_lists_what_is_below(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "show.root"
    with nyssa.recreate(path) as file:
        file["n"] = {"s": np.zeros(2, dtype=[("a", "i4"), ("b", "f8")])}
    nyssa.open(f"{path}:n").show(recursive=True, filter_typename="double")
    assert capsys.readouterr().out.splitlines()[-1].split() == ["s.b", "double", "float64"]
