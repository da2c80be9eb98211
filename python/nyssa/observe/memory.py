"""The memory that nyssa keeps for the next read."""

from __future__ import annotations

from nyssa import _core

__all__ = ["release_memory"]


def release_memory() -> None:
    """Give memory of arrays that were deleted back to the system, now.

    New memory costs more time than all else in a read, since the system has to clear it. So large
    blocks of arrays that were deleted, at most 1 GiB, stay with the process for the next arrays
    (of `arrays`, and of `iterate` with a number of entries; nothing where memory is limited).
    After two seconds without use they go back to the system; while they wait, the system may take
    them at any time.

    >>> arrays = nyssa.open("events.root:Events").arrays()
    >>> del arrays
    >>> nyssa.release_memory()
    """
    _core.release_memory()
