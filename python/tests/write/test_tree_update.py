"""Entries that `update` adds to TTrees: ROOT, uproot and nyssa read them after the old ones."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import uproot

import nyssa
from nyssa import errors
from support.root import Root

NUMBERS = ["nJet", "Jet_pt", "Jet_eta", "nHit", "x", "fixed", "flag", "number", "small"]
LEAVES = ["list", "text", "Jet_pt", "Hit_xy"]
VECTORS = ["floats", "bools", "string"]
FLAT = ["number", "count", "pt", "x", "vector"]
NAME = "d/Events"


def write(root: Root, path: Path, first: int, count: int, **options: Any) -> str:
    """Write a tree in ROOT, or add to it."""
    auto_flush, append = options.get("auto_flush", 40), options.get("append", False)
    root.call(
        "write_to_append", str(path), first, count, auto_flush, append, options.get("basket", 32000)
    )
    return str(path)


def check(root: Root, path: str, expected: str) -> None:
    """Compare all values that ROOT, uproot and nyssa read with the values of another file."""
    for columns in (NUMBERS, VECTORS):
        values = root.call("tree_values", path, NAME, columns)
        assert values == root.call("tree_values", expected, NAME, columns)
    leaves = root.call("tree_leaves", path, NAME, LEAVES)
    assert leaves == root.call("tree_leaves", expected, NAME, LEAVES)
    vectors = root.call("tree_vectors", path, NAME, ["nested", "strings"])
    assert vectors == root.call("tree_vectors", expected, NAME, ["nested", "strings"])
    with uproot.open(path) as ours, uproot.open(expected) as theirs:
        assert ours[NAME].arrays().to_list() == theirs[NAME].arrays().to_list()
    assert nyssa.open(f"{path}:{NAME}").arrays().to_list() == (
        nyssa.open(f"{expected}:{NAME}").arrays().to_list()
    )


@pytest.mark.parametrize(
    ("old", "new", "auto_flush", "basket"),
    [
        (95, 40, 40, 32000),
        (80, 200, 40, 1000),
        (5, 100, -30_000_000, 32000),
        (95, 300, 0, 300),
        (0, 10, 40, 32000),
        (1000, 1, 100, 300),
    ],
)
def test_trees_of_root(
    tmp_path: Path, root: Root, old: int, new: int, auto_flush: int, basket: int
) -> None:
    """The tree is the one that ROOT makes when it fills the same entries into the old tree."""
    kinds = {"auto_flush": auto_flush, "basket": basket}
    path = write(root, tmp_path / "ours.root", 0, old, **kinds)
    theirs = shutil.copy(path, tmp_path / "theirs.root")
    write(root, theirs, 1000, new, append=True, **kinds)
    more = write(root, tmp_path / "more.root", 1000, new, **kinds)
    before = Path(path).read_bytes()
    data = nyssa.open(f"{more}:{NAME}").arrays()
    with nyssa.update(path) as file:
        tree = file[NAME]
        assert tree.num_entries == old
        tree.extend(data[: new // 3])
        tree.extend(data[new // 3 :])
        assert tree.num_entries == old + new
        assert file[NAME] is tree
    check(root, path, str(theirs))
    ours, roots = (root.call("tree_description", one, NAME) for one in (path, str(theirs)))
    for name in ("title", "entries", "aliases", "user_info", "auto_flush"):
        assert ours[name] == roots[name], name
    if auto_flush > 0:
        assert ours["clusters"] == roots["clusters"]
    for name, branch in ours["branches"].items():
        for key in ("title", "leaves", "entries", "compression"):
            assert branch[key] == roots["branches"][name][key], name
    assert Path(path).read_bytes()[1000 : len(before)] == before[1000:]
    assert nyssa.verify(path).problems == []


def test_twice_and_merged(tmp_path: Path, root: Root) -> None:
    """More entries follow in a second update, and the file can be merged."""
    path = write(root, tmp_path / "one.root", 0, 50)
    more = [nyssa.open(f"{write(root, tmp_path / 'm.root', 0, 30)}:{NAME}").arrays()]
    more.append(nyssa.open(f"{write(root, tmp_path / 'm.root', 500, 70)}:{NAME}").arrays())
    old = nyssa.open(f"{path}:{NAME}").arrays()
    for data in more:
        with nyssa.update(path) as file:
            file[NAME].extend(data)
    merged = str(tmp_path / "merged.root")
    nyssa.merge([path, path], merged, verify=True)
    whole = ak.concatenate([old, *more])
    assert nyssa.open(f"{path}:{NAME}").arrays().to_list() == whole.to_list()
    with uproot.open(merged) as file:
        found = file[NAME].arrays(["Jet_pt", "strings", "text"]).to_list()
    assert found == ak.concatenate([whole, whole])[["Jet_pt", "strings", "text"]].to_list()
    twice = root.call("tree_values", merged, NAME, NUMBERS)
    once = root.call("tree_values", path, NAME, NUMBERS)
    assert twice == {name: values * 2 for name, values in once.items()}


@pytest.mark.parametrize("writer", ["uproot", "nyssa"])
def test_trees_of_other_writers(tmp_path: Path, root: Root, writer: str) -> None:
    """Counters may be left out, and records stand for their branches."""
    path = str(tmp_path / "tree.root")
    jets = ak.Array([[{"pt": 1.0, "q": 1}, {"pt": 2.0, "q": -1}], [], [{"pt": 3.0, "q": 1}]])
    first = {"x": np.arange(3.0), "text": ["a", "bb", ""], "Jet": jets}
    new = uproot.recreate(path) if writer == "uproot" else nyssa.recreate(path)
    with new as file:
        types = {"x": "float64", "text": "string", "Jet": "var * {pt: float64, q: int64}"}
        file.mktree("Events", types)
        file["Events"].extend(first)
    with nyssa.update(path) as file:
        tree = file["Events"]
        tree.extend({"Jet": jets[::-1], "x": [7, 8, 9], "text": ["a longer one", "", "c"]})
        tree.extend({"Jet_pt": [[5.0]], "Jet_q": [[1]], "nJet": [1], "x": [0.5], "text": ["d"]})
        with pytest.raises(errors.ArgumentError, match="the counter says 2, but the lists have 1"):
            tree.extend({"Jet_pt": [[5.0]], "Jet_q": [[1]], "nJet": [2], "x": [0.5], "text": ["d"]})
    pt = [[1.0, 2.0], [], [3.0], [3.0], [], [1.0, 2.0], [5.0]]
    with uproot.open(path) as file:
        found = file["Events"].arrays()
    assert found["Jet_pt"].to_list() == pt
    assert found["Jet_q"].to_list() == [[1, -1], [], [1], [1], [], [1, -1], [1]]
    assert found["x"].to_list() == [0, 1, 2, 7, 8, 9, 0.5]
    assert found["text"].to_list() == ["a", "bb", "", "a longer one", "", "c", "d"]
    values = root.call("tree_values", path, "Events", ["nJet", "Jet_pt", "x"])
    assert values == {"nJet": [len(one) for one in pt], "Jet_pt": pt, "x": found["x"].to_list()}
    leaves = root.call("tree_leaves", path, "Events", ["text"])
    assert [one[0] for one in leaves["text"]] == found["text"].to_list()
    assert nyssa.open(f"{path}:Events").arrays()["Jet_pt"].to_list() == pt


def test_contexts_of_many_threads(tmp_path: Path, root: Root) -> None:
    """Fill contexts add to a tree of the file, too."""
    path = write(root, tmp_path / "one.root", 0, 50)
    old = nyssa.open(f"{path}:{NAME}").arrays()
    with nyssa.update(path) as file, file[NAME].fill_context() as context:
        context.extend(old)
    expected = ak.concatenate([old, old]).to_list()
    assert nyssa.open(f"{path}:{NAME}").arrays().to_list() == expected
    values = root.call("tree_values", path, NAME, ["number"])
    assert values["number"] == [entry << 33 for entry in range(50)] * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"x": None}, r"the column \"x\" of the tree d/Events is missing in the data"),
        ({"x": None, "y": [1.0]}, r"has no column \"y\", and its column \"x\" is missing"),
        ({"y": [1.0]}, r"the tree d/Events has no column \"y\""),
        ({"nJett": [1]}, 'did you mean "nJet"'),
        ({"small": [70000]}, "value 70000 does not fit a leaf of type std::uint16_t"),
        ({"number": [0.5]}, "value 0.5 where the field is of integers"),
        ({"fixed": [[1, 2, 3]]}, "fixed"),
        ({"Jet_pt": [[1.0, 2.0, 3.0]]}, "items, where other lists with the counter"),
    ],
)
def test_entries_that_do_not_fit(
    tmp_path: Path, root: Root, change: dict[str, Any], message: str
) -> None:
    """They are refused as in new trees, and the file stays as it was."""
    path = write(root, tmp_path / "one.root", 2, 1)
    before = Path(path).read_bytes()
    old = nyssa.open(f"{path}:{NAME}").arrays()
    data = {name: old[name] for name in old.fields} | change
    data = {name: one for name, one in data.items() if one is not None}
    with nyssa.update(path) as file, pytest.raises(errors.ArgumentError, match=message):
        file[NAME].extend(data)
    assert Path(path).read_bytes() == before


def test_branches_that_cannot_be_filled(tmp_path: Path, root: Root) -> None:
    """The message names the branch, and nothing is written."""
    path = str(tmp_path / "kinds.root")
    root.call("write_many_kinds", path, 0, 20, {})
    before = Path(path).read_bytes()
    with nyssa.update(path) as file:
        with pytest.raises(errors.UnsupportedError, match=r"object Events, field "):
            file["Events"].extend({"number": [1]})
        file["d/Runs"].extend({"run": [5]})
    assert len(Path(path).read_bytes()) > len(before)
    assert root.call("tree_values", path, "d/Runs", ["run"]) == {"run": [0, 5]}
    with nyssa.update(path) as file, pytest.raises(errors.NotFoundError):
        file["Event"]


def test_baskets_inside_the_tree(tmp_path: Path, root: Root) -> None:
    """They get keys of their own; aliases and user information stay."""
    path, kinds = str(tmp_path / "memory.root"), ["number", "count", "pt", "x", "text", "vector"]
    root.call("write_many_kinds", path, 0, 20, {"in_memory": True, "columns": kinds})
    old = nyssa.open(f"{path}:Events").arrays()
    with nyssa.update(path) as file:
        file["Events"].extend(old)
    values = root.call("tree_values", path, "Events", FLAT)
    assert values["number"] == [*range(20), *range(20)]
    with uproot.open(path) as file:
        found = file["Events"].arrays().to_list()
    assert found == found[:20] * 2
    facts = root.call("tree_facts", path, "Events")
    assert (facts["alias"], facts["kept"], facts["maximum"]) == ("x*2", "as it is", 4)


def test_an_index_is_left_out(tmp_path: Path, root: Root) -> None:
    """An index of the old entries would be wrong; a warning says so."""
    path = str(tmp_path / "index.root")
    code = f"""
    void nyssa_indexed() {{
       TFile f("{path}", "RECREATE"); TTree t("T", ""); int run = 3; t.Branch("run", &run);
       t.Fill(); t.BuildIndex("run"); t.Write();
    }}"""
    root.call("cpp", code, "nyssa_indexed()")
    message = "T: the index of its entries is left out"
    with pytest.warns(RuntimeWarning, match=message), nyssa.update(path) as file:
        file["T"].extend({"run": [4]})
    assert root.call("tree_values", path, "T", ["run"]) == {"run": [3, 4]}
    assert nyssa.open(f"{path}:T").arrays()["run"].to_list() == [3, 4]
    assert (
        b"TTreeIndex" not in uproot.open(path).key("T").get_uncompressed_chunk_cursor()[0].raw_data
    )


def test_a_failure_leaves_the_old_file(tmp_path: Path, root: Root) -> None:
    """An exception in the middle leaves the bytes of the old file, with unused ones behind."""
    path = write(root, tmp_path / "one.root", 0, 500, basket=300)
    before = Path(path).read_bytes()
    data = nyssa.open(f"{path}:{NAME}").arrays()
    with pytest.raises(ZeroDivisionError), nyssa.update(path) as file:
        file[NAME].extend(data)
        raise ZeroDivisionError
    assert Path(path).read_bytes()[: len(before)] == before
    check(root, path, write(root, tmp_path / "same.root", 0, 500, basket=300))


def test_without_entries_nothing_changes(tmp_path: Path, root: Root) -> None:
    """A tree that gets no entries is not written."""
    path = write(root, tmp_path / "one.root", 0, 50)
    before = Path(path).read_bytes()
    with nyssa.update(path) as file:
        assert file[NAME].num_entries == 50
    assert Path(path).read_bytes() == before


def test_corrupt_metadata(tmp_path: Path) -> None:
    """A tree whose branches have fewer entries than the tree says is refused with the branch."""
    path = tmp_path / "tree.root"
    with nyssa.recreate(path, compression="none") as file:
        file.mktree("T", {"x": np.arange(100)})
    data = path.read_bytes()
    place = data.index((100).to_bytes(8, "big"), data.index(b"\x05TTree\x01T"))
    path.write_bytes(data[: place + 7] + b"\x65" + data[place + 8 :])
    message = r"it has 100 (of the 101 entries of|entries, the tree has 101).*object T, field x"
    with nyssa.update(path) as file, pytest.raises(nyssa.NyssaError, match=message):
        file["T"]


_EXTEND = """
import sys
import nyssa
path, more = sys.argv[1:]
data = nyssa.open(f"{more}:d/Events").arrays()
with nyssa.update(path) as file:
    file["d/Events"].extend(data)
