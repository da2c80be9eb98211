"""Compares objects with keys of their own with ROOT and uproot."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from nyssa.objects import (
    Collection,
    DenseHistogram,
    Efficiency,
    Graph,
    Histogram,
    Matrix,
    Object,
    Parameter,
    PolygonHistogram,
    Profile,
    SparseHistogram,
    Text,
)
from support.data import TESTDATA, object_values
from support.root import Root

#: Bits that only matter in memory, values that ROOT computes, and members with other names in JSON.
LEFT_OUT = {"fBits", "fAllParametersSetted", "_blob", "fLineStyles"}
MODES = ("", "s", "i", "g")


@pytest.fixture(scope="module")
def made() -> Path:
    """Return a folder of files that ROOT wrote."""
    return TESTDATA / "objects"


def _in_order_of_root(cells: Any) -> Any:
    """Return the bins with flow in the order of ROOT's global bin numbers."""
    return np.asarray(cells).T.reshape(-1).astype(float)


def _check_histogram(ours: Histogram, theirs: dict[str, Any]) -> None:
    np.testing.assert_array_equal(_in_order_of_root(ours.values(flow=True)), theirs["contents"])
    mode = {"error_mode": ours.error_mode} if isinstance(ours, Profile) else {}
    errors = _in_order_of_root(ours.errors(flow=True, **mode))
    np.testing.assert_allclose(errors, theirs["errors"], rtol=1e-13)
    for axis, edges, labels in zip(ours.axes, theirs["edges"], theirs["labels"], strict=True):
        np.testing.assert_allclose(axis.edges(), edges, rtol=1e-14, atol=1e-14 * axis.width)
        assert axis.labels() == (labels if all(labels) else None)


def _check_graph(ours: Graph, theirs: dict[str, Any]) -> None:
    assert [axis.tolist() for axis in ours.values()] == theirs["points"]
    if not ours.has_errors:
        with pytest.raises(nyssa.ArgumentError, match="has no errors"):
            ours.errors("low")
        return
    found = [ours.errors(which, axis) for axis in ("x", "y") for which in ("low", "high")]
    for mine, root in zip(found, theirs["errors"], strict=True):
        np.testing.assert_allclose(mine, root, rtol=1e-14)


def _check(file: Any, expected: dict[str, Any]) -> None:
    for name, theirs in expected.items():
        ours = file[name]
        check: Any = _check_graph if "points" in theirs else _check_histogram
        check(ours, theirs)


@pytest.mark.parametrize("name", ["histograms", "graphs"])
def test_what_root_made(name: str, made: Path) -> None:
    path = made / f"{name}.root"
    expected = object_values("histograms")[name]
    assert len(expected) > 7
    _check(nyssa.open(path), expected)


def test_every_histogram_and_graph_of_the_real_files(data: Path, root: Root) -> None:
    count = 0
    for path in sorted(data.glob("ttree/**/*.root")):
        # The file was not closed.
        if path.name == "dataframe__input2.root":
            continue
        file = nyssa.open(path)
        classes = {
            name: class_name
            for name, class_name in file.classnames().items()
            if class_name.startswith(("TH1", "TH2", "TH3", "TProfile", "TGraph"))
        }
        if classes:
            expected = root.call("histograms", str(path))
            assert set(expected) == set(classes)
            _check(file, expected)
            _like_uproot(file, path, classes)
        count += len(classes)
    assert count > 290


def _like_uproot(file: Any, path: Path, classes: dict[str, str]) -> None:
    uproot = pytest.importorskip("uproot")
    same = np.testing.assert_array_equal
    with uproot.open(path) as theirs:
        for name, class_name in classes.items():
            try:
                other = theirs[name]
            except ValueError as error:
                assert "unsupported compression algorithm: b'CS'" in str(error)
                return
            ours = file[name]
            if class_name.startswith("TGraph"):
                for which in ("low", "high", "mean", "diff"):
                    same(ours.errors(which), other.errors(which))
                same(ours.values(), other.values())
                continue
            assert ours.kind == other.kind
            assert ours.weighted == other.weighted
            for flow in (False, True):
                values = other.values(flow=flow)
                assert ours.values(flow).dtype == values.dtype
                same(ours.values(flow), values)
                same(ours.variances(flow), other.variances(flow=flow))
                for axis, their_axis in zip(ours.axes, other.axes, strict=True):
                    same(axis.labels(flow), their_axis.labels(flow=flow))
                    for what in ("edges", "intervals", "centers", "widths"):
                        # The edges of uproot differ from ROOT's in the last bit.
                        np.testing.assert_allclose(
                            getattr(axis, what)(flow),
                            getattr(their_axis, what)(flow=flow),
                            rtol=1e-13,
                            atol=1e-13 * abs(axis.high - axis.low),
                        )
            for mode in MODES if isinstance(ours, Profile) else ():
                np.testing.assert_allclose(
                    ours.errors(error_mode=mode), other.errors(error_mode=mode), rtol=1e-14
                )


