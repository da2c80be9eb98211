"""Reads, writes, converts and tunes CERN's RNTuple and TTree data without ROOT.

>>> import nyssa
>>> events = nyssa.open("file.root:Events")
>>> events.arrays(["Jet_pt", "Jet_eta"], entry_stop=1000)
>>> nyssa.convert("tree.root", "ntuple.root", verify=True)
>>> with nyssa.recreate("out.root") as file:
...     file["Events"] = {"x": [1.0, 2.0], "jets": [[1.5], []]}

`open` gives a `File`, `TTree` or `RNTuple`; `chain` makes one dataset of many files, `iterate` and
`concatenate` read them; `recreate` writes RNTuples and TTrees, `update` adds to them; `convert`
turns a TTree into an RNTuple; `merge` makes one RNTuple of many; `verify`, `diff`, `inspect` and
`tune` return reports. Errors are in `nyssa.errors`; each derives from the builtin error that a user
would catch.

Public are the names that this package exports (``nyssa.__all__``), and those of the modules
`nyssa.campaign` (jobs for whole datasets), `nyssa.coffea` (NanoEvents and processors of coffea),
`nyssa.errors` (exceptions), `nyssa.objects` (histograms and other objects of files),
`nyssa.reports` (what checks and comparisons return) and `nyssa.uproot` (uproot's names). All other
modules are private. This package exports their public names, and the classes of all objects that it
returns.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nyssa import errors
from nyssa._core import __version__
from nyssa.errors import (
    ArgumentError,
    ChecksumError,
    FormatError,
    InternalError,
    LargeEntryWarning,
    LimitError,
    NotFoundError,
    NyssaError,
    UnreadableWarning,
    UnsupportedError,
)

if TYPE_CHECKING:
    from nyssa import campaign, objects, reports
    from nyssa._attributes import AttributeSetWriter
    from nyssa._chain import Chain, chain
    from nyssa._convert import convert
    from nyssa._dask import dask, dask_write
    from nyssa._digest import digest
    from nyssa._io import io_stats, record
    from nyssa._iterate import concatenate, iterate, num_entries
    from nyssa._join import join
    from nyssa._merge import merge
    from nyssa._monitor import Monitor, monitor
    from nyssa._partitions import Partition, partitions
    from nyssa._precision import Precision, column_precision
    from nyssa._profile import Profile, profile
    from nyssa._rewrite import rewrite
    from nyssa._trace import trace_summary
    from nyssa._trace_plot import plot_trace
    from nyssa._tune import tune
    from nyssa._verify import diff, inspect, verify
    from nyssa.dataset import AttributeSet, Column, Dataset, Friend, RNTuple, TTree
    from nyssa.fields import Field
    from nyssa.file import Directory, File, open
    from nyssa.fill_context import FillContext
    from nyssa.ntuple_writing import NTupleWriter
    from nyssa.objects.make import graph
    from nyssa.rules import ReadRules
    from nyssa.tree_writing import TreeWriter
    from nyssa.writable_file import UpdatableFile, WritableDirectory, WritableFile
    from nyssa.writing import estimate_write_memory, recreate, update

# These names are imported at their first use. The import of awkward and NumPy takes a quarter of a
# second, and the command line, which is in this package, does not need them.
_HOMES = {
    "AttributeSet": "dataset",
    "AttributeSetWriter": "_attributes",
    "Chain": "_chain",
    "Column": "dataset",
    "Dataset": "dataset",
    "Directory": "file",
    "Field": "fields",
    "File": "file",
    "FillContext": "fill_context",
    "Friend": "dataset",
    "Monitor": "_monitor",
    "NTupleWriter": "ntuple_writing",
    "Partition": "_partitions",
    "Precision": "_precision",
    "Profile": "_profile",
    "RNTuple": "dataset",
    "ReadRules": "rules",
    "TTree": "dataset",
    "TreeWriter": "tree_writing",
    "UpdatableFile": "writable_file",
    "WritableDirectory": "writable_file",
    "WritableFile": "writable_file",
    "chain": "_chain",
    "column_precision": "_precision",
    "concatenate": "_iterate",
    "convert": "_convert",
    "dask": "_dask",
    "dask_write": "_dask",
    "diff": "_verify",
    "digest": "_digest",
    "estimate_write_memory": "writing",
    "graph": "objects.make",
    "inspect": "_verify",
    "io_stats": "_io",
    "iterate": "_iterate",
    "join": "_join",
    "merge": "_merge",
    "monitor": "_monitor",
    "num_entries": "_iterate",
    "open": "file",
    "partitions": "_partitions",
    "plot_trace": "_trace_plot",
    "profile": "_profile",
    "record": "_io",
    "recreate": "writing",
    "rewrite": "_rewrite",
    "trace_summary": "_trace",
    "tune": "_tune",
    "update": "writing",
    "verify": "_verify",
}

__all__ = [
    "ArgumentError",
    "AttributeSet",
    "AttributeSetWriter",
    "Chain",
    "ChecksumError",
    "Column",
    "Dataset",
    "Directory",
    "Field",
    "File",
    "FillContext",
    "FormatError",
    "Friend",
    "InternalError",
    "LargeEntryWarning",
    "LimitError",
    "Monitor",
    "NTupleWriter",
    "NotFoundError",
    "NyssaError",
    "Partition",
    "Precision",
    "Profile",
    "RNTuple",
    "ReadRules",
    "TTree",
    "TreeWriter",
    "UnreadableWarning",
    "UnsupportedError",
    "UpdatableFile",
    "WritableDirectory",
    "WritableFile",
    "__version__",
    "campaign",
    "chain",
    "column_precision",
    "concatenate",
    "convert",
    "dask",
    "dask_write",
    "diff",
    "digest",
    "errors",
    "estimate_write_memory",
    "graph",
    "inspect",
    "io_stats",
    "iterate",
    "join",
    "merge",
    "monitor",
    "num_entries",
    "objects",
    "open",
    "partitions",
    "plot_trace",
    "profile",
    "record",
    "recreate",
    "reports",
    "rewrite",
    "trace_summary",
    "tune",
    "update",
    "verify",
]


def __getattr__(name: str) -> object:
    if name in ("campaign", "objects", "reports"):
        return import_module(f"{__name__}.{name}")
    home = _HOMES.get(name)
    if home is None:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
