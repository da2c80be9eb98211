"""Reports of jobs are dicts that notebooks and shells show as small tables."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import nyssa
from support.data import TESTDATA

TREE = TESTDATA / "ttree/events-zstd.root"


def check(report: Any, *says: str) -> None:
    """Check that a report is small, has these texts, and keeps its items."""
    for shown in (repr(report), str(report), report._repr_html_()):
        assert len(shown) < 4000
        for text in says:
            assert text in shown, shown
    assert "<table>" in report._repr_html_()
    plain = json.loads(json.dumps(report))
    assert plain == report
    again = pickle.loads(pickle.dumps(report))
    assert again == report
    assert type(again) is type(report)


def test_reports(tmp_path: Path) -> None:
    made = tmp_path / "made.root"
    report = nyssa.convert(f"{TREE}:Events", made, exclude="text")
    assert isinstance(report, dict)
    check(report, str(made), "Events", "250", "verified")
    assert len(repr(report).splitlines()) < 15
    back = nyssa.convert(made, tmp_path / "back.root", to="ttree", verify=True)
    check(back, "back.root", "yes")
    check(nyssa.rewrite(made, tmp_path / "new.root"), "new.root", "list of 1 dict")
    merged = nyssa.merge([made, made], tmp_path / "merged.root")
    check(merged, "merged.root", "500", "note: ")
    digests = nyssa.digest(made)
    check(digests, "nMuon", digests["digests"][0]["digest"], "dict of 7 items")
    assert nyssa.digest(made, compare=digests)["equal"]
    many = nyssa.convert([str(TREE)], tmp_path / "many", "Events")
    for shown in (repr(many), many._repr_html_()):
        assert "1 converted, 0 found, 0 failed" in shown
        assert len(shown) < 4000
    assert many[0]["entries"] == many.total["entries"] == 250


def test_remarks_are_counted(tmp_path: Path) -> None:
    """A report shows the first remarks, and says how many others there are."""
    with nyssa.recreate(tmp_path / "in.root") as file:
        file.mktree("t", {f"a<{number}>": "int" for number in range(30)}).extend(
            {f"a<{number}>": [number] for number in range(30)}
        )
    report = nyssa.convert(tmp_path / "in.root", tmp_path / "out.root")
    shown = repr(report)
    assert "<0" not in report._repr_html_().replace("&lt;", "")
    if report["renamed"]:
        assert shown.count("renamed: a<") == 5
        assert "and 25 more: renamed" in shown


def test_histograms_have_a_picture() -> None:
    with nyssa.open(TESTDATA / "objects/histograms.root") as file:
        for name in ("one/TH1F", "two/TH2D", "weighted", "labels", "profile", "negative"):
            page = file[name]._repr_html_()
            assert page.count("<svg") == 1
            assert len(page) < 20_000
        assert "<svg" not in file["three/TH3F"]._repr_html_()
        assert "entries 100" in file["one/TH1F"]._repr_html_()


def test_damaged_histogram() -> None:
    """A histogram whose bins do not fit its axes says so."""
    with nyssa.open(TESTDATA / "objects/histograms.root") as file:
        histogram = file["one/TH1F"]
    histogram._members["fXaxis"]._members["fNbins"] = 5
    assert "it cannot be drawn" in histogram._repr_html_()
