"""Errors have the builtin type that a user would catch, and say where and what to do."""

from __future__ import annotations

import errno
import json
import random
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa
from nyssa import _cli, errors
from support.small_disk import run_on


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a file with an RNTuple."""
    path = tmp_path / "some.root"
    with nyssa.recreate(path) as out:
        out["Events"] = {"Jet_pt": np.arange(1000.0), "Jet_eta": np.arange(1000.0)}
    return path


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing.root") as caught:
        nyssa.open(tmp_path / "missing.root")
    assert isinstance(caught.value, errors.FileMissingError)
    with pytest.raises(FileNotFoundError, match="no file matches"):
        nyssa.concatenate(f"{tmp_path}/*.root:Events")


def test_numbers_of_errors(file: Path, tmp_path: Path) -> None:
    """Errors that are an `OSError` have the numbers that ``docs/command-line.md`` names."""

    def number(work: Callable[[], object]) -> int | None:
        with pytest.raises(OSError) as caught:
            work()
        return caught.value.errno

    bad = tmp_path / "bad.root"
    bad.write_bytes(b"hello")
    cut = tmp_path / "cut.root"
    cut.write_bytes(file.read_bytes()[:-100])
    assert number(lambda: nyssa.open(tmp_path / "none.root")) == errno.ENOENT
    assert number(lambda: nyssa.concatenate(f"{tmp_path}/none*.root")) == errno.ENOENT
    assert number(lambda: nyssa.convert(str(file), bad)) == errno.EEXIST
    assert number(lambda: nyssa.open(tmp_path)) == errno.EISDIR
    for damaged in (bad, cut):
        with pytest.raises(errors.FormatError) as caught:
            nyssa.open(damaged)
        assert (caught.value.errno, caught.value.filename) == (errno.EBADMSG, str(damaged))


def test_missing_object(file: Path) -> None:
    with pytest.raises(KeyError) as caught:
        nyssa.open(f"{file}:Evnts")
    assert 'did you mean "Events"?' in str(caught.value)
    assert str(file) in str(caught.value)
    with pytest.raises(KeyError, match="Events"):
        nyssa.open(file)["events/"]


def test_missing_column(file: Path) -> None:
    events = nyssa.open(f"{file}:Events")
    for ask in (events.__getitem__, events.arrays, lambda name: events.arrays(["Jet_eta", name])):
        with pytest.raises(KeyError) as caught:
            ask("Jet_ppt")
        assert str(caught.value).startswith("no 'Jet_ppt' in 'Events'")
        assert 'did you mean "Jet_pt"' in str(caught.value)
    with pytest.raises(KeyError, match="no 'Muon\\*'"):
        events.arrays("Muon*")


def test_which_dataset(tmp_path: Path) -> None:
    """If a file has several datasets, the message names them."""
    path = tmp_path / "two.root"
    with nyssa.recreate(path) as out:
        out["One"] = {"x": [1]}
        out["Two"] = {"x": [2]}
    with pytest.raises((KeyError, ValueError), match="One, Two"):
        nyssa.concatenate(path)


def test_bad_arguments(file: Path) -> None:
    events = nyssa.open(f"{file}:Events")
    with pytest.raises(ValueError, match="library='numpyy'"):
        events.arrays(library="numpyy")
    with pytest.raises(ValueError, match="threads must be at least 1"):
        events.arrays(threads=0)
    with pytest.raises(ValueError, match="step_size"):
        events.iterate(step_size=0)
    with pytest.raises(ValueError, match="step_size"):
        events.iterate(step_size=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="entry_start is an integer"):
        events.arrays(entry_start=0.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="regular expression"):
        events.keys(filter_name="/(/")


def test_missing_library(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match="pip install polars"):
        nyssa.open(f"{file}:Events").arrays(library="polars")


def test_not_a_root_file(tmp_path: Path) -> None:
    path = tmp_path / "text.root"
    path.write_text("this is no ROOT file, although it is long enough to have a header" * 10)
    with pytest.raises(errors.FormatError, match="text.root") as caught:
        nyssa.open(path)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, OSError)
    path.write_bytes(b"")
    with pytest.raises(errors.FormatError):
        nyssa.open(path)


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_truncated(file: Path, part: float) -> None:
    """A truncated file is refused when it is opened or read."""
    whole = file.read_bytes()
    file.write_bytes(whole[: int(len(whole) * part)])
    with pytest.raises(nyssa.NyssaError) as caught:
        nyssa.open(f"{file}:Events").arrays()
    assert str(file) in str(caught.value)


def test_flipped_bytes_in_pages(tmp_path: Path) -> None:
    """A damaged page is never read as data."""
    path = tmp_path / "noise.root"
    noise = np.random.default_rng(5).normal(size=5000)
    with nyssa.recreate(path) as out:
        out["Events"] = {"x": noise}
    whole = bytearray(path.read_bytes())
    # The noise hardly compresses: the middle of the file is its page.
    for position in range(len(whole) // 4, len(whole) * 3 // 4, len(whole) // 40):
        damaged = whole.copy()
        damaged[position] ^= 0x40
        path.write_bytes(damaged)
        with pytest.raises(errors.ChecksumError) as caught:
            nyssa.open(f"{path}:Events").arrays()
        assert isinstance(caught.value, OSError)
        assert caught.value.place is not None
        assert caught.value.place["field"] == "x"
        assert caught.value.place["page"] == 0


def test_flipped_bytes_anywhere(nano: Path, tmp_path: Path) -> None:
    """Any damage gives an error of nyssa or the same data, but no crash and no endless loop."""
    seed = random.Random(11)
    path = tmp_path / "damaged.root"
    names = ["run", "Jet_pt", "HLT_Mu50"]
    for source in (nano, _rntuple(tmp_path)):
        whole = source.read_bytes()
        for _ in range(60):
            damaged = bytearray(whole)
            # Changes in headers and metadata have the largest effect.
            end = seed.choice([400, len(whole)])
            damaged[seed.randrange(end)] ^= 1 << seed.randrange(8)
            path.write_bytes(damaged)
            try:
                arrays = nyssa.open(path)["Events"].arrays(names)
            except nyssa.NyssaError as error:
                assert not isinstance(error, errors.InternalError), error
            else:
                assert len(arrays) >= 0


def _rntuple(folder: Path) -> Path:
    path = folder / "plain.root"
    with nyssa.recreate(path) as out:
        out["Events"] = {
            "run": np.arange(300),
            "Jet_pt": ak.unflatten(np.arange(600.0), np.full(300, 2)),
            "HLT_Mu50": np.arange(300) % 2 == 0,
        }
    return path


def test_existing_output(file: Path, nano: Path) -> None:
    with pytest.raises(FileExistsError, match="some.root"):
        nyssa.recreate(file, force=False).close()
    with pytest.raises(FileExistsError, match="some.root"):
        nyssa.convert(nano, file)
    assert nyssa.open(f"{file}:Events").num_entries == 1000
    with pytest.raises((FileNotFoundError, OSError)):
        nyssa.recreate(file.parent / "no" / "folder.root")


def test_convert_errors(file: Path, nano: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.root"
    with pytest.raises(FileNotFoundError):
        nyssa.convert(tmp_path / "missing.root", out)
    with pytest.raises(KeyError, match="Events"):
        nyssa.convert(nano, out, "Evnts")
    with pytest.raises(ValueError, match="layout"):
        nyssa.convert(nano, out, layout="columns")
    with pytest.raises(ValueError, match="compression"):
        nyssa.convert(nano, out, compression="brotli")
    with pytest.raises(nyssa.NyssaError, match="Events"):
        nyssa.convert(file, out)  # an RNTuple already
    friends = nano.parent / "roottest" / "meta__MakeProject__alice_ESDs.root"
    with pytest.raises(NotImplementedError, match="AliESDfriends.root"):
        nyssa.convert(friends, out, "esdTree")
    assert not out.exists()


def test_write_errors(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "out.root") as out:
        writer = out.mkrntuple("Events", {"x": "float64", "y": "int32"})
        with pytest.raises(ValueError, match=r"missing \['y'\], unknown \['z'\]"):
            writer.extend({"x": [1.0], "z": [1]})
        with pytest.raises(ValueError, match="differ in length"):
            writer.extend({"x": [1.0], "y": [1, 2]})
        with pytest.raises(ValueError, match="y"):
            writer.extend({"x": np.array([1.0]), "y": ak.Array([[1]])})
        with pytest.raises(ValueError, match="already has"):
            out.mkrntuple("Events", {"x": "float64"})
        with pytest.raises(KeyError, match="Events"):
            out["Event"]
        with pytest.raises(NotImplementedError, match="complex"):
            out["Complex"] = {"x": np.array([1j])}
        with pytest.raises((ValueError, NotImplementedError), match="x"):
            writer.extend({"x": ak.Array([1.0, None]), "y": [1, 2]})
        with pytest.raises(ValueError, match="data to write"):
            out["Set"] = {1, 2}
        with pytest.raises(ValueError, match="name"):
            out["a.b"] = {"x": [1]}
        writer.extend({"y": np.array([1], "i4"), "x": np.array([2.5])})
    assert nyssa.open(tmp_path / "out.root")["Events"].arrays().to_list() == [{"x": 2.5, "y": 1}]


def test_file_that_disappears(file: Path, tmp_path: Path) -> None:
    """A file that shrinks while it is open gives an error, not a crash."""
    copy = tmp_path / "copy.root"
    shutil.copy(file, copy)
    events = nyssa.open(f"{copy}:Events")
    copy.write_bytes(b"short")
    with pytest.raises(nyssa.NyssaError):
        events.arrays()


def test_every_error_derives_from_a_builtin() -> None:
    """Users can catch the errors without importing them from nyssa."""
    for name in errors.__all__:
        one = getattr(errors, name)
        if not issubclass(one, Warning) and one not in (errors.NyssaError, errors.CancelledError):
            assert len(one.__bases__) > 1, name
            assert issubclass(one, errors.NyssaError)


def test_strings_that_are_no_text(tmp_path: Path) -> None:
    """Strings of ROOT are bytes; only Arrow requires UTF-8."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "latin.root"
    with nyssa.recreate(path) as out:
        out["Events"] = {"s": np.array([b"caf\xe9", b"ok"])}
    column = nyssa.open(path)["Events/s"]
    assert column.array(library="np").tolist() == ["caf\udce9", "ok"]
    assert column.array(library="np")[0].encode("utf-8", "surrogateescape") == b"caf\xe9"
    with pytest.raises(ValueError, match='s has strings that are not UTF-8.*library="np"'):
        column.array(library="arrow")


