"""An object with references (`TRef`) goes to another file only where they mean the same there."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import nyssa
from support.root import Root

#: A map from an object to a reference to it, and a text without references.
_WRITE = """
#include <TFile.h>
#include <TMap.h>
#include <TNamed.h>
#include <TObjString.h>
#include <TRef.h>
void nyssa_references(const char* path, const char* name, const char* title) {
  TFile file(path, "RECREATE");
  TObjString text(title);
  text.Write("text");
  auto* named = new TNamed("target", title);
  auto* map = new TMap;
  map->Add(named, new TRef(named));
  map->Write(name, TObject::kSingleKey);
}
"""
_READ = """
#include <TFile.h>
#include <TMap.h>
#include <TRef.h>
#include <fstream>
void nyssa_referred(const char* path, const char* name, const char* output) {
  TFile file(path);
  auto* map = file.Get<TMap>(name);
  TIter next(map);
  auto* key = next();
  auto* found = static_cast<TRef*>(map->GetValue(key))->GetObject();
  std::ofstream(output) << (found == key ? found->GetTitle() : "another object");
}
"""


@pytest.fixture(scope="module")
def files(root: Root, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return files of three processes of ROOT, each of which is the process 0 of its file."""
    root.call("version")
    folder = tmp_path_factory.mktemp("references")
    for n in range(3):
        process = Root()
        path = folder / f"{n}.root"
        process.call("cpp", _WRITE, f'nyssa_references("{path}", "map{n}", "of {n}")')
        process.close()
    with nyssa.recreate(folder / "plain.root") as file:
        file["h"] = np.histogram([1.0, 2.0])
    return [folder / f"{n}.root" for n in range(3)]


def referred(path: Path, name: str) -> str:
    """Return the title of the object that a reference leads to, or what is wrong."""
    process, told = Root(), path.with_suffix(".txt")
    process.call("cpp", _READ, f'nyssa_referred("{path}", "{name}", "{told}")')
    process.close()
    return told.read_text()


def test_a_merge_refuses_references_of_another_process(files: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "merged.root"
    with pytest.raises(nyssa.UnsupportedError, match=r"references \(TRef\).*hadd") as caught:
        nyssa.merge(files[:2], output)
    assert caught.value.place["object"] == "map1"
    report = nyssa.merge(files[:2], output, skip_unsupported=True)
    assert [one for one in report["left_out"] if one.startswith("map1;1 (TMap): it has references")]
    assert set(nyssa.open(output)) == {"ProcessID0;1", "map0;1", "text;1", "text;2"}
    assert referred(output, "map0") == "of 0"


def test_a_merge_keeps_references_of_one_process(files: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "merged.root"
    nyssa.merge([files[0].with_name("plain.root"), files[1]], output)
    assert referred(output, "map1") == "of 1"
    # The processes of the second and the third input have the same number.
    with pytest.raises(nyssa.UnsupportedError, match=r"references \(TRef\)"):
        nyssa.merge([files[0].with_name("plain.root"), *files[1:]], tmp_path / "other.root")


def test_files_of_one_process_merge_whole(tmp_path: Path) -> None:
    """The process is the same one under the same number in both files."""
    process, inputs = Root(), [tmp_path / "a.root", tmp_path / "b.root"]
    try:
        process.call("cpp", _WRITE, f'nyssa_references("{inputs[0]}", "map0", "of 0")')
    except RuntimeError as error:
        pytest.skip(f"no ROOT for this Python: {error}")
    process.call("cpp", "", f'nyssa_references("{inputs[1]}", "map1", "of 1")')
    process.close()
    output = tmp_path / "merged.root"
    for order in (inputs, inputs[::-1]):
        report = nyssa.merge(order, output, force=True)
        assert report["left_out"] == []
        assert set(nyssa.open(output)) == {
            "ProcessID0;1",
            "map0;1",
            "map1;1",
            "text;1",
            "text;2",
        }


def test_a_copy_brings_its_process(files: list[Path], tmp_path: Path) -> None:
    output = tmp_path / "copied.root"
    first, second = map(nyssa.open, files[:2])
    with nyssa.recreate(output) as file:
        file["text"] = second["text"]
        file["map0"] = first["map0"]
        with pytest.raises(nyssa.UnsupportedError, match=r"references \(TRef\)"):
            file["map1"] = second["map1"]
    assert referred(output, "map0") == "of 0"
    with nyssa.recreate(output) as file:
        file.copy_from(first)
    assert set(nyssa.open(output)) == {"ProcessID0;1", "map0;1", "text;1"}
    assert referred(output, "map0") == "of 0"
