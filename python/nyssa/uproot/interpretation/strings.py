"""`AsStrings`: texts, by uproot's names."""

from __future__ import annotations

from nyssa.uproot.interpretation.base import Interpretation

__all__ = ["AsStrings"]


class AsStrings(Interpretation):
    """Texts, whose lengths have 1 or 5 bytes, or 4."""

    def __init__(
        self, header_bytes: int = 0, length_bytes: str = "1-5", typename: str | None = None
    ) -> None:
        self.header_bytes, self.length_bytes, self.typename = header_bytes, length_bytes, typename

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = [f"header_bytes={self.header_bytes}"] if self.header_bytes else []
        given += [f"length_bytes={self.length_bytes!r}"] if self.length_bytes != "1-5" else []
        return f"AsStrings({', '.join(given)})"
