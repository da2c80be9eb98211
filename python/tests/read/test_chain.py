"""Chains of files: ROOT's TChain, uproot and awkward are the oracles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root
from support.same import layouts_differ


def write(path: Path, data: Any, name: str = "Events", **options: Any) -> str:
    """Write an RNTuple and return its path."""
    with nyssa.recreate(path, **options) as file:
        file[name] = data
    return f"{path}:{name}"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return three files of one schema, with 1000, 1 and 500 entries in several clusters."""
    folder = tmp_path_factory.mktemp("chain")
    paths = []
    for number, entries in enumerate([1000, 1, 500]):
        n = np.arange(entries, dtype=np.int32)
        counts = (n + number) % 4
        data = {
            "n": n + 10_000 * number,
            "x": ak.unflatten(np.arange(np.sum(counts), dtype=np.float32), counts),
            "name": [f"{number}/{i}" for i in range(entries)],
        }
        paths.append(write(folder / f"{number}.root", data, cluster_size="1 kB", compression=0))
    return paths


def test_chain_equals_root_and_uproot(files: list[str], root: Root) -> None:
    uproot = pytest.importorskip("uproot")
    chain = nyssa.chain(files)
    assert chain.num_entries == 1501
    paths = [path.partition(":")[0] for path in files]
    assert chain.files == [(paths[0], 0, 1000), (paths[1], 1000, 1001), (paths[2], 1001, 1501)]
    theirs = uproot.concatenate(files)
    ours = chain.arrays()
    assert ours.fields == ["n", "x", "name"]
    assert ours.to_list() == theirs[ours.fields].to_list()
    numbers = root.call("numpy", paths, "Events", ["n"])["n"]
    np.testing.assert_array_equal(chain["n"].array(library="np"), numbers)


@pytest.mark.parametrize("span", [(0, 1501), (999, 1002), (1001, 1001), (0, 0), (7, 1400)])
def test_any_range(files: list[str], span: tuple[int, int]) -> None:
    start, stop = span
    whole = ak.concatenate([nyssa.open(path).arrays() for path in files])
    part = nyssa.chain(files).arrays(entry_start=start, entry_stop=stop)
    assert layouts_differ(part.layout, ak.to_packed(whole[start:stop]).layout) is None


def test_clusters_and_arrow_stream(files: list[str]) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    chain = nyssa.chain(files)
    clusters = [nyssa.open(path).clusters for path in files]
    assert len(chain.clusters) == sum(map(len, clusters))
    assert chain.clusters[0][0] == 0
    assert chain.clusters[-1][1] == 1501
    table = pyarrow.table(chain)
    assert len(table.column("n").chunks) == len(chain.clusters)
    assert table.column("n").to_pylist() == chain["n"].array().to_list()


def test_steps_cross_files_in_a_chain_only(files: list[str]) -> None:
    chain = nyssa.chain(files)
    spans = [span for _, span in chain.iterate("n", step_size=600, report=True)]
    assert spans == [(0, 600), (600, 1200), (1200, 1501)]
    paths = [path.partition(":")[0] for path in files]
    spans = [span for _, span in nyssa.iterate(files, "n", step_size=600, report=True)]
    assert spans == [
        (paths[0], 0, 600),
        (paths[0], 600, 1000),
        (paths[1], 0, 1),
        (paths[2], 0, 500),
    ]


def test_more_files_than_stay_open(files: list[str]) -> None:
    chain = nyssa.chain(files * 20)
    assert chain.num_entries == 1501 * 20
    ours = chain["n"].array(library="np")
    np.testing.assert_array_equal(ours, np.tile(nyssa.chain(files)["n"].array(library="np"), 20))


def test_trees_and_ntuples_mix(data: Path, tmp_path: Path) -> None:
    tree = data / "ttree" / "uproot-HZZ.root"
    columns = ["MET_px", "Muon_Px"]
    copy = tmp_path / "copy.root"
    nyssa.convert(tree, copy)
    mixed = nyssa.chain([tree, copy]).arrays(columns)
    once = nyssa.open(tree)["events"].arrays(columns)
    assert ak.array_equal(mixed, ak.concatenate([once, once]))


# Schemas that differ


