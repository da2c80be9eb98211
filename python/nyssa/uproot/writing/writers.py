"""Trees and RNTuples that are written, by uproot's names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from typing_extensions import Self

import nyssa
from nyssa.uproot.compression import Compression
from nyssa.uproot.trees import TTree
from nyssa.uproot.writing.counters import Counters
from nyssa.uproot.writing.types import members_of, typed_one

if TYPE_CHECKING:
    from nyssa.uproot.writing.writable import WritableFile

__all__ = ["ExistingTree", "WritableNTuple", "WritableTree", "joined"]


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

    @property
    def compression(self) -> Compression | None:
        """Return the compression of the file."""
        return self._top.compression

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
        return f"<{type(self).__name__} {self.object_path!r} of {self.file_path}>"


class WritableNTuple(Written):
    """Writes an RNTuple; `writer` is that of nyssa."""

    def __init__(self, top: WritableFile, path: str, writer: nyssa.NTupleWriter) -> None:
        super().__init__(top, path)
        self.writer = writer

    @property
    def num_entries(self) -> int:
        """Return the number of entries so far."""
        return self.writer.num_entries

    def extend(self, data: object) -> None:
        """Add entries; see `nyssa.NTupleWriter.extend`."""
        self.writer.extend(data)

    def add_fields(self, new_fields: Mapping[str, object]) -> None:
        """Add fields, which are zero in earlier entries; see `nyssa.NTupleWriter.add_fields`."""
        self.writer.add_fields(new_fields)


class WritableTree(Written):
    """Writes a TTree, with one basket for each call of `extend`; `_writer` is that of nyssa."""

    _writer: nyssa.TreeWriter

    def __init__(
        self,
        top: WritableFile,
        path: str,
        counters: Counters | None = None,
        field_name: Callable[[str, str], str] = joined,
    ) -> None:
        super().__init__(top, path)
        self._counters = counters
        self._field_name = field_name
        self._baskets = 0

    @property
    def num_entries(self) -> int:
        """Return the number of entries so far."""
        return self._writer.num_entries

    @property
    def num_baskets(self) -> int:
        """Return the number of calls of `extend`."""
        return self._baskets

    def extend(self, data: object) -> None:
        """Add entries; each call makes a basket of each branch. See `nyssa.TreeWriter.extend`."""
        flat = self.flat(data)
        self._writer.extend(flat if self._counters is None else self._counters.complete(flat))
        self._writer.flush()
        self._baskets += 1

    def flat(self, data: Any) -> Any:
        """Return a table or types in which the members of records are columns."""
        if not isinstance(data, Mapping):
            return data
        found: dict[str, Any] = {}
        for name, one in data.items():
            members = members_of(one)
            if members is None:
                found[name] = typed_one(one)
            else:
                found |= {self._field_name(name, key): typed_one(value) for key, value in members}
        return found


class ExistingTree(WritableTree):
    """Adds entries to a TTree of the file; which branches it has matters at the first `extend`."""

    def __init__(self, top: WritableFile, path: str, old: TTree) -> None:
        super().__init__(top, path)
        self._old = old
        self._baskets = max((branch.num_baskets for branch in old.branches), default=0)

    @cached_property
    def _writer(self) -> nyssa.TreeWriter:  # type: ignore[override]
        writer = self._top.writer[self.object_path]
        assert isinstance(writer, nyssa.TreeWriter)
        return writer

    @property
    def num_entries(self) -> int:
        """Return the number of entries, old and new."""
        return super().num_entries if "_writer" in self.__dict__ else self._old.num_entries
