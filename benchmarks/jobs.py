"""Run one job of one library in a process of its own, and print its seconds as JSON.

The time includes opening the file, but not imports and start-up. `run.py` runs the jobs.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from pathlib import Path

#: Column of the one-column jobs.
COLUMN = "Jet_pt"
#: Number of entries of each call that fills.
FILL_STEP = 10_000


def _clock(job, *args) -> dict:
    start = time.perf_counter()
    result = job(*args)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "rss": _peak_memory(), **(result or {})}


def _peak_memory() -> float:
    """Return the peak resident memory of this process in MB."""
    try:
        # Unlike getrusage, this is not the memory of the process that started this one.
        lines = Path("/proc/self/status").read_text().splitlines()
        line = next(line for line in lines if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    except (OSError, StopIteration):
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def nyssa_read(path: str, threads: str) -> dict:
    """Read every column into awkward twice; also return the seconds to write to new memory."""
    import awkward  # noqa: F401
    import numpy as np

    from nyssa import open as open_dataset
    from nyssa import release_memory

    def job():
        arrays = open_dataset(f"{path}:Events").arrays(threads=int(threads))
        return {"fields": len(arrays.fields), "entries": len(arrays), "bytes": arrays.nbytes}

    first, again = _clock(job), _clock(job)
    release_memory()
    new = _clock(lambda: {"sum": int(np.full(first["bytes"], 1, np.uint8)[-1])})
    return {**first, "again": again["seconds"], "new": new["seconds"]}


def uproot_read(path: str) -> dict:
    """Read every column into awkward."""
    import awkward  # noqa: F401
    import uproot

    def job():
        arrays = uproot.open(f"{path}:Events").arrays(library="ak")
        return {"fields": len(arrays.fields), "entries": len(arrays)}

    return _clock(job)


def _iterate(steps) -> dict:
    """Read every step; also return the CPU seconds of all threads."""

    def job():
        entries = sum(len(step) for step in steps())
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {"entries": entries, "cpu": used.ru_utime + used.ru_stime}

    return _clock(job)


def nyssa_iterate(path: str, step: str) -> dict:
    """Read every column into awkward, in steps of a number of entries."""
    import awkward  # noqa: F401

    from nyssa import iterate

    return _iterate(lambda: iterate(f"{path}:Events", step_size=int(step)))


def uproot_iterate(path: str, step: str) -> dict:
    """Read every column into awkward, in steps of a number of entries."""
    import awkward  # noqa: F401
    import uproot

    return _iterate(lambda: uproot.iterate(f"{path}:Events", step_size=int(step), library="ak"))


def nyssa_open(path: str) -> dict:
    """Open the file only."""
    from nyssa import open as open_dataset

    return _clock(lambda: {"fields": len(open_dataset(f"{path}:Events").keys())})


def nyssa_column(path: str) -> dict:
    """Open the file and read one column."""
    import awkward as ak

    from nyssa import open as open_dataset

    def job():
        array = open_dataset(f"{path}:Events")[COLUMN].array()
        return {"sum": float(ak.sum(array))}

    return _clock(job)


def uproot_column(path: str) -> dict:
    """Open the file and read one column."""
    import awkward as ak
    import uproot

    def job():
        array = uproot.open(f"{path}:Events")[COLUMN].array()
        return {"sum": float(ak.sum(array))}

    return _clock(job)


def root_column(path: str) -> dict:
    """Read one column by a compiled loop over a view, without the time of the compilation."""
    import ROOT

    ROOT.gInterpreter.Declare("""
    double nyssa_bench_view(const char *path, const char *name) {
        auto reader = ROOT::RNTupleReader::Open("Events", path);
        auto view = reader->GetView<ROOT::RVec<float>>(name);
        double sum = 0;
        for (auto i : reader->GetEntryRange()) for (auto x : view(i)) sum += x;
        return sum;
    }""")
    return _clock(lambda: {"sum": ROOT.nyssa_bench_view(path, COLUMN)})


def root_convert(source: str, output: str) -> dict:
    """Convert with ROOT's importer and its defaults. `ROOT_THREADS` enables multi-threading."""
    import ROOT

    if threads := int(os.environ.get("ROOT_THREADS", "0")):
        ROOT.EnableImplicitMT(threads)
    Path(output).unlink(missing_ok=True)

    def job():
        importer = ROOT.Experimental.RNTupleImporter.Create(source, "Events", output)
        importer.SetIsQuiet(True)
        importer.Import()
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


