"""The names of the columns of a dataset, as a tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import nyssa
from nyssa.uproot.bases import is_base, unique

__all__ = ["Index"]


class Index:
    """The names of all columns of a dataset as a tree, in the order of the file.

    The members of base classes are below the class, as in uproot. `stored` returns the names of the
    branches at the top in the file.
    """

    def __init__(
        self,
        dataset: nyssa.Dataset,
        separator: str,
        stored: Callable[[], list[str]] | None = None,
    ) -> None:
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
        bases = {self.above[path] for path, name in self.names.items() if is_base(name)}
        for path in bases:
            if not is_base(self.names.get(path, "")):
                self._without_bases(path)
        numbered = [path for path in self.below[""] if self._may_be_numbered(path)]
        if numbered and stored is not None:
            given = stored()
            # nyssa gives a number to the second of two branches with one name.
            for path in numbered:
                self.names[path] = given[self.below[""].index(path)]
        self.shown = {"": ""}
        """The paths by uproot's names."""
        for path in self.deep(""):
            above, name = self.shown[self.above[path]], self.names[path]
            self.shown[path] = f"{above}{separator}{name}" if above else name
        self.paths = {shown: path for path, shown in reversed(self.shown.items())}
        """The paths in the dataset, by the paths with uproot's names."""

    def _above(self, path: str) -> str:
        """Return the longest path above this one; a name may have separators itself."""
        stop = len(path)
        while (stop := path.rfind(self.separator, 0, stop)) > 0:
            if path[:stop] in self.items:
                return path[:stop]
        return ""

    def _may_be_numbered(self, path: str) -> bool:
        name, _, number = path.rpartition("_")
        return number.isdigit() and name in self.items

    def _without_bases(self, path: str) -> None:
        """Put the members of base classes where the base classes are."""
        members = list(self._members(path, ()))
        found = unique([(self.names[member], chain) for member, chain in members])
        for (member, _), name in zip(members, found, strict=True):
            self.above[member], self.names[member] = path, name
        self.below[path] = [member for member, _ in members]

    def _members(self, path: str, chain: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
        for item in self.below[path]:
            if is_base(self.names[item]):
                yield from self._members(item, (*chain, self.items[item][1]))
            else:
                yield item, chain

    def deep(self, path: str) -> Iterator[str]:
        """Iterate over all paths below a path, depth first."""
        for item in self.below[path]:
            yield item
            yield from self.deep(item)
