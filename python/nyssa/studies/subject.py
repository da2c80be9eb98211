"""Holds the dataset of a study, and the job that writes it again."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nyssa import _core
from nyssa.arguments.keywords import kinds_of
from nyssa.arguments.names import nothing_matches
from nyssa.campaign.plan import Input
from nyssa.campaign.task import JobName
from nyssa.errors import ArgumentError
from nyssa.jobs import convert, rewrite
from nyssa.read.file import open_dataset

__all__ = ["FORMATS", "SET", "Subject"]

#: The formats of outputs, and their names in ``to=`` and ``--to``.
FORMATS = {"rntuple": "RNTuple", "ttree": "TTree"}
#: The options that a study sets. The outputs of equal options have equal bytes.
SET = {"force": True, "reproducible": True, "verify": False}


@dataclass(frozen=True)
class Subject:
    """The dataset of a study, and the format in which it is written."""

    input: Input
    """The file, with the path of the dataset, and its size and version."""
    dataset: str
    """The path of the dataset in the file."""
    format: str
    """The format of the dataset: ``"TTree"`` or ``"RNTuple"``."""
    to: str
    """The format of the outputs."""
    entries: int

    @classmethod
    def of(cls, data: str | os.PathLike[str], to: str, columns: list[str]) -> Subject:
        """Look at a dataset.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) if the file has no such dataset, or no column matches `columns`.
        nyssa.ArgumentError
            (a `ValueError`) if the file has several datasets and none is named, or `to` is no
            format.
        """
        if to not in FORMATS:
            raise ArgumentError(f'to is "rntuple" or "ttree", not {to!r}')
        with open_dataset(data) as dataset:
            if columns and not dataset.keys(filter_name=columns):
                raise nothing_matches("columns", columns, dataset.keys(), dataset._where())
            path, kind, entries = dataset.object_path, type(dataset).__name__, dataset.num_entries
        # The path of an open file is for people: it has no query of a URL.
        file, _ = _core.split_path(os.fspath(data))
        size, version = _core.about(file) or (-1, None)
        place = Input(f"{_core.absolute(file)}:{path}", "", size, version)
        return cls(place, path, kind, FORMATS[to], entries)

    @property
    def is_local(self) -> bool:
        """Whether the file is on a disk of this machine."""
        return "://" not in self.input.url

    @property
    def file(self) -> str:
        """Return the path or URL of the file."""
        return _core.split_path(self.input.url)[0]

    @property
    def job(self) -> JobName:
        """Return the name of the job that writes the dataset in this format."""
        return "rewrite" if self.format == self.to else "convert"

    @property
    def options(self) -> dict[str, object]:
        """Return the options of all outputs."""
        to = next(name for name, kind in FORMATS.items() if kind == self.to)
        return {**SET, **({"to": to} if self.job == "convert" else {})}

    @property
    def kinds(self) -> dict[str, str]:
        """Return the options that may vary: all that the job declares, with their types."""
        declared = {"convert": convert.FileKeywords, "rewrite": rewrite.RewriteKeywords}[self.job]
        taken = {*self.options, "ntuple"}
        return {name: kind for name, kind in kinds_of(declared).items() if name not in taken}
