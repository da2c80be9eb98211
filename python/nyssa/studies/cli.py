"""Defines the command ``nyssa study``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nyssa.campaign.command import Parser, number, numbers, print_report, run_command, size
from nyssa.campaign.failure import FINE, PROBLEM
from nyssa.campaign.job_flags import texts_of, value_of
from nyssa.errors import ArgumentError
from nyssa.studies.grid import check_name
from nyssa.studies.plot import check_image
from nyssa.studies.study import study
from nyssa.studies.subject import FORMATS, Subject

__all__ = ["main"]

#: The text of a value that leaves an option out.
UNSET = "unset"
_UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0}


def main(arguments: Sequence[str]) -> int:
    """Run ``nyssa study`` with its arguments, and return the exit code."""
    return run_command(_parser(), _run, arguments)


def _run(options: argparse.Namespace) -> int:
    # Files that cannot be made are refused before the study.
    if options.plot is not None:
        check_image(options.plot)
    for path in (options.plot, options.csv):
        if path is not None and not path.absolute().parent.is_dir():
            raise ArgumentError(f"there is no folder {path.absolute().parent} for {path.name}")
    columns = [glob for column in options.columns for glob in column.split(",")]
    subject = Subject.of(options.data, options.to, columns)
    report = study(
        options.data,
        vary=_values(subject, options.vary),
        to=options.to,
        columns=columns,
        threads=options.threads,
        repeats=options.repeats,
        link_latency=options.link_latency,
        link_bandwidth=options.link_bandwidth,
        cold=options.cold,
        beside_root=options.beside == "root",
        folder=options.folder,
        progress=not options.quiet,
    )
    if options.csv is not None:
        report.write_csv(options.csv)
    if options.plot is not None:
        report.plot(options.plot)
    print_report(report, as_json=options.json)
    return PROBLEM if report.failed else FINE


def _values(subject: Subject, given: Sequence[str]) -> dict[str, list[Any]]:
    """Return the values of each option that varies."""
    varied: dict[str, list[Any]] = {}
    for text in given:
        name, sign, values = text.partition("=")
        name = name.replace("-", "_")
        if not sign or not name:
            raise ArgumentError(f"--vary {text}: write NAME=VALUE,VALUE,...")
        if name in varied:
            raise ArgumentError(f"--vary {text}: {name} varies already; name all its values once")
        check_name(subject, name)
        varied[name] = [_value(subject.kinds[name], item, text) for item in texts_of(values)]
    return varied


def _value(kind: str, text: str, given: str) -> Any:
    if not text:
        raise ArgumentError(f"--vary {given}: a value is empty; {UNSET!r} leaves an option out")
    if "Iterable" in kind and "," in text:
        return text.split(",")
    try:
        return None if text == UNSET else value_of(kind, text)
    except argparse.ArgumentTypeError as error:
        raise ArgumentError(f"--vary {given}: {error}") from None


def _time(text: str) -> float:
    """Return the seconds of a time such as ``50ms``."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?)\s*(us|ms|s)\s*", text)
    if match is None:
        message = f"{text!r} is not a time: write a number with a unit, such as 50ms, 0.2s or 200us"
        raise argparse.ArgumentTypeError(message)
    return float(match[1]) * _UNITS[match[2]]


def _parser() -> Parser:
    parser = Parser(
        prog="nyssa study",
        description="Write a TTree or an RNTuple with every combination of some options, and "
        "measure each: size, times and memory to write and to read, compared with the input. A "
        "study with a --folder that is run again measures only what is missing.",
        epilog="Example: nyssa study run3.root:Events --vary compression=zstd:5,lzma:4 --vary "
        "page-size=64KiB,1MiB --columns 'Muon_*' --plot study.png",
    )
    parser.add_argument("data", metavar="DATA", help="FILE or FILE:PATH")
    parser.add_argument(
        "--vary",
        action="append",
        required=True,
        metavar="NAME=VALUE,...",
        help="an option of `nyssa convert` (to the other format) or `nyssa rewrite` (to the same), "
        f"and its values; {UNSET!r} leaves it out; may be repeated",
    )
    parser.add_argument(
        "--to", choices=FORMATS, default="rntuple", help="format of the outputs [default: rntuple]"
    )
    parser.add_argument(
        "--columns",
        action="append",
        default=[],
        metavar="GLOB,...",
        help="also measure reading only these columns, such as the columns of an analysis",
    )
    parser.add_argument(
        "--threads",
        type=numbers,
        default=[1],
        metavar="N,...",
        help="numbers of threads; each is measured [default: 1]",
    )
    parser.add_argument(
        "--repeats", type=number, default=3, metavar="N", help="number of rounds [default: 3]"
    )
    parser.add_argument(
        "--link-latency",
        type=_time,
        metavar="TIME",
        help="also measure reading over a simulated link with this round-trip time, such as 50ms",
    )
    parser.add_argument(
        "--link-bandwidth",
        type=size,
        metavar="SIZE",
        help="bytes per second of this link [default: 125MB]",
    )
    parser.add_argument(
        "--cold", action="store_true", help="ask the system to forget files before they are read"
    )
    parser.add_argument("--beside", choices=["root"], help="write each output by ROOT, too")
    parser.add_argument(
        "--folder",
        type=Path,
        metavar="DIR",
        help="folder of the outputs and of the journal, by which a study continues",
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the table as CSV, too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the table, by matplotlib")
    parser.refuse(
        dict.fromkeys(
            ("--cache", "--io-stats", "--monitor", "--record"),
            "a study measures each trial in a process of its own, without a cache",
        )
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    return parser
