"""Merging RNTuples."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from nyssa import _core, _job
from nyssa._field_options import FieldOptions
from nyssa._job_reports import MergeReport
from nyssa._steps import threads_of

__all__ = ["merge"]


@dataclass(frozen=True)
class MergeOptions:
    """The options of a merge, as the core takes them."""

    mode: str
    recluster: bool
    checksums: bool
    output: _job.OutputOptions


def merge(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, str],
    output: str | os.PathLike[str],
    mode: str = "strict",
    *,
    name: str | None = None,
    recluster: int | str | None = None,
    checksums: bool = True,
    compression: int | str = "zstd",
    effort: str | None = None,
    encoding: str = "default",
    field_options: FieldOptions | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    page_size: int | str | None = None,
    carry: bool = True,
    verify: bool = False,
    force: bool = False,
    reproducible: bool = False,
    progress: Callable[[int, int], object] | bool = False,
) -> MergeReport:
    """Merge RNTuples into one in a new file.

    >>> nyssa.merge(["a.root", "b.root:dir/Events"], "all.root")

    Compressed pages are moved as they are, so it goes at the speed of the disk. Inputs may differ
    in compression and in the encodings of their fields. Fields are matched by name, the collections
    of converted files by the counters that show their sizes. Where numbers differ in type, they get
    the one that holds those of all, as in `nyssa.chain`; integers among floats need `recluster`,
    and so do fields that are projected in one input and have data of their own in another. Entries
    keep the order of the inputs.

    Parameters
    ----------
    inputs
        Files, or ``"file.root:path"``, or a dict from files to paths. Without a path it is the
        RNTuple at the path of that in the first input, or the only one of the file.
    output
        The new file. It appears when all is done; a failure leaves none. The other objects of the
        first input come along; those of the others are left out, and listed in the notes.
    mode
        ``"strict"`` refuses inputs that do not have the same fields. ``"union"`` takes the fields
        of all; where an input lacks one, its entries read as zero, empty, or no value.
        ``"filter"`` takes the fields that all inputs have. The same holds for the members of
        records without a type, those of collections among them.
    name
        Path of the RNTuple in the output; default that in the first input.
    recluster
        Compressed size of clusters to aim at, such as ``"200 MB"``: everything is decoded and
        written again, which condenses many small files into full clusters.
    checksums
        Whether pages are checked against their checksums on the way.
    compression
        Of header, footer and page lists: ROOT's setting, such as 505, or a name with an optional
        level: ``"zstd"``, ``"zstd:9"``. Pages keep theirs, unless `recluster` makes new ones: at
        exactly that level, or with an effort chosen by column where none is named.
    effort, encoding, field_options, page_size
        As in `nyssa.rewrite`, for the new clusters that `recluster` makes.
    threads
        As in `Dataset.arrays`.
    memory
        Budget for pages in flight, such as ``"1 GB"``, at least 1 MiB, with `recluster` 2 MiB.
        Default 256 MiB, with `recluster` what clusters of its size need, at least 448 MiB; where it
        is too little for them, a note says so.
    carry
        Whether the other objects of the first input come along.
    verify
        Read all files back and compare every value before the output appears.
    force
        Replace an existing output.
    reproducible
        Leave out the time and the random identity: the same inputs and options give the same bytes.
    progress
        `True` shows a line on stderr; a function is called with what is done and the total.

    Returns
    -------
    MergeReport
        A report: inputs, entries, clusters, pages, bytes, seconds, and notes on what was left out.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) without inputs, when the output is one of them, or naming the first field
        that differs between inputs.
    nyssa.ChecksumError
        when a page of an input is damaged.
    nyssa.errors.OutputExistsError
        (a `FileExistsError`)        when the output exists and `force` is false.
    nyssa.UnsupportedError
        (a `NotImplementedError`) for inputs with features that cannot be merged.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if isinstance(inputs, Mapping):
        inputs = [f"{path}:{name}" for path, name in inputs.items()]
    workers = threads_of(threads)
    options = MergeOptions(
        mode=mode,
        recluster=recluster is not None,
        checksums=checksums,
        output=_job.OutputOptions.of(
            name=name,
            compression=compression,
            effort=effort,
            encoding=encoding,
            field_options=field_options,
            cluster_size=recluster,
            page_size=page_size,
            memory=memory,
            carry=carry,
            verify=verify,
            force=force,
            reproducible=reproducible,
            cluster_name="recluster",
        ),
    )
    sources, target = [os.fspath(one) for one in inputs], os.fspath(output)
    report: MergeReport = _job.run(
        lambda show: _core.merge(sources, target, options, workers, show), progress, "merged"
    )
    return report
