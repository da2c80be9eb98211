"""Compares histograms of expressions with those that hist and ROOT fill."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import awkward as ak
import boost_histogram as bh
import hist
import numpy as np
import pytest

import nyssa
from support.data import TESTDATA
from support.root import Root

TREE = TESTDATA / "ttree/events-zstd.root"
AT = f"{TREE}:Events"


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, Any]]:
    """Return a folder of files with odd values, and all their values."""
    folder = tmp_path_factory.mktemp("many")
    random = np.random.default_rng(5)
    parts = []
    for number in range(5):
        count = 0 if number == 2 else 20_000 + number
        runs = [f"run {item}" for item in random.integers(0, 4 + number, count)]
        lengths = random.integers(0, 5, count)
        odd = random.choice([np.nan, np.inf, -np.inf, 0.0, 1.0, 10.0, 0.1], int(lengths.sum()))
        usual = random.normal(5, 4, len(odd))
        pt = np.where(random.random(len(odd)) < 0.3, odd, usual)
        part = {
            "pt": ak.unflatten(pt, lengths),
            "met": random.exponential(10, count).astype(np.float32),
            "n": random.integers(-3, 8, count).astype(np.int16),
            "big": random.integers(0, 2**63, count).astype(np.uint64) * 2,
            "good": random.random(count) < 0.5,
            "w": random.normal(1, 2, count),
            "run": ak.Array([*runs, "end"])[:-1],
        }
        with nyssa.recreate(folder / f"{number}.root") as file:
            file["Events"] = part
        parts.append(part)
    return str(folder), {name: ak.concatenate([part[name] for part in parts]) for name in parts[0]}


def flat(values: Any, *others: Any) -> list[Any]:
    """Return arrays that are broadcast to the first one, without lists."""
    return [
        np.asarray(ak.flatten(item, axis=None)) for item in ak.broadcast_arrays(values, *others)
    ]


def check(ours: Any, axes: Any, values: Any, weight: Any = None) -> None:
    """Compare a histogram with one that hist fills."""
    storage = bh.storage.Double() if weight is None else bh.storage.Weight()
    expected = hist.Hist(*axes, storage=storage)
    expected.fill(*values, weight=weight)
    assert type(ours) is hist.Hist
    assert ours.axes == expected.axes
    if weight is None:
        np.testing.assert_array_equal(ours.view(flow=True), expected.view(flow=True))
    else:
        for part in ("value", "variance"):
            mine, other = (
                getattr(ours.view(flow=True), part),
                getattr(expected.view(flow=True), part),
            )
            np.testing.assert_allclose(mine, other, rtol=1e-11, atol=1e-9)


AXES = {
    "regular": hist.axis.Regular(37, -1, 10, name="x", label="pt [GeV]"),
    "tenths": hist.axis.Regular(100, 0, 10),
    "odd edges": hist.axis.Regular(17, -1.1, 10.3),
    "no flow": hist.axis.Regular(10, 0, 10, flow=False),
    "no overflow": hist.axis.Regular(10, 0, 10, overflow=False),
    "log": hist.axis.Regular(20, 0.1, 10, transform=hist.axis.transform.log),
    "sqrt": hist.axis.Regular(20, 0.1, 10, transform=hist.axis.transform.sqrt),
    "power": hist.axis.Regular(20, 0.1, 10, transform=hist.axis.transform.Pow(2)),
    "variable": hist.axis.Variable([-2, 0.1, 1, 5, 10]),
    "variable, no overflow": hist.axis.Variable([-2, 0.1, 1, 5, 10], overflow=False),
    "infinite edges": hist.axis.Variable([-np.inf, 0, 1, np.inf]),
}


def test_axes_of_numbers(many: tuple[str, dict[str, Any]]) -> None:
    """Every value has the bin that boost-histogram finds, also at edges, NaN and infinity."""
    folder, arrays = many
    plans = {name: ("pt", axis) for name, axis in AXES.items()}
    ours = nyssa.histograms(folder, plans)
    values = np.asarray(ak.flatten(arrays["pt"]))
    for name, axis in AXES.items():
        check(ours[name], [axis], [values])
    weighted = nyssa.histograms(folder, plans, weight="w")
    values, weight = flat(arrays["pt"], arrays["w"])
    for name, axis in AXES.items():
        check(weighted[name], [axis], [values], weight)


def test_axes_of_integers_and_categories(many: tuple[str, dict[str, Any]]) -> None:
    folder, arrays = many
    runs = ["run 1", "run 3", "run 9"]
    plans: dict[str, Any] = {
        "integer": ("n", hist.axis.Integer(-2, 5)),
        "integer, no flow": ("n", hist.axis.Integer(-2, 5, flow=False)),
        "categories": ("n", hist.axis.IntCategory([5, -3, 2])),
        "boolean": ("good", hist.axis.Boolean()),
        "regular": ("big", hist.axis.Regular(10, 0, 2.0**64)),
        "texts": ("run", hist.axis.StrCategory(runs)),
        "texts, no overflow": ("run", hist.axis.StrCategory(runs, overflow=False)),
        "all texts": ("run", hist.axis.StrCategory([], growth=True, name="run")),
        "some first": ("run", hist.axis.StrCategory(runs, growth=True)),
    }
    ours = nyssa.histograms([folder], plans)
    for name, (column, axis) in plans.items():
        values = arrays[column]
        check(ours[name], [axis], [values.to_list() if column == "run" else np.asarray(values)])


def test_dimensions_regions_and_weights(many: tuple[str, dict[str, Any]]) -> None:
    """Values and weights of entries count for each item of their lists."""
    folder, arrays = many
    x, y = hist.axis.Regular(5, 0, 10, name="x"), hist.axis.Variable([0, 3, 9, 30], name="y")
    run = hist.axis.StrCategory([], growth=True, name="run")
    plans: dict[str, Any] = {
        "xy": [("pt", x), ("met", y)],
        "yx": [("met", y), ("pt", x)],
        "run": [("run", run), ("pt * 2", x)],
        "items": ("pt[pt > 2]", x),
    }
    cuts = {"low": "n < 2", "all": "n < 100", "both": "n < 2 && any(pt > 3)", "none": "n > 99"}
    ours = nyssa.histograms(folder, plans, cut=cuts, weight="w + 1")
    assert {name: [*of] for name, of in ours.items()} == {cut: [*plans] for cut in cuts}
    n, pt = arrays["n"], arrays["pt"]
    masks = {"low": n < 2, "all": n < 100, "both": (n < 2) & ak.any(pt > 3, axis=1), "none": n > 99}
    for region, mask in masks.items():
        mine = ours[region]
        pts, mets, weights, runs = (arrays[name][mask] for name in ("pt", "met", "w", "run"))
        values, other, weight = flat(pts, mets, weights + 1)
        check(mine["xy"], [x, y], [values, other], weight)
        check(mine["yx"], [y, x], [other, values], weight)
        counts = ak.to_numpy(ak.num(pts))
        names = np.repeat(np.asarray(runs.to_list(), dtype=object), counts).tolist()
        doubled = [names, values * 2]
        check_categories(mine["run"], run, x, doubled, weight)
        selected, weight = flat(pts[pts > 2], weights + 1)
        check(mine["items"], [x], [selected], weight)


def check_categories(ours: Any, run: Any, x: Any, values: Any, weight: Any) -> None:
    """Compare histograms whose first axis has the texts that are met."""
    assert sorted(ours.axes[0]) == sorted(set(values[0]))
    for name in ours.axes[0]:
        here = np.array([item == name for item in values[0]])
        expected = hist.Hist(x, storage=bh.storage.Weight())
        expected.fill(values[1][here], weight=weight[here])
        mine = ours[hist.loc(name), :].view(flow=True)
        np.testing.assert_allclose(mine.value, expected.view(flow=True).value, rtol=1e-9, atol=1e-9)
    assert ours.axes[0].name == run.name


def test_each_column_is_read_once(many: tuple[str, dict[str, Any]]) -> None:
    """Ten histograms and two regions of two columns cost the bytes of these columns."""
    folder, _ = many
    axis = hist.axis.Regular(5, 0, 10)
    events = nyssa.open(f"{folder}/0.root:Events")
    stored = sum(events[name].compressed_bytes for name in ("pt", "met"))
    before = events.io_stats().bytes_read
    plans = {f"h{number}": (f"pt + {number}", axis) for number in range(10)}
    nyssa.histograms(events, plans, cut={"a": "met < 5", "b": "met > 5"}, weight="met")
    assert events.io_stats().bytes_read - before <= stored * 1.05


def test_same_as_rdataframe() -> None:
    root = Root()
    jobs: list[tuple[str, str | None, str | None, int, float, float]] = [
        ("MET", "MET * 2", "nMuon >= 2", 20, 0.0, 5.0),
        ("Jet_pt[Jet_pt < 50]", None, "nJet > 1", 32, 32.0, 64.0),
    ]
    results = root.call("filled", str(TREE), "Events", jobs)
    for (text, weight, cut, *bins), (values, squares, entries, mean, std) in zip(
        jobs, results, strict=True
    ):
        ours = nyssa.histograms(AT, {"h": (text, tuple(bins))}, cut=cut, weight=weight)["h"]
        np.testing.assert_allclose(ours.values(flow=True), values, rtol=1e-13)
        np.testing.assert_allclose(ours.variances(flow=True), squares, rtol=1e-12)
        count, low, high = bins
        drawn = nyssa.draw(AT, text, bins=count, range=(low, high), cut=cut, weight=weight)
        np.testing.assert_allclose(drawn.contents, values, rtol=1e-13)
        assert drawn.entries == entries
        assert (drawn.mean, drawn.std) == pytest.approx((mean, std), rel=1e-9)


def test_storages_and_libraries() -> None:
    axis = bh.axis.Regular(3, 0, 30, metadata="mine")
    for storage in ("Int64", bh.storage.Int64, hist.storage.Int64(), "Double", "Weight"):
        made = nyssa.histograms(AT, {"h": ("MET", axis)}, storage=storage)["h"]
        assert made.sum(flow=True) in (250, bh.accumulators.WeightedSum(250, 250))
    assert nyssa.histograms(AT, {}) == {}
    made = nyssa.histograms(AT, {"h": ("MET", axis)}, storage="Weight")["h"]
    np.testing.assert_array_equal(made.variances(), made.values())
    # A process without hist gets histograms of boost-histogram, also of aliases and one thread.
    code = (
        "import sys; sys.modules['hist'] = None\n"
        "import importlib.util; find = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *a: None if name == 'hist' else find(name, *a)\n"
        "import nyssa; plans = {'h': ('twice', (3, 0, 60))}\n"
        f"made = nyssa.histograms({AT!r}, plans, aliases={{'twice': 'MET * 2'}}, threads=1)\n"
        "print(type(made['h']), made['h'].sum(flow=True), 'awkward' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == [
        "<class",
        "'boost_histogram.histogram.Histogram'>",
        "250.0",
        "False",
    ]


@pytest.mark.parametrize(
    ("plan", "options", "error", "says"),
    [
        (("Muon_pt",), {}, nyssa.ArgumentError, "pair of an expression and its axis"),
        (("Muon_pt", 5), {}, nyssa.ArgumentError, "not 5"),
        ("Muon_pt", {}, nyssa.ArgumentError, "pair of an expression and its axis"),
        (("Muno_pt", (5, 0, 1)), {}, nyssa.NotFoundError, "Muon_pt"),
        (("Muon_pt +", (5, 0, 1)), {}, nyssa.ArgumentError, "before the end"),
        (("label", (5, 0, 1)), {}, nyssa.ArgumentError, "label: these are texts"),
        (("MET", hist.axis.Integer(0, 5)), {}, nyssa.ArgumentError, "MET: an axis of integers"),
        (("MET", hist.axis.StrCategory(["a"])), {}, nyssa.ArgumentError, "MET: these are numbers"),
        (("MET", (5, 0, 1)), {"weight": "label"}, nyssa.ArgumentError, "a weight is a number"),
        (("MET", (5, 0, 1)), {"weight": "MTE"}, nyssa.NotFoundError, "MET"),
        (("MET", (5, 0, 1)), {"cut": "MET"}, nyssa.ArgumentError, "true or false"),
        (("MET", (5, 0, 1)), {"cut": np.ones(3)}, nyssa.ArgumentError, "cut"),
        (("MET", (5, 0, 1)), {"storage": "Mean"}, nyssa.ArgumentError, "storage"),
        (("MET", (5, 0, 1)), {"storage": "Int64", "weight": "MET"}, nyssa.ArgumentError, "weights"),
        (("Muon_pt", (5, 0, 1)), {"weight": "Jet_pt"}, nyssa.ArgumentError, "different lengths"),
        (
            ("MET", hist.axis.Regular(5, 0, 1, circular=True)),
            {},
            nyssa.UnsupportedError,
            "circular",
        ),
        (("MET", hist.axis.Regular(5, 0, 1, growth=True)), {}, nyssa.UnsupportedError, "grows"),
        (
            [("MET", (5, 0, 1)), ("label", hist.axis.StrCategory([], growth=True))],
            {},
            nyssa.ArgumentError,
            "first axis",
        ),
        (
            [("MET", (10**5, 0, 1)), ("MET", (10**5, 0, 1))],
            {},
            nyssa.LimitError,
            "bins",
        ),
    ],
)
def test_errors(plan: Any, options: dict[str, Any], error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        nyssa.histograms(AT, {"h": plan}, **options)


def test_progress() -> None:
    seen: list[tuple[int, int]] = []
    nyssa.histograms(
        AT, {"h": ("MET", (5, 0, 1))}, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (250, 250)
