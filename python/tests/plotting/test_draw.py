"""Tests drawings: bins are those of NumPy, and pictures fit terminals and notebooks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core
from nyssa.plotting.cli import main
from support.data import TESTDATA

TREE = TESTDATA / "ttree/events-zstd.root"
AT = f"{TREE}:Events"


@pytest.fixture(scope="module")
def theirs() -> Any:
    """Return the arrays that uproot reads."""
    with uproot.open(TREE) as file:
        return file["Events"].arrays()


def flat(values: Any) -> Any:
    return np.asarray(ak.flatten(values, axis=None)).astype(float)


@pytest.mark.parametrize("name", ["MET", "Jet_pt", "nMuon", "Muon_charge", "event"])
def test_every_value_has_a_bin(theirs: Any, name: str) -> None:
    values = flat(theirs[name])
    drawing = nyssa.draw(AT, name)
    np.testing.assert_array_equal(drawing.values(), np.histogram(values, drawing.edges)[0])
    assert (drawing.entries, drawing.missing) == (len(values), 0)
    assert (drawing.underflow, drawing.overflow) == (0, 0)
    assert drawing.mean == pytest.approx(values.mean(), rel=1e-12)
    assert drawing.std == pytest.approx(values.std(), rel=1e-9)
    assert 1 <= len(drawing.values()) <= 62
    # Edges are multiples of a width of 1, 2 or 5 times a power of ten.
    width = drawing.edges[1] - drawing.edges[0]
    digits = f"{width:.6e}".partition("e")[0]
    assert float(digits) in (1, 2, 5)
    # With a number of bins, the edges are those of NumPy.
    stated = nyssa.draw(AT, name, bins=7)
    if values.dtype.kind == "f" and name in ("MET", "Jet_pt"):
        counts, edges = np.histogram(values, 7)
        np.testing.assert_allclose(stated.edges, edges, rtol=1e-14)
        np.testing.assert_array_equal(stated.values(), counts)


def test_stated_bins_and_flow(theirs: Any) -> None:
    jets = theirs["Jet_pt"][(theirs["nMuon"] >= 2)]
    # The last bin of NumPy has its high edge.
    selected = flat(jets[(jets < 55) & (jets != 50)])
    edges = [32.0, 33.5, 40.0, 50.0]
    text = "Jet_pt[Jet_pt < 55 && Jet_pt != 50]"
    for options in ({"bins": edges}, {"bins": 3, "range": (32, 50)}, {"range": (32, 50)}):
        drawing = nyssa.draw(AT, text, cut="nMuon >= 2", **options)
        np.testing.assert_array_equal(drawing.values(), np.histogram(selected, drawing.edges)[0])
        assert drawing.underflow == (selected < 32).sum()
        assert drawing.overflow == (selected >= 50).sum()
        inside = selected[(selected >= 32) & (selected < 50)]
        assert drawing.mean == pytest.approx(inside.mean())
        assert drawing.std == pytest.approx(inside.std())
        np.testing.assert_array_equal(drawing.to_hist().values(flow=True), drawing.contents)


def test_odd_values(tmp_path: Path) -> None:
    """What is not finite or missing is told. No values, and one value, have a picture."""
    path = tmp_path / "odd.root"
    with nyssa.recreate(path) as file:
        file["Events"] = {
            "x": np.array([1.0, 2.0, np.nan, np.inf, -np.inf, 2.5]),
            "same": np.full(6, 1e20),
            "lists": ak.Array([[1.0], [], [2.0], [3.0, 4.0], [], []]),
            "far": np.array([-1.7e308, 1.7e308, 0, 0, 0, 0]),
            "text": ["<b>", "b", "b", "a", "", "b"],
        }
    drawing = nyssa.draw(path, "x")
    assert (drawing.entries, drawing.underflow, drawing.overflow) == (6, 1, 2)
    assert drawing.axes[0].not_finite == 3
    assert "not finite 3" in str(drawing)
    assert drawing.mean == pytest.approx(5.5 / 3)
    first = nyssa.draw(path, "lists[0]")
    assert (first.entries, first.missing) == (3, 3)
    assert "missing 3" in str(first)
    same = nyssa.draw(path, "same")
    assert same.values().sum() == 6
    assert str(nyssa.draw(path, "x", cut="x > 100 && x < 200")).count("entries 0") == 1
    with pytest.raises(nyssa.ArgumentError, match="state a range"):
        nyssa.draw(path, "far")
    assert nyssa.draw(path, "far", range=(-1, 1)).values().sum() == 4
    text = nyssa.draw(path, "text")
    assert text.axes[0].labels == ["b", "<b>", "a", ""]
    assert text.values().tolist() == [3, 1, 1, 1]
    assert "<b>" not in text._repr_html_()


def test_categories_and_dimensions(theirs: Any) -> None:
    tight = nyssa.draw(AT, "Muon_tight")
    values = flat(theirs["Muon_tight"])
    assert tight.axes[0].labels == ["False", "True"]
    assert tight.values().tolist() == [(values == 0).sum(), (values == 1).sum()]
    two = nyssa.draw(AT, "Muon_eta:Muon_pt", bins=(8, 5), range=((20, 40), (-2, 2)), weight="MET")
    _, met = ak.broadcast_arrays(theirs["Muon_pt"], theirs["MET"])
    ends = [[20, 40], [-2, 2]]
    x, y = flat(theirs["Muon_pt"]), flat(theirs["Muon_eta"])
    expected = np.histogram2d(x, y, bins=(8, 5), range=ends, weights=flat(met))[0]
    # The last bins of NumPy have their high edges.
    inside = (x != 40) & (y != 2)
    expected = np.histogram2d(x[inside], y[inside], (8, 5), ends, weights=flat(met)[inside])[0]
    np.testing.assert_allclose(two.values(), expected)
    assert [axis.expression for axis in two.axes] == ["Muon_pt", "Muon_eta"]
    labels = nyssa.draw(AT, "label:Muon_tight")
    assert labels.values().sum() == len(values)
    assert labels.axes[1].labels is not None


def pictures() -> list[nyssa.Drawing]:
    texts = ["MET", "nMuon", "Muon_tight", "label", "Muon_eta:Muon_pt", "label:Muon_tight"]
    many = nyssa.draw(AT, "MET", bins=5000)
    return [*(nyssa.draw(AT, text) for text in texts), many, nyssa.draw(AT, "MET", weight="-MET")]


def test_pictures(tmp_path: Path) -> None:
    for number, drawing in enumerate(pictures()):
        text = repr(drawing)
        assert max(map(len, text.splitlines())) <= 80, text
        assert 3 <= len(text.splitlines()) <= 30
        assert any(block in text for block in "█▓▇▅▁") or drawing.weight, text
        drawing.text(ascii_only=True).encode("ascii")
        page = drawing._repr_html_()
        assert len(page) < 60_000
        svg = ET.fromstring(drawing.svg())
        assert svg.tag.endswith("svg")
        drawing.save(tmp_path / f"{number}.svg")
        assert json.loads(json.dumps(drawing.to_dict()))["entries"] == drawing.entries
    for text in ("label", "Muon_eta:Muon_pt"):
        nyssa.draw(AT, text).save(tmp_path / "picture.png")
        assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"


def test_bars_are_as_high_as_their_bins() -> None:
    """The columns of the text have the heights of the bins, in eighths of twelve lines."""
    drawing = nyssa.draw(AT, "nMuon")
    lines = [line[12:] for line in str(drawing).splitlines()[2:14]]
    heights = [
        sum(max(0, " ▁▂▃▄▅▆▇█".index(line[at])) for line in lines if at < len(line))
        for at in range(0, 64, 16)
    ]
    values = drawing.values()
    np.testing.assert_allclose(heights, values / values.max() * 12 * 8, atol=1)


@pytest.mark.parametrize(
    ("text", "options", "error", "says"),
    [
        ("Jte_pt", {}, nyssa.NotFoundError, "Jet_pt"),
        ("Jet_pt +", {}, nyssa.ArgumentError, "before the end"),
        ("MET", {"bins": 0}, nyssa.ArgumentError, "bins"),
        ("MET", {"bins": "many"}, nyssa.ArgumentError, "bins"),
        ("MET", {"range": (3, 1)}, nyssa.ArgumentError, "range"),
        ("MET", {"range": 3}, nyssa.ArgumentError, "range"),
        ("MET", {"bins": [1, 2], "range": (1, 2)}, nyssa.ArgumentError, "edges"),
        ("MET", {"bins": [2, 1]}, nyssa.ArgumentError, "ascend"),
        ("label", {"bins": 5}, nyssa.ArgumentError, "categories"),
        ("MET:MET:MET", {}, nyssa.ArgumentError, "dimensions"),
        ("MET:", {}, nyssa.ArgumentError, "colon"),
        ("MET:MET", {"range": (1, 2)}, nyssa.ArgumentError, "range"),
        ("MET", {"cut": np.ones(3, bool)}, nyssa.ArgumentError, "write the condition as text"),
    ],
)
def test_errors(text: str, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        nyssa.draw(AT, text, **options)


def test_records_have_parts(data: Path) -> None:
    at = f"{data / 'ttree/uproot-HZZ-objects.root'}:events"
    with pytest.raises(nyssa.ArgumentError, match="muonp4: a record.* name a member, .*fP, fE"):
        nyssa.draw(at, "muonp4")
    with uproot.open(at) as theirs:
        x = flat(theirs["muonp4"].array().fP.fX)
    drawing = nyssa.draw(at, "muonp4.fP.fX", bins=10, range=(-100, 100))
    assert drawing.entries == len(x)
    np.testing.assert_array_equal(drawing.values(), np.histogram(x[x != 100], drawing.edges)[0])


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Return the exit code of the command, and what it prints."""
    code = main([*map(str, arguments)])
    return code, *capsys.readouterr()


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stated = ["--bins", 5, "--range", "-1.5:100", "--cut", "nMuon > 1"]
    expected = nyssa.draw(AT, "Jet_pt", bins=5, range=(-1.5, 100), cut="nMuon > 1")
    assert run(capsys, AT, "Jet_pt", *stated) == (0, f"{expected}\n", "")
    picture = tmp_path / "jets.svg"
    code, out, _ = run(capsys, AT, "Jet_pt", "--weight", "MET", "--output", picture, "--json")
    drawn = nyssa.draw(AT, "Jet_pt", weight="MET").to_dict()
    assert (code, json.loads(out)) == (0, {"version": 1, **drawn})
    assert ET.parse(picture)
    code, _, said = run(capsys, AT, "Jte_pt")
    assert (code, "Jet_pt" in said) == (3, True)
    code, _, said = run(capsys, "Jet_pt", "--output", tmp_path / "x.svg")
    assert (code, "name the data" in said) == (2, True)
    assert "is .svg, .png" in run(capsys, AT, "Jet_pt", "-o", tmp_path / "x.bmp")[2]
    assert _core.run_cli(["nyssa", "draw", "a.root", "x"]) == 2
    # A terminal without block characters gets others.
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "nyssa", "draw", AT, "Jet_pt"]
    ran = subprocess.run(command, capture_output=True, check=True, env=environment)
    assert b"###" in ran.stdout


