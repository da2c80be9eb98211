"""Defines `TableFile`, the table of a Parquet or Arrow IPC file."""

from __future__ import annotations

from nyssa.read.dataset import Dataset

__all__ = ["TableFile"]


class TableFile(Dataset):
    """The table of a Parquet or Arrow IPC file, as a dataset.

    It is read as TTrees and RNTuples are: ``nyssa.open("events.parquet").arrays(["x"])``. Its
    clusters are the row groups, or the record batches. ``docs/parquet.md`` lists the types.
    """
