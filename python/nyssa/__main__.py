"""``python -m nyssa``: the command line."""

import sys

from nyssa._cli import main

sys.exit(main())
