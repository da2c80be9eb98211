"""Plans a campaign: which inputs make which outputs."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from nyssa import _core
from nyssa.errors import ArgumentError, NyssaError

__all__ = ["Input", "Inputs", "Task", "ask_each", "find_inputs", "make_tasks"]

T = TypeVar("T")

#: Number of threads that ask for the sizes of files. They wait for answers of servers.
ASKING = 16

Inputs = str | Iterable[str] | Mapping[str, Any]
"""The inputs of a campaign.

A path, URL, glob, folder or ``@LIST``, a list of these, or a dict from the names of datasets to
these. The lists of files of coffea (``{"ttbar": {"files": {"a.root": "Events"}}}``) and of the
Analysis Grand Challenge (``{"ttbar": {"nominal": {"files": [{"path": "a.root"}]}}}``) are taken,
too; the dataset of the latter is ``ttbar__nominal``. A path that ends in ``.json`` is read as such
a dict.
"""


@dataclass(frozen=True)
class Input:
    """One input file of a campaign."""

    url: str
    """The path or URL, which may end with the path of the object (``"a.root:Events"``)."""
    dataset: str
    """The name of the dataset; empty if the inputs have no names."""
    size: int
    """The size of the file in bytes; -1 if the file cannot be opened."""
    version: str | None = None
    """What tells this version of the file from others, as far as that is known."""

    def __repr__(self) -> str:
        """Show the URL without its secrets."""
        return f"Input({_core.shown(self.url)!r}, {self.dataset!r}, {self.size}, {self.version!r})"


@dataclass(frozen=True)
class Task:
    """One output of a campaign, and the inputs that it is made of."""

    output: str
    """The path or URL of the output."""
    inputs: tuple[Input, ...]

    @property
    def dataset(self) -> str:
        """Return the name of the dataset."""
        return self.inputs[0].dataset

    @cached_property
    def servers(self) -> frozenset[str]:
        """Return the names of the servers that the inputs are on."""
        names = (urlsplit(item.url).hostname for item in self.inputs if "://" in item.url)
        return frozenset(filter(None, names))

    @cached_property
    def bytes(self) -> int:
        """Sum of the sizes of the inputs in bytes."""
        return sum(max(item.size, 0) for item in self.inputs)


def find_inputs(inputs: Inputs, destination: str, outputs: Collection[str] = ()) -> list[Input]:
    """Return all files that the inputs name, with their sizes.

    Parameters
    ----------
    inputs
        See `Inputs`.
    destination
        Folder or URL of the outputs. Files in it that a glob or a folder finds are no inputs, if
        there are inputs elsewhere.
    outputs
        The outputs that the campaign has made before. They are no inputs.

    Raises
    ------
    nyssa.NotFoundError
        (a `KeyError`) if a glob, folder or list has no files.
    nyssa.ArgumentError
        (a `ValueError`) if there is no input, or a dict has none of the forms of `Inputs`.
    """
    below = destination.rstrip("/") + "/"
    made = {output for output in outputs if output.startswith(below)}
    named = {
        (dataset, url): url == item
        for dataset, item in _datasets(inputs)
        for url in _core.files(item, must_exist=True)
        if _place(url) not in made
    }
    elsewhere = {key for key in named if not _place(key[1]).startswith(below)}
    unique = [key for key, is_named in named.items() if is_named or key in elsewhere]
    # All inputs may be in other folders below the destination, such as the working folder.
    unique = unique if elsewhere else list(named)
    if not unique:
        raise ArgumentError("a campaign needs at least one input")
    abouts = ask_each(_about, (url for _, url in unique))
    return [Input(url, name, *about) for (name, url), about in zip(unique, abouts, strict=True)]


def ask_each(question: Callable[[str], T], files: Iterable[str]) -> list[T]:
    """Return the answer of `question` for each file. Several threads wait for servers."""
    with ThreadPoolExecutor(ASKING) as threads:
        return list(threads.map(question, files))


def _place(url: str) -> str:
    """Return the absolute path or the URL of a file."""
    return _core.absolute(_core.split_path(url)[0])


def _about(url: str) -> tuple[int, str | None]:
    # A file that cannot be opened becomes a failed task, which has the reason.
    try:
        about = _core.about(_core.split_path(url)[0])
    except (NyssaError, OSError):
        about = None
    return (-1, None) if about is None else about


def _datasets(inputs: Inputs) -> Iterator[tuple[str, str]]:
    """Return each input with the name of its dataset."""
    if isinstance(inputs, Mapping):
        for name, value in inputs.items():
            yield from _named(name, value)
        return
    for item in [inputs] if isinstance(inputs, str) else inputs:
        if item.endswith(".json"):
            yield from _datasets(_read_json(item))
        else:
            yield "", item


def _read_json(path: str) -> Mapping[str, Any]:
    try:
        content = json.loads(Path(path).read_text())
    except ValueError as error:
        raise ArgumentError(f"{path} is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise ArgumentError(f"{path} is not a dict from the names of datasets to files")
    return content


def _named(dataset: str, value: Any) -> Iterator[tuple[str, str]]:
    """Return the files of a dataset, in any of the forms of `Inputs`, with its name."""
    if isinstance(value, str):
        yield dataset, value
    elif isinstance(value, Mapping) and "path" in value:
        yield dataset, str(value["path"])
    elif isinstance(value, Mapping) and isinstance(value.get("files"), Mapping):
        # coffea: a dict from files to the paths of their objects, or to dicts with these.
        for file, inner in value["files"].items():
            object_path = inner.get("object_path") if isinstance(inner, Mapping) else inner
            yield dataset, f"{file}:{object_path}" if object_path else file
    elif isinstance(value, Mapping) and "files" in value:
        yield from _named(dataset, value["files"])
    elif isinstance(value, Mapping):
        # The variations of a dataset.
        for variation, below in value.items():
            yield from _named(f"{dataset}__{variation}", below)
    elif isinstance(value, Sequence):
        for item in value:
            yield from _named(dataset, item)
    else:
        raise ArgumentError(f"the dataset {dataset!r} has files in an unknown form: {value!r}")


def make_tasks(
    inputs: Sequence[Input],
    destination: str,
    target_size: int | None = None,
    condense: int | None = None,
    scale: float = 1.0,
) -> list[Task]:
    """Return the tasks of a campaign.

    Parameters
    ----------
    inputs
        The files.
    destination
        Folder or URL of the outputs. The outputs of a dataset with a name are in a folder of this
        name; each slash in it, as in ``/TTbar/Run3/NANOAOD``, begins a folder.
    target_size
        Size of an output in bytes, as far as `scale` tells it. Inputs of one dataset are put
        together, in their order, until their output has this size.
    condense
        Largest number of inputs of one output. Without both, each input makes one output.
    scale
        The bytes of an output for each byte of its inputs.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if two inputs would make the same output, if an output is an input, or if
        the name of a dataset leads out of the destination.
    """
    grouped: dict[str, list[Input]] = {}
    for item in inputs:
        grouped.setdefault(item.dataset, []).append(item)
    tasks: list[Task] = []
    for dataset, files in grouped.items():
        below = _folder_of(dataset)
        folder = posixpath.join(destination, below) if below else destination
        if target_size is None and condense is None:
            names = _output_names([file.url for file in files])
            groups = [[file] for file in files]
        else:
            most = None if target_size is None else target_size / scale
            groups = list(_groups(files, most, condense))
            stem = posixpath.basename(below) or "part"
            names = [f"{stem}-{number:05}.root" for number in range(len(groups))]
        for name, group in zip(names, groups, strict=True):
            tasks.append(Task(posixpath.join(folder, name), tuple(group)))
    _refuse_twins(tasks)
    places = {_place(item.url) for item in inputs}
    for task in tasks:
        if task.output in places:
            message = f"{task.output} would be an input and an output: name another folder"
            raise ArgumentError(message)
    return tasks


def _folder_of(dataset: str) -> str:
    """Return the folder of a dataset below the destination; empty without a name."""
    parts = [part for part in dataset.split("/") if part]
    if dataset and (not parts or any(part in (".", "..") for part in parts)):
        raise ArgumentError(
            f"the dataset {dataset!r} has no folder below the destination: give it another name"
        )
    return "/".join(parts)


def _groups(
    files: Sequence[Input], most: float | None, condense: int | None
) -> Iterator[list[Input]]:
    group: list[Input] = []
    for file in files:
        # A file that cannot be opened fails alone.
        if file.size < 0:
            yield [file]
            continue
        is_large = most is not None and sum(other.size for other in group) + file.size > most
        if group and (is_large or len(group) == condense):
            yield group
            group = []
        group.append(file)
    if group:
        yield group


def _output_names(urls: Sequence[str]) -> list[str]:
    """Return the paths of the files below the folder that they have in common."""
    paths = [_path(url) for url in urls]
    folders = [posixpath.dirname(path) for path in paths]
    try:
        common = posixpath.commonpath(folders)
    except ValueError:
        common = ""
    # A URL loses one of its slashes there.
    common_length = len(common) if all(folder.startswith(common) for folder in folders) else 0
    if not common_length:
        return [posixpath.basename(path) for path in paths]
    return [path[common_length:].lstrip("/") for path in paths]


def _path(url: str) -> str:
    """Return the absolute path of a file, or its URL without the query and without secrets."""
    path, place = _core.split_path(url)[0], _place(url)
    shown = _core.shown(path)
    return place if "://" not in place and shown == path else shown.split("?")[0]


def _refuse_twins(tasks: Iterable[Task]) -> None:
    first: dict[str, Task] = {}
    for task in tasks:
        other = first.setdefault(task.output, task)
        if other is not task:
            raise ArgumentError(
                f"{_core.shown(other.inputs[0].url)} and {_core.shown(task.inputs[0].url)} would "
                f"both make {task.output}; give them as datasets with different names"
            )
