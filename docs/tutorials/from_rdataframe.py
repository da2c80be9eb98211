# %% [markdown]
# # From RDataFrame
#
# What you write with ROOT's RDataFrame, and how it is done here. The code of RDataFrame is in the text, so that this notebook runs without ROOT.
# You need `pip install hist matplotlib` beside nyssa.

# %%
import awkward as ak
import hist
import matplotlib.pyplot as plt
import numpy as np

import nyssa
import sample

sample.write("events.root")

# %% [markdown]
# ## Open
#
# ```python
# df = ROOT.RDataFrame("Events", "events.root")
# df.GetColumnNames(), df.Count().GetValue()
# ```

# %%
events = nyssa.open("events.root:Events")
events.keys()[:5], events.num_entries

# %% [markdown]
# Many files, globs and friends are `nyssa.chain(["run1/*.root:Events", ...])` and `events.with_friends()`.
#
# ## Filter
#
# ```python
# two = df.Filter("nMuon >= 2").Filter("Muon_charge[0] != Muon_charge[1]")
# two.Count().GetValue()
# ```
#
# `with_cut` gives a dataset. Its values are read when they are needed.

# %%
two = events.with_cut("nMuon >= 2 && Muon_charge[0] != Muon_charge[1]")
two.num_entries

# %% [markdown]
# ## Define
#
# ```python
# df.Define("good", "abs(Jet_eta) < 2.4 && Jet_pt > 30").Define("ht", "Sum(Jet_pt[good])")
# ```
#
# An alias is an expression with a name. Other aliases and the cut can use it.

# %%
aliases = {"good": "abs(Jet_eta) < 2.4 && Jet_pt > 30", "ht": "sum(Jet_pt[good])"}
arrays = events.arrays(["ht", "MET_pt"], aliases=aliases, cut="ht > 100")
arrays

# %% [markdown]
# What is more than an expression is a function of arrays, without C++:
#
# ```cpp
# df.Define("mass", "ROOT::VecOps::InvariantMass(Muon_pt, Muon_eta, Muon_phi, Muon_mass)")
# ```


# %%
def mass_of_pair(a, b):
    """Return the invariant mass of two light particles."""
    return np.sqrt(2 * a.pt * b.pt * (np.cosh(a.eta - b.eta) - np.cos(a.phi - b.phi)))


muons = two.arrays(filter_name="Muon_*", how="zip").Muon
mass = mass_of_pair(muons[:, 0], muons[:, 1])
mass

# %% [markdown]
# ## Histo1D
#
# ```python
# h = df.Histo1D(("mass", ";m [GeV];events", 60, 60, 120), "mass")
# h.Draw()
# ```

# %%
histogram = hist.Hist.new.Regular(60, 60, 120, name="mass", label="m [GeV]").Double().fill(mass)
histogram.plot(histtype="fill")
plt.ylabel("events")
# %% [markdown]
# Histograms of expressions need no arrays. As with RDataFrame, one pass fills all, on all cores, and files may be many:

# %%
plans = {
    "ht": ("ht", hist.axis.Regular(50, 0, 500)),
    "jets": ("Jet_pt[good]", hist.axis.Regular(50, 0, 200)),
}
made = nyssa.histograms("events.root:Events", plans, aliases=aliases, cut="nMuon >= 2")
made["jets"].plot(histtype="fill")

# %% [markdown]
# A histogram is written as a `TH1D`, which ROOT reads:

# %%
with nyssa.recreate("histograms.root") as file:
    file["mass"] = histogram
nyssa.open("histograms.root:mass").classname

# %% [markdown]
# ## Mean, Sum, Max, AsNumpy
#
# ```python
# df.Mean("MET_pt"), df.Max("MET_pt"), df.AsNumpy(["MET_pt"])
# ```

# %%
met = events.arrays(["MET_pt"], library="np")["MET_pt"]
float(met.mean(dtype=float)), float(met.max())

# %% [markdown]
# ## Snapshot
#
# ```python
# df.Define("ht", ...).Filter("nMuon >= 2").Snapshot("Events", "skim.root", ["Muon_pt", "MET_pt", "ht"])
# ```
#
# `skim` writes a TTree, an RNTuple or a Parquet file, and reports the cut flow.

# %%
columns = ["Muon_pt", "MET_pt", "ht"]
nyssa.skim("events.root:Events", "skim.root", columns, "nMuon >= 2", define=aliases)

# %% [markdown]
# ## Threads
#
# ```python
# ROOT.EnableImplicitMT()
# ```
#
# All cores read and decompress. `threads=1` of each call, or the environment variable `NYSSA_NUM_THREADS`, limits them.
# What you compute with awkward and NumPy runs on one core; [partitions](../reading.md) of a dataset go to processes.

# %%
parts = nyssa.partitions("events.root:Events", step_size=10_000)
counts = [int(ak.sum(part.arrays(["nJet"]).nJet)) for part in parts]
counts
