"""Defines the command ``nyssa draw``."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from nyssa.campaign.command import Parser, number, run_command
from nyssa.campaign.failure import FINE
from nyssa.errors import ArgumentError
from nyssa.plotting.draw import draw
from nyssa.plotting.drawing import check_image

__all__ = ["main"]


def main(arguments: Sequence[str]) -> int:
    """Run ``nyssa draw`` with its arguments, and return the exit code."""
    # argparse takes a range that begins with a minus for an option.
    text = "\0".join(arguments).replace("--range\0-", "--range=-")
    return run_command(_parser(), _run, text.split("\0") if text else [])


def _run(options: argparse.Namespace) -> int:
    *data, expression = options.data
    if not data:
        raise ArgumentError(
            "name the data and then the expression: nyssa draw run3.root:Events Jet_pt"
        )
    if options.output is not None:
        check_image(options.output)
    drawing = draw(
        data,
        expression,
        bins=options.bins,
        range=options.range,
        cut=options.cut,
        weight=options.weight,
        threads=options.threads,
        progress=not options.quiet and sys.stderr.isatty(),
    )
    if options.output is not None:
        drawing.save(options.output)
    if options.json:
        print(json.dumps({"version": 1, **drawing.to_dict()}))
    elif options.output is None or not options.quiet:
        print(drawing.text(ascii_only=not _has_blocks(sys.stdout.encoding)))
    return FINE


def _has_blocks(encoding: str | None) -> bool:
    """Return whether a terminal of this encoding has block characters."""
    try:
        "▁█┤─┼░".encode(encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _range(text: str) -> tuple[float, float]:
    low, _, high = text.partition(":")
    try:
        return float(low), float(high)
    except ValueError:
        message = f"{text!r} is not a range: write A:B, such as 0:200"
        raise argparse.ArgumentTypeError(message) from None


def _parser() -> Parser:
    parser = Parser(
        prog="nyssa draw",
        description="Draw a histogram of an expression, for a first look: entries, mean, standard "
        "deviation, and a picture of block characters. Booleans and texts are drawn as categories, "
        "'y:x' in two dimensions. Items of lists count one by one. The range has all finite "
        "values; finding it takes a pass over the data, which --range saves.",
        epilog="Example: nyssa draw 'run*.root:Events' 'Jet_pt[abs(Jet_eta) < 2.4]' "
        "--cut 'nMuon >= 2' --output jets.png. The options of every command, such as --cache and "
        "--io-stats, are in `nyssa ls --help`.",
    )
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="+",
        help="FILE or FILE:PATH, also globs, folders and @LIST, and then the EXPRESSION",
    )
    parser.add_argument(
        "--bins", type=number, metavar="N", help="number of bins [default: at most about 60]"
    )
    parser.add_argument("--range", type=_range, metavar="A:B", help="ends of the axis")
    parser.add_argument("--cut", metavar="EXPRESSION", help="draw only entries that pass")
    parser.add_argument("--weight", metavar="EXPRESSION", help="weight of each entry or item")
    parser.add_argument(
        "-o",
        "--output",
        "--png",
        type=Path,
        metavar="FILE",
        help="write the picture, too: .svg, or .png and .pdf by matplotlib",
    )
    parser.add_argument("--threads", type=number, metavar="N", help="threads [default: all cores]")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("-q", "--quiet", action="store_true", help="show no progress")
    return parser
