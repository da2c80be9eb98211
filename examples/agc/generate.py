"""Makes the nine samples: TTrees written with uproot, and RNTuples that nyssa converts them to.

>>> python -m agc.generate ../build/agc --events 20000

Each kind of file gets a list in the AGC's form: ``ttree.json`` and ``rntuple.json``. Events are
toys, or resampled from the project's test data if ``--data`` names their folder. Neither is
physics.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import awkward as ak

import nanoaod
import nyssa
from agc.resample import real_base, resample, toy_base
from agc.samples import SAMPLES

#: Number of files of the nominal sample of ttbar. Other samples have half the events, in one file.
TTBAR_FILES = 2


def generate(folder: Path, events: int, base: dict[str, ak.Array]) -> None:
    """Make the samples in a folder, with `events` events in each file."""
    lists: dict[str, dict] = {"ttree": {}, "rntuple": {}}
    for kind in lists:
        (folder / kind).mkdir(parents=True, exist_ok=True)
    for number, (process, variation) in enumerate(SAMPLES):
        name = f"{process}__{variation}"
        for kind in lists:
            lists[kind].setdefault(process, {})[variation] = {"files": []}
        for part in range(TTBAR_FILES if name == "ttbar__nominal" else 1):
            file = f"{name}-{part}.root"
            tree, ntuple = folder / "ttree" / file, folder / "rntuple" / file
            nanoaod.write(tree, resample(base, process, events, seed=100 * number + part))
            nyssa.convert(f"{tree}:Events", ntuple, force=True)
            for kind, found in lists.items():
                entry = {"path": f"{kind}/{file}", "nevts": events}
                found[process][variation]["files"].append(entry)
    for kind, found in lists.items():
        (folder / f"{kind}.json").write_text(json.dumps(found, indent=1))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="where the samples go")
    parser.add_argument("--events", type=int, default=20_000, help="events of each file")
    parser.add_argument("--data", type=Path, help="the project's folder of test data")
    arguments = parser.parse_args()
    base = real_base(arguments.data) if arguments.data else toy_base()
    generate(arguments.folder, arguments.events, base)


if __name__ == "__main__":
    main()
