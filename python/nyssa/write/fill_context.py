"""Lets several threads fill one RNTuple or one TTree."""

from __future__ import annotations

from nyssa import _core
from nyssa.write.writer import DatasetWriter

__all__ = ["FillContext"]


class FillContext:
    """Adds the entries of one thread to an RNTuple or a TTree; use it as a context manager.

    >>> def work(context, parts):
    ...     with context:
    ...         for part in parts:
    ...             context.extend(part)

    The entries of a context keep their order. After an exception inside the ``with`` entries are
    missing, so the file is not written, unless `discard` drops these entries.
    """

    def __init__(self, writer: DatasetWriter, core: _core.FillContext) -> None:
        self._writer = writer
        self._core = core
        self._entries = 0
        self._stalled = 0.0
        #: The number of fields that data need at least, or 0 if fields cannot come late.
        self._known = writer._number_of_fields()

    @property
    def stalled(self) -> float:
        """Return the seconds that `extend` and `flush` of this context waited for others.

        Other threads compress and write the entries of a context. It waits if they are too far
        behind: by 64 MiB of a TTree, and of an RNTuple by as much as its part of `memory` holds.
        """
        now = self._core.stalled()
        self._stalled = self._stalled if now is None else now
        return self._stalled

    @property
    def num_entries(self) -> int:
        """Return the number of entries that this context has added."""
        return self._entries

    def extend(self, data: object) -> None:
        """Add entries as `extend` of the writer does.

        Data that do not fit are refused, and none of their entries is added; this context and all
        others can continue. After any other error, which may come from earlier entries, the file is
        not written. Fields that `NTupleWriter.add_fields` added after this context was made may be
        left out until its first data that have them.
        """
        if self._known:
            columns = self._writer._first_columns(data, self._known)
        else:
            columns = self._writer._columns(data)
        self._core.extend(columns)
        if self._known:
            self._known = max(self._known, len(columns))
        self._entries += len(columns[0]) if columns else 0

    def flush(self) -> None:
        """End the cluster now. Otherwise the options of the writer determine where clusters end."""
        self._core.flush()

    def close(self) -> None:
        """Write the remaining entries. Closing the file does this for all contexts."""
        self._stalled = self.stalled
        self._core.close()

    def discard(self) -> int:
        """Drop the entries that are in no cluster yet, and return their number."""
        lost = self._core.discard()
        self._entries -= lost
        return lost

    def __enter__(self) -> FillContext:
        """Return itself."""
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        """Close the context; after an exception mark its entries as missing."""
        if kind is None:
            self.close()
        else:
            self._core.abandon()

    def __repr__(self) -> str:
        """Return name and entries."""
        return f"<FillContext of {self._writer.name!r} ({self._entries} entries)>"
