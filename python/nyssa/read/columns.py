"""Finds the columns of a dataset: their names, types and choice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import ClassVar, TypeVar

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.keywords import shows_keywords
from nyssa.arguments.names import (
    NameFilter,
    choose,
    deep,
    is_text,
    matcher,
    nothing_left,
    nothing_matches,
)
from nyssa.arguments.options import ColumnFilters
from nyssa.errors import UnsupportedError
from nyssa.files.reopen import Recipe
from nyssa.read.mapping import Choosable
from nyssa.show.table import Table, count, html, size

__all__ = ["Columns", "Item", "Names"]

_SHOWN = 50
"""The number of columns that a notebook shows."""

Names = str | Iterable[str] | None
"""A name or glob of columns, several of these, or `None` for all columns."""

Item = tuple[str, str, str | None, str | None]
"""A column: its name, C++ type, Arrow type, and why it cannot be read."""


def _bytes(sizes: tuple[int, int] | None) -> str:
    """Return the size of a column in the file; nothing if it is not known."""
    return "" if sizes is None else size(sizes[0])


_C = TypeVar("_C")


class Columns(Choosable[_C]):
    """A mapping from names to columns. `nyssa.Dataset` derives from it."""

    _hints: ClassVar[Mapping[str, str]] = {
        "array": 'one column is read by tree["x"].array(), several by tree.arrays(["x", "y"])',
        "pandas": 'a DataFrame is read by tree.arrays(library="pd")',
        "draw": 'nyssa.draw(tree, "x") draws an expression',
        "Draw": 'nyssa.draw(tree, "x") draws an expression',
        "GetEntries": "num_entries is the number of entries",
        "numentries": "num_entries is the number of entries",
    }

    def _hint_of(self, name: str) -> str | None:
        is_column = name in self.__dict__.get("_items", ())
        return f"the column is tree[{name!r}]" if is_column else super()._hint_of(name)

    def __init__(self, core: _core.Dataset, recipe: Recipe) -> None:
        self._core = core
        self._recipe = recipe
        self._items = {item[0]: item for item in core.items()}

    @cached_property
    def _below(self) -> dict[str, Item]:
        """Return the columns below the top level: sub-branches and subfields."""
        return {item[0]: item for item in self._core.items(below=True)}

    @property
    def name(self) -> str:
        """Return the name of the object, without its directory."""
        return self.object_path.rpartition("/")[2]

    @property
    def object_path(self) -> str:
        """Return the path of the object in its file, for example ``"dir/Events"``."""
        return self._core.name.partition(";")[0]

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file."""
        return self._core.file

    @property
    def title(self) -> str:
        """Return the title of the TTree, or description of the RNTuple; empty if there is none."""
        return self._core.description

    @property
    def num_entries(self) -> int:
        """Return the number of entries (events)."""
        return self._core.num_entries

    @property
    def readable(self) -> list[str]:
        """Return the names of the columns that nyssa can read."""
        return [name for name, item in self._items.items() if item[3] is None]

    @property
    def unreadable(self) -> dict[str, str]:
        """Return the names of the columns that nyssa cannot read, each with the reason."""
        return {name: item[3] for name, item in self._items.items() if item[3] is not None}

    @shows_keywords(ColumnFilters)
    def keys(self, **filters: Unpack[ColumnFilters]) -> list[str]:  # type: ignore[override]
        """Return the names of the columns, in their order in the file.

        >>> nyssa.open("events.root:Events").keys(filter_name="Jet_*")
        ['Jet_pt', 'Jet_eta', 'Jet_phi', 'Jet_mass', 'Jet_btag']

        Unlike in uproot, the default of `recursive` is `False`. With ``recursive=True`` the result
        also has the paths of the sub-branches of split branches (``"event/px"``), of subfields
        (``"s.x"``; ``"jets.pt"`` is a member of the items of a collection), and of the collections
        that projected fields show (``"_collection_nJet"``). They are read like any column.
        `filter_name` and `filter_typename` (of the C++ type) are globs, ``/regular expressions/``
        that match from the start on, lists of these, or functions.
        """
        return list(self.typenames(**filters))

    @checked
    def typenames(
        self,
        *,
        filter_name: NameFilter = None,
        filter_typename: NameFilter = None,
        recursive: bool = False,
    ) -> dict[str, str]:
        """Return the C++ type name of each column; see `keys`.

        >>> nyssa.open("events.root:Events").typenames(filter_name="*Jet")
        {'nJet': 'std::uint32_t'}
        """
        name_accepts, type_accepts = matcher(filter_name), matcher(filter_typename)
        items = [item for name, item in self._items.items() if name_accepts(name)]
        if recursive:
            items += [self._below[name] for name in filter(deep(name_accepts), self._below)]
        return {item[0]: item[1] for item in items if type_accepts(item[1])}

    def itertypenames(self, **filters: Unpack[ColumnFilters]) -> Iterator[tuple[str, str]]:
        """Iterate over pairs of name and C++ type name; `filters` are as in `keys`."""
        return iter(self.typenames(**filters).items())

    @shows_keywords(ColumnFilters)
    def show(self, **filters: Unpack[ColumnFilters]) -> None:
        """Print name, C++ type and type in awkward of each column, or why it cannot be read.

        >>> nyssa.open("events.root:Events").show(filter_name="MET_*")
        <TTree 'Events' (24 columns, 20000 entries)>
        name     C++ type  reads as
        -------  --------  --------
        MET_pt   float     float32
        MET_phi  float     float32

        The parameters are as in `keys`.
        """
        names = self.keys(**filters)
        items = [self._items.get(name) or self._below[name] for name in names]
        rows = [
            tuple(map(_core.printable, (name, typename, shape or f"({why})")))
            for (name, typename, _, why), shape in self._with_shapes(items)
        ]
        head = ("name", "C++ type", "reads as")
        widths = [max(len(row[i]) for row in [head, *rows]) for i in range(2)]
        print(f"{self!r}")
        for row in [head, ("-" * widths[0], "-" * widths[1], "--------"), *rows]:
            print(f"{row[0]:<{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]}".rstrip())

    def _repr_html_(self) -> str:
        """Return the first columns as a table for notebooks: names, types, titles and sizes."""
        items = list(self._items.values())
        lines: list[str | Table] = [repr(self).strip("<>")]
        if self.title:
            lines.append(self.title)
        lines.append(self._html_table(items[:_SHOWN]))
        if len(items) > _SHOWN:
            lines.append(f"and {count(len(items) - _SHOWN)} more: see .keys() and .show()")
        return html(lines)

    def _html_table(self, items: list[Item]) -> Table:
        sizes = self._core.column_bytes([item[0] for item in items])
        rows = [
            [name, typename, shape or f"({reason})", self._core.title(name), _bytes(bytes_)]
            for ((name, typename, _, reason), shape), bytes_ in zip(
                self._with_shapes(items), sizes, strict=True
            )
        ]
        return Table(["name", "C++ type", "reads as", "title", ">size"], rows)

    def _with_shapes(self, items: list[Item]) -> Iterator[tuple[Item, str | None]]:
        """Yield each column with the type of its values in awkward."""
        return zip(items, self._core.datashapes([item[0] for item in items]), strict=True)

    def close(self) -> None:
        """Close the files of the dataset.

        After that, reading from them raises an `nyssa.ArgumentError` (a `ValueError`), also for
        other datasets of the same `File`. Arrays that were read stay valid. Lazy arrays keep only
        the columns that were used before.
        """
        self._core.close()

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of the columns."""
        return iter(self._items)

    def __len__(self) -> int:
        """Return the number of columns. The number of entries is `num_entries`."""
        return len(self._items)

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column of this name."""
        return isinstance(name, str) and self._item(name) is not None

    def _item(self, name: str) -> Item | None:
        item = self._items.get(name)
        return self._core.item(name) if item is None and is_text(name) else item

    def _where(self) -> str:
        return f"{self.object_path!r} of {self.file_path}"

    def _all(self) -> dict[str, Item]:
        return {**self._items, **self._below}

    def _choose(
        self, names: Names, by_name: NameFilter, by_type: NameFilter, refused_too: bool = False
    ) -> list[str]:
        chosen = choose(list(self._items), names, by_name, self._where(), self._lower)
        items = {name: item for name in chosen if (item := self._item(name)) is not None}
        if by_type is not None:
            accepts = matcher(by_type)
            items = {name: item for name, item in items.items() if accepts(item[1])}
            if chosen and not items and names is None:
                raise nothing_matches("filter_typename", by_type, [], self._where())
            if chosen and not items:
                raise nothing_left("filter_typename", chosen, self._where())
        refused = {name: item[3] for name, item in items.items() if item[3] is not None}
        if refused and not refused_too:
            raise self._refusal(refused)
        return list(items)

    def _lower(self, name: str | None) -> list[str]:
        """Return the columns below the top level; for a `name`, only this one if it exists."""
        if name is None:
            return list(self._below)
        return [name] if self._item(name) else []

    def _refusal(self, refused: Mapping[str, str | None]) -> UnsupportedError:
        lines = [f"{name}: {reason}" for name, reason in [*refused.items()][:5]]
        if len(refused) > 5:
            lines.append(f"and {len(refused) - 5} more (see .unreadable)")
        return UnsupportedError(
            f"nyssa cannot read {len(refused)} of the requested columns of {self._where()}: "
            + "; ".join(lines)
            + "; read the others with skip_unreadable=True"
        )
