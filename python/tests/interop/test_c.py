"""Programs call every function of nyssa.h, rightly and wrongly, and write RNTuples and TTrees."""

from __future__ import annotations

import ctypes
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import uproot

from support.capi import CRATE, SOURCES, Programs, library
from support.root import Root

HEADER = CRATE / "include/nyssa.h"


def _functions() -> list[str]:
    """Return the functions that the header declares."""
    return re.findall(r"^[a-z].*?\b(nyssa_\w+)\(", HEADER.read_text(), re.M)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the files that the program wrote, under a memory checker if there is one."""
    programs = Programs(tmp_path_factory.mktemp("c"))
    program = programs.compile(SOURCES / "calls.c", "-std=c11", "-g")
    folder = tmp_path_factory.mktemp("calls")
    checker = ["valgrind", "--quiet", "--error-exitcode=9", "--leak-check=full"]
    checker += ["--errors-for-leak-kinds=definite", "--child-silent-after-fork=yes"]
    command = [*(checker if shutil.which("valgrind") else []), str(program), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_function_is_called() -> None:
    text = (SOURCES / "calls.c").read_text()
    assert len(_functions()) > 40
    assert [name for name in _functions() if f"{name}(" not in text] == []


def test_uproot_reads_the_rntuple(folder: Path) -> None:
    events = uproot.open(folder / "ntuple.root")["Events"]
    assert events["n"].array().tolist() == [0, 1, 2, 3, 4, 5]
    assert events["late"].array().tolist() == [0] * 6


def test_uproot_reads_the_trees(folder: Path) -> None:
    file = uproot.open(folder / "tree.root")
    assert file["tree"].title == "numbers"
    assert file["tree"]["n"].array().tolist() == [0, 1, 2]
    assert file["tree"]["late"].array().tolist() == [10, 11, 12]
    assert sorted(file["threads"]["n"].array().tolist()) == [0] * 10 + [1] * 10 + [2] * 10 + [7]


def test_a_memory_checker_finds_nothing_wrong(folder: Path) -> None:
    if shutil.which("valgrind") is None:
        pytest.skip("there is no valgrind")
    assert folder.is_dir(), "it has watched the program that wrote the files"


class Door:
    """The functions of the library, whose errors are exceptions."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(str(library()))
        self._library.nyssa_error_message.restype = ctypes.c_char_p

    def __getattr__(self, name: str) -> Callable[..., None]:
        function = self._library[f"nyssa_{name}"]

        def call(*arguments: Any) -> None:
            error = ctypes.c_void_p()
            texts = (given.encode() if isinstance(given, str) else given for given in arguments)
            if function(*texts, ctypes.byref(error)) != 0:
                raise RuntimeError(self._library.nyssa_error_message(error).decode())

        return call

    @staticmethod
    def exported(batch: pa.RecordBatch) -> tuple[Any, Any]:
        """Return the array and the schema of a batch as C has them."""
        array, schema = (ctypes.create_string_buffer(size) for size in (80, 72))
        batch._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
        return array, schema


