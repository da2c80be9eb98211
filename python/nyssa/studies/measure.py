"""Measures one job in a process of its own: ``python -m nyssa.studies.measure``.

The request is a JSON object on the standard input, and the result the last line of the standard
output. Modules are imported before the clock starts.
"""

from __future__ import annotations

import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

from nyssa.campaign.plan import Input, Task
from nyssa.campaign.task import Job, made
from nyssa.errors import NyssaError
from nyssa.jobs.digest import digest
from nyssa.observe.io import record
from nyssa.read.file import open_dataset
from nyssa.studies import root_writer

__all__ = ["main"]


def _resident(name: str) -> int:
    """Return a size from the status of the process, in bytes: ``VmRSS`` or ``VmHWM``."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])


def _clock(job: Callable[[], object]) -> dict[str, float]:
    """Run a job; return its times, and the resident memory of the process: the most, and before."""
    before = _resident("VmRSS")
    used, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    job()
    seconds, now = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime
    most = _resident("VmHWM")
    return {"seconds": seconds, "cpu_seconds": cpu, "memory": most, "memory_before": before}


def _write(request: dict[str, Any]) -> dict[str, Any]:
    """Write the output with nyssa; return the numbers of the report of the job."""
    options = {**request["options"], "verify": request["verify"]}
    job = Job(request["job"], options, threads=request["threads"], force=True)
    task = Task(request["output"], (Input(request["input"], "", 0),))
    records = []
    times: dict[str, Any] = _clock(lambda: records.append(made(task, job)))
    [report] = records
    return {**times, "entries": report.entries, "notes": report.notes}


def _write_with_root(request: dict[str, Any]) -> dict[str, Any]:
    """Write the output with ROOT."""
    write = root_writer.prepared(request)
    return {**_clock(write), "entries": request["entries"], "notes": []}


def _read(request: dict[str, Any]) -> dict[str, Any]:
    """Open the output and read columns of all entries into awkward arrays, in steps."""
    import_module("nyssa.arrays.to_awkward")
    trace = request.get("trace")

    def job() -> None:
        with open_dataset(request["output"]) as dataset:
            for _ in dataset.iterate(
                filter_name=request["columns"] or None, threads=request["threads"]
            ):
                pass

    with (
        nullcontext() if trace is None else record(trace),
        warnings.catch_warnings(record=True) as w,
    ):
        times: dict[str, Any] = _clock(job)
    return {**times, "notes": sorted({str(item.message) for item in w})}


def _compare(request: dict[str, Any]) -> dict[str, Any]:
    """Compare the digests of all columns of the output and of the input."""
    threads = request["threads"]
    digests = digest(
        request["output"], compare=digest(request["input"], threads=threads), threads=threads
    )
    compared = digests if isinstance(digests, list) else [digests]
    return {
        "equal": all(item["equal"] for item in compared),
        "undigested": sum(len(item["undigested"]) for item in compared),
    }


_JOBS = {
    "write": _write,
    "write with ROOT": _write_with_root,
    "read": _read,
    "compare": _compare,
}


def main() -> None:
    """Do what the request says, and print the result."""
    request = json.load(sys.stdin)
    try:
        answer = _JOBS[request["what"]](request)
    except (NyssaError, OSError, ImportError) as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    print("\n" + json.dumps(answer))


if __name__ == "__main__":
    main()
