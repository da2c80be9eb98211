"""Runs the command line, for ``python -m nyssa``."""

import sys

from nyssa._cli import main

sys.exit(main())
