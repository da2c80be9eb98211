"""uproot's names and defaults, with nyssa behind them: ``import nyssa.uproot as uproot``.

>>> import nyssa.uproot as uproot
>>> with uproot.open("file.root") as file:
...     file["Events"].arrays(["Jet_pt"], library="np")

A program that was written for uproot runs with this module, as far as ``docs/uproot.md`` says. The
objects have the object of nyssa as `dataset`, `column`, `directory` or `writer`.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from nyssa import __version__
from nyssa.objects import Object, from_pyroot
from nyssa.objects import Object as Model
from nyssa.uproot import compression, containers, exceptions, interpretation, reading, writing
from nyssa.uproot.classes import class_named, classname_decode, classname_encode, has_class_named
from nyssa.uproot.compression import LZ4, LZMA, ZLIB, ZSTD
from nyssa.uproot.containers import (
    AsArray,
    AsDynamic,
    AsMap,
    AsPointer,
    AsRVec,
    AsSet,
    AsString,
    AsVector,
    STLMap,
    STLSet,
    STLVector,
)
from nyssa.uproot.exceptions import DeserializationError, KeyInFileError
from nyssa.uproot.file import ReadOnlyDirectory, ReadOnlyFile
from nyssa.uproot.interpretation.grouped import AsGrouped
from nyssa.uproot.interpretation.jagged import AsJagged
from nyssa.uproot.interpretation.numerical import (
    AsDouble32,
    AsDtype,
    AsDtypeInPlace,
    AsFloat16,
    AsSTLBits,
)
from nyssa.uproot.interpretation.objects import AsObjects, AsStridedObjects
from nyssa.uproot.interpretation.strings import AsStrings
from nyssa.uproot.key import ReadOnlyKey
from nyssa.uproot.many import concatenate, iterate, num_entries
from nyssa.uproot.modules import (
    LRUArrayCache,
    LRUCache,
    TrivialExecutor,
    behaviors,
    cache,
    deserialization,
    dynamic,
    models,
    source,
)
from nyssa.uproot.ntuples import HasFields, RField, RNTuple
from nyssa.uproot.options import no_filter
from nyssa.uproot.reading import open
from nyssa.uproot.report import Report
from nyssa.uproot.trees import HasBranches, TBranch, TTree
from nyssa.uproot.with_dask import dask, dask_write
from nyssa.uproot.writing import (
    WritableBranch,
    WritableDirectory,
    WritableFile,
    WritableNTuple,
    WritableTree,
    create,
    recreate,
    to_writable,
    update,
)
from nyssa.uproot.writing.identify import as_TGraph

__all__ = [
    "LZ4",
    "LZMA",
    "ZLIB",
    "ZSTD",
    "AsArray",
    "AsDouble32",
    "AsDtype",
    "AsDtypeInPlace",
    "AsDynamic",
    "AsFloat16",
    "AsGrouped",
    "AsJagged",
    "AsMap",
    "AsObjects",
    "AsPointer",
    "AsRVec",
    "AsSTLBits",
    "AsSet",
    "AsStridedObjects",
    "AsString",
    "AsStrings",
    "AsVector",
    "DeserializationError",
    "FSSpecSource",
    "HTTPSource",
    "HasBranches",
    "HasFields",
    "KeyInFileError",
    "LRUArrayCache",
    "LRUCache",
    "MemmapSource",
    "Model",
    "MultithreadedFileSource",
    "MultithreadedHTTPSource",
    "MultithreadedXRootDSource",
    "ObjectSource",
    "RField",
    "RNTuple",
    "ReadOnlyDirectory",
    "ReadOnlyFile",
    "ReadOnlyKey",
    "Report",
    "STLMap",
    "STLSet",
    "STLVector",
    "TBranch",
    "TTree",
    "ThreadPoolExecutor",
    "TrivialExecutor",
    "WritableBranch",
    "WritableDirectory",
    "WritableFile",
    "WritableNTuple",
    "WritableTree",
    "XRootDSource",
    "__version__",
    "as_TGraph",
    "behaviors",
    "cache",
    "class_named",
    "classname_decode",
    "classname_encode",
    "compression",
    "concatenate",
    "containers",
    "create",
    "dask",
    "dask_write",
    "default_library",
    "deserialization",
    "dynamic",
    "exceptions",
    "from_pyroot",
    "has_class_named",
    "interpretation",
    "iterate",
    "models",
    "no_filter",
    "num_entries",
    "open",
    "reading",
    "recreate",
    "source",
    "to_pyroot",
    "to_writable",
    "update",
    "writing",
]

to_pyroot = Object.to_pyroot
default_library = "ak"
"""The library of arrays that are read; as in uproot, another value changes nothing."""
FSSpecSource = source.fsspec.FSSpecSource
HTTPSource = source.http.HTTPSource
MemmapSource = source.file.MemmapSource
MultithreadedFileSource = source.file.MultithreadedFileSource
MultithreadedHTTPSource = source.http.MultithreadedHTTPSource
MultithreadedXRootDSource = source.xrootd.MultithreadedXRootDSource
ObjectSource = source.object.ObjectSource
XRootDSource = source.xrootd.XRootDSource
