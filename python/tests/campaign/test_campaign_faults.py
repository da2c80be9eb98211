"""Campaigns continue, or end with a clear error, when machines, disks and servers fail."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import campaign
from nyssa.campaign.journal import Journal
from nyssa.campaign.workers import connect
from support.campaign import ENTRIES, lines, numbers_of, write_tree
from support.dask import dask_client, worker_processes
from support.faulty import Proxy
from support.nginx import Nginx
from support.ports import free_port
from support.small_disk import run_on

distributed = pytest.importorskip("distributed", reason="no dask.distributed")
dask = pytest.importorskip("dask")

#: Enough files that a campaign is not over before something fails.
MANY = 120
#: Seconds within which everything here must happen.
DEADLINE = 60.0

_SCHEDULER = "import asyncio; from distributed import Scheduler as Server"
_WORKER = "import asyncio; from distributed import Worker as Server"
_RUN = """
async def run(*given, **named):
    async with Server(*given, **named) as server:
        print("ready", flush=True)
        await server.finished()
"""


def _start(which: str, call: str) -> subprocess.Popen[str]:
    """Start a scheduler or a worker in a process of its own, and wait until it is ready."""
    script = f"{which}\n{_RUN}\nasyncio.run(run({call}))"
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


@contextlib.contextmanager
def _scheduler(port: int) -> Iterator[subprocess.Popen[str]]:
    """Return a scheduler; when it is killed or no longer needed, its worker ends, too."""
    scheduler = _start(_SCHEDULER, f"port={port}, host='127.0.0.1', dashboard=False")
    worker = _start(_WORKER, f"'tcp://127.0.0.1:{port}', nthreads=1, dashboard=False")
    try:
        yield scheduler
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _links(folder: Path, count: int) -> str:
    """Make a folder with files; they are links to one file."""
    first = write_tree(folder / "0.root", 0)
    for number in range(1, count):
        os.link(first, first.with_name(f"{number}.root"))
    return str(folder)


@pytest.fixture
def many(tmp_path: Path) -> str:
    """Return a folder with many files."""
    return _links(tmp_path / "in", MANY)


def _when_it_runs(inputs: str, out: Path, port: int, then: Callable[[], None]) -> Future[Any]:
    """Run a campaign on a scheduler, and call `then` when the first tasks have ended."""

    def run() -> campaign.CampaignReport:
        with connect(f"tcp://127.0.0.1:{port}") as client:
            return campaign.convert(inputs, str(out), client=client, quiet=True)

    with ThreadPoolExecutor(1) as threads:
        future = threads.submit(run)
        deadline = time.monotonic() + DEADLINE
        while not (out / campaign.JOURNAL).exists() or not lines(out / campaign.JOURNAL):
            assert time.monotonic() < deadline
            assert not future.done(), future.result()
            time.sleep(0.01)
        then()
        return future


def _all_there(out: Path, count: int = MANY) -> None:
    """Check that each output is there and whole, and that nothing else is there."""
    made = list(out.glob("*.root"))
    assert len(made) == len(list(out.iterdir())) - 1 == count
    assert len({one["output"] for one in lines(out / campaign.JOURNAL)}) == count
    assert campaign.verify(str(out), quick=True).sound
    assert numbers_of(made[0]) == numbers_of(made[-1]) == list(range(ENTRIES))


def test_a_scheduler_that_is_lost_ends_the_campaign(many: str, tmp_path: Path) -> None:
    port, out = free_port(), tmp_path / "out"
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "2s"}),
        _scheduler(port) as scheduler,
    ):
        start = time.monotonic()
        with pytest.raises(nyssa.errors.InputOutputError) as caught:
            _when_it_runs(many, out, port, scheduler.kill).result()
        assert time.monotonic() - start < DEADLINE
    assert str(caught.value) == (
        f"the Dask scheduler tcp://127.0.0.1:{port} was lost and did not come back; run the "
        f"same command again to continue"
    )
    before = lines(out / campaign.JOURNAL)
    assert 0 < len(before) < MANY
    assert {one["state"] for one in before} == {"done"}
    with dask_client(workers=1, threads=1) as client:
        report = campaign.convert(many, str(out), client=client, quiet=True)
    assert (report.done + report.found, report.failed) == (MANY, [])
    assert report.found >= len(before)
    _all_there(out)


def test_a_campaign_goes_on_with_a_new_scheduler(many: str, tmp_path: Path) -> None:
    port, out = free_port(), tmp_path / "out"
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(contextlib.ExitStack())
        first.enter_context(_scheduler(port))

        def restart() -> None:
            first.close()
            stack.enter_context(_scheduler(port))

        report = _when_it_runs(many, out, port, restart).result()
    assert (report.done + report.found, report.failed) == (MANY, [])
    _all_there(out)


def test_no_scheduler_answers(trees_folder: str, tmp_path: Path) -> None:
    address = f"tcp://127.0.0.1:{free_port()}"
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "1s"}),
        pytest.raises(nyssa.errors.InputOutputError) as caught,
    ):
        campaign.convert(trees_folder, f"{tmp_path}/out", scheduler=address)
    assert str(caught.value).startswith(f"no Dask scheduler answers at {address}: ")


@pytest.fixture
def trees_folder(tmp_path: Path) -> str:
    """Return a folder with eight files."""
    for number in range(8):
        write_tree(tmp_path / "in" / f"{number}.root", ENTRIES * number)
    return str(tmp_path / "in")


def _limit_files(size: int) -> None:
    """Let this process write only so many bytes into a file, as if the disk were full."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))


