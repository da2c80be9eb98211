"""Skims datasets: some columns of the entries that pass cuts, and new columns, in a new file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.by_glob import BranchOptions
from nyssa.arguments.keywords import texts_of
from nyssa.arguments.sizes import AutoFlush, Size, threads_of
from nyssa.errors import ArgumentError
from nyssa.jobs import job
from nyssa.jobs.cutflow import SkimReport
from nyssa.read.chain import expand

__all__ = ["skim"]

Path: TypeAlias = str | os.PathLike[str]
Cuts: TypeAlias = str | Iterable[str] | Mapping[str, str]


class FileKeywords(job.ClusterKeywords, total=False):
    """The options of a skim. The docstring of `skim` explains them."""

    exclude: str | Iterable[str]
    format: str | None
    entry_start: int | None
    entry_stop: int | None
    skip_unsupported: bool
    skip_unreadable: bool
    friends: bool
    basket_size: Size | None
    auto_flush: AutoFlush | None
    branch_options: BranchOptions | None


class CoreKeywords(FileKeywords, total=False):
    """The options as the core takes them."""

    columns: str | Iterable[str]


@job.shows_options(FileKeywords)
def skim(
    inputs: Path | Iterable[Path] | Mapping[str, str],
    output: Path,
    columns: str | Iterable[str] | None = None,
    cut: Cuts | None = None,
    *,
    define: Mapping[str, str] | None = None,
    threads: int | None = None,
    progress: Callable[[int, int], object] | bool = False,
    **options: Unpack[FileKeywords],
) -> SkimReport:
    """Write columns of the entries that pass cuts, and new columns, to a new file.

    >>> report = nyssa.skim(
    ...     "run1/*.root:Events",
    ...     "muons.root",
    ...     columns=["Muon_*", "ht"],
    ...     cut={"two muons": "nMuon >= 2", "energy": "ht > 200"},
    ...     define={"ht": "sum(Jet_pt[Jet_pt > 30])"},
    ... )
    >>> nyssa.open("muons.root:Events").num_entries
    958

    The files are read one after the other, with all threads and limited memory. The columns of the
    cuts are read first, and the others only where entries pass.

    Parameters
    ----------
    inputs
        A file, ``"file.root:Events"``, a glob, a folder, a list of these, or a dict
        ``{file: object}``: TTrees, RNTuples, Parquet and Arrow IPC files, also at URLs. All files
        must have the columns of the first one.
    output
        The new file. It appears when everything is written; after a failure there is no file.
    columns
        Globs of the names of columns, and names of `define`. The default is all columns, and all of
        `define`.
    cut
        Which entries to write: an expression, several, or a dict of names and expressions. An entry
        must pass all of them. The report has the number of entries after each; see
        `SkimReport.cutflow`. ``docs/expressions.md`` explains the language.
    define
        New columns: names and expressions, which may use each other and the aliases of a TTree.
    exclude
        Globs of columns to leave out.
    format
        ``"rntuple"``, ``"ttree"``, ``"parquet"`` or ``"arrow"``. The default is what the name of
        the output says (``.parquet``, ``.arrow``); otherwise the format of the input, or
        ``"rntuple"`` for a table.
    entry_start, entry_stop
        Range of entries of all inputs together. The default is all entries.
    skip_unsupported
        Leave out columns that cannot be read, or that the format cannot hold, instead of failing.
        The report lists them.
    skip_unreadable
        Leave out columns with damaged data instead of failing. The report lists them.
    friends
        Also take the columns of the friends of a TTree, or of an RNTuple that was one, as
        ``friend.branch``.
    basket_size, auto_flush, branch_options
        For a TTree that is written: as in `WritableFile.mktree`.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the work that is
        done and the total.
    **output
        See `nyssa.jobs.job.OutputKeywords`.

    Returns
    -------
    SkimReport
        A dict with the number of entries, the columns with their types and digests, the cut flow,
        and what was left out.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) if a glob matches no column, or an expression has an unknown name.
    nyssa.ArgumentError
        (a `ValueError`) for an expression that does not parse, a definition whose name is taken,
        and an option that the format does not have.
    nyssa.errors.OutputExistsError
        (a `FileExistsError`) if the output exists and `force` is false.
    nyssa.UnsupportedError
        (a `NotImplementedError`) if a column cannot be read, or the format cannot hold it.
    """
    workers = threads_of(threads)
    given = {**options, **({} if columns is None else {"columns": columns})}
    chosen = job.keywords(CoreKeywords, given)
    files = expand([inputs] if isinstance(inputs, os.PathLike) else inputs)
    paths = [_text(file) for file in files]
    pairs = [] if define is None else [(str(name), str(text)) for name, text in define.items()]
    target, cuts = os.fspath(output), _cuts(cut)
    report = job.run(
        lambda show: _core.skim(paths, target, chosen, pairs, cuts, workers, show),
        progress,
        "skimmed",
    )
    return SkimReport(report)


def _text(file: object) -> str:
    if isinstance(file, (str, os.PathLike)):
        return str(os.fspath(file))
    raise ArgumentError(f"a skim reads files, which are named by their paths, and not {file!r}")


def _cuts(cut: Cuts | None) -> list[tuple[str, str]]:
    """Return the name and the expression of each cut."""
    if cut is None:
        return []
    if isinstance(cut, Mapping):
        return [(str(name), str(text)) for name, text in cut.items()]
    return [(text, text) for text in texts_of("cut", cut)]
