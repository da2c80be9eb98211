"""Makes deferred arrays of graphed of datasets."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import awkward as ak

from nyssa.arguments.checks import checked
from nyssa.arguments.names import NameFilter
from nyssa.arguments.sizes import threads_of
from nyssa.errors import ArgumentError
from nyssa.files.reopen import absolute, version
from nyssa.interop.projected import PartitionReader, form_of
from nyssa.read.chain import Files, expand
from nyssa.read.dataset import Dataset
from nyssa.read.file import open_dataset
from nyssa.read.partitions import Partition, opened

if TYPE_CHECKING:
    import graphed as library

__all__ = ["graphed"]


@checked
def graphed(
    session: library.Session,
    name: str,
    files: Files,
    *,
    schema: str | None = None,
    filter_name: NameFilter = None,
    threads: int | None = 1,
) -> library.Array:
    """Return files as a deferred array of graphed, which reads only the columns that are used.

    >>> from graphed import Session, compile_ir
    >>> from graphed.awkward import AwkwardBackend, gak
    >>> session = Session(AwkwardBackend())
    >>> events = nyssa.graphed(session, "events", "run1/*.root:Events")
    >>> pt = gak.flatten(events.Jet_pt[events.nMuon > 1])

    TTrees and RNTuples may stand side by side. ``aggregate_plan`` of graphed and its writers read
    the partitions: `steps_per_file` parts of each file, of equal numbers of entries.

    Parameters
    ----------
    session
        The session of graphed, with its ``AwkwardBackend``.
    name
        The name of the source in the session.
    files
        Files as for `chain`, without datasets that are open.
    schema
        `None`: all files have the columns of the first one. ``"union"``: the columns of any file,
        as in `chain`; what a file does not have is null.
    filter_name
        Which columns there are, as in `Dataset.arrays`.
    threads
        Number of threads that read a partition.

    Raises
    ------
    nyssa.ArgumentError
        (a `ValueError`) if graphed is not installed.
    nyssa.NotFoundError
        (a `KeyError`) if a glob, folder or list has no files.
    """
    try:
        from graphed.awkward import AwkwardForm
    except ImportError:
        raise ArgumentError('nyssa.graphed needs graphed: pip install "graphed[awkward]"') from None
    sources = []
    for item in expand(files):
        if isinstance(item, Dataset):
            raise ArgumentError("graphed needs files: give paths, not open datasets")
        sources.append(os.fspath(item))
    form, union = form_of(sources, schema, filter_name)
    reader = PartitionReader(form, form, threads_of(threads) or 1, union=union)
    places = tuple(map(_place, sources))
    tracer = form.length_zero_array(highlevel=False).to_typetracer(forget_length=True)
    return session.source(
        name,
        form=AwkwardForm(ak.Array(tracer)),
        data=GraphedSource(places, reader),
        uri=";".join(":".join(place) for place in places),
        format="root",
        versions=";".join(version(url, anywhere=True) for url, _ in places),
    )


def _place(source: str) -> tuple[str, str]:
    """Return the URL of a file and the path of the dataset in it."""
    dataset = open_dataset(source)
    return absolute(dataset.file_path), dataset.object_path


@dataclass(frozen=True)
class GraphedSource:
    """The partitions of files, as graphed reads them; other processes get it by pickle."""

    places: tuple[tuple[str, str], ...]
    reader: PartitionReader

    def __call__(self) -> ak.Array:
        """Return all arrays, for the evaluation of graphed without a plan."""
        return ak.concatenate([self._read(part, self.reader) for part in self.partitions(1)])

    def partitions(self, steps_per_file: int) -> tuple[Any, ...]:
        """Return the partitions, without opening files."""
        from graphed.core import Partition as Blind

        return tuple(
            Blind.blind(url, path, step, steps_per_file)
            for url, path in self.places
            for step in range(steps_per_file)
        )

    def read_partition(
        self, partition: Any, columns: Sequence[str] | None, _resources: object
    ) -> ak.Array:
        """Return the arrays of a partition: of some columns and members, or of all."""
        reader = self.reader if columns is None else self.reader.project_columns(columns)
        return self._read(partition, reader)

    def projected_columns(self, outputs: Sequence[Any]) -> tuple[str, ...]:
        """Return the columns and members that outputs need; graphed asks for them.

        Without this, graphed reads all columns where a program selects whole events, as
        ``events[events.nMuon > 1]``.
        """
        from graphed.awkward.projection import project_buffers_many
        from graphed.projection import read_columns

        session = outputs[0].session
        (number,) = (nid for nid, data in session.sources().items() if data is self)
        columns: tuple[str, ...] | None = read_columns(outputs, number)
        if columns is None:
            needs = project_buffers_many(list(outputs), on_fail="pass").read_buffers
            columns = tuple(sorted(needs[session.source_name(number)]))
        return columns

    def _read(self, partition: Any, reader: PartitionReader) -> ak.Array:
        entries = opened(Partition(partition.uri, partition.tree, 0, 0)).num_entries
        whole = partition.resolve(entries)
        part = Partition(whole.uri, whole.tree, whole.entry_start, whole.entry_stop)
        return reader(part)