@pytest.mark.parametrize(
    ("path", "error", "message"),
    [
        ("", errors.FileMissingError, "cannot open : the name is empty"),
        (
            "bad\udcff.root",
            nyssa.ArgumentError,
            r"the name 'bad\udcff.root' is not UTF-8; give the file another, or make a link to it",
        ),
        (b"a.root", TypeError, "a file is named by a str or an os.PathLike, not by bytes"),
        (None, TypeError, "a file is named by a str or an os.PathLike, not by NoneType"),
        (
            "gopher://some.where//a.root",
            nyssa.UnsupportedError,
            "cannot open gopher://some.where//a.root: neither nyssa nor fsspec can open gopher://: "
            "Protocol not known: gopher; copy the file first",
        ),
    ],
    ids=["empty", "no UTF-8", "bytes", "none", "URL"],
)
def test_names_that_name_no_file(path: Any, error: type[Exception], message: str) -> None:
    for call in (nyssa.open, nyssa.digest):
        with pytest.raises(error) as caught:
            call(path)
        assert str(caught.value) == message


def test_names_of_objects_are_text(tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "x.root") as file:
        file["n"] = {"x": [1]}
    with pytest.raises(TypeError, match="^an object is named by a str, not by int$"):
        nyssa.open(tmp_path / "x.root")[3]  # type: ignore[index]


