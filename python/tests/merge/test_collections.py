"""Tests collections behind projected fields, as ROOT's importer and `convert` write them.

The trees are made by uproot, so what they hold is known; ROOT reads what nyssa writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root

COUNT = 40

Collections = dict[str, dict[str, str]]
"""Members and their NumPy types, by the prefix of the names of their branches."""

FIRST: Collections = {
    "Jet": {"pt": "f4", "eta": "f4", "area": "f4"},
    "Muon": {"pt": "f4"},
    "Tau": {"pt": "f4"},
}
SECOND: Collections = {
    "Electron": {"pt": "f4"},
    "Jet": {"eta": "f4", "pt": "f4"},
    "Muon": {"pt": "f8", "charge": "i4"},
}


def tree(path: Path, collections: Collections, seed: int, run: str = "i4") -> ak.Array:
    """Write a tree with one counter for each collection. Return its content."""
    random = np.random.default_rng(seed)
    data: dict[str, Any] = {"run": (np.arange(COUNT) + 1000 * seed).astype(run)}
    for name, members in collections.items():
        counts = random.integers(0, 4, COUNT)
        items = {
            member: ak.unflatten(random.integers(0, 99, counts.sum()).astype(dtype), counts)
            for member, dtype in members.items()
        }
        data[name] = ak.zip(items)
    with uproot.recreate(path) as file:
        types = {
            name: array.type.content if isinstance(array, ak.Array) else array.dtype
            for name, array in data.items()
        }
        file.mktree("Events", types)
        file["Events"].extend(data)
    with uproot.open(path) as file:
        return file["Events"].arrays()


def ntuple(
    folder: Path, collections: Collections, seed: int, root: Root | None = None, run: str = "i4"
) -> tuple[Path, ak.Array]:
    """Convert a tree, with ROOT's importer if it is given. Return its content."""
    source, output = folder / f"tree{seed}.root", folder / f"ntuple{seed}.root"
    values = tree(source, collections, seed, run)
    if root is None:
        nyssa.convert(source, output)
    else:
        root.call("import_tree", str(source), "Events", str(output))
    return output, values


def union(parts: list[ak.Array], names: list[str]) -> dict[str, list[Any]]:
    """Return the columns of all parts. A missing column is zero, or lists of zeros, or empty."""

    def column(part: ak.Array, name: str) -> list[Any]:
        if name in part.fields:
            return ak.to_list(part[name])
        size = f"n{name.partition('_')[0]}"
        if name.startswith("n") or size not in part.fields:
            return [0 if name.startswith("n") else []] * len(part)
        return [[0] * count for count in part[size]]

    return {name: [value for part in parts for value in column(part, name)] for name in names}


def by_root(root: Root, path: Path, names: list[str]) -> dict[str, list[Any]]:
    """Return the values that ROOT reads from columns."""
    found = root.call("numpy", str(path), "Events", names)
    return {
        name: [value.item() if np.isscalar(value) else list(value) for value in found[name]]
        for name in names
    }


@pytest.mark.parametrize("imported", ["none", "first", "both"])
@pytest.mark.parametrize("options", [{}, {"recluster": "1 MB"}])
@pytest.mark.parametrize("swapped", [False, True])
def test_merge_other_collections(
    imported: str, options: dict[str, str], swapped: bool, tmp_path: Path, root: Root
) -> None:
    """Collections are matched by their counters, whatever their names and numbers are."""
    importers = {"none": [None, None], "first": [root, None], "both": [root, root]}[imported]
    paths, parts = zip(
        ntuple(tmp_path, FIRST, 1, importers[0]),
        ntuple(tmp_path, SECOND, 2, importers[1], run="i8"),
        strict=True,
    )
    if swapped:
        paths, parts = paths[::-1], parts[::-1]
    merged = tmp_path / "merged.root"
    with pytest.raises(errors.ArgumentError, match=r'field ".*" is in .* and not in'):
        nyssa.merge(paths, merged, **options)
    nyssa.merge(paths, merged, "union", **options)
    names = sorted({*parts[0].fields, *parts[1].fields})
    assert sorted(nyssa.open(f"{merged}:Events").keys()) == names
    expected = union(list(parts), names)
    assert by_root(root, merged, names) == expected
    assert ak.to_list(nyssa.open(f"{merged}:Events").arrays(names)) == ak.to_list(
        ak.Array(expected)
    )
    common = [name for name in parts[0].fields if name in parts[1].fields]
    report = nyssa.merge(paths, merged, "filter", force=True, **options)
    gone = [name for name in names if name not in common]
    differ = [note for note in report["notes"] if "the branches of its TTree differ from" in note]
    assert len(differ) == (imported == "none")  # ROOT's importer keeps no branches.
    assert sorted(set(report["notes"]) - set(differ)) == [
        f"left out field {name}, which some input lacks" for name in gone
    ]
    assert sorted(nyssa.open(f"{merged}:Events").keys()) == sorted(common)
    assert by_root(root, merged, common) == union(list(parts), common)


