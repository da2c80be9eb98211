"""The options of jobs have the same names and defaults in Python and on the command line."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest
import typing_extensions

import nyssa
from nyssa.jobs.convert import ConvertKeywords
from nyssa.jobs.job import ClusterKeywords
from nyssa.jobs.merge import MergeKeywords
from nyssa.jobs.rewrite import RewriteKeywords
from nyssa.write.options import WriteKeywords

JOBS: dict[str, Callable[..., Any]] = {
    "convert": nyssa.convert,
    "rewrite": nyssa.rewrite,
    "merge": nyssa.merge,
    "skim": nyssa.skim,
}
#: Parameters of Python that are several options of the command line, or have another form there.
OTHER_FORM = {
    "carry": {"no-carry"},
    "checksums": {"no-checksums"},
    "entry_start": {"entries"},
    "entry_stop": {"entries"},
    "mode": {"strict", "union", "filter"},
}
#: What only one of both has: files are arguments of the command line, and a cut is an expression.
ONLY_PYTHON = {"input", "inputs", "tree", "ntuple", "cut_fields", "rules", "progress"}
ONLY_COMMAND = {"all", "into", "columns", "report", "json", "quiet", "help", "color", "version"}
#: Options of each command that speak for its process. Python has functions or variables for them.
OF_THE_PROCESS = {"monitor", "monitor-interval", "record", "io-stats"}
OF_THE_PROCESS |= {"cache", "cache-as", "cache-size", "cache-max-age", "allow-other-files"}


def command(*args: object) -> str:
    """Run the command line."""
    full = [sys.executable, "-m", "nyssa", *map(str, args)]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("job", JOBS)
def test_names(job: str) -> None:
    names = set(inspect.signature(JOBS[job]).parameters) - ONLY_PYTHON
    if job in ("convert", "rewrite"):
        names -= {"output"}
    options: set[str] = set()
    for name in names:
        options |= OTHER_FORM.get(name, {name.replace("_", "-")})
    text = command(job, "--help")
    if job == "convert":
        text += command(job, "--to", "ttree", "--help")
    listed = re.findall(r"^ +(?:-\w, )?--([\w-]+)", text, flags=re.MULTILINE)
    assert set(listed) >= OF_THE_PROCESS
    assert options == set(listed) - (ONLY_COMMAND - options) - OF_THE_PROCESS


@pytest.mark.parametrize("job", JOBS)
def test_signature_and_docstring(job: str) -> None:
    """Both show every option, with its default and an explanation."""
    shown = inspect.signature(JOBS[job]).parameters
    assert all(one.kind is not one.VAR_KEYWORD for one in shown.values())
    shared = set(typing_extensions.get_type_hints(ClusterKeywords))
    shared -= {"cluster_size"} if job == "merge" else set()
    defaults = {name: shown[name].default for name in shared}
    flags = {"carry": True, "verify": False, "force": False, "reproducible": False}
    assert defaults == dict.fromkeys(shared) | flags
    text = inspect.getdoc(JOBS[job]) or ""
    _, _, parameters = text.partition("Parameters\n----------\n")
    entries = re.findall(
        r"^(\w+(?:, \w+)*)\n    \S", parameters.split("\n\n")[0], flags=re.MULTILINE
    )
    documented = [name for entry in entries for name in entry.split(", ")]
    assert sorted(documented) == sorted(shown)


def test_each_direction_has_its_options() -> None:
    """The options of both directions, and the options of one direction."""
    help_of = {to: command("convert", "--to", to, "--help") for to in ("rntuple", "ttree")}
    for option, directions in {
        "--include": ["rntuple", "ttree"],
        "--compression": ["rntuple", "ttree"],
        "--layout": ["rntuple"],
        "--page-size": ["rntuple"],
        "--auto-flush": ["ttree"],
        "--branch-options": ["ttree"],
    }.items():
        assert [to for to, text in help_of.items() if f" {option}" in text] == directions
    full = [sys.executable, "-m", "nyssa", "convert", "a", "b", "--basket-size", "1kB"]
    ran = subprocess.run(full, capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert "'--basket-size' is an option of `nyssa convert --to ttree`" in ran.stderr


@pytest.mark.parametrize(
    ("function", "keywords", "others"),
    [
        (nyssa.convert, ConvertKeywords, {"input", "output", "tree"}),
        (nyssa.rewrite, RewriteKeywords, {"input", "output", "threads", "progress"}),
        (
            nyssa.merge,
            MergeKeywords,
            {"inputs", "output", "threads", "progress", "recluster", "append", "condense"},
        ),
        (nyssa.recreate, WriteKeywords, {"path", "force"}),
    ],
)
def test_keywords_are_those_of_the_function(
    function: Callable[..., Any], keywords: type, others: set[str]
) -> None:
    """Type checkers know what the function takes, with the same types."""
    names = set(inspect.signature(function).parameters) - others
    stated = typing_extensions.get_type_hints(keywords)
    assert set(stated) == names
    own = typing_extensions.get_type_hints(function)
    assert {name: own[name] for name in own if name in stated} == {
        name: stated[name] for name in own if name in stated
    }


@pytest.mark.parametrize("job", JOBS)
def test_unknown_option(job: str, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="unexpected keyword argument 'compresion'"):
        JOBS[job]("in.root", tmp_path / "out.root", compresion="zstd")
    if job == "merge":
        with pytest.raises(TypeError, match="unexpected keyword argument 'cluster_size'"):
            nyssa.merge("in.root", tmp_path / "out.root", cluster_size=1000)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("job", "more"),
    [("convert", {}), ("rewrite", {}), ("merge", {}), ("merge", {"recluster": "1 MB"})],
)
def test_defaults(job: str, more: dict[str, str], tmp_path: Path) -> None:
    """Without options, Python and the command line write the same bytes."""
    uproot = pytest.importorskip("uproot")
    numbers = {"x": np.arange(20_000) % 7, "y": np.linspace(0, 1, 20_000)}
    source = tmp_path / "in.root"
    if job == "convert":
        with uproot.recreate(source) as file:
            file.mktree("Events", {name: one.dtype for name, one in numbers.items()})
            file["Events"].extend(numbers)
    else:
        with nyssa.recreate(source) as file:
            file["Events"] = numbers
    outputs = []
    for face in ("python", "command"):
        output = tmp_path / face / "out.root"
        output.parent.mkdir()
        outputs.append(output)
        if face == "python":
            JOBS[job](source, output, reproducible=True, **more)
        else:
            where = ["-o", output] if job == "merge" else [output]
            given = [text for name, one in more.items() for text in (f"--{name}", one)]
            command(job, source, *where, "--reproducible", *given)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Path]]:
    """Return two RNTuples, two TTrees and two histograms, each in a file of its own."""
    folder = tmp_path_factory.mktemp("inputs")
    kinds = ("ntuple", "tree", "histogram")
    files = {kind: [folder / f"{kind}{number}.root" for number in range(2)] for kind in kinds}
    data = {"x": np.arange(1000.0)}
    for number in range(2):
        with nyssa.recreate(files["ntuple"][number]) as file:
            file["Events"] = data
        with nyssa.recreate(files["tree"][number]) as file:
            file.mktree("Events", data)
        with nyssa.recreate(files["histogram"][number]) as file:
            file["h"] = np.histogram([1.0, 2.0])
    return files


@pytest.mark.parametrize(
    ("kind", "options", "note"),
    [
        ("ntuple", {"effort": "full"}, "the effort is not used: no column is encoded again"),
        ("tree", {"effort": "full"}, "the effort is not used: no column is encoded again"),
        ("histogram", {"effort": "full"}, "the effort is not used: no column is encoded again"),
        ("histogram", {"verify": True}, "verify compared nothing: it is for trees"),
    ],
    ids=str,
)
def test_options_that_do_nothing_are_said(
    kind: str,
    options: dict[str, Any],
    note: str,
    inputs: dict[str, list[Path]],
    tmp_path: Path,
) -> None:
    report = nyssa.merge(inputs[kind], tmp_path / "merged.root", **options)
    assert [one for one in report["notes"] if note in one]
    assert not report["verified"]
    plain = nyssa.merge(inputs[kind], tmp_path / "plain.root")
    assert not [one for one in plain["notes"] if note in one]


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("tree", {"checksums": False}, "only pages have checksums"),
        ("histogram", {"checksums": False}, "only pages have checksums"),
        ("ntuple", {"page_size": "4 kB"}, "need new clusters, use recluster"),
    ],
    ids=str,
)
def test_options_that_can_do_nothing_are_refused(
    kind: str,
    options: dict[str, Any],
    message: str,
    inputs: dict[str, list[Path]],
    tmp_path: Path,
) -> None:
    with pytest.raises(nyssa.ArgumentError, match=message):
        nyssa.merge(inputs[kind], tmp_path / "merged.root", **options)


def test_a_pattern_of_leaf_lists_needs_a_record(
    inputs: dict[str, list[Path]], tmp_path: Path
) -> None:
    with pytest.raises(nyssa.ArgumentError, match='leaf lists "x" matches nothing'):
        nyssa.convert(inputs["ntuple"][0], tmp_path / "t.root", to="ttree", leaf_lists="x")
    with (
        nyssa.recreate(tmp_path / "t.root") as file,
        pytest.raises(nyssa.ArgumentError, match='leaf lists "x" matches nothing'),
    ):
        file.mktree("t", {"x": "float"}, leaf_lists=["x"])


def test_a_tree_with_another_name_is_not_left_out(
    inputs: dict[str, list[Path]], tmp_path: Path
) -> None:
    report = nyssa.merge(inputs["tree"], tmp_path / "merged.root", name="Other", verify=True)
    assert (report["notes"], report["left_out"], report["verified"]) == ([], [], True)
    assert nyssa.open(f"{tmp_path}/merged.root:Other").num_entries == 2000


def test_missing_values_are_in_the_estimate_of_memory() -> None:
    """Two columns take twice the memory of one."""
    plain = nyssa.estimate_write_memory({"x": "float32"})["buffers"]
    array = ak.Array(np.ma.array([1.0, 2.0], mask=[False, True]))
    for types in ({"x": "?float32"}, {"x": "std::optional<float>"}, {"x": array}):
        assert nyssa.estimate_write_memory(types)["buffers"] == 2 * plain
