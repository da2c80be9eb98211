"""Makes NanoEvents and processors of coffea whose columns are read by nyssa.

>>> from nyssa import coffea
>>> events = coffea.events("nano.root:Events")
>>> events.Jet[events.Jet.pt > 30].matched_gen

`events` takes TTrees and RNTuples, local files and URLs. `Runner` is coffea's ``processor.Runner``
and takes all its executors; only files are opened and read by nyssa. This module needs coffea
(``pip install coffea``).
"""

from __future__ import annotations

import hashlib
import json
import time
import uuid
import warnings
from collections.abc import Callable, Iterable, MutableMapping
from functools import lru_cache
from typing import Any

import awkward as ak
import numpy as np
from typing_extensions import TypedDict, Unpack

from nyssa import _core
from nyssa.arguments.sizes import threads_of
from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute, version
from nyssa.read.column import Column
from nyssa.read.dataset import Dataset
from nyssa.read.file import open_dataset

try:
    import cloudpickle
    import lz4.frame
    from coffea import processor
    from coffea.nanoevents import NanoEventsFactory
    from coffea.nanoevents.mapping.base import BaseSourceMapping, UUIDOpener
    from coffea.nanoevents.schemas import BaseSchema, NanoAODSchema
    from coffea.nanoevents.util import key_to_tuple, quote
    from coffea.processor.executor import FileMeta, set_accumulator
except ImportError as error:
    raise ArgumentError(f"nyssa.coffea needs coffea (pip install coffea): {error}") from None

__all__ = ["Runner", "SourceMapping", "events", "factory"]

#: Number of datasets that a process keeps open.
OPEN = 32


def _opened(url: str) -> tuple[Dataset, uuid.UUID]:
    """Return a dataset and the identity of its file. A file that was written again is opened anew.

    coffea keeps what it knows of files by their identity. It follows from the URL, as coffea makes
    it for Parquet, and from the version of the file.
    """
    now = version(_core.split_path(url)[0])
    digest = hashlib.md5(f"{url} {now}".encode(), usedforsecurity=False).digest()
    return _open_version(url, now), uuid.UUID(bytes=digest)


@lru_cache(OPEN)
def _open_version(url: str, version: str) -> Dataset:  # noqa: ARG001
    return open_dataset(url)


class _Opener(UUIDOpener):  # type: ignore[misc]
    """Opens the dataset again, for an array that was pickled."""

    def open_uuid(self, key: str) -> dict[str, Dataset]:
        url = self._uuid_pfnmap[key]
        dataset, identity = _opened(url)
        if str(identity) != key:
            raise ArgumentError(f"{url} was written again since this array was made of it")
        return {dataset.object_path: dataset}


