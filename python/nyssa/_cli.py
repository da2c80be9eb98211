"""Runs the command line."""

from __future__ import annotations

import itertools
import signal
import sys
import threading

from nyssa import _core

#: The commands that are written in Python.
_IN_PYTHON = ("campaign", "draw", "study")
#: The options of all commands that these have, too.
_FLAGS = ("--json", "-q", "--quiet")


def main() -> int:
    """Run the command line with `sys.argv`, and return the exit code.

    The system and the command handle Ctrl-C. While a command runs, no Python code runs that could
    turn it into a `KeyboardInterrupt`. Only few commands are written in Python.
    """
    flags = list(itertools.takewhile(_FLAGS.__contains__, sys.argv[1:]))
    command, arguments = sys.argv[len(flags) + 1 :][:1], sys.argv[len(flags) + 2 :]
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if command and command[0] in _IN_PYTHON:
        # This takes long enough to be interrupted.
        if is_main:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return _run(command[0], flags, arguments)
    return _core.run_cli(["nyssa", *sys.argv[1:]])


def _run(command: str, flags: list[str], arguments: list[str]) -> int:
    """Run a command that is written in Python."""
    if command == "draw":
        from nyssa.plotting.cli import main as draw

        return draw([*arguments, *flags])
    if command == "study":
        from nyssa.studies.cli import main as study

        return study([*arguments, *flags])
    from nyssa.campaign.cli import main as campaign

    return campaign([*arguments[:1], *flags, *arguments[1:]])
