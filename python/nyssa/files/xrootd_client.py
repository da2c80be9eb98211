"""Reads and writes files on XRootD servers, by XRootD's own client.

nyssa speaks to servers itself. This module is for those that only accept a login that nyssa
itself does not support, such as `gsi` and `krb5`. It has the functions that `nyssa.files.bridge`
has for other URLs.
"""

from __future__ import annotations

import contextlib
import os
import queue
import secrets
from collections.abc import Callable, Sequence
from typing import Any

# The client has no types that a checker knows: `Any`.

#: The schemes of URLs of XRootD.
SCHEMES = ("root", "roots", "xroot", "xroots")
#: The most bytes of one vectored read.
_VECTOR_BYTES = 8 << 20
#: The limits of vectored reads of a server that does not tell them: ranges, and bytes of a range.
_DEFAULT_LIMITS = (1024, (2 << 20) - 16)
#: The codes of XrdCl and the numbers of the server's errors that are exceptions of Python.
_CODES: dict[int, type[OSError]] = {204: PermissionError, 206: TimeoutError}
_NUMBERS: dict[int, type[OSError]] = {
    3010: PermissionError,
    3011: FileNotFoundError,
    3016: IsADirectoryError,
    3018: FileExistsError,
    3030: PermissionError,
}

#: The process that has used the client; it does not survive `fork`.
_process: int | None = None


def _client() -> Any:
    """Return the module of the client."""
    global _process
    if _process not in (None, os.getpid()):
        # The child has none of the threads that answer its requests: each would wait for ever.
        raise said(
            OSError,
            "XRootD's own client was used before this process was forked, and cannot be used after "
            'that; start processes by multiprocessing.get_context("spawn")',
        )
    try:
        from XRootD import client
    except ImportError:
        raise NotImplementedError(
            "XRootD's own client is not installed; install nyssa[xrootd]"
        ) from None
    _process = os.getpid()
    return client


def said(kind: type[OSError], text: str) -> OSError:
    """Return an exception whose text is shown without the name of its class."""
    error = kind(text)
    error.is_plain = True  # type: ignore[attr-defined]
    return error


def _check(status: Any) -> None:
    """Raise the error that a status tells, if it is one."""
    if status.ok:
        return
    kind = _CODES.get(status.code) or _NUMBERS.get(status.errno, OSError)
    text = " ".join(status.message.split()).partition("] ")[2] or status.message
    raise said(kind, f"XRootD's own client says: {text}")


class _Requests:
    """Requests that are under way at the same time."""

    def __init__(self) -> None:
        self._answers: queue.SimpleQueue[tuple[int, Any, Any]] = queue.SimpleQueue()
        self._count = 0

    def send(self, request: Callable[..., Any], *arguments: Any) -> None:
        """Send a request; a thread of the client puts the answer into the queue."""
        index = self._count

        def answered(status: Any, response: Any, _hosts: Any) -> None:
            self._answers.put((index, status, response))

        _check(request(*arguments, callback=answered))
        self._count += 1

    def wait(self) -> list[Any]:
        """Return all answers in the order of the requests."""
        answers: list[Any] = [None] * self._count
        failed = None
        for _ in range(self._count):
            index, status, answers[index] = self._answers.get()
            failed = failed or (None if status.ok else status)
        if failed:
            _check(failed)
        return answers


