"""Make the data of the fill benchmark: 220 fields, which both libraries fill in the same way.

200 fields are ``std::vector`` of float, int or unsigned char, in 20 groups whose fields have the
same multiplicities, and 20 are plain floats. Each kind has one pool of values. A field takes them
in order from its own start, so no field repeats its values. Mantissas are shortened where NanoAOD
does so.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

GROUPS, FIELDS_PER_GROUP, SCALARS = 20, 10, 20
#: Mean number of items. With the 8 bytes of an offset for each list, an entry has 3.7 kB.
MULTIPLICITY = 2.6
#: Kinds of the fields of a group, in order, by the names of the pools.
KINDS = ("pt", "eta", "phi", "mass", "exact", "exact", "score", "id", "count", "flag")
TYPES = {"id": np.int32, "count": np.int32, "flag": np.uint8}
#: Distance of the first values of two fields in their pool.
STRIDE = 10_007


def make(directory: Path, entries: int) -> None:
    """Write ``counts.bin`` (bytes, group by group) and one pool for each kind."""
    from nanoaod import cut_mantissa

    rng = np.random.default_rng(3)
    directory.mkdir(parents=True, exist_ok=True)
    counts = rng.poisson(MULTIPLICITY, (GROUPS, entries)).astype(np.uint8)
    size = int(counts.sum(axis=1, dtype=np.int64).max()) + (GROUPS + SCALARS) * STRIDE
    pools = {
        "pt": cut_mantissa(5 + rng.exponential(30, size), 10),
        "eta": cut_mantissa(rng.normal(0, 1.4, size), 12),
        "phi": cut_mantissa(rng.uniform(-np.pi, np.pi, size), 12),
        "mass": cut_mantissa(rng.exponential(6, size), 10),
        "exact": rng.normal(0, 1, size).astype(np.float32),
        "score": np.where(rng.random(size) < 0.6, -1, rng.random(size)).astype(np.float32),
        "id": rng.poisson(3, size).astype(np.int32),
        "count": rng.integers(-20, 200, size).astype(np.int32),
        "flag": (rng.random(size) < 0.2).astype(np.uint8),
    }
    for name, pool in pools.items():
        pool.tofile(directory / f"{name}.bin")
    counts.tofile(directory / "counts.bin")


class Data:
    """The columns of any range of entries. Values are not copied."""

    def __init__(self, directory: Path, entries: int) -> None:
        self.counts = np.fromfile(directory / "counts.bin", np.uint8).reshape(GROUPS, entries)
        self.starts = np.zeros((GROUPS, entries + 1), np.int64)
        np.cumsum(self.counts, axis=1, out=self.starts[:, 1:])
        self.pools = {
            kind: np.fromfile(directory / f"{kind}.bin", TYPES.get(kind, np.float32))
            for kind in dict.fromkeys(KINDS)
        }

    def columns(self, start: int, stop: int) -> dict:
        """Return awkward and NumPy arrays by field name."""
        import awkward as ak

        out = {}
        for group in range(GROUPS):
            ends = self.starts[group, start : stop + 1]
            offsets = ak.index.Index64(ends - ends[0])
            for i, kind in enumerate(KINDS):
                first = group * STRIDE + ends[0]
                values = self.pools[kind][first : first + ends[-1] - ends[0]]
                layout = ak.contents.ListOffsetArray(offsets, ak.contents.NumpyArray(values))
                out[f"g{group}_{i}"] = ak.Array(layout)
        for i in range(SCALARS):
            place = (GROUPS + i) * STRIDE
            out[f"s{i}"] = self.pools["exact"][place + start : place + stop]
        return out
