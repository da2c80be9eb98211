"""Reads, writes, converts and tunes CERN's RNTuple and TTree data without ROOT.

>>> import nyssa
>>> events = nyssa.open("events.root:Events")
>>> jets = events.arrays(["Jet_pt", "Jet_eta"], entry_stop=1000)
>>> len(jets), jets.fields
(1000, ['Jet_pt', 'Jet_eta'])
>>> _ = nyssa.convert("events.root", "ntuple.root", verify=True)
>>> with nyssa.recreate("out.root") as file:
...     file["Events"] = {"x": [1.0, 2.0], "jets": [[1.5], []]}

`open` gives a `File`, `TTree` or `RNTuple`; `chain` makes one dataset of many files, `iterate` and
`concatenate` read them; `draw` shows an expression, and `histograms` fills `hist` with expressions;
`recreate` writes RNTuples and TTrees, `update` adds to them; `convert` turns a TTree into an
RNTuple, and both into Parquet and back; `skim` writes some columns of the entries that pass cuts;
`merge` makes one RNTuple of many; `verify`, `diff`, `inspect`, `tune` and `study` return reports.
Errors are in `nyssa.errors`; each derives from the builtin error that a user would catch.

Public are the names that this package exports (``nyssa.__all__``), and the names of the modules
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
    from nyssa.arrays.vectors import vectors
    from nyssa.interop.dask import dask, dask_write
    from nyssa.interop.graphed import graphed
    from nyssa.interop.polars import scan_polars
    from nyssa.jobs.convert import convert
    from nyssa.jobs.digest import digest
    from nyssa.jobs.merge import merge
    from nyssa.jobs.rewrite import rewrite
    from nyssa.jobs.skim import skim
    from nyssa.jobs.tune import tune
    from nyssa.jobs.verify import diff, inspect, verify
    from nyssa.objects.make import graph
    from nyssa.observe.io import io_stats, record
    from nyssa.observe.memory import release_memory
    from nyssa.observe.monitor import Monitor, monitor
    from nyssa.observe.profile import Profile, profile
    from nyssa.observe.trace import trace_summary
    from nyssa.observe.trace_plot import plot_trace
    from nyssa.plotting.draw import draw
    from nyssa.plotting.drawing import Drawing, DrawnAxis
    from nyssa.plotting.histograms import histograms
    from nyssa.read.chain import Chain, chain
    from nyssa.read.column import Column
    from nyssa.read.dataset import Dataset
    from nyssa.read.fields import Field
    from nyssa.read.file import Directory, File, open
    from nyssa.read.iterate import concatenate, iterate, num_entries
    from nyssa.read.join import join
    from nyssa.read.partitions import Partition, partitions
    from nyssa.read.rntuple import AttributeSet, RNTuple
    from nyssa.read.rules import ReadRules
    from nyssa.read.tables import TableFile
    from nyssa.read.ttree import Friend, TTree
    from nyssa.studies.study import study
    from nyssa.write.attributes import AttributeSetWriter
    from nyssa.write.file import UpdatableFile, WritableDirectory, WritableFile
    from nyssa.write.fill_context import FillContext
    from nyssa.write.ntuple import NTupleWriter
    from nyssa.write.precision import Precision, column_precision
    from nyssa.write.recreate import estimate_write_memory, recreate, update
    from nyssa.write.tree import TreeWriter

# These names are imported at their first use. The import of NumPy takes a tenth of a second, and
# the command line, which is in this package, does not need it.
_NAMES = {
    "arrays.vectors": "vectors",
    "interop.dask": "dask dask_write",
    "interop.graphed": "graphed",
    "interop.polars": "scan_polars",
    "jobs.convert": "convert",
    "jobs.digest": "digest",
    "jobs.merge": "merge",
    "jobs.rewrite": "rewrite",
    "jobs.skim": "skim",
    "jobs.tune": "tune",
    "jobs.verify": "diff inspect verify",
    "objects.make": "graph",
    "observe.io": "io_stats record",
    "observe.memory": "release_memory",
    "observe.monitor": "Monitor monitor",
    "observe.profile": "Profile profile",
    "observe.trace": "trace_summary",
    "observe.trace_plot": "plot_trace",
    "plotting.draw": "draw",
    "plotting.drawing": "Drawing DrawnAxis",
    "plotting.histograms": "histograms",
    "read.chain": "Chain chain",
    "read.column": "Column",
    "read.dataset": "Dataset",
    "read.fields": "Field",
    "read.file": "Directory File open",
    "read.iterate": "concatenate iterate num_entries",
    "read.join": "join",
    "read.partitions": "Partition partitions",
    "read.rntuple": "AttributeSet RNTuple",
    "read.rules": "ReadRules",
    "read.tables": "TableFile",
    "read.ttree": "Friend TTree",
    "studies.study": "study",
    "write.attributes": "AttributeSetWriter",
    "write.file": "UpdatableFile WritableDirectory WritableFile",
    "write.fill_context": "FillContext",
    "write.ntuple": "NTupleWriter",
    "write.precision": "column_precision Precision",
    "write.recreate": "estimate_write_memory recreate update",
    "write.tree": "TreeWriter",
}
"""The names that each module has for users."""

_HOMES = {name: home for home, names in _NAMES.items() for name in names.split()}

__all__ = [
    "ArgumentError",
    "AttributeSet",
    "AttributeSetWriter",
    "Chain",
    "ChecksumError",
    "Column",
    "Dataset",
    "Directory",
    "Drawing",
    "DrawnAxis",
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
    "TableFile",
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
    "draw",
    "errors",
    "estimate_write_memory",
    "graph",
    "graphed",
    "histograms",
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
    "release_memory",
    "reports",
    "rewrite",
    "scan_polars",
    "skim",
    "study",
    "trace_summary",
    "tune",
    "update",
    "vectors",
    "verify",
]


def __getattr__(name: str) -> object:
    if name in ("campaign", "objects", "reports", "uproot"):
        return import_module(f"{__name__}.{name}")
    home = _HOMES.get(name)
    if home is None:
        from nyssa.arguments.hints import no_attribute

        raise no_attribute(__name__, name, __all__)
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
