"""Interpretations of numbers, by uproot's names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.uproot.interpretation.base import Interpretation

__all__ = ["AsDouble32", "AsDtype", "AsDtypeInPlace", "AsFloat16", "AsSTLBits", "Numerical"]


class Numerical(Interpretation):
    """Numbers, the same number of them in each entry."""


class AsDtype(Numerical):
    """Numbers as NumPy has them: `from_dtype` in the file, `to_dtype` in the array.

    >>> AsDtype(">f8", "float32")
    AsDtype('>f8', 'float32')
    """

    def __init__(self, from_dtype: npt.DTypeLike, to_dtype: npt.DTypeLike | None = None) -> None:
        self.from_dtype = np.dtype(from_dtype)
        native = self.from_dtype.newbyteorder("=")
        self.to_dtype = native if to_dtype is None else np.dtype(to_dtype)

    @property
    def itemsize(self) -> int:
        """Return the bytes of an entry in the file."""
        return self.from_dtype.itemsize

    @property
    def inner_shape(self) -> tuple[int, ...]:
        """Return the shape of an entry."""
        return self.from_dtype.shape

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Return the type of a NumPy array of the entries."""
        return self.to_dtype

    def __repr__(self) -> str:
        """Return the call that makes it."""
        types = [self.from_dtype]
        if self.to_dtype != self.from_dtype.newbyteorder("="):
            types.append(self.to_dtype)
        return f"{type(self).__name__}({', '.join(repr(str(item)) for item in types)})"


class AsDtypeInPlace(AsDtype):
    """Numbers that are written to an array; nyssa makes arrays of its own, and refuses it."""

    def __init__(self, array: npt.NDArray[Any], from_dtype: npt.DTypeLike) -> None:
        super().__init__(from_dtype, array.dtype)
        self.array = array


class _Truncated(Numerical):
    """Real numbers of few bits, from `low` to `high`."""

    _dtype: np.dtype[Any]

    def __init__(self, low: float, high: float, num_bits: int, to_dims: Any = ()) -> None:
        self.low, self.high, self.num_bits = low, high, num_bits
        self.to_dims = tuple(to_dims)

    @property
    def numpy_dtype(self) -> np.dtype[Any]:
        """Return the type of a NumPy array of the entries."""
        return np.dtype((self._dtype, self.to_dims))

    def __repr__(self) -> str:
        """Return the call that makes it."""
        given = [self.low, self.high, self.num_bits, *([self.to_dims] if self.to_dims else [])]
        return f"{type(self).__name__}({', '.join(map(repr, given))})"


class AsDouble32(_Truncated):
    """A ``Double32_t`` with a range or a number of bits."""

    _dtype = np.dtype(np.float64)


class AsFloat16(_Truncated):
    """A ``Float16_t``."""

    _dtype = np.dtype(np.float32)


class AsSTLBits(Numerical):
    """A ``std::bitset``."""

    def __repr__(self) -> str:
        """Return the call that makes it."""
        return "AsSTLBits()"
