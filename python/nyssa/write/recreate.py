"""Opens files to write: `recreate` and `update`; and says how much memory writing takes."""

from __future__ import annotations

import json
import os
from typing import cast

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.keywords import shows_keywords
from nyssa.arguments.options import SupportsWrite
from nyssa.arrays import from_data, from_types
from nyssa.files.bridge import output_of
from nyssa.write.file import UpdatableFile, WritableFile
from nyssa.write.options import UpdateKeywords, WriteKeywords, write_options

__all__ = ["estimate_write_memory", "recreate", "update"]


@shows_keywords(WriteKeywords)
def recreate(
    path: str | os.PathLike[str] | SupportsWrite,
    *,
    force: bool = True,
    **options: Unpack[WriteKeywords],
) -> WritableFile:
    """Create a ROOT file for writing RNTuples, TTrees, histograms and other objects.

    >>> with nyssa.recreate("out.root") as file:
    ...     file["Events"] = {"x": np.arange(3), "jets": [[1.5], [], [2.5, 3.5]]}
    ...     file["plots/h"] = np.histogram([1.0, 2.0, 2.0])
    >>> nyssa.open("out.root").keys()
    ['plots;1', 'plots/h;1', 'Events;1']

    The file appears when it is closed. An exception inside the ``with`` leaves no file, or the file
    that was there before. The options of clusters and pages have the meaning and the defaults of
    ROOT's ``RNTupleWriteOptions``.

    Parameters
    ----------
    path
        Path or URL of the file (``s3://``, or of a scheme of fsspec), a file object that takes
        bytes, or a file of fsspec. What is not on this machine is written to a temporary file, and
        sent when that is closed; a file object gets the bytes in order, and stays open.
    compression
        ROOT's setting, such as 505 (zstd, level 5), 404 (lz4), 207 (lzma), 101 (zlib), 0 (none), or
        a name with an optional level: ``"zstd"``, ``"zstd:9"``. A level is used exactly, except
        with ``effort="auto"``. The default is the value of the `profile`, or ``"zstd"``.
    effort
        ``"auto"`` uses a lower zstd level for columns where a sample shows that a higher one saves
        too little; ``"full"`` uses the level for all columns. Default: the value of the
        `profile`; or ``"full"`` if `compression` names a level, otherwise ``"auto"``.
    encoding
        ``"default"``: the column types of ROOT. ``"auto"``: for each column the type, split or
        unsplit, that is smallest for a sample of its data, with a compression effort for small size
        rather than short time. The choice is made again in later clusters. In each cluster the
        pages are compared with those in ROOT's type, and the smaller ones are stored. With
        ``buffered=False`` this comparison is not possible, so the types are ROOT's. The default is
        the value of the `profile`, or ``"default"``.
    profile
        Path or URL of a file of `nyssa.tune` that states options: `compression`, `effort`,
        `encoding`, `cluster_size` and `page_size`. Options that are given count more. Its choices
        for columns are for jobs; writers choose by the data that they get.
    cluster_size
        Approximate compressed size of a cluster, such as ``"50 MB"``: at least 256 bytes, and 64
        bytes for each column. Clusters are smaller if memory is short.
    max_unzipped_cluster_size
        Maximum uncompressed size of a cluster; default ten times `cluster_size`.
    page_size, initial_page_size
        Maximum size of a page before compression, and initial size of the open page of a column.
    page_buffer_budget
        Maximum memory of the open pages of all columns; default twice `cluster_size`, or once
        without compression. The limit `memory` holds in any case.
    buffered
        Whether sealed pages stay in memory until their cluster is complete, so that the pages of a
        column lie together in the file. Otherwise they are written at once, which needs less
        memory.
    checksums
        Whether pages carry a checksum.
    same_page_merging
        Whether equal pages are stored once.
    memory
        Maximum memory for writing an RNTuple, for all fill contexts together; see
        `estimate_write_memory`. Default one and a half times `cluster_size`, at least 192 MiB. With
        many hundred columns, clusters of the default size need 336 MiB.
    field_options
        Storage options of fields for every RNTuple of the file. `WritableFile.mkrntuple` explains
        them, and its own options come after these. Each pattern must match a field of each
        RNTuple.
    fill_contexts
        Maximum number of contexts of `NTupleWriter.fill_context` or `TreeWriter.fill_context` at
        one time. The contexts of an RNTuple share the memory. Default the number of `threads`.
    fill_order
        Order of the clusters of fill contexts. ``"completion"``: in the order in which they are
        complete. ``"round-robin"``: one cluster of each context in turn, so that the same entries
        in each context make the same file; a cluster that is complete before its turn waits in
        memory or in a temporary file.
    force
        Whether an existing file is replaced.
    threads
        As in `Dataset.arrays`.

    Raises
    ------
    nyssa.errors.OutputExistsError
        (a `FileExistsError`) when the file exists and `force` is false.
    """
    chosen = write_options(options)
    output = None if isinstance(path, str) else output_of(path, force)
    if output is not None:
        return WritableFile(output.name, _core.Writer(output, chosen, force))
    path = os.fspath(cast("str | os.PathLike[str]", path))
    return WritableFile(path, _core.Writer(path, chosen, force))


