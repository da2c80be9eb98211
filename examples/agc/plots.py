"""Plots the histograms: both regions, and two of the systematic variations."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import mplhep

from agc.analysis import BTAG_JETS, Histograms
from agc.samples import CROSS_SECTIONS

#: Names of the axes, by region.
AXES = {"4j1b": "HT [GeV]", "4j2b": "mass of three jets [GeV]"}


def draw(histograms: Histograms, folder: Path, note: str = "") -> list[Path]:
    """Draw the plots into a folder, with a note on top, and return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    drawn = [_stack(histograms, region, folder / f"{region}.png", note) for region in AXES]
    btag = [f"btag_var_{number}_up" for number in range(BTAG_JETS)]
    drawn.append(_variations(histograms, "4j1b", btag, folder / "btag.png", note))
    jets = ["pt_scale_up", "pt_res_up"]
    drawn.append(_variations(histograms, "4j2b", jets, folder / "jets.png", note))
    return drawn


def _stack(histograms: Histograms, region: str, path: Path, note: str) -> Path:
    """Draw all processes of a region, and the pseudodata."""
    processes = [name for name in CROSS_SECTIONS if f"{region}_{name}" in histograms]
    figure, axes = plt.subplots()
    stacked = [histograms[f"{region}_{name}"] for name in processes]
    mplhep.histplot(stacked, stack=True, histtype="fill", label=processes, ax=axes)
    if pseudodata := histograms.get(f"{region}_pseudodata"):
        mplhep.histplot(pseudodata, histtype="errorbar", color="black", label="pseudodata", ax=axes)
    return _save(figure, axes, region, path, note)


def _variations(
    histograms: Histograms, region: str, variations: list[str], path: Path, note: str
) -> Path:
    """Draw variations of ttbar beside the nominal sample."""
    names = {"nominal": f"{region}_ttbar"}
    names |= {variation: f"{region}_ttbar_{variation}" for variation in variations}
    figure, axes = plt.subplots()
    for label, name in names.items():
        if name in histograms:
            mplhep.histplot(histograms[name], yerr=False, label=label, ax=axes)
    return _save(figure, axes, region, path, note)


def _save(figure: plt.Figure, axes: plt.Axes, region: str, path: Path, note: str) -> Path:
    axes.set(xlabel=AXES[region], ylabel="events / 20 GeV", title=f"{region}  {note}")
    axes.legend(fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return path
