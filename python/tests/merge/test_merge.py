"""Merged RNTuples have the values of the inputs in order, as ROOT and nyssa read them."""

from __future__ import annotations

from pathlib import Path

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa import errors
from support.root import Root

COUNT = 300


def events(first: int, count: int = COUNT) -> dict[str, object]:
    """Return entries that differ from the entries of other files."""
    numbers = np.arange(first, first + count)
    counts = numbers % 4
    return {
        "number": numbers.astype(np.int64),
        "x": (numbers / 7).astype(np.float32),
        "flag": numbers % 3 == 0,
        "name": ak.Array([f"event {n}" * (n % 3) for n in numbers]),
        "values": ak.unflatten(np.arange(counts.sum(), dtype=np.float64) + first, counts),
        "jets": ak.zip(
            {"pt": ak.unflatten(np.arange(counts.sum(), dtype=np.float32) * 2 + first, counts)}
        ),
        "fixed": np.stack([numbers, numbers + 1], axis=1).astype(np.int32),
    }


def write(path: Path, first: int, count: int = COUNT, drop: str = "", **options: object) -> Path:
    """Without entries there are no types."""
    # Without entries there would be no types.
    columns = events(first, max(count, 4)).items()
    data = {name: column[:count] for name, column in columns if name != drop}
    with nyssa.recreate(path, **options) as file:
        file["Events"] = data
    return path


def expected(root: Root, paths: list[Path], name: str = "Events") -> list[object]:
    """Return the values that ROOT reads from the inputs."""
    return [entry for path in paths for entry in root.call("entries", str(path), name)]


def same_in_nyssa(paths: list[Path], merged: Path, name: str = "Events") -> None:
    """Compare all values that nyssa reads."""
    one = nyssa.open(f"{merged}:{name}").arrays()
    parts = [nyssa.open(f"{path}:{name}").arrays() for path in paths]
    whole = ak.concatenate([part[ak.fields(one)] for part in parts])
    assert ak.to_list(one) == ak.to_list(whole)


def test_same_schema(tmp_path: Path, root: Root) -> None:
    """ROOT and nyssa read every value in order, and the report has the right counts."""
    paths = [write(tmp_path / f"{i}.root", 1000 * i) for i in range(3)]
    merged = tmp_path / "merged.root"
    calls: list[tuple[int, int]] = []
    report = nyssa.merge(paths, merged, progress=lambda *args: calls.append(args))
    assert report["entries"] == 3 * COUNT
    assert report["clusters"] == 3
    assert report["output_bytes"] == merged.stat().st_size
    assert report["checksums_verified"]
    assert calls[-1][0] == calls[-1][1] > 0
    assert root.call("entries", str(merged), "Events") == expected(root, paths)
    assert root.call("fields", str(merged), "Events") == root.call(
        "fields", str(paths[0]), "Events"
    )
    same_in_nyssa(paths, merged)


def test_other_compression_and_encodings(tmp_path: Path, root: Root) -> None:
    """Fields get a representation for each encoding; ROOT's own merger refuses these files."""
    settings = [505, 0, "lz4", "zlib:1", "lzma"]
    paths = [
        write(tmp_path / f"{i}.root", 1000 * i, compression=setting)
        for i, setting in enumerate(settings)
    ]
    merged = tmp_path / "merged.root"
    nyssa.merge(paths, merged)
    assert root.call("entries", str(merged), "Events") == expected(root, paths)
    same_in_nyssa(paths, merged)
    # The merged file can be merged again, with its suppressed columns.
    again = tmp_path / "again.root"
    nyssa.merge([paths[1], merged], again)
    assert root.call("entries", str(again), "Events") == expected(root, [paths[1], merged])


