"""Compares objects that nyssa writes, such as histograms, with what ROOT and uproot read."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nyssa
from nyssa.objects import Object
from support.data import TESTDATA
from support.root import Root

bh = pytest.importorskip("boost_histogram")
hist = pytest.importorskip("hist")
uproot = pytest.importorskip("uproot")


def _numbers() -> np.random.Generator:
    return np.random.default_rng(17)


def _histograms() -> dict[str, Any]:
    """Return a histogram of each storage, dimension and kind of axis."""
    some = _numbers()
    x, y, z, w = some.normal(size=(4, 400))
    words = some.choice(["a", "b", "c"], 400)
    new = hist.Hist.new
    one = new.Reg(10, -2, 2, name="x", label="x [GeV]").Weight(name="name", label="a title")
    one.fill(x, weight=w)
    varied = new.Var([-1, 0, 0.5, 3]).Int64().fill(x)
    words_once = new.StrCat(["a", "b"], label="word").Double().fill(words)
    grown = new.Reg(3, -1, 1).StrCat([], growth=True).Weight().fill(x, words, weight=w)
    whole = new.Int(-2, 3).Bool().Var([0, 1, 3]).Double().fill(np.round(x).astype(int), y > 0, z)
    integers = new.IntCat([7, 9]).Double().fill(some.choice([7, 9], 400))
    plain = bh.Histogram(bh.axis.Regular(4, 0, 1, transform=bh.axis.transform.sqrt)).fill(y)
    return {
        "one": one,
        "varied": varied,
        "words": words_once,
        "dir/sub/grown": grown,
        "whole": whole,
        "integers": integers,
        "plain": plain,
    }


def _padded(histogram: Any, values: Any) -> Any:
    """Return bins in ROOT's order, with zeros for those that ROOT has and boost-histogram lacks."""
    traits = [axis.traits for axis in histogram.axes]
    padding = [(1 - one.underflow, 1 - one.overflow) for one in traits]
    return np.pad(np.asarray(values, dtype=np.float64), padding).T.reshape(-1)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("objects") / "histograms.root"
    with nyssa.recreate(path) as file:
        for name, histogram in _histograms().items():
            file[name] = histogram
    return path


def test_root_reads_histograms(written: Path, root: Root) -> None:
    """Contents, errors, edges and labels are as in the histograms."""
    found = root.call("histograms", str(written))
    for name, histogram in _histograms().items():
        theirs = found[f"{name};1"]
        values = _padded(histogram, histogram.values(flow=True))
        np.testing.assert_array_equal(theirs["contents"], values)
        weighted = histogram.storage_type is bh.storage.Weight
        squares = histogram.variances(flow=True) if weighted else histogram.values(flow=True)
        errors = np.sqrt(_padded(histogram, squares))
        np.testing.assert_allclose(theirs["errors"], errors, rtol=1e-15)
        for axis, edges, labels in zip(
            histogram.axes, theirs["edges"], theirs["labels"], strict=True
        ):
            if "Category" in type(axis).__name__:
                assert labels == [str(one) for one in axis]
            else:
                np.testing.assert_allclose(edges, axis.edges, rtol=1e-15, atol=1e-15)