def test_a_tree_of_lists_records_texts_and_objects(tmp_path: Path, root: Root) -> None:
    floats = pa.list_(pa.float32())
    records = [{"a": i, "b": i / 2} for i in range(3)]
    event = pa.array(records, pa.struct({"a": "int32", "b": "float64"}))
    columns = {
        "run": pa.array([1, 2, 3], pa.uint32()),
        "Jet_pt": pa.array([[1.5], [], [2.5, 3.5]], floats),
        "Jet_eta": pa.array([[0.5], [], [1.0, -1.0]], floats),
        "name": pa.array(["one", "", "three"]),
        "event": event,
    }
    hit = pa.struct({"x": "float32", "ids": pa.list_(pa.int32())})
    hits = [[{"x": 1, "ids": [1, 2]}, {"x": 2, "ids": []}], [], [{"x": 3, "ids": [3]}]]
    path, door = tmp_path / "tree.root", Door()
    file, table, context = (ctypes.c_void_p() for _ in range(3))
    door.create(str(path), "fill_contexts=2", None, ctypes.byref(file))
    _, schema = door.exported(pa.RecordBatch.from_pydict(columns))
    classes = {"Hit": {"x": "float", "ids": "std::vector<int>"}}
    definitions = json.dumps({"fields": {"hits": "std::vector<Hit>"}, "classes": classes})
    options = {"format": "ttree", "counters": ["Jet_*:nJet"], "leaf_lists": ["event"]}
    options |= {"aliases": ["twice=2*run"], "auto_flush": 2}
    given = (schema, definitions, json.dumps(options))
    door.writer_table(file, "dir/Events", *given, ctypes.byref(table))
    batch = pa.RecordBatch.from_pydict({"hits": pa.array(hits, pa.list_(hit)), **columns})
    door.table_fill(table, *door.exported(batch))
    door.table_fill_context(table, ctypes.byref(context))
    door.fill_context_fill(context, *door.exported(batch.slice(2)))
    door.fill_context_commit(context)
    door.writer_commit(file, None)

    tree = uproot.open(path)["dir/Events"]
    for name in ("run", "Jet_pt", "Jet_eta", "name"):
        values = columns[name].to_pylist()
        assert tree[name].array().tolist() == values + values[2:]
    assert tree["nJet"].array().tolist() == [1, 0, 2, 2]
    assert tree["event"].array().tolist() == [*records, records[2]]
    assert tree["hits.x"].array().tolist() == [[1, 2], [], [3], [3]]
    assert root.call("drawn", str(path), "dir/Events", "hits.ids") == [1, 2, 3, 3]
    assert root.call("drawn", str(path), "dir/Events", "twice") == [2, 4, 6, 6]


def test_fields_come_while_fill_contexts_write(tmp_path: Path, root: Root) -> None:
    path, door = tmp_path / "late.root", Door()
    file, table, first, second = (ctypes.c_void_p() for _ in range(4))
    door.create(str(path), "fill_contexts=2; fill_order=round-robin", None, ctypes.byref(file))
    early = json.dumps({"fields": {"n": "std::int32_t"}})
    door.writer_table(file, "Events", None, early, None, ctypes.byref(table))
    for context in (first, second):
        door.table_fill_context(table, ctypes.byref(context))
    floats = pa.list_(pa.float32())

    def fill(context: Any, number: int, *, late: bool, known: bool = False) -> None:
        columns = {"n": pa.array([number], pa.int32())}
        if late:
            columns["jets"] = pa.array([[number / 2] * 2], floats)
            columns["name"] = pa.array([f"entry {number}"])
        batch = pa.RecordBatch.from_pydict(columns)
        array, schema = door.exported(batch)
        door.fill_context_fill(context, array, None if known else schema)
        door.fill_context_flush(context)

    fill(first, 0, late=False)
    fill(second, 1, late=False, known=True)
    fields = {"jets": "std::vector<float>", "name": "std::string"}
    door.table_add_fields(table, None, json.dumps({"fields": fields}), None)
    with pytest.raises(RuntimeError, match="already"):
        door.table_add_fields(table, None, json.dumps({"fields": fields}), None)
    fill(first, 2, late=True)
    fill(second, 3, late=False)
    with pytest.raises(RuntimeError, match=r"missing \['jets', 'name'\]"):
        fill(first, 4, late=False)
    fill(first, 4, late=True)
    fill(second, 5, late=False, known=True)
    fill(first, 6, late=True)
    fill(second, 7, late=True)
    for context in (first, second):
        door.fill_context_commit(context)
    door.writer_commit(file, None)

    expected = [
        {"n": n, "jets": [n / 2] * 2 if late else [], "name": f"entry {n}" if late else ""}
        for n, late in enumerate((False, False, True, False, True, False, True, True))
    ]
    assert root.call("entries", str(path), "Events") == expected
    assert uproot.open(path)["Events"].arrays().to_list() == expected


@pytest.mark.parametrize(
    ("compiler", "standard"),
    [("gcc", "c11"), ("g++", "c++17"), ("clang", "c11"), ("clang++", "c++17")],
)
def test_the_header_is_of_the_standard(compiler: str, standard: str, tmp_path: Path) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"there is no {compiler}")
    source = tmp_path / ("header.cpp" if "++" in compiler else "header.c")
    used = ", ".join(f"(void (*)(void)){name}" for name in _functions())
    source.write_text(f"#include <nyssa.h>\nvoid (*all[])(void) = {{{used}}};\n")
    options = [f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only"]
    command = [compiler, *options, f"-I{HEADER.parent}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
