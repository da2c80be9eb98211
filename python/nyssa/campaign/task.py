"""What a worker does: it makes one output."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import socket
import sys
import tempfile
import time
import zlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from nyssa import _core
from nyssa.arguments.sizes import bytes_of
from nyssa.campaign.journal import Record, identity_of
from nyssa.campaign.plan import Input, Task
from nyssa.errors import (
    AccessError,
    FileMissingError,
    FolderError,
    FormatError,
    InputOutputError,
    LimitError,
    NyssaError,
    OutputExistsError,
)
from nyssa.jobs.convert import convert_every, job_of
from nyssa.jobs.job import made_as
from nyssa.jobs.merge import merge
from nyssa.jobs.rewrite import rewrite
from nyssa.jobs.verify import verify
from nyssa.observe.io import io_stats
from nyssa.observe.io_stats import IoStats
from nyssa.read.dataset import Dataset
from nyssa.read.file import open as open_file
from nyssa.read.rntuple import RNTuple

__all__ = [
    "Job",
    "JobName",
    "adler32",
    "can_pass",
    "check_options",
    "made",
    "memory",
    "run_tasks",
]

JobName = Literal["convert", "rewrite", "merge"]

#: Compressed size of the clusters of merged outputs, if the campaign does not say another.
CLUSTER_SIZE = "200 MB"
#: Memory of a task that does not need more for its clusters, the default of nyssa; and the least.
MEMORY, LEAST_MEMORY = 512 << 20, 16 << 20
#: Part of the memory of a worker that tasks may use: Dask stops workers that come near its limit.
USED = 0.7
#: Memory of a process that has done nothing yet, in bytes.
PYTHON = 150_000_000
#: Bytes that are read at once for a checksum.
BLOCK = 1 << 20


@dataclass(frozen=True)
class Job:
    """What a campaign does with each task. It travels to the workers."""

    name: JobName
    options: Mapping[str, Any] = field(default_factory=dict)
    """The keyword arguments of `nyssa.convert`, `nyssa.rewrite` or `nyssa.merge`."""
    cluster_size: int | str | None = None
    """The compressed size of the clusters of merged outputs."""
    threads: int = 1
    per_node: int | None = None
    """The largest number of tasks that run on one node at the same time."""
    per_server: int | None = None
    """The largest number of tasks that read from one server at the same time."""
    force: bool = False
    """Whether outputs that exist are replaced."""

    @property
    def verifies(self) -> bool:
        """Whether the outputs are compared with the inputs before they appear."""
        return bool(self.options.get("verify"))

    @property
    def may_leave_out(self) -> bool:
        """Whether an output may lack what is missing or damaged in its inputs."""
        return any(self.options.get(name) for name in ("skip_bad", "skip_unreadable"))

    @cached_property
    def key(self) -> str:
        """Return the job and its options as text. A task is done again if it changes.

        A conversion has the text that ``nyssa convert --into`` writes for the same options. It does
        not have ``verify``, which does not change the output.
        """
        named = {"cluster_size": self.cluster_size, **self.options}
        named.pop("verify", None)
        if self.name == "convert":
            return job_of(**named)
        chosen = ((name, value) for name, value in sorted(named.items()) if value is not None)
        return f"{self.name}({', '.join(f'{name}={_shown(value)}' for name, value in chosen)})"


def _shown(value: Any) -> str:
    """Return an option as text. A URL has no secrets in it, because the journal has this text."""
    is_url = isinstance(value, (str, os.PathLike)) and "://" in os.fspath(value)
    return repr(_core.shown(os.fspath(value)) if is_url else value)


def can_pass(error: BaseException) -> bool:
    """Return whether an error may pass, so that it makes sense to try again."""
    if isinstance(
        error, (FileMissingError, FolderError, AccessError, OutputExistsError, FormatError)
    ):
        return False
    return isinstance(error, (InputOutputError, LimitError))


def check_options(job: Job) -> None:
    """Raise the error of options that are wrong whatever the inputs are.

    A job reads its options before it opens its input. So it works on a file that does
    not exist: what fails before that is wrong for all inputs.
    """
    if job.options.get("skip_bad"):
        # This file is not left out.
        job = dataclasses.replace(job, options={**job.options, "skip_bad": False})
    with tempfile.TemporaryDirectory(prefix="nyssa-campaign-") as folder:
        task = Task(f"{folder}/output.root", (Input(f"{folder}/input.root", "", 0),))
        with contextlib.suppress(FileMissingError):
            # The text of the job needs options that are right.
            _run(task, job, Record.of(task, job.name, "failed"))


def run_tasks(tasks: Sequence[Task], job: Job, replaced: Collection[str]) -> list[Record]:
    """Make the outputs of tasks, one after the other, and return what was done.

    Errors of nyssa are in the records. The outputs in `replaced` are replaced if they exist.
    """
    forced = dataclasses.replace(job, force=True)
    return [_run_task(task, forced if task.output in replaced else job) for task in tasks]


def made(task: Task, job: Job) -> Record:
    """Make an output, and return a record with the entries and notes of the reports alone."""
    record = Record.of(task, job.key, "done")
    _run(task, job, record)
    return record


def _run_task(task: Task, job: Job) -> Record:
    record = Record.of(task, job.key, "done")
    record.threads, record.host, record.process = job.threads, socket.gethostname(), os.getpid()
    with _throttle(job):
        record.begin = time.time()
        start, cpu, before = time.perf_counter(), time.process_time(), io_stats()
        try:
            _make(task, job, record)
        except (NyssaError, OSError) as error:
            record.state, record.error = "failed", f"{type(error).__name__}: {error}"
            record.notes = ["may pass"] if can_pass(error) else []
        record.seconds = time.perf_counter() - start
        record.cpu_seconds = time.process_time() - cpu
        after = io_stats()
        record.bytes_read = _bytes_read(after) - _bytes_read(before)
        record.requests = _requests(after) - _requests(before)
    return record


def _bytes_read(stats: IoStats) -> int:
    return stats.bytes_read + stats.bytes_readv


def _requests(stats: IoStats) -> int:
    return stats.iops_read + stats.iops_readv


def _throttle(job: Job) -> contextlib.AbstractContextManager[object]:
    """Wait until the task may run on this node."""
    if job.per_node is None:
        return contextlib.nullcontext()
    from distributed import Semaphore

    name = f"nyssa-node-{socket.gethostname()}"
    return Semaphore(max_leases=job.per_node, name=name)  # type: ignore[no-untyped-call]


def _make(task: Task, job: Job, record: Record) -> None:
    """Make the output and fill the record."""
    if "://" not in task.output:
        Path(task.output).parent.mkdir(parents=True, exist_ok=True)
    # It follows from the inputs and the job, so that no other output is taken for this one.
    identity = identity_of(task, job.key, job.verifies)
    if not job.force and _core.size(task.output) is not None:
        job = _look_at_found(task, job, record)
    if record.state != "found":
        try:
            _run(task, job, record, identity)
            record.verified = job.verifies
        except OutputExistsError:
            # A worker that the scheduler had lost made it in the meantime.
            job = _look_at_found(task, job, record)
            if record.state != "found":
                if not job.may_leave_out:
                    raise
                record.entries, record.bad = 0, []
                _run(task, job, record, identity)
    record.output_bytes = _core.size(task.output) or 0
    record.adler32 = adler32(task.output)


def _look_at_found(task: Task, job: Job, record: Record) -> Job:
    """Take an output that exists already as the result, or return the job that may replace it.

    A worker made it, and the campaign was stopped before it heard of that. An output that looks
    like it, but whose inputs are not known, is replaced with a note.
    """
    identity = _core.identity(task.output)
    verified = identity == identity_of(task, job.key, verified=True)
    if verified or identity == identity_of(task, job.key, verified=False):
        if job.verifies and not verified:
            record.notes = ["made again: the output that was there was not verified"]
        elif job.may_leave_out:
            record.notes = [
                "made again: nothing says what was left out of the output that was there"
            ]
        elif not verify(task.output, threads=1).problems:
            record.state, record.entries = "found", _entries(task.output)
            record.verified = verified
            return job
    elif _entries(task.output) == sum(_entries(item.url) for item in task.inputs):
        record.notes = ["replaced an output that was there: nothing says what it was made of"]
    else:
        raise OutputExistsError(
            f"{task.output} exists, and does not fit the inputs; --force replaces it"
        )
    return dataclasses.replace(job, force=True)


def _entries(url: str) -> int:
    """Return the entries of a dataset, or of all datasets of a file."""
    with open_file(url) as opened:
        if isinstance(opened, Dataset):
            return opened.num_entries
        return sum(opened[name].num_entries for name in opened.datasets())


def _run(task: Task, job: Job, record: Record, identity: bytes | None = None) -> None:
    """Make the output from the inputs, and add what the reports say to the record."""
    urls = [item.url for item in task.inputs]
    common = {"memory": memory(job, _worker_memory()), **job.options, "threads": job.threads}
    if job.name == "merge":
        _merge(urls, task.output, job, common, record, identity)
        return
    if job.cluster_size is not None:
        common["cluster_size"] = job.cluster_size
    if len(urls) == 1:
        with made_as(identity):
            _run_job(job, urls[0], task.output, {**common, "force": job.force}, record)
        return
    # Several inputs: each is converted into a file of its own, and then these are merged.
    with tempfile.TemporaryDirectory(prefix="nyssa-campaign-") as folder:
        parts = [str(Path(folder) / f"{number}.root") for number in range(len(urls))]
        for url, part in zip(urls, parts, strict=True):
            _run_job(job, url, part, common, record)
        for_merge, of = _for_merge(job, common, parts), dict(zip(parts, urls, strict=True))
        try:
            _merge(parts, task.output, job, for_merge, record, identity)
        except NyssaError as error:
            _name_inputs(error, of)
            raise
        record.notes = [_with_inputs(note, of) for note in record.notes]


def _for_merge(job: Job, options: Mapping[str, Any], parts: Sequence[str]) -> Mapping[str, Any]:
    """Return the options of the merge that puts parts of an output together.

    RNTuples are then stored in new clusters, as the job stores them.
    """
    kept = [*_KEPT_FOR_MERGE, *(_OF_NTUPLES if _have_ntuples(parts) else ())]
    chosen = {name: options[name] for name in kept if name in options}
    # What a conversion does unless these options say something else.
    named = (options.get("compression") or "zstd", options.get("effort") or "auto")
    if job.name == "convert" and "encoding" in kept and named == ("zstd", "auto"):
        chosen.setdefault("encoding", "auto")
    return chosen


def _name_inputs(error: NyssaError, inputs: Mapping[str, str]) -> None:
    """Say the input in an error, and not the temporary file that was made of it."""
    for part, url in inputs.items():
        if error.place and error.place.get("file") == part:
            error.place["file"] = _core.shown(url)
    error.args = (_with_inputs(str(error), inputs), *error.args[1:])


def _with_inputs(text: str, inputs: Mapping[str, str]) -> str:
    """Return a text with the names of inputs in place of their temporary files."""
    for part, url in inputs.items():
        text = text.replace(part, _core.shown(url))
    return text


def memory(job: Job, worker: int | None) -> int:
    """Return the memory of a task in bytes: what the job wants, or what its worker can give.

    The clusters of an output have their wanted size only if they fit in the memory, so a job wants
    no more than that: outputs do not depend on how much more a worker has.
    """
    size = job.cluster_size
    if size is None and job.name == "merge":
        size = CLUSTER_SIZE
    wanted = MEMORY if size is None else max(MEMORY, bytes_of(size) * 7 // 2)
    return wanted if worker is None else min(wanted, max(worker, LEAST_MEMORY))


def _worker_memory() -> int | None:
    """Return the memory that a worker of Dask has for each of its threads, if it has a limit."""
    # A worker has imported it. Other processes do not need its memory and time.
    if "distributed" not in sys.modules:
        return None
    from distributed import get_worker

    try:
        worker = get_worker()
    except ValueError:
        return None
    limit: int | None = worker.memory_manager.memory_limit
    threads: int = worker.state.nthreads
    return int((limit * USED - PYTHON) / threads) if limit else None


def _run_job(
    job: Job, url: str, output: str, options: Mapping[str, Any], record: Record
) -> Sequence[Mapping[str, Any]]:
    """Convert or rewrite one input, and return the reports on its datasets."""
    make = convert_every if job.name == "convert" else rewrite
    reports = make(url, output, **options)
    _add(record, reports, url)
    return reports


def _merge(
    inputs: list[str],
    output: str,
    job: Job,
    options: Mapping[str, Any],
    record: Record,
    identity: bytes | None,
) -> None:
    """Merge inputs into clusters of the wanted size. Files with TTrees only keep their clusters."""
    size = job.cluster_size
    if size is None and _have_ntuples(inputs):
        size = CLUSTER_SIZE
    with made_as(identity):
        report = merge(inputs, output, recluster=size, force=job.force, **options)
    record.entries = 0
    # The notes of a merge have what it left out.
    _add(record, [{**report, "left_out": []}])


def _add(record: Record, reports: Sequence[Mapping[str, Any]], url: str = "") -> None:
    """Add the entries and notes of reports to a record; each note once.

    `url` is the input, if a job has one input for each report.
    """
    where = f"{_core.shown(url)}: " if len(record.inputs) > 1 else ""
    record.entries += sum(report["entries"] for report in reports)
    for report in reports:
        of = f"{report['ntuple']}: " if len(reports) > 1 else ""
        notes = [f"{of}left out {it['branch']}: {it['reason']}" for it in report.get("skipped", ())]
        notes += [f"left out {it}" for it in report.get("left_out", ())]
        notes += [f"{of}{note}" for note in report["notes"]]
        skipped = [item for item in report.get("skipped", ()) if item["unreadable"]]
        record.bad += [f"{where}{of}{it['branch']}: {it['reason']}" for it in skipped]
        record.bad += [f"{it['file']}: {it['error']}" for it in report.get("bad", ())]
        record.notes += [note for note in notes if note not in record.notes]


def _have_ntuples(urls: Sequence[str]) -> bool:
    """Return whether the first dataset or file that can be opened is an RNTuple or has some.

    A merge says what is wrong with the others, or leaves them out.
    """
    for url in urls:
        with contextlib.suppress(NyssaError), open_file(url) as found:
            if isinstance(found, Dataset):
                return isinstance(found, RNTuple)
            return any(isinstance(found[name], RNTuple) for name in found.datasets())
    return False


#: Options of conversions that merging takes, too.
_KEPT_FOR_MERGE = ("compression", "effort", "memory", "threads", "verify", "name", "reproducible")
#: Options of conversions that merging takes for RNTuples only.
_OF_NTUPLES = ("encoding", "field_options", "page_size")


def adler32(output: str) -> str | None:
    """Return the checksum of a local file as Rucio shows it; `None` for a URL."""
    if "://" in output:
        return None
    checksum = 1
    with Path(output).open("rb") as file:
        while block := file.read(BLOCK):
            checksum = zlib.adler32(block, checksum)
    return f"{checksum:08x}"
