// Output modules that write by ROOT, and what ROOT reads.

#include "module.hpp"

#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/TBufferMerger.hxx>
#include <TFile.h>
#include <TKey.h>
#include <TROOT.h>
#include <TTree.h>
#include <TTreeReader.h>
#include <TTreeReaderValue.h>

#include <algorithm>
#include <mutex>
#include <vector>

namespace {

using namespace products;

std::unique_ptr<ROOT::RNTupleModel> model() {
  auto model = ROOT::RNTupleModel::CreateBare();
  model->MakeField<Header>("header");
  model->MakeField<std::vector<Jet>>("jets");
  model->MakeField<std::vector<Track>>("tracks");
  model->MakeField<std::vector<Muon>>("muons");
  model->MakeField<std::vector<std::string>>("triggers");
  return model;
}

ROOT::RNTupleWriteOptions options(const Settings &settings) {
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(static_cast<std::uint32_t>(std::stoul(settings.compression)));
  options.SetApproxZippedClusterSize(settings.cluster);
  // As with ROOT's defaults.
  options.SetMaxUnzippedClusterSize(10 * settings.cluster);
  options.SetMaxUnzippedPageSize(settings.page);
  return options;
}

// Threads of ROOT compress if there are more than one.
void begin(const Settings &settings) {
  ROOT::EnableThreadSafety();
  if (settings.threads != 1)
    ROOT::EnableImplicitMT(settings.threads);
}

template <class Writer> auto entry(Writer &writer, const Event &event) {
  auto entry = writer.CreateRawPtrWriteEntry();
  entry->BindRawPtr("header", &event.header);
  entry->BindRawPtr("jets", &event.jets);
  entry->BindRawPtr("tracks", &event.tracks);
  entry->BindRawPtr("muons", &event.muons);
  entry->BindRawPtr("triggers", &event.triggers);
  return entry;
}

using Entry = decltype(entry(std::declval<ROOT::RNTupleWriter &>(), std::declval<const Event &>()));

class Contexts : public Module {
public:
  explicit Contexts(const Settings &settings)
      : writer_(ROOT::RNTupleParallelWriter::Recreate(model(), "Events", settings.file, options(settings))) {}
  std::unique_ptr<StreamOutput> stream(const Event &event) override {
    return std::make_unique<Output>(writer_->CreateFillContext(), event);
  }
  void end() override { writer_.reset(); }

private:
  class Output : public StreamOutput {
  public:
    Output(std::shared_ptr<ROOT::RNTupleFillContext> &&context, const Event &event)
        : context_(std::move(context)), entry_(entry(*context_, event)) {}
    void write() override { context_->Fill(*entry_); }
    void end() override { context_->FlushCluster(); }

  private:
    std::shared_ptr<ROOT::RNTupleFillContext> context_;
    Entry entry_;
  };

  std::unique_ptr<ROOT::RNTupleParallelWriter> writer_;
};

class OneWriter : public Module {
public:
  explicit OneWriter(const Settings &settings)
      : writer_(ROOT::RNTupleWriter::Recreate(model(), "Events", settings.file, options(settings))) {}
  std::unique_ptr<StreamOutput> stream(const Event &event) override { return std::make_unique<Output>(*this, event); }
  void end() override { writer_.reset(); }

private:
  class Output : public StreamOutput {
  public:
    Output(OneWriter &module, const Event &event) : module_(module), entry_(entry(*module.writer_, event)) {}
    void write() override {
      const std::lock_guard<std::mutex> lock(module_.mutex_);
      module_.writer_->Fill(*entry_);
    }
    void end() override {}

  private:
    OneWriter &module_;
    Entry entry_;
  };

