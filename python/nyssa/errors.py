"""Defines the errors of nyssa. Each derives from the builtin error that a user would catch.

Each error has two attributes. `place` is a dict that says where the error is, by the
keys ``file``, ``object``, ``field``, ``column``, ``cluster``, ``page``, ``basket``, ``entry`` and
``byte`` (offset in the file) that are known. `suggestions` are the names that the user may have
meant, the most likely first.
"""

from __future__ import annotations

__all__ = [
    "AccessError",
    "ArgumentError",
    "CancelledError",
    "ChecksumError",
    "FileMissingError",
    "FolderError",
    "FormatError",
    "InputOutputError",
    "InternalError",
    "LargeEntryWarning",
    "LimitError",
    "NotFoundError",
    "NyssaError",
    "OutputExistsError",
    "UnreadableWarning",
    "UnsupportedError",
]


class NyssaError(Exception):
    """Base of all errors of nyssa, except the interruption by the user."""

    place: dict[str, str | int] | None = None
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the message, without secrets, and without what would change a terminal."""
        from nyssa import _core

        # KeyError and OSError would make another text.
        text = str(self.args[0]) if self.args else ""
        return _core.printable_message(text.encode("utf-8", "backslashreplace").decode())


class NotFoundError(NyssaError, KeyError):
    """There is no object, branch or field of this name. The message suggests similar names."""


class SystemCallError(NyssaError, OSError):
    """The base of errors of the system, with `errno` and `filename` where known."""


class FileMissingError(SystemCallError, FileNotFoundError):
    """There is no such file."""


class FolderError(SystemCallError, IsADirectoryError, ValueError):
    """The path is a folder, but a file is needed."""


class OutputExistsError(SystemCallError, FileExistsError):
    """The output exists; ``force=True`` replaces it."""


class AccessError(SystemCallError, PermissionError):
    """The operating system does not permit the access."""


class ArgumentError(NyssaError, ValueError):
    """An argument has a wrong value."""


class DataError(NyssaError):
    """The base of the errors of stored data: damaged, against the format, or not supported."""


class FormatError(DataError, SystemCallError, ValueError):
    """The file breaks the specification of its format, or is not a ROOT file."""


class UnsupportedError(DataError, NotImplementedError):
    """The file is correct, but nyssa cannot read (or write) this part of it."""


class UnreadableWarning(UserWarning):
    """A column, or a member of its objects, cannot be read and is left out (`skip_unreadable`)."""


class LargeEntryWarning(UserWarning):
    """One entry takes more memory than `step_size` allows. It is a step of its own."""


class ChecksumError(DataError, SystemCallError, OSError):
    """Stored bytes do not match their checksum: the file is damaged."""


class LimitError(NyssaError, MemoryError):
    """A memory budget or a safety limit was exceeded."""


class InputOutputError(SystemCallError, OSError):
    """A failure of the operating system or of the network."""


class InternalError(NyssaError, RuntimeError):
    """A bug in nyssa. Please report it."""


class CancelledError(KeyboardInterrupt):
    """The work was stopped by the user."""

    place: dict[str, str | int] | None = None
