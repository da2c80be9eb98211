"""Makes the flags of a job's options from the keywords that the job declares."""

from __future__ import annotations

import argparse
import ast
import re
from typing import Any

from nyssa.arguments.keywords import default_of, kinds_of
from nyssa.arguments.words import Words
from nyssa.campaign.command import Parser
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
#: The keywords whose flags have another form.
_OTHERS = {"verify", "force", "cluster_size", "ntuple", "entry_start", "entry_stop"}
#: The texts of options by globs, which the core reads, by the type of the keyword.
_BY_GLOB = {
    "Mapping": "GLOB:NAME",
    "FieldOptions": "GLOB:NAME=VALUE,...",
    "BranchOptions": "GLOB:NAME=VALUE,...",
}
#: The flags of a job that a campaign does not have, with the reason.
_REFUSED = {
    "--append": "a later run of the campaign adds the outputs that are missing",
    "--into": "a campaign has -o DEST",
    "--name-pattern": "a campaign names its outputs as its inputs",
    "--record": "a campaign has a journal, which says what each task read",
    "--io-stats": "a campaign has a journal, which says what each task read",
    "--monitor": "a campaign has a journal, which has the time and the memory of each task",
    "--cache": "the workers take the cache folder of the variable NYSSA_CACHE",
    "--skip-bad": "a campaign goes on after a file that fails",
    "--skip-done": "a campaign keeps what is done, and makes what is missing",
    "--verify": "a campaign verifies its outputs, unless --no-verify is given",
}


def add_flags(parser: Parser, job: str) -> None:
    """Add the flags of the options of a job, in the order in which the job declares them."""
    group = parser.add_argument_group(f"options of the job, which `nyssa {job} --help` describes")
    group.add_argument(
        "--no-verify", dest="verify", action="store_false", help="do not compare values"
    )
    for name, kind in _kinds(job).items():
        flag = "--" + name.replace("_", "-")
        if kind == "bool":
            is_on = default_of(name, kind)
            action = "store_false" if is_on else "store_true"
            flag = flag.replace("--", "--no-") if is_on else flag
            flags = ["-k", flag] if name == "skip_bad" else [flag]
            group.add_argument(*flags, dest=name, action=action, default=None)
        elif kind.startswith("Literal"):
            choices = ast.literal_eval(kind.removeprefix("Literal"))
            group.add_argument(flag, choices=choices)
        elif metavar := _metavar(kind):
            group.add_argument(flag, action="append", metavar=metavar)
        elif "Iterable" in kind:
            group.add_argument(flag, action="append", metavar="GLOB")
        else:
            group.add_argument(flag, type=str if kind.startswith("str") else _number)
    if "entry_start" in kinds_of(_JOBS[job]):
        group.add_argument("--entries", type=_entries, metavar="A:B", help="entries of each input")
    if job == "merge":
        for mode in ("union", "filter"):
            group.add_argument(f"--{mode}", dest="mode", action="store_const", const=mode)
    own = {"--" + name.replace("_", "-") for name in _kinds(job)}
    parser.refuse({flag: reason for flag, reason in _REFUSED.items() if flag not in own})


def options_of(job: str, given: argparse.Namespace) -> dict[str, Any]:
    """Return the options of a job that were given, and whether it verifies its outputs."""
    options = {"verify": given.verify}
    for name, kind in _kinds(job).items():
        value = getattr(given, name)
        if value is not None:
            options[name] = Words(value) if _metavar(kind) else value
    return options | (getattr(given, "entries", None) or {})


def _kinds(job: str) -> dict[str, str]:
    """Return the types of the keywords that have a flag, as texts."""
    types = kinds_of(_JOBS[job])
    words = ("bool", "int", "str", "Size", "AutoFlush", "Literal", *_BY_GLOB)
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
    if _metavar(kind):
        return Words([text])
    if kind.startswith(("int", "Size", "AutoFlush")):
        return _number(text)
    return text


def texts_of(text: str) -> list[str]:
    """Return the texts between commas. A comma after a backslash belongs to its text."""
    parts = re.split(r"(?<!\\),", text)
    return [item.replace("\\,", ",") for item in parts]


def _metavar(kind: str) -> str | None:
    """Return what the text of an option by globs looks like; `None` for other options."""
    return next((text for start, text in _BY_GLOB.items() if kind.startswith(start)), None)


def _number(text: str) -> int | str:
    return int(text) if text.removeprefix("-").isdigit() else text


def _entries(text: str) -> dict[str, int]:
    """Return the keywords of a range of entries."""
    start, colon, stop = (item.strip() for item in text.partition(":"))
    if not colon or not all(item.isdigit() for item in (start, stop) if item):
        raise argparse.ArgumentTypeError(f"{text!r} is not a range of entries: A:B, A: or :B")
    given = {"entry_start": start, "entry_stop": stop}
    return {name: int(item) for name, item in given.items() if item}
