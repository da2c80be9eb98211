"""Stores how a dataset was opened, so that another process can open it again. Pickle uses this."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from nyssa import _core

__all__ = ["Recipe", "absolute", "version"]

Recipe = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function and its arguments, as `object.__reduce__` returns them.

The arguments of functions differ, hence `Any`.
"""


def absolute(path: str) -> str:
    """Return ``"file.root:Events"`` with the absolute path of the file; return a URL unchanged.

    Another process may have another working directory.
    """
    name, inner = _core.split_path(path)
    return absolute_file(name) if inner is None else f"{absolute_file(name)}:{inner}"


def absolute_file(name: str) -> str:
    """Return the absolute path of a file; return a URL unchanged."""
    return _core.absolute(name)


def version(file: str, *, anywhere: bool = False) -> str:
    """Return what tells this version of a file from others, by its absolute path or its URL.

    The kept parts of a file are used again only for the same version. With `anywhere`, other
    machines that share the file system get the same text.
    """
    if "://" in file:
        return repr(_core.about(file))
    try:
        status = os.stat(file)
    except OSError:
        # Opening it says why.
        return "missing"
    shared = f"{status.st_mtime_ns} {status.st_size}"
    return shared if anywhere else f"{shared} {status.st_ino}"
