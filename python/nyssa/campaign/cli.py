"""Defines the command ``nyssa campaign``."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nyssa import _core, campaign
from nyssa.campaign.command import Parser, number, numbers, print_json, print_report, run_command
from nyssa.campaign.command import size as to_bytes
from nyssa.campaign.estimate import estimate
from nyssa.campaign.failure import FINE, PROBLEM
from nyssa.campaign.job_flags import add_flags, options_of
from nyssa.campaign.plan import Task
from nyssa.campaign.scaling import Site, draw, measured, recorded, scaling, work_at
from nyssa.campaign.task import Job
from nyssa.campaign.workers import connect
from nyssa.errors import ArgumentError
from nyssa.show.table import count, counted, size

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Run ``nyssa campaign`` with its arguments, and return the exit code."""
    return run_command(_parser(), _run, arguments)


def _run(options: argparse.Namespace) -> int:
    if options.job == "status":
        return _status(options)
    if options.job == "verify":
        return _verify(options)
    if options.job == "estimate":
        return _estimate(options)
    return _do(options)


def _estimate(options: argparse.Namespace) -> int:
    given = (options.output, options.trace, options.process_rate)
    if sum(item is not None for item in given) != 1:
        raise ArgumentError(
            "give exactly one of these: DEST (the folder of a campaign), --trace, or --process-rate"
        )
    if options.output is not None:
        remote = not options.local_outputs
        work = measured(options.output, journal=options.journal, remote=remote)
    elif options.trace is not None:
        work = recorded(options.trace)
    else:
        work = work_at(options.process_rate, options.file_size)
    site = Site(
        processes=options.processes,
        cores=options.cores,
        node_bandwidth=options.node_bandwidth,
        servers=options.servers,
        server_bandwidth=options.server_bandwidth,
        server_iops=options.server_iops,
        round_trip=options.round_trip / 1e3,
    )
    estimate = scaling(work, site, options.nodes, files=options.files)
    if options.plot is not None:
        draw(estimate, options.plot)
    print_report(estimate, as_json=options.json)
    return FINE


def _status(options: argparse.Namespace) -> int:
    status = campaign.status(options.output, journal=options.journal)
    print_report(status, as_json=options.json)
    return FINE if status.is_complete and not status.bad else PROBLEM


def _verify(options: argparse.Namespace) -> int:
    report = campaign.verify(
        options.output,
        journal=options.journal,
        quick=options.quick,
        scheduler=options.scheduler,
        workers=options.workers,
        cluster=options.cluster,
    )
    print_report(report, as_json=options.json)
    return FINE if report.sound and not report.bad else PROBLEM


def _do(options: argparse.Namespace) -> int:
    job = Job(
        options.job,
        options_of(options.job, options),
        cluster_size=options.cluster_size,
        threads=options.threads,
        per_node=options.per_node,
        per_server=options.per_server,
        force=options.force,
    )
    planned = campaign.Campaign(
        job,
        options.inputs,
        options.output,
        target_size=options.target_size,
        condense=options.condense,
        journal=options.journal,
    )
    if options.dry_run:
        return _show_plan(planned, options)
    with connect(options.scheduler, options.workers, options.cluster) as client:
        if not options.quiet and getattr(client, "dashboard_link", None):
            print(f"dashboard: {client.dashboard_link}", file=sys.stderr)
        report = planned.run(
            client, retries=options.retries, quiet=options.quiet, plot=options.plot
        )
    print_report(report, as_json=options.json)
    return PROBLEM if report.failed or report.bad else FINE


