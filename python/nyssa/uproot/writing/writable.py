"""Files that are written, by uproot's names."""

from __future__ import annotations

import copy
import os
import weakref
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import awkward as ak
from typing_extensions import TypedDict, Unpack

import nyssa
from nyssa._core import printable
from nyssa.arguments.names import NameFilter, matcher, not_found
from nyssa.arguments.options import KeyFilters, SupportsWrite
from nyssa.arrays import from_types, libraries
from nyssa.errors import ArgumentError, OutputExistsError
from nyssa.objects import Object
from nyssa.read.file import DIRECTORIES
from nyssa.uproot import unfinished
from nyssa.uproot.any_directory import AnyDirectory
from nyssa.uproot.compression import ZLIB, Compression, checked, of_setting, setting
from nyssa.uproot.file import ReadOnlyDirectory, ReadOnlyFile, wrapped
from nyssa.uproot.locations import opened, plain
from nyssa.uproot.writing.counters import Counters
from nyssa.uproot.writing.identify import count_as_uproot
from nyssa.uproot.writing.types import (
    arrays_of,
    columns_of,
    rows_of,
    typed,
)
from nyssa.uproot.writing.writers import ExistingTree, WritableNTuple, WritableTree, Written, joined
from nyssa.write import keyed_objects

__all__ = [
    "WritableDirectory",
    "WritableFile",
    "create",
    "recreate",
    "update",
]


Setting: TypeAlias = Compression | int | str | None
"""The values of the option `compression`; `None` is uncompressed."""

_DEFAULT = ZLIB(1)
"""uproot's default compression."""


class _Ignored(TypedDict, total=False):
    """Options that say how uproot writes, and have no effect here."""

    initial_directory_bytes: object
    initial_streamers_bytes: object
    uuid_function: object


def recreate(
    file_path: str | os.PathLike[str] | SupportsWrite,
    *,
    compression: Setting = _DEFAULT,
    **options: Unpack[_Ignored],
) -> WritableDirectory:
    """Create a file, also where there is one; see `nyssa.recreate`."""
    _refuse(options)
    if not isinstance(file_path, (str, os.PathLike)):
        _emptied(file_path)
    return _new(file_path, compression, force=True)


def _emptied(file: object) -> None:
    """Truncate a file object, where it can do that."""
    try:
        file.seek(0)  # type: ignore[attr-defined]
        file.truncate()  # type: ignore[attr-defined]
    except (AttributeError, OSError):
        return


def _new(
    file_path: str | os.PathLike[str] | SupportsWrite, compression: Setting, force: bool
) -> WritableFile:
    location = opened(file_path, "wb")
    _folders(location)
    file = nyssa.recreate(location, compression=setting(compression), force=force)
    return WritableFile(file, None, compression, location)


def create(
    file_path: str | os.PathLike[str] | SupportsWrite,
    *,
    compression: Setting = _DEFAULT,
    **options: Unpack[_Ignored],
) -> WritableDirectory:
    """Create a file; a file that exists is an error."""
    _refuse(options)
    if _exists(file_path):
        raise OutputExistsError(f"{file_path} exists")
    return _new(file_path, compression, force=False)


def update(
    file_path: str | os.PathLike[str],
    *,
    compression: Setting = _DEFAULT,
    **options: Unpack[_Ignored],
) -> WritableDirectory:
    """Open a file to add objects to it; see `nyssa.update`."""
    _refuse(options)
    location = plain(file_path)
    unfinished.complete(location)
    old = nyssa.open({os.fspath(location): ""})
    file = nyssa.update(location, compression=setting(compression))
    return WritableFile(file, old, compression, location)


def _exists(path: Any) -> bool:
    if isinstance(path, str) and "::" in path:
        system, inner = libraries.optional("fsspec").url_to_fs(path)
        return bool(system.exists(inner))
    return isinstance(path, (str, os.PathLike)) and os.path.exists(plain(path))


