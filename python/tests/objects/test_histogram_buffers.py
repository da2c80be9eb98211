"""Entries that are still in the buffer of a histogram, some of which are NaN or infinite."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import nyssa
from support.root import Root

#: Histograms of every kind that has a buffer. Each odd number is the first, the last, or inside.
_WRITE = """
#include <TFile.h>
#include <TH2.h>
#include <TH3.h>
#include <TProfile2D.h>
#include <limits>
void nyssa_buffers(const char* path) {
  using Limits = std::numeric_limits<double>;
  TFile file(path, "RECREATE");
  int number = 0;
  for (double odd : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()})
    for (int at : {0, 2, 4, -1}) {
      TH1D one("one", "", 5, 0, 0), limited("limited", "", 5, 0, 5);
      TH2F two("two", "", 4, 0, 0, 4, 0, 0), half("half", "", 4, 0, 10, 4, 0, 0);
      TH3D three("three", "", 2, 0, 0, 3, 0, 0, 2, 0, 0);
      TProfile profile("profile", "", 4, 0., 0.), between("between", "", 4, 0., 0., 0., 4.);
      TProfile2D plane("plane", "", 4, 0., 0., 4, 0., 0.);
      TH1* all[] = {&one, &limited, &two, &half, &three, &profile, &between, &plane};
      for (auto h : all) { h->SetDirectory(nullptr); h->SetBuffer(100); }
      for (int i = 0; i < 5; i++) {
        double x = i == at || at < 0 ? odd : i + 1.5, y = i == 3 ? odd : 2. * i;
        for (auto h : {&one, &limited}) h->Fill(x);
        two.Fill(x, 2. * i); half.Fill(i + .5, x); three.Fill(x, y, i);
        profile.Fill(x, i); between.Fill(i, y); plane.Fill(x, 2. * i, y);
      }
      for (auto h : all) file.WriteObject(h, Form("%s%d", h->GetName(), number));
      number++;
    }
}
"""


def test_numbers_that_are_not_finite(root: Root, tmp_path: Path) -> None:
    """Histograms of one dimension leave them out of their limits; the others do not."""
    path = tmp_path / "buffers.root"
    root.call("cpp", _WRITE, f'nyssa_buffers("{path}")')
    file, theirs = nyssa.open(path), root.call("histograms", str(path))
    assert len(file) == len(theirs) == 96
    for key, expected in theirs.items():
        found = file[key]
        for axis, edges in zip(found.axes, expected["edges"], strict=True):
            np.testing.assert_allclose(axis.edges(), edges, err_msg=key)
        bins = found.values(flow=True).T.ravel()
        np.testing.assert_allclose(bins, expected["contents"], err_msg=key)
    assert file["one0"].axis().low == 2.5 - 0.01 * 3
