"""`TTree` and `RNTuple`: what can be read from a file, column by column or all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from nyssa import _core, _lazy, _library, _spare
from nyssa._filter import NameFilter, choose, matcher, not_found
from nyssa._steps import bytes_of, entry_numbers, entry_range
from nyssa.errors import ArgumentError, UnsupportedError
from nyssa.fields import Field, tree
from nyssa.rules import ReadRules

__all__ = ["AttributeSet", "Column", "Dataset", "RNTuple", "TTree", "wrap"]

Names = str | Iterable[str] | None

DEFAULT_STEP = "100 MB"
"""Memory of one step of `Dataset.iterate`."""


class Dataset(Mapping[str, "Column"]):
    """A TTree or RNTuple in an open file: a mapping from names to columns.

    Its entries are read with `arrays`, in pieces with `iterate`, or column by column
    (``dataset["Jet_pt"].array()``). It is also an Arrow stream, one batch per cluster:
    ``pyarrow.table(dataset)``, DuckDB and others take it as it is.
    """

    def __init__(self, core: _core.Dataset) -> None:
        self._core = core
        self._items = {item[0]: item for item in core.items()}
        self._below = {item[0]: item for item in core.items(below=True)}

    # What it is

    @property
    def name(self) -> str:
        """Name of the object, without its directory."""
        return self.object_path.rpartition("/")[2]

    @property
    def object_path(self) -> str:
        """Path of the object in its file, such as ``"dir/Events"``."""
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
        """Ranges ``(start, stop)`` of entries that are cheap to read on their own."""
        return self._core.clusters()

    @property
    def readable(self) -> list[str]:
        """Names of the columns nyssa can read."""
        return [name for name, item in self._items.items() if item[3] is None]

    @property
    def unreadable(self) -> dict[str, str]:
        """Names of the other columns, each with the reason."""
        return {name: item[3] for name, item in self._items.items() if item[3] is not None}

    def keys(  # type: ignore[override]
        self,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        recursive: bool = False,
    ) -> list[str]:
        """Return the names of the columns, in their order in the file.

        With `recursive` the sub-branches of split branches follow, by path (``"event/px"``); they
        are read like any column. `filter_name` and `filter_typename` (of the C++ type) are globs,
        ``/regular expressions/``, lists of those, or functions.
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
        items = self._all() if recursive else self._items
        return {
            name: item[1]
            for name, item in items.items()
            if name_accepts(name) and type_accepts(item[1])
        }

    def show(self, *, filter_name: NameFilter = None, filter_typename: NameFilter = None) -> None:
        """Print each column's name, C++ type and Arrow type, or why it cannot be read."""
        names = self.keys(filter_name=filter_name, filter_typename=filter_typename)
        items = [self._items[name] for name in names]
        rows = [(name, typename, arrow or f"({why})") for name, typename, arrow, why in items]
        head = ("name", "C++ type", "reads as")
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(2)]
        print(f"{self!r}")
        for row in [head, ("-" * widths[0], "-" * widths[1], "--------"), *rows]:
            print(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip())

    # A mapping

    def __getitem__(self, name: str) -> Column:
        """Return the column `name`; `KeyError` with the nearest names if there is none."""
        if name not in self:
            raise not_found(name, list(self._all()), self._where())
        return Column(self, name)

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of columns; for entries see `num_entries`."""
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column of that name."""
        return name in self._items or name in self._below

    def __eq__(self, other: object) -> bool:
        """Compare by identity: two open datasets are not compared by their data."""
        return self is other

    def __hash__(self) -> int:
        """Hash by identity."""
        return id(self)

    def __enter__(self) -> Dataset:
        """Return itself, so that ``with nyssa.open("file.root:Events") as events`` works."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Do nothing: the file is closed when nothing refers to it any more."""

    def __repr__(self) -> str:
        """Return format, name, columns and entries."""
        entries = f"{self.num_entries} entries"
        return f"<{type(self).__name__} {self.name!r} ({len(self)} columns, {entries})>"

    # Reading

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
            Name, glob or list of them; default all columns.
        filter_name, filter_typename
            Further restrict them: glob, ``/regular expression/``, list, or function.
        entry_start, entry_stop
            Range of entries, counted from the end if negative; default all.
        library
            ``"ak"`` an awkward array of records; ``"np"`` a dict of NumPy arrays (see
            `Column.array`); ``"arrow"`` a ``pyarrow.Table``; ``"pd"`` a ``pandas.DataFrame``
            (jagged columns hold NumPy arrays as objects); ``"polars"`` a ``polars.DataFrame``.
        lazy
            Make an awkward array now and read each column when its values are first needed, then
            all of it and once. Columns with variants are read at once.
        rules
            Members to compute from others; see `ReadRules`.
        skip_unreadable
            Leave out what cannot be read, with a warning (`nyssa.UnreadableWarning`) for each that
            says which and why: columns, and of a TTree's objects only the members that cannot be
            read. Default: that is an error.
        threads
            Number of threads; default the environment variable ``NYSSA_NUM_THREADS``, else all
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
            if skip_unreadable:
                raise ArgumentError("lazy=True reads too late to leave out what is unreadable")
            return _lazy.record(source._core, chosen, start, stop, threads)
        if skip_unreadable:
            return _spare.Sparing(source._core, chosen, library, threads).table(start, stop)
        return source._table(library, chosen, start, stop, threads)

    def with_rules(self, rules: ReadRules) -> Dataset:
        """Return this dataset with members that `rules` compute while it is read."""
        return Dataset(_core.with_rules(self._core, rules._core))

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
        """Read entries in any order, repeated ones too: one result for each of `indices`.

        Only the clusters and pages (or baskets) that hold these entries are read. The other
        parameters and the result are those of `arrays`; rows are numbered from 0 in pandas.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for indices that are negative, too large, or no integers.
        """
        library = _library.canonical(library)
        chosen = self._choose(names, filter_name, filter_typename, skip_unreadable)
        wanted = entry_numbers(indices, self.num_entries)
        if skip_unreadable:
            return _spare.Sparing(self._core, chosen, library, threads).take(wanted)
        layout = _library.takes_layouts(library)
        columns = self._core.take(chosen, wanted, threads, layout)
        return _library.table(library, chosen, columns, 0, len(wanted))

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
        """Read columns in steps, yielding what `arrays` would return for each.

        `step_size` is a number of entries; the memory of one step, such as ``"100 MB"``, estimated
        from the first entries; or ``"cluster"`` for one step per cluster. With ``report=True`` each
        step is a pair ``(arrays, (start, stop))``. With `skip_unreadable` what cannot be read is
        left out from the step on in which that shows. The other parameters are those of `arrays`.
        """
        library = _library.canonical(library)
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        chosen = self._choose(names, filter_name, filter_typename, skip_unreadable)
        if skip_unreadable:
            sparing = _spare.Sparing(self._core, chosen, library, threads)
            spared = sparing.steps(step_size, self.clusters, start, stop)
            return ((table, (a, b)) if report else table for table, a, b in spared)
        if step_size == "cluster":
            spans = [(max(a, start), min(b, stop)) for a, b in self.clusters]
            spans = [(a, b) for a, b in spans if a < b]
        else:
            size = self._entries_per_step(step_size, chosen, start, stop, threads)
            spans = [(first, min(first + size, stop)) for first in range(start, stop, size)]

        def steps() -> Iterator[Any]:
            for first, last in spans:
                table = self._table(library, chosen, first, last, threads)
                yield (table, (first, last)) if report else table

        return steps()

    def __arrow_c_schema__(self) -> object:
        """Return the Arrow schema of all columns (Arrow PyCapsule interface)."""
        return self._core.schema(self._choose(None, None, None))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return all columns as an Arrow stream of one batch per cluster."""
        del requested_schema  # A producer may ignore it.
        return self._core.stream(self._choose(None, None, None), 0, self.num_entries, None)

    # Inner workings

    def _where(self) -> str:
        return f"{self.object_path!r} of {self.file_path}"

    def _all(self) -> dict[str, tuple[str, str, str | None, str | None]]:
        return {**self._items, **self._below}

    def _choose(
        self, names: Names, by_name: NameFilter, by_type: NameFilter, refused_too: bool = False
    ) -> list[str]:
        chosen = choose(list(self._items), names, by_name, self._where(), list(self._below))
        items = self._all()
        if by_type is not None:
            accepts = matcher(by_type)
            chosen = [name for name in chosen if accepts(items[name][1])]
        refused = [name for name in chosen if items[name][3] is not None]
        if refused and not refused_too:
            raise self._refusal(refused)
        return chosen

    def _refusal(self, refused: list[str]) -> UnsupportedError:
        items = self._all()
        lines = [f"{name}: {items[name][3]}" for name in refused[:5]]
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

    def _entries_per_step(
        self, step: int | str, names: list[str], start: int, stop: int, threads: int | None
    ) -> int:
        if isinstance(step, int) and not isinstance(step, bool):
            if step <= 0:
                raise ArgumentError("step_size must be at least one entry")
            return step
        if not isinstance(step, str):
            raise ArgumentError(
                'step_size is a number of entries, memory such as "100 MB", or "cluster", '
                f"not {step!r}"
            )
        limit = bytes_of(step, "step_size")
        if start >= stop or not names:
            return max(1, stop - start)
        sample = min(stop - start, 1000)
        columns = self._core.read(names, start, start + sample, threads)
        per_entry = _core.Table(columns, sample).nbytes / sample
        return max(1, int(limit / max(1.0, per_entry)))


class Friend(NamedTuple):
    """A tree whose branches belong to the entries of another."""

    name: str
    """What goes before the names of its branches."""
    tree: str
    """Path of the tree in its file."""
    file: str | None
    """The file as it was given to ROOT; `None` for that of the other tree."""


class TTree(Dataset):
    """A TTree: ROOT's old container of columns."""

    @property
    def aliases(self) -> dict[str, str]:
        """Formulas in ROOT's language by their names."""
        return dict(_core.relations(self._core)[0])

    @property
    def friends(self) -> list[Friend]:
        """The trees whose branches belong to the same entries; see `with_friends`."""
        return [Friend(*friend) for friend in _core.relations(self._core)[1]]

    def with_friends(self, *, threads: int | None = None) -> Dataset:
        """Return the tree with the columns of its friends, as ``"friend.branch"``.

        Entries of the same number belong together, except where a friend has an index: there those
        with the same values of its columns do, and entries that the friend lacks are null. Files of
        friends are looked for as they are named, then beside the file of the tree. `threads` is as
        in `arrays`.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when a friend or its file is not there.
        nyssa.ArgumentError
            (a `ValueError`) when a friend has fewer entries than the tree.
        nyssa.UnsupportedError
            (a `NotImplementedError`) when a friend has an index that is not by integer columns.
        """
        return Dataset(_core.with_friends(self._core, threads))


