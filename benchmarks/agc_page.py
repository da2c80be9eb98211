"""Write the page of results of the ttbar analysis, docs/benchmarks-agc.md."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
from pathlib import Path

from table import cpu_name

#: Names of the kinds of files.
KINDS = {"ttree": "TTree", "rntuple": "RNTuple"}
#: The analysis in C++ on views.
IN_CPP = "nyssa in C++"
#: The goals: peer, the file that it reads, and how many times faster nyssa should be.
WANTED = [
    ("RDataFrame", "ttree", 1.0),
    ("RDataFrame", "rntuple", 1.0),
    ("coffea + uproot", "ttree", 3.0),
    ("coffea + nyssa", "ttree", None),
]
TEXT = """\
# The ttbar analysis, measured

`make bench-agc` writes this page; do not edit it. It runs the
[analysis of the AGC](../examples/agc/README.md) on {events:g} million events in {files} files of
nine samples: {ttree:.0f} MB as TTree, {rntuple:.0f} MB as RNTuple (zstd). The events are resampled
or toys, not physics. All jobs fill the same 124 histograms within 10⁻¹², which is checked in each
run.

Times are medians of {rounds} in seconds. They begin when the workers are there; files are opened
after that. CPU times are sums over all processes. Machine: {machine}.
{note}

## Beside its peers

RDataFrame runs in compiled C++ ([rdataframe.cxx](../examples/agc/rdataframe.cxx)), for the second
time in its process: compiling and the first look at classes are not counted. coffea runs a
processor in its own style ([with_coffea.py](../examples/agc/with_coffea.py)). It starts several
workers, which are processes, in the measured time. Ratios are the time of the peer divided by that
of nyssa.

| peer | file | workers | nyssa, time | peer, time | ratio | nyssa, CPU | peer, CPU | ratio | \
wanted |
|---|---|---|---|---|---|---|---|---|---|
{peers}

## In C++

nyssa's program ([agc.cpp](../examples/cpp/readers/agc.cpp)) computes on views of the columns. Its
threads take files, and it runs once.

| file | workers | nyssa in C++, time | RDataFrame, time | ratio | nyssa in C++, CPU | RDataFrame, \
CPU | ratio |
|---|---|---|---|---|---|---|---|
{in_cpp}

## Ways to run

Servers are behind a link: {link}.
Its round trip is {round_trip:g} ms and its bandwidth
{bandwidth:g} Gbit/s. HTTP is `nyssa serve`. *Reading* is the sum of the times in which workers
read; they compute in the rest. *MB read* came from disk or servers, not from the cache.

| files are at | file | executor | workers | time | Mevents/s | CPU | reading | MB read | MB from \
cache | requests |
|---|---|---|---|---|---|---|---|---|---|---|
{ways}

## What bounds it

{bounds}
- coffea takes about as long with either reader: its time goes into making events and into
  operations on awkward arrays, so its ratios above are of analyses, not of readers.
- Each process opens the files that it reads, and Dask's messages take CPU time. This shows in runs
  of seconds.
- Behind a link, each file is opened twice, to find its clusters and to read, with a few round trips
  each time.
"""
BOUND = """\
- {name} on disk, one thread: {part:.0%} of the time is reading, with waits. The rest is NumPy:
  masks of leptons and jets, and combinations of three jets."""


def page(results: dict, arguments: argparse.Namespace, folder: Path, link: str) -> str:
    """Return the text of the page."""
    median = {way: _medians(rounds) for way, rounds in results.items()}
    samples = json.loads((folder / "ttree.json").read_text())
    files = [file for one in samples.values() for kind in one.values() for file in kind["files"]]
    events = sum(file["nevts"] for file in files) / 1e6
    rounds = max(map(len, results.values()))
    cores, system = os.cpu_count(), f"{platform.system()} {platform.machine()}"
    return TEXT.format(
        events=events,
        files=len(files),
        **{kind: _size(folder / kind) / 1e6 for kind in KINDS},
        rounds=f"{rounds} round{'s' if rounds > 1 else ''}",
        machine=f"{cpu_name()}, {cores} cores, {system}",
        note=arguments.note,
        link=link,
        round_trip=arguments.round_trip,
        bandwidth=arguments.bandwidth,
        peers="\n".join(_peers(median)),
        in_cpp="\n".join(_in_cpp(median)),
        ways="\n".join(_ways(median, events)),
        bounds="\n".join(_bounds(median)),
    )


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir())


def _medians(rounds: list[dict]) -> dict[str, float]:
    return {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}


def _peers(median: dict) -> list[str]:
    rows = []
    for peer, kind, wanted in WANTED:
        for (who, file, _, _, workers), theirs in median.items():
            if (who, file) != (peer, kind):
                continue
            ours = median["nyssa", kind, "disk", "threads", workers]
            wish = f"≥ {wanted:g} ×" if wanted else ""
            times = _times(ours, theirs)
            rows.append(f"| {peer} | {KINDS[kind]} | {workers} | {times} | {wish} |")
    return rows


def _in_cpp(median: dict) -> list[str]:
    rows = []
    for (who, kind, *where, workers), ours in median.items():
        theirs = median.get(("RDataFrame", kind, *where, workers))
        if who == IN_CPP and theirs:
            rows.append(f"| {KINDS[kind]} | {workers} | {_times(ours, theirs)} |")
    return rows


def _times(ours: dict, theirs: dict) -> str:
    """Return the cells of the times of two ways, and their ratios."""
    pairs = [(ours[key], theirs[key]) for key in ("seconds", "cpu")]
    return " | ".join(f"{our:.2f} | {their:.2f} | {their / our:.2f} ×" for our, their in pairs)


def _ways(median: dict, events: float) -> list[str]:
    rows = []
    for (who, kind, where, executor, workers), one in median.items():
        if who != "nyssa":
            continue
        cells = [where, KINDS[kind], executor, workers]
        cells += [f"{one['seconds']:.2f}", f"{events / one['seconds']:.2f}"]
        cells += [f"{one[key]:.2f}" for key in ("cpu", "reading")]
        cells += [f"{one[key] / 1e6:.1f}" for key in ("bytes", "cached_bytes")]
        rows.append(f"| {' | '.join(map(str, [*cells, round(one['requests'])]))} |")
    return rows


def _bounds(median: dict) -> list[str]:
    rows = []
    for kind, name in KINDS.items():
        one = median["nyssa", kind, "disk", "threads", 1]
        rows.append(BOUND.format(name=name, part=one["reading"] / one["seconds"]))
    return rows
