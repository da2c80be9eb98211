"""Checks that datasets can be read in other processes."""

from __future__ import annotations

import multiprocessing
import os
import pickle
from typing import Any

import nyssa

__all__ = ["check_other_processes"]


def _first(dataset: Any) -> float:
    return float(dataset.arrays(["x0"], entry_stop=1, library="np")["x0"][0])


def check_other_processes(url: str) -> None:
    """Check that the dataset at `url` goes to other processes, and that a fork reads by itself."""
    events = nyssa.open(url)
    expected = _first(events)
    assert _first(pickle.loads(pickle.dumps(events))) == expected
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_first, [events] * 4) == [expected] * 4
    child = os.fork()
    if child == 0:
        # The connection of the parent is untouched, and so is its open file.
        os._exit(0 if _first(events) == expected else 1)
    assert _first(events) == expected
    assert os.waitpid(child, 0)[1] == 0
    assert _first(events) == expected
