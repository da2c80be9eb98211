"""Reads many files as one dataset, in steps or at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter, names_of
from nyssa.arguments.options import (
    ArrowName,
    AwkwardName,
    Computing,
    Evolution,
    NumpyArrays,
    NumpyName,
    PandasName,
    PolarsName,
    StepOptions,
)
from nyssa.arguments.sizes import step_size as size_of
from nyssa.arrays import libraries
from nyssa.arrays.groups import How, grouping
from nyssa.read.chain import Chain, Files, Schema, chain, expand, link, link_options
from nyssa.read.columns import Names
from nyssa.read.file import open_dataset
from nyssa.read.reading import DEFAULT_STEP
from nyssa.read.steps import each

if TYPE_CHECKING:
    import awkward as ak
    import pandas as pd
    import polars as pl
    import pyarrow as pa

__all__ = ["concatenate", "iterate", "num_entries"]

_NAME = re.compile(r"[^\W\d][\w.]*")
"""A name of a column, or of a member of it."""


class Concatenation(Computing, Evolution, total=False):
    """The options of `nyssa.concatenate`; see there."""

    schema: Schema | None


class FileSteps(StepOptions, Evolution, total=False):
    """The options of `nyssa.iterate` for files of other schemas; see there."""

    schema: Schema | None


@checked
def num_entries(files: Files) -> Iterator[tuple[str, str, int]]:
    """Iterate over the files: the path of each, the path of the dataset in it, and its entries.

    >>> for path, name, entries in nyssa.num_entries("run1/*.root:Events"):
    ...     print(path, name, entries)
    run1/a.root Events 20000
    run1/b.root Events 20000

    `files` are as in `chain`. Of each file only the metadata are read.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) when a file has no such dataset.
    """
    for item in expand(files):
        dataset = open_dataset(item)
        yield dataset.file_path, dataset.object_path, dataset.num_entries


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: AwkwardName = "ak",
    report: Literal[False] = False,
    **options: Unpack[FileSteps],
) -> Iterator[ak.Array]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: AwkwardName = "ak",
    report: Literal[True],
    **options: Unpack[FileSteps],
) -> Iterator[tuple[ak.Array, tuple[str, int, int]]]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: NumpyName,
    report: Literal[False] = False,
    **options: Unpack[FileSteps],
) -> Iterator[NumpyArrays]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: NumpyName,
    report: Literal[True],
    **options: Unpack[FileSteps],
) -> Iterator[tuple[NumpyArrays, tuple[str, int, int]]]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: ArrowName,
    report: Literal[False] = False,
    **options: Unpack[FileSteps],
) -> Iterator[pa.Table]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: ArrowName,
    report: Literal[True],
    **options: Unpack[FileSteps],
) -> Iterator[tuple[pa.Table, tuple[str, int, int]]]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: PandasName,
    report: Literal[False] = False,
    **options: Unpack[FileSteps],
) -> Iterator[pd.DataFrame]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: PandasName,
    report: Literal[True],
    **options: Unpack[FileSteps],
) -> Iterator[tuple[pd.DataFrame, tuple[str, int, int]]]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: PolarsName,
    report: Literal[False] = False,
    **options: Unpack[FileSteps],
) -> Iterator[pl.DataFrame]: ...


@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: PolarsName,
    report: Literal[True],
    **options: Unpack[FileSteps],
) -> Iterator[tuple[pl.DataFrame, tuple[str, int, int]]]: ...


# The library is only known at run time, hence `Any`.
@overload
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    library: str,
    report: bool = False,
    **options: Unpack[FileSteps],
) -> Iterator[Any]: ...


@checked
def iterate(
    files: Files,
    expressions: Names = None,
    *,
    cut: str | None = None,
    aliases: Mapping[str, str] | None = None,
    how: How | None = None,
    step_size: int | str = DEFAULT_STEP,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    library: str = "ak",
    report: bool = False,
    skip_unreadable: bool = False,
    threads: int | None = None,
    schema: Schema | None = None,
    **evolution: Unpack[Evolution],
) -> Iterator[Any]:
    """Read the same columns of many files in steps.

    >>> steps = nyssa.iterate("run1/*.root:Events", ["Jet_pt"], step_size=15_000)
    >>> [len(step) for step in steps]
    [15000, 5000, 15000, 5000]

    `files`, `schema`, `missing`, `narrowing` and `rules` are as in `chain`. In `aliases`, a name
    stands for another name, as in `chain`, or for an expression, as in `Dataset.arrays`. A step
    does not go over the end of a file. A file is opened, the `cut` is evaluated on it, and its
    first step is read, while the caller works on the file before; up to eight files, where they are
    small and behind a network. But all files are opened at the
    start if the columns depend on all of them: with a `schema` other than ``"first"``, with
    ``missing="null"``, and for columns below the top level. With ``report=True`` each step is a
    pair ``(arrays, (file, start, stop))`` with its entries in the file; the index of pandas
    continues over all files. With `skip_unreadable`, columns and members that cannot be read are
    left out from the first step that cannot be read on, also of all later files. See
    `Dataset.iterate` for the other parameters.
    """
    library = libraries.canonical(library)
    group = grouping(how, library)
    names = names_of(expressions)
    renamed, computed = _divided(aliases)
    size_of(step_size)
    sources = expand(files)
    of_first = schema is None or (isinstance(schema, str) and schema == "first")
    lazy = of_first and evolution.get("missing") != "null"

    def show(arrays: Any, file: str, start: int, stop: int) -> Any:
        arrays = group(arrays)
        return (arrays, (file, start, stop)) if report else arrays

    def link_all(sources: list[Any]) -> Chain:
        return chain(sources, schema=schema, aliases=renamed, threads=threads, **evolution)

    def steps() -> Iterator[Any]:
        opened = link_all(sources[:1] if lazy else sources)
        query = opened._query(names, cut, computed)
        columns = opened._without_entries(query)
        chosen = columns._choose(names, filter_name, filter_typename, skip_unreadable)
        fields = set(query.fields() if query else ())
        one_by_one = lazy and fields <= {*opened.keys()} and {*chosen} <= {*columns.keys()}
        if lazy and not one_by_one:
            opened = link_all(sources)
        options = columns._step_options(library, step_size, chosen, threads)
        options["skip_unreadable"] = skip_unreadable
        options["query"] = query
        if one_by_one:
            options["links"] = [link(source) for source in sources[1:]]
            options["options"] = link_options(opened, aliases=renamed, **evolution)
        parts = [(start, stop, start, file) for file, start, stop in opened.files]
        made = _core.Steps(opened._core, parts, chosen, **options)
        yield from each(made, library, chosen, show)

    return steps()


@overload
def concatenate(
    files: Files,
    expressions: Names = None,
    *,
    library: AwkwardName = "ak",
    **options: Unpack[Concatenation],
) -> ak.Array: ...


@overload
def concatenate(
    files: Files, expressions: Names = None, *, library: NumpyName, **options: Unpack[Concatenation]
) -> NumpyArrays: ...


@overload
def concatenate(
    files: Files, expressions: Names = None, *, library: ArrowName, **options: Unpack[Concatenation]
) -> pa.Table: ...


@overload
def concatenate(
    files: Files,
    expressions: Names = None,
    *,
    library: PandasName,
    **options: Unpack[Concatenation],
) -> pd.DataFrame: ...


@overload
def concatenate(
    files: Files,
    expressions: Names = None,
    *,
    library: PolarsName,
    **options: Unpack[Concatenation],
) -> pl.DataFrame: ...


# The library is only known at run time, hence `Any`.
@overload
def concatenate(
    files: Files, expressions: Names = None, *, library: str, **options: Unpack[Concatenation]
) -> Any: ...


@checked
def concatenate(
    files: Files,
    expressions: Names = None,
    *,
    cut: str | None = None,
    aliases: Mapping[str, str] | None = None,
    how: How | None = None,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    library: str = "ak",
    skip_unreadable: bool = False,
    threads: int | None = None,
    schema: Schema | None = None,
    **evolution: Unpack[Evolution],
) -> Any:
    """Read the same columns of many files into one table.

    >>> arrays = nyssa.concatenate("run*/*.root:Events", ["MET_pt"], cut="MET_pt > 100")
    >>> len(arrays)
    1086

    `files`, `schema`, `missing`, `narrowing` and `rules` are as in `chain`. In `aliases`, a name
    stands for another name, as in `chain`, or for an expression. The other parameters and the
    result are as in `Dataset.arrays`.
    """
    library = libraries.canonical(library)
    renamed, computed = _divided(aliases)
    return chain(files, schema=schema, aliases=renamed, threads=threads, **evolution).arrays(
        expressions,
        cut=cut,
        aliases=computed,
        how=how,
        filter_name=filter_name,
        filter_typename=filter_typename,
        library=library,
        skip_unreadable=skip_unreadable,
        threads=threads,
    )


def _divided(aliases: Mapping[str, str] | None) -> tuple[dict[str, str], dict[str, str]]:
    """Return the aliases that are other names of columns, and those that are expressions."""
    all_aliases = aliases or {}
    renamed = {new: old for new, old in all_aliases.items() if _NAME.fullmatch(old)}
    return renamed, {new: old for new, old in all_aliases.items() if new not in renamed}
