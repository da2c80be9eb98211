"""`PyarrowDataset`: a dataset that pyarrow, DuckDB and others scan, with columns and filters."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa
import pyarrow.dataset as pads
from pyarrow.fs import LocalFileSystem

from nyssa.errors import UnsupportedError
from nyssa.pushdown import arrow_filter
from nyssa.pushdown.condition import steps

if TYPE_CHECKING:
    import pyarrow.compute as pc

    from nyssa.read.dataset import Dataset

__all__ = ["PyarrowDataset"]

_WORD = re.compile(r"\w+")


# pyarrow has no types that a checker knows: `Any`.
class PyarrowDataset(pads.FileSystemDataset):  # type: ignore[misc]
    """A dataset whose `scanner` reads only the columns and entries that are asked for.

    Its class is one of pyarrow, because DuckDB and others look for that. Its files are of nyssa, so
    what pyarrow does only with files of its own formats is refused.
    """

    def __init__(
        self, dataset: Dataset, names: list[str], threads: int | None, where: Any = None
    ) -> None:
        # Code of pyarrow that does not ask `scanner` finds a file that does not exist, not a crash.
        file_format, system = pads.IpcFileFormat(), LocalFileSystem()
        place = f"{dataset.file_path}: nyssa reads this by the method scanner"
        fragment = file_format.make_fragment(place, filesystem=system)
        schema = pa.schema(list(pa.schema(_Schema(dataset, names))))
        super().__init__([fragment], schema, file_format, system)
        self._dataset, self._names, self._threads, self._where = dataset, names, threads, where
        self._schema = schema

    @property
    def schema(self) -> pa.Schema:
        """Return the names and types of the columns."""
        return self._schema

    def scanner(
        self,
        columns: list[str] | Mapping[str, pc.Expression] | None = None,
        filter: pc.Expression | None = None,
        **options: Any,
    ) -> pads.Scanner:
        """Return a scanner, which can be read once.

        Parameters
        ----------
        columns
            Names of columns, or a dict of names and expressions. The default is all columns.
        filter
            A condition. The columns that it needs are read first. What of it can be a cut selects
            the entries that are read; pyarrow applies the whole filter to them.
        **options
            Options of ``pyarrow.dataset.Scanner.from_batches``.
        """
        condition = filter if self._where is None else self._where
        if filter is not None and self._where is not None:
            condition = self._where & filter
        needed = self._needed(columns, condition)
        cut = None if condition is None else arrow_filter.cut_of(condition, self._schema)
        schema = pa.schema([self._schema.field(name) for name in needed])
        reader = pa.RecordBatchReader.from_batches(schema, self._batches(needed, cut))
        known = ("batch_size", "use_threads", "memory_pool")
        chosen = {name: value for name, value in options.items() if name in known}
        if columns is not None:
            chosen["columns"] = columns if isinstance(columns, Mapping) else list(columns)
        return pads.Scanner.from_batches(reader, filter=condition, **chosen)

    def count_rows(self, filter: pc.Expression | None = None, **options: Any) -> int:
        """Return the number of rows; without a filter nothing is read."""
        if filter is None and self._where is None:
            return self._dataset.num_entries
        rows: int = self.scanner(columns=[], filter=filter, **options).count_rows()
        return rows

    def filter(self, expression: pc.Expression) -> PyarrowDataset:
        """Return the rows for which a condition is true, as a dataset."""
        where = expression if self._where is None else self._where & expression
        return PyarrowDataset(self._dataset, self._names, self._threads, where)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to open it again."""
        return PyarrowDataset, (self._dataset, self._names, self._threads, self._where)

    def _batches(self, names: list[str], cut: str | None) -> Iterator[pa.RecordBatch]:
        for table in steps(self._dataset, names, cut, "arrow", threads=self._threads):
            yield from table.to_batches()

    def _needed(self, columns: Any, condition: pc.Expression | None) -> list[str]:
        """Return the columns that a scan needs, in the order of the dataset."""
        if columns is None:
            return list(self._names)
        named = columns.values() if isinstance(columns, Mapping) else ()
        texts = [str(item) for item in (*named, *([] if condition is None else [condition]))]
        listed = () if isinstance(columns, Mapping) else columns
        missing = [name for name in listed if name not in self._names]
        if missing:
            # pyarrow says what is wrong with the name.
            return list(self._names)
        needed = [
            name
            for name in self._names
            if name in listed or any(_has_name(text, name) for text in texts)
        ]
        # Rows are counted by a column.
        return needed or self._names[:1]


def _has_name(text: str, name: str) -> bool:
    """Return whether the text of an expression may have the name of a column."""
    if _WORD.fullmatch(name):
        return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text) is not None
    return name in text


class _Schema:
    """The Arrow schema of some columns."""

    def __init__(self, dataset: Dataset, names: list[str]) -> None:
        self._dataset, self._names = dataset, names

    def __arrow_c_schema__(self) -> object:
        return self._dataset._core.schema(self._names)


def _refuse(name: str) -> Any:
    def refused(_self: PyarrowDataset, *_args: Any, **_options: Any) -> NoReturn:
        raise UnsupportedError(
            f"a dataset of nyssa has no {name}: make a table first, "
            "by to_table(columns=..., filter=...)"
        )

    refused.__name__ = name
    refused.__doc__ = "Raise `nyssa.UnsupportedError`."
    return refused


_OWN = ("scanner", "count_rows", "filter", "schema")
_BY_SCANNER = ("to_table", "to_batches", "head", "take")
for _name in dir(pads.FileSystemDataset):
    if not _name.startswith("_") and _name not in (*_OWN, *_BY_SCANNER):
        _value = getattr(pads.FileSystemDataset, _name)
        setattr(
            PyarrowDataset, _name, _refuse(_name) if callable(_value) else property(_refuse(_name))
        )
