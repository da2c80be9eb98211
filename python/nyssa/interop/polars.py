"""Scans datasets with polars, which reads only the columns and entries that a query needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arguments.sizes import entry_range
from nyssa.arrays.libraries import optional
from nyssa.pushdown import polars_predicate
from nyssa.pushdown.condition import steps
from nyssa.read.chain import Files, chain
from nyssa.read.columns import Names
from nyssa.read.dataset import Dataset

if TYPE_CHECKING:
    import polars as pl

__all__ = ["scan_polars"]


@checked
def scan_polars(
    files: Files,
    expressions: Names = None,
    *,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    entry_start: int | None = None,
    entry_stop: int | None = None,
    threads: int | None = None,
) -> pl.LazyFrame:
    """Return files as a ``polars.LazyFrame``, which reads only what its query needs.

    >>> import polars as pl
    >>> events = nyssa.scan_polars("run1/*.root:Events")
    >>> events.filter(pl.col("nMuon") >= 2).select(pl.len()).collect().item()
    13526

    Projection, predicate and slice are pushed down: other columns are not read, the columns of a
    predicate are read first and the others only for the entries that may pass, and ``head(n)``
    reads the first entries. polars does not tell a source where a slice begins: `entry_start` does.
    Of a predicate, comparisons of columns, and of the lengths of lists,
    with numbers, ``is_between``, ``is_nan``, truth values, and ``& | ~`` of these are pushed down.
    polars itself applies the whole predicate to what was read: the result is always its own.

    Parameters
    ----------
    files
        Files as for `chain`, or a dataset.
    expressions, filter_name, filter_typename, threads
        Which columns there are, and how they are read, as in `Dataset.arrays`.
    entry_start, entry_stop
        Range of entries, as in a slice. No others are read. The default is all entries.

    Raises
    ------
    ImportError
        if polars is not installed.
    nyssa.UnsupportedError
        (a `NotImplementedError`) when a column cannot be read, or polars has no type for it.
    nyssa.NotFoundError
        (a `KeyError`) when a name matches nothing.
    """
    optional("polars")
    from polars.io.plugins import register_io_source

    dataset = files if isinstance(files, Dataset) else chain(files)
    chosen = dataset.select(expressions, filter_name=filter_name, filter_typename=filter_typename)
    schema = chosen.arrays(library="polars", entry_stop=0).schema
    entries = range(*entry_range(entry_start, entry_stop, chosen.num_entries))
    source = _Source(chosen, schema, entries, threads)
    return register_io_source(source, schema=schema, is_pure=True)


class _Source:
    """Reads what polars asks for."""

    def __init__(
        self, dataset: Dataset, schema: pl.Schema, entries: range, threads: int | None
    ) -> None:
        self._dataset, self._schema, self._threads = dataset, schema, threads
        self._entries = entries

    def __call__(
        self,
        with_columns: list[str] | None,
        predicate: pl.Expr | None,
        n_rows: int | None,
        batch_size: int | None,
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows that a predicate selects, at most `n_rows`."""
        del batch_size  # Steps end with clusters.
        columns = list(self._schema) if with_columns is None else with_columns
        if predicate is None:
            frames = self._read(columns, None, n_rows)
        else:
            also = [name for name in predicate.meta.root_names() if name not in columns]
            cut = polars_predicate.cut_of(predicate, self._schema)
            read = self._read([*columns, *also], cut, None)
            frames = (frame.filter(predicate).select(columns) for frame in read)
        left = n_rows
        for frame in frames:
            yield frame if left is None else frame.head(left)
            if left is not None:
                left -= min(left, len(frame))
                if left == 0:
                    return

    def _read(self, names: list[str], cut: str | None, most: int | None) -> Iterator[pl.DataFrame]:
        entries = self._entries if most is None else self._entries[:most]
        empty = True
        for frame in steps(
            self._dataset,
            names,
            cut,
            "polars",
            entry_start=entries.start,
            entry_stop=max(entries.start, entries.stop),
            threads=self._threads,
        ):
            empty = False
            yield frame
        if empty:
            yield self._schema.to_frame().select(names)
