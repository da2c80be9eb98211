# %% [markdown]
# # From uproot
#
# nyssa has uproot's names where both do the same. This notebook reads and writes with both, side by side.
# The [list of differences](../uproot.md) is complete. You need `pip install uproot pandas` beside nyssa.

# %%
import awkward as ak
import numpy as np
import uproot

import nyssa
import sample

sample.write("events.root")

# %% [markdown]
# ## One changed line
#
# A program that was written for uproot runs with another import:

# %%
import nyssa.uproot

for library in (uproot, nyssa.uproot):
    with library.open("events.root") as file:
        tree = file["Events"]
        print(library.__name__, tree.num_entries, tree["Jet_pt"].array(entry_stop=2).to_list())

# %% [markdown]
# ## The same with nyssa's own names
#
# `nyssa.open` gives nyssa's own objects, for TTrees and RNTuples. `keys` and `show` list the columns of the top level.

# %%
old = uproot.open("events.root:Events")
new = nyssa.open("events.root:Events")
assert new.keys() == old.keys()
ak.array_equal(new.arrays(), old.arrays())

# %% [markdown]
# Options are given by name. NumPy, pandas and awkward are there, and polars and Arrow:

# %%
new["MET_pt"].array(library="np")[:5]

# %%
new.arrays(["MET_pt", "nJet"], library="polars", entry_stop=3)

# %% [markdown]
# ## Filters, cuts and expressions
#
# `filter_name` and `cut` are as in uproot. The language of expressions has selections and sums of the items of a list, too,
# so that a cut on jets needs no loop in Python:

# %%
ours = new.arrays(["MET_pt"], cut="sum(Jet_pt[abs(Jet_eta) < 2.4]) > 200")
jets = old.arrays(["Jet_pt", "Jet_eta", "MET_pt"])
chosen = ak.sum(jets.Jet_pt[abs(jets.Jet_eta) < 2.4], axis=1) > 200
print(len(ours), ak.array_equal(ours.MET_pt, jets.MET_pt[chosen]))

# %% [markdown]
# ## Many files
#
# The files of a glob come in the order of their names; uproot takes them as the system lists them.

# %%
for number in range(3):
    sample.write(f"run{number}.root", 4_000, seed=number)

theirs = uproot.concatenate([f"run{number}.root:Events" for number in range(3)], ["MET_pt"])
ours = nyssa.concatenate("run*.root:Events", ["MET_pt"])
print(ak.array_equal(ours, theirs))

sizes = [len(step) for step in nyssa.iterate("run*.root:Events", ["MET_pt"], step_size=5_000)]
sizes

# %% [markdown]
# ## Write
#
# `recreate`, `mktree` and `extend` are as in uproot. An assignment writes an RNTuple; `mktree` writes a TTree.

# %%
with nyssa.recreate("out.root") as file:
    tree = file.mktree("tree", {"x": "float64", "jets": "var * float32"})
    tree.extend({"x": np.arange(3.0), "jets": ak.Array([[1.5], [], [2.5, 3.5]])})
    file["ntuple"] = {"x": np.arange(3.0)}

with uproot.open("out.root") as file:
    print(file.classnames())
    print(file["tree"].arrays().to_list())

# %% [markdown]
# Histograms go both ways:

# %%
with uproot.recreate("h.root") as file:
    file["h"] = np.histogram(new["MET_pt"].array(library="np"), bins=10, range=(0, 100))

nyssa.open("h.root:h").to_numpy()
