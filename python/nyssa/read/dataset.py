"""`Dataset`: the class of all datasets of files, and of datasets that are made of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, overload

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, names_of, not_found
from nyssa.arguments.sizes import entry_range
from nyssa.arguments.sizes import step_size as size_of
from nyssa.arrays.libraries import optional
from nyssa.files.reopen import Recipe
from nyssa.observe.io_stats import IoStats
from nyssa.read.column import Column
from nyssa.read.columns import Names
from nyssa.read.mapping import Closable
from nyssa.read.reading import DEFAULT_STEP, Reading

if TYPE_CHECKING:
    import awkward as ak

    from nyssa.pushdown.pyarrow_dataset import PyarrowDataset
    from nyssa.read.rules import ReadRules

__all__ = ["Dataset"]


class Dataset(Reading, Closable):
    """A TTree or RNTuple in an open file: a mapping from names to columns.

    `arrays` reads its entries, `iterate` reads them in steps, and ``dataset["Jet_pt"].array()``
    reads one column. A dataset is also an Arrow stream with one batch for each cluster, so that
    ``pyarrow.table(dataset)``, DuckDB and others accept it directly.

    Pickle stores how the dataset was opened, not its data: another process opens the file again, by
    its absolute path. This works for chains, joins, friends and rules, too. The functions of rules
    are pickled with them: pickle accepts functions that it can import, cloudpickle accepts all.
    """

    @property
    def clusters(self) -> list[tuple[int, int]]:
        """Return the ranges ``(start, stop)`` of entries that are cheap to read by themselves."""
        return self._core.clusters()

    @checked
    def partitions(
        self,
        expressions: Names = None,
        *,
        aliases: Mapping[str, str] | None = None,
        step_size: int | str = DEFAULT_STEP,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        threads: int | None = None,
    ) -> list[tuple[int, int]]:
        """Return ranges ``(start, stop)`` of entries that can be read separately.

        For example, each range is read by another process:

        >>> nyssa.open("events.root:Events").partitions(step_size=10_000)
        [(0, 10000), (10000, 20000)]

        The ranges cover the entries from `entry_start` to `entry_stop` in order, and end with
        clusters if a cluster fits. A cluster that is too large is divided into equal parts.

        Parameters
        ----------
        step_size
            Size of a range: a maximum number of entries, ``"cluster"`` for one cluster, or memory
            such as ``"100 MB"`` for the arrays of a range. This memory is estimated from a few
            entries of the columns.
        expressions, aliases, filter_name, filter_typename, entry_start, entry_stop, threads
            As in `arrays`. The columns are only used if `step_size` is memory.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for a wrong `step_size`; also the errors that `arrays` lists.
        """
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        size = size_of(step_size)
        if "memory" not in size:
            return self._core.partitions([], start, stop, threads=threads, **size)
        names = names_of(expressions)
        source = self._computing(self._query(names, None, aliases))
        chosen = source._choose(names, filter_name, filter_typename)
        return source._core.partitions(chosen, start, stop, threads=threads, **size)

    @checked
    def with_cut(
        self,
        cut: str,
        *,
        aliases: Mapping[str, str] | None = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        threads: int | None = None,
    ) -> Dataset:
        """Return the entries that pass a cut as a dataset, with numbers from 0.

        >>> events = nyssa.open("events.root:Events")
        >>> two = events.with_cut("nMuon >= 2 && Muon_charge[0] != Muon_charge[1]")
        >>> two.num_entries
        6763

        The language of cuts is in ``docs/expressions.md``. It may use the aliases of a TTree. The
        columns of the cut are read now, in small steps. All others are read later, and only the
        ranges of entries that have passed.

        Parameters
        ----------
        cut
            What is true or false for each entry.
        aliases
            A dict from names to expressions, which the cut can use. The default is none.
        entry_start, entry_stop
            Range of entries of this dataset, as in a slice. The defaults are all entries.
        threads
            As in `arrays`.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is no column of a name in the cut; it suggests similar names.
        nyssa.ArgumentError
            (a `ValueError`) when the cut is not in the language, or is not true or false.
        """
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        query = _core.Query(self._core, [], cut, [*(aliases or {}).items()])
        core, _, _ = query.apply(self._core, start, stop, threads)
        again = partial(Dataset.with_cut, aliases=aliases, entry_start=start, entry_stop=stop)
        return Dataset(core, (again, (self, cut)))

    @checked
    def select(
        self,
        expressions: Names = None,
        cut: str | None = None,
        *,
        aliases: Mapping[str, str] | None = None,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        threads: int | None = None,
    ) -> Dataset:
        """Return some columns of the entries that pass a cut, as a dataset with numbers from 0.

        >>> jets = events.select(["Jet_pt", "sum(Jet_pt)"], "nJet >= 2")
        >>> jets.arrays(library="polars")

        All methods of a dataset use it, and so do Arrow, `nyssa.scan_polars`, `to_pyarrow_dataset`
        and `nyssa.join`. The columns of the cut are read now, in small steps. The chosen columns
        are read when they are needed, and only the ranges of entries that have passed.

        Parameters
        ----------
        expressions, aliases, filter_name, filter_typename, threads
            As in `arrays`. The default of `expressions` are all columns.
        cut
            What is true or false for each entry; the default is no cut. See `with_cut`.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when a name matches nothing; also the other errors of `arrays`.
        """
        names = names_of(expressions)
        query = self._query(names, cut, aliases)
        core = (
            self._core
            if query is None
            else query.apply(self._core, 0, self.num_entries, threads)[0]
        )
        chosen = Dataset(core, self._recipe)._choose(names, filter_name, filter_typename, True)
        again = partial(
            Dataset.select,
            aliases=aliases,
            filter_name=filter_name,
            filter_typename=filter_typename,
        )
        return Dataset(core.project(chosen), (again, (self, names, cut)))

    @checked
    def to_pyarrow_dataset(
        self,
        expressions: Names = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        threads: int | None = None,
    ) -> PyarrowDataset:
        """Return this dataset as a ``pyarrow.dataset.Dataset``, for DuckDB and others that scan it.

        >>> events = nyssa.open("file.root:Events").to_pyarrow_dataset()
        >>> duckdb.sql("SELECT avg(MET_pt) FROM events WHERE nMuon >= 2")

        A scan reads the columns that it names. Of a filter, comparisons of columns with numbers,
        ``isin``, ``is_nan``, truth values and ``& | ~`` of these select the entries that are read;
        pyarrow applies the whole filter to them.

        Parameters
        ----------
        expressions, filter_name, filter_typename, threads
            Which columns there are, and how they are read, as in `arrays`.

        Raises
        ------
        ImportError
            if pyarrow is not installed; also the errors that `arrays` lists.
        """
        optional("pyarrow")
        from nyssa.pushdown.pyarrow_dataset import PyarrowDataset

        source = self.select(expressions, filter_name=filter_name, filter_typename=filter_typename)
        return PyarrowDataset(source, source._choose(None, None, None), threads)

    @checked
    def form(
        self,
        expressions: Names = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        aliases: Mapping[str, str] | None = None,
        rules: ReadRules | None = None,
        skip_unreadable: bool = False,
    ) -> ak.forms.RecordForm:
        """Return the awkward form of what `arrays` gives for these columns, without reading data.

        The parameters and errors are as in `arrays`. With `skip_unreadable` the form lacks
        columns that are known to be unreadable before values are read.
        """
        from nyssa.arrays import to_awkward

        source = self.with_rules(rules) if rules else self
        names = names_of(expressions)
        source = source._without_entries(source._query(names, None, aliases))
        chosen = source._choose(names, filter_name, filter_typename, skip_unreadable)
        if skip_unreadable:
            _, chosen, columns, _ = source._core.read_skip_unreadable(chosen, 0, 0)
        else:
            columns = source._core.read(chosen, 0, 0)
        return to_awkward.record(chosen, columns, 0).layout.form

    @overload
    def __getitem__(self, where: str) -> Column: ...

    @overload
    def __getitem__(self, where: list[str] | slice) -> ak.Array: ...

    def __getitem__(self, where: str | list[str] | slice) -> Column | ak.Array:
        """Return a column by its name, or lazy awkward arrays of several columns or of entries.

        ``dataset["Jet_pt"]`` is the column. ``dataset[["Jet_pt", "Jet_eta"]]`` are these columns of
        all entries, and ``dataset[:100]`` all readable columns of the first 100 entries. Data are
        read when they are first needed, as with ``arrays(lazy=True)``.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is no such column; it suggests similar expressions.
        """
        if isinstance(where, str):
            item = self._item(where)
            if item is None:
                raise not_found(where, list(self._all()), self._where())
            return Column(self, item)
        if isinstance(where, list):
            return self.arrays(where, lazy=True)
        if isinstance(where, slice):
            if where.step in (None, 1):
                start, stop = where.start, where.stop
                return self.arrays(self.readable, entry_start=start, entry_stop=stop, lazy=True)
            return self.arrays(self.readable, lazy=True)[where]
        raise TypeError(
            f'a column is named by a str, as in dataset["{next(iter(self), "name")}"], not by '
            f"{type(where).__name__}; entries are selected by a slice, as in dataset[:100]"
        )

    def __reduce__(self) -> Recipe:
        """Return how to open it again."""
        return self._recipe

    def io_stats(self) -> IoStats:
        """Return what was opened and read for the dataset since its files were opened.

        Datasets of one `File` share their counters. Friends, files of branches and files of a chain
        count, too. `nyssa.io_stats` counts for the whole process.
        """
        return IoStats._of(json.loads(self._core.io_stats()))

    def __repr__(self) -> str:
        """Return format, name, columns and entries."""
        entries = f"{self.num_entries} entries"
        return f"<{type(self).__name__} {self.name!r} ({len(self)} columns, {entries})>"
