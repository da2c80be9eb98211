"""`AnyDirectory`: what directories that are read or written have in common, by uproot's names."""

from __future__ import annotations

from typing import Any

from nyssa.read.mapping import Choosable, Closable

__all__ = ["AnyDirectory"]


class AnyDirectory(Closable, Choosable[Any]):
    """A directory of a file: a mapping from names to objects."""

    _path: str

    @property
    def path(self) -> tuple[str, ...]:
        """Return the names of the directories down to this one."""
        return tuple(item for item in self._path.split("/") if item)

    @property
    def object_path(self) -> str:
        """Return the path in the file."""
        return "/".join(["", *self.path, ""])
