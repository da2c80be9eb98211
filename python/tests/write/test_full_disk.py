"""After an error of the disk, every later call says why the data cannot be completed."""

from __future__ import annotations

import errno
import json
import subprocess
import sys
from pathlib import Path

import pytest

_WRITE = """
import json, resource, signal, sys
import numpy as np
import nyssa
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))
path, kind, way = sys.argv[1:]
errors = []

def attempt(call):
    try:
        call()
    except Exception as error:
        errors.append([isinstance(error, OSError), getattr(error, "errno", None), str(error)])

data = {"x": np.random.default_rng(1).normal(size=100_000)}

def fill(file):
    writer = (file.mkrntuple if kind == "RNTuple" else file.mktree)("t", {"x": "float64"})
    if way == "contexts":
        contexts = [writer.fill_context() for _ in range(2)]
        for _ in range(60):
            for context in contexts:
                attempt(lambda: context.extend(data))
                attempt(context.flush)
        for context in contexts:
            attempt(context.close)
        return
    for _ in range(60):
        attempt(lambda: writer.extend(data))
        attempt(writer.flush) if kind == "TTree" else None

def all_in_a_block():
    with nyssa.recreate(path, fill_contexts=2) as file:
        fill(file)

if way == "block":
    attempt(all_in_a_block)
else:
    file = nyssa.recreate(path, fill_contexts=2)
    fill(file)
    attempt(file.close)
print(json.dumps(errors))
"""


@pytest.mark.parametrize("way", ["extend", "contexts", "block"])
@pytest.mark.parametrize("kind", ["RNTuple", "TTree"])
def test_all_errors_have_the_reason(kind: str, way: str, tmp_path: Path) -> None:
    """The first error has the reason, and so have the errors of all calls after it."""
    path = tmp_path / "full.root"
    command = [sys.executable, "-c", _WRITE, str(path), kind, way]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    errors = json.loads(done.stdout)
    assert len(errors) >= 3
    for is_of_system, number, message in errors:
        assert (is_of_system, number) == (True, errno.EFBIG), message
        assert "File too large" in message
        assert str(path) in message
    first, *later = [message for *_, message in errors]
    assert "cannot be completed" not in first
    for message in later:
        assert message.count("cannot be completed: ") == 1, message
    assert list(tmp_path.iterdir()) == []