  std::unique_ptr<ROOT::RNTupleWriter> writer_;
  std::mutex mutex_;
};

// Each stream fills a TTree in memory, whose clusters are merged into the file.
class Merger : public Module {
public:
  explicit Merger(const Settings &settings)
      : merger_(std::make_unique<ROOT::TBufferMerger>(settings.file.c_str(), "RECREATE", std::stoi(settings.compression))),
        cluster_(static_cast<Long64_t>(settings.cluster)) {}
  std::unique_ptr<StreamOutput> stream(const Event &event) override {
    return std::make_unique<Output>(merger_->GetFile(), event, cluster_);
  }
  void end() override { merger_.reset(); }

private:
  class Output : public StreamOutput {
  public:
    Output(std::shared_ptr<ROOT::TBufferMergerFile> &&file, const Event &event, Long64_t cluster)
        : file_(std::move(file)), tree_(new TTree("Events", "", 99, file_.get())), cluster_(cluster) {
      // The file owns the tree, and no other list of ROOT has it.
      tree_->ResetBit(kMustCleanup);
      tree_->SetAutoFlush(-cluster);
      tree_->SetAutoSave(0);
      tree_->Branch("header", const_cast<Header *>(&event.header));
      tree_->Branch("jets", const_cast<std::vector<Jet> *>(&event.jets));
      tree_->Branch("tracks", const_cast<std::vector<Track> *>(&event.tracks));
      tree_->Branch("muons", const_cast<std::vector<Muon> *>(&event.muons));
      tree_->Branch("triggers", const_cast<std::vector<std::string> *>(&event.triggers));
    }
    void write() override {
      tree_->Fill();
      if (tree_->GetZipBytes() >= cluster_)
        file_->Write();
    }
    void end() override { file_->Write(); }

  private:
    std::shared_ptr<ROOT::TBufferMergerFile> file_;
    TTree *tree_;
    Long64_t cluster_;
  };

  std::unique_ptr<ROOT::TBufferMerger> merger_;
  Long64_t cluster_;
};

template <class Written> std::function<std::unique_ptr<Module>(const Settings &)> maker() {
  return [](const Settings &settings) {
    begin(settings);
    return std::make_unique<Written>(settings);
  };
}

// Compares events that come in any order with those that are expected.
class Comparison {
public:
  explicit Comparison(std::uint64_t events) : seen_(events) {}
  void add(const Event &read) {
    const std::uint64_t number = read.header.number;
    if (number >= seen_.size() || seen_[number])
      return note("event " + std::to_string(number) + " is there twice, or was never written");
    seen_[number] = true;
    Event expected;
    make(expected, number);
    if (!equal(read, expected))
      note("event " + std::to_string(number) + " has other products");
  }
  std::string wrong() const {
    const auto missing = std::find(seen_.begin(), seen_.end(), false);
    if (!wrong_.empty() || missing == seen_.end())
      return wrong_;
    return "event " + std::to_string(missing - seen_.begin()) + " is missing";
  }

private:
  void note(const std::string &wrong) {
    if (wrong_.empty())
      wrong_ = wrong;
  }

  std::vector<bool> seen_;
  std::string wrong_;
};

void compare_ntuple(const std::string &file, Comparison &comparison) {
  auto reader = ROOT::RNTupleReader::Open("Events", file);
  auto header = reader->GetView<Header>("header");
  auto jets = reader->GetView<std::vector<Jet>>("jets");
  auto tracks = reader->GetView<std::vector<Track>>("tracks");
  auto muons = reader->GetView<std::vector<Muon>>("muons");
  auto triggers = reader->GetView<std::vector<std::string>>("triggers");
  for (const auto entry : reader->GetEntryRange())
    comparison.add({header(entry), jets(entry), tracks(entry), muons(entry), triggers(entry)});
}

void compare_tree(TFile &file, Comparison &comparison) {
  TTreeReader reader("Events", &file);
  TTreeReaderValue<Header> header(reader, "header");
  TTreeReaderValue<std::vector<Jet>> jets(reader, "jets");
  TTreeReaderValue<std::vector<Track>> tracks(reader, "tracks");
  TTreeReaderValue<std::vector<Muon>> muons(reader, "muons");
  TTreeReaderValue<std::vector<std::string>> triggers(reader, "triggers");
  while (reader.Next())
    comparison.add({*header, *jets, *tracks, *muons, *triggers});
}

} // namespace

void add_root(Modules &modules) {
  modules["root"] = maker<Contexts>();
  modules["root-one"] = maker<OneWriter>();
  modules["merger"] = maker<Merger>();
}

std::string wrong_in_root(const std::string &file, std::uint64_t events) {
  const std::unique_ptr<TFile> opened(TFile::Open(file.c_str()));
  const TKey *key = opened ? opened->GetKey("Events") : nullptr;
  if (!key)
    return file + " has no Events";
  Comparison comparison(events);
  if (std::string(key->GetClassName()) == "TTree")
    compare_tree(*opened, comparison);
  else
    compare_ntuple(file, comparison);
  return comparison.wrong();
}
