"""Converting many files into a folder. Expected values are those that uproot writes and reads."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.small_disk import run_on


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    """Return a folder with three trees and a file that is none."""
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        with uproot.recreate(folder / f"run{number}.root") as file:
            file.mktree("t", {"x": np.arange(10 + number) * number})
    (folder / "run3.root").write_bytes(b"no ROOT file at all")
    return folder


def command(*args: object) -> tuple[int, str, str]:
    full = [sys.executable, "-m", "nyssa", "convert", *map(str, args)]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    return ran.returncode, ran.stdout, ran.stderr


def values(path: Path) -> list[int]:
    return uproot.open(f"{path}:t")["x"].array().tolist()


def test_command(trees: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    options = ("--into", out, "--name-pattern", "{stem}_ntuple.root")
    listed = tmp_path / "list.txt"
    listed.write_text(f"{trees}/run2.root\n# a comment\n")
    code, said, errors = command(f"{trees}/run[01].root", f"@{listed}", *options)
    assert (code, errors) == (0, "")
    lines = said.splitlines()
    assert len(lines) == 4
    assert lines[2].startswith(f"[3/3] {trees}/run2.root -> {out}/run2_ntuple.root: 12 entries")
    for number in range(3):
        assert values(out / f"run{number}_ntuple.root") == [number * i for i in range(10 + number)]
    assert sorted(path.name for path in out.iterdir()) == [
        "nyssa-campaign.jsonl",
        *(f"run{number}_ntuple.root" for number in range(3)),
    ]
    code, _, errors = command(f"{trees}/run0.root", *options)
    assert code == 2
    assert "run0_ntuple.root exists already" in errors
    assert "hint: --skip-done keeps outputs that are the conversions of their inputs" in errors


def test_bad_files(trees: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code, said, errors = command(trees, "-o", out)
    assert code == 1
    assert "run3.root" in errors
    assert "hint: --skip-bad goes on with the other files" in errors
    assert len(said.splitlines()) == 4
    assert "converted" not in said
    again = tmp_path / "again"
    # The bad file comes first.
    (trees / "a.root").write_bytes((trees / "run3.root").read_bytes())
    code, said, errors = command(trees, "-o", again, "--skip-bad")
    assert code == 1
    assert "2 of 5 files could not be converted:" in errors
    assert said.splitlines()[0] == (
        f'[1/5] failed {trees}/a.root: not a ROOT file: it begins with "no ROOT " '
        f"(file {trees}/a.root)"
    )
    assert "hint:" not in errors
    assert values(again / "run2.root") == values(trees / "run2.root")
    assert not (again / "a.root").exists()
    code, said, _ = command(trees, "-o", tmp_path / "third", "--skip-bad", "--json")
    states = [one["state"] for one in json.loads(said)["files"]]
    assert (code, states) == (1, ["failed", "done", "done", "done", "failed"])


def test_the_sum_at_the_end(trees: Path, tmp_path: Path) -> None:
    """Entries and bytes count the files that are converted now."""
    out = tmp_path / "out"
    code, said, _ = command(trees / "run0.root", "-o", out)
    assert code == 0
    assert said.splitlines()[-1].startswith("1 file converted: 10 entries, ")
    options = ("-o", out, "--skip-bad", "--skip-done")
    code, said, errors = command(trees, *options)
    assert code == 1
    before = sum((trees / f"run{number}.root").stat().st_size for number in (1, 2))
    after = sum((out / f"run{number}.root").stat().st_size for number in (1, 2))
    wanted = (
        r"2 files converted, 1 found, 1 failed: 23 entries, "
        rf"{before / 1e3:.1f} kB -> {after / 1e3:.2f} kB \(ratio {before / after:.2f}\), "
        r"\d+\.\d s, \d+\.\d MB/s"
    )
    assert re.fullmatch(wanted, said.splitlines()[-1]), said
    assert "files converted" not in errors
    assert command(trees, *options, "--quiet")[1] == ""
    code, said, _ = command(trees, *options)
    assert said.splitlines()[-1] == "0 files converted, 3 found, 1 failed"
    total = json.loads(command(trees, *options, "--json")[1])["total"]
    assert (total["converted"], total["found"], total["failed"]) == (0, 3, 1)
    assert (total["entries"], total["input_bytes"], total["ratio"]) == (0, 0, None)
    (out / "run2.root").unlink()
    done = nyssa.convert([str(trees)], out, skip_bad=True, skip_done=True)
    assert isinstance(done, list)
    assert (done.total["converted"], done.total["entries"]) == (1, 12)
    assert done.total["input_bytes"] == (trees / "run2.root").stat().st_size
    assert done.total["output_bytes"] == (out / "run2.root").stat().st_size
    assert done.total["seconds"] == pytest.approx(done[2]["seconds"])


def test_a_full_disk_ends_it(tmp_path: Path) -> None:
    """No other file would be converted, so that `--skip-bad` does not go on."""
    inputs, full = tmp_path / "in", tmp_path / "full"
    inputs.mkdir()
    full.mkdir()
    for number, count in enumerate((10, 200_000, 10)):
        with uproot.recreate(inputs / f"{number}.root") as file:
            file.mktree("t", {"x": np.random.default_rng(1).random(count)})
    convert = [sys.executable, "-m", "nyssa", "convert", str(inputs), "-o", str(full), "--skip-bad"]
    ran = run_on(full, "300k", "sh", "-c", '"$@"; echo "$?"; ls "$0"', str(full), *convert)
    lines = ran.stdout.splitlines()
    assert [line[:5] for line in lines[:2]] == ["[1/3]", "[2/3]"]
    assert lines[2:] == ["6", "0.root", "nyssa-campaign.jsonl"]
    assert "No space left on device" in ran.stderr
    assert "hint: when there is space again, --skip-done goes on from here" in ran.stderr


def states(reports: list[Any]) -> list[str]:
    return [one["state"] for one in reports]


def test_done_is_checked(trees: Path, tmp_path: Path) -> None:
    inputs: list[Any] = [str(trees / f"run{number}.root") for number in range(3)]
    out = tmp_path / "out"
    assert states(nyssa.convert(inputs, out)) == ["done"] * 3
    assert states(nyssa.convert(inputs, out, skip_done=True)) == ["found"] * 3
    # Another input, a damaged output, one that is gone, and other options.
    with uproot.recreate(inputs[0]) as file:
        file.mktree("t", {"x": np.arange(50)})
    damaged = out / "run1.root"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    (out / "run2.root").unlink()
    assert states(nyssa.convert(inputs, out, skip_done=True)) == ["done"] * 3
    assert values(out / "run0.root") == [*range(50)]
    assert values(out / "run1.root") == [*range(11)]
    other: Any = {"skip_done": True, "compression": "zstd:1"}
    with pytest.raises(nyssa.errors.OutputExistsError, match="was made with other options"):
        nyssa.convert(inputs, out, **other)
    assert states(nyssa.convert(inputs, out, **other, force=True)) == ["done"] * 3
    assert states(nyssa.convert(inputs, out, skip_done=True, force=True)) == ["done"] * 3
    # Without the journal, the identities of the outputs say what they are made of.
    (out / "nyssa-campaign.jsonl").unlink()
    assert states(nyssa.convert(inputs[:2], out, skip_done=True)) == ["found"] * 2
    (out / "nyssa-campaign.jsonl").unlink()
    (out / "run2.root").write_bytes(Path(out / "run0.root").read_bytes())
    with pytest.raises(nyssa.errors.OutputExistsError, match="is not the conversion of"):
        nyssa.convert(inputs, out, skip_done=True)
    assert states(nyssa.convert(inputs, out, skip_done=True, force=True)) == [
        "found",
        "found",
        "done",
    ]


def test_another_conversion_is_not_taken(trees: Path, tmp_path: Path) -> None:
    """It has as many entries; the identity of an output says what it was made of."""
    first, second = trees / "run0.root", trees / "a" / "run0.root"
    second.parent.mkdir()
    with uproot.recreate(second) as file:
        file.mktree("t", {"x": np.arange(10) + 100})
    out = tmp_path / "out"
    out.mkdir()
    # Nothing says what a conversion of its own was made of: it is made again, with a word.
    nyssa.convert(second, out / "run0.root")
    code, said, errors = command(first, "-o", out, "--skip-done")
    assert (code, errors) == (0, "")
    note = "replaced an output that was there: nothing says that it was made of this input"
    assert said.splitlines()[-1] == f"note: {note}"
    assert json.loads((out / "nyssa-campaign.jsonl").read_text())["notes"] == [note]
    assert values(out / "run0.root") == [0] * 10
    # The conversion of another input of the same name.
    with pytest.raises(nyssa.errors.OutputExistsError, match="is not the conversion of this input"):
        nyssa.convert([str(second)], out, skip_done=True)
    assert values(out / "run0.root") == [0] * 10
    # Two outputs of one run that were exchanged.
    both = [str(trees / f"run{number}.root") for number in (0, 1)]
    with uproot.recreate(both[1]) as file:
        file.mktree("t", {"x": np.arange(10) + 7})
    nyssa.convert(both, tmp_path / "two")
    names = [tmp_path / "two" / f"run{number}.root" for number in (0, 1)]
    contents = [one.read_bytes() for one in names]
    names[0].write_bytes(contents[1])
    again = nyssa.convert(both, tmp_path / "two", skip_done=True)
    assert isinstance(again, list)
    assert [(one["state"], one["notes"]) for one in again] == [("done", [note]), ("found", [])]
    assert values(names[0]) == [0] * 10
    # The folder of the inputs may be another one.
    moved = tmp_path / "moved"
    moved.mkdir()
    Path(both[1]).rename(moved / "run1.root")
    (tmp_path / "two" / "nyssa-campaign.jsonl").unlink()
    inputs: list[Any] = [str(moved / "run1.root")]
    assert states(nyssa.convert(inputs, tmp_path / "two", skip_done=True)) == ["found"]


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    """In the text, in the journal and in JSON; ROOT writes an object that cannot be kept."""
    root = pytest.importorskip("ROOT")
    for number in range(2):
        file = root.TFile(str(tmp_path / f"{number}.root"), "RECREATE", "the title of the file")
        for name in ("Events", "Runs"):
            tree = root.TTree(name, "a title")
            value = np.array([1], "i")
            tree.Branch("x", value, "x/I")
            info = root.TMap()
            root.SetOwnership(info, False)
            tree.GetUserInfo().Add(info)
            tree.Fill()
            tree.Write()
        file.Close()
    inputs = [str(tmp_path / f"{number}.root:Events") for number in range(2)]
    code, said, _ = command(*inputs, "-o", tmp_path / "out")
    assert code == 0
    notes = [
        'the object of the user information "" of the tree cannot be kept: TMap cannot be written'
    ]
    runs = "Runs;1 (TTree): it was not named; without a path, all are converted"
    assert said.splitlines()[3:] == [f"left out {runs}", *(f"note: {one}" for one in notes)]
    for line in (tmp_path / "out" / "nyssa-campaign.jsonl").read_text().splitlines():
        found = json.loads(line)
        assert (found["left_out"], found["notes"]) == ([runs], notes)
    done: Any = nyssa.convert(inputs, tmp_path / "again")
    assert [(one["left_out"], one["notes"]) for one in done] == [([runs], notes)] * 2
    assert root.TFile.Open(str(tmp_path / "out" / "0.root")).GetTitle() == "the title of the file"
    code, _, _ = command(tmp_path / "0.root", "-o", tmp_path / "all")
    (line,) = (tmp_path / "all" / "nyssa-campaign.jsonl").read_text().splitlines()
    each = [f"{tree}: {note}" for tree in ("Events", "Runs") for note in notes]
    assert (code, json.loads(line)["notes"]) == (0, each)


def test_wrong_calls(trees: Path, tmp_path: Path) -> None:
    first = str(trees / "run0.root")
    with pytest.raises(nyssa.ArgumentError, match="have the same output"):
        nyssa.convert([first, f"{first}:t"], tmp_path / "out")
    with pytest.raises(nyssa.ArgumentError, match="a pattern such as"):
        nyssa.convert([first], tmp_path / "out", name_pattern="x.root")
    with pytest.raises(nyssa.errors.FileMissingError):
        nyssa.convert([f"{trees}/none*.root"], tmp_path / "out")
    assert not (tmp_path / "out").exists()
    code, _, errors = command(first)
    assert (code, "--into DIR" in errors) == (2, True)
    code, _, _ = command(first, tmp_path / "x.root", "--skip-done")
    assert code == 2


def test_interrupt_leaves_complete_files(tmp_path: Path) -> None:
    inputs = tmp_path / "in"
    inputs.mkdir()
    with uproot.recreate(inputs / "0.root") as file:
        file.mktree("t", {"x": np.random.default_rng(1).random(200_000)})
    for number in range(1, 60):
        (inputs / f"{number}.root").write_bytes((inputs / "0.root").read_bytes())
    out = tmp_path / "out"
    full = [sys.executable, "-m", "nyssa", "convert", str(inputs), "-o", str(out)]
    with subprocess.Popen(full, stdout=subprocess.PIPE, text=True) as ran:
        assert ran.stdout is not None
        ran.stdout.readline()
        time.sleep(0.1)
        ran.send_signal(signal.SIGINT)
        ran.stdout.read()
        assert ran.wait() in (130, -signal.SIGINT)
    made = [*out.glob("*")]
    assert 1 < len(made) < 61
    assert all(path.name == "nyssa-campaign.jsonl" or values(path) for path in made)
    done = [path for path in made if path.suffix == ".root"]
    reports = nyssa.convert([str(inputs)], out, skip_done=True)
    assert states(reports).count("found") == len(done)
    assert len(reports) == 60


def killed(inputs: Path, out: Path, lines: int) -> None:
    """Convert in a process that gets SIGKILL when so many files are reported."""
    full = [sys.executable, "-m", "nyssa", "convert", str(inputs), "-o", str(out), "--skip-done"]
    with subprocess.Popen(full, stdout=subprocess.PIPE, text=True) as ran:
        assert ran.stdout is not None
        for _ in range(lines):
            ran.stdout.readline()
        ran.kill()
        assert ran.wait() == -signal.SIGKILL


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_killed_run_is_taken_up(tmp_path: Path) -> None:
    """What was reported is in the journal; a line that was cut is as if it was not there."""
    inputs, out = tmp_path / "in", tmp_path / "out"
    inputs.mkdir()
    for number in range(30):
        with uproot.recreate(inputs / f"{number:02}.root") as file:
            file.mktree("t", {"x": np.arange(2000) * number})
    killed(inputs, out, 5)
    journal = out / "nyssa-campaign.jsonl"
    lines = journal.read_text().splitlines()
    assert 5 <= len(lines) < 30
    assert [json.loads(line)["output"] for line in lines[:5]] == [
        str(out / f"{number:02}.root") for number in range(5)
    ]
    # The process ended within the last line of the journal, and the last output is damaged.
    torn = journal.read_bytes()[:-40]
    journal.write_bytes(torn)
    last = out / f"{len(lines) - 2:02}.root"
    last.write_bytes(last.read_bytes()[:-200])
    killed(inputs, out, 6)
    assert journal.read_bytes().startswith(torn + b"\n{")
    reports = nyssa.convert([str(inputs)], out, skip_done=True)
    assert {one["state"] for one in reports} == {"found", "done"}
    for number in range(30):
        path = f"{number:02}.root"
        assert values(out / path) == (np.arange(2000) * number).tolist()
    assert journal.read_bytes().startswith(torn + b"\n{")
    assert states(nyssa.convert([str(inputs)], out, skip_done=True)) == ["found"] * 30


def test_the_journal_is_not_written_again(trees: Path, tmp_path: Path) -> None:
    """A line of another program stays, and the file is the same one."""
    out = tmp_path / "out"
    out.mkdir()
    journal = out / "nyssa-campaign.jsonl"
    journal.write_text("a line of mine\n")
    node = journal.stat().st_ino
    nyssa.convert([str(trees / "run0.root")], out)
    first, line = journal.read_text().splitlines()
    assert (first, json.loads(line)["entries"]) == ("a line of mine", 10)
    assert journal.stat().st_ino == node
