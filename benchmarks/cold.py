"""`make bench-cold`: read all columns of files that are not in the cache of the system.

Before each job, the file is removed from the cache. The speed of the disk is that of reading the
whole file in order, past the cache. A job cannot be faster than its computations, so it also runs
with the file in the cache. Medians and ratios are printed.
"""

from __future__ import annotations

import argparse
import mmap
import os
import statistics
import sys
import time
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "remote")]

from files import make_files  # noqa: E402

import run  # noqa: E402

#: Bytes of one read of the disk.
BLOCK = 4 << 20


def disk_seconds(path: Path) -> float:
    """Reads the whole file in order, past the cache of the system, and returns the time."""
    file = os.open(path, os.O_RDONLY | os.O_DIRECT)
    buffer = mmap.mmap(-1, BLOCK)
    try:
        start = time.perf_counter()
        offset = 0
        while size := os.preadv(file, [buffer], offset):
            offset += size
        return time.perf_counter() - start
    finally:
        os.close(file)


def forget(path: Path) -> None:
    """Removes a file from the cache of the system."""
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(file)


def make_plain(ntuple: Path) -> Path:
    """Makes an RNTuple without compression, and returns its path."""
    plain = ntuple.with_name(f"plain-{ntuple.name}")
    if not plain.exists():
        from nyssa import rewrite

        rewrite(f"{ntuple}:Events", plain, compression="none", carry=False)
    return plain


def jobs(files: dict[str, Path], peers: bool) -> dict[tuple[str, str], list[str]]:
    """Returns the command of each job, by file and library."""
    found = {}
    for name, path in files.items():
        found[name, "nyssa"] = run.job("nyssa_read", path, os.cpu_count() or 1)
        if peers:
            found[name, "uproot"] = run.job("uproot_read", path)
            if name != "TTree":
                found[name, "ROOT"] = run.job("root_wide", path)
    return found


def report(files: dict[str, Path], times: dict[tuple[str, str, str], list[float]]) -> None:
    """Prints the speeds in MB of the file per second, and the ratios."""
    median = {key: statistics.median(values) for key, values in times.items()}
    speeds = "disk, MB/s | cold, MB/s | cached, MB/s"
    print(f"| file | library | {speeds} | cold / disk | cold / slower of disk and cached |")
    print("|---|---|---|---|---|---|---|")
    for name, library, state in median:
        if state != "cold":
            continue
        size = files[name].stat().st_size / 1e6
        disk, cold, warm = (
            size / median[key]
            for key in ((name, "", "disk"), (name, library, "cold"), (name, library, "warm"))
        )
        bound = cold / min(disk, warm)
        speeds = f"{disk:.0f} | {cold:.0f} | {warm:.0f}"
        print(f"| {name} | {library} | {speeds} | {cold / disk:.2f} | {bound:.2f} |")


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true", help="run nyssa alone")
    arguments = parser.parse_args()
    made = make_files(arguments.entries)
    files = {"RNTuple": made["ntuple"], "TTree": made["tree"]}
    files["RNTuple, not compressed"] = make_plain(made["ntuple"])
    times = defaultdict(list)
    for _ in range(arguments.rounds):
        for path in files.values():
            forget(path)
        for name, path in files.items():
            times[name, "", "disk"].append(disk_seconds(path))
        for (name, library), command in jobs(files, not arguments.no_peers).items():
            forget(files[name])
            times[name, library, "cold"].append(run.measure(*command)["seconds"])
            times[name, library, "warm"].append(run.measure(*command)["seconds"])
    report(files, times)


if __name__ == "__main__":
    main()
