"""Runs the command line."""

from __future__ import annotations

import itertools
import signal
import sys
import threading
from collections.abc import Callable

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
    options, words = _core.divide_options(sys.argv[1:])
    flags = list(itertools.takewhile(_FLAGS.__contains__, words))
    command, arguments = words[len(flags) :][:1], words[len(flags) + 1 :]
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if command and command[0] in _IN_PYTHON:
        # This takes long enough to be interrupted.
        if is_main:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        if command[0] != "draw":
            # Their work is in processes of their own.
            return _run(command[0], flags, [*arguments, *options])
        return _around(options, lambda: _run(command[0], flags, arguments))
    return _core.run_cli(["nyssa", *sys.argv[1:]])


def _around(options: list[str], run: Callable[[], int]) -> int:
    """Run a command with the options of every command, such as ``--cache`` and ``--io-stats``."""
    around = _core.CommandOptions()
    failure = around.start(options)
    if failure is None:
        try:
            code = run()
        finally:
            failure = around.finish()
    if failure is None:
        return code
    message, code = failure
    sys.stderr.write(message)
    return code


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
