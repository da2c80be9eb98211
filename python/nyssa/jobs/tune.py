"""Finds the options that store a dataset best, by trying them on a sample."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.keywords import texts_of
from nyssa.arguments.sizes import bytes_of, threads_of
from nyssa.errors import OutputExistsError
from nyssa.jobs import job
from nyssa.jobs.tune_plot import plot_trials
from nyssa.jobs.tuned import (
    BasketReport,
    ExpectedStorage,
    TuneCurve,
    TunedSample,
    TunedSettings,
    TunedTrial,
    TuneReason,
)
from nyssa.read.file import split
from nyssa.show.report import Report

__all__ = ["TuneReport", "tune"]


@dataclass(frozen=True)
class TuneOptions:
    """The options of a search, in the form that the core takes."""

    objective: str
    budget: float
    compression: list[str]
    columns: list[str]
    link_latency: float | None
    link_bandwidth: int | None


@dataclass(frozen=True, repr=False)
class TuneReport(Report):
    """The options that store a dataset best. `nyssa.tune` returns it."""

    input: str
    """The path or URL of the input file."""
    dataset: str
    """The path of the dataset in the file."""
    format: str
    """The format of the dataset: ``"TTree"`` or ``"RNTuple"``."""
    entries: int
    """The number of entries."""
    input_bytes: int
    """The number of bytes of the pages or baskets of the input."""
    objective: str
    """The quantity that should become best."""
    recommended: TunedSettings
    """The options that are recommended."""
    expected: ExpectedStorage
    """What the whole dataset is expected to take with these options."""
    expected_by_default: ExpectedStorage
    """What the whole dataset is expected to take with the default options."""
    reasons: list[TuneReason]
    """The reason of each recommended option."""
    trials: list[TunedTrial]
    """The trials of the same sample, smallest first."""
    curves: list[TuneCurve]
    """What changes with the sizes of clusters and pages, and with the number of threads."""
    samples: list[TunedSample]
    """The samples that were written."""
    baskets: BasketReport | None
    """What the sizes of the baskets cost; `None` for an RNTuple."""
    seconds: float
    """The wall-clock time of the search in seconds."""
    threads: int
    """The number of worker threads."""
    notes: list[str]
    """Remarks for people."""
    profile: str
    """The text of a profile with the recommended options and the choices for each column."""

    # A recommended option has a value of a type that `convert` and `rewrite` take.
    def options(self) -> dict[str, str | int]:
        """Return the recommended options as keywords for `convert` and `rewrite`."""
        given = asdict(self.recommended)
        return {name: value for name, value in given.items() if value is not None}

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the profile, which `convert`, `rewrite`, `recreate` and campaigns take.

        Parameters
        ----------
        path
            The file to write.
        force
            Replace an existing file.

        Raises
        ------
        nyssa.errors.OutputExistsError
            (a `FileExistsError`) if the file exists and `force` is false.
        """
        if not force and Path(path).exists():
            raise OutputExistsError(f"{os.fspath(path)} exists already: force=True replaces it")
        Path(path).write_text(self.profile, encoding="utf-8")

    def plot(self, image: str | os.PathLike[str]) -> None:
        """Draw times and memory of all trials over their sizes, and what changes with each option.

        Trials that no other one beats are blue, the recommended one is red.

        Parameters
        ----------
        image
            The file to write. Its ending says its kind: ``.png``, ``.pdf``, ``.svg``. A file that
            is there is replaced.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) if matplotlib is not installed, or for a kind that it does not know.
        """
        plot_trials(self.trials, self.curves, image)

    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page that any browser shows without a network, as ``nyssa tune --html`` does."""
        Path(path).write_text(_core.tune_page(json.dumps(self.to_dict())), encoding="utf-8")

    def _repr_html_(self) -> str:
        """Return the content of this page, for notebooks."""
        return _core.tune_body(json.dumps(self.to_dict()))

    def __str__(self) -> str:
        """Return what ``nyssa tune`` prints."""
        return _core.tune_text(json.dumps(self.to_dict()))


@checked
def tune(
    source: str | os.PathLike[str],
    *,
    objective: Literal["size", "read", "write", "memory", "balanced"] = "balanced",
    budget: float = 60,
    compression: str | Iterable[str] = (),
    columns: str | Iterable[str] = (),
    link_latency: float | None = None,
    link_bandwidth: int | str | None = None,
    threads: int | None = None,
    progress: job.Progress | bool = False,
) -> TuneReport:
    """Find the options that store a TTree or an RNTuple best, by trying them on a sample.

    A sample of the clusters is written with many options by nyssa's own writer, and read back. The
    report has all trials, the recommended options with the reason of each, and what the whole
    dataset is expected to take. Its profile is what `convert`, `rewrite` and campaigns take.

    >>> report = nyssa.tune("events.root:Events", objective="size", budget=0.2)
    >>> report.write("options.toml")
    >>> _ = nyssa.convert("events.root:Events", "tuned.root", profile="options.toml")

    Parameters
    ----------
    source
        A file or URL with one dataset, or ``"file.root:Events"``.
    objective
        ``"size"`` of the output; time to ``"read"`` it; CPU time to ``"write"`` it; ``"memory"`` of
        a writer, with an output that is at most 5 % larger than the smallest; or ``"balanced"``:
        size first, where a percent of it is worth four of the time to read and eight of that to
        write.
    budget
        Time in seconds that the search may take.
    compression
        Compressions to try, as for `convert`, each with both encodings. The default tries zstd,
        lz4, zlib and lzma from fast to small.
    columns
        Globs of the columns that the analysis reads. The default is all columns.
    link_latency
        Seconds of a round trip of the link over which the output will be read. The default is a
        local file.
    link_bandwidth
        Bandwidth of this link in bytes per second, or as text such as ``"125 MB"``.
    threads
        As in `Dataset.arrays`.
    progress
        If `True`, a line on stderr shows the progress. A function is called with the time that is
        spent and the budget, in milliseconds.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) if the dataset does not exist, or a glob matches no column.
    nyssa.ArgumentError
        (a `ValueError`) for wrong options, and for a dataset without entries.
    """
    path, inner = split(source)
    bandwidth = None if link_bandwidth is None else bytes_of(link_bandwidth, "link_bandwidth")
    options = TuneOptions(
        objective=objective,
        budget=float(budget),
        compression=texts_of("compression", compression),
        columns=texts_of("columns", columns),
        link_latency=link_latency,
        link_bandwidth=bandwidth,
    )
    workers = threads_of(threads)
    report = job.run(
        lambda show: _core.tune(path, inner, options, workers, show), progress, "tuned"
    )
    return TuneReport._of(report)
