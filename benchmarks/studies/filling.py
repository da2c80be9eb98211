"""Fills a dataset from objects in memory once, in a process of its own, for studies.py.

Both programs read all entries before. They write a few entries first, which do not count, so that
their code is loaded. The memory is the most above what the process had before it wrote.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

from storage_jobs import _clock  # noqa: E402

TREE = "Events"
WARM_UP = 10
"""The number of entries that are written first."""
STEP = 500
"""The number of entries of a call of `extend`."""
TYPES = {
    "header": "AodHeader",
    "tracks": "std::vector<AodTrack>",
    "jets": "std::vector<AodJet>",
    "candidates": "std::vector<AodCandidate>",
    "vertices": "std::vector<AodVertex>",
    "triggers": "std::vector<AodTrigger>",
    "pileup": "std::vector<float>",
}
CLASSES = {
    "AodTrack": {
        **dict.fromkeys(("pt", "eta", "phi", "chi2"), "float"),
        "covariance": "float[15]",
        "charge": "short",
        **dict.fromkeys(("layers", "quality"), "std::uint8_t"),
    },
    "AodJet": {
        **dict.fromkeys(("px", "py", "pz", "energy"), "double"),
        "area": "float",
        "constituents": "std::vector<std::uint16_t>",
        "tags": "std::map<std::string,float>",
    },
    "AodCandidate": {
        **dict.fromkeys(("pt", "eta", "phi", "dz", "dxy"), "std::uint16_t"),
        "id": "std::int32_t",
        "flags": "std::uint8_t",
    },
    "AodVertex": {
        **dict.fromkeys("xyz", "double"),
        "covariance": "float[6]",
        "weights": "std::vector<float>",
    },
    "AodTrigger": {
        "path": "std::string",
        "objects": "std::vector<std::vector<std::uint32_t>>",
        "passed": "bool",
    },
    "AodHeader": {
        **dict.fromkeys(("run", "lumi"), "std::uint32_t"),
        "event": "std::uint64_t",
        "steps": "std::vector<std::string>",
    },
}


class Case(NamedTuple):
    """What is written, and how."""

    writer: str
    """``nyssa`` or ``ROOT``."""
    format: str
    """``TTree`` or ``RNTuple``."""
    threads: int
    compression: int
    flush: int
    """The compressed bytes after which a thread gives its entries to the file, or of a cluster."""
    basket: int = 32_000
    storage: str = "columns"
    """How an RNTuple has objects: ``columns``, ``unsplit``, or ``streamer``."""
    buffered: bool = True


def library(folder: str, source: Path = HERE / "filling.cxx") -> Any:
    """Return ROOT with the functions of a file, which is compiled once."""
    import ROOT

    ROOT.gSystem.SetBuildDir(folder, True)
    ROOT.gErrorIgnoreLevel = ROOT.kWarning
    if not ROOT.gSystem.CompileMacro(str(source), "kO"):
        sys.exit(f"ROOT cannot compile {source.name}: a C++ compiler is needed")
    return ROOT


def with_root(data: Path, output: str, case: Case) -> dict[str, float]:
    """Fill by ROOT: with a `TBufferMerger`, or the writers of RNTuples."""
    root = library(str(data.parent))
    entries = root.filling_load(str(data))

    def fill(count: int) -> None:
        common = (output, case.compression, case.threads)
        if case.format == "TTree":
            root.filling_tree(*common, case.flush, case.basket, count)
        else:
            root.filling_ntuple(*common, case.storage, case.buffered, case.flush, count)

    fill(WARM_UP)
    return _clock(lambda: fill(entries))


def with_nyssa(data: Path, output: str, case: Case) -> dict[str, float]:
    """Fill by nyssa, with a fill context for each thread."""
    import nyssa

    arrays = nyssa.open(f"{data}:{TREE}").arrays()
    options: dict[str, Any] = {"compression": case.compression, "threads": case.threads}
    of_tree: dict[str, Any] = {}
    if case.format == "TTree":
        of_tree = {"auto_flush": -case.flush, "basket_size": case.basket}
    else:
        options |= {"cluster_size": case.flush, "buffered": case.buffered}
        if case.storage == "unsplit":
            options["field_options"] = {"*": {"column": "unsplit"}}
    if case.threads > 1:
        options["fill_contexts"] = case.threads

    def fill(count: int) -> None:
        with nyssa.recreate(output, **options) as file:
            make = file.mktree if case.format == "TTree" else file.mkrntuple
            dataset: Any = make(TREE, TYPES, classes=CLASSES, **of_tree)
            bounds = [count * at // case.threads for at in range(case.threads + 1)]
            if case.threads == 1:
                extend(dataset, arrays, bounds)
                return
            contexts = [dataset.fill_context() for _ in range(case.threads)]
            workers = [
                threading.Thread(target=extend_and_close, args=(one, arrays, bounds[at : at + 2]))
                for at, one in enumerate(contexts)
            ]
            for one in workers:
                one.start()
            for one in workers:
                one.join()

    fill(WARM_UP)
    return _clock(lambda: fill(len(arrays)))


def extend(dataset: Any, arrays: Any, bounds: Sequence[int]) -> None:
    """Write a range of entries in steps."""
    first, last = bounds
    for start in range(first, last, STEP):
        dataset.extend(arrays[start : min(last, start + STEP)])


def extend_and_close(context: Any, arrays: Any, bounds: Sequence[int]) -> None:
    """Write a range of entries by a fill context."""
    with context:
        extend(context, arrays, bounds)


if __name__ == "__main__":
    data, output, case = Path(sys.argv[1]), sys.argv[2], Case(**json.loads(sys.argv[3]))
    write = with_root if case.writer == "ROOT" else with_nyssa
    print(json.dumps(write(data, output, case)))