def test_root_draws_histograms(written: Path, root: Root) -> None:
    """ROOT shows the same classes, titles and statistics."""
    histograms = _histograms()
    found = root.call("drawn_objects", str(written), list(histograms))
    classes = {name: one["class"] for name, one in found.items()}
    assert classes == {
        "one": "TH1D",
        "varied": "TH1D",
        "words": "TH1D",
        "dir/sub/grown": "TH2D",
        "whole": "TH3D",
        "integers": "TH1D",
        "plain": "TH1D",
    }
    one, histogram = found["one"], histograms["one"]
    assert (one["title"], one["axes"]) == ("a title", ["x [GeV]"])
    assert found["words"]["axes"] == ["word"]
    values, centers = histogram.values(), histogram.axes[0].centers
    mean = (values * centers).sum() / values.sum()
    square = (values * centers**2).sum() / values.sum()
    assert one["mean"] == pytest.approx([mean])
    assert one["deviation"] == pytest.approx([np.sqrt(abs(square - mean**2))])
    assert one["integral"] == pytest.approx(values.sum())
    whole = histogram.sum(flow=True)
    assert one["entries"] == pytest.approx(whole.value**2 / whole.variance)
    assert found["varied"]["entries"] == 400
    three = found["whole"]
    values = histograms["whole"].values()
    for index, axis in enumerate(histograms["whole"].axes):
        sums = values.sum(axis=tuple(i for i in range(3) if i != index))
        mean = (sums * np.asarray(axis.centers)).sum() / values.sum()
        assert three["mean"][index] == pytest.approx(mean)


def test_uproot_and_nyssa_read_histograms(written: Path) -> None:
    """Values and variances are equal, with the bins beyond the axes."""
    with uproot.open(written) as theirs, nyssa.open(written) as ours:
        for name, histogram in _histograms().items():
            values = _padded(histogram, histogram.values(flow=True))
            for found in (theirs[name], ours[name]):
                np.testing.assert_array_equal(found.values(flow=True).T.reshape(-1), values)
                if histogram.storage_type is bh.storage.Weight:
                    variances = _padded(histogram, histogram.variances(flow=True))
                    np.testing.assert_allclose(found.variances(flow=True).T.reshape(-1), variances)
        grown = ours["dir/sub/grown"].to_hist()
        assert list(grown.axes[1]) == list(_histograms()["dir/sub/grown"].axes[1])
        assert theirs["words"].to_hist()["a"] == _histograms()["words"]["a"]