@pytest.mark.parametrize("lacking", [0, 1])
@pytest.mark.parametrize("field", ["number", "x", "flag", "name", "values", "jets", "fixed"])
def test_union(field: str, lacking: int, tmp_path: Path, root: Root) -> None:
    """A field that one input lacks reads as zero or empty there."""
    paths = [
        write(tmp_path / f"{i}.root", 1000 * i, 20, drop=field if i == lacking else "")
        for i in range(2)
    ]
    merged = tmp_path / "merged.root"
    with pytest.raises(errors.ArgumentError, match=f'field "{field}" is in .* and not in'):
        nyssa.merge(paths, merged)
    assert not merged.exists()
    report = nyssa.merge(paths, merged, "union")
    lacks = f"field {field} is not in {paths[lacking]}: it is zero, empty or without a value there"
    assert report["notes"] == [lacks]
    zero = {
        "number": 0,
        "x": 0.0,
        "flag": False,
        "name": "",
        "values": [],
        "jets": [],
        "fixed": [0, 0],
    }
    entries = expected(root, paths)
    for entry in entries[20 * lacking : 20 * lacking + 20]:
        entry[field] = zero[field]
    assert root.call("entries", str(merged), "Events") == entries
    only = tmp_path / "filtered.root"
    report = nyssa.merge(paths, only, "filter")
    assert report["notes"] == [f"left out field {field}, which some input lacks"]
    for entry in entries:
        del entry[field]
    assert root.call("entries", str(only), "Events") == entries


def test_real_files(data: Path, tmp_path: Path) -> None:
    """Files of ROOT and other writers are merged with themselves."""
    tried = 0
    for path in sorted((data / "rntuple").glob("*.root")):
        file = nyssa.open(path)
        for name in file.keys(filter_classname="ROOT::RNTuple", cycle=False):
            one = f"{path}:{name}"
            merged = tmp_path / f"{tried}.root"
            report = nyssa.merge([one, one], merged)
            entries = nyssa.open(one).num_entries
            assert report["entries"] == 2 * entries
            tried += 1
            before, after = nyssa.open(one), nyssa.open(f"{merged}:{name}")
            keys, stop = before.keys(), min(entries, 100)
            for key in keys[:: max(1, len(keys) // 10)]:
                try:
                    array = before[key].array(entry_stop=stop)
                except NotImplementedError:
                    continue
                values = str(ak.to_list(array))
                assert str(ak.to_list(after[key].array(entry_stop=stop))) == values, (path, key)
                second = after[key].array(entry_start=entries, entry_stop=entries + stop)
                assert str(ak.to_list(second)) == values, (path, key)
    assert tried > 10


def test_recluster(tmp_path: Path, root: Root) -> None:
    """Many small files become one file with full clusters and the same C++ types."""
    paths = [
        write(tmp_path / f"{i}.root", 100 * i, 100, compression=0 if i % 2 else 505)
        for i in range(30)
    ]
    merged = tmp_path / "merged.root"
    report = nyssa.merge(paths, merged, recluster="1 MB")
    assert report["reclustered"]
    assert (report["entries"], report["clusters"]) == (3000, 1)
    assert merged.stat().st_size < sum(path.stat().st_size for path in paths) / 3
    assert root.call("entries", str(merged), "Events") == expected(root, paths)
    assert root.call("fields", str(merged), "Events") == root.call(
        "fields", str(paths[0]), "Events"
    )
    small = nyssa.merge(paths, tmp_path / "small.root", recluster="10 kB", memory="32 MB")
    assert small["clusters"] > 1
    same_in_nyssa(paths, tmp_path / "small.root")


def test_recluster_union(tmp_path: Path, root: Root) -> None:
    """Fields that an input lacks are zero; the columns of an input may be projected."""
    paths = [write(tmp_path / f"{i}.root", 100 * i, 10, drop="x" * i) for i in range(2)]
    merged = tmp_path / "merged.root"
    nyssa.merge(paths, merged, "union", recluster="1 MB")
    entries = expected(root, paths)
    for entry in entries[10:]:
        entry["x"] = 0.0
    assert root.call("entries", str(merged), "Events") == entries


def test_projections(nano: Path, tmp_path: Path, root: Root) -> None:
    """Projected fields of ROOT's importer stay projected, with copied pages and with new ones."""
    part = [tmp_path / "a.root", tmp_path / "b.root"]
    nyssa.convert(nano, part[0], entry_stop=60, include=["nMuon", "Muon_*", "run", "HLT_IsoMu*"])
    nyssa.convert(nano, part[1], entry_start=60, include=["nMuon", "Muon_*", "run", "HLT_IsoMu*"])
    for options in [{}, {"recluster": "1 MB"}]:
        merged = tmp_path / "merged.root"
        nyssa.merge(part, merged, force=True, **options)
        assert root.call("fields", str(merged), "Events") == root.call(
            "fields", str(part[0]), "Events"
        )
        same_in_nyssa(part, merged)
        # ROOT cannot show cardinalities, but reads them.
        names = ["run", "nMuon", "Muon_pt"]
        one, *parts = (root.call("numpy", str(path), "Events", names) for path in [merged, *part])
        for name in names:
            values = [list(value) if name == "Muon_pt" else value for value in one[name]]
            assert str(values) == str(
                [
                    list(value) if name == "Muon_pt" else value
                    for part in parts
                    for value in part[name]
                ]
            )


def test_late_fields(tmp_path: Path, root: Root) -> None:
    """Fields that were added while an input was written read as zero before, at any position."""
    late = tmp_path / "late.root"
    with nyssa.recreate(late) as file:
        writer = file.mkrntuple("Events", {"number": "int64"})
        writer.extend({"number": np.arange(5)})
        writer.add_fields({"x": "float32", "values": "var * float64", "name": "string"})
        more = {key: events(0, 7)[key] for key in ["number", "x", "values", "name"]}
        writer.extend(more)
    full = tmp_path / "full.root"
    with nyssa.recreate(full) as file:
        file["Events"] = more
    for order in [[late, full], [full, late], [late, late]]:
        merged = tmp_path / "merged.root"
        nyssa.merge(order, merged, force=True)
        assert root.call("entries", str(merged), "Events") == expected(root, order)
        same_in_nyssa(order, merged)


def test_several_thousand_tiny_inputs(tmp_path: Path) -> None:
    """Neither the number of open files nor the memory grows with the number of inputs."""
    import resource

    one = write(tmp_path / "one.root", 0, 3)
    empty = write(tmp_path / "empty.root", 0, 0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 200), hard))
    try:
        report = nyssa.merge([one, empty] * 1500, tmp_path / "merged.root")
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (report["entries"], report["clusters"]) == (4500, 1500)
    numbers = nyssa.open(f"{tmp_path / 'merged.root'}:Events")["number"].array()
    assert ak.to_list(numbers) == [0, 1, 2] * 1500


