"""Defines `SparseHistogram` for ``THnSparse``, and `DenseHistogram` for ``THn``."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from nyssa.errors import FormatError
from nyssa.objects.axis import Axis
from nyssa.objects.object import Object, checked
from nyssa.objects.simple import Collection

__all__ = ["DenseHistogram", "SparseHistogram"]


class _Dimensions(Object):
    """The base of histograms of any number of dimensions (``THnBase``)."""

    @property
    def axes(self) -> tuple[Axis, ...]:
        """Return the axes."""
        axes = tuple(self.part("fAxes", Collection))
        if len(axes) != self.member("fNdimensions") or not all(
            isinstance(item, Axis) for item in axes
        ):
            raise FormatError(
                f"{self!r} has {self.member('fNdimensions')} dimensions, but not as many axes"
            )
        return axes


class SparseHistogram(_Dimensions):
    """A ``THnSparse``.

    It has only the filled bins, in the order in which they were filled.
    """

    def __len__(self) -> int:
        """Return the number of bins that are filled."""
        return sum(len(self._contents(chunk)) for chunk in self._chunks)

    @property
    def _chunks(self) -> list[Object]:
        """The parts in which bins are stored."""
        chunks = self.part("fBinContent", Collection)
        return [checked(self, "fBinContent", chunk, Object) for chunk in chunks]

    def coordinates(self) -> npt.NDArray[np.int64]:
        """Return the bins on all axes: shape ``(filled bins, axes)``, ``int64``.

        They count as in ROOT: 0 is underflow, 1 the first bin of the axis, the last is overflow.
        """
        # Each axis has as many bits as its bins need, the first axis the lowest.
        sizes = [(len(axis) + 2).bit_length() for axis in self.axes]
        ends = np.cumsum(sizes)
        width = -(-int(ends[-1]) // 8) if sizes else 0
        places = [np.empty((0, len(sizes)), dtype=np.int64)]
        for chunk in self._chunks:
            stored = np.asarray(chunk.member("fCoordinates")).view(np.uint8)
            if chunk.member("fSingleCoordinateSize") != width or len(stored) % width:
                raise FormatError(f"{self!r} has bins of another size than its axes ask for")
            bits = np.unpackbits(stored.reshape(-1, width), axis=1, bitorder="little")
            numbers = [
                bits[:, end - size : end] @ (1 << np.arange(size, dtype=np.int64))
                for size, end in zip(sizes, ends, strict=True)
            ]
            places.append(np.stack(numbers, axis=1).astype(np.int64))
        return np.concatenate(places)

    def values(self) -> npt.NDArray[Any]:
        """Return the contents of the filled bins, as `coordinates` has them, of the stored type."""
        contents = [self._contents(chunk) for chunk in self._chunks]
        return np.concatenate(contents) if contents else np.zeros(0)

    def variances(self) -> npt.NDArray[np.float64]:
        """Return the squares of the errors of the filled bins; the contents without ``Sumw2``."""
        squares_of_chunks = [np.zeros(0)]
        for chunk in self._chunks:
            values, squares = self._contents(chunk), chunk.member("fSumw2")
            squares_of_chunks.append(np.abs(values) if squares is None else squares[: len(values)])
        return np.concatenate(squares_of_chunks).astype(np.float64)

    def _contents(self, chunk: Any) -> npt.NDArray[Any]:
        size, values = chunk.member("fSingleCoordinateSize"), chunk.member("fContent")
        if not isinstance(values, np.ndarray) or size <= 0:
            raise FormatError(f"{self!r} has bins without contents")
        count = chunk.member("fCoordinatesSize") // size
        if count > len(values):
            raise FormatError(f"{self!r} has {count} filled bins, but {len(values)} contents")
        return values[:count]


class DenseHistogram(_Dimensions):
    """A ``THn``.

    Its arrays have one dimension per axis, with two more bins if ``flow=True``.
    """

    def values(self, flow: bool = False) -> npt.NDArray[Any]:
        """Return the contents of the bins, of the type that the class stores."""
        return self._cells("fArray", flow)

    def variances(self, flow: bool = False) -> npt.NDArray[np.float64]:
        """Return the squares of the errors; the contents without ``Sumw2``."""
        if len(self.part("fSumw2", Object).member("fData")):
            return self._cells("fSumw2", flow).astype(np.float64)
        return np.abs(self.values(flow).astype(np.float64))

    def _cells(self, member: str, flow: bool) -> npt.NDArray[Any]:
        shape = [len(axis) + 2 for axis in self.axes]
        cells = np.asarray(self.part(member, Object).member("fData"))
        if len(cells) == 0:
            cells = np.zeros(math.prod(shape), dtype=cells.dtype)
        if len(cells) != math.prod(shape):
            raise FormatError(f"{self!r} has {len(cells)} bins, its axes have {shape} with flow")
        cells = cells.reshape(shape)
        return cells if flow else cells[(slice(1, -1),) * len(shape)]
