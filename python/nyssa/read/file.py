"""Defines `File` and `Directory`, the contents of an open ROOT file."""

from __future__ import annotations

import errno
import json
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast, overload

from typing_extensions import TypedDict, Unpack

from nyssa import _core
from nyssa.arguments.checks import check_location, checked
from nyssa.arguments.keywords import shows_keywords
from nyssa.arguments.names import NameFilter, is_text, matcher, not_found
from nyssa.arguments.options import KeyFilters, SupportsRead
from nyssa.errors import ArgumentError, FileMissingError, FormatError
from nyssa.files.bridge import Ranges, ranges_of
from nyssa.files.cache import Cache, CacheAs, CacheFolder, choose
from nyssa.files.reopen import Recipe, absolute_file
from nyssa.observe.io_stats import IoStats
from nyssa.read.dataset import Dataset
from nyssa.read.mapping import Choosable, Closable
from nyssa.read.rntuple import RNTuple
from nyssa.read.tables import TableFile
from nyssa.read.ttree import TTree
from nyssa.read.wrap import wrap
from nyssa.show.table import Table, html

if TYPE_CHECKING:
    from nyssa import objects
    from nyssa.read.opened import Opened

__all__ = ["Directory", "File", "open"]

#: The classes of datasets in key lists.
DATASETS = ("TTree", "TNtuple", "TNtupleD", "ROOT::RNTuple")
#: The cache of a file, and whether files may name other files.
How = tuple[CacheFolder | None, bool | None]
#: What Python makes of bytes that are not UTF-8 (PEP 383).
_NO_UTF8 = re.compile("[\udc80-\udcff]")
#: The classes of directories in key lists.
DIRECTORIES = ("TDirectory", "TDirectoryFile")


