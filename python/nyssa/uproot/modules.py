"""uproot's modules that programs name: behaviors, models, sources, caches, readers."""

from __future__ import annotations

import sys
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from types import ModuleType
from typing import Any

from nyssa import objects
from nyssa.uproot.classes import model, named
from nyssa.uproot.exceptions import DeserializationError, KeyInFileError
from nyssa.uproot.file import ReadOnlyDirectory, ReadOnlyFile
from nyssa.uproot.key import ReadOnlyKey
from nyssa.uproot.many import concatenate, iterate
from nyssa.uproot.ntuples import HasFields, RField, RNTuple
from nyssa.uproot.reading import open
from nyssa.uproot.report import Report
from nyssa.uproot.trees import HasBranches, TBranch, TTree

__all__ = [
    "LRUArrayCache",
    "LRUCache",
    "Source",
    "TrivialExecutor",
    "behaviors",
    "cache",
    "deserialization",
    "dynamic",
    "models",
    "source",
]


class Source:
    """A way to read files that the option `handler` names; nyssa chooses by the path or URL."""


class TrivialExecutor(Executor):
    """Runs functions at once; as an option it has no effect."""

    num_workers = 0

    # As in `concurrent.futures`, whatever the function takes and returns: `Any`.
    def submit(self, task: Any, /, *args: Any, **options: Any) -> Future[Any]:
        """Return the completed call."""
        future: Future[Any] = Future()
        future.set_result(task(*args, **options))
        return future


class LRUCache(dict[str, Any]):
    """A cache that the options `object_cache` and `array_cache` take; nyssa does not fill it."""

    def __init__(self, limit: int | str | None) -> None:
        super().__init__()
        self.limit = limit


class LRUArrayCache(LRUCache):
    """A cache with a limit in bytes."""


def _module(name: str, **members: Any) -> ModuleType:
    """Return a module of `nyssa.uproot`, which can be imported by its name."""
    module = ModuleType(f"nyssa.uproot.{name}", f"uproot's ``{name}``.")
    module.__dict__.update(members)
    sys.modules[module.__name__] = module
    return module


def _package(name: str, **modules: dict[str, Any]) -> ModuleType:
    """Return a module that has modules with these members."""
    inside = {item: _module(f"{name}.{item}", **members) for item, members in modules.items()}
    return _module(name, __path__=[], **inside)


_READERS = {"iterate": iterate, "concatenate": concatenate}
_HISTOGRAM = objects.Histogram

behaviors = _package(
    "behaviors",
    TTree={"TTree": TTree},
    TBranch={"TBranch": TBranch, "HasBranches": HasBranches, "Report": Report, **_READERS},
    RNTuple={"RNTuple": RNTuple, "HasFields": HasFields, "Report": Report, **_READERS},
    TH1={"Histogram": _HISTOGRAM, "TH1": named("TH1", "TH1")},
    TProfile={"Profile": objects.Profile, "TProfile": named("TProfile", "TProfile")},
    TAxis={"TAxis": objects.Axis, "AxisTraits": objects.AxisTraits},
    **{
        name: {name: named(name, name)}
        for name in (
            "TH2",
            "TH3",
            "TProfile2D",
            "TProfile3D",
            "TGraph",
            "TGraphErrors",
            "TGraphAsymmErrors",
            "TDatime",
        )
    },
)
"""uproot's behaviors: the classes that objects are instances of."""

_MODELS = (
    "TArray TAtt TBasket TBranch TClonesArray TDatime TGraph TH THashList TLeaf TList TMatrixT"
)
_MODELS += " TNamed TObjArray TObjString TObject TParameter TRef TString TTable TTime TTree"

models = _package(
    "models",
    RNTuple={"RField": RField, "RNTuple": RNTuple, "Model_ROOT_3a3a_RNTuple": RNTuple},
    **{name: {"__getattr__": model} for name in _MODELS.split()},
)
"""uproot's models: names of classes for ``isinstance``, of any version."""

dynamic = _module("dynamic", __getattr__=model)

_SOURCES = {
    "file": ("MemmapSource", "MultithreadedFileSource"),
    "http": ("HTTPSource", "MultithreadedHTTPSource"),
    "xrootd": ("XRootDSource", "MultithreadedXRootDSource"),
    "s3": ("S3Source",),
    "fsspec": ("FSSpecSource",),
    "object": ("ObjectSource",),
}
source = _package(
    "source",
    futures={"TrivialExecutor": TrivialExecutor, "ThreadPoolExecutor": ThreadPoolExecutor},
    **{
        module: {name: type(name, (Source,), {}) for name in names}
        for module, names in _SOURCES.items()
    },
)
"""uproot's sources, which can be named and have no effect."""

cache = _module("cache", LRUCache=LRUCache, LRUArrayCache=LRUArrayCache)
deserialization = _module("deserialization", DeserializationError=DeserializationError)
_module("model", Model=objects.Object)

reading = sys.modules["nyssa.uproot.reading"]
reading.__dict__.update(
    ReadOnlyFile=ReadOnlyFile,
    ReadOnlyDirectory=ReadOnlyDirectory,
    ReadOnlyKey=ReadOnlyKey,
    open=open,
    KeyInFileError=KeyInFileError,
)
