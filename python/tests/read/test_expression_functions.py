"""Tests each function of expressions on odd inputs. Expected values come from awkward and vector.

The table has, for each function, an expression and what awkward computes. The columns have nested
and empty lists, missing values, NaN, single precision and integers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

import nyssa

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NAN = math.nan
LISTS = [[3.25, -1.5, 2.1], [], [NAN, 1.0], [1.0, NAN, 2.0], [0.1, 0.2, 0.3, 0.7, 1e8, -1e8]]


def as_type(lists: Any, dtype: Any) -> ak.Array:
    return ak.values_astype(ak.Array(lists), dtype)


#: The columns of the file, as awkward has them.
DATA = {
    "f4": as_type(LISTS, np.float32),
    "f8": as_type(LISTS, np.float64),
    "i4": as_type([[3, -1], [], [2, 2, 5], [0], [7, 6, 5]], np.int32),
    "flag": ak.Array([[True, False], [], [False], [True, True], [False, True, False]]),
    "missing": ak.Array([[1.5, None, 0.5], [], [None], [2.5], [None, 4.5, -1.0]]),
    "nested": ak.Array([[[1.0, 2.0], []], [], [[3.0]], [[], []], [[0.5, 9.0, -1.0]]]),
    "x4": as_type([0.1, -2.7, NAN, 4.0, math.inf], np.float32),
    "x8": as_type([0.1, -2.7, NAN, 4.0, math.inf], np.float64),
    "y4": as_type([1.1, 20.1, 3.3, -0.2, 0.0], np.float32),
    "n": as_type([2, 0, -3, 1, 7], np.int32),
    "small": as_type([2, 0, -3, 1, 7], np.int16),
    "word": ak.Array(["mu", "e", "", 'say "x"', "mü"]),
    "words": ak.Array([["a", "b"], [], ["b"], ["c", "b", "b"], [""]]),
    "Aux:pt": as_type([1, 2, 3, 4, 5], np.float32),
}
A = DATA

#: Expressions, and what awkward has for them.
EQUAL: dict[str, Callable[[], Any]] = {
    # Lists of numbers.
    "sum(f4)": lambda: ak.sum(A["f4"], axis=-1),
    "sum(f8)": lambda: ak.sum(A["f8"], axis=-1),
    "sum(i4)": lambda: ak.sum(A["i4"], axis=-1),
    "sum(flag)": lambda: ak.sum(A["flag"], axis=-1),
    "sum(missing)": lambda: ak.sum(A["missing"], axis=-1),
    "sum(nested)": lambda: ak.sum(A["nested"], axis=-1),
    # Early versions of awkward add in single precision.
    "mean(f4)": lambda: ak.mean(ak.values_astype(A["f4"], np.float64), axis=-1),
    "mean(f8)": lambda: ak.mean(A["f8"], axis=-1),
    "mean(i4)": lambda: ak.mean(A["i4"], axis=-1),
    "mean(missing)": lambda: ak.mean(A["missing"], axis=-1),
    "mean(nested)": lambda: ak.mean(A["nested"], axis=-1),
    "min(f4)": lambda: ak.min(A["f4"], axis=-1),
    "max(f8)": lambda: ak.max(A["f8"], axis=-1),
    "max(i4)": lambda: ak.max(A["i4"], axis=-1),
    "min(missing)": lambda: ak.min(A["missing"], axis=-1),
    "max(nested)": lambda: ak.max(A["nested"], axis=-1),
    "argmin(f4)": lambda: ak.argmin(A["f4"], axis=-1),
    "argmax(f8)": lambda: ak.argmax(A["f8"], axis=-1),
    "argmax(i4)": lambda: ak.argmax(A["i4"], axis=-1),
    "argmin(nested)": lambda: ak.argmin(A["nested"], axis=-1),
    "argmax(missing)": lambda: ak.argmax(A["missing"], axis=-1),
    "sort(f4)": lambda: ak.sort(A["f4"], axis=-1),
    "sort(f8)": lambda: ak.sort(A["f8"], axis=-1),
    "sort(i4)": lambda: ak.sort(A["i4"], axis=-1),
    "sort(nested)": lambda: ak.sort(A["nested"], axis=-1),
    "sort(missing)": lambda: ak.sort(A["missing"], axis=-1),
    "argsort(f4)": lambda: ak.argsort(A["f4"], axis=-1),
    "argsort(i4)": lambda: ak.argsort(A["i4"], axis=-1),
    "i4[argmax(i4)]": lambda: A["i4"][ak.from_regular(ak.argmax(A["i4"], axis=-1, keepdims=True))][
        :, 0
    ],
    "len(f4)": lambda: ak.num(A["f4"], axis=-1),
    "len(nested)": lambda: ak.num(A["nested"], axis=-1),
    # Lists of truth values.
    "any(flag)": lambda: ak.any(A["flag"], axis=-1),
    "all(flag)": lambda: ak.all(A["flag"], axis=-1),
    "count(flag)": lambda: ak.sum(A["flag"], axis=-1),
    "any(f4 > 1)": lambda: ak.any(A["f4"] > 1, axis=-1),
    "all(nested > 0)": lambda: ak.all(A["nested"] > 0, axis=-1),
    # Combinations.
    **{
        f"combinations({name}, {n}, {slot})": (
            lambda name=name, n=n, slot=slot: ak.combinations(A[name], n, axis=-1)[str(slot)]
        )
        for name in ("f4", "i4", "nested", "missing")
        for n, slot in ((2, 0), (2, 1), (3, 2), (1, 0))
    },
    **{
        f"combinations(f8, {n}, {slot})[{at}]": (
            lambda n=n, slot=slot, at=at: ak.pad_none(
                ak.combinations(A["f8"], n, axis=-1)[str(slot)], 15, axis=1
            )[:, at]
        )
        for n, slot in ((1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 3))
        for at in (0, 1, 9, 14)
    },
    # Lists of two lists, and places.
    "concatenate(f4, i4)": lambda: ak.concatenate([A["f4"], A["i4"]], axis=-1),
    "concatenate(i4, i4)": lambda: ak.concatenate([A["i4"], A["i4"]], axis=-1),
    "concatenate(flag, flag)": lambda: ak.concatenate([A["flag"], A["flag"]], axis=-1),
    "concatenate(missing, f8)": lambda: ak.concatenate([A["missing"], A["f8"]], axis=-1),
    "concatenate(nested, nested)": lambda: ak.concatenate([A["nested"], A["nested"]], axis=-1),
    "local_index(f4)": lambda: ak.local_index(A["f4"], axis=-1),
    "local_index(nested)": lambda: ak.local_index(A["nested"], axis=-1),
    "float64(f4)": lambda: ak.values_astype(A["f4"], np.float64),
    "float64(missing)": lambda: A["missing"],
    "float64(n) / 3": lambda: A["n"] / 3,
    "float64(x4) * x4": lambda: ak.values_astype(A["x4"], np.float64) * A["x4"],
    # Missing values.
    "is_none(missing)": lambda: ak.is_none(A["missing"], axis=-1),
    "fill_none(missing, -1)": lambda: ak.fill_none(A["missing"], -1.0),
    "fill_none(max(f4), 0.1)": lambda: ak.values_astype(
        ak.fill_none(ak.max(A["f4"], axis=-1), 0.1), np.float32
    ),
    "f4[0]": lambda: ak.firsts(A["f4"]),
    "missing + 1": lambda: A["missing"] + 1,
    # Items.
    "f4[f4 > 0]": lambda: A["f4"][A["f4"] > 0],
    "where(f4 > 0, f4, 0)": lambda: ak.where(A["f4"] > 0, A["f4"], np.float32(0)),
    "where(n > 0, n, -1)": lambda: np.where(A["n"] > 0, A["n"], -1),
    # Text.
    'word == "mu"': lambda: A["word"] == "mu",
    "word != 'mü'": lambda: A["word"] != "mü",
    'word == "say \\"x\\""': lambda: A["word"] == 'say "x"',
    'word == ""': lambda: A["word"] == "",
    'words == "b"': lambda: A["words"] == "b",
    'any(words == "b")': lambda: ak.any(A["words"] == "b", axis=-1),
    # Names that are no words.
    "`Aux:pt` * 2": lambda: A["Aux:pt"] * 2,
    # Single precision is rounded after each operation.
    "x4 * 0.1 + y4": lambda: A["x4"] * 0.1 + A["y4"],
    "x4 / y4 - 0.3 * x4": lambda: A["x4"] / A["y4"] - 0.3 * A["x4"],
    "sqrt(x4**2 + y4**2)": lambda: np.sqrt(A["x4"] ** 2 + A["y4"] ** 2),
    "x4 * small": lambda: A["x4"] * A["small"],
    "x4 * n": lambda: A["x4"] * A["n"],
    "x4 * x8": lambda: A["x4"] * A["x8"],
    "f4 * x4": lambda: A["f4"] * A["x4"],
    "max(x4, 0.1)": lambda: np.maximum(A["x4"], 0.1),
    "min(x4, y4)": lambda: np.minimum(A["x4"], A["y4"]),
    "abs(x4)": lambda: np.abs(A["x4"]),
    **{
        f"{name}({column})": lambda name=name, column=column: getattr(np, name)(A[column])
        for name in ("sqrt", "floor", "ceil", "trunc", "round", "isnan", "isinf", "isfinite")
        for column in ("x4", "x8", "f4", "small")
        if not (column == "small" and name in ("floor", "ceil", "trunc", "round"))
    },
}

#: Functions whose last bit depends on the library: at most one unit differs.
NEAR = {
    f"{name}({column})": lambda name=name, column=column: getattr(np, name)(A[column])
    for name in (
        *("cbrt", "exp", "exp2", "expm1", "log", "log10", "log1p", "log2", "sin", "cos", "tan"),
        *("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
    )
    for column in ("x4", "x8", "f4")
} | {
    "arctan2(x4, y4)": lambda: np.arctan2(A["x4"], A["y4"]),
    "arctan2(small, small)": lambda: np.arctan2(A["small"], A["small"]),
    "exp(small)": lambda: np.exp(A["small"]),
    "hypot(x8, x4)": lambda: np.hypot(A["x8"], A["x4"]),
    "x4 ** y4": lambda: A["x4"] ** A["y4"],
}


@pytest.fixture(scope="module")
def events(tmp_path_factory: pytest.TempPathFactory) -> nyssa.RNTuple:
    """Return the columns in a file."""
    path = tmp_path_factory.mktemp("functions") / "columns.root"
    with nyssa.recreate(path) as file:
        file["Events"] = DATA
    return nyssa.open(f"{path}:Events")


def flat(array: Any) -> np.ndarray[Any, Any]:
    """Return the values without missing ones."""
    return np.asarray(ak.drop_none(ak.flatten(ak.Array(array), axis=None)))


def shape(item: Any) -> Any:
    """Return the lists with True for each value and None for each missing one."""
    if isinstance(item, list):
        return [shape(inner) for inner in item]
    return None if item is None else True


@pytest.mark.parametrize("text", EQUAL)
def test_equal(events: nyssa.RNTuple, text: str) -> None:
    ours, theirs = events.arrays(text)[text], EQUAL[text]()
    assert shape(ak.to_list(ours)) == shape(ak.to_list(theirs))
    left, right = flat(ours), flat(theirs)
    assert np.array_equal(left, right, equal_nan=left.dtype.kind == "f")
    assert left.dtype.kind == right.dtype.kind
    # Integers that are computed have 64 bits.
    assert left.dtype == right.dtype or left.dtype == np.int64


@pytest.mark.parametrize("text", NEAR)
def test_near(events: nyssa.RNTuple, text: str) -> None:
    ours, theirs = flat(events.arrays(text)[text]), flat(NEAR[text]())
    assert ours.dtype == theirs.dtype
    equal = (ours == theirs) | (np.isnan(ours) & np.isnan(theirs))
    ours, theirs = ours[~equal], theirs[~equal]
    assert np.all(np.isfinite(ours) & np.isfinite(theirs))
    assert np.all(np.abs(ours - theirs) <= np.spacing(np.abs(theirs)))


def test_distances(events: nyssa.RNTuple) -> None:
    vector = pytest.importorskip("vector")
    eta, phi = A["x8"], ak.Array([3.1, -3.1, 0.5, 10.0, -10.0])
    one = vector.array({"pt": np.ones(5), "phi": np.asarray(phi), "eta": np.asarray(eta)})
    two = vector.array({"pt": np.ones(5), "phi": -np.asarray(phi), "eta": np.zeros(5)})
    angles = "where(n == -3, 0.5, where(n == 1, 10, -10))"
    aliases = {"phi": f"where(n == 2, 3.1, where(n == 0, -3.1, {angles}))"}
    for text, expected in (
        ("deltaR(x8, phi, 0, -phi)", one.deltaR(two)),
        ("deltaphi(phi, -phi)", one.deltaphi(two)),
    ):
        ours = flat(events.arrays(text, aliases=aliases)[text])
        assert np.allclose(ours, expected, rtol=1e-14, equal_nan=True)


def particles() -> dict[str, Any]:
    """Return lists of particles, with angles beyond pi and missing masses."""
    random = np.random.default_rng(5)
    counts = np.array([3, 0, 1, 5, 2, 4])
    other = np.array([1, 2, 0, 2, 0, 3])
    lists: dict[str, Any] = {}
    for name, number in (("a", counts), ("b", other)):
        for x, low, high in (("pt", 1, 90), ("eta", -3, 3), ("phi", -7, 7), ("m", 0, 5)):
            values = random.uniform(low, high, number.sum()).astype(np.float32)
            lists[f"{name}_{x}"] = ak.unflatten(values, number)
    lists["optional"] = ak.mask(lists["a_m"], lists["a_m"] > 1)
    return lists


def test_particles(tmp_path: Path) -> None:
    vector = pytest.importorskip("vector")
    data = particles()
    with nyssa.recreate(tmp_path / "particles.root") as file:
        file["Events"] = data
    events = nyssa.open(f"{tmp_path / 'particles.root'}:Events")
    double = {name: ak.values_astype(item, np.float64) for name, item in data.items()}
    parts = {"pt": "a_pt", "eta": "a_eta", "phi": "a_phi", "mass": "a_m"}
    a = vector.zip({name: double[column] for name, column in parts.items()})
    b = vector.zip({x: double[f"b_{x}"] for x in ("eta", "phi")} | {"pt": double["b_pt"]})
    for n in (1, 2, 3, 4):
        text = f"combined_mass(a_pt, a_eta, a_phi, a_m, {n})"
        ours = events.arrays(text)[text]
        first, *others = ak.unzip(ak.combinations(a, n, axis=1))
        expected = sum(others, first).mass
        assert ak.num(ours).tolist() == ak.num(expected).tolist()
        assert np.allclose(flat(ours), flat(expected), rtol=1e-6, atol=1e-5)
    text = "combined_mass(a_pt, a_eta, a_phi, 0.1, 2)"
    fields = {x: double[f"a_{x}"] for x in ("pt", "eta", "phi")}
    mass = ak.full_like(fields["pt"], 0.1)
    first, second = ak.unzip(ak.combinations(vector.zip({**fields, "mass": mass}), 2))
    assert np.allclose(flat(events.arrays(text)[text]), flat((first + second).mass), rtol=1e-9)
    text = "combined_mass(a_pt, a_eta, a_phi, optional, 2)"
    left, right = ak.unzip(ak.combinations(data["optional"], 2))
    assert shape(events.arrays(text)[text].to_list()) == shape(ak.to_list(left + right))
    text = "min_deltaR(a_eta, a_phi, b_eta, b_phi)"
    one, two = ak.unzip(ak.cartesian([a, b], nested=True))
    expected = ak.min(one.deltaR(two), axis=-1)
    ours = events.arrays(text)[text]
    assert shape(ours.to_list()) == shape(expected.to_list())
    assert np.allclose(flat(ours), flat(expected), rtol=1e-12)


def test_each_function_is_tested_and_described() -> None:
    root = Path(__file__).parents[3]
    source = (root / "crates/nyssa-data/src/cut/functions.rs").read_text()
    names = re.findall(r'\("(\w+)", Kind::', source)
    page = (root / "docs/expressions.md").read_text()
    tested = [*EQUAL, *NEAR, "deltaR(", "deltaphi(", "combined_mass(", "min_deltaR("]
    same = {"atan2": "arctan2"} | {
        f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")
    }
    assert len(names) > 50
    for name in names:
        assert re.search(rf"\b{name}\b", page), name
        assert any(f"{same.get(name, name)}(" in text for text in tested), name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("combinations(f4, 0, 0)", "takes numbers n, from 1 to 8"),
        ("combinations(f4, 2, 2)", "slot, from 0 to n - 1"),
        ("combinations(f4, n, 0)", "takes numbers n"),
        ("combinations(x4, 2, 0)", "takes a list"),
        ("combinations(f4, 2, 2)[0]", "slot, from 0 to n - 1"),
        ("combinations(f4, 2, 0)[0.5]", "an index is an integer"),
        ("combined_mass(f4, f4, f4, f4, 9)", "takes numbers n from 1 to 8"),
        ("any(combined_mass(f4, i4, f4, f4, 2) < 1)", "these lists have different lengths"),
        ("combined_mass(f4, nested, f4, f4, 2)", "these lists have different lengths"),
        ("combined_mass(x4, x4, x4, x4, 2)", "combined_mass takes lists"),
        ("min_deltaR(x4, x4, f4, f4)", "min_deltaR takes lists"),
        ("min_deltaR(f4, f4, nested, nested)", "in lists of different lengths"),
        ("concatenate(f4, x4)", "concatenate takes two lists"),
        ("concatenate(f4, nested)", "in lists of different lengths"),
        ("local_index(x4)", "local_index takes a list"),
        ("sort(x4)", "sort takes a list"),
        ("mean(n)", "mean takes a list"),
        ('word < "b"', "text is only compared"),
        ('n == "b"', "are no text"),
        ("word == 1", "text is only compared"),
        ('word == "b', "a quote is never closed"),
        ('word == "b\\n"', "a backslash in text"),
        ("deltaR(x4, x4)", "deltaR takes four arguments"),
    ],
)
def test_errors(events: nyssa.RNTuple, text: str, message: str) -> None:
    with pytest.raises(nyssa.ArgumentError, match=message):
        events.arrays(cut=f"{text} == 1" if "==" not in text and "<" not in text else text)
