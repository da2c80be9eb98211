"""ROOT reads the same objects after streamed objects were written, merged and rewritten."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import nyssa
from support.root import Root

pa = pytest.importorskip("pyarrow")

_HISTOGRAMS = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TBufferFile.h>
#include <TBufferJSON.h>
#include <TFile.h>
#include <TH1F.h>
#include <TList.h>
#include <fstream>
auto histograms() {
  auto model = ROOT::RNTupleModel::Create();
  model->AddField(std::make_unique<ROOT::RStreamerField>("h", "TH1F"));
  return model;
}
void write_histograms(const char *path, const char *infos) {
  {
    auto writer = ROOT::RNTupleWriter::Recreate(histograms(), "ntpl", path);
    auto h = writer->GetModel().GetDefaultEntry().GetPtr<TH1F>("h");
    h->SetBins(3, 0, 3); h->SetDirectory(nullptr);
    for (int k = 0; k < 5; k++) { h->Fill(k * 0.7); writer->Fill(); }
  }
  std::unique_ptr<TFile> file(TFile::Open(path));
  TBufferFile buffer(TBuffer::kWrite);
  buffer.WriteObject(file->GetStreamerInfoList());
  std::ofstream(infos, std::ios::binary).write(buffer.Buffer(), buffer.Length());
}
void read_histograms(const char *path, const char *out) {
  auto reader = ROOT::RNTupleReader::Open(histograms(), "ntpl", path);
  auto h = reader->GetModel().GetDefaultEntry().GetPtr<TH1F>("h");
  std::ofstream json(out);
  for (auto entry : reader->GetEntryRange()) {
    reader->LoadEntry(entry);
    json << TBufferJSON::ConvertToJSON(h.get(), 3) << std::endl;
  }
}
// The numbers of entries of the histograms in a vector.
void read_lists(const char *path, const char *out) {
  auto model = ROOT::RNTupleModel::Create();
  auto item = std::make_unique<ROOT::RStreamerField>("_0", "TH1F");
  model->AddField(std::make_unique<ROOT::RVectorField>("hs", std::move(item)));
  auto reader = ROOT::RNTupleReader::Open(std::move(model), "ntpl", path);
  auto hs = reader->GetModel().GetDefaultEntry().GetPtr<std::vector<TH1F>>("hs");
  std::ofstream json(out);
  for (auto entry : reader->GetEntryRange()) {
    reader->LoadEntry(entry);
    json << "[";
    for (auto &h : *hs) json << (&h == &hs->front() ? "" : ",") << h.GetEntries();
    json << "]" << std::endl;
  }
}
// What the file says of classes: in the extra type information of the RNTuple, and in its own list.
void read_infos(const char *path, const char *out) {
  std::ofstream text(out);
  auto reader = ROOT::RNTupleReader::Open("ntpl", path);
  for (const auto &extra : reader->GetDescriptor().GetExtraTypeInfoIterable()) {
    TBufferFile buffer(TBuffer::kRead, extra.GetContent().size(),
                       const_cast<char *>(extra.GetContent().data()), false);
    auto list = static_cast<TList *>(buffer.ReadObject(TList::Class()));
    for (auto info : *list) text << "ntuple " << info->GetName() << std::endl;
  }
  std::unique_ptr<TFile> file(TFile::Open(path));
  for (auto info : *file->GetStreamerInfoList()) text << "file " << info->GetName() << std::endl;
}
"""


class Source:
    """A file of ROOT with five histograms, and a reader of such files with ROOT."""

    def __init__(self, root: Root, folder: Path) -> None:
        self.root, self.folder = root, folder
        self.path, infos = folder / "in.root", folder / "infos"
        root.call("cpp", _HISTOGRAMS, f'write_histograms("{self.path}", "{infos}")')
        self.infos = infos.read_bytes()
        self.objects = pa.table(nyssa.open(self.path, streamer="raw")["ntpl"]).column("h")
        self.json = self.read(self.path)
        self.values = pa.table(nyssa.open(self.path)["ntpl"]).column("h").to_pylist()

    def read(self, path: Path) -> list[Any]:
        """Return the histograms that ROOT reads."""
        out = self.folder / "read.json"
        self.root.call("cpp", "", f'read_histograms("{path}", "{out}")')
        return [json.loads(line) for line in out.read_text().splitlines()]

    def lists(self, path: Path) -> list[Any]:
        """Return the numbers of entries of the histograms in lists that ROOT reads."""
        out = self.folder / "lists.json"
        self.root.call("cpp", "", f'read_lists("{path}", "{out}")')
        return [json.loads(line) for line in out.read_text().splitlines()]

    def described(self, path: Path) -> set[str]:
        """Return the classes with a streamer info, of the RNTuple and of the file."""
        out = self.folder / "infos.txt"
        self.root.call("cpp", "", f'read_infos("{path}", "{out}")')
        return set(out.read_text().splitlines())


