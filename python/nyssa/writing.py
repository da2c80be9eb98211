"""Writing RNTuples: `recreate`, and the file and writers it gives."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import awkward as ak
import numpy as np

from nyssa import _columns, _core
from nyssa._attributes import AttributeSetWriter
from nyssa._filter import not_found
from nyssa._steps import bytes_of
from nyssa.errors import ArgumentError

__all__ = ["NTupleWriter", "WritableFile", "recreate"]


class WritableFile:
    """A ROOT file being written; use it as a context manager. See `recreate`."""

    def __init__(self, path: str, options: dict[str, Any], force: bool) -> None:
        self._path = path
        self._core: _core.Writer | None = _core.Writer(path, options, force)
        self._writers: dict[str, NTupleWriter] = {}

    @property
    def file_path(self) -> str:
        """Path of the file."""
        return self._path

    def mkrntuple(
        self,
        name: str,
        types_or_data: Any,
        description: str = "",
        *,
        projections: Mapping[str, str] | None = None,
    ) -> NTupleWriter:
        """Add an RNTuple and return its writer.

        Parameters
        ----------
        name
            Its name; ``"dir/Events"`` makes the directory.
        types_or_data
            A dict from names to NumPy dtypes or awkward types (``"var * float32"``), or data as for
            `NTupleWriter.extend`, which are written at once.
        description
            Free text that is stored with it.
        projections
            More names for data that are there: a dict from names to paths. ``"jets.pt"`` is the
            member of each item as a list of numbers, ``"#jets"`` the number of items, ``"met"``
            another name of a field. They take no space, and are read like other fields.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when the name is taken, or a field's name is not allowed.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for a type that RNTuple does not have.
        """
        if name in self._writers:
            raise ArgumentError(f"{self._path} already has an RNTuple {name!r}")
        columns = _empty(types_or_data)
        initial = columns is None
        if columns is None:
            columns = _columns.columns(types_or_data)
        projected = list((projections or {}).items())
        self._open().table(name, columns, description, projected)
        writer = NTupleWriter(self, name, [column.name for column in columns])
        self._writers[name] = writer
        if initial:
            writer._extend(columns)
        return writer

    def __setitem__(self, name: str, data: Any) -> None:
        """Write `data` as a whole RNTuple; see `NTupleWriter.extend` for what data may be."""
        self.mkrntuple(name, data)

    def __getitem__(self, name: str) -> NTupleWriter:
        """Return the writer of an RNTuple of this file."""
        if name not in self._writers:
            raise not_found(name, list(self._writers), f"{self._path}, which is being written")
        return self._writers[name]

    def close(self) -> None:
        """Write what is left and let the file appear under its name."""
        core, self._core = self._core, None
        if core is not None:
            core.close()

    def __enter__(self) -> WritableFile:
        """Return itself."""
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        """Close the file; after an exception leave none."""
        if kind is None:
            self.close()
        else:
            core, self._core = self._core, None
            if core is not None:
                core.abort()

    def __del__(self) -> None:
        """Warn when the file was forgotten: without `close` nothing is written."""
        if getattr(self, "_core", None) is not None:
            warnings.warn(
                f"{self._path} was never closed and is not written; use `with nyssa.recreate(...)`",
                RuntimeWarning,
                stacklevel=2,
            )

    def _open(self) -> _core.Writer:
        if self._core is None:
            raise ArgumentError(f"{self._path} is closed")
        return self._core

    def __repr__(self) -> str:
        """Return path and state."""
        state = "closed" if self._core is None else "open"
        return f"<WritableFile {self._path} ({state})>"


class NTupleWriter:
    """Writes entries to one RNTuple of a `WritableFile`."""

    def __init__(self, file: WritableFile, name: str, fields: list[str]) -> None:
        self._file = file
        self._fields = fields
        self._entries = 0
        self.name = name

    @property
    def num_entries(self) -> int:
        """Number of entries so far."""
        return self._entries

    def extend(self, data: Any) -> None:
        """Add entries.

        `data` holds all fields, in any order: an awkward array of records, a dict of arrays
        (awkward; NumPy of one or more dimensions; strings; pandas; Arrow), a structured NumPy
        array, a pandas or polars data frame, or an Arrow table. They are copied, and written to
        disk whenever a cluster is full.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when fields are missing, too many, or of another type than before.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for missing values and types that RNTuple does not have.
        """
        self._extend(_columns.columns(data))

    def add_fields(self, types: Mapping[str, Any]) -> None:
        """Add fields after entries were written; the entries before read as zeros and empty lists.

        `types` is a dict from names to NumPy dtypes or awkward types, as for
        `WritableFile.mkrntuple`. Entries that are buffered are written first, as a cluster of their
        own; from then on, `extend` needs the new fields as well.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when `types` are not types, or a name is taken or not allowed.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for a type that RNTuple does not have.
        """
        columns = _types(types, "add_fields")
        self._file._open().add_fields(self.name, columns)
        self._fields += [column.name for column in columns]

    def attribute_set(self, name: str, types: Mapping[str, Any]) -> AttributeSetWriter:
        """Begin an attribute set: data about ranges of entries, such as runs or conditions.

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
        columns = _types(types, "attribute_set")
        self._file._open().attribute_set(self.name, name, columns)
        return AttributeSetWriter(
            self, name, {str(key): _awkward_type(one) for key, one in types.items()}
        )

    def _extend(self, columns: list[_core.Array]) -> None:
        given = {column.name: column for column in columns}
        if set(given) != set(self._fields):
            missing = [name for name in self._fields if name not in given]
            unknown = [name for name in given if name not in self._fields]
            raise ArgumentError(
                f"the data do not have the fields of {self.name!r}: "
                f"missing {missing or 'none'}, unknown {unknown or 'none'}"
            )
        ordered = [given[name] for name in self._fields]
        self._file._open().extend(self.name, ordered)
        self._entries += len(columns[0]) if columns else 0

    def __repr__(self) -> str:
        """Return name and entries."""
        return f"<NTupleWriter {self.name!r} ({self._entries} entries)>"


