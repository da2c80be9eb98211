"""`make demo`: the main job from end to end, on a file made here or on the user's own.

Converts a TTree to an RNTuple with a progress bar, verifies every value, reads the result back in
Python, draws a physics plot and prints a table of sizes, seconds, MB/s and peak memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import awkward as ak
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import nanoaod
import nyssa

#: Entries of the TTree that the demo makes when no file is given.
ENTRIES = 40_000
#: Where results go, below the folder the demo is called in.
BUILD = Path("build/demo")


def run(*command: str | Path) -> dict:
    """Runs the command line with ``--json``, and returns its report."""
    nyssa_command = Path(sys.executable).with_name("nyssa")
    done = subprocess.run([nyssa_command, *command, "--json"], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return json.loads(done.stdout)


def find_tree(path: str) -> str:
    """Returns `path` with the name of its only or first TTree, as ``file.root:Events``."""
    if ".root:" in path:
        return path
    with nyssa.open(path) as file:
        trees = [key for key, name in file.classnames().items() if name in ("TTree", "TNtuple")]
    if not trees:
        sys.exit(f"{path} holds no TTree; `nyssa ls {path}` shows what it holds")
    chosen = "Events" if "Events" in (key.split(";")[0] for key in trees) else trees[0]
    return f"{path}:{chosen.split(';')[0]}"


def dimuon_mass(events: ak.Array) -> np.ndarray:
    """Returns the invariant mass in GeV of the two leading muons, if their charges are opposite."""
    events = events[ak.num(events.Muon_pt) >= 2]
    pt, eta, phi, charge = (events[f"Muon_{x}"][:, :2] for x in ("pt", "eta", "phi", "charge"))
    opposite = charge[:, 0] * charge[:, 1] < 0
    pt, eta, phi = pt[opposite], eta[opposite], phi[opposite]
    angles = np.cosh(eta[:, 0] - eta[:, 1]) - np.cos(phi[:, 0] - phi[:, 1])
    return ak.to_numpy(np.sqrt(2 * pt[:, 0] * pt[:, 1] * angles))


def spectrum(dataset: nyssa.Dataset) -> tuple[np.ndarray, str]:
    """Return the values and the axis label of the best plot that the dataset's fields allow."""
    fields = set(dataset.keys())
    muons = [f"Muon_{x}" for x in ("pt", "eta", "phi", "charge")]
    if fields.issuperset(muons):
        masses = dimuon_mass(dataset.arrays(muons))
        if len(masses) >= 50:
            return masses[masses < 150], "dimuon mass [GeV]"
    candidates = ["Jet_pt", "Muon_pt", "Electron_pt", "MET_pt", *dataset.keys()]
    for name in (name for name in candidates if name in fields):
        values = dataset[name].array()
        if ak.fields(values) or ak.parameters(values).get("__array__") == "string":
            continue
        flat = ak.to_numpy(ak.flatten(values, axis=None))
        if flat.dtype.kind in "fiu" and len(flat):
            finite = flat[np.isfinite(flat)]
            return finite[finite <= np.quantile(finite, 0.995)], name
    sys.exit("no numeric field to plot")


def main() -> None:
    """Runs the demo."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "input", nargs="?", help="a ROOT file with a TTree (default: one made here)"
    )
    arguments = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)

    if arguments.input is None:
        source = BUILD / "nanoaod_ttree.root"
        print(f"making {source}: a NanoAOD-like TTree of {ENTRIES:,} events, written with uproot")
        nanoaod.write(source, nanoaod.events(ENTRIES))
        tree = f"{source}:Events"
    else:
        tree = find_tree(arguments.input)
    output = BUILD / "rntuple.root"

    print(f"converting {tree} to {output}")
    report = run("convert", tree, output, "--force", "--skip-unsupported")
    print("verifying: every checksum and structural rule, then every value against the TTree")
    run("verify", output)
    run("diff", tree, output, *(["--only-common"] if report["skipped"] else []))

    start = time.perf_counter()
    dataset = nyssa.open(f"{output}:{tree.rpartition(':')[2]}")
    arrays = dataset.arrays()
    reading = time.perf_counter() - start
    size = sum(arrays[name].nbytes for name in arrays.fields)

    values, label = spectrum(dataset)
    plt.hist(values, bins=75, histtype="stepfilled")
    plt.xlabel(label)
    plt.ylabel("entries")
    plt.title(f"read from {output.name} with nyssa {nyssa.__version__}")
    plot = BUILD / "spectrum.png"
    plt.savefig(plot, dpi=120)

    before, after = report["input_bytes"], report["output_bytes"]
    print(f"""
{"entries":26}{report["entries"]:>14,}
{"fields":26}{len(dataset.keys()):>14,}
{"branches left out":26}{len(report["skipped"]):>14,}
{"TTree":26}{before / 1e6:>14.1f} MB
{"RNTuple":26}{after / 1e6:>14.1f} MB  ({after / before:.3f} of the TTree)
{"conversion":26}{report["seconds"]:>14.2f} s   ({before / 1e6 / report["seconds"]:.0f} MB/s)
{"peak memory of conversion":26}{(report["peak_memory_bytes"] or float("nan")) / 1e6:>14.0f} MB
{"reading it all":26}{reading:>14.2f} s   ({size / 1e6 / reading:.0f} MB/s of arrays)
{"plot":26}{plot!s:>14}""")


if __name__ == "__main__":
    main()
