"""uproot's names of errors."""

from __future__ import annotations

from nyssa.errors import DataError, NotFoundError

__all__ = ["DeserializationError", "KeyInFileError"]

KeyInFileError = NotFoundError
"""uproot's name of `nyssa.NotFoundError`: no object, branch or field has this name."""

DeserializationError = DataError
"""uproot's name of `nyssa.errors.DataError`: what is stored cannot be read."""
