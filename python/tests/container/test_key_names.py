"""A key is its directory, its name and its cycle: names may have slashes and any other bytes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

#: What ROOT reads from the file of `write_odd_names`.
_BINS = {
    "SR/Signal": [1.0, 0.0, 0.0],
    "SR/Only": [1.0, 0.0, 0.0],
    "x/y": [1.0, 0.0, 0.0],
    "x%2Fy": [1.0, 0.0, 0.0],
    "SR > Signal": [0.0, 2.0, 0.0],
}
_KEYS = {
    *("SR%2FSignal;1", "SR%2FOnly;1", "x%2Fy;1", "x%252Fy;1", "jet%3B7;1", "h%E9;1", "h%E8;1"),
    *("SR;1", "SR/Signal;1"),
}


@pytest.fixture(scope="module")
def odd(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a file with odd names that ROOT wrote."""
    path = tmp_path_factory.mktemp("odd") / "odd.root"
    root.call("write_odd_names", str(path))
    assert root.call("bins", str(path)) == _BINS
    return path


def test_each_listed_key_reads_its_own_object(odd: Path) -> None:
    """No two keys look the same, and each finds its object."""
    file = nyssa.open(odd)
    assert set(file.keys()) == _KEYS
    assert set(file["SR"].keys()) == {"Signal;1"}
    assert {key: file[key].title for key in ("jet%3B7;1", "h%E9;1")} == {
        "jet%3B7;1": "semicolon",
        "h%E9;1": "acute",
    }
    values = {key: file[key].values().tolist() for key in _KEYS if file.classname_of(key) == "TH1D"}
    assert values.pop("SR/Signal;1") == [0, 2, 0]
    assert all(one == [1, 0, 0] for one in values.values())
    assert len(values) == 4


def test_a_slash_is_between_directories_first(odd: Path) -> None:
    """ROOT and uproot read the object of the directory. Without one, the name itself is tried."""
    file = nyssa.open(odd)
    assert uproot.open(odd)["SR/Signal"].values().tolist() == [0, 2, 0]
    assert file["SR/Signal"].values().tolist() == [0, 2, 0]
    assert file["SR"]["Signal"].values().tolist() == [0, 2, 0]
    for name in ("SR/Only", "x/y", "x/y;1", "SR%2FSignal"):
        assert file[name].values().tolist() == [1, 0, 0], name
    assert "Only" not in file["SR"]
    # uproot shows bytes that are not UTF-8 so.
    assert file["jet;7"].title == "semicolon"
    assert file["h\udce9"].title == "acute"
    assert nyssa.open(f"{odd}:x/y").values().tolist() == [1, 0, 0]
    with pytest.raises(nyssa.NotFoundError):
        file["SR/Other"]


def test_merge_and_copies_keep_all_objects(odd: Path, root: Root, tmp_path: Path) -> None:
    """The names and titles have the same bytes as before, and nothing is lost."""
    merged, copied, updated = (tmp_path / f"{name}.root" for name in ("m", "c", "u"))
    nyssa.merge([odd, odd], merged)
    assert root.call("bins", str(merged)) == {k: [2 * x for x in v] for k, v in _BINS.items()}
    with nyssa.recreate(copied) as file:
        file.copy_from(nyssa.open(odd))
    with nyssa.recreate(updated):
        pass
    with nyssa.update(updated) as file:
        file.copy_from(nyssa.open(odd))
        del file["SR%2FOnly"]
    assert root.call("bins", str(copied)) == _BINS
    assert root.call("bins", str(updated)) == {k: v for k, v in _BINS.items() if k != "SR/Only"}
    names = set(uproot.open(odd).keys())
    assert "jet;7;1" in names
    assert "h\udce9;1" in names
    assert "h\udce8;1" in names
    for path in (merged, copied):
        assert set(uproot.open(path).keys()) == names
        assert uproot.open(path).key("h\udce8").fTitle == "gr\udce8ve"
        assert nyssa.verify(path).sound


def test_the_command_line_names_them(odd: Path) -> None:
    """`ls` lists the names that find the objects."""
    command = [sys.executable, "-m", "nyssa", "ls", "--json", str(odd)]
    listing = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert {f"{key['path']};{key['cycle']}" for key in listing["keys"]} == _KEYS
    command = [sys.executable, "-m", "nyssa", "verify", f"{odd}:SR%2FSignal"]
    assert b"sound: 1 key" in subprocess.run(command, capture_output=True, check=True).stdout


