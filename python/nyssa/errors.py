"""What can go wrong. Every error derives from the builtin one would catch.

Each has two attributes. `place` is a dict that says where, of the keys ``file``, ``object``,
``field``, ``column``, ``cluster``, ``page``, ``basket``, ``entry`` and ``byte`` (offset in the
file) those that are known. `suggestions` are the names that may have been meant, the most likely
first.
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
    "LimitError",
    "NotFoundError",
    "NyssaError",
    "OutputExistsError",
    "UnreadableWarning",
    "UnsupportedError",
]


class NyssaError(Exception):
    """Base of all errors of nyssa, besides the interruption by the user."""

    place: dict[str, str | int] | None = None
    suggestions: tuple[str, ...] = ()


class NotFoundError(NyssaError, KeyError):
    """No object, branch or field of that name. The message lists the nearest names."""

    def __str__(self) -> str:
        """Return the message itself, where KeyError would show its repr."""
        return str(self.args[0]) if self.args else ""


class SystemCallError(NyssaError, OSError):
    """Base of what the operating system says, with its `errno` and `filename` where known."""

    def __str__(self) -> str:
        """Return the message itself, where OSError would put it together anew."""
        return str(self.args[0]) if self.args else ""


class FileMissingError(SystemCallError, FileNotFoundError):
    """No such file."""


class FolderError(SystemCallError, IsADirectoryError, ValueError):
    """A folder was named where a file is needed."""


class OutputExistsError(SystemCallError, FileExistsError):
    """The output exists; ``force=True`` replaces it."""


class AccessError(SystemCallError, PermissionError):
    """The operating system does not allow it."""


class ArgumentError(NyssaError, ValueError):
    """The caller asked for something that cannot be."""


class FormatError(SystemCallError, ValueError):
    """The file breaks the specification of its format, or is not a ROOT file."""


class UnsupportedError(NyssaError, NotImplementedError):
    """The file is fine, but nyssa cannot read (or write) this part of it."""


class UnreadableWarning(UserWarning):
    """A column, or a member of its objects, cannot be read and was left out, as was asked."""


class ChecksumError(SystemCallError, OSError):
    """Stored bytes do not match their checksum: the file is damaged."""


class LimitError(NyssaError, MemoryError):
    """A memory budget or a guard was exceeded."""


class InputOutputError(SystemCallError, OSError):
    """The operating system or the network failed."""


class InternalError(NyssaError, RuntimeError):
    """A bug in nyssa. Please report it."""


class CancelledError(KeyboardInterrupt):
    """The user stopped the work."""

    place: dict[str, str | int] | None = None
