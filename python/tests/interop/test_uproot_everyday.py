"""Lines of programs for uproot, as tutorials and users write them, give what uproot gives."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot

import nyssa.uproot

F, N, H = "d.root:events", "d.root:n", "d.root:h"
PARTS = [f"part{number}.root:events" for number in (1, 2)]

Line = Callable[[Any], Any]


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Make the files, and be where they are."""
    here, start = Path.cwd(), tmp_path_factory.mktemp("everyday")
    os.chdir(start)
    lists = ak.Array([[1.5, 2.5], [], [3.5]] * 20)
    table = {
        "M": np.linspace(50, 130, 60),
        "Q": np.tile(np.array([1, -1], np.int32), 30),
        "event": np.arange(60, dtype=np.uint64),
        "Jet": ak.zip({"pt": lists, "eta": lists / 10}),
        "name": [f"run{number}" for number in range(60)],
        "v": np.arange(120, dtype=np.float32).reshape(60, 2),
        "pass": np.arange(60) % 3 == 0,
    }
    with uproot.recreate("d.root") as file:
        file.mktree("events", {name: _type(item) for name, item in table.items()}, title="a tree")
        for first in (0, 20, 40):
            file["events"].extend({name: item[first : first + 20] for name, item in table.items()})
        file["h"] = np.histogram(table["M"], bins=4, range=(50, 130))
        file["sub/deep/h2"] = np.histogram2d(table["M"], table["M"], bins=(2, 3))
        file["sub/label"] = "some text"
        file["n"] = {"x": np.arange(5), "jets": ak.Array([[1, 2], [], [3], [], [4]])}
    for number in (1, 2):
        with uproot.recreate(f"part{number}.root") as file:
            file.mktree("events", {"M": "float64", "j": "var * int32"})
            part = {"M": np.arange(7) * number, "j": ak.Array([[number], [], [1, 2]] * 2 + [[]])}
            file["events"].extend(part)
    with uproot.recreate("other.root") as file:
        file["other"] = {"x": np.arange(2)}
    yield start
    os.chdir(here)


def _type(data: Any) -> Any:
    if isinstance(data, ak.Array):
        return data.type
    return "string" if isinstance(data, list) else np.dtype((data.dtype, data.shape[1:]))


def tree(m: Any) -> Any:
    return m.open(F)


def shown(call: Callable[[io.StringIO], object]) -> list[str]:
    """Return the first words of the lines that a call prints."""
    stream = io.StringIO()
    call(stream)
    return sorted(line.split()[0] for line in stream.getvalue().splitlines() if line[:1].isalpha())


def written(m: Any, write: Callable[[Any], object], **options: Any) -> Any:
    """Write a file, and open it with uproot."""
    path = f"{m.__name__}-written.root"
    with m.recreate(path, **options) as file:
        write(file)
    return uproot.open(path)


def wrote(write: Callable[[Any], object], read: Line, **options: Any) -> Line:
    return lambda m: read(written(m, write, **options))


def extended(file: Any) -> None:
    tree = file.mktree("t", {"x": "float64", "j": "var * float32"})
    tree.extend({"x": np.arange(3), "j": ak.Array([[1], [], [2, 3]])})
    tree.extend({"x": np.arange(2), "j": ak.Array([[], [4]])})


def more(file: Any) -> None:
    file.mktree("t", {"x": np.arange(3)})
    file["t"].extend({"x": np.arange(2), "y": np.ones(2)}, accept_new_fields=True)


def added(file: Any) -> None:
    file.mktree("t", {"x": np.arange(3)})
    file["t"].add_branches({"w": np.ones(3)})


def updated(m: Any) -> Any:
    path = f"{m.__name__}-updated.root"
    with m.recreate(path) as file:
        file["a"] = np.histogram([1, 2], bins=2)
        file.mktree("t", {"x": np.arange(3)})
    with m.update(path) as file:
        file["b"] = "text"
        file["t"].extend({"x": np.arange(2)})
        del file["a"]
    with uproot.open(path) as file:
        return file.classnames(), file["t/x"].array()


