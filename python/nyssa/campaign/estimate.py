"""Estimates the time of a campaign by doing a small part of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from nyssa.campaign.plan import Task
from nyssa.campaign.task import Job
from nyssa.errors import NyssaError
from nyssa.jobs.convert import convert
from nyssa.jobs.rewrite import rewrite
from nyssa.read.file import open_dataset

__all__ = ["estimate"]

#: About how many bytes of an input are converted for the estimate.
SAMPLE = 32_000_000


def estimate(tasks: Sequence[Task], job: Job) -> float | None:
    """Return how many bytes of inputs one process does in a second.

    A part of the first input that can be opened is converted into a temporary file. Returns `None`
    if that is not possible, and for merges, whose time depends on the disk.
    """
    if job.name == "merge":
        return None
    for one in (one for task in tasks for one in task.inputs if one.size > 0):
        try:
            with open_dataset(one.url) as dataset:
                entries = dataset.num_entries
            part = min(1.0, SAMPLE / one.size)
            stop = max(1, int(entries * part))
            with tempfile.TemporaryDirectory(prefix="nyssa-campaign-") as folder:
                output = str(Path(folder) / "sample.root")
                options = {**job.options, "threads": job.threads, "entry_stop": stop}
                start = time.perf_counter()
                if job.name == "convert":
                    convert(one.url, output, **options)
                else:
                    rewrite(one.url, output, **options)
                return one.size * stop / max(entries, 1) / (time.perf_counter() - start)
        except (NyssaError, OSError):
            continue
    return None
