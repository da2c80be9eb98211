"""Defines `Column`, one column of a dataset. It is read when its values are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from operator import getitem
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin
from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.hints import Hinting
from nyssa.arguments.options import (
    ArrowName,
    AwkwardName,
    EntryOptions,
    NumpyArray,
    NumpyName,
    PandasName,
    PolarsName,
)
from nyssa.arguments.sizes import entry_range
from nyssa.arrays import libraries, to_numpy
from nyssa.errors import UnsupportedError
from nyssa.files.reopen import Recipe
from nyssa.read import unreadable
from nyssa.read.columns import Columns, Item
from nyssa.show.table import html

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["Column"]


class Column(Hinting, NDArrayOperatorsMixin):
    """A column of a `Dataset`: a branch, a field, or a part of one of these.

    `array` reads it. NumPy, Arrow, pandas, polars and plotting libraries accept a column directly
    (``np.asarray(column)``). ``column[:10]`` is an awkward array, ``column[5]`` a value, and
    arithmetic returns awkward arrays. Each of these operations reads the data again.
    """

    _hints: ClassVar[Mapping[str, str]] = {
        "arrays": "array() reads one column; tree.arrays([...]) reads several",
        "pandas": 'array(library="pd") reads a Series',
    }

    def __init__(self, dataset: Columns[Column], item: Item) -> None:
        self._dataset = dataset
        self._item = item

    @property
    def name(self) -> str:
        """Return the name or path of the branch or field."""
        return self._item[0]

    @property
    def typename(self) -> str:
        """Return the C++ type, such as ``std::vector<float>``."""
        return self._item[1]

    @property
    def arrow_type(self) -> str | None:
        """Return the Arrow type of its array; `None` when nyssa cannot read it."""
        return self._item[2]

    @property
    def reason(self) -> str | None:
        """The reason why nyssa cannot read it; `None` when it can."""
        return self._item[3]

    @property
    def title(self) -> str:
        """Return the title of the branch, or description of the field; empty if there is none."""
        return self._dataset._core.title(self.name)

    @property
    def compressed_bytes(self) -> int:
        """Return its bytes in the file, with all columns below it.

        For an RNTuple these are the pages with their checksums: pages that clusters share count
        once, and a projected field has the pages that it shows. For a TTree they are the baskets
        with their keys, as the branch states them (``fZipBytes``). A column that is computed, or of
        several files, raises `nyssa.UnsupportedError`.
        """
        return self._bytes()[0]

    @property
    def uncompressed_bytes(self) -> int:
        """Return its bytes before compression, with all columns below it.

        For an RNTuple these are the encoded elements, for a TTree the baskets with their keys
        (``fTotBytes``). A column that is computed, or of several files,
        raises `nyssa.UnsupportedError`.
        """
        return self._bytes()[1]

    @property
    def compression_ratio(self) -> float:
        """Return how many times smaller it is in the file; not a number if it has no data."""
        compressed, uncompressed = self._bytes()
        return uncompressed / compressed if compressed else float("nan")

    def _bytes(self) -> tuple[int, int]:
        [sizes] = self._dataset._core.column_bytes([self.name])
        if sizes is None:
            raise UnsupportedError(
                f"column {self.name!r} is computed or of several files, so its bytes are not known"
            )
        return sizes

    @property
    def num_entries(self) -> int:
        """Return the number of entries."""
        return self._dataset.num_entries

    @overload
    def array(
        self, *, library: AwkwardName = "ak", **options: Unpack[EntryOptions]
    ) -> ak.Array: ...

    @overload
    def array(self, *, library: NumpyName, **options: Unpack[EntryOptions]) -> NumpyArray: ...

    @overload
    def array(self, *, library: ArrowName, **options: Unpack[EntryOptions]) -> pa.Array[Any]: ...

    @overload
    def array(self, *, library: PandasName, **options: Unpack[EntryOptions]) -> pd.Series[Any]: ...

    @overload
    def array(self, *, library: PolarsName, **options: Unpack[EntryOptions]) -> pl.Series: ...

    # The library is only known at run time, hence `Any`.
    @overload
    def array(self, *, library: str, **options: Unpack[EntryOptions]) -> Any: ...

    @checked
    def array(
        self,
        *,
        entry_start: int | None = None,
        entry_stop: int | None = None,
        library: str = "ak",
        skip_unreadable: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Read the column into memory.

        >>> events = nyssa.open("events.root:Events")
        >>> events["nMuon"].array(library="np", entry_stop=5)
        array([2, 1, 3, 1, 0], dtype=uint32)
        >>> events["Muon_charge"].array(entry_stop=3).to_list()
        [[1, -1], [1], [1, -1, 1]]

        With ``library="np"`` numbers have the shape ``(entries,)``, fixed arrays ``(entries, d1,
        ...)``, records of numbers are a structured array, strings are objects of type `str`, and
        jagged data are objects: one NumPy array for each entry. Numbers that may be missing are a
        masked array, and in pandas of its own types, such as ``Float64``. Arrays of NumPy can be
        written to; arrays of awkward and Arrow share memory and cannot. The
        other libraries return an ``ak.Array``, ``pyarrow.Array``, ``pandas.Series`` or
        ``polars.Series``. The parameters and errors are as in `Dataset.arrays`. With
        `skip_unreadable`, members of objects that cannot be read are left out.
        """
        library = libraries.canonical(library)
        start, stop = entry_range(entry_start, entry_stop, self.num_entries)
        if skip_unreadable:
            return unreadable.column(self._dataset._core, self.name, library, start, stop, threads)
        column = self._read(start, stop, threads, libraries.takes_buffers(library))
        return libraries.column(library, column, start, stop)

    def _read(
        self, start: int, stop: int, threads: int | None = None, buffers: bool = False
    ) -> _core.Array:
        dataset = self._dataset
        names = dataset._choose([self.name], None, None) if self.reason else [self.name]
        [column] = dataset._core.read(names, start, stop, threads, buffers)
        return column

    # Values

    def __len__(self) -> int:
        """Return the number of entries."""
        return self.num_entries

    def __getitem__(self, where: Any) -> Any:
        """Return values; for a name, return the column of a member, as in ``column["pt"]``.

        A slice, the number of an entry, or an array of numbers or booleans selects entries as in an
        awkward array. For a slice without a step and for one entry, only these entries are read.
        """
        if isinstance(where, str):
            separator = "/" if self._dataset._core.format == "TTree" else "."
            return self._dataset[f"{self.name}{separator}{where}"]
        if isinstance(where, slice) and where.step in (None, 1):
            return self.array(entry_start=where.start, entry_stop=where.stop)
        if isinstance(where, (int, np.integer)) and not isinstance(where, bool):
            entry = int(where) + (self.num_entries if where < 0 else 0)
            if not 0 <= entry < self.num_entries:
                raise IndexError(f"entry {where} is not among the {self.num_entries} entries")
            return self.array(entry_start=entry, entry_stop=entry + 1)[0]
        return self.array()[where]

    def __iter__(self) -> Iterator[Any]:
        """Iterate over the values. All are read at the start."""
        return iter(self.array())

    def __bool__(self) -> bool:
        """Raise `TypeError`: an array of values is neither true nor false."""
        raise TypeError(
            f"column {self.name!r} is neither true nor false; ask its array, as by ak.any"
        )

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return the values as ``array(library="np")`` does; none may be missing."""
        values = to_numpy.plain(self.array(library="np"), f"column {self.name!r}")
        return np.array(values, dtype=dtype) if copy else np.asarray(values, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Compute with awkward arrays of the values. Reductions use NumPy arrays."""
        library = "ak" if method == "__call__" else "np"
        arrays = [
            item.array(library=library) if isinstance(item, Column) else item for item in inputs
        ]
        return getattr(ufunc, method)(*arrays, **options)

    def __dlpack__(self, **options: Any) -> object:
        """Return one number for each entry by the DLPack protocol, which awkward uses."""
        values = self.array(library="np")
        if values.dtype.kind not in "biuf" or isinstance(values, np.ma.MaskedArray):
            raise TypeError(
                f"column {self.name!r} holds more than one number for each entry, or none; read it "
                "with .array()"
            )
        return values.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return the DLPack device, which is the CPU."""
        return (1, 0)

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        """Return all values as an Arrow array (Arrow PyCapsule interface)."""
        return self._read(0, self.num_entries).__arrow_c_array__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Return the Arrow type."""
        return self._read(0, 0).__arrow_c_schema__()

    def __enter__(self) -> Column:
        """Return itself, so that ``with nyssa.open("file.root:Events/x") as column`` works."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close its file; see `Dataset.close`."""
        self._dataset.close()

    def _repr_html_(self) -> str:
        """Return name, types, title and size as a table for notebooks."""
        above = repr(self._dataset).strip("<>")
        return html([f"Column of {above}", self._dataset._html_table([self._item])])

    __hash__ = object.__hash__

    def __reduce__(self) -> Recipe:
        """Return how to open it again; see `Dataset`."""
        return (getitem, (self._dataset, self.name))

    def __repr__(self) -> str:
        """Return name, type and dataset."""
        typename = _core.printable(self.typename)
        return f"<Column {self.name!r} ({typename}) of {self._dataset.name!r}>"
