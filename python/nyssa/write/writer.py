"""Defines the base of the writers of RNTuples and TTrees."""

from __future__ import annotations

from collections.abc import Callable, Collection

from nyssa import _core
from nyssa.errors import ArgumentError

__all__ = ["DatasetWriter"]


class DatasetWriter:
    """Writes entries to one dataset of a `WritableFile`."""

    def __init__(self, opened: Callable[[], _core.Writer], name: str, entries: int = 0) -> None:
        #: Returns the file, or raises an error if it is closed.
        self._open = opened
        self._entries = entries
        self.name = name

    @property
    def num_entries(self) -> int:
        """Return the number of entries so far."""
        return self._entries

    @property
    def stalled(self) -> float:
        """Return the seconds that calls waited for the threads that compress and write.

        Entries that are added by fill contexts do not count: see `FillContext.stalled`.
        """
        return self._open().stalled(self.name)

    def _some(
        self, columns: list[_core.Array], known: Collection[str], parts: str
    ) -> list[_core.Array]:
        """Return columns of data. A dataset that takes no entries yet is refused."""
        if not columns and not known:
            raise ArgumentError(
                f"{self.name!r} has no {parts}: add {parts} first, and then entries"
            )
        return columns

    def _number_of_fields(self) -> int:
        """Return the number of columns that data have now, or 0 if it cannot change."""
        return 0

    def _columns(self, data: object) -> list[_core.Array]:
        """Return data as columns in the order of the dataset."""
        raise NotImplementedError

    def _first_columns(self, data: object, known: int) -> list[_core.Array]:
        """Return data as columns, of which those after the first `known` ones may be missing."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """Return name and entries."""
        return f"<{type(self).__name__} {self.name!r} ({self._entries} entries)>"
