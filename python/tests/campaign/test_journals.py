"""The journals of `nyssa convert --into` and of earlier builds are read like campaigns'."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import nyssa
from nyssa import campaign
from nyssa.campaign import cli
from nyssa.campaign.journal import Journal, Record, read_of
from nyssa.campaign.scaling import measured
from support.campaign import lines, numbers_of, write_tree
from support.dask import dask_client

pytest.importorskip("distributed", reason="no dask.distributed")

#: What an earlier build wrote in folders below `/data`.
EARLIER = Path(__file__).parent / "earlier"


@pytest.fixture
def inputs(tmp_path: Path) -> list[str]:
    """Return three inputs, one of which is no ROOT file."""
    paths = [write_tree(tmp_path / "in" / f"{n}.root", 100 * n) for n in range(3)]
    paths[2].write_bytes(b"no ROOT file")
    return [str(one) for one in paths]


def test_a_conversion_of_many_files(
    inputs: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    # The outputs are named as the user names them, which is of no use in another folder.
    monkeypatch.chdir(tmp_path)
    nyssa.convert(inputs, "out", skip_bad=True, verify=True)
    monkeypatch.chdir("/")
    status = campaign.status(str(out))
    assert (status.journal, status.complete, status.verified) == (
        f"{out}/nyssa-campaign.jsonl",
        2,
        2,
    )
    assert [(one.output, one.inputs) for one in status.failed] == [(f"{out}/2.root", [inputs[2]])]
    sizes = [sum(os.stat(one).st_size for one in of) for of in (inputs[:2], out.glob("*.root"))]
    (totals,) = status.datasets
    assert [totals.bytes_in, totals.bytes_out] == sizes
    assert totals.entries == 200
    estimate = ["estimate", str(out), "--nodes", "1", "--processes", "1", "--json"]
    assert cli.main(estimate) == 0
    work = json.loads(capsys.readouterr().out)["work"]
    assert work["bytes_in"] == sizes[0] / 2
    # Every input was read, and every output was read back.
    assert work["bytes_moved"] > sum(sizes) / 2 * 0.9
    assert work["cpu_seconds"] > 0
    assert work["requests"] > 0
    assert cli.main(["verify", str(out), "--quick", "--json"]) == 1
    shown = json.loads(capsys.readouterr().out)
    assert (shown["checked"], shown["problems"], shown["missing"]) == (2, [], [f"{out}/2.root"])


def test_damaged_conversions_are_made_again(inputs: list[str], tmp_path: Path) -> None:
    """`nyssa convert --skip-done` reads what `nyssa campaign verify` found."""
    out = tmp_path / "out"
    nyssa.convert(inputs[:2], out)
    path = out / "0.root"
    good = path.read_bytes()
    middle = len(good) // 2
    path.write_bytes(good[:middle] + bytes(40) + good[middle + 40 :])
    with dask_client(workers=1, threads=1) as client:
        found = campaign.verify(str(out), client=client)
    assert [one.output for one in found.problems] == [str(path)]
    again = nyssa.convert(inputs[:2], out, skip_done=True)
    assert [one["state"] for one in again] == ["done", "found"]
    assert numbers_of(path) == list(range(100))
    assert campaign.status(str(out)).is_complete


def test_a_line_that_was_cut_is_left_out(inputs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out"
    nyssa.convert(inputs[:1], out)
    journal = out / "nyssa-campaign.jsonl"
    journal.write_bytes(journal.read_bytes()[:-40])
    nyssa.convert(inputs[:2], out, skip_done=True)
    assert len(journal.read_text().splitlines()) == 3
    assert campaign.status(str(out)).complete == 2


def earlier(folder: Path, name: str) -> Path:
    """Put a journal of an earlier build into a folder, as if it had worked there."""
    folder.mkdir()
    path = folder / name
    path.write_text((EARLIER / name).read_text().replace("/data", str(folder)))
    return path


def test_a_campaign_of_an_earlier_build(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    path = earlier(folder, campaign.JOURNAL)
    made, other, failed = read_of(str(folder))[1].records.values()
    assert made == Record(
        f"{folder}/0.root",
        "done",
        [[f"{folder}/in/0.root", 22509, "b973d578eb5011f1ad0f02fc00000001-7ef91664"]],
        "convert(verify=True)",
        error="",
        begin=1795886739.4857905,
        seconds=0.07587511400015501,
        cpu_seconds=0.019521846000000065,
        host="node",
        process=3344,
        entries=100,
        input_bytes=22509,
        output_bytes=1669,
        bytes_read=27463,
        requests=13,
        verified=True,
        adler32="1dbde7ec",
    )
    status = campaign.status(str(folder))
    assert (status.complete, status.verified, status.bytes_out) == (2, 2, 1669 + 1628)
    assert [(one.output, one.error) for one in status.failed] == [(failed.output, failed.error)]
    assert status.last_run is not None
    assert (status.last_run.tasks, status.last_run.ended) == (3, 3)
    assert measured(str(folder)).bytes_in == 22509
    # Lines of today follow.
    with Journal(path) as journal:
        journal.add(replace(other, entries=101))
    assert lines(path)[-1] == {"version": 2, **asdict(replace(other, entries=101))}
    assert campaign.status(str(folder)).datasets[0].entries == 201


def test_a_conversion_of_an_earlier_build(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    earlier(folder, "nyssa-convert.jsonl")
    made, _, failed = read_of(str(folder))[1].records.values()
    assert made == Record(
        f"{folder}/0.root",
        "done",
        [[f"{folder}/in/0.root", 22509, "b973d578eb5011f1ad0f02fc00000001-7ef91664"]],
        "convert(127ae84bbc558e1f)",
        seconds=0.032196734,
        entries=100,
        input_bytes=22509,
        output_bytes=1669,
    )
    assert (failed.state, failed.output) == ("failed", f"{folder}/2.root")
    assert campaign.status(str(folder)).complete == 2


def test_a_later_version_is_refused(tmp_path: Path) -> None:
    path = earlier(tmp_path / "out", campaign.JOURNAL)
    path.write_text('{"version": 3, "run": "convert()"}\n')
    with pytest.raises(nyssa.ArgumentError, match="line 1 of .* is not a record of a campaign"):
        campaign.status(str(path.parent))


def test_outputs_of_both_commands_are_done(inputs: list[str], tmp_path: Path) -> None:
    """A conversion with the same options is not made again, however they are given."""
    one, other = tmp_path / "one", tmp_path / "other"
    paths: list[Any] = inputs[:2]
    nyssa.convert(paths, one, verify=True, page_size="64 KiB")
    with dask_client(workers=1, threads=1) as client:
        report = campaign.convert(paths, str(one), client=client, page_size=65536)
        assert (report.done, report.found, report.failed) == (0, 2, [])
        made = [line["state"] for line in lines(one / campaign.JOURNAL) if "state" in line]
        assert made == ["done"] * 2
        jobs = r"convert\(page_size=65536\)"
        with pytest.raises(nyssa.errors.OutputExistsError, match=jobs):
            campaign.convert(paths, str(one), client=client, page_size=4096)
        campaign.convert(paths, str(other), client=client)
    # The defaults, in other words.
    defaults: Any = {"compression": "zstd", "effort": "auto", "memory": "512 MiB", "verify": True}
    found = nyssa.convert(paths, other, skip_done=True, cluster_size=128 << 20, **defaults)
    assert [file["state"] for file in found] == ["found"] * 2
    status = campaign.status(str(other))
    assert (status.complete, status.verified, status.is_complete) == (2, 2, True)
    message = "was made with other options: by convert(), and not by convert(page_size=4096)"
    with pytest.raises(nyssa.errors.OutputExistsError, match=re.escape(message)):
        nyssa.convert(paths, other, skip_done=True, page_size=4096, verify=True)


def test_verification_is_no_option_of_the_output(inputs: list[str], tmp_path: Path) -> None:
    """Verified outputs are done for every run; others are made again for a run that verifies."""
    paths, out = inputs[:2], tmp_path / "out"

    def convert(verify: bool) -> list[Any]:
        found: list[Any] = nyssa.convert(paths, out, skip_done=True, verify=verify)
        return [(file["state"], file["notes"]) for file in found]

    def campaigns(verify: bool) -> tuple[int, int, int]:
        with dask_client(workers=1, threads=1) as client:
            report = campaign.convert(paths, str(out), client=client, verify=verify)
        return report.done, report.found, campaign.status(str(out)).verified

    again = "made again: the output that was there was not verified"
    assert convert(verify=False) == [("done", [])] * 2
    assert campaigns(verify=False) == (0, 2, 0)
    assert convert(verify=True) == [("done", [again])] * 2
    assert convert(verify=False) == [("found", [])] * 2
    assert campaigns(verify=True) == (0, 2, 2)
    # Without a journal, the outputs themselves say whether they were verified.
    (out / campaign.JOURNAL).unlink()
    assert campaigns(verify=True) == (0, 2, 2)
    (out / campaign.JOURNAL).unlink()
    nyssa.convert(paths, out, force=True)
    (out / campaign.JOURNAL).unlink()
    assert campaigns(verify=True) == (2, 0, 2)
    assert lines(out / campaign.JOURNAL)[-1]["notes"] == [again]
    assert convert(verify=True) == [("found", [])] * 2
