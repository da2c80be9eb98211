"""Campaigns convert, rewrite and merge whole datasets; uproot reads what they make."""

from __future__ import annotations

import argparse
import dataclasses
import errno
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import time
import zlib
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core, campaign
from nyssa.arguments.keywords import words_of
from nyssa.campaign import cli, task
from nyssa.campaign.command import Parser
from nyssa.campaign.engine import batches
from nyssa.campaign.failure import exit_code
from nyssa.campaign.job_flags import add_flags, options_of
from nyssa.campaign.journal import Journal
from nyssa.campaign.plan import find_inputs, make_tasks
from nyssa.campaign.task import memory
from nyssa.jobs.convert import FileKeywords
from support.campaign import ENTRIES, lines, numbers_of, write_tree
from support.dask import dask_client, worker_processes

pytest.importorskip("distributed", reason="no dask.distributed")


@pytest.fixture(scope="module")
def client() -> Iterator[object]:
    """Return a client of two workers in this process."""
    with dask_client(workers=2, threads=1) as started:
        yield started


@pytest.fixture
def trees(tmp_path: Path) -> list[Path]:
    """Return five files with TTrees, in two folders."""
    names = ["a/0", "a/1", "a/2", "b/3", "b/4"]
    return [write_tree(tmp_path / "in" / f"{n}.root", ENTRIES * int(n[-1])) for n in names]


def test_each_input_makes_an_output(trees: list[Path], tmp_path: Path, client: object) -> None:
    report = campaign.convert(f"{tmp_path}/in/**/*.root", f"{tmp_path}/out", client=client)
    assert (report.done, report.found, report.failed) == (5, 0, [])
    assert report.verified == 5
    for number, tree in enumerate(trees):
        output = tmp_path / "out" / tree.relative_to(tmp_path / "in")
        assert numbers_of(output) == list(range(100 * number, 100 * number + 100))
    (totals,) = report.datasets
    sizes = sum(tree.stat().st_size for tree in trees)
    assert (totals.outputs, totals.entries, totals.bytes_in) == (5, 500, sizes)
    made = list((tmp_path / "out").rglob("*.root"))
    assert totals.bytes_out == sum(one.stat().st_size for one in made)
    records = lines(tmp_path / "out" / campaign.JOURNAL)
    for record in records:
        content = Path(str(record["output"])).read_bytes()
        assert record["adler32"] == f"{zlib.adler32(content):08x}"
    # Nothing else is in the folder.
    assert len(list((tmp_path / "out").rglob("*"))) == 5 + 1 + 2


def test_only_what_is_missing_is_done_again(
    trees: list[Path], tmp_path: Path, client: object
) -> None:
    inputs, out = f"{tmp_path}/in/**/*.root", tmp_path / "out"
    campaign.convert(inputs, str(out), client=client)
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*.root")}
    again = campaign.convert(inputs, str(out), client=client)
    assert (again.done, again.found) == (0, 5)
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*.root")} == before
    # An output that is gone, one that was cut short, and one of an input that has changed.
    (out / "a/0.root").unlink()
    os.truncate(out / "a/1.root", 1000)
    write_tree(trees[2], 7000)
    with uproot.update(trees[2]) as file:
        file["more"] = "other size"
    again = campaign.convert(inputs, str(out), client=client)
    assert (again.done, again.found, again.failed) == (3, 2, [])
    assert numbers_of(out / "a/2.root")[0] == 7000
    assert numbers_of(out / "a/1.root")[0] == 100
    # Outputs that were made with other options are only replaced on request.
    other = {"client": client, "name": "Events", "tree": "Events"}
    with pytest.raises(nyssa.errors.OutputExistsError) as caught:
        campaign.convert(inputs, str(out), **other)
    assert str(caught.value) == (
        f"{out}/a/0.root was made with other options or of other inputs (convert()), "
        f"and so were 4 more outputs: name another folder, or replace them (--force)"
    )
    assert campaign.convert(inputs, str(out), client=client).found == 5
    second = campaign.convert(inputs, str(out), **other, force=True)
    third = campaign.convert(inputs, str(out), **other)
    (out / "a/0.root").unlink()
    fourth = campaign.convert(inputs, str(out), **other)
    assert (second.done, third.done, fourth.done, fourth.found) == (5, 0, 1, 4)


