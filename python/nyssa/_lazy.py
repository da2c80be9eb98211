"""Awkward arrays whose columns are read when they are first looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Any

import awkward as ak
from awkward.contents import Content, RecordArray

from nyssa import _awkward, _core
from nyssa.errors import InternalError


class _Column:
    """One column of a range of entries: its form is known, its buffers come with the first use."""

    def __init__(self, name: str, empty: Content, length: int, read: Callable[[], Content]) -> None:
        self._name, self._read = name, read
        self._lock = Lock()
        self._buffers: dict[str, Any] | None = None
        self._form, _, buffers = ak.to_buffers(empty)
        waiting = {key: self._loader(key) for key in buffers}
        self.content = ak.from_buffers(self._form, length, waiting, highlevel=False)

    def _loader(self, key: str) -> Callable[[], Any]:
        return lambda: self._load()[key]

    def _load(self) -> dict[str, Any]:
        with self._lock:
            if self._buffers is None:
                form, _, self._buffers = ak.to_buffers(self._read())
                if form != self._form:
                    raise InternalError(f"{self._name} reads as {form}, not as {self._form}")
            return self._buffers


def _content(column: _core.Array) -> Content:
    return _awkward.Builder().content(column.layout(True))


def record(
    dataset: _core.Dataset, names: Sequence[str], start: int, stop: int, threads: int | None
) -> ak.Array:
    """Return columns of entries ``start..stop`` as one awkward array of records, unread."""

    def read(name: str) -> Content:
        return _content(dataset.read([name], start, stop, threads)[0])

    contents = []
    for name, empty in zip(names, dataset.read(names, start, start, threads), strict=True):
        column = _Column(name, _content(empty), stop - start, partial(read, name))
        contents.append(column.content)
    return ak.Array(RecordArray(contents, list(names), length=stop - start))
