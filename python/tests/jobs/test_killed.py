"""Jobs that are killed leave temporary files, which the next job removes, and no other program."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from test_interrupt import big_file

import nyssa
from support.campaign import lines

#: The journal of a conversion of many files.
JOURNAL = "nyssa-campaign.jsonl"
PART = ".out.root.nyssa-{}.part"

WRITE = """
import sys, time
import nyssa
with nyssa.recreate(sys.argv[1]) as file:
    file["Events"] = {"x": [1.0, 2.0]}
    print("written", flush=True)
    time.sleep(60)
"""

COMMAND = "import sys; from nyssa._cli import main; sys.exit(main())"


def started(*arguments: str, code: str = COMMAND) -> subprocess.Popen[bytes]:
    """Start a Python process."""
    call = [sys.executable, "-c", code, *arguments]
    return subprocess.Popen(call, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def writing(path: Path) -> subprocess.Popen[bytes]:
    """Start a process that writes a file and does not end."""
    process = started(str(path), code=WRITE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"written\n"
    return process


def wait_for(path: Path) -> None:
    """Wait until a file exists."""
    limit = time.monotonic() + 30
    while not path.exists():
        assert time.monotonic() < limit, f"no {path}"
        time.sleep(0.002)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def recorded(folder: Path) -> set[str]:
    """Return the names of the outputs in a journal, of which none has failed."""
    records = lines(folder / JOURNAL)
    assert {one["state"] for one in records} <= {"done", "found"}
    return {Path(str(one["output"])).name for one in records}


def converting(source: Path, output: Path, *options: str) -> subprocess.Popen[bytes]:
    """Start a conversion on the command line, slow enough to be killed."""
    arguments = ["convert", str(source), str(output), "--compression", "lzma:9", "--threads", "1"]
    process = started(*arguments, "--effort", "full", *options)
    wait_for(output.parent / PART.format(0))
    return process


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("number", "code"), [("SIGHUP", 129), ("SIGTERM", 143), ("SIGINT", 130)])
def test_a_signal_leaves_nothing(nano: Path, tmp_path: Path, number: str, code: int) -> None:
    """A closed terminal (SIGHUP) has the same effect as Ctrl-C."""
    process = converting(nano, tmp_path / "out.root", "--quiet")
    process.send_signal(getattr(signal, number))
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (code, b"", b"")
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_nohup_is_respected(nano: Path, tmp_path: Path) -> None:
    """A signal that is ignored from the beginning stays ignored."""
    ignore = "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); " + COMMAND
    output = tmp_path / "out.root"
    process = started("convert", str(nano), str(output), "--quiet", code=ignore)
    wait_for(tmp_path / PART.format(0))
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 0
    assert names(tmp_path) == ["out.root"]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such files stay for a day")
def test_the_next_conversion_takes_away_what_a_killed_one_left(nano: Path, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    process = converting(nano, output)
    process.kill()
    process.wait()
    assert names(tmp_path) == [PART.format(0)]
    other = tmp_path / "other.root"
    assert started("convert", str(nano), str(other), "--quiet").wait() == 0
    assert names(tmp_path) == [PART.format(0), "other.root"]
    nyssa.convert(nano, output)
    assert names(tmp_path) == ["other.root", "out.root"]
    assert nyssa.open(f"{output}:Events").num_entries == 200


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such files stay for a day")
def test_a_killed_conversion_of_many_files_goes_on(nano: Path, tmp_path: Path) -> None:
    """Killed at every file, it ends with whole outputs, and the journal has them."""
    inputs, out = tmp_path / "in", tmp_path / "out"
    inputs.mkdir()
    files = [f"{number}.root" for number in range(4)]
    for name in files:
        (inputs / name).symlink_to(nano)
    options = ["-o", str(out), "--skip-done", "--json"]
    slow = ["--compression", "lzma:9", "--threads", "1", "--effort", "full"]
    for number in range(len(files)):
        process = started("convert", str(inputs), *options, *slow)
        wait_for(out / f".{number}.root.nyssa-0.part")
        process.kill()
        process.communicate()
        done = files[:number]
        whole = [name for name in names(out) if not name.startswith(".")]
        assert whole == [*done, "nyssa-campaign.jsonl"]
        assert recorded(out) == set(done)
    done = started("convert", str(inputs), *options, *slow)
    said, _ = done.communicate(timeout=120)
    assert [one["state"] for one in json.loads(said)["files"]] == [*["found"] * 3, "done"]
    assert names(out) == [*files, JOURNAL]
    assert recorded(out) == set(files)
    for name in files:
        assert nyssa.verify(out / name).problems == []
        assert nyssa.diff(f"{nano}:Events", f"{out / name}:Events").equal


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere such files stay for a day")
def test_python_that_is_killed(tmp_path: Path) -> None:
    """The next writer of a file removes what an earlier job left, however that job ended."""
    output = tmp_path / "out.root"
    for number in (signal.SIGKILL, signal.SIGHUP, signal.SIGTERM):
        process = writing(output)
        assert names(tmp_path) == [PART.format(0)]
        process.send_signal(number)
        assert process.wait() == -number
        assert names(tmp_path) == [PART.format(0)]
    with nyssa.recreate(output) as file:
        assert names(tmp_path) == [PART.format(0)]
        file["Events"] = {"x": [3.0]}
    assert names(tmp_path) == ["out.root"]
    assert nyssa.open(f"{output}:Events")["x"].array().tolist() == [3.0]


def test_two_live_jobs_on_one_output(tmp_path: Path) -> None:
    """Each process writes its own temporary file; the last one that ends gets the name."""
    output = tmp_path / "out.root"
    process = writing(output)
    with nyssa.recreate(output) as file:
        file["Events"] = {"x": [3.0]}
        assert names(tmp_path) == [PART.format(0), PART.format(1)]
    assert names(tmp_path) == [PART.format(0), "out.root"]
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert names(tmp_path) == ["out.root"]
    assert nyssa.open(f"{output}:Events")["x"].array().tolist() == [3.0]


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is of Linux")
def test_temporary_files_have_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Temporary data of a job that lacks memory disappear with its process, even a killed one."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    source = big_file(tmp_path)
    process = started("merge", str(source), "-o", str(tmp_path / "out.root"), "--memory", "1MB")
    process.wait()
    assert names(folder) == []
