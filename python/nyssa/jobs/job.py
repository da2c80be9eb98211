"""Runs jobs of the core, which report as JSON, and declares the options that they share."""

from __future__ import annotations

import functools
import inspect
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, TypeVar

from typing_extensions import TypedDict

from nyssa.arguments.checks import checked
from nyssa.arguments.field_options import FieldOptions
from nyssa.arguments.field_options import field_options as by_field
from nyssa.arguments.sizes import bytes_of

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


@dataclass(kw_only=True)
class OutputOptions:
    """The options of the output that all jobs share, with the defaults of the core.

    The docstrings of the jobs show these parameters.

    Parameters
    ----------
    name
        Path of the RNTuple (or TTree) in the output. The default is the path of the (first) input.
    compression
        ROOT's setting, such as 505, or a name with an optional level: ``"zstd"``, ``"zstd:9"``. A
        level is used exactly, unless `effort` says otherwise. The default is that of the `profile`,
        or ``"zstd"``.
    effort
        ``"auto"`` spends time on zstd where a sample of a column shows that it pays, and never uses
        a higher level than `compression` says. ``"full"`` uses that level for all columns. The
        default is that of the `profile`; or ``"full"`` if `compression` names a level, and
        ``"auto"`` otherwise.
    encoding
        ``"default"`` uses the column types that ROOT uses. ``"auto"`` takes a sample of each column
        and uses the type, split or unsplit, that makes it smallest; size then counts more than
        time. Values stay as they are. The default is that of the `profile`; or ``"auto"`` in
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

    name: str | None = None
    compression: int | str | None = None
    effort: str | None = None
    encoding: str | None = None
    profile: str | None = None
    field_options: FieldOptions | None = None
    cluster_size: int | str | None = None
    page_size: int | str | None = None
    memory: int | str | None = None
    carry: bool = True
    verify: bool = False
    force: bool = False
    reproducible: bool = False
    by_field: list[tuple[str, list[tuple[str, str]]]] = field(init=False)

    def __post_init__(self) -> None:
        """Turn the options into what the core takes: text, and sizes in bytes."""
        self.compression = None if self.compression is None else str(self.compression)
        self.by_field = by_field(self.field_options)
        self.cluster_size = _bytes(self.cluster_size, "cluster_size")
        self.page_size = _bytes(self.page_size, "page_size")
        self.memory = _bytes(self.memory, "memory")

    @property
    def identity(self) -> bytes | None:
        """Return the identity of the output, which is no option of users."""
        return IDENTITY.get()


class OutputKeywords(TypedDict, total=False):
    """The parameters of `OutputOptions`, for type checkers; a test compares both."""

    name: str | None
    compression: int | str | None
    effort: str | None
    encoding: str | None
    profile: str | None
    field_options: FieldOptions | None
    page_size: int | str | None
    memory: int | str | None
    carry: bool
    verify: bool
    force: bool
    reproducible: bool


class ClusterKeywords(OutputKeywords, total=False):
    """The parameters of `OutputOptions` for jobs that always make new clusters."""

    cluster_size: int | str | None


def shows_output_options(
    options: type[OutputOptions] = OutputOptions, *, without: tuple[str, ...] = ()
) -> Callable[[_Job], _Job]:
    """Return a decorator for jobs that take the parameters of `options` as keywords.

    It puts these parameters, except those named in `without`, into the signature of the job, where
    users look for them, and those of `OutputOptions` into its docstring.
    """
    shared = list(inspect.signature(OutputOptions).parameters)
    documented = {name: text for name, text in _parameters() if name not in without}

    def decorate(job: _Job) -> _Job:
        own = inspect.signature(job)
        named = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
        known = {*without, *(one.name for one in named)}
        more = inspect.signature(options).parameters.values()
        # A derived class has its own parameters last, and users look for them first.
        ordered = sorted(more, key=lambda one: one.name in shared)
        added = [one for one in ordered if one.name not in known]
        shown = own.replace(parameters=[*named, *added])

        @functools.wraps(job)
        def call(*args: Any, **kwargs: Any) -> Any:
            shown.bind(*args, **kwargs)
            return job(*args, **kwargs)

        text = inspect.getdoc(job) or ""
        head, _, rest = text.partition("**output\n    See `nyssa.jobs.job.OutputOptions`.\n")
        call.__doc__ = head + "".join(documented.values()) + rest
        call.__signature__ = shown  # type: ignore[attr-defined]
        return checked(call)  # type: ignore[return-value]

    return decorate


def _parameters() -> Iterable[tuple[str, str]]:
    """Return the name of each parameter of `OutputOptions` and what its docstring says of it."""
    text = inspect.getdoc(OutputOptions) or ""
    _, _, parameters = text.partition("Parameters\n----------\n")
    name, lines = "", ""
    for line in [*parameters.splitlines(keepends=True), "end"]:
        if not line.startswith(" "):
            if name:
                yield name, lines if lines.endswith("\n") else lines + "\n"
            name, lines = line.strip(), ""
        lines += line


def _bytes(size: int | str | None, name: str) -> int | None:
    return None if size is None else bytes_of(size, name)


def globs(given: str | Iterable[str]) -> list[str]:
    """Return one pattern, or several, as a list."""
    return [given] if isinstance(given, str) else list(given)


def run(job: Callable[[Progress | None], str], progress: Progress | bool, done: str) -> Any:
    """Run `job` with a function for progress, and return its report.

    If `progress` is `True`, a line on stderr says how much is `done` ("converted").
    """
    if progress is not True:
        return json.loads(job(progress or None))

    def line(now: int, total: int) -> None:
        sys.stderr.write(f"\r{done} {100 * now / max(total, 1):5.1f} %")
        sys.stderr.flush()

    text = job(line)
    sys.stderr.write("\n")
    return json.loads(text)