def _differences(ours: Any, theirs: Any, place: str) -> list[Any]:
    """Compare an object with ROOT's JSON of it."""
    if isinstance(ours, Collection) and "arr" in theirs:
        # ROOT's JSON omits empty places at the end.
        ours, theirs = ([one for one in all if one] for all in (ours, theirs["arr"]))
    if isinstance(theirs, dict) and "$pair" in theirs:
        ours, theirs = list(ours), [theirs["first"], theirs["second"]]
    if isinstance(theirs, dict) and "$ref" in theirs:
        return []
    if isinstance(ours, Object):
        kind = theirs.pop("_typename")
        out = [] if ours.class_name == kind else [(place, ours.class_name, kind)]
        theirs.pop("fN", None)
        if kind == "TStyle":
            # Two members have this name.
            del theirs["fLineStyle"]
        if kind == "TColor":
            # ROOT gives a title to colours without one when it reads them.
            del theirs["fTitle"]
        for name, value in theirs.items():
            if name not in LEFT_OUT:
                mine = ours.member(name) if ours.has_member(name) else "nothing"
                out += _differences(mine, value, f"{place}.{name}")
        return out
    if isinstance(theirs, dict) and "fArray" in theirs:
        theirs = theirs["fArray"]
    if isinstance(ours, (np.ndarray, list)):
        ours = list(np.asarray(ours).reshape(-1)) if isinstance(ours, np.ndarray) else ours
        if len(ours) != len(theirs):
            return [(place, ours, theirs)]
        pairs = enumerate(zip(ours, theirs, strict=True))
        return [d for i, (a, b) in pairs for d in _differences(a, b, f"{place}[{i}]")]
    if isinstance(ours, (float, np.floating)):
        # ROOT's JSON has 7 digits of a float, 15 of a double.
        return [] if ours == pytest.approx(theirs, rel=6e-7) else [(place, ours, theirs)]
    return [] if ours == theirs else [(place, ours, theirs)]


def test_all_members_equal_root(made: Path) -> None:
    for stem in ("others", "histograms", "graphs"):
        file = nyssa.open(made / f"{stem}.root")
        names = [
            name
            for name, class_name in file.classnames(cycle=False).items()
            if class_name.startswith("T") and "TDirectory" not in class_name
        ]
        expected = object_values("members")[stem]
        differences = [d for name in names for d in _differences(file[name], expected[name], name)]
        assert not differences, differences[:20]


def test_the_protocol_of_plottable_histograms(made: Path) -> None:
    file = nyssa.open(made / "histograms.root")
    for name in ("one/TH1D", "two/TH2F", "three/TH3I", "weighted", "labels", "profile", "profile3"):
        histogram = file[name]
        shape = tuple(len(axis) for axis in histogram.axes)
        assert histogram.kind == ("MEAN" if "profile" in name else "COUNT")
        for what in (histogram.values(), histogram.variances(), histogram.counts()):
            assert what.shape == shape
        for axis in histogram.axes:
            assert not axis.traits.circular
            assert axis.traits.discrete == (name == "labels")
            assert axis == axis
            assert list(axis) == [axis[index] for index in range(len(axis))]
        assert histogram == file[name]
    assert file["one/TH1D"] != file["one/TH1F"]