def test_no_entries_at_all(tmp_path: Path, root: Root) -> None:
    """A merge of inputs without entries has only a schema."""
    empty = write(tmp_path / "empty.root", 0, 0)
    for options in [{}, {"recluster": "1 MB"}]:
        merged = tmp_path / "merged.root"
        assert nyssa.merge([empty, empty], merged, force=True, **options)["entries"] == 0
        assert root.call("entries", str(merged), "Events") == []
        assert len(root.call("fields", str(merged), "Events")) == 7


def test_shared_pages_stay_shared(tmp_path: Path) -> None:
    """Pages that are stored once in an input are stored once in the output."""
    path = tmp_path / "zeros.root"
    with nyssa.recreate(path, page_size="4 kB", compression=0) as file:
        file["Events"] = {name: np.zeros(50_000) for name in "abc"}
    merged = tmp_path / "merged.root"
    report = nyssa.merge([path, path], merged)
    assert report["shared_pages"] > 0.9 * report["pages"] > 100
    assert merged.stat().st_size < 3 * path.stat().st_size
    same_in_nyssa([path, path], merged)


def test_other_objects(tmp_path: Path, root: Root) -> None:
    """Histograms are added up; of strings, which ROOT does not merge, each one is kept."""
    paths = [write(tmp_path / f"{i}.root", 100 * i, 10) for i in range(2)]
    for number, path in enumerate(paths):
        root.call("add_histogram", str(path), "dir", "h")
        with nyssa.update(path) as file:
            file["text"] = f"text {number}"
            file[f"text{number}"] = f"text {number}"
    merged = tmp_path / "merged.root"
    report = nyssa.merge(paths, merged)
    assert report["notes"] == [
        "text (TObjString): ROOT merges no such objects: the 2 that differ are kept, each with a "
        "cycle of its own"
    ]
    assert root.call("histogram", str(merged), "dir/h") == [0.0, 6.0, 0.0]
    assert root.call("entries", str(merged), "Events") == expected(root, paths)
    with nyssa.open(merged) as file:
        assert [str(file[name]) for name in ("text;1", "text;2", "text0", "text1")] == [
            "text 0",
            "text 1",
            "text 0",
            "text 1",
        ]
    report = nyssa.merge(paths, merged, carry=False, force=True)
    with nyssa.open(merged) as file:
        assert file.keys() == ["Events;1"]