"""


def writes(path: str, more: str, log: Path) -> list[tuple[int, bytes]]:
    """Add a tree to that of `path`. Return each write to its file: the offset and the bytes."""
    traced = ["strace", "-f", "-qq", "-o", str(log), "-P", path, "-xx", "-s", "100000000"]
    command = [*traced, "-e", "trace=pwrite64,write", sys.executable, "-c", _EXTEND, path, more]
    if subprocess.run(command, check=False, capture_output=True).returncode != 0:
        pytest.skip("strace may not trace here")
    found = re.findall(r'pwrite64\(\d+, "([^"]*)", (\d+), (\d+)\) += (\d+)', log.read_text())
    assert len(found) == len(log.read_text().splitlines())
    parts = [(int(at), bytes.fromhex(text.replace("\\x", ""))) for text, _, at, _ in found]
    sizes = [(int(asked), int(done)) for _, asked, _, done in found]
    assert sizes == [(len(data), len(data)) for _, data in parts]
    return parts


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not there")
def test_killed_at_each_write(tmp_path: Path, root: Root) -> None:
    """What is on the disk after each write, or half of it, is the old tree or the new one."""
    path = write(root, tmp_path / "tree.root", 0, 95)
    more = write(root, tmp_path / "more.root", 1000, 60)
    old = Path(path).read_bytes()
    names = ["nJet", "Jet_pt", "x", "floats", "strings", "text"]
    values = {95: root.call("tree_values", path, NAME, NUMBERS)}
    lists = [uproot.open(f"{path}:{NAME}").arrays(names).to_list()]
    done = writes(path, more, tmp_path / "strace.log")
    values[155] = root.call("tree_values", path, NAME, NUMBERS)
    lists.append(uproot.open(f"{path}:{NAME}").arrays(names).to_list())
    assert [len(one) for one in lists] == [95, 155]
    new = Path(path).read_bytes()
    lengths, state = [], bytearray(old)
    for at, data in done:
        # Small writes lie in one sector of the disk, and are not cut.
        for size in (len(data) // 2, len(data)) if len(data) > 512 else (len(data),):
            state[at : at + size] = data[:size]
            Path(path).write_bytes(state)
            with uproot.open(path) as file:
                found = file[NAME].arrays(names).to_list()
            assert found in lists
            assert nyssa.open(f"{path}:{NAME}").arrays(names).to_list() == found
            assert root.call("tree_values", path, NAME, NUMBERS) == values[len(found)]
            lengths.append(len(found))
    assert bytes(state) == new
    assert lengths == [95] * (len(lengths) - 1) + [155]
    # The data, whole or half of it, and the header with the directory.
    assert len(lengths) >= 3
    # A file that was left with unused bytes can be updated as usual.
    Path(path).write_bytes(old + new[len(old) :])
    with nyssa.update(path) as file:
        file[NAME].extend(nyssa.open(f"{more}:{NAME}").arrays())
    assert uproot.open(f"{path}:{NAME}").arrays(names).to_list() == lists[1]
