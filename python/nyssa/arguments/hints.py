"""Says what to write instead of an attribute that an object does not have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, ClassVar, NoReturn

from nyssa import _core

__all__ = ["Hinting", "no_attribute"]


class Hinting:
    """A class whose objects say what to write instead of an attribute that they do not have."""

    #: What to write instead of names that other libraries have.
    _hints: ClassVar[Mapping[str, str]] = {}

    def _hint_of(self, name: str) -> str | None:
        """Return what to write instead of a name."""
        return self._hints.get(name)

    # Type checkers then still know that the attribute does not exist.
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> NoReturn:
            """Raise `AttributeError` with a hint. Python calls it for names that do not exist."""
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            if name.startswith("_"):
                raise AttributeError(message, name=name, obj=self)
            hint = self._hint_of(name)
            text = f": {hint}" if hint else _similar(name, dir(type(self)))
            raise AttributeError(message + text, name=name, obj=self)


def no_attribute(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that a module does not have; it suggests similar names."""
    message = f"module {module!r} has no attribute {name!r}"
    return AttributeError(message if name.startswith("_") else message + _similar(name, known))


def _similar(name: str, known: Iterable[str]) -> str:
    public = [other for other in known if not other.startswith("_")]
    text: str = _core.did_you_mean(name.encode("utf-8", "backslashreplace").decode(), public)[1]
    return text
