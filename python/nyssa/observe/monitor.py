"""Records what the process uses, in the files of prmon."""

from __future__ import annotations

import json
import os
from types import TracebackType
from typing import TypedDict

from typing_extensions import Self

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.errors import ArgumentError, NyssaError

__all__ = ["Monitor", "MonitorSummary", "monitor"]


class MonitorSummary(TypedDict):
    """The summary of `nyssa.monitor`, with prmon's sections."""

    Avg: dict[str, float]
    HW: dict[str, dict[str, int | str]]
    Max: dict[str, float]
    Units: dict[str, dict[str, str]]
    nyssa: dict[str, str]


class Monitor:
    """A monitor of this process, which runs in a ``with`` statement. `monitor` makes it.

    Attributes
    ----------
    summary
        What is in the file of the summary, as soon as the ``with`` statement has ended: the
        largest values (``"Max"``) and the averages (``"Avg"``) by prmon's names. `None` before.
    """

    summary: MonitorSummary | None

    def __init__(self, file: str | os.PathLike[str], interval: float) -> None:
        self._file = os.fspath(file)
        self._interval = float(interval)
        self._core: _core.Monitor | None = None
        self.summary = None

    def __repr__(self) -> str:
        """Return the file and the interval."""
        return f"<Monitor {self._file!r}, each {self._interval:g} s>"

    def __enter__(self) -> Self:
        """Start the monitor."""
        if self._core is not None:
            raise ArgumentError("this monitor runs already")
        self._core = _core.Monitor(self._file, self._interval)
        self.summary = None
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the monitor, and complete its files. An exception of the work is more important."""
        core, self._core = self._core, None
        if core is None:
            return
        try:
            self.summary = json.loads(core.finish())
        except NyssaError:
            if error is None:
                raise


@checked
def monitor(file: str | os.PathLike[str] = "prmon.txt", *, interval: float = 1.0) -> Monitor:
    """Record what this process and its children use, as the program ``prmon`` does.

    Rows with times, memory, threads and bytes are written to a table, and the largest values and
    averages to a summary in JSON. Names, units and forms are as in HSF's prmon, so that its
    ``prmon_plot.py`` draws them. Times and bytes count from the begin of the ``with`` statement.

    >>> with nyssa.monitor("prmon.txt", interval=0.5) as usage:
    ...     arrays = nyssa.open("events.root:Events").arrays()
    >>> usage.summary["Max"]["pss"] > 0
    True

    Parameters
    ----------
    file
        The table. The summary has the same name with the ending ``.json``. If `file` ends in
        ``.json``, it is the summary, and the table ends in ``.txt``. The files of an earlier
        monitor are replaced; other files are not.
    interval
        Seconds between two rows, from 0.01 to 86400.

    Returns
    -------
    Monitor
        A context manager.

    Raises
    ------
    nyssa.UnsupportedError
        (a `NotImplementedError`) on other systems than Linux.
    nyssa.ArgumentError
        (a `ValueError`) for another interval, or if `file` is there and no monitor wrote it.
    OSError
        If the files cannot be written.
    """
    return Monitor(file, interval)
