"""Shows the progress of a campaign."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Protocol

from nyssa._core import printable

__all__ = ["Ended", "Progress", "Work"]

#: Seconds between two lines of progress where the output is no terminal.
HEARTBEAT = 30.0


class Work(Protocol):
    """A task that is to be done."""

    @property
    def bytes(self) -> int:
        """Return the size of its inputs."""


class Ended(Protocol):
    """What became of a task."""

    output: str
    error: str | None
    input_bytes: int

    @property
    def is_complete(self) -> bool:
        """Whether it was done."""


class Progress:
    """Shows the progress of a campaign on stderr: one line that changes, or a line now and then."""

    def __init__(self, tasks: Sequence[Work], *, quiet: bool = False) -> None:
        self.total, self.bytes = len(tasks), sum(task.bytes for task in tasks)
        self.done = self.failed = self.read = 0
        self.workers = -1
        self.start = self._last = time.monotonic()
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()

    def add(self, record: Ended) -> None:
        """Count a task that ended."""
        self.done += 1
        self.failed += not record.is_complete
        self.read += record.input_bytes
        if not record.is_complete and not self._quiet:
            self._end_line()
            sys.stderr.write(printable(f"failed: {record.output}: {record.error}") + "\n")
        self.show(end=self.done == self.total)

    def wait(self, workers: int) -> None:
        """Show the state while no task ends, with the number of workers; call this often."""
        self.workers = workers
        if time.monotonic() - self._last >= HEARTBEAT:
            self.show()

    def show(self, *, end: bool = False) -> None:
        """Show the state, if it is time to do so."""
        now = time.monotonic()
        if self._quiet or not (end or self._terminal or now - self._last >= HEARTBEAT):
            return
        self._last = now
        seconds = now - self.start
        rate = self.read / max(seconds, 1e-9)
        left = (self.bytes - self.read) / rate if rate > 0 else 0.0
        line = (
            f"{self.done}/{self.total} done, {self.failed} failed, {rate / 1e6:.1f} MB/s, "
            f"about {left:.0f} s left"
        )
        if self.workers == 0:
            line += ", waits for workers"
        sys.stderr.write(f"\r\x1b[K{line}" if self._terminal else f"{line}\n")
        if end:
            self._end_line()
        sys.stderr.flush()

    def _end_line(self) -> None:
        if self._terminal:
            sys.stderr.write("\n")
