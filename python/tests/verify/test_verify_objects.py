"""`nyssa verify` decodes the objects of streamer fields.

The files in `testdata/streamed` were written by ROOT 6.40.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nyssa
from support.data import TESTDATA
from support.root import Root

pa = pytest.importorskip("pyarrow")

FOLDER = TESTDATA / "streamed"
OTHERWISE = (
    "; or Root, or a class in it, has a streamer of its own in its library, so that the streamer "
    'info does not describe its bytes: streamer="raw" where the file is opened gives them as they '
    "are"
)

_NAMED = """
void nyssa_named_object(const char *path) {
  TFile file(path, "RECREATE", "", 0);
  TNamed named("n", "title");
  named.Write();
}
"""


def verify(path: Path, *options: str) -> tuple[int, list[str]]:
    """Run `nyssa verify`. Return its exit code and the lines of its output."""
    command = [sys.executable, "-m", "nyssa", "verify", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


def objects(name: str) -> list[bytes]:
    """Return the bytes of the objects that ROOT wrote."""
    raw: list[bytes] = pa.table(nyssa.open(FOLDER / name, streamer="raw")["ntpl"])["f"].to_pylist()
    return raw


def rows(alone: list[bytes]) -> dict[str, object]:
    """Return four entries with these objects."""
    lists = [alone[:1], [], alone, []]
    return {
        "x": np.arange(4),
        "f": pa.array(alone, pa.large_binary()),
        "list": pa.array(lists, pa.large_list(pa.large_binary())),
    }


def write(path: Path, given: list[bytes]) -> Path:
    """Write two clusters of objects, alone and in lists, on pages with valid checksums."""
    classes = {"Root": {":streamed": FOLDER / "Root.root"}}
    types = {"x": "int", "f": "Root", "list": "std::vector<Root>"}
    good = objects("Root.root")
    with nyssa.recreate(path) as file:
        file.mkrntuple("ntpl", types, classes=classes).extend(rows(good[:4]))
    with nyssa.update(path) as file:
        file["ntpl"].extend(rows(given))
    return path


def test_sound(tmp_path: Path) -> None:
    path = write(tmp_path / "sound.root", objects("Root.root")[:4])
    code, lines = verify(path)
    assert (code, lines[-1]) == (0, "sound: 1 key checked")


def test_objects_that_are_no_objects(tmp_path: Path) -> None:
    """The checksums are right, but the bytes cannot be decoded to an object."""
    good = objects("Root.root")[:4]
    assert [len(one) for one in good] == [390, 601, 801, 1007]
    # The byte count at the start is too large by one.
    count = int.from_bytes(good[2][:4], "big") + 1
    wrong = count.to_bytes(4, "big") + good[2][4:]
    path = write(tmp_path / "count.root", [*good[:2], wrong, good[3]])
    code, lines = verify(path)
    what = (
        "problem: byte count of 798 where 797 bytes are left, at byte 4 of the object" + OTHERWISE
    )
    assert lines[2:] == [
        f"{what} (ntpl;1, f, cluster 1, entry 6)",
        f"{what} (ntpl;1, list, cluster 1, entry 6)",
        f"damaged: 2 problems in 1 key of {path}",
    ]
    assert code == 1
    cut = write(tmp_path / "cut.root", [*good[:3], good[3][:-5]])
    code, lines = verify(cut)
    what = (
        "problem: byte count of 1003 where 998 bytes are left, at byte 4 of the object" + OTHERWISE
    )
    assert lines[2:4] == [
        f"{what} (ntpl;1, f, cluster 1, entry 7)",
        f"{what} (ntpl;1, list, cluster 1, entry 6)",
    ]
    assert code == 1
    document = json.loads("\n".join(verify(cut, "--json")[1]))
    assert [problem["entry"] for problem in document["problems"]] == [7, 6]


@pytest.mark.parametrize("name", ["Kinds", "Numbers", "Pointers", "Root", "Stl"])
def test_files_of_root(name: str) -> None:
    code, lines = verify(FOLDER / f"{name}.root")
    assert (code, lines[-1]) == (0, "sound: 1 key checked")


def test_a_class_that_is_not_known() -> None:
    """The bytes are checked, and text, JSON and exit code say that they are not decoded."""
    why = "field f: the file has no streamer info of class Plain, in pair::second"
    code, lines = verify(FOLDER / "Missing.root", "--json")
    document = json.loads("\n".join(lines))
    assert (code, document["problems"], document["sound"]) == (4, [], False)
    assert document["datasets"][0]["unreadable"] == [why]
    code, lines = verify(FOLDER / "Missing.root")
    assert (code, lines[-1]) == (4, "no problem found in what was checked: 1 key")
    assert f"not decoded: ntpl;1: {why}" in lines


def test_an_object_of_a_class_that_is_not_known(tmp_path: Path, root: Root) -> None:
    """An object that is not decoded is named, also with --quiet, and the exit code is 4."""
    path = tmp_path / "a.root"
    root.call("cpp", _NAMED, f'nyssa_named_object("{path}")')
    assert verify(path) == (0, ["sound: 1 key checked"])
    path.write_bytes(path.read_bytes().replace(b"\x06TNamed\x01n", b"\x06TUnbek\x01n"))
    why = "not decoded: n;1: the file has no streamer info of class TUnbek"
    code, lines = verify(path)
    assert (code, lines[-2:]) == (4, [why, "no problem found in what was checked: 1 key"])
    assert verify(path, "--quiet") == (4, [why])
    report = nyssa.verify(path)
    assert (report.sound, report.problems) == (False, [])
    assert str(report).splitlines()[-2:] == lines[-2:]
