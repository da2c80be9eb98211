"""`Report`: where the arrays of a step of ``iterate(report=True)`` come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nyssa.uproot.file import ReadOnlyFile
    from nyssa.uproot.nodes import Nodes
    from nyssa.uproot.root import Root

__all__ = ["Report"]


@dataclass(frozen=True)
class Report:
    """The entries of a step, counted in its tree and over all files."""

    source: Nodes[Any]
    """The tree, branch, RNTuple or field that is iterated."""
    tree_entry_start: int
    """The first entry of the step, counted in its file."""
    tree_entry_stop: int
    """The entry after the last one, counted in its file."""
    global_offset: int = 0
    """The number of entries of the files before."""

    @property
    def tree(self) -> Root[Any]:
        """Return the tree or RNTuple."""
        return self.source.tree

    @property
    def file(self) -> ReadOnlyFile:
        """Return the file."""
        return self.source.file

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file."""
        return str(self.source.file_path)

    @property
    def global_entry_start(self) -> int:
        """Return the first entry of the step, counted over all files."""
        return self.global_offset + self.tree_entry_start

    @property
    def global_entry_stop(self) -> int:
        """Return the entry after the last one, counted over all files."""
        return self.global_offset + self.tree_entry_stop

    @property
    def start(self) -> int:
        """Return `global_entry_start`, by its other name."""
        return self.global_entry_start

    @property
    def stop(self) -> int:
        """Return `global_entry_stop`, by its other name."""
        return self.global_entry_stop

    def to_global(self, global_offset: int) -> Report:
        """Return the report with another `global_offset`."""
        return Report(self.source, self.tree_entry_start, self.tree_entry_stop, global_offset)