def test_merge_one_branch_less(nano: Path, tmp_path: Path, root: Root) -> None:
    """Two NanoAOD files, one of which lacks a branch."""
    paths = [tmp_path / "all.root", tmp_path / "less.root"]
    taken = ["run", "nJet", "Jet_*", "nMuon", "Muon_pt", "nSV", "SV_*"]
    nyssa.convert(nano, paths[0], include=taken)
    nyssa.convert(nano, paths[1], include=taken, exclude=["Jet_area"])
    with uproot.open(nano) as file:
        values = file["Events"].arrays(["run", "nJet", "Jet_pt", "Jet_area", "Jet_nMuons", "SV_x"])
    less = values[[name for name in values.fields if name != "Jet_area"]]
    merged = tmp_path / "merged.root"
    for options in [{}, {"recluster": "1 MB"}]:
        nyssa.merge(paths, merged, "union", force=True, **options)
        assert by_root(root, merged, values.fields) == union([values, less], values.fields)
        nyssa.merge(paths[::-1], merged, "filter", force=True, **options)
        assert "Jet_area" not in nyssa.open(f"{merged}:Events")
        assert by_root(root, merged, less.fields) == union([less, less], less.fields)


def test_members_of_untyped_records(tmp_path: Path, root: Root) -> None:
    """Untyped records may have different members; missing ones read as zero and empty."""

    def entries(number: int, members: list[str]) -> dict[str, Any]:
        inner = {"x": number, "y": 2.5, "list": [1, number], "name": "n", "pair": [number, 0]}
        inner = {name: inner[name] for name in members}
        jets = [[{"hits": [inner, inner], "id": number}], []]
        types = {"x": "int32", "y": "float64", "list": "var * int64", "name": "string"}
        types["pair"] = "2 * int16"
        record = ", ".join(f'"{name}": {types[name]}' for name in members)
        return {
            "jets": ak.Array(jets),
            "one": ak.Array([{"a": inner}] * 2),
            "types": {
                "jets": f"var * {{hits: var * {{{record}}}, id: int32}}",
                "one": f"{{a: {{{record}}}}}",
            },
        }

    paths = []
    for number, members in enumerate([["x", "y"], ["name", "list", "x", "pair"]], 1):
        data = entries(number, members)
        types = data.pop("types")
        paths.append(tmp_path / f"{number}.root")
        with nyssa.recreate(paths[-1]) as file:
            file.mkrntuple("Events", types).extend(data)
    zero = {"x": 0, "y": 0.0, "list": [], "name": "", "pair": [0, 0]}
    before = [root.call("entries", str(path), "Events") for path in paths]

    def whole(entry: Any, names: list[str]) -> Any:
        if isinstance(entry, list):
            return [whole(one, names) for one in entry]
        if isinstance(entry, dict) and "x" in entry:
            return {name: entry.get(name, zero[name]) for name in names}
        if isinstance(entry, dict):
            return {name: whole(value, names) for name, value in entry.items()}
        return entry

    merged = tmp_path / "merged.root"
    for options in [{}, {"recluster": "1 MB"}]:
        for mode, names in [("union", [*zero]), ("filter", ["x"])]:
            nyssa.merge(paths, merged, mode, force=True, **options)
            expected = [whole(entry, names) for part in before for entry in part]
            assert root.call("entries", str(merged), "Events") == expected
    with pytest.raises(errors.ArgumentError, match=r'field "jets._0.hits._0.y" is in .* not in'):
        nyssa.merge(paths, merged, force=True)


