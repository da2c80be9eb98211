"""Estimates the time of a campaign, and the sizes of its outputs, by doing a small part of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from nyssa.campaign.plan import Input
from nyssa.campaign.task import Job
from nyssa.errors import NyssaError
from nyssa.jobs.convert import convert
from nyssa.jobs.rewrite import rewrite
from nyssa.read.file import open_dataset

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
        try:
            with open_dataset(element.url) as dataset:
                entries = dataset.num_entries
            first = min(job.options.get("entry_start") or 0, entries)
            stop = min(job.options.get("entry_stop") or entries, entries)
            part = min(1.0, SAMPLE / element.size)
            stop = max(first, min(stop, first + max(1, int(entries * part))))
            with tempfile.TemporaryDirectory(prefix="nyssa-campaign-") as folder:
                output = str(Path(folder) / "sample.root")
                options = {**job.options, "threads": job.threads, "entry_stop": stop}
                start = time.perf_counter()
                if job.name == "convert":
                    convert(element.url, output, **options)
                else:
                    rewrite(element.url, output, **options)
                seconds = time.perf_counter() - start
                bytes_ = element.size * (stop - first) / max(entries, 1)
                written = Path(output).stat().st_size
                return Sample(bytes_ / seconds, written / max(bytes_, 1))
        except (NyssaError, OSError):
            continue
    return None
