"""Runs real ROOT in a process of its own, so that its output and its crashes stay there.

Run as a program it answers pickled ``(function, arguments)`` requests on stdin. `Root` is the other
end: ``Root().call("entries", path, name)``.
"""

from __future__ import annotations

import atexit
import json
import os
import pickle
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

from support.root_container import (  # noqa: F401 (called by name)
    bins,
    branch_values,
    infos_of_histogram,
    opens,
    remove_directory,
    rename_keys,
    replace_objects,
    summary,
    update_file,
    write_container,
    write_datasets,
    write_odd_names,
)
from support.root_cpp import (  # noqa: F401 (called by name)
    class_infos,
    in_library,
)
from support.root_objects import (  # noqa: F401 (called by name)
    as_json,
    drawn_objects,
    efficiency,
    filled,
    functions,
    hadd,
    histograms,
    simple,
    sparse,
    write_copied,
    write_summed,
)
from support.root_pyroot import make_directory, through_nyssa  # noqa: F401 (called by name)
from support.root_trees import (  # noqa: F401 (called by name)
    streamer_elements,
    streamer_infos,
    tree_branches,
    tree_description,
    tree_facts,
    tree_leaves,
    tree_metadata,
    tree_values,
    tree_vectors,
    write_many_kinds,
    write_quantized,
    write_references,
    write_to_append,
    write_tree,
)


def environment() -> dict[str, str]:
    """Return the environment of a process that imports this package."""
    path = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, path))}


class Root:
    """A running ROOT. `start` returns `None` when there is no ROOT for this Python."""

    def __init__(self, longest: float | None = None) -> None:
        """`longest` is the time limit of a call in seconds; the process is killed then."""
        self._process: subprocess.Popen[bytes] | None = None
        self._longest = longest

    def call(self, function: str, *args: Any) -> Any:
        """Run one of the functions below in ROOT's process."""
        process = self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        pickle.dump((function, args), process.stdin)
        process.stdin.flush()
        try:
            if not select.select([process.stdout], [], [], self._longest)[0]:
                process.kill()
            result, error = pickle.load(process.stdout)
        except EOFError:
            self._process = None
            process.wait()
            what = "took too long" if process.returncode == -signal.SIGKILL else "crashed"
            raise RuntimeError(f"ROOT {what} in {function}{args}") from None
        if error is not None:
            raise RuntimeError(f"ROOT: {error}")
        return result

    def _start(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__],
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
            self._process.wait(60)


def version() -> str:
    """Return ROOT's version."""
    import ROOT

    return str(ROOT.__version__)


def entries(
    path: str, name: str, precision: int = 17, stop: int | None = None, emulate: bool = False
) -> list[Any]:
    """Return the entries of an RNTuple, up to `stop`, as ROOT prints them, as Python objects.

    With `emulate` classes without a dictionary are as the RNTuple tells them.
    """
    import ROOT

    if emulate:
        options = ROOT.RNTupleDescriptor.RCreateModelOptions()
        options.SetEmulateUnknownTypes(True)
        reader = ROOT.RNTupleReader.Open(options, name, path)
    else:
        reader = ROOT.RNTupleReader.Open(name, path)
    out = []
    for entry in range(min(reader.GetNEntries(), stop or 1 << 62)):
        stream = ROOT.std.ostringstream()
        stream.precision(precision)
        reader.Show(entry, stream)
        out.append(json.loads(strict(str(stream.str())), strict=False))
    return out