def test_no_member_in_common(tmp_path: Path, root: Root) -> None:
    """The size of a collection stays, even if no member of it is in all inputs."""
    (one, first), (two, second) = (
        ntuple(tmp_path, {"Jet": {"pt": "f4"}}, 1),
        ntuple(tmp_path, {"Jet": {"eta": "f4"}}, 2),
    )
    merged = tmp_path / "merged.root"
    for options in [{}, {"recluster": "1 MB"}]:
        nyssa.merge([one, two], merged, "filter", force=True, **options)
        assert by_root(root, merged, ["run", "nJet"]) == union([first, second], ["run", "nJet"])
        nyssa.merge([one, two], merged, "union", force=True, **options)
        names = ["nJet", "Jet_pt", "Jet_eta"]
        assert by_root(root, merged, names) == union([first, second], names)


WIDER = [
    ("i4", "i8", "i8"),
    ("u4", "i4", "i8"),
    ("f4", "f8", "f8"),
    ("?", "i4", "i4"),
    ("u1", "i2", "i2"),
    ("i4", "f4", "f8"),
    ("?", "f4", "f4"),
]


@pytest.mark.parametrize(("first", "second", "wide"), WIDER)
@pytest.mark.parametrize("swapped", [False, True])
def test_merge_widens_numbers(
    first: str, second: str, wide: str, swapped: bool, tmp_path: Path, root: Root
) -> None:
    """Numbers get the type that a chain gives them; pages are copied if RNTuple allows it."""
    paths = []
    for number, dtype in enumerate([second, first] if swapped else [first, second]):
        values = ak.values_astype(ak.Array([[1, 0], [], [number + 1]]), np.dtype(dtype))
        path = tmp_path / f"{number}.root"
        with nyssa.recreate(path) as file:
            file["Events"] = {
                "x": np.array([0, 1, number]).astype(dtype),
                "list": values,
                "jets": ak.zip({"pt": values}),
                "fixed": np.array([[0, 1], [1, number], [1, 1]]).astype(dtype),
            }
        paths.append(path)
    merged = tmp_path / "merged.root"
    expected = [entry for path in paths for entry in root.call("entries", str(path), "Events")]
    moved = np.dtype(first).kind == "f" or np.dtype(second).kind != "f"
    for options in [{"recluster": "1 MB"}, *([{}] if moved else [])]:
        nyssa.merge(paths, merged, force=True, **options)
        assert root.call("entries", str(merged), "Events") == expected
        arrays = nyssa.open(f"{merged}:Events").arrays()
        assert ak.to_list(arrays) == ak.to_list(nyssa.chain(paths, schema="union").arrays())
        assert ak.to_numpy(ak.flatten(arrays.jets.pt)).dtype == np.dtype(wide)
        assert arrays.x.type.content.primitive == np.dtype(wide).name
    if not moved:
        with pytest.raises(errors.ArgumentError, match="cannot be moved as they are; merge with"):
            nyssa.merge(paths, merged, force=True)


def test_numbers_that_no_type_holds(tmp_path: Path) -> None:
    """No value is rounded."""
    for number, dtype in enumerate(["i8", "f8"]):
        with nyssa.recreate(tmp_path / f"{number}.root") as file:
            file["Events"] = {"x": np.arange(3).astype(dtype)}
    paths = [tmp_path / "0.root", tmp_path / "1.root"]
    for options in [{}, {"recluster": "1 MB"}]:
        with pytest.raises(errors.ArgumentError, match="type is double, not std::int64_t"):
            nyssa.merge(paths, tmp_path / "merged.root", **options)


