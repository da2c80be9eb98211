"""Runs the command line."""

from __future__ import annotations

import itertools
import signal
import sys
import threading

from nyssa import _core

#: The options of all commands that a campaign has, too.
_FLAGS = ("--json", "-q", "--quiet")


def main() -> int:
    """Run the command line with `sys.argv`, and return the exit code.

    The system and the command handle Ctrl-C. While a command runs, no Python code runs that could
    turn it into a `KeyboardInterrupt`. Only ``nyssa campaign`` is written in Python.
    """
    flags = list(itertools.takewhile(_FLAGS.__contains__, sys.argv[1:]))
    command, arguments = sys.argv[len(flags) + 1 :][:1], sys.argv[len(flags) + 2 :]
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    if command == ["campaign"]:
        # This takes long enough to be interrupted.
        from nyssa.campaign.cli import main as campaign

        if is_main:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return campaign([*arguments[:1], *flags, *arguments[1:]])
    return _core.run_cli(["nyssa", *sys.argv[1:]])