def in_written(m: Any) -> Any:
    with m.recreate(f"{m.__name__}-in.root") as file:
        file["h"] = np.histogram([1, 2], bins=2)
        file.mktree("t", {"x": np.arange(3)})
        # With directories, uproot raises an error.
        return "h" in file, "nothing" in file, "t" in file, file.get("nothing"), file.get("h").name


def members(m: Any) -> Any:
    path = f"{m.__name__}-members.root"
    with m.recreate(path) as file:
        file["n"] = ak.Array([{"jet": {"pt": 1.5, "track": {"hits": 4}}}] * 3)
    with m.update(path) as file:
        file["n"].add_fields({"jet.eta": np.float32, "track.chi2": "float64"})
    with uproot.open(path) as file:
        return file["n"].keys(), file["n"].arrays()


def steps(m: Any, *args: Any, **options: Any) -> list[tuple[int, int, int]]:
    reports = m.iterate(*args, report=True, **options)
    return [(len(arrays), report.start, report.stop) for arrays, report in reports]


def scaled(m: Any) -> Any:
    array = tree(m)["M"].array(library="np")
    array *= 2
    array[array > 200] = 0
    return array


def of_awkward(m: Any) -> Any:
    array = ak.to_numpy(tree(m)["M"].array())
    array -= array.mean()
    return np.from_dlpack(array).round(9)


def raised(call: Line) -> Line:
    """Return the kinds of builtin errors that a line raises."""

    def line(m: Any) -> Any:
        with pytest.raises(Exception) as caught:
            call(m)
        kinds = (KeyError, FileNotFoundError, ValueError, TypeError, OSError, NotImplementedError)
        return [kind.__name__ for kind in kinds if isinstance(caught.value, kind)][:1]

    return line


def with_hist(m: Any) -> Any:
    hist = pytest.importorskip("hist")
    made = hist.Hist.new.Reg(4, 0, 4, name="x", label="a label").Weight()
    made.fill([0.5, 1.5, 1.5], weight=[1, 2, 3])
    read = written(m, lambda file: file.update({"h": made}))["h"]
    return read.values(), read.variances(), read.member("fEntries"), read.axis().member("fTitle")


def with_vector(m: Any) -> Any:
    vector = pytest.importorskip("vector")
    vector.register_awkward()
    read = tree(m).arrays(["Jet_pt", "Jet_eta"])
    columns = {"pt": read.Jet_pt, "eta": read.Jet_eta, "phi": read.Jet_eta, "mass": read.Jet_pt}
    momenta = ak.zip(columns, with_name="Momentum4D")
    return momenta.energy, momenta.deltaR(momenta)


def unclosed(m: Any) -> Any:
    path = f"{m.__name__}-unclosed.root"
    file = m.recreate(path)
    file["t"] = {"x": np.arange(3)}
    first = m.open(path)["t"].arrays()
    file.mktree("tree", {"x": "float64"})
    counts = []
    for number in range(3):
        file["tree"].extend({"x": np.arange(number)})
        counts.append(m.open(path)["tree"].num_entries)
    file["s"] = "more"
    return first, counts, sorted(m.open(path).keys()), uproot.open(path)["tree/x"].array()


def made_by_recreate(m: Any) -> Any:
    path = f"{m.__name__}-made.root"
    m.recreate(path)
    for number in range(3):
        with m.update(path) as file:
            file[f"h{number}"] = np.histogram([number], bins=2)
    return uproot.open(path).keys()


def copied_in_a_file(m: Any) -> Any:
    path = f"{m.__name__}-copied.root"
    with m.recreate(path) as file:
        file["h"] = np.histogram([1, 2], bins=2)
    with m.update(path) as file:
        file["h2"] = file["h"]
        file["d/x"] = np.histogram([1], bins=1)
    return uproot.open(path).keys()


def through_hist(make: Callable[[Any], Any], read: Line) -> Line:
    """Return what is read of a histogram of `hist` that is written."""

    def line(m: Any) -> Any:
        made = make(pytest.importorskip("hist"))
        return read(written(m, lambda file: file.update({"h": made}))["h"])

    return line


