"""Checks the arguments of public functions, so that a wrong one raises an error that names it.

What a parameter takes is in its annotation, which is read as text. A function says ``@checked``.
Arguments whose annotations are not in `_CHECKS` are checked where they are used.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from numbers import Integral, Real
from typing import Any, ParamSpec, TypeVar

import numpy as np

from nyssa.arguments.names import check_text, names_of
from nyssa.arguments.sizes import threads_of
from nyssa.arguments.words import Words
from nyssa.errors import ArgumentError

__all__ = ["check_location", "check_texts", "checked", "checks_of"]

_P = ParamSpec("_P")
_R = TypeVar("_R")
# Arguments are whatever users give: `Any`.
_Check = Callable[[str, Any], object]

_UNPACKED = re.compile(r"Unpack\[(?:\w+\.)*(\w+)\]")


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that checks its arguments first."""
    checks, names = checks_of(function), _positional(function)
    known = _all_names(function)

    @functools.wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for name, value in (*zip(names, args, strict=False), *kwargs.items()):
            if name in checks and not isinstance(value, Words):
                checks[name](name, value)
        if not known or known.issuperset(kwargs):
            return function(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except TypeError as error:
            raise _unknown(function.__name__, known, kwargs) from error

    return call


def checks_of(function: Callable[..., Any]) -> dict[str, _Check]:
    """Return the check of each parameter that has one."""
    checks = {}
    for name, annotation in _annotations(function):
        check = _CHECKS.get(annotation)
        # Several numbers of threads have a check of their own.
        check = check if "Iterable" in annotation else _BY_NAME.get(name) or check
        check = _text if check is None and annotation.startswith("Literal['") else check
        if check is not None:
            checks[name] = check
    return checks


def _annotations(function: Callable[..., Any]) -> Iterator[tuple[str, str]]:
    """Iterate over the names of parameters and the texts of their annotations."""
    for parameter in inspect.signature(function).parameters.values():
        unpacked = _UNPACKED.fullmatch(str(parameter.annotation))
        options = unpacked and inspect.unwrap(function).__globals__.get(unpacked[1])
        if options is None:
            yield parameter.name, str(parameter.annotation)
            continue
        for base in reversed([options, *getattr(options, "__orig_bases__", ())]):
            for name, annotation in getattr(base, "__annotations__", {}).items():
                yield name, getattr(annotation, "__forward_arg__", str(annotation))


def _positional(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [
        parameter.name
        for parameter in parameters
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]


def _all_names(function: Callable[..., Any]) -> frozenset[str]:
    """Return the names of all parameters, or no names if the function takes any name."""
    parameters = inspect.signature(function).parameters.values()
    any_name = [parameter for parameter in parameters if parameter.kind is parameter.VAR_KEYWORD]
    names = frozenset(name for name, _ in _annotations(function))
    return frozenset() if any(item.name in names for item in any_name) else names


def _unknown(function: str, known: frozenset[str], given: Iterable[str]) -> TypeError:
    """Return the error for a parameter that a function does not have."""
    name = next(name for name in given if name not in known)
    close = difflib.get_close_matches(name, sorted(known), 1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def _wrong(name: str, expected: str, given: Any, hint: str = "") -> ArgumentError:
    return ArgumentError(f"{name} is {expected}, not {_shown(given)}{hint}")


#: What to write instead of a cut that is an array or a function.
_CUT = (
    '; write the condition as text, such as cut="nMuon >= 2 && any(Muon_pt > 20)", or read without '
    "a cut and select with the array: arrays[mask]"
)


def _shown(given: Any) -> str:
    """Return a short text for a value."""
    text = ascii(given) if isinstance(given, (str, bytes, int, float, type(None))) else ""
    return text if text and len(text) <= 40 else f"of type {type(given).__name__}"


def _flag(name: str, given: Any) -> None:
    if not isinstance(given, (bool, np.bool_)):
        raise _wrong(name, "True or False", given)


def _text(name: str, given: Any) -> None:
    if not isinstance(given, str):
        is_mask = hasattr(given, "__array__") or isinstance(given, (list, tuple)) or callable(given)
        raise _wrong(name, "a str", given, _CUT if name == "cut" and is_mask else "")
    check_text(given)


def check_location(name: str, given: Any) -> None:
    """Raise an error for what is not the path or URL of a file."""
    path = os.fspath(given) if isinstance(given, os.PathLike) else given
    if not isinstance(path, str):
        # `open` and others have raised this class of error before.
        raise TypeError(
            f"a file is named by a str or an os.PathLike, not by {type(path).__name__} ({name})"
            + _name_of(path)
        )
    try:
        path.encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(
            f"the name {path!a} is not UTF-8; give the file another, or make a link to it"
        ) from error
    if "\0" in path:
        raise ArgumentError(f"the name {path!a} has a zero byte, which no file can have")


def _name_of(given: Any) -> str:
    """Return what to write instead of an open file or dataset."""
    file, inner = getattr(given, "file_path", None), getattr(given, "object_path", None)
    if not isinstance(file, str):
        return ""
    return f"; give its name, {f'{file}:{inner}' if inner else file!r}"


def _many_locations(name: str, given: Any) -> None:
    """Check what uproot takes: lists may have dicts, whose items may be dicts."""
    if isinstance(given, Mapping):
        for item in given:
            if not hasattr(item, "read"):
                check_location(name, item)
    elif isinstance(given, Iterable) and not isinstance(given, str) and not _is_one(given):
        for item in given:
            _many_locations(name, item)
    else:
        _locations(name, given)


def _is_one(given: Any) -> bool:
    """Return whether it is one location, file or dataset."""
    return isinstance(given, os.PathLike) or hasattr(given, "read") or hasattr(given, "file_path")


def _output(name: str, given: Any) -> None:
    if not hasattr(given, "write") and not hasattr(given, "fs"):
        check_location(name, given)


def _locations(name: str, given: Any) -> None:
    if isinstance(given, (str, os.PathLike)):
        check_location(name, given)
    elif hasattr(given, "file_path"):
        return  # It is a dataset.
    elif isinstance(given, Mapping):
        for path, inner in given.items():
            check_location(name, path)
            _or_none(_text)(f"the path of an object in {name}", inner)
    elif isinstance(given, (bytes, type)) or not isinstance(given, Iterable):
        raise _wrong(name, "a path or URL, several of these, or a dict from them to names", given)
    else:
        for item in given if isinstance(given, (list, tuple, np.ndarray)) else ():
            if not hasattr(item, "file_path"):
                check_location(name, item)


def _location_or_list(name: str, given: Any) -> None:
    if isinstance(given, list):
        _locations(name, given)
    else:
        check_location(name, given)


def _whole(name: str, given: Any) -> None:
    if not isinstance(given, Integral) or isinstance(given, bool):
        raise _wrong(name, "an integer", given)
    if not -(2**63) <= int(given) < 2**63:
        raise _wrong(name, "an integer of 64 bits", given)


def _real(name: str, given: Any) -> None:
    if not isinstance(given, Real) or isinstance(given, bool):
        raise _wrong(name, "a number", given)


def _text_or_other(_name: str, given: Any) -> None:
    # Other values are checked with their range, where they are used.
    if isinstance(given, str):
        check_text(given)


def check_texts(name: str, given: Any) -> None:
    """Raise an error for a value that is neither a text nor several texts."""
    if isinstance(given, str):
        check_text(given)
        return
    if isinstance(given, (bytes, Mapping, type)) or not isinstance(given, Iterable):
        raise _wrong(name, "a str or several of them", given)
    # A generator is used up by a look at it. What it gives is checked where it is used.
    for item in given if isinstance(given, (list, tuple, set, frozenset, np.ndarray)) else ():
        if not isinstance(item, str):
            raise _wrong(f"one of {name}", "a str", item)
        check_text(item)


def _mapping_or_several(name: str, given: Any) -> None:
    several = isinstance(given, (list, tuple)) and bool(given)
    for item in given if several else [given]:
        _mapping(name, item)


def _mapping(name: str, given: Any) -> None:
    if not isinstance(given, Mapping):
        raise _wrong(name, "a dict", given)
    for key in given:
        _text(f"a name in {name}", key)


def _name_or_number(name: str, given: Any) -> None:
    check = _text if isinstance(given, str) else _whole
    check(name, given)


def _names_if_mapping(name: str, given: Any) -> None:
    if isinstance(given, Mapping):
        _mapping(name, given)


def _text_mapping(name: str, given: Any) -> None:
    _mapping(name, given)
    for key, value in given.items():
        _text(f"{name}[{key!a}]", value)


def _text_or_mapping(name: str, given: Any) -> None:
    check = _text_mapping if isinstance(given, Mapping) else _text
    check(name, given)


def _texts_or_mapping(name: str, given: Any) -> None:
    check = _mapping if isinstance(given, Mapping) else check_texts
    check(name, given)


def _mappings(name: str, given: Any) -> None:
    _mapping(name, given)
    for key, value in given.items():
        _mapping(f"{name}[{key!a}]", value)


def _renaming(name: str, given: Any) -> None:
    if isinstance(given, type) or not callable(given):
        _text_mapping(name, given)


def _numbers(name: str, given: Any) -> None:
    if isinstance(given, (str, bytes, Mapping, type)) or not isinstance(given, Iterable):
        raise _wrong(name, "a list or an array of integers", given)


def _whole_or_numbers(name: str, given: Any) -> None:
    check = _numbers if isinstance(given, Iterable) else _whole
    check(name, given)


def _text_or_function(name: str, given: Any) -> None:
    if isinstance(given, type) or not callable(given):
        _text(name, given)


def _progress(name: str, given: Any) -> None:
    if isinstance(given, type) or not (callable(given) or isinstance(given, bool)):
        raise _wrong(
            name, "True, False or a function of the work that is done and the total", given
        )


def _function(name: str, given: Any) -> None:
    if not callable(given):
        raise _wrong(name, "a function", given)


def _no_class(name: str, given: Any) -> None:
    if isinstance(given, type) or not callable(given):
        raise _wrong(name, "a function", given)


def _flag_or_texts(name: str, given: Any) -> None:
    check = _text_mapping if isinstance(given, Mapping) else _flag
    check(name, given)


def _rules(name: str, given: Any) -> None:
    if not hasattr(given, "_rules"):
        raise _wrong(name, "a nyssa.ReadRules", given)


def _cache(name: str, given: Any) -> None:
    if given is not False and not hasattr(given, "max_age"):
        check_location(name, given)


def _names(_name: str, given: Any) -> None:
    # An iterator is used up by a look at it, and is checked where it is used.
    if not isinstance(given, Iterator):
        names_of(given)


def _expressions(name: str, given: Any) -> None:
    """Check names, or names with interpretations, as a dict or pairs."""
    if isinstance(given, Mapping):
        names_of(list(given))
    elif isinstance(given, (list, tuple)):
        names_of([item[0] if isinstance(item, tuple) and item else item for item in given])
    else:
        _names(name, given)


def _or_none(check: _Check) -> _Check:
    return lambda name, given: None if given is None else check(name, given)


def _with_none(checks: Mapping[str, _Check]) -> dict[str, _Check]:
    return {**checks, **{f"{text} | None": _or_none(check) for text, check in checks.items()}}


_BY_NAME: dict[str, _Check] = {
    "fill_contexts": lambda name, given: threads_of(given, name),
    "threads": lambda name, given: threads_of(given, name),
}
"""The checks of parameters that are the same in all functions."""

_CHECKS = _with_none(
    {
        "bool": _flag,
        "str": _text,
        "int": _whole,
        "float": _real,
        "int | str": _text_or_other,
        "Size": _text_or_other,
        "AutoFlush": _text_or_other,
        "float | str": _text_or_other,
        "str | Iterable[str]": check_texts,
        "Iterable[str]": check_texts,
        "Sequence[str]": check_texts,
        "str | Sequence[str]": check_texts,
        "str | Iterable[str] | Mapping[str, object]": _texts_or_mapping,
        "Iterable[int]": _numbers,
        "int | Iterable[int]": _whole_or_numbers,
        "Mapping[str, str]": _text_mapping,
        "str | Mapping[str, str]": _text_or_mapping,
        "Missing": _text,
        "Mapping[str, object]": _mapping,
        "Mapping[str, Planned]": _mapping,
        "Mapping[str, Iterable[Any]]": _mapping,
        "Mapping[str, object] | Sequence[Mapping[str, object]]": _mapping_or_several,
        "Mapping[str, Mapping[str, object]]": _mappings,
        "Callable[[str], str] | Mapping[str, str]": _renaming,
        "CacheAs": _text,
        "FieldOptions": _names_if_mapping,
        "BranchOptions": _mapping,
        "str | os.PathLike[str]": check_location,
        "str | os.PathLike[str] | SupportsWrite": _output,
        "Path": check_location,
        "Path | Inputs": _location_or_list,
        "Files": _locations,
        "ManyFiles": _many_locations,
        "Files | Sequence[Dataset]": _locations,
        "str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | Mapping[str, str]": _locations,
        "str | Callable[[Any], Any]": _text_or_function,
        "Callable[..., Any]": _function,
        "NodeFilter": _or_none(_no_class),
        "bool | Mapping[str, str]": _flag_or_texts,
        "str | int": _name_or_number,
        "Callable[[int, int], object] | bool": _progress,
        "job.Progress | bool": _progress,
        "ReadRules": _rules,
        "Names": _or_none(_names),
        "Expressions": _or_none(_expressions),
        "Cache": _or_none(_cache),
        "Cache | CacheFolder": _or_none(_cache),
    }
)
"""The checks by the texts of annotations."""