@pytest.mark.parametrize("weights", [(False, False), (True, True), (True, False), (False, True)])
def test_histograms_are_added_as_hadd_does(
    tmp_path: Path, root: Root, weights: tuple[bool, bool]
) -> None:
    """All classes, with and without sums of squares of weights, and some that one input lacks."""
    uproot = pytest.importorskip("uproot")
    paths, plain = [], []
    for number, weighted in enumerate(weights):
        missing = [["TH1D"], ["TH2F", "sum"]][number]
        paths.append(write(tmp_path / f"{number}.root", 100 * number, 10))
        plain.append(tmp_path / f"plain{number}.root")
        for path in (paths[-1], plain[-1]):
            root.call("write_summed", str(path), number + 1, weighted, missing)
    merged, hadd = tmp_path / "merged.root", tmp_path / "hadd.root"
    report = nyssa.merge(paths, merged)
    assert not report["notes"]
    assert root.call("hadd", str(hadd), [str(path) for path in plain])
    ours, theirs = (root.call("histograms", str(path)) for path in (merged, hadd))
    assert ours.keys() == theirs.keys()
    assert len(ours) == 20
    for name, one in theirs.items():
        # hadd takes profiles without sums of squares of weights as profiles without entries.
        mixed = "Profile" in name and len(set(weights)) > 1
        for what in ("contents",) if mixed else ("contents", "errors"):
            np.testing.assert_allclose(ours[name][what], one[what], rtol=1e-14, err_msg=name)
        assert (ours[name]["edges"][0] == one["edges"][0]).all()
        assert ours[name]["labels"] == one["labels"]
    assert ours["folder/full;1"]["contents"].tolist() == [0, 127, 0]
    names = [name.partition(";")[0] for name in theirs]
    ours, theirs = (root.call("drawn_objects", str(path), names) for path in (merged, hadd))
    for name, one in theirs.items():
        for what in ("entries", "integral", "mean", "deviation"):
            assert ours[name][what] == pytest.approx(one[what], rel=1e-12, abs=1e-14), (name, what)
    with uproot.open(merged) as mine, uproot.open(hadd) as its:
        for name in ("sum", "product", "least", "last", "either"):
            path = f"folder/{name}"
            assert mine[path].member("fVal") == its[path].member("fVal")
        assert mine["only2"] == its["only2"] == "only 2"
        inputs = [uproot.open(path)["folder/TProfile"] for path in paths]
        if any(weights):
            squares = [
                np.array(one.member("fBinSumw2" if weighted else "fBinEntries"))
                for one, weighted in zip(inputs, weights, strict=True)
            ]
            total = np.array(mine["folder/TProfile"].member("fBinSumw2"))
            np.testing.assert_allclose(total, sum(squares), rtol=1e-14)


def test_histograms_that_cannot_be_added(tmp_path: Path) -> None:
    """Other axes, labels and classes are refused with file, object and reason."""
    first = write(tmp_path / "first.root", 0, 10)
    axis = np.array([0.0, 1.0, 2.0])
    given = {"h": (np.ones(2), axis), "v": (np.ones(2), np.array([0.0, 0.5, 2.0]))}
    with nyssa.update(first) as file:
        for name, data in given.items():
            file[name] = data
        file["text"] = "text"
    out = tmp_path / "out.root"
    for number, (name, data, message) in enumerate(
        [
            (
                "h",
                (np.ones(3), np.arange(4.0)),
                "x axis has 3 bins from 0 to 3, but the axis of earlier inputs has ",
            ),
            (
                "h",
                (np.ones(2), axis + 1),
                "x axis has 2 bins from 1 to 3, but the axis of earlier inputs has ",
            ),
            (
                "v",
                (np.ones(2), axis),
                "its x axis has other edges than in the inputs before; --skip",
            ),
            ("h", (np.ones(2, np.int32), axis), "a TH1I, but an input before has a TH1D of this"),
            ("text", (np.ones(2), axis), "a TH1D, but an input before has a TObjString of this "),
        ]
    ):
        other = write(tmp_path / f"other{number}.root", 100, 10)
        with nyssa.update(other) as file:
            file[name] = data
        with pytest.raises(errors.ArgumentError) as caught:
            nyssa.merge([first, other], out)
        assert message in str(caught.value)
        assert str(other) in str(caught.value)
        assert name in str(caught.value)
        assert not out.exists()
        nyssa.merge([first, other], out, carry=False)
        out.unlink()


