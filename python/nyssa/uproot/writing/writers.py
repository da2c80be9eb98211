"""Trees and RNTuples that are written, by uproot's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np
from typing_extensions import Self

import nyssa
from nyssa._core import printable
from nyssa.arguments.names import not_found
from nyssa.errors import ArgumentError
from nyssa.uproot.compression import Compression, checked, setting
from nyssa.uproot.trees import TTree
from nyssa.uproot.writing.counters import Counters
from nyssa.uproot.writing.types import (
    arrays_of,
    as_mapping,
    columns_of,
    list_members_of,
    members_of,
    parsed,
    rows_of,
    type_of,
    typed_one,
)

if TYPE_CHECKING:
    from nyssa.uproot.writing.writable import WritableFile

__all__ = ["ExistingTree", "WritableNTuple", "WritableTree", "Written", "joined"]


def joined(outer: str, inner: str) -> str:
    """Return uproot's name of the branch of a member of a record."""
    return f"{outer}_{inner}"


class Written:
    """A tree or RNTuple that is written."""

    def __init__(self, top: WritableFile, path: str) -> None:
        self._top, self.object_path = top, path

    @property
    def file(self) -> WritableFile:
        """Return the file."""
        return self._top

    @property
    def file_path(self) -> str:
        """Return the path of the file."""
        return self._top.file_path

    @property
    def name(self) -> str:
        """Return the name without the directories."""
        return self.object_path.rpartition("/")[2]

    @property
    def path(self) -> tuple[str, ...]:
        """Return the names of the directories, and its own."""
        return tuple(self.object_path.split("/"))

    def leave(self) -> None:
        """Let go of the writer of nyssa; the next use opens the object again."""
        raise NotImplementedError

    def close(self) -> None:
        """Complete the file."""
        self._top.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exception: Any) -> None:
        """Complete the file."""
        self._top.__exit__(*exception)

    def __repr__(self) -> str:
        """Return class and path."""
        return printable(f"<{type(self).__name__} {self.object_path!r} of {self.file_path}>")


class WritableNTuple(Written):
    """Writes an RNTuple; `writer` is the writer of nyssa."""

    @cached_property
    def writer(self) -> nyssa.NTupleWriter:
        """Return the writer of nyssa."""
        writer = self._top.writer[self.object_path]
        assert isinstance(writer, nyssa.NTupleWriter)
        return writer

    def leave(self) -> None:
        """Let go of the writer of nyssa; the next use opens the RNTuple again."""
        vars(self).pop("writer", None)

    @property
    def compression(self) -> Compression | None:
        """Return the compression of the file."""
        return self._top.compression

    @property
    def num_entries(self) -> int:
        """Return the number of entries so far."""
        return self.writer.num_entries

    def extend(self, data: object, *, accept_new_fields: bool = False) -> None:
        """Add entries; see `nyssa.NTupleWriter.extend`.

        With `accept_new_fields`, fields of the data that the RNTuple lacks are added to it first.
        """
        names = ak.fields(data) if isinstance(data, ak.Array) else list(as_mapping(data))
        new = [name for name in names if name not in self.writer._forms]
        if new and not accept_new_fields:
            raise ArgumentError(f"fields that are not in this RNTuple: {', '.join(new)}")
        if new:
            self.add_fields({name: type_of(data[name]) for name in new})  # type: ignore[index]
        self.writer.extend(rows_of(data))

    def add_fields(self, new_fields: Mapping[str, object]) -> None:
        """Add fields, which are zero in earlier entries; see `nyssa.NTupleWriter.add_fields`.

        As in uproot, nothing happens without fields.
        """
        if new_fields:
            named = {self._path_of(name): kind for name, kind in new_fields.items()}
            self.writer.add_fields(named)

    def _path_of(self, name: str) -> str:
        """Return the path of a new field. As in uproot, its record may be named without its path.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when several records have the name.
        """
        record, _, last = name.partition(".")
        if not last or "." in last:
            return name
        paths = [path for path in _records(self.writer._forms) if path.split(".")[-1] == record]
        if len(paths) > 1:
            raise ArgumentError(
                f"{name}: the name {record!r} is ambiguous, give the path of one of the records: "
                f"{', '.join(paths)}"
            )
        return f"{paths[0]}.{last}" if paths else name