class RNTuple(Dataset):
    """An RNTuple: ROOT's new container of columns."""

    @property
    def fields(self) -> list[Field]:
        """The top-level fields, each the root of a tree of subfields."""
        return tree(self._core.fields())

    @property
    def attribute_sets(self) -> dict[str, AttributeSet]:
        """Attribute sets by name: data about ranges of entries. Empty for most RNTuples."""
        names = self._core.attribute_sets()
        return {name: AttributeSet(self._core.attribute_set(name)) for name in names}


class AttributeSet(RNTuple):
    """An attribute set: an RNTuple with one entry per attribute.

    Its columns are ``_rangeStart`` and ``_rangeLen``, the entries of the main RNTuple that an
    attribute is about, and ``_userData``, a record of its values.
    """

    @property
    def ranges(self) -> list[tuple[int, int]]:
        """Entries ``(start, stop)`` of the main RNTuple that each attribute is about."""
        columns = self.arrays(["_rangeStart", "_rangeLen"], library="np")
        pairs = zip(columns["_rangeStart"].tolist(), columns["_rangeLen"].tolist(), strict=True)
        return [(start, start + length) for start, length in pairs]

    def attributes(self, **options: Any) -> Any:
        """Return the values of all attributes, one record each; options are those of `arrays`."""
        return self["_userData"].array(**options)


