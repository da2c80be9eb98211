"""`nyssa campaign estimate` gives the rates that a network of queues has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import nyssa
from nyssa import campaign
from nyssa.campaign import cli
from nyssa.campaign.scaling import (
    Site,
    Work,
    campaign_seconds,
    measured,
    recorded,
    scaling,
    work_at,
)
from support.campaign import lines, write_tree
from support.dask import dask_client

#: A task: a second of CPU, and a MB from the storage.
WORK = Work(bytes_in=1e6, cpu_seconds=1.0, bytes_moved=1e6)


def rate(work: Work, site: Site, nodes: int = 1) -> float:
    """Return the number of tasks per second."""
    return scaling(work, site, [nodes]).points[0].tasks_per_second


def site(processes: int, **options: object) -> Site:
    """Return a site whose scheduler takes no time."""
    return Site(processes=processes, scheduler_seconds=0.0, **options)  # type: ignore[arg-type]


def test_what_no_one_shares() -> None:
    assert rate(WORK, site(32), nodes=10) == pytest.approx(320)
    # One process waits for nobody: a second of CPU, and half a second for its bytes.
    alone = site(1, server_bandwidth=2e6)
    assert rate(WORK, alone) == pytest.approx(1 / 1.5)
    # If it computes while it reads, only the longer time counts.
    assert rate(WORK, Site(1, None, None, 1, 2e6, None, 0.0, 1.0, 0.0)) == pytest.approx(1)
    # Ten requests of 10 ms each.
    far = Work(1e6, 1.0, 0.0, requests=10)
    assert rate(far, site(4, round_trip=0.01)) == pytest.approx(4 / 1.1)
    # Eight processes on four cores.
    assert rate(WORK, site(8, cores=4)) == pytest.approx(4)


def test_two_processes_at_one_server() -> None:
    """The analysis for two customers, by hand.

    A task of one process takes 1 s of CPU and 1 s at the server, so the server has 0.5 tasks on
    average. One more process waits for these: 1.5 s at the server, and 2 / 2.5 tasks per second.
    """
    shared = site(2, server_bandwidth=1e6)
    assert rate(WORK, shared) == pytest.approx(0.8)
    # It is the same with two nodes of one process.
    assert rate(WORK, site(1, server_bandwidth=1e6), nodes=2) == pytest.approx(0.8)
    # Two servers take half of the work each: alone 1 + 2 * 0.5 s and 0.25 tasks at each; together
    # 1 + 2 * 0.5 * 1.25 s.
    assert rate(WORK, site(2, servers=2, server_bandwidth=1e6)) == pytest.approx(2 / 2.25)
    # Requests count as bytes do.
    requests = Work(1e6, 1.0, 0.0, requests=100)
    assert rate(requests, site(2, server_iops=100)) == pytest.approx(0.8)
    # So does the scheduler, and the network of a node; another node has its own.
    assert rate(WORK, Site(2, scheduler_seconds=1.0)) == pytest.approx(0.8)
    assert rate(WORK, site(2, node_bandwidth=1e6)) == pytest.approx(0.8)


@pytest.mark.parametrize(
    ("options", "limit", "most"),
    [
        ({"server_bandwidth": 20e6, "servers": 4}, "server bandwidth", 80.0),
        ({"server_iops": 500, "servers": 2}, "server IOPS", 100.0),
        ({"scheduler_seconds": 0.02}, "scheduler", 50.0),
        ({"node_bandwidth": 2e6}, "node network", 200.0),
    ],
)
def test_the_limit(options: dict[str, object], limit: str, most: float) -> None:
    """With many processes, the resource that is used most gives the rate."""
    work = Work(1e6, 1.0, 1e6, requests=10)
    given = {"scheduler_seconds": 0.0, **options}
    report = scaling(work, Site(32, **given), [1, 100])  # type: ignore[arg-type]
    few, many = report.points
    assert many.tasks_per_second == pytest.approx(most, rel=0.02)
    assert many.tasks_per_second <= most
    assert (many.limit, many.processes) == (limit, 3200)
    assert many.used[limit] == pytest.approx(1, rel=0.02)
    assert few.efficiency == 1.0
    assert many.efficiency == pytest.approx(many.process_rate / few.process_rate)
    assert few.limit == (limit if limit == "node network" else "CPU")


def test_the_end_of_a_campaign() -> None:
    # Three processes, four tasks of a second: one process does two of them.
    assert campaign_seconds(WORK, 3, 1.0, 4) == 2.0
    # Tasks of 1 and 3 seconds, in turn, with a mean of 4: the first process does 2, 2 and 6.
    varied = Work(1e6, 1.0, 0.0, seconds=(1.0, 3.0))
    assert campaign_seconds(varied, 2, 4.0, 4) == 10.0
    assert campaign_seconds(varied, 100, 4.0, 4) == 6.0


def test_the_work_of_a_given_rate() -> None:
    work = work_at(9.2e6, 1e9)
    assert (work.bytes_in, work.bytes_moved) == (1e9, 1.6e9)
    assert work.cpu_seconds == pytest.approx(108.7, abs=0.01)
    (one,) = scaling(work, site(32), [1]).points
    assert one.process_rate == pytest.approx(9.2e6)


def test_wrong_numbers_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(nyssa.ArgumentError) as caught:
        scaling(WORK, site(0), [1])
    assert str(caught.value) == "the numbers of nodes, processes and servers must be positive"
    with pytest.raises(
        nyssa.ArgumentError,
        match="the bytes of the inputs and the CPU time of a task must be positive",
    ):
        scaling(Work(0, 1, 1), site(1), [1])
    assert cli.main(["estimate"]) == 2
    assert capsys.readouterr().err == (
        "error: give exactly one of these: DEST (the folder of a campaign), --trace, or "
        "--process-rate\n"
    )


@pytest.fixture
def client() -> Iterator[object]:
    """Return a client of one worker in this process."""
    with dask_client(workers=1, threads=1) as started:
        yield started


def test_a_journal_gives_the_work(
    tmp_path: Path, client: object, capsys: pytest.CaptureFixture[str]
) -> None:
    out, plot = tmp_path / "out", tmp_path / "plot.png"
    inputs = [str(write_tree(tmp_path / "in" / f"{n}.root", n)) for n in range(3)]
    campaign.convert(inputs, str(out), client=client)
    records = lines(out / campaign.JOURNAL)
    keys = ("bytes_read", "input_bytes", "output_bytes")
    total = {key: sum(one[key] for one in records) for key in keys}
    # Every input was read, and every output was read back.
    assert total["bytes_read"] > total["input_bytes"] * 0.9
    assert all(one["requests"] > 0 for one in records)
    work = measured(str(out))
    assert work.bytes_in == pytest.approx(total["input_bytes"] / 3)
    assert work.bytes_moved == pytest.approx((total["bytes_read"] + total["output_bytes"]) / 3)
    near = measured(str(out), remote=False)
    assert near.bytes_moved == pytest.approx((total["bytes_read"] - total["output_bytes"]) / 3)
    command = ["estimate", str(out), "--nodes", "1,10", "--processes", "2", "--json"]
    assert cli.main([*command, "--server-bandwidth", "1kB", "--plot", str(plot)]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [one["nodes"] for one in shown["points"]] == [1, 10]
    assert shown["points"][1]["limit"] == "server bandwidth"
    assert shown["points"][1]["tasks_per_second"] == pytest.approx(
        1000 / work.bytes_moved, rel=0.01
    )
    assert plot.read_bytes().startswith(b"\x89PNG")
    (tmp_path / "empty").write_text("")
    with pytest.raises(nyssa.ArgumentError) as caught:
        measured(str(out), journal=tmp_path / "empty")
    assert str(caught.value) == (
        f"no task of {tmp_path}/empty made an output, so the rate is not known"
    )


#: The lines of a job that opens a file of 1 MB and reads 30 kB of it. Two of its three requests are
#: under way at the same time. It computes for a second after its last read.
JOB = [
    {"op": "trace", "version": 1, "nyssa": "0.1.0", "time": "2026-01-01T00:00:00Z", "process": 1},
    {"op": "open", "file": 1, "name": "a", "size": 1_000_000, "start": 0, "end": 0.5, "thread": 1},
    {"op": "read", "file": 1, "offset": 0, "length": 10_000, "start": 1, "end": 2, "thread": 1},
    {"op": "readv", "file": 1, "ranges": [[20_000, 4_000], [50_000, 6_000]]}
    | {"start": 1.5, "end": 2.5, "thread": 2},
    {
        "op": "read",
        "file": 1,
        "offset": 90_000,
        "length": 10_000,
        "start": 3,
        "end": 4,
        "thread": 1,
    },
]


def write_trace(path: Path, *more: dict[str, object]) -> str:
    """Write the recording of a job."""
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [*JOB, *more]))
    return str(path)


def test_a_recording_gives_the_work(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ended = write_trace(tmp_path / "ended.jsonl", {"op": "end", "end": 5, "cpu": 1.25})
    work = recorded([ended])
    assert work == Work(1e6, 1.25, 30_000, requests=4, round_trips=3, seconds=(5.0,))
    # A round trip of 0.1 s is waited for three times, and servers get four requests.
    assert rate(work, site(1, round_trip=0.1)) == pytest.approx(1 / (1.25 + 0.3))
    assert rate(work, site(100, server_iops=40)) == pytest.approx(10, rel=0.02)
    # Without its last line, the CPU time is the time without requests: 0.5 s before the first read,
    # and 0.5 s before the last.
    killed = write_trace(tmp_path / "killed.jsonl")
    assert recorded([killed]).cpu_seconds == pytest.approx(1.0)
    assert recorded([ended, killed]).cpu_seconds == pytest.approx((1.25 + 1.0) / 2)
    command = ["estimate", "--trace", ended, "--trace", killed, "--processes", "1", "--json"]
    assert cli.main([*command, "--nodes", "1", "--server-bandwidth", "1MB"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["work"]["seconds"] == [5.0, 4.0]
    assert shown["points"][0]["tasks_per_second"] == pytest.approx(1 / (1.125 + 0.03), rel=0.01)
    (tmp_path / "other").write_text("hello\n")
    assert cli.main(["estimate", "--trace", str(tmp_path / "other")]) == 1
    assert capsys.readouterr().err == (
        f"error: cannot read {tmp_path}/other: line 1 is neither a line of a trace nor a line "
        f"of a recording of XrdCl\n"
    )


def test_a_job_that_was_recorded_gives_its_work(tmp_path: Path) -> None:
    path, trace = write_tree(tmp_path / "a.root", 1), tmp_path / "job.jsonl"
    before = nyssa.io_stats()
    with nyssa.record(trace):
        nyssa.open(path)["Events"].arrays(threads=1)
    found = recorded([trace])
    stats = nyssa.io_stats().to_dict()
    names = ("bytes_read", "bytes_readv")
    assert found.bytes_moved == sum(stats[one] - before.to_dict()[one] for one in names)
    assert found.bytes_in == path.stat().st_size
    assert 0 < found.cpu_seconds < 60
    assert found.requests >= (found.round_trips or 0) > 0
