"""Estimates the time of a campaign, and the sizes of its outputs, by doing a small part of it."""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nyssa.campaign.plan import Input
from nyssa.campaign.task import Job
from nyssa.errors import NyssaError
from nyssa.jobs.convert import convert_every
from nyssa.jobs.rewrite import rewrite
from nyssa.jobs.verify import inspect
from nyssa.read.dataset import Dataset
from nyssa.read.file import open as open_file
from nyssa.read.rntuple import RNTuple
from nyssa.read.ttree import TTree

__all__ = ["Sample", "estimate"]

#: About how many bytes of an input are converted for the estimate.
SAMPLE = 32_000_000


@dataclass(frozen=True)
class Sample:
    """What was measured on a part of an input."""

    rate: float
    """The bytes of inputs that one process does in a second."""
    scale: float
    """The bytes of outputs for each byte of inputs."""


def estimate(inputs: Iterable[Input], job: Job) -> Sample | None:
    """Return what a part of the first input that can be opened needs.

    It is converted into a temporary file. Returns `None` if that is not possible, and for merges,
    whose time depends on the disk, and whose outputs have the size of their inputs.
    """
    if job.name == "merge":
        return None
    for element in (item for item in inputs if item.size > 0):
        with contextlib.suppress(NyssaError, OSError):
            sample = (_whole if element.size <= SAMPLE else _part)(element, job)
            if sample is not None:
                return sample
    return None


def _whole(element: Input, job: Job) -> Sample:
    """Convert an input as the campaign will."""
    _, seconds, written = _made(element.url, job, {})
    return Sample(element.size / seconds, written / element.size)


def _part(element: Input, job: Job) -> Sample | None:
    """Convert entries of the largest dataset of an input; assume that the others become alike.

    Returns `None` if there are no entries.
    """
    with open_file(element.url) as opened:
        datasets = _wanted(opened, job)
        entries = {name: dataset.num_entries for name, dataset in datasets.items()}
        sizes = {name: _bytes(element, dataset) for name, dataset in datasets.items()}
    largest = max(sizes, key=lambda name: sizes[name], default=None)
    if not sizes.get(largest):
        return None
    all_bytes, count = sum(sizes.values()), entries[largest]
    first = min(job.options.get("entry_start") or 0, count)
    end = min(job.options.get("entry_stop") or count, count)
    stop = min(end, first + max(1, count * SAMPLE // sizes[largest]))
    if stop <= first:
        return None
    options: dict[str, Any] = {"entry_start": first, "entry_stop": stop, "carry": False}
    if largest is not None:
        options["tree" if job.name == "convert" else "ntuple"] = largest
    reports, seconds, _ = _made(element.url, job, options)
    part = (stop - first) / (end - first) * sizes[largest] / all_bytes
    # Of a file in which one dataset is named, the others are left out.
    whole = job.options.get("carry", True) and not (largest is None or _stated(job))
    beside = max(element.size - all_bytes, 0) if whole else 0
    written = sum(report["compressed_bytes"] for report in reports) / part + beside
    return Sample(element.size * part / seconds, written / element.size)


def _wanted(opened: Any, job: Job) -> dict[str | None, Dataset]:
    """Return the datasets that the job converts, by path; `None` means the input itself."""
    if isinstance(opened, Dataset):
        return {None: opened}
    stated = _stated(job)
    to = "" if job.name == "rewrite" else job.options.get("to", "rntuple")
    kind = {"rntuple": TTree, "ttree": RNTuple}.get(to, Dataset)
    named = {name: opened[name] for name in ([stated] if stated else opened.datasets())}
    return {name: dataset for name, dataset in named.items() if isinstance(dataset, kind)}


def _stated(job: Job) -> str | None:
    """Return the path of the only dataset that the job takes, if its options name one."""
    return job.options.get("tree") or job.options.get("ntuple")


def _bytes(element: Input, dataset: Dataset) -> int:
    """Return the stored bytes of a dataset."""
    if isinstance(dataset, (TTree, RNTuple)):
        return inspect(dataset).stored_bytes
    return element.size


def _made(
    url: str, job: Job, options: Mapping[str, Any]
) -> tuple[Sequence[Mapping[str, Any]], float, int]:
    """Convert an input into a temporary file; return the reports, the seconds and the bytes."""
    with tempfile.TemporaryDirectory(prefix="nyssa-campaign-") as folder:
        output = str(Path(folder) / "sample.root")
        given = {**job.options, "threads": job.threads, **options}
        if job.cluster_size is not None:
            given["cluster_size"] = job.cluster_size
        start = time.perf_counter()
        make = convert_every if job.name == "convert" else rewrite
        reports: Sequence[Mapping[str, Any]] = make(url, output, **given)
        return reports, time.perf_counter() - start, Path(output).stat().st_size
