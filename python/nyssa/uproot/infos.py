"""The streamer infos of a file, by uproot's names."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TextIO

from nyssa._core import printable

__all__ = ["Streamer", "StreamerElement"]


@dataclass(frozen=True)
class StreamerElement:
    """A member or base class in a streamer info."""

    classname: str
    """The class of the element, such as ``TStreamerBasicType``."""
    name: str
    title: str
    typename: str
    base_version: int

    @property
    def is_base(self) -> bool:
        """Return whether it is a base class."""
        return self.classname == "TStreamerBase"


@dataclass(frozen=True)
class Streamer:
    """The streamer info of a class in one version."""

    name: str
    class_version: int
    elements: list[StreamerElement]

    @property
    def typename(self) -> str:
        """Return the name of the class."""
        return self.name

    def show(self, stream: TextIO | None = None) -> None:
        """Print it."""
        (sys.stdout if stream is None else stream).write(str(self))

    def __str__(self) -> str:
        """Return class, base classes and members, one in each line."""
        bases = [
            f"{element.name} (v{element.base_version})"
            for element in self.elements
            if element.is_base
        ]
        head = f"{self.name} (v{self.class_version})"
        lines = [f"{head}: {', '.join(bases)}" if bases else head]
        members = (element for element in self.elements if not element.is_base)
        lines += [
            f"    {member.name}: {member.typename} ({member.classname})" for member in members
        ]
        return "\n".join(map(printable, lines)) + "\n"
