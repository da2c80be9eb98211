"""`make bench-remote`: nyssa against ROOT's XRootD client and uproot, over links with latency.

A real XRootD server serves files on this machine; a link with latency lies between it and the jobs.
Every job runs in a process of its own, all jobs in turn; medians and ratios are printed and written
to docs/benchmarks-remote.md.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import link as links  # noqa: E402
import server  # noqa: E402

import run as local  # noqa: E402

LIBRARIES = ("nyssa", "root", "uproot")
#: Files of the chain, and entries of each.
CHAIN, CHAIN_ENTRIES = 200, 1500
#: Numbers of columns that are read.
FEW, TEN, MANY = 5, 10, 50
CHAIN_NAME = f"chain of {CHAIN} files, {TEN} columns"
#: uproot reads one in so many files of the chain.
UPROOT_PART = 20


def make_files(entries: int) -> dict[str, Path]:
    """The files that are served: a TTree, the RNTuple of it, and many small RNTuples."""
    from nyssa import rewrite

    local.BUILD.mkdir(parents=True, exist_ok=True)
    tree = local.BUILD / f"nanoaod-{entries}.root"
    if not tree.exists():
        print("making the TTree", file=sys.stderr)
        part = tree.with_suffix(".part.root")
        local.make_data(part, entries)
        part.replace(tree)
    ntuple = local.BUILD / f"ntuple-{entries}.root"
    if not ntuple.exists():
        print("ROOT's importer makes the RNTuple", file=sys.stderr)
        part = ntuple.with_suffix(".part.root")
        local.measure(*local.job("root_convert", tree, part))
        part.replace(ntuple)
    files = {"tree": tree, "ntuple": ntuple}
    small = local.BUILD / "small-0.root"
    if not small.exists():
        rewrite(f"{ntuple}:Events", small, cut=f"event < {CHAIN_ENTRIES * 7 + 101}", carry=False)
    for number in range(CHAIN):
        copy = local.BUILD / f"small-{number}.root"
        if not copy.exists():
            copy.hardlink_to(small)
        files[f"small-{number}"] = copy
    return files


def largest_columns(ntuple: Path, count: int) -> list[str]:
    """The vectors of float32 that take most bytes in the file."""
    from nyssa import inspect

    columns = inspect(f"{ntuple}:Events").to_dict()["columns"]
    # ROOT's importer makes collections of them; the vectors are projected fields of the same name.
    members = [
        one for one in columns if one["column_type"] == "SplitReal32" and "._0." in one["field"]
    ]
    members.sort(key=lambda one: -one["part"]["stored_bytes"])
    return [one["part"]["name"] for one in members[:count]]


def measure(link: links.Link, library: str, job: str, *args: str) -> dict | None:
    """Runs one job over a link: its seconds, and what crossed the link. `None` where it failed."""
    link.take_counts()
    command = [sys.executable, "-W", "ignore", str(HERE / "jobs.py"), f"{library}_{job}", *args]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    if done.returncode:
        return None
    counts = link.take_counts()
    found = json.loads(done.stdout.splitlines()[-1])
    if (library, job) == ("uproot", "chain"):
        found["seconds"] *= UPROOT_PART
    return {**found, "down": counts.down, "turnarounds": counts.turnarounds}


def main() -> None:
    """Runs the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--round-trips", type=float, nargs="+", default=[0, 10, 50], help="in ms")
    parser.add_argument("--bandwidth", type=float, default=10, help="of the link, in Gbit/s")
    parser.add_argument("--only", default="", help="only jobs whose names contain this")
    parser.add_argument(
        "--output", type=Path, default=local.ROOT_DIRECTORY / "docs" / "benchmarks-remote.md"
    )
    arguments = parser.parse_args()
    files = make_files(arguments.entries)
    few, ten, many = (largest_columns(files["ntuple"], count) for count in (FEW, TEN, MANY))
    with server.xrootd(list(files.values())) as port:

        def url(at: int, name: str) -> str:
            return f"root://localhost:{at}//{name}"

        def jobs(at: int) -> dict[str, list[str]]:
            ntuple, tree = url(at, files["ntuple"].name), url(at, files["tree"].name)
            chain = url(at, "small-%.root") + f"#{CHAIN}"
            three = {
                f"open|{library}": [library, "open", ntuple]
                for library in ("nyssa", "root", "uproot")
            }
            for name, job, where, columns in (
                (f"{FEW} columns", "columns", ntuple, few),
                (f"{MANY} columns", "columns", ntuple, many),
                (CHAIN_NAME, "chain", chain, ten),
                (f"TTree, {TEN} branches", "tree", tree, ten),
            ):
                for library in LIBRARIES:
                    three[f"{name}|{library}"] = [library, job, where, *columns]
            # uproot takes seconds for each file: it reads some of them, and its time is scaled.
            three[f"{CHAIN_NAME}|uproot"][2] = chain.replace(
                f"#{CHAIN}", f"#{CHAIN // UPROOT_PART}"
            )
            output = str(local.BUILD / "remote-output.root")
            three["convert|nyssa"] = ["nyssa", "convert", tree, output]
            return {name: job for name, job in three.items() if arguments.only in name}

        results: dict[tuple[float, str], list[dict]] = {}
        open_links = {
            ms: links.Link(port, ms / 1e3, arguments.bandwidth * 1e9 / 8)
            for ms in arguments.round_trips
        }
        plain = links.Link(port, 0, 1e12)
        for round_ in range(arguments.rounds + 1):
            for ms, one in open_links.items():
                for name, job in jobs(one.port).items():
                    if round_ == 0 and ms != arguments.round_trips[0]:
                        continue
                    print(f"round {round_}, {ms:g} ms: {name}", file=sys.stderr)
                    result = measure(one, *job)
                    if round_ and result:
                        results.setdefault((ms, name), []).append(result)
            if round_:
                for name, job in jobs(0).items():
                    if not name.endswith("nyssa"):
                        continue
                    here = [arg.replace("root://localhost:0//", f"{local.BUILD}/") for arg in job]
                    print(f"round {round_}, local: {name}", file=sys.stderr)
                    if result := measure(plain, *here):
                        results.setdefault((-1, name), []).append(result)
    lines = table(results, arguments, files)
    arguments.output.write_text("\n".join(lines))
    print("\n".join(lines))
    stored = {f"{ms:g} ms|{name}": rounds for (ms, name), rounds in results.items()}
    (local.BUILD / "remote.json").write_text(json.dumps(stored, indent=1))


