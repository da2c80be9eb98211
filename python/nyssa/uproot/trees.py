"""`TTree` and `TBranch`, by uproot's names."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

from typing_extensions import Unpack

import nyssa
from nyssa import _core
from nyssa.objects import Object
from nyssa.uproot import values
from nyssa.uproot.compression import Compression, of_code
from nyssa.uproot.interpretation.base import Interpretation
from nyssa.uproot.interpretation.of_branch import interpretation_of
from nyssa.uproot.node import Node
from nyssa.uproot.nodes import Nodes
from nyssa.uproot.options import NodeFilters
from nyssa.uproot.root import Root

__all__ = ["HasBranches", "TBranch", "TTree"]


class Row(NamedTuple):
    """What the file says of a branch."""

    classname: str
    offsets: list[int]
    compressed_bytes: int
    uncompressed_bytes: int
    compression: int
    inside_bytes: int


class HasBranches(Nodes["TBranch"]):
    """A tree, or a branch that has others."""

    _stored: Object

    @property
    def branches(self) -> list[TBranch]:
        """Return the branches of the first level."""
        return self._children()

    def member(self, name: str, all: bool = True, none_if_missing: bool = False) -> Any:
        """Return a member of the object of ROOT, such as ``fEntries``; see `nyssa.Object`."""
        return self._stored.member(name, all, none_if_missing)

    def has_member(self, name: str) -> bool:
        """Return whether the object of ROOT has a member."""
        return self._stored.has_member(name)

    @property
    def all_members(self) -> Mapping[str, Any]:
        """Return all members of the object of ROOT."""
        return self._stored.all_members

    @property
    def members(self) -> Mapping[str, Any]:
        """Return the members of the object of ROOT, without the members of base classes."""
        return self._stored.members

    def common_entry_offsets(self, **filters: Unpack[NodeFilters]) -> list[int]:
        """Return the numbers of entries at which all chosen branches begin a basket."""
        if isinstance(self, TBranch) and not len(self):
            return self.entry_offsets
        nodes = [node for node in self.itervalues(**filters) if node.num_baskets]
        sets = [set(node.entry_offsets) for node in nodes]
        return sorted(set.intersection(*sets)) if sets else [0]


class TBranch(Node["TBranch"], HasBranches):
    """A branch of a TTree."""

    _root: TTree

    @property
    def _row(self) -> Row:
        return self._root._rows[self._path]

    @cached_property
    def _stored(self) -> Object:  # type: ignore[override]
        above = self.parent
        assert isinstance(above, HasBranches)
        stored = list(above._stored.member("fBranches"))[self.index]
        if not isinstance(stored, Object):
            raise NotImplementedError("nyssa has the members of branches of the first level only")
        return stored

    @cached_property
    def interpretation(self) -> Interpretation:
        """Return how uproot would read it; nyssa reads by the types in the file."""
        return interpretation_of(self)

    @property
    def classname(self) -> str:
        """Return the C++ class, such as ``TBranchElement``."""
        return self._row.classname

    @property
    def num_baskets(self) -> int:
        """Return the number of baskets."""
        return len(self._row.offsets) - 1

    @property
    def entry_offsets(self) -> list[int]:
        """Return the entries at which baskets begin, and the number of entries."""
        return list(self._row.offsets)

    def basket_entry_start_stop(self, basket_num: int) -> tuple[int, int]:
        """Return the range of entries of a basket."""
        offsets = self.entry_offsets
        if not 0 <= basket_num < len(offsets) - 1:
            raise IndexError(f"basket {basket_num} is not among the {self.num_baskets} baskets")
        return offsets[basket_num], offsets[basket_num + 1]

    def entries_to_ranges_or_baskets(
        self, entry_start: int, entry_stop: int
    ) -> list[tuple[int, tuple[int, int]]]:
        """Return the numbers of the baskets with some entries, and their bytes in the file."""
        seeks, sizes = (list(self.member(name)) for name in ("fBasketSeek", "fBasketBytes"))
        return [
            (number, (int(seeks[number]), int(seeks[number] + sizes[number])))
            for number, (start, stop) in enumerate(pairwise(self.entry_offsets))
            if start < entry_stop and entry_start < stop
        ]

    @property
    def cache_key(self) -> str:
        """Return a text that names the branch."""
        return f"{self.file.hex_uuid}:{self.object_path}({self.index})"

    @property
    def compressed_bytes(self) -> int:
        """Return the bytes of all baskets in the file, with their keys (``fZipBytes``)."""
        return self._row.compressed_bytes

    @property
    def uncompressed_bytes(self) -> int:
        """Return the bytes of all baskets before compression, with their keys (``fTotBytes``)."""
        return self._row.uncompressed_bytes

    @property
    def compression_ratio(self) -> float:
        """Return how many times smaller the baskets are in the file."""
        return self.uncompressed_bytes / self.compressed_bytes

    @property
    def compression(self) -> Compression | None:
        """Return the compression of its baskets; `None` without compression."""
        return of_code(self._row.compression)

    @property
    def aliases(self) -> dict[str, str]:
        """Return the aliases of the tree."""
        return self._root.aliases

    @property
    def count_branch(self) -> TBranch | None:
        """Return the branch with the numbers of items; `None` if it has none."""
        leaf = self.count_leaf
        return None if leaf is None else self._root[leaf.member("fName")]

    @property
    def count_leaf(self) -> Object | None:
        """Return the leaf with the numbers of items; `None` if it has none."""
        leaves = list(self.member("fLeaves"))
        counter = leaves[0].member("fLeafCount") if leaves else None
        return counter if isinstance(counter, Object) else None


class TTree(HasBranches, Root[TBranch]):
    """A TTree; `dataset` is the dataset of nyssa."""

    dataset: nyssa.TTree
    _kind = TBranch
    _separator = "/"

    @cached_property
    def _stored(self) -> Object:  # type: ignore[override]
        from nyssa.objects import Reader

        core = _core.open(self.dataset._core.location)
        stored: Object = Reader(core).read(self.dataset._core.name)
        return stored

    def _stored_names(self) -> Callable[[], list[str]]:
        return lambda: [branch.name for branch in self._stored.member("fBranches")]

    @property
    def title(self) -> str:
        """Return the title of the tree."""
        return self._described[0]

    @cached_property
    def _described(self) -> tuple[str, list[Any]]:
        return _core.branches(self.dataset._core)

    @cached_property
    def _rows(self) -> dict[str, Row]:
        return {path: Row(*row) for path, *row in self._described[1]}

    @property
    def aliases(self) -> dict[str, str]:
        """Return the aliases of the tree."""
        return self.dataset.aliases

    @property
    def compressed_bytes(self) -> int:
        """Return the bytes of all baskets in the file, with their keys."""
        return sum(node.compressed_bytes for node in self._stored_nodes())

    @property
    def compression_ratio(self) -> float:
        """Return how many times smaller the baskets are in the file."""
        return self.uncompressed_bytes / self.compressed_bytes

    @property
    def uncompressed_bytes(self) -> int:
        """Return the bytes of all baskets before compression, with their keys."""
        return sum(node.uncompressed_bytes for node in self._stored_nodes())

    def _stored_nodes(self) -> Iterator[TBranch]:
        return (node for node in self.itervalues() if node.num_baskets)

    def _typename(self, path: str) -> str:
        return values.typename(self._names.items[path][1])

    def _uncompressed(self, path: str) -> int:
        row = self._rows[path]
        return row.uncompressed_bytes + row.inside_bytes if len(row.offsets) > 1 else 0