def test_refused(tmp_path: Path, data: Path) -> None:
    """An error names what cannot be merged, and no output is left."""
    a, b = (write(tmp_path / f"{name}.root", 0, 10) for name in "ab")
    out = tmp_path / "out.root"
    with pytest.raises(errors.ArgumentError, match="there is nothing to merge"):
        nyssa.merge([], out)
    with pytest.raises(errors.ArgumentError, match="the output is the input file"):
        nyssa.merge([a, b], b, force=True)
    with pytest.raises(FileExistsError):
        nyssa.merge([a], b)
    with pytest.raises(FileNotFoundError):
        nyssa.merge([a, tmp_path / "missing.root"], out)
    tree = data / "ttree" / "uproot-Zmumu.root"
    for argument in (tree, f"{tree}:events"):
        with pytest.raises(errors.ArgumentError, match=f"no RNTuple Events, and {a} has one"):
            nyssa.merge([a, argument], out)
    with pytest.raises(
        errors.NotFoundError,
        match="and the first input has one: convert it first",
    ):
        nyssa.merge([f"{a}:Events", tree], out)
    with pytest.raises(errors.ArgumentError, match="events is a TTree, and the first input names"):
        nyssa.merge([f"{a}:Events", f"{tree}:events"], out)
    with pytest.raises(errors.ArgumentError, match='mode "join" is not known'):
        nyssa.merge([a, b], out, "join")
    other = tmp_path / "other.root"
    with nyssa.recreate(other) as file:
        file["Events"] = {**events(0, 10), "x": ["text"] * 10}
    for mode in ["strict", "union", "filter"]:
        with pytest.raises(errors.ArgumentError, match="its type is std::string, not float.*x"):
            nyssa.merge([a, other], out, mode)
    two = tmp_path / "two.root"
    with nyssa.recreate(two) as file:
        file["A"] = file["B"] = {"x": np.arange(3)}
    assert nyssa.merge([f"{two}:A", two, f"{two}:B"], out)["entries"] == 9
    out.unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.root", "b.root", "other.root", "two.root",
    ]  # fmt: skip


def test_damaged_pages(tmp_path: Path) -> None:
    """A wrong checksum of a page is an error during the merge, unless checks are off."""
    good = write(tmp_path / "good.root", 0, 1000, compression=0)
    bad = tmp_path / "bad.root"
    content = bytearray(good.read_bytes())
    place = content.index(np.arange(500, 510, dtype=np.int64).tobytes())
    content[place] ^= 1
    bad.write_bytes(content)
    out = tmp_path / "out.root"
    with pytest.raises(errors.ChecksumError, match=r"page checksum is .*bad.root.*field number"):
        nyssa.merge([good, bad], out)
    assert not out.exists()
    report = nyssa.merge([good, bad], out, checksums=False)
    assert not report["checksums_verified"]
    with pytest.raises(errors.ChecksumError):
        nyssa.open(f"{out}:Events").arrays()


def test_options_of_the_output(tmp_path: Path, root: Root) -> None:
    """A merge has the options of all jobs; copied pages stay unchanged."""
    paths = [write(tmp_path / f"{i}.root", 100 * i, 100) for i in range(2)]
    out = tmp_path / "out.root"
    report = nyssa.merge(paths, out, verify=True)
    assert (report["verified"], report["checksums_verified"]) == (True, True)
    unsplit = {"*": {"column": "unsplit"}}
    refused = "pages are moved as they are: encodings, options of fields and page sizes need new"
    for options in ({"field_options": unsplit}, {"encoding": "auto"}, {"page_size": 4096}):
        with pytest.raises(errors.ArgumentError, match=refused):
            nyssa.merge(paths, out, force=True, **options)
    nyssa.merge(paths, out, recluster="1 MB", field_options=unsplit, verify=True, force=True)
    columns = root.call("columns", str(out), "Events")
    types = {column["type"] for field in columns.values() for column in field}
    assert types
    assert not any(name.startswith("Split") for name in types)
    assert root.call("entries", str(out), "Events") == expected(root, paths)


