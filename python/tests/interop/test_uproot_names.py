"""`nyssa.uproot` gives what uproot gives: names, types, values, sizes, and files that both read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pandas as pd
import pytest
import uproot

import nyssa
import nyssa.uproot as mine
from support.data import DATA

TREES = {
    "uproot-HZZ.root": "events",
    "uproot-HZZ-objects.root": "events",
    "uproot-small-evnt-tree-fullsplit.root": "tree",
    "uproot-small-evnt-tree-nosplit.root": "tree",
    "uproot-stl_containers.root": "tree",
    "uproot-sample-6.20.04-lz4.root": "sample",
    "uproot-leaflist.root": "tree",
    "uproot-from-geant4.root": "Details",
}
#: What uproot does not give as C++ has it; see docs/uproot.md.
_OTHER_TYPES = ("bitset", "group of")

needs_data = pytest.mark.skipif(not DATA.exists(), reason="NYSSA_TEST_DATA is not there")


def tree(name: str) -> Path:
    return DATA / "ttree" / name


@needs_data
@pytest.mark.parametrize("name", TREES)
def test_branches(name: str) -> None:
    other, ours = (one.open(f"{tree(name)}:{TREES[name]}") for one in (uproot, mine))
    assert ours.keys() == other.keys()
    assert ours.keys(recursive=False) == other.keys(recursive=False)
    assert ours.keys(full_paths=False) == other.keys(full_paths=False)
    assert [one.name for one in ours.branches] == [one.name for one in other.branches]
    assert (ours.title, ours.classname, len(ours)) == (other.title, other.classname, len(other))
    assert ours.common_entry_offsets() == other.common_entry_offsets()
    # The baskets of this file are inside the tree, and uproot does not count all of their bytes.
    if name != "uproot-from-geant4.root":
        assert ours.num_entries_for("10 kB") == other.num_entries_for("10 kB")
    for key in other.keys():
        a, b = other[key], ours[key]
        for what in (
            "name",
            "title",
            "classname",
            "index",
            "num_entries",
            "num_baskets",
            "entry_offsets",
            "compressed_bytes",
            "uncompressed_bytes",
            "top_level",
        ):
            assert getattr(b, what) == getattr(a, what), (key, what)
        assert [one.name for one in b.branches] == [one.name for one in a.branches]
        counter = a.typename == "uint32_t" and b.name == "N"
        if not counter and not any(part in a.typename for part in _OTHER_TYPES):
            assert b.typename == a.typename


@needs_data
@pytest.mark.parametrize("name", TREES)
def test_values(name: str) -> None:
    other, ours = (one.open(f"{tree(name)}:{TREES[name]}") for one in (uproot, mine))
    for key in other.keys():
        if len(other[key].branches):
            continue
        a, b = (one[key].array(entry_stop=20) for one in (other, ours))
        assert b.to_list() == a.to_list(), key
        assert ak.fields(b) == ak.fields(a), key
        x, y = (one[key].array(library="np", entry_stop=5) for one in (other, ours))
        assert [_plain(one) for one in y] == [_plain(one) for one in x], key


def _plain(value: Any) -> Any:
    """Return an object of NumPy arrays as plain values."""
    if isinstance(value, (nyssa.objects.Object, uproot.Model)) and not isinstance(value, str):
        return {
            name: _plain(one)
            for name, one in value.all_members.items()
            if not name.startswith("@") and name not in ("fUniqueID", "fBits")
        }
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return _plain(value.tolist()) if hasattr(value, "tolist") else value


@needs_data
def test_names_find_branches_as_in_uproot() -> None:
    path = tree("uproot-small-evnt-tree-fullsplit.root")
    for one in (uproot, mine):
        with one.open({path: "tree"}) as events:
            assert events["P3.Px"].name == "P3.Px"
            assert events["evt"]["P3"]["P3.Px"] is events["evt/P3/P3.Px"]
            assert events["evt"].keys(filter_name="P3.P[xy]") == ["P3/P3.Px", "P3/P3.Py"]
            assert events["evt"].arrays(["P3.Px"], entry_stop=2)["P3.Px"].to_list() == [-1, 0]
            assert events.arrays(filter_name="/evt/P3/P3.Px").fields == ["P3.Px"]
            assert events.keys(filter_branch=lambda one: one.name == "I16") == ["evt/I16"]
            assert "P3.Px" in events
            assert "/P3.Px" not in events
            with pytest.raises(one.KeyInFileError):
                events["nothing"]
        assert one.open(path)["tree/evt/I16"].array()[:3].to_list() == [0, 1, 2]


@needs_data
def test_objects_have_members() -> None:
    path = tree("uproot-small-evnt-tree-nosplit.root")
    for one in (uproot, mine):
        event = one.open(path)["tree/evt"].array(library="np", entry_start=5, entry_stop=6)[0]
        assert event.member("Str") == "evt-005"
        assert event.member("P3").member("Py") == 5.0
        assert event.member("ArrayI16").tolist() == [5] * 10
        found = one.open(path)["tree"]
        assert found.member("fEntries") == 100
        assert found["evt"].member("fName") == "evt"


def test_steps_and_reports(tmp_path: Path) -> None:
    files = []
    for number in range(3):
        files.append(tmp_path / f"{number}.root")
        with uproot.recreate(files[-1]) as file:
            file.mktree("t", {"x": np.arange(5) + 5 * number})
    found = []
    for one in (uproot, mine):
        steps = one.iterate([f"{path}:t" for path in files], "x", step_size=3, report=True)
        rows = [
            (arrays.x.to_list(), at.tree_entry_start, at.tree_entry_stop, at.start, at.stop)
            for arrays, at in steps
            if (at.global_entry_start, at.tree.name) == (at.start, "t") and at.file_path
        ]
        every = one.concatenate({str(path): "t" for path in files}, library="pd", cut="x % 2 == 0")
        some = one.concatenate([f"{path}:t" for path in files], entry_start=3, entry_stop=11)
        counts = [*one.num_entries(f"{tmp_path}/*.root:t")]
        found.append((rows, every.to_dict(), some.to_list(), sorted(counts)))
    assert found[0] == found[1]
    assert len(found[1][0]) == 6


@pytest.mark.parametrize("how", [None, tuple, list, dict])
@pytest.mark.parametrize("library", ["np", "ak", "pd"])
def test_how(tmp_path: Path, library: str, how: Any) -> None:
    path = tmp_path / "how.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.arange(5), "y": np.arange(5) / 2})
    a, b = (
        one.open(path)["t"].arrays(["y", "x"], "x > 1", library=library, how=how)
        for one in (uproot, mine)
    )
    assert type(a) is type(b)
    if isinstance(a, pd.DataFrame):
        pd.testing.assert_frame_equal(a, b, check_dtype=False)
    elif isinstance(a, ak.Array):
        assert a.to_list() == b.to_list()
    else:
        columns = [one.values() if isinstance(one, dict) else one for one in (a, b)]
        assert [x.tolist() for x in columns[0]] == [x.tolist() for x in columns[1]]
        assert list(a) == list(b) if how is dict else True


def test_documentation(tmp_path: Path) -> None:
    path = tmp_path / "doc.root"
    with nyssa.recreate(path) as file:
        titles = {"x": {"title": "a length"}}
        file.mktree("t", {"x": [1.0]}, title="some events", branch_options=titles)
    for one in (uproot, mine):
        found = one.open(path)["t"].arrays(ak_add_doc=True)
        assert ak.parameters(found) == {"__doc__": "some events"}
        assert ak.parameters(found.x) == {"__doc__": "a length"}
        assert ak.parameters(one.open(path)["t/x"].array(ak_add_doc=True)) == {
            "__doc__": "a length"
        }


def test_fields(tmp_path: Path) -> None:
    path = tmp_path / "fields.root"
    data = {
        "s": ak.Array([{"x": 1, "y": 2.5}, {"x": 3, "y": 4.5}]),
        "jets": ak.Array([[{"pt": 1.5, "hits": [1, 2]}], []]),
    }
    with nyssa.recreate(path) as file:
        file["n"] = data
    a, b = uproot.open(path)["n"], mine.open(path)["n"]
    assert b.keys() == a.keys()
    assert b.typenames() == a.typenames()
    for options in (
        {},
        {"expressions": ["s"]},
        {"filter_name": "s.x"},
        {"filter_name": "jets.pt"},
        {"filter_field": lambda field: field.path in ("s.y", "jets.hits")},
    ):
        one, other = a.arrays(**options), b.arrays(**options)
        assert str(other.type) == str(one.type)
        assert other.to_list() == one.to_list()
    assert (
        b["jets"].arrays(filter_name="pt").to_list() == a["jets"].arrays(filter_name="pt").to_list()
    )
    assert [field.path for field in b["s"].fields] == [field.path for field in a["s"].fields]


def _written(module: Any, path: Path) -> None:
    with module.recreate(path, compression=module.ZSTD(3)) as file:
        tree = file.mktree(
            "dir/t",
            {"x": "float64", "v": "var * int32", "r": {"a": "int32"}},
            title="T",
        )
        for step in range(2):
            tree.extend({"x": [0.5 + step], "v": ak.Array([[1, 2]]), "r": {"a": [step]}})
        file["h"] = np.histogram([0.1, 0.9, 0.9], bins=2, range=(0, 1))
        file["made"] = module.writing.identify.to_TH1x(
            "made",
            "title",
            np.array([0.0, 1, 2, 0]),
            3.0,
            3.0,
            3.0,
            1.95,
            1.6,
            np.empty(0),
            module.writing.identify.to_TAxis("xaxis", "", 2, 0.0, 1.0),
        )
        file.mkdir("empty")
        file["text"] = "words"
        assert (file.keys(cycle=False), file["dir/t"].num_entries) == (
            ["dir", "dir/t", "h", "made", "empty", "text"],
            2,
        )
        assert "h" in file


def test_files_that_are_written(tmp_path: Path) -> None:
    """A program writes the same with both packages."""
    for module in (uproot, mine):
        _written(module, tmp_path / f"{module.__name__}.root")
    a, b = (uproot.open(tmp_path / f"{one.__name__}.root") for one in (uproot, mine))
    assert a.classnames() == b.classnames()
    assert a["dir/t"].arrays().to_list() == b["dir/t"].arrays().to_list()
    assert a["dir/t"].keys() == b["dir/t"].keys()
    assert [one.num_baskets for one in a["dir/t"].branches] == [
        one.num_baskets for one in b["dir/t"].branches
    ]
    assert b["dir/t/x"].compression == uproot.ZSTD(3)
    for name in ("h", "made"):
        assert a[name].values(flow=True).tolist() == b[name].values(flow=True).tolist()
        assert a[name].member("fTsumwx") == pytest.approx(b[name].member("fTsumwx"))
        assert a[name].axis().edges().tolist() == b[name].axis().edges().tolist()
    assert a["text"] == b["text"]


@pytest.mark.parametrize("scheme", ["", "file:", "file://", "simplecache::file://"])
def test_locations(tmp_path: Path, scheme: str) -> None:
    location = f"{scheme}{tmp_path}/some/path/file.root"
    with mine.create(location) as file:
        file.mktree("t", {"x": np.array([1, 2])})
    assert mine.open(location)["t/x"].array().to_list() == [1, 2]
    with pytest.raises(FileExistsError):
        mine.create(location)


def test_counters_that_collide(tmp_path: Path) -> None:
    with mine.recreate(tmp_path / "counters.root") as file:
        with pytest.raises(ValueError, match="'nx' of 'x' collides"):
            file.mktree("t", {"nx": "float64", "x": "var * int32"})
        tree = file.mktree("t", {"nx": np.int32, "x": "var * int32"})
        with pytest.raises(ValueError, match="'nx' and the lists of 'x' disagree"):
            tree.extend({"nx": [2], "x": [[1]]})
        tree.extend({"x": [[1], [1, 2]]})
    assert uproot.open(tmp_path / "counters.root")["t/nx"].array().to_list() == [1, 2]


def test_pickle(tmp_path: Path) -> None:
    path = tmp_path / "pickle.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.arange(3)})
        file.mkrntuple("n", {"y": np.arange(3)})
    file = mine.open(path)
    for one in (file, file["t"], file["t/x"], file["n"], file["n"]["y"]):
        again = pickle.loads(pickle.dumps(one))
        assert (repr(again), again.file_path) == (repr(one), one.file_path)
        assert "<table" in one._repr_html_()
    assert pickle.loads(pickle.dumps(file["t/x"])).array().to_list() == [0, 1, 2]
    assert pickle.loads(pickle.dumps(file["t"])).file.file_path == str(path)


def test_options_of_uproot_are_known_and_others_refused(tmp_path: Path) -> None:
    path = tmp_path / "options.root"
    with uproot.recreate(path) as file:
        file.mktree("t", {"x": np.arange(3)})
    found = mine.open(path, num_workers=3, array_cache=None)["t"]
    assert found.arrays(decompression_executor=None, array_cache=None).x.to_list() == [0, 1, 2]
    with pytest.raises(TypeError, match="'wrong'"):
        found.arrays(wrong=1)


@pytest.mark.parametrize(
    ("branch", "given"),
    [
        ("x", mine.AsDtype(">i4")),
        ("x", mine.AsStrings()),
        ("x", mine.AsJagged(mine.AsDtype(">i8"))),
        ("j", mine.AsDtype(">f4")),
        ("j", mine.AsJagged(mine.AsDtype(">f8"))),
        ("s", mine.AsObjects(mine.AsVector(True, mine.AsString(False)))),
    ],
)
def test_interpretations_that_do_not_fit_are_refused_by_name(
    tmp_path: Path, branch: str, given: Any
) -> None:
    path = tmp_path / "interpretations.root"
    with uproot.recreate(path) as file:
        columns = {"x": np.arange(3), "j": ak.Array([np.ones(1, "f4"), [], []]), "s": ["a", "", ""]}
        columns["j"] = ak.values_astype(columns["j"], np.float32)
        file.mktree("t", columns)
    found = mine.open(path)["t"][branch]
    with pytest.raises(ValueError, match=f"t;1:{branch} is As") as caught:
        found.array(given)
    assert repr(found.interpretation) in str(caught.value)
    assert repr(given) in str(caught.value)
    with pytest.raises(TypeError, match="an interpretation is such as"):
        found.array(3)


@needs_data
@pytest.mark.parametrize("name", TREES)
def test_interpretations(name: str) -> None:
    other, ours = (one.open(f"{tree(name)}:{TREES[name]}") for one in (uproot, mine))
    pairs = [(branch, ours[key]) for key, branch in other.items() if not len(branch.branches)]
    # The counter of a member is unsigned in uproot.
    different = {
        (a.name, repr(a.interpretation), repr(b.interpretation))
        for a, b in pairs
        if repr(a.interpretation) != repr(b.interpretation) and a.name != "N"
    }
    assert not different


def test_update_extends_a_tree(tmp_path: Path) -> None:
    """`update` gives a tree of the file, to look at and to extend; uproot reads all entries."""
    path = tmp_path / "old.root"
    with uproot.recreate(path) as file:
        file.mktree("tree", {"x": "int32", "y": "float64"})
        file["tree"].extend({"x": np.array([1, 2], "i4"), "y": np.array([0.5, 1.5])})
    with mine.update(path) as file:
        old = file["tree"]
        assert (old.num_entries, old.num_baskets) == (2, 1)
        old.extend({"x": np.array([3], "i4"), "y": np.array([2.5])})
        assert (old.num_entries, old.num_baskets) == (3, 2)
        with pytest.raises(ValueError, match='column "y" of the tree tree is missing'):
            old.extend({"x": np.array([4], "i4")})
    with uproot.open(path) as file:
        found = file["tree"].arrays(library="np")
    assert found["x"].tolist() == [1, 2, 3]
    assert found["y"].tolist() == [0.5, 1.5, 2.5]
