"""Makes NanoEvents of datasets."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from typing import Any

import awkward as ak
from coffea.nanoevents import NanoEventsFactory
from coffea.nanoevents.schemas import BaseSchema, NanoAODSchema, PHYSLITESchema
from typing_extensions import TypedDict, Unpack

from nyssa.arguments.sizes import threads_of
from nyssa.coffea.mapping import SourceMapping
from nyssa.coffea.sources import Opener, opened, source_of
from nyssa.errors import ArgumentError
from nyssa.read.column import Column
from nyssa.read.dataset import Dataset
from nyssa.read.file import Directory

__all__ = ["events", "factory"]

Path = str | os.PathLike[str]
Input = Path | Mapping[Any, Any] | Iterable[Any] | Dataset | Directory
"""What `events` takes: paths, dicts, lists, and what is open."""

Preload = Iterable[str] | Callable[[Column], bool] | None
"""The columns that are read at once."""


class EventOptions(TypedDict, total=False):
    """The options of `events`, for type checkers."""

    treepath: str | None
    schemaclass: type[BaseSchema]
    mode: str
    entry_start: int | None
    entry_stop: int | None
    preload: Preload
    metadata: dict[str, Any] | None
    access_log: list[Any] | None
    buffer_cache: MutableMapping[str, Any] | None
    threads: int | None


def factory(
    file: Input,
    *,
    treepath: str | None = None,
    schemaclass: type[BaseSchema] = NanoAODSchema,
    mode: str = "virtual",
    entry_start: int | None = None,
    entry_stop: int | None = None,
    preload: Preload = None,
    metadata: dict[str, Any] | None = None,
    access_log: list[Any] | None = None,
    buffer_cache: MutableMapping[str, Any] | None = None,
    threads: int | None = None,
) -> NanoEventsFactory:
    """Return the ``NanoEventsFactory`` of TTrees or RNTuples, as ``from_root`` does.

    >>> from nyssa import coffea
    >>> factory = coffea.factory({"events.root": "Events"}, metadata={"dataset": "toys"})
    >>> events = factory.events()
    >>> len(events), events.metadata["dataset"]
    (20000, 'toys')

    Parameters
    ----------
    file
        A path or URL (``"nano.root:Events"``), a glob, a folder, a dict from paths to names of
        datasets, a list of these, or a dataset or file that is open. A file with one dataset needs
        no name. Several files are one array; they are read as `nyssa.chain` reads them, and a
        chain that is open may have other options.
    treepath
        Path of the dataset in the files that `file` does not tell it of.
    schemaclass
        Schema of coffea. The default is ``NanoAODSchema``. With ``PHYSLITESchema``, the colons in
        names of an RNTuple (``"AnalysisJetsAuxDyn:pt"``) are dots, as in the TTree of PHYSLITE.
    mode
        ``"virtual"`` reads a column when it is first needed, and ``"eager"`` reads all now.
    entry_start, entry_stop
        Range of entries. The default is all entries.
    preload
        Names of columns that are read now, together, or a function that is true for these columns.
        Over a network, that is faster than one request after the other.
    metadata
        Any values, for ``events.metadata``.
    access_log
        A list that gets the columns that were read.
    buffer_cache
        A mapping in which coffea keeps buffers.
    threads
        As in `Dataset.arrays`.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) if the file does not exist.
    nyssa.ArgumentError
        (a `ValueError`) for another `mode`, or for ``steps`` in a dict, which are for Dask.
    """
    if mode not in ("virtual", "eager"):
        hint = "; for Dask, use Runner with processor.DaskExecutor" if mode == "dask" else ""
        raise ArgumentError(f"mode is 'virtual' or 'eager', not {mode!r}{hint}")
    source = source_of(file, treepath)
    dataset, key = opened(source)
    stop = dataset.num_entries if entry_stop is None else min(entry_stop, dataset.num_entries)
    start = min(max(entry_start or 0, 0), stop)
    workers = threads_of(threads)
    preloaded = None
    if names := _preloaded_names(dataset, preload):
        arrays = dataset.arrays(names, entry_start=start, entry_stop=stop, threads=workers)
        preloaded = {name: arrays[name] for name in names}
    mapping = SourceMapping(
        Opener({str(key): source}),
        start,
        stop,
        cache={},
        access_log=access_log,
        virtual=mode == "virtual",
        buffer_cache=buffer_cache,
        preloaded=preloaded,
        threads=workers,
    )
    mapping.preload_column_source(str(key), dataset.object_path, dataset)
    dots = isinstance(schemaclass, type) and issubclass(schemaclass, PHYSLITESchema)
    base_form = SourceMapping._extract_base_form(dataset, dots=dots)
    place = (str(key), dataset.object_path, f"{start}-{stop}")
    return NanoEventsFactory._from_mapping(mapping, place, base_form, schemaclass, metadata, mode)


def _preloaded_names(dataset: Dataset, preload: Preload) -> list[str]:
    """Return the columns to read at once. As in coffea, names may be missing in the dataset."""
    if callable(preload):
        return [name for name in dataset.keys() if preload(dataset[name])]
    return [name for name in preload or () if name in dataset]


def events(file: Input, **options: Unpack[EventOptions]) -> ak.Array:
    """Return NanoEvents of TTrees or RNTuples; `factory` has the same parameters and errors.

    >>> from nyssa import coffea
    >>> events = coffea.events("run1/*.root:Events")
    >>> len(events)
    40000
    >>> events.Muon.charge[:3].to_list()
    [[1, -1], [1], [1, -1, 1]]
    """
    return factory(file, **options).events()