def _show_plan(planned: campaign.Campaign, options: argparse.Namespace) -> int:
    """Show what a campaign would do, and an estimate of its time."""
    records = planned.records()
    missing = planned.missing(records)
    planned.check(missing, records)
    bytes_ = sum(task.bytes for task in missing)
    elsewhere = options.scheduler or options.cluster
    workers = options.workers or (1 if elsewhere else os.cpu_count()) or 1
    start = time.perf_counter()
    sample = estimate((item for task in missing for item in task.inputs), planned.job)
    rate = None if sample is None else sample.rate
    took = time.perf_counter() - start
    seconds = None if rate is None else bytes_ / rate / workers
    if options.json:
        tasks = [
            {
                "output": task.output,
                "inputs": _shown(task),
                "bytes": task.bytes,
            }
            for task in missing
        ]
        complete = len(planned.tasks) - len(missing)
        numbers = {"tasks": tasks, "complete": complete, "seconds": seconds, "rate": rate}
        print_json(numbers)
        return FINE
    for task in missing:
        inputs = ", ".join(_shown(task))
        print(_core.printable(f"{task.output}  <-  {inputs}"))
        for item in task.inputs:
            if item.size < 0:
                print(_core.printable(f"  cannot be opened: {_core.shown(item.url)}"))
    print(
        f"{counted(len(missing), 'output')} of {size(bytes_)} to make, "
        f"{count(len(planned.tasks) - len(missing))} complete"
    )
    if rate is not None and seconds is not None:
        print(
            f"about {seconds:.0f} s with {counted(workers, 'worker')}, "
            f"at {rate / 1e6:.1f} MB/s each (measured on a part of the first input in {took:.1f} s)"
        )
    return FINE


def _shown(task: Task) -> list[str]:
    return [_core.shown(item.url) for item in task.inputs]


def _parser() -> Parser:
    parser = Parser(
        prog="nyssa campaign",
        description="Convert, rewrite or merge whole datasets on many processes and machines. A "
        "campaign that is run again does only what is missing.",
    )
    jobs = parser.add_subparsers(dest="job", required=True, metavar="JOB")
    for name, text in (
        ("convert", "convert TTrees to RNTuples, or back; from and to Parquet and Arrow"),
        ("rewrite", "rewrite RNTuples and TTrees with other options"),
        ("merge", "merge RNTuples, TTrees and histograms into larger files"),
    ):
        job = jobs.add_parser(name, help=text, description=f"{text[0].upper()}{text[1:]}.")
        _add_common(job, required=name == "merge")
        add_flags(job, name)
    status = jobs.add_parser("status", help="say how far a campaign is", description=_STATUS)
    verify = jobs.add_parser("verify", help="check the outputs of a campaign", description=_VERIFY)
    for job in (status, verify):
        job.add_argument("output", metavar="DEST", help="folder or URL of the outputs")
        _add_journal(job)
        job.add_argument("--json", action="store_true", help="print one JSON document")
    verify.add_argument("--quick", action="store_true", help="compare only the sizes")
    _add_workers(verify)
    _add_estimate(jobs.add_parser("estimate", help="rates on more nodes", description=_ESTIMATE))
    return parser


def _add_estimate(job: argparse.ArgumentParser) -> None:
    job.add_argument("output", nargs="?", metavar="DEST", help="folder of a campaign that was run")
    _add_journal(job)
    job.add_argument("--json", action="store_true", help="print one JSON document")
    job.add_argument("--plot", type=Path, metavar="FILE", help="draw the rates")
    work = job.add_argument_group("work, without a campaign that was run")
    work.add_argument(
        "--trace",
        action="append",
        metavar="FILE",
        help="recording (--record) of a job; may be repeated",
    )
    work.add_argument(
        "--process-rate", type=to_bytes, metavar="SIZE", help="bytes of inputs per second"
    )
    work.add_argument(
        "--file-size", type=to_bytes, default=10**9, metavar="SIZE", help="size of an input [1GB]"
    )
    site = job.add_argument_group("nodes and storage")
    site.add_argument(
        "--nodes", type=numbers, default=[1, 2, 4, 8, 16, 32, 64, 100], metavar="N,..."
    )
    site.add_argument(
        "--processes", type=number, default=32, metavar="N", help="processes of a node [32]"
    )
    site.add_argument("--cores", type=number, metavar="N", help="cores of a node [one a process]")
    site.add_argument("--node-bandwidth", type=to_bytes, metavar="SIZE", help="bytes per second")
    site.add_argument(
        "--servers", type=number, default=1, metavar="N", help="servers of the storage [1]"
    )
    site.add_argument(
        "--server-bandwidth", type=to_bytes, metavar="SIZE", help="bytes per second of each server"
    )
    site.add_argument(
        "--server-iops", type=number, metavar="N", help="requests per second of each server"
    )
    site.add_argument(
        "--round-trip", type=float, default=0.0, metavar="MS", help="round-trip time to the storage"
    )
    site.add_argument(
        "--local-outputs", action="store_true", help="outputs are on the disks of the nodes"
    )
    site.add_argument(
        "--files", type=int, default=0, metavar="N", help="also estimate the time of N files"
    )


