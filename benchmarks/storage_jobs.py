"""Runs one job of `storage.py` in a process of its own, and prints its numbers as JSON."""

from __future__ import annotations

import ctypes
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TREE = "Events"


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def _clock(job: Callable[[], Any]) -> dict[str, float]:
    """Return seconds, CPU seconds, and the bytes above those that were in use before the job."""
    counted = ctypes.CDLL(None) if "LD_PRELOAD" in os.environ else None
    if counted is not None:
        counted.allocations_now.restype = counted.allocations_most.restype = ctypes.c_long
        counted.allocations_reset()
        before = counted.allocations_now()
    # The system forgets the largest size so far.
    Path("/proc/self/clear_refs").write_text("5")
    resident = _memory("VmRSS")
    used, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    job()
    seconds, now = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime
    found = {"seconds": seconds, "cpu": cpu, "rss": _memory("VmHWM") - resident}
    if counted is not None:
        found["allocated"] = counted.allocations_most() - before
    return found


def convert(source: str, output: str, options: str) -> dict[str, float]:
    """Convert a TTree with nyssa."""
    import nyssa

    given = {"carry": False, "force": True, **json.loads(options)}
    # Loads the code, which is memory of the process, too.
    nyssa.convert(f"{source}:{TREE}", output, entry_stop=10, **given)
    return _clock(lambda: nyssa.convert(f"{source}:{TREE}", output, **given))


def write(source: str, output: str, options: str) -> dict[str, float]:
    """Write arrays with nyssa, in parts of 2,000 entries; they are read before."""
    import nyssa

    arrays = nyssa.open(f"{source}:{TREE}").arrays()

    def job(entries: int) -> None:
        with nyssa.recreate(output, **json.loads(options)) as file:
            events = file.mkrntuple(TREE, arrays[:0])
            for start in range(0, entries, 2000):
                events.extend(arrays[start : start + 2000])

    job(10)
    return _clock(lambda: job(len(arrays)))


def _library(folder: str) -> Any:
    import ROOT

    ROOT.gSystem.SetBuildDir(folder, True)
    if not ROOT.gSystem.CompileMacro(str(Path(__file__).with_name("storage.cxx")), "kO"):
        sys.exit("ROOT cannot compile storage.cxx: a C++ compiler is needed")
    return ROOT


def root_make(folder: str, output: str, entries: str) -> dict[str, float]:
    """Write the TTree with ROOT."""
    root = _library(folder)
    return _clock(lambda: root.storage_make(output, int(entries), 505))


def root_import(folder: str, source: str, output: str) -> dict[str, float]:
    """Convert the TTree with ROOT's importer and its defaults."""
    root = _library(folder)

    def job() -> None:
        importer = root.Experimental.RNTupleImporter.Create(source, TREE, output)
        importer.SetIsQuiet(True)
        importer.Import()

    return _clock(job)


def root_sums(folder: str, path: str, kind: str) -> list[float]:
    """Return a sum over all values of each product, which ROOT reads into objects."""
    root = _library(folder)
    return list(getattr(root, f"storage_{kind}_sums")(path))


def uproot_sums(path: str) -> list[float]:
    """Return a sum over all numbers and characters of each field, which uproot reads."""
    import awkward as ak
    import uproot

    arrays = uproot.open(f"{path}:{TREE}").arrays()
    return [_sum(arrays[name].layout.to_packed(), ak) for name in arrays.fields]


def _sum(layout: Any, ak: Any) -> float:
    if layout.is_record:
        return sum(_sum(layout[name], ak) for name in layout.fields)
    if layout.is_numpy:
        return float(ak.to_numpy(layout).astype("f8").sum())
    return _sum(layout.content, ak)


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
