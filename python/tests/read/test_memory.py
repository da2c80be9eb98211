"""Memory of arrays that were deleted goes to the next read, and back to the system."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import nyssa

ENTRIES = 4_000_000

_PROGRAM = """
    import os, sys, time
    from pathlib import Path
    import numpy as np
    import nyssa

    def resident():
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    events = nyssa.open(sys.argv[1] + ":Events")
    threads = {"threads": 1, "library": "np"}
    size = 8 * events.num_entries
    events.arrays(["late"], entry_stop=10, **threads)
    before = resident()

    def kept():
        return (resident() - before) / size

    array = events.arrays(["x"], **threads)["x"]
    assert 0.9 < kept() < 1.5, kept()
    del array
    assert kept() > 0.9, "the memory of the array was not kept"
    # The zeros of a late field take the memory of the numbers.
    late = events.arrays(["late"], **threads)["late"]
    assert kept() < 1.5, kept()
    assert not late.any()
    del late
    if sys.argv[2] == "wait":
        end = time.monotonic() + 60
        while kept() > 0.5 and time.monotonic() < end:
            time.sleep(0.05)
    else:
        nyssa.release_memory()
    assert kept() < 0.5, kept()
    array = events.arrays(["x"], **threads)["x"]
    assert array[0] == 1 and (array == array[0]).all()
"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with a field of ones, and one that its entries lack."""
    path = tmp_path_factory.mktemp("memory") / "events.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", {"x": "double"})
        events.extend({"x": np.ones(ENTRIES)})
        events.add_fields({"late": "double"})
        events.extend({"x": [1.0], "late": [0.0]})
    return path


@pytest.mark.skipif(platform.system() != "Linux", reason="only Linux shows the memory in /proc")
@pytest.mark.parametrize("how", ["wait", "release"])
def test_memory_of_deleted_arrays_goes_to_the_next_read_and_back(path: Path, how: str) -> None:
    """It is no more than before, zero where a field has no values, and back after a while."""
    command = [sys.executable, "-c", textwrap.dedent(_PROGRAM), str(path), how]
    subprocess.run(command, check=True, timeout=300, env=dict(os.environ))
