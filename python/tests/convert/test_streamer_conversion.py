"""Branches become streamer fields; ROOT and nyssa read the same objects."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import nyssa
from support.root import Root

pa = pytest.importorskip("pyarrow")

HEADER = Path(__file__).with_name("track.hxx")
CLASSES = ["Step", "Cells", "Track", "Clones", "Event", "Chain", "std::vector<Step>"]
CLASSES += ["std::vector<Cells>", "std::vector<Step*>", "std::map<std::string,int>"]
CLASSES += ["std::vector<std::vector<float>>"]
OBJECTS = {"track": "Track", "split.": "Track", "clones.": "Clones", "event": "Event"}
CONTAINERS = {
    "floats": "std::vector<float>",
    "nested": "std::vector<std::vector<float>>",
    "counts": "std::map<std::string,int>",
    "steps": "std::vector<Step>",
    "cells": "std::vector<Cells>",
    "pointers": "std::vector<Step*>",
}
BRANCHES = {**OBJECTS, **CONTAINERS}

_CODE = r"""
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
void fill(Track &t, int k) {
  t.n = k; delete[] t.dedx; t.dedx = new float[k + 1]; for (int j = 0; j < k; j++) t.dedx[j] = j;
  t.first.x = k; t.first.energy = 0.1 * k; t.first.SetUniqueID(k);
  t.steps.clear(); t.cells.clear(); t.counts.clear();
  for (int j = 0; j < k % 7; j++) {
    t.steps.emplace_back(); t.steps.back().x = j;
    t.cells.push_back({j, std::vector<float>(j, 0.5f)});
    t.counts["n" + std::to_string(j)] = j;
  }
  t.p4.SetPxPyPzE(k, 2, 3, 4 * k); t.name = std::string(k * 10, 'n'); t.words[1] = "w";
}
void fill(Event &e, int k) {
  e.i = k; delete e.any; e.any = nullptr; for (auto s : e.steps) delete s; e.steps.clear();
  if (k % 3 == 1) e.any = new TNamed("name", "title");
  if (k % 3 == 2) { auto s = new Step; s->x = k; e.any = s; }
  for (int j = 0; j < k % 4; j++) { e.steps.push_back(j % 2 ? nullptr : new Step); }
}
void fill(Clones &c, int k) {
  c.i = k; c.steps.Clear();
  for (int j = 0; j < k % 5; j++) ((Step *)c.steps.ConstructedAt(j))->x = j;
}
void write_tracks(const char *path, int entries) {
  TFile file(path, "RECREATE");
  TTree tree("tree", "tracks");
  Track track, split; Clones clones; Event event; int number = 0;
  tree.Branch("number", &number);
  tree.Branch("track", &track, 32000, 0);
  tree.Branch("split.", &split, 32000, 99);
  tree.Branch("clones.", &clones, 32000, 99);
  tree.Branch("event", &event, 32000, 0);
  std::vector<float> floats; std::vector<std::vector<float>> nested;
  tree.Branch("floats", &floats);
  tree.Branch("nested", &nested);
  tree.Branch("counts", &track.counts, 32000, 0);
  tree.Branch("steps", &track.steps, 32000, 0);
  tree.Branch("cells", &track.cells, 32000, 99);
  tree.Branch("pointers", &event.steps, 32000, 0);
  for (int k = 0; k < entries; k++) {
    number = k; fill(track, k); fill(split, k + 1); fill(event, k);
    fill(clones, k);
    floats.assign(k % 4, 0.5f * k); nested.assign(k % 3, floats);
    tree.Fill();
  }
  file.Write();
}
// Of a hundred chains those from `late` on have links, which share a label in `shared`.
void write_chains(const char *path, int late, int shared) {
  TFile file(path, "RECREATE");
  TTree tree("tree", "chains");
  int number = 0;
  Chain chain;
  tree.Branch("number", &number);
  tree.Branch("chain", &chain, 2000, 0);
  for (; number < 100; number++) {
    chain.i = number;
    chain.label = new TNamed("first", "label");
    chain.next = nullptr;
    auto last = &chain;
    for (int link = 0; number >= late && link < 3; link++) {
      last = last->next = new Chain;
      last->i = number + link;
      last->label = number == shared ? chain.label : new TNamed("next", "label");
    }
    tree.Fill();
  }
  file.Write();
}
void tree_objects(const char *path, const char *name, const char *type, const char *out) {
  TFile file(path);
  auto tree = file.Get<TTree>("tree");
  std::ofstream json(out);
  auto cl = TClass::GetClass(type);
  for (Long64_t k = 0; k < tree->GetEntries(); k++) {
    void *object = cl->New();
    tree->SetBranchAddress(name, &object, nullptr, cl, kOther_t, true);
    tree->GetEntry(k);
    json << TBufferJSON::ConvertToJSON(object, cl, 3) << std::endl;
  }
}
void field_objects(const char *path, const char *name, const char *type, const char *out) {
  auto model = ROOT::RNTupleModel::Create();
  model->AddField(std::make_unique<ROOT::RStreamerField>(name, type));
  auto reader = ROOT::RNTupleReader::Open(std::move(model), "tree", path);
  std::ofstream json(out);
  for (auto entry : reader->GetEntryRange()) {
    auto all = reader->CreateEntry();
    reader->LoadEntry(entry, *all);
    auto object = all->GetPtr<void>(name);
    json << TBufferJSON::ConvertToJSON(object.get(), TClass::GetClass(type), 3) << std::endl;
  }
}
"""


class Tracks:
    """A tree of ROOT, and what ROOT reads from it and from its conversions."""

    def __init__(self, root: Root, folder: Path) -> None:
        self.root, self.folder, self.path = root, folder, folder / "tracks.root"
        header = shutil.copy(HEADER, folder)
        root.call("dictionaries", CLASSES, [header])
        root.call("cpp", _CODE, f'write_tracks("{self.path}", 40)')
        self.objects = {
            branch: self.read("tree_objects", self.path, branch, type_name)
            for branch, type_name in BRANCHES.items()
        }

    def read(self, function: str, path: Path, name: str, type_name: str) -> list[Any]:
        """Return the objects as ROOT shows them."""
        out = self.folder / "read.json"
        out.unlink(missing_ok=True)
        self.root.call("cpp", "", f'{function}("{path}", "{name}", "{type_name}", "{out}")')
        return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.fixture(scope="module")
def tracks(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Tracks:
    return Tracks(root, tmp_path_factory.mktemp("tracks"))


def _structures(path: Path) -> dict[str, str]:
    table = nyssa.open(path, streamer="raw")["tree"]
    return {name: str(pa.table(table).schema.field(name).type) for name in table.keys()}


def test_root_reads_the_objects_of_streamer_fields(tracks: Tracks, tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    report = nyssa.convert(tracks.path, path, streamer="all", verify=True)
    assert report["verified"]
    names = {field["branch"]: field["field"] for field in report["fields"]}
    for branch, type_name in BRANCHES.items():
        found = tracks.read("field_objects", path, names[branch], type_name)
        assert len(found) == 40
        assert found == tracks.objects[branch], branch
    chosen = {one["branch"]: one["reason"] for one in report["streamer_fields"] if one["streamer"]}
    assert chosen == dict.fromkeys(BRANCHES, "requested")
    assert nyssa.open(path)["tree"]["number"].array().to_list() == list(range(40))


def test_what_has_no_type_is_a_streamer_field_without_being_asked(
    tracks: Tracks, tmp_path: Path
) -> None:
    path = tmp_path / "out.root"
    report = nyssa.convert(tracks.path, path, verify=True)
    [event] = report["streamer_fields"]
    assert (event["branch"], event["class"], event["streamer"]) == ("event", "Event", True)
    assert event["reason"].startswith("no other type in RNTuple: ")
    assert tracks.read("field_objects", path, "event", "Event") == tracks.objects["event"]
    # Pointers to objects are objects that may be missing.
    steps = nyssa.open(path)["tree"]["pointers"]
    assert steps.typename == "std::vector<std::optional<Step>>"
    entries, of_root = steps.array().to_list(), tracks.objects["pointers"]
    assert [[step and step["x"] for step in entry] for entry in entries] == [
        [step and step["x"] for step in entry] for entry in of_root
    ]


@pytest.fixture(scope="module")
def chains(tracks: Tracks) -> Path:
    path = tracks.folder / "chains.root"
    tracks.root.call("cpp", "", f'write_chains("{path}", 60, -1)')
    return path


@pytest.mark.parametrize("late", [False, True])
def test_objects_with_references_are_carried_as_they_are(
    late: bool, tracks: Tracks, chains: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out.root"
    cluster_size = 500 if late else None
    report = nyssa.convert(chains, path, cluster_size=cluster_size, verify=True)
    assert report["clusters"] > 2 if late else report["clusters"] == 1
    [chain] = report["streamer_fields"]
    assert chain["streamer"]
    assert chain["reason"].endswith("; the bytes that are in the file")
    expected = tracks.read("tree_objects", chains, "chain", "Chain")
    assert expected[80]["next"]["next"]["next"]["label"]["fName"] == "next"
    assert tracks.read("field_objects", path, "chain", "Chain") == expected


def test_shared_objects_stay_shared(tracks: Tracks, tmp_path: Path) -> None:
    source, path = tmp_path / "shared.root", tmp_path / "out.root"
    tracks.root.call("cpp", "", f'write_chains("{source}", 60, 90)')
    nyssa.convert(source, path, verify=True)
    expected = tracks.read("tree_objects", source, "chain", "Chain")
    # ROOT's JSON numbers objects from the outermost one.
    assert expected[90]["next"]["label"] == expected[90]["next"]["next"]["label"] == {"$ref": 1}
    assert tracks.read("field_objects", path, "chain", "Chain") == expected


def test_auto_takes_the_smaller(tracks: Tracks, tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    report = nyssa.convert(tracks.path, path, streamer="auto", verify=True)
    products = {one["branch"]: one for one in report["streamer_fields"]}
    assert set(products) == set(BRANCHES)
    for branch in ("track", "split.", "cells", "nested"):
        one = products[branch]
        assert one["streamer"] == (one["streamer_bytes"] < one["columns_bytes"])
        assert min(one["streamer_bytes"], one["columns_bytes"]) > 100
    # Both kinds of conversion have these sizes, except for what all columns share.
    for kind, option in (("streamer_bytes", "all"), ("columns_bytes", ())):
        alone = nyssa.convert(
            tracks.path, path, streamer=option, include="track", force=True, effort="full"
        )
        assert alone["compressed_bytes"] == pytest.approx(products["track"][kind], rel=0.1)


def test_patterns_choose_branches(tracks: Tracks, tmp_path: Path) -> None:
    path = tmp_path / "out.root"
    report = nyssa.convert(tracks.path, path, streamer=["tr*k"], verify=True)
    chosen = {one["branch"] for one in report["streamer_fields"] if one["streamer"]}
    assert chosen == {"track", "event"}
    with pytest.raises(nyssa.ArgumentError, match="match no branch of a class"):
        nyssa.convert(tracks.path, path, streamer="number", force=True)
    with pytest.raises(
        nyssa.ArgumentError, match="streamer takes either all, or auto, or patterns"
    ):
        nyssa.convert(tracks.path, path, streamer=["all", "tr*"], force=True)
