"""Tests `encoding="auto"` and `profile` of jobs: ROOT and uproot read the values of the input."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

COUNT = 30_000


def branches(seed: int) -> dict[str, np.ndarray]:
    """Return branches of different kinds; all but `flag` and `n` are doubles."""
    rng = np.random.default_rng(seed)
    floats = rng.normal(0, 1, COUNT).astype(np.float32).astype(np.float64)
    late = floats.copy()
    late[-COUNT // 3] = 0.1
    odd = floats.copy()
    odd[:4] = [-0.0, np.inf, -np.inf, float(np.finfo(np.float32).max)]
    return {
        "floats": floats,
        "late": late,
        "odd": odd,
        "full": rng.normal(0, 1, COUNT),
        "tenths": rng.integers(0, 800, COUNT) / 10,
        "pt": rng.exponential(30, COUNT).astype(np.float32).astype(np.float16).astype(np.float32),
        "flag": np.repeat(rng.integers(0, 1 << 30, COUNT // 10), 10).astype(np.int32),
        "n": rng.integers(0, 20, COUNT).astype(np.int32),
    }


def write_tree(path: Path, data: Mapping[str, np.ndarray]) -> Path:
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", {name: values.dtype for name, values in data.items()})
        tree.extend(dict(data))
    return path


def types(report: Mapping[str, Any]) -> dict[str, str]:
    return {column["field"]: column["column_type"] for column in report["columns"]}


def reasons(report: Mapping[str, Any]) -> dict[str, str]:
    return {column["field"]: column["reason"] for column in report["columns"]}


def test_doubles_that_are_floats_take_32_bits(tmp_path: Path, root: Root) -> None:
    """One value that is not a float is found late, and the column then stays wide."""
    data = branches(1)
    tree, path = write_tree(tmp_path / "tree.root", data), tmp_path / "auto.root"
    report = nyssa.convert(tree, path, encoding="auto", verify=True)
    narrow = {name for name, one in types(report).items() if one.endswith("Real32")}
    assert narrow == {"floats", "odd", "pt"}
    assert types(report)["tenths"].endswith("Real64")
    read = root.call("numpy", str(path), "Events", list(data))
    for name, values in data.items():
        assert read[name].dtype == values.dtype, name
        np.testing.assert_array_equal(read[name].view(np.uint8), values.view(np.uint8))
    frame = uproot.open(path)["Events"].arrays(library="np")
    for name, values in data.items():
        np.testing.assert_array_equal(frame[name], values)
    default = nyssa.convert(tree, tmp_path / "default.root", encoding="default")
    assert report["compressed_bytes"] < default["compressed_bytes"]


def test_floats_that_come_again_are_not_split(tmp_path: Path, root: Root) -> None:
    """Small samples show less of it than pages: split columns are smaller there."""
    rng = np.random.default_rng(6)
    cells = rng.uniform(-np.pi, np.pi, 108).astype(np.float32)
    data = {"phi": cells[rng.integers(0, len(cells), 40_000)]}
    tree, path = write_tree(tmp_path / "tree.root", data), tmp_path / "auto.root"
    report = nyssa.convert(tree, path, encoding="auto")
    assert types(report) == {"phi": "Real32"}
    np.testing.assert_array_equal(
        root.call("numpy", str(path), "Events", ["phi"])["phi"], data["phi"]
    )
    split = nyssa.convert(tree, tmp_path / "default.root", encoding="default", effort="full")
    assert types(split) == {"phi": "SplitReal32"}
    assert report["compressed_bytes"] < 0.65 * split["compressed_bytes"]
    # A writer has all values of a cluster at hand.
    with nyssa.recreate(tmp_path / "written.root", encoding="auto") as file:
        file["Events"] = data
    [column] = nyssa.inspect(tmp_path / "written.root").columns
    assert column.column_type == "Real32"


def test_a_profile_is_for_the_files_of_a_dataset(tmp_path: Path, root: Root) -> None:
    profile = tmp_path / "choices.toml"
    options: dict[str, Any] = {"encoding": "auto", "verify": True, "profile": str(profile)}
    first, second = branches(2), {**branches(3), "new": np.arange(COUNT)}
    trees = [write_tree(tmp_path / f"{i}.root", one) for i, one in enumerate((first, second))]
    one = nyssa.convert(trees[0], tmp_path / "one.root", **options)
    assert "the profile" not in reasons(one).values()
    learnt = profile.read_text()
    two = nyssa.convert(trees[1], tmp_path / "two.root", **options)
    known = {name for name, reason in reasons(two).items() if reason == "the profile"}
    assert known == set(first)
    assert {name: types(two)[name] for name in first} == types(one)
    # What is new was added.
    assert learnt in profile.read_text() or len(profile.read_text()) > len(learnt)
    assert 'field = "new"' in profile.read_text()
    again = nyssa.convert(trees[1], tmp_path / "again.root", **options)
    assert set(reasons(again).values()) == {"the profile"}
    alone = nyssa.convert(trees[1], tmp_path / "alone.root", encoding="auto")
    assert two["compressed_bytes"] == pytest.approx(alone["compressed_bytes"], rel=0.005)
    read = root.call("numpy", str(tmp_path / "two.root"), "Events", list(second))
    for name, values in second.items():
        np.testing.assert_array_equal(read[name], values)
    [rewritten] = nyssa.rewrite(tmp_path / "alone.root", tmp_path / "rewritten.root", **options)
    assert "the profile" in reasons(rewritten).values()


def test_a_profile_whose_floats_are_no_floats_here(tmp_path: Path) -> None:
    """The value is refused by the narrow column, and the conversion starts again."""
    options: dict[str, Any] = {"encoding": "auto", "profile": str(tmp_path / "choices.toml")}
    data = branches(4)
    nyssa.convert(write_tree(tmp_path / "a.root", data), tmp_path / "1.root", **options)
    changed = {**data, "floats": data["full"]}
    tree = write_tree(tmp_path / "b.root", changed)
    report = nyssa.convert(tree, tmp_path / "2.root", verify=True, **options)
    assert types(report)["floats"].endswith("Real64")
    assert types(report)["odd"].endswith("Real32")


def test_profiles_that_do_not_fit(tmp_path: Path) -> None:
    profile = tmp_path / "choices.toml"
    options: dict[str, Any] = {"encoding": "auto", "profile": str(profile)}
    data = branches(5)
    tree, output = write_tree(tmp_path / "tree.root", data), tmp_path / "out.root"
    nyssa.convert(tree, output, **options)
    text = profile.read_text()
    other = write_tree(tmp_path / "other.root", {**data, "floats": data["n"]})
    with pytest.raises(nyssa.errors.ArgumentError, match="floats is stored as SplitReal32, but"):
        nyssa.convert(other, output, force=True, **options)
    with pytest.raises(nyssa.errors.ArgumentError, match=r"for compression zstd:5, .* has lzma"):
        nyssa.convert(tree, output, force=True, compression="lzma", **options)
    with pytest.raises(nyssa.errors.ArgumentError, match="leave nothing to choose"):
        nyssa.convert(tree, output, force=True, compression="none", profile=str(profile))
    for change, message in (
        (("format = 1", "format = 2"), "its format is 2, not 1"),
        (('type = "SplitReal32"', 'type = "Split32"'), "is not a column type"),
        (("SplitReal32", "split"), "which is no column type"),
        (('effort = "', 'effort = "more '), 'has effort "more '),
        (("format", "[[["), "the profile "),
    ):
        profile.write_text(text.replace(*change))
        with pytest.raises(nyssa.errors.ArgumentError, match=message):
            nyssa.convert(tree, output, force=True, **options)
    assert output.exists()
    profile.write_text(text)
    with pytest.raises(nyssa.errors.ArgumentError, match="a profile is for convert and rewrite"):
        nyssa.merge([output], tmp_path / "merged.root", profile=str(profile))


def test_conversions_choose_by_default(tmp_path: Path, root: Root) -> None:
    """A user who names a level, full effort or another algorithm gets the column types of ROOT."""
    tree = write_tree(tmp_path / "tree.root", branches(1))
    cases: list[tuple[dict[str, Any], bool]] = [
        ({}, True),
        ({"compression": "zstd"}, True),
        ({"compression": "zstd:5"}, False),
        ({"compression": "lz4"}, False),
        ({"effort": "full"}, False),
        ({"encoding": "default"}, False),
        ({"encoding": "auto", "compression": "lz4"}, True),
    ]
    for number, (options, chosen) in enumerate(cases):
        path = tmp_path / f"{number}.root"
        nyssa.convert(tree, path, verify=True, **options)
        found = root.call("columns", str(path), "Events")["floats"][0]["type"]
        assert found.endswith("Real32" if chosen else "SplitReal64"), (options, found)
