"""Defines the files that `recreate` and `update` return, and their directories."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from typing_extensions import Unpack

from nyssa import _core
from nyssa.arguments.by_glob import FieldOptions
from nyssa.arguments.by_glob import field_options as by_field
from nyssa.arguments.checks import checked
from nyssa.arguments.keywords import shows_keywords
from nyssa.arguments.names import NameFilter, not_found
from nyssa.arrays import docs, from_data, from_types
from nyssa.errors import ArgumentError
from nyssa.read.file import DIRECTORIES, Directory
from nyssa.write import keyed_objects
from nyssa.write.ntuple import NTupleWriter
from nyssa.write.tree import TreeKeywords, TreeWriter, tree_options

__all__ = ["UpdatableFile", "WritableDirectory", "WritableFile"]


class WritableFile:
    """A ROOT file that is written. Use it as a context manager. See `recreate`."""

    def __init__(self, path: str, core: _core.Writer) -> None:
        self._path = path
        self._core: _core.Writer | None = core
        #: The end of the message of calls after the file was closed.
        self._failed = ""
        self._process = os.getpid()
        self._writers: dict[str, NTupleWriter] = {}
        self._trees: dict[str, TreeWriter] = {}

    @property
    def file_path(self) -> str:
        """Return the path of the file."""
        return self._path

    @checked
    def mkrntuple(
        self,
        name: str,
        types_or_data: object,
        description: str = "",
        *,
        projections: Mapping[str, str] | None = None,
        classes: Mapping[str, Mapping[str, object]] | None = None,
        record_names: bool = False,
        field_options: FieldOptions | None = None,
        descriptions: Mapping[str, str] | None = None,
    ) -> NTupleWriter:
        """Add an RNTuple and return its writer.

        >>> jet = {"pt": "float", "hits": "std::vector<std::uint16_t>"}
        >>> types = {"jets": "std::vector<Jet>"}
        >>> with nyssa.recreate("out.root") as file:
        ...     ntuple = file.mkrntuple("Events", types, classes={"Jet": jet})
        ...     ntuple.extend({"jets": [[{"pt": 41.5, "hits": [3, 7]}], []]})

        Parameters
        ----------
        name
            Name of the RNTuple. ``"dir/Events"`` also creates the directory.
        types_or_data
            A dict from names to types, or data as for `NTupleWriter.extend`, which are written at
            once. A type is a C++ type as text (``"std::map<std::string, float>"``; ``"int"`` has 32
            bits and ``"float"`` is single precision as in C++), an awkward type (``"var *
            float32"``) or a NumPy dtype. Integers of another width than declared are accepted if
            every value fits, and doubles are rounded to a declared ``float``.
            An empty dict makes an RNTuple without fields, for `NTupleWriter.add_fields`.
        description
            Free text that is stored with the RNTuple.
        projections
            Projected fields: a dict from new names to paths of existing fields. ``"jets.pt"`` is
            the member of each item as a list of numbers, ``"#jets"`` is the number of items, and
            ``"met"`` gives a field another name. They take no space and are read like other fields.
        classes
            Classes by name. Each is a dict from the members to their types, with ``":bases"`` (a
            list of names), ``":version"`` and ``":checksum"`` if ROOT's dictionary has them. An
            enum is ``{":enum": "short"}``, a class that ROOT treats as a collection is ``{":items":
            "float"}``. A class that is stored by ROOT's streamer is ``{":streamed": "file.root"}``:
            its objects are given as the bytes that the streamer made (as `nyssa.open` reads them
            with ``streamer="raw"``). Its streamer infos are in this file, or in bytes that
            ``TBufferFile.WriteObject`` made of a list of streamer infos.
        record_names
            Whether awkward records with a name are written as the class of this name.
        field_options
            Storage options of fields, by a pattern of their paths, such as ``{"Jet_*": {"column":
            "Real32Trunc:16", "compression": "zstd:9", "page_size": "64 kB"}}``. For each of the
            three options, the last pattern that matches wins. A pattern is also for the subfields
            of a field that matches, for the data that a projected field shows, and for fields that
            are added later. ``"compression"`` and ``"page_size"`` are as in `recreate`, but the
            compression always has exactly this level. ``"column"`` is ``"split"`` or ``"unsplit"``,
            a column type of the specification (``"Int16"``, ``"SplitIndex32"``), or one of low
            precision (`column_precision` has the bounds): ``"Real16"`` (relative error up to
            2^-11), ``"Real32Trunc:BITS"`` (relative error below 2^-(BITS - 9)),
            ``"Real32Quant:BITS:MIN:MAX"`` (absolute error up to half of (MAX - MIN) / (2^BITS - 1);
            values outside the range are refused).
        descriptions
            Texts that are stored with fields, by the paths that `Dataset.fields` has (``"jets"``,
            ``"jets._0.pt"``). Texts in the parameter ``__doc__`` of awkward data and types are
            stored, too, and the text of the whole array is the description of the RNTuple.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when the name is taken, the name of a field is not allowed, a type
            is not known, or there is no field of the path of a description.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for a type that RNTuple does not have.
        """
        self._check_free(name)
        classes = dict(classes or {})
        columns = from_types.empty(types_or_data, classes)
        initial = columns is None
        if columns is None:
            columns = from_data.columns(types_or_data, record_names or bool(classes))
        projected = list((projections or {}).items())
        chosen = by_field(field_options)
        texts = {**docs.of(types_or_data), **(descriptions or {})}
        whole = texts.pop("", "")
        types = self._open().table(
            name, columns, description or whole, projected, classes, chosen, texts
        )
        writer = NTupleWriter(self._open, name, types)
        self._writers[name] = writer
        if initial:
            writer._extend(columns)
        return writer

    @shows_keywords(TreeKeywords)
    def mktree(
        self,
        name: str,
        types_or_data: object,
        title: str = "",
        **options: Unpack[TreeKeywords],
    ) -> TreeWriter:
        """Add a TTree and return its writer.

        >>> with nyssa.recreate("out.root") as file:
        ...     tree = file.mktree("Events", {"run": "int32", "Jet_pt": "var * float32"})
        ...     tree.extend({"run": [1, 2], "Jet_pt": [[25.0, 31.5], []]})
        >>> nyssa.open("out.root:Events").keys()
        ['run', 'nJet_pt', 'Jet_pt']

        Lists become jagged arrays with a counter branch. The counter of ``Jet_pt`` is the one that
        `counters` names, or the column ``nJet`` if there is one, as in NanoAOD, or ``nJet_pt``,
        which is then made. Lists of records ``Jet`` become branches ``Jet_pt``, ``Jet_eta``, ...
        with the counter ``nJet``. Members of records become branches ``name_member``.

        Objects of classes and collections of them become branches of their class, as ROOT makes
        them for the same class in C++:

        >>> jet = {"pt": "float", "hits": "std::vector<std::uint16_t>"}
        >>> with nyssa.recreate("out.root") as file:
        ...     tree = file.mktree("Events", {"jets": "std::vector<Jet>"}, classes={"Jet": jet})
        ...     tree.extend({"jets": [[{"pt": 41.5, "hits": [3, 7]}], []]})

        ROOT reads them with a dictionary of the class, and without one by the streamer infos, which
        the file gets. The names of the branches of a split object begin with its own name only if
        that ends with a dot (``"jet."``), as in ROOT.

        Parameters
        ----------
        name
            Name of the tree. ``"dir/Events"`` also creates the directory.
        types_or_data
            A dict from names to types, or data as for `TreeWriter.extend`, which are written at
            once. Types are given as for `mkrntuple`. Numbers and booleans become branches such as
            ``x/F``, arrays of fixed size ``x[3]/F``, strings ``x/C``. An empty dict makes a tree
            without branches, for `TreeWriter.add_branches`.
        title
            Title of the tree.
        compression
            As in `recreate`. Default: as in the file.
        effort
            As in `recreate`, for each branch. Default: ``"full"`` if `compression` names a level,
            ``"auto"`` if it names only an algorithm, otherwise as in the file.
        basket_size
            Size of a basket before compression, such as ``"32 kB"``, which is the default, as in
            ROOT.
        auto_flush
            Where clusters end, as in ``TTree::SetAutoFlush``: after this number of entries, or, for
            a negative number or a text such as ``"30 MB"``, when the baskets of the first cluster
            have more compressed bytes; all others then have as many entries. 0: there are no
            clusters. Default: -30000000, as in ROOT.
        optimize_baskets
            Whether a basket holds a whole cluster of its branch after the first cluster, up to 16
            MB, about as ROOT has it (``TTree::OptimizeBaskets``).
        counters
            Names of the counters of lists, by patterns of their columns, such as ``{"Jet_*":
            "nJet"}``. Lists with one counter must be equally long in every entry. A column of
            integers with the name of a counter is compared with the lists.
        leaf_lists
            Patterns of the records that become one branch with a leaf for each member.
        vectors
            Patterns of the lists that become branches of ``std::vector``, without a counter. Lists
            of lists and of strings always do (``vector<vector<float> >``, ``vector<string>``).
        branch_options
            Options of branches, by patterns of their names, such as ``{"Jet_*": {"compression":
            "zstd:9", "basket_size": "64 kB"}, "run": {"title": "run number"}}``. For each option,
            the last pattern that matches wins. The compression of a branch has exactly its level.
        aliases
            Formulas by the names that ``TTree::SetAlias`` gives them.
        user_info
            Texts by their names, each a ``TNamed`` in ``TTree::GetUserInfo``.
        classes
            Classes by name, as for `mkrntuple`: dicts from the members to their types, with
            ``":bases"``, ``":version"`` and ``":checksum"``. Members are numbers, strings, standard
            containers, pairs, arrays (``"float[3]"``), enums (``{":enum": "int"}``),
            ``std::bitset``, other classes, pointers to their objects (``"Hit*"``,
            ``"std::unique_ptr<Hit>"``), which are null for missing values, and pointers to
            containers and strings (``"std::vector<float>*"``). Objects behind pointers may be of
            each of these classes that is derived from the class of the pointer. The checksum is
            computed as ROOT does if it is not given. Awkward records with the name of a class are
            objects of this class.
        split_level
            How deep objects are split into branches, 0 to 99. 0: each object or collection is one
            branch. 1: each member is a branch. Each level more does this for the members of
            members. Default: 99, as in ROOT.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when a name is taken or not allowed, or a pattern matches nothing.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for types that a tree cannot hold.
        """
        self._check_free(name)
        classes = dict(options.get("classes") or {})
        columns = from_types.empty(types_or_data, classes, in_tree=True)
        initial = columns is None
        if columns is None:
            columns = from_data.columns(types_or_data, bool(classes))
        self._open().mktree(name, columns, classes, tree_options(options, title))
        writer = TreeWriter(self._open, name, columns)
        self._trees[name] = writer
        if initial:
            writer._extend(columns)
        return writer

    @checked
    def mkdir(self, path: str) -> WritableDirectory:
        """Create a directory, and those above it, and return it; nothing happens if it exists.

        Raises
        ------
        nyssa.ArgumentError
            (a `ValueError`) when an object has the name of the directory.
        """
        self._open().mkdir(path)
        return WritableDirectory(self, path.strip("/"))

    @checked
    def copy_from(
        self,
        source: Directory,
        *,
        filter_name: NameFilter = None,
        filter_classname: NameFilter = None,
        rename: Callable[[str], str] | Mapping[str, str] | None = None,
        require_matches: bool = True,
    ) -> None:
        """Copy objects of any class from an open file, as they are stored.

        All cycles of each object are copied, in their order, with the streamer infos of its file.
        Classes that nyssa cannot read are copied as well. Directories keep their titles.

        Parameters
        ----------
        source
            A file or directory that `nyssa.open` gave.
        filter_name, filter_classname
            Filters of paths and of C++ classes, as in `Directory.keys`.
        rename
            A function or a dict from paths in `source` to paths here. Default: the same.
        require_matches
            Whether it is an error if the filters match nothing.

        Raises
        ------
        nyssa.UnsupportedError
            (a `NotImplementedError`) for trees and RNTuples, whose data would have to go with them.
        nyssa.ArgumentError
            (a `ValueError`) when nothing matches.
        """
        if not isinstance(source, Directory):
            raise ArgumentError(
                f"source is a file or directory that nyssa.open gave, not {type(source).__name__}"
            )
        keys = source.classnames(filter_name=filter_name, filter_classname=filter_classname)
        if not keys and require_matches:
            raise ArgumentError(f"the filters match no object of {source!r}")

        def renamed(name: str) -> str:
            if callable(rename):
                return rename(name)
            return rename.get(name, name) if rename else name

        for key in keyed_objects.in_order(keys):
            name = key.rpartition(";")[0]
            new = renamed(name)
            for above in keyed_objects.above(name):
                if new.startswith(f"{renamed(above)}/"):
                    self._open().copy_directory(renamed(above), *source._place(above))
            if keys[key] in DIRECTORIES:
                self._open().copy_directory(new, *source._place(key))
            else:
                self._open().copy_object(new, *source._place(key))

    def _check_free(self, name: str) -> None:
        if name in self._writers:
            raise ArgumentError(f"{self._path} already has an RNTuple {name!r}")
        if name in self._trees:
            raise ArgumentError(f"{self._path} already has a TTree {name!r}")

    @checked
    def __setitem__(self, name: str, data: object) -> None:
        """Write an object, or an RNTuple.

        - histograms of ``hist``, ``boost_histogram`` and other packages with the UHI protocol, of
          one to three axes: ``TH1D`` to ``TH3D``, or ``TProfile`` to ``TProfile3D``; the result of
          ``numpy.histogram``, ``histogram2d`` and ``histogramdd``;
        - `nyssa.graph`; `str` (``TObjString``); numbers (``TParameter``);
        - objects and directories that nyssa has read: they are copied as they are stored;
        - all other data are an RNTuple, as for `NTupleWriter.extend`.

        ``file["dir/h"]`` also creates the directory. An object with a name that exists gets the
        next cycle. ``docs/objects.md`` says how the members follow from the histogram.

        Raises
        ------
        nyssa.UnsupportedError
            (a `NotImplementedError`) for histograms of more than three axes, and for what cannot be
            copied.
        nyssa.ArgumentError
            (a `ValueError`) for names that an object cannot have.
        """
        if isinstance(data, Directory):
            if data._path:
                self._open().copy_directory(name, data._core, data._path)
            self.mkdir(name)
            self.copy_from(data, rename=lambda key: f"{name}/{key}", require_matches=False)
            return
        written = keyed_objects.to_object(name, data)
        if written is None:
            self.mkrntuple(name, data)
        else:
            keyed_objects.write(self._open(), name, written)

    @checked
    def __delitem__(self, name: str) -> None:
        """Delete an object, or a directory with all in it. The bytes stay in the file.

        ``"h"`` is the newest cycle, ``"h;1"`` that one, ``"h;*"`` all of them.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is no such object.
        nyssa.ArgumentError
            (a `ValueError`) for an object that is being written.
        """
        self._open().delete(name)

    @checked
    def __getitem__(self, name: str) -> NTupleWriter | TreeWriter:
        """Return the writer of an RNTuple or a TTree of this file."""
        if name in self._trees:
            return self._trees[name]
        if name not in self._writers:
            raise not_found(name, list(self._writers), f"{self._path}, which is being written")
        return self._writers[name]

    def close(self) -> None:
        """Write the remaining entries and complete the file, which then gets its name."""
        core, self._core = self._core, None
        if core is not None:
            try:
                core.close()
            except Exception as error:
                self._failed = f", and was not written: {error}"
                raise

    def __enter__(self) -> WritableFile:
        """Return itself."""
        return self

    def __exit__(self, kind: object, value: object, traceback: object) -> None:
        """Close the file; after an exception leave no file."""
        if kind is None:
            self.close()
        else:
            core, self._core = self._core, None
            if core is not None:
                core.abort()

    def __del__(self) -> None:
        """Warn when the file was never closed: then nothing is written."""
        if getattr(self, "_core", None) is not None and self._process == os.getpid():
            warnings.warn(
                f"{self._path} was never closed and is not written; use `with`",
                RuntimeWarning,
                stacklevel=2,
            )

    def _open(self) -> _core.Writer:
        if self._core is None:
            raise ArgumentError(f"{self._path} is closed{self._failed}")
        return self._core

    def __repr__(self) -> str:
        """Return path and state."""
        state = "closed" if self._core is None else "open"
        return f"<WritableFile {_core.shown(self._path)} ({state})>"


class UpdatableFile(WritableFile):
    """An existing ROOT file that is changed.

    Use it as a context manager. See `update`.
    """

    def __getitem__(self, name: str) -> NTupleWriter | TreeWriter:
        """Return the writer of an RNTuple or a TTree of this file.

        It adds entries after the last one, and fields or branches. Nothing is written if nothing is
        added. The branches of a TTree keep their types, counters, compression and sizes of baskets.

        Raises
        ------
        nyssa.NotFoundError
            (a `KeyError`) when there is no such object.
        nyssa.UnsupportedError
            (a `NotImplementedError`) for a TTree that cannot be changed, such as one with branches
            in other files. If entries cannot be added to a branch, `extend` raises this error with
            the name of the branch.
        """
        if name in self._writers or name in self._trees:
            return super().__getitem__(name)
        if "RNTuple" in self._open().old_class(name):
            fields, entries = self._open().append(name)
            self._writers[name] = NTupleWriter(self._open, name, fields, entries)
            return self._writers[name]
        columns, entries, notes = self._open().append_tree(name)
        for note in notes:
            warnings.warn(note, RuntimeWarning, stacklevel=2)
        self._trees[name] = TreeWriter(self._open, name, columns, entries)
        return self._trees[name]

    def __repr__(self) -> str:
        """Return path and state."""
        state = "closed" if self._core is None else "open"
        return f"<UpdatableFile {_core.shown(self._path)} ({state})>"


class WritableDirectory:
    """A directory of a file that is written: names are those in it. See `WritableFile.mkdir`."""

    def __init__(self, file: WritableFile, path: str) -> None:
        self._file = file
        self._path = path

    @property
    def path(self) -> str:
        """Return the path of the directory in its file."""
        return self._path

    def mkdir(self, path: str) -> WritableDirectory:
        """Create a directory; see `WritableFile.mkdir`."""
        return self._file.mkdir(self._inner(path))

    # The file's methods have the same options, hence `Any`.
    def mkrntuple(self, name: str, *data: Any, **options: Any) -> NTupleWriter:
        """Add an RNTuple; see `WritableFile.mkrntuple`."""
        return self._file.mkrntuple(self._inner(name), *data, **options)

    def mktree(self, name: str, *data: Any, **options: Any) -> TreeWriter:
        """Add a TTree; see `WritableFile.mktree`."""
        return self._file.mktree(self._inner(name), *data, **options)

    def __setitem__(self, name: str, data: object) -> None:
        """Write an object, or an RNTuple; see `WritableFile.__setitem__`."""
        self._file[self._inner(name)] = data

    def __getitem__(self, name: str) -> NTupleWriter | TreeWriter:
        """Return the writer of an RNTuple or a TTree of this directory."""
        return self._file[self._inner(name)]

    def __delitem__(self, name: str) -> None:
        """Delete an object; see `WritableFile.__delitem__`."""
        del self._file[self._inner(name)]

    def _inner(self, name: str) -> str:
        return f"{self._path}/{name}"

    def __repr__(self) -> str:
        """Return path and file."""
        return f"<WritableDirectory {self._path} of {self._file.file_path}>"