def test_attribute_sets(tmp_path: Path, root: Root) -> None:
    """Sets of one name become one set. Ranges count after the entries of earlier inputs."""
    paths = [tmp_path / f"{i}.root" for i in range(3)]
    for number, path in enumerate(paths):
        with nyssa.recreate(path) as file:
            writer = file.mkrntuple("Events", {"x": "int64"})
            if number == 1:
                writer.extend({"x": np.arange(10)})
                continue
            meta = writer.attribute_set("meta", {"run": "int32", "stream": "string"})
            with meta.range(run=number, stream="a"):
                writer.extend({"x": np.arange(10)})
            meta.extend([5], [5], {"run": [9], "stream": ["empty"]})
    wanted = [
        [0, 10, {"run": 0, "stream": "a"}],
        [5, 5, {"run": 9, "stream": "empty"}],
        [20, 30, {"run": 2, "stream": "a"}],
        [25, 25, {"run": 9, "stream": "empty"}],
    ]
    for options in [{}, {"recluster": "1 MB"}]:
        merged = tmp_path / "merged.root"
        nyssa.merge(paths, merged, force=True, **options)
        found = root.call("attributes", str(merged), "Events", "meta", ["run", "stream"])
        assert sorted(found) == wanted
    with nyssa.recreate(paths[1]) as file:
        writer = file.mkrntuple("Events", {"x": "int64"})
        writer.extend({"x": np.arange(3)})
        writer.attribute_set("meta", {"run": "float64"}).add(0, 1, {"run": 1.5})
    with pytest.raises(errors.ArgumentError, match="other attributes than the set of an earlier"):
        nyssa.merge(paths, tmp_path / "no.root")


def test_descriptions_that_differ_are_said(tmp_path: Path, root: Root) -> None:
    """The output has the description of the first RNTuple, and the first one of each field."""
    paths = [tmp_path / f"{number}.root" for number in range(3)]
    for path, text in zip(paths, ["one", "one", "two"], strict=True):
        root.call("cpp", DESCRIBED, f'nyssa_described("{path}", "{text}")')
    out = tmp_path / "out.root"
    assert not nyssa.merge(paths[:2], out)["notes"]
    for options in [{}, {"recluster": "1 MB"}]:
        report = nyssa.merge(paths, out, force=True, **options)
        assert report["notes"] == [
            f"the RNTuples differ in their descriptions: the output has what is in {paths[0]}, and "
            f"not what is in {paths[2]}",
            "the inputs differ in the descriptions of fields, of which the output has the first: x",
        ]
        root.call("cpp", "", f'nyssa_check_described("{out}", "one")')


#: An RNTuple with a description, and a field with one.
DESCRIBED = r"""
#ifndef NYSSA_DESCRIBED
#define NYSSA_DESCRIBED
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
void nyssa_described(std::string path, std::string text) {
   auto model = ROOT::RNTupleModel::Create();
   model->SetDescription(text);
   model->MakeField<int>("x", "x of " + text);
   model->MakeField<int>("y", "y");
   ROOT::RNTupleWriter::Recreate(std::move(model), "n", path)->Fill();
}
void nyssa_check_described(std::string path, std::string text) {
   auto reader = ROOT::RNTupleReader::Open("n", path);
   const auto &descriptor = reader->GetDescriptor();
   const auto &field = descriptor.GetFieldDescriptor(descriptor.FindFieldId("x"));
   if (descriptor.GetDescription() != text || field.GetFieldDescription() != "x of " + text)
      throw std::runtime_error("descriptions");
}
#endif
"""


def test_rntuples_of_other_names_are_not_put_into_one(tmp_path: Path, root: Root) -> None:
    paths = [tmp_path / f"{name}.root" for name in ("muons", "electrons")]
    for path in paths:
        with nyssa.recreate(path) as file:
            file[path.stem] = {"pt": np.arange(2.0)}
    merged = tmp_path / "merged.root"
    with pytest.raises(errors.ArgumentError, match=r"no RNTuple muons, .* name each as FILE:PATH"):
        nyssa.merge(paths, merged)
    named = [f"{paths[0]}:muons", paths[1]]
    with pytest.raises(errors.ArgumentError, match=r"no RNTuple muons as the first .* electrons"):
        nyssa.merge(named, merged)
    assert not merged.exists()
    # Who names both gets one.
    nyssa.merge([f"{path}:{path.stem}" for path in paths], merged)
    assert root.call("entries", str(merged), "muons") == [{"pt": pt} for pt in (0, 1, 0, 1)]