class XrootdFile:
    """Ranges of bytes of a file on a server."""

    is_far = True

    def __init__(self, url: str) -> None:
        client = _client()
        self.name = url
        self._file = client.File()
        _check(self._file.open(url)[0])
        status, stat = self._file.stat()
        _check(status)
        self.size: int = stat.size
        # The server that has the file is known once it is open; its manager may have other limits.
        self._limits = _vector_limits(client, self._file.get_property("DataServer"), url)

    def read(self, ranges: Sequence[tuple[int, int]]) -> list[bytes]:
        """Return the bytes of ranges: short ones by vectored reads, long ones alone."""
        # A child of `fork` must not touch the open file.
        _client()
        answers = [b""] * len(ranges)
        requests, places = _Requests(), []
        for vector in self._vectors(ranges):
            places.append(vector)
            chunks = [(ranges[i][0], ranges[i][1] - ranges[i][0]) for i in vector]
            if len(chunks) == 1:
                requests.send(self._file.read, *chunks[0])
            else:
                requests.send(self._file.vector_read, chunks)
        for vector, answer in zip(places, requests.wait(), strict=True):
            parts = [answer] if len(vector) == 1 else [chunk.buffer for chunk in answer.chunks]
            for i, part in zip(vector, parts, strict=True):
                answers[i] = bytes(part)
        return answers

    def _vectors(self, ranges: Sequence[tuple[int, int]]) -> list[list[int]]:
        """Return which ranges are requested together; empty ones are not requested."""
        most_ranges, most_bytes = self._limits
        vectors: list[list[int]] = []
        room = 0
        for i, (start, stop) in enumerate(ranges):
            size = stop - start
            if size <= 0:
                continue
            if size > most_bytes:
                vectors.append([i])
                room = 0
            elif size <= room and len(vectors[-1]) < most_ranges:
                vectors[-1].append(i)
                room -= size
            else:
                vectors.append([i])
                room = _VECTOR_BYTES - size
        return vectors

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to open it in another process."""
        return (XrootdFile, (self.name,))


class XrootdOutput:
    """Writes a new file on a server. It has another name as long as it is not complete."""

    def __init__(self, url: str, force: bool) -> None:
        client = _client()
        self.name = url
        self._force = force
        self._system, self._path = _file_system(client, url)
        path, mark, query = self._path.partition("?")
        folder, slash, name = path.rpartition("/")
        part = f".{name}.{secrets.token_hex(8)}.part"
        self._temporary = f"{folder}{slash}{part}{mark}{query}"
        if (present := kind(url)) is not None and (present or not force):
            raise IsADirectoryError("it is a folder, not a file") if present else _exists()
        self._file: Any = None
        self._written = 0

    def write(self, data: bytes) -> None:
        """Write the next bytes."""
        if self._file is None:
            flags = _client().flags.OpenFlags
            self._file = _client().File()
            # The server itself removes a file that is not closed.
            mode = flags.NEW | flags.MAKEPATH | flags.POSC
            _check(self._file.open(_with_path(self.name, self._temporary), mode)[0])
        _check(self._file.write(data, self._written)[0])
        self._written += len(data)

    def finish(self) -> None:
        """Make the file visible."""
        _check(self._file.sync()[0])
        _check(self._file.close()[0])
        if not self._force and kind(self.name) is not None:
            raise _exists()
        _check(self._system.mv(self._temporary, self._path)[0])

    def discard(self) -> None:
        """Leave nothing behind."""
        if self._file is not None:
            # The first error matters.
            with contextlib.suppress(OSError):
                if self._file.is_open():
                    self._file.close()
                self._system.rm(self._temporary)


def open_url(url: str) -> XrootdFile:
    """Return the ranges of the file at a URL."""
    return XrootdFile(url)


def create_url(url: str, force: bool) -> XrootdOutput:
    """Return an output at a URL."""
    return XrootdOutput(url, force)


def kind(url: str) -> bool | None:
    """Return whether a URL is a folder, or None if nothing exists there."""
    client = _client()
    system, path = _file_system(client, url)
    status, stat = system.stat(path)
    if not status.ok and status.errno == 3011:
        return None
    _check(status)
    return bool(stat.flags & client.flags.StatInfoFlags.IS_DIR)


def entries(url: str) -> list[tuple[str, bool]]:
    """Return the names in a folder, and whether each is a folder."""
    client = _client()
    system, path = _file_system(client, url)
    flags = client.flags.DirListFlags
    # The lists of all servers that a manager knows are put together.
    status, listed = system.dirlist(path, flags.STAT | flags.LOCATE | flags.MERGE)
    _check(status)
    is_folder = client.flags.StatInfoFlags.IS_DIR
    return [
        (item.name, item.statinfo is not None and bool(item.statinfo.flags & is_folder))
        for item in listed
    ]


def _file_system(client: Any, url: str) -> tuple[Any, str]:
    """Return the server of a URL, and the path with its query."""
    scheme, _, rest = url.partition("://")
    hosts, _, path = rest.partition("/")
    return client.FileSystem(f"{scheme}://{hosts}"), path


def _with_path(url: str, path: str) -> str:
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0]}/{path}"


def _vector_limits(client: Any, server: str, url: str) -> tuple[int, int]:
    """Return how many ranges a vectored read may have on a server, and how many bytes each."""
    scheme = url.partition("://")[0]
    code = client.flags.QueryCode.CONFIG
    system = client.FileSystem(f"{scheme}://{server}")
    status, answer = system.query(code, "readv_iov_max readv_ior_max")
    numbers = answer.decode("ascii", "replace").split() if status.ok else []
    if len(numbers) != 2 or not all(number.isdecimal() and int(number) for number in numbers):
        return _DEFAULT_LIMITS
    return min(int(numbers[0]), _DEFAULT_LIMITS[0]), int(numbers[1])


def _exists() -> FileExistsError:
    return FileExistsError("it exists already")
