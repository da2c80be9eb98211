"""Computes columns of expressions, and selects entries by a cut."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from typing_extensions import Self

from nyssa import _core
from nyssa.files.reopen import Recipe
from nyssa.read.column import Column
from nyssa.read.columns import Columns

__all__ = ["Computing"]


class Computing(Columns[Column]):
    """Columns of expressions beside the columns of a dataset, which Arrow can read, too."""

    def __arrow_c_schema__(self) -> object:
        """Return the Arrow schema of all columns (Arrow PyCapsule interface)."""
        return self._core.schema(self._choose(None, None, None))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return all columns as an Arrow stream of one batch per cluster."""
        del requested_schema  # The protocol lets a producer ignore it.
        return self._core.stream(self._choose(None, None, None), 0, self.num_entries, None)

    def __array__(self, *_args: Any, **_options: Any) -> NoReturn:
        """Raise `TypeError`, because NumPy, pandas and awkward would make an array of names."""
        raise TypeError(
            'a dataset is not an array; read it with .arrays(), or .arrays(library="pd") for pandas'
        )

    # awkward tries this protocol first.
    __dlpack__ = __dlpack_device__ = __array__

    def _query(
        self, names: list[str] | None, cut: str | None, aliases: Mapping[str, str] | None
    ) -> _core.Query | None:
        """Return the expressions among `names`, and the cut; `None` if there are neither."""
        others = [name for name in names or () if isinstance(name, str) and name not in self._items]
        if cut is None and not others:
            return None
        query = _core.Query(self._core, others, cut, [*(aliases or {}).items()])
        return None if query.is_empty() else query

    def _computing(self, query: _core.Query | None) -> Self:
        """Return this dataset with the columns of a query that has no cut."""
        if query is None:
            return self
        return self._view(query.apply(self._core, 0, self.num_entries)[0], self._recipe)

    def _without_entries(self, query: _core.Query | None) -> Self:
        """Return this dataset with the columns of the query, but without entries."""
        if query is None:
            return self
        return self._view(query.apply(self._core, 0, 0)[0], self._recipe)

    def _view(self, core: _core.Dataset, recipe: Recipe) -> Self:
        """Return a dataset of the same class and entries that reads from `core`."""
        return type(self)(core, recipe)
