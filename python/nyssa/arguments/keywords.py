"""Turns the keywords of jobs into the words of the command line, which the core parses.

A `TypedDict` declares the keywords of a job and their types. The text of its type says how a value
becomes words, and what its default is.
"""

from __future__ import annotations

import ast
import functools
import inspect
import re
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any, TypeVar

from nyssa.arguments.by_glob import branch_options, field_options, text_of
from nyssa.arguments.checks import check_texts, checked
from nyssa.arguments.sizes import auto_flush_of, bytes_of
from nyssa.arguments.words import Words
from nyssa.errors import ArgumentError

__all__ = ["default_of", "kinds_of", "shows_keywords", "texts_of", "words_of"]

#: The flags that are on by default. Their words say that they are off.
_ON = frozenset({"buffered", "carry", "checksums", "optimize_baskets", "same_page_merging"})

# Values are whatever users give: `Any`.
_Texts = Callable[[str, Any], Iterable[str]]
_F = TypeVar("_F", bound=Callable[..., Any])


def kinds_of(declared: type) -> dict[str, str]:
    """Return the types of the keywords that a `TypedDict` declares, as texts."""
    types = declared.__annotations__.items()
    return {name: getattr(item, "__forward_arg__", str(item)) for name, item in types}


def default_of(name: str, kind: str, on: Container[str] = _ON) -> Any:
    """Return the default of a keyword of this type. The flags in `on` are true by default."""
    if kind == "bool":
        return name in on
    if kind.startswith("Literal"):
        return ast.literal_eval(kind.removeprefix("Literal"))[0]
    return () if "Iterable" in kind else None


def shows_keywords(
    declared: type, last: Container[str] = (), on: Container[str] = _ON
) -> Callable[[_F], _F]:
    """Return a decorator for functions that take keywords, which a `TypedDict` declares.

    It puts the keywords into the signature of the function, where users look for them, and checks
    them. Those in `last` come after the others. The flags in `on` are true by default.
    """
    kinds = kinds_of(declared)

    def decorate(function: _F) -> _F:
        own = inspect.signature(function)
        named = [
            parameter
            for parameter in own.parameters.values()
            if parameter.kind is not parameter.VAR_KEYWORD
        ]
        known = {parameter.name for parameter in named}
        added = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default_of(name, kinds[name], on),
                annotation=kinds[name],
            )
            for name in sorted(kinds, key=lambda name: name in last)
            if name not in known
        ]
        shown = own.replace(parameters=[*named, *added])

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            shown.bind(*args, **kwargs)
            return function(*args, **kwargs)

        call.__signature__ = shown  # type: ignore[attr-defined]
        return checked(call)  # type: ignore[return-value]

    return decorate


def words_of(declared: type, given: Mapping[str, Any]) -> list[str]:
    """Return the words for keywords. A value that is `None`, or the default, has none.

    A word has the form ``--name=value``, so that a value may look like an option.
    """
    words = []
    kinds = kinds_of(declared)
    for name, value in given.items():
        if name not in kinds:
            raise TypeError(f"there is no keyword {name!r}")
        kind = kinds[name]
        word = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, Words):
            words += [f"{word}={text}" for text in value]
        elif kind == "bool":
            if bool(value) != (name in _ON):
                words.append(word.replace("--", "--no-") if name in _ON else word)
        elif not (kind.startswith("Literal") and value == default_of(name, kind)):
            texts = _TEXTS.get(kind.removesuffix(" | None"))
            item_texts = [text_of(value)] if texts is None else texts(name, value)
            words += [f"{word}={text}" for text in item_texts]
    return words


def texts_of(name: str, given: str | Iterable[str]) -> list[str]:
    """Return one text, or several, as a list."""
    texts = [given] if isinstance(given, str) else list(given)
    check_texts(name, texts)
    return [text_of(text) for text in texts]


def _pairs(name: str, value: Mapping[str, str]) -> list[str]:
    if not all((*value, *value.values())):
        raise ArgumentError(f"{name} is a dict of globs and names, and none of them is empty")
    return [f"{_escaped(glob)}:{_escaped(other)}" for glob, other in value.items()]


def _by_glob(globs: Iterable[tuple[str, list[tuple[str, str]]]]) -> list[str]:
    def pairs(options: list[tuple[str, str]]) -> str:
        named = ((name.replace("_", "-"), value) for name, value in options)
        return ",".join(f"{_escaped(name)}={_escaped(value)}" for name, value in named)

    return [f"{_escaped(glob)}:{pairs(options)}" for glob, options in globs if options]


def _escaped(text: str) -> str:
    """Put a backslash before the separators of a word."""
    return re.sub(r"[\\,:=]", r"\\\g<0>", text_of(text))


#: The texts of a value, by the type of its keyword. Other types have one text.
_TEXTS: dict[str, _Texts] = {
    "Size": lambda name, value: [str(bytes_of(value, name))],
    "AutoFlush": lambda _name, value: [str(auto_flush_of(value))],
    "str | Iterable[str]": texts_of,
    "Mapping[str, str]": _pairs,
    "FieldOptions": lambda _name, value: _by_glob(field_options(value)),
    "BranchOptions": lambda _name, value: _by_glob(branch_options(value)),
}