def test_axes(made: Path) -> None:
    file = nyssa.open(made / "histograms.root")
    axis = file["weighted"].axis()
    assert axis.edges().tolist() == [0, 1, 3, 7, 10]
    assert axis.edges(flow=True).tolist() == [-np.inf, 0, 1, 3, 7, 10, np.inf]
    assert (axis[0], axis[-1], axis.title) == ((0, 1), (7, 10), "energy")
    assert (axis.low, axis.high, axis.width, axis.widths().tolist()) == (0, 10, 2.5, [1, 2, 4, 3])
    # ROOT sorts them, and keeps the labels in the order in which they were added.
    labels = file["labels"]
    assert list(labels.axis("x")) == labels.axis().labels() == ["a", "b", "c"]
    assert labels.values().tolist() == [2, 1, 5]
    assert labels.axis().labels(flow=True) == ["underflow", "a", "b", "c", "overflow"]
    two = file["two/TH2D"]
    assert two.axis(-1) is two.axis("y") is two.axis(1) is two.axes[1]
    for wrong in (2, -3, "z", "xy", ""):
        with pytest.raises(nyssa.ArgumentError, match="0 to 1, or 'x', 'y'"):
            two.axis(wrong)


def test_counts_and_variances(made: Path) -> None:
    file = nyssa.open(made / "histograms.root")
    weighted = file["weighted"]
    assert weighted.weighted
    expected = weighted.values() ** 2 / weighted.fSumw2[1:-1]
    assert weighted.counts().tolist() == pytest.approx(expected.tolist())
    plain = file["one/TH1S"]
    assert plain.counts().tolist() == plain.values().tolist() == plain.variances().tolist()
    assert (plain.values().dtype, plain.variances().dtype) == (np.int16, np.float64)
    assert (file["negative"].values()[1], file["negative"].errors()[1]) == (-4, 2)
    assert [file[f"profile{mode}"].error_mode for mode in MODES] == [*MODES]
    with pytest.raises(nyssa.ArgumentError, match="error_mode='x' is not one of"):
        file["profile"].errors(error_mode="x")


def test_numpy(made: Path) -> None:
    file = nyssa.open(made / "histograms.root")
    values, x, y = file["two/TH2D"].to_numpy()
    assert (values.shape, x.shape, y.shape) == ((4, 3), (5,), (4,))
    values, (x, y, z) = file["three/TH3D"].to_numpy(flow=True, dd=True)
    assert (values.shape, x.shape, y.shape, z.shape) == ((6, 5, 4), (7,), (6,), (5,))


def test_boost_histogram_and_hist(made: Path) -> None:
    bh, hist = pytest.importorskip("boost_histogram"), pytest.importorskip("hist")
    file = nyssa.open(made / "histograms.root")
    for name in (
        "one/TH1I",
        "two/TH2F",
        "three/TH3D",
        "weighted2",
        "profile",
        "profile2",
        "integers",
    ):
        ours = file[name]
        theirs = ours.to_boost()
        assert (theirs.name, theirs.label) == (ours.name, ours.title)
        np.testing.assert_allclose(theirs.values(flow=True), ours.values(flow=True))
        if not ours.weighted or ours.kind == "MEAN":
            np.testing.assert_allclose(theirs.counts(flow=True), ours.counts(flow=True))
        for axis, other in zip(ours.axes, theirs.axes, strict=True):
            np.testing.assert_allclose(axis.edges(), other.edges)
        if ours.weighted and ours.kind == "COUNT":
            np.testing.assert_allclose(theirs.variances(flow=True), ours.variances(flow=True))
    assert file["one/TH1I"].to_boost().storage_type is bh.storage.Int64
    assert file["profile"].to_boost().storage_type is bh.storage.WeightedMean
    assert bh.Histogram(file["one/TH1D"]) == file["one/TH1D"].to_boost()
    labels = file["labels"].to_hist()
    assert isinstance(labels, hist.Hist)
    assert labels["a"].value == 2
    assert list(labels.axes[0]) == ["a", "b", "c"]


def test_without_boost_histogram(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "boost_histogram", None)
    histogram = nyssa.open(made / "histograms.root")["one/TH1D"]
    with pytest.raises(ImportError, match="pip install boost_histogram"):
        histogram.to_hist()


def test_polygons_are_no_histogram(made: Path) -> None:
    polygons = nyssa.open(made / "histograms.root")["polygons"]
    assert isinstance(polygons, PolygonHistogram)
    assert [one.class_name for one in polygons.fBins] == ["TH2PolyBin"]
    for use in (lambda: polygons.axes, polygons.values, polygons.to_hist):
        with pytest.raises(nyssa.UnsupportedError, match="<TH2Poly 'polygons'> has no bins"):
            use()


