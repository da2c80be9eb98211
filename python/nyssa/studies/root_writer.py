"""Writes the outputs of a study by ROOT, where ROOT has the options that vary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nyssa import _core
from nyssa.arguments.keywords import texts_of
from nyssa.arguments.sizes import auto_flush_of, bytes_of
from nyssa.errors import ArgumentError
from nyssa.read.file import open_dataset
from nyssa.studies.grid import Trial
from nyssa.studies.root_streamer import stream
from nyssa.studies.subject import SET, Subject

__all__ = ["ROOT", "beside", "prepared"]

#: The name of the writer.
ROOT = "ROOT"
#: The options that ROOT has, by the format of the output. It only reads TTrees for both.
_OPTIONS = {
    "TTree": ("compression", "basket_size", "auto_flush"),
    "RNTuple": ("compression", "cluster_size", "page_size", "encoding", "streamer"),
}
#: ROOT's numbers of algorithms, and their levels where none is named.
_ALGORITHMS = {"none": (0, 0), "zlib": (1, 1), "lzma": (2, 7), "lz4": (4, 4), "zstd": (5, 5)}
#: The number of entries that means all.
_ALL = -1


def beside(subject: Subject, trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials, each followed by one that ROOT writes with the same options.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if ROOT cannot be imported, does not have an option that varies, or has no
        such conversion.
    """
    if find_spec(ROOT) is None:
        raise ArgumentError("ROOT is not installed in this Python: leave it out (--beside root)")
    if subject.format != "TTree" or not subject.is_local:
        raise ArgumentError("ROOT can only write local TTrees again: leave it out (--beside root)")
    known = _OPTIONS[subject.to]
    for name in trials[0].options:
        if name not in known:
            raise ArgumentError(
                f"ROOT has no {name} for an output of {subject.to}, only {', '.join(known)}: leave "
                "it out (--beside root)"
            )
    for trial in trials:
        _setting(trial.options.get("compression"))
        _check_fields(trial.options)
    return [it for trial in trials for it in (trial, replace(trial, writer=ROOT))]


def _check_fields(options: Mapping[str, Any]) -> None:
    """Raise an error for fields that ROOT does not make: it chooses nothing by the values."""
    encoding, streamer = options.get("encoding"), options.get("streamer")
    if encoding not in (None, "default"):
        raise ArgumentError(
            f"ROOT has no encoding {encoding!r}, only default: leave it out (--beside root)"
        )
    if streamer is not None and texts_of("streamer", streamer) == ["auto"]:
        raise ArgumentError("ROOT has no streamer 'auto': leave it out (--beside root)")


def prepared(request: Mapping[str, Any]) -> Callable[[], None]:
    """Import ROOT, and return the function that writes the output."""
    root: Any = import_module(ROOT)
    root.gROOT.SetBatch(True)
    root.gErrorIgnoreLevel = root.kError
    if request["threads"] > 1:
        root.EnableImplicitMT(request["threads"])
    options = {name: item for name, item in request["options"].items() if name not in {*SET, "to"}}
    if "streamer" in options:
        globs = texts_of("streamer", options["streamer"])
        with open_dataset(request["input"]) as tree:
            options["streamer"] = tree.keys(filter_name=None if globs == ["all"] else globs)
    write = _clone if request["job"] == "rewrite" else _import
    # ROOT loads code, and the dictionaries of classes, when it needs them: before the clock starts.
    few = f"{request['output']}.few"
    write(root, {**request, "output": few}, options, 1)
    Path(few).unlink()
    return lambda: write(root, request, options, _ALL)


def _clone(root: Any, request: Mapping[str, Any], options: Mapping[str, Any], entries: int) -> None:
    """Copy entries into a new tree, each decompressed and compressed again."""
    file, path = _core.split_path(request["input"])
    source = root.TFile.Open(file)
    tree = source.Get(path)
    setting = _setting(options.get("compression"))
    output = root.TFile(request["output"], "RECREATE", "", setting)
    clone = tree.CloneTree(0)
    for leaf in clone.GetListOfLeaves():
        leaf.GetBranch().SetCompressionSettings(setting)
    if "basket_size" in options:
        clone.SetBasketSize("*", bytes_of(options["basket_size"]))
    if "auto_flush" in options:
        clone.SetAutoFlush(auto_flush_of(options["auto_flush"]))
    clone.CopyEntries(tree, entries)
    output.Write()
    output.Close()


def _import(
    root: Any, request: Mapping[str, Any], options: Mapping[str, Any], entries: int
) -> None:
    """Convert entries with ROOT's importer, or with a loop if there are streamer fields."""
    file, path = _core.split_path(request["input"])
    chosen = root.RNTupleWriteOptions()
    chosen.SetCompression(_setting(options.get("compression")))
    if "cluster_size" in options:
        chosen.SetApproxZippedClusterSize(bytes_of(options["cluster_size"]))
    if "page_size" in options:
        chosen.SetMaxUnzippedPageSize(bytes_of(options["page_size"]))
    if "streamer" in options:
        stream(root, (file, path or ""), request["output"], options["streamer"], chosen, entries)
        return
    importer = root.Experimental.RNTupleImporter.Create(file, path, request["output"])
    importer.SetIsQuiet(True)
    if entries != _ALL:
        importer.SetMaxEntries(entries)
    importer.SetWriteOptions(chosen)
    # PyROOT makes an exception of a result with an error.
    importer.Import()


def _setting(compression: int | str | None) -> int:
    """Return ROOT's number for a compression; the default is nyssa's, zstd:5."""
    if isinstance(compression, int):
        return compression
    name, _, level = (compression or "zstd").partition(":")
    number, usual = _ALGORITHMS[name.lower()]
    return 100 * number + (int(level) if level else usual)
