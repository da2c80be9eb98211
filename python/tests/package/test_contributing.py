"""The paths that CONTRIBUTING.md names exist."""

from __future__ import annotations

import re

from support.data import REPOSITORY

ROOTS = ["", "crates/nyssa/src", "crates/nyssa-io/src"]
#: What tests and builds make, and the folder of test data.
MADE = {"../shared/data"}


def test_paths_exist() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    quoted = set(re.findall(r"`([\w./-]+)`", text))
    paths = {one for one in quoted if "/" in one or one.endswith((".rs", ".py", ".md"))} - MADE
    assert len(paths) > 20
    missing = [p for p in sorted(paths) if not any((REPOSITORY / r / p).exists() for r in ROOTS)]
    assert missing == []