def test_draw_has_the_options_of_every_command(tmp_path: Path) -> None:
    """They may stand before the command and after it."""
    stats, trace, cache = (tmp_path / name for name in ("stats.json", "trace.jsonl", "cache"))
    nyssa_draw = [sys.executable, "-m", "nyssa", f"--io-stats={stats}", "draw", AT, "MET"]
    more = ["--record", str(trace), "--cache", str(cache), "--json"]
    ran = subprocess.run([*nyssa_draw, *more], capture_output=True, check=True)
    entries = json.loads(ran.stdout)["entries"]
    with uproot.open(TREE) as file:
        assert entries == file["Events"].num_entries
    assert 0 < json.loads(stats.read_text())["bytes_read"] <= TREE.stat().st_size
    assert all(json.loads(line) for line in trace.read_text().splitlines())
    assert cache.is_dir()
    wrong = subprocess.run([*nyssa_draw, "--cache-size", "1GB"], capture_output=True, check=False)
    assert wrong.returncode == 2
    assert b"--cache" in wrong.stderr
    for command in ("study", "campaign"):
        words = [sys.executable, "-m", "nyssa", command]
        words += (
            [AT, "--vary", "page-size=64KiB"] if command == "study" else ["convert", AT, "-o", "x"]
        )
        refused = subprocess.run([*words, "--io-stats"], capture_output=True, check=False)
        assert refused.returncode == 2
        assert b"--io-stats is not needed: a " in refused.stderr
