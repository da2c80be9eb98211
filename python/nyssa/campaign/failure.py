"""Says how a command failed: its exit code and its JSON document, as in docs/command-line.md."""

from __future__ import annotations

from typing import Any

from nyssa import _core, errors

__all__ = ["FINE", "INTERRUPTED", "PROBLEM", "document", "exit_code"]

FINE, PROBLEM = 0, 1
INTERRUPTED = 130

#: The kind of each class of errors. The first that fits counts; all others are of the system.
_KINDS: tuple[tuple[type[BaseException], str], ...] = (
    (errors.FileMissingError, "NotFound"),
    (errors.NotFoundError, "NotFound"),
    (errors.FolderError, "InvalidArgument"),
    (errors.OutputExistsError, "AlreadyExists"),
    (errors.ArgumentError, "InvalidArgument"),
    (errors.FormatError, "OutOfSpecification"),
    (errors.ChecksumError, "Checksum"),
    (errors.UnsupportedError, "Unsupported"),
    (errors.LimitError, "LimitExceeded"),
    (errors.CancelledError, "Cancelled"),
    (FileNotFoundError, "NotFound"),
)
_PLACE = ("file", "object", "field", "column", "cluster", "page", "basket", "entry")


def _kind(error: Exception) -> str:
    return next((kind for item, kind in _KINDS if isinstance(error, item)), "Io")


def exit_code(error: Exception) -> int:
    """Return the exit code of a command that ends with this error."""
    number = error.errno if isinstance(error, OSError) else None
    return _core.exit_code(_kind(error), number)


def document(error: Exception) -> dict[str, Any]:
    """Return the JSON document of a command that ends with this error."""
    place = getattr(error, "place", None)
    if place is not None:
        place = {name: place.get(name) for name in _PLACE} | {"offset": place.get("byte")}
    report: dict[str, Any] = {"kind": _kind(error), "message": str(error)}
    report |= {"hints": [], "place": place, "exit_code": exit_code(error)}
    return {"error": report}