LINES: dict[str, Line] = {
    # Files and directories.
    "keys": lambda m: m.open("d.root").keys(),
    "keys without cycle": lambda m: m.open("d.root").keys(cycle=False),
    "keys of one level": lambda m: m.open("d.root").keys(recursive=False, cycle=False),
    "keys by class": lambda m: m.open("d.root").keys(filter_classname="TH*"),
    "keys by name": lambda m: m.open("d.root").keys(filter_name="*h2"),
    "classnames": lambda m: m.open("d.root").classnames(),
    "iterclassnames": lambda m: dict(m.open("d.root").iterclassnames(cycle=False)),
    "classname_of": lambda m: m.open("d.root").classname_of("events"),
    "in": lambda m: ("events" in m.open("d.root"), "nothing" in m.open("d.root")),
    "items of a file": lambda m: sorted(name for name, _ in m.open("d.root")["sub"].items()),
    "path in a directory": lambda m: m.open("d.root")["sub/deep/h2"].name,
    "two brackets": lambda m: m.open("d.root")["sub"]["deep"]["h2"].name,
    "cycle": lambda m: m.open("d.root")["events;1"].name,
    "dict": lambda m: m.open({"d.root": "events"}).num_entries,
    "pathlib": lambda m: m.open(Path("d.root"))["events"].num_entries,
    "file object": lambda m: m.open(io.BytesIO(Path("d.root").read_bytes()))["events"].num_entries,
    "options that say how": lambda m: (
        m.open(F, handler=None, num_workers=2, object_cache=None, array_cache=None).num_entries
    ),
    "file path": lambda m: os.path.basename(m.open("d.root").file_path),
    "closed": lambda m: _closed(m),
    "text": lambda m: str(m.open("d.root")["sub/label"]),
    "streamers": lambda m: "TH1D" in m.open("d.root").file.streamers,
    "show_streamers": lambda m: shown(
        lambda out: m.open("d.root").file.show_streamers("TAxis", stream=out)
    ),
    "uuid": lambda m: str(m.open("d.root").file.uuid),
    "compression of a file": lambda m: repr(m.open("d.root").file.compression),
    "get of a path": lambda m: (
        m.open("d.root").get("sub/deep/h2").name,
        m.open("d.root").get("sub/nothing"),
        m.open("d.root").get("events/M").name,
    ),
    "streamer that is not there": lambda m: m.open("d.root").file.streamer_named("TNothing"),
    # Trees and branches.
    "tree keys": lambda m: tree(m).keys(),
    "tree keys by glob": lambda m: tree(m).keys(filter_name="Jet_*"),
    "tree keys by regex": lambda m: tree(m).keys(filter_name="/(M|Q)/"),
    "tree keys by regex with flags": lambda m: tree(m).keys(filter_name="/jet_P.*/i"),
    "tree keys by list": lambda m: tree(m).keys(filter_name=["M", "Jet_*"]),
    "tree keys by function": lambda m: tree(m).keys(filter_name=lambda name: "t" in name),
    "tree keys by type": lambda m: tree(m).keys(filter_typename="double"),
    "tree keys by branch": lambda m: tree(m).keys(
        filter_branch=lambda branch: isinstance(branch.interpretation, m.AsJagged)
    ),
    "typenames": lambda m: tree(m).typenames(),
    "tree.show": lambda m: shown(lambda out: tree(m).show(stream=out)),
    "branches": lambda m: [branch.name for branch in tree(m).branches],
    "iterate over a tree": lambda m: [branch.name for branch in tree(m)],
    "items": lambda m: [(name, branch.typename) for name, branch in tree(m).items()],
    "len, name, title": lambda m: (len(tree(m)), tree(m).name, tree(m).title),
    "num_entries of a branch": lambda m: tree(m)["M"].num_entries,
    "member": lambda m: (tree(m).member("fName"), tree(m)["M"].member("fTitle")),
    "baskets": lambda m: tree(m)["M"].num_baskets,
    "basket limits": lambda m: [
        tree(m)["M"].basket_entry_start_stop(number) for number in range(3)
    ],
    "entry_offsets": lambda m: tree(m)["Jet_pt"].entry_offsets,
    "common_entry_offsets": lambda m: tree(m).common_entry_offsets(),
    "num_entries_for": lambda m: tree(m).num_entries_for("1 kB", ["M", "Q"]),
    "compression of a branch": lambda m: repr(tree(m)["M"].compression),
    "counter": lambda m: tree(m)["Jet_pt"].count_branch.name,
    "interpretations": lambda m: {key: repr(tree(m)[key].interpretation) for key in tree(m).keys()},
    "interpretation of numbers": lambda m: (
        str(tree(m)["M"].interpretation.from_dtype),
        str(tree(m)["M"].interpretation.numpy_dtype),
        repr(tree(m)["Jet_pt"].interpretation.content),
    ),
    # Arrays.
    "array": lambda m: tree(m)["M"].array(),
    "array by range": lambda m: tree(m)["M"].array(entry_start=5, entry_stop=-5),
    "array by position": lambda m: tree(m)["M"].array(None, 3, 6),
    "array of NumPy": lambda m: tree(m)["M"].array(library="np"),
    "array of pandas": lambda m: tree(m)["M"].array(library="pd"),
    "jagged array": lambda m: tree(m)["Jet_pt"].array(),
    "jagged array of NumPy": lambda m: tree(m)["Jet_pt"].array(library="np"),
    "strings": lambda m: tree(m)["name"].array(entry_stop=3),
    "strings of NumPy": lambda m: tree(m)["name"].array(library="np")[:3],
    "fixed shape": lambda m: tree(m)["v"].array(library="np").shape,
    "type": lambda m: str(tree(m).arrays().type),
    "as AsDtype": lambda m: tree(m)["M"].array(m.AsDtype(">f8", "float32")),
    "as a type": lambda m: tree(m)["Q"].array(">u4", library="np"),
    "as jagged integers": lambda m: tree(m)["Jet_pt"].array(m.AsJagged(m.AsDtype(">i8"))),
    "as with another size": raised(lambda m: tree(m)["M"].array(m.AsDtype(">f4"))),
    "branch is an array": lambda m: np.asarray(tree(m)["M"]),
    "arrays of names": lambda m: tree(m).arrays(["M", "Q"]),
    "arrays by filter": lambda m: tree(m).arrays(filter_name="Jet_*"),
    "arrays by type": lambda m: tree(m).arrays(filter_typename="/double|float/"),
    "arrays by branch": lambda m: tree(m).arrays(
        filter_branch=lambda branch: branch.name in ("M", "Q")
    ),
    "arrays of NumPy": lambda m: tree(m).arrays(["M", "Q"], library="np"),
    "arrays of pandas": lambda m: tree(m).arrays(["M", "Q"], library="pd"),
    "arrays in a tuple": lambda m: tree(m).arrays(["M", "Q"], library="np", how=tuple),
    "arrays zipped": lambda m: tree(m).arrays(["Jet_pt", "Jet_eta", "M"], how="zip"),
    "expression": lambda m: tree(m).arrays("M * 2"),
    "function": lambda m: tree(m).arrays("sqrt(M)"),
    "cut": lambda m: tree(m).arrays(["M"], cut="(M > 60) & (Q > 0)"),
    "cut of pandas": lambda m: tree(m).arrays(["M"], "M > 100", library="pd"),
    "aliases": lambda m: tree(m).arrays("twice", aliases={"twice": "2 * M"}),
    "types of arrays": lambda m: tree(m).arrays({"Q": ">u4", "M": None}, library="np"),
    "mask": lambda m: (lambda a: a[a.M > 100])(tree(m).arrays(["M", "Jet_pt"])),
    "awkward": lambda m: ak.sum(ak.num(tree(m)["Jet_pt"].array())),
    "virtual": lambda m: tree(m).arrays(virtual=True).M[:3],
    "vectors": with_vector,
    "new field": lambda m: _with_field(tree(m).arrays(["M"])),
    "in place": scaled,
    "in place by awkward and DLPack": of_awkward,
    "executor": lambda m: tree(m)["M"].array(decompression_executor=m.ThreadPoolExecutor(2)),
    "get in an expression": lambda m: tree(m).arrays("get('M') - 50", "get('Q') > 0", library="np"),
    # Many entries, many files.
    "iterate": lambda m: [len(arrays) for arrays in tree(m).iterate(["M"], step_size=25)],
    "iterate by bytes": lambda m: [len(step) for step in tree(m).iterate(["M"], step_size="200 B")],
    "iterate over files": lambda m: steps(m, PARTS, ["M"], step_size=4),
    "iterate of pandas": lambda m: pd.concat(m.iterate(PARTS, "M", library="pd", step_size=3)),
    "iterate with a cut": lambda m: sum(len(a) for a in m.iterate(PARTS, ["M"], cut="M > 2")),
    "concatenate": lambda m: m.concatenate(PARTS, ["M", "j"]),
    "concatenate by glob": lambda m: sorted(m.concatenate("part*.root:events", "M")["M"].tolist()),
    "concatenate by dict": lambda m: m.concatenate({"part1.root": "events"}, filter_name="M"),
    "concatenate lists of dicts": lambda m: m.concatenate(
        [{"part1.root": "events"}, {"part2.root": "events"}], ["M"], library="np"
    ),
    "allow_missing": lambda m: m.concatenate([*PARTS, "other.root:events"], allow_missing=True),
    "nothing there": lambda m: len(m.concatenate("other.root:events", allow_missing=True)),
    "glob that matches nothing": lambda m: m.concatenate([*PARTS, "no*.root:events"], "M")["M"],
    "globs that match nothing": raised(lambda m: m.concatenate("no*.root:events")),
    "reports": lambda m: [
        (report.tree.name, os.path.basename(report.file_path), report.tree_entry_start)
        for _, report in m.iterate(PARTS, ["M"], report=True, step_size=4)
    ],
    "steps of dicts": lambda m: [sorted(step) for step in m.iterate(PARTS, ["M"], how=dict)],
    "num_entries": lambda m: list(m.num_entries(PARTS)),
    "files that Dask opens later": lambda m: (
        m.dask(PARTS, library="np", open_files=False)["M"].compute(),
        len(m.dask(PARTS, library="np", open_files=False)["M"].chunks[0]),
    ),
    "Dask without common branches": raised(
        lambda m: m.dask([PARTS[0], "other.root:other"], library="np")
    ),
    "dask": lambda m: m.dask(PARTS, library="np")["M"].compute(),
    "chunks of dask": lambda m: m.dask(F, step_size=25, library="np")["M"].chunks,
    # Histograms.
    "values": lambda m: m.open(H).values(),
    "values with flow": lambda m: m.open(H).values(flow=True),
    "edges": lambda m: (m.open(H).axis().edges(), m.open(H).axis("x").edges(flow=True)),
    "to_numpy": lambda m: m.open(H).to_numpy(),
    "to_boost": lambda m: m.open(H).to_boost().values(),
    "to_hist": lambda m: m.open(H).to_hist().axes[0].edges,
    "errors": lambda m: (m.open(H).errors(), m.open(H).variances()),
    "two dimensions": lambda m: m.open("d.root")["sub/deep/h2"].to_numpy()[0],
    "members": lambda m: m.open(H).member("fEntries"),
    "all members": lambda m: sorted(m.open(H).axis().members),
    "class of a histogram": lambda m: (
        m.open(H).classname,
        isinstance(m.open(H), m.behaviors.TH1.Histogram),
        isinstance(m.open(H), m.Model),
    ),
    "flow of NumPy": lambda m: m.open(H).to_numpy(flow=True),
    "bins as one list": lambda m: m.open("d.root")["sub/deep/h2"].to_numpy(dd=True),
    "values for pyhf": lambda m: (m.open(H).values().tolist(), m.open(H).variances().tolist()),
    "limits of an axis": lambda m: (m.open(H).axis().low, m.open(H).axis().high, m.open(H).title),
    "rebinned": lambda m: m.open(H).to_hist()[::2j].values(),
    "projected": lambda m: m.open("d.root")["sub/deep/h2"].to_hist().project(0).values(),
    "member or None": lambda m: m.open(H).member("fNothing", none_if_missing=True),
    "labels": through_hist(
        lambda hist: hist.Hist.new.StrCat(["a", "b"]).Weight().fill(["a", "b", "b"], weight=2),
        lambda h: (h.values(), h.axis().labels(), h.variances()),
    ),
    "profile": through_hist(
        lambda hist: hist.Hist.new.Reg(3, 0, 3).Mean().fill([0.5, 0.5, 1.5], sample=[1, 2, 5]),
        lambda h: (h.values(), h.counts(), h.errors()),
    ),
    "storage of a profile": lambda m: (
        m.open(written(m, _profile).file_path + ":h").to_hist()["A"].sum_of_weights
    ),
    "uneven bins": through_hist(
        lambda hist: hist.Hist.new.Var([0, 1, 3]).Double().fill([0.5, 2]),
        lambda h: h.to_numpy(),
    ),
    "three dimensions": through_hist(
        lambda hist: hist.Hist.new.Reg(2, 0, 1).Reg(3, 0, 1).Reg(2, 0, 1).Double(),
        lambda h: h.values().shape,
    ),
    # RNTuples.
    "fields": lambda m: m.open(N).keys(),
    "arrays of an RNTuple": lambda m: m.open(N).arrays(),
    "header and footer of an RNTuple": lambda m: (
        [field.field_name for field in m.open(N).header.field_records],
        [column.nbits for column in m.open(N).header.column_records],
        [group.num_clusters for group in m.open(N).footer.cluster_group_records],
        m.open(N).header.checksum == m.open(N).footer.header_checksum,
    ),
    "anchor of an RNTuple": lambda m: (
        m.open(N).member("fVersionEpoch"),
        m.open(N).member("fNBytesHeader"),
    ),
    "field": lambda m: m.open(N)["jets"].array(),
    "range of a field by position": lambda m: m.open(N)["jets"].array(1, 3),
    "virtual field": lambda m: m.open(N)["x"].array(virtual=True)[:2],
    "log of a virtual field": lambda m: _logged(m),
    "records of all columns": lambda m: (
        [column.nbits for column in m.open(N).column_records],
        [column.suppressed for column in m.open(N).page_link_list[0]],
    ),
    "RNTuple in steps": lambda m: [len(step) for step in m.open(N).iterate(step_size=2)],
    "RNTuple of pandas": lambda m: m.open(N).arrays(["x"], library="pd"),
    # Files that are written.
    "extend": wrote(extended, lambda f: (f["t"].arrays(), f["t/j"].num_baskets, f["t"].keys())),
    "mktree of data": wrote(lambda f: f.mktree("t", {"x": [1.5]}), lambda f: f["t"].arrays()),
    "tree of pandas": wrote(
        lambda f: f.mktree("t", pd.DataFrame({"x": [1, 2]})), lambda f: f["t/x"].array()
    ),
    "tree of a structured array": wrote(
        lambda f: f.mktree("t", np.array([(1, 2.5)], [("a", "i4"), ("b", "f8")])),
        lambda f: f["t"].arrays(),
    ),
    "types as text": wrote(
        lambda f: f.mktree("t", {"Jet": "var * {pt: float32, eta: float32}", "M": "float64"}),
        lambda f: f["t"].typenames(),
    ),
    "types of NumPy": wrote(
        lambda f: f.mktree("t", {"x": ">i4", "y": np.float32, "z": ("f8", (3,))}),
        lambda f: f["t"].typenames(),
    ),
    "title": wrote(lambda f: f.mktree("t", {"x": "f8"}, title="T"), lambda f: f["t"].title),
    "names of counters": wrote(
        lambda f: f.mktree("t", {"x": "var * float64"}, counter_name=lambda name: f"N_{name}"),
        lambda f: f["t"].keys(),
    ),
    "accept_new_fields": wrote(more, lambda f: f["t"].arrays()),
    "add_branches": wrote(added, lambda f: f["t"].arrays()),
    "strings in a tree": wrote(
        lambda f: f.mktree("t", {"s": ["a", "bc"]}), lambda f: f["t/s"].array()
    ),
    "histogram of NumPy": wrote(
        lambda f: f.update({"h": np.histogram([1, 1, 2], bins=2)}), lambda f: f["h"].to_numpy()
    ),
    "histogram of hist": with_hist,
    "directories": wrote(
        lambda f: (f.mkdir("a/b"), f.update({"a/b/s": "text"})), lambda f: f.classnames()
    ),
    "copy of objects": lambda m: written(
        m, lambda f: f.copy_from(m.open("d.root"), filter_name="h")
    )["h"].values(),
    "object of another file": lambda m: written(m, lambda f: f.update({"k": m.open(H)}))[
        "k"
    ].values(),
    "compression": lambda m: repr(
        written(m, lambda f: f.update({"s": "text"}), compression=m.LZMA(3)).file.compression
    ),
    "update": updated,
    "in and get of a file that is written": in_written,
    "members of records": members,
    "file that is not closed": unclosed,
    "file that is only made": made_by_recreate,
    "copy in a file": copied_in_a_file,
    "data frame": wrote(
        lambda f: f.update({"t": pd.DataFrame({"x": [1, 2]})}), lambda f: f["t"].arrays()
    ),
    "missing records": wrote(
        lambda f: f.mkrntuple("n", {"r": ak.Array([{"x": 1}, None, {"x": 2}])}),
        lambda f: f["n"].arrays(),
    ),
    "descriptions of fields": wrote(
        lambda f: f.mkrntuple("n", ak.Array({"x": ak.with_parameter([1, 2], "__doc__", "a text")})),
        lambda f: f["n"].arrays(ak_add_doc=True).x.layout.parameter("__doc__"),
    ),
    "RNTuple": wrote(
        lambda f: f.mkrntuple("n", {"x": [1, 2], "j": [[1], []]}),
        lambda f: [f["n"][key].array() for key in "xj"],
    ),
    "tuples of records": wrote(
        lambda f: f.mkrntuple("n", {"t": ak.Array([({"x": 1}, 2), ({"x": 3}, 4)])}),
        lambda f: f["n"].arrays(),
    ),
    # Errors.
    "no such file": raised(lambda m: m.open("nothing.root")),
    "no such object": raised(lambda m: m.open("d.root")["nothing"]),
    "no such branch": raised(lambda m: tree(m)["nothing"]),
    "no such name": raised(lambda m: tree(m).arrays(["nothing"])),
    "KeyInFileError": lambda m: issubclass(m.KeyInFileError, KeyError),
    "DeserializationError": lambda m: issubclass(m.DeserializationError, Exception),
    "default_library": lambda m: m.default_library,
    "create": raised(lambda m: m.create("d.root")),
    # Names.
    "TTree": lambda m: (
        isinstance(tree(m), m.TTree) and isinstance(tree(m), m.models.TTree.Model_TTree_v20)
    ),
    "TBranch": lambda m: isinstance(tree(m)["M"], m.behaviors.TBranch.TBranch),
    "names of models": lambda m: m.classname_encode("std::vector<TH1F*>", 3),
    "class of a name": lambda m: m.classname_decode("Model_TH1F_v3"),
    "source": lambda m: m.source.file.MemmapSource.__name__ != "",
}


