"""Yields the steps of a read. The next step is read while the caller works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from nyssa import _core, _library, _skip_unreadable

__all__ = ["each"]


def each(
    steps: _core.Steps,
    library: str,
    names: Sequence[str],
    show: Callable[[Any, str, int, int], Any],
) -> Iterator[Any]:
    """Yield what `show` makes of each step: its table, its file, and its range of entries.

    A warning names columns that are left out from this step on.
    """
    try:
        while (step := steps.next()) is not None:
            columns, file, start, stop, first, left_out = step
            if left_out:
                names = [column.name for column in columns]
                _skip_unreadable.warn(left_out)
            # With a cut, a step has fewer entries than its range.
            length = len(columns[0]) if columns else stop - start
            table = _library.table(library, names, columns, first, first + length)
            made = [show(table, file, start, stop)]
            del step, columns, table  # After this only the caller holds the step.
            steps.prepare()
            yield made.pop()
    finally:
        steps.close()