_WORDS = {"nan": "NaN", "-nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
_TOKEN = re.compile(r'"[^"]*"|-?nan|-?inf')


def strict(text: str) -> str:
    """Return JSON. Numbers that JSON does not have are written as Python's `json` reads them."""
    return _TOKEN.sub(lambda token: _WORDS.get(token[0], token[0]), text)


def fields(path: str, name: str) -> list[tuple[str, str]]:
    """Return names and C++ types of the top-level fields of an RNTuple."""
    import ROOT

    descriptor = ROOT.RNTupleReader.Open(name, path).GetDescriptor()
    return [
        (str(field.GetFieldName()), str(field.GetTypeName()))
        for field in descriptor.GetTopLevelFields()
    ]


def described(path: str, name: str) -> list[tuple[Any, ...]]:
    """Return the descriptor's data of each field: path, types, versions, structure, source."""
    import ROOT

    descriptor = ROOT.RNTupleReader.Open(name, path).GetDescriptor()
    out = []

    def walk(parent: int, prefix: str) -> None:
        for field in descriptor.GetFieldIterable(parent):
            known = prefix + str(field.GetFieldName())
            checksum = field.GetTypeChecksum()
            source = None
            if field.IsProjectedField():
                source = str(descriptor.GetQualifiedFieldName(field.GetProjectionSourceId()))
            out.append(
                (
                    known,
                    str(field.GetTypeName()),
                    str(field.GetTypeAlias()),
                    str(field.GetFieldDescription()),
                    int(field.GetFieldVersion()),
                    int(field.GetTypeVersion()),
                    int(checksum.value()) if checksum.has_value() else None,
                    int(field.GetNRepetitions()),
                    int(field.GetStructure()),
                    source,
                )
            )
            walk(field.GetId(), known + ".")

    walk(descriptor.GetFieldZeroId(), "")
    return out


def typed_views(path: str, name: str, types: list[tuple[str, str]]) -> dict[str, list[Any]]:
    """Return the entries of fields read through views of C++ types.

    `show.hxx` says in which form.
    """
    import ROOT

    ROOT.gInterpreter.Declare(f'#include "{Path(__file__).with_name("show.hxx")}"')
    found = {}
    for field, type_name in types:
        views = ROOT.nyssa_test.views[type_name](name, path, field)
        found[field] = [json.loads(strict(str(text))) for text in views]
    return found


def viewed(path: str, name: str) -> list[tuple[str, str]]:
    """Return the fields with a C++ type, and the types; of untyped records return the members.

    Of untyped collections there are none: their projected fields show the values.
    """
    import ROOT

    descriptor = ROOT.RNTupleReader.Open(name, path).GetDescriptor()
    out = []

    def walk(parent: int, prefix: str) -> None:
        for field in descriptor.GetFieldIterable(parent):
            known = prefix + str(field.GetFieldName())
            if str(field.GetTypeName()):
                out.append((known, str(field.GetTypeName())))
            elif field.GetStructure() == ROOT.ENTupleStructure.kRecord:
                walk(field.GetId(), known + ".")

    walk(descriptor.GetFieldZeroId(), "")
    return out


def numpy(path: str, name: str, columns: list[str]) -> dict[str, Any]:
    """Return columns of numbers through RDataFrame."""
    import ROOT

    return dict(ROOT.RDataFrame(name, path).AsNumpy(columns).items())


def recompress(path: str, trees: list[str], output: str) -> None:
    """Copy trees into a new file with zlib compression, for readers that lack the old codec."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    source = ROOT.TFile.Open(path)
    target = ROOT.TFile.Open(output, "RECREATE", "", 101)
    for name in trees:
        directory, _, base = name.rpartition("/")
        (target.mkdir(directory, "", True) if directory else target).cd()
        source.Get(name).CloneTree(-1).Write(base)
    target.Close()


def import_tree(source: str, tree: str, output: str) -> None:
    """Convert a TTree to an RNTuple with ROOT's own importer."""
    import ROOT

    importer = ROOT.Experimental.RNTupleImporter.Create(source, tree, output)
    importer.SetIsQuiet(True)
    importer.Import()


def lists(path: str, name: str, column: str) -> list[list[Any]]:
    """Return a column of lists of numbers through RDataFrame."""
    import ROOT

    rows = ROOT.RDataFrame(name, path).AsNumpy([column])[column]
    return [[value.item() if hasattr(value, "item") else value for value in row] for row in rows]


def attributes(path: str, name: str, attribute_set: str, fields: list[str]) -> list[Any]:
    """Return start, end and values of every attribute of a set, in ROOT's order."""
    import ROOT

    ROOT.gInterpreter.Declare("#include <ROOT/RNTupleAttrReading.hxx>")
    reader = ROOT.RNTupleReader.Open(name, path)
    attributes = reader.OpenAttributeSet(attribute_set)
    entry = attributes.CreateEntry()
    out = []
    for index in attributes.GetAttributes():
        found = attributes.LoadEntry(index, entry)
        values = {field: entry[field] for field in fields}
        for field, value in values.items():
            values[field] = str(value) if not isinstance(value, (int, float)) else value
        out.append([int(found.GetStart()), int(found.GetEnd()), values])
    return out


def dictionaries(types: list[str], headers: list[str]) -> None:
    """Compile the dictionaries that ROOT needs to read and write fields of these types."""
    import ROOT

    # ROOT leaves its files in the working directory.
    before, folder = os.getcwd(), tempfile.mkdtemp()
    atexit.register(shutil.rmtree, folder)
    os.chdir(folder)
    try:
        if not ROOT.gInterpreter.GenerateDictionary(";".join(types), ";".join(headers)):
            raise ValueError("the dictionaries do not compile")
    finally:
        os.chdir(before)


def library(source: str, output: str) -> None:
    """Compile a C++ file with dictionaries of its classes to a library, and load it."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    folder, name = os.path.split(output)
    ROOT.gSystem.AddIncludePath(f"-I{os.path.dirname(source)}")
    ROOT.gSystem.SetFlagsOpt("-O0")  # It takes long enough.
    if not ROOT.gSystem.CompileMacro(source, "kfO-", name, folder):
        raise ValueError(f"{source} does not compile")


def cpp(code: str, call: str) -> None:
    """Compile C++ and run a statement of it. The statement fails by an exception."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    if code and not ROOT.gInterpreter.Declare(code):
        raise ValueError("the C++ does not compile")
    ROOT.gROOT.ProcessLine(call)


def write_events(path: str, names: list[str], count: int) -> None:
    """Write RNTuples of `count` entries with a number, a float, a string and a list."""
    import ROOT

    ROOT.gInterpreter.Declare("""
    #ifndef NYSSA_WRITE_EVENTS
    #define NYSSA_WRITE_EVENTS
    void nyssa_write_events(TFile &file, const std::string &dir, const std::string &name,
                            int count) {
        auto model = ROOT::RNTupleModel::Create();
        auto number = model->MakeField<std::int32_t>("number");
        auto x = model->MakeField<double>("x");
        auto text = model->MakeField<std::string>("name");
        auto values = model->MakeField<std::vector<double>>("values");
        TDirectory *place = dir.empty() ? &file : file.mkdir(dir.c_str());
        auto writer = ROOT::RNTupleWriter::Append(std::move(model), name, *place);
        for (int i = 0; i < count; ++i) {
            *number = i;
            *x = i / 3.;
            *text = "entry " + std::to_string(i);
            values->assign(i % 3, i / 2.);
            writer->Fill();
        }
    }
    #endif
    """)
    file = ROOT.TFile(path, "RECREATE")
    for name in names:
        directory, _, base = name.rpartition("/")
        ROOT.nyssa_write_events(file, directory, base, count)
    file.Close()


def columns(path: str, name: str) -> dict[str, list[dict[str, Any]]]:
    """Return the data of ROOT's descriptor for the columns of each field.

    For each representation: type, stored bytes of all pages, and for each cluster that has it the
    compression setting, and of each page elements, stored bytes and file offset.
    """
    import ROOT

    descriptor = ROOT.RNTupleReader.Open(name, path).GetDescriptor()
    element = ROOT.Internal.RColumnElementBase
    out: dict[str, list[dict[str, Any]]] = {}

    def describe(column: Any) -> dict[str, Any]:
        number = column.GetPhysicalId()
        clusters = []
        for cluster in descriptor.GetClusterIterable():
            if not cluster.ContainsColumn(number):
                continue
            known = cluster.GetColumnRange(number)
            if known.IsSuppressed():
                continue
            pages = [
                (
                    int(page.GetNElements()),
                    int(page.GetLocator().GetNBytesOnStorage()),
                    int(page.GetLocator().GetPosition["std::uint64_t"]()),
                )
                for page in cluster.GetPageRange(number).GetPageInfos()
                # The zeros of entries before the field are not counted.
                if page.GetLocator().GetType() == ROOT.RNTupleLocator.kTypeFile
            ]
            setting = known.GetCompressionSettings()
            clusters.append((int(setting.value()) if setting.has_value() else None, pages))
        return {
            "type": str(element.GetColumnTypeName(column.GetType())),
            "stored": sum(page[1] for _, pages in clusters for page in pages),
            "clusters": clusters,
        }

    def walk(parent: int, prefix: str) -> None:
        for field in descriptor.GetFieldIterable(parent):
            known = prefix + str(field.GetFieldName())
            found = [describe(column) for column in descriptor.GetColumnIterable(field)]
            if found:
                out[known] = found
            walk(field.GetId(), known + ".")

    walk(descriptor.GetFieldZeroId(), "")
    return out


def inspected(path: str, name: str) -> dict[str, tuple[int, int, int]]:
    """Return stored and packed bytes and pages of the columns by ROOT's inspector, by type.

    It takes only RNTuples with one compression setting.
    """
    import ROOT

    inspector = ROOT.Experimental.RNTupleInspector.Create(name, path)
    element = ROOT.Internal.RColumnElementBase
    out = {}
    for number in range(inspector.GetDescriptor().GetNPhysicalColumns()):
        info = inspector.GetColumnInspector(number)
        sizes = (info.GetCompressedSize(), info.GetUncompressedSize(), info.GetNPages())
        out[str(element.GetColumnTypeName(info.GetType()))] = tuple(map(int, sizes))
    return out


def inspection(path: str, name: str) -> dict[str, Any]:
    """Return stored and packed bytes by ROOT's inspector, of columns with pages and elements."""
    import ROOT

    inspector = ROOT.Experimental.RNTupleInspector.Create(name, path)

    def sizes(one: Any) -> list[int]:
        return [int(one.GetCompressedSize()), int(one.GetUncompressedSize())]

    descriptor = inspector.GetDescriptor()
    numbers = range(descriptor.GetNPhysicalColumns())
    columns = [inspector.GetColumnInspector(number) for number in numbers]
    return {
        "total": sizes(inspector),
        "columns": [[*sizes(c), int(c.GetNPages()), int(c.GetNElements())] for c in columns],
        "fields": {
            str(field.GetFieldName()): sizes(inspector.GetFieldTreeInspector(field.GetId()))
            for field in descriptor.GetTopLevelFields()
        },
    }


def low_precision(
    path: str, field: str, column: str, numbers: list[float], values: list[float]
) -> None:
    """Write the RNTuple Events with one field x in a column type of low precision."""
    import ROOT

    set_type = {
        "Real16": "SetHalfPrecision()",
        "Real32Trunc": "SetTruncated({0:.0f})",
        "Real32Quant": "SetQuantized({1}, {2}, {0:.0f})",
    }
    name = f"nyssa_low_{abs(hash((field, column, *numbers)))}"
    ROOT.gInterpreter.Declare(f"""
    void {name}(const std::string &path, const std::vector<double> &values) {{
        auto field = std::make_unique<ROOT::RField<{field}>>("x");
        field->{set_type[column].format(*numbers)};
        auto model = ROOT::RNTupleModel::Create();
        model->AddField(std::move(field));
        auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
        auto entry = writer->CreateEntry();
        auto x = entry->GetPtr<{field}>("x");
        for (double value : values) {{
            *x = value;
            writer->Fill(*entry);
        }}
    }}
    """)
    getattr(ROOT, name)(path, ROOT.std.vector["double"](values))


def add_histogram(path: str, directory: str, name: str) -> None:
    """Add a histogram with three entries in the second of its three bins to a file."""
    import ROOT

    file = ROOT.TFile(path, "UPDATE")
    folder = file.mkdir(directory, "", True) if directory else file
    folder.cd()
    histogram = ROOT.TH1F(name, "title", 3, 0, 3)
    for _ in range(3):
        histogram.Fill(1.5)
    histogram.Write()
    file.Close()


def names_replaced(path: str, seed: int) -> None:
    """Write and delete a few named objects in a file, which takes up and leaves free space."""
    from random import Random

    import ROOT

    random = Random(seed)
    file = ROOT.TFile(path, "UPDATE")
    for _ in range(random.randint(1, 3)):
        if random.random() < 0.4:
            file.Delete(f"n{random.randint(0, 9)};*")
        named = ROOT.TNamed(f"n{random.randint(0, 9)}", "x" * random.randint(1, 60))
        named.Write("", ROOT.TObject.kOverwrite)
    file.Close()


def histogram(path: str, name: str) -> list[float]:
    """Return the contents of the three bins."""
    import ROOT

    file = ROOT.TFile(path)
    found = file.Get(name)
    return [found.GetBinContent(bin) for bin in (1, 2, 3)]


def drawn(path: str, name: str, expression: str, selection: str = "") -> list[float]:
    """Return the values that TTree::Draw draws. Friends are searched in the folder of the file."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    before = os.getcwd()
    os.chdir(os.path.dirname(path))
    try:
        with ROOT.TFile.Open(path) as file:
            found = file.Get(name)
            count = found.Draw(expression, selection, "goff")
            if count < 0:
                raise ValueError("the formula does not compile")
            return [found.GetV1()[index] for index in range(count)]
    finally:
        os.chdir(before)


def contents(path: str) -> dict[str, tuple[str, str, str]]:
    """Return class, title and members (as JSON) of all objects by path and cycle.

    Trees and RNTuples come without their members.
    """
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    found: dict[str, tuple[str, str, str]] = {}

    def walk(directory: Any, prefix: str) -> None:
        for key in directory.GetListOfKeys():
            name, classname = f"{prefix}{key.GetName()}", str(key.GetClassName())
            members = ""
            if classname.startswith("TDirectory"):
                classname = "TDirectory"
                walk(directory.GetDirectory(key.GetName()), f"{name}/")
            elif "RNTuple" not in classname and not classname.startswith(("TTree", "TNtuple")):
                read = key.ReadObj()
                members = str(ROOT.TBufferJSON.ConvertToJSON(read)) if read else "not read"
            found[f"{name};{key.GetCycle()}"] = (classname, str(key.GetTitle()), members)

    with ROOT.TFile.Open(path) as file:
        walk(file, "")
    return found


def keys(path: str) -> dict[str, str]:
    """Return the class of each object with a key, by path. The last cycle is used."""
    import ROOT

    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    found: dict[str, str] = {}

    def walk(directory: Any, prefix: str) -> None:
        for key in directory.GetListOfKeys():
            name = f"{prefix}{key.GetName()}"
            if str(key.GetClassName()).startswith("TDirectory"):
                walk(directory.GetDirectory(key.GetName()), f"{name}/")
            else:
                found[name] = str(key.GetClassName())

    with ROOT.TFile.Open(path) as file:
        walk(file, "")
    return found


def main() -> None:
    """Answer requests until stdin ends."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    while True:
        try:
            function, args = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        try:
            reply = (globals()[function](*args), None)
        except Exception as error:  # noqa: BLE001 (whatever went wrong, the test shall say it)
            reply = (None, f"{type(error).__name__}: {error}")
        pickle.dump(reply, replies)
        replies.flush()


if __name__ == "__main__":
    main()