def test_a_bad_file_does_not_stop_the_others(
    trees: list[Path], tmp_path: Path, client: object
) -> None:
    content = trees[1].read_bytes()
    trees[1].write_bytes(content[: len(content) // 2])
    trees[3].write_bytes(b"")
    inputs = [*map(str, trees), str(tmp_path / "in" / "missing.root")]
    report = campaign.convert(inputs, f"{tmp_path}/out", client=client, quiet=True)
    assert report.done == 3
    failed = {Path(one.output).name: one for one in report.failed}
    assert sorted(failed) == ["1.root", "3.root", "missing.root"]
    # These errors do not pass, so each was tried once.
    assert {one.attempts for one in failed.values()} == {1}
    assert failed["missing.root"].error.startswith("FileMissingError: cannot open ")
    assert not (tmp_path / "out" / "a" / "1.root").exists()
    trees[1].write_bytes(content)
    again = campaign.convert(inputs, f"{tmp_path}/out", client=client, quiet=True)
    assert (again.done, again.found, len(again.failed)) == (1, 3, 2)


def test_errors_that_may_pass_are_tried_again(
    trees: list[Path], tmp_path: Path, client: object
) -> None:
    # A port at which nobody listens: this process holds it.
    import socket

    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}/a.root"
        inputs = [url, str(trees[0])]
        report = campaign.convert(
            inputs, f"{tmp_path}/out", client=client, quiet=True, retries=1, target_size="1 kB"
        )
    (failed,) = report.failed
    assert (report.done, failed.inputs, failed.attempts) == (1, [url], 2)


def test_small_files_become_few(trees: list[Path], tmp_path: Path, client: object) -> None:
    nyssa.convert(trees[0], tmp_path / "one.root")
    size = (tmp_path / "one.root").stat().st_size
    datasets = {"data": [str(one) for one in trees[:3]], "mc": [str(one) for one in trees[3:]]}
    listing = tmp_path / "datasets.json"
    listing.write_text(json.dumps(datasets))
    report = campaign.convert(
        str(listing), f"{tmp_path}/out", client=client, target_size=int(2.5 * size), verify=False
    )
    names = sorted(str(one.relative_to(tmp_path / "out")) for one in tmp_path.glob("out/*/*.root"))
    assert names == ["data/data-00000.root", "data/data-00001.root", "mc/mc-00000.root"]
    assert numbers_of(tmp_path / "out" / names[0]) == list(range(200))
    assert numbers_of(tmp_path / "out" / names[1]) == list(range(200, 300))
    assert numbers_of(tmp_path / "out" / names[2]) == list(range(300, 500))
    assert [(one.dataset, one.entries) for one in report.datasets] == [("data", 300), ("mc", 200)]
    assert report.verified == 0
    # A later run puts the same inputs together.
    begin = json.loads((tmp_path / "out" / campaign.JOURNAL).read_text().splitlines()[0])
    assert begin["scale"] == pytest.approx(size / trees[0].stat().st_size, rel=0.1)
    job = campaign.Job("convert", {"verify": False})
    again = campaign.Campaign(job, str(listing), f"{tmp_path}/out", target_size=int(2.5 * size))
    assert again.scale == begin["scale"]
    assert again.missing(again.records()) == []
    merged = campaign.merge(
        f"{tmp_path}/out/data/*.root", f"{tmp_path}/merged", client=client, target_size="1 GB"
    )
    assert merged.done == 1
    assert numbers_of(tmp_path / "merged" / "part-00000.root") == list(range(300))
    rewritten = campaign.rewrite(
        f"{tmp_path}/merged/*.root",
        f"{tmp_path}/rewritten",
        client=client,
        cut="n >= 290",
        compression="lz4",
    )
    assert rewritten.done == 1
    assert numbers_of(tmp_path / "rewritten" / "part-00000.root") == list(range(290, 300))


def test_datasets_have_folders(trees: list[Path]) -> None:
    """Each slash in a name begins a folder below the destination, as in the names of CMS."""
    two = find_inputs({"/TT/Run3/NANO": [str(one) for one in trees[:2]]}, "/nowhere")
    outputs = [one.output for one in make_tasks(two, "/out", condense=2)]
    assert outputs == ["/out/TT/Run3/NANO/NANO-00000.root"]
    assert make_tasks(two, "/out")[1].output == "/out/TT/Run3/NANO/1.root"
    for name in ("../up", "/", "a/./b"):
        given = find_inputs({name: str(trees[0])}, "/nowhere")
        with pytest.raises(nyssa.ArgumentError, match="has no folder below the destination"):
            make_tasks(given, "/out")


def test_outputs_of_several_inputs_are_stored_as_of_one(trees: list[Path], tmp_path: Path) -> None:
    """The options of the job say how the merged output is stored, and what notes call inputs."""
    named = [str(one) for one in trees[:2]]
    two = make_tasks(find_inputs(named, "/nowhere"), f"{tmp_path}/out", condense=2)
    options = {
        "page_size": 256,
        "field_options": {"n": {"compression": "lz4"}, "x": {"column": "unsplit"}},
        "reproducible": True,
    }
    made = []
    for _ in range(2):
        job = campaign.Job("convert", options, force=True)
        [record] = task.run_tasks(two, job, [])
        assert (record.state, record.error, record.entries) == ("done", None, 200)
        made.append(Path(record.output).read_bytes())
    assert made[0] == made[1]
    found = nyssa.inspect(f"{record.output}:Events")
    stored = {one.field: (one.column_type, one.codecs) for one in found.columns}
    assert stored == {"n": ("SplitInt64", ["lz4"]), "x": ("Real64", ["zstd"])}
    assert all(one.pages.count >= 200 * 8 // 256 for one in found.columns)
    assert numbers_of(record.output) == list(range(200))
    with pytest.raises(nyssa.ArgumentError, match="a profile is for outputs of one input each"):
        job = campaign.Job("convert", {"profile": f"{tmp_path}/p.toml"})
        campaign.Campaign(job, named, f"{tmp_path}/other", condense=2)


def test_notes_name_the_inputs(tmp_path: Path) -> None:
    """What a merge of converted inputs leaves out is said once, with the names of the inputs."""
    root = pytest.importorskip("ROOT")
    names = [str(write_tree(tmp_path / f"{n}.root", n)) for n in range(2)]
    for name in names:
        file = root.TFile(name, "UPDATE")
        for _ in range(2):
            file.WriteObject(root.TH1D("h", "", 2, 0, 2), "h")
        file.Close()
    two = make_tasks(find_inputs(names, "/nowhere"), f"{tmp_path}/out", condense=2)
    [record] = task.run_tasks(two, campaign.Job("convert"), [])
    assert record.notes == [
        f"left out TH1D h;1: cycle 2 of it was merged (in {names[0]} and one more input)"
    ]


@pytest.mark.parametrize("whole", [True, False])
def test_the_size_of_whole_files_is_estimated(
    tmp_path: Path, whole: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of the largest tree tells the size of outputs of files with several trees."""
    numbers = np.random.default_rng(1)
    with uproot.recreate(tmp_path / "in.root", compression=None) as file:
        for name, count in (("Runs", 10), ("Events", 40_000)):
            file.mktree(name, {"x": np.float64}).extend({"x": numbers.random(count)})
    [given] = find_inputs(str(tmp_path / "in.root"), "/nowhere")
    nyssa.convert(given.url, tmp_path / "out.root")
    module = sys.modules["nyssa.campaign.estimate"]
    monkeypatch.setattr(module, "SAMPLE", given.size if whole else 100_000)
    sample = module.estimate([given], campaign.Job("convert"))
    expected = (tmp_path / "out.root").stat().st_size / given.size
    assert sample.scale == pytest.approx(expected, rel=0.1)
    job = campaign.Job("convert", {"entry_start": 100, "entry_stop": 20_100, "carry": False})
    half = module.estimate([dataclasses.replace(given, url=f"{given.url}:Events")], job)
    assert half.scale == pytest.approx(expected / 2, rel=0.1)


def test_to_trees_with_options(trees: list[Path], tmp_path: Path, client: object) -> None:
    """Ranges of entries are of each input, and several inputs become one tree."""
    campaign.convert([str(one) for one in trees[:3]], f"{tmp_path}/ntuples", client=client)
    words = ["--to", "ttree", "--entries", "10:30", "--branch-options", "n:basket-size=1kB"]
    parser = Parser()
    add_flags(parser, "convert")
    job = campaign.Job("convert", options_of("convert", parser.parse_args(words)))
    planned = campaign.Campaign(job, f"{tmp_path}/ntuples", f"{tmp_path}/trees", condense=3)
    assert planned.run(client, quiet=True).failed == []
    tree = uproot.open(tmp_path / "trees" / "part-00000.root")["Events"]
    assert tree.classname == "TTree"
    numbers = tree["n"].array().to_list()
    assert numbers == [n + 100 * file for file in range(3) for n in range(10, 30)]


@pytest.mark.parametrize(
    "listing",
    [
        {"tt": {"files": {"PATH": "Events"}, "metadata": {"xsec": 1}}},
        {"tt": {"files": {"PATH": {"object_path": "Events", "steps": [[0, 10]]}}}},
        {"tt": {"up": {"nevts_total": 1, "files": [{"path": "PATH:Events", "nevts": 100}]}}},
        {"tt": ["PATH:Events"]},
        {"tt": "PATH:Events"},
    ],
)
def test_lists_of_files_of_others(listing: object, trees: list[Path]) -> None:
    given = json.loads(json.dumps(listing).replace("PATH", str(trees[0])))
    (found,) = find_inputs(given, "/nowhere")
    size = trees[0].stat().st_size
    dataset = "tt__up" if "up" in given["tt"] else "tt"
    assert (found.url, found.dataset, found.size) == (f"{trees[0]}:Events", dataset, size)


def test_wrong_inputs_are_refused(trees: list[Path], tmp_path: Path) -> None:
    def refused(inputs: object, destination: str, **options: object) -> str:
        with pytest.raises((nyssa.ArgumentError, nyssa.NotFoundError)) as caught:
            campaign.convert(inputs, destination, **options)
        return str(caught.value)

    out = f"{tmp_path}/out"
    assert refused([], out) == "a campaign needs at least one input"
    nothing = f"{tmp_path}/none/*.root"
    assert refused(nothing, out) == f"no file matches {nothing}"
    assert refused(str(trees[0]), "root://host//out") == (
        "outputs at a URL need a local journal: give its file as journal"
    )
    listing = tmp_path / "list.json"
    listing.write_text("[1]")
    assert refused(str(listing), out) == (
        f"{listing} is not a dict from the names of datasets to files"
    )
    assert refused({"tt": 3}, out) == "the dataset 'tt' has files in an unknown form: 3"
    assert refused(f"{trees[0]}", out, cluster="nobatch").startswith(
        ("dask-jobqueue does not know", "jobs of nobatch need dask-jobqueue")
    )


def test_the_journal_survives_a_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    record = campaign.Record("out.root", "done", [("in.root", 3)], "convert()")
    with Journal(path) as journal:
        journal.add(record)
        with pytest.raises(nyssa.ArgumentError) as caught:
            Journal(path)
        assert str(caught.value) == (
            f"{path} is the journal of a campaign that is still running: wait until it ends"
        )
    whole = path.read_bytes()
    for end in (b'{"output": "b.root", "sta', b"{", b'{"output": "b.root"}'):
        path.write_bytes(whole + end)
        with Journal(path) as journal:
            assert list(journal.records) == ["out.root"]
        assert path.read_bytes() == whole
    path.write_bytes(b"no JSON\n" + whole)
    with pytest.raises(nyssa.ArgumentError) as caught:
        Journal(path)
    assert str(caught.value) == f"line 1 of {path} is not a record of a campaign"


def test_an_output_that_exists_is_checked(
    trees: list[Path], tmp_path: Path, client: object
) -> None:
    inputs, out = [str(one) for one in trees[:2]], tmp_path / "out"
    campaign.convert(inputs, str(out), client=client)
    # The campaign was stopped before it wrote that the outputs are there.
    (out / campaign.JOURNAL).unlink()
    os.replace(out / "1.root", out / "0.root")
    (out / "1.root").write_bytes(b"not complete")
    report = campaign.convert(inputs, str(out), client=client, quiet=True)
    (failed,) = report.failed
    # The first one is the conversion of the second input, which has as many entries.
    assert (report.done, report.found, failed.output) == (1, 0, f"{out}/1.root")
    (note,) = report.notes
    assert (note.text, note.outputs) == (
        "replaced an output that was there: nothing says what it was made of",
        1,
    )
    assert f"{note.text} (1 output)" in str(report)
    assert numbers_of(out / "0.root")[0] == 0
    assert campaign.verify(str(out), client=client).missing == [f"{out}/1.root"]
    forced = campaign.convert(inputs, str(out), client=client, quiet=True, force=True)
    assert (forced.done, forced.failed) == (1, [])
    assert numbers_of(out / "1.root")[0] == 100
    (out / campaign.JOURNAL).unlink()
    found = campaign.convert(inputs, str(out), client=client, quiet=True)
    assert (found.done, found.found, found.failed, found.notes) == (0, 2, [], [])


def test_each_tree_of_a_file(tmp_path: Path, client: object) -> None:
    """What is left out of any of them is in the journal and in the report."""
    root = pytest.importorskip("ROOT")
    path = tmp_path / "nano.root"
    file = root.TFile(str(path), "RECREATE")
    for name, count in (("Events", 3), ("Runs", 1)):
        tree = root.TTree(name, "")
        value = array("i", [0])
        tree.Branch("x", value, "x/I")
        info = root.TMap()
        root.SetOwnership(info, False)
        tree.GetUserInfo().Add(info)
        for value[0] in range(count):
            tree.Fill()
        tree.Write()
    file.Close()
    report = campaign.convert(str(path), f"{tmp_path}/out", client=client)
    opened = uproot.open(tmp_path / "out" / "nano.root")
    assert {name: opened[name].num_entries for name in opened.keys(cycle=False)} == {
        "Events": 3,
        "Runs": 1,
    }
    note = (
        'the object of the user information "" of the tree cannot be kept: TMap cannot be written'
    )
    notes = [f"{tree}: {note}" for tree in ("Events", "Runs")]
    assert [one.text for one in report.notes] == notes
    (record,) = lines(tmp_path / "out" / campaign.JOURNAL)
    assert (record["entries"], record["notes"]) == (4, notes)
    one = campaign.convert(f"{path}:Events", f"{tmp_path}/one", client=client)
    assert [note.text for note in one.notes] == [
        "left out Runs;1 (TTree): it was not named; without a path, all are converted",
        note,
    ]


def test_the_command_line(
    trees: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["convert", f"{tmp_path}/in/a", "-o", f"{tmp_path}/out", "--json"]
    assert cli.main([*command, "--dry-run", "--workers", "2"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert [Path(task["output"]).name for task in shown["tasks"]] == ["0.root", "1.root", "2.root"]
    assert shown["rate"] > 0
    assert not (tmp_path / "out").exists()
    plot = tmp_path / "plot.png"
    assert cli.main([*command, "--workers", "1", "--plot", str(plot), "-q"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert (shown["done"], shown["processes"][0]["tasks"]) == (3, 3)
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert trees


@pytest.mark.parametrize(
    ("arguments", "kind", "code", "message"),
    [
        (
            ["convert", "PATH/none/*", "-o", "PATH/out"],
            "NotFound",
            3,
            "no file matches PATH/none/*",
        ),
        (
            ["convert", "PATH/in/a", "-o", "PATH/out", "--compression", "zip"],
            "InvalidArgument",
            2,
            'compression "zip" is not known: use zstd, zlib, lz4 or lzma with a level 1 to 9 '
            "(such as zstd:5), a ROOT setting such as 505, or none",
        ),
        (
            ["convert", "PATH/in/a", "-o", "PATH/out", "--memory", "1KB"],
            "InvalidArgument",
            2,
            "1000 bytes of memory are not enough: at least 1048576 are needed",
        ),
        (
            ["merge", "PATH/in/a", "-o", "PATH/out", "--condense", "2", "--effort", "much"],
            "InvalidArgument",
            2,
            'effort "much" is not known: use auto or full',
        ),
        (
            ["convert", "PATH/in", "-o"],
            "InvalidArgument",
            2,
            "argument -o/--output: expected one argument; "
            "`nyssa campaign convert --help` lists the arguments",
        ),
        (
            ["convert", "PATH/in", "-o", "PATH/out", "--compresion", "zstd"],
            "InvalidArgument",
            2,
            "unrecognized arguments: --compresion zstd; `nyssa campaign convert --help` lists the "
            'arguments; did you mean "--compression"?',
        ),
        (
            ["status", "PATH/none"],
            "NotFound",
            3,
            f"there is no journal of a campaign at PATH/none/{campaign.JOURNAL}",
        ),
    ],
)
def test_a_command_that_cannot_begin(
    arguments: list[str],
    kind: str,
    code: int,
    message: str,
    trees: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Its exit code and its JSON document are those that docs/command-line.md lists."""
    given = [one.replace("PATH", str(tmp_path)) for one in arguments]
    message = message.replace("PATH", str(tmp_path))
    assert cli.main([*given, "--json"]) == code
    shown = capsys.readouterr()
    assert shown.err == f"error: {message}\n"
    error = json.loads(shown.out)["error"]
    assert (error["kind"], error["message"], error["exit_code"]) == (kind, message, code)
    assert not (tmp_path / "out").exists()
    assert trees


def test_each_error_has_the_exit_code_of_all_commands() -> None:
    made = {
        nyssa.FormatError("truncated"): 1,
        nyssa.errors.ChecksumError("wrong"): 1,
        nyssa.errors.OutputExistsError("exists"): 2,
        nyssa.errors.FolderError("a folder"): 2,
        nyssa.errors.FileMissingError("missing"): 3,
        nyssa.errors.UnsupportedError("not read"): 4,
        nyssa.errors.AccessError("refused"): 5,
        OSError(errno.EIO, "broken"): 5,
        OSError(errno.ENOSPC, "full"): 6,
        nyssa.errors.LimitError("too large"): 7,
    }
    assert {error: exit_code(error) for error in made} == made


def test_killed_workers_and_a_killed_campaign(tmp_path: Path) -> None:
    """Workers are killed, then the campaign itself; in the end each output is there once."""
    inputs = [write_tree(tmp_path / "in" / f"{n}.root", ENTRIES * n) for n in range(40)]
    out = tmp_path / "out"
    command = [sys.executable, "-m", "nyssa", "campaign", "convert", str(tmp_path / "in")]
    command += ["-o", str(out), "--workers", "2", "-q", "--json"]
    started = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(out.glob("*.root")) and time.monotonic() < deadline:
        time.sleep(0.02)
    for worker in worker_processes(started.pid)[:1]:
        os.kill(worker, signal.SIGKILL)
    time.sleep(0.3)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    # What is there under its name is complete. A hidden part of another file may be there, too.
    for path in out.glob("*.root"):
        assert len(numbers_of(path)) == ENTRIES
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    report = json.loads(done.stdout)
    assert report["failed"] == []
    assert report["done"] + report["found"] == 40
    # Nothing is left of the files that were being written.
    names = sorted([*(one.name for one in inputs), campaign.JOURNAL])
    assert sorted(one.name for one in out.iterdir()) == names
    for path in inputs:
        assert numbers_of(out / path.name) == numbers_of(path)
    outputs = [one["output"] for one in lines(out / campaign.JOURNAL)]
    assert len(outputs) == len(set(outputs)) == 40


def test_throttles_hold(trees: list[Path], tmp_path: Path, client: object) -> None:
    report = campaign.convert([*map(str, trees)], f"{tmp_path}/out", client=client, per_node=1)
    records = sorted(lines(tmp_path / "out" / campaign.JOURNAL), key=lambda one: one["begin"])
    assert report.done == 5
    for first, second in itertools.pairwise(records):
        assert first["begin"] + first["seconds"] <= second["begin"] + 0.01


def test_condense_and_memory(trees: list[Path], tmp_path: Path, client: object) -> None:
    made = campaign.convert([*map(str, trees)], f"{tmp_path}/out", client=client, condense=2)
    assert (made.done, made.verified) == (3, 3)
    parts = [tmp_path / "out" / f"part-{n:05}.root" for n in range(3)]
    assert [len(numbers_of(one)) for one in parts] == [200, 200, 100]
    merged = campaign.merge([*map(str, parts)], f"{tmp_path}/merged", client=client, condense=2)
    assert (merged.done, merged.verified) == (2, 2)
    assert numbers_of(tmp_path / "merged" / "part-00000.root") == list(range(400))
    rewritten = campaign.rewrite(
        [*map(str, parts)], f"{tmp_path}/rewritten", client=client, condense=3
    )
    assert (rewritten.done, rewritten.verified) == (1, 1)
    assert numbers_of(tmp_path / "rewritten" / "part-00000.root") == list(range(500))
    with pytest.raises(nyssa.ArgumentError, match="a merge needs the size of its outputs"):
        campaign.merge(str(parts[0]), f"{tmp_path}/merged", client=client)


def test_the_memory_of_a_task() -> None:
    gib = 1 << 30
    job = campaign.Job("convert")
    # The default of nyssa; no more than the worker has, and never less than 16 MiB.
    assert memory(job, None) == memory(job, gib) == gib // 2
    assert memory(job, 100_000_000) == 100_000_000
    assert memory(job, -5) == 16 << 20
    # What the clusters need: 3.5 times their compressed size.
    large = campaign.Job("rewrite", cluster_size="1 GB")
    assert (memory(large, None), memory(large, gib)) == (3_500_000_000, gib)
    assert memory(campaign.Job("merge"), None) == 700_000_000


def test_outputs_are_no_inputs(trees: list[Path], tmp_path: Path, client: object) -> None:
    folder = f"{tmp_path}/in"
    inputs = f"{folder}/**/*.root"
    for _ in range(2):
        report = campaign.convert(inputs, f"{folder}/made", client=client, condense=5)
        assert (report.done + report.found, report.failed) == (1, [])
    # A stopped campaign did not write into the journal that the output is there.
    (tmp_path / "in" / "made" / campaign.JOURNAL).unlink()
    report = campaign.convert(inputs, f"{folder}/made", client=client, condense=5)
    assert (report.found, numbers_of(f"{folder}/made/part-00000.root")) == (1, list(range(500)))
    # All inputs are below the folder of the outputs.
    for _ in range(2):
        report = campaign.convert(f"{folder}/a", folder, client=client, condense=5)
        assert (report.done + report.found, report.failed) == (1, [])
    assert len(numbers_of(f"{folder}/part-00000.root")) == 300
    with pytest.raises(nyssa.ArgumentError) as caught:
        campaign.convert(f"{folder}/a", f"{folder}/a", client=client)
    assert str(caught.value) == (f"{trees[0]} would be an input and an output: name another folder")


def test_small_inputs_are_done_in_batches() -> None:
    def tasks(count: int, size: int, place: str = "/in") -> list[campaign.Task]:
        inputs = [campaign.Input(f"{place}/{n}.root", "", size) for n in range(count)]
        return [campaign.Task(f"/out/{n}", (one,)) for n, one in enumerate(inputs)]

    def lengths(given: list[campaign.Task], threads: int) -> list[int]:
        return [len(one.tasks) for one in batches(given, threads)]

    # At most 16 tasks, and at most 4 MB; but so many batches that all threads have work to the end.
    assert lengths(tasks(2000, 1000), 2) == [16] * 125
    assert lengths(tasks(100, 1000), 2) == [6] * 16 + [4]
    assert lengths(tasks(10, 1000), 2) == [1] * 10
    assert lengths(tasks(1000, 1_500_000), 2) == [2] * 500
    assert lengths(tasks(100, 5_000_000), 2) == [1] * 100
    # The inputs of a batch are on the same server.
    far = tasks(20, 1000, "root://a//in") + tasks(20, 1000, "root://b//in")
    assert lengths(far, 1) == [5] * 8
    assert [sorted(one.servers) for one in batches(far, 1)] == [["a"]] * 4 + [["b"]] * 4
    assert [task for one in batches(far, 1) for task in one.tasks] == far


def test_a_script_without_a_main_guard_is_told(trees: list[Path], tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    call = f"campaign.convert({[str(trees[0])]!r}, {str(tmp_path / 'out')!r}, workers=1)"
    script.write_text(f"from nyssa import campaign\n{call}\n")
    done = subprocess.run(
        [sys.executable, str(script)], stderr=subprocess.PIPE, text=True, timeout=120
    )
    assert done.returncode == 1
    assert done.stderr.count("Traceback") == 1
    assert "a script must start a campaign below `if __name__ == '__main__':`" in done.stderr
    assert not (tmp_path / "out").exists()


def test_trees_are_merged_on_several_levels(tmp_path: Path, client: object) -> None:
    """What ``hadd -j`` does: several outputs, and then one of these."""
    inputs = [str(tmp_path / "in" / f"{number}.root") for number in range(4)]
    (tmp_path / "in").mkdir()
    for number, path in enumerate(inputs):
        with uproot.recreate(path) as file:
            file.mktree("Events", {"n": array("i", [number])})
            file["h"] = np.histogram([0.5], bins=1, range=(0, 1))
    report = campaign.merge(inputs, f"{tmp_path}/first", client=client, condense=2)
    assert (report.done, report.failed) == (2, [])
    parts = sorted(map(str, (tmp_path / "first").glob("*.root")))
    nyssa.merge(parts, tmp_path / "all.root")
    with uproot.open(tmp_path / "all.root") as file:
        assert file["Events"]["n"].array().to_list() == [0, 1, 2, 3]
        assert file["h"].values().tolist() == [4]
    # As ``hadd -k``: bad inputs are left out, and named.
    bad = str(tmp_path / "in" / "bad.root")
    Path(bad).write_bytes(b"this is no ROOT file" * 10)
    report = campaign.merge(
        [bad, inputs[0]], f"{tmp_path}/good", client=client, condense=2, skip_bad=True
    )
    assert report.failed == []
    [record] = lines(tmp_path / "good" / campaign.JOURNAL)
    assert record["entries"] == 1
    assert f"left out the input {bad}: " in str(record["notes"])
    # A script sees it by the exit code, also when the output is complete already.
    assert [item["output"] for item in report.to_dict()["bad"]] == [record["output"]]
    assert record["bad"][0].startswith(f"{bad}: ")
    again = campaign.merge(
        [bad, inputs[0]], f"{tmp_path}/good", client=client, condense=2, skip_bad=True
    )
    assert (again.done, again.found, len(again.bad)) == (0, 1, 1)
    state = campaign.status(f"{tmp_path}/good")
    assert (state.is_complete, len(state.bad)) == (True, 1)
    assert "left out of 1 output" in str(state)
    check = campaign.verify(f"{tmp_path}/good", client=client)
    assert (check.sound, len(check.bad)) == (True, 1)
    # An output that is not in the journal may lack inputs: it is made again.
    (tmp_path / "good" / campaign.JOURNAL).unlink()
    again = campaign.merge(
        [bad, inputs[0]], f"{tmp_path}/good", client=client, condense=2, skip_bad=True
    )
    assert (again.done, len(again.bad)) == (1, 1)
    for job in (["status"], ["verify", "--quick", "--workers", "1"]):
        ran = subprocess.run(
            [sys.executable, "-m", "nyssa", "campaign", job[0], f"{tmp_path}/good", *job[1:]],
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 1, ran.stderr
        assert bad in ran.stdout


def test_outputs_of_inputs_with_several_trees(tmp_path: Path, client: object) -> None:
    inputs = [str(tmp_path / "in" / f"{number}.root") for number in range(2)]
    (tmp_path / "in").mkdir()
    for path in inputs:
        with uproot.recreate(path) as file:
            for name in ("Events", "Runs"):
                file.mktree(name, {"n": array("i", [1, 2])})
    report = campaign.convert(inputs, f"{tmp_path}/whole", client=client, condense=2)
    assert (report.done, report.failed) == (1, [])
    (output,) = (tmp_path / "whole").glob("*.root")
    with nyssa.open(output) as file:
        entries = {name: file[name].num_entries for name in file.datasets()}
    assert entries == {"Events": 4, "Runs": 4}
    report = campaign.convert(inputs, f"{tmp_path}/out", client=client, condense=2, tree="Runs")
    assert (report.done, report.failed) == (1, [])
    # The error of the merge names the input, and not the file that was made of it.
    with uproot.recreate(inputs[1]) as file:
        file.mktree("Runs", {"m": array("i", [1, 2])})
    report = campaign.convert(inputs, f"{tmp_path}/other", client=client, condense=2, tree="Runs")
    (failed,) = report.failed
    assert inputs[1] in failed.error
    assert "nyssa-campaign-" not in failed.error


def test_a_job_shows_no_secrets() -> None:
    job = campaign.Job("rewrite", {"profile": "https://me:word@host/p.toml?sig=secret", "to": "x"})
    assert job.key == "rewrite(profile='https://host/p.toml?...', to='x')"


@pytest.mark.parametrize("is_own", [True, False])
def test_an_output_that_appears_while_it_is_made(
    is_own: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of a worker that was lost is the result; that of somebody else is kept, and named."""
    source, output = write_tree(tmp_path / "in.root", 0), tmp_path / "out" / "in.root"
    job = campaign.Job("convert", {"verify": True})
    (planned,) = campaign.Campaign(job, str(source), str(output.parent)).tasks
    make = task._run

    def run(*given: Any) -> None:
        if is_own:
            make(*given)
        else:
            nyssa.convert(write_tree(tmp_path / "other.root", 7), output)
        before.append(output.read_bytes())
        make(*given)

    before: list[bytes] = []
    monkeypatch.setattr(task, "_run", run)
    (record,) = task.run_tasks([planned], job, ())
    assert output.read_bytes() == before[0]
    if is_own:
        assert (record.state, record.error) == ("found", None)
    else:
        assert record.state == "failed"
        assert record.error.startswith(f"OutputExistsError: cannot create {output}: it exists")


@pytest.mark.parametrize("job", ["convert", "rewrite", "merge"])
def test_campaigns_have_the_flags_of_the_job(job: str, capfd: pytest.CaptureFixture[str]) -> None:
    parser = Parser()
    add_flags(parser, job)
    own = {"--no-verify", "--mode", "-h", "--help"}
    shown = [one for one in parser._actions if one.help != argparse.SUPPRESS]
    flags = {flag for one in shown for flag in one.option_strings} - own
    assert len(flags) > 12
    for direction in ([], ["--to", "ttree"]) if job == "convert" else ([],):
        assert _core.run_cli(["nyssa", job, *direction, "--help"]) == 0
    words = set(re.findall(r"(?<![\w-])--?\w[\w-]*", capfd.readouterr().out))
    assert flags - words == set()


def test_options_by_glob_and_numbers() -> None:
    parser = Parser()
    add_flags(parser, "convert")
    words = (
        "--field-options Jet_*:column=Real32Trunc:16,compression=zstd:9 --to ttree "
        "--counters Jet_*:nJet --auto-flush -30000000 --basket-size 64kB "
        "--include a --include b --no-carry --quantize --entries 5:"
    )
    given = parser.parse_args(words.split())
    assert options_of("convert", given) == {
        "verify": True,
        "field_options": ("Jet_*:column=Real32Trunc:16,compression=zstd:9",),
        "carry": False,
        "to": "ttree",
        "quantize": True,
        "include": ["a", "b"],
        "basket_size": "64kB",
        "auto_flush": -30_000_000,
        "counters": ("Jet_*:nJet",),
        "entry_start": 5,
    }


def test_words_of_the_command_line_go_to_the_core_as_they_are() -> None:
    parser = Parser()
    add_flags(parser, "convert")
    words = [r"--branch-options=:_0.a\=b:title=x\, y:1,basket-size=1kB", r"--counters=a\:b:n"]
    chosen = options_of("convert", parser.parse_args(words))
    named = {name: chosen[name] for name in ("branch_options", "counters")}
    assert words_of(FileKeywords, named) == words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        pytest.param(["--skip-done"], "a campaign keeps what is done", id="skip-done"),
        pytest.param(["--into", "x"], "a campaign has -o DEST", id="into"),
        pytest.param(["--cache", "x"], "of the variable NYSSA_CACHE", id="cache"),
        pytest.param(["--io-stats"], "a campaign has a journal", id="io-stats"),
        pytest.param(["--entries", "5"], "'5' is not a range of entries: A:B", id="entries"),
        pytest.param(["--to", "ttree", "--counters", "a"], "is not GLOB:NAME", id="counters"),
    ],
)
def test_flags_that_are_refused(
    words: list[str],
    message: str,
    trees: list[Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = ["convert", str(trees[0]), "-o", f"{tmp_path}/out", "--workers", "1", *words]
    assert cli.main(arguments) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_wrong_options_are_refused(trees: list[Path], tmp_path: Path) -> None:
    for options, error, message in [
        ({"compresion": "lz4"}, TypeError, "'compresion'; did you mean compression?"),
        ({"carry": "no"}, nyssa.ArgumentError, "^carry is True or False, not 'no'"),
        ({"name": 5}, nyssa.ArgumentError, "^name is a str, not 5"),
        ({"include": ["a", None]}, nyssa.ArgumentError, "^one of include is a str, not None"),
    ]:
        with pytest.raises(error, match=re.escape(message) if error is TypeError else message):
            campaign.convert(str(trees[0]), f"{tmp_path}/out", **options)
    assert not (tmp_path / "out").exists()
