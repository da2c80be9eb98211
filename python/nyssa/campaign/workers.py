"""Connects to the workers of a campaign: local processes, a Dask scheduler or a batch system."""

from __future__ import annotations

import logging
import signal
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from multiprocessing import current_process
from multiprocessing.resource_tracker import ensure_running
from typing import TYPE_CHECKING, Any

from nyssa.errors import ArgumentError, InputOutputError

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

__all__ = ["connect"]

#: Settings of the processes that are started here. With its own, dask looks at the state of each
#: process many times per second, which takes several percent of a core in all of them.
_CALM = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.admin.system-monitor.interval": "2s",
    "distributed.admin.tick.interval": "500ms",
    "distributed.admin.tick.limit": "30s",
}

#: What helps where processes do not start.
_GUARD = (
    "Each of them imports the script that starts it, so a script must start a campaign below "
    "`if __name__ == '__main__':`"
)


@contextmanager
def connect(
    scheduler: str | None = None,
    workers: int | None = None,
    cluster: str | None = None,
    cluster_options: Mapping[str, Any] | None = None,
) -> Iterator[Client]:
    """Connect to workers, and start them if no scheduler is named.

    Parameters
    ----------
    scheduler
        Address of a scheduler that runs, such as ``"tcp://node1:8786"``.
    workers
        Number of worker processes to start. The default is the number of cores on this machine, and
        one job of a batch system.
    cluster
        A batch system of `dask_jobqueue`: ``"slurm"``, ``"htcondor"``, ``"pbs"``, ``"lsf"``,
        ``"sge"`` or ``"oar"``. The configuration file of dask says what a job needs.
    cluster_options
        Keyword arguments of the class of the cluster.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if a package is missing, or the batch system is not known.
    nyssa.errors.InputOutputError
        (an `OSError`) if no scheduler answers at the address.
    """
    try:
        from distributed import Client
    except ImportError:
        message = "a campaign runs on dask.distributed: pip install distributed"
        raise ArgumentError(message) from None
    options = dict(cluster_options or {})
    if scheduler is not None:
        with _client(scheduler) as client:
            yield client
    elif cluster is not None:
        with _batch_system(cluster)(**options) as jobs:
            jobs.scale(workers or 1)
            with Client(jobs) as client:  # type: ignore[no-untyped-call]
                yield client
    else:
        import dask

        # One task at a time in each process, so that its CPU time and memory are its own.
        started = {"n_workers": workers, "threads_per_worker": 1, "dashboard_address": ":0"}
        with (
            dask.config.set(_CALM),
            _processes({**started, **options}) as processes,
            Client(processes) as client,  # type: ignore[no-untyped-call]
        ):
            yield client


def _processes(options: Mapping[str, Any]) -> LocalCluster:
    from distributed import LocalCluster

    if getattr(current_process(), "_inheriting", False):
        # This process imports the script. The process that runs the script reports the problem.
        raise SystemExit(1)
    # What dask logs of a process that does not start is long, and has no reason.
    nanny = logging.getLogger("distributed.nanny")
    before = nanny.level
    nanny.setLevel(logging.CRITICAL)
    # The processes inherit what their thread blocks. Ctrl-C is for this process, which ends them.
    # The tracker of resources would unblock it in the thread that starts the tracker.
    ensure_running()
    threads = ThreadPoolExecutor(1)
    before_start = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    starting = threads.submit(LocalCluster, **options)
    signal.pthread_sigmask(signal.SIG_SETMASK, before_start)
    try:
        return starting.result()
    except KeyboardInterrupt:
        starting.result().close()
        raise
    except RuntimeError as error:
        message = f"the worker processes did not start ({error}). {_GUARD}"
        raise ArgumentError(message) from None
    finally:
        threads.shutdown(wait=False)
        nanny.setLevel(before)


def _client(scheduler: str) -> Client:
    from distributed import Client

    try:
        return Client(scheduler)  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        message = f"no Dask scheduler answers at {scheduler}: {error}"
        raise InputOutputError(message) from None


def _batch_system(name: str) -> Any:
    try:
        import dask_jobqueue
    except ImportError:
        message = f"jobs of {name} need dask-jobqueue: pip install dask-jobqueue"
        raise ArgumentError(message) from None
    classes = {
        item.removesuffix("Cluster").lower(): item
        for item in dir(dask_jobqueue)
        if item.endswith("Cluster")
    }
    if name.lower() not in classes:
        known = ", ".join(sorted(classes))
        raise ArgumentError(f"dask-jobqueue does not know the batch system {name!r}, only {known}")
    return getattr(dask_jobqueue, classes[name.lower()])
