"""Long jobs of the core that report as JSON: `convert`, `merge`, `rewrite`."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

Progress = Callable[[int, int], object]


def run(job: Callable[[Progress | None], str], progress: Progress | bool, done: str) -> Any:
    """Run `job` with a function for progress, and return its report.

    `progress` is `True` for a line on stderr, which says how much is `done` ("converted").
    """
    if progress is not True:
        return json.loads(job(progress or None))

    def line(now: int, total: int) -> None:
        sys.stderr.write(f"\r{done} {100 * now / max(total, 1):5.1f} %")
        sys.stderr.flush()

    text = job(line)
    sys.stderr.write("\n")
    return json.loads(text)
