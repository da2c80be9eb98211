"""Converts TTrees to RNTuples, and RNTuples to TTrees."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.by_glob import BranchOptions
from nyssa.arguments.checks import checked
from nyssa.arguments.sizes import AutoFlush, Size, threads_of
from nyssa.jobs import job
from nyssa.jobs.reports import ConvertedFiles, ConvertReport
from nyssa.jobs.shown import shown
from nyssa.read.chain import expand

__all__ = ["convert"]

Path: TypeAlias = str | os.PathLike[str]
# A list of one of these types is not a list of their union.
Inputs: TypeAlias = list[str] | list[os.PathLike[str]] | list[pathlib.Path] | list[Path]


@dataclass(frozen=True)
class Conversion:
    """The dataset and the options of a conversion, as the core takes them."""

    tree: str | None
    to: str
    keywords: job.Keywords


class FileKeywords(job.ClusterKeywords, total=False):
    """The options of the conversion of a file. The docstring of `convert` explains them."""

    to: Literal["rntuple", "ttree", "parquet", "arrow"]
    layout: Literal["importer", "vectors"]
    streamer: str | Iterable[str]
    quantize: bool
    include: str | Iterable[str]
    exclude: str | Iterable[str]
    entry_start: int | None
    entry_stop: int | None
    skip_unsupported: bool
    skip_unreadable: bool
    basket_size: Size | None
    auto_flush: AutoFlush | None
    counters: Mapping[str, str] | None
    leaf_lists: str | Iterable[str]
    vectors: str | Iterable[str]
    split_level: int | None
    open_classes: bool
    branch_options: BranchOptions | None


class ConvertKeywords(FileKeywords, total=False):
    """The options of `convert`, for type checkers; a test compares both."""

    name_pattern: str
    skip_bad: bool
    skip_done: bool
    threads: int | None
    progress: Callable[[int, int], object] | bool


@overload
def convert(
    input: Path,
    output: Path,
    tree: str,
    **options: Unpack[ConvertKeywords],
) -> ConvertReport: ...


@overload
def convert(
    input: Path,
    output: Path,
    tree: None = None,
    **options: Unpack[ConvertKeywords],
) -> ConvertReport | list[ConvertReport]: ...


@overload
def convert(
    input: Inputs,
    output: Path,
    tree: str | None = None,
    **options: Unpack[ConvertKeywords],
) -> ConvertedFiles: ...


@job.shows_options(FileKeywords)
def convert(
    input: Path | Inputs,
    output: Path,
    tree: str | None = None,
    *,
    name_pattern: str = "{stem}.root",
    skip_bad: bool = False,
    skip_done: bool = False,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
    **options: Unpack[FileKeywords],
) -> ConvertReport | list[ConvertReport] | ConvertedFiles:
    """Convert the TTrees of a file to RNTuples in a new file, or RNTuples to TTrees.

    A file is converted as a whole: each TTree becomes an RNTuple at its path.

    >>> nyssa.convert("events.root:Events", "ntuple.root", verify=True)["entries"]
    20000
    >>> nyssa.open("ntuple.root:Events")
    <RNTuple 'Events' (24 columns, 20000 entries)>

    Parameters
    ----------
    input
        The file, or ``"file.root:Events"`` for one of its datasets. In a list, each file is
        converted, one after the other; it may have globs, folders and ``"@LIST"``.
    output
        The new file. It appears when everything is written; after a failure there is no file. For a
        list, the folder of the new files. Its file ``nyssa-campaign.jsonl`` gets a line for each.
    tree
        Path of the tree, or of the RNTuple that becomes one. The default is all TTrees of the file,
        or with ``to="ttree"`` all its RNTuples.
    to
        ``"rntuple"`` converts TTrees. ``"ttree"`` converts RNTuples to TTrees, for users who still
        need one. Records and collections of records become branches of their members (``Jet.pt``
        is ``Jet_pt[nJet]``), other collections ``std::vector``. Fields that a TTree cannot hold,
        such as missing values and variants, are named with the reason before anything is written.
        ``"parquet"`` and ``"arrow"`` write a table, which is also the default for an output of such
        a name (``.parquet``, ``.arrow``, ``.feather``, ``.ipc``). A file that is a table becomes an
        RNTuple, or a TTree. ``docs/parquet.md`` says what becomes of the types.
    name_pattern
        For a list: names of the outputs. ``{stem}`` is the name of the input without its ending.
    skip_bad
        For a list: continue after a file that cannot be converted. By default this is an error.
    skip_done
        For a list: keep outputs that were made of these inputs by these options, and make the
        others. An output of an older version of its input is replaced; any other one is an error
        without `force`.
    layout
        ``"importer"`` makes the fields that ROOT's importer makes: branches with the same counter
        share one collection. ``"vectors"`` makes each jagged branch a ``std::vector`` of its own.
    streamer
        Which branches of classes and standard containers are stored as the bytes that ROOT's
        streamer makes of each object: one or several globs, ``"all"``, or ``"auto"``. With
        ``"auto"`` a branch is stored in this way if a sample is then smaller. ROOT needs
        the dictionary of the class to read such fields; nyssa does not. A branch whose class has no
        other type in RNTuple is always stored in this way. The report lists these branches.
    quantize
        Store ``Float16_t`` and ``Double32_t`` that have a range (``[min,max,bits]``) as the
        integers that the tree has (column type ``Real32Quant``). Files are smaller. A reader
        computes the values in another order than for a tree, so that they may differ in the last
        bits; the report states by how much. Without it, such columns are only chosen where they
        keep all bits of all values.
    include, exclude
        Globs of the names of branches to convert, and of branches to leave out; or of the paths of
        fields, or the branches that these become.
    entry_start, entry_stop
        Range of entries of one dataset. The default is all entries.
    skip_unsupported
        Leave out branches that nyssa cannot convert, or fields that a TTree cannot hold, instead of
        failing. The report lists them.
    skip_unreadable
        Leave out branches with damaged data, instead of failing. The report lists them with
        ``"unreadable": True``.
    basket_size, auto_flush, branch_options
        For a TTree that is written: as in `WritableFile.mktree`.
    counters, leaf_lists, vectors
        For a TTree that is written: as in `WritableFile.mktree`, by globs of its branches. Members
        of one collection have one counter, which is its cardinality field if there is one.
    split_level
        How deep objects of classes are split into branches of a TTree, as in `WritableFile.mktree`.
        Fields of classes that the streamer infos of the file describe become branches of the class.
    open_classes
        Write the members of such objects as branches of numbers, as the members of records without
        a class.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the work that is
        done and the total.
    **output
        See `nyssa.jobs.job.OutputKeywords`.

    Returns
    -------
    ConvertReport
        Entries, bytes, seconds and fields; the branches that were renamed or left out, and why; the
        other objects of the file that were copied (``"carried"``) and that were not
        (``"left_out"``). For a file with several datasets: a list with a report on each. For a list
        of files: the result of each file; its `total` has the sums.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if a name or a range of entries is given, and the file has several
        datasets of which none is named; the message lists them.
    nyssa.errors.OutputExistsError
        (a `FileExistsError`) if the output exists and `force` is false.
    nyssa.UnsupportedError
        (a `NotImplementedError`) if a branch or a field cannot be converted.
    """
    workers = threads_of(threads)
    chosen = _conversion(tree, options)
    target = os.fspath(output)
    if isinstance(input, list):
        inputs = [str(element) for element in expand([os.fspath(item) for item in input])]
        many = (inputs, target, name_pattern, skip_bad, skip_done, chosen, workers)
        done = job.run(lambda show: _core.convert_many(*many, show), progress, "converted")
        return ConvertedFiles(done["files"], done["total"])
    reports = _converted(os.fspath(input), target, chosen, workers, progress)
    return shown(reports[0] if len(reports) == 1 else reports)


@checked
def convert_every(
    input: str,
    output: str,
    tree: str | None = None,
    *,
    threads: int | None = None,
    **options: Unpack[FileKeywords],
) -> list[ConvertReport]:
    """Convert as `convert` does, and return a list of reports also of one dataset."""
    chosen = _conversion(tree, options)
    return _converted(input, output, chosen, threads_of(threads), progress=False)


def job_of(tree: str | None = None, **options: Unpack[FileKeywords]) -> str:
    """Return a conversion with the options that are not the defaults, as journals have it."""
    text: str = _core.convert_job(_conversion(tree, options))
    start, stop = (options.get(name) for name in ("entry_start", "entry_stop"))
    apart = {"entry_start": start, "entry_stop": stop, "tree": tree}
    given = [f"{name}={value!r}" for name, value in apart.items() if value is not None]
    inside = text.removeprefix("convert(").removesuffix(")")
    return f"convert({', '.join([*([inside] if inside else []), *given])})"


def _conversion(tree: str | None, options: FileKeywords) -> Conversion:
    to = options.get("to")
    to = "rntuple" if to is None else to
    return Conversion(tree, to, job.keywords(FileKeywords, options))


def _converted(
    source: str,
    target: str,
    chosen: Conversion,
    workers: int | None,
    progress: Callable[[int, int], object] | bool,
) -> list[ConvertReport]:
    reports: list[ConvertReport] = job.run(
        lambda show: _core.convert(source, target, chosen, workers, show),
        progress,
        "converted",
    )
    return reports
