"""Declares types of arguments: names of libraries, and options that several functions share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy.typing as npt
from typing_extensions import TypedDict

from nyssa.arguments.names import NameFilter

if TYPE_CHECKING:
    from nyssa.read.rules import ReadRules

AwkwardName = Literal["ak", "awkward"]
NumpyName = Literal["np", "numpy"]
ArrowName = Literal["arrow", "pyarrow", "pa"]
PandasName = Literal["pd", "pandas", "pd[nan]", "pandas[nan]", "pd[pyarrow]", "pandas[pyarrow]"]
PolarsName = Literal["pl", "polars"]
Library = Literal[AwkwardName, NumpyName, ArrowName, PandasName, PolarsName]
"""The values of the parameter ``library``."""

# Only the file says what kind of numbers an array holds: `Any`.
NumpyArray = npt.NDArray[Any]
NumpyArrays = dict[str, NumpyArray]

Missing = Literal["error", "default", "null"]
"""The value of fields that a file does not have."""


class ColumnFilters(TypedDict, total=False):
    """The filters of `Dataset.keys`."""

    filter_name: NameFilter
    filter_typename: NameFilter
    recursive: bool


class SupportsRead(Protocol):
    """A file object that reads bytes at any place."""

    def read(self, size: int, /) -> bytes:
        """Read the next bytes."""
        ...

    def seek(self, offset: int, whence: int, /) -> int:
        """Go to another place."""
        ...


class SupportsWrite(Protocol):
    """A file object to which bytes are written."""

    def write(self, data: bytes, /) -> object:
        """Write the next bytes."""
        ...


class KeyFilters(TypedDict, total=False):
    """The filters of `Directory.keys`."""

    recursive: bool
    cycle: bool
    filter_name: NameFilter
    filter_classname: NameFilter


class TakeOptions(TypedDict, total=False):
    """The options of `Dataset.take`; see there."""

    aliases: Mapping[str, str] | None
    filter_name: NameFilter
    filter_typename: NameFilter
    skip_unreadable: bool
    threads: int | None


class EntryOptions(TypedDict, total=False):
    """The options of `Column.array`; see there."""

    entry_start: int | None
    entry_stop: int | None
    skip_unreadable: bool
    threads: int | None


class Computing(TakeOptions, total=False):
    """The options with which columns are computed and grouped, and entries chosen."""

    cut: str | None
    aliases: Mapping[str, str] | None
    how: Any


class StepOptions(Computing, total=False):
    """The options of `nyssa.iterate`; see there."""

    step_size: int | str


class Selection(Computing, total=False):
    """The options of `Dataset.arrays`; see there."""

    entry_start: int | None
    entry_stop: int | None
    rules: ReadRules | None


class RangeSteps(StepOptions, total=False):
    """The options of `Dataset.iterate`; see there."""

    entry_start: int | None
    entry_stop: int | None


class Evolution(TypedDict, total=False):
    """The options of `nyssa.chain` for files of other schemas; see there."""

    missing: Missing | None
    narrowing: bool
    rules: ReadRules | None
