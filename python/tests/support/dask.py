"""Starts clients of dask.distributed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest


@contextmanager
def dask_client(*, workers: int, threads: int) -> Iterator[Any]:
    """Return a client of workers in this process, so that tests start fast; or skip."""
    distributed = pytest.importorskip("distributed", reason="no dask.distributed")
    with (
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=threads, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def worker_processes(process: int) -> list[int]:
    """Return the numbers of the processes of workers that a process has started."""
    # Dask itself needs this package.
    import psutil

    workers = []
    for child in psutil.Process(process).children():
        with suppress(psutil.Error):
            if any("spawn_main" in word for word in child.cmdline()):
                workers.append(child.pid)
    return workers
