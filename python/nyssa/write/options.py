"""Defines the options of writing, as the core takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from typing_extensions import TypedDict

from nyssa.arguments.by_glob import FieldOptions, field_options
from nyssa.arguments.keywords import kinds_of
from nyssa.arguments.sizes import bytes_of, threads_of
from nyssa.errors import ArgumentError

__all__ = ["UpdateKeywords", "WriteKeywords", "write_options"]

_SIZES = (
    "cluster_size",
    "max_unzipped_cluster_size",
    "page_size",
    "initial_page_size",
    "page_buffer_budget",
    "memory",
)


class UpdateKeywords(TypedDict, total=False):
    """The options of `update`."""

    compression: int | str | None
    effort: str | None
    cluster_size: int | str | None
    page_size: int | str | None
    checksums: bool
    memory: int | str | None
    threads: int | None


class WriteKeywords(UpdateKeywords, total=False):
    """The options of `recreate` but `force`."""

    encoding: str | None
    profile: str | None
    max_unzipped_cluster_size: int | str | None
    initial_page_size: int | str | None
    page_buffer_budget: int | str | None
    buffered: bool
    same_page_merging: bool
    field_options: FieldOptions | None
    fill_contexts: int | None
    fill_order: str


# The core takes the options as a dict, whose values have several types: `Any`.
def write_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return all options in the form that the core takes: `None` stands for its defaults.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) for options that do not exist, and for wrong sizes.
    """
    known = kinds_of(WriteKeywords)
    if unknown := set(given) - set(known):
        raise ArgumentError(f"unknown options: {', '.join(sorted(unknown))}")
    options = {**dict.fromkeys(known), **given}
    for name in _SIZES:
        if options[name] is not None:
            options[name] = bytes_of(options[name], name)
    if options["compression"] is not None:
        options["compression"] = str(options["compression"])
    options["field_options"] = field_options(options["field_options"])
    options["threads"] = threads_of(options["threads"])
    return options