def test_a_dict_of_inputs_names_objects(tmp_path: Path) -> None:
    path = tmp_path / "two.root"
    with nyssa.recreate(path) as file:
        file["a"], file["b"] = {"x": [1]}, {"x": [2]}
    nyssa.merge({str(path): "b"}, tmp_path / "merged.root")
    assert nyssa.open(tmp_path / "merged.root")["b"]["x"].array().to_list() == [2]
    with pytest.raises(nyssa.NotFoundError, match='no "c" in this file; did you mean "a" or "b"'):
        nyssa.merge({str(path): "c"}, tmp_path / "other.root")


_FULL = """
import re
import os, sys
import numpy as np
import nyssa
tree, ntuple_file, full = sys.argv[1:]
numbers = {"x": np.random.default_rng(1).random(200_000)}


def ntuple():
    with nyssa.recreate(f"{full}/out.root") as file:
        file["Events"] = numbers


def ttree():
    with nyssa.recreate(f"{full}/out.root") as file:
        file.mktree("Events", numbers)


def update():
    with nyssa.recreate(f"{full}/out.root") as file:
        file["Events"] = {"x": np.zeros(10)}
    with nyssa.update(f"{full}/out.root") as file:
        file["Events"].extend(numbers)


def convert():
    nyssa.convert(tree, f"{full}/out.root")


def back():
    nyssa.convert(ntuple_file, f"{full}/out.root", to="ttree")


def rewrite():
    nyssa.rewrite(tree, f"{full}/out.root")


def rewrite_ntuple():
    nyssa.rewrite(ntuple_file, f"{full}/out.root")


def skim():
    nyssa.skim([tree], f"{full}/out.root")


def merge():
    nyssa.merge([tree, tree], f"{full}/out.root")


def tune():
    os.environ["TMPDIR"] = full
    nyssa.tune(tree)


for job in (
    ntuple, ttree, convert, back, rewrite, rewrite_ntuple, skim, merge, update, tune
):
    try:
        job()
    except OSError as error:
        kept = [name for name in os.listdir(full) if job is not update]
        print(job.__name__, error.errno, error.filename, kept, str(error), sep="|")
"""