@shows_keywords(UpdateKeywords)
def update(path: str | os.PathLike[str], **options: Unpack[UpdateKeywords]) -> UpdatableFile:
    """Open an existing ROOT file to add to its RNTuples and TTrees, or to add and delete objects.

    >>> with nyssa.recreate("out.root") as file:
    ...     file["Events"] = {"x": [0.5], "jets": [[]]}
    >>> with nyssa.update("out.root") as file:
    ...     file["Events"].extend({"x": [1.0, 2.0], "jets": [[1.5], []]})
    ...     file["More"] = {"y": [1, 2, 3]}
    >>> nyssa.open("out.root:Events")["x"].array(library="np")
    array([0.5, 1. , 2. ])

    The file may come from ROOT; all its other objects stay. It is changed in place when it is
    closed. A crash at any moment leaves the old file or the new file. An exception inside the
    ``with`` leaves the old file. While it is open, other programs that lock files cannot change it;
    if a program changes it without a lock, closing raises an error.

    New entries have the fields and encodings of the RNTuple. `NTupleWriter.add_fields` adds fields,
    which read as zeros in earlier entries. The entries of a TTree go into new baskets, with the
    types, counters, compression and basket sizes of its branches; `TreeWriter.add_branches` adds
    branches (``docs/ttree-writing.md``).

    Parameters
    ----------
    path
        Path of a local file.
    compression, effort, cluster_size, page_size, checksums, memory, threads
        As in `recreate`, for the new entries.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) from ``file[name]`` when there is no such RNTuple or TTree.
    nyssa.UnsupportedError
        (a `NotImplementedError`) for files of a form that cannot be changed in place, from
        ``file[name]`` for a TTree that cannot be changed, and from `TreeWriter.extend` for a TTree
        with a branch to which no entries can be added.
    """
    path = os.fspath(path)
    return UpdatableFile(path, _core.Writer.update(path, write_options(options)))


@checked
def estimate_write_memory(
    types_or_data: object, **options: Unpack[WriteKeywords]
) -> dict[str, int]:
    """Return the maximum memory of writing, in bytes, before anything is written.

    >>> parts = nyssa.estimate_write_memory({"x": "float", "y": "float"}, memory="200 MB")
    >>> parts["total"] <= 200_000_000
    True

    Parameters
    ----------
    types_or_data
        As in `WritableFile.mkrntuple`.
    **options
        As in `recreate`. With `fill_contexts`, this number of threads fills; without it, one
        writer seals on `threads` threads.

    Returns
    -------
    dict
        ``buffers`` (open pages), ``sealed`` (compressed pages of open clusters), ``compressors``,
        ``file`` (page lists and similar), and ``total``, which is at most the option `memory`. The
        data of one call of `extend` for each thread are not included, and neither are up to 32 MiB
        of the file that wait for the disk if there are two `threads` or more.

    Raises
    ------
    nyssa.LimitError
        (a `MemoryError`) when there is not enough memory for this number of columns and contexts;
        the message says what to do.
    """
    columns = from_types.empty(types_or_data)
    if columns is None:
        columns = from_data.columns(types_or_data)
    estimate: dict[str, int] = json.loads(
        _core.estimate_write_memory(columns, write_options(options))
    )
    return estimate
