"""Opens files, by uproot's names."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, overload

from typing_extensions import Self, Unpack

import nyssa
from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.options import KeyFilters, SupportsRead
from nyssa.errors import ArgumentError
from nyssa.read.file import DATASETS, split
from nyssa.uproot.file import ReadOnlyFile
from nyssa.uproot.key import ReadOnlyKey
from nyssa.uproot.locations import opened, plain
from nyssa.uproot.ntuples import RNTuple
from nyssa.uproot.trees import TTree

__all__ = ["ReadOnlyDirectory", "ReadOnlyFile", "open", "wrapped"]


def wrapped(found: object, file: ReadOnlyFile, classname: str) -> Any:
    """Return what nyssa has opened, by uproot's names."""
    if isinstance(found, nyssa.TTree):
        return TTree(found, file, classname)
    if isinstance(found, nyssa.RNTuple):
        return RNTuple(found, file, "ROOT::RNTuple")
    if isinstance(found, nyssa.Directory):
        return ReadOnlyDirectory(found, file)
    return found


class ReadOnlyDirectory(Mapping[str, Any]):
    """A directory of a file: a mapping from names to objects."""

    def __init__(self, directory: nyssa.Directory, file: ReadOnlyFile) -> None:
        self.directory = directory
        self.file = file

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file."""
        return self.directory.file_path

    @property
    def path(self) -> tuple[str, ...]:
        """Return the names of the directories down to this one."""
        return tuple(one for one in self.directory.path.split("/") if one)

    @property
    def object_path(self) -> str:
        """Return the path in the file."""
        return "/".join(["", *self.path, ""])

    @property
    def classname(self) -> str:
        """Return the C++ class."""
        return "TDirectory"

    @property
    def closed(self) -> bool:
        """Return whether the file is closed."""
        return self.file.closed

    def keys(self, **filters: Unpack[KeyFilters]) -> list[str]:  # type: ignore[override]
        """Return the paths of the objects, with cycles; the options are those of nyssa."""
        return self.directory.keys(**filters)

    def iterkeys(self, **filters: Unpack[KeyFilters]) -> Iterator[str]:
        """Iterate over `keys`."""
        return iter(self.keys(**filters))

    def iteritems(self, **filters: Unpack[KeyFilters]) -> Iterator[tuple[str, Any]]:
        """Iterate over pairs of path and object."""
        return ((name, self[name]) for name in self.keys(**filters))

    def itervalues(self, **filters: Unpack[KeyFilters]) -> Iterator[Any]:
        """Iterate over the objects."""
        return (self[name] for name in self.keys(**filters))

    def items(self, **filters: Unpack[KeyFilters]) -> list[tuple[str, Any]]:  # type: ignore[override]
        """Return pairs of path and object."""
        return list(self.iteritems(**filters))

    def values(self, **filters: Unpack[KeyFilters]) -> list[Any]:  # type: ignore[override]
        """Return the objects."""
        return list(self.itervalues(**filters))

    def classnames(self, **filters: Unpack[KeyFilters]) -> dict[str, str]:
        """Return the C++ class of each object."""
        return self.directory.classnames(**filters)

    def iterclassnames(self, **filters: Unpack[KeyFilters]) -> Iterator[tuple[str, str]]:
        """Iterate over pairs of path and C++ class."""
        return iter(self.classnames(**filters).items())

    @checked
    def classname_of(self, where: str) -> str:
        """Return the C++ class of an object, without reading it."""
        return self.directory.classname_of(where)

    @checked
    def key(self, where: str) -> ReadOnlyKey:
        """Return the key of an object, without reading the object."""
        _, path = self.directory._place(where.rstrip("/") or where)
        (name, _, classname, title), numbers = self.directory._core.key(path)
        return ReadOnlyKey(_core.name_of(name), title, classname, **dict(numbers))

    @property
    def cache_key(self) -> str:
        """Return a text that names the directory."""
        return f"{self.file.hex_uuid}:{self.object_path}"

    @checked
    def __getitem__(self, where: str) -> Any:
        """Return an object; ``"tree/branch"`` and ``"tree:branch"`` are a branch."""
        if where not in self.directory:
            for at in (at for at, letter in enumerate(where) if letter in "/:"):
                name = where[:at].strip("/")
                if name in self.directory and self.classname_of(name) in DATASETS:
                    return self[name][where[at + 1 :]]
        name = where.rstrip("/") or where
        _, path = self.directory._place(name)
        made = self.file._made.get(path)
        if made is None:
            made = wrapped(self.directory[name], self.file, self.classname_of(name))
            if not isinstance(made, ReadOnlyDirectory):
                self.file._made[path] = made
        return made

    def __iter__(self) -> Iterator[str]:
        """Iterate over `keys`."""
        return iter(self.keys())

    def __len__(self) -> int:
        """Return the number of objects."""
        return len(self.keys())

    def __contains__(self, where: object) -> bool:
        """Return whether there is such an object."""
        return where in self.directory

    def _ipython_key_completions_(self) -> list[str]:
        """Return the names that a notebook offers after ``[``."""
        return self.keys()

    def __eq__(self, other: object) -> bool:
        """Compare by identity."""
        return self is other

    def __hash__(self) -> int:
        """Hash by identity."""
        return id(self)

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *exception: object) -> None:
        """Close the file."""
        self.close()

    def _repr_html_(self) -> str:
        """Return a table for notebooks, as that of nyssa."""
        return self.directory._repr_html_()

    def __repr__(self) -> str:
        """Return the path."""
        return _core.printable(f"<ReadOnlyDirectory {self.object_path!r} of {self.file_path}>")


@overload
def open(
    path: os.PathLike[str] | SupportsRead | Mapping[Any, None], **options: object
) -> ReadOnlyDirectory: ...


# The path may have the name of an object, hence `Any`.
@overload
def open(path: str | Mapping[Any, str], **options: object) -> Any: ...


def open(path: Any, **options: object) -> Any:
    """Open a file or an object in it, as `nyssa.open` does.

    Options of uproot that say how it reads are accepted and have no effect.
    """
    del options
    file_path, inner = path, None
    if isinstance(path, Mapping):
        if len(path) != 1:
            raise ArgumentError("a dict names one file and one object in it")
        [(file_path, inner)] = path.items()
    elif hasattr(path, "storage_options"):
        file_path = path if path.storage_options and "://" in str(path) else plain(path)
    elif isinstance(path, str) and "::" not in path:
        file_path, inner = split(plain(path))
    file_path = opened(file_path, "rb")
    found = nyssa.open({file_path: ""} if isinstance(file_path, str) else file_path)
    directory = ReadOnlyDirectory(found, ReadOnlyFile(found))
    return directory[inner] if inner else directory
