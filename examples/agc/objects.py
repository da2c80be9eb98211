"""Objects of one kind, such as jets, of many events: flat arrays, and numbers per event."""

from __future__ import annotations

from dataclasses import dataclass

import awkward as ak
import numpy as np


@dataclass(frozen=True)
class Objects:
    """The objects of many events, all of the first event first.

    ``jets["pt"]`` is the array of the momenta of all jets. A selection only takes from the columns
    that are asked for.
    """

    columns: dict[str, np.ndarray]
    counts: np.ndarray
    """The number of objects of each event."""
    chosen: np.ndarray | None = None
    """Where the objects are in the columns; `None` for all of them."""

    @staticmethod
    def of(events: ak.Array, collection: str, fields: list[str]) -> Objects:
        """Return the objects of a collection whose columns are named ``Jet_pt`` and so on."""
        columns = {}
        for field in fields:
            layout = events[f"{collection}_{field}"].layout
            offsets = np.asarray(layout.offsets.data)
            columns[field] = np.asarray(layout.content.data)[offsets[0] : offsets[-1]]
        return Objects(columns, np.diff(offsets))

    def __getitem__(self, field: str) -> np.ndarray:
        values = self.columns[field]
        return values if self.chosen is None else values[self.chosen]

    @property
    def starts(self) -> np.ndarray:
        """Return the position of the first object of each event."""
        return np.cumsum(self.counts) - self.counts

    def count(self, mask: np.ndarray) -> np.ndarray:
        """Return for each event how many of its objects have a true value in `mask`."""
        sums = np.zeros(len(mask) + 1, np.int64)
        np.cumsum(mask, out=sums[1:])
        return np.diff(sums[np.cumsum(self.counts)], prepend=0)

    def where(self, mask: np.ndarray) -> Objects:
        """Return the objects that have a true value in `mask`. Events stay, also empty ones."""
        return self._take(mask, self.count(mask))

    def of_events(self, mask: np.ndarray) -> Objects:
        """Return the objects of the events that have a true value in `mask`."""
        return self._take(np.repeat(mask, self.counts), self.counts[mask])

    def with_columns(self, **columns: np.ndarray) -> Objects:
        """Return the objects with more columns, or other values in some columns."""
        return Objects({field: self[field] for field in self.columns} | columns, self.counts)

    def _take(self, mask: np.ndarray, counts: np.ndarray) -> Objects:
        chosen = np.flatnonzero(mask) if self.chosen is None else self.chosen[mask]
        return Objects(self.columns, counts, chosen)
