"""Measures what options of a dataset cost: every combination is written and read."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Literal

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.keywords import texts_of
from nyssa.arguments.sizes import bytes_of, threads_of
from nyssa.errors import ArgumentError
from nyssa.studies import root_writer
from nyssa.studies.grid import trials, varied
from nyssa.studies.journal import JOURNAL, RoundJournal
from nyssa.studies.measurements import Measurements
from nyssa.studies.report import StudyReport, rows_of
from nyssa.studies.rounds import Study
from nyssa.studies.subject import Subject

__all__ = ["study"]

#: The largest number of rounds.
MOST_REPEATS = 1000


@checked
def study(
    source: str | os.PathLike[str],
    *,
    vary: Mapping[str, Iterable[Any]],
    to: Literal["rntuple", "ttree"] = "rntuple",
    columns: str | Iterable[str] = (),
    threads: int | Iterable[int] = 1,
    repeats: int = 3,
    link_latency: float | None = None,
    link_bandwidth: int | str | None = None,
    cold: bool = False,
    beside_root: bool = False,
    folder: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> StudyReport:
    """Write a TTree or an RNTuple with every combination of some options, and measure each.

    Each output is written from the data by `convert` (to the other format) or `rewrite` (to the
    same), is read, and is removed. Each measurement has a process of its own. The values of each
    combination are compared once with the values of the input.

    >>> report = nyssa.study(
    ...     "events.root:Events",
    ...     vary={"compression": ["zstd:5", "lz4"]},
    ...     columns="Muon_*",
    ...     repeats=1,
    ... )
    >>> report.write_csv("study.csv")

    Parameters
    ----------
    source
        A file or URL with one dataset, or ``"file.root:Events"``.
    vary
        The values of each option that varies. All options of the job can vary, by the names of its
        keywords. `None` leaves an option out. An option with one value has it in all outputs.
    to
        The format of the outputs.
    columns
        Globs of the columns that an analysis reads. If there are some, their reading is measured,
        too.
    threads
        The number of threads that write and read, or several numbers.
    repeats
        The number of rounds. Each round measures all trials, one after the other.
    link_latency
        Seconds of a round trip of a link. If it is given, reading over this link is measured: the
        `columns`, or all.
    link_bandwidth
        Bandwidth of this link in bytes per second, or as text such as ``"125 MB"``, the default.
    cold
        Ask the system to forget local files before each measurement. By default they are brought
        into its cache.
    beside_root
        Write each output by ROOT, too, where ROOT has all options that vary.
    folder
        The folder of the output that is measured, and of the journal ``nyssa-study.jsonl``. A study
        that was stopped continues with the same folder. The default is a temporary folder.
    progress
        Show the progress on stderr.

    Returns
    -------
    StudyReport
        Sizes, times and memory of each combination: medians of the rounds, with the least and the
        most. A trial that fails does not stop the others; its row has the error.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) if the dataset does not exist, or a glob matches no column.
    nyssa.ArgumentError
        (a `ValueError`) for options that the job does not have or refuses, for numbers out of
        range, and if another study uses the folder.
    """
    globs = texts_of("columns", columns)
    measurements = Measurements(
        globs, _latency(link_latency), _bandwidth(link_bandwidth, link_latency), cold
    )
    if not 1 <= repeats <= MOST_REPEATS:
        raise ArgumentError(f"repeats must be from 1 to {MOST_REPEATS}, not {repeats}")
    subject = Subject.of(source, to, globs)
    planned = trials(subject, varied(subject, vary), _threads(threads))
    if beside_root:
        planned = root_writer.beside(subject, planned)
    temporary = tempfile.TemporaryDirectory(prefix="nyssa-study-")
    with temporary if folder is None else nullcontext(os.fspath(folder)) as place:
        path = Path(place)
        with RoundJournal(path / JOURNAL) as journal:
            rounds = Study(subject, planned, measurements, path).run(
                journal, repeats, quiet=not progress
            )
    return StudyReport(
        input=_core.shown(subject.input.url),
        format=subject.format,
        to=subject.to,
        job=subject.job,
        entries=subject.entries,
        input_bytes=max(subject.input.size, 0),
        columns=globs,
        link_latency=measurements.link_latency,
        link_bandwidth=measurements.link_bandwidth,
        cache="cold" if cold else "warm",
        host=platform.node(),
        rows=rows_of(planned, rounds),
    )


def _threads(given: int | Iterable[int]) -> list[int]:
    numbers = list(given) if isinstance(given, Iterable) else [given]
    counts = [threads_of(number) for number in numbers]
    known = [item for item in counts if item]
    if not known or len(known) < len(counts) or len({*known}) < len(known):
        raise ArgumentError(f"threads are different numbers from 1 on, not {numbers}")
    return known


def _latency(given: float | None) -> float | None:
    if given is not None and not 0 < given <= 60:
        raise ArgumentError(f"link_latency is more than 0 and at most 60 seconds, not {given}")
    return given


def _bandwidth(given: int | str | None, latency: float | None) -> int | None:
    if given is not None and latency is None:
        raise ArgumentError("a link_bandwidth needs a link_latency")
    return None if given is None else bytes_of(given, "link_bandwidth")
