"""Holds what the commands share that are written in Python: their parser, errors and JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from nyssa import _core
from nyssa.arguments.sizes import bytes_of
from nyssa.campaign.failure import INTERRUPTED, document, exit_code
from nyssa.errors import ArgumentError, NyssaError

__all__ = ["Parser", "number", "numbers", "print_json", "print_report", "run_command", "size"]

#: The version of the JSON documents of all commands.
VERSION = 1


class Shown(Protocol):
    """A report, which has a text for people."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""


class _Refused(argparse.Action):
    """A flag that a command does not have."""

    def __call__(self, *arguments: object, **_: object) -> NoReturn:
        raise ArgumentError(f"{arguments[-1]} is not needed: {self.const}")


class Parser(argparse.ArgumentParser):
    """A parser that reports errors as the other commands do, and takes no shortened options."""

    # What argparse takes: `Any`.
    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **options})

    # The overloads of argparse differ only in the type of the namespace: `Any`.
    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments, and fail for unknown ones here, where the job of a command is known."""
        parsed, unknown = super().parse_known_args(args, namespace)
        if unknown:
            _, similar = _core.did_you_mean(
                unknown[0].partition("=")[0], list(self._option_string_actions)
            )
            self.error(f"unrecognized arguments: {' '.join(unknown)}", similar)
        return parsed, unknown

    def refuse(self, reasons: Mapping[str, str]) -> None:
        """Refuse flags that other commands have, and say why this one does not need them."""
        for flag, reason in reasons.items():
            self.add_argument(
                flag, action=_Refused, nargs="?", const=reason, help=argparse.SUPPRESS
            )

    def error(self, message: str, hint: str = "") -> NoReturn:
        """Fail as the other commands do."""
        raise ArgumentError(f"{message}; `{self.prog} --help` lists the arguments{hint}")


def run_command(
    parser: Parser, run: Callable[[argparse.Namespace], int], arguments: Sequence[str]
) -> int:
    """Run a command with its arguments, and return the exit code."""
    try:
        return run(parser.parse_args(arguments))
    except KeyboardInterrupt:
        print("stopped; run the same command again to continue", file=sys.stderr)
        return INTERRUPTED
    except (NyssaError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        if "--json" in arguments:
            print_json(document(error))
        return exit_code(error)


def print_json(content: dict[str, Any]) -> None:
    """Print a JSON document."""
    print(json.dumps({"version": VERSION, **content}))


def print_report(report: Shown, *, as_json: bool) -> None:
    """Print a report for people, or as a JSON document."""
    if as_json:
        print_json(report.to_dict())
    else:
        print(report)


def size(text: str) -> int:
    """Parse a size in bytes."""
    try:
        return bytes_of(text, "size")
    except NyssaError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def number(text: str) -> int:
    """Parse a positive number."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive number")
    return int(text)


def numbers(text: str) -> list[int]:
    """Parse positive numbers between commas."""
    return [number(item) for item in text.split(",")]
