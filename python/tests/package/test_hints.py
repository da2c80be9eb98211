"""Errors of names that do not exist say what to write instead."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from support.data import TESTDATA

TREE = TESTDATA / "ttree/events-zstd.root"
NTUPLE = TESTDATA / "rntuple/structures.root"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda tree: tree.array("MET"), r'tree\["x"\].array\(\)'),
        (lambda tree: tree.arrys(), 'did you mean "arrays"'),
        (lambda tree: tree.MET, r"tree\['MET'\]"),
        (lambda tree: tree.pandas, 'library="pd"'),
        (lambda tree: tree.Draw("MET"), "nyssa.draw"),
        (lambda tree: tree["MET"].arrays(), r"array\(\) reads one column"),
        (lambda _: nyssa.open(TREE).arrays(), r"file\['Events'\].arrays"),
        (lambda _: nyssa.open(TREE).array("x"), r"file\['Events'\].arrays"),
        (lambda _: nyssa.open(TREE).num_entries, r"file\['Events'\].num_entries"),
        (lambda _: nyssa.open(TREE).Get("x"), r'file\["hists/mass"\]'),
        (lambda _: nyssa.concatinate(TREE), 'did you mean "concatenate"'),
    ],
)
def test_attributes(call: Callable[[Any], Any], says: str) -> None:
    with nyssa.open(f"{TREE}:Events") as tree, pytest.raises(AttributeError, match=says) as caught:
        call(tree)
    assert caught.value.name or "module" in str(caught.value)


@pytest.mark.parametrize("name", ["nMoun", "mnuon", "nMuons"])
def test_typing_errors(name: str) -> None:
    tree = nyssa.open(f"{TREE}:Events")
    calls = [
        lambda: tree[name],
        lambda: tree.arrays([name]),
        lambda: tree.arrays(cut=f"{name} > 1"),
    ]
    for call in calls:
        with pytest.raises(nyssa.NotFoundError) as caught:
            call()
        assert "nMuon" in caught.value.suggestions


@pytest.mark.parametrize("cut", [np.ones(250, bool), ak.Array([True] * 250), lambda arrays: arrays])
def test_cuts_are_text(cut: Any) -> None:
    tree = nyssa.open(f"{TREE}:Events")
    for call in (tree.arrays, tree.iterate, lambda cut: nyssa.concatenate(tree, cut=cut)):
        with pytest.raises(
            nyssa.ArgumentError, match=r"write the condition as text.*arrays\[mask\]"
        ):
            call(cut=cut)


def test_names_of_files(tmp_path: Path) -> None:
    """A `Path` names a file, and jobs take the names of files, not open ones."""
    path = Path(f"{TREE}:Events")
    for call in (nyssa.open, nyssa.verify):
        with pytest.raises(FileNotFoundError, match="Name the object by a str"):
            call(path)
    with pytest.raises(FileNotFoundError) as caught:
        nyssa.open(Path("none.root:Events"))
    assert "whole file" not in str(caught.value)
    for name in (f"{TREE}:Events", str(TREE)):
        for job in (nyssa.rewrite, nyssa.convert):
            says = f"give its name, '{name}'"
            with nyssa.open(name) as opened, pytest.raises(TypeError, match=says):
                job(opened, tmp_path / "out.root")


def test_hints_do_not_change_objects() -> None:
    """Attributes that do not exist are still not there, and objects can be copied."""
    with nyssa.open(TREE) as file:
        tree = file["Events"]
        for opened in (file, tree, tree["MET"]):
            assert not hasattr(opened, "array_")
            assert not hasattr(opened, "__cuda_array_interface__")
            assert getattr(opened, "arraz", 5) == 5
            assert type(copy.copy(opened)) is type(opened)
