"""`nyssa campaign status` and `nyssa campaign verify` say what a campaign has made."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import nyssa
from nyssa import campaign
from nyssa.campaign import cli
from nyssa.campaign.journal import Journal
from support.campaign import lines, numbers_of, write_tree
from support.dask import dask_client

pytest.importorskip("distributed", reason="no dask.distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    """Return a client of two workers in this process."""
    with dask_client(workers=2, threads=1) as started:
        yield started


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, list[str]]:
    """Return two datasets with four files."""
    paths = [write_tree(tmp_path / "in" / f"{n}.root", 100 * n) for n in range(4)]
    return {"a": [str(one) for one in paths[:3]], "b": [str(paths[3])]}


def test_status(
    inputs: dict[str, list[str]],
    tmp_path: Path,
    client: object,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    assert cli.main(["status", str(out)]) == 3
    assert capsys.readouterr().err == (
        f"error: there is no journal of a campaign at {out}/{campaign.JOURNAL}\n"
    )
    broken = Path(inputs["b"][0])
    broken.write_bytes(b"no ROOT file")
    campaign.convert(inputs, str(out), client=client, quiet=True)
    assert cli.main(["status", str(out), "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["complete"], shown["verified"], shown["running"]) == (3, 3, False)
    assert [one["output"] for one in shown["failed"]] == [f"{out}/b/3.root"]
    assert [(one["dataset"], one["entries"]) for one in shown["datasets"]] == [("a", 300)]
    run = shown["last_run"]
    assert [run[one] for one in ("tasks", "missing", "ended", "remaining")] == [4, 4, 4, 0]
    assert run["seconds_left"] is None
    write_tree(broken, 300)
    campaign.convert(inputs, str(out), client=client, quiet=True)
    assert cli.main(["status", str(out)]) == 0
    size = sum(one.stat().st_size for one in out.rglob("*.root"))
    *_, run_line, ended, total = capsys.readouterr().out.splitlines()
    assert run_line.endswith("convert(), 1 of 4 outputs to make")
    assert ended.startswith("1 ended in ")
    assert ended.endswith(" 0 remain")
    assert total == f"4 complete ({size / 1e3:.1f} kB), 0 failed, 0 damaged"


def test_status_of_a_campaign_that_runs_and_of_one_that_was_stopped(
    inputs: dict[str, list[str]], tmp_path: Path, client: object
) -> None:
    out = tmp_path / "out"
    campaign.convert(inputs, str(out), client=client, quiet=True)
    path = out / campaign.JOURNAL
    # The first two tasks of four have ended.
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:3]))
    stopped = campaign.status(str(out))
    assert (stopped.running, stopped.complete, stopped.is_complete) == (False, 2, False)
    assert stopped.last_run is not None
    assert (stopped.last_run.ended, stopped.last_run.remaining) == (2, 2)
    assert "it was stopped; run the same command again to continue" in str(stopped)
    with Journal(path):
        running = campaign.status(str(out))
        assert running.running
        assert running.last_run is not None
        assert running.last_run.seconds_left is not None
        assert "runs since " in str(running)
        with pytest.raises(
            nyssa.ArgumentError, match="is the journal of a campaign that is still running"
        ):
            campaign.verify(str(out), quick=True)
    path.write_text("no journal\n")
    with pytest.raises(nyssa.ArgumentError) as caught:
        campaign.status(str(out))
    assert str(caught.value) == f"line 1 of {path} is not a record of a campaign"


def test_verify_finds_damage_and_the_next_run_mends_it(
    inputs: dict[str, list[str]], tmp_path: Path, client: object
) -> None:
    out = tmp_path / "out"
    campaign.convert(inputs, str(out), client=client)
    whole = campaign.verify(str(out), client=client)
    assert (whole.checked, whole.problems, whole.unknown) == (4, [], [])
    # One output is gone, one is cut short, a byte of one has changed, and one file is not ours.
    gone, short, changed = (out / f"a/{n}.root" for n in range(3))
    sizes = {one: one.stat().st_size for one in (short, changed)}
    gone.unlink()
    os.truncate(short, 1000)
    content = changed.read_bytes()
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 1
    changed.write_bytes(damaged)
    (out / "other.root").write_bytes(b"")
    command = ["verify", str(out), "--json", "--workers", "1"]
    assert cli.main([*command, "--quick"]) == 1
    found = campaign.verify(str(out), client=client)
    # What the quick check has found is in the journal as damaged, and not checked again.
    assert (found.checked, found.unknown) == (2, [f"{out}/other.root"])
    (problem,) = found.problems
    before, after = zlib.adler32(content), zlib.adler32(damaged)
    assert (problem.output, problem.is_damaged) == (str(changed), True)
    assert problem.problem == (
        f"its Adler-32 checksum is {after:08x}, but {before:08x} in the journal"
    )
    status = campaign.status(str(out))
    assert status.complete == 1
    assert {one.output: one.error for one in status.damaged} == {
        str(gone): "it does not exist",
        str(short): f"it has 1000 bytes, but {sizes[short]} in the journal",
        str(changed): problem.problem,
    }
    again = campaign.convert(inputs, str(out), client=client)
    assert (again.done, again.found, again.failed) == (3, 1, [])
    assert numbers_of(changed) == list(range(200, 300))
    assert campaign.verify(str(out), client=client).sound
    assert campaign.status(str(out)).is_complete


def test_verify_reads_the_outputs(
    inputs: dict[str, list[str]], tmp_path: Path, client: object
) -> None:
    """An output that was damaged before its checksum was taken is found by reading it."""
    out = tmp_path / "out"
    campaign.convert(inputs, str(out), client=client)
    path = out / "b/3.root"
    content = bytearray(path.read_bytes())
    frame = bytes.fromhex("28b52ffd")  # Here compressed data begin, which have a checksum.
    content[content.index(frame) + len(frame) + 4] ^= 1
    path.write_bytes(content)
    journal = out / campaign.JOURNAL
    records = {one["output"]: one for one in lines(journal)}
    old = records[str(path)]["adler32"]
    new = f"{zlib.adler32(content):08x}"
    journal.write_text(journal.read_text().replace(f'"{old}"', f'"{new}"'))
    found = campaign.verify(str(out), client=client)
    [problem] = nyssa.verify(path).problems
    assert [(one.output, one.problem) for one in found.problems] == [
        (str(path), f"1 problem; the first: {problem.message}")
    ]
