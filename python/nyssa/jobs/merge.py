"""Merges RNTuples, TTrees and histograms."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, overload

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.by_glob import BranchOptions
from nyssa.arguments.sizes import AutoFlush, Size, threads_of
from nyssa.errors import ArgumentError
from nyssa.jobs import job
from nyssa.jobs.reports import MergeReport
from nyssa.jobs.shown import shown

__all__ = ["merge"]


class ContentKeywords(job.OutputKeywords, total=False):
    """The options of `merge` that every input may need."""

    checksums: bool
    skip_unsupported: bool
    skip_bad: bool
    basket_size: Size | None
    auto_flush: AutoFlush | None
    branch_options: BranchOptions | None


class MergeKeywords(ContentKeywords, total=False):
    """The options of `merge` that campaigns take."""

    mode: Literal["strict", "union", "filter"]


class AllKeywords(ContentKeywords, total=False):
    """The options of `merge` that are keywords only."""

    recluster: Size | None
    append: bool


@overload
def merge(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, str],
    output: str | os.PathLike[str],
    mode: Literal["strict", "union", "filter"] = "strict",
    *,
    condense: None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
    **options: Unpack[AllKeywords],
) -> MergeReport: ...


@overload
def merge(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, str],
    output: str | os.PathLike[str],
    mode: Literal["strict", "union", "filter"] = "strict",
    *,
    condense: int,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
    **options: Unpack[AllKeywords],
) -> list[MergeReport]: ...


@job.shows_options(AllKeywords)
def merge(
    inputs: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, str],
    output: str | os.PathLike[str],
    mode: Literal["strict", "union", "filter"] = "strict",
    *,
    condense: int | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
    **options: Unpack[AllKeywords],
) -> MergeReport | list[MergeReport]:
    """Merge RNTuples, TTrees and histograms in a new file.

    >>> _ = nyssa.merge(["run1/a.root", "run1/b.root"], "all.root")
    >>> nyssa.open("all.root:Events").num_entries
    40000

    Every RNTuple and every TTree of the files is merged, matched by its path.

    Compressed pages are copied as they are, so a merge is as fast as the disk. Inputs may differ in
    compression and in the encodings of their fields. Fields are matched by name; the collections of
    converted files are matched by the counters that show their sizes. If the types of numbers
    differ, the output has the type that holds the numbers of all inputs, as in `nyssa.chain`. Two
    cases need `recluster`: integers in some inputs that are floats in others, and fields that are
    projected in one input and have data of their own in another. Entries keep the order of the
    inputs.

    With `compression`, pages and baskets are decompressed and compressed again. Without `recluster`
    their contents do not change: `effort` is not used (a note of the report says so), and
    `encoding`, `field_options` and `page_size` may not be given.

    TTrees are merged as ``hadd -ff`` does: their baskets are copied as they are. Their branches
    must be equal in all inputs. With `basket_size`, `auto_flush` or `branch_options`, their entries
    are packed into other baskets, as by `rewrite`; the baskets of one branch then have one
    compression, by default the compression of the first input. `mode`, `recluster` and
    `checksums` are for RNTuples only. `verify` compares no histograms and no other objects: if
    there is nothing else, a note says so.

    Parameters
    ----------
    inputs
        Files, or ``"file.root:path"``, or a dict from files to paths. A path selects only the
        dataset at this path, and the objects beside it. If the first input names a dataset, this
        dataset is taken from all inputs. Datasets of different names are joined if each is named. A
        note of the report names an input that is given twice.
    output
        The new file. It appears when everything is written; after a failure there is no file.
        Objects that ROOT merges (histograms, profiles, efficiencies, graphs, parameters, lists of
        these) are merged as ``hadd`` does it. Those that ROOT does not merge, such as strings, are
        kept: one of each content, with cycles of their own. With ``carry=False`` the output has the
        datasets only, or the dataset that the first input names.
    mode
        ``"strict"`` refuses inputs that do not have the same fields. ``"union"`` takes the fields
        of all inputs; if an input lacks a field, its entries read as zero, empty, or no value.
        ``"filter"`` takes only the fields that all inputs have. The same holds for the members of
        records without a type, also in collections. An RNTuple that some inputs lack is
        refused, has the entries of the other inputs, or is left out. A TTree always has the entries
        of the inputs that have it. Notes name these inputs.
    recluster
        Compressed size of clusters, such as ``"200 MB"``. All data are then decoded and written
        again, so that many small files become a few full clusters. `memory` must then be at least
        2 MiB.
    checksums
        Whether the pages are checked against their checksums while they are copied.
    skip_unsupported
        Whether objects that ROOT merges and nyssa cannot, such as histograms with other axes, are
        left out and listed in the notes and in ``left_out`` of the report. Otherwise the first one
        is an error.
    skip_bad
        Whether inputs that are missing or damaged are left out and listed in the notes and in
        ``bad`` of the report. Otherwise the first one is an error. If damage is found while pages
        or baskets are copied, the merge starts again without this input.
    append
        Whether an existing output is kept: its datasets and objects come first, as if it were the
        first input. It is replaced when the new file is complete.
    basket_size
        Size of the baskets of TTrees before compression. The default is the size of each branch; or
        with `auto_flush`, the size of its entries in a cluster.
    auto_flush
        Where clusters of TTrees end, as in `WritableFile.mktree`. The default is where they end in
        the inputs. Only with this option, small inputs share their clusters and baskets.
    branch_options
        Compression, size of baskets or title of some branches of TTrees, by globs of their paths,
        as in `WritableFile.mktree`.
    condense
        Number of inputs of each output. There are then several outputs; ``{number}`` in `output`
        becomes 0, 1, 2, ...
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the work that is
        done and the total.
    **output
        See `nyssa.jobs.job.OutputKeywords`.

    Returns
    -------
    MergeReport
        Inputs, entries, clusters, pages, bytes, seconds, and notes on what was left out. With
        `condense`, a list with a report on each output.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if there are no inputs, if the output is one of them, if the fields of the
        inputs differ (the message names the first one), or if objects of one name cannot be added,
        such as histograms with other axes.
    nyssa.ChecksumError
        if a page of an input is damaged.
    nyssa.errors.OutputExistsError
        (a `FileExistsError`) if the output exists and `force` is false.
    nyssa.UnsupportedError
        (a `NotImplementedError`) for inputs with features that cannot be merged.

    Notes
    -----
    The default of `memory` is 256 MiB. With `recluster` it is what clusters of that size need, at
    least 448 MiB; if less is given than they need, a note of the report says so.
    """
    if isinstance(inputs, (str, os.PathLike)):
        inputs = [inputs]
    if isinstance(inputs, Mapping):
        inputs = [f"{path}:{name}" for path, name in inputs.items()]
    workers = threads_of(threads)
    if condense is not None and condense < 1:
        raise ArgumentError(f"condense must be a positive number of inputs, not {condense}")
    chosen = job.keywords(AllKeywords, options)
    both = [os.fspath(item) for item in inputs], os.fspath(output)
    report: MergeReport | list[MergeReport] = job.run(
        lambda show: _core.merge(*both, mode, condense, chosen, workers, show), progress, "merged"
    )
    return shown(report)
