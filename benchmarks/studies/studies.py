"""`make bench-studies`: four studies of storage of the field, by `nyssa study` beside ROOT.

ROOT makes the data: like an AOD (`storage.cxx`) and like PHYS (`atlas_data.cxx`). Each page of
docs/studies has the commands that made its tables. Where a study is about filling from memory,
filling.py writes the files. Sentences below a table are made from its numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import filling  # noqa: E402
from pages import PAGES, Page, Part  # noqa: E402
from rows import Rows  # noqa: E402

import nyssa  # noqa: E402
from table import root_version  # noqa: E402

#: What the data are.
_DATA = (
    "like an AOD or MiniAOD (seven products of classes, `benchmarks/storage.cxx`)",
    "like PHYS (eight containers, `benchmarks/atlas_data.cxx`)",
)
#: Lets ROOT find the library of the classes.
ROOTMAP = """[ filling_cxx.so ]
class AodTrack
class AodJet
class AodCandidate
class AodVertex
class AodTrigger
class AodHeader
class vector<AodTrack>
class vector<AodJet>
class vector<AodCandidate>
class vector<AodVertex>
class vector<AodTrigger>
class vector<vector<unsigned int> >
class map<string,float>
"""


class Studies:
    """Makes data and pages in a folder."""

    def __init__(self, folder: Path, rounds: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.rounds = folder.resolve(), rounds
        # Where ROOT finds the dictionaries of the classes.
        self.environment = {**os.environ, "ROOT_LIBRARY_PATH": str(self.folder)}

    def make(self, entries: Mapping[str, int]) -> None:
        """Let ROOT write the data that are missing."""
        (self.folder / "filling_cxx.rootmap").write_text(ROOTMAP)
        for name, count in entries.items():
            self._say(name)
            self._python("-W", "ignore", __file__, "--make", name, str(count))

    def _say(self, what: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {what}", file=sys.stderr, flush=True)

    def _python(self, *words: str, request: str = "") -> str:
        done = subprocess.run(
            [sys.executable, *words],
            cwd=self.folder,
            env=self.environment,
            input=request,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        # A study in which a trial failed has a table, too.
        if done.returncode not in (0, 1) or (done.returncode and not done.stdout):
            sys.exit(f"{shlex.join(words)} ended with exit code {done.returncode}")
        return done.stdout

    def rows(self, part: Part) -> Rows:
        """Measure the rows of a table."""
        if part.cases:
            return Rows([self._filled(case) for case in part.cases])
        self._say(shlex.join(part.command))
        rounds = ("--repeats", str(self.rounds), "--json", "--quiet")
        found = json.loads(self._python("-m", "nyssa", "study", *part.command, *rounds))
        for row in found["rows"]:
            if row["error"]:
                sys.exit(f"{row['options']}, {row['writer']}: {row['error']}")
        return Rows(found["rows"])

    def _filled(self, case: filling.Case) -> dict[str, Any]:
        """Write a file from memory, read it, and return the row of the table."""
        self._say(str(case))
        output = self.folder / "filled.root"
        request = json.dumps(case._asdict())
        words = ("-W", "ignore", filling.__file__, "aod.root", output.name, request)
        runs = []
        for _ in range(self.rounds):
            wrote = json.loads(self._python(*words).splitlines()[-1])
            read = self._read(f"{output}:{filling.TREE}")
            runs.append(
                {
                    "write_seconds": wrote["seconds"],
                    "write_cpu_seconds": wrote["cpu"],
                    "write_memory_above": wrote["rss"],
                    "read_seconds": read["seconds"],
                }
            )
        row = {
            "writer": case.writer,
            "options": options_of(case),
            "threads": case.threads,
            "rounds": self.rounds,
            "bytes": output.stat().st_size,
            "measured": {name: spread([one[name] for one in runs]) for name in runs[0]},
        }
        output.unlink()
        return row

    def _read(self, output: str) -> dict[str, float]:
        """Read a file by nyssa as studies do."""
        request = {"what": "read", "output": output, "columns": [], "threads": 1}
        said = self._python("-m", "nyssa.studies.measure", request=json.dumps(request))
        found: dict[str, Any] = json.loads(said.splitlines()[-1])
        if "error" in found:
            sys.exit(f"{output}: {found['error']}")
        return found

    def page(self, page: Page, conditions: str) -> str:
        """Return the text of a page."""
        lines = [
            f"# {page.title}",
            "",
            "`make bench-studies` writes this page; do not edit it.",
            "",
            page.asked,
            "",
            conditions,
        ]
        for part in page.parts:
            rows = self.rows(part)
            lines += ["", f"## {part.title}", "", *self._how(part), "", *rows.table(), ""]
            lines += [" ".join(part.says(rows))]
        return "\n".join(lines) + "\n"

    def _how(self, part: Part) -> list[str]:
        if part.cases:
            return [
                "Written by `benchmarks/studies/filling.py` from objects in memory, with zstd:5, "
                "and read by nyssa with one thread."
            ]
        words = shlex.join(["nyssa", "study", *part.command, "--repeats", str(self.rounds)])
        return ["```sh", words, "```"]


def options_of(case: filling.Case) -> dict[str, str]:
    """Return what varies, as text."""
    flush = f"{case.flush // 1_000_000} MB"
    if case.format == "TTree":
        return {"flush": flush, "basket": f"{case.basket // 1000} kB"}
    return {"storage": case.storage + ("" if case.buffered else ", not buffered")}


def spread(values: list[float]) -> dict[str, float]:
    """Return the median, the least and the most."""
    ordered = sorted(values)
    middle = (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2
    return {"median": middle, "least": ordered[0], "most": ordered[-1]}


def make(name: str, entries: int) -> None:
    """Write one file of data by ROOT in the working folder."""
    if name == "aod.root":
        filling.library(".").storage_make(name, entries, 505)
    else:
        filling.library(".", HERE.parent / "atlas_data.cxx").atlas_make(name, entries, 505)


def about(studies: Studies, entries: Mapping[str, int]) -> str:
    """Return how the numbers of all pages were measured."""
    sizes = {name: (studies.folder / name).stat().st_size / 1e6 for name in entries}
    load = os.getloadavg()[0]
    # The data were made just before, with one core.
    busy = ", so other work took a part of the times" if load > 1.5 else ""
    rounds = "One round" if studies.rounds == 1 else f"Medians of {studies.rounds} rounds"
    data = [
        f"`{name}` has {count:,} events {what} and {sizes[name]:.0f} MB"
        for (name, count), what in zip(entries.items(), _DATA, strict=True)
    ]
    return (
        f"Data: {'; '.join(data)}. Both are TTrees that ROOT wrote with zstd:5; a "
        "rewrite with nothing but this compression moves their baskets as they are. "
        "[Studies](../study.md) says what is measured. Memory is what the process took above what "
        "it had before the job. nyssa reads the files of both writers; the columns are those of "
        "an analysis, also over the link. ROOT finds the dictionaries of the classes by "
        f"`ROOT_LIBRARY_PATH`.\n\n{rounds}. Machine: {os.cpu_count()} cores, "
        f"{platform.system()}; nyssa {nyssa.__version__}, ROOT {root_version()}. The load was "
        f"{load:.1f} at the start{busy}."
    )


def main() -> None:
    """Run the studies."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--aod-entries", type=int, default=6_000)
    parser.add_argument("--phys-entries", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pages", nargs="+", default=[one.name for one in PAGES])
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build" / "studies")
    parser.add_argument("--output", type=Path, default=HERE.parents[1] / "docs" / "studies")
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.make:
        make(given.make[0], int(given.make[1]))
        return
    studies = Studies(given.build, given.rounds)
    entries = {"aod.root": given.aod_entries, "phys.root": given.phys_entries}
    studies.make(entries)
    conditions = about(studies, entries)
    given.output.mkdir(parents=True, exist_ok=True)
    for page in PAGES:
        if page.name in given.pages:
            (given.output / f"{page.name}.md").write_text(studies.page(page, conditions))


if __name__ == "__main__":
    main()
