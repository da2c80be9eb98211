"""Makes the flags of a job's options from the keywords that the job declares."""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator
from typing import Any

from nyssa.arguments.keywords import default_of, kinds_of
from nyssa.jobs.convert import FileKeywords
from nyssa.jobs.merge import MergeKeywords
from nyssa.jobs.rewrite import RewriteKeywords

__all__ = ["add_flags", "options_of", "texts_of", "value_of"]

#: The keywords of each job.
_JOBS: dict[str, type] = {
    "convert": FileKeywords,
    "rewrite": RewriteKeywords,
    "merge": MergeKeywords,
}
#: The keywords without a flag of this kind: campaigns have another one, or they are for one file.
_OTHERS = {"verify", "force", "cluster_size", "ntuple", "entry_start", "entry_stop"}


def add_flags(parser: argparse.ArgumentParser, job: str) -> None:
    """Add the flags of the options of a job, in the order in which the job declares them."""
    group = parser.add_argument_group(f"as `nyssa {job}` has them")
    group.add_argument("--no-verify", dest="verify", action="store_false")
    for name, kind in _kinds(job).items():
        flag = "--" + name.replace("_", "-")
        if kind == "bool":
            is_on = default_of(name, kind)
            action = "store_false" if is_on else "store_true"
            flag = flag.replace("--", "--no-") if is_on else flag
            group.add_argument(flag, dest=name, action=action, default=None)
        elif kind.startswith("Literal"):
            choices = ast.literal_eval(kind.removeprefix("Literal"))
            group.add_argument(flag, choices=choices)
        elif kind.startswith("Mapping"):
            group.add_argument(flag, action="append", type=_pair, metavar="GLOB:NAME")
        elif kind.startswith(("FieldOptions", "BranchOptions")):
            metavar = "GLOB:NAME=VALUE,..."
            group.add_argument(flag, action="append", type=_of_glob, metavar=metavar)
        elif "Iterable" in kind:
            group.add_argument(flag, action="append", metavar="GLOB")
        else:
            group.add_argument(flag, type=str if kind.startswith("str") else _number)
    if job == "merge":
        for mode in ("union", "filter"):
            group.add_argument(f"--{mode}", dest="mode", action="store_const", const=mode)


def options_of(job: str, given: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a job that were given, and whether it verifies its outputs."""
    found = {"verify": given.verify}
    for name, kind in _kinds(job).items():
        value = getattr(given, name)
        if value is not None:
            by_glob = kind.startswith(("Mapping", "FieldOptions", "BranchOptions"))
            found[name] = dict(value) if by_glob else value
    return found


def _kinds(job: str) -> dict[str, str]:
    """Return the types of the keywords that have a flag, as texts."""
    types = kinds_of(_JOBS[job])
    words = ("bool", "int", "str", "Size", "AutoFlush", "Literal", "Mapping", "Field", "Branch")
    return {n: kind for n, kind in types.items() if n not in _OTHERS and kind.startswith(words)}


def value_of(kind: str, text: str) -> Any:
    """Return the value that a text of the command line is for a keyword of this type.

    Raises
    ------
    argparse.ArgumentTypeError
        if the text is no value of this type.
    """
    if kind == "bool":
        if text not in ("true", "false"):
            raise argparse.ArgumentTypeError(f"{text!r} is neither true nor false")
        return text == "true"
    if kind.startswith("Mapping"):
        return dict([_pair(text)])
    if kind.startswith(("FieldOptions", "BranchOptions")):
        return dict([_of_glob(text)])
    if kind.startswith(("int", "Size", "AutoFlush")):
        return _number(text)
    return text


def texts_of(text: str) -> list[str]:
    """Return the texts between commas. A comma after a backslash belongs to its text."""
    found = re.split(r"(?<!\\),", text)
    return [one.replace("\\,", ",") for one in found]


def _number(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdigit() else text


# The characters of a text. A backslash before a separator belongs to it, as in the core.
_CHARACTERS = re.compile(r"\\[,:=\\]|.", re.DOTALL)


def _joined(characters: list[str]) -> str:
    return "".join(one[-1] for one in characters)


def _split(characters: list[str], separator: str) -> Iterator[list[str]]:
    """Iterate over the parts between separators without a backslash."""
    while separator in characters:
        end = characters.index(separator)
        yield characters[:end]
        characters = characters[end + 1 :]
    yield characters


def _pair(text: str) -> tuple[str, str]:
    *glob, name = _split(_CHARACTERS.findall(text), ":")
    if not glob:
        raise argparse.ArgumentTypeError(f"{text!r} has no colon after its pattern")
    return ":".join(map(_joined, glob)), _joined(name)


def _of_glob(text: str) -> tuple[str, dict[str, str]]:
    characters = _CHARACTERS.findall(text)
    # Colons of the glob and of values stand before and after the colon that ends the glob.
    head = next(_split(characters, "="))
    colon = len(head) - 1 - [*reversed(head), ":"].index(":")
    options = [[*_split(one, "=")] for one in _split(characters[colon + 1 :], ",")]
    if colon < 0 or any(len(one) == 1 for one in options):
        raise argparse.ArgumentTypeError(f"{text!r} is not GLOB:NAME=VALUE,...")
    named = {_joined(name): "=".join(map(_joined, value)) for name, *value in options}
    # The words of the command line have hyphens where keywords have underscores.
    named = {name.replace("-", "_"): value for name, value in named.items()}
    return _joined(characters[:colon]), named
