"""Runs the command line."""

from __future__ import annotations

import signal
import sys
import threading

from nyssa import _core


def main() -> int:
    """Run the command line with `sys.argv`, and return the exit code.

    The system and the command handle Ctrl-C. While a command runs, no Python code runs that could
    turn it into a `KeyboardInterrupt`. Only ``nyssa campaign`` is written in Python.
    """
    if sys.argv[1:2] == ["campaign"]:
        from nyssa.campaign.cli import main as campaign

        return campaign(sys.argv[2:])
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _core.run_cli(["nyssa", *sys.argv[1:]])