def table(results: dict, arguments: argparse.Namespace, files: dict[str, Path]) -> list[str]:
    """The page of results, line by line."""

    def of(ms: float, name: str, library: str, key: str = "seconds") -> float | None:
        rounds = results.get((ms, f"{name}|{library}"))
        return statistics.median(one[key] for one in rounds) if rounds else None

    def seconds(value: float | None) -> str:
        return "–" if value is None else f"{value:.3g} s"

    def ratio(theirs: float | None, ours: float | None) -> str:
        return "–" if theirs is None or ours is None else f"{theirs / ours:.1f} ×"

    versions = []
    for package in ("root", "uproot", "fsspec-xrootd", "xrootd"):
        try:
            versions.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            versions.append(f"no {package}")
    rows = []
    names = dict.fromkeys(name.split("|")[0] for _, name in results)
    for name in names:
        for ms in arguments.round_trips:
            ours, root, uproot = (of(ms, name, one) for one in LIBRARIES)
            here = of(-1, name, "nyssa")
            trips = of(ms, name, "nyssa", "turnarounds"), of(ms, name, "root", "turnarounds")
            down = of(ms, name, "nyssa", "down"), of(ms, name, "root", "down")
            cells = [
                name,
                f"{ms:g} ms",
                seconds(ours),
                seconds(root),
                seconds(uproot),
                ratio(root, ours),
                ratio(uproot, ours),
                "–" if here is None or ours is None else f"{ours / here:.2f} ×",
                " / ".join("–" if one is None else f"{one:.0f}" for one in trips),
                " / ".join("–" if one is None else f"{one / 1e6:.1f}" for one in down),
            ]
            rows.append("| " + " | ".join(cells) + " |")
    sizes = ", ".join(f"{files[one].stat().st_size / 1e6:.0f} MB" for one in ("tree", "ntuple"))
    return [
        "# Reading over XRootD, measured",
        "",
        "Made by `make bench-remote`. A server of XRootD and all jobs run on one machine "
        f"({platform.machine()}, {local.os.cpu_count()} cores); a proxy between them delays every "
        f"byte by half a round trip and has {arguments.bandwidth:g} Gbit/s. "
        f"Medians of {arguments.rounds} rounds; connecting and opening are inside the clock. "
        "The files: a TTree and the RNTuple that ROOT's importer makes of it "
        f"({sizes}; {arguments.entries:,} events), and "
        f"{CHAIN} RNTuples of {CHAIN_ENTRIES:,} events. "
        "The columns are the vectors of floats that take most bytes. "
        f"uproot reads one in {UPROOT_PART} files of the chain, and its time is scaled.",
        "",
        "A turnaround is a moment at which a client sends after it has received; on connections "
        "that work side by side each counts. They include the login and the closing.",
        "",
        f"Versions: {', '.join(versions)}.",
        "",
        "| job | round trip | nyssa | ROOT | uproot | against ROOT | against uproot "
        "| against nyssa on the local file | turnarounds, nyssa / ROOT | MB, nyssa / ROOT |",
        "|---|---|---|---|---|---|---|---|---|---|",
        *rows,
        "",
    ]


if __name__ == "__main__":
    main()
