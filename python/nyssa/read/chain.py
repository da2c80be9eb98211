"""Reads many files as one dataset, a chain. Their schemas may differ."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from typing_extensions import Self

from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import check_text
from nyssa.arguments.options import Missing
from nyssa.errors import ArgumentError, FileMissingError
from nyssa.files.cache import Cache, CacheAs, CacheFolder, choose
from nyssa.files.reopen import Recipe, absolute, absolute_file
from nyssa.read.dataset import Dataset

if TYPE_CHECKING:
    from nyssa.read.rules import CoreRule, ReadRules

__all__ = ["Chain", "chain"]

One = str | os.PathLike[str] | Dataset
Files = One | Iterable[One] | Mapping[str, str]
"""The files of a chain.

A path, URL, glob (``"data/*.root:Events"``), folder or ``@LIST``, a dataset, a list of these, or a
dict from paths to names of objects.
"""


class ArrowSchema(Protocol):
    """Stands for a ``pyarrow.Schema``."""

    def empty_table(self) -> object:
        """Return a table without rows."""


Schema: TypeAlias = (
    "Literal['first', 'union', 'intersection'] | Dataset | Mapping[str, object] | ArrowSchema"
)
"""The columns of a chain: a word, a dataset, a dict from names to types, or an Arrow schema."""


@dataclass(frozen=True)
class ChainOptions:
    """The arguments of `chain`, as the core takes them."""

    schema: str | _core.Dataset | list[_core.Array] | None
    missing: str | None
    narrowing: bool
    aliases: list[tuple[str, str]]
    rules: list[CoreRule] | None


class Chain(Dataset):
    """A dataset that has the entries of many files, one after the other; see `chain`."""

    def __init__(
        self, core: _core.Dataset, recipe: Recipe, files: list[tuple[str, int, int]]
    ) -> None:
        super().__init__(core, recipe)
        self._files = files

    @property
    def files(self) -> list[tuple[str, int, int]]:
        """Return ``(file, start, stop)`` of each file: the range of its entries in the chain."""
        return list(self._files)

    def _view(self, core: _core.Dataset, recipe: Recipe) -> Self:
        return type(self)(core, recipe, self._files)

    def _where(self) -> str:
        return f"the chain of {self.file_path}"


@checked
def chain(
    files: Files,
    *,
    schema: Schema | None = None,
    missing: Missing | None = None,
    narrowing: bool = False,
    aliases: Mapping[str, str] | None = None,
    rules: ReadRules | None = None,
    threads: int | None = None,
    cache: Cache | CacheFolder = None,
    cache_as: CacheAs | None = None,
    cache_size: int | str | None = None,
    cache_max_age: float | str | None = None,
    allow_other_files: bool | None = None,
) -> Chain:
    """Read many files, trees and RNTuples, as one dataset.

    >>> events = nyssa.chain(["run1/*.root:Events", "run2"], schema="union", missing="default")
    >>> events.num_entries
    60000

    Every file is opened once to read its columns and its number of entries. A few files stay open;
    the others are opened again when they are read. If one of the files has a column in a form that
    does not fit the schema, `Dataset.unreadable` lists the column with the file and the reason. The
    other columns can be read.

    Parameters
    ----------
    files
        A path or URL, a glob (``"data/*.root:Events"``), a folder (its files ``*.root``),
        ``"@LIST"`` (a text file with one of these on each line), a dataset, a list of these, or a
        dict from paths to names of objects. A file with only one dataset needs no name. A
        `pathlib.Path` names one file.
    schema
        The columns of the chain. ``"first"`` (default): of the first file; ``"union"``: of any
        file; ``"intersection"``: the columns that all files have. A stated schema is another
        `Dataset`, a dict from names to types as for `WritableFile.mkrntuple`, or an Arrow schema.
        The types of a union or intersection can hold the values of all files (for ``int`` and
        ``double`` this is ``double``).
    missing
        Value of a field, or of a member of a record, that a file does not have: ``"error"`` (the
        column cannot be read), ``"default"`` (zero, false, empty) or ``"null"``. The default is
        ``"null"`` for ``"union"`` and for stated types, and otherwise ``"error"``. With
        ``"default"``, a list of a collection that the file has, such as ``Muon_q`` beside
        ``Muon_pt``, gets as many zeros as the collection has items, as in `merge`.
    narrowing
        Also convert numbers to narrower types: every integer is checked, doubles are rounded to
        floats. By default numbers are only converted to types that hold all their values.
    aliases
        A dict from new names to old names. A file that lacks the new name is read with the old
        one: ``{"MET_pt": "met", "jets.pt": "jets.pT"}``.
    rules
        Members that are computed from other members in each file, before the schema is made; see
        `ReadRules`.
    threads
        As in `Dataset.arrays`.
    cache, cache_as, cache_size, cache_max_age
        As in `nyssa.open`, for the remote files of the chain.
    allow_other_files
        As in `nyssa.open`.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) when a file does not exist, or no file matches the globs.
    nyssa.NotFoundError
        (a `KeyError`) when no file has a stated column.
    nyssa.ArgumentError
        (a `ValueError`) when there are no files or an option is wrong.
    """
    sources = expand(files)
    options = link_options(schema, missing, narrowing, aliases, rules)
    chosen = choose(cache, cache_as, cache_size, cache_max_age)
    links = [link(source) for source in sources]
    core, parts = _core.chain(links, options, threads, chosen, allow_other_files)
    again = partial(
        chain,
        schema=schema,
        missing=missing,
        narrowing=narrowing,
        aliases=aliases,
        rules=rules,
        cache=chosen,
        allow_other_files=allow_other_files,
    )
    return Chain(core, (again, ([_absolute(source) for source in sources],)), parts)


def _absolute(source: One) -> One:
    """Return the absolute path of a file; return a dataset unchanged."""
    if isinstance(source, Dataset):
        return source
    return absolute(source) if isinstance(source, str) else absolute_file(os.fspath(source))


def link_options(
    schema: Schema | None,
    missing: Missing | None = None,
    narrowing: bool = False,
    aliases: Mapping[str, str] | None = None,
    rules: ReadRules | None = None,
) -> ChainOptions:
    """Return the arguments of `chain` for the core."""
    if isinstance(schema, Dataset):
        target: Any = schema._core
    elif schema is None or isinstance(schema, str):
        if schema is not None:
            check_text(schema)
        target = schema
    else:
        target = _stated(schema)
    return ChainOptions(
        schema=target,
        missing=missing,
        narrowing=bool(narrowing),
        aliases=list((aliases or {}).items()),
        rules=None if rules is None else rules._core,
    )


def _stated(schema: Any) -> list[_core.Array]:
    """Return empty columns with the types of a schema."""
    from nyssa.arrays import from_data, from_types

    if isinstance(schema, Mapping):
        columns = from_types.empty(schema)
        if columns is not None:
            return columns
    elif hasattr(schema, "empty_table"):
        return from_data.columns(schema.empty_table())
    raise ArgumentError(
        'a schema is "first", "union", "intersection", a Dataset, a dict from names to types, or '
        f"a pyarrow.Schema, not {schema!r}"
    )


def link(source: One) -> str | _core.Dataset:
    """Return a file or dataset for the core."""
    return source._core if isinstance(source, Dataset) else os.fspath(source)


def expand(files: Files) -> list[One]:
    """Return all files. Globs and folders are expanded, in order of the file names.

    A glob may match nothing if there is another file.
    """
    if isinstance(files, (str, os.PathLike, Dataset)):
        given: list[One] = [files]
    elif isinstance(files, Mapping):
        given = [f"{path}:{name}" for path, name in files.items()]
    else:
        given = list(files)
    if not given:
        raise ArgumentError("no files given")
    sources = [file for source in given for file in _files(source)]
    if not sources:
        globs = [_core.split_path(source)[0] for source in given if isinstance(source, str)]
        missing = FileMissingError(f"no file matches {' or '.join(globs)}")
        missing.errno = errno.ENOENT
        raise missing
    return sources


def _files(source: One) -> list[One]:
    return [*_core.files(source)] if isinstance(source, str) else [source]
