"""Runs jobs of the core, which report as JSON, and declares the options that they share."""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from typing_extensions import TypedDict

from nyssa.arguments.by_glob import FieldOptions
from nyssa.arguments.keywords import kinds_of, shows_keywords, words_of
from nyssa.arguments.sizes import Size

Progress = Callable[[int, int], object]

#: The identity (UUID) of the output that this thread makes, from the campaign that it works for.
IDENTITY: ContextVar[bytes | None] = ContextVar("identity", default=None)


@contextmanager
def made_as(identity: bytes | None) -> Iterator[None]:
    """Give the outputs of jobs this identity (UUID)."""
    token = IDENTITY.set(identity)
    try:
        yield
    finally:
        IDENTITY.reset(token)


_Job = TypeVar("_Job", bound=Callable[..., Any])
_T = TypeVar("_T")


@dataclass(frozen=True)
class Keywords:
    """The keywords of a job, as the core takes them."""

    words: list[str]
    entry_start: int | None
    entry_stop: int | None
    #: The identity (UUID) of the output.
    identity: bytes | None


def keywords(declared: type, given: Mapping[str, Any]) -> Keywords:
    """Return the keywords that a `TypedDict` declares, as the core takes them."""
    apart = ("to", "entry_start", "entry_stop")
    words = words_of(declared, {name: item for name, item in given.items() if name not in apart})
    return Keywords(words, given.get("entry_start"), given.get("entry_stop"), IDENTITY.get())


class OutputKeywords(TypedDict, total=False):
    """The options of the output that all jobs share.

    The signatures and docstrings of the jobs show these parameters.

    Parameters
    ----------
    name
        Path of the RNTuple (or TTree) in the output. The default is the path of the (first) input.
    compression
        ROOT's setting, such as 505, or a name with an optional level: ``"zstd"``, ``"zstd:9"``. A
        level is used exactly, unless `effort` says otherwise. The default is the value of the
        `profile`, or ``"zstd"``.
    effort
        ``"auto"`` spends time on zstd where a sample of a column shows that it pays, and never uses
        a higher level than `compression` says. ``"full"`` uses that level for all columns. The
        default is the value of the `profile`; or ``"full"`` if `compression` names a level, and
        ``"auto"`` otherwise.
    encoding
        ``"default"`` uses the column types that ROOT uses. ``"auto"`` takes a sample of each column
        and uses the type, split or unsplit, that makes it smallest; size then counts more than
        time. Values stay as they are. The default is the value of the `profile`; or ``"auto"`` in
        `nyssa.convert` to an RNTuple with zstd and effort ``"auto"``, and ``"default"`` otherwise.
    profile
        Path or URL of a file (TOML) that remembers how columns are stored. Columns that it knows
        are stored in the same way without samples; those that it does not know are chosen, and
        added to it. It is made if it does not exist. Use one profile for the files of a dataset. It
        may also state options, as `nyssa.tune` writes them: `compression`, `effort`, `encoding`,
        `cluster_size` and `page_size`. Options that are given count more.
    field_options
        How some fields of the output are stored, by pattern of their paths, as in
        `WritableFile.mkrntuple`. `nyssa.convert` also takes patterns of the names of branches. If
        precision is lost, the report says how large the error can be.
    cluster_size
        Compressed size of a cluster, in bytes or as text such as ``"50 MB"``: at least 256 bytes,
        and 64 bytes for each column. Clusters have this size within a few percent, except the last
        one; they are smaller if `memory` is too small. The default is ROOT's.
    page_size
        Largest uncompressed size of a page, from 64 bytes to 512 MiB. The default is ROOT's.
    memory
        Largest size of the data that are in memory at the same time, such as ``"1 GB"``: at least
        1 MiB. The default is 512 MiB, except in `nyssa.merge`.
    carry
        Whether histograms, directories and the other objects of the (first) input file are copied
        to the output. If not, the report only names them.
    verify
        Read the inputs and the output back, and compare every value, before the output appears.
        Columns that were chosen with less precision are compared within their stated error.
    force
        Replace an existing output.
    reproducible
        Leave out the time and the random identity of the file: the same inputs and options give
        the same bytes.
    """

    name: str | None
    compression: int | str | None
    effort: str | None
    encoding: str | None
    profile: str | None
    field_options: FieldOptions | None
    page_size: Size | None
    memory: Size | None
    carry: bool
    verify: bool
    force: bool
    reproducible: bool


class ClusterKeywords(OutputKeywords, total=False):
    """The options of the output for jobs that always make new clusters."""

    cluster_size: Size | None


def shows_options(declared: type) -> Callable[[_Job], _Job]:
    """Return a decorator for jobs that take keywords, which a `TypedDict` declares.

    It puts the keywords into the signature of the job, where users look for them, and what the
    docstring of `OutputKeywords` says into its docstring.
    """
    kinds = kinds_of(declared)
    documented = [text for name, text in _parameters() if name in kinds]

    def decorate(job: _Job) -> _Job:
        # Users look for the options of the job first.
        shown = shows_keywords(declared, last=kinds_of(ClusterKeywords))(job)
        text = inspect.getdoc(job) or ""
        head, _, rest = text.partition("**output\n    See `nyssa.jobs.job.OutputKeywords`.\n")
        shown.__doc__ = head + "".join(documented) + rest
        return shown

    return decorate


def _parameters() -> Iterable[tuple[str, str]]:
    """Return the name of each parameter in the docstring of `OutputKeywords`, and its text."""
    text = inspect.getdoc(OutputKeywords) or ""
    _, _, parameters = text.partition("Parameters\n----------\n")
    name, lines = "", ""
    for line in [*parameters.splitlines(keepends=True), "end"]:
        if not line.startswith(" "):
            if name:
                yield name, lines if lines.endswith("\n") else lines + "\n"
            name, lines = line.strip(), ""
        lines += line


def run(job: Callable[[Progress | None], str], progress: Progress | bool, done: str) -> Any:
    """Run `job` with a function for progress, and return its report; see `reporting`."""
    return json.loads(reporting(job, progress, done))


def reporting(job: Callable[[Progress | None], _T], progress: Progress | bool, done: str) -> _T:
    """Run `job` with a function for progress, and return its result.

    If `progress` is `True`, a line on stderr says how much is `done` ("converted").
    """
    if progress is not True:
        return job(progress or None)

    def line(now: int, total: int) -> None:
        sys.stderr.write(f"\r{done} {100 * now / max(total, 1):5.1f} %")
        sys.stderr.flush()

    result = job(line)
    sys.stderr.write("\n")
    return result
