"""Writes attribute sets: data about ranges of entries, beside an RNTuple."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import awkward as ak
import numpy as np
import numpy.typing as npt

from nyssa.arrays import from_data, to_numpy
from nyssa.errors import ArgumentError
from nyssa.write.writer import DatasetWriter

__all__ = ["AttributeSetWriter"]


class AttributeSetWriter:
    """Writes one attribute set; made by `NTupleWriter.attribute_set`."""

    def __init__(
        self, ntuple: DatasetWriter, name: str, types: Mapping[str, ak.types.Type]
    ) -> None:
        self._ntuple = ntuple
        self._types = types
        self.name = name

    @contextmanager
    def range(
        self, values: Mapping[str, object] | None = None, /, **more: object
    ) -> Iterator[None]:
        """Give attributes to the entries that are written inside the ``with``.

        >>> with meta.range(run=362760, stream="express"):
        ...     events.extend(chunk)

        An exception inside leaves the attributes out.
        """
        start = self._ntuple.num_entries
        yield
        self.add(start, self._ntuple.num_entries, {**(values or {}), **more})

    def add(self, start: int, stop: int, values: Mapping[str, object]) -> None:
        """Give attributes to the entries from `start` up to, but without, `stop`.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when attributes are missing, unknown, or of another type, or `stop` is
            before `start`. Ranges beyond the last entry are refused when the file is closed.
        """
        columns = {name: ak.Array([value]) for name, value in values.items()}
        self.extend([start], [stop], columns)

    def extend(
        self,
        starts: Sequence[int] | npt.NDArray[np.integer[Any]],
        stops: Sequence[int] | npt.NDArray[np.integer[Any]],
        data: object,
    ) -> None:
        """Add many ranges: `data` holds one value of each attribute for every range.

        `data` may be whatever `NTupleWriter.extend` takes; numbers in a dict are converted to the
        types of the set where that keeps their values.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) as `add`.
        """
        first = to_numpy.plain(starts, "starts", np.int64)
        last = to_numpy.plain(stops, "stops", np.int64)
        if len(first) != len(last) or np.any(first < 0) or np.any(last < first):
            raise ArgumentError(
                "ranges need as many starts as stops, and none may stop before it starts"
            )
        if isinstance(data, Mapping):
            data = {name: self._converted(name, value) for name, value in data.items()}
        given = {column.name: column for column in from_data.columns(data)}
        if set(given) != set(self._types):
            missing = [name for name in self._types if name not in given]
            unknown = [name for name in given if name not in self._types]
            raise ArgumentError(
                f"the data do not have the attributes of {self.name!r}: "
                f"missing {missing or 'none'}, unknown {unknown or 'none'}"
            )
        columns = [given[name] for name in self._types]
        if any(len(column) != len(first) for column in columns):
            raise ArgumentError(f"{len(first)} ranges need {len(first)} values of each attribute")
        ranges = (first.tolist(), (last - first).tolist())
        core = self._ntuple._open()
        core.extend_attributes(self._ntuple.name, self.name, ranges, columns)

    def _converted(self, name: str, value: Any) -> Any:
        """Return numbers in the type of the attribute, if that keeps their values."""
        wanted = self._types.get(name)
        if not isinstance(wanted, ak.types.NumpyType):
            return value
        array = value if isinstance(value, (np.ndarray, ak.Array)) else np.asarray(value)
        if isinstance(array, ak.Array):
            try:
                array = ak.to_numpy(array, allow_missing=False)
            except ValueError:
                return value
        if array.dtype.kind not in "biuf":
            return value
        converted = array.astype(wanted.primitive)
        equal_nan = array.dtype.kind == "f" and converted.dtype.kind == "f"
        if not np.array_equal(converted, array, equal_nan=equal_nan):
            raise ArgumentError(
                f"attribute {name!r} is of type {wanted.primitive}, which cannot hold {value!r}"
            )
        return converted

    def __repr__(self) -> str:
        """Return the name."""
        return f"<AttributeSetWriter {self.name!r} of {self._ntuple.name!r}>"