def recreate(
    path: str | os.PathLike[str],
    *,
    compression: int | str = 505,
    encoding: str = "default",
    cluster_size: int | str | None = None,
    page_size: int | str | None = None,
    checksums: bool = True,
    force: bool = True,
    threads: int | None = None,
) -> WritableFile:
    """Create a ROOT file for writing RNTuples.

    >>> with nyssa.recreate("out.root") as file:
    ...     file["Events"] = {"x": np.arange(10), "jets": ak.Array([[1.5]] * 10)}

    The file appears when it is closed; an exception inside the ``with`` leaves no file (or the one
    that was there before).

    Parameters
    ----------
    path
        Path of the file.
    compression
        ROOT's setting, such as 505 (zstd, level 5), 404 (lz4), 207 (lzma), 101 (zlib), 0 (none), or
        a name with an optional level: ``"zstd"``, ``"zstd:9"``.
    encoding
        ``"default"``: column types as ROOT has them. ``"auto"``: for each column what is smallest
        on a sample of its data, split or unsplit, with a compression effort chosen for size more
        than for time; looked at again in later clusters.
    cluster_size
        Compressed bytes of a cluster to aim at, such as ``"50 MB"``; default that of ROOT.
    page_size
        Largest page before compression; default that of ROOT.
    checksums
        Whether pages carry a checksum.
    force
        Whether an existing file is replaced.
    threads
        As in `Dataset.arrays`.

    Raises
    ------
    nyssa.errors.OutputExistsError
        (a `FileExistsError`)        when the file exists and `force` is false.
    """
    options: dict[str, Any] = {
        "compression": compression,
        "encoding": encoding,
        "checksums": checksums,
    }
    if cluster_size is not None:
        options["cluster_size"] = bytes_of(cluster_size, "cluster_size")
    if page_size is not None:
        options["page_size"] = bytes_of(page_size, "page_size")
    if threads is not None:
        options["threads"] = threads
    return WritableFile(os.fspath(path), options, force)


def _empty(types: Any) -> list[_core.Array] | None:
    """Return empty columns of the `types` in a dict, or `None` if these are data."""
    if not isinstance(types, Mapping) or not types or not all(map(_is_type, types.values())):
        return None
    return [_columns.column(str(name), _empty_array(one)) for name, one in types.items()]


def _types(types: Any, caller: str) -> list[_core.Array]:
    columns = _empty(types)
    if columns is None:
        raise ArgumentError(f"{caller} needs a dict from names to types, not data")
    return columns


def _awkward_type(one: Any) -> ak.types.Type:
    return ak.to_layout(_empty_array(one)).form.type


def _is_type(one: Any) -> bool:
    return isinstance(one, (str, type, np.dtype, ak.types.Type, ak.types.ArrayType))


def _empty_array(one: Any) -> Any:
    if isinstance(one, ak.types.ArrayType):
        one = one.content
    if isinstance(one, str):
        try:
            one = np.dtype(one)
        except (TypeError, ValueError):
            one = ak.types.from_datashape(one, highlevel=False)
    if isinstance(one, ak.types.Type):
        return ak.Array(ak.forms.from_type(one).length_zero_array(highlevel=False))
    dtype = np.dtype(one)
    if dtype.subdtype is not None:
        return np.empty((0, *dtype.subdtype[1]), dtype=dtype.subdtype[0])
    return np.empty(0, dtype=dtype)
