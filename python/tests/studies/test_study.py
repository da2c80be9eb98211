"""Studies write every combination of options, measure it, and can be continued."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import _core
from nyssa.campaign.lines import JsonLines
from nyssa.studies import cli, rounds
from nyssa.studies.journal import JOURNAL
from nyssa.studies.subject import Subject
from support.data import TESTDATA

ENTRIES = 2000
VARY = {"compression": ["zlib:6", "lzma:4"], "page_size": ["1 KiB", 65536]}
#: What each round measures without columns and link.
QUANTITIES = {
    f"{what}_{name}"
    for what in ("write", "read")
    for name in ("seconds", "cpu_seconds", "memory", "memory_before")
}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Let uproot write a TTree, and return its place."""
    path = tmp_path_factory.mktemp("study") / "tree.root"
    numbers = np.arange(ENTRIES, dtype=np.int64)
    with uproot.recreate(path) as file:
        jets = ak.unflatten(np.sqrt(np.arange(3 * ENTRIES // 2)), numbers % 2 + 1)
        file.mktree("Events", {"n": np.int64, "jet": jets.type.content}).extend(
            {"n": numbers, "jet": jets}
        )
    return f"{path}:Events"


@pytest.fixture(scope="module")
def ntuple(tree: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the place of an RNTuple with the values of the TTree."""
    path = tmp_path_factory.mktemp("study") / "ntuple.root"
    nyssa.convert(tree, path)
    return f"{path}:Events"


def lines(folder: Path) -> list[dict[str, Any]]:
    """Return the rounds of a journal."""
    return [json.loads(line) for line in (folder / JOURNAL).read_text().splitlines()]


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Run ``nyssa study``."""
    full = [sys.executable, "-m", "nyssa", "study", *map(str, arguments)]
    return subprocess.run(full, capture_output=True, text=True, check=False)


def test_every_combination_is_written_and_measured(tree: str, tmp_path: Path) -> None:
    report = nyssa.study(tree, vary=VARY, repeats=2, folder=tmp_path)
    chosen = [{"compression": c, "page_size": p} for c in VARY["compression"] for p in
              VARY["page_size"]]  # fmt: skip
    assert [one.options for one in report.rows] == chosen
    assert (report.format, report.to, report.job) == ("TTree", "RNTuple", "convert")
    assert report.failed == []
    expected = uproot.open(tree).arrays()
    for row in report.rows:
        # The output of the same job has the same bytes, and uproot reads the values from it.
        # The name of a file is in its header.
        copy = tmp_path / "copy/nyssa-study-output.root"
        copy.parent.mkdir(exist_ok=True)
        nyssa.convert(tree, copy, **row.options, reproducible=True, force=True)
        content = copy.read_bytes()
        assert (row.bytes, row.entries, row.rounds) == (len(content), ENTRIES, 2)
        sums = {one["adler32"] for one in lines(tmp_path) if one["output_bytes"] == row.bytes}
        assert sums == {f"{zlib.adler32(content):08x}"}
        read = uproot.open(copy)["Events"].arrays()
        assert read.n.to_list() == expected.n.to_list()
        assert read.jet.to_list() == expected.jet.to_list()
        assert row.verified == "every value by the job"
        assert row.measured.keys() == QUANTITIES
        for name, one in row.measured.items():
            assert 0 <= one.least <= one.median <= one.most, name
        # A process with Python takes more than 10 MB.
        assert row.measured["write_memory"].least > 10e6
    # Nothing but the journal stays.
    assert {one.name for one in tmp_path.iterdir()} == {JOURNAL, "copy"}


def test_a_round_measures_each_trial_before_the_next_round(tree: str, tmp_path: Path) -> None:
    vary = {"compression": ["zlib:1", "none"]}
    nyssa.study(tree, vary=vary, repeats=2, threads=[1, 2], folder=tmp_path)
    found = [(one["round"], one["output"], one["threads"]) for one in lines(tmp_path)]
    trials = [(f"compression={c}, {n} thread{'s' * (n > 1)}", n) for c in vary["compression"]
              for n in (1, 2)]  # fmt: skip
    assert found == [(number, *trial) for number in range(2) for trial in trials]
    # The values are compared once for each combination.
    assert [bool(one["verified"]) for one in lines(tmp_path)] == [1, 0, 1, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    ("source", "to", "job", "vary"),
    [
        ("ntuple", "rntuple", "rewrite", {"page_size": ["1 KiB", "64 KiB"]}),
        ("ntuple", "ttree", "convert", {"basket_size": ["2 kB", "64 kB"]}),
        ("tree", "rntuple", "convert", {"layout": ["importer", "vectors"]}),
    ],
    ids=["rntuple to rntuple", "rntuple to ttree", "ttree to rntuple"],
)
def test_jobs(
    source: str, to: Any, job: str, vary: dict[str, Any], request: pytest.FixtureRequest
) -> None:
    report = nyssa.study(request.getfixturevalue(source), vary=vary, to=to, repeats=1)
    assert (report.job, report.failed) == (job, [])
    first, second = (one.bytes for one in report.rows)
    assert first != second
    assert {one.entries for one in report.rows} == {ENTRIES}


@pytest.mark.parametrize(
    ("source", "to", "vary", "message"),
    [
        ("ntuple", "rntuple", {"basket_size": [None, "2 kB"]},
         "basket-size is an option of TTrees, and there is none to rewrite"),
        ("tree", "ttree", {"page_size": [64, None], "basket_size": [2000]},
         "page-size is an option of RNTuples, and there is none to rewrite"),
    ],
)  # fmt: skip
def test_options_of_the_other_format_fail_before_any_trial(
    source: str, to: Any, vary: dict[str, Any], message: str, request: Any, tmp_path: Path
) -> None:
    with pytest.raises(nyssa.ArgumentError) as caught:
        nyssa.study(request.getfixturevalue(source), vary=vary, to=to, folder=tmp_path)
    assert str(caught.value).startswith("vary (--vary): ")
    assert str(caught.value).endswith(message)
    assert not (tmp_path / JOURNAL).exists()


def test_sizes_of_clusters_are_different_trials(tree: str, tmp_path: Path) -> None:
    vary = {"cluster_size": ["2 kB", "1 MB"]}
    report = nyssa.study(tree, vary=vary, repeats=1, folder=tmp_path)
    assert [one.options for one in report.rows] == [
        {"cluster_size": "2 kB"},
        {"cluster_size": "1 MB"},
    ]
    assert [one.rounds for one in report.rows] == [1, 1]
    small, large = (one.bytes for one in report.rows)
    assert small > large
    assert len(lines(tmp_path)) == 2


def test_columns_and_a_link(tree: str) -> None:
    vary = {"compression": ["zstd:1", None]}
    latency = 0.05
    report = nyssa.study(
        tree, vary=vary, columns="n", link_latency=latency, link_bandwidth="10 MB", repeats=1
    )
    assert [one.options for one in report.rows] == [{"compression": "zstd:1"},
                                                    {"compression": None}]  # fmt: skip
    for row in report.rows:
        more = {f"columns_{name}" for name in ("seconds", "cpu_seconds", "memory", "memory_before")}
        assert row.measured.keys() == QUANTITIES | more | {"link_seconds"}
        # The connection stands after one round trip; to open the file and to read it take more.
        assert row.measured["link_seconds"].least > 3 * latency
    assert "link: these columns with a round trip of 50 ms, 10.0 MB/s" in str(report)


def test_groups_of_columns_vary(tree: str) -> None:
    """Commas after backslashes put several globs into one value."""
    groups = {"include": [["n", "jet"], "n"]}
    assert cli._values(Subject.of(tree, "rntuple", []), [r"include=n\,jet,n"]) == groups
    report = nyssa.study(tree, vary=groups, repeats=1)
    assert [row.error for row in report.rows] == [None, None]
    assert report.rows[0].bytes > report.rows[1].bytes


def test_files_are_not_in_the_cache(tree: str) -> None:
    report = nyssa.study(tree, vary={"compression": ["zlib:1"]}, cold=True, repeats=1)
    assert (report.cache, report.failed) == ("cold", [])
    assert "all with compression=zlib:1" in str(report)


def test_a_study_continues(tree: str, tmp_path: Path) -> None:
    vary = {"compression": ["zlib:6", "none"]}
    first = nyssa.study(tree, vary=vary, repeats=2, folder=tmp_path)
    journal = tmp_path / JOURNAL
    written = journal.read_bytes().splitlines(keepends=True)
    assert len(written) == 4
    # A study that was killed while it wrote the third line.
    journal.write_bytes(b"".join(written[:2]) + written[2][:40])
    again = nyssa.study(tree, vary=vary, repeats=2, folder=tmp_path)
    now = journal.read_bytes().splitlines(keepends=True)
    assert now[:2] == written[:2]
    assert [(one["round"], one["output"]) for one in map(json.loads, now)] == [
        (one["round"], one["output"]) for one in map(json.loads, written)
    ]
    assert [one.bytes for one in again.rows] == [one.bytes for one in first.rows]
    # Other values and more rounds only add what is missing; what is known stays.
    more = {"compression": ["lz4:1", "zlib:6"]}
    assert [one.rounds for one in nyssa.study(tree, vary=more, folder=tmp_path).rows] == [3, 3]
    assert len(lines(tmp_path)) == 4 + 3 + 1
    # What else is measured makes it another study.
    nyssa.study(tree, vary=vary, columns="n", repeats=1, folder=tmp_path)
    assert len(lines(tmp_path)) == 4 + 3 + 1 + 2


def test_an_interrupt_leaves_no_file_that_was_begun(
    tree: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = tmp_path / ".nyssa-study-output.root.nyssa-0.part"

    def interrupted(*_: object) -> str:
        begun.touch()
        raise KeyboardInterrupt

    monkeypatch.setattr(rounds, "_said", interrupted)
    with pytest.raises(KeyboardInterrupt):
        nyssa.study(tree, vary={"compression": ["zlib:1"]}, folder=tmp_path)
    assert not begun.exists()


def test_ctrl_c_and_the_same_command_again(tree: str, tmp_path: Path) -> None:
    given = [tree, "--vary", "compression=zlib:1,none", "--repeats", "2", "--folder", tmp_path]
    full = [sys.executable, "-m", "nyssa", "study", *map(str, given)]
    with subprocess.Popen(full, stderr=subprocess.PIPE, text=True) as running:
        while not (tmp_path / JOURNAL).exists() or not (tmp_path / JOURNAL).read_bytes():
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.stderr is not None
        said = running.stderr.read()
    assert running.returncode == 130
    assert said.splitlines()[-1] == "stopped; run the same command again to continue"
    before = (tmp_path / JOURNAL).read_bytes()
    assert {one.name for one in tmp_path.iterdir()} == {JOURNAL}
    ran = command(*given)
    assert (ran.returncode, len(lines(tmp_path))) == (0, 4)
    assert (tmp_path / JOURNAL).read_bytes().startswith(before)
    missing = 4 - before.count(b"\n")
    assert ran.stderr.splitlines()[-1].startswith(f"{missing}/{missing} done, 0 failed")


def test_an_output_that_is_not_the_verified_one(tree: str, tmp_path: Path) -> None:
    vary = {"compression": ["zlib:1"]}
    nyssa.study(tree, vary=vary, repeats=1, folder=tmp_path)
    [one] = lines(tmp_path)
    (tmp_path / JOURNAL).write_text(json.dumps({**one, "adler32": "00000000"}) + "\n")
    report = nyssa.study(tree, vary=vary, repeats=2, folder=tmp_path)
    [row] = report.failed
    assert row.error == "the bytes of the output differ from the output that was verified"
    assert row.rounds == 1


def test_a_trial_that_fails_does_not_stop_the_others(ntuple: str, tmp_path: Path) -> None:
    vary = {"cut": ["n < 10", "nothing < 10"]}
    report = nyssa.study(ntuple, vary=vary, repeats=1)
    good, bad = report.rows
    assert (good.entries, good.error) == (10, None)
    assert (bad.rounds, bad.bytes, bad.measured) == (0, 0, {})
    assert bad.error is not None
    assert "nothing" in bad.error
    reason = " ".join(bad.error.split())
    assert str(report).splitlines()[-1] == f"failed: nothing < 10: {reason}"
    ran = command(ntuple, "--vary", "cut=nothing < 10", "--repeats", 1, "--folder", tmp_path, "-q")
    assert ran.returncode == 1
    [line] = lines(tmp_path)
    assert line["error"] == bad.error


def test_csv_json_and_plot(tree: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    table, image = tmp_path / "study.csv", tmp_path / "study.png"
    given = [tree, "--vary", "compression=zlib:6,none", "--vary", "page-size=1KiB"]
    ran = command(*given, "--repeats", 2, "--csv", table, "--plot", image, "--json", "-q")
    assert (ran.returncode, ran.stderr) == (0, "")
    document = json.loads(ran.stdout)
    assert document["version"] == 1
    assert document.keys() == {
        *("version", "input", "format", "to", "job", "entries", "input_bytes", "columns"),
        *("link_latency", "link_bandwidth", "cache", "host", "rows"),
    }
    assert len(document["rows"]) == 2
    for row in document["rows"]:
        assert row.keys() == {
            *("writer", "options", "threads", "rounds", "error", "verified", "entries", "bytes"),
            *("measured", "notes"),
        }
        assert row["measured"].keys() == QUANTITIES
        assert all(one.keys() == {"median", "least", "most"} for one in row["measured"].values())
    with table.open(newline="") as file:
        found = list(csv.DictReader(file))
    assert list(found[0])[:8] == [
        *("writer", "compression", "page_size", "threads", "rounds", "verified", "entries"),
        "bytes",
    ]
    for of_csv, of_json in zip(found, document["rows"], strict=True):
        assert int(of_csv["bytes"]) == of_json["bytes"]
        assert of_csv["compression"] == of_json["options"]["compression"]
        assert float(of_csv["read_seconds"]) == of_json["measured"]["read_seconds"]["median"]
        assert float(of_csv["read_seconds_most"]) == of_json["measured"]["read_seconds"]["most"]
        assert of_csv["link_seconds"] == ""
    assert image.read_bytes().startswith(b"\x89PNG")


def test_root_beside(tree: str) -> None:
    pytest.importorskip("ROOT")
    vary = {"compression": ["zlib:6", "none"], "page_size": ["4 KiB"]}
    report = nyssa.study(tree, vary=vary, beside_root=True, repeats=1)
    assert [one.writer for one in report.rows] == ["nyssa", "ROOT"] * 2
    assert report.failed == []
    assert {one.verified for one in report.rows if one.writer == "ROOT"} == {
        "digests of all columns"
    }
    of_root = [one for one in report.rows if one.writer == "ROOT"]
    assert of_root[0].bytes < of_root[1].bytes
    with pytest.raises(nyssa.ArgumentError) as caught:
        nyssa.study(tree, vary={"layout": ["vectors"]}, beside_root=True)
    assert str(caught.value) == (
        "ROOT has no layout for an output of RNTuple, only compression, cluster_size, page_size, "
        "encoding, streamer: leave it out (--beside root)"
    )
    for name, value in (("encoding", "auto"), ("streamer", "auto")):
        with pytest.raises(nyssa.ArgumentError, match=f"ROOT has no {name} '{value}'"):
            nyssa.study(tree, vary={name: [value]}, beside_root=True)


def test_streamer_fields_beside_root(tmp_path: Path) -> None:
    pytest.importorskip("ROOT")
    with nyssa.recreate(tmp_path / "in.root") as file:
        words = {"n": range(50), "texts": [["a", "b"] * (i % 3) for i in range(50)]}
        file.mktree("Events", {**words, "more": words["texts"]})
    vary = {"streamer": ["te*"], "encoding": ["default"]}
    report = nyssa.study(f"{tmp_path}/in.root", vary=vary, beside_root=True, repeats=1)
    assert report.failed == []
    assert [(one.writer, one.verified) for one in report.rows] == [
        ("nyssa", "every value by the job"),
        ("ROOT", "digests of all columns"),
    ]


SEVERAL = str(TESTDATA / "rntuple/several.root")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vary": {}}, "vary (--vary) names no option: a study needs at least one"),
        (
            {"vary": {"threads": [1, 2]}},
            "vary (--vary): the numbers of threads are an option of the study",
        ),
        ({"vary": {"compression": []}}, "vary (--vary): compression has no values"),
        (
            {"vary": {"compression": "zlib:1"}},
            "vary (--vary): compression needs a list of values, not 'zlib:1'",
        ),
        (
            {"vary": {"compresion": ["zlib:1"]}},
            "vary (--vary): convert (TTree to RNTuple) has no option 'compresion'; did you mean "
            "compression?",
        ),
        ({"vary": {"verify": [True]}}, "vary (--vary): a study sets verify itself"),
        ({"vary": {"page_size": [64, 64]}}, "vary (--vary): page_size has the value 64 twice"),
        (
            {"vary": {"include": [len]}},
            "vary (--vary): include has a value of type builtin_function_or_method, and only "
            "numbers, texts, lists and dicts can vary: trials run in processes of their own",
        ),
        (
            {"vary": {"compression": ["zlib:1", "zlib:99"]}},
            "vary (--vary): compression=zlib:99: ",
        ),
        (
            {"vary": {"page_size": [1]}},
            "vary (--vary): page_size=1: a page size of 1 bytes is outside",
        ),
        ({"repeats": 0}, "repeats must be from 1 to 1000, not 0"),
        ({"threads": []}, "threads are different numbers from 1 on, not []"),
        ({"threads": [2, 2]}, "threads are different numbers from 1 on, not [2, 2]"),
        ({"link_latency": -1.0}, "link_latency is more than 0 and at most 60 seconds, not -1.0"),
        ({"link_bandwidth": 5}, "a link_bandwidth needs a link_latency"),
        ({"to": "tree"}, 'to is "rntuple" or "ttree", not \'tree\''),
    ],
    ids=str,
)
def test_wrong_options(tree: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(nyssa.ArgumentError) as caught:
        nyssa.study(tree, **{"vary": {"compression": ["zlib:1"]}, **options})
    assert str(caught.value).startswith(message)


def test_wrong_data(tree: str, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        nyssa.study(tmp_path / "none.root", vary=VARY)
    with pytest.raises(nyssa.NotFoundError, match="columns"):
        nyssa.study(tree, vary=VARY, columns="Muon_*")
    with pytest.raises(nyssa.ArgumentError):
        nyssa.study(SEVERAL, vary=VARY)


@pytest.mark.parametrize(
    ("given", "code", "message"),
    [
        (["compression"], 2, "--vary compression: write NAME=VALUE,VALUE,..."),
        (
            ["compression="],
            2,
            "--vary compression=: a value is empty; 'unset' leaves an option out",
        ),
        (
            ["compression=zstd", "--vary", "compression=none"],
            2,
            "--vary compression=none: compression varies already; name all its values once",
        ),
        (["quantize=yes"], 2, "--vary quantize=yes: 'yes' is neither true nor false"),
        (
            ["basketsize=16kB"],
            2,
            "vary (--vary): convert (TTree to RNTuple) has no option 'basketsize'; did you mean "
            "basket_size?",
        ),
        (
            ["compression=zstd", "--link-latency", "50"],
            2,
            "argument --link-latency: '50' is not a time: write a number with a unit, such as "
            "50ms, 0.2s or 200us; `nyssa study --help` lists the arguments",
        ),
        (["compression=zstd", "--columns", "Muon_*"], 3, ""),
    ],
    ids=str,
)
def test_wrong_commands(tree: str, given: list[str], code: int, message: str) -> None:
    ran = command(tree, "--vary", *given, "--json")
    assert ran.returncode == code
    assert ran.stderr.startswith(f"error: {message}")
    error = json.loads(ran.stdout)["error"]
    assert (error["exit_code"], error["message"][: len(message)]) == (code, message)


def test_the_program_without_python_says_where_the_command_is(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert _core.run_cli(["nyssa", "study", "in.root", "--vary", "compression=none"]) == 2
    assert capfd.readouterr().err.splitlines()[0] == (
        "error: `nyssa study` is a command of the Python package"
    )


def test_files_that_cannot_be_made_are_refused_first(tree: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    given = [tree, "--vary", "compression=none", "--folder", tmp_path / "study"]
    ran = command(*given, "--plot", "study.txt")
    assert ran.returncode == 2
    assert ran.stderr.startswith("error: the ending of study.txt is not of an image: ")
    assert "png" in ran.stderr
    ran = command(*given, "--csv", tmp_path / "none/study.csv")
    message = f"error: there is no folder {tmp_path}/none for study.csv\n"
    assert (ran.returncode, ran.stderr) == (2, message)
    assert not (tmp_path / "study").exists()


def test_journals_that_cannot_be_used(tree: str, tmp_path: Path) -> None:
    vary, path = {"compression": ["none"]}, tmp_path / JOURNAL
    path.write_text('{"version": 1}\n')
    with pytest.raises(nyssa.ArgumentError) as caught:
        nyssa.study(tree, vary=vary, folder=tmp_path)
    assert str(caught.value) == f"line 1 of {path} is not a round of a study"
    with JsonLines(path, 1, "a study"), pytest.raises(nyssa.ArgumentError) as caught:
        nyssa.study(tree, vary=vary, folder=tmp_path)
    assert str(caught.value) == (
        f"{path} is the journal of a study that is still running: wait until it ends"
    )