def test_members_of_other_types_are_named(tmp_path: Path, root: Root) -> None:
    """Errors use the name by which users know a member, and say what to do."""
    other = tmp_path / "other"
    other.mkdir()
    paths, parts = zip(
        ntuple(tmp_path, {"Jet": {"pt": "f4", "id": "i4"}}, 1),
        ntuple(other, {"Jet": {"pt": "f4", "id": "f4"}}, 2),
        strict=True,
    )
    merged = tmp_path / "merged.root"
    with pytest.raises(errors.ArgumentError) as refused:
        nyssa.merge(paths, merged)
    assert str(refused.value) == (
        "its type is std::int32_t, and with the other inputs it has to be double: its pages cannot "
        "be moved as they are; merge with recluster, which decodes everything "
        f"(file {paths[0]}, field Jet_id)"
    )
    nyssa.merge(paths, merged, recluster="1 MB")
    names = ["run", "nJet", "Jet_pt", "Jet_id"]
    assert by_root(root, merged, names) == union(list(parts), names)
    path, _ = ntuple(other, {"Jet": {"pt": "f4", "id": "i4"}}, 3, run="u8")
    for options in [{}, {"recluster": "1 MB"}]:
        with pytest.raises(errors.ArgumentError) as refused:
            nyssa.merge([paths[0], path], merged, force=True, **options)
        assert str(refused.value) == (
            "the field differs from earlier inputs: its type is std::uint64_t, not "
            "std::int32_t, and no type holds both: rewrite an input without it, then merge with "
            f"union or filter (file {path}, field run)"
        )


@pytest.mark.parametrize("imported", [False, True])
def test_collections_are_not_listed(imported: bool, tmp_path: Path, root: Root) -> None:
    """A collection that projected fields show is not listed again; it is read by its name."""
    path, values = ntuple(tmp_path, SECOND, 1, root if imported else None)
    events = nyssa.open(f"{path}:Events")
    hidden = [name for name in events.keys(recursive=True) if name.startswith("_collection")]
    assert len(hidden) == len(SECOND)
    assert sorted(events) == sorted(events.readable) == sorted(values.fields)
    assert len(events) == len(values.fields)
    assert sorted(events.arrays().fields) == sorted(values.fields)
    assert all(sorted(part.fields) == sorted(values.fields) for part in events.iterate())
    assert all(name in events for name in hidden)
    record = events[hidden[0]].array()
    assert ak.to_list(record.Electron_pt) == ak.to_list(values.Electron_pt)
    assert events.arrays("_collection*").fields == hidden
    assert f"({len(events)} columns" in repr(events)


def test_chain_of_other_collections(tmp_path: Path, root: Root) -> None:
    """All ways to combine schemas work, for converted and imported files."""
    (one, first), (two, second) = ntuple(tmp_path, FIRST, 1), ntuple(tmp_path, SECOND, 2, root)
    common = [name for name in first.fields if name in second.fields]
    both = nyssa.chain([one, two], schema="intersection")
    assert sorted(both) == sorted(common)
    assert ak.to_list(both.arrays(common)) == ak.to_list(
        ak.concatenate([first[common], second[common]])
    )
    names = sorted({*first.fields, *second.fields})
    every = nyssa.chain([one, two], schema="union", missing="default")
    assert sorted(every) == names
    assert every.unreadable == {}
    assert len(nyssa.concatenate([one, two], common, schema="union")) == 2 * COUNT
    like = nyssa.chain([one, two], schema=nyssa.open(f"{two}:Events"), missing="default")
    assert sorted(like) == sorted(second.fields)
    assert like.unreadable == {}


def test_join_of_other_collections(tmp_path: Path, root: Root) -> None:
    """Collections that are not listed cause no conflicts."""
    other = tmp_path / "other"
    other.mkdir()
    (one, first), (two, second) = (
        ntuple(tmp_path, {"Jet": {"pt": "f4"}}, 1, root),
        ntuple(other, {"Muon": {"pt": "f4"}}, 1, root),
    )
    joined = nyssa.join(nyssa.open(f"{one}:Events"), nyssa.open(f"{two}:Events"), on=["run"])
    assert sorted(joined) == ["Jet_pt", "Muon_pt", "nJet", "nMuon", "run"]
    assert ak.to_list(joined["Muon_pt"].array()) == ak.to_list(second.Muon_pt)
    assert ak.to_list(joined["Jet_pt"].array()) == ak.to_list(first.Jet_pt)