def nyssa_convert(source: str, output: str, threads: str, encoding: str = "default") -> dict:
    """Convert with nyssa. `encoding` is the option of `convert`."""
    from nyssa import convert

    def job():
        convert(f"{source}:Events", output, threads=int(threads), encoding=encoding, force=True)
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


def nyssa_rewrite(source: str, output: str, encoding: str = "default") -> dict:
    """Rewrite all fields of one RNTuple; also return the bytes of the pages of input and output."""
    from nyssa import rewrite

    def job():
        [report] = rewrite(source, output, encoding=encoding, carry=False, force=True)
        # Pages that several columns share count for each of them, in both files.
        stored = sum(field["output_bytes"] for field in report["fields"])
        return {"bytes": stored, "input": report["input_bytes"]}

    return _clock(job)


def nyssa_slim(source: str, output: str) -> dict:
    """Write the muons and jets of events with a muon."""
    from nyssa import rewrite

    def job():
        [report] = rewrite(
            f"{source}:Events",
            output,
            include=["Muon_*", "Jet_*"],
            cut="sum(Muon_pt > 10) >= 1",
            carry=False,
            force=True,
        )
        return {"bytes": report["output_bytes"], "entries": report["entries"]}

    return _clock(job)


def root_slim(source: str, output: str) -> dict:
    """Do the same with RDataFrame on all threads. The time of its compilation is included."""
    import ROOT

    def job():
        options = ROOT.RDF.RSnapshotOptions()
        options.fOutputFormat = ROOT.RDF.ESnapshotOutputFormat.kRNTuple
        options.fMode = "RECREATE"
        frame = ROOT.RDataFrame("Events", source).Filter("Sum(Muon_pt > 10) >= 1")
        frame.Snapshot("Events", output, "(Muon|Jet)_.*", options)
        return {"bytes": Path(output).stat().st_size}

    result = _clock(job)
    return {**result, "entries": ROOT.RNTupleReader.Open("Events", output).GetNEntries()}


def make_wide(path: str) -> dict:
    """Write 100 entries of 1,000 fields with ROOT: 500 fields of numbers, 500 of vectors."""
    import ROOT

    def job():
        ROOT.gInterpreter.Declare("""
        void nyssa_bench_wide(const char *path) {
            auto model = ROOT::RNTupleModel::Create();
            std::vector<std::shared_ptr<float>> numbers;
            std::vector<std::shared_ptr<std::vector<float>>> vectors;
            for (int i = 0; i < 500; ++i) {
                numbers.push_back(model->MakeField<float>("number" + std::to_string(i)));
                auto name = "vector" + std::to_string(i);
                vectors.push_back(model->MakeField<std::vector<float>>(name));
            }
            auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
            for (int entry = 0; entry < 100; ++entry) {
                for (int i = 0; i < 500; ++i) {
                    *numbers[i] = entry + i;
                    vectors[i]->assign((entry + i) % 4, entry * i);
                }
                writer->Fill();
            }
        }""")
        ROOT.nyssa_bench_wide(path)

    return _clock(job)


def nyssa_wide(path: str) -> dict:
    """Open a file of many fields and read all of them."""
    return nyssa_read(path, "1")


def uproot_wide(path: str) -> dict:
    """Open a file of many fields and read all of them."""
    return uproot_read(path)


def root_wide(path: str) -> dict:
    """Do the same with a reader that loads all entries."""
    import ROOT

    ROOT.gInterpreter.Declare("""
    long nyssa_bench_load(const char *path) {
        auto reader = ROOT::RNTupleReader::Open("Events", path);
        for (auto i : reader->GetEntryRange()) reader->LoadEntry(i);
        return reader->GetNEntries();
    }""")
    ROOT.nyssa_bench_load  # noqa: B018 - compiled outside the clock
    return _clock(lambda: {"entries": ROOT.nyssa_bench_load(path)})


def _objects_library(directory: str):
    """Return a ROOT with the compiled classes of the object trees."""
    import ROOT

    source = Path(__file__).with_name("objects.cxx")
    build = Path(directory) / "aclic"
    build.mkdir(exist_ok=True)
    ROOT.gSystem.SetBuildDir(str(build), True)
    if not ROOT.gSystem.CompileMacro(str(source), "kO"):
        sys.exit("ROOT cannot compile objects.cxx: a C++ compiler is needed")
    return ROOT


