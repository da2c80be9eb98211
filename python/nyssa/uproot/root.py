"""`Root`: what TTrees and RNTuples have in common, by uproot's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import awkward as ak

import nyssa
from nyssa.uproot import tables, values
from nyssa.uproot.index import Index
from nyssa.uproot.node import Node
from nyssa.uproot.nodes import Nodes

if TYPE_CHECKING:
    from nyssa.uproot.file import ReadOnlyFile

__all__ = ["Root"]

N = TypeVar("N", bound=Node[Any])


class Root(Nodes[N]):
    """A TTree or RNTuple."""

    _kind: type[N]
    _separator: str

    def __init__(self, dataset: nyssa.Dataset, file: ReadOnlyFile, classname: str) -> None:
        self.dataset = dataset
        self._file = file
        self._classname = classname
        self._root: Root[N] = self
        self._path = ""
        self._made: dict[str, N] = {}

    @cached_property
    def _names(self) -> Index:
        return Index(self.dataset, self._separator, self._stored_names())

    def _stored_names(self) -> Callable[[], list[str]] | None:
        """Return what returns the names of branches at the top as the file has them."""
        return None

    @property
    def classname(self) -> str:
        """Return the C++ class."""
        return self._classname

    @property
    def name(self) -> str:
        """Return the name of the object."""
        return self.dataset.name

    @property
    def object_path(self) -> str:
        """Return the path of the object in its file, with its cycle."""
        return f"/{self.dataset._core.name}"

    @property
    def cache_key(self) -> str:
        """Return a text that names the object."""
        return f"{self.file_path}:{self.object_path}"

    def _uncompressed(self, path: str) -> int:
        """Return the bytes of a column without compression."""
        raise NotImplementedError

    def _as_uproot(self, table: Any, kinds: Mapping[str, str]) -> Any:
        """Return awkward columns with uproot's records; `kinds` are their C++ types."""
        classes = self._classes

        def column(name: str) -> ak.Array:
            return values.awkward(table[name], kinds.get(name, ""), classes, self._separator == "/")

        return tables.Table(
            {name: column(name) for name in tables.names_of(table)}, tables.length_of(table)
        )

    @cached_property
    def _classes(self) -> values.Classes:
        return self._file.directory._core.classes()

    def _typename(self, path: str) -> str:
        raise NotImplementedError

    def __reduce__(self) -> Any:
        """Return how to open it again; see `nyssa.Dataset`."""
        return type(self), (self.dataset, self._file, self._classname)

    def _repr_html_(self) -> str:
        """Return a table for notebooks, as nyssa does."""
        return self.dataset._repr_html_()

    def __repr__(self) -> str:
        """Return class and number of branches (or fields)."""
        return f"<{type(self).__name__} {self.name!r} ({len(self)} columns)>"
