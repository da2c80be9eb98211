"""Arguments of wrong types and values raise errors of nyssa, which say what is wrong."""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
import nyssa.uproot
from nyssa.objects import Object

#: What Python itself, and `open` as its like, raises.
SIGNATURE = re.compile(
    r"an? (file|object|column|dict) (is |names )|.*(missing \d|unexpected keyword|takes \d)"
    r"|<.*> is a file object, which cannot go to another process"
)


class Frame:
    """A class, as it stands for a forgotten pair of brackets."""

    def __arrow_c_stream__(self) -> None: ...


def wrong() -> list[Any]:
    return [
        *(None, True, 3, -1, 2**70, float("nan"), object(), Frame),
        *("", "\ud800", "a\0b", b"x", [], [3], (1, 2, 3), ["\ud800"], np.arange(3)),
        *({}, {"a": 3}, {3: "a"}, {"\ud800": "x"}, {"x": "\ud800"}),
    ]


#: A function, the one whose parameters it has, and arguments that it takes.
Case = tuple[Callable[..., Any], Callable[..., Any], Mapping[str, Any]]


def cases(folder: Path) -> Iterator[tuple[str, Case]]:
    tree, ntuple, trace = (folder / name for name in ("tree.root", "ntuple.root", "trace.jsonl"))
    with nyssa.recreate(tree) as file:
        file.mktree("Events", {"x": np.arange(5.0), "y": np.arange(5)})
    with nyssa.recreate(ntuple) as file:
        file["Events"] = {"x": np.arange(5.0), "y": np.arange(5)}
        file["h"] = np.histogram([1, 2.0])
    with nyssa.record(trace):
        nyssa.open(f"{tree}:Events").arrays()
    counted = iter(range(10**6))

    def output() -> str:
        return str(folder / f"out{next(counted)}.root")

    def drained(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda **given: [*function(**given)]

    def on(make: Callable[[], Any], name: str) -> Callable[..., Any]:
        def call(**given: Any) -> Any:
            with nyssa.recreate(output()) as file:
                return getattr(make_of(file), name)(**given)

        make_of: Any = make
        return call

    yield "open", (nyssa.open, nyssa.open, {"path": ntuple})
    for path in (tree, ntuple):
        events = nyssa.open(f"{path}:Events")
        needed: dict[str, dict[str, Any]] = {
            "take": {"indices": [0]},
            "with_cut": {"cut": "x > 1"},
            "with_rules": {"rules": nyssa.ReadRules()},
            "__getitem__": {"where": "x"},
        }
        plain = ("arrays", "form", "keys", "typenames", "show", "partitions")
        for name in (*plain, "iterate", *needed):
            method = getattr(events, name)
            call = drained(method) if name == "iterate" else method
            yield f"{type(events).__name__}.{name}", (call, method, needed.get(name, {}))
        column = events["x"]
        yield f"{type(events).__name__} column", (column.array, column.array, {})
    file = nyssa.open(ntuple)
    for name in ("keys", "classnames"):
        yield f"File.{name}", (getattr(file, name), getattr(file, name), {})
    for name in ("classname_of", "__getitem__", "__contains__"):
        yield f"File.{name}", (getattr(file, name), getattr(file, name), {"key": "h"})
    files = {"files": f"{tree}:Events"}
    for one in (nyssa.concatenate, nyssa.num_entries, nyssa.chain, nyssa.partitions):
        yield one.__name__, (one, one, files)
    yield "iterate", (drained(nyssa.iterate), nyssa.iterate, files)
    for path in (tree, ntuple):
        known = nyssa.uproot.open(f"{path}:Events")
        for name in ("arrays", "keys", "num_entries_for"):
            method = getattr(known, name)
            given = {"memory_size": "1 kB"} if name == "num_entries_for" else {}
            yield f"uproot {path.stem}.{name}", (method, method, given)
        yield f"uproot {path.stem}.iterate", (drained(known.iterate), known.iterate, {})
    yield "uproot.concatenate", (nyssa.uproot.concatenate, nyssa.uproot.concatenate, files)
    yield "uproot.iterate", (drained(nyssa.uproot.iterate), nyssa.uproot.iterate, files)
    sides = dict.fromkeys(("left", "right"), f"{tree}:Events")
    drawn = {"files": f"{tree}:Events", "expression": "x"}
    yield "draw", (nyssa.draw, nyssa.draw, drawn)
    plans = {"files": f"{tree}:Events", "plans": {"h": ("x", (5, 0, 100))}}
    yield "histograms", (nyssa.histograms, nyssa.histograms, plans)
    yield "join", (nyssa.join, nyssa.join, {**sides, "prefix": "n_"})
    for job, given in (
        (nyssa.convert, {"input": tree}),
        (nyssa.rewrite, {"input": ntuple}),
        (nyssa.merge, {"inputs": [ntuple]}),
    ):

        def call(_job: Any = job, **given: Any) -> Any:
            return _job(**{"output": output(), **given})

        yield job.__name__, (call, job, given)
    for report in (nyssa.digest, nyssa.verify, nyssa.inspect):
        yield report.__name__, (report, report, {"source": ntuple})
    yield "diff", (nyssa.diff, nyssa.diff, {"a": ntuple, "b": ntuple})
    yield (
        "tune",
        (
            lambda **given: nyssa.tune(**{"budget": 0.1, **given}),
            nyssa.tune,
            {"source": tree},
        ),
    )
    yield (
        "study",
        (
            lambda **given: nyssa.study(**{"repeats": 1, "vary": {"compression": [505]}, **given}),
            nyssa.study,
            {"source": tree},
        ),
    )

    def recreate(**given: Any) -> None:
        with nyssa.recreate(**{"path": output(), **given}):
            pass

    def update(**given: Any) -> None:
        path = shutil.copy(ntuple, output())
        with nyssa.update(**{"path": path, **given}):
            pass

    yield "recreate", (recreate, nyssa.recreate, {})
    yield "update", (update, nyssa.update, {})
    types = {"types_or_data": {"x": "int32"}}
    yield "estimate", (nyssa.estimate_write_memory, nyssa.estimate_write_memory, types)
    methods: dict[str, dict[str, Any]] = {
        "mkrntuple": {"name": "t", **types},
        "mktree": {"name": "t", **types},
        "mkdir": {"path": "d"},
        "copy_from": {"source": file},
        "__setitem__": {"name": "t", "data": {"x": [1]}},
        "__getitem__": {"name": "t"},
        "__delitem__": {"name": "t"},
    }
    for name, given in methods.items():
        method = getattr(nyssa.WritableFile, name)
        yield f"WritableFile.{name}", (on(lambda file: file, name), method, given)
        if name != "copy_from":
            call = on(lambda file: file.mkdir("d"), name)
            yield f"WritableDirectory.{name}", (call, method, given)
    of_ntuple: dict[str, dict[str, Any]] = {
        "extend": {},
        "add_fields": {},
        "attribute_set": {"name": "a", "types": {"q": "int32"}},
    }
    for name, given in of_ntuple.items():
        call = on(lambda file: file.mkrntuple("t", {"x": "int32"}), name)
        yield f"NTupleWriter.{name}", (call, getattr(nyssa.NTupleWriter, name), given)
    call = on(lambda file: file.mktree("t", {"x": "int32"}), "extend")
    yield "TreeWriter.extend", (call, nyssa.TreeWriter.extend, {})
    yield "graph", (nyssa.graph, nyssa.graph, {"x": [1, 2], "y": [1, 2]})
    yield "column_precision", (nyssa.column_precision, nyssa.column_precision, {"column": "Real16"})
    yield "trace_summary", (nyssa.trace_summary, nyssa.trace_summary, {"path": trace})
    rule = {"class_name": "C", "sources": "a", "target": "b", "function": abs}
    add = nyssa.ReadRules.add
    yield "ReadRules.add", (lambda **given: nyssa.ReadRules().add(**given), add, rule)
    member: Object = file["h"]
    yield "Object.member", (member.member, member.member, {"name": "fName"})


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    return dict(cases(tmp_path_factory.mktemp("arguments")))


@pytest.mark.filterwarnings("ignore")
def test_wrong_arguments(
    known: dict[str, Case],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    bare = []
    for name, (call, shown, given) in known.items():
        for parameter in inspect.signature(shown).parameters.values():
            if parameter.name == "self" or parameter.kind is parameter.VAR_KEYWORD:
                continue
            for value in wrong():
                try:
                    call(**{**given, parameter.name: value})
                except nyssa.NyssaError as error:
                    assert str(error).encode()
                except Exception as error:  # noqa: BLE001 (all others are what is looked for)
                    if not isinstance(error, TypeError) or not SIGNATURE.match(str(error)):
                        bare.append(f"{name}({parameter.name}={value!a}): {error!r}")
    capsys.readouterr()
    assert not bare, "\n".join(bare)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cut": 3}, "cut is a str, not 3"),
        ({"aliases": 3}, "aliases is a dict, not 3"),
        ({"aliases": {"a": 3}}, "aliases['a'] is a str, not 3"),
        ({"rules": 3}, "rules is a nyssa.ReadRules, not 3"),
        ({"threads": -1}, "threads must be from 1 to 1024, not -1"),
        ({"lazy": "no"}, "lazy is True or False, not 'no'"),
        ({"entry_start": 2**70}, f"entry_start is an integer of 64 bits, not {2**70}"),
        ({"expressions": 3}, "columns are named by a str or a list of them, not by int"),
        (
            {"cut": "\ud800"},
            r"'\ud800' is no name, as it is not text of Unicode: 'utf-8' codec can't encode "
            r"character '\ud800' in position 0: surrogates not allowed",
        ),
    ],
    ids=str,
)
def test_the_message_names_the_argument(
    given: dict[str, Any], message: str, known: dict[str, Case]
) -> None:
    with pytest.raises(nyssa.ArgumentError) as caught:
        known["TTree.arrays"][0](**given)
    assert str(caught.value) == message


def test_a_name_that_is_nearly_right_is_told(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="'memroy'; did you mean memory\\?$"):
        nyssa.convert(tmp_path / "a.root", tmp_path / "b.root", memroy="1 GB")  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'unlike'$"):
        nyssa.open(tmp_path / "a.root", unlike=1)


def test_names_that_no_file_can_have(known: dict[str, Case]) -> None:
    file = nyssa.open(known["open"][2]["path"])
    for mapping in (file, file["Events"]):
        assert "\ud800" not in mapping
        with pytest.raises(nyssa.NotFoundError, match=r"no '\\ud800' in"):
            mapping["\ud800"]


def test_a_class_is_no_data(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    with (
        nyssa.recreate(tmp_path / "a.root") as file,
        pytest.raises(nyssa.ArgumentError, match="data to write are needed, not the class DataF"),
    ):
        file["t"] = pandas.DataFrame
