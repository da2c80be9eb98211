"""`make bench-storage`: how the options of storage change sizes, memory and the speed of writing.

ROOT writes data like an AOD (`storage.cxx`) as a TTree. nyssa converts it with each option, and
writes it from arrays; each job runs in a process of its own (`storage_jobs.py`). ROOT reads each
file into objects of the classes, and the sums over all members must equal the sums in the TTree.
Then files of the test data with objects are converted. The page docs/storage.md is written.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nyssa
from table import cpu_name, root_version

HERE = Path(__file__).parent
DATA = Path(os.environ.get("NYSSA_TEST_DATA", HERE.parents[1] / "shared" / "data"))
THREADS = [1, 2, 4, 8]
SMALLER = 25_000_000
UNSPLIT = {"column": "unsplit"}
#: The encoding of rows that say nothing else.
ENCODING = {"encoding": "default"}
Options = dict[str, Any]

#: Files of the test data with objects in branches.
OBJECTS = [
    "roottest/meta__MakeProject__small_aod.pool.root",
    "roottest/io__newstl__cmsJets_0.root",
    "roottest/treeproxy__full-mcfile.root",
    "uproot-HZZ-objects.root",
    "uproot-issue513.root",
]


@dataclass
class Row:
    """The numbers of one way to store the data."""

    name: str
    bytes: int
    runs: dict[int, dict[str, float]] = field(default_factory=dict)
    """The numbers of a job, by number of threads."""

    def cells(self, tree: int, uncompressed: int, threads: list[int]) -> str:
        """Return the line of the table."""

        def mb(count: int, key: str) -> str:
            return f"{self.runs[count][key] / 1e6:.0f}" if count in self.runs else ""

        ends = dict.fromkeys((threads[0], threads[-1]))
        memory = [mb(count, key) for key in ("allocated", "rss") for count in ends]
        speed = [
            f"{uncompressed / 1e6 / self.runs[count]['seconds']:.0f}" if count in self.runs else ""
            for count in threads
        ]
        cpu = f"{self.runs[1]['cpu']:.2f}" if 1 in self.runs else ""
        cells = [self.name, f"{self.bytes / tree:.3f}", *memory, *speed, cpu]
        return f"| {' | '.join(cells)} |"


def head(threads: list[int]) -> list[str]:
    """Return the first lines of a table of rows."""
    ends = dict.fromkeys((threads[0], threads[-1]))
    names = ["", "size / TTree"]
    names += [f"allocated, MB, {count} thr." for count in ends]
    names += [f"RSS, MB, {count} thr." for count in ends]
    names += [f"MB/s, {count} thr." for count in threads]
    names += ["CPU s, 1 thr."]
    return [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]


class Generated:
    """The generated data, and the jobs on them."""

    def __init__(self, folder: Path, entries: int, threads: list[int]) -> None:
        self.folder, self.threads = folder, threads
        self.counter = folder / "allocations.so"
        source = HERE / "allocations.c"
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", self.counter, source], check=True)
        self.tree = folder / "tree.root"
        self._job("root_make", folder, self.tree, entries)
        self.sums = self._job("root_sums", folder, self.tree, "tree")
        self.tree_bytes = self.tree.stat().st_size
        self.ntuple = folder / "default.root"
        self.uncompressed = 0

    def _job(self, name: str, *args: object, count: bool = False) -> Any:
        command = [sys.executable, "-W", "ignore", str(HERE / "storage_jobs.py"), name]
        environment = {**os.environ, "LD_PRELOAD": str(self.counter)} if count else os.environ
        print(name, *args, file=sys.stderr)
        done = subprocess.run(
            [*command, *map(str, args)], stdout=subprocess.PIPE, check=True, env=environment
        )
        return json.loads(done.stdout.splitlines()[-1])

    def _measured(self, name: str, source: Path, output: Path, options: Options) -> dict:
        """Return the numbers of a job; allocations are counted in another run."""
        output.unlink(missing_ok=True)
        found = self._job(name, source, output, json.dumps(options))
        output.unlink()
        counted = self._job(name, source, output, json.dumps(options), count=True)
        return {**found, "allocated": counted["allocated"]}

    def converted(self, name: str, options: Options, keep: Path | None = None) -> Row:
        """Convert the TTree with some options, let ROOT compare the values, and return the row."""
        output = keep or self.folder / "out.root"
        row = Row(name, 0)
        for count in self.threads:
            given = {**ENCODING, **options, "threads": count}
            row.runs[count] = self._measured("convert", self.tree, output, given)
        row.bytes = output.stat().st_size
        self._compare(output)
        return row

    def imported(self) -> Row:
        """Convert the TTree with ROOT's importer, which has one thread."""
        output, counted = self.folder / "imported.root", self.folder / "counted.root"
        output.unlink(missing_ok=True)
        counted.unlink(missing_ok=True)
        run = self._job("root_import", self.folder, self.tree, output)
        again = self._job("root_import", self.folder, self.tree, counted, count=True)
        self._compare(output)
        runs = {1: {**run, "allocated": again["allocated"]}}
        return Row("ROOT's importer", output.stat().st_size, runs)

    def written(self, name: str, options: Options) -> Row:
        """Write the data from arrays, let uproot compare the values, and return the row."""
        output = self.folder / "written.root"
        row = Row(name, 0)
        for count in self.threads:
            given = {**options, "threads": count}
            row.runs[count] = self._measured("write", self.ntuple, output, given)
        row.bytes = output.stat().st_size
        check(self._job("uproot_sums", self.ntuple), self._job("uproot_sums", output), output)
        return row

    def _compare(self, output: Path) -> None:
        check(self.sums, self._job("root_sums", self.folder, output, "ntuple"), output)


