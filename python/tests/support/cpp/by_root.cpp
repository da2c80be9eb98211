#include "by_root.hpp"

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TBufferFile.h>
#include <TClass.h>
#include <TFile.h>
#include <TVirtualStreamerInfo.h>

#include <fstream>

namespace {

// A model with each type as a field.
std::unique_ptr<ROOT::RNTupleModel> model_of_fields() {
  auto model = ROOT::RNTupleModel::CreateBare();
  model->AddField(std::make_unique<ROOT::RField<int>>("i"));
#define ADD(member) model->AddField(std::make_unique<ROOT::RField<decltype(event::Jet::member)>>(#member));
  EVENT_FIELDS(ADD)
#undef ADD
  return model;
}

// Binds the fields of an entry to a number and to the members of a jet.
void bind(ROOT::REntry &entry, int &i, event::Jet &jet) {
  entry.BindRawPtr("i", &i);
#define BIND(member) entry.BindRawPtr(#member, &jet.member);
  EVENT_FIELDS(BIND)
#undef BIND
}

void write_fields(const char *path) {
  const std::unique_ptr<TFile> file(TFile::Open(path, "UPDATE"));
  auto writer = ROOT::RNTupleWriter::Append(model_of_fields(), "Fields", *file);
  for (int i = 0; i < event::entries; ++i) {
    event::Jet jet;
    event::fill(jet, i);
    auto entry = writer->CreateEntry();
    bind(*entry, i, jet);
    writer->Fill(*entry);
  }
}

std::string wrong_field(const char *path) {
  auto reader = ROOT::RNTupleReader::Open(model_of_fields(), "Fields", path);
  for (int i = 0; i < event::entries; ++i) {
    int number = -1;
    event::Jet expected, found;
    event::fill(expected, i);
    event::fill_others(found, expected);
    auto entry = reader->CreateEntry();
    bind(*entry, number, found);
    reader->LoadEntry(i, *entry);
    const std::string member = event::difference(found, expected);
    if (!member.empty() || number != i)
      return std::to_string(i) + " field " + member;
  }
  return reader->GetNEntries() == event::entries ? "" : "number of entries of fields";
}

} // namespace

void write_by_root(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto jet = model->MakeField<event::Jet>("jet");
  auto jets = model->MakeField<std::vector<event::Jet>>("jets");
  auto maybe = model->MakeField<std::optional<event::Hit>>("maybe");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
  for (int i = 0; i < event::entries; ++i) {
    jet->hits.clear();
    jet->number.reset();
    jet->hit.reset();
    event::fill(*jet, i);
    *jets = std::vector<event::Jet>(event::count(i));
    for (int k = 0; k < event::count(i); ++k)
      event::fill((*jets)[k], i + k);
    *maybe = event::maybe(i);
    writer->Fill();
  }
  writer.reset();
  write_fields(path);
}

std::string wrong_in_root(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto one = reader->GetView<event::Jet>("jet");
  auto list = reader->GetView<std::vector<event::Jet>>("jets");
  auto maybe = reader->GetView<std::optional<event::Hit>>("maybe");
  auto wrong = [](int entry, const event::Jet &found, int number) -> std::string {
    event::Jet expected;
    event::fill(expected, number);
    const std::string member = event::difference(found, expected);
    return member.empty() ? "" : std::to_string(entry) + " " + member;
  };
  for (int i = 0; i < event::entries; ++i) {
    std::string found = wrong(i, one(i), i);
    const auto &jets = list(i);
    if (int(jets.size()) != event::count(i))
      return std::to_string(i) + " jets";
    for (int k = 0; k < event::count(i); ++k)
      found += wrong(i, jets[k], i + k);
    if (!(maybe(i) == event::maybe(i)))
      found += " maybe";
    if (!found.empty())
      return found;
  }
  return reader->GetNEntries() == event::entries ? wrong_field(path) : "number of entries";
}

std::string wrong_late_in_root(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto n = reader->GetView<int>("n");
  auto jets = reader->GetView<std::vector<float>>("jets");
  auto hit = reader->GetView<event::Hit>("hit");
  int sum = 0;
  for (auto i : reader->GetEntryRange()) {
    const bool is_late = n(i) == 2 || n(i) >= 6;
    const std::vector<float> expected(n(i) == 2, 2.5f);
    if (jets(i) != expected || !(hit(i) == (is_late ? event::hit(n(i)) : event::Hit())))
      return "entry " + std::to_string(n(i));
    sum += n(i);
  }
  return reader->GetNEntries() == 9 && sum == 36 ? "" : "number of entries";
}

void write_old_by_root(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto jets = model->MakeField<std::vector<evolved::Jet>>("jets");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
  for (int i = 0; i < event::entries; ++i) {
    *jets = std::vector<evolved::Jet>(event::count(i));
    for (auto &jet : *jets)
      jet = {3.f * i, 4.f * i, i % 2 ? 1 : -1, {event::hit(i)}, 0.5f * i};
    writer->Fill();
  }
}

void write_old_clusters_by_root(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto cluster = model->MakeField<evolved::Cluster>("cluster");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
  for (int i = 0; i < event::entries; ++i) {
    cluster->energy = 2.f * i;
    cluster->x = 3.f * i;
    cluster->pt = 1000.f * i;
    for (int k = 0; k < 3; ++k)
      cluster->q[k] = 10.f * i + k;
    writer->Fill();
  }
}

void stream_by_root(const char *bytes, const char *infos) {
  auto *described = TClass::GetClass("event::Product");
  std::ofstream out(bytes, std::ios::binary);
  for (int i = 0; i < event::entries; ++i) {
    event::Product product = event::product(i);
    TBufferFile buffer(TBuffer::kWrite);
    described->Streamer(&product, buffer);
    const std::uint64_t size = buffer.Length();
    out.write(reinterpret_cast<const char *>(&size), sizeof(size));
    out.write(buffer.Buffer(), buffer.Length());
  }
  TFile file(infos, "RECREATE");
  described->GetStreamerInfo()->ForceWriteInfo(&file, true);
  file.Write();
}

std::string wrong_streamed_in_root(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  model->AddField(std::make_unique<ROOT::RStreamerField>("product", "event::Product"));
  auto reader = ROOT::RNTupleReader::Open(std::move(model), "Events", path);
  auto product = reader->GetModel().GetDefaultEntry().GetPtr<event::Product>("product");
  for (int i = 0; i < event::entries; ++i) {
    reader->LoadEntry(i);
    if (!(*product == event::product(i)))
      return std::to_string(i);
  }
  return reader->GetNEntries() == event::entries ? "" : "number of entries";
}
