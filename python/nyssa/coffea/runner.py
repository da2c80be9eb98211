"""Runs processors of coffea on chunks of files that nyssa opens and reads."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, MutableMapping
from threading import Lock
from typing import Any

import cloudpickle
import lz4.frame
from coffea import processor
from coffea.nanoevents.schemas import BaseSchema
from coffea.nanoevents.util import key_to_tuple
from coffea.processor.executor import FileMeta, set_accumulator

from nyssa.coffea.events import events
from nyssa.coffea.sources import opened
from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute

__all__ = ["Runner"]


class _Nothing(dict[Any, Any]):
    """A cache that keeps nothing."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Forget the value."""


class _Reads:
    """Counts the bytes that chunks read.

    Chunks of a file that threads process at the same time share its counters. Each byte is counted
    in one of them, so that the sum of all chunks is right.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        # The chunks of each file that run now, and the bytes that were counted.
        self._running: dict[str, tuple[int, int]] = {}

    def begin(self, url: str) -> None:
        """Begin a chunk of a file."""
        with self._lock:
            chunks, counted = self._running.get(url) or (0, _bytes_read(url))
            self._running[url] = chunks + 1, counted

    def end(self, url: str) -> int:
        """End a chunk, and return the bytes that were read and not counted before."""
        with self._lock:
            chunks, counted = self._running.pop(url)
            now = _bytes_read(url)
            if chunks > 1:
                self._running[url] = chunks - 1, now
        return max(now - counted, 0)


def _bytes_read(url: str) -> int:
    stats = opened((url,))[0].io_stats()
    return stats.bytes_read + stats.bytes_readv


_READS = _Reads()


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
        dataset, identity = opened((url,))
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
        url = absolute(f"{item.filename}:{item.treename}")
        read: list[Any] = []
        _READS.begin(url)
        try:
            chunk = events(
                url,
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
            seconds = time.time() - start
        finally:
            bytesread = _READS.end(url)
        if out is None:
            raise ArgumentError("process() of the processor returns None; return an accumulator")
        if not use_dataframes:
            out = {"out": out, "processed": {item}}
            if savemetrics:
                columns = {
                    f"{element.branch}-{key_to_tuple(element.buffer_key)[3]}" for element in read
                }
                out["metrics"] = {
                    "bytesread": bytesread,
                    "columns": columns,
                    "entries": len(chunk),
                    "processtime": seconds,
                }
        if checkpointer is not None:
            checkpointer.save(out, metadata, processor_instance)
        return out
