"""The cache of bytes of remote files; see ``docs/cache.md``."""

from __future__ import annotations

import os
from typing import Literal, NamedTuple

from nyssa import _core
from nyssa.errors import ArgumentError

__all__ = ["Cache", "CacheAs", "CacheFolder", "choose"]

Cache = str | os.PathLike[str] | Literal[False] | None
"""A cache folder, ``False`` for none, or ``None`` for the value of the environment."""

CacheAs = Literal["stored", "lz4", "raw"]
"""The form in which pages and baskets are kept."""


class CacheFolder(NamedTuple):
    """A cache, as the core takes it and as pickle stores it."""

    folder: str | None
    """The absolute path of the folder, or ``None`` if nothing is kept."""
    form: str | None
    """A `CacheAs`, or ``None`` for the value of the environment."""
    size: str | None
    """The limit, or ``None`` for the value of the environment."""
    max_age: str | None
    """The time for which servers are not asked, or ``None`` for the value of the environment."""


def choose(
    cache: Cache | CacheFolder,
    cache_as: CacheAs | None,
    cache_size: int | str | None,
    cache_max_age: float | str | None,
) -> CacheFolder | None:
    """Return the cache that the arguments of `nyssa.open` name.

    ``None`` means the value of the environment.
    """
    if isinstance(cache, CacheFolder):
        return cache
    if cache_as not in (None, "stored", "lz4", "raw"):
        raise ArgumentError(f'cache_as is "stored", "lz4" or "raw", not {cache_as!r}')
    if cache is None or cache is False:
        if any(item is not None for item in (cache_as, cache_size, cache_max_age)):
            raise ArgumentError(
                "cache_as, cache_size and cache_max_age need a cache folder: cache=DIR"
            )
        return None if cache is None else CacheFolder(None, None, None, None)
    size = None if cache_size is None else str(cache_size)
    max_age = None if cache_max_age is None else str(cache_max_age)
    return CacheFolder(_core.absolute(os.fspath(cache)), cache_as, size, max_age)