def test_a_second_rntuple_beside_a_named_one(tmp_path: Path) -> None:
    paths = [tmp_path / f"{number}.root" for number in range(2)]
    for path in paths:
        with nyssa.recreate(path) as file:
            file["Events"] = {"x": np.arange(3)}
            file["Runs"] = {"run": np.arange(1)}
    merged = tmp_path / "merged.root"
    report = nyssa.merge([f"{path}:Events" for path in paths], merged)
    assert [one.split(" ")[0] for one in report["left_out"]] == ["Runs;1"]
    assert report["entries"] == 6


def test_an_input_that_is_given_twice_is_said(tmp_path: Path) -> None:
    """Files are the same through links and other names, too."""
    path = write(tmp_path / "a.root", 0, 10)
    (tmp_path / "link.root").symlink_to(path)
    (tmp_path / "hard.root").hardlink_to(path)
    inputs = [path, tmp_path / "link.root", tmp_path / "hard.root"]
    for count, times in ((2, "twice"), (3, "3 times")):
        report = nyssa.merge(inputs[:count], tmp_path / "merged.root", force=True)
        note = f"input {path} is given {times}: its entries are in the output {times}"
        assert report["notes"] == [note]
    other = write(tmp_path / "b.root", 0, 10)
    assert not nyssa.merge([path, other], tmp_path / "merged.root", force=True)["notes"]


def test_optional_and_plain_values(tmp_path: Path) -> None:
    """A merge makes no optional values. It says that a chain does, which can be written."""
    paths = [str(tmp_path / f"{number}.root") for number in range(2)]
    for path, values in zip(paths, ([1, None], [3, 4]), strict=True):
        with nyssa.recreate(path) as file:
            file["n"] = {"x": ak.Array(values)}
    out = tmp_path / "out.root"
    message = r"its type is .*, and a merge makes no type for both: .*schema=\"union\""
    for inputs in (paths, paths[::-1]):
        for options in ({}, {"recluster": "1 MB"}):
            with pytest.raises(errors.ArgumentError, match=message):
                nyssa.merge(inputs, out, mode="union", **options)
    with nyssa.recreate(out) as file:
        file["n"] = nyssa.chain([f"{path}:n" for path in paths], schema="union")
    assert nyssa.open(f"{out}:n")["x"].array().to_list() == [1, None, 3, 4]
    text = tmp_path / "text.root"
    with nyssa.recreate(text) as file:
        file["n"] = {"x": ["a"]}
    with pytest.raises(errors.ArgumentError, match="and no type holds both"):
        nyssa.merge([paths[1], text], out, mode="union", force=True)