@pytest.fixture(scope="module")
def source(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Source:
    return Source(root, tmp_path_factory.mktemp("streamed"))


@pytest.mark.parametrize("given", ["path", "bytes"])
def test_root_reads_streamed_objects_that_were_written(
    source: Source, tmp_path: Path, given: str
) -> None:
    path = tmp_path / "out.root"
    classes = {"TH1F": {":streamed": source.path if given == "path" else source.infos}}
    objects = source.objects.to_pylist()
    with nyssa.recreate(path) as file:
        types = {"h": "TH1F", "more": "std::vector<TH1F>"}
        writer = file.mkrntuple("ntpl", types, classes=classes)
        more = pa.array([objects[:k] for k in range(5)], pa.large_list(pa.large_binary()))
        writer.extend({"h": source.objects, "more": more})
    assert source.read(path) == source.json
    columns = pa.table(nyssa.open(path)["ntpl"])
    assert columns.column("h").to_pylist() == source.values
    assert columns.column("more").to_pylist() == [source.values[:k] for k in range(5)]
    described = source.root.call("described", str(path), "ntpl")
    assert described[0] == source.root.call("described", str(source.path), "ntpl")[0]
    infos = source.described(path)
    classes = {"TH1F", "TH1", "TAxis", "TNamed"}
    assert infos >= {f"{place} {name}" for place in ("ntuple", "file") for name in classes}


@pytest.mark.parametrize("how", ["rewrite", "merge", "recluster"])
def test_root_reads_streamed_objects_that_were_moved(
    source: Source, tmp_path: Path, how: str
) -> None:
    path, twice = tmp_path / "out.root", 1
    if how == "rewrite":
        nyssa.rewrite(source.path, path)
    else:
        options = {"recluster": "1 MB"} if how == "recluster" else {}
        nyssa.merge([source.path, source.path], path, **options)
        twice = 2
    assert source.read(path) == twice * source.json
    assert pa.table(nyssa.open(path)["ntpl"]).column("h").to_pylist() == twice * source.values
    before = source.described(source.path)
    assert {"ntuple TH1F", "file TH1F"} <= before
    assert source.described(path) >= before


@pytest.mark.parametrize("options", [{}, {"recluster": "1 MB"}], ids=["moved", "recluster"])
def test_a_union_has_no_objects_without_bytes(
    source: Source, tmp_path: Path, options: dict[str, Any]
) -> None:
    """Zeros for a missing object would be no bytes, which no streamer reads. Lists may be empty."""
    single, lists, other, merged = (tmp_path / f"{name}.root" for name in "slom")
    classes = {"TH1F": {":streamed": source.path}}
    with nyssa.recreate(single) as file:
        writer = file.mkrntuple("ntpl", {"x": "int", "h": "TH1F"}, classes=classes)
        writer.extend({"x": [0] * 5, "h": source.objects})
    with nyssa.recreate(lists) as file:
        writer = file.mkrntuple("ntpl", {"x": "int", "hs": "std::vector<TH1F>"}, classes=classes)
        objects = source.objects.to_pylist()
        three = pa.array([objects[:2], [], objects[4:]], pa.large_list(pa.large_binary()))
        writer.extend({"x": [1, 2, 3], "hs": three})
    with nyssa.recreate(other) as file:
        file["ntpl"] = {"x": [4, 5]}
    for inputs in ([single, other], [other, single]):
        with pytest.raises(nyssa.UnsupportedError, match=r"leave the field out") as caught:
            nyssa.merge(inputs, merged, "union", **options)
        assert caught.value.place["field"] == "h"
        assert caught.value.place["file"] == str(other)
        assert not merged.exists()
    nyssa.merge([lists, other], merged, "union", **options)
    assert source.lists(merged) == [[1, 2], [], [5], [], []]
    assert nyssa.open(merged)["ntpl"]["x"].array().tolist() == [1, 2, 3, 4, 5]
    nyssa.merge([other, single], merged, "filter", force=True, **options)
    assert nyssa.open(merged)["ntpl"].arrays().fields == ["x"]


def test_classes_need_streamer_infos(source: Source, tmp_path: Path) -> None:
    with nyssa.recreate(tmp_path / "out.root") as file:
        with pytest.raises(nyssa.ArgumentError, match="need the streamer infos of their class"):
            file["raw"] = nyssa.open(source.path, streamer="raw")["ntpl"]
        wrong = {"Lost": {":streamed": source.path}}
        with pytest.raises(nyssa.ArgumentError, match=r"do not describe class Lost \(.*field x"):
            file.mkrntuple("lost", {"x": "Lost"}, classes=wrong)
        two = {"TH1F": {":streamed": source.path, "x": "int"}}
        with pytest.raises(nyssa.ArgumentError, match="must be the only entry"):
            file.mkrntuple("two", {"x": "TH1F"}, classes=two)
        with pytest.raises(nyssa.FormatError, match="no list of streamer infos"):
            file.mkrntuple("bytes", {"x": "TH1F"}, classes={"TH1F": {":streamed": b"no list"}})
        file["ntpl"] = {"x": [1, 2]}


def test_errors_name_the_entry_of_the_file(source: Source, tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    objects = source.objects.to_pylist()
    lists = [objects[:2], [], [objects[0]], [objects[1], objects[2][:-1]], objects[:1]]
    with nyssa.recreate(path) as file:
        classes = {"TH1F": {":streamed": source.path}}
        writer = file.mkrntuple("ntpl", {"hs": "std::vector<TH1F>"}, classes=classes)
        writer.extend({"hs": pa.array(lists, pa.large_list(pa.large_binary()))})
    table = nyssa.open(path)["ntpl"]
    assert len(table.arrays(entry_start=1, entry_stop=3)) == 2
    for start in (0, 2, 3):
        with pytest.raises(nyssa.FormatError, match=r"at byte \d+ of the object .*entry 3\)") as no:
            table.arrays(entry_start=start)
        assert "field hs" in str(no.value)
