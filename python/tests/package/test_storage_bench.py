"""The benchmark of storage options converts objects, and finds values that differ."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from support.data import REPOSITORY

BENCHMARKS = REPOSITORY / "benchmarks"


@pytest.fixture
def storage(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import the benchmark."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    yield pytest.importorskip("storage")
    for name in ("storage", "table"):
        sys.modules.pop(name, None)


def test_a_file_with_objects(data: Path, tmp_path: Path, storage: Any) -> None:
    source = data / "ttree" / "uproot-HZZ-objects.root"
    cells = storage.ObjectFile(source, tmp_path).row().strip("| ").split(" | ")
    assert cells[:2] == ["uproot-HZZ-objects.root", "events"]
    default, streamer_auto, unsplit, encoding_auto, streamed = map(float, cells[3:8])
    assert unsplit <= default
    assert encoding_auto <= default < streamed < 1
    assert streamer_auto < streamed
    assert int(cells[8]) >= 10


def test_other_values_end_the_benchmark(tmp_path: Path, storage: Any) -> None:
    storage.check([1.0, 2.0], [1.0, 2.0 + 1e-13], tmp_path)
    for other in ([1.0], [1.0, 2.1]):
        with pytest.raises(SystemExit, match="has other values"):
            storage.check([1.0, 2.0], other, tmp_path)


def test_only_fields_that_stay_smaller_are_unsplit(storage: Any) -> None:
    def convert(options: dict[str, Any]) -> dict[str, int]:
        unsplit = options.get("field_options", {})
        if "*" in unsplit:
            return {"a": 9, "b": 9, "c": 11}
        # The field b is smaller only if all are unsplit.
        return {"a": 9 if "a" in unsplit else 10, "b": 12 if "b" in unsplit else 10, "c": 10}

    chosen = storage.unsplit_where_smaller(convert)
    assert chosen == {"field_options": {"a": {"column": "unsplit"}}}
