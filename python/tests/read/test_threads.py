"""Jobs of several Python threads run at the same time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

#: Prints the number of workers: after one job, with two writers that are open, and after two reads
#: beside them.
WORKERS = """
import pathlib, re, sys, time, nyssa

def name(task):
    try:
        return (task / "comm").read_text()
    except OSError:
        return ""  # The thread has ended since.

def named():
    tasks = pathlib.Path("/proc/self/task").iterdir()
    return sum(bool(re.match(r"nyssa-\\d", name(task))) for task in tasks)

def workers():
    # A thread gets its name a moment after it starts.
    counts = [-1, named()]
    while counts[-1] != counts[-2]:
        time.sleep(0.2)
        counts.append(named())
    return counts[-1]

threads = eval(sys.argv[1])
with nyssa.recreate("a", threads=threads) as file:
    file["events"] = {"x": [1, 2, 3]}
print(workers())
writers = [nyssa.recreate(name, threads=threads) for name in "bc"]
print(workers())
for _ in range(2):
    nyssa.open("a:events").arrays(threads=threads)
print(workers())
for writer in writers:
    writer.close()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="Linux shows the threads of a process")
@pytest.mark.parametrize(
    # What has no number of threads, such as the end of a file, runs on the default of five.
    ("threads", "wanted"),
    [("3", [5 + 3, 5 + 6, 5 + 9]), ("None", [5, 5, 5])],
)
def test_jobs_with_a_number_of_threads_do_not_wait_for_each_other(
    tmp_path: Path, threads: str, wanted: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each job has threads, which a later job uses again; jobs with the default share them."""
    monkeypatch.setenv("NYSSA_NUM_THREADS", "5")
    command = [sys.executable, "-c", WORKERS, threads]
    done = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=True, text=True)
    assert [int(line) for line in done.stdout.split()] == wanted