_ESTIMATE = (
    "Say what rate is expected on more nodes, and what limits it, from the journal of a campaign "
    "that was run on few, or from recordings of jobs: a model of the nodes and of the servers of "
    "the storage as queues."
)


_STATUS = (
    "Say how far a campaign is, from its journal; it may run at the same time. The exit code is 1 "
    "if outputs are missing, failed or damaged, or lack data of their inputs."
)
_VERIFY = (
    "Check the outputs of a campaign: their sizes and checksums against the journal, and the files "
    "themselves. Run again, the campaign makes those with problems anew. The exit code is 1 if "
    "there are problems, or if outputs lack data of their inputs."
)


def _add_journal(job: argparse.ArgumentParser) -> None:
    job.add_argument(
        "--journal",
        type=Path,
        metavar="FILE",
        help=f"what was done [default: {campaign.JOURNAL} in DEST]",
    )


def _add_workers(job: argparse.ArgumentParser) -> Any:
    place = job.add_argument_group("workers")
    place.add_argument(
        "--workers", type=number, metavar="N", help="processes [default: one for each core]"
    )
    place.add_argument(
        "--scheduler", metavar="ADDRESS", help="address of a Dask scheduler that runs"
    )
    place.add_argument(
        "--cluster", metavar="SYSTEM", help="batch system of dask-jobqueue, such as slurm"
    )
    return place


def _add_common(job: argparse.ArgumentParser, *, required: bool) -> None:
    job.add_argument(
        "inputs",
        nargs="+",
        metavar="INPUT",
        help="path, URL, glob, folder, @LIST, or a JSON file of datasets",
    )
    job.add_argument("-o", "--output", required=True, metavar="DEST", help="folder or URL")
    grouped = job.add_mutually_exclusive_group(required=required)
    grouped.add_argument(
        "--target-size",
        type=to_bytes,
        metavar="SIZE",
        help="put inputs together until outputs have about this size [default: one output of each "
        "input]",
    )
    grouped.add_argument(
        "--condense", type=number, metavar="N", help="make one output of each N inputs"
    )
    sizes = ["--cluster-size", *(["--recluster"] if required else [])]
    job.add_argument(*sizes, metavar="SIZE", help="compressed size of a cluster")
    _add_journal(job)
    job.add_argument("--dry-run", action="store_true", help="only say what would be done")
    job.add_argument("--json", action="store_true", help="print one JSON document")
    job.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    job.add_argument("--plot", type=Path, metavar="FILE", help="draw what each process did")
    job.add_argument("--force", action="store_true", help="replace outputs that exist")
    job.add_argument(
        "--retries",
        type=int,
        default=2,
        metavar="N",
        help="tries again after errors that may pass [default: 2]",
    )
    place = _add_workers(job)
    place.add_argument(
        "--threads", type=number, default=1, metavar="N", help="threads of each task [default: 1]"
    )
    place.add_argument("--per-node", type=number, metavar="N", help="most tasks on one node")
    place.add_argument("--per-server", type=number, metavar="N", help="most tasks on one server")
