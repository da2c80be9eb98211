"""Rewriting stores fields of classes as streamer fields; ROOT reads the same objects."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import uproot

import nyssa
from support.data import TESTDATA
from support.root import Root

FILE = TESTDATA / "ttree/objects1.root"
ENTRIES = 30
CLASSES = {
    "hit": "StreamedHit",
    "jet": "StreamedJet",
    "hits": "std::vector<StreamedHit>",
    "jets": "std::vector<StreamedJet>",
    "floats": "std::vector<float>",
    "tags": "std::map<std::string,std::int32_t>",
}
HEADER = r"""
#include <TBufferJSON.h>
#include <TClass.h>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct StreamedHit { int id = 0; std::vector<float> charge; };
struct StreamedBase { double x = 0; };
struct StreamedJet : StreamedBase {
  float pt = 0;
  std::vector<StreamedHit> hits;
  std::map<std::string, std::int32_t> tags;
  int grid[2][3] = {};
  std::string name;
  StreamedHit first;
};
enum class StreamedColor : std::uint8_t { kNone };
enum StreamedShape { kRound, kLow = -3 };
enum class StreamedLong : std::int64_t { kNone };
struct StreamedOwner {
  StreamedColor color{};
  StreamedShape shape{};
  std::vector<StreamedColor> colors;
  std::unique_ptr<StreamedHit> hit;
  std::vector<std::unique_ptr<StreamedHit>> hits;
  std::vector<std::vector<StreamedBase>> nested;
};
struct StreamedLost { StreamedLong lost{}; int kept = 0; };
"""
CODE = r"""
#include <TFile.h>
#include <TTree.h>
#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
StreamedHit streamed_hit(int k) { return {k, std::vector<float>(k % 3, 0.5f * k)}; }
StreamedJet streamed_jet(int k) {
  StreamedJet jet;
  jet.x = k / 3.; jet.pt = 0.25f * k; jet.name = std::string(k % 5, 'n'); jet.grid[1][2] = k;
  for (int j = 0; j < k % 4; j++) { jet.hits.push_back(streamed_hit(j)); jet.tags["t" + std::to_string(j)] = j; }
  jet.first = streamed_hit(k);
  return jet;
}
void streamed_write(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto number = model->MakeField<int>("number");
  auto hit = model->MakeField<StreamedHit>("hit");
  auto jet = model->MakeField<StreamedJet>("jet");
  auto hits = model->MakeField<std::vector<StreamedHit>>("hits");
  auto jets = model->MakeField<std::vector<StreamedJet>>("jets");
  auto floats = model->MakeField<std::vector<float>>("floats");
  auto tags = model->MakeField<std::map<std::string, std::int32_t>>("tags");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path);
  for (int k = 0; k < 30; k++) {
    *number = k; *hit = streamed_hit(k); *jet = streamed_jet(k);
    hits->assign(k % 4, *hit); jets->assign(k % 3, *jet); floats->assign(k % 5, 1.5f * k);
    *tags = jet->tags;
    writer->Fill();
  }
}
void streamed_owner(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto owner = model->MakeField<StreamedOwner>("owner");
  auto lost = model->MakeField<StreamedLost>("lost");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "t", path);
  for (int k = 0; k < 30; k++) {
    owner->color = StreamedColor(200 + k); owner->shape = k % 2 ? kRound : kLow; owner->colors.assign(k % 3, owner->color);
    owner->hit.reset(k % 4 ? new StreamedHit(streamed_hit(k)) : nullptr);
    owner->hits.clear();
    for (int j = 0; j < k % 4; j++) owner->hits.emplace_back(j % 2 ? nullptr : new StreamedHit(streamed_hit(j)));
    owner->nested.assign(k % 3, std::vector<StreamedBase>(k % 2, StreamedBase{k / 2.}));
    writer->Fill();
  }
}
void streamed_tree(const char *path) {
  TFile file(path, "RECREATE");
  TTree tree("t", "");
  int number; StreamedJet jet; std::vector<StreamedHit> hits; std::vector<StreamedJet> jets;
  tree.Branch("number", &number); tree.Branch("jet", &jet); tree.Branch("hits", &hits); tree.Branch("jets", &jets);
  for (int k = 0; k < 30; k++) {
    number = k; jet = streamed_jet(k); hits.assign(k % 4, streamed_hit(k)); jets.assign(k % 3, jet);
    tree.Fill();
  }
  tree.Write();
}
void streamed_read(const char *path, const char *name, const char *type, bool streamed, const char *out) {
  auto model = ROOT::RNTupleModel::Create();
  if (streamed) model->AddField(std::make_unique<ROOT::RStreamerField>(name, type));
  else model->AddField(ROOT::RFieldBase::Create(name, type).Unwrap());
  auto reader = ROOT::RNTupleReader::Open(std::move(model), "t", path);
  std::ofstream json(out);
  for (auto entry : reader->GetEntryRange()) {
    auto all = reader->CreateEntry();
    reader->LoadEntry(entry, *all);
    json << TBufferJSON::ConvertToJSON(all->GetPtr<void>(name).get(), TClass::GetClass(type), 3) << std::endl;
  }
}
"""  # noqa: E501


class Objects:
    """An RNTuple of ROOT with objects of classes, and what ROOT reads."""

    def __init__(self, root: Root, folder: Path) -> None:
        self.root, self.folder, self.path = root, folder, folder / "objects.root"
        header = folder / "streamed.hxx"
        header.write_text(HEADER)
        classes = ["StreamedBase", "StreamedHit", "StreamedJet"]
        classes += ["std::vector<StreamedHit>", "std::vector<StreamedJet>"]
        classes += ["std::map<std::string,std::int32_t>", "StreamedOwner", "StreamedLost"]
        classes += ["std::vector<std::unique_ptr<StreamedHit>>", "std::vector<StreamedColor>"]
        classes += ["std::vector<std::vector<StreamedBase>>"]
        root.call("dictionaries", classes, [str(header)])
        root.call("cpp", CODE, f'streamed_write("{self.path}")')

    def read(self, path: Path, name: str, *, streamed: bool) -> list[Any]:
        """Return the objects of a field as ROOT shows them."""
        out = self.folder / "read.json"
        out.unlink(missing_ok=True)
        type_name = CLASSES.get(name, "StreamedOwner")
        arguments = f'"{path}", "{name}", "{type_name}", {int(streamed)}, "{out}"'
        self.root.call("cpp", "", f"streamed_read({arguments})")
        return [json.loads(line) for line in out.read_text().splitlines()]


@pytest.fixture(scope="module")
def objects(root: Root, tmp_path_factory: pytest.TempPathFactory) -> Objects:
    return Objects(root, tmp_path_factory.mktemp("streamed"))


def is_streamed(field: nyssa.Field) -> bool:
    """Return whether a field has the bytes of objects, and their offsets."""
    return field.columns == ("SplitIndex64", "Byte")


def test_root_reads_the_same_objects(objects: Objects, tmp_path: Path) -> None:
    output, back = tmp_path / "streamed.root", tmp_path / "back.root"
    [report] = nyssa.rewrite(objects.path, output, streamed="*", verify=True)
    assert report["verified"]
    assert "the objects of class StreamedJet in jet are streamed" in report["notes"]
    note = "not streamed, since they are no objects of a class or container: number"
    assert note in report["notes"]
    fields = {one.name: one for one in nyssa.open(f"{output}:t").fields}
    before = {one.name: one for one in nyssa.open(f"{objects.path}:t").fields}
    for name in CLASSES:
        assert is_streamed(fields[name])
        assert fields[name].typename == before[name].typename
        expected = objects.read(objects.path, name, streamed=False)
        assert len(expected) == ENTRIES
        assert objects.read(output, name, streamed=True) == expected, name
    assert not is_streamed(fields["number"])
    # nyssa decodes the bytes of ROOT's streamer, and splits the fields again.
    assert nyssa.diff(objects.path, output).equal
    nyssa.rewrite(output, back, split="*", verify=True)
    for name in ("jet", "jets"):
        expected = objects.read(objects.path, name, streamed=False)
        assert objects.read(back, name, streamed=False) == expected


def test_enums_and_pointers(objects: Objects, tmp_path: Path) -> None:
    """ROOT streams an enum as an ``Int_t``; members of objects that are missing are null."""
    source, output = tmp_path / "in.root", tmp_path / "streamed.root"
    objects.root.call("cpp", "", f'streamed_owner("{source}")')
    [report] = nyssa.rewrite(source, output, streamed="owner", verify=True)
    assert report["verified"]
    expected = objects.read(source, "owner", streamed=False)
    assert len(expected) == ENTRIES
    assert objects.read(output, "owner", streamed=True) == expected
    rows = nyssa.open(f"{source}:t")["owner"].array().to_list()
    assert nyssa.open(f"{output}:t")["owner"].array().to_list() == rows
    with pytest.raises(nyssa.UnsupportedError, match="does not store the member lost"):
        nyssa.rewrite(source, tmp_path / "no.root", streamed="lost")


def test_entries_and_fields_are_selected(objects: Objects, tmp_path: Path) -> None:
    output = tmp_path / "out.root"
    [report] = nyssa.rewrite(
        objects.path, output, streamed="je*", include=["jet*", "number"], cut="number % 2 == 1",
        cluster_size=2000, page_size=64, verify=True,
    )  # fmt: skip
    assert (report["verified"], report["entries"]) == (True, ENTRIES // 2)
    for name in ("jet", "jets"):
        expected = objects.read(objects.path, name, streamed=False)[1::2]
        assert objects.read(output, name, streamed=True) == expected
    # Fields that are streamed already keep their bytes, and their streamer infos.
    more = tmp_path / "more.root"
    nyssa.rewrite(objects.path, tmp_path / "one.root", streamed="jet")
    nyssa.rewrite(tmp_path / "one.root", more, streamed="hits", verify=True)
    for name in ("jet", "hits"):
        expected = objects.read(objects.path, name, streamed=False)
        assert objects.read(more, name, streamed=True) == expected


#: The classes of the header, as users define them.
MEMBERS: dict[str, dict[str, object]] = {
    "StreamedHit": {"id": "int", "charge": "std::vector<float>"},
    "StreamedBase": {"x": "double"},
    "StreamedJet": {
        ":bases": ["StreamedBase"],
        "pt": "float",
        "hits": "std::vector<StreamedHit>",
        "tags": "std::map<std::string,std::int32_t>",
        "grid": "int[2][3]",
        "name": "std::string",
        "first": "StreamedHit",
    },
}


def described(path: Path) -> dict[str, Any]:
    """Return the versions, checksums and members of the classes that a file describes."""
    with uproot.open(path) as file:
        infos = {name: file.file.streamers.get(name, {}) for name in MEMBERS}
        return {
            name: [
                (version, one.member("fCheckSum"), [(e.name, e.typename) for e in one.elements])
                for version, one in of_class.items()
            ]
            for name, of_class in infos.items()
        }


def streamed_and_split(objects: Objects, source: Path, names: list[str], entries: int) -> None:
    """Check that ROOT reads the fields of `source` when they are streamed, and split again."""
    folder = source.parent
    output, back = folder / "streamed.root", folder / "back.root"
    [report] = nyssa.rewrite(source, output, streamed=names, verify=True, force=True)
    assert report["verified"]
    [report] = nyssa.rewrite(output, back, split=names, verify=True, force=True)
    assert report["verified"]
    for name in names:
        expected = objects.read(objects.path, name, streamed=False)
        expected *= entries // ENTRIES
        assert objects.read(source, name, streamed=False) == expected, name
        assert objects.read(output, name, streamed=True) == expected, name
        assert objects.read(back, name, streamed=False) == expected, name
        assert {one.name: is_streamed(one) for one in nyssa.open(f"{back}:t").fields}[name] is False
    for path in (source, output, back):
        assert described(path) == described(objects.path)


def test_classes_of_users(objects: Objects, tmp_path: Path) -> None:
    """RNTuples that nyssa makes of classes describe them as ROOT does."""
    made, more, other = (tmp_path / f"{name}.root" for name in ("made", "more", "other"))
    with nyssa.recreate(made) as file:
        ntuple = file.mkrntuple("t", {"number": "int", **CLASSES}, classes=MEMBERS)
        ntuple.extend(nyssa.open(f"{objects.path}:t").arrays())
    streamed_and_split(objects, made, list(CLASSES), ENTRIES)
    # Other jobs keep what the file says.
    nyssa.merge([made, made], more)
    streamed_and_split(objects, more, ["jet", "hits"], 2 * ENTRIES)
    nyssa.rewrite(made, other, compression="lz4")
    streamed_and_split(objects, other, ["jets"], ENTRIES)
    with nyssa.recreate(made) as file:
        file.mkrntuple("t", {"x": "float"})
    assert described(made) == {name: [] for name in MEMBERS}


def test_classes_of_trees(objects: Objects, tmp_path: Path) -> None:
    """RNTuples that are made of trees have the streamer infos of the tree."""
    tree, made = tmp_path / "tree.root", tmp_path / "made.root"
    objects.root.call("cpp", "", f'streamed_tree("{tree}")')
    nyssa.convert(tree, made)
    streamed_and_split(objects, made, ["jet", "hits", "jets"], ENTRIES)


def test_all_classes_of_a_file(tmp_path: Path) -> None:
    """Objects have the values of the tree that ROOT wrote, or their field is refused by name."""
    source, output = tmp_path / "columns.root", tmp_path / "streamed.root"
    streamed = set()
    for tree in nyssa.open(FILE).datasets():
        nyssa.convert(f"{FILE}:{tree}", source, force=True)
        for one in nyssa.open(f"{source}:{tree}").fields:
            try:
                nyssa.rewrite(source, output, streamed=one.name, verify=True, force=True)
            except nyssa.NotFoundError as error:
                assert "no field of a class or container matches" in str(error)
                continue
            except nyssa.UnsupportedError as error:
                assert f"objects of class {one.typename} cannot be streamed: " in str(error)
                continue
            field = nyssa.open(f"{output}:{tree}").fields
            assert [is_streamed(it) for it in field if it.name == one.name] == [True]
            assert nyssa.diff(f"{FILE}:{tree}", f"{output}:{tree}").equal, tree
            streamed.add(tree)
    assert {"Evolving", "Hit", "vector_Hit", "vector_Derived", "vector_Plain"} <= streamed


def test_what_cannot_be_streamed(tmp_path: Path) -> None:
    source, output = tmp_path / "in.root", tmp_path / "out.root"
    with nyssa.recreate(source) as file:
        types = {"n": "int", "maybe": "std::optional<float>", "p": "std::vector<float>"}
        file.mkrntuple("t", types).extend({"n": [1], "maybe": [None], "p": [[1.0]]})
    with pytest.raises(nyssa.NotFoundError, match='no field of a class or container matches "n"'):
        nyssa.rewrite(source, output, streamed="n")
    with pytest.raises(nyssa.UnsupportedError) as caught:
        nyssa.rewrite(source, output, streamed="*")
    start = "objects of class std::optional<float> cannot be streamed: "
    assert str(caught.value).startswith(start)
    assert "field maybe" in str(caught.value)
    with nyssa.recreate(tmp_path / "tree.root") as file:
        file.mktree("t", {"p": [[1.0]]})
    with pytest.raises(nyssa.ArgumentError, match="streamed is an option of RNTuples"):
        nyssa.rewrite(tmp_path / "tree.root", output, streamed="*")
    assert not output.exists()