def check(expected: list[float], found: list[float], path: Path) -> None:
    """End the benchmark if sums are not the same."""
    same = len(expected) == len(found) and all(
        math.isclose(a, b, rel_tol=1e-12) for a, b in zip(expected, found, strict=True)
    )
    if not same:
        sys.exit(f"{path} has other values: {found}, not {expected}")


def sizes(report: Mapping[str, Any]) -> dict[str, int]:
    """Return the compressed bytes of the columns of each field; shared pages count."""
    found: dict[str, int] = {}
    for one in report["columns"]:
        found[one["field"]] = found.get(one["field"], 0) + one["compressed_bytes"]
    return found


def smaller(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return the fields that became smaller."""
    return [name for name, bytes_ in before.items() if after.get(name, bytes_) < bytes_]


def unsplit_where_smaller(convert: Callable[[Options], Mapping[str, int]]) -> Options:
    """Return the options that store fields unsplit where that is smaller.

    The time that a column is worth also depends on other columns, so what seems to be smaller when
    all are unsplit is tried again.
    """
    default = convert({})
    fields = smaller(default, convert({"field_options": {"*": UNSPLIT}}))
    for _ in range(2):
        given = {"field_options": dict.fromkeys(fields, UNSPLIT)}
        found = convert(given)
        fields = smaller({name: default[name] for name in fields}, found)
    return {"field_options": dict.fromkeys(fields, UNSPLIT)}


def generated(folder: Path, entries: int, threads: list[int]) -> list[str]:
    """Return the lines of the page about the generated data."""
    data = Generated(folder, entries, threads)
    rows = [Row("TTree", data.tree_bytes), data.imported()]
    rows.append(data.converted("ROOT's encodings", {}, keep=data.ntuple))
    found = nyssa.inspect(data.ntuple).to_dict()
    data.uncompressed = found["uncompressed_bytes"]
    whole = folder / "unsplit.root"

    def convert(given: Options) -> dict[str, int]:
        options = {**ENCODING, **given}
        return sizes(nyssa.convert(data.tree, whole, carry=False, force=True, **options))

    fields = unsplit_where_smaller(convert)
    clusters = {"cluster_size": SMALLER}
    rows += [
        data.converted("streamer where smaller", {"streamer": ["auto"]}),
        data.converted("unsplit where smaller", fields),
        data.converted("encoding auto", {"encoding": "auto"}),
        data.converted("clusters of 25 MB", clusters),
        data.converted("unsplit where smaller, clusters of 25 MB", {**fields, **clusters}),
        data.converted("everything as streamer", {"streamer": ["all"]}),
    ]
    writers = [
        data.written("default", {}),
        data.written("not buffered", {"buffered": False}),
        data.written("clusters of 25 MB", clusters),
        data.written("not buffered, clusters of 25 MB", {"buffered": False, **clusters}),
    ]

    def table(rows: list[Row]) -> list[str]:
        return [
            *head(threads),
            *(r.cells(data.tree_bytes, data.uncompressed, threads) for r in rows),
        ]

    count, names = len(fields["field_options"]), {one["field"] for one in found["columns"]}
    return [
        "## Data like an AOD",
        "",
        f"{entries:,} events of seven products (`benchmarks/storage.cxx`): tracks, jets, "
        "candidates, vertices, trigger paths, a header, and numbers. The members are floats of "
        "full and of reduced precision, integers, strings, vectors and maps. ROOT wrote the TTree "
        f"of {data.tree_bytes / 1e6:.1f} MB with zstd (505), each product in a split branch. "
        f"Uncompressed, the RNTuple has {data.uncompressed / 1e6:.1f} MB.",
        "",
        "`nyssa convert`, with reading the TTree:",
        "",
        *table(rows),
        "",
        f"{count} of {len(names)} fields are smaller unsplit. `nyssa.recreate`, from arrays in "
        "memory, 2,000 entries for each `extend`:",
        "",
        *table(writers),
        "",
    ]


def leaves(path: str, names: Iterable[str] | None = None) -> dict[str, float]:
    """Return a sum over the values of fields or branches of numbers that uproot can read."""
    import awkward as ak
    import uproot

    data, found = uproot.open(path), {}
    for name in data.keys(recursive=False) if names is None else names:
        # uproot says in many ways that it cannot read something.
        try:
            array = data[name].array()
        except Exception:  # noqa: BLE001
            continue
        # Objects have members of their base classes in one format only, and are left out.
        if not ak.fields(array) and array.ndim > 0:
            values = ak.to_numpy(ak.flatten(array, axis=None))
            found[name] = float(values.astype("f8").sum()) if values.dtype.kind in "biuf" else 0.0
    return found


class ObjectFile:
    """The largest TTree of a file with objects, and its conversions."""

    def __init__(self, source: Path, folder: Path) -> None:
        self.source, self.output = source, folder / "out.root"
        trees = nyssa.open(source).keys(filter_classname="TTree")
        found = {name: nyssa.inspect(f"{source}:{name}") for name in trees}
        self.tree = max(found, key=lambda name: found[name].stored_bytes).partition(";")[0]
        self.bytes = max(one.stored_bytes for one in found.values())
        self.expected = leaves(f"{source}:{self.tree}")
        self.compared: set[str] = set()

    def convert(self, **options: Any) -> dict[str, int]:
        """Convert, compare the values, and return the bytes of each field."""
        given = {
            "carry": False,
            "verify": True,
            "skip_unsupported": True,
            "force": True,
            **ENCODING,
        }
        data = f"{self.source}:{self.tree}"
        report = nyssa.convert(data, self.output, name="T", **{**given, **options})
        found = leaves(f"{self.output}:T", self.expected)
        for name in found:
            check([self.expected[name]], [found[name]], self.output)
            self.compared.add(name)
        return sizes(report)

    def size(self, **options: Any) -> float:
        """Convert, and return the size as a ratio to that of the TTree."""
        self.convert(**options)
        report = nyssa.inspect(f"{self.output}:T")
        return (report.stored_bytes + report.metadata_bytes) / self.bytes

    def row(self) -> str:
        """Return the line of the table."""
        fields = unsplit_where_smaller(lambda given: self.convert(**given))
        found = [self.size(), self.size(streamer=["auto"]), self.size(**fields)]
        found += [self.size(encoding="auto"), self.size(streamer=["all"])]
        names = [self.source.name, self.tree, f"{self.bytes:,}"]
        cells = [*names, *(f"{one:.3f}" for one in found), str(len(self.compared))]
        return f"| {' | '.join(cells)} |"


def objects(files: list[str]) -> list[str]:
    """Return the lines of the page about files of the test data."""
    names = "file | tree | bytes of baskets | ROOT's encodings | streamer where smaller"
    names += " | unsplit where smaller | encoding auto | everything as streamer | compared"
    with tempfile.TemporaryDirectory() as folder:
        rows = [ObjectFile(DATA / "ttree" / name, Path(folder)).row() for name in files]
    return [
        "## Files with objects",
        "",
        "The largest TTree of files of the test data. Sizes are pages and metadata of the RNTuple, "
        "divided by the baskets of the TTree. nyssa compared all values (`verify`). *Compared* is "
        "the number of branches of numbers whose sum was also compared by uproot, where they are "
        "not streamer fields; objects are compared by nyssa alone.",
        "",
        f"| {names} |",
        "|---" * 9 + "|",
        *rows,
        "",
    ]


PAGE = """# How storage options change size, memory and speed

`make bench-storage` writes this page. The options are those that the field varied for its RNTuples:
streamer fields, unsplit columns, smaller clusters, and writing without buffering.

| row | options |
|---|---|
| ROOT's encodings | `--encoding default`; other rows of `convert` add their options to it |
| default | none; `nyssa.recreate` takes ROOT's encodings |
| streamer where smaller | `--streamer auto` |
| unsplit where smaller | `--field-options 'FIELD:column=unsplit'` for each smaller one |
| encoding auto | the default of `convert`: unsplit, narrower, other codecs, by samples |
| clusters of 25 MB | `--cluster-size 25MB` |
| not buffered | `nyssa.recreate(..., buffered=False)`: pages are written when they are full |
| everything as streamer | `--streamer all` |

- **Size** is that of the file, divided by that of the TTree.
- **Allocated** and **RSS** are the most memory during the job, above what the process had before.
  Allocations are counted in a run of their own. With ROOT's importer,
  they have the code that it loads.
- **MB/s** are uncompressed bytes of the RNTuple with ROOT's encodings by wall-clock time.

ROOT reads each file of the first table into objects of the classes, and the sum over all members of
each product is that of the TTree. For the second table, uproot does it.
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS)
    parser.add_argument("--no-objects", action="store_true", help="leave the test data out")
    parser.add_argument(
        "--build", type=Path, help="folder for files; the default is a temporary one"
    )
    parser.add_argument("--output", type=Path, default=HERE.parent / "docs" / "storage.md")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.build or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        load = os.getloadavg()[0]
        machine = f"Machine: {cpu_name()}, {os.cpu_count()} cores, {platform.system()}; "
        machine += f"nyssa {nyssa.__version__}, ROOT {root_version()}. "
        machine += f"The load was {load:.1f} at the start"
        busy = ", so other work took a part of the times." if load > 1 else "."
        lines = generated(folder, arguments.entries, arguments.threads)
    if not arguments.no_objects:
        lines += objects([name for name in OBJECTS if (DATA / "ttree" / name).exists()])
    arguments.output.write_text("\n".join([PAGE, machine + busy, "", *lines]))


if __name__ == "__main__":
    main()