def test_classes_of_python(made: Path) -> None:
    file = nyssa.open(made / "others.root")
    assert [file[name].value for name in ("int", "double", "bool", "long")] == [
        3,
        2.5,
        True,
        3 << 40,
    ]
    assert isinstance(file["bool"], Parameter)
    assert (str(file["TObjString"]), type(file["TObjString"])) == ("words", Text)
    assert np.asarray(file["TVectorD"]).tolist() == [1, 2, 4, 8]
    assert file["TMatrixD"].to_numpy().tolist() == [[0, 0, 0], [0, 0, 5]]
    assert file["TMatrixDSym"].to_numpy().tolist() == [[0, 7], [7, 0]]
    assert isinstance(file["TMatrixD"], Matrix)
    things = file["TList"]
    assert isinstance(things, Collection)
    assert [type(one) for one in things] == [Object, Text, Histogram]
    assert (len(things), things[0].title, things[-1].name) == (3, "b", "inside")
    [(key, value)] = file["TMap"]
    assert (str(key), value.name) == ("key", "value")
    assert file["TClonesArray"][0].fZ == 3
    assert isinstance(file["TMultiGraph"].fGraphs[0], Graph)
    for canvas in (file["TCanvas"], file["pictures"][0]):
        assert (canvas.class_name, canvas.fCw + 4, canvas.kAutoExec) == ("TCanvas", 300, True)
        assert [one.name for one in canvas.fPrimitives if isinstance(one, Histogram)] == ["drawn"]
    assert file["TStyle"].fLineStyle[:4] == ["", "  ", " 12 12", " 4 8"]
    assert isinstance(file["TEfficiency"].fPassedHistogram, Histogram)


def test_bare_containers(made: Path) -> None:
    file = nyssa.open(made / "others.root")
    assert file["numbers"].tolist() == [1, 2, 3]
    assert file["texts"] == ["a", "bc"]
    assert file["map"] == [("x", 1), ("y", 2)]
    assert [one.tolist() for one in file["nested"]] == [[1, 2], [3]]
    assert file["text"] == "hello"


def test_members(made: Path) -> None:
    path = made / "histograms.root"
    histogram = nyssa.open(f"{path}:one/TH1F")
    assert histogram.class_name == "TH1F"
    assert histogram.bases[:3] == ("TH1", "TNamed", "TObject")
    assert dict(histogram.members) == {}
    assert list(histogram.all_members)[:4] == ["fUniqueID", "fBits", "fName", "fTitle"]
    assert histogram.fXaxis is histogram.member("fXaxis")
    assert histogram.has_member("fNcells")
    assert not histogram.has_member("fNcell")
    assert "fNcells" in dir(histogram)
    with pytest.raises(nyssa.NotFoundError, match="class TH1F has no member 'fNcell'.*fNcells"):
        histogram.member("fNcell")
    with pytest.raises(AttributeError, match="class TH1F has no 'fNcell'"):
        _ = histogram.fNcell
    plain = histogram.to_py()
    assert (plain["fName"], plain["fXaxis"]["fNbins"], len(plain["fArray"])) == ("TH1F", 10, 12)
    assert json.loads(json.dumps(plain)) == plain


def test_a_class_that_the_file_does_not_describe(data: Path) -> None:
    file = nyssa.open(data / "ttree" / "uproot-issue-607.root")
    [name] = [name for name, kind in file.classnames().items() if kind == "MGTRun"]
    with pytest.raises(nyssa.UnsupportedError, match="has no streamer info of class MGTRun"):
        file[name]


@pytest.fixture(scope="module")
def stored(made: Path) -> bytes:
    """Return a file of an uncompressed histogram."""
    return (made / "stored.root").read_bytes()


def _damaged(stored: bytes, path: Path, at: int, new: bytes) -> Any:
    path.write_bytes(stored[:at] + new + stored[at + len(new) :])
    return nyssa.open(path)


def test_damage_is_told_with_class_member_and_byte(stored: bytes, tmp_path: Path) -> None:
    # This is the length of the name of the axis.
    at = stored.index(b"\x05xaxis")
    file = _damaged(stored, tmp_path / "h.root", at, b"\xf0")
    assert file.keys() == ["h;1"]
    with pytest.raises(nyssa.FormatError) as caught:
        file["h"]
    assert str(caught.value) == (
        "TNamed says that it ends at byte 109, its members end at byte 345, in TAxis::TNamed, at "
        f"byte 86 of the object (file {tmp_path / 'h.root'}, object h)"
    )