# The type of a value depends on its key, hence `Any`.
class Directory(Choosable[Any]):
    """A directory of a ROOT file: a mapping from paths to `Dataset`, `Directory` and other objects.

    Names are ``"Events"``, ``"dir/Events"`` or, with a cycle, ``"Events;2"``. Without a cycle, the
    name means the highest one. A slash is between directories. Slashes and semicolons in the names
    of objects are listed as ``"%2F"`` and ``"%3B"``, bytes that are not UTF-8 as in ``"h%E9"``, a
    directory without a name as ``"%00"``, so that each listed name means one object.
    A name as it is in the file is understood, too, where no
    directory and no cycle has it: ``"a/b"`` is the object ``b`` of the directory ``a``, and only
    without such an object the one with the name ``a/b``.
    An object that is neither a dataset nor a directory, such as a
    histogram, is an `nyssa.objects.Object`. An object is read when it is requested.
    """

    def _hint_of(self, name: str) -> str | None:
        if name == "Get":
            return 'an object is read by its path, as in file["hists/mass"]'
        name = "arrays" if name == "array" else name
        if name not in ("arrays", "iterate", "num_entries", "show"):
            return None
        first = next(iter(self.datasets()), None)
        if first is None:
            return "that is of a TTree or RNTuple, which is not here; keys() lists the objects"
        return f"that is of a TTree or RNTuple: file[{first!r}].{name}"

    def __init__(
        self,
        core: _core.File,
        path: str = "",
        above: Directory | None = None,
        location: str | Ranges | None = None,
        how: How = (None, None),
    ) -> None:
        self._core = core
        self._path = path
        self._objects: objects.Reader | None = above._objects if above else None
        # The absolute path stays right when the working directory changes.
        self._file: str | Ranges = above._file if above else _lasting(location or core.location)
        self._how: How = above._how if above else how
        prefix = f"{path}/" if path else ""
        rows, self._lost = core.keys()
        self._entries = [
            (name.removeprefix(prefix), cycle, classname)
            for name, cycle, classname, _title in rows
            if name.startswith(prefix)
        ]

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file, without secrets that the URL may have."""
        return self._core.name

    @property
    def path(self) -> str:
        """Return the path of the directory in its file; empty at the top."""
        return self._path

    @shows_keywords(KeyFilters, on=("recursive", "cycle"))
    def keys(self, **filters: Unpack[KeyFilters]) -> list[str]:  # type: ignore[override]
        """Return the paths of all objects, with cycle (``"Events;1"``) unless ``cycle=False``.

        >>> nyssa.open("events.root").keys()
        ['Events;1']
        """
        return list(dict.fromkeys(name for name, _ in self._listed(**filters)))

    @shows_keywords(KeyFilters, on=("recursive", "cycle"))
    def classnames(self, **filters: Unpack[KeyFilters]) -> dict[str, str]:
        """Return the C++ class of each object, by the names of `keys`."""
        out: dict[str, str] = {}
        for name, classname in self._listed(**filters):
            out.setdefault(name, classname)
        return out

    def iterclassnames(self, **filters: Unpack[KeyFilters]) -> Iterator[tuple[str, str]]:
        """Iterate over pairs of path and C++ class; `filters` are as in `keys`."""
        return iter(self.classnames(**filters).items())

    @checked
    def classname_of(self, key: str) -> str:
        """Return the C++ class of the object at a path, without reading the object.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is no such object; it suggests similar names.
        """
        return self._entry(key)[2]

    def _repr_html_(self) -> str:
        """Return the objects as a table for notebooks: names, classes and titles."""
        prefix = f"{self._path}/" if self._path else ""
        rows = [
            [f"{name.removeprefix(prefix)};{cycle}", classname, title]
            for name, cycle, classname, title in self._core.keys()[0]
            if name.startswith(prefix)
        ]
        return html([repr(self).strip("<>"), Table(["name", "class", "title"], rows)])

    def datasets(self) -> list[str]:
        """Return the paths of the trees and RNTuples, the highest cycle of each."""
        return list(dict.fromkeys(n for n, _, classname in self._entries if classname in DATASETS))

    def _listed(
        self,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: NameFilter = None,
        filter_classname: NameFilter = None,
    ) -> Iterator[tuple[str, str]]:
        name_accepts, class_accepts = matcher(filter_name), matcher(filter_classname)
        for name, number, classname in self._entries:
            if not recursive and "/" in name:
                continue
            if name_accepts(name) and class_accepts(classname):
                yield (f"{name};{number}" if cycle else name), classname

    def _find(self, key: str) -> tuple[str, int, str] | None:
        key = _NO_UTF8.sub(_escaped, key)
        entry = self._core.find(self._path, key) if is_text(key) else None
        if entry is None:
            return None
        path, cycle, classname, _ = entry
        return path.removeprefix(f"{self._path}/" if self._path else ""), cycle, classname

    def _entry(self, key: str) -> tuple[str, int, str]:
        entry = self._find(key)
        if entry is None:
            raise not_found(key, sorted({name for name, _, _ in self._entries}), repr(self))
        return entry

    # The type of the object depends on the key, as for `open`, hence `Any`.
    def __getitem__(self, key: str) -> Any:
        """Return the object at a path.

        It is a `Dataset`, a `Directory`, or an `nyssa.objects.Object`. A container or string with a
        key of its own is an array, a list or a `str`. ``"dir/Events/Jet_pt"`` is a column of a
        dataset.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is no such object; it suggests similar names.
        nyssa.UnsupportedError
            (a `NotImplementedError`) when the file does not describe the class of the object, or a
            member of it has a custom streamer.
        nyssa.FormatError
            (a `ValueError`) when the object is damaged; it names class, member and byte.
        """
        if not isinstance(key, str):
            raise TypeError(f"an object is named by a str, not by {type(key).__name__}")
        if self._find(key) is None:
            for slash in (index for index, letter in enumerate(key) if letter == "/"):
                inner = self._find(key[:slash])
                if inner is not None and inner[2] in DATASETS:
                    return self[key[:slash]][key[slash + 1 :]]
        name, cycle, classname = self._entry(key)
        path = f"{self._path}/{name}" if self._path else name
        if classname in DIRECTORIES:
            self._reader()
            return Directory(self._core, path, self)
        if classname in DATASETS:
            path = f"{path};{cycle}"
            recipe = (_open_dataset, (self._file, self._core.raw, path, self._how))
            return wrap(self._core.dataset(path), recipe)
        return self._reader().read(f"{path};{cycle}")

    def _place(self, key: str) -> tuple[_core.File, str]:
        """Return the file and the path in it, with cycle, of an object."""
        name, cycle, _ = self._entry(key)
        path = f"{self._path}/{name}" if self._path else name
        return self._core, f"{path};{cycle}"

    def _reader(self) -> objects.Reader:
        """Return the reader of the objects of the file. All directories share it."""
        if self._objects is None:
            from nyssa.objects import Reader

            self._objects = Reader(self._core)
        return self._objects

    def __contains__(self, key: object) -> bool:
        """Return whether there is an object at this path."""
        return isinstance(key, str) and self._find(key) is not None

    def __reduce__(self) -> Recipe:
        """Return how to open it again. Pickle stores the path, not the content."""
        return (_open_directory, (self._file, self._core.raw, self._path, self._how))

    def __array__(self, *_args: Any, **_options: Any) -> NoReturn:
        """Raise `TypeError`, because NumPy, pandas and awkward would make an array of names."""
        raise TypeError("a file is not an array; open one of the objects in it")

    # awkward tries this protocol first.
    __dlpack__ = __dlpack_device__ = __array__

    def __repr__(self) -> str:
        """Return the path."""
        return _core.printable(f"<{type(self).__name__} {self._path or '/'} of {self.file_path}>")


class File(Directory, Closable):
    """An open ROOT file; see `open`."""

    def __init__(self, core: _core.File, location: str | Ranges, how: How = (None, None)) -> None:
        super().__init__(core, location=location, how=how)
        if core.not_closed:
            warnings.warn(f"{core.name}: {core.not_closed}", stacklevel=3)
        for why in self._lost:
            warnings.warn(f"a directory cannot be listed: {why}", stacklevel=3)

    def io_stats(self) -> IoStats:
        """Return what was opened and read because of the file since it was opened.

        Its datasets share these counters, see `Dataset.io_stats`.
        """
        return IoStats._of(json.loads(self._core.io_stats()))

    def close(self) -> None:
        """Close the file.

        After that, reading from the file or from its datasets raises an `nyssa.ArgumentError` (a
        `ValueError`). Arrays that were read stay valid.
        """
        self._core.close()

    def __repr__(self) -> str:
        """Return the path of the file."""
        return _core.printable(f"<File {self.file_path}>")


class OpenOptions(TypedDict, total=False):
    """The options of `open`; see there."""

    streamer: Literal["decoded", "raw"]
    cache: Cache
    cache_as: CacheAs | None
    cache_size: int | str | None
    cache_max_age: float | str | None
    allow_other_files: bool | None


@overload
def open(path: str, **options: Unpack[OpenOptions]) -> Opened: ...


@overload
def open(path: os.PathLike[str] | SupportsRead, **options: Unpack[OpenOptions]) -> File: ...


# The name of the object decides the type, hence `Any`.
@overload
def open(path: Mapping[str, str], **options: Unpack[OpenOptions]) -> Any: ...


@checked
def open(
    path: str | os.PathLike[str] | SupportsRead | Mapping[str, str],
    *,
    streamer: Literal["decoded", "raw"] = "decoded",
    cache: Cache = None,
    cache_as: CacheAs | None = None,
    cache_size: int | str | None = None,
    cache_max_age: float | str | None = None,
    allow_other_files: bool | None = None,
) -> Any:
    """Open a ROOT file, or an object in it, as in ``"file.root:Events"``; or a table.

    >>> events = nyssa.open("events.root:Events")
    >>> events
    <TTree 'Events' (24 columns, 20000 entries)>
    >>> with nyssa.open("events.root") as file:
    ...     file.classnames()
    {'Events;1': 'TTree'}

    Returns a `File`, `TTree`, `RNTuple`, `Directory` or `nyssa.objects.Object` (histograms, ...);
    for ``"file.root:Events/x"`` it returns a `Column`. Those that can be closed are context
    managers. For a Parquet or Arrow IPC file it returns a `TableFile`.

    `path` is a path or URL (see ``docs/remote.md``), a dict ``{file: object}`` for names with a
    colon, a file object that can seek and read bytes, or a file of fsspec (``fs.open(path)``,
    ``fsspec.open(url)``). URLs that nyssa does not know are opened by fsspec if it is installed. A
    file object is read under a lock, and stays open.

    Streamer fields of RNTuples, branches of objects that are not split, and objects with keys of
    their own are read as records of their members. With ``streamer="raw"`` they are read as
    `bytes`. Objects of a class with a custom streamer can only be read so, because the file does
    not describe their members.

    The bytes that are read from a remote file are kept in the folder `cache`. They are read from
    there the next time, as long as the file on the server is the same; see ``docs/cache.md``. The
    default of `cache` is the folder in the environment variable ``NYSSA_CACHE``; without it, and
    with ``cache=False``, nothing is kept. Pages and baskets are kept as they are
    (``cache_as="stored"``, the default), recompressed (``"lz4"``) or unpacked (``"raw"``); the
    latter two take more space and are read faster. `cache_size` is the maximum size of the folder:
    a number of bytes or a text such as ``"50GB"`` or ``"none"`` (default 20 GB). If it is full, the
    bytes that were not used for the longest time are removed. Local files and file objects are not
    cached. With `cache_max_age` (seconds, or a text such as ``"10min"``, ``"1h"`` or ``"2d"``), a
    file whose version the server has told within this time is opened without asking the server,
    which is asked only if bytes are missing in the cache. By default it is always asked.

    A tree may name the files of its branches and friends. A local file may name files in its own
    folder and below, a remote file on its server (with the same scheme, host and port). With
    ``allow_other_files=True``, a local file may name all local files, and every file may name
    files of other servers, which get no credentials. The default is False, or True if the
    environment variable ``NYSSA_ALLOW_OTHER_FILES`` is 1. A branch whose file may not be read is
    unreadable; a friend is an error.

    If a file was not closed, the objects that were complete when its writer ended are found, and a
    warning says so. If a directory cannot be listed, a warning tells the reason.

    Raises
    ------
    nyssa.errors.FileMissingError
        (a `FileNotFoundError`) when there is no such file.
    nyssa.errors.AccessError
        (a `PermissionError`) when it may not be read; the message tells what the server said.
    nyssa.FormatError
        (a `ValueError` and `OSError`) when the file is not a ROOT file, or is damaged.
    nyssa.NotFoundError
        (a `KeyError`) when the object is not in the file; it suggests similar names.
    """
    if streamer not in ("decoded", "raw"):
        raise ArgumentError(f'streamer is "decoded" or "raw", not {streamer!r}')
    raw = streamer == "raw"
    location, inner = _only(path) if isinstance(path, Mapping) else _location(path)
    chosen = choose(cache, cache_as, cache_size, cache_max_age)
    how = (chosen, allow_other_files)
    try:
        core = _core.open(location, raw, *how)
    except FormatError as error:
        # Only a file that is no ROOT file is looked at twice.
        return _table(location, inner, how, error)
    file = File(core, location, how)
    return file[inner] if inner else file


def _table(
    location: str | Ranges, name: str | None, how: How, error: FormatError | None = None
) -> Any:
    """Return the table of a Parquet or Arrow IPC file. Raises `error` for other files."""
    core = _core.open_table(location, name, *how)
    if core is None:
        raise error or FormatError(f"{location} is no Parquet and no Arrow IPC file")
    return wrap(core, (_table, (_lasting(location), None, how)))


def _escaped(byte: re.Match[str]) -> str:
    """Return a byte that is not UTF-8 as it is in the paths of objects."""
    return f"%{ord(byte[0]) - 0xDC00:02X}"


def _only(path: Mapping[str, str]) -> tuple[str, str]:
    """Return the file and the object that a dict names."""
    [*pairs] = path.items()
    if len(pairs) != 1 or not all(isinstance(pair, str) for pair in pairs[0]):
        raise TypeError("a dict names one file and one object in it, as in {'file.root': 'Events'}")
    split(pairs[0][0])  # It says what is wrong with the name of a file.
    return pairs[0]


def open_dataset(source: str | os.PathLike[str] | SupportsRead | Dataset) -> Dataset:
    """Return the dataset at ``"file.root:Events"``, or the only one in a file."""
    if isinstance(source, Dataset):
        return source
    location, inner = _location(source)
    return _open_dataset(location, False, inner)


def _open_dataset(
    location: str | Ranges, raw: bool, path: str | None, how: How = (None, None)
) -> TTree | RNTuple | TableFile:
    try:
        core = _core.open(location, raw, *how).dataset(path)
    except FormatError as error:
        return cast("TableFile", _table(location, path, how, error))
    return wrap(core, (_open_dataset, (_lasting(location), raw, core.name, how)))


def _open_directory(
    location: str | Ranges, raw: bool, path: str, how: How = (None, None)
) -> Directory:
    file = File(_core.open(location, raw, *how), location, how)
    return Directory(file._core, path, file) if path else file


def _location(source: str | os.PathLike[str] | SupportsRead) -> tuple[str | Ranges, str | None]:
    """Return what the core opens, and the path in the file."""
    if isinstance(source, str):
        return split(source)
    ranges = ranges_of(source)
    return split(cast("os.PathLike[str]", source)) if ranges is None else (ranges, None)


def _lasting(location: str | Ranges) -> str | Ranges:
    """Return the location for a process that runs in another folder."""
    return absolute_file(location) if isinstance(location, str) else location


def split(path: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Return the name of a file and the path in it. A `pathlib.Path` only names a file."""
    name = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(name, str):
        raise TypeError(f"a file is named by a str or an os.PathLike, not by {type(name).__name__}")
    check_location("path", name)
    if not isinstance(path, os.PathLike):
        return _core.split_path(name)
    file, inner = _core.split_path(name)
    if inner and not os.path.exists(name) and os.path.exists(file):
        missing = FileMissingError(
            f"there is no file {name}: a pathlib.Path names a whole file. Name the object by a "
            f"str, {name!r}, or by a dict, {{{file!r}: {inner!r}}}"
        )
        missing.errno = errno.ENOENT
        raise missing
    return name, None