#: NanoAOD: lists with a counter, of which a file may lack one.
NANO = r"""
void nyssa_nano_lacking(TString path, bool all, int shift) {
   TFile f(path, "RECREATE"); TTree t("Events", ""); int n; float pt[9], q[9];
   t.Branch("nMuon", &n, "nMuon/i"); t.Branch("Muon_pt", pt, "Muon_pt[nMuon]/F");
   if (all) t.Branch("Muon_q", q, "Muon_q[nMuon]/F");
   for (int i = 0; i < 5; i++) { n = (i + shift) % 3; for (int k = 0; k < n; k++) { pt[k] = i + k;
     q[k] = k + 1; } t.Fill(); }
   t.Write();
}
"""


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_chain_and_merge_fill_in_the_same_way(tmp_path: Path, root: Root, order: list[int]) -> None:
    """A list that a file lacks has as many zeros as its other members have values."""
    trees = [str(tmp_path / f"tree{number}.root") for number in range(2)]
    tuples = [str(tmp_path / f"{number}.root") for number in range(2)]
    for number, path in enumerate(trees):
        guarded = f"#ifndef NYSSA_NANO_LACKING\n#define NYSSA_NANO_LACKING\n{NANO}\n#endif"
        root.call("cpp", guarded, f'nyssa_nano_lacking("{path}", {int(number == 0)}, {number})')
        nyssa.convert(path, tuples[number])
    values = [[[], [1.0], [1.0, 2.0], [], [1.0]], [[0.0], [0.0, 0.0], [], [0.0], [0.0, 0.0]]]
    expected = [one for number in order for one in values[number]]
    for paths in (trees, tuples):
        chosen = [f"{paths[number]}:Events" for number in order]
        chain = nyssa.chain(chosen, schema="union", missing="default")
        assert chain.arrays().Muon_q.tolist() == expected
        assert chain["Muon_q"].array().tolist() == expected
    merged = tmp_path / "merged.root"
    for recluster in (None, "1 MB"):
        given = [tuples[number] for number in order]
        nyssa.merge(given, merged, "union", verify=True, force=True, recluster=recluster)
        assert nyssa.open(f"{merged}:Events")["Muon_q"].array().tolist() == expected
        wanted = ", ".join("{" + ", ".join(map(str, one)) + "}" for one in expected)
        name = f"nyssa_filled{order[0]}{recluster is None:d}"
        check = f"""
        #include <ROOT/RNTupleReader.hxx>
        void {name}() {{
           std::vector<std::vector<float>> wanted{{{wanted}}};
           auto reader = ROOT::RNTupleReader::Open("Events", "{merged}");
           auto view = reader->GetView<std::vector<float>>("Muon_q");
           for (auto i : *reader)
              if (view(i) != wanted[i]) throw std::runtime_error("lists");
        }}"""
        root.call("cpp", check, f"{name}()")
    # A file without the members of a collection keeps its size, and merges with others.
    slim = tmp_path / "slim.root"
    nyssa.rewrite(tuples[1], slim, exclude=["Muon_*"])
    sizes = [(i + 1) % 3 for i in range(5)]
    check = f"""
    void nyssa_slim_sizes{order[0]}() {{
       auto r = ROOT::RNTupleReader::Open("Events", "{slim}");
       auto v = r->GetView<ROOT::RNTupleCardinality<std::uint32_t>>("nMuon");
         std::vector<int> want{{{", ".join(map(str, sizes))}}};
       for (auto i : *r) if (v(i) != want[i]) throw std::runtime_error("sizes");
    }}"""
    root.call("cpp", "#include <ROOT/RNTupleReader.hxx>" + check, f"nyssa_slim_sizes{order[0]}()")
    given = [[tuples[0], slim][number] for number in order]
    nyssa.merge(given, merged, "filter", verify=True, force=True)
    counts = [[0, 1, 2, 0, 1], sizes]
    expected_sizes = [one for number in order for one in counts[number]]
    assert nyssa.open(f"{merged}:Events")["nMuon"].array().tolist() == expected_sizes
    nyssa.merge(given, merged, "union", verify=True, force=True, recluster="1 MB")
    lists = [values[0], [[0.0] * size for size in sizes]]
    assert nyssa.open(f"{merged}:Events")["Muon_q"].array().tolist() == [
        one for number in order for one in lists[number]
    ]


#: A collection that ROOT stores as a structure of arrays.
ARRAYS = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TDictAttributeMap.h>
struct NyssaRecord { float x; int y; };
struct NyssaArrays { ROOT::RVec<float> x; ROOT::RVec<int> y; };
void nyssa_write_arrays(const char* path) {
   auto c = TClass::GetClass("NyssaArrays"); c->CreateAttributeMap();
   c->GetAttributeMap()->AddProperty("rntuple.SoARecord", "NyssaRecord");
   auto model = ROOT::RNTupleModel::Create();
   model->AddField(ROOT::RFieldBase::Create("s", "NyssaArrays").Unwrap());
   auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "n", path);
   auto entry = writer->GetModel().CreateEntry(); auto p = entry->GetPtr<NyssaArrays>("s");
   for (int i = 0; i < 3; i++) { p->x.assign(i, 1.5f * i); p->y.assign(i, i);
     writer->Fill(*entry); }
}
void nyssa_check_arrays(const char* path, int entries) {
   auto reader = ROOT::RNTupleReader::Open("n", path); auto& d = reader->GetDescriptor();
   if (!d.GetFieldDescriptor(d.FindFieldId("s")).IsSoACollection())
      throw std::runtime_error("the flag is lost");
   if (reader->GetNEntries() != entries) throw std::runtime_error("entries");
}
"""


def test_structures_of_arrays_stay_so(tmp_path: Path, root: Root) -> None:
    """The flag of the field is kept."""
    path, out = str(tmp_path / "a.root"), str(tmp_path / "out.root")
    root.call("cpp", ARRAYS, f'nyssa_write_arrays("{path}")')
    for recluster in (None, "1 MB"):
        nyssa.merge([path, path], out, force=True, verify=True, recluster=recluster)
        root.call("cpp", "", f'nyssa_check_arrays("{out}", 6)')
    nyssa.rewrite(path, out, force=True)
    root.call("cpp", "", f'nyssa_check_arrays("{out}", 3)')