def test_columns_that_a_file_lacks(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", {"x": np.int32([1, 2]), "y": np.int16([3, 4])})
    b = write(tmp_path / "b.root", {"z": [[1.5]], "x": np.int32([5])})
    chain = nyssa.chain([a, b])
    assert chain.keys() == ["x", "y"]
    assert chain.readable == ["x"]
    assert 'b.root:Events: y: there is no "y"' in chain.unreadable["y"]
    assert chain.arrays("x").x.to_list() == [1, 2, 5]
    with pytest.raises(nyssa.UnsupportedError, match="b.root"):
        chain.arrays()
    assert nyssa.chain([a, b], missing="default").arrays().y.to_list() == [3, 4, 0]
    assert nyssa.chain([a, b], missing="null").arrays().y.to_list() == [3, 4, None]

    both = nyssa.chain([a, b], schema="union").arrays()
    assert both.fields == ["x", "y", "z"]
    assert both.z.to_list() == [None, None, [1.5]]
    filled = nyssa.chain([a, b], schema="union", missing="default").arrays()
    assert filled.z.to_list() == [[], [], [1.5]]
    assert nyssa.chain([a, b], schema="intersection").keys() == ["x"]
    assert nyssa.concatenate([a, b], schema="intersection").to_list() == [
        {"x": x} for x in (1, 2, 5)
    ]


def test_numbers_widen(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", {"i": np.int32([1, -2]), "f": np.float32([0.1, 2])})
    b = write(tmp_path / "b.root", {"i": np.int64([2**40]), "f": np.float64([0.1])})
    wide = nyssa.chain([b, a])
    assert wide["i"].array().to_list() == [2**40, 1, -2]
    np.testing.assert_array_equal(
        wide["f"].array(library="np"), np.array([0.1, np.float32(0.1), 2], np.float64)
    )
    narrow = nyssa.chain([a, b])
    assert narrow.readable == []
    reason = "b.root:Events: i: Int64 may not fit into Int32; allow it with narrowing"
    assert reason in narrow.unreadable["i"]
    union = nyssa.chain([a, b], schema="union")
    assert union.typenames() == {"i": "std::int64_t", "f": "double"}
    assert union["i"].array().to_list() == [1, -2, 2**40]
    forced = nyssa.chain([a, b], narrowing=True)
    assert forced["f"].array().type.content.primitive == "float32"
    with pytest.raises(nyssa.errors.ArgumentError, match=r"1099511627776 is not a Int32.*b\.root"):
        forced["i"].array()


def test_stated_schemas(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", {"x": np.int16([1]), "rest": np.int16([0])})
    b = write(tmp_path / "b.root", {"x": np.float32([2.5]), "v": [[1.0]]})
    types = {"v": "var * float64", "x": "float64"}
    for schema in (types, nyssa.chain([a, b], schema=types, missing="default")):
        chain = nyssa.chain([a, b], schema=schema, missing="default")
        assert chain.keys() == ["v", "x"]
        assert chain.arrays().to_list() == [{"v": [], "x": 1.0}, {"v": [1.0], "x": 2.5}]
    pyarrow = pytest.importorskip("pyarrow")
    chain = nyssa.chain([a, b], schema=pyarrow.schema([("x", pyarrow.float64())]))
    assert chain.arrays().to_list() == [{"x": 1.0}, {"x": 2.5}]
    with pytest.raises(
        nyssa.NotFoundError, match='no file has the field "rst"; did you mean "rest"'
    ):
        nyssa.chain([a, b], schema={"rst": "int32"})
    with pytest.raises(nyssa.errors.ArgumentError, match="schema="):
        nyssa.chain([a, b], schema="all")
    with pytest.raises(nyssa.errors.ArgumentError, match="missing="):
        nyssa.chain([a, b], missing="zero")


def test_members_and_aliases(tmp_path: Path) -> None:
    old = ak.Array([[{"pT": 1.0, "eta": 0.5}], []])
    new = ak.Array([[{"eta": 1.5, "phi": np.int16(3), "pt": 2.0}]])
    a = write(tmp_path / "a.root", {"met": [1.0, 2.0], "jets": old})
    b = write(tmp_path / "b.root", {"MET": [3.0], "jets": new})
    aliases = {"MET": "met", "jets.pt": "jets.pT"}
    chain = nyssa.chain([a, b], aliases=aliases, schema="union", missing="default")
    assert chain.arrays().to_list() == [
        {"MET": 1.0, "jets": [{"pt": 1.0, "eta": 0.5, "phi": 0}]},
        {"MET": 2.0, "jets": []},
        {"MET": 3.0, "jets": [{"pt": 2.0, "eta": 1.5, "phi": 3}]},
    ]
    nulls = nyssa.chain([a, b], aliases=aliases, schema="union")
    assert nulls["jets"].array().phi.to_list() == [[None], [], [3]]
    shared = nyssa.chain([a, b], aliases=aliases, schema="intersection")
    assert shared["jets"].array().fields == ["pt", "eta"]


def test_files_that_are_wrong(files: list[str], tmp_path: Path) -> None:
    with pytest.raises(nyssa.errors.FileMissingError, match="missing.root"):
        nyssa.chain([*files, tmp_path / "missing.root"])
    with pytest.raises(nyssa.errors.ArgumentError, match="no files"):
        nyssa.chain([])
    changing = write(tmp_path / "changing.root", {"n": np.int32([1, 2])})
    chain = nyssa.chain([*files * 10, changing])
    write(tmp_path / "changing.root", {"n": np.int32([1])})
    with pytest.raises(nyssa.errors.ArgumentError, match="changed since"):
        chain.arrays("n")


def test_iterate_evolves_each_file(tmp_path: Path) -> None:
    a = write(tmp_path / "a.root", {"x": np.int64([1])})
    b = write(tmp_path / "b.root", {"x": np.int32([2]), "y": np.int32([2])})
    steps = list(nyssa.iterate([a, b]))
    assert [step.type.content.fields for step in steps] == [["x"], ["x"]]
    assert steps[1].x.type.content.primitive == "int64"
    steps = list(nyssa.iterate([a, b], schema="union"))
    assert [step.y.to_list() for step in steps] == [[None], [2]]


# Lazy arrays and steps

_NUMBERS: Any = {
    "convert_other": str,
    "nan_string": "nan",
    "posinf_string": "inf",
    "neginf_string": "-inf",
    "convert_bytes": list,
}


def test_lazy_columns_are_read_when_needed(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = nyssa.chain(files)
    reads = []

    class Spy:
        """Records what is read from another dataset."""

        def read(self, names: list[str], start: int, stop: int, *rest: Any) -> Any:
            if start < stop:
                reads.append((names, start, stop))
            return core.read(names, start, stop, *rest)

        def __getattr__(self, name: str) -> Any:
            return getattr(core, name)

    core = chain._core
    monkeypatch.setattr(chain, "_core", Spy())
    lazy = chain.arrays(lazy=True, entry_start=10, entry_stop=1200)
    assert len(lazy) == 1190
    assert str(lazy.type) == "1190 * {n: int32, x: var * float32, name: string}"
    assert reads == []
    counts = ak.num(lazy.x)
    assert ak.sum(counts) > 0
    assert reads == [(["x"], 10, 1200)]
    assert ak.sum(lazy.x) > 0
    assert reads == [(["x"], 10, 1200)]
    whole = nyssa.chain(files).arrays(entry_start=10, entry_stop=1200)
    assert ak.array_equal(lazy[lazy.n % 2 == 0], whole[whole.n % 2 == 0])
    assert [names for names, _, _ in reads] == [["x"], ["n"], ["name"]]


def test_lazy_equals_eager(data: Path) -> None:
    found = sorted((data / "rntuple-validation").glob("**/*.root"))
    trees = sorted((data / "ttree").glob("uproot-*.root"))
    found += [path for path in trees if path.stat().st_size < 100_000]
    compared = 0
    for path in found:
        file = nyssa.open(path)
        for name in file.datasets():
            try:
                dataset = file[name]
                whole = dataset.arrays(dataset.readable, entry_stop=20)
            except (nyssa.UnsupportedError, nyssa.FormatError):
                continue  # Made to be refused.
            lazy = dataset.arrays(dataset.readable, entry_stop=20, lazy=True)
            assert str(lazy.type) == str(whole.type), (path, name)
            assert ak.to_json(lazy, **_NUMBERS) == ak.to_json(whole, **_NUMBERS), (path, name)
            compared += 1
    assert compared > len(found) / 2


def test_types_do_not_depend_on_the_values(tmp_path: Path) -> None:
    path = tmp_path / "optional.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple(
            "n", {"o": "std::optional<float>", "v": "std::vector<std::optional<int>>"}
        )
        events.extend({"o": [1.5, 2.5, None], "v": [[1], [2, 3], [None]]})
    events = nyssa.open(f"{path}:n")
    expected = "* {o: ?float32, v: var * ?int32}"
    for entries in (0, 2, 3):
        for lazy in (False, True):
            assert str(events.arrays(entry_stop=entries, lazy=lazy).type) == f"{entries} {expected}"
    assert events["o"].array(library="np", entry_stop=2).dtype == np.float32


def test_lazy_is_awkward(files: list[str]) -> None:
    with pytest.raises(nyssa.errors.ArgumentError, match="awkward"):
        nyssa.chain(files).arrays(lazy=True, library="np")


def test_steps_of_clusters(files: list[str]) -> None:
    events = nyssa.open(files[0])
    spans = [s for _, s in events.iterate("n", step_size="cluster", report=True)]
    assert spans == events.clusters
    spans = [
        s
        for _, s in events.iterate(
            "n", step_size="cluster", entry_start=10, entry_stop=500, report=True
        )
    ]
    assert spans[0][0] == 10
    assert spans[-1][1] == 500
    assert spans[1:-1] == [s for s in events.clusters if s[0] > 10 and s[1] < 500]


def test_a_chain_can_be_written(files: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "all.root", nyssa.chain(files))
    assert nyssa.open(path).arrays().to_list() == nyssa.chain(files).arrays().to_list()


_TREES = """
template <class T> void nyssa_chain_tree(const char *path, int entries, bool turned, bool extra) {
  TFile file(path, "RECREATE");
  TTree tree("tree", "");
  T x;
  int n, more;
  float list[3];
  auto number = [&] { tree.Branch("x", &x); };
  if (!turned) number();
  tree.Branch("n", &n);
  tree.Branch("list", list, "list[n]/F");
  if (turned) number();
  if (extra) tree.Branch("more", &more);
  for (int i = 0; i < entries; ++i) {
    x = T(i + 100);
    n = i % 4 % 3;
    for (int j = 0; j < n; ++j) list[j] = i + j;
    more = -i;
    tree.Fill();
  }
  tree.Write();
}
void nyssa_chain_trees(TString folder) {
  nyssa_chain_tree<int>(folder + "/plain.root", 40, false, true);
  nyssa_chain_tree<int>(folder + "/turned.root", 30, true, true);
  nyssa_chain_tree<int>(folder + "/empty.root", 0, false, true);
  nyssa_chain_tree<Long64_t>(folder + "/wide.root", 20, false, true);
  nyssa_chain_tree<int>(folder + "/less.root", 10, false, false);
}
"""


def test_trees(tmp_path: Path, root: Root) -> None:
    """Branches in another order, wider types, missing branches, and trees without entries."""
    root.call("cpp", _TREES, f'nyssa_chain_trees("{tmp_path}")')
    lengths = {"plain": 40, "turned": 30, "empty": 0, "wide": 20, "less": 10}

    def chain(*names: str, **options: Any) -> Any:
        return nyssa.chain([f"{tmp_path / name}.root:tree" for name in names], **options)

    def x(*names: str) -> list[int]:
        return [100 + i for name in names for i in range(lengths[name])]

    for names in (("plain", "turned"), ("empty", "plain", "empty", "turned"), ("turned", "empty")):
        arrays = chain(*names).arrays()
        assert arrays["x"].to_list() == x(*names)
        assert arrays["list"].to_list() == [
            [i + j for j in range(i % 4 % 3)] for name in names for i in range(lengths[name])
        ]
        assert arrays["more"].to_list() == [-(i - 100) for i in x(*names)]
    wider = chain("wide", "plain")
    assert (wider["x"].typename, wider["x"].array().to_list()) == (
        "std::int64_t",
        x("wide", "plain"),
    )
    with pytest.raises(nyssa.UnsupportedError, match="x: Int64 may not fit into Int32"):
        chain("plain", "wide")["x"].array()
    assert chain("plain", "wide", narrowing=True)["x"].array().to_list() == x("plain", "wide")
    with pytest.raises(nyssa.UnsupportedError, match='less.root:tree: more: there is no "more"'):
        chain("plain", "less")["more"].array()
    filled = chain("plain", "less", missing="null")["more"].array().to_list()
    assert filled == [-i for i in range(40)] + [None] * 10


@pytest.mark.parametrize("order", [1, -1])
def test_lengths_that_a_file_lacks_are_those_of_its_lists(tmp_path: Path, order: int) -> None:
    """A chain fills a counter as a merge does."""
    tree, whole, slim = (tmp_path / f"{name}.root" for name in ("tree", "whole", "slim"))
    muons = ak.Array([[], [1.0, 2.0], [3.0]])
    with uproot.recreate(tree) as file:
        events = {"Muon": ak.zip({"pt": muons, "eta": muons})}
        file.mktree("Events", {"Muon": events["Muon"].type.content}).extend(events)
    nyssa.convert(tree, whole)
    nyssa.rewrite(whole, slim, exclude=["nMuon", "Muon_eta"])
    files, merged = [whole, slim][::order], tmp_path / "merged.root"
    chain = nyssa.chain(files, schema="union", missing="default")
    assert chain["nMuon"].array().to_list() == [0, 2, 1, 0, 2, 1]
    assert len(chain.arrays(cut="nMuon >= 2")) == 2
    nyssa.merge(files, merged, mode="union", verify=True)
    assert nyssa.open(merged)["Events"]["nMuon"].array().to_list() == [0, 2, 1, 0, 2, 1]
    lacking = nyssa.chain(files, schema="union", missing="null")["nMuon"].array().to_list()
    assert lacking == ([0, 2, 1] + 3 * [None] if order == 1 else 3 * [None] + [0, 2, 1])
