"""`ReadOnlyFile` and `ReadOnlyDirectory`: an open file and its content, by uproot's names."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TextIO
from uuid import UUID

from typing_extensions import Unpack

import nyssa
from nyssa import _core
from nyssa.arguments.checks import checked
from nyssa.arguments.names import not_found
from nyssa.arguments.options import KeyFilters
from nyssa.objects import Object
from nyssa.read.file import DATASETS
from nyssa.uproot.any_directory import AnyDirectory
from nyssa.uproot.classes import class_named
from nyssa.uproot.compression import Compression, of_code
from nyssa.uproot.infos import Streamer, StreamerElement
from nyssa.uproot.key import ReadOnlyKey
from nyssa.uproot.ntuples import RNTuple
from nyssa.uproot.objects import Reader
from nyssa.uproot.trees import TTree

__all__ = ["DetachedFile", "ReadOnlyDirectory", "ReadOnlyFile", "wrapped"]

Version = int | Literal["min", "max"]
_CHOOSE = {"min": min, "max": max}


@dataclass(frozen=True)
class DetachedFile:
    """What an object knows of the file that it was read from."""

    file_path: str
    hex_uuid: str


def _number(name: str) -> Any:
    """Return the property of a number in the header."""
    return property(lambda file: file._header[name], doc=f"Return ``{name}`` of the header.")


class ReadOnlyFile:
    """An open file."""

    fVersion: int = _number("fVersion")
    fBEGIN: int = _number("fBEGIN")
    fEND: int = _number("fEND")
    fSeekFree: int = _number("fSeekFree")
    fNbytesFree: int = _number("fNbytesFree")
    nfree: int = _number("nfree")
    fNbytesName: int = _number("fNbytesName")
    fUnits: int = _number("fUnits")
    fCompress: int = _number("fCompress")
    fSeekInfo: int = _number("fSeekInfo")
    fNbytesInfo: int = _number("fNbytesInfo")

    def __init__(self, file: nyssa.File) -> None:
        self.directory = file
        file._objects = Reader(file._core)
        self._made: dict[str, Any] = {}

    def __reduce__(self) -> Any:
        """Return how to open it again."""
        return ReadOnlyFile, (self.directory,)

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file."""
        return self.directory.file_path

    @property
    def closed(self) -> bool:
        """Return whether the file is closed."""
        return self.directory._core.closed

    @property
    def root_directory(self) -> ReadOnlyDirectory:
        """Return the directory at the top."""
        return ReadOnlyDirectory(self.directory, self)

    def close(self) -> None:
        """Close the file."""
        self.directory._core.close()

    @cached_property
    def _header(self) -> dict[str, int]:
        return dict(self.directory._core.header()[0])

    @property
    def uuid(self) -> UUID:
        """Return the UUID of the file."""
        return UUID(bytes=bytes(self.directory._core.header()[1]))

    @property
    def hex_uuid(self) -> str:
        """Return the UUID of the file as text."""
        return str(self.uuid)

    @property
    def is_64bit(self) -> bool:
        """Return whether positions in the header have 64 bits."""
        return self.fUnits == 8

    @property
    def root_version_tuple(self) -> tuple[int, int, int]:
        """Return the version of ROOT that wrote the file, such as ``(6, 32, 2)``."""
        version = self.fVersion % 1_000_000
        return version // 10_000, version // 100 % 100, version % 100

    @property
    def root_version(self) -> str:
        """Return the version of ROOT that wrote the file, such as ``"6.32/02"``."""
        major, minor, patch = self.root_version_tuple
        return f"{major}.{minor:02d}/{patch:02d}"

    @property
    def compression(self) -> Compression | None:
        """Return the default compression of the file."""
        return of_code(self.fCompress)

    @cached_property
    def streamers(self) -> dict[str, dict[int, Streamer]]:
        """Return the streamer infos in the file, by class and version."""
        by_class: dict[str, dict[int, Streamer]] = {}
        for name, version, elements in self.directory._core.streamers():
            made = [StreamerElement(*element) for element in elements]
            by_class.setdefault(name, {})[version] = Streamer(name, version, made)
        return by_class

    def class_named(self, classname: str, version: Version | None = None) -> Any:
        """Return what stands for a C++ class in ``isinstance``, with its ``member_names``."""
        if version in ("min", "max") and classname in self.streamers:
            version = _CHOOSE[version](self.streamers[classname])
        found = self.streamer_named(classname, "max" if version is None else version)
        elements = () if found is None else found.elements
        names = [element.name for element in elements if not element.is_base]
        known = class_named(classname, version)
        members = {"classname": classname, "member_names": names}
        return type(known)(known.__name__, (), members)

    def streamers_named(self, classname: str) -> list[Streamer]:
        """Return the streamer infos of all versions of a class."""
        return list(self.streamers.get(classname, {}).values())

    def streamer_named(self, classname: str, version: Version = "max") -> Streamer | None:
        """Return the streamer info of a class, in a version or the oldest or newest one.

        As in uproot, it is `None` if the file does not have it.
        """
        versions = self.streamers.get(classname)
        if not versions:
            return None
        number = version if isinstance(version, int) else _CHOOSE[version](versions)
        return versions.get(number)

    def show_streamers(
        self, classname: str | None = None, version: Version = "max", stream: TextIO | None = None
    ) -> None:
        """Print the streamer infos of all classes, or of a class and the classes that it needs."""
        if classname is None:
            chosen = [item for versions in self.streamers.values() for item in versions.values()]
        else:
            found = self.streamer_named(classname, version)
            if found is None:
                what = f"the streamers of {self.file_path}"
                raise not_found(classname, list(self.streamers), what)
            chosen = self._needed(found, set())
        out = sys.stdout if stream is None else stream
        out.write("\n".join(map(str, chosen)))

    def _needed(self, streamer: Streamer, seen: set[tuple[str, int]]) -> list[Streamer]:
        """Return a streamer info after the streamer infos that it needs and that were not seen."""
        seen.add((streamer.name, streamer.class_version))
        needed = []
        for element in streamer.elements:
            name = element.name if element.is_base else element.typename.rstrip("*")
            versions = self.streamers.get(name, {})
            version = element.base_version if element.is_base else max(versions, default=0)
            if version in versions and (name, version) not in seen:
                needed += self._needed(versions[version], seen)
        return [*needed, streamer]


