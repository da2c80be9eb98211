"""The monitor counts what the kernel counts, and writes the files that prmon writes."""

from __future__ import annotations

import json
import os
import resource
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import nyssa
from support.data import TESTDATA

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the monitor reads /proc")

#: The columns of prmon's memmon, cpumon, wallmon, countmon, iomon and netmon, with the units that
#: ``prmon --units`` gives for the largest values and for the averages.
PRMON = {
    "wtime": ("s", None),
    "stime": ("s", None),
    "utime": ("s", None),
    "pss": ("kB", "kB"),
    "rss": ("kB", "kB"),
    "swap": ("kB", "kB"),
    "vmem": ("kB", "kB"),
    "nprocs": ("1", "1"),
    "nthreads": ("1", "1"),
    "rchar": ("B", "B/s"),
    "read_bytes": ("B", "B/s"),
    "wchar": ("B", "B/s"),
    "write_bytes": ("B", "B/s"),
    "rx_bytes": ("B", "B/s"),
    "rx_packets": ("1", "1/s"),
    "tx_bytes": ("B", "B/s"),
    "tx_packets": ("1", "1/s"),
}

_BURN = """
import time
while time.process_time() < 0.6: pass
"""


def _rows(table: Path) -> list[dict[str, float]]:
    """Return the rows of a table, read as ``prmon_plot.py`` reads them."""
    header, *lines = table.read_text().splitlines()
    names = header.split("\t")
    return [dict(zip(names, map(float, line.split("\t")), strict=True)) for line in lines]


def _cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def test_names_and_units(tmp_path: Path) -> None:
    """Columns, sections and units are prmon's."""
    begin = int(time.time())
    with nyssa.monitor(tmp_path / "prmon.txt", interval=0.05) as usage:
        time.sleep(0.3)
    rows = _rows(tmp_path / "prmon.txt")
    assert set(rows[0]) == {"Time", *PRMON}
    assert 4 <= len(rows) <= 8
    assert all(begin <= row["Time"] <= time.time() for row in rows)
    summary = json.loads((tmp_path / "prmon.json").read_text())
    assert summary == usage.summary
    assert set(summary) == {"Avg", "HW", "Max", "Units", "nyssa"}
    assert summary["Units"]["Max"] == {name: unit for name, (unit, _) in PRMON.items()}
    assert summary["Units"]["Avg"] == {name: rate for name, (_, rate) in PRMON.items() if rate}
    assert summary["HW"]["cpu"]["CPUs"] == len(os.sched_getaffinity(0))
    assert (
        f"MemTotal: {summary['HW']['mem']['MemTotal']:14} kB" in Path("/proc/meminfo").read_text()
    )
    assert summary["nyssa"] == {"Version": nyssa.__version__}
    assert not list(tmp_path.glob("*_tmp"))


def test_maxima_and_averages(tmp_path: Path) -> None:
    """Each average is that of the rows: a rate per second for counters, else a mean of the rows."""
    with nyssa.monitor(tmp_path / "a.json", interval=0.02) as usage:
        subprocess.run([sys.executable, "-c", "import json"], check=True)
    rows = _rows(tmp_path / "a.txt")
    assert usage.summary is not None
    for name, (_, rate) in PRMON.items():
        values = [row[name] for row in rows]
        assert usage.summary["Max"][name] == pytest.approx(max(values), abs=0.5), name
        if rate is None or rate.endswith("/s"):
            assert values == sorted(values), name
            assert values[0] == 0, name
        if rate is not None:
            average = max(values) / rows[-1]["wtime"] if rate.endswith("/s") else np.mean(values)
            assert usage.summary["Avg"][name] == pytest.approx(average, rel=0.02, abs=1), name


