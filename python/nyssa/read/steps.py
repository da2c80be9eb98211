"""Yields the steps of a read. The next step is read while the caller works."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nyssa import _core
from nyssa.arrays import libraries
from nyssa.errors import LargeEntryWarning
from nyssa.read import unreadable
from nyssa.read.unreadable import callers_level

__all__ = ["each"]


def each(
    steps: _core.Steps,
    library: str,
    names: Sequence[str],
    show: Callable[[Any, str, int, int], Any],
) -> Iterator[Any]:
    """Yield what `show` makes of each step: its table, its file, and its range of entries.

    A warning names columns that are left out from this step on, and the first entry that takes more
    than the memory of a step.
    """
    is_said = False
    try:
        while (step := steps.next()) is not None:
            columns, file, start, stop, first, left_out, excess = step
            if excess and not is_said:
                is_said = True
                _warn_of_large(file, start, *excess)
            if left_out:
                names = [column.name for column in columns]
                unreadable.warn(left_out)
            # With a cut, a step has fewer entries than its range.
            length = len(columns[0]) if columns else stop - start
            table = libraries.table(library, names, columns, first, first + length)
            made = [show(table, file, start, stop)]
            del step, columns, table  # After this only the caller holds the step.
            steps.prepare()
            yield made.pop()
    finally:
        steps.close()


def _warn_of_large(file: str, entry: int, size: int, memory: int) -> None:
    """Warn the caller of nyssa of an entry that takes more memory than a step may."""
    message = (
        f"entry {entry} of {file} takes {size} bytes in memory, more than the step_size of "
        f"{memory} bytes: each entry as large as this is a step of its own. Read fewer columns, "
        "or give a larger step_size"
    )
    warnings.warn(message, LargeEntryWarning, stacklevel=callers_level())
