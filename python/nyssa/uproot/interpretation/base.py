"""`Interpretation`: how the bytes of a branch are read, by uproot's names."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["Interpretation"]


class Interpretation:
    """How uproot reads the bytes of a branch; nyssa reads them by the types in the file.

    Two are equal if they are written alike.
    """

    typename: str | None = None
    """The C++ type of an entry; `None` if it is not known."""

    @property
    def cache_key(self) -> str:
        """Return a text that names it."""
        return repr(self)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Return the type of a NumPy array of the entries."""
        return np.dtype(object)

    def __eq__(self, other: object) -> bool:
        """Compare how they are written."""
        return isinstance(other, Interpretation) and repr(self) == repr(other)

    def __hash__(self) -> int:
        """Hash how it is written."""
        return hash(repr(self))