def test_a_full_disk_on_one_worker(tmp_path: Path) -> None:
    count = 40
    many = _links(tmp_path / "in", count)
    out, again = tmp_path / "out", tmp_path / "again"
    with connect(workers=2) as client:
        full, _ = client.nthreads()
        client.run(_limit_files, 1000, workers=[full])
        report = campaign.convert(many, str(out), client=client, quiet=True, retries=0)
        assert report.failed
        assert report.done == count - len(report.failed)
        assert {one.error.split(":")[0] for one in report.failed} == {"InputOutputError"}
        assert all("File too large" in one.error for one in report.failed)
        # No part of an output stays.
        assert len(list(out.iterdir())) == report.done + 1
        # With retries, the other worker does what fails on this one.
        retried = campaign.convert(many, str(again), client=client, quiet=True, retries=2)
        assert (retried.done, retried.failed) == (count, [])
        attempts = {one["attempts"] for one in lines(again / campaign.JOURNAL)}
        assert attempts == {1, 2}
        client.run(_limit_files, resource.RLIM_INFINITY, workers=[full])
        mended = campaign.convert(many, str(out), client=client, quiet=True)
    assert (mended.done, mended.found, mended.failed) == (len(report.failed), report.done, [])
    _all_there(out, count)


def test_a_campaign_on_a_full_disk(tmp_path: Path) -> None:
    """Outputs that have no space are named with the reason, and nothing is left of them."""
    inputs, full, said = tmp_path / "in", tmp_path / "full", tmp_path / "said"
    inputs.mkdir()
    full.mkdir()
    for number, count in enumerate((10, 200_000, 10)):
        with uproot.recreate(inputs / f"{number}.root") as file:
            file.mktree("Events", {"x": np.random.default_rng(number).random(count)})
    call = [sys.executable, "-m", "nyssa", "campaign", "convert", str(inputs), "-o", str(full)]
    call += ["--workers", "1", "--retries", "0", "--json", "--quiet"]
    script = (
        'said=$1; full=$2; shift 2; "$@" > "$said"; echo "$?"; ls -A "$full"; cat "$full"/*.jsonl'
    )
    ran = run_on(full, "300k", "sh", "-c", script, "sh", str(said), str(full), *call)
    code, *rest = ran.stdout.splitlines()
    assert (code, rest[:3]) == ("1", ["0.root", "2.root", campaign.JOURNAL]), ran.stderr
    message = (
        f"InputOutputError: cannot write 1048576 bytes at byte 0 of {full}/1.root: No space left "
        f"on device (os error 28) (file {full}/1.root, object Events, column 0, cluster 0)"
    )
    report = json.loads(said.read_text())
    assert [one["error"] for one in report["failed"]] == [message]
    records = [json.loads(line) for line in rest[3:]]
    states = {one["output"]: one.get("error") for one in records if "run" not in one}
    assert states == {f"{full}/0.root": None, f"{full}/1.root": message, f"{full}/2.root": None}


