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

int wrong_in_root(const char *path) {
  auto reader = ROOT::RNTupleReader::Open("Events", path);
  auto one = reader->GetView<event::Jet>("jet");
  auto list = reader->GetView<std::vector<event::Jet>>("jets");
  for (int i = 0; i < event::entries; ++i) {
    event::Jet expected;
    event::fill(expected, i);
    const auto &jets = list(i);
    if (!event::same(one(i), expected) || int(jets.size()) != event::count(i))
      return i;
    for (int k = 0; k < event::count(i); ++k) {
      event::Jet expected;
      event::fill(expected, i + k);
      if (!event::same(jets[k], expected))
        return i;
    }
  }
  return reader->GetNEntries() == event::entries ? -1 : event::entries;
}