def test_collections_read_by_name(tmp_path: Path, root: Root) -> None:
    """In chains and joins, as in a file, the name of a collection always means the same one."""
    other = tmp_path / "other"
    other.mkdir()
    (one, first), (two, second) = (
        ntuple(tmp_path, {"Jet": {"pt": "f4"}, "Muon": {"pt": "f4"}}, 1, root),
        ntuple(other, {"Electron": {"pt": "f4"}, "Jet": {"pt": "f4"}}, 2, root),
    )
    # `_collection0` is the jets of one file and the electrons of the other.
    names = ["_collection0", "_collection1"]
    hidden = [
        [name for name in nyssa.open(f"{path}:Events").keys(recursive=True) if name in names]
        for path in [one, two]
    ]
    assert hidden == [names, names]
    jets = [*ak.to_list(first.Jet_pt), *ak.to_list(second.Jet_pt)]
    both = nyssa.chain([one, two], schema="union", missing="default")
    assert "_collection0" not in both.keys()
    assert ak.to_list(both["_collection0"].array().Jet_pt) == jets
    assert ak.to_list(both.arrays(["_collection0"])["_collection0"].Jet_pt) == jets
    muons = ak.to_list(both["_collection1"].array().Muon_pt)
    assert muons == [*ak.to_list(first.Muon_pt), *([[]] * COUNT)]
    steps = nyssa.iterate([one, two], ["_collection0"], step_size=13)
    assert [x for step in steps for x in ak.to_list(step["_collection0"].Jet_pt)] == jets
    with pytest.raises(errors.UnsupportedError, match='there is no "_collection1", of type'):
        list(nyssa.iterate([one, two], ["_collection1"]))
    with pytest.raises(errors.UnsupportedError, match='there is no "_collection1", of type'):
        nyssa.chain([one, two])["_collection1"].array()

    left, right = nyssa.open(f"{one}:Events"), nyssa.open(f"{two}:Events")
    joined = nyssa.join(left, right, prefix="r_")
    assert ak.to_list(joined["_collection1"].array().Muon_pt) == ak.to_list(first.Muon_pt)
    assert ak.to_list(joined["r__collection0"].array().Electron_pt) == ak.to_list(
        second.Electron_pt
    )
    three, third = ntuple(other, {"Tau": {"pt": "f4"}}, 1, root)
    joined = nyssa.join(left, nyssa.open(f"{three}:Events"), on="run")
    assert ak.to_list(joined["Tau_pt"].array()) == ak.to_list(third.Tau_pt)
    with pytest.raises(errors.UnsupportedError, match="several of the joined datasets have it"):
        joined["_collection0"].array()
    joined = nyssa.join(left, nyssa.open(f"{three}:Events"), on="run", prefix="t_")
    assert ak.to_list(joined["t__collection0"].array().Tau_pt) == ak.to_list(third.Tau_pt)


COUNTED = r"""
void nyssa_counted(const char *path) {
    TFile file(path, "RECREATE");
    TTree tree("Events", "");
    UInt_t nJet = 0;
    float pt[8] = {};
    tree.Branch("nJet", &nJet, "nJet/i");
    tree.Branch("Jet_pt", pt, "Jet_pt[nJet]/F");
    for (UInt_t i = 0; i < 7; ++i) {
        nJet = i % 3;
        pt[i % 8] = i;
        tree.Fill();
    }
    tree.Write();
}
"""


def test_counters_of_other_types(tmp_path: Path, root: Root) -> None:
    """Sizes are never negative: `nJet` is `Int_t` in one tree, `UInt_t` in another."""
    one, values = ntuple(tmp_path, {"Jet": {"pt": "f4"}}, 1)
    signed, unsigned = tmp_path / "tree1.root", tmp_path / "unsigned.root"
    root.call("cpp", COUNTED, f'nyssa_counted("{unsigned}")')
    expected = {one: values, signed: values, unsigned: uproot.open(unsigned)["Events"].arrays()}
    for first in expected:
        for second in expected:
            counts = ak.concatenate([expected[first].nJet, expected[second].nJet])
            jets = ak.concatenate([expected[first].Jet_pt, expected[second].Jet_pt])
            names = ["nJet", "Jet_pt"]
            both = nyssa.chain([first, second]).arrays(names)
            steps = ak.concatenate(list(nyssa.iterate([first, second], names, step_size=11)))
            for found in (both, steps):
                assert ak.to_list(found.nJet) == ak.to_list(counts)
                assert ak.to_list(found.Jet_pt) == ak.to_list(jets)
    plain = tmp_path / "plain.root"
    with nyssa.recreate(plain) as file:
        file["Events"] = {"nJet": np.array([2, -1, 0], dtype=np.int32)}
    with pytest.raises(errors.ArgumentError, match="the value -1 is not a UInt32"):
        nyssa.chain([one, plain], schema="first")["nJet"].array()


