"""Defines the options of writing, as the core takes them."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from typing_extensions import TypedDict

from nyssa.arguments.by_glob import FieldOptions, field_options
from nyssa.arguments.sizes import bytes_of, threads_of
from nyssa.errors import ArgumentError

__all__ = ["WriteKeywords", "WriteOptions"]

_SIZES = (
    "cluster_size",
    "max_unzipped_cluster_size",
    "page_size",
    "initial_page_size",
    "page_buffer_budget",
    "memory",
)


class WriteKeywords(TypedDict, total=False):
    """The options of `recreate` but `force`, for type checkers; a test compares both."""

    compression: int | str | None
    effort: str | None
    encoding: str | None
    profile: str | None
    cluster_size: int | str | None
    max_unzipped_cluster_size: int | str | None
    page_size: int | str | None
    initial_page_size: int | str | None
    page_buffer_budget: int | str | None
    buffered: bool
    checksums: bool
    same_page_merging: bool
    memory: int | str | None
    field_options: FieldOptions | None
    fill_contexts: int | None
    fill_order: str
    threads: int | None


@dataclass(frozen=True)
class WriteOptions:
    """The options of `recreate`, with sizes in bytes.

    `None` stands for the default of the core.
    """

    compression: str | None = None
    effort: str | None = None
    encoding: str | None = None
    profile: str | None = None
    cluster_size: int | None = None
    max_unzipped_cluster_size: int | None = None
    page_size: int | None = None
    initial_page_size: int | None = None
    page_buffer_budget: int | None = None
    buffered: bool | None = None
    checksums: bool | None = None
    same_page_merging: bool | None = None
    memory: int | None = None
    field_options: list[tuple[str, list[tuple[str, str]]]] | None = None
    fill_contexts: int | None = None
    fill_order: str | None = None
    threads: int | None = None

    # The options are those that users give, which are checked here and by the core: `Any`.
    @classmethod
    def of(cls, **given: Any) -> WriteOptions:
        """Return the options of what users give.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) for options that do not exist, and for wrong sizes.
        """
        if unknown := set(given) - {field.name for field in fields(cls)}:
            raise ArgumentError(f"unknown options: {', '.join(sorted(unknown))}")
        for name in _SIZES:
            if given.get(name) is not None:
                given[name] = bytes_of(given[name], name)
        if given.get("compression") is not None:
            given["compression"] = str(given["compression"])
        chosen: FieldOptions | None = given.pop("field_options", None)
        given["threads"] = threads_of(given.get("threads"))
        return cls(field_options=field_options(chosen), **given)