def _closed(m: Any) -> bool:
    with m.open("d.root") as file:
        pass
    return bool(file.closed)


def _logged(m: Any) -> Any:
    log: list[Any] = []
    array = m.open(N)["jets"].array(virtual=True, access_log=log)
    before = len(log)
    return before, ak.materialize(array), len(log)


def _profile(file: Any) -> None:
    hist = pytest.importorskip("hist")
    file["h"] = hist.Hist.new.StrCat(["A", "B"]).Mean().fill(["A", "B", "A"], sample=[1, 2, 4])


def _with_field(array: ak.Array) -> ak.Array:
    array["twice"] = array.M * 2
    return array


def plain(value: Any) -> Any:
    """Return a value that is compared: values and types of arrays, not their classes."""
    if isinstance(value, (pd.DataFrame, pd.Series)):
        return plain(value.to_dict())
    if isinstance(value, ak.Array):
        return value.to_list(), str(value.type)
    if isinstance(value, np.ndarray):
        return [plain(item) for item in value], value.dtype.kind
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


@pytest.mark.parametrize("name", LINES)
def test_line(name: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want, have = (plain(LINES[name](m)) for m in (uproot, nyssa.uproot))
    assert have == want


def test_there_are_more_than_a_hundred() -> None:
    assert len(LINES) > 100
