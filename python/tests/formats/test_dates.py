"""`TDatime` in trees and streamer fields is read as dates without a time zone."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core
from nyssa.objects.date import dates
from support.root import Root

WRITE = """
    #include <fstream>
    #include "TDatime.h"
    #include "TFile.h"
    #include "TTree.h"
    struct NyssaDates {
      TDatime when;
      TDatime two[2];
      std::vector<TDatime> all;
      int n = 0;
      virtual ~NyssaDates() {}
      ClassDef(NyssaDates, 1)
    };
    void nyssa_dates(const char *path, const char *told) {
      TFile file(path, "RECREATE");
      TTree tree("tree", "");
      TDatime *date = new TDatime;
      NyssaDates *event = new NyssaDates;
      tree.Branch("date", &date);
      tree.Branch("split.", &event, 32000, 99);
      tree.Branch("whole", &event, 32000, 0);
      std::ofstream out(told);
      for (int i = 0; i < 40; i++) {
        date->Set(1995 + i, 1 + i % 12, 1 + i % 28, i % 24, i, 59 - i);
        event->when = event->two[1] = *date;
        event->two[0].Set(2000, 2, 29, 23, 59, 59);
        event->all.assign(i % 3, *date);
        if (i == 7) memset((void *)&event->when, 0, sizeof(TDatime));  // Month 0 is no date.
        tree.Fill();
        out << date->AsSQLString() << "\\n";
      }
      tree.Write();
    }
"""
LEAP = datetime(2000, 2, 29, 23, 59, 59)


@pytest.fixture(scope="module")
def written(root: Root, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[datetime]]:
    """Return a file, and the dates that ROOT reads from it."""
    folder = tmp_path_factory.mktemp("dates")
    path, told = folder / "dates.root", folder / "told"
    root.call("cpp", WRITE, f'nyssa_dates("{path}", "{told}")')
    return path, [datetime.fromisoformat(line) for line in told.read_text().splitlines()]


def expected(told: list[datetime]) -> list[dict[str, object]]:
    return [
        {
            "when": None if i == 7 else date,
            "two": [LEAP, date],
            "all": [date] * (i % 3),
            "n": 0,
        }
        for i, date in enumerate(told)
    ]


def test_branches_are_dates(written: tuple[Path, list[datetime]]) -> None:
    path, told = written
    tree = nyssa.open(path)["tree"]
    assert len(told) == 40
    assert tree["date"].array().tolist() == told
    assert str(tree["date"].array().type) == "40 * datetime64[s]"
    for name in ("split.", "whole"):
        assert tree[name].array().tolist() == expected(told), name
    assert tree["split./split.when"].array().tolist()[6:9] == [told[6], None, told[8]]
    assert tree["split./split.two[2]"].typename == "TDatime[2]"
    assert tree["split./split.all"].array().tolist() == [
        [one] * (i % 3) for i, one in enumerate(told)
    ]
    # The numbers are those that uproot reads.
    packed = uproot.open(path)["tree"]["date"].array()["fDatime"].to_numpy()
    assert dates(packed).tolist() == told


def test_dates_in_other_libraries(written: tuple[Path, list[datetime]]) -> None:
    path, told = written
    tree = nyssa.open(path)["tree"]
    numpy = tree["split./split.when"].array(library="np")
    assert numpy.dtype == np.dtype("datetime64[s]")
    assert np.isnat(numpy).tolist() == [i == 7 for i in range(40)]
    pyarrow = pytest.importorskip("pyarrow")
    column = tree["split./split.when"].array(library="arrow")
    assert column.type == pyarrow.timestamp("s")
    assert column.to_pylist() == [None if i == 7 else one for i, one in enumerate(told)]
    table = tree.arrays(["whole"], library="arrow")
    assert table["whole"].to_pylist() == expected(told)
    assert tree["date"].array(library="pd").tolist() == told
    assert tree["date"].array(library="polars").to_list() == told


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_cat_prints_dates(
    written: tuple[Path, list[datetime]],
    capfd: pytest.CaptureFixture[str],
    options: tuple[str, ...],
) -> None:
    path, told = written
    assert _core.run_cli(["nyssa", "cat", f"{path}:tree", "--entries", "7:8", *options]) == 0
    shown = json.loads(capfd.readouterr().out)
    text = told[7].isoformat(" ")
    event = {"when": None, "two": [LEAP.isoformat(" "), text], "all": [text], "n": 0}
    entry = {"date": text, "split.": event, "whole": event}
    assert shown == ({"version": 1, "entries": [entry]} if options else entry)


def test_conversion_keeps_the_numbers(
    root: Root, written: tuple[Path, list[datetime]], tmp_path: Path
) -> None:
    """RNTuple has no dates: they become ``std::uint32_t``, also those that are invalid."""
    path, told = written
    output = tmp_path / "n.root"
    nyssa.convert(f"{path}:tree", output, verify=True)
    packed = uproot.open(path)["tree"]["date"].array()["fDatime"].tolist()
    entries = root.call("entries", str(output), "tree")
    assert [entry["date"] for entry in entries] == packed
    assert [entry["whole"]["when"] for entry in entries] == [
        0 if i == 7 else one for i, one in enumerate(packed)
    ]
    assert nyssa.open(output)["tree"]["date"].typename == "std::uint32_t"
    assert _core.run_cli(["nyssa", "diff", f"{path}:tree", f"{output}:tree"]) == 0
    read = nyssa.open(output)["tree"]["date"].array(library="np")
    assert dates(read).tolist() == told


def test_streamer_fields_are_dates(written: tuple[Path, list[datetime]], tmp_path: Path) -> None:
    path, told = written
    output = tmp_path / "s.root"
    nyssa.convert(f"{path}:tree", output, verify=True, streamer="all")
    ntuple = nyssa.open(output)["tree"]
    assert ntuple["date"].typename == "TDatime"
    assert ntuple["date"].array().tolist() == told
    assert ntuple["whole"].array().tolist() == expected(told)
