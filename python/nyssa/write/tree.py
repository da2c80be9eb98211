"""Writes TTrees: the writer of a tree and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from nyssa import _core
from nyssa.arguments.by_glob import BranchOptions
from nyssa.arguments.by_glob import branch_options as by_branch
from nyssa.arguments.checks import checked
from nyssa.arguments.sizes import auto_flush_of, bytes_of
from nyssa.arrays import forms, from_data, from_types
from nyssa.errors import ArgumentError
from nyssa.write.fill_context import FillContext
from nyssa.write.writer import DatasetWriter

__all__ = ["TreeWriter"]


@dataclass(frozen=True)
class TreeOptions:
    """The options of `WritableFile.mktree`, as the core takes them.

    `None` stands for the default of the core.
    """

    title: str = ""
    compression: str | None = None
    effort: str | None = None
    basket_size: int | None = None
    auto_flush: int | None = None
    optimize_baskets: bool = True
    counters: list[tuple[str, str]] | None = None
    leaf_lists: list[str] | None = None
    vectors: list[str] | None = None
    branch_options: list[tuple[str, list[tuple[str, str]]]] | None = None
    aliases: list[tuple[str, str]] | None = None
    user_info: list[tuple[str, str]] | None = None
    split_level: int | None = None

    # The options are those that users give, which are checked here and by the core: `Any`.
    @classmethod
    def of(
        cls,
        title: str,
        *,
        compression: int | str | None,
        effort: str | None,
        basket_size: int | str | None,
        auto_flush: int | str | None,
        optimize_baskets: bool,
        counters: Mapping[str, str] | None,
        leaf_lists: Sequence[str] | None,
        vectors: Sequence[str] | None,
        branch_options: BranchOptions | None,
        aliases: Mapping[str, str] | None,
        user_info: Mapping[str, str] | None,
        split_level: int | None,
    ) -> TreeOptions:
        """Return the options of what users give."""
        return cls(
            title=title,
            compression=None if compression is None else str(compression),
            effort=effort,
            basket_size=None if basket_size is None else bytes_of(basket_size, "basket_size"),
            auto_flush=None if auto_flush is None else auto_flush_of(auto_flush),
            optimize_baskets=optimize_baskets,
            counters=list((counters or {}).items()),
            leaf_lists=_patterns(leaf_lists),
            vectors=_patterns(vectors),
            branch_options=by_branch(branch_options),
            aliases=list((aliases or {}).items()),
            user_info=list((user_info or {}).items()),
            split_level=split_level,
        )


def _patterns(given: Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


class TreeWriter(DatasetWriter):
    """Writes entries to one TTree of a `WritableFile`.

    See `WritableFile.mktree`, and `update` for the trees of a file that exists.
    """

    def __init__(
        self,
        opened: Callable[[], _core.Writer],
        name: str,
        columns: list[_core.Array],
        entries: int = 0,
    ) -> None:
        super().__init__(opened, name, entries)
        self._forms = {one.name: forms.of(one) for one in columns}

    def extend(self, data: object) -> None:
        """Add entries.

        `data` has all columns, in any order, in the forms that `NTupleWriter.extend` takes: an
        awkward array of records, a dict of arrays, a structured NumPy array, a pandas or polars
        data frame, or an Arrow table. Counters of lists may be left out, and records ``Jet`` may
        stand for branches ``Jet_pt``. Baskets are written when they are full, not for each call, so
        that the file does not depend on how many entries a call has.

        Values are converted to the type of the branch: integers of any width if every value fits,
        doubles are rounded to ``float``.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when columns are missing or unknown, a value does not fit its branch,
            or lists with one counter differ in length. The message names the column and the entry,
            which is counted in `data`. No entry of `data` is then written.
        """
        self._extend(self._columns(data))

    @checked
    def add_branches(
        self,
        data: object,
        types: Mapping[str, object] | None = None,
        *,
        compression: int | str | None = None,
        effort: str | None = None,
        basket_size: int | str | None = None,
        counters: Mapping[str, str] | None = None,
        leaf_lists: Sequence[str] | None = None,
        vectors: Sequence[str] | None = None,
        branch_options: BranchOptions | None = None,
        classes: Mapping[str, Mapping[str, object]] | None = None,
        split_level: int | None = None,
    ) -> None:
        """Add branches, with a value for each entry that the tree has so far.

        >>> with nyssa.update("events.root") as file:
        ...     events = file["Events"]
        ...     events.add_branches({"weight": weights, "Jet_score": scores})

        Entries that are added later need the new columns, too. The baskets of the other branches
        stay as they are. Columns become branches as in `WritableFile.mktree`. A counter may be a
        branch of integers that the tree has: ``Jet_score`` above has the counter ``nJet`` if there
        is one. Its baskets are read, and its counts compared with the lists.

        A tree that takes no entries, because of a branch that cannot be filled, takes branches.

        Parameters
        ----------
        data
            The columns, as for `extend`. Each has as many values as the tree has entries.
        types
            Types of the columns as for `WritableFile.mktree`. Default: those of the data.
        compression, effort, basket_size, counters, leaf_lists, vectors, branch_options, classes, \
        split_level
            As in `WritableFile.mktree`, for the new branches.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when a name is taken or not allowed, a column has another number of
            values than the tree has entries, a value does not fit, or lists and their counter
            differ in length. The tree is then as before.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for types that a tree cannot hold.
        """
        options = TreeOptions.of(
            "",
            compression=compression,
            effort=effort,
            basket_size=basket_size,
            auto_flush=None,
            optimize_baskets=True,
            counters=counters,
            leaf_lists=leaf_lists,
            vectors=vectors,
            branch_options=branch_options,
            aliases=None,
            user_info=None,
            split_level=split_level,
        )
        classes = dict(classes or {})
        if from_types.empty(data, classes):
            raise ArgumentError("add_branches needs data: a value for each entry of the tree")
        stated = [] if types is None else from_types.needed(types, "add_branches", classes)
        known = {one.name: forms.of(one) for one in stated}
        columns = from_data.columns(data, bool(classes), known)
        if types is not None:
            given = {one.name: one for one in columns}
            if set(given) != set(known):
                odd = sorted(set(given) ^ set(known))
                raise ArgumentError(f"types and data have different columns: {', '.join(odd)}")
            columns = [given[name] for name in known]
        fields = stated or columns
        self._open().add_branches(self.name, fields, columns, classes, options)
        self._forms.update({one.name: forms.of(one) for one in fields})

    def fill_context(self) -> FillContext:
        """Return a context with which one thread adds entries, in parallel with other threads.

        Each thread has its own context and calls `FillContext.extend`, which fills baskets. Other
        threads compress them. The baskets of a cluster stay in memory until it is complete, as
        `auto_flush` says, and are then written together as they are. The option `fill_contexts` of
        `recreate` is the maximum number of contexts, and `fill_order` sets the order of the
        clusters. Entries that were added before with `extend` come first; after this call, only
        contexts can add entries. Without clusters (``auto_flush=0``), the entries of a context are
        one cluster, if `FillContext.flush` does not end it before.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for more contexts than `fill_contexts`; in the order ``"round-robin"``
            also when entries of another context have been written.
        """
        return FillContext(self, self._open().fill_context(self.name))

    def flush(self) -> None:
        """End the cluster now. Otherwise `auto_flush` says where clusters end."""
        self._open().flush_tree(self.name)

    def _extend(self, columns: list[_core.Array]) -> None:
        self._open().extend_tree(self.name, columns)
        self._entries += len(columns[0]) if columns else 0

    def _columns(self, data: object) -> list[_core.Array]:
        """Return data as columns in the order of the tree."""
        given = from_data.columns(data, forms=self._forms)
        return self._open().tree_rows(self.name, given)
