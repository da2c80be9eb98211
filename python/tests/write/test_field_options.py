"""Tests storage options of fields, and low precision inside its bounds, as ROOT reads them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa.errors import ArgumentError
from support.root import Root

COUNT = 20_000
OPTIONS = {
    "*": {"compression": "zlib:1"},
    "a": {"compression": "none", "page_size": 4096},
    "j*": {"compression": "lzma:2"},
    "jets._0.pt": {"column": "Real32Trunc:16", "compression": "lz4", "page_size": "64 kB"},
}
# The first bytes of a block say how it is compressed (ROOT, core/zip).
MAGIC = {"zlib": b"ZL", "lzma": b"XZ", "lz4": b"L4", "zstd": b"ZS"}


def data() -> dict[str, Any]:
    """Return two jets for each entry."""
    numbers = np.arange(COUNT, dtype=np.int32)
    items = np.arange(2 * COUNT)
    jets = ak.zip({"pt": (items % 1000).astype(np.float32) / 7, "id": items})
    return {"a": numbers, "b": numbers // 3, "jets": ak.from_regular(ak.unflatten(jets, 2))}


def kind(path: Path, offset: int) -> str:
    head = path.read_bytes()[offset : offset + 2]
    return next((name for name, magic in MAGIC.items() if magic == head), "none")


def check(path: Path, root: Root) -> None:
    """ROOT finds each field stored as `OPTIONS` say, and all values."""
    columns = root.call("columns", str(path), "Events")
    found = {
        name: (one["type"], clusters[0][0], {kind(path, page[2]) for page in pages})
        for name, (one,) in columns.items()
        for clusters in [one["clusters"]]
        for pages in [clusters[0][1]]
    }
    jet = next(name for name in found if name.endswith(".id")).removesuffix(".id")
    # Uncompressed bytes are not split, as in ROOT.
    assert found["a"] == ("Int32", 0, {"none"})
    assert found["b"] == ("SplitInt32", 101, {"zlib"})
    assert found[f"{jet}.pt"] == ("Real32Trunc", 404, {"lz4"})
    assert found[f"{jet}.id"] == ("SplitInt64", 202, {"lzma"})
    assert columns["a"][0]["stored"] == 4 * COUNT
    assert columns["b"][0]["stored"] < 4 * COUNT / 3
    most = {
        name: max(page[0] for page in one["clusters"][0][1]) for name, (one,) in columns.items()
    }
    assert 900 < most["a"] <= 4096 // 4
    assert 13_000 < most[f"{jet}.pt"] <= 64_000 // 4
    assert most["b"] == COUNT
    frame = root.call("numpy", str(path), "Events", ["a", "b"])
    np.testing.assert_array_equal(frame["a"], data()["a"])
    np.testing.assert_array_equal(frame["b"], data()["b"])


def test_by_glob(tmp_path: Path, root: Root) -> None:
    """Each option of each field is that of the last glob that matches."""
    path = tmp_path / "options.root"
    with nyssa.recreate(path) as file:
        file.mkrntuple("Events", data(), field_options=OPTIONS)
    check(path, root)
    rows = root.call("entries", str(path), "Events", 17, 5)
    bound = nyssa.column_precision("Real32Trunc:16").relative
    for row, jets in zip(rows, data()["jets"][:5].tolist(), strict=True):
        for jet, given in zip(row["jets"], jets, strict=True):
            assert jet["id"] == given["id"]
            assert abs(jet["pt"] - given["pt"]) <= bound * given["pt"]


def test_for_all_rntuples_and_late_fields(tmp_path: Path, root: Root) -> None:
    """The options of `recreate` are for every RNTuple, and for fields that are added later."""
    path = tmp_path / "all.root"
    with nyssa.recreate(path, field_options={"*": {"compression": "lz4"}}) as file:
        file["One"] = {"x": np.arange(1000) // 9}
        two = file.mkrntuple("Two", {"x": "int"}, field_options={"[xy]": {"column": "unsplit"}})
        two.extend({"x": np.arange(1000) // 9})
        two.add_fields({"y": "int"})
        two.extend({"x": np.arange(1000) // 9, "y": np.arange(1000) // 9})
    for name, fields, column in [("One", ["x"], "SplitInt64"), ("Two", ["x", "y"], "Int32")]:
        columns = root.call("columns", str(path), name)
        for field in fields:
            (one,) = columns[field]
            assert one["type"] == column
            assert one["clusters"][-1][0] == 404
            assert kind(path, one["clusters"][-1][1][0][2]) == "lz4"
    assert root.call("numpy", str(path), "Two", ["y"])["y"].tolist() == [0] * 1000 + [
        i // 9 for i in range(1000)
    ]


def test_the_inspector(tmp_path: Path, root: Root) -> None:
    """With one compression for all, ROOT's inspector counts bytes and pages of each column."""
    path = tmp_path / "inspected.root"
    options = {"x": {"column": "Int32", "page_size": "1 kB"}, "y": {"column": "Real32Trunc:12"}}
    numbers = np.arange(10_000)
    with nyssa.recreate(path, compression=505, effort="full") as file:
        data = {"x": numbers.astype(np.int32), "y": (numbers % 7).astype(np.float32), "z": numbers}
        file.mkrntuple("Events", data, field_options=options)
    found = root.call("inspected", str(path), "Events")
    assert found["Int32"][1:] == (40_000, 40)
    # This is the size in memory; on disk a number has 12 bits and is compressed.
    assert found["Real32Trunc"][1:] == (40_000, 1)
    assert found["SplitInt64"][1:] == (80_000, 1)
    columns = root.call("columns", str(path), "Events")
    for (one,) in columns.values():
        assert found[one["type"]][0] == one["stored"]
        assert one["clusters"][0][0] == 505


