"""Keywords become words of the command line, and arrive in the core as they are."""

from __future__ import annotations

import enum
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from nyssa.arguments.keywords import words_of
from nyssa.jobs.convert import FileKeywords


class Codec(str, enum.Enum):
    """Texts with names."""

    FAST = "lz4:1"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"compression": Codec.FAST}, ["--compression=lz4:1"]),
        ({"compression": np.int64(404)}, ["--compression=404"]),
        ({"compression": None, "include": None, "to": None, "verify": None}, []),
        ({"page_size": np.int32(64), "memory": "1 MiB"}, ["--page-size=64", "--memory=1048576"]),
        ({"include": "abc"}, ["--include=abc"]),
        ({"include": ("a,b", "--force", "")}, ["--include=a,b", "--include=--force", "--include="]),
        ({"include": (name for name in "ab")}, ["--include=a", "--include=b"]),
        ({"verify": np.True_, "force": False}, ["--verify"]),
        ({"carry": False}, ["--no-carry"]),
        ({"carry": True}, []),
        ({"layout": "importer"}, []),
        ({"layout": "vectors"}, ["--layout=vectors"]),
        ({"auto_flush": -5}, ["--auto-flush=-5"]),
        ({"auto_flush": "1 kB"}, ["--auto-flush=-1000"]),
        ({"name": "--name=x"}, ["--name=--name=x"]),
        ({"counters": {"a:b": "n,="}}, ["--counters=a\\:b:n\\,\\="]),
        (
            {"field_options": {"{a,b}": {"page_size": "1 kB", "column": "Real32Quant:12:0:1"}}},
            ["--field-options={a\\,b}:page-size=1000,column=Real32Quant\\:12\\:0\\:1"],
        ),
        (
            {"field_options": {"a": {"compression": Codec.FAST}}},
            ["--field-options=a:compression=lz4\\:1"],
        ),
        (
            {"branch_options": {"a\\*": {"title": "x, y=z"}}},
            ["--branch-options=a\\\\*:title=x\\, y\\=z"],
        ),
    ],
)
def test_words(given: dict[str, Any], words: list[str]) -> None:
    assert words_of(FileKeywords, given) == words


@pytest.fixture
def ntuple(tmp_path: Path) -> Path:
    """Return an RNTuple, of which one field is a list."""
    path = tmp_path / "in.root"
    with nyssa.recreate(path) as file:
        file["Events"] = {"a,b": np.arange(3), "pt": np.arange(3.0), "c": [[1], [], [2, 3]]}
    return path


def test_separators_arrive(ntuple: Path, tmp_path: Path) -> None:
    """A title has separators, and so has the name of a field."""
    title = "a, b=c: \\, d"
    options = {"pt": {"title": title, "compression": "lz4:1"}}
    output = tmp_path / "tree.root"
    given = {"branch_options": options, "counters": {"c": "n=c"}, "exclude": "a,b"}
    nyssa.convert(ntuple, output, to="ttree", **given)
    with uproot.open(f"{output}:Events") as tree:
        assert tree["pt"].title == title
        assert tree["n=c"].array().to_list() == [1, 0, 2]
    (report,) = nyssa.rewrite(ntuple, output, include="a,b", force=True)
    assert [field["name"] for field in report["fields"]] == ["a,b"]


def test_values_that_look_like_options(ntuple: Path, tmp_path: Path) -> None:
    nyssa.rewrite(ntuple, tmp_path / "a.root", name="--force")
    assert nyssa.open(f"{tmp_path}/a.root:--force").num_entries == 3
    with pytest.raises(nyssa.NotFoundError, match="--verify"):
        nyssa.rewrite(ntuple, tmp_path / "b.root", include=["--verify"])


@pytest.mark.parametrize(
    ("job", "given", "message"),
    [
        (nyssa.convert, {"layout": "other"}, '^layout "other" is not known: use importer or vec'),
        (
            nyssa.convert,
            {"to": "other"},
            '^the format "other" is not known: use rntuple, ttree, parquet or arrow',
        ),
        (
            nyssa.convert,
            {"to": ""},
            '^the format "" is not known: use rntuple, ttree, parquet or arrow',
        ),
        (nyssa.convert, {"include": iter(["a", 7])}, "^one of include is a str, not 7"),
        (nyssa.convert, {"counters": {"*": ""}}, "^counters is a dict of globs and names"),
        (nyssa.convert, {"compression": "gzip"}, "gzip"),
        (nyssa.convert, {"streamer": ["all", "x"]}, "^streamer takes either all, or auto, or"),
        (nyssa.rewrite, {"effort": "much"}, "much"),
        (
            nyssa.rewrite,
            {"field_options": {"x": {"column": "Int7"}}},
            '^"Int7" is not a column type',
        ),
        (
            nyssa.rewrite,
            {"field_options": {"x": {"size": 7}}},
            '^fields have no option "size": they have column, compression, page_size',
        ),
        (nyssa.merge, {"mode": "other"}, '^mode "other" is not known: use strict, union or filter'),
        (nyssa.merge, {"recluster": "big"}, "^recluster is a number of bytes"),
    ],
)
def test_values_that_are_not_allowed(
    job: Callable[..., Any], given: dict[str, Any], message: str, ntuple: Path, tmp_path: Path
) -> None:
    with pytest.raises(nyssa.ArgumentError, match=message):
        job(ntuple, tmp_path / "out.root", **given)


@pytest.mark.parametrize("job", [nyssa.convert, nyssa.rewrite, nyssa.merge])
def test_unknown_keywords(job: Callable[..., Any], ntuple: Path, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'speed'"):
        job(ntuple, tmp_path / "out.root", speed=1)
    with pytest.raises(TypeError, match="'forse'; did you mean force?"):
        job(ntuple, tmp_path / "out.root", forse=True)


def test_a_name_of_a_cut_is_one_name(ntuple: Path, tmp_path: Path) -> None:
    """A text is one name and not several letters."""

    def takes(arrays: Any) -> Any:
        assert arrays.fields == ["pt"]
        return arrays.pt > 0

    (report,) = nyssa.rewrite(ntuple, tmp_path / "a.root", cut=takes, cut_fields="pt")
    assert report["entries"] == 2
