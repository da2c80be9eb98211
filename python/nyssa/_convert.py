"""Converting a TTree to an RNTuple."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from nyssa import _core, _job
from nyssa._field_options import FieldOptions
from nyssa._job_reports import ConvertReport
from nyssa._steps import threads_of

__all__ = ["convert"]


@dataclass(frozen=True)
class ConvertOptions:
    """The options of a conversion, as the core takes them."""

    tree: str | None
    layout: str
    streamer: list[str]
    include: list[str]
    exclude: list[str]
    entry_start: int | None
    entry_stop: int | None
    skip_unsupported: bool
    skip_unreadable: bool
    output: _job.OutputOptions


def convert(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    tree: str | None = None,
    *,
    name: str | None = None,
    compression: int | str = "zstd",
    effort: str | None = None,
    encoding: str = "default",
    field_options: FieldOptions | None = None,
    layout: str = "importer",
    streamer: str | Iterable[str] = (),
    threads: int | None = None,
    memory: int | str | None = None,
    cluster_size: int | str | None = None,
    page_size: int | str | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    entry_start: int | None = None,
    entry_stop: int | None = None,
    skip_unsupported: bool = False,
    skip_unreadable: bool = False,
    carry: bool = True,
    verify: bool = False,
    force: bool = False,
    reproducible: bool = False,
    progress: Callable[[int, int], object] | bool = False,
) -> ConvertReport:
    """Convert a TTree to an RNTuple in a new file.

    Parameters
    ----------
    input
        The file, or ``"file.root:Events"``.
    output
        The new file. It appears when all is done; a failure leaves none.
    tree
        Path of the tree; may be left out where the file has only one.
    name
        Name of the RNTuple; default that of the tree.
    compression
        ROOT's setting, such as 505, or a name with an optional level: ``"zstd"``, ``"zstd:9"``. A
        level is used exactly, unless `effort` says otherwise.
    effort
        ``"auto"`` spends time on zstd where a sample of a column shows that it pays, at most that
        of the level; ``"full"`` uses the level for all. Default: full if a level is named.
    encoding
        ``"default"``: column types as ROOT has them. ``"auto"``: for each column what a sample
        shows to be smallest, split or unsplit, with an effort chosen for size more than for time.
    field_options
        How some fields of the output are stored, by pattern of their paths or of the names of their
        branches, as in `WritableFile.mkrntuple`. Where that loses precision, the
        report has the bound of the error.
    layout
        ``"importer"``: the fields ROOT's importer makes, branches with a common count sharing
        one collection. ``"vectors"``: each jagged branch a ``std::vector`` of its own.
    streamer
        Which branches of classes and standard containers are stored as the bytes that ROOT's
        streamer makes of each object: a glob or several, ``"all"``, or ``"auto"``: those that the
        first cluster shows to be smaller so. ROOT reads them with the dictionary of the class,
        nyssa without. What has no other type in RNTuple is stored so in any case; the report says
        which and why.
    threads
        As in `Dataset.arrays`.
    memory
        Budget for data in flight, such as ``"1 GB"``, at least 1 MiB.
    cluster_size, page_size
        Compressed size of a cluster on storage (at least 256 bytes, and 64 for each column; the
        result is within some percent, the last cluster and short memory aside) and uncompressed
        size of a page (64 bytes to 512 MiB); defaults those of ROOT.
    include, exclude
        Globs of branch names to take and to leave out.
    entry_start, entry_stop
        Range of entries; default all.
    skip_unsupported
        Leave out branches nyssa cannot convert (they are in the report) instead of failing.
    skip_unreadable
        Leave out branches with damaged data (they are in the report, as ``"unreadable"``) instead
        of failing.
    carry
        Whether histograms, directories and the other objects of the file come along; else they are
        only named in the report.
    verify
        Read both files back and compare every value before the output appears.
    force
        Replace an existing output.
    reproducible
        Leave out the time and the random identity: the same input and options give the same bytes.
    progress
        `True` shows a line on stderr; a function is called with what is done and the total.

    Returns
    -------
    ConvertReport
        A report: entries, bytes, seconds, fields, what was renamed or left out and why, which other
        objects of the file came along (``"carried"``) and which did not (``"left_out"``).

    Raises
    ------
    nyssa.errors.OutputExistsError
        (a `FileExistsError`)        when the output exists and `force` is false.
    nyssa.UnsupportedError
        (a `NotImplementedError`) when a branch cannot be converted.
    """
    workers = threads_of(threads)
    options = ConvertOptions(
        tree=tree,
        layout=layout,
        streamer=_job.globs(streamer),
        include=_job.globs(include),
        exclude=_job.globs(exclude),
        entry_start=entry_start,
        entry_stop=entry_stop,
        skip_unsupported=skip_unsupported,
        skip_unreadable=skip_unreadable,
        output=_job.OutputOptions.of(
            name=name,
            compression=compression,
            effort=effort,
            encoding=encoding,
            field_options=field_options,
            cluster_size=cluster_size,
            page_size=page_size,
            memory=memory,
            carry=carry,
            verify=verify,
            force=force,
            reproducible=reproducible,
        ),
    )
    source, target = os.fspath(input), os.fspath(output)
    report: ConvertReport = _job.run(
        lambda show: _core.convert(source, target, options, workers, show), progress, "converted"
    )
    return report
