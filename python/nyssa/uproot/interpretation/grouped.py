"""`AsGrouped`: branches that are read together, by uproot's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nyssa.uproot.interpretation.base import Interpretation

__all__ = ["AsGrouped"]


class AsGrouped(Interpretation):
    """The branches below a branch, each with its interpretation."""

    def __init__(
        self, branch: Any, subbranches: Mapping[str, Any], typename: str | None = None
    ) -> None:
        self.branch, self.subbranches, self.typename = branch, dict(subbranches), typename

    def __repr__(self) -> str:
        """Return the branch and the interpretations below it."""
        return f"AsGroup({self.branch!r}, {self.subbranches!r})"
