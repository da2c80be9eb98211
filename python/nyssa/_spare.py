"""Reading what can be read: what cannot is left out, and a warning says so."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from nyssa import _core, _library
from nyssa._steps import bytes_of
from nyssa.errors import UnreadableWarning, UnsupportedError

_FIRST_STEP = 1000
"""Entries of the first step where steps are memory: how large entries are is not known yet."""


class Sparing:
    """Columns of a dataset that are read as far as that is possible.

    What cannot be read once is left out from then on.
    """

    def __init__(
        self, dataset: _core.Dataset, names: list[str], library: str, threads: int | None
    ) -> None:
        self._dataset, self._names = dataset, names
        self._library, self._threads = library, threads

    def table(self, start: int, stop: int) -> Any:
        """Read a range of entries as a table."""
        columns = self._read(start, stop, _library.takes_layouts(self._library))
        return _library.table(self._library, self._names, columns, start, stop)

    def take(self, indices: Any) -> Any:
        """Read entries in any order as a table."""
        layout = _library.takes_layouts(self._library)
        read = self._dataset.take_sparing(self._names, indices, self._threads, layout)
        columns = self._keep(*read)
        return _library.table(self._library, self._names, columns, 0, len(indices))

    def column(self, start: int, stop: int) -> Any:
        """Read the only column; `UnsupportedError` where nothing of it can be read."""
        layout = _library.takes_layouts(self._library)
        read = self._dataset.read_sparing(self._names, start, stop, self._threads, layout)
        _, names, _, left_out = read
        if not names:
            raise UnsupportedError("; ".join(f"{name}: {reason}" for name, reason in left_out))
        [column] = self._keep(*read)
        return _library.column(self._library, column, start, stop)

    def steps(
        self, size: int | str, clusters: list[tuple[int, int]], start: int, stop: int
    ) -> Iterator[tuple[Any, int, int]]:
        """Read a range of entries in steps: tables, and their first entry and their end."""
        limit = bytes_of(size, "step_size") if size != "cluster" else 0
        if size == "cluster":
            for first, last in ((max(a, start), min(b, stop)) for a, b in clusters):
                if first < last:
                    yield self.table(first, last), first, last
            return
        entries = size if isinstance(size, int) else _FIRST_STEP
        while start < stop:
            last = min(start + entries, stop)
            columns = self._read(start, last, None)
            yield _library.table(self._library, self._names, columns, start, last), start, last
            if not isinstance(size, int):
                # The step that the caller holds, and the next one while it is read.
                held = max(1, 2 * _core.Table(columns, last - start).nbytes)
                entries = max(1, limit * (last - start) // held)
            start = last

    def _read(self, start: int, stop: int, layout: bool | None) -> list[_core.Array]:
        return self._keep(
            *self._dataset.read_sparing(self._names, start, stop, self._threads, layout)
        )

    def _keep(
        self,
        dataset: _core.Dataset,
        names: list[str],
        columns: list[_core.Array],
        left_out: list[tuple[str, str]],
    ) -> list[_core.Array]:
        self._dataset, self._names = dataset, names
        for column, reason in left_out:
            message = f"{column} is left out: {reason}"
            warnings.warn(message, UnreadableWarning, stacklevel=_callers_level())
        return columns


def _callers_level() -> int:
    """Return how far up from the function that asks the first one is that is not of nyssa."""
    here = os.path.dirname(__file__) + os.sep
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(here):
        level, frame = level + 1, frame.f_back
    return level
