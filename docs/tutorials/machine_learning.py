# %% [markdown]
# # Batches for machine learning
#
# Columns as tables of numbers, in batches, for NumPy and for PyTorch where it is installed.

# %%
import awkward as ak
import numpy as np

import nyssa
import sample

sample.write("events.root")
events = nyssa.open("events.root:Events")

# %% [markdown]
# ## A table of features
#
# Expressions make numbers of lists: sums, counts, or the first item where a cut says that there is one.

# %%
features = {
    "met": "MET_pt",
    "ht": "sum(Jet_pt)",
    "jets": "nJet",
    "tags": "count(Jet_btag > 0.7)",
    "leading": "Jet_pt[0]",
}


def table(columns):
    """Return a matrix of float32: one row for each event, one column for each feature."""
    return np.column_stack([np.asarray(columns[name], np.float32) for name in features])


columns = events.arrays(list(features), aliases=features, cut="nJet >= 1", library="np")
rows = table(columns)
rows.shape, rows.dtype

# %% [markdown]
# ## Lists of a fixed length
#
# Networks want a fixed number of jets. `pad_none` cuts and fills the lists of awkward arrays.


# %%
def padded(jets, count=4):
    """Return (events, count, fields): the first `count` jets, with zeros where there are fewer."""
    filled = [ak.fill_none(ak.pad_none(jets[name], count, clip=True), 0) for name in jets.fields]
    return np.stack([ak.to_numpy(field) for field in filled], axis=-1)


jets = events.arrays(["Jet_pt", "Jet_eta", "Jet_phi"], how="zip").Jet
padded(jets).shape

# %% [markdown]
# ## Batches of files larger than the memory
#
# `iterate` reads the next step while the network works on this one. A step is cut into batches; `take` reads events in
# any order, for shuffled batches.


# %%
def batches(dataset, size=512, **options):
    """Yield matrices of `size` events."""
    for step in dataset.iterate(list(features), aliases=features, library="np", **options):
        matrix = table(step)
        for start in range(0, len(matrix), size):
            yield matrix[start : start + size]


sizes = [len(batch) for batch in batches(events, cut="nJet >= 1", step_size=8_000)]
print(len(sizes), "batches,", sum(sizes), "events")

# %%
random = np.random.default_rng(0)
chosen = random.permutation(events.num_entries)[:512]
events.take(chosen, ["MET_pt"], library="np")["MET_pt"][:4]

# %% [markdown]
# ## A classifier
#
# A logistic regression, with NumPy alone. What it should find is known here: whether the momenta of the jets and the
# missing momentum add up to more than 150 GeV.

# %%
label = "sum(Jet_pt) + MET_pt > 150"
labels = events.arrays([label], cut="nJet >= 1", library="np")[label].astype(np.float32)
scaled = (rows - rows.mean(axis=0)) / rows.std(axis=0)
weights, offset = np.zeros(scaled.shape[1], np.float32), 0.0
for _ in range(200):
    predicted = 1 / (1 + np.exp(-(scaled @ weights + offset)))
    weights -= 0.5 * scaled.T @ (predicted - labels) / len(labels)
    offset -= 0.5 * float(np.mean(predicted - labels))
accuracy = float(np.mean((predicted > 0.5) == labels))
print(f"{accuracy:.3f} are right; {max(labels.mean(), 1 - labels.mean()):.3f} without features")

# %% [markdown]
# ## PyTorch
#
# An `IterableDataset` gives each worker its own partitions, which are pickled to it.

# %%
try:
    import torch
except ImportError:
    torch = None
    print("PyTorch is not installed: the next cell does nothing")

# %%
if torch:

    class Events(torch.utils.data.IterableDataset):
        """Batches of the partitions of files."""

        def __init__(self, files):
            self.parts = nyssa.partitions(files, step_size=5_000)

        def __iter__(self):
            worker = torch.utils.data.get_worker_info()
            number, count = (worker.id, worker.num_workers) if worker else (0, 1)
            for part in self.parts[number::count]:
                columns = part.arrays(
                    list(features), aliases=features, cut="nJet >= 1", library="np"
                )
                yield torch.from_numpy(table(columns))

    loader = torch.utils.data.DataLoader(Events("events.root:Events"), batch_size=None)
    print([tuple(batch.shape) for batch in loader])
