"""Says how a command failed: its exit code and its JSON document, as in docs/command-line.md."""

from __future__ import annotations

import errno
from typing import Any

from nyssa import errors

__all__ = ["FINE", "INTERRUPTED", "PROBLEM", "document", "exit_code"]

FINE, PROBLEM, USAGE, MISSING, UNSUPPORTED, SYSTEM, FULL, LIMIT = range(8)
INTERRUPTED = 130

#: The kind and the exit code of each class of errors. The first class that fits counts.
_KINDS: tuple[tuple[type[BaseException], str, int], ...] = (
    (errors.FileMissingError, "NotFound", MISSING),
    (errors.NotFoundError, "NotFound", MISSING),
    (errors.FolderError, "InvalidArgument", USAGE),
    (errors.OutputExistsError, "AlreadyExists", USAGE),
    (errors.ArgumentError, "InvalidArgument", USAGE),
    (errors.FormatError, "OutOfSpecification", PROBLEM),
    (errors.ChecksumError, "Checksum", PROBLEM),
    (errors.UnsupportedError, "Unsupported", UNSUPPORTED),
    (errors.LimitError, "LimitExceeded", LIMIT),
    (errors.CancelledError, "Cancelled", SYSTEM),
    (FileNotFoundError, "NotFound", MISSING),
)
#: The exit codes of errors of the system; all others have `SYSTEM`.
_CODES = {
    errno.ENOSPC: FULL,
    errno.EDQUOT: FULL,
    errno.EFBIG: FULL,
    errno.EBADMSG: PROBLEM,
    errno.EINVAL: USAGE,
}
_PLACE = ("file", "object", "field", "column", "cluster", "page", "basket", "entry")


def _kind(error: Exception) -> tuple[str, int]:
    for one, kind, code in _KINDS:
        if isinstance(error, one):
            return kind, code
    number = error.errno if isinstance(error, OSError) else None
    return "Io", _CODES.get(number or 0, SYSTEM)


def exit_code(error: Exception) -> int:
    """Return the exit code of a command that ends with this error."""
    return _kind(error)[1]


def document(error: Exception) -> dict[str, Any]:
    """Return the JSON document of a command that ends with this error."""
    kind, code = _kind(error)
    place = getattr(error, "place", None)
    if place is not None:
        place = {name: place.get(name) for name in _PLACE} | {"offset": place.get("byte")}
    report: dict[str, Any] = {"kind": kind, "message": str(error), "hints": [], "place": place}
    return {"error": {**report, "exit_code": code}}
