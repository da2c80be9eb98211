"""Tests `quantize` of conversions: `Double32_t` and `Float16_t` with a range stay integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

import nyssa
from support.root import Root

COUNT = 20_000
NUMBERS = ["byte", "top", "phi", "wide", "half"]


@pytest.fixture(scope="module")
def tree(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quantized") / "tree.root"
    root.call("write_quantized", str(path), COUNT)
    return path


def types(report: Any) -> dict[str, tuple[str, int]]:
    columns = report["columns"]
    return {one["field"].split(".")[-1]: (one["column_type"], one["bits"]) for one in columns}


def read_by_root(root: Root, path: Path) -> dict[str, Any]:
    numbers = root.call("numpy", str(path), "Events", NUMBERS)
    lists = root.call("lists", str(path), "Events", "pt")
    return numbers | {"pt": [one for entry in lists for one in entry]}


def test_integers_that_keep_all_bits_are_chosen_by_default(tree: Path, root: Root) -> None:
    """Steps with few digits (2^-8, 25 * 2^-10) are exact for doubles, and all steps for floats."""
    path = tree.with_name("default.root")
    report = nyssa.convert(tree, path, verify=True)
    stored = types(report)
    assert stored["byte"] == ("Real32Quant", 8)
    assert stored["half"] == ("Real32Quant", 16)
    # Integers of 8 bits do not have the highest value, which is met after the samples.
    assert stored["top"][0] != "Real32Quant" or stored["top"][1] == 9
    assert stored["pt"] == ("Real32Quant", 12)
    for name in ["phi", "wide"]:
        assert stored[name][0].endswith("Real64"), name
    doubles = sum(stored[name][0] != "Real32Quant" for name in ["top", "phi", "wide"])
    note = f"{doubles} columns are integers in the tree"
    assert any(note in one for one in report["notes"])
    before, after = (read_by_root(root, one) for one in (tree, path))
    for name, values in before.items():
        np.testing.assert_array_equal(after[name], values, err_msg=name)


@pytest.mark.parametrize("options", [{}, {"encoding": "default"}, {"compression": "zstd:5"}])
def test_all_stay_integers_if_asked_for(
    tree: Path, root: Root, tmp_path: Path, options: dict[str, Any]
) -> None:
    path = tmp_path / "quantized.root"
    report = nyssa.convert(tree, path, quantize=True, verify=True, **options)
    bits = {"byte": 8, "top": 9, "phi": 20, "wide": 32, "half": 16, "_0": 12}
    stored = types(report)
    names = bits if "_0" in stored else {**bits, "pt": 12}
    for name in names.keys() & stored.keys():
        assert stored[name] in [("Real32Quant", names[name]), ("SplitIndex64", 64)], name
    assert [one[0] for one in stored.values()].count("Real32Quant") == 6
    before, after = (read_by_root(root, one) for one in (tree, path))
    largest = {"byte": 1, "top": 2, "phi": np.pi, "wide": 1000, "half": 0, "pt": 100}
    ours = nyssa.open(f"{path}:Events").arrays([*NUMBERS, "pt"], library="np")
    for name, values in before.items():
        # A few roundings of doubles, far less than a step.
        np.testing.assert_allclose(after[name], values, rtol=0, atol=largest[name] * 2.0**-50)
        mine = np.concatenate(ours[name]) if name == "pt" else ours[name]
        np.testing.assert_array_equal(mine, after[name], err_msg=name)
    assert sum("absolute error at most" in note for note in report["notes"]) == 6


def test_a_class_of_packed_numbers_is_smaller_than_its_tree(data: Path, tmp_path: Path) -> None:
    """Members hold pi, the highest value of their ranges, so that they need one bit more."""
    tree, path = data / "ttree/uproot-demo-double32.root", tmp_path / "out.root"
    report = nyssa.convert(tree, path, quantize=True, verify=True)
    assert path.stat().st_size < 0.82 * tree.stat().st_size
    stored = types(report)
    for bits in range(2, 33, 2):
        assert stored[f"fI{bits}"] == ("Real32Quant", min(bits + 1, 32))
    before = uproot.open(tree)["T"]
    after = uproot.open(path)["T"].arrays()["d"]
    for name in [f"fI{bits}" for bits in range(2, 33, 2)]:
        values = before[f"d/{name}"].array(library="np")
        np.testing.assert_allclose(after[name], values, rtol=0, atol=np.pi * 2.0**-22)
        np.testing.assert_allclose(
            nyssa.open(f"{path}:T")["d"].array()[name],
            nyssa.open(f"{tree}:T")["d"].array()[name],
            rtol=0,
            atol=np.pi * 2.0**-50,
        )
