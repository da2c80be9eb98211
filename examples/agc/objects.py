"""Objects of one kind, such as jets, of many events: flat arrays, and how many each event has."""

from __future__ import annotations

from dataclasses import dataclass

import awkward as ak
import numpy as np


@dataclass(frozen=True)
class Objects:
    """Objects of many events, all of the first event first.

    ``jets["pt"]`` is the array of the momenta of all jets.
    """

    columns: dict[str, np.ndarray]
    counts: np.ndarray
    """Number of objects of each event."""

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
        return self.columns[field]

    @property
    def starts(self) -> np.ndarray:
        """The position of the first object of each event."""
        return np.cumsum(self.counts) - self.counts

    def count(self, mask: np.ndarray) -> np.ndarray:
        """Return for each event how many of its objects have a true value in `mask`."""
        ends = np.cumsum(self.counts)
        sums = np.concatenate([[0], np.cumsum(mask)])
        return sums[ends] - sums[ends - self.counts]

    def where(self, mask: np.ndarray) -> Objects:
        """Return the objects that have a true value in `mask`. Events stay, also empty ones."""
        columns = {field: values[mask] for field, values in self.columns.items()}
        return Objects(columns, self.count(mask))

    def of_events(self, mask: np.ndarray) -> Objects:
        """Return the objects of the events that have a true value in `mask`."""
        of_objects = np.repeat(mask, self.counts)
        columns = {field: values[of_objects] for field, values in self.columns.items()}
        return Objects(columns, self.counts[mask])

    def replaced(self, **columns: np.ndarray) -> Objects:
        """Return the objects with other values in some columns."""
        return Objects(self.columns | columns, self.counts)
