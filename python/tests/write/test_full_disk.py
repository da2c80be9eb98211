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

random = np.random.default_rng(1)

def data():
    return {"x": random.normal(size=100_000)}

def fill(file):
    writer = (file.mkrntuple if kind == "RNTuple" else file.mktree)("t", {"x": "float64"})
    contexts = [writer.fill_context() for _ in range(2)] if way == "contexts" else []
    # Other threads write, so that the error comes at some later call.
    after = 3
    while after:
        after -= bool(errors)
        for one in contexts or [writer]:
            attempt(lambda: one.extend(data()))
    for one in contexts or [writer] * (kind == "TTree"):
        attempt(one.flush)
    for context in contexts:
        attempt(context.close)
    return writer

def all_in_a_block():
    with nyssa.recreate(path, fill_contexts=2, cluster_size="500 kB") as file:
        fill(file)

if way == "block":
    attempt(all_in_a_block)
else:
    file = nyssa.recreate(path, fill_contexts=2, cluster_size="500 kB")
    writer = fill(file)
    attempt(file.close)
    closed = len(errors)
    attempt(lambda: writer.extend(data()))
    number, message = errors.pop()[1:]
    assert len(errors) == closed and number is None, errors
    assert message.startswith(f"{path} is closed, and was not written: "), message
    assert "File too large" in message, message
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
    # A fill context may hear of the error of another one before that one does.
    assert way == "contexts" or "cannot be completed" not in first
    for message in later:
        count = message.count("cannot be completed: ")
        assert count == 1 or (way == "contexts" and count == 0), message
    assert list(tmp_path.iterdir()) == []
