"""The types that mypy finds; `test_typing` runs mypy on this file, and nothing runs it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import awkward as ak
import boost_histogram
import hist
import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import nyssa
from nyssa import campaign, uproot


def arrays(tree: nyssa.TTree, column: nyssa.Column, name: str) -> None:
    assert_type(tree.arrays(), ak.Array)
    assert_type(tree.arrays(["x"], lazy=True, entry_stop=5), ak.Array)
    assert_type(tree.arrays("x", library="np", threads=1), dict[str, npt.NDArray[Any]])
    assert_type(tree.arrays(library=name), Any)
    assert_type(tree.take([1, 2], library="ak"), ak.Array)
    assert_type(tree.take(np.arange(2), "x", library="numpy"), dict[str, npt.NDArray[Any]])
    assert_type(column.array(library="np"), npt.NDArray[Any])
    assert_type(column.array(entry_start=3), ak.Array)
    tree.arrays(library="np", lazy=True)  # type: ignore[call-overload]
    tree.arrays(entry_stopp=5)  # type: ignore[call-overload]


def opened(path: Path) -> None:
    """Editors follow what `open` returns: a file, or something with the methods of all objects."""
    assert_type(nyssa.open(path), nyssa.File)
    assert_type(nyssa.open(path, streamer="raw").datasets(), list[str])
    assert_type(nyssa.open("a.root:Events").num_entries, int)
    assert_type(nyssa.open("a.root:Events")["x"], Any)
    assert_type(nyssa.open("a.root:h").to_hist(), Any)
    tree: nyssa.TTree = nyssa.open("a.root:Events")
    file: nyssa.File = nyssa.open("a.root")
    with nyssa.open("a.root:Events") as events:
        assert_type(events.readable, list[str])
    nyssa.open("a.root", streamer="both")  # type: ignore[call-overload]
    nyssa.open(5)  # type: ignore[call-overload]
    tree.array("x")  # type: ignore[attr-defined]
    file.arrays()  # type: ignore[attr-defined]


def drawings() -> None:
    assert_type(nyssa.draw("a.root", "x", bins=[1, 2], schema="union"), nyssa.Drawing)
    plans = {"x": ("x", (5, 0, 1))}
    assert_type(nyssa.histograms("a.root", plans)["x"], hist.Hist[Any])
    assert_type(nyssa.histograms("a.root", plans, cut={"a": "y"})["a"]["x"], hist.Hist[Any])
    nyssa.histograms("a.root", plans, weights="w")  # type: ignore[call-overload]


def steps(tree: nyssa.TTree) -> None:
    Arrays = dict[str, npt.NDArray[Any]]  # noqa: N806 (a type)
    assert_type(tree.iterate(step_size="10 MB"), Iterator[ak.Array])
    assert_type(tree.iterate("x", report=True), Iterator[tuple[ak.Array, tuple[int, int]]])
    assert_type(tree.iterate(library="np", report=True), Iterator[tuple[Arrays, tuple[int, int]]])
    assert_type(
        nyssa.iterate("a.root", library="np", report=True, missing="null"),
        Iterator[tuple[Arrays, tuple[str, int, int]]],
    )
    assert_type(nyssa.iterate(["a.root"], schema="union"), Iterator[ak.Array])
    assert_type(nyssa.concatenate("*.root", library="np"), Arrays)
    nyssa.chain("a.root", missing="nothing")  # type: ignore[arg-type]


def views(tree: nyssa.TTree, ntuple: nyssa.RNTuple, rules: nyssa.ReadRules) -> None:
    assert_type(tree.with_rules(rules), nyssa.TTree)
    assert_type(ntuple.with_rules(rules), nyssa.RNTuple)
    assert_type(tree.with_friends(), nyssa.TTree)
    assert_type(tree.friends, list[nyssa.Friend])
    assert_type(ntuple.fields, list[nyssa.Field])
    assert_type(nyssa.chain("*.root", rules=rules), nyssa.Chain)
    assert_type(tree.partitions(step_size=5), list[tuple[int, int]])
    assert_type(tree.form("x"), ak.forms.RecordForm)
    assert_type(tree["x"], nyssa.Column)
    with tree as opened:
        assert_type(opened, nyssa.TTree)


def reports() -> None:
    assert_type(nyssa.verify("a.root"), nyssa.reports.VerifyReport)
    assert_type(nyssa.verify("a.root").problems, list[nyssa.reports.Problem])
    assert_type(nyssa.diff("a.root", ["b.root"]).equal, bool)
    digests = nyssa.digest("a.root")
    assert not isinstance(digests, list)
    assert_type(digests["entries"], int)
    compared = nyssa.digest("a.root", compare={})
    assert not isinstance(compared, list)
    assert_type(compared["equal"], bool)
    assert_type(nyssa.inspect("a.root").fields, list[nyssa.reports.Part])


def studies(values: list[str]) -> None:
    report = nyssa.study("a.root", vary={"compression": values}, threads=[1, 2], to="ttree")
    assert_type(report, nyssa.reports.StudyReport)
    assert_type(report.rows[0].measured["read_seconds"].median, float)
    nyssa.study("a.root", vary={"compression": 5})  # type: ignore[dict-item]
    nyssa.study("a.root")  # type: ignore[call-arg]


def conversions(names: list[str], paths: list[Path]) -> None:
    assert_type(nyssa.convert("a.root", Path("b.root"), "Events")["entries"], int)
    reports = nyssa.convert("a.root", Path("b.root"))
    assert isinstance(reports, list)
    assert_type(reports[0]["entries"], int)
    assert_type(nyssa.convert(names, "folder")[0]["state"], str)
    assert_type(nyssa.convert(paths, Path("folder"))[0]["state"], str)
    assert_type(nyssa.merge(paths, "b.root")["entries"], int)
    assert_type(nyssa.merge(paths, "b_{number}.root", condense=2)[0]["entries"], int)
    assert_type(nyssa.rewrite("a.root", "b.root")[0]["entries"], int)
    assert_type(nyssa.convert("a.root", "b.root", "N", to="ttree", vectors="*")["entries"], int)
    assert_type(nyssa.convert(names, "folder", skip_bad=True, memory="1 GB")[0]["state"], str)
    nyssa.convert("a.root", "b.root", compresion="zstd")  # type: ignore[call-overload]
    nyssa.convert("a.root", "b.root", to="tree")  # type: ignore[call-overload]
    nyssa.convert(names, "folder", skip_done=1.5)  # type: ignore[call-overload]
    nyssa.merge(paths, "b.root", cluster_size=5)  # type: ignore[call-overload]
    assert_type(nyssa.estimate_write_memory({"x": "float"}, memory="1 GB"), dict[str, int])
    nyssa.estimate_write_memory({"x": "float"}, force=True)  # type: ignore[call-arg]
    nyssa.estimate_write_memory({"x": "float"}, buffered="no")  # type: ignore[arg-type]


def campaigns(names: list[str]) -> None:
    assert_type(
        campaign.convert(names, "out", workers=2, tree="Events", include="Jet_*", verify=False),
        campaign.CampaignReport,
    )
    campaign.convert(names, "out", skip_bad=True)  # type: ignore[call-arg]
    campaign.convert(names, "out", workers="two")  # type: ignore[arg-type]
    campaign.rewrite(names, "out", cut="x > 1", condense=2, per_node=1)
    campaign.rewrite(names, "out", tree="Events")  # type: ignore[call-arg]
    campaign.merge(names, "out", mode="union", target_size="2 GB", cluster_size="100 MB")
    campaign.merge(names, "out", mode="all")  # type: ignore[arg-type]


def writing(file: nyssa.WritableFile) -> None:
    writer = file.mkrntuple("Events", {"x": "float"}, field_options={"x": {"column": "Real16"}})
    assert_type(writer, nyssa.NTupleWriter)
    assert_type(writer.fill_context(), nyssa.FillContext)
    assert_type(writer.attribute_set("meta", {"run": "int"}), nyssa.AttributeSetWriter)


def objects(
    histogram: nyssa.objects.Histogram, parameter: nyssa.objects.Parameter, set_: nyssa.AttributeSet
) -> None:
    assert_type(histogram.to_boost(), boost_histogram.Histogram[Any])
    assert_type(parameter.value, float | int | bool)
    assert_type(set_.attributes(), ak.Array)


def as_uproot(tree: uproot.TTree, field: uproot.RField, path: Path, name: str) -> None:
    assert_type(uproot.open(path), uproot.ReadOnlyDirectory)
    assert_type(uproot.open("a.root:Events"), Any)
    assert_type(tree["x"], uproot.TBranch)
    assert_type(tree.branches, list[uproot.TBranch])
    assert_type(field.items(filter_name="x*"), list[tuple[str, uproot.RField]])
    assert_type(tree["x"].compression, uproot.compression.Compression | None)
    assert_type(tree.keys(recursive=False, filter_typename="float"), list[str])
    assert_type(tree.arrays("x", "x > 1", entry_stop=5), ak.Array)
    assert_type(tree.arrays(["x"], library="np"), dict[str, npt.NDArray[Any]])
    assert_type(tree.arrays(library=name), Any)
    assert_type(tree.arrays(how=tuple), Any)
    assert_type(field.array(entry_start=1), ak.Array)
    assert_type(field.array(library="np"), npt.NDArray[Any])
    assert_type(tree.iterate(step_size=10), Iterator[ak.Array])
    assert_type(tree.iterate(report=True), Iterator[tuple[ak.Array, uproot.Report]])
    assert_type(uproot.iterate("*.root", library="np"), Iterator[dict[str, npt.NDArray[Any]]])
    assert_type(uproot.concatenate({path: "Events"}, ["x"], allow_missing=True), ak.Array)
    assert_type(tree.file, uproot.ReadOnlyFile)
    assert_type(tree.file.fEND, int)
    assert_type(uproot.open(path).key("t"), uproot.ReadOnlyKey)
    tree.arrays(entry_stopp=5)  # type: ignore[call-overload]
    tree.keys(filter_nam="x")  # type: ignore[call-arg]
    tree.num_entries_for("1 MB", entry_start=1)  # type: ignore[call-arg]
    uproot.open(5)  # type: ignore[call-overload]


def as_uproot_writes(path: Path) -> None:
    with uproot.recreate(path, compression=uproot.ZSTD(5)) as file:
        assert_type(file, uproot.WritableDirectory)
        assert_type(file.mktree("t", {"x": "float"}), uproot.WritableTree)
        file.compression = None
        file.compression = 5  # type: ignore[assignment]
        assert_type(file.mkrntuple("n", {"x": "float"}).num_entries, int)
        assert_type(file.mkdir("d"), uproot.WritableDirectory)
    uproot.recreate(path, compression=1.5)  # type: ignore[arg-type]
    uproot.update(path, compresion=None)  # type: ignore[call-arg]