def make_objects(directory: str, split: str, whole: str, entries: str) -> dict:
    """Write the object trees with ROOT: a split one, and a smaller one that is not split."""
    root = _objects_library(directory)

    def job():
        root.write_bench_objects(split, 99, int(entries))
        root.write_bench_objects(whole, 0, int(entries) // 10)

    return _clock(job)


def root_objects(directory: str, path: str) -> dict:
    """Read all branches into objects of the class, by a compiled loop."""
    root = _objects_library(directory)
    return _clock(lambda: {"sum": root.read_bench_objects(path)})


def nyssa_objects(path: str, threads: str) -> dict:
    """Read every branch into awkward."""
    import awkward as ak

    from nyssa import open as open_dataset

    def job():
        events = open_dataset(f"{path}:Events").arrays(threads=int(threads))
        return {"sum": float(ak.sum(events[events.fields[0]]["pt"], axis=None))}

    return _clock(job)


def uproot_objects(path: str) -> dict:
    """Read every branch: split ones into awkward, whole objects as objects of uproot."""
    import awkward as ak
    import uproot

    def job():
        tree = uproot.open(f"{path}:Events")
        branch = tree["event."]
        if not branch.branches:
            objects = branch.array(library="np")
            return {"sum": sum(float(sum(one.member("pt"))) for one in objects)}
        arrays = tree.arrays(library="ak")
        return {"sum": float(ak.sum(arrays[next(n for n in arrays.fields if n.endswith("pt"))]))}

    return _clock(job)


def root_fill(directory: str, entries: str, output: str, threads: str) -> dict:
    """Fill with ROOT's parallel writer from compiled code."""
    import ROOT

    source = Path(__file__).with_name("fill_root.cxx")
    build = Path(directory) / "aclic"
    build.mkdir(exist_ok=True)
    ROOT.gSystem.SetBuildDir(str(build), True)
    if not ROOT.gSystem.CompileMacro(str(source), "kO"):
        sys.exit("ROOT cannot compile fill_root.cxx: a C++ compiler is needed")
    ROOT.fill_benchmark.prepare(directory, int(entries))

    def job():
        ROOT.fill_benchmark.run(output, int(threads))
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


def nyssa_fill(directory: str, entries: str, output: str, threads: str) -> dict:
    """Fill with nyssa from Python threads, each with its own context."""
    from threading import Thread

    import fill_data
    from nyssa import recreate

    total, many = int(entries), int(threads)
    data = fill_data.Data(Path(directory), total)
    warm = data.columns(0, 1)

    def fill(context, start: int, stop: int) -> None:
        with context:
            for first in range(start, stop, FILL_STEP):
                context.extend(data.columns(first, min(first + FILL_STEP, stop)))

    def job():
        with recreate(output, fill_contexts=many) as file:
            writer = file.mkrntuple("Events", {name: array[:0] for name, array in warm.items()})
            workers = [
                Thread(
                    target=fill,
                    args=(writer.fill_context(), total * i // many, total * (i + 1) // many),
                )
                for i in range(many)
            ]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


def nyssa_merge(*paths: str) -> dict:
    """Merge all paths but the last into the last one, with nyssa and its defaults."""
    from nyssa import merge

    *inputs, output = paths

    def job():
        merge(inputs, output, force=True)
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


def root_merge(*paths: str) -> dict:
    """Merge with ROOT as `hadd` does, with the compression of the inputs."""
    import ROOT

    *inputs, output = paths

    def job():
        merger = ROOT.TFileMerger(False)
        merger.OutputFile(output, "RECREATE", 505)
        for path in inputs:
            merger.AddFile(path)
        if not merger.Merge():
            raise SystemExit("ROOT cannot merge")
        with open(output, "rb+") as file:
            os.fsync(file)
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


def disk_copy(*paths: str) -> dict:
    """Copy the bytes of all files into the last path, and make them durable, too."""
    *inputs, output = paths

    def job():
        with open(output, "wb") as file:
            for path in inputs:
                with open(path, "rb") as source:
                    while chunk := source.read(8 << 20):
                        file.write(chunk)
            file.flush()
            os.fsync(file)
        return {"bytes": Path(output).stat().st_size}

    return _clock(job)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
