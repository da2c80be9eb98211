"""The command line."""

from __future__ import annotations

import sys

from nyssa import _core


def main() -> int:
    """Run the command line with `sys.argv`; return the exit code."""
    return _core.run_cli(["nyssa", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
