"""`Node`: what branches and fields have in common, by uproot's names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, overload

import awkward as ak
import numpy as np
from typing_extensions import Unpack

import nyssa
from nyssa._core import printable
from nyssa.arguments.checks import checked
from nyssa.arguments.options import AwkwardName, NumpyArray, NumpyName, PandasName
from nyssa.arrays import libraries, to_numpy
from nyssa.errors import ArgumentError
from nyssa.uproot import values
from nyssa.uproot.interpretation.reading import other, read_as
from nyssa.uproot.nodes import Nodes
from nyssa.uproot.options import ArrayOptions, IgnoredOptions, accepted, clipped

if TYPE_CHECKING:
    import pandas as pd

    from nyssa.uproot.root import Root

__all__ = ["Node"]

N = TypeVar("N", bound="Node[Any]")


class Node(Nodes[N]):
    """A branch or field."""

    def __init__(self, root: Root[N], path: str) -> None:
        self._root, self._path = root, path

    @property
    def column(self) -> nyssa.Column:
        """Return the column of nyssa."""
        return self._root.dataset[self._path]

    @property
    def name(self) -> str:
        """Return the name, without those above it."""
        return self._index.names[self._path]

    @property
    def title(self) -> str:
        """Return the title or description."""
        return self.column.title

    @property
    def typename(self) -> str:
        """Return the C++ type."""
        return self._root._typename(self._path)

    @property
    def parent(self) -> Nodes[N]:
        """Return what it is a part of."""
        above = self._index.above[self._path]
        return self._node(above) if above else self._root

    @property
    def top_level(self) -> bool:
        """Return whether it is directly below the dataset."""
        return not self._index.above[self._path]

    @property
    def index(self) -> int:
        """Return its number among those that have the same parent."""
        return self._index.below[self._index.above[self._path]].index(self._path)

    @property
    def object_path(self) -> str:
        """Return the path of the dataset and its own path."""
        return f"{self._root.object_path}:{self._index.shown[self._path]}"

    @overload
    def array(
        self,
        interpretation: object = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: AwkwardName = "ak",
        **options: Unpack[ArrayOptions],
    ) -> ak.Array: ...

    @overload
    def array(
        self,
        interpretation: object = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: NumpyName,
        **options: Unpack[ArrayOptions],
    ) -> NumpyArray: ...

    @overload
    def array(
        self,
        interpretation: object = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: PandasName,
        **options: Unpack[ArrayOptions],
    ) -> pd.Series[Any]: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def array(
        self,
        interpretation: object = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: str,
        **options: Unpack[ArrayOptions],
    ) -> Any: ...

    @checked
    def array(
        self,
        interpretation: object = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        *,
        library: str = "ak",
        ak_add_doc: bool | Mapping[str, str] = False,
        virtual: bool = False,
        **options: Unpack[IgnoredOptions],
    ) -> Any:
        """Read the values, as `nyssa.Column.array` does; `virtual` ones at their first use."""
        log: Any = options.pop("access_log", None)
        accepted(options)
        if log is not None and not virtual:
            raise ArgumentError("access_log= cannot be used with 'virtual=False'")
        start, stop = clipped(entry_start, entry_stop, self.num_entries)
        given = other(self, interpretation)
        if given is not None:
            return read_as(self, given, start, stop, library)
        if virtual and libraries.canonical(library) == "ak":
            made = self._unread([self._path], start, stop, log)[self._path]
        elif (counted := self._counted(self._path)) != self._path:
            made = self._root.dataset.arrays(
                counted, entry_start=start, entry_stop=stop, library=library
            )[counted]
        else:
            made = self.column.array(entry_start=start, entry_stop=stop, library=library)
        if libraries.canonical(library) == "np":
            return values.objects(made, self.column.typename)
        if libraries.canonical(library) == "ak":
            made = self._root._as_uproot({"": made}, {"": self.column.typename})[""]
        if ak_add_doc and libraries.canonical(library) == "ak":
            return self._with_docs(made, ak_add_doc)
        return made

    def __array__(self, *args: Any, **options: Any) -> NumpyArray:
        """Return the values as a NumPy array."""
        plain = to_numpy.plain(self.array(library="np"), self.object_path)
        return np.array(plain, *args, **options)

    def _repr_html_(self) -> str:
        """Return a table for notebooks, as nyssa does."""
        return self.column._repr_html_()

    def __repr__(self) -> str:
        """Return class, name and number of entries."""
        return printable(f"<{type(self).__name__} {self.name!r} at {self._root.object_path}>")
