"""Runs one job of one library over a link, in a process of its own; prints its times as JSON.

Imports and start-up are outside the clock; connecting and opening are inside. Run by `remote.py`.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

#: The loops of ROOT, compiled before the clock starts.
LOOPS = """
double nyssa_bench_views(const char *path, std::vector<std::string> names) {
    auto reader = ROOT::RNTupleReader::Open("Events", path);
    double sum = 0;
    std::vector<ROOT::RNTupleView<ROOT::RVec<float>>> views;
    for (const auto &name : names) views.push_back(reader->GetView<ROOT::RVec<float>>(name));
    for (auto i : reader->GetEntryRange())
        for (auto &view : views) for (auto x : view(i)) sum += x;
    return sum;
}
double nyssa_bench_tree(const char *path, std::vector<std::string> names) {
    std::unique_ptr<TFile> file{TFile::Open(path)};
    TTreeReader reader("Events", file.get());
    std::vector<std::unique_ptr<TTreeReaderArray<float>>> arrays;
    for (const auto &name : names)
        arrays.push_back(std::make_unique<TTreeReaderArray<float>>(reader, name.c_str()));
    double sum = 0;
    while (reader.Next()) for (auto &array : arrays) for (auto x : *array) sum += x;
    return sum;
}
"""


def _sum(arrays) -> float:
    import awkward as ak

    # uproot also gives the collections that the chosen columns show.
    names = [name for name in arrays.fields if not name.startswith("_")]
    return sum(float(ak.sum(ak.values_astype(arrays[name], "float64"))) for name in names)


def nyssa_open(url: str) -> dict:
    """Opens the dataset."""
    from nyssa import open as open_dataset

    dataset = open_dataset(f"{url}:Events")
    return {"sum": dataset.num_entries, "keep": dataset}


def root_open(url: str) -> dict:
    """Opens the RNTuple."""
    import ROOT

    reader = ROOT.RNTupleReader.Open("Events", url)
    return {"sum": reader.GetNEntries(), "keep": reader}


def uproot_open(url: str) -> dict:
    """Opens the RNTuple."""
    import uproot

    ntuple = uproot.open(url)["Events"]
    return {"sum": ntuple.num_entries, "keep": ntuple}


def nyssa_columns(url: str, *names: str) -> dict:
    """Reads columns, or all, into awkward."""
    from nyssa import open as open_dataset

    return {"arrays": open_dataset(f"{url}:Events").arrays(list(names) or None)}


def root_columns(url: str, *names: str) -> dict:
    """Reads columns by a compiled loop over views."""
    import ROOT

    return {"sum": ROOT.nyssa_bench_views(url, names)}


def uproot_columns(url: str, *names: str) -> dict:
    """Reads columns into awkward."""
    import uproot

    return {"arrays": uproot.open(url)["Events"].arrays(list(names))}


nyssa_tree, uproot_tree = nyssa_columns, uproot_columns


def root_tree(url: str, *names: str) -> dict:
    """Reads branches by a compiled TTreeReader loop, with its TTreeCache."""
    import ROOT

    return {"sum": ROOT.nyssa_bench_tree(url, names)}


def _each(url: str) -> list[str]:
    """Returns the files of a chain: `%` stands for their numbers, `#` begins how many there are."""
    pattern, count = url.rsplit("#", 1)
    return [pattern.replace("%", str(number)) for number in range(int(count))]


def nyssa_chain(url: str, *names: str) -> dict:
    """Reads columns of a chain of files."""
    from nyssa import chain

    return {"arrays": chain([f"{one}:Events" for one in _each(url)]).arrays(list(names))}


def root_chain(url: str, *names: str) -> dict:
    """Reads columns of files, one after another: a reader of RNTuples has one file."""
    import ROOT

    return {"sum": sum(ROOT.nyssa_bench_views(one, names) for one in _each(url))}


def uproot_chain(url: str, *names: str) -> dict:
    """Reads columns of a chain of files."""
    import awkward as ak
    import uproot

    files = [f"{one}:Events" for one in _each(url)]
    return {"arrays": ak.concatenate(list(uproot.iterate(files, list(names))))}


def nyssa_convert(url: str, output: str) -> dict:
    """Converts a TTree to an RNTuple on the local disk."""
    from nyssa import convert

    convert(f"{url}:Events", output, force=True)
    return {"sum": Path(output).stat().st_size}


def _recorded(trace: str) -> contextlib.AbstractContextManager:
    from nyssa import record

    return record(trace)


def _busy() -> float:
    """Return the CPU seconds that all processes of the machine have taken.

    Where the system does not count them, return the bytes of this process.
    """
    if sys.platform != "linux":
        return time.process_time()
    user, nice, system, _, _, *interrupts = Path("/proc/stat").read_text().split()[1:8]
    ticks = sum(map(int, (user, nice, system, *interrupts)))
    return ticks / os.sysconf("SC_CLK_TCK")


def _prepare(library: str) -> None:
    """Imports and compiles, before the clock starts."""
    if library == "root":
        import ROOT

        ROOT.gInterpreter.Declare(LOOPS)
        return
    __import__("awkward")
    __import__(library)
    if library == "uproot":
        __import__("fsspec_xrootd")


def main(name: str, *args: str) -> None:
    """Runs one job."""
    _prepare(name.split("_")[0])
    trace = os.environ.get("NYSSA_BENCH_RECORD")
    with _recorded(trace) if trace else contextlib.nullcontext():
        start, cpu, busy = time.perf_counter(), time.process_time(), _busy()
        result = globals()[name](*args)
        clock = {
            "seconds": time.perf_counter() - start,
            "cpu": time.process_time() - cpu,
            "busy": _busy() - busy,
        }
    arrays = result.pop("arrays", None)
    if arrays is not None:
        result["sum"] = _sum(arrays)
    print(json.dumps({**clock, "sum": result["sum"]}), flush=True)
    # What an open file would still send at its end is no part of the job.
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
