"""`TTree` and `RNTuple`: datasets of a file, whose columns can be read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, overload

import awkward as ak
from typing_extensions import Self, Unpack

from nyssa import _awkward, _core, _lazy, _library, _skip_unreadable
from nyssa._filter import NameFilter, choose, deep, matcher, not_found, nothing_left
from nyssa._mapping import Choosable
from nyssa._read_steps import each
from nyssa._reopen import Recipe
from nyssa._steps import entry_numbers, entry_range
from nyssa._steps import step_size as size_of
from nyssa._typing import (
    ArrowName,
    AwkwardName,
    ColumnFilters,
    EntryOptions,
    NumpyArrays,
    NumpyName,
    PandasName,
    PolarsName,
    RangeSteps,
    Selection,
    TakeOptions,
)
from nyssa.column import Column
from nyssa.errors import ArgumentError, UnsupportedError
from nyssa.fields import Field, tree
from nyssa.rules import ReadRules

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["AttributeSet", "Column", "Dataset", "RNTuple", "TTree", "wrap"]

Names = str | Iterable[str] | None

_Item = tuple[str, str, str | None, str | None]

DEFAULT_STEP = "250 MB"
"""Default of `step_size`: the memory that `Dataset.iterate` uses, approximately."""


class Dataset(Choosable[Column]):
    """A TTree or RNTuple in an open file: a mapping from names to columns.

    `arrays` reads its entries, `iterate` reads them in steps, and ``dataset["Jet_pt"].array()``
    reads one column. A dataset is also an Arrow stream with one batch for each cluster, so that
    ``pyarrow.table(dataset)``, DuckDB and others accept it directly.

    Pickle stores how the dataset was opened, not its data: another process opens the file again, by
    its absolute path. This works for chains, joins, friends and rules, too. The functions of rules
    are pickled with them: pickle accepts functions that it can import, cloudpickle accepts all.
    """

    def __init__(self, core: _core.Dataset, recipe: Recipe) -> None:
        self._core = core
        self._recipe = recipe
        self._items = {item[0]: item for item in core.items()}

    @cached_property
    def _below(self) -> dict[str, _Item]:
        """Return the columns below the top level: sub-branches and subfields."""
        return {item[0]: item for item in self._core.items(below=True)}

    # Properties

    @property
    def name(self) -> str:
        """Name of the object, without its directory."""
        return self.object_path.rpartition("/")[2]

    @property
    def object_path(self) -> str:
        """Path of the object in its file, for example ``"dir/Events"``."""
        return self._core.name.partition(";")[0]

    @property
    def file_path(self) -> str:
        """Path or URL of the file."""
        return self._core.file

    @property
    def num_entries(self) -> int:
        """Number of entries (events)."""
        return self._core.num_entries

    @property
    def clusters(self) -> list[tuple[int, int]]:
        """Ranges ``(start, stop)`` of entries that can be read independently at little cost."""
        return self._core.clusters()

    @property
    def readable(self) -> list[str]:
        """Names of the columns that nyssa can read."""
        return [name for name, item in self._items.items() if item[3] is None]

    @property
    def unreadable(self) -> dict[str, str]:
        """Names of the columns that nyssa cannot read, each with the reason."""
        return {name: item[3] for name, item in self._items.items() if item[3] is not None}

    def keys(  # type: ignore[override]
        self,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        recursive: bool = False,
    ) -> list[str]:
        """Return the names of the columns, in their order in the file.

        Unlike in uproot, the default of `recursive` is `False`. With ``recursive=True`` the result
        also has the paths of the sub-branches of split branches (``"event/px"``), of subfields
        (``"s.x"``; ``"jets.pt"`` is a member of the items of a collection), and of the collections
        that projected fields show (``"_collection_nJet"``). They are read like any column.
        `filter_name` and `filter_typename` (of the C++ type) are globs, ``/regular expressions/``
        that match from the start on, lists of these, or functions.
        """
        return list(
            self.typenames(
                filter_name=filter_name, filter_typename=filter_typename, recursive=recursive
            )
        )

    def typenames(
        self,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        recursive: bool = False,
    ) -> dict[str, str]:
        """Return the C++ type name of each column; see `keys`."""
        name_accepts, type_accepts = matcher(filter_name), matcher(filter_typename)
        found = [item for name, item in self._items.items() if name_accepts(name)]
        if recursive:
            found += [self._below[name] for name in filter(deep(name_accepts), self._below)]
        return {item[0]: item[1] for item in found if type_accepts(item[1])}

    def itertypenames(self, **filters: Unpack[ColumnFilters]) -> Iterator[tuple[str, str]]:
        """Iterate over pairs of name and C++ type name; `filters` are those of `keys`."""
        return iter(self.typenames(**filters).items())

    def show(
        self,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        recursive: bool = False,
    ) -> None:
        """Print the name, the C++ type and the Arrow type of each column, or why it cannot be read.

        The parameters are those of `keys`.
        """
        names = self.keys(
            filter_name=filter_name, filter_typename=filter_typename, recursive=recursive
        )
        items = [self._items.get(name) or self._below[name] for name in names]
        rows = [(name, typename, arrow or f"({why})") for name, typename, arrow, why in items]
        head = ("name", "C++ type", "reads as")
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(2)]
        print(f"{self!r}")
        for row in [head, ("-" * widths[0], "-" * widths[1], "--------"), *rows]:
            print(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip())

    # Mapping

    def __getitem__(self, name: str) -> Column:
        """Return the column `name`. If there is none, a `KeyError` suggests similar names."""
        if not isinstance(name, str):
            raise TypeError(
                f'a column is named by a str, as in dataset["{next(iter(self), "name")}"], not by '
                f"{type(name).__name__}; several are read by .arrays([...])"
            )
        item = self._item(name)
        if item is None:
            raise not_found(name, list(self._all()), self._where())
        return Column(self, item)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of columns. The number of entries is `num_entries`."""
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column of this name."""
        return isinstance(name, str) and self._item(name) is not None

    def __eq__(self, other: object) -> bool:
        """Compare by identity. The data of two datasets are not compared."""
        return self is other

    def __hash__(self) -> int:
        """Hash by identity."""
        return id(self)

    def __reduce__(self) -> Recipe:
        """Return how to open it again."""
        return self._recipe

    def close(self) -> None:
        """Close the files of the dataset.

        After that, reading from them raises an `nyssa.ArgumentError` (a `ValueError`), also for
        other datasets of the same `File`. Arrays that were read stay valid. Lazy arrays keep only
        the columns that were used before.
        """
        self._core.close()

    def __enter__(self) -> Self:
        """Return itself, so that ``with nyssa.open("file.root:Events") as events`` works."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the dataset."""
        self.close()

    def __repr__(self) -> str:
        """Return format, name, columns and entries."""
        entries = f"{self.num_entries} entries"
        return f"<{type(self).__name__} {self.name!r} ({len(self)} columns, {entries})>"

    # Reading

    @overload
    def arrays(
        self,
        names: Names = None,
        *,
        library: AwkwardName = "ak",
        lazy: bool = False,
        **options: Unpack[Selection],
    ) -> ak.Array: ...

    @overload
    def arrays(
        self,
        names: Names = None,
        *,
        library: NumpyName,
        **options: Unpack[Selection],
    ) -> NumpyArrays: ...

    @overload
    def arrays(
        self,
        names: Names = None,
        *,
        library: ArrowName,
        **options: Unpack[Selection],
    ) -> pa.Table: ...

    @overload
    def arrays(
        self,
        names: Names = None,
        *,
        library: PandasName,
        **options: Unpack[Selection],
    ) -> pd.DataFrame: ...

    @overload
    def arrays(
        self,
        names: Names = None,
        *,
        library: PolarsName,
        **options: Unpack[Selection],
    ) -> pl.DataFrame: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def arrays(
        self,
        names: Names = None,
        *,
        library: str,
        **options: Unpack[Selection],
    ) -> Any: ...

    def arrays(
        self,
        names: Names = None,
        *,
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

        Parameters
        ----------
        names
            Name, glob, or list of these; default all columns. A subfield (``"s.x"``) becomes a
            column of this name; uproot returns records of the fields above it.
        filter_name, filter_typename
            Restrict the columns further, by a glob, ``/regular expression/``, list, or function.
        entry_start, entry_stop
            Range of entries; default all. Negative numbers count from the end.
        library
            Type of the result. ``"ak"``: an awkward array of records; ``"np"``: a dict of NumPy
            arrays (see `Column.array`); ``"arrow"``: a ``pyarrow.Table``; ``"pd"``: a
            ``pandas.DataFrame`` (jagged columns hold NumPy arrays as objects); ``"polars"``: a
            ``polars.DataFrame``.
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
        library = _library.canonical(library)
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        source = self.with_rules(rules) if rules else self
        chosen = source._choose(names, filter_name, filter_typename, skip_unreadable)
        if lazy:
            if library != "ak":
                raise ArgumentError('lazy=True makes awkward arrays; use library="ak"')
            record = _skip_unreadable.lazy if skip_unreadable else _lazy.record
            return record(source._core, chosen, start, stop, threads)
        if skip_unreadable:
            return _skip_unreadable.table(source._core, chosen, library, start, stop, threads)
        return source._table(library, chosen, start, stop, threads)

    def with_rules(self, rules: ReadRules) -> Self:
        """Return this dataset with members that `rules` compute when it is read."""
        recipe = (Dataset.with_rules, (self, rules))
        return self._view(_core.with_rules(self._core, rules._core), recipe)

    @overload
    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        library: AwkwardName = "ak",
        **options: Unpack[TakeOptions],
    ) -> ak.Array: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        library: NumpyName,
        **options: Unpack[TakeOptions],
    ) -> NumpyArrays: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        library: ArrowName,
        **options: Unpack[TakeOptions],
    ) -> pa.Table: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        library: PandasName,
        **options: Unpack[TakeOptions],
    ) -> pd.DataFrame: ...

    @overload
    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        library: PolarsName,
        **options: Unpack[TakeOptions],
    ) -> pl.DataFrame: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        library: str,
        **options: Unpack[TakeOptions],
    ) -> Any: ...

    def take(
        self,
        indices: Iterable[int],
        names: Names = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        library: str = "ak",
        skip_unreadable: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Read the entries `indices`, in this order. An entry can occur more than once.

        Only the clusters and pages (or baskets) with these entries are read. The other parameters
        and the result are those of `arrays`; rows are numbered from 0 in pandas.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for indices that are negative, too large, or not integers.
        """
        library = _library.canonical(library)
        chosen = self._choose(names, filter_name, filter_typename, skip_unreadable)
        wanted = entry_numbers(indices, self.num_entries)
        if skip_unreadable:
            return _skip_unreadable.take(self._core, chosen, library, wanted, threads)
        layout = _library.takes_layouts(library)
        columns = self._core.take(chosen, wanted, threads, layout)
        return _library.table(library, chosen, columns, 0, len(wanted))

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: AwkwardName = "ak",
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[ak.Array]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: AwkwardName = "ak",
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[ak.Array, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: NumpyName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[NumpyArrays]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: NumpyName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[NumpyArrays, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: ArrowName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[pa.Table]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: ArrowName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[pa.Table, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: PandasName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[pd.DataFrame]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: PandasName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[pd.DataFrame, tuple[int, int]]]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: PolarsName,
        report: Literal[False] = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[pl.DataFrame]: ...

    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: PolarsName,
        report: Literal[True],
        **options: Unpack[RangeSteps],
    ) -> Iterator[tuple[pl.DataFrame, tuple[int, int]]]: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def iterate(
        self,
        names: Names = None,
        *,
        library: str,
        report: bool = False,
        **options: Unpack[RangeSteps],
    ) -> Iterator[Any]: ...

    def iterate(
        self,
        names: Names = None,
        *,
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

        The next step is read while the caller works on the one before. Pages and baskets with
        entries of the next step are kept decompressed, as far as memory allows. When the file is
        closed, the next step raises an `nyssa.ArgumentError`. The parameters and errors are those
        of `arrays`, and these:

        Parameters
        ----------
        step_size
            Size of a step: an exact number of entries, ``"cluster"`` for one cluster, or memory
            such as ``"100 MB"``. The memory is the peak that iterating uses: the step that the
            caller holds, the one that is being read, decompressed pages and baskets for later
            steps, and buffers. It is an aim, not a limit: the size of entries is estimated from
            earlier ones, so the memory grows where entries grow. Earlier steps that the caller
            keeps are not counted. Steps end with clusters if a cluster fits. Reading is slower if
            two clusters do not fit; if the decompressed pages and baskets do not fit, they are
            decompressed again for each step.
        report
            Yield pairs ``(arrays, (start, stop))`` with the entries of each step.
        skip_unreadable
            Leave out columns and members that cannot be read, from the first step that cannot be
            read on.
        """
        library = _library.canonical(library)
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        chosen = self._choose(names, filter_name, filter_typename, skip_unreadable)
        options = self._step_options(library, step_size, chosen, threads)
        options["skip_unreadable"] = skip_unreadable
        parts = [(start, stop, 0, self.file_path)]

        def show(arrays: Any, _file: str, start: int, stop: int) -> Any:
            return (arrays, (start, stop)) if report else arrays

        def steps() -> Iterator[Any]:
            found = _core.Steps(self._core, parts, chosen, **options)
            yield from each(found, library, chosen, show)

        return steps()

    def partitions(
        self,
        names: Names = None,
        *,
        step_size: int | str = DEFAULT_STEP,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        threads: int | None = None,
    ) -> list[tuple[int, int]]:
        """Return ranges ``(start, stop)`` of entries that can be read separately.

        For example, each range is read by another process:

        >>> with ProcessPoolExecutor() as pool:
        ...     jobs = [pool.submit(work, events, *one) for one in events.partitions()]

        The ranges cover the entries from `entry_start` to `entry_stop` in order, and end with
        clusters if a cluster fits. A cluster that is too large is divided into equal parts.

        Parameters
        ----------
        step_size
            Size of a range: a maximum number of entries, ``"cluster"`` for one cluster, or memory
            such as ``"100 MB"`` for the arrays of a range. This memory is estimated from a few
            entries of the columns.
        names, filter_name, filter_typename, entry_start, entry_stop, threads
            As in `arrays`. The columns are only used if `step_size` is memory.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for a wrong `step_size`, and the errors of `arrays`.
        """
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        size = size_of(step_size)
        by_memory = "memory" in size
        chosen = self._choose(names, filter_name, filter_typename) if by_memory else []
        return self._core.partitions(chosen, start, stop, threads=threads, **size)

    def form(
        self,
        names: Names = None,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        rules: ReadRules | None = None,
        skip_unreadable: bool = False,
    ) -> ak.forms.RecordForm:
        """Return the awkward form of what `arrays` gives for these columns, without reading data.

        The parameters and errors are those of `arrays`. With `skip_unreadable` the form lacks
        columns that are known to be unreadable before values are read.
        """
        source = self.with_rules(rules) if rules else self
        chosen = source._choose(names, filter_name, filter_typename, skip_unreadable)
        if skip_unreadable:
            _, chosen, columns, _ = source._core.read_sparing(chosen, 0, 0)
        else:
            columns = source._core.read(chosen, 0, 0)
        return _awkward.record(chosen, columns, 0).layout.form

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

    # Private methods

    def _view(self, core: _core.Dataset, recipe: Recipe) -> Self:
        """Return a dataset of the same class and entries that reads from `core`."""
        return type(self)(core, recipe)

    def _item(self, name: str) -> _Item | None:
        return self._items.get(name) or self._core.item(name)

    def _where(self) -> str:
        return f"{self.object_path!r} of {self.file_path}"

    def _all(self) -> dict[str, _Item]:
        return {**self._items, **self._below}

    def _choose(
        self, names: Names, by_name: NameFilter, by_type: NameFilter, refused_too: bool = False
    ) -> list[str]:
        chosen = choose(list(self._items), names, by_name, self._where(), self._lower)
        items = {name: item for name in chosen if (item := self._item(name)) is not None}
        if by_type is not None:
            accepts = matcher(by_type)
            items = {name: item for name, item in items.items() if accepts(item[1])}
            if names is not None and chosen and not items:
                raise nothing_left("filter_typename", chosen, self._where())
        refused = {name: item[3] for name, item in items.items() if item[3] is not None}
        if refused and not refused_too:
            raise self._refusal(refused)
        return list(items)

    def _lower(self, name: str | None) -> list[str]:
        """Return the columns below the top level; for a `name`, only this one if it exists."""
        if name is None:
            return list(self._below)
        return [name] if self._core.item(name) else []

    def _refusal(self, refused: Mapping[str, str | None]) -> UnsupportedError:
        lines = [f"{name}: {reason}" for name, reason in [*refused.items()][:5]]
        if len(refused) > 5:
            lines.append(f"and {len(refused) - 5} more (see .unreadable)")
        return UnsupportedError(
            f"nyssa cannot read {len(refused)} of the columns asked of {self._where()}: "
            + "; ".join(lines)
            + "; read the others with skip_unreadable=True"
        )

    def _table(
        self, library: str, names: list[str], start: int, stop: int, threads: int | None
    ) -> Any:
        columns = self._core.read(names, start, stop, threads, _library.takes_layouts(library))
        return _library.table(library, names, columns, start, stop)

    def _step_options(
        self, library: str, size: int | str, names: list[str], threads: int | None
    ) -> dict[str, Any]:
        """Return the options of `_core.Steps` for reading columns into a library."""
        types = [None if (item := self._item(name)) is None else item[2] for name in names]
        return {
            **size_of(size),
            "threads": threads,
            "layout": _library.takes_layouts(library),
            "objects": _library.object_bytes(library, types),
        }


class Friend(NamedTuple):
    """A friend: a tree with further branches for the entries of another tree."""

    name: str
    """Prefix of the names of its branches."""
    tree: str
    """Path of the tree in its file."""
    file: str | None
    """The file as it was given to ROOT; `None` for the file of the other tree."""


class TTree(Dataset):
    """A TTree, the old columnar format of ROOT."""

    @property
    def aliases(self) -> dict[str, str]:
        """Aliases of the tree: names and their formulas in the language of ROOT."""
        return dict(_core.relations(self._core)[0])

    @property
    def friends(self) -> list[Friend]:
        """The friends of the tree; see `with_friends`."""
        return [Friend(*friend) for friend in _core.relations(self._core)[1]]

    def with_friends(self, *, threads: int | None = None) -> Self:
        """Return the tree with the columns of its friends, as ``"friend.branch"``.

        Entries with the same number belong together. If a friend has an index, entries with equal
        values of the index columns belong together, and an entry that the friend does not have is
        null. The file of a friend is searched by its stored name, and then in the folder of the
        tree's file. `threads` is as in `arrays`.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when a friend or its file does not exist.
        nyssa.ArgumentError
            (a `ValueError`) when a friend has fewer entries than the tree.
        nyssa.UnsupportedError
            (a `NotImplementedError`) when the columns of an index are not integers.
        """
        return self._view(_core.with_friends(self._core, threads), (TTree.with_friends, (self,)))


class RNTuple(Dataset):
    """An RNTuple, the new columnar format of ROOT."""

    @property
    def fields(self) -> list[Field]:
        """The top-level fields. Each has a tree of subfields."""
        return tree(self._core.fields())

    @property
    def attribute_sets(self) -> dict[str, AttributeSet]:
        """Attribute sets by name. They store data about ranges of entries."""
        return {name: self._attribute_set(name) for name in self._core.attribute_sets()}

    def _attribute_set(self, name: str) -> AttributeSet:
        recipe = (RNTuple._attribute_set, (self, name))
        return AttributeSet(self._core.attribute_set(name), recipe)


class AttributeSet(RNTuple):
    """An attribute set: an RNTuple with one entry for each attribute.

    Its columns are ``_rangeStart`` and ``_rangeLen``, the range of entries of the main RNTuple that
    an attribute describes, and ``_userData``, a record of its values.
    """

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Ranges ``(start, stop)`` of entries of the main RNTuple, one for each attribute."""
        columns = self.arrays(["_rangeStart", "_rangeLen"], library="np")
        pairs = zip(columns["_rangeStart"].tolist(), columns["_rangeLen"].tolist(), strict=True)
        return [(start, start + length) for start, length in pairs]

    def attributes(self, *, library: str = "ak", **options: Unpack[EntryOptions]) -> Any:
        """Return one record of values for each attribute. The options are those of `arrays`."""
        return self["_userData"].array(library=library, **options)


def wrap(core: _core.Dataset, recipe: Recipe) -> TTree | RNTuple:
    """Return the Python object of an open dataset. `recipe` opens it again."""
    return (TTree if core.format == "TTree" else RNTuple)(core, recipe)
