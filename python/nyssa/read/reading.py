"""Defines the methods that read columns, each with an overload for each library."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from typing_extensions import Self, Unpack

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, names_of
from nyssa.arguments.options import (
    ArrowName,
    AwkwardName,
    NumpyArrays,
    NumpyName,
    PandasName,
    PolarsName,
    RangeSteps,
    Selection,
    TakeOptions,
)
from nyssa.arguments.sizes import entry_range
from nyssa.arguments.sizes import step_size as size_of
from nyssa.arrays import libraries, to_numpy
from nyssa.arrays.groups import How, grouping
from nyssa.errors import ArgumentError
from nyssa.read import unreadable
from nyssa.read.columns import Names
from nyssa.read.computing import Computing
from nyssa.read.steps import each

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from nyssa.read.rules import ReadRules

__all__ = ["DEFAULT_STEP", "Reading"]

DEFAULT_STEP = "250 MB"
"""The default of `step_size`: the memory that `Dataset.iterate` uses, approximately."""


class Reading(Computing):
    """Reads columns, for classes whose columns can be read. `nyssa.Dataset` derives from it."""

    @checked
    def with_rules(self, rules: ReadRules) -> Self:
        """Return this dataset with members that `rules` compute when it is read."""
        recipe = (Reading.with_rules, (self, rules))
        return self._view(_core.with_rules(self._core, rules._core), recipe)

    @overload
    def arrays(
        self,
        expressions: Names = None,
        *,
        library: AwkwardName = "ak",
        lazy: bool = False,
        **options: Unpack[Selection],
    ) -> ak.Array: ...

    @overload
    def arrays(
        self, expressions: Names = None, *, library: NumpyName, **options: Unpack[Selection]
    ) -> NumpyArrays: ...

    @overload
    def arrays(
        self, expressions: Names = None, *, library: ArrowName, **options: Unpack[Selection]
    ) -> pa.Table: ...

    @overload
    def arrays(
        self, expressions: Names = None, *, library: PandasName, **options: Unpack[Selection]
    ) -> pd.DataFrame: ...

    @overload
    def arrays(
        self, expressions: Names = None, *, library: PolarsName, **options: Unpack[Selection]
    ) -> pl.DataFrame: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def arrays(
        self, expressions: Names = None, *, library: str, **options: Unpack[Selection]
    ) -> Any: ...

    @checked
    def arrays(
        self,
        expressions: Names = None,
        *,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        how: How | None = None,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: str = "ak",
        lazy: bool = False,
        rules: ReadRules | None = None,
        skip_unreadable: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Read columns into memory.

        >>> events = nyssa.open("events.root:Events")
        >>> events.arrays(["MET_pt", "nJet"], library="np", entry_stop=3)["nJet"]
        array([7, 8, 5], dtype=uint32)
        >>> muons = events.arrays(filter_name="Muon_*", cut="nMuon >= 2", how="zip").Muon
        >>> len(muons), muons.fields
        (6763, ['pt', 'eta', 'phi', 'mass', 'charge'])
        >>> aliases = {"ht": "sum(Jet_pt[Jet_pt > 30])"}
        >>> len(events.arrays(["ht"], aliases=aliases, cut="ht > 200"))
        1422

        Parameters
        ----------
        expressions
            Name, glob, expression, or list of these; default all columns. A subfield (``"s.x"``)
            becomes a column of this name; uproot returns records of the fields above it. An
            expression is computed, and its text is the name of its column:
            ``"sqrt(px**2 + py**2)"``, ``"sum(Jet_pt[Jet_eta < 2.4])"``. The language
            is in ``docs/expressions.md``. Only the columns that it needs are read.
        cut
            Condition on the entries; see `with_cut`. It is evaluated on the range of entries, after
            the `rules`. Its columns are read first, all others only for the entries that pass. The
            default is no condition.
        aliases
            A dict from names to expressions. Expressions, other aliases and the cut can use the
            names. The aliases of a TTree can be used, too.
        how
            `None`: as `library` says; `tuple`, `list` or `dict` of the columns; ``"zip"``: awkward
            records with lists of records, such as ``Jet`` with ``pt`` and ``eta``, of those lists
            that have the same lengths and a common name up to ``_``.
        filter_name, filter_typename
            Restrict the columns further, by a glob, ``/regular expression/``, list, or function.
        entry_start, entry_stop
            Range of entries; default all. Negative numbers count from the end.
        library
            Type of the result. ``"ak"``: an awkward array of records; ``"np"``: a dict of NumPy
            arrays (see `Column.array`); ``"arrow"``: a ``pyarrow.Table``; ``"pd"``: a
            ``pandas.DataFrame`` (jagged columns hold NumPy arrays as objects, and numbers that may
            be missing are of pandas' own types); ``"pd[nan]"``: one whose missing numbers are NaN;
            ``"pd[pyarrow]"``: one of ``ArrowDtype``; ``"polars"``: a ``polars.DataFrame``.
        lazy
            Return an awkward array at once, and read each column when its values are first needed.
            Then all entries of the column are read, only once.
        rules
            Members that are computed from other members; see `ReadRules`.
        skip_unreadable
            Leave out columns that cannot be read; of objects leave out only the members that
            cannot be read. For each, a warning (`nyssa.UnreadableWarning`) tells the name and the
            reason. With `lazy`, only columns that are known to be unreadable before values are read
            are left out; damaged values raise an error when they are needed. By default all this
            is an error.
        threads
            Number of threads; default the environment variable ``NYSSA_NUM_THREADS``, or else all
            cores.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when a name matches nothing.
        nyssa.UnsupportedError
            (a `NotImplementedError`) when nyssa cannot read one of the columns.
        nyssa.FormatError, nyssa.ChecksumError
            when the file is damaged.
        """
        library = libraries.canonical(library)
        group = grouping(how, library)
        if lazy and (library != "ak" or how is not None):
            raise ArgumentError('lazy=True makes awkward records; use library="ak" without how')
        names = names_of(expressions)
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        source = self.with_rules(rules) if rules else self
        query = source._query(names, cut, aliases)
        if query is not None:
            core, start, stop = query.apply(source._core, start, stop, threads)
            source = source._view(core, source._recipe)
        chosen = source._choose(names, filter_name, filter_typename, skip_unreadable)
        if lazy:
            from nyssa.arrays import lazy_arrays

            record = unreadable.lazy if skip_unreadable else lazy_arrays.record
            return record(source._core, chosen, start, stop, threads)
        if skip_unreadable:
            columns = unreadable.table(source._core, chosen, library, start, stop, threads)
        else:
            columns = source._table(library, chosen, start, stop, threads)
        return group(columns)

    @overload
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        library: AwkwardName = "ak",
        **options: Unpack[TakeOptions],
    ) -> ak.Array: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        library: NumpyName,
        **options: Unpack[TakeOptions],
    ) -> NumpyArrays: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        library: ArrowName,
        **options: Unpack[TakeOptions],
    ) -> pa.Table: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        library: PandasName,
        **options: Unpack[TakeOptions],
    ) -> pd.DataFrame: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        library: PolarsName,
        **options: Unpack[TakeOptions],
    ) -> pl.DataFrame: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        library: str,
        **options: Unpack[TakeOptions],
    ) -> Any: ...

    @checked
    def take(
        self,
        indices: Iterable[int],
        expressions: Names = None,
        *,
        aliases: Mapping[str, str] | None = None,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        library: str = "ak",
        skip_unreadable: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Read the entries `indices`, in this order. An entry can occur more than once.

        >>> events = nyssa.open("events.root:Events")
        >>> events.take([7, 3, 3], ["event"], library="np")["event"]
        array([7, 3, 3], dtype=uint64)

        Only the clusters and pages (or baskets) with these entries are read. The other parameters
        and the result are as in `arrays`; rows are numbered from 0 in pandas.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for indices that are negative, too large, or not integers.
        """
        library = libraries.canonical(library)
        names = names_of(expressions)
        source = self._computing(self._query(names, None, aliases))
        chosen = source._choose(names, filter_name, filter_typename, skip_unreadable)
        wanted = _entry_numbers(indices, self.num_entries)
        if skip_unreadable:
            return unreadable.take(source._core, chosen, library, wanted, threads)
        buffers = libraries.takes_buffers(library)
        columns = source._core.take(chosen, wanted, threads, buffers)
        return libraries.table(library, chosen, columns, 0, len(wanted))

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: AwkwardName = "ak",
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[ak.Array]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: AwkwardName = "ak",
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[ak.Array, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: NumpyName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[NumpyArrays]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: NumpyName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[NumpyArrays, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: ArrowName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[pa.Table]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: ArrowName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[pa.Table, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: PandasName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[pd.DataFrame]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: PandasName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[pd.DataFrame, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: PolarsName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[pl.DataFrame]: ...

    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: PolarsName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[pl.DataFrame, tuple[int, int]]]: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def iterate(
        self,
        expressions: Names = None,
        *,
        library: str,
        report: bool = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[Any]: ...

    @checked
    def iterate(
        self,
        expressions: Names = None,
        *,
        cut: str | None = None,
        aliases: Mapping[str, str] | None = None,
        how: How | None = None,
        step_size: int | str = DEFAULT_STEP,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: str = "ak",
        report: bool = False,
        skip_unreadable: bool = False,
        threads: int | None = None,
    ) -> Iterator[Any]:
        """Read columns in steps. Each step has the type that `arrays` returns.

        >>> events = nyssa.open("events.root:Events")
        >>> [len(step) for step in events.iterate(["Jet_pt"], step_size=8_000)]
        [8000, 8000, 4000]

        The next step is read while the caller works on the previous step. Pages and baskets with
        entries of the next step are kept decompressed, as far as memory allows. When the file is
        closed, the next step raises an `nyssa.ArgumentError`. The parameters and errors are as
        in `arrays`, and these:

        Parameters
        ----------
        step_size
            Size of a step: an exact number of entries, ``"cluster"`` for one cluster, or memory
            such as ``"100 MB"``. The memory is the peak that iterating uses: the step that the
            caller holds, the one that is being read, decompressed pages and baskets for later
            steps, and buffers. It is an aim, not a limit: the size of entries is estimated from
            earlier ones, so the memory grows where entries grow. One entry that takes more than the
            memory is a step of its own, and the first one is told by a
            `nyssa.LargeEntryWarning`. Earlier steps that the caller
            keeps are not counted. Steps end with clusters if a cluster fits. Reading is slower if
            two clusters do not fit; if the decompressed pages and baskets do not fit, they are
            decompressed again for each step. They are not fetched again from a server: a temporary
            file has them until the last step that needs them.
        cut
            As in `arrays`. Its columns are read at the start for the whole range, the others step
            by step. Steps have entries that pass.
        report
            Yield pairs ``(arrays, (start, stop))`` with the entries of each step. With a `cut`
            these are its first entry and the one after its last, counted with those that fail.
        skip_unreadable
            Leave out columns and members that cannot be read, from the first step that cannot be
            read on.
        """
        library = libraries.canonical(library)
        group = grouping(how, library)
        names = names_of(expressions)
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        query = self._query(names, cut, aliases)
        columns = self._without_entries(query)
        chosen = columns._choose(names, filter_name, filter_typename, skip_unreadable)
        options = columns._step_options(library, step_size, chosen, threads)
        options["skip_unreadable"] = skip_unreadable
        options["query"] = query
        parts = [(start, stop, 0, self.file_path)]

        def show(arrays: Any, _file: str, start: int, stop: int) -> Any:
            arrays = group(arrays)
            return (arrays, (start, stop)) if report else arrays

        def steps() -> Iterator[Any]:
            made = _core.Steps(self._core, parts, chosen, **options)
            yield from each(made, library, chosen, show)

        return steps()

    def _table(
        self, library: str, names: list[str], start: int, stop: int, threads: int | None
    ) -> Any:
        columns = self._core.read(names, start, stop, threads, libraries.takes_buffers(library))
        return libraries.table(library, names, columns, start, stop)

    def _step_options(
        self, library: str, size: int | str, names: list[str], threads: int | None
    ) -> dict[str, Any]:
        """Return the options of `_core.Steps` for reading columns into a library."""
        types = [None if (item := self._item(name)) is None else item[2] for name in names]
        return {
            **size_of(size),
            "threads": threads,
            "buffers": libraries.takes_buffers(library),
            "objects": libraries.object_bytes(library, types),
        }


def _entry_numbers(indices: Iterable[int], entries: int) -> list[int]:
    """Return `indices` as a list; raise an error unless all are valid numbers of entries."""
    listed = indices if hasattr(indices, "__len__") else list(indices)
    numbers = to_numpy.plain(listed, "indices")
    if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and len(numbers)):
        raise ArgumentError("indices are a list or a one-dimensional array of integers")
    for wrong in numbers[(numbers < 0) | (numbers >= entries)][:1].tolist():
        raise ArgumentError(f"entry {wrong} is not among the {entries} entries, counted from 0")
    entry_numbers: list[int] = numbers.tolist()
    return entry_numbers
