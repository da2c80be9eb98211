"""Writing an RNTuple again with other options, or some of its fields and entries."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from nyssa import _core, _job
from nyssa._field_options import FieldOptions
from nyssa._job_reports import RewriteReport
from nyssa._steps import threads_of
from nyssa.file import open_dataset
from nyssa.rules import ReadRules

__all__ = ["rewrite"]


@dataclass(frozen=True)
class RewriteOptions:
    """The options of a rewrite, as the core takes them."""

    ntuple: str | None
    include: list[str]
    exclude: list[str]
    cut: str | None
    mask: tuple[bytes, int] | None
    entry_start: int | None
    entry_stop: int | None
    output: _job.OutputOptions


def rewrite(
    input: str | os.PathLike[str],
    output: str | os.PathLike[str],
    ntuple: str | None = None,
    *,
    name: str | None = None,
    compression: int | str = "zstd",
    effort: str | None = None,
    encoding: str = "default",
    rules: ReadRules | None = None,
    field_options: FieldOptions | None = None,
    include: str | Iterable[str] = (),
    exclude: str | Iterable[str] = (),
    cut: str | Callable[[Any], Any] | None = None,
    cut_fields: Iterable[str] | None = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
    memory: int | str | None = None,
    cluster_size: int | str | None = None,
    page_size: int | str | None = None,
    carry: bool = True,
    verify: bool = False,
    force: bool = False,
    reproducible: bool = False,
    progress: Callable[[int, int], object] | bool = False,
) -> list[RewriteReport]:
    """Decode an RNTuple and write it again in a new file.

    Names, C++ types, versions and values stay the same; the encoding is chosen anew.

    Parameters
    ----------
    input
        The file, or ``"file.root:Events"``.
    output
        The new file. It appears when all is done; a failure leaves none.
    ntuple
        Path of the RNTuple; without it all RNTuples of the file are rewritten.
    name
        Name of the new RNTuple; default that of the old one.
    compression
        ROOT's setting, such as 505, or a name with an optional level: ``"zstd"``, ``"zstd:9"``. A
        level is used exactly, unless `effort` says otherwise.
    effort
        ``"auto"`` spends time on zstd where a sample of a column shows that it pays, at most that
        of the level; ``"full"`` uses the level for all. Default: full if a level is named.
    encoding
        As in `nyssa.convert`.
    rules
        `ReadRules` for the classes of the fields: the members that they make are written as members
        of these classes, whose version is then the `target_version` of the rule. A cut sees the
        members that are in the file.
    field_options
        How some fields are stored, by pattern of their paths, as in
        `WritableFile.mkrntuple`. Where that loses precision, the report has the bound of the error.
    include, exclude
        Globs of field paths to take and to leave out, such as ``"Muon_*"`` or ``"jets._0.pt"``.
    cut
        Which entries to take: an expression such as ``"nMuon >= 2 && any(abs(Muon_eta) < 2.4)"``,
        or a function that is given awkward arrays of some entries and returns true or false for
        each.
    cut_fields
        Names of the fields that a function needs; default all.
    entry_start, entry_stop
        Range of entries; default all.
    threads
        As in `Dataset.arrays`.
    memory
        Budget for data in flight, such as ``"1 GB"``, at least 1 MiB.
    cluster_size, page_size
        Compressed size of a cluster on storage (at least 256 bytes, and 64 for each column; the
        result is within some percent, the last cluster and short memory aside) and uncompressed
        size of a page (64 bytes to 512 MiB); defaults those of ROOT.
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
    list of dict
        A report for each RNTuple: entries, bytes, seconds, fields, what was left out and why.

    Raises
    ------
    nyssa.errors.OutputExistsError
        (a `FileExistsError`) when the output exists and `force` is false.
    nyssa.NotFoundError
        (a `KeyError`) when a glob matches no field; the message lists the nearest names.
    nyssa.UnsupportedError
        (a `NotImplementedError`) when a field cannot be read.
    """
    workers = threads_of(threads)
    source, mask = os.fspath(input), None
    if callable(cut):
        dataset = open_dataset(f"{source}:{ntuple}" if ntuple else source)
        mask = _mask(dataset, cut, cut_fields, entry_start, entry_stop, threads)
        ntuple = ntuple or dataset.object_path
    options = RewriteOptions(
        ntuple=ntuple,
        include=_job.globs(include),
        exclude=_job.globs(exclude),
        cut=None if callable(cut) else cut,
        mask=mask,
        entry_start=entry_start,
        entry_stop=entry_stop,
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
    own = None if rules is None else rules._core
    target = os.fspath(output)
    reports: list[RewriteReport] = _job.run(
        lambda show: _core.rewrite(source, target, options, own, workers, show),
        progress,
        "rewritten",
    )
    return reports


def _mask(
    dataset: Any,
    cut: Callable[[Any], Any],
    names: Iterable[str] | None,
    start: int | None,
    stop: int | None,
    threads: int | None,
) -> tuple[bytes, int]:
    """Return one bit for each entry, least significant first, and their number."""
    chosen = None if names is None else list(names)
    steps = dataset.iterate(
        chosen, entry_start=start, entry_stop=stop, threads=threads, report=True
    )
    masks = [np.empty(0, dtype=bool)]
    for arrays, (first, last) in steps:
        mask = np.asarray(cut(arrays))
        if mask.dtype != bool or mask.shape != (last - first,):
            message = (
                f"the cut must return {last - first} values of true or false for as many entries, "
                f"not an array of {mask.dtype} of shape {mask.shape}"
            )
            raise ValueError(message)
        masks.append(mask)
    bits = np.concatenate(masks)
    return np.packbits(bits, bitorder="little").tobytes(), len(bits)
