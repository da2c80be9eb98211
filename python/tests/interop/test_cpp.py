"""Programs in C++ write and read classes by nyssa.hpp, beside ROOT with its dictionaries."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import uproot

from support.capi import CRATE, SOURCES, STRICT, Programs, dictionary
from support.data import DATA
from support.root import Root

COMMITTED = CRATE.parents[1] / "testdata/ttree"
READERS = CRATE.parents[1] / "examples/cpp/readers"
COLLECTIONS = Path(__file__).parents[1] / "formats/user_collection.hxx"


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    """Return the folder of programs, with the library."""
    return Programs(tmp_path_factory.mktemp("cpp"))


@pytest.fixture(scope="module")
def program(programs: Programs) -> Path:
    """Return the program that writes and reads the classes."""
    return programs.compile(SOURCES / "by_nyssa.cpp", "-std=c++17", "-O0")


@pytest.fixture(scope="module")
def written(program: Path) -> Path:
    """Return a file that the program wrote."""
    path = program.parent / "nyssa.root"
    _run(program, "write", path)
    return path


@pytest.fixture(scope="module")
def of_root(programs: Programs, root: Root) -> tuple[str, Path]:
    """Return the library of ROOT's dictionaries, and a file that ROOT wrote by them."""
    library, path = str(dictionary(programs.folder)), programs.folder / "root.root"
    root.call("in_library", library, "write_by_root", str(path))
    return library, path


def _run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_objects_are_read_back(program: Path, written: Path) -> None:
    _run(program, "read", written)


def test_all_classes_of_the_interface_work(program: Path, tmp_path: Path) -> None:
    _run(program, "use", tmp_path)
    events = uproot.open(tmp_path / "merged.root")["Events"]
    numbers = events["n"].array()[:31].tolist()
    assert numbers[:10] + numbers[30:] == [*range(10), 30]
    assert sorted(numbers[10:30]) == list(range(10, 30))
    assert events["tracks"].array()[2].tolist() == [{"z": 0.0}, {"z": 1.0}]
    tree = uproot.open(tmp_path / "objects.root")["tree"]
    assert tree["n"].array().tolist() == [0, 1, 2, 3]
    assert tree["numbers"].array().tolist() == [[0], [0.5], [1], [1.5]]
    assert [len(lists) for lists in tree["hits.x"].array()] == [2] * 4


def test_fields_come_while_fill_contexts_write(
    of_root: tuple[str, Path], program: Path, tmp_path: Path, root: Root
) -> None:
    path = tmp_path / "late.root"
    _run(program, "late", path)
    assert root.call("in_library", of_root[0], "wrong_late_in_root", str(path)) == ""
    events = uproot.open(path)["Events"].arrays(["n", "jets"]).to_list()
    events.sort(key=lambda event: event["n"])
    assert events == [{"n": n, "jets": [2.5] if n == 2 else []} for n in range(9)]


