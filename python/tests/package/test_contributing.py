"""The paths that CONTRIBUTING.md names exist."""

from __future__ import annotations

import re

from support.data import REPOSITORY

#: What tests and builds make, and the folder of test data.
MADE = {"../shared/data"}


def test_paths_exist() -> None:
    text = (REPOSITORY / "CONTRIBUTING.md").read_text()
    quoted = set(re.findall(r"`([\w./-]+)`", text))
    paths = {one for one in quoted if "/" in one or one.endswith((".rs", ".py", ".md"))} - MADE
    assert len(paths) > 20
    assert [path for path in sorted(paths) if not exists(path)] == []


def exists(path: str) -> bool:
    """Return whether a path exists, in the repository or from the short name of a crate on."""
    crate, _, rest = path.partition("/")
    return (REPOSITORY / path).exists() or (
        REPOSITORY / f"crates/nyssa-{crate}/src" / rest
    ).exists()
