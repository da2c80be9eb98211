"""Reads partitions for dask-awkward, which tells which columns it needs."""

from __future__ import annotations

from dask_awkward.lib.io.columnar import ColumnProjectionMixin

from nyssa.interop.projected import PartitionReader

__all__ = ["ReadPartition"]


class ReadPartition(PartitionReader, ColumnProjectionMixin):  # type: ignore[misc]
    """A reader of partitions that dask-awkward projects."""

    behavior = None
    attrs = None
    use_optimization = True
