"""Makes awkward arrays whose columns are read when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from threading import Lock
from typing import Any

import awkward as ak
import numpy as np
from awkward.contents import RecordArray

from nyssa import _core
from nyssa.arrays import forms
from nyssa.errors import InternalError


class _Column:
    """One column of a range of entries.

    Its form is known; its first use reads its buffers.
    """

    def __init__(
        self,
        form: str,
        length: int,
        read: Callable[[], _core.Array],
        before: Callable[[str], object],
    ) -> None:
        self._form, self._read, self._before = form, read, before
        self._lock = Lock()
        self._buffers: Mapping[str, Any] | None = None
        waiting = {
            key: self._loader(key) for key in ak.forms.from_json(form).expected_from_buffers()
        }
        self.content = ak.from_buffers(form, length, waiting, highlevel=False)

    def _loader(self, key: str) -> Callable[[], Any]:
        return lambda: self._load(key)[key]

    def _load(self, key: str) -> Mapping[str, Any]:
        self._before(key)
        with self._lock:
            if self._buffers is None:
                column = self._read()
                if column.form() != self._form:
                    raise InternalError(
                        f"{column.name} reads as {column.form()}, not as {self._form}"
                    )
                self._buffers = {
                    key: forms.own(np.frombuffer(memoryview(data), dtype=np.uint8))
                    for key, data in column.take_buffers().items()
                }
            return self._buffers


def record(
    dataset: _core.Dataset,
    names: Sequence[str],
    start: int,
    stop: int,
    threads: int | None,
    before: Callable[[str, str], object] = lambda name, key: None,  # noqa: ARG005
) -> ak.Array:
    """Return columns of entries ``start..stop`` as one awkward array of records, unread.

    `before` is called with the name of a column and the key of a buffer before the buffer is first
    used.
    """

    def read(name: str) -> _core.Array:
        return dataset.read([name], start, stop, threads)[0]

    contents = []
    for name, empty in zip(names, dataset.read(names, start, start, threads), strict=True):
        column = _Column(empty.form(), stop - start, partial(read, name), partial(before, name))
        contents.append(column.content)
    return ak.Array(RecordArray(contents, list(names), length=stop - start))