def test_written_slashes_make_directories(tmp_path: Path, root: Root) -> None:
    """As with uproot. The form of listed keys names an object with a slash."""
    path = tmp_path / "written.root"
    counts = np.histogram([0.5], bins=3, range=(0, 3))
    with nyssa.recreate(path) as file:
        file["a/b"] = counts
        file["a%2Fb"] = counts
        file["50%"] = counts
    assert set(root.call("bins", str(path))) == {"a > b", "a/b", "50%"}
    assert set(nyssa.open(path).keys(cycle=False)) == {"a", "a/b", "a%2Fb", "50%"}


def test_directories_without_a_name(tmp_path: Path) -> None:
    """Uproot makes them. Their objects are not in the directory above."""
    path, output = tmp_path / "unnamed.root", tmp_path / "output.root"
    with uproot.recreate(path) as file:
        file.mkdir("/")["h"] = np.histogram([0.5], bins=3, range=(0, 3))
        file["h"] = np.histogram([1.5], bins=3, range=(0, 3))
        file.mkdir("a").mkdir("/")["h"] = np.histogram([2.5], bins=3, range=(0, 3))
    bins = {"%00/h": [1, 0, 0], "h": [0, 1, 0], "a/%00/h": [0, 0, 1]}
    for one in (path, output):
        found = nyssa.open(one)
        assert set(found.keys(cycle=False)) == {*bins, "%00", "a", "a/%00"}
        assert {key: found[key].values().tolist() for key in bins} == bins
        assert found["%00"]["h"].values().tolist() == [1, 0, 0]
        assert uproot.open(one)["a"][""]["h"].values().tolist() == [0, 0, 1]
        assert nyssa.verify(one).problems == []
        nyssa.merge([path], output, force=True)
    with nyssa.recreate(output) as file:
        for name in ("", "/"):
            with pytest.raises(nyssa.ArgumentError, match="does not name a directory"):
                file.mkdir(name)


#: Longer, shorter, and as long as the old names.
_RENAMED = {"h": "a longer name", "second": "2", "d": "e"}


def test_keys_that_root_renamed(tmp_path: Path, root: Root) -> None:
    """ROOT changes names and titles in the list of a directory alone, but no size of a key."""
    path, output = tmp_path / "renamed.root", tmp_path / "output.root"
    root.call("write_container", str(path))
    root.call("rename_keys", str(path), _RENAMED)
    names = ["a longer name;1", "2;1", "e;1", "e/n;1"]
    assert uproot.open(path).keys() == names
    nyssa.merge([path], output)
    for one in (path, output):
        assert root.call("bins", str(one)) == {"a longer name": [1, 0, 0, 0]}
        file = nyssa.open(one)
        assert set(file.keys()) == set(names)
        assert file["a longer name"].values().tolist() == [1, 0, 0, 0]
        assert (file["2"].title, file["e/n"].title) == ("title", "m")
    report = nyssa.verify(path)
    assert report.problems == []
    assert [note.split(" in its record")[0] for note in report.notes] == [
        'TH1D "a longer name";1 has the name "h"',
        'TNamed "2";1 has the name "second"',
        'TDirectory "e";1 has the name "d"',
        'TDirectory "e";1 has the title "d"',
    ]
    assert nyssa.verify(output).notes == []
    with pytest.raises(nyssa.UnsupportedError, match="copy the file first"):
        nyssa.update(path)


def test_two_keys_with_one_record(tmp_path: Path) -> None:
    """A key whose position leads to the record of another object is damage, and no new name."""
    path = tmp_path / "swapped.root"
    with nyssa.recreate(path) as file:
        for name, count in (("h", 1), ("g", 2)):
            file[name] = np.array([count]), np.array([0.0, 1.0])
    keys = [uproot.open(path).key(name) for name in ("h", "g")]
    stored, places = path.read_bytes(), [key.fSeekKey.to_bytes(4, "big") for key in keys]
    at = stored.rindex(places[1])
    path.write_bytes(stored[:at] + places[0] + stored[at + 4 :])
    with pytest.raises(nyssa.FormatError, match="but the record is"):
        nyssa.open(path)["g"].values()
    assert nyssa.verify(path).problems
