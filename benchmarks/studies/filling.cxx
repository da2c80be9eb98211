// Fills TTrees and RNTuples by ROOT from objects in memory, for filling.py.

#include "../storage.cxx"

#include <ROOT/RField.hxx>
#include <ROOT/RNTupleFillContext.hxx>
#include <ROOT/RNTupleParallelWriter.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/TBufferMerger.hxx>
#include <TROOT.h>

#include <thread>

namespace {

std::vector<Products> events;

Products made()
{
   Products one;
   one.each([](const char *, auto *&product) { product = new std::decay_t<decltype(*product)>; });
   return one;
}

void swap_objects(Products &one, Products &other)
{
   std::swap(*one.header, *other.header);
   one.tracks->swap(*other.tracks);
   one.jets->swap(*other.jets);
   one.candidates->swap(*other.candidates);
   one.vertices->swap(*other.vertices);
   one.triggers->swap(*other.triggers);
   one.pileup->swap(*other.pileup);
}

// Lets each of `threads` threads fill an equal part of the entries.
template <class F>
void in_threads(int threads, long entries, F &&work)
{
   std::vector<std::thread> all;
   for (int at = 0; at < threads; ++at)
      all.emplace_back(work, entries * at / threads, entries * (at + 1) / threads);
   for (auto &one : all)
      one.join();
}

ROOT::ENTupleColumnType unsplit(ROOT::ENTupleColumnType type)
{
   using T = ROOT::ENTupleColumnType;
   switch (type) {
   case T::kSplitIndex64: return T::kIndex64;
   case T::kSplitIndex32: return T::kIndex32;
   case T::kSplitReal64: return T::kReal64;
   case T::kSplitReal32: return T::kReal32;
   case T::kSplitInt64: return T::kInt64;
   case T::kSplitUInt64: return T::kUInt64;
   case T::kSplitInt32: return T::kInt32;
   case T::kSplitUInt32: return T::kUInt32;
   case T::kSplitInt16: return T::kInt16;
   case T::kSplitUInt16: return T::kUInt16;
   default: return type;
   }
}

std::unique_ptr<ROOT::RNTupleModel> model_of(const std::string &storage)
{
   auto model = ROOT::RNTupleModel::CreateBare();
   Products none;
   none.each([&](const char *name, auto *product) {
      using Product = std::decay_t<decltype(*product)>;
      if (storage == "streamer")
         model->AddField(std::make_unique<ROOT::RStreamerField>(name, ROOT::RField<Product>::TypeName()));
      else
         model->AddField(std::make_unique<ROOT::RField<Product>>(name));
   });
   if (storage == "unsplit") {
      for (auto &field : model->GetMutableFieldZero()) {
         auto representations = field.GetColumnRepresentatives();
         if (representations.empty() || representations[0].empty())
            continue;
         for (auto &types : representations)
            for (auto &type : types)
               type = unsplit(type);
         field.SetColumnRepresentatives(representations);
      }
   }
   return model;
}

template <class Writer>
void fill_entries(Writer &writer, long first, long last)
{
   auto entry = writer.CreateEntry();
   Products one;
   one.each([&](const char *name, auto *&product) {
      product = entry->template GetPtr<std::decay_t<decltype(*product)>>(name).get();
   });
   for (long at = first; at < last; ++at) {
      swap_objects(one, events[at]);
      writer.Fill(*entry);
      swap_objects(one, events[at]);
   }
}

} // namespace

/// Reads all entries into memory, and returns how many there are.
long filling_load(const char *path)
{
   TFile file(path);
   auto tree = file.Get<TTree>("Events");
   Products one;
   one.each([&](const char *name, auto *&product) { tree->SetBranchAddress(name, &product); });
   for (Long64_t entry = 0; entry < tree->GetEntries(); ++entry) {
      tree->GetEntry(entry);
      events.push_back(made());
      swap_objects(one, events.back());
   }
   tree->ResetBranchAddresses();
   return events.size();
}

/// Fills one TTree from several threads. A thread gives its buffer away when it has `flush` bytes.
void filling_tree(const char *path, int compression, int threads, long flush, int basket, long entries)
{
   ROOT::EnableThreadSafety();
   ROOT::TBufferMerger merger(path, "RECREATE", compression);
   in_threads(threads, entries, [&](long first, long last) {
      auto file = merger.GetFile();
      TDirectory::TContext context(file.get());
      auto tree = new TTree("Events", "products");
      tree->SetAutoFlush(-flush);
      auto one = made();
      one.each([&](const char *name, auto *&product) { tree->Branch(name, &product, basket, 99); });
      for (long at = first; at < last; ++at) {
         swap_objects(one, events[at]);
         tree->Fill();
         swap_objects(one, events[at]);
         if (file->GetEND() > flush)
            file->Write();
      }
      file->Write();
   });
}

/// Fills one RNTuple. Several threads have a fill context each.
void filling_ntuple(const char *path, int compression, int threads, const std::string &storage, bool buffered,
                    long cluster, long entries)
{
   ROOT::EnableThreadSafety();
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(compression);
   options.SetUseBufferedWrite(buffered);
   options.SetApproxZippedClusterSize(cluster);
   if (threads == 1) {
      auto writer = ROOT::RNTupleWriter::Recreate(model_of(storage), "Events", path, options);
      fill_entries(*writer, 0, entries);
      return;
   }
   auto writer = ROOT::RNTupleParallelWriter::Recreate(model_of(storage), "Events", path, options);
   in_threads(threads, entries, [&](long first, long last) {
      auto context = writer->CreateFillContext();
      fill_entries(*context, first, last);
   });
}
