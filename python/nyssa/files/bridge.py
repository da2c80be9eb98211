"""Opens files that Python knows how to read and write.

These are file objects, the file systems of fsspec, and XRootD's own client.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NoReturn

from nyssa.errors import ArgumentError
from nyssa.files import xrootd_client
from nyssa.files.xrootd_client import XrootdFile, XrootdOutput

__all__ = ["FileObject", "FsspecFile", "Output", "output_of", "ranges_of"]

# Objects of fsspec have no types that a checker knows: `Any`.

#: Protocols of fsspec whose files are in this machine.
_NEAR = ("file", "local", "memory")


class FileObject:
    """Ranges of bytes of a file object that can seek and read bytes."""

    is_far = False

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = threading.Lock()
        name = getattr(file, "name", None)
        self.name = name if isinstance(name, str) else f"<{type(file).__name__}>"
        try:
            place = file.tell()
            self.size: int = file.seek(0, 2)
            file.seek(place)
        except (AttributeError, OSError, ValueError) as error:
            raise ArgumentError(
                f"{self.name}: bytes are not read in order, and this object cannot seek ({error})"
            ) from error
        if not isinstance(file.read(0), bytes):
            raise ArgumentError(f"{self.name} gives text; open it in binary mode")

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of ranges, one after the other."""
        with self._lock:
            return [self._part(start, stop) for start, stop in ranges]

    def _part(self, start: int, stop: int) -> bytes:
        self._file.seek(start)
        parts = []
        # Some objects give less than they have.
        while start < stop and (part := self._file.read(stop - start)):
            parts.append(bytes(part))
            start += len(part)
        return b"".join(parts)

    def __reduce__(self) -> NoReturn:
        """Refuse: another process does not have the object."""
        raise TypeError(
            f"{self.name} is a file object, which cannot go to another process; open the file by "
            "its path or URL"
        )


class FsspecFile:
    """Ranges of bytes of a file in a file system of fsspec; another process can open it again."""

    def __init__(self, filesystem: Any, path: str, name: str | None = None) -> None:
        self._filesystem = filesystem
        self._path = path
        self.name: str = filesystem.unstrip_protocol(path) if name is None else name
        info = filesystem.info(path)
        if info["type"] == "directory":
            raise IsADirectoryError("it is a folder, not a file")
        self.size: int = int(info["size"])
        protocol = filesystem.protocol
        first = protocol if isinstance(protocol, str) else protocol[0]
        self.is_far = first not in _NEAR

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of ranges, which the file system may read at the same time."""
        wanted = [(start, stop) for start, stop in ranges if start < stop]
        answers = self._filesystem.cat_ranges(
            [self._path] * len(wanted),
            [start for start, _ in wanted],
            [stop for _, stop in wanted],
            on_error="raise",
        )
        # Some file systems return exceptions in any case.
        for answer in answers:
            if isinstance(answer, BaseException):
                raise answer
        rest = iter(answers)
        return [bytes(next(rest)) if start < stop else b"" for start, stop in ranges]

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to open it in another process."""
        return (FsspecFile, (self._filesystem, self._path, self.name))


Ranges = FileObject | FsspecFile


def ranges_of(source: Any) -> Ranges | None:
    """Return the ranges of a file object or an `fsspec.core.OpenFile`; None for other things."""
    filesystem, path = getattr(source, "fs", None), getattr(source, "path", None)
    compressed = getattr(source, "compression", None)
    if hasattr(filesystem, "cat_ranges") and isinstance(path, str):
        if compressed is not None:
            raise ArgumentError(f"{path} is compressed as a whole; decompress it first")
        return FsspecFile(filesystem, path)
    if hasattr(source, "read") and hasattr(source, "seek"):
        return FileObject(source)
    return None


