"""Opens files, by uproot's names."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, overload

import nyssa
from nyssa.arguments.options import SupportsRead
from nyssa.errors import ArgumentError
from nyssa.read.file import split
from nyssa.uproot import unfinished
from nyssa.uproot.file import ReadOnlyDirectory, ReadOnlyFile
from nyssa.uproot.locations import opened, plain

__all__ = ["open"]


@overload
def open(
    path: os.PathLike[str] | SupportsRead | Mapping[Any, None], **options: object
) -> ReadOnlyDirectory: ...


# The path may have the name of an object, hence `Any`.
@overload
def open(path: str | Mapping[Any, str], **options: object) -> Any: ...


def open(path: Any, **options: object) -> Any:
    """Open a file or an object in it, as `nyssa.open` does.

    Options of uproot that say how it reads are accepted and have no effect.
    """
    del options
    file_path, inner = path, None
    if isinstance(path, Mapping):
        if len(path) != 1:
            raise ArgumentError("a dict names one file and one object in it")
        [(file_path, inner)] = path.items()
    elif hasattr(path, "storage_options"):
        file_path = path if path.storage_options and "://" in str(path) else plain(path)
    elif isinstance(path, str) and "::" not in plain(path):
        file_path, inner = split(plain(path))
    unfinished.complete(file_path)
    file_path = opened(file_path, "rb")
    opened_file = nyssa.open({file_path: ""} if isinstance(file_path, str) else file_path)
    directory = ReadOnlyDirectory(opened_file, ReadOnlyFile(opened_file))
    return directory[inner] if inner else directory
