"""Make benchmark data: a NanoAOD file resampled to any number of events.

The template is a real CMS open-data file of 200 events. Every new event takes the multiplicities
of one template event drawn at random, and every float is smeared and rounded to the mantissa width
that its branch uses in the template, so that no value repeats by construction and the entropy
stays that of NanoAOD. Integers and bools are resampled as they are; event numbers count up.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import awkward as ak
import numpy as np
import uproot

from nanoaod import cut_mantissa

#: Number of entries that are written at a time.
CHUNK = 10_000


def _mantissa_bits(values: np.ndarray) -> int:
    """Return the number of mantissa bits, of 23, that float32 `values` use."""
    used = int(np.bitwise_or.reduce(values.view(np.uint32) & 0x7FFFFF, initial=0))
    return 23 - ((used & -used).bit_length() - 1) if used else 0


def _smear(rng: np.random.Generator, values: np.ndarray, bits: int) -> np.ndarray:
    """Return float32 `values` changed by a few per cent and rounded to `bits` of mantissa."""
    if bits == 0:
        return values
    noisy = (values * rng.normal(1, 0.05, len(values))).astype(np.float32)
    # A bound such as |phi| <= pi or a flag such as -1 stays unchanged.
    noisy = np.where(values == np.round(values), values, noisy)
    return noisy if bits >= 23 else cut_mantissa(noisy, bits)


def events(template: str | os.PathLike, entries: int, seed: int = 1) -> Iterator[dict]:
    """Yield chunks of up to :data:`CHUNK` events, ready for :func:`nanoaod.write`."""
    rng = np.random.default_rng(seed)
    with uproot.open(template) as file:
        tree = file["Events"]
        counters = {k: b.count_branch.name for k, b in tree.items() if b.count_branch is not None}
        source = tree.arrays(library="ak")
    bits = {}
    for name in source.fields:
        flat = ak.to_numpy(ak.flatten(source[name], axis=None))
        if flat.dtype == np.float32:
            bits[name] = _mantissa_bits(flat)
    groups: dict[str, list[str]] = {}
    for name, counter in counters.items():
        groups.setdefault(counter, []).append(name)
    scalars = [n for n in source.fields if n not in counters and n not in groups]

    for start in range(0, entries, CHUNK):
        n = min(CHUNK, entries - start)
        pick = rng.integers(0, len(source), n)
        chunk: dict = {}
        for name in scalars:
            values = ak.to_numpy(source[name])[pick]
            if name == "event":
                values = np.arange(start, start + n, dtype=values.dtype) * 7 + 101
            elif name == "luminosityBlock":
                values = ((start + np.arange(n)) // 400).astype(values.dtype)
            chunk[name] = _smear(rng, values, bits[name]) if name in bits else values
        for counter, members in groups.items():
            fields = {}
            for name in members:
                picked = source[name][pick]
                counts = ak.to_numpy(ak.num(picked))
                flat = ak.to_numpy(ak.flatten(picked))
                fields[name] = _smear(rng, flat, bits[name]) if name in bits else flat
            chunk[f"{counter}[]"] = ak.unflatten(ak.zip(fields), counts)
        yield chunk
