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
from nyssa.uproot import exceptions, writing
from nyssa.uproot.compression import LZ4, LZMA, ZLIB, ZSTD
from nyssa.uproot.exceptions import KeyInFileError
from nyssa.uproot.file import ReadOnlyDirectory, ReadOnlyFile
from nyssa.uproot.key import ReadOnlyKey
from nyssa.uproot.many import concatenate, iterate, num_entries
from nyssa.uproot.ntuples import HasFields, RField, RNTuple
from nyssa.uproot.reading import open
from nyssa.uproot.report import Report
from nyssa.uproot.trees import HasBranches, TBranch, TTree
from nyssa.uproot.writing import (
    WritableDirectory,
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
    "HasBranches",
    "HasFields",
    "KeyInFileError",
    "RField",
    "RNTuple",
    "ReadOnlyDirectory",
    "ReadOnlyFile",
    "ReadOnlyKey",
    "Report",
    "TBranch",
    "TTree",
    "ThreadPoolExecutor",
    "WritableDirectory",
    "WritableNTuple",
    "WritableTree",
    "__version__",
    "as_TGraph",
    "concatenate",
    "create",
    "exceptions",
    "from_pyroot",
    "iterate",
    "num_entries",
    "open",
    "recreate",
    "to_pyroot",
    "to_writable",
    "update",
    "writing",
]

to_pyroot = Object.to_pyroot
