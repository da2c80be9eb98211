"""Reads steps of files for dask-awkward, which tells which columns it needs."""

from __future__ import annotations

import socket
import time
from typing import Any

import awkward as ak
from dask_awkward.lib.io.columnar import ColumnProjectionMixin

from nyssa.observe.io import io_stats
from nyssa.uproot.steps import Reader, Step

__all__ = ["StepReader"]


class StepReader(Reader, ColumnProjectionMixin):  # type: ignore[misc]
    """A reader of steps that dask-awkward projects.

    With `allowed` errors it returns pairs of arrays and a report, and for a step with such an error
    an array without entries.
    """

    behavior = None
    attrs = None
    use_optimization = True
    allowed: tuple[type[BaseException], ...] = ()

    @property
    def return_report(self) -> bool:
        """Return whether it returns reports."""
        return bool(self.allowed)

    def __call__(self, step: Step) -> Any:
        """Return the arrays of a step, and its report if there are reports."""
        if not self.allowed:
            return self.read(step)
        called, start, before = time.time_ns(), time.monotonic(), io_stats()
        try:
            array = self.read(step)
        except self.allowed as error:
            host = {"fqdn": socket.getfqdn(), "hostname": socket.gethostname()}
            # The report names the builtin error from which an error of nyssa derives: `OSError`.
            known = (kind for kind in type(error).__mro__ if kind.__module__ == "builtins")
            failed = {"exception": next(known).__name__, "message": str(error), **host}
            return self.mock_empty(), _report(step, call_time=called, **failed)
        after = io_stats()
        counters = {
            "num_requested_bytes": _bytes(after) - _bytes(before),
            "num_requests": _requests(after) - _requests(before),
            "num_requested_chunks": _chunks(after) - _chunks(before),
        }
        duration = time.monotonic() - start
        return array, _report(step, duration=duration, performance_counters=counters)


def _bytes(stats: Any) -> int:
    return int(stats.bytes_read + stats.bytes_readv)


def _requests(stats: Any) -> int:
    return int(stats.iops_read + stats.iops_readv)


def _chunks(stats: Any) -> int:
    return int(stats.iops_read + stats.iops_readvread)


_REPORT = ("call_time", "duration", "performance_counters", "args", "kwargs")
_ERROR = ("exception", "message", "fqdn", "hostname")


def _report(step: Step, **known: Any) -> ak.Array:
    """Return the report of a step, with uproot's names; what does not apply is null."""
    args = [repr(item) for item in step[:5]]
    return ak.Array([dict.fromkeys((*_REPORT, *_ERROR)) | {"args": args, "kwargs": []} | known])
