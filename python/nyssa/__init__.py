"""Read, write, convert and tune CERN's RNTuple and TTree data without ROOT.

>>> import nyssa
>>> events = nyssa.open("file.root:Events")
>>> events.arrays(["Jet_pt", "Jet_eta"], entry_stop=1000)
>>> nyssa.convert("tree.root", "ntuple.root", verify=True)
>>> with nyssa.recreate("out.root") as file:
...     file["Events"] = {"x": [1.0, 2.0], "jets": [[1.5], []]}

`open` gives a `File`, `TTree` or `RNTuple`; `iterate` and `concatenate` read many files; `recreate`
writes RNTuples; `convert` turns a TTree into an RNTuple. Errors are in `nyssa.errors`, each derived
from the builtin one would catch.
"""

from __future__ import annotations

from nyssa import errors
from nyssa._convert import convert
from nyssa._core import __version__
from nyssa.dataset import Column, Dataset, RNTuple, TTree
from nyssa.errors import (
    ChecksumError,
    FormatError,
    InternalError,
    LimitError,
    NotFoundError,
    NyssaError,
    UnsupportedError,
)
from nyssa.file import Directory, File, open
from nyssa.iterate import concatenate, iterate
from nyssa.writing import NTupleWriter, WritableFile, recreate

__all__ = [
    "ChecksumError",
    "Column",
    "Dataset",
    "Directory",
    "File",
    "FormatError",
    "InternalError",
    "LimitError",
    "NTupleWriter",
    "NotFoundError",
    "NyssaError",
    "RNTuple",
    "TTree",
    "UnsupportedError",
    "WritableFile",
    "__version__",
    "concatenate",
    "convert",
    "errors",
    "iterate",
    "open",
    "recreate",
]
