"""Holds what a study measures."""

from __future__ import annotations

import platform
from dataclasses import dataclass

from nyssa import __version__, _core
from nyssa.studies.subject import Subject

__all__ = ["Measurements"]


@dataclass(frozen=True)
class Measurements:
    """What a study measures, besides writing each output and reading it whole."""

    columns: list[str]
    """The globs of the columns of an analysis; if there are none, they are not measured."""
    link_latency: float | None
    """Seconds of a round trip of a link; `None` if no link is measured."""
    link_bandwidth: int | None
    """Bytes per second of this link."""
    cold: bool
    """Whether the system is asked to forget the files before each measurement."""

    def key(self, subject: Subject) -> str:
        """Return as text what rounds must have in common to be compared."""
        source = subject.input
        made = (_core.shown(source.url), source.size, source.version)
        return f"{made} {self} nyssa {__version__} on {platform.node()}"