class Column:
    """One column of a `Dataset`: a branch of a TTree, a field of an RNTuple."""

    def __init__(self, dataset: Dataset, name: str) -> None:
        self._dataset = dataset
        self._item = dataset._all()[name]

    @property
    def name(self) -> str:
        """Name of the branch or field."""
        return self._item[0]

    @property
    def typename(self) -> str:
        """C++ type, such as ``std::vector<float>``."""
        return self._item[1]

    @property
    def arrow_type(self) -> str | None:
        """Arrow type it reads as; `None` when nyssa cannot read it."""
        return self._item[2]

    @property
    def reason(self) -> str | None:
        """Why nyssa cannot read it; `None` when it can."""
        return self._item[3]

    @property
    def num_entries(self) -> int:
        """Number of entries."""
        return self._dataset.num_entries

    def array(
        self,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: str = "ak",
        skip_unreadable: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Read the column into memory.

        With ``library="np"`` numbers come as a read-only view of shape ``(entries,)``, fixed arrays
        as ``(entries, d1, ...)``, records of numbers as a structured array, strings as objects of
        `str`, and jagged data as objects: one NumPy array per entry. Other libraries give an
        ``ak.Array``, ``pyarrow.Array``, ``pandas.Series`` or ``polars.Series``.
        The parameters and errors are those of `Dataset.arrays`; with `skip_unreadable` members of
        its objects are left out.
        """
        library = _library.canonical(library)
        dataset = self._dataset
        start, stop = entry_range(entry_start, entry_stop, dataset.num_entries)
        if skip_unreadable:
            spared = _spare.Sparing(dataset._core, [self.name], library, threads)
            return spared.column(start, stop)
        names = dataset._choose([self.name], None, None) if self.reason else [self.name]
        layout = _library.takes_layouts(library)
        [column] = dataset._core.read(names, start, stop, threads, layout)
        return _library.column(library, column, start, stop)

    def __repr__(self) -> str:
        """Return name, type and dataset."""
        return f"<Column {self.name!r} ({self.typename}) of {self._dataset.name!r}>"


def wrap(core: _core.Dataset) -> Dataset:
    """Return the Python face of an open dataset."""
    return (TTree if core.format == "TTree" else RNTuple)(core)
