"""Opens what uproot opens through fsspec: ``file:`` and chains of protocols (``a::b://c``)."""

from __future__ import annotations

import os
from typing import Any

from nyssa.arrays import libraries

__all__ = ["opened", "plain"]


_CACHES = ("simplecache", "filecache", "blockcache")
"""The protocols of fsspec that keep copies of files."""


def plain(path: Any) -> Any:
    """Return a path without the protocol ``file``, as fsspec takes it off.

    An object with `storage_options`, such as a ``UPath``, is the text that it shows. A local file
    needs no cache.
    """
    if hasattr(path, "storage_options") and not hasattr(path, "read"):
        path = str(path)
    if isinstance(path, str):
        caches, _, last = path.rpartition("::")
        if caches in _CACHES and ("://" not in last or last.startswith("file://")):
            path = last
        for start in ("file://", "file:"):
            if path.startswith(start):
                return path.removeprefix(start)
    return path


def opened(path: Any, mode: str) -> Any:
    """Return the file object of a chain of protocols; other locations are returned as they are."""
    options = getattr(path, "storage_options", None)
    if options and not hasattr(path, "read") and "://" in str(path):
        return libraries.optional("fsspec").open(str(path), mode, **options).open()
    path = plain(path)
    if isinstance(path, str) and "::" in path:
        return libraries.optional("fsspec").open(path, mode).open()
    return os.fspath(path) if isinstance(path, os.PathLike) else path
