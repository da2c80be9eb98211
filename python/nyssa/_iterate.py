"""Reading several files as if they were one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nyssa import _library, _spare
from nyssa._chain import Chain, Files, Schema, chain, expand
from nyssa._filter import NameFilter
from nyssa.dataset import DEFAULT_STEP, Dataset, Names

__all__ = ["concatenate", "iterate"]


def iterate(
    files: Files,
    names: Names = None,
    *,
    step_size: int | str = DEFAULT_STEP,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    library: str = "ak",
    report: bool = False,
    skip_unreadable: bool = False,
    threads: int | None = None,
    schema: Schema = None,
    **evolution: Any,
) -> Iterator[Any]:
    """Read the same columns of many files in steps.

    `files`, `schema` and the further arguments (`missing`, `narrowing`, `aliases`,
    `rules`) are those of
    `chain`. Steps do not cross files; a file is opened when its turn comes, unless the columns
    depend on all files: a schema other than that of the first file, or missing values as nulls.
    With ``report=True`` each step is a pair ``(arrays, (file, start, stop))``. See
    `Dataset.iterate` for the other parameters. With `skip_unreadable` all files are opened first;
    what cannot be read is left out from the step on in which that shows, of all files behind it.
    """
    library = _library.canonical(library)
    sources = expand(files)
    if skip_unreadable:
        every = chain(sources, schema=schema, threads=threads, **evolution)
        chosen = every._choose(names, filter_name, filter_typename, True)
        spared = _spare.Sparing(every._core, chosen, library, threads)
        return (
            (arrays, (file, first - start, last - start)) if report else arrays
            for file, start, stop in every.files
            for arrays, first, last in spared.steps(step_size, every.clusters, start, stop)
        )
    of_first = schema is None or (isinstance(schema, str) and schema == "first")
    lazy = of_first and evolution.get("missing") != "null"
    whole = None if lazy else chain(sources, schema=schema, threads=threads, **evolution)

    def parts() -> Iterator[tuple[Dataset, str, int, int]]:
        if whole is not None:
            yield from ((whole, file, start, stop) for file, start, stop in whole.files)
            return
        first: Chain | None = None
        for source in sources:
            one = chain(source, schema=first, threads=threads, **evolution)
            first = first or one
            yield one, one.files[0][0], 0, one.num_entries

    def steps() -> Iterator[Any]:
        for dataset, file, start, stop in parts():
            for arrays, (first, last) in dataset.iterate(
                names,
                step_size=step_size,
                filter_name=filter_name,
                filter_typename=filter_typename,
                entry_start=start,
                entry_stop=stop,
                library=library,
                report=True,
                threads=threads,
            ):
                yield (arrays, (file, first - start, last - start)) if report else arrays

    return steps()


def concatenate(
    files: Files,
    names: Names = None,
    *,
    filter_name: NameFilter = None,
    filter_typename: NameFilter = None,
    library: str = "ak",
    skip_unreadable: bool = False,
    threads: int | None = None,
    **evolution: Any,
) -> Any:
    """Read the same columns of many files into one table.

    `files` and the further arguments (`schema`, `missing`, `narrowing`, `aliases`,
    `rules`) are those of
    `chain`; the other parameters and the result are those of `Dataset.arrays`.
    """
    library = _library.canonical(library)
    return chain(files, threads=threads, **evolution).arrays(
        names,
        filter_name=filter_name,
        filter_typename=filter_typename,
        library=library,
        skip_unreadable=skip_unreadable,
        threads=threads,
    )