def _folders(path: Any) -> None:
    """Make the folders of a local path, as uproot does."""
    if isinstance(path, os.PathLike) or (isinstance(path, str) and "://" not in path):
        folder = os.path.dirname(os.fspath(path))
        if folder:
            os.makedirs(folder, exist_ok=True)


def _refuse(options: Mapping[str, object]) -> None:
    for name in options:
        if name not in _Ignored.__annotations__:
            raise TypeError(f"there is no option {name!r}")


class WritableDirectory(AnyDirectory):
    """A directory of a file that is written: a mapping from names to objects."""

    _top: WritableFile

    def __init__(self, top: WritableFile, path: str) -> None:
        self._top, self._path = top, path

    @property
    def file(self) -> WritableFile:
        """Return the file."""
        return self._top

    @property
    def file_path(self) -> str:
        """Return the path of the file."""
        return (
            os.fspath(self._top._location)
            if self._top._writer is None
            else self._top.writer.file_path
        )

    def _full(self, name: str) -> str:
        return "/".join([*self.path, name.strip("/")])

    def mktree(
        self,
        name: str,
        branch_types: object,
        title: str = "",
        *,
        counter_name: Callable[[str], str] = lambda counted: "n" + counted,
        field_name: Callable[[str, str], str] = joined,
        initial_basket_capacity: int = 10,
        resize_factor: float = 10.0,
    ) -> WritableTree:
        """Add a TTree; see `nyssa.WritableFile.mktree`."""
        del initial_basket_capacity, resize_factor  # nyssa needs no space for them beforehand.
        path = self._full(name)
        counters = Counters(counter_name)
        tree = WritableTree(self._top, path, counters, field_name)
        given = arrays_of(columns_of(branch_types))
        flat = tree.flat(given)
        names = counters.of(flat, given, tree._records)
        has_data = from_types.empty(flat) is None
        if has_data:
            # The data of a tree are checked before the file has the tree.
            flat = counters.complete(flat)
        tree._writer = self._top.writer.mktree(path, flat, title, counters=names)
        if has_data:
            tree._end_baskets()
        self._top._add(path, "TTree", tree)
        return tree

    def mkrntuple(self, name: str, data: object, description: str = "") -> WritableNTuple:
        """Add an RNTuple; see `nyssa.WritableFile.mkrntuple`."""
        path = self._full(name)
        ntuple = WritableNTuple(self._top, path)
        ntuple.writer = self._top.writer.mkrntuple(path, rows_of(typed(data)), description)
        self._top._add(path, "ROOT::RNTuple", ntuple)
        return ntuple

    def mkdir(self, name: str, *, initial_directory_bytes: int | None = None) -> WritableDirectory:
        """Make a directory."""
        del initial_directory_bytes
        path = self._full(name)
        self._top.writer.mkdir(path)
        parts = path.split("/")
        for stop in range(1, len(parts) + 1):
            self._top._folder("/".join(parts[:stop]))
        return WritableDirectory(self._top, path)

    def copy_from(self, source: nyssa.Directory | ReadOnlyDirectory, **options: Any) -> None:
        """Copy objects of an open file; see `nyssa.WritableFile.copy_from`."""
        opened = source.directory if isinstance(source, ReadOnlyDirectory) else source
        rename = options.pop("rename", None)
        accepted = {name: item for name, item in options.items() if name in _COPY}

        def renamed(name: str) -> str:
            if isinstance(rename, Mapping):
                name = rename.get(name, name)
            return self._full(rename(name) if callable(rename) else name)

        self._top.writer.copy_from(opened, rename=renamed, **accepted)
        filters = {name: item for name, item in accepted.items() if name.startswith("filter")}
        for name, classname in opened.classnames(cycle=False, **filters).items():
            self._top._add(renamed(name), classname, None)

    def update(self, pairs: Mapping[str, Any] | None = None, **more_pairs: Any) -> None:
        """Write several objects by their names."""
        given = dict(pairs or {})
        for name, item in {**given, **more_pairs}.items():
            self[name] = item

    def __setitem__(self, name: str, data: object) -> None:
        """Write an object or an RNTuple; see `nyssa.WritableFile`."""
        if isinstance(data, (nyssa.Directory, ReadOnlyDirectory)):
            self.mkdir(name).copy_from(data, require_matches=False)
            return
        path = self._full(name)
        if isinstance(data, (ak.contents.Content, ak.forms.Form)) and not data.is_record:
            raise TypeError(f"{name}: give an ak.Array of records, not a {type(data).__name__}")
        written = keyed_objects.to_object(path, data)
        if isinstance(data, Mapping) and from_types.empty(data) is not None:
            raise ArgumentError(f"{name}: these are types; mkrntuple and mktree take them")
        if written is None:
            self.mkrntuple(name, data)
            return
        count_as_uproot(written, data)
        self._top.writer[path] = written
        self._top._add(path, written.class_name, _renamed(written, path.rpartition("/")[2]))

    def __delitem__(self, name: str) -> None:
        """Delete an object."""
        self._top.writer.__delitem__(self._full(name))
        self._top._remove(self._full(name))

    def __getitem__(self, name: str) -> Any:
        """Return a directory, the writer of a tree or RNTuple, or an object."""
        return self._top._get(self._full(name))

    def keys(self, **filters: Unpack[KeyFilters]) -> list[str]:  # type: ignore[override]
        """Return the names of the objects, with cycles unless ``cycle=False``."""
        return list(self.classnames(**filters))

    def classnames(
        self,
        *,
        recursive: bool = True,
        cycle: bool = True,
        filter_name: NameFilter = None,
        filter_classname: NameFilter = None,
    ) -> dict[str, str]:
        """Return the C++ class of each object."""
        by_name, by_class = matcher(filter_name), matcher(filter_classname)
        prefix = f"{self._path}/" if self._path else ""
        names = {}
        for (path, number), classname in self._top._classes.items():
            name = path.removeprefix(prefix)
            if not path.startswith(prefix) or (not recursive and "/" in name):
                continue
            if by_name(name) and by_class(classname):
                names[f"{name};{number}" if cycle else name] = classname
        return names

    def classname_of(self, name: str) -> str:
        """Return the C++ class of an object."""
        return self._top._classes[self._top._known(self._full(name))]

    def __contains__(self, name: object) -> bool:
        """Return whether there is such an object."""
        return isinstance(name, str) and self._top._key(self._full(name)) is not None

    @property
    def compression(self) -> Compression | None:
        """Return the compression of the next objects; it can be changed."""
        return self._top._compression

    @compression.setter
    def compression(self, compression: Compression | None) -> None:
        self._top._compression = checked(compression)
        self._top.writer._open().set_compression(str(setting(compression)))

    @property
    def closed(self) -> bool:
        """Return whether the file is closed."""
        return self._top._done

    def close(self) -> None:
        """Complete the file."""
        self._top._close()

    def __exit__(self, *exception: object) -> None:
        """Complete the file; after an error it is left as it was."""
        if exception[0] is None:
            self._top._close()
        else:
            self._top._abandon(*exception)

    def __repr__(self) -> str:
        """Return the path."""
        return printable(f"<{type(self).__name__} {self.object_path!r} of {self.file_path}>")


