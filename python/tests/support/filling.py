"""Fills one dataset from several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import nyssa


def fill_in_threads(
    writer: Any, chunk: Callable[[int, int], Any], entries: int, contexts: int
) -> None:
    """Each of `contexts` threads writes an equal part of the entries, in steps of 70.

    `chunk` returns the entries from a number up to, not including, another one.
    """

    def work(context: nyssa.FillContext, start: int, stop: int) -> None:
        with context:
            for first in range(start, stop, 70):
                context.extend(chunk(first, min(first + 70, stop)))

    bounds = [entries * i // contexts for i in range(contexts + 1)]
    made = [writer.fill_context() for _ in range(contexts)]
    threads = [
        threading.Thread(target=work, args=(context, start, stop))
        for context, start, stop in zip(made, bounds, bounds[1:], strict=False)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
