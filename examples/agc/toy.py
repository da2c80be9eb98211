"""Makes toy events, for where there are no real ones. They have random jets and leptons, no
physics.

Only additions, multiplications and divisions of random numbers whose sequence NumPy has frozen
(``RandomState``) are used, so that every machine makes the same bits.
"""

from __future__ import annotations

import awkward as ak
import numpy as np

#: Number of events that are made; `resample` draws from them.
EVENTS = 2000


def toy_events(seed: int, leptons: float, jets: float) -> ak.Array:
    """Return events with a mean of about `leptons` electrons and muons each, and of `jets` jets."""
    random = np.random.RandomState(seed)

    def uniform(count: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        return low + (high - low) * random.random_sample(count)

    def kinematics(count: int) -> dict[str, np.ndarray]:
        # The density of pt falls like 1/pt^2.
        return {
            "pt": (15 / (1 - 0.9 * uniform(count))).astype(np.float32),
            "eta": (uniform(count, -1.4, 1.4) + uniform(count, -1.4, 1.4)).astype(np.float32),
        }

    def lepton_counts() -> np.ndarray:
        return (uniform(EVENTS, 0, 2 * leptons) + 0.5).astype(np.int64)

    def electrons(count: int) -> dict[str, np.ndarray]:
        return kinematics(count) | {
            "sip3d": uniform(count, 0, 5).astype(np.float32),
            "cutBased": 4 - uniform(count, 0, 1.6).astype(np.int32),
        }

    def muons(count: int) -> dict[str, np.ndarray]:
        return kinematics(count) | {
            "sip3d": uniform(count, 0, 5).astype(np.float32),
            "tightId": uniform(count) < 0.8,
            "pfRelIso04_all": uniform(count, 0, 0.25).astype(np.float32),
        }

    def jets_of(count: int) -> dict[str, np.ndarray]:
        return kinematics(count) | {
            "phi": uniform(count, -3.14159, 3.14159).astype(np.float32),
            "mass": uniform(count, 3, 20).astype(np.float32),
            "btagCSVV2": (uniform(count) * uniform(count, 0.3, 1.2)).astype(np.float32),
            "jetId": np.where(uniform(count) < 0.95, 6, 2).astype(np.int32),
        }

    def collection(make, counts: np.ndarray) -> ak.Array:
        return ak.unflatten(ak.zip(make(int(counts.sum()))), counts)

    jet_counts = uniform(EVENTS, 0, jets).astype(np.int64) + uniform(EVENTS, 0, jets).astype(int)
    return ak.Array(
        {
            "Electron": collection(electrons, lepton_counts()),
            "Muon": collection(muons, lepton_counts()),
            "Jet": collection(jets_of, jet_counts),
        }
    )
