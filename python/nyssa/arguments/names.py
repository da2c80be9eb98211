"""Filters names by exact names, globs, ``/regular expressions/``, lists of these, or functions."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from nyssa import _core
from nyssa.errors import ArgumentError, NotFoundError

NameFilter = str | re.Pattern[str] | Iterable[str] | Callable[[str], bool] | None
"""The type of ``filter_name`` and similar options."""

Predicate = Callable[[str], bool]

_REGEX = re.compile("^/(.*)/([iLmsux]*)$")
_FLAGS = {"i": re.I, "L": re.L, "m": re.M, "s": re.S, "u": re.U, "x": re.X}
_GLOB = re.compile(r"[*?\[]")


def names_of(names: str | Iterable[str] | None) -> list[str] | None:
    """Return the names that a user gives as a list; `None` for all columns."""
    if names is None:
        return None
    if isinstance(names, str):
        check_text(names)
        return [names]
    if isinstance(names, (Mapping, type)) or not isinstance(names, Iterable):
        kind = type(names).__name__
        raise ArgumentError(f"columns are named by a str or a list of them, not by {kind}")
    listed = list(names)
    for item in listed:
        if not isinstance(item, str):
            raise ArgumentError(f"columns are named by a str or a list of them, not by {item!r}")
        check_text(item)
    return listed


def is_text(name: str) -> bool:
    """Return whether UTF-8 has a name."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_text(name: str) -> None:
    """Raise `ArgumentError` for a name that UTF-8 does not have."""
    try:
        name.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"{name!a} is no name, as it is not text of Unicode: {error}") from None


def matcher(pattern: NameFilter) -> Predicate:
    """Return a predicate for `pattern`.

    A string is a name, a glob (``"Jet_*"``), or a regular expression between slashes, with flags
    after the last slash (``"/jet_.*/i"``). A regular expression must match from the start of the
    name, as with `re.match`. An iterable accepts names that any of its strings accepts; `None`
    accepts all names.
    """
    if pattern is None:
        return lambda _name: True
    if isinstance(pattern, str):
        return _from_text(pattern)
    if isinstance(pattern, re.Pattern):
        return lambda name: pattern.match(name) is not None
    if callable(pattern) and not isinstance(pattern, type):
        return lambda name: bool(pattern(name))
    if isinstance(pattern, Iterable) and not isinstance(pattern, (bytes, Mapping, type)):
        listed = list(pattern)
        if any(part is None for part in listed):
            raise ArgumentError("None in a list of name filters: leave it out")
        parts = [matcher(part) for part in listed]
        return lambda name: any(part(name) for part in parts)
    raise ArgumentError(
        "a name filter is a glob, a /regular expression/, a list of them or a function, "
        f"not {type(pattern).__name__}"
    )


def _from_text(pattern: str) -> Predicate:
    if match := _REGEX.match(pattern):
        flags = re.RegexFlag(0)
        for letter in match[2]:
            flags |= _FLAGS[letter]
        try:
            expression = re.compile(match[1], flags)
        except (re.error, ValueError) as error:
            raise ArgumentError(f"bad regular expression {pattern}: {error}") from error
        return lambda name: expression.match(name) is not None
    if _GLOB.search(pattern):
        expression = re.compile(fnmatch.translate(pattern))
        # A name can have brackets itself.
        return lambda name: name == pattern or expression.match(name) is not None
    return lambda name: name == pattern


def deep(accepts: Predicate) -> Predicate:
    """Return a predicate for paths that accepts a path or its last name."""
    return lambda path: accepts(path) or accepts(path.rpartition("/" if "/" in path else ".")[2])


def choose(
    available: Sequence[str],
    names: str | Iterable[str] | None,
    filter_name: NameFilter,
    where: str,
    lower: Callable[[str | None], Sequence[str]] = lambda _name: (),
) -> list[str]:
    """Return the columns to read: `names` in their order, or else `available`; then filter them.

    An entry of `names` may be a glob or a ``/regular expression/``. `lower` returns columns below
    the top level. They are chosen by name, or by a pattern that matches no available column. A name
    that does not exist is an error, which suggests similar names. A pattern may match nothing if
    another column is chosen. A filter that matches nothing is an error, too.
    """
    accepts = matcher(filter_name)
    if names is None:
        chosen = [name for name in available if accepts(name)]
        chosen = chosen or list(filter(deep(accepts), lower(None)))
        if filter_name is not None and not chosen:
            raise nothing_matches("filter_name", filter_name, [*available, *lower(None)], where)
        return chosen
    requested: list[str] = []
    unmatched: str | None = None
    known = {*available}
    for name in names_of(names) or ():
        if name in known or lower(name):
            requested.append(name)
            continue
        wanted = matcher(name)
        some = [candidate for candidate in available if wanted(candidate)]
        some = some or list(filter(deep(wanted), lower(None)))
        if not some and not _is_pattern(name):
            raise not_found(name, [*available, *lower(None)], where)
        unmatched = unmatched or (None if some else name)
        requested.extend(some)
    if unmatched and not requested:
        raise not_found(unmatched, [*available, *lower(None)], where)
    requested = list(dict.fromkeys(requested))
    chosen = [name for name in requested if (accepts if name in known else deep(accepts))(name)]
    if requested and not chosen:
        raise nothing_left("filter_name", requested, where)
    return chosen


def _is_pattern(name: str) -> bool:
    return _GLOB.search(name) is not None or (name.startswith("/") and name.rfind("/") > 0)


def not_found(name: str, available: Sequence[str], where: str) -> NotFoundError:
    """Return the error for a `name` that is not among the `available` ones."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) > 1 and {*parts} <= {*available}:
        return NotFoundError(f"no {name!r} in {where}: several names are a list, {parts}")
    return missing(f"no {name!r} in {where}", name, available)


def missing(message: str, name: str, known: Sequence[str]) -> NotFoundError:
    """Return the error for a `name` that does not exist; it suggests similar names of `known`."""
    text = str(name).encode("utf-8", "backslashreplace").decode()
    suggestions, text = _core.did_you_mean(text, list(known))
    error = NotFoundError(message + text)
    error.suggestions = tuple(suggestions)
    return error


def nothing_matches(
    option: str, given: NameFilter, available: Sequence[str], where: str
) -> NotFoundError:
    """Return the error for a filter that accepts nothing of what is `available`."""
    shown = f" {given!r}" if isinstance(given, str) or _is_short(given) else ""
    message = f"{option}{shown} matches no column of {where}"
    if isinstance(given, str):
        return missing(message, given, available)
    globs = given if isinstance(given, (list, tuple)) else []
    near = [near for glob in globs for near in missing("", str(glob), available).suggestions]
    hint = " or ".join(f'"{name}"' for name in near[:3])
    error = NotFoundError(f"{message}; did you mean {hint}?" if near else message)
    error.suggestions = tuple(near)
    return error


def _is_short(given: NameFilter) -> bool:
    """Return whether a message can show this list of globs."""
    return isinstance(given, (list, tuple)) and 0 < len(given) <= 3


def nothing_left(option: str, requested: Sequence[str], where: str) -> NotFoundError:
    """Return the error for named columns when a filter accepts none of them."""
    shown = ", ".join(requested[:5]) + (", ..." if len(requested) > 5 else "")
    return NotFoundError(
        f"{option} matches none of the columns that are named for {where}: {shown}; a filter "
        "leaves out some of those that are named"
    )
