"""Choosing names: exact names, globs, ``/regular expressions/``, lists of them, or a function."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Sequence

from nyssa import _core
from nyssa.errors import ArgumentError, NotFoundError

NameFilter = str | re.Pattern[str] | Iterable[str] | Callable[[str], bool] | None
"""What ``filter_name=`` and its kin accept."""

_FLAGS = {"i": re.I, "m": re.M, "s": re.S, "x": re.X}
_GLOB = re.compile(r"[*?\[]")


def matcher(pattern: NameFilter) -> Callable[[str], bool]:
    """Return a predicate for `pattern`.

    A string is a glob (``"Jet_*"``), or a regular expression between slashes, with flags after the
    last one (``"/jet_.*/i"``); an iterable accepts what any of its strings accepts; `None` accepts
    everything.
    """
    if pattern is None:
        return lambda _name: True
    if isinstance(pattern, str):
        return _from_text(pattern)
    if isinstance(pattern, re.Pattern):
        return lambda name: pattern.search(name) is not None
    if callable(pattern):
        return lambda name: bool(pattern(name))
    if isinstance(pattern, Iterable):
        parts = [matcher(part) for part in pattern]
        return lambda name: any(part(name) for part in parts)
    raise ArgumentError(
        "a name filter is a glob, a /regular expression/, a list of them or a function, "
        f"not {type(pattern).__name__}"
    )


def _from_text(pattern: str) -> Callable[[str], bool]:
    if pattern.startswith("/") and (end := pattern.rfind("/")) > 0:
        body, letters = pattern[1:end], pattern[end + 1 :]
        if all(letter in _FLAGS for letter in letters):
            flags = re.RegexFlag(0)
            for letter in letters:
                flags |= _FLAGS[letter]
            try:
                expression = re.compile(body, flags)
            except re.error as error:
                raise ArgumentError(f"bad regular expression {pattern}: {error}") from error
            return lambda name: expression.search(name) is not None
    if _GLOB.search(pattern):
        expression = re.compile(fnmatch.translate(pattern))
        return lambda name: expression.match(name) is not None
    return lambda name: name == pattern


def choose(
    available: Sequence[str],
    names: str | Iterable[str] | None,
    filter_name: NameFilter,
    where: str,
    below: Sequence[str] = (),
) -> list[str]:
    """Return the names to read: `names` in the order asked, else `available`, then filtered.

    Names in `below`, of parts of what is available, are taken where they are asked for by name, or
    by patterns that match nothing that is available. An entry of `names` may be a glob or a
    ``/regular expression/``; if it matches nothing that is an error, with the nearest names.
    """
    if names is None:
        asked = list(available)
    else:
        asked = []
        known = {*available, *below}
        for name in [names] if isinstance(names, str) else names:
            if name in known:
                asked.append(name)
                continue
            accepts = matcher(name)
            found = [candidate for candidate in available if accepts(candidate)]
            found = found or [candidate for candidate in below if accepts(candidate)]
            if not found:
                raise not_found(name, [*available, *below], where)
            asked.extend(found)
        asked = list(dict.fromkeys(asked))
    accepts = matcher(filter_name)
    found = [name for name in asked if accepts(name)]
    return found or [name for name in below if names is None and accepts(name)]


def not_found(name: str, available: Sequence[str], where: str) -> NotFoundError:
    """Return the error for a `name` that is not among the `available` ones."""
    return NotFoundError(f"no {name!r} in {where}{_core.did_you_mean(name, list(available))}")