def test_a_journal_on_a_full_disk(tmp_path: Path) -> None:
    """A line that is written in part is cut off by the next run."""
    path = tmp_path / "journal"
    record = campaign.Record("out.root", "done", [("in.root", 3)], "convert()")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        journal.add(record)
        size = path.stat().st_size
        try:
            _limit_files(size + 10)
            with pytest.raises(nyssa.errors.InputOutputError) as caught:
                journal.add(campaign.Record("b.root", "done", [("in.root", 3)], "convert()"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(caught.value) == (
        f"cannot write to the journal {path}: File too large; correct this, and run the same "
        f"command again to continue"
    )
    assert path.stat().st_size == size + 10
    with Journal(path) as journal:
        assert list(journal.records) == ["out.root"]
    assert path.stat().st_size == size


def test_a_slow_server(web: Nginx, trees_folder: str, tmp_path: Path) -> None:
    """A slow server gets one task at a time, and files on other servers do not wait for it."""
    folder = web.root / "slow"
    folder.symlink_to(trees_folder)

    def slow(_connection: int, _before: int, content: bytes) -> bytes:
        time.sleep(0.05)
        return content

    server = Proxy(int(web.url.rpartition(":")[2]), slow)
    urls = [f"http://localhost:{server.port}/slow/{number}.root" for number in range(4)]
    local = [f"{trees_folder}/{number}.root" for number in range(4, 8)]
    with dask_client(workers=2, threads=1) as client:
        report = campaign.convert(
            {"far": urls, "near": local}, f"{tmp_path}/out", client=client, per_server=1
        )
    server.close()
    folder.unlink()
    assert (report.done, report.failed) == (8, [])
    records = lines(tmp_path / "out" / campaign.JOURNAL)
    far = sorted((one for one in records if one["dataset"] == "far"), key=lambda one: one["begin"])
    for first, second in itertools.pairwise(far):
        assert first["begin"] + first["seconds"] <= second["begin"]
    # The files on this machine were done while the server was asked for the others.
    last = max(one["begin"] for one in records if one["dataset"] == "near")
    assert last < far[-1]["begin"]
    assert numbers_of(tmp_path / "out" / "far" / "3.root")[0] == 3 * ENTRIES


def test_an_interrupt_while_workers_start(tmp_path: Path) -> None:
    """Ctrl-C reaches all processes of a terminal; only the first one says a word."""
    write_tree(tmp_path / "in" / "0.root", 0)
    command = [sys.executable, "-m", "nyssa", "campaign", "convert", str(tmp_path / "in")]
    command += ["-o", str(tmp_path / "out"), "--workers", "2", "-q"]
    started = subprocess.Popen(
        command, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + DEADLINE
    while not worker_processes(started.pid):
        assert time.monotonic() < deadline, "no worker was seen"
        assert started.poll() is None, "the campaign ended before a worker was seen"
        time.sleep(0.02)
    os.killpg(started.pid, signal.SIGINT)
    _, said = started.communicate(timeout=DEADLINE)
    assert (said, started.returncode) == ("stopped; run the same command again to continue\n", 130)
    assert not (tmp_path / "out" / "0.root").exists()