def test_bins_that_do_not_fit_the_axes(stored: bytes, tmp_path: Path) -> None:
    # After the axis's `fNbins` comes `fXmin`, 0, and `fXmax`, 3.
    at = stored.index(b"\x00\x00\x00\x03" + b"\x00" * 8 + b"\x40\x08")
    for bins, message in ((b"\x7f\xff\xff\xff", "has 5 bins"), (b"\xff" * 4, "-1 bins")):
        histogram = _damaged(stored, tmp_path / "h.root", at, bins)["h"]
        for use in (histogram.values, histogram.to_numpy, histogram.to_boost, histogram.axis):
            with pytest.raises(nyssa.FormatError, match=message):
                use()


def test_any_damage_is_an_error_or_another_histogram(stored: bytes, tmp_path: Path) -> None:
    start = stored.index(b"\x04TH1D\x01h") + 1
    start, end = stored.index(b"\x04TH1D\x01h", start - 1), stored.index(b"TStreamerInfo") - 100
    rng = random.Random(1)
    for _ in range(400):
        at, new = rng.randrange(start, end), bytes([rng.choice([0, 1, 255, rng.randrange(256)])])
        try:
            histogram = _damaged(stored, tmp_path / "h.root", at, new)["h"]
            histogram.to_numpy(flow=True)
            histogram.variances()
            histogram.axis().labels()
        except nyssa.NyssaError:
            pass


@pytest.fixture(scope="module")
def many(made: Path) -> Path:
    """Return a file of objects of more dimensions, which ROOT wrote."""
    return made / "dimensions.root"


def _bins(name: str) -> dict[tuple[int, ...], tuple[float, float]]:
    """Return content and variance of the filled bins of a histogram of many dimensions."""
    return {tuple(place): (value, square) for place, value, square in object_values("sparse")[name]}


@pytest.mark.parametrize("name", ["sparse", "many"])
def test_sparse_histograms(name: str, many: Path) -> None:
    ours = nyssa.open(many)[name]
    assert isinstance(ours, SparseHistogram)
    columns = ours.values().astype(float).tolist(), ours.variances().tolist()
    places = map(tuple, ours.coordinates().tolist())
    theirs = _bins(name)
    assert dict(zip(places, zip(*columns, strict=True), strict=True)) == theirs
    assert len(ours) == len(theirs) > 4


def test_dense_histograms(many: Path) -> None:
    ours = nyssa.open(many)["dense"]
    assert isinstance(ours, DenseHistogram)
    assert ours.values().shape == tuple(map(len, ours.axes)) == (4, 3)
    cells, squares = ours.values(flow=True), ours.variances(flow=True)
    filled = {
        tuple(place): (float(cells[tuple(place)]), float(squares[tuple(place)]))
        for place in np.argwhere(cells).tolist()
    }
    assert filled == _bins("dense")


def test_efficiencies(many: Path) -> None:
    ours = nyssa.open(many)["efficiency"]
    assert isinstance(ours, Efficiency)
    assert ours.total.values(flow=True).sum() == 12
    theirs = object_values("efficiency")
    assert _in_order_of_root(ours.values(flow=True)).tolist() == theirs
    assert 0 < ours.values().max() < 1


def test_graphs_of_two_dimensions(many: Path) -> None:
    file = nyssa.open(many)
    x, y, z = file["plain"].values()
    assert (x.tolist(), y.tolist(), z.tolist()) == ([1, 2, 3], [4, 5, 6], [7, 8, 9])
    assert file["plain"].values("z").tolist() == file["plain"].values(2).tolist() == [7, 8, 9]
    assert not file["plain"].has_errors
    assert file["errors"].errors("high", "y").tolist() == [0.4, 0.5, 0.6]
    assert file["asymmetric"].errors("low", "z").tolist() == [0.1, 0.2, 0.3]
    assert file["asymmetric"].errors("high", -1).tolist() == [0.4, 0.5, 0.6]
    with pytest.raises(nyssa.ArgumentError, match=r'axis=3 is not "x" \(0\), "y" \(1\), "z"'):
        file["plain"].values(3)