def wrapped(opened: object, file: ReadOnlyFile, classname: str) -> Any:
    """Return what nyssa has opened, by uproot's names."""
    if isinstance(opened, nyssa.TTree):
        return TTree(opened, file, classname)
    if isinstance(opened, nyssa.RNTuple):
        return RNTuple(opened, file, "ROOT::RNTuple")
    if isinstance(opened, nyssa.Directory):
        return ReadOnlyDirectory(opened, file)
    if isinstance(opened, Object):
        vars(opened)["file"] = DetachedFile(file.file_path, file.hex_uuid)
    return opened


class ReadOnlyDirectory(AnyDirectory):
    """A directory of a file: a mapping from names to objects."""

    def __init__(self, directory: nyssa.Directory, file: ReadOnlyFile) -> None:
        self.directory = directory
        self.file = file
        self._path = directory.path

    @property
    def file_path(self) -> str:
        """Return the path or URL of the file."""
        return self.directory.file_path

    @property
    def classname(self) -> str:
        """Return the C++ class."""
        return "TDirectory"

    @property
    def closed(self) -> bool:
        """Return whether the file is closed."""
        return self.file.closed

    def keys(self, **filters: Unpack[KeyFilters]) -> list[str]:  # type: ignore[override]
        """Return the paths of the objects, with cycles; the options are as in nyssa."""
        return self.directory.keys(**filters)

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

    def __contains__(self, where: object) -> bool:
        """Return whether there is such an object."""
        return where in self.directory

    def close(self) -> None:
        """Close the file."""
        self.file.close()

    def _repr_html_(self) -> str:
        """Return a table for notebooks, as nyssa does."""
        return self.directory._repr_html_()

    def __repr__(self) -> str:
        """Return the path."""
        return _core.printable(f"<ReadOnlyDirectory {self.object_path!r} of {self.file_path}>")
