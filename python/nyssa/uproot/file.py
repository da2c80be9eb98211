"""`ReadOnlyFile`: an open file, its header and its streamer infos, by uproot's names."""

from __future__ import annotations

import sys
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TextIO
from uuid import UUID

import nyssa
from nyssa.arguments.names import not_found
from nyssa.uproot.compression import Compression, of_code
from nyssa.uproot.infos import Streamer, StreamerElement

if TYPE_CHECKING:
    from nyssa.uproot.reading import ReadOnlyDirectory

__all__ = ["ReadOnlyFile"]

Version = int | Literal["min", "max"]


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
        from nyssa.uproot.reading import ReadOnlyDirectory

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
        found: dict[str, dict[int, Streamer]] = {}
        for name, version, elements in self.directory._core.streamers():
            made = [StreamerElement(*one) for one in elements]
            found.setdefault(name, {})[version] = Streamer(name, version, made)
        return found

    def streamers_named(self, classname: str) -> list[Streamer]:
        """Return the streamer infos of all versions of a class."""
        return list(self.streamers.get(classname, {}).values())

    def streamer_named(self, classname: str, version: Version = "max") -> Streamer:
        """Return the streamer info of a class, in a version or the oldest or newest one."""
        versions = self.streamers.get(classname)
        if versions is None:
            raise not_found(classname, list(self.streamers), f"the streamers of {self.file_path}")
        number = (
            version if isinstance(version, int) else {"min": min, "max": max}[version](versions)
        )
        if number not in versions:
            known = [f"{classname};{one}" for one in versions]
            raise not_found(f"{classname};{number}", known, f"the streamers of {self.file_path}")
        return versions[number]

    def show_streamers(
        self, classname: str | None = None, version: Version = "max", stream: TextIO | None = None
    ) -> None:
        """Print the streamer infos of all classes, or of one and of those that it needs."""
        if classname is None:
            chosen = [one for versions in self.streamers.values() for one in versions.values()]
        else:
            chosen = self._needed(self.streamer_named(classname, version), set())
        out = sys.stdout if stream is None else stream
        out.write("\n".join(map(str, chosen)))

    def _needed(self, streamer: Streamer, seen: set[tuple[str, int]]) -> list[Streamer]:
        """Return the streamer infos that one needs, without those that were seen, and itself."""
        seen.add((streamer.name, streamer.class_version))
        found = []
        for element in streamer.elements:
            name = element.name if element.is_base else element.typename.rstrip("*")
            versions = self.streamers.get(name, {})
            version = element.base_version if element.is_base else max(versions, default=0)
            if version in versions and (name, version) not in seen:
                found += self._needed(versions[version], seen)
        return [*found, streamer]
