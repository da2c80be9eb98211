"""`nyssa campaign estimate` gives the rates that a network of queues has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import nyssa
from nyssa import campaign
from nyssa.campaign import cli
from nyssa.campaign.scaling import Site, Work, campaign_seconds, measured, scaling, work_at
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
    assert str(caught.value) == "numbers of nodes, processes and servers are positive"
    with pytest.raises(nyssa.ArgumentError, match="a task has inputs and takes CPU time"):
        scaling(Work(0, 1, 1), site(1), [1])
    assert cli.main(["estimate"]) == 2
    assert capsys.readouterr().err == (
        "nyssa: give either DEST, the folder of a campaign, or --process-rate\n"
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
    total = {key: sum(one[key] for one in records) for key in records[0] if key.startswith("bytes")}
    # Every input was read, and every output was read back.
    assert total["bytes_read"] > total["bytes_in"] * 0.9
    assert all(one["requests"] > 0 for one in records)
    work = measured(str(out))
    assert work.bytes_in == pytest.approx(total["bytes_in"] / 3)
    assert work.bytes_moved == pytest.approx((total["bytes_read"] + total["bytes_out"]) / 3)
    near = measured(str(out), remote=False)
    assert near.bytes_moved == pytest.approx((total["bytes_read"] - total["bytes_out"]) / 3)
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
        f"no task of {tmp_path}/empty made an output, so nothing is known of its rate"
    )
