"""`AsJagged`: lists of numbers or small objects, by uproot's names."""

from __future__ import annotations

from nyssa.uproot.interpretation.base import Interpretation

__all__ = ["AsJagged"]


class AsJagged(Interpretation):
    """Lists of what `content` interprets; each begins with `header_bytes` that are no items."""

    def __init__(
        self, content: Interpretation, header_bytes: int = 0, typename: str | None = None
    ) -> None:
        self.content, self.header_bytes, self.typename = content, header_bytes, typename

    def __repr__(self) -> str:
        """Return the call that makes it."""
        header = f", header_bytes={self.header_bytes}" if self.header_bytes else ""
        return f"AsJagged({self.content!r}{header})"
