"""uproot's names of errors."""

from __future__ import annotations

from nyssa.errors import NotFoundError

__all__ = ["KeyInFileError"]

KeyInFileError = NotFoundError
"""uproot's name of `nyssa.NotFoundError`: no object, branch or field has this name."""