class SourceMapping(BaseSourceMapping):  # type: ignore[misc]
    """Maps keys to buffers of NanoEvents, which are read from a dataset when they are needed.

    The parameters of coffea's ``BaseSourceMapping``, and:

    preloaded
        Arrays of columns that were read before, by their names.
    threads
        As in `Dataset.arrays`.
    """

    def __init__(
        self,
        *args: Any,
        preloaded: dict[str, ak.Array] | None = None,
        threads: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self._threads = threads
        self._preloaded = preloaded or {}
        # A column with several buffers is read once: its array, and how many buffers follow.
        self._kept: dict[str, tuple[ak.Array, int]] = {}

    def key_root(self) -> str:
        """Return the beginning of the keys of this kind of mapping."""
        return "NyssaSourceMapping:"

    @classmethod
    def _extract_base_form(cls, source: Dataset) -> dict[str, Any]:
        """Return what the schemas of coffea take: the form of all columns, with keys of buffers."""
        form = source.form(skip_unreadable=True)
        fields, contents, typenames = [], [], {}
        for name in form.fields:
            if "," in name or "!" in name:
                warnings.warn(f"coffea does not allow the name {name}: left out", stacklevel=2)
                continue
            try:
                content = _with_keys(form.content(name), f"{name},!load")
            except NotImplementedError as error:
                warnings.warn(f"coffea cannot hold {name}, {error}: left out", stacklevel=2)
                continue
            column = source[name]
            content["parameters"] = {
                **content["parameters"],
                "__doc__": column.title,
                "typename": column.typename,
            }
            fields.append(name)
            contents.append(content)
            typenames[name] = column.typename
        return {
            "class": "RecordArray",
            "fields": fields,
            "contents": contents,
            "parameters": {"__doc__": source.name},
            "form_key": None,
            "typenames": typenames,
        }

    def get_column_handle(self, columnsource: Dataset, name: str, allow_missing: bool) -> Any:
        """Return a column, or `None` if it may be missing."""
        if allow_missing and name not in columnsource:
            return None
        return columnsource[name]

    def extract_column(
        self,
        columnhandle: Column | None,
        start: int,
        stop: int,
        allow_missing: bool,
        **_: Any,
    ) -> Any:
        """Return the values of a column from entry `start` to `stop`."""
        if columnhandle is None:
            missing = ak.index.Index64(np.full(stop - start, -1, dtype=np.int64))
            nothing = ak.contents.NumpyArray(np.array([], dtype=bool))
            return ak.contents.IndexedOptionArray(missing, nothing)
        array = self._read(columnhandle, start, stop)
        if allow_missing:
            index = ak.index.Index64(np.arange(stop - start, dtype=np.int64))
            return ak.Array(ak.contents.IndexedOptionArray(index, array.layout))
        return array

    def _read(self, column: Column, start: int, stop: int) -> ak.Array:
        name = column.name
        if name in self._preloaded:
            return self._preloaded[name]
        array, follow = self._kept.pop(name, (None, 0))
        if array is None:
            array = column.array(entry_start=start, entry_stop=stop, threads=self._threads)
            if isinstance(array.layout, ak.contents.ListOffsetArray):
                array = ak.Array(array.layout.to_ListOffsetArray64(True))
            follow = len(array.layout.form.expected_from_buffers())
        if follow > 1:
            self._kept[name] = array, follow - 1
        return array

    def __len__(self) -> int:
        return int(self._stop - self._start)

    def __iter__(self) -> Any:
        raise NotImplementedError


def _with_keys(form: ak.forms.Form, prefix: str) -> dict[str, Any]:
    """Return a form as a dict, with the keys by which coffea requests the buffers."""
    known = json.loads(form.to_json())
    parameters = {
        name: value
        for name, value in (known.get("parameters") or {}).items()
        if name == "__array__"
    }
    named: dict[str, Any] = {"class": known["class"], "parameters": parameters}
    if isinstance(form, ak.forms.NumpyForm):
        named.update(primitive=known["primitive"], inner_shape=[], form_key=quote(prefix))
    elif isinstance(form, ak.forms.ListOffsetForm):
        content = _with_keys(form.content, f"{prefix},!content")
        named.update(offsets="i64", content=content, form_key=quote(prefix))
    elif isinstance(form, ak.forms.RegularForm):
        named.update(size=form.size, content=_with_keys(form.content, f"{prefix},!content"))
    elif isinstance(form, ak.forms.RecordForm) and not form.is_tuple:
        contents = [_with_keys(form.content(f), f"{prefix},{f},!item") for f in form.fields]
        named.update(fields=form.fields, contents=contents)
    else:
        raise NotImplementedError(f"which has a {known['class']}")
    return named


class EventOptions(TypedDict, total=False):
    """The options of `events`, for type checkers."""

    schemaclass: type[BaseSchema]
    mode: str
    entry_start: int | None
    entry_stop: int | None
    preload: Iterable[str] | None
    metadata: dict[str, Any] | None
    access_log: list[Any] | None
    buffer_cache: MutableMapping[str, Any] | None
    threads: int | None


def factory(
    file: str,
    *,
    schemaclass: type[BaseSchema] = NanoAODSchema,
    mode: str = "virtual",
    entry_start: int | None = None,
    entry_stop: int | None = None,
    preload: Iterable[str] | None = None,
    metadata: dict[str, Any] | None = None,
    access_log: list[Any] | None = None,
    buffer_cache: MutableMapping[str, Any] | None = None,
    threads: int | None = None,
) -> NanoEventsFactory:
    """Return the ``NanoEventsFactory`` of a TTree or RNTuple.

    Parameters
    ----------
    file
        Path or URL of a file, with the path of the dataset if it has several
        (``"nano.root:Events"``).
    schemaclass
        Schema of coffea. The default is ``NanoAODSchema``.
    mode
        ``"virtual"`` reads a column when it is first needed, and ``"eager"`` reads all now.
    entry_start, entry_stop
        Range of entries. The default is all entries.
    preload
        Names of columns that are read now, together. Over a network, that is faster than one
        request after the other.
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
        (a `ValueError`) for another `mode`.
    """
    if mode not in ("virtual", "eager"):
        raise ArgumentError(f"mode is 'virtual' or 'eager', not {mode!r}")
    url = absolute(file)
    dataset, key = _opened(url)
    stop = dataset.num_entries if entry_stop is None else min(entry_stop, dataset.num_entries)
    start = min(max(entry_start or 0, 0), stop)
    workers = threads_of(threads)
    preloaded = None
    if names := [name for name in preload or () if name in dataset]:
        arrays = dataset.arrays(names, entry_start=start, entry_stop=stop, threads=workers)
        preloaded = {name: arrays[name] for name in names}
    mapping = SourceMapping(
        _Opener({str(key): url}),
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
    base_form = SourceMapping._extract_base_form(dataset)
    place = (str(key), dataset.object_path, f"{start}-{stop}")
    return NanoEventsFactory._from_mapping(mapping, place, base_form, schemaclass, metadata, mode)


def events(file: str, **options: Unpack[EventOptions]) -> ak.Array:
    """Return NanoEvents of a TTree or RNTuple; `factory` has the same parameters and errors."""
    return factory(file, **options).events()


class _Nothing(dict[Any, Any]):
    """A cache that keeps nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Forget the value."""


class Runner(processor.Runner):  # type: ignore[misc]
    """coffea's ``processor.Runner``, whose files are opened and read by nyssa.

    It takes the parameters of coffea's, all its executors, and processors as they are. Files with
    TTrees and with RNTuples may stand side by side. ``uproot_options`` are not used. Timeouts of
    XRootD come from the environment (``XRD_REQUESTTIMEOUT``). Without a ``metadata_cache``, each
    run asks the files anew for their entries, since they may have been written again.
    """

    def __post_init__(self) -> None:
        """Set the defaults of options that are not given."""
        given = vars(self).get("metadata_cache")
        self.metadata_cache = _Nothing() if given is None else given
        super().__post_init__()

    @staticmethod
    def metadata_fetcher_root(
        xrootdtimeout: int,  # noqa: ARG004
        align_clusters: bool,
        uproot_options: dict[str, Any],  # noqa: ARG004
        item: FileMeta,
    ) -> Any:
        """Return the number of entries, the identity and the clusters of a file."""
        url = absolute(f"{item.filename}:{item.treename}")
        dataset, identity = _opened(url)
        facts = {"numentries": dataset.num_entries, "uuid": identity.bytes}
        if align_clusters:
            facts["clusters"] = [0, *(stop for _, stop in dataset.clusters)]
        metadata = {**(item.metadata or {}), **facts}
        return set_accumulator([FileMeta(item.dataset, item.filename, item.treename, metadata)])

    @staticmethod
    def _work_function(
        format: str,
        xrootdtimeout: int,
        schema: type[BaseSchema],
        use_dataframes: bool,
        savemetrics: bool,
        item: Any,
        processor_instance: Any,
        uproot_options: dict[str, Any],
        iteritems_options: dict[str, Any],
        checkpointer: Any,
        cache_function: Callable[[], MutableMapping[str, Any]],
    ) -> Any:
        """Process one chunk, and return what coffea's function returns."""
        if format != "root":
            return processor.Runner._work_function(
                format,
                xrootdtimeout,
                schema,
                use_dataframes,
                savemetrics,
                item,
                processor_instance,
                uproot_options,
                iteritems_options,
                checkpointer,
                cache_function,
            )
        if isinstance(processor_instance, str) and processor_instance == "heavy":
            item, processor_instance = item
        if isinstance(processor_instance, bytes):
            # The closure of coffea sends the processor in this form.
            processor_instance = cloudpickle.loads(lz4.frame.decompress(processor_instance))
        metadata = {
            "dataset": item.dataset,
            "filename": item.filename,
            "treename": item.treename,
            "entrystart": item.entrystart,
            "entrystop": item.entrystop,
            "fileuuid": str(uuid.UUID(bytes=item.fileuuid)) if item.fileuuid else "",
            **(item.usermeta or {}),
        }
        if checkpointer is not None:
            stored = checkpointer.load(metadata, processor_instance)
            if stored is not None:
                return stored
        read: list[Any] = []
        chunk = events(
            f"{item.filename}:{item.treename}",
            schemaclass=schema,
            entry_start=item.entrystart,
            entry_stop=item.entrystop,
            preload=item.preload,
            metadata=metadata,
            access_log=read,
            buffer_cache=cache_function(),
            # Each worker of an executor has one thread.
            threads=1,
        )
        start = time.time()
        run = processor_instance.process if hasattr(processor_instance, "process") else None
        out = (run or processor_instance)(chunk)
        if out is None:
            raise ArgumentError("process() of the processor returns None; return an accumulator")
        if not use_dataframes:
            out = {"out": out, "processed": {item}}
            if savemetrics:
                columns = {
                    f"{element.branch}-{key_to_tuple(element.buffer_key)[3]}" for element in read
                }
                out["metrics"] = {
                    "columns": columns,
                    "entries": len(chunk),
                    "processtime": time.time() - start,
                }
        if checkpointer is not None:
            checkpointer.save(out, metadata, processor_instance)
        return out
