# %% [markdown]
# # A first analysis
#
# From a file of events to a plot of the Z boson: open, select, fill a histogram, write a skim, draw.
# You need `pip install hist matplotlib` beside nyssa.
#
# `sample.py` in this folder writes the file of this tutorial: 20,000 events with the names of NanoAOD. Its numbers are
# random, not physics.

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
# A path with a colon names an object in a file. `open` reads only what describes the object.

# %%
events = nyssa.open("events.root:Events")
events

# %%
events.show()

# %% [markdown]
# ## A first look
#
# `draw` shows a column or an expression of files: as text in a shell, as a picture in a notebook.

# %%
nyssa.draw("events.root:Events", "Jet_pt[abs(Jet_eta) < 2.4]", cut="nMuon >= 2")

# %% [markdown]
# ## Read columns
#
# `arrays` takes names, globs and expressions. `how="zip"` makes one record of the columns that belong together:
# `Muon_pt` becomes `Muon.pt`.

# %%
arrays = events.arrays(["Muon_pt", "Muon_charge", "MET_pt"], how="zip")
arrays

# %%
arrays.Muon[0].to_list()

# %% [markdown]
# Other libraries get their own types: `"np"`, `"pd"`, `"polars"`, `"arrow"`.

# %%
events.arrays(["event", "MET_pt", "nMuon"], library="pd", entry_stop=5)

# %% [markdown]
# ## Select events while they are read
#
# A cut is an expression that is true or false for each event. nyssa reads its columns first, and of the other columns only
# the events that pass.

# %%
cut = "HLT_IsoMu24 && nMuon >= 2 && Muon_charge[0] * Muon_charge[1] < 0"
muons = events.arrays(filter_name="Muon_*", cut=cut, how="zip").Muon
print(f"{len(muons)} of {events.num_entries} events")

# %% [markdown]
# ## Compute
#
# The two muons with the largest momentum come first. Their mass, if their own masses are neglected:

# %%
first, second = muons[:, 0], muons[:, 1]
angles = np.cosh(first.eta - second.eta) - np.cos(first.phi - second.phi)
mass = np.sqrt(2 * first.pt * second.pt * angles)
mass

# %% [markdown]
# ## Fill and draw a histogram

# %%
histogram = hist.Hist.new.Regular(60, 60, 120, name="mass", label="dimuon mass [GeV]").Double()
histogram.fill(mass)
histogram.plot(histtype="fill")
plt.ylabel("events")
# %% [markdown]
# Histograms of `hist` are written to ROOT files and read from them.

# %%
with nyssa.recreate("histograms.root") as file:
    file["z/mass"] = histogram
again = nyssa.open("histograms.root:z/mass")
print(again.classname, again.member("fEntries"), np.array_equal(again.values(), histogram.values()))

# %% [markdown]
# ## Write a skim
#
# A file with the events that pass, with some columns and a new one, written on all cores and in little memory. The report
# has the number of events after each cut.

# %%
nyssa.skim(
    "events.root:Events",
    "skim.root",
    columns=["Muon_*", "MET_*", "ht"],
    cut={
        "trigger": "HLT_IsoMu24",
        "two muons": "nMuon >= 2",
        "opposite charge": "Muon_charge[0] * Muon_charge[1] < 0",
    },
    define={"ht": "sum(Jet_pt[Jet_pt > 30])"},
)

# %%
skim = nyssa.open("skim.root:Events")
print(skim, skim.keys())

# %% [markdown]
# ## Many files, little memory
#
# `chain` makes one dataset of many files. `iterate` goes through it in steps; the next step is read while you work on
# this one.

# %%
for number in range(3):
    sample.write(f"run{number}.root", 5_000, seed=number)

chain = nyssa.chain("run*.root:Events")
jets = hist.Hist.new.Regular(50, 0, 150, name="pt", label="pt of jets [GeV]").Double()
for step in chain.iterate(["Jet_pt", "Jet_eta"], step_size=4_000):
    jets.fill(ak.flatten(step.Jet_pt[abs(step.Jet_eta) < 2.4]))
jets.plot(histtype="fill")

# %% [markdown]
# What expressions can say, `histograms` fills in one pass over all files, on all cores.

# %%
plans = {"jets": ("Jet_pt[abs(Jet_eta) < 2.4]", hist.axis.Regular(50, 0, 150, name="pt"))}
made = nyssa.histograms("run*.root:Events", plans)
print(np.array_equal(made["jets"].values(), jets.values()))

# %% [markdown]
# ## Go on
#
# - [Reading](../reading.md): all rules for columns, cuts and chains
# - [Convert](../jobs.md) the file into an RNTuple: `nyssa.convert("events.root", "rntuple.root", verify=True)`
# - [Remote files](../remote.md): paths may be `root://`, `https://` and `s3://` URLs
