"""Writes TTrees: the writer of a tree and its options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from typing_extensions import TypedDict, Unpack

from nyssa import _core
from nyssa.arguments.by_glob import BranchOptions, branch_options
from nyssa.arguments.keywords import shows_keywords
from nyssa.arguments.sizes import auto_flush_of, bytes_of
from nyssa.arrays import forms, from_data, from_types
from nyssa.errors import ArgumentError
from nyssa.write.fill_context import FillContext
from nyssa.write.writer import DatasetWriter

__all__ = ["TreeWriter"]


def _patterns(given: Sequence[str] | None) -> list[str]:
    return [given] if isinstance(given, str) else list(given or ())


def _pairs(given: Mapping[str, str] | None) -> list[tuple[str, str]]:
    return list((given or {}).items())


#: The options that have another form in the core, with the function that makes it.
_FORMS: dict[str, Callable[[Any], Any]] = {
    "compression": lambda given: None if given is None else str(given),
    "basket_size": lambda given: None if given is None else bytes_of(given, "basket_size"),
    "auto_flush": lambda given: None if given is None else auto_flush_of(given),
    "counters": _pairs,
    "leaf_lists": _patterns,
    "vectors": _patterns,
    "branch_options": branch_options,
    "aliases": _pairs,
    "user_info": _pairs,
}


class BranchKeywords(TypedDict, total=False):
    """The options of `TreeWriter.add_branches`."""

    compression: int | str | None
    effort: str | None
    basket_size: int | str | None
    counters: Mapping[str, str] | None
    leaf_lists: Sequence[str] | None
    vectors: Sequence[str] | None
    branch_options: BranchOptions | None
    classes: Mapping[str, Mapping[str, object]] | None
    split_level: int | None


class TreeKeywords(BranchKeywords, total=False):
    """The options of `WritableFile.mktree`."""

    auto_flush: int | str | None
    optimize_baskets: bool
    aliases: Mapping[str, str] | None
    user_info: Mapping[str, str] | None


# The core takes the options as a dict, whose values have several types: `Any`.
def tree_options(given: Mapping[str, Any], title: str = "") -> dict[str, Any]:
    """Return all options but `classes` in the form that the core takes."""
    named = {"title": title, "effort": None, "optimize_baskets": True, "split_level": None, **given}
    return {**named, **{name: form(named.get(name)) for name, form in _FORMS.items()}}


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
        self._forms = {column.name: forms.of(column) for column in columns}

    def extend(self, data: object) -> None:
        """Add entries.

        >>> with nyssa.recreate("out.root") as file:
        ...     tree = file.mktree("Events", {"run": "int32", "Jet_pt": "var * float32"})
        ...     tree.extend({"run": [1, 2], "Jet_pt": [[25.0, 31.5], []]})
        ...     tree.num_entries
        2

        `data` has all columns, in any order, in the forms that `NTupleWriter.extend` takes: an
        awkward array of records, a dict of arrays, a structured NumPy array, a pandas or polars
        data frame, or an Arrow table. Counters of lists may be left out, and records ``Jet`` may
        stand for branches ``Jet_pt``. The data are copied. Baskets are written when they are full,
        not for each call, so that the file does not depend on how many entries a call has. Other
        threads compress and write them: an error of the disk may come at a later call, and
        `stalled` has the seconds that calls waited.

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

    @shows_keywords(BranchKeywords)
    def add_branches(
        self,
        data: object,
        types: Mapping[str, object] | None = None,
        **options: Unpack[BranchKeywords],
    ) -> None:
        """Add branches, with a value for each entry that the tree has so far.

        >>> with nyssa.update("events.root") as file:
        ...     file["Events"].add_branches({"weight": np.full(20_000, 0.5)})
        >>> nyssa.open("events.root:Events").keys()[-1]
        'weight'

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
            Types of the columns as for `WritableFile.mktree`. Default: the types of the data.
        compression, effort, basket_size, counters, leaf_lists, vectors, branch_options, classes, \
        split_level
            As in `WritableFile.mktree`, for the new branches.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when there are no columns, a name is taken or not allowed, a column has
            another number of values than the tree has entries, a value does not fit, or lists and
            their counter differ in length. The tree is then as before.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for types that a tree cannot hold.
        """
        classes = dict(options.get("classes") or {})
        if from_types.empty(data, classes):
            raise ArgumentError("add_branches needs data: a value for each entry of the tree")
        stated = (
            [] if types is None else from_types.needed(types, "add_branches", classes, in_tree=True)
        )
        known = {item.name: forms.of(item) for item in stated}
        columns = from_data.columns(data, bool(classes), known)
        if types is not None:
            given = {column.name: column for column in columns}
            if set(given) != set(known):
                odd = sorted(set(given) ^ set(known))
                raise ArgumentError(f"types and data have different columns: {', '.join(odd)}")
            columns = [given[name] for name in known]
        if not columns:
            raise ArgumentError("add_branches needs a branch at least: the data have no columns")
        fields = stated or columns
        self._open().add_branches(self.name, fields, columns, classes, tree_options(options))
        self._forms.update({field.name: forms.of(field) for field in fields})

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
            also when another context has entries.
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
        given = self._some(from_data.columns(data, forms=self._forms), self._forms, "branches")
        return self._open().tree_rows(self.name, given)
