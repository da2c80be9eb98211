"""No file of the package imports another in a circle, and reading imports no library in vain."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import nyssa
from support.data import TESTDATA

PACKAGE = Path(nyssa.__file__).parent
FILES = {
    ".".join(["nyssa", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(
        ".__init__"
    ): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


def imports(name: str) -> set[str]:
    """Return the files that a file imports, in functions too.

    Imports for type checkers alone do not count: they never run. So `nyssa` itself, which imports
    its names at their first use, imports only the errors.
    """
    found = set()
    for node in running(ast.parse(FILES[name].read_text())):
        if isinstance(node, ast.Import):
            found.update(one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name} has a relative import"
            inner = {f"{node.module}.{one.name}" for one in node.names} - {"nyssa._core"}
            found.update(one if one in FILES else one.rpartition(".")[0] for one in inner)
    return {one for one in found if one in FILES} - {name}


def running(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over the nodes of a tree, without blocks for type checkers."""
    yield node
    if not (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from running(child)


def folder(name: str) -> str:
    """Return the folder of a file, or the file at the top."""
    return ".".join(name.split(".")[:2])


def test_no_circles() -> None:
    graph = {name: imports(name) for name in FILES}
    assert len(graph) > 100
    assert {"nyssa.jobs.job", "nyssa.read.file"} <= graph["nyssa.jobs.verify"]
    assert "nyssa.objects" in graph["nyssa.read.file"]
    graphlib.TopologicalSorter(graph).prepare()


def test_no_circles_of_folders() -> None:
    graph: dict[str, set[str]] = {}
    for name in FILES:
        graph.setdefault(folder(name), set()).update(map(folder, imports(name)))
    graphlib.TopologicalSorter({one: graph[one] - {one} for one in graph}).prepare()


def test_few_files_at_the_top() -> None:
    assert len([path for path in PACKAGE.iterdir() if path.suffix in {".py", ".pyi"}]) <= 15


LARGE = {"awkward", "matplotlib", "numpy", "pandas", "polars", "pyarrow"}
NTUPLE = f"{TESTDATA / 'rntuple/structures.root'}:ntpl"
TREE = f"{TESTDATA / 'ttree/events-zstd.root'}:Events"


@pytest.mark.parametrize(
    ("code", "imported"),
    [
        ("nyssa", set()),
        ("nyssa.open(TREE).keys(); nyssa.open(TREE)['MET'].typename", {"numpy"}),
        (
            "file = nyssa.open(TREE.rpartition(':')[0]); file._repr_html_(); file['Events'].show()",
            {"numpy"},
        ),
        ("drawing = nyssa.draw(TREE, 'MET'); str(drawing); drawing._repr_html_()", {"numpy"}),
        ("nyssa.open(NTUPLE).arrays(library='np')", {"numpy"}),
        ("next(nyssa.iterate(NTUPLE, library='np'))", {"numpy"}),
        ("nyssa.chain(TREE).arrays(library='np', how=dict)", {"numpy"}),
    ],
)
def test_large_libraries(code: str, imported: set[str]) -> None:
    """A process imports a large library only where a result is of it."""
    code = f"import sys, nyssa\nTREE, NTUPLE = {(TREE, NTUPLE)}\n{code}\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert LARGE & {*ran.stdout.split()} == imported
