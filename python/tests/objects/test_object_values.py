"""Tests objects as Python objects: copies, pickles, axes as in ROOT, and dates."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

import nyssa
from nyssa.objects.date import dates
from support.root import Root

WRITE = """
    #include <fstream>
    #include <random>
    #include <vector>
    #include "TDatime.h"
    #include "TFile.h"
    #include "TGraph.h"
    #include "TH2.h"
    #include "TProfile.h"
    #include "TObjString.h"
    struct NyssaDated {
      TDatime when{2020, 2, 29, 12, 34, 56};
      std::vector<TDatime> all;
      virtual ~NyssaDated() {}
      ClassDef(NyssaDated, 2)
    };
    void nyssa_values(const char *path, const char *told) {
      TFile file(path, "RECREATE");
      std::ofstream out(told);
      out.precision(17);
      std::mt19937 random(1);
      std::normal_distribution<double> low(0, 10);
      std::exponential_distribution<double> wide(0.1);
      out << "[";
      for (int i = 0; i < 100; i++) {
        double from = low(random), to = from + wide(random);
        TH1F one(TString::Format("h%d", i), "", 1 + random() % 150, from, to);
        double edges[] = {from, from + 0.1, to + 1};
        if (i % 10 == 9) one.SetBins(2, edges);
        one.Fill(from);
        one.Write();
        TAxis *axis = one.GetXaxis();
        for (int what = 0; what < 3; what++) {
          out << (i || what ? ",[" : "[");
          for (int bin = 1; bin <= axis->GetNbins() + (what == 0); bin++)
            out << (bin > 1 ? "," : "") << (what == 0   ? axis->GetBinUpEdge(bin - 1)
                                            : what == 1 ? axis->GetBinCenter(bin)
                                                        : axis->GetBinWidth(bin));
          out << "]";
        }
      }
      out << "]";
      TH2D two("two", "", 2, 0, 1, 3, 0, 1);
      two.Fill(0.2, 0.9, 3);
      two.Write();
      TProfile profile("profile", "", 3, 0, 1);
      profile.Fill(0.5, 7);
      profile.Write();
      double x[] = {1, 2};
      TGraph(2, x, x).Write("graph");
      TObjString("text").Write("text");
      NyssaDated dated;
      dated.all.push_back(dated.when);
      dated.all.push_back(TDatime(1995, 1, 1, 0, 0, 0));
      file.WriteObject(&dated, "dated");
      file.WriteObject(&dated.when, "date");
    }
"""


@pytest.fixture(scope="module")
def written(root: Root, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return a file of objects, and the axes of the first hundred as ROOT reads them."""
    folder = tmp_path_factory.mktemp("values")
    path, told = folder / "objects.root", folder / "told.json"
    root.call("cpp", WRITE, f'nyssa_values("{path}", "{told}");')
    return path, told


def test_axes_are_roots_to_the_last_bit(written: tuple[Path, Path]) -> None:
    path, told = written
    file, theirs = nyssa.open(path), json.loads(told.read_text())
    for number in range(100):
        axis = file[f"h{number}"].axis()
        ours = [axis.edges(), axis.centers(), axis.widths()]
        assert [one.tolist() for one in ours] == theirs[3 * number : 3 * number + 3], number
        for one, flow in zip(
            ours, (axis.edges(True), axis.centers(True), axis.widths(True)), strict=False
        ):
            assert flow[1:-1].tolist() == one.tolist()
            assert np.isinf(flow[[0, -1]]).all()


def test_objects_are_copied_and_pickled(written: tuple[Path, Path]) -> None:
    """Copies have equal values, in another process, too."""
    path, _ = written
    objects = [
        nyssa.open(path)[name] for name in ("h1", "two", "profile", "graph", "text", "dated")
    ]
    objects.append(objects[1].axis("y"))
    pickled = pickle.dumps(objects)
    for new in (
        [copy.copy(one) for one in objects],
        copy.deepcopy(objects),
        pickle.loads(pickled),
    ):
        for one, other in zip(objects, new, strict=True):
            assert type(other) is type(one)
            assert other is not one
            assert repr(other.to_py()) == repr(one.to_py())
            assert (other.class_name, other.bases) == (one.class_name, one.bases)
        assert new[:3] == objects[:3]
        assert new[-1] == objects[-1]
        assert new[0].values(flow=True).tolist() == objects[0].values(flow=True).tolist()
    code = "import pickle, sys; print([repr(one.to_py()) for one in pickle.load(sys.stdin.buffer)])"
    told = subprocess.run(
        [sys.executable, "-c", code], input=pickled, check=True, capture_output=True
    )
    assert told.stdout.decode().strip() == str([repr(one.to_py()) for one in objects])


def test_dates(written: tuple[Path, Path]) -> None:
    file = nyssa.open(written[0])
    when = datetime(2020, 2, 29, 12, 34, 56)
    assert file["date"] == file["dated"].when == when
    assert file["dated"].all.tolist() == [when, datetime(1995, 1, 1)]
    assert file["dated"].to_py() == {
        "when": "2020-02-29 12:34:56",
        "all": ["2020-02-29 12:34:56", "1995-01-01 00:00:00"],
    }


def test_what_is_no_date() -> None:
    """Month 0, February 30 and hour 24 are invalid."""
    packed = [0, 2 << 22 | 30 << 17, 1 << 22 | 1 << 17 | 24 << 12, 12 << 22 | 31 << 17]
    assert dates(packed).tolist() == [None, None, None, datetime(1995, 12, 31)]