def test_cpu_time_of_children(tmp_path: Path) -> None:
    """CPU time is that of the process and of its children, as getrusage counts it."""
    before = _cpu(resource.RUSAGE_SELF), _cpu(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    with nyssa.monitor(tmp_path / "prmon.txt", interval=0.1) as usage:
        subprocess.run([sys.executable, "-c", _BURN], check=True)
    seconds = time.monotonic() - begun
    children = _cpu(resource.RUSAGE_CHILDREN) - before[1]
    expected = _cpu(resource.RUSAGE_SELF) - before[0] + children
    assert usage.summary is not None
    largest = usage.summary["Max"]
    # The kernel counts in ticks of 10 ms; both numbers of two processes are rounded down.
    assert largest["utime"] + largest["stime"] == pytest.approx(expected, abs=0.06)
    assert largest["utime"] + largest["stime"] >= 0.55
    # On a machine with much to do, the monitor begins late.
    assert 0.5 * seconds < largest["wtime"] < seconds + 0.1


_MEMORY = """
import sys, time
from pathlib import Path
import numpy as np
import nyssa
# What Python and the core load at their first use is no memory of the block.
with nyssa.monitor(sys.argv[1], interval=0.05):
    time.sleep(0.1)
np.ones(10), Path("/proc/self/status").read_text()
with nyssa.monitor(sys.argv[1], interval=0.05):
    time.sleep(0.1)
    block = np.ones(25_000_000)
    status = Path("/proc/self/status").read_text()
    time.sleep(0.2)
    del block
    time.sleep(0.1)
print(status)
"""


def test_memory_is_what_the_kernel_says(tmp_path: Path) -> None:
    """Memory grows by the pages that are used, and is what the kernel reports for the process."""
    # Other processes that the tests started would count, too.
    command = [sys.executable, "-c", _MEMORY, str(tmp_path / "prmon.txt")]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    status = dict(line.split(":", 1) for line in ran.stdout.splitlines() if line)
    rows = _rows(tmp_path / "prmon.txt")
    rss = [row["rss"] for row in rows]
    assert max(rss) - rss[0] == pytest.approx(200e6 / 1024, rel=0.03)
    assert max(rss) == pytest.approx(float(status["VmRSS"].split()[0]), rel=0.02)
    vmem = max(row["vmem"] for row in rows)
    assert vmem == pytest.approx(float(status["VmSize"].split()[0]), rel=0.02)
    assert rss[-1] < max(rss) - 150e6 / 1024
    for row in rows:
        assert 0 < row["pss"] <= row["rss"] <= row["vmem"]
        assert row["nprocs"] == 1


def test_processes_and_threads(tmp_path: Path) -> None:
    """Children of children are counted, and so are threads."""
    script = (
        "import subprocess as s, sys; s.run([sys.executable, '-c', 'import time; time.sleep(.4)'])"
    )
    tasks = len(os.listdir("/proc/self/task"))
    with nyssa.monitor(tmp_path / "prmon.txt", interval=0.02) as usage:
        waiting = threading.Thread(target=time.sleep, args=(0.3,))
        waiting.start()
        subprocess.run([sys.executable, "-c", script], check=True)
        waiting.join()
    assert usage.summary is not None
    # Other tests may have started servers, which are children of this process.
    first = _rows(tmp_path / "prmon.txt")[0]
    assert usage.summary["Max"]["nprocs"] == first["nprocs"] + 2
    assert first["nthreads"] >= tasks
    # The thread above, that of the monitor, and one for each child.
    assert usage.summary["Max"]["nthreads"] == first["nthreads"] + 4


def test_bytes_read_and_written(tmp_path: Path) -> None:
    """Bytes of system calls are counted, also of children that have ended."""
    data = tmp_path / "data"
    with nyssa.monitor(tmp_path / "write.txt") as writing:
        data.write_bytes(bytes(20_000_000))
    assert writing.summary is not None
    assert writing.summary["Max"]["wchar"] == pytest.approx(20e6, abs=50_000)
    with nyssa.monitor(tmp_path / "read.txt") as reading:
        subprocess.run([sys.executable, "-c", f"open({str(data)!r}, 'rb').read()"], check=True)
    assert reading.summary is not None
    assert 20e6 <= reading.summary["Max"]["rchar"] <= 30e6
    assert reading.summary["Max"]["wchar"] < 100_000


def test_bytes_of_the_network(tmp_path: Path) -> None:
    """The network devices are counted, and the loopback device is one of them."""
    with nyssa.monitor(tmp_path / "prmon.txt") as usage, socket.create_server(("", 0)) as server:
        sender = socket.create_connection(server.getsockname())
        receiver, _ = server.accept()
        send = threading.Thread(target=sender.sendall, args=(bytes(5_000_000),))
        send.start()
        left = 5_000_000
        while left:
            left -= len(receiver.recv(1 << 20))
        send.join()
        sender.close()
        receiver.close()
    assert usage.summary is not None
    for name in ("rx_bytes", "tx_bytes"):
        assert usage.summary["Max"][name] >= 5e6
        assert usage.summary["Max"][name.replace("bytes", "packets")] >= 5e6 / 65_536


def test_only_files_of_monitors_are_replaced(tmp_path: Path) -> None:
    """Data are not lost by a wrong name; the files of an earlier monitor are replaced."""
    table, summary = tmp_path / "events.root", tmp_path / "events.json"
    refusal = (
        "the monitor cannot write {}: it exists already, and was not written by a monitor; "
        "choose another name"
    )
    table.write_bytes(b"root")
    with pytest.raises(nyssa.ArgumentError) as caught, nyssa.monitor(table):
        pass
    assert str(caught.value) == refusal.format(table)
    assert table.read_bytes() == b"root"
    table.unlink()
    summary.write_text("[1]")
    with pytest.raises(nyssa.ArgumentError) as caught, nyssa.monitor(table):
        pass
    assert str(caught.value) == refusal.format(summary)
    assert not table.exists()
    summary.unlink()
    for _ in range(2):
        with nyssa.monitor(table):
            pass
        assert next(row["wtime"] for row in _rows(table)) == 0
    with pytest.raises(nyssa.ArgumentError) as caught, nyssa.monitor("/dev/null"):
        pass
    assert str(caught.value) == "the monitor cannot write /dev/null: it is not a regular file"


def test_what_cannot_be_monitored(tmp_path: Path) -> None:
    """Wrong intervals, URLs and missing folders are refused before the work begins."""
    for interval in (0.0, -1.0, 0.001, float("nan")):
        with (
            pytest.raises(nyssa.ArgumentError, match="is 0.01 to 86400 seconds, not"),
            nyssa.monitor(tmp_path / "a.txt", interval=interval),
        ):
            pass
    with pytest.raises(nyssa.UnsupportedError) as caught, nyssa.monitor("https://host/a.txt"):
        pass
    assert str(caught.value) == (
        "the files of a monitor are written to this machine, not to https://host/a.txt"
    )
    with pytest.raises(FileNotFoundError), nyssa.monitor(tmp_path / "no" / "a.txt"):
        pass
    monitor = nyssa.monitor(tmp_path / "b.txt")
    with pytest.raises(nyssa.ArgumentError, match="this monitor runs already"), monitor, monitor:
        pass
    assert len(_rows(tmp_path / "b.txt")) == 2


def test_an_error_of_the_work_is_seen(tmp_path: Path) -> None:
    """The files are complete when the work fails, and its exception is not changed."""
    with pytest.raises(KeyError, match="work"), nyssa.monitor(tmp_path / "a.txt") as usage:
        raise KeyError("work")
    assert usage.summary is not None
    assert len(_rows(tmp_path / "a.txt")) == 2


def test_files_that_cannot_be_completed(tmp_path: Path) -> None:
    """The error of the monitor comes after the work, unless the work itself has an error."""
    folder = tmp_path / "gone"
    for error in (None, KeyError("work")):
        folder.mkdir()
        done = False
        with pytest.raises(type(error or FileNotFoundError())), nyssa.monitor(folder / "a.txt"):
            shutil.rmtree(folder)
            done = True
            if error:
                raise error
        assert done


def test_a_fork_has_no_monitor(tmp_path: Path) -> None:
    """A child of fork ends without waiting for a thread that it does not have."""
    script = f"""
import os, warnings, nyssa
warnings.simplefilter("ignore")
with nyssa.monitor({str(tmp_path / "a.txt")!r}) as usage:
    child = os.fork()
    if child == 0:
        try:
            usage.__exit__(None, None, None)
        except nyssa.ArgumentError as error:
            os._exit(7 if "is a fork of it" in str(error) else 1)
        os._exit(2)
    _, status = os.waitpid(child, 0)
print(os.waitstatus_to_exitcode(status), usage.summary["Max"]["nprocs"])
"""
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert ran.stdout.split()[0] == "7"


def test_commands(tmp_path: Path) -> None:
    """`--monitor` counts what the kernel counts for the process of the command."""
    source = next(TESTDATA.glob("ttree/*.root"))
    command = [sys.executable, "-m", "nyssa", "verify", str(source)]
    options = ["--monitor", str(tmp_path / "v.txt"), "--monitor-interval", "0.02"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    summary = json.loads((tmp_path / "v.json").read_text())
    assert summary["Max"]["utime"] <= usage.ru_utime + 0.02
    assert summary["Max"]["rss"] <= usage.ru_maxrss + 100
    assert summary["Max"]["rchar"] >= source.stat().st_size
    assert len(_rows(tmp_path / "v.txt")) >= 2


def test_reports_of_jobs(tmp_path: Path) -> None:
    """CPU time and rates of a job are what the kernel counts around it."""
    source = tmp_path / "a.root"
    random = np.random.default_rng(1)
    with nyssa.recreate(source) as file:
        file["a"] = {f"x{i}": random.normal(size=200_000) for i in range(8)}
    paths = [f"{source}:a"]
    jobs = {
        "rewrite": lambda: nyssa.rewrite(paths[0], tmp_path / "b.root", threads=2)[0],
        "merge": lambda: nyssa.merge(paths * 2, tmp_path / "c.root", threads=2),
    }
    for name, job in jobs.items():
        before, begun = _cpu(resource.RUSAGE_SELF), time.monotonic()
        report = job()
        cpu, seconds = _cpu(resource.RUSAGE_SELF) - before, time.monotonic() - begun
        process = report["process"]
        assert 0 < process["seconds"] <= seconds, name
        assert 0 < process["cpu_seconds"] <= cpu + 0.01, name
        efficiency = process["cpu_seconds"] / process["seconds"] / 2
        assert process["cpu_efficiency"] == pytest.approx(efficiency)
        rate = process["read_bytes"] / 1e6 / process["seconds"]
        assert process["read_megabytes_per_second"] == pytest.approx(rate)
        rate = report["output_bytes"] / 1e6 / process["seconds"]
        assert process["write_megabytes_per_second"] == pytest.approx(rate)
        pages = source.stat().st_size * (2 if name == "merge" else 1)
        # A rewriting also reads samples, by which it chooses how columns are stored.
        assert 0.9 * pages <= process["read_bytes"] <= 2 * pages, name