def test_rewrite_and_convert(tmp_path: Path, root: Root) -> None:
    """Python and the command line accept the same options, with the same effect."""
    plain, path = tmp_path / "plain.root", tmp_path / "rewritten.root"
    with nyssa.recreate(plain) as file:
        file["Events"] = data()
    (report,) = nyssa.rewrite(plain, path, field_options=OPTIONS)
    assert any(
        "Real32Trunc with 16 bits: relative error at most 7.81e-3" in note
        for note in report["notes"]
    )
    check(path, root)
    by_command = tmp_path / "command.root"
    arguments = [
        f"{glob}:" + ",".join(f"{name}={value}" for name, value in one.items())
        for glob, one in OPTIONS.items()
    ]
    arguments = [one.replace("page_size", "page-size").replace(" kB", "kB") for one in arguments]
    given = [part for one in arguments for part in ("--field-options", one)]
    command = [sys.executable, "-m", "nyssa", "rewrite", str(plain), str(by_command), *given]
    subprocess.run(command, check=True, capture_output=True)
    check(by_command, root)
    verified = tmp_path / "verified.root"
    (report,) = nyssa.rewrite(plain, verified, field_options=OPTIONS, verify=True)
    assert report["verified"]
    check(verified, root)


def test_convert(tmp_path: Path, root: Root) -> None:
    """The options of a conversion are for fields by their names in the output."""
    tree, path = tmp_path / "tree.root", tmp_path / "converted.root"
    root.call(
        "cpp",
        "",
        'ROOT::RDataFrame(5000).Define("x", "float(rdfentry_)").Define("n", "int(rdfentry_)")'
        f'.Snapshot("T", "{tree}");',
    )
    options = {"x": {"column": "Real32Quant:16:0:5000"}, "n": {"compression": "none"}}
    report = nyssa.convert(tree, path, field_options=options, verify=True)
    assert report["verified"]
    assert any(
        "x is stored as Real32Quant with 16 bits from 0 to 5000" in n for n in report["notes"]
    )
    columns = root.call("columns", str(path), "T")
    assert columns["x"][0]["type"] == "Real32Quant"
    assert (columns["n"][0]["type"], columns["n"][0]["stored"]) == ("Int32", 20_000)
    frame = root.call("numpy", str(path), "T", ["x", "n"])
    bound = nyssa.column_precision("Real32Quant:16:0:5000").absolute
    assert np.max(np.abs(frame["x"].astype(float) - np.arange(5000))) <= bound
    assert frame["n"].tolist() == list(range(5000))


IMPORTED = r"""
void nyssa_write_jets(const char *path) {
    TFile file(path, "RECREATE");
    TTree tree("Events", "");
    int nJet = 0;
    float pt[8], mass[8];
    int id[8];
    double met = 0;
    tree.Branch("nJet", &nJet, "nJet/I");
    tree.Branch("Jet_pt", pt, "Jet_pt[nJet]/F");
    tree.Branch("Jet_mass", mass, "Jet_mass[nJet]/F");
    tree.Branch("Jet_id", id, "Jet_id[nJet]/I");
    tree.Branch("MET.pt", &met, "pt/D");
    for (int i = 0; i < 2000; ++i) {
        nJet = i % 5;
        met = i / 7.;
        for (int j = 0; j < nJet; ++j) {
            pt[j] = 20 + (31 * i + 7 * j) % 997 / 3.f;
            mass[j] = pt[j] / 9;
            id[j] = i - j;
        }
        tree.Fill();
    }
    tree.Write();
}
"""


