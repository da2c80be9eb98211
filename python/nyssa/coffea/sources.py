"""Finds the datasets that callers name as in coffea, and opens them again in other processes."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from coffea.nanoevents.mapping.base import UUIDOpener

from nyssa import _core
from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute, version
from nyssa.read.chain import chain, expand
from nyssa.read.dataset import Dataset
from nyssa.read.file import Directory, open_dataset

__all__ = ["Opener", "Source", "opened", "source_of"]

#: Number of datasets that a process keeps open.
OPEN = 32

Source = tuple[str, ...] | Dataset
"""The files of a dataset, such as ``"/data/nano.root:Events"``; or a dataset that is open."""


def source_of(file: Any, treepath: str | None) -> Source:
    """Return what `file` names, in all forms that `events` takes."""
    if isinstance(file, Dataset):
        return file
    if isinstance(file, Directory):
        found = file[treepath or _only_dataset(file)]
        if not isinstance(found, Dataset):
            raise ArgumentError(f"treepath {treepath!r} is no TTree or RNTuple")
        return found
    return tuple(absolute(str(item)) for item in expand([*_paths(file, treepath)]))


def _only_dataset(directory: Directory) -> str:
    paths = directory.datasets()
    if len(paths) != 1:
        names = ", ".join(paths) or "none"
        raise ArgumentError(f"give treepath, the path of a dataset of the file: it has {names}")
    return paths[0]


def _paths(file: Any, treepath: str | None) -> Iterable[str]:
    """Return paths with the names of the datasets; they may be globs, folders and lists."""
    if isinstance(file, (str, os.PathLike)):
        path = os.fspath(file)
        named = treepath is None or _core.split_path(path)[1] is not None
        yield path if named else f"{path}:{treepath}"
    elif isinstance(file, Mapping):
        for path, name in file.items():
            if isinstance(name, Mapping):
                if name.get("steps"):
                    raise ArgumentError(
                        "steps are for Dask; entry_start and entry_stop give a range"
                    )
                name = name.get("object_path")
            yield from _paths(path, treepath if name is None else name)
    else:
        for item in file:
            yield from _paths(item, treepath)


def opened(source: Source) -> tuple[Dataset, uuid.UUID]:
    """Return a dataset and its identity. Files that were written again are opened anew.

    coffea keeps what it knows of files by their identity. It follows from the URLs, as coffea makes
    it for Parquet, and from the versions of the files.
    """
    if isinstance(source, Dataset):
        return source, uuid.uuid4()
    versions = tuple(version(_core.split_path(url)[0]) for url in source)
    names = " ".join(f"{url} {now}" for url, now in zip(source, versions, strict=True))
    digest = hashlib.md5(names.encode(), usedforsecurity=False).digest()
    return _open_version(source, versions), uuid.UUID(bytes=digest)


@lru_cache(OPEN)
def _open_version(urls: tuple[str, ...], versions: tuple[str, ...]) -> Dataset:  # noqa: ARG001
    return open_dataset(urls[0]) if len(urls) == 1 else chain(urls)


class Opener(UUIDOpener):  # type: ignore[misc]
    """Opens datasets again, for arrays that were pickled."""

    def open_uuid(self, key: str) -> dict[str, Dataset]:
        """Return the dataset of an identity, by its path."""
        source = self._uuid_pfnmap[key]
        dataset, identity = opened(source)
        if not isinstance(source, Dataset) and str(identity) != key:
            files = ", ".join(_core.shown(url) for url in source)
            raise ArgumentError(f"{files} was written again since this array was made of it")
        return {dataset.object_path: dataset}
