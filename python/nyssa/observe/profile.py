"""Measures where the time and the memory of the process go."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.errors import ArgumentError

__all__ = ["Profile", "profile"]


class Profile:
    """A profile of this process, which runs in a ``with`` statement. `profile` makes it.

    Its numbers are there as soon as the ``with`` statement has ended.
    """

    def __init__(self) -> None:
        self._running: _core.Profiler | None = None
        self._core: _core.Profile | None = None

    def __enter__(self) -> Self:
        """Start the profile."""
        if self._running is not None:
            raise ArgumentError("this profile runs already")
        self._running = _core.Profiler()
        self._core = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the profile."""
        running, self._running = self._running, None
        if running is not None:
            self._core = running.finish()

    @property
    def table(self) -> str:
        """The tables of stages, columns and threads, as ``nyssa profile`` prints them."""
        return self._ended().table()

    # JSON has no narrower type than `Any`.
    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, as ``nyssa profile --json`` prints them.

        Times are in seconds, sizes in bytes, and shares parts from 0 to 1.
        """
        numbers: dict[str, Any] = json.loads(self._ended().json())
        return numbers

    @checked
    def to_perfetto(self, path: str | os.PathLike[str]) -> None:
        """Write trace events in JSON to `path`, which https://ui.perfetto.dev opens.

        https://www.speedscope.app opens them, too, as a flame graph of each thread.
        """
        Path(path).write_text(self._ended().perfetto(), encoding="utf-8")

    @checked
    def to_html(self, path: str | os.PathLike[str]) -> None:
        """Write a page with all tables and drawings to `path`. It needs no network."""
        Path(path).write_text(self._ended().page(), encoding="utf-8")

    def __repr__(self) -> str:
        """Return the tables, or the state of a profile that has none."""
        if self._core is not None:
            return self.table
        return f"<Profile, {'running' if self._running is not None else 'not started'}>"

    def _repr_html_(self) -> str | None:
        """Return tables and drawings, for notebooks."""
        return None if self._core is None else self._core.html()

    def _ended(self) -> _core.Profile:
        if self._core is None:
            raise ArgumentError("this profile has no numbers before its `with` statement has ended")
        return self._core


def profile() -> Profile:
    """Measure where the time and the memory of this process go: by stage, column and thread.

    Everything that nyssa does in this process between the begin and the end of the ``with``
    statement is in it, in all threads. There is one profile at a time.

    >>> with nyssa.profile() as profile:
    ...     arrays = nyssa.open("events.root:Events").arrays()
    >>> print(profile.table)
    time: ...
    >>> profile.to_perfetto("trace.json")

    Returns
    -------
    Profile
        A context manager.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if another profile runs in this process.
    """
    return Profile()