@pytest.fixture(scope="module")
def jets(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a tree with a collection of jets, as NanoAOD has them."""
    path = tmp_path_factory.mktemp("jets") / "jets.root"
    root.call("cpp", IMPORTED, f'nyssa_write_jets("{path}")')
    return path


@pytest.mark.parametrize("job", ["convert", "rewrite"])
def test_projected_fields(job: str, jets: Path, tmp_path: Path, root: Root) -> None:
    """Options apply to the data of projected fields, by the names that users know."""
    path, again = tmp_path / "converted.root", tmp_path / "again.root"
    option = "Jet_*:column=Real32Trunc:16,compression=zstd:9"
    if job == "rewrite":
        nyssa.convert(jets, path)
        arguments = ["rewrite", f"{path}:Events", str(again), "--field-options", option]
    else:
        again = path
        arguments = ["convert", f"{jets}:Events", str(path), "--field-options", option]
    # The values are compared within the precision that the note states.
    arguments.append("--verify")
    done = subprocess.run(
        [sys.executable, "-m", "nyssa", *arguments], check=True, capture_output=True, text=True
    )
    assert "note: Jet_pt is stored as Real32Trunc with 16 bits" in done.stdout
    columns = root.call("columns", str(again), "Events")
    found = {
        name.rpartition(".")[2]: (one["type"], one["clusters"][0][0])
        for name, (one,) in columns.items()
        if name.startswith("_")
    }
    offsets = next(kind for name, kind in found.items() if name.startswith("_"))
    # The offsets belong to all members: `nJet` sets their options.
    assert offsets == ("SplitIndex64", 505)
    assert found["Jet_pt"] == found["Jet_mass"] == ("Real32Trunc", 509)
    assert found["Jet_id"][1] == 509
    assert "Real32Trunc" not in found["Jet_id"][0]
    import uproot

    bound = nyssa.column_precision("Real32Trunc:16").relative
    with uproot.open(f"{jets}:Events") as tree:
        given = tree.arrays(["Jet_pt", "Jet_mass", "Jet_id"])
    for name in ["Jet_pt", "Jet_mass"]:
        read = ak.Array(root.call("lists", str(again), "Events", name))
        assert ak.num(read).tolist() == ak.num(given[name]).tolist()
        assert ak.all(abs(read - given[name]) <= bound * given[name])
        assert ak.any(read != given[name])
    assert root.call("lists", str(again), "Events", "Jet_id") == given["Jet_id"].tolist()


def test_names_of_branches(jets: Path, tmp_path: Path, root: Root) -> None:
    """A branch is selected by its name, by the name of its field, or by the counter of its list."""
    branch = {"MET.pt": {"column": "Real32"}, "nJet": {"column": "Index32"}}
    for number, options in enumerate([branch, {"MET_pt": {"column": "Real32"}}]):
        path = tmp_path / f"{number}.root"
        report = nyssa.convert(jets, path, field_options=options)
        assert report["renamed"] == [{"branch": "MET.pt", "field": "MET_pt"}]
        columns = root.call("columns", str(path), "Events")
        assert columns["MET_pt"][0]["type"] == "Real32"
    assert root.call("lists", str(tmp_path / "0.root"), "Events", "Jet_id")[7] == [7, 6]


@pytest.mark.parametrize(
    ("glob", "column", "message"),
    [
        ("Jetz_*", "split", 'no field matches "Jetz_*"'),
        (
            "{nJet,Jet_id}",
            "Real32Trunc:16",
            'none of the fields that "{nJet,Jet_id}" matches can be stored as Real32Trunc:16: nJet',
        ),
        (
            "Jet_id",
            "Real16",
            'none of the fields that "Jet_id" matches can be stored as Real16: Jet_id (std::int32_t'
            ", stored as SplitInt32)",
        ),
    ],
)
def test_what_matches_nothing(
    glob: str, column: str, message: str, jets: Path, tmp_path: Path
) -> None:
    """The error names the matched columns and their types."""
    with pytest.raises(ArgumentError) as refused:
        nyssa.convert(jets, tmp_path / "no.root", field_options={glob: {"column": column}})
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"jetz": {"compression": "lz4"}}, 'no field matches "jetz"; did you mean "jets"'),
        ({"a": {"colum": "split"}}, 'fields have no option "colum": they have column'),
        ({"a": {"page_size": 1}}, "a page size of 1 bytes"),
        ({"a": {"page_size": "big"}}, "page_size is a number of bytes"),
        ({"a": {"compression": "gzip"}}, "gzip"),
        ({"a": {"column": "Real16"}}, 'none of the fields that "a" matches'),
        ({"jets._0.pt": {"column": "SplitReal16"}}, "does not write columns of type SplitReal16"),
        ({"[": {"column": "split"}}, r'"\[" is not a pattern'),
        ({"a": "split"}, "are not a dict"),
        (["a:column=split"], "field_options is not a dict of globs"),
    ],
)
def test_refused(fields: Any, message: str, tmp_path: Path) -> None:
    """An impossible option raises an error with the reason, and leaves no file."""
    path = tmp_path / "refused.root"
    with pytest.raises(ArgumentError, match=message), nyssa.recreate(path) as file:
        file.mkrntuple("Events", data(), field_options=fields)
    assert not path.exists()


VALUES = {
    "normal": np.concatenate([np.geomspace(1e-4, 6e4, 4001), [65504.0, 1.0, 1 + 2**-7 - 2**-23]]),
    "small": np.geomspace(1e-8, 1e-4, 2001),
    "tiny": np.geomspace(1e-45, 1e-37, 2001),
    "unit": np.concatenate([np.random.default_rng(1).uniform(-1, 1, 4001), [-1, 1 / 3, 1]]),
}


@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("Real16", "normal"),
        ("Real16", "small"),
        ("Real32Trunc:10", "normal"),
        ("Real32Trunc:16", "normal"),
        ("Real32Trunc:31", "normal"),
        ("Real32Trunc:12", "tiny"),
        ("Real32Quant:1:-1:1", "unit"),
        ("Real32Quant:12:-1:1", "unit"),
        ("Real32Quant:24:-1:1", "unit"),
        ("Real32Quant:32:-1:1", "unit"),
        ("Real32", "normal"),
        ("Real32", "tiny"),
        ("split", "normal"),
    ],
)
@pytest.mark.parametrize("field", ["float", "double"])
def test_bounds(column: str, values: str, field: str, tmp_path: Path, root: Root) -> None:
    """The errors of ROOT and nyssa stay inside the bound, and nearly reach it."""
    bound = nyssa.column_precision(column, field)
    dtype = np.float32 if field == "float" else np.float64
    given = VALUES[values].astype(dtype)
    path = tmp_path / "bounds.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple("Events", {"x": field}, field_options={"x": {"column": column}})
        events.extend({"x": given})
    exact = given.astype(np.longdouble)
    allowed = np.maximum(bound.relative * np.abs(exact), bound.absolute)
    read = root.call("numpy", str(path), "Events", ["x"])["x"]
    error = np.abs(read.astype(np.longdouble) - exact)
    assert np.all(error <= allowed)
    # A float has less than 32 bits between -1 and 1, so it is unchanged.
    if (bound.relative or bound.absolute) and (field, column[12:14]) != ("float", "32"):
        assert np.max(error / allowed) > 0.4
    kind, *numbers = column.split(":")
    if kind not in ("Real32Trunc", "Real32Quant", "Real16"):
        return
    theirs = tmp_path / "theirs.root"
    root.call(
        "low_precision", str(theirs), field, kind, [float(n) for n in numbers], given.tolist()
    )
    written = root.call("numpy", str(theirs), "Events", ["x"])["x"]
    assert np.all(np.abs(written.astype(np.longdouble) - exact) <= allowed)
    np.testing.assert_array_equal(written, read)


@pytest.mark.parametrize("options", [{"column": "split"}, {"compression": "zlib:3"}])
def test_half_precision_stays_unsplit(options: dict[str, str], tmp_path: Path, root: Root) -> None:
    """ROOT refuses a whole RNTuple that has a column of type SplitReal16."""
    path = tmp_path / "half.root"
    given = np.arange(1000, dtype=np.float16)
    with nyssa.recreate(path, compression="none") as file:
        file.mkrntuple("Events", {"h": given, "x": given}, field_options={"h": options})
    assert root.call("numpy", str(path), "Events", ["h"])["h"].tolist() == given.tolist()
    nyssa.rewrite(path, tmp_path / "again.root", compression="zstd:3")
    again = root.call("numpy", str(tmp_path / "again.root"), "Events", ["h"])["h"]
    assert again.tolist() == given.tolist()


def test_no_precision() -> None:
    """Only floating-point types have a precision."""
    with pytest.raises(ArgumentError, match='"Int16" holds no floating-point numbers'):
        nyssa.column_precision("Int16")
    with pytest.raises(ArgumentError, match='"float" or "double" belongs'):
        nyssa.column_precision("Real16", "half")
    assert json.loads(json.dumps(nyssa.column_precision("Real32Quant:1:0:2")[2:])) == [0.0, 2.0]
