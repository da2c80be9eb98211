"""The number of files that this process has open."""

from __future__ import annotations

import os
from pathlib import Path


def descriptors(folder: Path) -> list[str]:
    """Return the files in a folder that this process has open."""
    found = []
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if target.startswith(str(folder)):
            found.append(Path(target).name)
    return sorted(found)
