"""Defines the aliases and friends of datasets: of TTrees, and of RNTuples that were TTrees."""

from __future__ import annotations

from typing import NamedTuple

from typing_extensions import Self

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.read.dataset import Dataset

__all__ = ["Friend", "Related"]


class Friend(NamedTuple):
    """A friend: a tree with further branches for the entries of another tree."""

    name: str
    """The prefix of the names of its branches."""
    tree: str
    """The path of the tree in its file."""
    file: str | None
    """The file as it was given to ROOT; `None` for the file of the other tree."""


class Related(Dataset):
    """A dataset with aliases and friends.

    An RNTuple has the aliases and friends of the TTree from which it was converted.
    """

    @property
    def aliases(self) -> dict[str, str]:
        """Return the aliases of the dataset: names and their formulas in the language of ROOT."""
        return dict(_core.relations(self._core)[0])

    @property
    def friends(self) -> list[Friend]:
        """Return the friends of the dataset; see `with_friends`."""
        return [Friend(*friend) for friend in _core.relations(self._core)[1]]

    @checked
    def with_friends(self, *, threads: int | None = None) -> Self:
        """Return the dataset with the columns of its friends, as ``"friend.branch"``.

        Entries with the same number belong together. If a friend has an index, entries with equal
        values of the index columns belong together, and an entry that the friend does not have is
        null. The file of a friend is searched by its stored name, and then in the folder of the
        dataset's file. `threads` is as in `arrays`.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when a friend or its file does not exist.
        nyssa.errors.AccessError
            (a `PermissionError`) when the file may not name the file of a friend: see
            ``allow_other_files`` of `nyssa.open`.
        nyssa.ArgumentError
            (a `ValueError`) when a friend has fewer entries than the dataset.
        nyssa.UnsupportedError
            (a `NotImplementedError`) when the columns of an index are not integers.
        """
        return self._view(_core.with_friends(self._core, threads), (Related.with_friends, (self,)))
