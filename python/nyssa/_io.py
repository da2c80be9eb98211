"""Counts what the process opens and reads."""

from __future__ import annotations

import json

from nyssa import _core
from nyssa.reports import IoStats

__all__ = ["io_stats"]


def io_stats() -> IoStats:
    """Return what this process has opened and read, in all threads.

    A child of `fork` begins with zero. `Dataset.io_stats` counts for one dataset.

    >>> nyssa.io_stats().round_trips
    4
    """
    return IoStats._of(json.loads(_core.io_stats()))
