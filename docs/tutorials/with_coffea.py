# %% [markdown]
# # With coffea
#
# NanoEvents and processors of coffea, with columns that nyssa reads. You need `pip install coffea` beside nyssa (a gigabyte
# of packages). This notebook runs in `make test-coffea`, which is not among the tests that decide on a change.

# %%
import warnings

import awkward as ak
import hist
from coffea import processor
from coffea.nanoevents import NanoAODSchema

import nyssa
import sample
from nyssa import coffea

warnings.filterwarnings("ignore", module="coffea")
for number in range(3):
    sample.write(f"run{number}.root", 5_000, seed=number)

# %% [markdown]
# ## NanoEvents
#
# `events` takes what `NanoEventsFactory.from_root` takes: a path, a dict from paths to names, a list of these, globs.
# A column is read when it is first needed.

# %%
events = coffea.events({"run0.root": "Events"}, metadata={"dataset": "toys"})
events.Jet.pt

# %%
muons = events.Muon[ak.num(events.Muon) >= 2]
pair = muons[:, 0] + muons[:, 1]
pair.mass

# %% [markdown]
# Several files make one array:

# %%
len(coffea.events("run*.root:Events")), len(coffea.events(["run0.root:Events", "run1.root:Events"]))

# %% [markdown]
# TTrees and RNTuples give equal events:

# %%
nyssa.convert("run0.root:Events", "rntuple.root")
converted = coffea.events("rntuple.root:Events")
ak.array_equal(converted.Jet.pt, events.Jet.pt)

# %% [markdown]
# ## A processor
#
# Processors are written as ever. `coffea.Runner` is `processor.Runner`, but nyssa opens and reads the files. It takes all
# executors: threads, processes, Dask, parsl.


# %%
class Masses(processor.ProcessorABC):
    """Fills the mass of pairs of muons."""

    def process(self, events):
        axis = hist.axis.Regular(60, 60, 120, name="mass", label="dimuon mass [GeV]")
        histogram = hist.Hist(axis)
        muons = events.Muon[ak.num(events.Muon) >= 2]
        muons = muons[muons.charge[:, 0] != muons.charge[:, 1]]
        histogram.fill((muons[:, 0] + muons[:, 1]).mass)
        return {"mass": histogram, "events": len(events)}

    def postprocess(self, accumulator):
        return accumulator


run = coffea.Runner(
    executor=processor.IterativeExecutor(status=False),
    schema=NanoAODSchema,
    chunksize=4_000,
    savemetrics=True,
)
fileset = {"toys": [f"run{number}.root" for number in range(3)]}
found, metrics = run(fileset, Masses(), treename="Events")
print(found["events"], "events,", metrics["chunks"], "chunks,", metrics["bytesread"], "bytes read")

# %%
found["mass"].plot(histtype="fill")
