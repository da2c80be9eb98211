#include "by_root.hpp"

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriter.hxx>

void write_by_root(const char *path) {
  auto model = ROOT::RNTupleModel::Create();
  auto jet = model->MakeField<event::Jet>("jet");
  auto jets = model->MakeField<std::vector<event::Jet>>("jets");
  auto writer = ROOT::RNTupleWriter::Recreate(std::move(model), "Events", path);
  for (int i = 0; i < event::entries; ++i) {
    jet->hits.clear();
    jet->number.reset();
    jet->hit.reset();
    event::fill(*jet, i);
    *jets = std::vector<event::Jet>(event::count(i));
    for (int k = 0; k < event::count(i); ++k)
      event::fill((*jets)[k], i + k);
    writer->Fill();
  }
}

std::string wrong_in_root(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto one = reader->GetView<event::Jet>("jet");
  auto list = reader->GetView<std::vector<event::Jet>>("jets");
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
    if (!found.empty())
      return found;
  }
  return reader->GetNEntries() == event::entries ? "" : "number of entries";
}