def _profiles() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return profiles, and for each bin of the first axis entries, mean and error of the mean."""
    some = _numbers()
    x, y, z, w = some.uniform(size=(4, 300))
    axis, short = bh.axis.Regular(4, 0, 0.8), bh.axis.Regular(2, 0, 1)
    profiles = {
        "p": bh.Histogram(axis, storage=bh.storage.Mean()).fill(x, sample=y),
        "w": bh.Histogram(axis, storage=bh.storage.WeightedMean()).fill(x, sample=y, weight=w),
        "p2": bh.Histogram(axis, short, storage=bh.storage.Mean()).fill(x, z, sample=y),
        "p3": bh.Histogram(axis, short, short, storage=bh.storage.WeightedMean()).fill(
            x, z, z, sample=y, weight=w
        ),
    }
    bins = np.digitize(x, axis.edges)
    contents, errors = {"p": np.zeros(6), "w": np.zeros(6)}, {"p": np.zeros(6), "w": np.zeros(6)}
    for name, weights in (("p", np.ones_like(w)), ("w", w)):
        for index in range(6):
            inside, here = y[bins == index], weights[bins == index]
            if len(inside):
                mean = np.average(inside, weights=here)
                spread = np.sqrt(np.average((inside - mean) ** 2, weights=here))
                contents[name][index] = mean
                errors[name][index] = spread / np.sqrt(here.sum() ** 2 / (here**2).sum())
    return profiles, {"contents": contents, "errors": errors}


def test_root_reads_profiles(tmp_path: Path, root: Root) -> None:
    """Means and their errors follow from the entries."""
    path = tmp_path / "profiles.root"
    profiles, expected = _profiles()
    with nyssa.recreate(path) as file:
        for name, profile in profiles.items():
            file[name] = profile
    found = root.call("histograms", str(path))
    for name in ("p", "w"):
        for what in ("contents", "errors"):
            np.testing.assert_allclose(
                found[f"{name};1"][what], expected[what][name], rtol=1e-10, atol=1e-12
            )
    for name in ("p2", "p3"):
        view = profiles[name].view(flow=True)
        np.testing.assert_allclose(
            found[f"{name};1"]["contents"], _padded(profiles[name], view["value"]), rtol=1e-12
        )
    drawn = root.call("drawn_objects", str(path), list(profiles))
    assert [one["class"] for one in drawn.values()] == [
        "TProfile",
        "TProfile",
        "TProfile2D",
        "TProfile3D",
    ]
    assert drawn["p"]["entries"] == 300
    with uproot.open(path) as theirs:
        np.testing.assert_allclose(theirs["p"].values(), expected["contents"]["p"][1:-1])
        np.testing.assert_allclose(theirs["p"].errors(), expected["errors"]["p"][1:-1])
    with nyssa.open(path) as file:
        assert file["w"].to_boost()[0]["value"] == pytest.approx(profiles["w"][0]["value"])


def test_numpy_histograms_have_classes_by_their_type(tmp_path: Path, root: Root) -> None:
    """As in uproot: ``int32`` counts make ``TH1I``, ``int64`` and ``float64`` ``TH1D``."""
    path = tmp_path / "numpy.root"
    x, y, z = _numbers().normal(size=(3, 200))
    made = {
        "one": np.histogram(x, bins=[-2, -1, 0, 2]),
        "two": np.histogram2d(x, y, bins=(3, 4)),
        "three": np.histogramdd((x, y, z), bins=(2, 3, 4)),
        "titled": (*np.histogram(x), "the title"),
    }
    counts = np.array([1, 2, 3])
    kinds = {"int8": "C", "int16": "S", "int32": "I", "float32": "F", "float64": "D", "uint8": "D"}
    with nyssa.recreate(path) as file:
        for name, histogram in made.items():
            file[name] = histogram
        for kind in kinds:
            file[kind] = (counts.astype(kind), np.array([0.0, 1.0, 2.0, 4.0]))
    found = root.call("drawn_objects", str(path), [*made, *kinds])
    assert [found[name]["class"] for name in made] == ["TH1D", "TH2D", "TH3D", "TH1D"]
    assert [found[kind]["class"] for kind in kinds] == [f"TH1{one}" for one in kinds.values()]
    assert found["titled"]["title"] == "the title"
    with uproot.open(path) as theirs:
        np.testing.assert_array_equal(theirs["int8"].values(), counts)
        for name, histogram in made.items():
            values, *edges = theirs[name].to_numpy()
            np.testing.assert_array_equal(values, histogram[0])
            given = histogram[1] if name == "three" else histogram[1:]
            for one, other in zip(edges, given, strict=False):
                np.testing.assert_allclose(one, other, rtol=1e-14, atol=1e-14)


def test_hadd_adds_histograms(tmp_path: Path, root: Root) -> None:
    """ROOT adds two written files; contents, squares of errors and entries are summed."""
    profiles, _ = _profiles()
    made = _histograms() | profiles
    inputs = [tmp_path / "a.root", tmp_path / "b.root"]
    for path in inputs:
        with nyssa.recreate(path) as file:
            for name, histogram in made.items():
                file[name] = histogram
    assert root.call("hadd", str(tmp_path / "sum.root"), [str(path) for path in inputs])
    one = root.call("histograms", str(inputs[0]))
    both = root.call("histograms", str(tmp_path / "sum.root"))
    # ROOT gives its own bins to labels that it merges.
    plain = [name for name in made if name not in ("words", "dir/sub/grown", "integers")]
    for name in plain:
        scale, errors = (1, 1 / np.sqrt(2)) if name in profiles else (2, np.sqrt(2))
        ours, theirs = one[f"{name};1"], both[f"{name};1"]
        np.testing.assert_allclose(theirs["contents"], scale * ours["contents"], rtol=1e-12)
        np.testing.assert_allclose(theirs["errors"], errors * ours["errors"], rtol=1e-7, atol=1e-12)
    words = both["words;1"]
    places = [words["labels"][0].index(label) + 1 for label in ("a", "b")]
    expected = [2 * made["words"][label] for label in ("a", "b")]
    assert [words["contents"][place] for place in places] == expected


def test_graphs(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "graphs.root"
    x, y = [1.0, 2.0, 4.0], [3.0, 2.0, 1.0]
    errors = {
        "plain": {},
        "ey": {"y_errors": [0.1, 0.2, 0.3]},
        "both": {"x_errors": [1, 2, 3], "y_errors": ([0.1, 0.2, 0.3], [0.3, 0.2, 0.1])},
    }
    with nyssa.recreate(path) as file:
        for name, options in errors.items():
            file[name] = nyssa.graph(x, y, title=f"{name};x;y", **options)
    found = root.call("histograms", str(path))
    assert all(one["points"] == [x, y] for one in found.values())
    lists = {name: [side.tolist() for side in one["errors"]] for name, one in found.items()}
    assert lists["ey;1"] == [[0, 0, 0], [0, 0, 0], [0.1, 0.2, 0.3], [0.1, 0.2, 0.3]]
    assert lists["both;1"] == [[1, 2, 3], [1, 2, 3], [0.1, 0.2, 0.3], [0.3, 0.2, 0.1]]
    drawn = root.call("drawn_objects", str(path), list(errors))
    assert [one["class"] for one in drawn.values()] == [
        "TGraph",
        "TGraphErrors",
        "TGraphAsymmErrors",
    ]
    with uproot.open(path) as theirs, nyssa.open(path) as ours:
        assert theirs["both"].errors("high", "y").tolist() == [0.3, 0.2, 0.1]
        assert ours["both"].errors("high", "y").tolist() == [0.3, 0.2, 0.1]
    with pytest.raises(nyssa.ArgumentError, match=re.escape("y of shape (2,) for x of shape (3,)")):
        nyssa.graph(x, [1, 2])


def test_graphs_are_joined_as_hadd_does(tmp_path: Path, root: Root) -> None:
    """Points and errors of all inputs follow each other; all else is that of the first graph."""
    inputs = [tmp_path / f"{number}.root" for number in range(3)]
    for number, path in enumerate(inputs):
        with nyssa.recreate(path) as file:
            x = np.arange(number, 2.0 * number + 1)
            low, high = 0.1 * x, 0.2 * x + 1
            title = f"number {number};x;y"
            file["plain"] = nyssa.graph(x, -x, title=title)
            file["dir/ey"] = nyssa.graph(x, x**2, y_errors=high, title=title)
            file["both"] = nyssa.graph(x, x, x_errors=(low, high), y_errors=(high, low))
            if number == 1:
                file["once"] = nyssa.graph(x, x)
    ours, theirs = tmp_path / "ours.root", tmp_path / "theirs.root"
    report = nyssa.merge(inputs, ours)
    assert report["notes"] == []
    assert root.call("hadd", str(theirs), [str(path) for path in inputs])
    found, expected = (root.call("histograms", str(path)) for path in (ours, theirs))
    assert found.keys() == expected.keys()
    for name, graph in expected.items():
        assert found[name]["points"] == graph["points"], name
        mine, its = (one[name].get("errors", []) for one in (found, expected))
        assert [side.tolist() for side in mine] == [side.tolist() for side in its], name
    assert len(found["plain;1"]["points"][0]) == 6
    with uproot.open(ours) as file:
        assert file["plain"].values("y").tolist() == [0, -1, -2, -2, -3, -4]
        assert file["dir/ey"].member("fTitle") == "number 0;x;y"
        assert len(file["dir/ey"].member("fEY")) == 6
    drawn = root.call("drawn_objects", str(ours), ["plain", "dir/ey", "both"])
    assert len(drawn) == 3


def test_a_drawn_graph_is_joined(tmp_path: Path, root: Root) -> None:
    """Its axes are made again, so that they show all points; its functions stay."""
    code = """
    void nyssa_drawn_graph(const char *path, double from) {
       gROOT->SetBatch(true); TFile f(path, "RECREATE"); TCanvas c;
       double x[3] = {from, from + 1, from + 2}; TGraph g(3, x, x);
       g.SetName("g"); g.Fit("pol1", "Q"); g.Draw("A*"); c.Update(); g.Write();
    }
    void nyssa_joined_graph(const char *path) {
       gROOT->SetBatch(true); TFile f(path); auto g = f.Get<TGraph>("g");
       TCanvas c; g->Draw("A*"); c.Update();
       auto check = [](bool ok, const char *what) { if (!ok) throw std::runtime_error(what); };
       check(g->GetN() == 6 && g->GetPointX(5) == 102, "points");
       check(g->GetXaxis()->GetXmax() > 102, "axes");
       check(g->GetFunction("pol1"), "function");
    }"""
    inputs = [str(tmp_path / f"{number}.root") for number in range(2)]
    root.call("cpp", code, f'nyssa_drawn_graph("{inputs[0]}", 0)')
    root.call("cpp", "", f'nyssa_drawn_graph("{inputs[1]}", 100)')
    merged = tmp_path / "merged.root"
    nyssa.merge(inputs, merged)
    root.call("cpp", "", f'nyssa_joined_graph("{merged}")')


def test_strings_and_numbers(tmp_path: Path, root: Root) -> None:
    """A name that exists gets the next cycle."""
    path = tmp_path / "simple.root"
    with nyssa.recreate(path) as file:
        file["text"] = "hello"
        file["text"] = "later " + "x" * 300
        file["count"] = 3
        file["big"] = np.int64(2**40)
        file["real"] = 2.5
        file["single"] = np.float32(0.5)
        file["yes"] = True
    title = "Collectable string class"
    assert root.call("simple", str(path)) == {
        "text;1": ("TObjString", title, "hello"),
        "text;2": ("TObjString", title, "later " + "x" * 300),
        "count;1": ("TParameter<Long64_t>", "", 3),
        "big;1": ("TParameter<Long64_t>", "", 2**40),
        "real;1": ("TParameter<double>", "", 2.5),
        "single;1": ("TParameter<float>", "", 0.5),
        "yes;1": ("TParameter<bool>", "", True),
    }
    with uproot.open(path) as theirs, nyssa.open(path) as ours:
        assert theirs["text"] == str(ours["text"]) == "later " + "x" * 300
        assert theirs["big"].member("fVal") == ours["big"].value == 2**40


def test_streamer_infos_are_those_of_the_classes(tmp_path: Path) -> None:
    """The file has the streamer infos of the written classes, and of no others."""
    path = tmp_path / "infos.root"
    with nyssa.recreate(path) as file:
        file["p"] = _profiles()[0]["p"]
        file["g"] = nyssa.graph([1], [2])
    with uproot.open(path) as theirs:
        found = set(theirs.file.streamers)
    assert {"TProfile", "TH1D", "TH1", "TAxis", "TNamed", "TGraph", "TAttLine", "TList"} <= found
    assert not {"TH2", "TH3D", "TGraphErrors", "TObjString"} & found


def test_directories(tmp_path: Path) -> None:
    path = tmp_path / "directories.root"
    with nyssa.recreate(path) as file:
        inner = file.mkdir("a/b")
        inner["text"] = "inside"
        inner.mkdir("c")
        inner["Events"] = {"x": np.arange(3)}
        assert repr(inner) == f"<WritableDirectory a/b of {path}>"
    with uproot.open(path) as theirs:
        assert theirs.keys() == ["a;1", "a/b;1", "a/b/text;1", "a/b/c;1", "a/b/Events;1"]


def test_copies_of_directories(tmp_path: Path, root: Root) -> None:
    """Titles of directories and all cycles are as in the source."""
    source = tmp_path / "source.root"
    code = """
    #ifndef NYSSA_DIRECTORIES
    #define NYSSA_DIRECTORIES
    #include <TFile.h>
    #include <TNamed.h>
    void nyssa_directories(const char *path) {
       TFile file(path, "RECREATE");
       file.mkdir("a", "title of a")->mkdir("b", "title of b")->cd();
       for (const char *title : {"one", "two", "three"}) TNamed("n", title).Write();
       file.mkdir("a/empty", "title of empty");
       file.Close();
    }
    #endif
    """
    root.call("cpp", code, f'nyssa_directories("{source}")')
    theirs = {name: what[:2] for name, what in root.call("contents", str(source)).items()}
    assert len(theirs) == 6
    copies = [tmp_path / f"{number}.root" for number in range(4)]
    with nyssa.open(source) as file:
        with nyssa.recreate(copies[0]) as out:
            out["a"] = file["a"]
        with nyssa.recreate(copies[1]) as out:
            out.copy_from(file)
        with nyssa.recreate(copies[2]) as out:
            out.copy_from(file, filter_name="a/b/*")
        with nyssa.recreate(copies[3]) as out:
            out["deep/x"] = file["a/b"]
    found = [root.call("contents", str(path)) for path in copies]
    ours = [{name: what[:2] for name, what in one.items()} for one in found]
    assert ours[0] == ours[1] == theirs
    assert ours[2] == {name: what for name, what in theirs.items() if "empty" not in name}
    assert ours[3]["deep/x;1"] == theirs["a/b;1"]
    assert [ours[3][f"deep/x/n;{cycle}"][1] for cycle in (1, 2, 3)] == ["one", "two", "three"]


def test_copies_keep_the_bytes(tmp_path: Path, root: Root) -> None:
    """A histogram with a fitted function is copied to another file under a longer name."""
    source, path = tmp_path / "source.root", tmp_path / "copy.root"
    root.call("write_copied", str(source))
    with nyssa.open(source) as file, nyssa.recreate(path) as out:
        out["a/much/longer/name_of_h"] = file["h"]
        out["s"] = file["s;1"]
        closed = file["s"]
        out.copy_from(file["dir"], filter_name="inner", rename={"inner": "copied"})
        with pytest.raises(nyssa.UnsupportedError, match="this TTree cannot be copied: it holds"):
            out.copy_from(file, filter_classname="TTree")
        with pytest.raises(nyssa.ArgumentError, match="the filters match no object of <File"):
            out.copy_from(file, filter_name="nothing")
    fitted = root.call("functions", str(source), "h")
    assert fitted[0][0] == "gaus"
    for name in ("a/much/longer/name_of_h", "copied"):
        assert root.call("functions", str(path), name) == fitted
    found = root.call("histograms", str(path))
    theirs = root.call("histograms", str(source))["h;1"]
    np.testing.assert_array_equal(found["copied;1"]["contents"], theirs["contents"])
    with nyssa.open(path) as ours:
        assert str(ours["s"]) == "old"
    # What was read from a file that is closed is written by its members.
    with nyssa.update(path) as out:
        out["s"] = closed
        out["t"] = pickle.loads(pickle.dumps(closed))
    assert root.call("simple", str(path))["s;2"][2] == "new"
    with nyssa.open(path) as ours:
        assert str(ours["t"]) == "new"


def test_copies_of_all_kinds_of_objects(tmp_path: Path, root: Root) -> None:
    """Under a longer name, so that references inside an object move, and by members."""
    source, path = TESTDATA / "objects" / "histograms.root", tmp_path / "copies.root"
    with nyssa.open(source) as file:
        names = file.keys(cycle=False, filter_classname=lambda name: name != "TTree")
        found = {name: file[name] for name in names if "/" not in name}
        objects = {name: one for name, one in found.items() if isinstance(one, Object)}
        with nyssa.recreate(path) as out:
            for name, found in objects.items():
                out[f"{'longer' * 9}_{name}"] = found
            out["folder"] = file
    expected = root.call("histograms", str(source))
    copies = root.call("histograms", str(path))
    with nyssa.open(path) as ours:
        for name, found in objects.items():
            assert ours[f"{'longer' * 9}_{name}"].to_py() == found.to_py()
            if f"{name};1" in expected:
                copy = copies[f"{'longer' * 9}_{name};1"]
                for what in ("contents", "points", "errors"):
                    np.testing.assert_array_equal(
                        copy.get(what), expected[f"{name};1"].get(what), err_msg=name
                    )
        assert ours["folder"].keys(cycle=False) == names


def test_update_adds_and_deletes(tmp_path: Path, root: Root) -> None:
    path = tmp_path / "update.root"
    root.call("write_copied", str(path))
    with nyssa.update(path) as file:
        del file["dir"]
        del file["s"]
        file["h"] = np.histogram([1.0, 2.0], bins=2)
        file["gone"] = "text"
        del file["gone"]
        with pytest.raises(nyssa.NotFoundError, match="there is no dir/inner to delete"):
            del file["dir/inner"]
        with pytest.raises(nyssa.NotFoundError, match="there is no h;7 to delete"):
            del file["h;7"]
        with pytest.raises(nyssa.ArgumentError, match='"x" is not a cycle'):
            del file["h;x"]
    with uproot.open(path) as theirs:
        assert theirs.keys() == ["h;2", "h;1", "s;1", "tree;1"] or theirs.keys() == [
            "h;2",
            "h;1",
            "s;1",
        ]
    assert root.call("histograms", str(path))["h;2"]["contents"].tolist() == [0, 1, 1, 0]
    with nyssa.update(path) as file:
        file["dir/again"] = "text"
        del file["h;*"]
    with uproot.open(path) as theirs:
        assert "h" not in theirs
        assert theirs["dir/again"] == "text"


def test_what_is_refused(tmp_path: Path) -> None:
    """The messages say what is wrong with the name or the data."""
    path = tmp_path / "refused.root"
    four = hist.Hist.new.Reg(1, 0, 1).Reg(1, 0, 1).Reg(1, 0, 1).Reg(1, 0, 1).Double()
    empty = hist.Hist.new.StrCat([], growth=True).Double()
    large = hist.Hist.new.Reg(1, 0, 1).Int64()
    large[0] = 2**60
    with nyssa.recreate(path) as file:
        file["text"] = "text"
        file.mkdir("dir")
        tree = file.mktree("tree", {"x": "int32"})
        tree.extend({"x": [1]})
        for name, data, message in (
            ("h", four, "h: a histogram of 4 axes, where ROOT's TH1 to TH3 have one to three"),
            ("h", empty, "an axis has no bins"),
            ("h", large, "h: a bin has more than 2^53 entries, which a double cannot hold"),
            ("h", (np.ones(3), np.arange(3)), "counts of shape (3,) for edges of (2,) bins"),
            ("h", (np.ones(1), np.array([1, 1])), "edges of an axis are not finite numbers that"),
            ("h", 2**70, "does not fit the 64 bits of a TParameter<Long64_t>"),
            ("dir/", "x", '"dir/" does not name an object: its last part is empty'),
            ("", "x", '"" does not name an object'),
            ("h;1", "x", '"h;1" cannot name a new object: the file counts the cycle behind'),
            ("dir", "x", 'cannot write an object "dir": a directory of that name exists'),
            ("text/x", "x", 'cannot make directory "text": an object of that name exists'),
            ("tree", "x", "tree is being written: close it first"),
            (
                "h",
                1j,
                "not complex; objects that can be assigned (file[name] = ...) are",
            ),
        ):
            with pytest.raises((nyssa.ArgumentError, nyssa.UnsupportedError)) as caught:
                file[name] = data
            assert message in str(caught.value)
        with pytest.raises(nyssa.ArgumentError, match="tree is being written: close it first"):
            del file["tree"]
    with nyssa.open(path) as file:
        assert file.keys() == ["text;1", "dir;1", "tree;1"]
