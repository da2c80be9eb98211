"""Writes RNTuples: the writer of an RNTuple."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arrays import forms, from_data, from_types
from nyssa.errors import ArgumentError
from nyssa.write.attributes import AttributeSetWriter
from nyssa.write.fill_context import FillContext
from nyssa.write.writer import DatasetWriter

__all__ = ["NTupleWriter"]


class NTupleWriter(DatasetWriter):
    """Writes entries to one RNTuple of a `WritableFile`."""

    def __init__(
        self,
        opened: Callable[[], _core.Writer],
        name: str,
        fields: list[_core.RowField],
        entries: int = 0,
    ) -> None:
        super().__init__(opened, name, entries)
        self._has(fields)

    def extend(self, data: object) -> None:
        """Add entries.

        >>> with nyssa.recreate("out.root") as file:
        ...     ntuple = file.mkrntuple("Events", {"run": "int32", "Jet_pt": "var * float32"})
        ...     ntuple.extend({"run": [1, 2], "Jet_pt": [[25.0, 31.5], []]})
        ...     ntuple.num_entries
        2

        `data` has all fields, in any order: an awkward array of records, a dict of arrays (awkward;
        NumPy of one or more dimensions; strings; pandas; Arrow), a structured NumPy array, a pandas
        or polars data frame, or an Arrow table. The data are copied. Other threads compress them,
        and write them when a cluster is full: an error of the disk may come at a later call, and
        `stalled` has the seconds that calls waited. Projected fields may replace the fields that
        they show, as in ``extend(events.arrays())`` for a converted file; the fields of one
        collection must agree.

        Values are converted to the type of the field: integers of any width if every value fits,
        doubles are rounded to ``float``. Lists of Python objects may also have `None` for optional
        values, dicts for maps and records, tuples, sets, and all types of a variant.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when fields are missing or unknown, or a value does not fit its field.
            The message names the field and the entry, which is counted in `data`.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for types that RNTuple does not have.
        """
        self._extend(self._columns(data))

    def fill_context(self) -> FillContext:
        """Return a context with which one thread adds entries, in parallel with other threads.

        Each thread has its own context and calls `FillContext.extend`; the threads of the file
        encode and compress. The option `fill_contexts` of `recreate` is the maximum
        number of contexts, and `fill_order` sets the order of the entries. Entries that were added
        before with `extend` come first; after this call, only contexts can add entries.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for more contexts than `fill_contexts`; in the order ``"round-robin"``
            also when another context has entries.
        """
        return FillContext(self, self._open().fill_context(self.name))

    @checked
    def add_fields(self, types_or_data: object) -> None:
        """Add fields after entries were written.

        >>> with nyssa.recreate("out.root") as file:
        ...     file["Events"] = {"x": [1.0, 2.0]}
        >>> with nyssa.update("out.root") as file:
        ...     file["Events"].add_fields({"weight": [0.5, 0.25]})
        >>> nyssa.open("out.root:Events").keys()
        ['x', 'weight']

        Types, as for `WritableFile.mkrntuple`, make fields that read as zeros and empty lists in
        earlier entries. Buffered entries are written first, as a separate cluster.

        Data, as for `extend`, have a value for each entry of an RNTuple of `nyssa.update`, before
        other entries are added. The new columns get pages in the clusters that exist; the page
        lists are written again, and the pages of the other columns stay as they are.

        A name with dots is the path of a member that a record gets, such as ``jet.track.pt``. The
        record has no class, and is not inside a list.

        After this call `extend` also needs the new fields.

        Fields can be added while fill contexts write. Each context sees them from its first data on
        that have them, where its open cluster ends. Until then its data may leave them out: these
        entries read as zeros and empty lists, too. Contexts that are made later need all fields.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when there are no columns, a name is taken or not allowed, data have
            another number of values than the RNTuple has entries, or there are data for an RNTuple
            that is new or has new entries.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for a type that RNTuple does not have; with fill contexts also
            for members of records, and for a column type of `field_options` that cannot hold zero.
        """
        columns = from_types.empty(types_or_data)
        filled = columns is None
        if columns is None:
            columns = from_data.columns(types_or_data)
        if not columns:
            raise ArgumentError("add_fields needs a field at least: the data have no columns")
        self._has(self._open().add_fields(self.name, columns, filled))

    @checked
    def attribute_set(self, name: str, types: Mapping[str, object]) -> AttributeSetWriter:
        """Start an attribute set: data about ranges of entries, such as runs or conditions.

        >>> meta = events.attribute_set("meta", {"run": "int32", "stream": "string"})
        >>> with meta.range(run=362760, stream="express"):
        ...     events.extend(chunk)

        `types` are as for `WritableFile.mkrntuple`. The set is completed with the file.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when `types` are not types, or the name is taken, reserved or not
            allowed.
        """
        columns = from_types.needed(types, "attribute_set")
        self._open().attribute_set(self.name, name, columns)
        return AttributeSetWriter(
            self, name, {str(key): from_types.awkward_type(item) for key, item in types.items()}
        )

    def _extend(self, columns: list[_core.Array]) -> None:
        self._open().extend(self.name, columns)
        self._entries += len(columns[0]) if columns else 0

    def _number_of_fields(self) -> int:
        return len(self._stored)

    def _columns(self, data: object) -> list[_core.Array]:
        return self._first_columns(data, len(self._stored))

    def _first_columns(self, data: object, known: int) -> list[_core.Array]:
        columns = self._some(from_data.columns(data, forms=self._forms), self._stored, "fields")
        given = {column.name: column for column in columns}
        # Late fields are the last ones.
        names = self._stored[: max(known, len(given))]
        if set(given) != set(names):
            return self._open().rows(self.name, list(given.values()), known)
        return [given[name] for name in names]

    def _has(self, fields: list[_core.RowField]) -> None:
        """Store which fields rows may have, and which of them have the data."""
        self._forms = {
            name: None if form is None else forms.parse(form) for name, form, _ in fields
        }
        self._stored = [name for name, _, projected in fields if not projected]
