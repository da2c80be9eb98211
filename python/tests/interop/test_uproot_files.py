"""`nyssa.uproot` has the headers, keys and streamer infos of uproot, and its options of writing."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot

import nyssa.uproot as mine
from support.data import TESTDATA
from support.root import Root

FILES = ["objects/histograms.root", "objects/others.root", "ttree/events-zstd.root"]
HEADER = ["fVersion", "fBEGIN", "fEND", "fSeekFree", "fNbytesFree", "nfree", "fNbytesName"]
HEADER += ["fUnits", "fCompress", "fSeekInfo", "fNbytesInfo", "uuid", "hex_uuid", "is_64bit"]
HEADER += ["root_version", "root_version_tuple", "file_path"]
KEY = ["fNbytes", "fVersion", "fObjlen", "fKeylen", "fCycle", "fSeekKey", "fSeekPdir"]
KEY += ["fClassName", "fName", "fTitle", "is_64bit"]
KEY += ["data_compressed_bytes", "data_uncompressed_bytes"]


@pytest.mark.parametrize("name", FILES)
def test_header_and_keys(name: str) -> None:
    with uproot.open(TESTDATA / name) as other, mine.open(TESTDATA / name) as found:
        for one in HEADER:
            assert getattr(found.file, one) == getattr(other.file, one), one
        assert found.keys() == other.keys()
        for path in other.keys():
            key, expected = found.key(path), other.key(path)
            assert [getattr(key, one) for one in KEY] == [getattr(expected, one) for one in KEY]
            assert (key.name(), key.name(cycle=True)) == (expected.name(), path.rpartition("/")[2])
            assert key.classname() == expected.classname()
        with pytest.raises(mine.KeyInFileError, match="no-such"):
            found.key("no-such")


def as_uproot(text: str) -> str:
    """Return names of types as uproot has them."""
    return text.replace("ULong64_t", "unsigned long long").replace("Long64_t", "long long")


@pytest.mark.parametrize("name", FILES)
def test_streamers(name: str) -> None:
    with uproot.open(TESTDATA / name) as other, mine.open(TESTDATA / name) as found:
        expected = {
            name: {number: [one.name for one in info.elements] for number, info in infos.items()}
            for name, infos in other.file.streamers.items()
        }
        assert {
            as_uproot(name): {
                number: [one.name for one in info.elements] for number, info in infos.items()
            }
            for name, infos in found.file.streamers.items()
        } == expected
        shown, wanted = io.StringIO(), io.StringIO()
        found.file.show_streamers(stream=shown)
        other.file.show_streamers(stream=wanted)
        assert as_uproot(shown.getvalue()) == wanted.getvalue()
        for one, numbers in found.file.streamers.items():
            versions = found.file.streamers_named(one)
            assert found.file.streamer_named(one, "max") in versions
            assert found.file.streamer_named(one, min(numbers)) in versions
        assert (
            found.file.streamer_named("TNothing") is other.file.streamer_named("TNothing") is None
        )
        assert found.file.streamer_named(one, 999) is other.file.streamer_named(one, 999) is None
        with pytest.raises(mine.KeyInFileError, match="TNothing"):
            found.file.show_streamers("TNothing")


def test_streamers_of_a_class_and_those_that_it_needs() -> None:
    with mine.open(TESTDATA / FILES[0]) as found:
        shown = io.StringIO()
        found.file.show_streamers("TH1D", stream=shown)
    classes = [line.split(" ")[0] for line in shown.getvalue().splitlines() if line[:1].strip()]
    assert classes[-1] == "TH1D"
    assert {"TH1", "TNamed", "TObject", "TAxis", "TList"} <= set(classes)
    assert len(set(classes)) == len(classes)
    assert "TProfile" not in classes


def test_compression_of_branches(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    data = {"i": np.arange(1000), "x": np.zeros(1000), "v": ak.Array([[1.5, 2.5]] * 1000)}
    with mine.recreate(path, compression=mine.ZLIB(1)) as file:
        tree = file.mktree("t", {"i": "int64", "x": "float64", "v": "var * float64"})
        assert tree.compression == mine.ZLIB(1)
        tree["i"].compression = mine.LZ4(4)
        tree.compression = {"x": None}
        assert tree.compression == {
            "nv": mine.ZLIB(1),
            "i": mine.LZ4(4),
            "x": None,
            "v": mine.ZLIB(1),
        }
        tree.extend(data)
        tree.compression = mine.ZSTD(3)
        assert tree["nv"].compression == mine.ZSTD(3)
        tree.extend(data)
        with pytest.raises(KeyError, match="no 'y'"):
            tree["y"]
        with pytest.raises(TypeError, match="a compression is None, or such as"):
            tree["i"].compression = 101  # type: ignore[assignment]
        file.compression = mine.LZMA(2)
        file.mktree("u", {"x": data["x"]})
        file["h"] = np.histogram(np.zeros(10), bins=5000)
    with uproot.open(path) as file:
        for name, one in data.items():
            assert file["t"][name].array().to_list() == one.tolist() * 2
        assert file["t/x"].basket(0).compressed_bytes == file["t/x"].basket(0).uncompressed_bytes
        assert file["t/x"].basket(1).compressed_bytes < 200
        assert all(one.compression == uproot.ZSTD(3) for one in file["t"].branches)
        assert file["u/x"].compression == uproot.LZMA(2)
        key = file.key("h")
        start = key.fSeekKey + key.fKeylen
        assert path.read_bytes()[start : start + 2] == b"XZ"


def test_compression_of_a_tree_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    with uproot.recreate(path, compression=uproot.ZLIB(1)) as file:
        file.mktree("t", {"x": np.zeros(1000)})
    with mine.update(path) as file:
        file["t"]["x"].compression = None
        file["t"].extend({"x": np.ones(1000)})
    with uproot.open(path) as file:
        assert file["t/x"].array(library="np").tolist() == [0.0] * 1000 + [1.0] * 1000
        assert file["t/x"].basket(0).compressed_bytes < 200
        assert file["t/x"].basket(1).compressed_bytes > 8000


def test_data_that_are_refused_leave_no_tree(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    lists = [[1.5], [], [2.5, 3.5]]
    with mine.recreate(path) as file:
        with pytest.raises(ValueError, match="disagree"):
            file.mktree("t", {"nx": [1, 1, 1], "x": lists})
        with pytest.raises(ValueError, match="collides"):
            file.mktree("t", {"x": "var * float64", "n": {"x": "int32"}}, field_name="{}{}".format)
        file.mktree("t", {"nx": [1, 0, 2], "x": lists, "m": [[1, 2], [3, 4], [5, 6]]})
    with uproot.open(path) as file:
        assert file["t"].typenames() == {"nx": "int32_t", "x": "double[]", "m": "int64_t[2]"}
        assert file["t/x"].array().to_list() == lists


def test_lists_of_records(tmp_path: Path) -> None:
    """Their members have the names that `field_name` gives them, and one counter."""
    path = tmp_path / "tree.root"
    lists = ak.Array([[{"pt": 1.5, "q": 1}], [], [{"pt": 2.5, "q": -1}, {"pt": 3.5, "q": 1}]])
    options = {"field_name": "{}.{}".format, "counter_name": "num_{}".format}
    with mine.recreate(path) as file, uproot.recreate(tmp_path / "other.root") as other:
        for writer in (file, other):
            writer.mktree("named", {"Tau": lists.type}, **options).extend({"Tau": lists})
            writer.mktree("plain", lists).extend(lists)
            writer.mktree("default", {"Jet": lists})
    with uproot.open(path) as file, uproot.open(tmp_path / "other.root") as other:
        for name in other.keys(cycle=False):
            assert file[name].typenames() == other[name].typenames()
            assert file[name].arrays().to_list() == other[name].arrays().to_list()


def test_types_and_frames(tmp_path: Path) -> None:
    path = tmp_path / "tree.root"
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=[7, 8])
    with mine.recreate(path) as file:
        file.mktree("t", {"a": ("int32", (2,)), "b": "(2,3)f4"}).extend(
            {"a": np.zeros((1, 2), "i4"), "b": np.ones((1, 2, 3), "f4")}
        )
        file.mktree("frame", frame).extend(frame)
        form = ak.Array({"x": [1, 2, 3]})[[True, False, True]].layout.form
        file.mkrntuple("n", form).extend({"x": [1, 2]})
        file["name"] = np.histogram([1.0])
        assert file["name"].name == "name"
    with uproot.open(path) as file:
        assert file["t/a"].array().to_list() == [[0, 0]]
        assert file["t/b"].array().to_list() == [[[1.0] * 3] * 2]
        assert file["frame"].arrays(library="np")["index"].tolist() == [7, 8, 7, 8]
        assert file["n"].arrays().to_list() == [{"x": 1}, {"x": 2}]


def test_new_fields_are_accepted_on_request(tmp_path: Path) -> None:
    path = tmp_path / "ntuple.root"
    more = {"x": [3.5], "v": np.ones((1, 2), "i4"), "l": ak.Array([[1, 2]])}
    with mine.recreate(path) as file:
        ntuple = file.mkrntuple("n", {"x": np.array([1.5, 2.5])})
        with pytest.raises(ValueError, match="not in this RNTuple: v, l"):
            ntuple.extend(more)
        ntuple.extend(more, accept_new_fields=True)
        assert ntuple.num_entries == 3
    with uproot.open(path) as file:
        found = file["n"].arrays()
        assert found["x"].to_list() == [1.5, 2.5, 3.5]
        assert found["v"].to_list() == [[0, 0], [0, 0], [1, 1]]
        assert found["l"].to_list() == [[], [], [1, 2]]


def test_a_file_object_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "file.root"
    path.write_bytes(b"x" * 100_000)
    with path.open("r+b") as stream:
        stream.seek(100)
        with mine.recreate(stream) as file:
            file["h"] = "text"
    with uproot.open(path) as file:
        assert file["h"] == "text"
        assert path.stat().st_size == file.file.fEND


class WithOptions:
    """A path as a ``UPath`` is one."""

    def __init__(self, url: str) -> None:
        self.url, self.storage_options = url, {"option": 1}

    def __str__(self) -> str:
        return self.url


def test_paths_with_options() -> None:
    with mine.open(WithOptions(str(TESTDATA / FILES[2]))) as file:
        assert file.keys() == uproot.open(TESTDATA / FILES[2]).keys()


def test_directories_that_stay_empty(root: Root, tmp_path: Path) -> None:
    """ROOT writes no list of keys for them."""
    path = str(tmp_path / "empty.root")
    root.call("make_directory", path, "dir")
    with mine.open(path) as file:
        assert file.keys() == ["dir;1"]
    with mine.update(path) as file:
        file.mkdir("dir/below")
        file["dir/text"] = "inside"
    assert uproot.open(path).keys() == ["dir;1", "dir/below;1", "dir/text;1"]


def test_lists_with_keys_of_their_own(root: Root, tmp_path: Path) -> None:
    """ROOT and uproot read lists of lists, texts and histograms."""
    path = str(tmp_path / "lists.root")
    identify = mine.writing.identify
    inner = identify.to_THashList([mine.to_writable("deep")])
    histogram = mine.to_writable((np.array([1.0, 2.0]), np.array([0.0, 1.0, 2.0])))
    with mine.recreate(path) as file:
        file["list"] = identify.to_TList([mine.to_writable("text"), histogram, inner])
        file["empty"] = identify.to_TList([])
    with uproot.open(path) as file:
        assert [one.classname for one in file["list"]] == ["TObjString", "TH1D", "THashList"]
        assert file["list"][1].values().tolist() == [1.0, 2.0]
        assert len(file["empty"]) == 0
    found = root.call("as_json", path, ["list", "empty"])
    assert found["empty"]["arr"] == []
    text, read, last = found["list"]["arr"]
    assert (text["fString"], read["fArray"]) == ("text", [0.0, 1.0, 2.0, 0.0])
    assert [one["fString"] for one in last["arr"]] == ["deep"]


def test_what_is_no_object_of_pyroot() -> None:
    with pytest.raises(ValueError, match="no object of PyROOT"):
        mine.from_pyroot("text")


def assert_same(found: Any, expected: Any) -> None:
    """Compare JSON; ROOT writes numbers of 32 bits with seven digits."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name, one in expected.items():
            assert_same(found[name], one)
    else:
        assert found == (pytest.approx(expected) if isinstance(expected, float) else expected)


def test_objects_of_pyroot(root: Root, tmp_path: Path) -> None:
    """Objects come from PyROOT and go back, with the JSON of ROOT."""
    found = root.call("through_nyssa", str(tmp_path / "x.root"))
    assert set(found) >= {"TH1D", "TH2F", "TObjArray", "TLorentzVector", "TObjString"}
    for before, after, json in found.values():
        assert after == before
        assert_same(json, before)
    with uproot.open(tmp_path / "x.root") as file:
        assert file["vector"].member("fE") == 4.0
        assert file["histogram"].values().tolist() == [0.0, 2.0, 0.0]
