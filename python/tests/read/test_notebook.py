"""Tests what notebooks and interactive work use: tables, completion of keys, slices."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa.show.table import size
from support.data import TESTDATA

TREE = TESTDATA / "ttree/events-zlib.root"


class _Cells(HTMLParser):
    """The text of the cells of a table, row by row."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert not self._open

    def handle_starttag(self, tag: str, _attrs: object) -> None:
        self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def test_tables() -> None:
    """Titles are those that uproot reads."""
    with nyssa.open(TREE) as file, uproot.open(TREE) as theirs:
        head, *rows = _Cells(file._repr_html_()).rows
        assert head == ["name", "class", "title"]
        assert {(row[0], row[1]) for row in rows} == set(theirs.classnames().items())
        tree, other = file["Events"], theirs["Events"]
        head, *rows = _Cells(tree._repr_html_()).rows
        assert head == ["name", "C++ type", "reads as", "title", "size"]
        assert [row[0] for row in rows] == tree.keys()[:50]
        assert {row[0]: row[3] for row in rows} == {row[0]: other[row[0]].title for row in rows}
        # All baskets of this file are smaller than 1 kB or are shown with three digits.
        assert {row[0]: row[4] for row in rows} == {
            row[0]: size(other[row[0]].compressed_bytes) for row in rows
        }
        assert tree.title == other.title != ""
        assert f"<div>{tree.title}</div>" in tree._repr_html_()
        column = tree[tree.readable[0]]
        [_, row] = _Cells(column._repr_html_()).rows
        assert "<div>Column of TTree &#x27;Events&#x27; (16 columns, 250 entries)</div>" in (
            column._repr_html_()
        )
        shown = [column.name, column.typename, str(column.array().type.content), column.title]
        assert row == [*shown, size(other[column.name].compressed_bytes)]


def test_names_are_text(tmp_path: Path) -> None:
    """Names in files are never read as HTML."""
    path = tmp_path / "out.root"
    with nyssa.recreate(path) as file:
        file["<b>Events"] = {"x": [1]}
    with nyssa.open(path) as file:
        for page in (file._repr_html_(), file["<b>Events"]._repr_html_()):
            assert "<b>" not in page
            assert "&lt;b&gt;" in page


def test_wide_tables_are_cut(tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    with nyssa.recreate(path) as file:
        file["wide"] = {f"x{number}": [1] for number in range(60)}
    page = nyssa.open(f"{path}:wide")._repr_html_()
    assert len(_Cells(page).rows) == 51
    assert "and 10 more" in page


def test_completion() -> None:
    with nyssa.open(TREE) as file:
        assert file._ipython_key_completions_() == file.keys()
        assert file["Events"]._ipython_key_completions_() == file["Events"].keys()


def test_several_columns_and_slices() -> None:
    """The values are as in uproot, and only the columns that are used are read."""
    with nyssa.open(f"{TREE}:Events") as tree, uproot.open(f"{TREE}:Events") as theirs:
        names = tree.readable[:2]
        expected = theirs.arrays(names)
        both = tree[names]
        assert both.fields == names
        for name in names:
            assert ak.array_equal(both[name], expected[name], same_content_types=False)
            assert ak.array_equal(tree[2:7][name], expected[name][2:7])
            assert ak.array_equal(tree[-3:][name], expected[name][-3:])
            assert ak.array_equal(tree[::2][name], expected[name][::2])
        before = tree.io_stats()
        few = tree[:5]
        after = tree.io_stats()
        assert (after.bytes_read, after.bytes_readv) == (before.bytes_read, before.bytes_readv)
        assert len(few) == 5
        with pytest.raises(TypeError, match="entries are selected by a slice"):
            tree[0]  # type: ignore[call-overload]


def test_a_dict_names_a_file_and_an_object(tmp_path: Path) -> None:
    path = tmp_path / "a:b.root"
    path.write_bytes(TREE.read_bytes())
    with nyssa.open({str(path): "Events"}) as tree:
        assert tree.num_entries == uproot.open({str(path): "Events"}).num_entries
    for wrong in ({}, {"a": "b", "c": "d"}, {"a": 1}):
        with pytest.raises(TypeError, match="a dict names one file"):
            nyssa.open(wrong)  # type: ignore[arg-type]


def test_num_entries() -> None:
    expected = [(path, name, count) for path, name, count in uproot.num_entries([f"{TREE}:Events"])]
    assert list(nyssa.num_entries(f"{TREE}:Events")) == expected
    assert np.sum([count for *_, count in nyssa.num_entries([f"{TREE}:Events"] * 3)]) == (
        3 * expected[0][2]
    )
