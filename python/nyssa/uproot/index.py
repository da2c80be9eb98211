"""The names of the columns of a dataset, as a tree."""

from __future__ import annotations

from collections.abc import Iterator

import nyssa

__all__ = ["Index"]


class Index:
    """The names of all columns of a dataset as a tree, in the order of the file."""

    def __init__(self, dataset: nyssa.Dataset, separator: str) -> None:
        self.separator = separator
        self.items = dataset._all()
        self.below: dict[str, list[str]] = {path: [] for path in ["", *self.items]}
        self.names: dict[str, str] = {}
        self.above: dict[str, str] = {}
        for path in self.items:
            above = self._above(path)
            self.above[path] = above
            self.below[above].append(path)
            self.names[path] = path[len(above) + 1 :] if above else path

    def _above(self, path: str) -> str:
        """Return the longest path above this one; a name may have separators itself."""
        stop = len(path)
        while (stop := path.rfind(self.separator, 0, stop)) > 0:
            if path[:stop] in self.items:
                return path[:stop]
        return ""

    def deep(self, path: str) -> Iterator[str]:
        """Iterate over all paths below a path, depth first."""
        for item in self.below[path]:
            yield item
            yield from self.deep(item)