class Output:
    """Takes a complete ROOT file, to a file object or a new file of fsspec."""

    def __init__(self, name: str, target: Any, opened: Any = None) -> None:
        self.name = name
        # What makes the file object, for one that is opened when the file is complete.
        self._target = target
        self._file = opened

    def write(self, data: bytes) -> None:
        """Write the next bytes."""
        if self._file is None:
            self._file = self._target.open()
        view = memoryview(data)
        while view:
            # Raw files may take less; buffered ones return nothing or all.
            written = self._file.write(view)
            view = view[len(view) if written is None else written :]

    def finish(self) -> None:
        """Make the file visible. A file object that was given stays open."""
        if self._target is not None:
            self._file.close()
        elif hasattr(self._file, "flush"):
            self._file.flush()

    def discard(self) -> None:
        """Leave nothing behind, where the file system can."""
        if self._target is not None and hasattr(self._file, "discard"):
            self._file.discard()


class _Opening:
    """A new file in a file system of fsspec, opened for writing when its data is complete."""

    def __init__(self, filesystem: Any, path: str) -> None:
        self._filesystem = filesystem
        self._path = path

    def open(self) -> Any:
        """Open it for writing."""
        return self._filesystem.open(self._path, "wb")


def output_of(target: Any, force: bool) -> Output | None:
    """Return the output that is a file object or an `OpenFile` of fsspec; None for other things."""
    filesystem, path = getattr(target, "fs", None), getattr(target, "path", None)
    # A file that is open already has `write`, too; it is written as it is.
    if not hasattr(target, "write") and filesystem is not None and isinstance(path, str):
        return _new_file(filesystem, path, filesystem.unstrip_protocol(path), force)
    if not hasattr(target, "write"):
        return None
    name = getattr(target, "name", None)
    return Output(name if isinstance(name, str) else f"<{type(target).__name__}>", None, target)


def _new_file(filesystem: Any, path: str, name: str, force: bool) -> Output:
    if not force and filesystem.exists(path):
        raise FileExistsError("it exists already")
    return Output(name, _Opening(filesystem, path))


# The extension calls these functions for URLs of schemes that nyssa does not know, and for URLs of
# XRootD that its own client is to open.


def open_url(url: str) -> FsspecFile | XrootdFile:
    """Return the ranges of the file at a URL."""
    if _is_xrootd(url):
        return xrootd_client.open_url(url)
    filesystem, path = _resolve(url)
    return FsspecFile(filesystem, path, url)


def create_url(url: str, force: bool) -> Output | XrootdOutput:
    """Return an output at a URL."""
    if _is_xrootd(url):
        return xrootd_client.create_url(url, force)
    filesystem, path = _resolve(url)
    return _new_file(filesystem, path, url, force)


def kind(url: str) -> bool | None:
    """Return whether a URL is a folder, or None if nothing exists there."""
    if _is_xrootd(url):
        return xrootd_client.kind(url)
    filesystem, path = _resolve(url)
    try:
        return bool(filesystem.info(path)["type"] == "directory")
    except FileNotFoundError:
        return None


def entries(url: str) -> list[tuple[str, bool]]:
    """Return the names in a folder, and whether each is a folder."""
    if _is_xrootd(url):
        return xrootd_client.entries(url)
    filesystem, path = _resolve(url)
    items = filesystem.ls(path, detail=True)
    return [
        (item["name"].rstrip("/").rsplit("/", 1)[-1], item["type"] == "directory") for item in items
    ]


def _is_xrootd(url: str) -> bool:
    return url.partition("://")[0].lower() in xrootd_client.SCHEMES


def _resolve(url: str) -> tuple[Any, str]:
    scheme = url.partition("://")[0]
    try:
        from fsspec.core import url_to_fs
    except ImportError:
        raise NotImplementedError(
            f"nyssa does not know {scheme}:// itself, and fsspec is not installed; "
            "pip install fsspec, or copy the file first"
        ) from None
    try:
        filesystem, path = url_to_fs(url)
    except (ValueError, ImportError) as error:
        raise NotImplementedError(
            f"neither nyssa nor fsspec can open {scheme}://: {error}; copy the file first"
        ) from error
    return filesystem, path