def _renamed(given: Object, name: str) -> Object:
    """Return an object with the name that it has in the file."""
    if not given.has_member("fName"):
        return given
    named = copy.copy(given)
    named._members = {**given.all_members, "fName": name}
    return named


def _finish(writer: nyssa.WritableFile) -> None:
    """Complete a file that nobody closed, as uproot has it: all that was written is in it."""
    if writer._core is not None and writer._process == os.getpid():
        writer.close()


_COPY = ("filter_name", "filter_classname", "require_matches")


class WritableFile(WritableDirectory):
    """A file that is written; `writer` is the writer of nyssa."""

    def __init__(
        self, writer: nyssa.WritableFile, old: Any, compression: Any, location: Any = None
    ) -> None:
        super().__init__(self, "")
        self._opened = location if type(location).__module__.startswith("fsspec") else None
        self._location, self._file_path = location, writer.file_path
        self._writer: nyssa.WritableFile | None = writer
        self._finalizer = weakref.finalize(self, _finish, writer)
        unfinished.add(location, self)
        self._old = old
        self._compression = of_setting(compression)
        self._done = False
        self._classes: dict[tuple[str, int], str] = {}
        self._made: dict[tuple[str, int], Any] = {}
        if old is not None:
            for name, classname in old.classnames().items():
                path, _, cycle = name.partition(";")
                self._classes[path, int(cycle)] = classname

    @property
    def writer(self) -> nyssa.WritableFile:
        """Return the writer of nyssa."""
        if self._writer is None:
            self._writer = nyssa.update(self._location, compression=setting(self._compression))
            self._finalizer = weakref.finalize(self, _finish, self._writer)
        return self._writer

    def complete(self) -> None:
        """Write what there is to the disk; then the file can be read, and more can be written."""
        if self._done or self._writer is None:
            return
        for made in self._made.values():
            if isinstance(made, Written):
                made.leave()
        self._writer.close()
        self._finalizer.detach()
        self._writer = None
        self._old = nyssa.open({os.fspath(self._location): ""})

    @property
    def root_directory(self) -> WritableDirectory:
        """Return the directory at the top."""
        return self

    def _folder(self, path: str) -> None:
        if self._key(path) is None:
            self._classes[path, 1] = "TDirectory"

    def _add(self, path: str, classname: str, made: Any) -> None:
        *above, _ = path.split("/")
        for stop in range(1, len(above) + 1):
            self._folder("/".join(above[:stop]))
        cycle = max((number for name, number in self._classes if name == path), default=0) + 1
        self._classes[path, cycle] = classname
        self._made[path, cycle] = made

    def _remove(self, path: str) -> None:
        removed = self._key(path)
        for key in [
            key for key in self._classes if key == removed or key[0].startswith(f"{path}/")
        ]:
            self._classes.pop(key)
            self._made.pop(key, None)

    def _key(self, path: str) -> tuple[str, int] | None:
        name, _, cycle = path.partition(";")
        cycles = [
            key for key in self._classes if key[0] == name and cycle in ("", "*", str(key[1]))
        ]
        return max(cycles, default=None)

    def _known(self, path: str) -> tuple[str, int]:
        """Return the name and the cycle of an object."""
        key = self._key(path)
        if key is None:
            names = sorted({name for name, _ in self._classes})
            raise not_found(path, names, f"{self.file_path}, which is being written")
        return key

    def _get(self, path: str) -> Any:
        key = self._known(path)
        classname = self._classes[key]
        if classname in DIRECTORIES:
            return WritableDirectory(self, key[0])
        if key in self._made and self._made[key] is not None:
            return self._made[key]
        if self._old is None:
            if not isinstance(self._location, (str, os.PathLike)):
                raise NotImplementedError(f"{path} can be read when the file is complete")
            self.complete()
        if "RNTuple" in classname:
            made = self._made[key] = WritableNTuple(self, key[0])
            return made
        stored = self._old[f"{key[0]};{key[1]}"]
        old = wrapped(stored, ReadOnlyFile(self._old), classname)
        if classname == "TTree" and key == self._key(key[0]):
            tree = self._made[key] = ExistingTree(self, key[0], old)
            return tree
        return old

    def _abandon(self, *exception: object) -> None:
        self._done = True
        if self._writer is not None:
            self._writer.__exit__(*exception)

    def _close(self) -> None:
        if not self._done:
            self._done = True
            if self._writer is not None:
                self._writer.close()
            if self._opened is not None:
                self._opened.close()