def test_a_full_disk(tmp_path: Path) -> None:
    """`errno` is `ENOSPC`, `filename` the output, and nothing is left of it."""
    full, tree = tmp_path / "full", tmp_path / "tree.root"
    full.mkdir()
    with nyssa.recreate(tree) as file:
        file.mktree("Events", {"x": np.random.default_rng(2).random(200_000)})
    nyssa.convert(tree, tmp_path / "ntuple.root")
    given = [str(one) for one in (tree, tmp_path / "ntuple.root", full)]
    run = run_on(full, "300k", sys.executable, "-c", _FULL, *given)
    assert run.returncode == 0, run.stderr
    found = [line.split("|") for line in run.stdout.splitlines()]
    jobs = ["ntuple", "ttree", "convert", "back", "rewrite", "rewrite_ntuple", "skim", "merge"]
    out = [str(errno.ENOSPC), str(full / "out.root"), "[]"]
    said = f"cannot write 1048576 bytes at byte 0 of {full}/out.root: No space left on device"
    message = f"{said} (os error 28) (file {full}/out.root"
    assert [one[:4] for one in found[:-1]] == [[job, *out] for job in [*jobs, "update"]]
    assert {re.split(r", object|, field|\)$", one[4])[0] for one in found[:-2]} == {message}
    assert found[-1][:3] == ["tune", str(errno.ENOSPC), str(full)]
    assert found[-1][4].startswith(
        f"cannot write to the folder for temporary files (TMPDIR), {full}: No space left"
    )


def test_options_of_all_commands_stand_before_those_of_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["nyssa", "--json", "campaign", "status", str(tmp_path / "none")]
    monkeypatch.setattr(sys, "argv", given)
    assert _cli.main() == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["version"], document["error"]["exit_code"]) == (1, 3)
    given = ["nyssa", "--json", "study", str(tmp_path / "none"), "--vary", "compression=none"]
    monkeypatch.setattr(sys, "argv", given)
    assert _cli.main() == 3
    document = json.loads(capsys.readouterr().out)
    assert (document["version"], document["error"]["exit_code"]) == (1, 3)