def test_entries_are_written_or_there_is_an_error(program: Path, tmp_path: Path) -> None:
    _run(program, "lose", tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["kept.root"]
    assert uproot.open(tmp_path / "kept.root")["Events"]["n"].array().tolist() == [1]


def test_root_reads_the_objects(of_root: tuple[str, Path], written: Path, root: Root) -> None:
    library, _ = of_root
    assert root.call("in_library", library, "wrong_in_root", str(written)) == ""


def test_objects_of_root_are_read(of_root: tuple[str, Path], program: Path) -> None:
    _, path = of_root
    _run(program, "read", path)


def test_rules_make_the_members_of_an_older_class(
    of_root: tuple[str, Path], program: Path, root: Root, tmp_path: Path
) -> None:
    root.call("in_library", of_root[0], "write_old_by_root", str(tmp_path / "old.root"))
    _run(program, "evolve", tmp_path / "old.root", tmp_path / "new.root")
    clusters = tmp_path / "clusters.root"
    root.call("in_library", of_root[0], "write_old_clusters_by_root", str(clusters))
    _run(program, "versions", clusters, tmp_path / "new_clusters.root")


def test_root_reads_products_that_it_has_streamed(
    of_root: tuple[str, Path], program: Path, root: Root, tmp_path: Path
) -> None:
    library, files = of_root[0], [str(tmp_path / name) for name in ("bytes", "infos.root")]
    root.call("in_library", library, "stream_by_root", *files)
    paths = [tmp_path / "out.root", tmp_path / "later.root"]
    _run(program, "stream", *files, *paths)
    for path in paths:
        assert root.call("in_library", library, "wrong_streamed_in_root", str(path)) == ""


def test_collections_of_a_proxy_are_read_and_written(
    program: Path, root: Root, tmp_path: Path
) -> None:
    given, path = tmp_path / "given.root", tmp_path / "out.root"
    root.call("cpp", COLLECTIONS.read_text(), "user_collection::prepare();")
    root.call("cpp", "", f'user_collection::write("{given}");')
    _run(program, "collect", given, path)
    root.call("cpp", "", f'user_collection::check("{path}");')


def test_the_file_describes_the_classes_as_root_does(
    of_root: tuple[str, Path], written: Path, root: Root
) -> None:
    library, path = of_root

    def fields(file: Path, name: str) -> list[tuple[Any, ...]]:
        # ROOT has the deleter of a unique_ptr in an alias, and a checksum 0 for arrays of classes.
        found = root.call("described", str(file), name)
        return [(*one[:2], *one[3:6], one[6] or None, *one[7:]) for one in found]

    for name in ("Events", "Fields"):
        assert fields(written, name) == fields(path, name)
    ours, theirs = (root.call("class_infos", library, str(file)) for file in (written, path))
    assert ours == theirs


@pytest.mark.parametrize(
    ("tree", "numbers", "lists"),
    [
        (COMMITTED / "events-zstd.root", "nJet", "Jet_pt"),
        (DATA / "ttree/nanoAOD_2015_CMS_Open_Data_ttbar.root", "nMuon", "Muon_pt"),
    ],
    ids=["small", "nano"],
)
def test_a_program_in_c_reads_columns_as_uproot_does(
    programs: Programs, tmp_path: Path, tree: Path, numbers: str, lists: str
) -> None:
    if not tree.exists():
        pytest.skip("NYSSA_TEST_DATA has no NanoAOD")
    columns = programs.compile(SOURCES / "columns.c", "-std=c11")
    output = tmp_path / "ntuple.root"
    words = [line.split() for line in _run(columns, tree, numbers, lists, output).splitlines()]
    arrays = uproot.open(tree)["Events"].arrays([numbers, lists])
    assert [int(first) for first, *_ in words] == arrays[numbers].tolist()
    assert [[float.fromhex(one) for one in rest] for _, *rest in words] == arrays[lists].tolist()
    assert len(words) == uproot.open(output)["Events"].num_entries


@pytest.mark.parametrize(("standard", "reader"), [("c++20", "podio"), ("c++23", "atlas")])
def test_the_headers_are_of_later_standards(
    programs: Programs, tmp_path: Path, standard: str, reader: str
) -> None:
    program = programs.compile(READERS / f"{reader}.cpp", f"-std={standard}", "-O0")
    if reader == "podio":
        printed = _run(program, tmp_path / "out.root")
        assert printed == "2500 frames, energy of clusters 15000, of their hits 15000\n"


def test_the_headers_are_for_clang() -> None:
    if (clang := shutil.which("clang++")) is None:
        pytest.skip("there is no clang++")
    words = [*STRICT, "-fsyntax-only", f"-I{CRATE / 'include'}"]
    _run(clang, *words, "-std=c++17", SOURCES / "by_nyssa.cpp")
    _run(clang, *words, "-std=c++2b", READERS / "podio.cpp")


def test_the_examples_are_built_from_an_installation(programs: Programs, tmp_path: Path) -> None:
    for name in ("cmake", "pkg-config"):
        if shutil.which(name) is None:
            pytest.skip(f"there is no {name}")
    prefix, build = tmp_path / "prefix", tmp_path / "build"
    _run(CRATE / "install", prefix, programs.folder / "libnyssa.so")
    examples = CRATE.parents[1] / "examples/cpp"
    _run(
        "cmake",
        "-S",
        examples,
        "-B",
        build,
        f"-DCMAKE_PREFIX_PATH={prefix}",
        "-DCMAKE_BUILD_TYPE=Debug",
    )
    _run("cmake", "--build", build)
    output, tree = tmp_path / "out.root", tmp_path / "tree.root"
    # It works on one core, too.
    _run("env", "NYSSA_NUM_THREADS=1", build / "write", output)
    assert "2000 events" in _run(build / "read", output)
    _run(build / "convert", f"{output}:Events", tree, "to=ttree")
    assert uproot.open(tree)["Events"].num_entries == 2000
    events = tmp_path / "events.root"
    framework = build / "framework/framework"
    # Events are tasks of oneTBB where CMake has found it.
    has_tbb = "TBB_DIR-NOTFOUND" not in (build / "CMakeCache.txt").read_text()
    ways = [["nyssa"], ["nyssa-one"], *([["nyssa", "scheduler=tbb"]] if has_tbb else [])]
    for module, *options in ways:
        measured = json.loads(_run(framework, module, events, "3", "500", *options))
        assert (measured["events"], measured["bytes"]) == (500, events.stat().st_size)
        numbers = uproot.open(events)["Events"]["header.number"].array()
        assert sorted(numbers) == list(range(500))
    for name in ("write", "read", "convert", "framework/framework"):
        done = subprocess.run([build / name], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr[:6]) == (2, "usage:")
    environment = {"PKG_CONFIG_PATH": str(prefix / "lib/pkgconfig")}
    command = ["pkg-config", "--cflags", "--libs", "nyssa"]
    flags = subprocess.run(
        command, capture_output=True, text=True, check=True, env=os.environ | environment
    )
    assert f"-I{prefix}" in flags.stdout.replace("/lib/pkgconfig/../..", "")
    assert "-lnyssa" in flags.stdout