def _records(forms: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """Yield the paths of all records, but not of records in lists."""
    for name, form in forms.items():
        if form is not None and form["class"] == "RecordArray":
            yield f"{above}{name}"
            inside = dict(zip(form["fields"] or (), form["contents"], strict=False))
            yield from _records(inside, f"{above}{name}.")


def _zeros(data: Any, entries: int) -> Any:
    """Return zeros or empty lists of the type of `data`."""
    array = data if isinstance(data, ak.Array) else ak.Array(data)
    if array.ndim > 1 and "var *" in str(array.type):
        return ak.unflatten(ak.flatten(array)[:0], np.zeros(entries, dtype=np.int64))
    numbers = ak.to_numpy(array)
    return np.zeros((entries, *numbers.shape[1:]), dtype=numbers.dtype)


class WritableBranch:
    """A branch of a tree that is written, whose compression can be set."""

    def __init__(self, tree: WritableTree, name: str) -> None:
        self._tree, self.name = tree, name

    @property
    def compression(self) -> Compression | None:
        """Return the compression of its next baskets."""
        return self._tree._compressions[self.name]

    @compression.setter
    def compression(self, compression: Compression | None) -> None:
        self._tree._compress(self.name, compression)

    def __repr__(self) -> str:
        """Return the name."""
        return f"<WritableBranch {self.name!r} of {self._tree.object_path!r}>"


class WritableTree(Written):
    """Writes a TTree, one basket for each call of `extend`; `_writer` is the writer of nyssa."""

    def __init__(
        self,
        top: WritableFile,
        path: str,
        counters: Counters | None = None,
        field_name: Callable[[str, str], str] = joined,
    ) -> None:
        super().__init__(top, path)
        self._made_with = top.compression
        self._counters = counters
        self._field_name = field_name
        self._baskets = self._entries = 0
        self._records: dict[str, str] = {}
        """The lists of records that columns come from, which have one counter."""
        self._set: dict[str, Compression | None] = {}

    @cached_property
    def _writer(self) -> nyssa.TreeWriter:
        writer = self._top.writer[self.object_path]
        assert isinstance(writer, nyssa.TreeWriter)
        vars(self)["_writer"] = writer
        for name, item in self._set.items():
            self._compress(name, item)
        return writer

    def leave(self) -> None:
        """Let go of the writer of nyssa; the next use opens the tree again."""
        self._entries = self.num_entries
        vars(self).pop("_writer", None)

    def _branches(self) -> list[str]:
        """Return the names of the branches, with the counters."""
        counters = [] if self._counters is None else self._counters.names
        return list(dict.fromkeys([*counters, *self._writer._forms]))

    @property
    def _compressions(self) -> dict[str, Compression | None]:
        default = self._made_with
        return {name: self._set.get(name, default) for name in self._branches()}

    def _compress(self, name: str, compression: Compression | None) -> None:
        text = str(setting(checked(compression)))
        self._top.writer._open().set_tree_compression(self.object_path, name, text)
        self._set[name] = compression

    @property
    def compression(self) -> Compression | dict[str, Compression | None] | None:
        """Return the compression of the next baskets, or a dict of branches that differ.

        A compression that is set is for all branches; a dict is for some.
        """
        by_branch = self._compressions
        first = next(iter(by_branch.values()), self._made_with)
        return first if all(item == first for item in by_branch.values()) else by_branch

    @compression.setter
    def compression(
        self, compression: Compression | Mapping[str, Compression | None] | None
    ) -> None:
        if not isinstance(compression, Mapping):
            compression = dict.fromkeys(self._branches(), compression)
        for name, item in compression.items():
            self._compress(name, item)

    def __getitem__(self, where: str) -> WritableBranch:
        """Return a branch."""
        if where not in self._branches():
            raise not_found(where, self._branches(), repr(self))
        return WritableBranch(self, where)

    @property
    def num_entries(self) -> int:
        """Return the number of entries, old and new."""
        return self._writer.num_entries if "_writer" in vars(self) else self._entries

    @property
    def num_baskets(self) -> int:
        """Return how many times it got entries."""
        return self._baskets

    def add_branches(self, branches: Mapping[str, object]) -> None:
        """Add branches with a value for each entry; see `nyssa.TreeWriter.add_branches`.

        As in uproot, nothing happens without branches.
        """
        if not branches:
            return
        flat = self.flat(arrays_of(branches))
        self._writer.add_branches(flat)
        if self._counters is not None:
            self._counters.add(flat)

    def extend(self, data: object, *, accept_new_fields: bool = False) -> None:
        """Add entries; each call makes a basket of each branch. See `nyssa.TreeWriter.extend`.

        With `accept_new_fields`, columns that the tree lacks are added to it first. They are zeros
        and empty lists in earlier entries.
        """
        flat = self.flat(data)
        if accept_new_fields and isinstance(flat, Mapping):
            known = {*self._writer._forms, *self._branches()}
            new = {name: item for name, item in flat.items() if name not in known}
            if new:
                self.add_branches(
                    {name: _zeros(item, self.num_entries) for name, item in new.items()}
                )
        self._writer.extend(flat if self._counters is None else self._counters.complete(flat))
        self._end_baskets()

    def _end_baskets(self) -> None:
        """Write the entries so far as baskets of their own, as uproot does."""
        self._writer.flush()
        self._baskets += 1

    def flat(self, data: Any) -> Any:
        """Return a table or types in which the members of records are columns."""
        data = columns_of(data)
        if not isinstance(data, Mapping):
            return data
        types: dict[str, Any] = {}
        for name, given in data.items():
            item = parsed(given)
            members, lists = members_of(item), list_members_of(item)
            if members is None and lists is None:
                types[name] = typed_one(item)
            for key, value in members or lists or ():
                column = self._field_name(name, key) if name else key
                types[column] = typed_one(value)
                if lists is not None:
                    self._records[column] = name
        return types


class ExistingTree(WritableTree):
    """Adds entries and branches to a TTree of the file."""

    def __init__(self, top: WritableFile, path: str, old: TTree) -> None:
        super().__init__(top, path)
        self._old = old
        self._new: list[str] = []
        self._entries = old.num_entries
        self._baskets = max((branch.num_baskets for branch in old.branches), default=0)

    @property
    def _compressions(self) -> dict[str, Compression | None]:
        old = {branch.name: branch.compression for branch in self._old.branches}
        return {
            name: self._set.get(name, old.get(name, self._made_with)) for name in self._branches()
        }

    def _branches(self) -> list[str]:
        """Return the names of the branches."""
        return [*(branch.name for branch in self._old.branches), *self._new]

    def add_branches(self, branches: Mapping[str, object]) -> None:
        """Add branches with a value for each entry; see `nyssa.TreeWriter.add_branches`."""
        before = set(self._writer._forms)
        super().add_branches(branches)
        self._new += [name for name in self._writer._forms if name not in before]

    def _compress(self, name: str, compression: Compression | None) -> None:
        _ = self._writer  # The tree is opened to be extended.
        super()._compress(name, compression)