def test_parts_of_columns_in_joins(tmp_path: Path) -> None:
    """A subfield is read from a join as from a file, with its prefix."""
    path = tmp_path / "jets.root"
    with nyssa.recreate(path) as file:
        file["Events"] = {"run": [1, 2], "jets": ak.Array([[{"pt": 1.5}], []])}
    events = nyssa.open(f"{path}:Events")
    joined = nyssa.join(events, events, on=["run"], prefix="r.")
    assert ak.to_list(joined["jets.pt"].array()) == [[1.5], []]
    assert ak.to_list(joined.arrays(["r.jets.pt"])["r.jets.pt"]) == [[1.5], []]


def test_update_takes_what_arrays_gives(tmp_path: Path, root: Root) -> None:
    """Values of projected fields are written to their sources, also in files of ROOT."""
    for importer in [None, root]:
        path, values = ntuple(tmp_path, FIRST, 1 if importer is None else 2, importer)
        more = nyssa.open(f"{path}:Events").arrays()
        with nyssa.update(path) as file:
            file["Events"].extend(more[:7])
            file["Events"].extend(more[[name for name in more.fields if name != "nTau"]])
        expected = union([values, values[:7], values], values.fields)
        assert by_root(root, path, values.fields) == expected
    new = tmp_path / "new.root"
    with nyssa.recreate(new) as file:
        file["Events"] = more
    assert by_root(root, new, values.fields) == union([values], values.fields)


def test_update_refuses_what_does_not_agree(tmp_path: Path) -> None:
    """Lists of one collection have equal lengths, and its size agrees with them."""
    path, values = ntuple(tmp_path, {"Jet": {"pt": "f4", "eta": "f4"}}, 1)
    good = {name: values[name] for name in values.fields}
    size = path.stat().st_size
    wrong = [
        ({**good, "Jet_pt": values.Jet_pt[:, :1]}, r"has \d items and .* has \d: fields of one"),
        ({**good, "nJet": values.nJet + 1}, r"nJet has \d items and Jet_\w+ has \d: fields of"),
        ({"run": values.run, "Jet_pt": values.Jet_pt}, r"missing \['Jet_eta'\], unknown none"),
        ({"run": values.run, "nJet": values.nJet}, r"missing \['Jet_\w+', 'Jet_\w+'\], unknown"),
        ({**good, "x": values.run}, r"missing none, unknown \['x'\]"),
    ]
    for data, message in wrong:
        with nyssa.update(path) as file, pytest.raises(errors.ArgumentError, match=message):
            file["Events"].extend(data)
    assert nyssa.open(f"{path}:Events").num_entries == COUNT
    assert path.stat().st_size >= size


def test_projected_fields_of_ones_own(tmp_path: Path, root: Root) -> None:
    """Rows of a new RNTuple may be given by its projections."""
    path = tmp_path / "own.root"
    with nyssa.recreate(path) as file:
        events = file.mkrntuple(
            "Events",
            {"jets": "var * {pt: float32, id: int32}", "met": "float64"},
            projections={"pt": "jets.pt", "id": "jets.id", "n": "#jets", "energy": "met"},
        )
        events.extend({"jets": [[{"pt": 1.5, "id": 1}], []], "met": [1.0, 2.0]})
        events.extend({"pt": [[], [2.5, 3.5]], "id": [[], [2, 3]], "energy": [3.0, 4.0]})
    expected = [[{"pt": 1.5, "id": 1}], [], [], [{"pt": 2.5, "id": 2}, {"pt": 3.5, "id": 3}]]
    arrays = nyssa.open(f"{path}:Events").arrays()
    assert ak.to_list(arrays.jets) == expected
    read = by_root(root, path, ["pt", "energy", "n"])
    assert read == {
        "pt": [[1.5], [], [], [2.5, 3.5]],
        "energy": [1.0, 2.0, 3.0, 4.0],
        "n": [1, 0, 0, 2],
    }
