"""Rewrites RNTuples and TTrees with other options, or with less of their columns and entries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.by_glob import BranchOptions
from nyssa.arguments.keywords import kinds_of, texts_of
from nyssa.arguments.sizes import AutoFlush, Size, threads_of
from nyssa.arrays import to_numpy
from nyssa.jobs import job
from nyssa.jobs.reports import RewriteReport
from nyssa.jobs.shown import shown
from nyssa.read.file import open_dataset
from nyssa.read.rules import ReadRules

__all__ = ["rewrite"]


class FileKeywords(job.ClusterKeywords, total=False):
    """The options that become words of the command line."""

    include: str | Iterable[str]
    exclude: str | Iterable[str]
    split: str | Iterable[str]
    streamed: str | Iterable[str]
    entry_start: int | None
    entry_stop: int | None
    basket_size: Size | None
    auto_flush: AutoFlush | None
    branch_options: BranchOptions | None


class RewriteKeywords(FileKeywords, total=False):
    """The options of `rewrite` for one file, for type checkers; a test compares both."""

    ntuple: str | None
    rules: ReadRules | None
    cut: str | Callable[[Any], Any] | None
    cut_fields: Iterable[str] | None


@job.shows_options(FileKeywords)
def rewrite(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    ntuple: str | None = None,
    *,
    rules: ReadRules | None = None,
    cut: str | Callable[[Any], Any] | None = None,
    cut_fields: Iterable[str] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
    **options: Unpack[FileKeywords],
) -> list[RewriteReport]:
    """Write an RNTuple or a TTree again in a new file.

    >>> cut = "nMuon >= 2"
    >>> _ = nyssa.rewrite("events.root:Events", "skim.root", include=["Muon_*"], cut=cut)
    >>> nyssa.open("skim.root:Events").num_entries
    6763

    Names, C++ types, versions and values stay the same. An RNTuple is decoded, and its encoding is
    chosen again. The entries of a TTree, which may be of any class, are packed into other baskets
    without being decoded; what no option changes stays as it is, also the compression.

    Parameters
    ----------
    input
        The file, or ``"file.root:Events"``.
    output
        The new file. It appears when everything is written; after a failure there is no file.
    ntuple
        Path of the RNTuple or TTree. Without it, all of the file are rewritten. A TTree that cannot
        be taken apart is then left out, and `RewriteReport` says why, if there is another dataset.
    rules
        `ReadRules` for the classes of the fields. The members that the rules make are written as
        members of these classes, and the version of the class becomes the `target_version` of the
        rule. A cut sees the members that are in the file. TTrees take no rules.
    include, exclude
        Globs of the paths of fields or branches to write, and of those to leave out, such as
        ``"Muon_*"`` or ``"jets._0.pt"``. A glob also matches the name of a branch. The branches
        above a branch, and the counters that it needs, are written with it.
    split
        Globs of the names of streamer fields to store in columns of their members, such as ``"*"``.
        Each gets the type that `convert` gives to a branch of its class. TTrees have no such
        fields.
    streamed
        Globs of the names of fields of classes and containers to store as streamer fields, with the
        bytes of ROOT's streamer: the opposite of `split`. The file must have the streamer infos of
        the classes.
    basket_size
        Size of the baskets of a TTree before compression. The default is the size of each branch;
        or with `auto_flush`, the size of its entries in a cluster.
    auto_flush
        Where clusters of a TTree end, as in `WritableFile.mktree`. The default is where they end in
        the input.
    branch_options
        Compression, size of baskets or title of some branches of a TTree, by globs of their paths,
        as in `WritableFile.mktree`.
    cut
        Which entries to write: an expression such as ``"nMuon >= 2 && any(abs(Muon_eta) < 2.4)"``,
        or a function. The function gets awkward arrays of some entries and returns true or false
        for each entry.
    cut_fields
        Names of the fields that the function needs. The default is all fields.
    entry_start, entry_stop
        Range of entries. The default is all entries.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the work that is
        done and the total.
    **output
        See `nyssa.jobs.job.OutputKeywords`.

    Returns
    -------
    list of RewriteReport
        One report for each RNTuple or TTree: entries, bytes, seconds, fields or branches, and what
        was left out and why.

    Raises
    ------
    nyssa.errors.OutputExistsError
        (a `FileExistsError`) if the output exists and `force` is false.
    nyssa.NotFoundError
        (a `KeyError`) if a glob matches no field or branch; the message lists the nearest names.
    nyssa.UnsupportedError
        (a `NotImplementedError`) if a field cannot be read, the objects of a field cannot be
        streamed, or the entries of a branch cannot be taken apart.
    nyssa.errors.ArgumentError
        (a `ValueError`) for an option of RNTuples if only TTrees are rewritten, and the reverse.
    """
    workers = threads_of(threads)
    source, mask = os.fspath(input), None
    if callable(cut):
        dataset = open_dataset(f"{source}:{ntuple}" if ntuple else source)
        entries = (options.get("entry_start"), options.get("entry_stop"))
        mask = _mask(dataset, cut, cut_fields, entries, threads)
        ntuple = ntuple or dataset.object_path
    chosen = job.keywords(FileKeywords, options)
    expression = None if callable(cut) else cut
    own = None if rules is None else rules._core
    target = os.fspath(output)
    reports: list[RewriteReport] = job.run(
        lambda show: _core.rewrite(
            source, target, ntuple, chosen, expression, mask, own, workers, show
        ),
        progress,
        "rewritten",
    )
    return shown(reports)


def check_format(options: Mapping[str, Any], format: str) -> None:
    """Refuse options that a dataset of a format, ``"TTree"`` or ``"RNTuple"``, does not have.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) with their names.
    """
    declared = kinds_of(FileKeywords)
    given = {name: value for name, value in options.items() if name in declared}
    _core.check_rewrite(job.keywords(FileKeywords, given), format == "TTree")


def _mask(
    dataset: Any,
    cut: Callable[[Any], Any],
    names: Iterable[str] | None,
    entries: tuple[int | None, int | None],
    threads: int | None,
) -> tuple[bytes, int]:
    """Return one bit for each entry, least significant first, and their number."""
    chosen = None if names is None else texts_of("cut_fields", names)
    steps = dataset.iterate(
        chosen, entry_start=entries[0], entry_stop=entries[1], threads=threads, report=True
    )
    masks = [np.empty(0, dtype=bool)]
    for arrays, (first, last) in steps:
        mask = to_numpy.plain(cut(arrays), "the cut")
        if mask.dtype != bool or mask.shape != (last - first,):
            message = (
                f"the cut must return {last - first} values of true or false for as many entries, "
                f"not an array of {mask.dtype} of shape {mask.shape}"
            )
            raise ValueError(message)
        masks.append(mask)
    bits = np.concatenate(masks)
    return np.packbits(bits, bitorder="little").tobytes(), len(bits)
